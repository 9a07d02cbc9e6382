/*
 * Can packets wait for each other in a circle? The channel dependency graph: a node per (wire,
 * virtual channel), an edge where some packet may hold the one and wait for the other. If it has no
 * cycle there is no deadlock (Dally and Seitz 1987); with an escape, which a packet can enter from
 * everywhere and does not leave, only the escape's own part must have none (Duato 1993).
 *
 * All salts and all pairs count: the walk asks the routing itself for every answer that any packet
 * could be given. Of fabrics too large for that (LEAT_NET_DEADLOCK_PAIRS_MAX pairs of routers) a
 * smaller one of the same kind, rule and channels is walked, its sizes cut to
 * LEAT_NET_DEADLOCK_SIZE_MAX of the same parity, and the answer says so: what could go round in a
 * large one goes round in this. Tables and graphs have no such likeness: tables are always walked;
 * of graphs too large all turns count that up*, down* allows, though packets may not take them all.
 */
#ifndef LEAT_NET_DEADLOCK_H
#define LEAT_NET_DEADLOCK_H

#include "net_routing.h"

enum {
    LEAT_NET_DEADLOCK_CYCLE_MAX = 64, /* of a cycle that is told; longer ones are cut */
    LEAT_NET_DEADLOCK_SIZE_MAX = 6,
};
#define LEAT_NET_DEADLOCK_PAIRS_MAX      (UINT64_C(1) << 22)
#define LEAT_NET_DEADLOCK_SLOW_PAIRS_MAX (UINT64_C(1) << 18) /* of rules that look in tables */

struct leat_net_deadlock_step {
    uint32_t out, channel; /* a wire by its output port, and the virtual channel */
};

struct leat_net_deadlock {
    bool possible;
    bool smaller; /* found out on a smaller one */
    /* Nodes and edges of what must have no cycle; with a sound escape: its part. Virtual channels
     * of one class are counted one by one. */
    uint64_t channels, dependencies;
    uint32_t cycle_len; /* of the whole cycle; a short one, if not always the shortest */
    struct leat_net_deadlock_step cycle[LEAT_NET_DEADLOCK_CYCLE_MAX];
    uint32_t cycle_told;
    struct leat_net_topology told_of; /* whose ports the cycle names; smaller: in `memory` */
};

/* Octets of memory; it grows with the ports, their number at a router and the classes of channels
 * squared. */
size_t leat_net_deadlock_footprint(const struct leat_net_shape *shape,
                                   const struct leat_net_routing_config *config);

/* `memory`: aligned for any object; lent for as long as *out is used. */
void leat_net_deadlock_find(const struct leat_net_topology *topology,
                            const struct leat_net_routing *routing,
                            const struct leat_net_routing_config *config, void *memory,
                            struct leat_net_deadlock *out);

/* "0>1 vc0, 1>2 vc0, ... 7>0 vc0": routers at both ends of each wire, and its channel. */
void leat_net_deadlock_text(const struct leat_net_deadlock *deadlock, struct leat_text *text);

#endif
