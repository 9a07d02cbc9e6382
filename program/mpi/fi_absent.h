/*
 * What the provider does not offer, in the tables that libfabric calls through: every function that
 * it calls without looking says so. A table is a copy of one of these, with what there is filled
 * in.
 */
#ifndef LEAT_FI_ABSENT_H
#define LEAT_FI_ABSENT_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

extern struct fi_ops leat_fi_no_ops; /* complete: an object that can only be closed */
extern struct fi_ops_mr leat_fi_no_memory;
extern const struct fi_ops_fabric leat_fi_no_fabric;
extern const struct fi_ops_domain leat_fi_no_domain;
extern const struct fi_ops_ep leat_fi_no_endpoint;
extern const struct fi_ops_cm leat_fi_no_connections;

#endif
