/*
 * Can packets deadlock? Builds the channel dependency graph: a node per (wire, virtual channel), an
 * edge where some packet may hold the one and wait for the other. Without a cycle there is no
 * deadlock (Dally and Seitz 1987). With an escape, which a packet can enter from everywhere and
 * does not leave, only the escape's own part must be acyclic (Duato 1993).
 *
 * All salts and all pairs count: the search asks the routing itself for every answer that any
 * packet could get. For fabrics too large for that (LEAT_NET_DEADLOCK_PAIRS_MAX pairs of routers;
 * with adaptive routing LEAT_NET_DEADLOCK_STEPS_MAX)
 * it checks a smaller one of the same kind, rule and channels, with sizes reduced to
 * LEAT_NET_DEADLOCK_SIZE_MAX of the same parity, and the answer says so: a cycle in the large one
 * also exists in the small one. Tables and graphs have no smaller equivalent. Tables are always
 * checked in full; in graphs that are too large all turns count that up*, down* allows, although
 * packets may not take them all.
 */
#ifndef LEAT_NET_DEADLOCK_H
#define LEAT_NET_DEADLOCK_H

#include "net_routing.h"

enum {
    LEAT_NET_DEADLOCK_CYCLE_MAX = 64, /* of a reported cycle; longer ones are truncated */
    LEAT_NET_DEADLOCK_SIZE_MAX = 6,
};
#define LEAT_NET_DEADLOCK_PAIRS_MAX      (UINT64_C(1) << 22)
#define LEAT_NET_DEADLOCK_SLOW_PAIRS_MAX (UINT64_C(1) << 18) /* for table-based rules */
/* Adaptive routing offers up to as many ports as a router has, for each wire and router. */
#define LEAT_NET_DEADLOCK_STEPS_MAX      (UINT64_C(1) << 30)

struct leat_net_deadlock_step {
    uint32_t out, channel; /* a wire by its output port, and the virtual channel */
};

struct leat_net_deadlock {
    bool possible;
    bool smaller; /* found on a smaller network */
    /* Nodes and edges of the part that must be acyclic; with a sound escape: the escape's. Virtual
     * channels of one class are counted separately. */
    uint64_t channels, dependencies;
    uint32_t cycle_len; /* of the whole cycle; short, but not always the shortest */
    struct leat_net_deadlock_step cycle[LEAT_NET_DEADLOCK_CYCLE_MAX];
    uint32_t cycle_listed;
    struct leat_net_topology checked; /* whose ports the cycle names; smaller: in `memory` */
};

/* Octets of memory; grows with the number of ports, the radix and the square of the channel
 * classes. */
size_t leat_net_deadlock_footprint(const struct leat_net_shape *shape,
                                   const struct leat_net_routing_config *config);

/* `memory`: aligned for any object; lent while *out is used. */
void leat_net_deadlock_find(const struct leat_net_topology *topology,
                            const struct leat_net_routing *routing,
                            const struct leat_net_routing_config *config, void *memory,
                            struct leat_net_deadlock *out);

/* Is a share of the topology enough (leat_net_topology_build_share), because neither routing nor
 * this search looks at its wires? */
bool leat_net_share_suffices(const struct leat_net_shape *shape,
                             const struct leat_net_routing_config *config);

/* "0>1 vc0, 1>2 vc0, ... 7>0 vc0": routers at both ends of each wire, and its channel. */
void leat_net_deadlock_text(const struct leat_net_deadlock *deadlock, struct leat_text *text);

#endif
