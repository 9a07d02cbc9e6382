/*
 * What can happen to a packet, and the bit errors of wires, for all engines; devices compile it too
 * (core/leat_device.h).
 */
#ifndef LEAT_NET_FATE_PARTS_H
#define LEAT_NET_FATE_PARTS_H

#include "leat_device.h"
#include <leat/random.h>

enum leat_net_fate {
    LEAT_NET_DELIVERED,
    LEAT_NET_NO_ROOM,   /* lost at a full buffer */
    LEAT_NET_NO_WAY,    /* all wires on its routes are broken, or its terminal is dead */
    LEAT_NET_CUT,       /* it crossed a wire that broke */
    LEAT_NET_CORRUPTED, /* a bit error on the route, detected at the end */
};
enum { LEAT_NET_FATES = LEAT_NET_CORRUPTED + 1 };

/* A flit that crosses a wire: its packet is this number of its source. */
struct leat_net_crossing {
    uint64_t number;
    uint32_t source, flit, wire;
};

/* Is it damaged, at a chance in 2^-32? A function of all these, independent of any order. */
static inline bool leat_net_crossing_damages(const struct leat_net_crossing *c, uint64_t seed,
                                             uint32_t chance)
{
    uint64_t hash = seed ^ c->number * UINT64_C(0xD1342543DE82EF95);
    hash = leat_random_splitmix(&hash) ^ ((uint64_t)c->source << 32 | c->wire);
    hash = leat_random_splitmix(&hash) ^ c->flit;
    return leat_random_splitmix(&hash) >> 32 < chance;
}

#endif
