/*
 * A network under load: the host of all its terminals, and its measurements.
 *
 *     leat_net_load_init(load, ...)          traffic is ready
 *     leat_net_load_host(load, &host)
 *     leat_net_init(net, ..., &host, ...)
 *     leat_net_load_attach(load, net)
 *     leat_net_load_run(load, until) ...     in pieces; faults take effect in between
 *     leat_net_load_result(load, &result)    at any time between them
 *
 * If the network is in parts, each part has a tally of what arrives in it, so that the parts may
 * call their hosts at the same time. (Not with closed traffic: what a terminal sends depends on all
 * others.) The result is their sum; with ranks it is rank 0's, and all ask for it.
 *
 * The certificate covers all packets delivered, in any order; instead of a
 * payload hash it has the number of flits. Time is the clock's edge, or the cycle if there is no
 * clock.
 */
#ifndef LEAT_NET_LOAD_H
#define LEAT_NET_LOAD_H

#include "net_faults.h"
#include "net_steady.h"
#include "net_traffic.h"
#include "sim_certificate.h"
#include "sim_clock.h"

struct leat_net_load_config {
    struct leat_net_traffic_config traffic;
    uint32_t parts;               /* of the network that this process has; 0: one */
    struct leat_sim_ranks *ranks; /* as in leat_net_config; not with closed traffic */
    uint64_t warmup;              /* cycles, or LEAT_NET_STEADY_FIND */
    uint32_t precision_ppm;       /* the run ends when it is reached (net_steady.h); 0: never */
    struct leat_sim_clock clock;  /* all zeros: none */
    /* Lent for the lifetime; NULL: none. Checked against the topology, which is lent too. */
    const struct leat_net_faults *faults;
    const struct leat_net_topology *topology;
};

/* What arrived. */
struct leat_net_tally {
    struct leat_net_load *load;
    struct leat_net_steady steady;
    struct leat_sim_certificate certificate;
    uint64_t edge_cycle, edge_at; /* the last clock edge that was computed */
    uint64_t packets_ended[LEAT_NET_FATES], flits_ended[LEAT_NET_FATES];
    uint64_t packets_rerouted; /* delivered by another route than without faults */
    uint64_t *delivered;       /* [terminals] packets, by source */
};

struct leat_net_load {
    struct leat_net_load_config config;
    struct leat_net *net;
    struct leat_net_traffic traffic;
    struct leat_net_fault_player player;
    bool counts_created; /* packets, while they are created; a trace is its own record */
    uint64_t look_at;    /* with a precision: the next cycle to judge it */
    enum leat_net_steady_verdict seen, verdict; /* of the last look; of two looks that agree */
    uint32_t tallies;
    uint8_t *skipped; /* [terminals] counted by other ranks, or dead; NULL without ranks */
    void **tally;     /* [tallies] struct leat_net_tally; [0] has all when there is a result */
};

static inline struct leat_net_tally *leat_net_load_tally(const struct leat_net_load *load,
                                                         uint32_t part)
{
    return load->tally[part];
}

struct leat_net_load_result {
    uint64_t cycles;
    uint64_t packets_offered, flits_offered; /* created, including those queued at their sources */
    uint64_t packets_ended[LEAT_NET_FATES], flits_ended[LEAT_NET_FATES];
    uint64_t packets_waiting; /* neither delivered nor lost yet */
    uint64_t packets_rerouted;
    uint64_t delivered_min, delivered_max; /* packets per source */
    uint64_t certificate;
    struct leat_net_rounds rounds;        /* of a collective */
    struct leat_net_steady_result steady; /* after the warm-up; all above: from cycle 0 on */
};

/* For a checked traffic config. */
size_t leat_net_load_footprint(const struct leat_net_load_config *config);

/* `memory` is ZEROED, aligned for any object, lent for the object's lifetime. */
void leat_net_load_init(struct leat_net_load *load, const struct leat_net_load_config *config,
                        void *memory);
void leat_net_load_host(struct leat_net_load *load, struct leat_net_host *host);
void leat_net_load_attach(struct leat_net_load *load, struct leat_net *net);

/* Runs all cycles before `until`, whose clock edge is before LEAT_NEVER. False: the network is
 * deadlocked (leat_net_run). Ends early if the host stops the network, and once there is a verdict,
 * which is that of any number of parts and ranks. */
bool leat_net_load_run(struct leat_net_load *load, uint64_t until);

/* The run has reached look_at, and load->tally[0] has all: judges it, and sets the next one. */
void leat_net_load_judge(struct leat_net_load *load, uint64_t now);

/* Terminals that are dead now are ignored in the decision about saturation. */
void leat_net_load_result(struct leat_net_load *load, struct leat_net_load_result *out);

#endif
