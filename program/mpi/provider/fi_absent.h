/*
 * Functions that the provider does not implement, as tables for libfabric: every function that it
 * calls unchecked returns an error. A provider table starts as a copy of one of these; the
 * implemented functions are filled in.
 */
#ifndef LEAT_FI_ABSENT_H
#define LEAT_FI_ABSENT_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

extern struct fi_ops leat_fi_no_ops; /* complete: an object that can only be closed */
extern const struct fi_ops_fabric leat_fi_no_fabric;
extern const struct fi_ops_domain leat_fi_no_domain;
extern const struct fi_ops_ep leat_fi_no_endpoint;
extern const struct fi_ops_cm leat_fi_no_connections;
extern const struct fi_ops_rma leat_fi_no_rma;
extern const struct fi_ops_atomic leat_fi_no_atomic;

#endif
