/*
 * What faults do to the packets of a network in lockstep (net_lockstep_parts.h). Internal.
 *
 * The first thing that happens to a packet is its fate. Within a cycle that is in order of stages,
 * as in the engine: terminals that are dead, then wires that damage, then heads without a way. So
 * no stage has two causes, and threads that find one at the same time write the same.
 */
#ifndef LEAT_NET_LOCKSTEP_FATE_PARTS_H
#define LEAT_NET_LOCKSTEP_FATE_PARTS_H

#include "net_lockstep_words_parts.h"

static inline void leat_net_lockstep_doom(const struct leat_net_lockstep_view *v, uint32_t packet,
                                          uint32_t fate)
{
    if (!v->fate[packet]) LEAT_DEVICE_OR(&v->fate[packet], fate);
}

static inline bool leat_net_lockstep_is_dead(const struct leat_net_lockstep_view *v,
                                             uint32_t terminal)
{
    return LEAT_NET_IS_FAULTY(v->plan) && v->dead[terminal];
}

/* The next flit of a lane crosses this wire: does that damage it? */
static inline void leat_net_lockstep_cross(const struct leat_net_lockstep_view *v, uint32_t lane,
                                           uint32_t out)
{
    if (!LEAT_NET_IS_FAULTY(v->plan) || v->now < LEAT_NET_PLAN(v->plan, errors_from)) return;
    const uint32_t packet = v->mover[lane].packet;
    const struct leat_net_crossing crossing = { .number = v->packet[packet].number,
                                                .source = v->packet[packet].source,
                                                .flit = v->mover[lane].passed++,
                                                .wire = out };
    const uint64_t seed = (uint64_t)v->job->seed_high << 32 | v->job->seed_low;
    if (v->errors[out] && leat_net_crossing_damages(&crossing, seed, v->errors[out]))
        leat_net_lockstep_doom(v, packet, LEAT_NET_CORRUPTED);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Several threads may count at once. */
static inline void leat_net_lockstep_count(const struct leat_net_lockstep_view *v, uint32_t counter,
                                           uint32_t number)
{
    const uint32_t before = LEAT_DEVICE_ADD(&v->tally->of[counter].low, number);
    if (before + number < before) LEAT_DEVICE_ADD(&v->tally->of[counter].high, 1);
}

static inline uint64_t
leat_net_lockstep_counted(LEAT_DEVICE_STORE const struct leat_net_lockstep_tally *t,
                          uint32_t counter)
{
    return (uint64_t)t->of[counter].high << 32 | t->of[counter].low;
}

/* Adds the tallies of two batches. */
static inline void leat_net_lockstep_merge(LEAT_DEVICE_STORE struct leat_net_lockstep_tally *to,
                                           LEAT_DEVICE_STORE struct leat_net_lockstep_tally *one,
                                           LEAT_DEVICE_STORE struct leat_net_lockstep_tally *other)
{
    for (uint32_t i = 0; i < LEAT_NET_LOCKSTEP_COUNTERS; i++) {
        const uint64_t sum = leat_net_lockstep_counted(one, i) +
                             leat_net_lockstep_counted(other, i);
        to->of[i].low = (uint32_t)sum;
        to->of[i].high = (uint32_t)(sum >> 32);
    }
}

#endif
