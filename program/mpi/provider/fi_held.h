/*
 * Memory that a rank holds open for one-sided operations of others. A key names it on the network,
 * and an offset from its start a place in it. The same calls give the same keys in every run.
 */
#ifndef LEAT_FI_HELD_H
#define LEAT_FI_HELD_H

#include <rdma/fi_domain.h>
#include <stdint.h>

/* For libfabric. */
extern struct fi_ops_mr leat_fi_held_ops;

/* NULL: no memory with this key is open for such access (FI_REMOTE_READ, FI_REMOTE_WRITE), or the
 * octets are not all within it. */
uint8_t *leat_fi_held_at(uint64_t key, uint64_t offset, uint64_t len, uint64_t access);

#endif
