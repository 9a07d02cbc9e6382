/* Two runs have the same result. */
#ifndef LEAT_NET_RESULT_TEST_H
#define LEAT_NET_RESULT_TEST_H

#include "net_load.h"
#include "tap.h"
#include <string.h>

static inline void steady_is(const struct leat_net_steady_result *a,
                             const struct leat_net_steady_result *b)
{
    EQ(a->warmup, b->warmup);
    EQ(a->cycles, b->cycles);
    EQ(a->settled, b->settled);
    EQ(a->saturated, b->saturated);
    EQ(a->has_intervals, b->has_intervals);
    EQ(a->packets, b->packets);
    OK(a->latency_mean == b->latency_mean && a->latency_half == b->latency_half);
    EQ(a->latency_p50, b->latency_p50);
    EQ(a->latency_p99, b->latency_p99);
    EQ(a->latency_max, b->latency_max);
    OK(a->hops_mean == b->hops_mean && a->offered == b->offered);
    OK(a->accepted == b->accepted && a->accepted_half == b->accepted_half);
    OK(!strcmp(a->reason, b->reason));
}

static inline void result_is(const struct leat_net_load_result *a,
                             const struct leat_net_load_result *b)
{
    EQ(a->cycles, b->cycles);
    EQ(a->packets_offered, b->packets_offered);
    EQ(a->flits_offered, b->flits_offered);
    for (int fate = 0; fate < LEAT_NET_FATES; fate++) {
        EQ(a->packets_ended[fate], b->packets_ended[fate]);
        EQ(a->flits_ended[fate], b->flits_ended[fate]);
    }
    EQ(a->packets_waiting, b->packets_waiting);
    EQ(a->packets_rerouted, b->packets_rerouted);
    EQ(a->delivered_min, b->delivered_min);
    EQ(a->delivered_max, b->delivered_max);
    EQ(a->certificate, b->certificate);
    EQ(a->rounds.count, b->rounds.count);
    EQ(a->rounds.cycles, b->rounds.cycles);
    EQ(a->rounds.cycles_min, b->rounds.cycles_min);
    EQ(a->rounds.cycles_max, b->rounds.cycles_max);
    steady_is(&a->steady, &b->steady);
}

#endif
