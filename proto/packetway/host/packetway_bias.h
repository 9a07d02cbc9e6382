/*
 * Address bias (spec section 7): each SAN numbers its nodes 1..count, and the address of a node is
 * the SAN's bias plus that number. The SAN itself has number 0: its SAN-ID is the bias.
 *
 *   bias 0x100, count 4        bias 0x200, count 2      bias 0x300, count 2
 *   [100|101 102 103 104]      [200|201 202]            [300|301 302]         203 belongs to none
 *
 * Blocks are disjoint, and assigned by hand; a map refuses overlaps. Half-routers never change an
 * address.
 */
#ifndef LEAT_PACKETWAY_BIAS_H
#define LEAT_PACKETWAY_BIAS_H

#include "packetway_header.h"

/* The block [bias, bias + count]. */
struct leat_packetway_block {
    uint32_t bias;  /* 0: the SAN has no ID */
    uint32_t count; /* of nodes, at least 1 */
};

static inline bool leat_packetway_block_holds(const struct leat_packetway_block *block,
                                              uint32_t address)
{
    return address > block->bias && address - block->bias <= block->count;
}

/* RANGE: no node, or one above 0x7FFFFD. */
leat_err leat_packetway_block_check(const struct leat_packetway_block *block);

/* The blocks of all SANs by rising bias, in the caller's memory: at first none of `cap`. */
struct leat_packetway_bias_map {
    struct leat_packetway_block *blocks;
    uint32_t count, cap;
};

/*
 * Adds a block, or nothing: RANGE as above, FULL, or DUPLICATE where it overlaps another, whose
 * index is then *other (may be NULL).
 */
leat_err leat_packetway_bias_add(struct leat_packetway_bias_map *map,
                                 const struct leat_packetway_block *block, uint32_t *other);

/*
 * The SAN that an address belongs to, or NULL; *local (may be NULL) is its number there, 0 for the
 * SAN itself.
 */
const struct leat_packetway_block *
leat_packetway_bias_find(const struct leat_packetway_bias_map *map, uint32_t address,
                         uint32_t *local);

#endif
