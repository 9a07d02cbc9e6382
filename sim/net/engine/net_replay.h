/*
 * Replay (sim_replay.h) for the ports of a flit network (net_port.h): what differs from other
 * networks. Not replayed: networks with faults, with ESP, in parts, of switches other than vc, and
 * with routes that depend on the load (adaptive). Where a route depends on chance, a message
 * repeats only one that took the same route.
 */
#ifndef LEAT_NET_REPLAY_H
#define LEAT_NET_REPLAY_H

#include "net_port.h"
#include "sim_replay.h"

/* Messages of a port that are not handed over yet. */
struct leat_net_replay_pending {
    uint64_t count;
    leat_time last_at;
};

struct leat_net_replay {
    struct leat_sim_replay base;
    struct leat_net_port port;
    uint64_t skipped; /* by the port, when the network stopped */
    /* Scratch of fingerprints: */
    uint32_t *place;                         /* [entries] among those in flight */
    bool *is_pending;                        /* [entries] not handed over yet */
    struct leat_net_replay_pending *pending; /* [ports] */
};

size_t leat_net_replay_footprint(const struct leat_net_port_config *config);

/* Set replay->base.net.observer next. `memory`: ZEROED, aligned for any object, lent for the
 * lifetime. */
void leat_net_replay_init(struct leat_net_replay *replay, const struct leat_net_port_config *config,
                          void *memory);

#endif
