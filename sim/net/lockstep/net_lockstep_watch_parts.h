/*
 * Can anything still move in a network in lockstep (net_lockstep_parts.h)? Where routes may form a
 * cycle, packets may wait for each other; once nothing can move, the engine ends the run
 * (leat_net_run). So each leg of a plan that is watched ends with a look at all ports and
 * terminals. Internal.
 */
#ifndef LEAT_NET_LOCKSTEP_WATCH_PARTS_H
#define LEAT_NET_LOCKSTEP_WATCH_PARTS_H

#include "net_lockstep_parts.h"

/* Flits and credits on wires: in the share of one of so many threads. */
static inline bool leat_net_lockstep_is_under_way(const struct leat_net_lockstep_view *v,
                                                  uint32_t item, uint32_t items)
{
    const uint32_t slots = LEAT_NET_PLAN(v->plan, flit_slots),
                   back = LEAT_NET_PLAN(v->plan, credit_slots);
    const uint32_t terminals = LEAT_NET_PLAN(v->plan, terminals);
    uint32_t found = 0;
    for (uint32_t i = item; i < (LEAT_NET_PLAN(v->plan, ins) + terminals) * slots; i += items)
        found |= v->flits[i];
    for (uint32_t i = item; i < LEAT_NET_PLAN(v->plan, outs) * back; i += items)
        found |= v->credits[i];
    for (uint32_t i = item; i < terminals * back; i += items)
        found |= v->entry_credits[i];
    return found;
}

/* Lanes of an input port that have a flit. */
static inline uint32_t leat_net_lockstep_busy_lanes(const struct leat_net_lockstep_view *v,
                                                    uint32_t in)
{
    uint32_t busy = 0;
    for (uint32_t channel = 0; channel < LEAT_NET_PLAN(v->plan, channels); channel++)
        if (v->lane[(in << LEAT_NET_PLAN(v->plan, shift)) + channel].count)
            busy |= UINT32_C(1) << channel;
    return busy;
}

/* Can a flit of this lane pass the switch? */
static inline bool leat_net_lockstep_can_pass(const struct leat_net_lockstep_view *v,
                                              uint32_t router, uint32_t lane)
{
    const uint32_t first = v->out_first[router] << LEAT_NET_PLAN(v->plan, shift);
    return v->ahead[first + v->lane[lane].next - 1].used < LEAT_NET_PLAN(v->plan, buffer);
}

/* Can the head of this lane take a channel? If there is none at all, it is lost, which is a
 * movement, too. */
static inline bool leat_net_lockstep_can_take(const struct leat_net_lockstep_view *v,
                                              uint32_t router, uint32_t lane)
{
    const uint32_t set = v->set[v->lane[lane].set];
    return !set ||
           leat_net_lockstep_usable(v, lane, v->out_first[router] + v->lane[lane].port, set);
}

/* Can a flit at this input port move, or a head request a channel? `busy`: its lanes with flits. */
static inline bool leat_net_lockstep_can_move(const struct leat_net_lockstep_view *v,
                                              uint32_t router, uint32_t in, uint32_t busy)
{
    const struct leat_net_lockstep_port_in port = v->port_in[in];
    const uint32_t lane = in << LEAT_NET_PLAN(v->plan, shift);
    if (LEAT_NET_IS_FAULTY(v->plan) && (v->loss[in].ended || v->loss[in].discards & busy))
        return true;
    for (uint32_t set = port.early; set; set &= set - 1)
        if (!LEAT_NET_PLAN(v->plan, stores) ||
            leat_net_lockstep_holds_tail(v, lane + leat_device_lowest(set)))
            return true;
    for (uint32_t set = port.moving & busy; set; set &= set - 1)
        if (leat_net_lockstep_can_pass(v, router, lane + leat_device_lowest(set))) return true;
    for (uint32_t set = port.asking; set; set &= set - 1)
        if (leat_net_lockstep_can_take(v, router, lane + leat_device_lowest(set))) return true;
    return false;
}

/* Will this terminal send a flit, now or when its time comes? */
static inline bool leat_net_lockstep_can_send(const struct leat_net_lockstep_view *v,
                                              uint32_t terminal)
{
    const struct leat_net_lockstep_host host = v->host[terminal];
    if (host.due == LEAT_NET_LOCKSTEP_NEVER) return false;
    if (host.due >= v->now) return true;
    if (host.sent) return leat_net_lockstep_has_room(v, terminal, host.channel, 1);
    if (leat_net_lockstep_is_dead(v, terminal)) return false;
    for (uint32_t channel = 0; channel < LEAT_NET_PLAN(v->plan, channels); channel++)
        if (leat_net_lockstep_has_room(v, terminal, channel, leat_net_lockstep_need(v, terminal)))
            return true;
    return false;
}

/* At the end of a leg, in which all have finished its last cycle: the share of one of so many
 * threads. */
static inline void leat_net_lockstep_watch_all(const struct leat_net_lockstep_view *v,
                                               uint32_t item, uint32_t items)
{
    const uint32_t routers = LEAT_NET_PLAN(v->plan, routers);
    const uint32_t ports = routers * LEAT_NET_PLAN(v->plan, radix);
    bool moves = leat_net_lockstep_is_under_way(v, item, items), holds = false;
    for (uint32_t i = item; i < ports; i += items) {
        const uint32_t router = i % routers, in = v->in_first[router] + i / routers;
        if (in >= v->in_first[router + 1]) continue;
        const uint32_t busy = leat_net_lockstep_busy_lanes(v, in);
        holds |= busy != 0;
        moves |= leat_net_lockstep_can_move(v, router, in, busy);
    }
    for (uint32_t t = item; t < LEAT_NET_PLAN(v->plan, terminals); t += items)
        moves |= leat_net_lockstep_can_send(v, t);
    if (moves || holds) LEAT_DEVICE_MAX(&v->round->seen, v->now << 1 | moves);
}

#endif
