/*
 * A cycle of a router, for engines where all routers take each cycle together: the processor's
 * (net_lockstep.c) and those of OpenCL devices, which compile this text (core/leat_device.h).
 * Internal.
 *
 * It is the router of net_vc_parts.h, and its results are the same. What a router does in a cycle
 * depends on nothing that another one does in the same cycle, as flits and credits need two cycles
 * at least. Each wire is a ring of slots, one per cycle: its sender writes the slot of the cycle of
 * arrival, its receiver reads and clears that of this cycle.
 *
 * A cycle has stages, and each port and terminal passes each stage: in any order, or all at once,
 * if all have finished a stage before any begins the next. Words that several of them change in the
 * same stage are changed as a whole (LEAT_DEVICE_ADD and so on).
 */
#ifndef LEAT_NET_LOCKSTEP_PARTS_H
#define LEAT_NET_LOCKSTEP_PARTS_H

#include "net_lockstep_terminal_parts.h"

/* ---- routes ---------------------------------------------------------------------------------- */

static inline struct leat_net_choice
leat_net_lockstep_choose(const struct leat_net_lockstep_view *v, LEAT_DEVICE_PLAN uint16_t *row,
                         uint32_t router, uint32_t goal,
                         LEAT_DEVICE_STORE const struct leat_net_lockstep_packet *p)
{
    const uint32_t branch = row[router * LEAT_NET_PLAN(v->plan, routers) + goal];
    const uint32_t phase = p->phase & (LEAT_NET_LOCKSTEP_DETOUR - 1);
    return v->choice[leat_net_branch_take(&v->branch[branch], router, phase, p->salt)];
}

/* Where a head may go; around a broken wire it counts as rerouted, once it has a channel. */
static inline void leat_net_lockstep_route(struct leat_net_lockstep_view *v, uint32_t router,
                                           LEAT_DEVICE_STATE struct leat_net_lockstep_lane *l,
                                           uint32_t packet)
{
    LEAT_DEVICE_STORE const struct leat_net_lockstep_packet *p = &v->packet[packet];
    const struct leat_net_lockstep_terminal goal = v->terminal[p->destination];
    if (goal.router == router) {
        l->port = (uint16_t)goal.port;
        l->set = 0; /* all */
        l->phase = 0;
        return;
    }
    const struct leat_net_choice choice = leat_net_lockstep_choose(v, v->row, router, goal.router,
                                                                   p);
    uint32_t phase = p->phase & LEAT_NET_LOCKSTEP_DETOUR;
    if (LEAT_NET_IS_FAULTY(v->plan) && v->row != v->intact) {
        const struct leat_net_choice intact = leat_net_lockstep_choose(v, v->intact, router,
                                                                       goal.router, p);
        if (choice.port != intact.port || choice.set != intact.set)
            phase = LEAT_NET_LOCKSTEP_DETOUR;
    }
    l->port = choice.port;
    l->set = choice.set;
    l->phase = (uint8_t)((choice.phase | phase) ^ p->phase);
}

static inline uint32_t leat_net_lockstep_front(const struct leat_net_lockstep_view *v,
                                               uint32_t lane)
{
    return v->buffers[lane * LEAT_NET_PLAN(v->plan, buffer) + v->lane[lane].first];
}

/* The packet at the front has a channel now, or is lost. */
static inline void leat_net_lockstep_remember(const struct leat_net_lockstep_view *v, uint32_t lane)
{
    v->mover[lane].packet = leat_net_lockstep_front(v, lane) & LEAT_NET_LOCKSTEP_PACKET;
    v->mover[lane].passed = 0;
}

/* The place of a lane's flit i. */
static inline uint32_t leat_net_lockstep_place(const struct leat_net_lockstep_view *v,
                                               uint32_t lane, uint32_t i)
{
    const uint32_t place = v->lane[lane].first + i, buffer = LEAT_NET_PLAN(v->plan, buffer);
    return lane * buffer + (place < buffer ? place : place - buffer);
}

static inline bool leat_net_lockstep_holds_tail(const struct leat_net_lockstep_view *v,
                                                uint32_t lane)
{
    for (uint32_t i = 0; i < v->lane[lane].count; i++)
        if (v->buffers[leat_net_lockstep_place(v, lane, i)] & LEAT_NET_LOCKSTEP_TAIL) return true;
    return false;
}

static inline void leat_net_lockstep_ask(struct leat_net_lockstep_view *v, uint32_t router,
                                         uint32_t lane)
{
    const uint32_t port = lane >> LEAT_NET_PLAN(v->plan, shift);
    const uint32_t packet = leat_net_lockstep_front(v, lane) & LEAT_NET_LOCKSTEP_PACKET;
    LEAT_DEVICE_OR(&v->port_in[port].asking,
                   UINT32_C(1) << (lane - (port << LEAT_NET_PLAN(v->plan, shift))));
    v->packet[packet].hops++;
    leat_net_lockstep_route(v, router, &v->lane[lane], packet);
}

/* A head has reached the front of its lane; the router processes it from cycle `at` on. */
static inline void leat_net_lockstep_come_to_front(struct leat_net_lockstep_view *v,
                                                   uint32_t router, uint32_t lane, uint32_t at)
{
    const uint32_t port = lane >> LEAT_NET_PLAN(v->plan, shift);
    if (!LEAT_NET_PLAN(v->plan, stores) && !LEAT_NET_PLAN(v->plan, ripening)) {
        leat_net_lockstep_ask(v, router, lane);
        return;
    }
    LEAT_DEVICE_OR(&v->port_in[port].early,
                   UINT32_C(1) << (lane - (port << LEAT_NET_PLAN(v->plan, shift))));
    v->lane[lane].port = (uint16_t)(at + LEAT_NET_PLAN(v->plan, ripening));
}

/* ---- what arrives ---------------------------------------------------------------------------- */

static inline void leat_net_lockstep_credits_come(struct leat_net_lockstep_view *v, uint32_t out)
{
    const uint32_t slots = LEAT_NET_PLAN(v->plan, credit_slots);
    LEAT_DEVICE_STATE uint32_t *slot = &v->credits[out * slots + (v->now & (slots - 1))];
    uint32_t set = *slot;
    if (!set) return;
    *slot = 0;
    for (; set; set &= set - 1)
        v->ahead[(out << LEAT_NET_PLAN(v->plan, shift)) + leat_device_lowest(set)].used--;
}

static inline void leat_net_lockstep_flits_come(struct leat_net_lockstep_view *v, uint32_t router,
                                                uint32_t in)
{
    const uint32_t slots = LEAT_NET_PLAN(v->plan, flit_slots);
    LEAT_DEVICE_STATE uint32_t *slot = &v->flits[in * slots + (v->now & (slots - 1))];
    const uint32_t flit = *slot;
    if (!flit) return;
    *slot = 0;
    const uint32_t channel = flit >> LEAT_NET_LOCKSTEP_CHANNEL & (LEAT_NET_CHANNELS_MAX - 1);
    const uint32_t lane = (in << LEAT_NET_PLAN(v->plan, shift)) + channel;
    LEAT_DEVICE_STATE struct leat_net_lockstep_lane *l = &v->lane[lane];
    v->buffers[leat_net_lockstep_place(v, lane, l->count)] = flit;
    if (!l->count++ && flit & LEAT_NET_LOCKSTEP_HEAD)
        leat_net_lockstep_come_to_front(v, router, lane, v->now);
}

/* Heads that had to wait before they request: for the tail, and then for the pipeline. */
static inline void leat_net_lockstep_ripen(struct leat_net_lockstep_view *v, uint32_t router,
                                           uint32_t in)
{
    for (uint32_t set = v->port_in[in].early; set; set &= set - 1) {
        const uint32_t lane = (in << LEAT_NET_PLAN(v->plan, shift)) + leat_device_lowest(set);
        if (LEAT_NET_PLAN(v->plan, stores) && !leat_net_lockstep_holds_tail(v, lane)) {
            v->lane[lane].port = (uint16_t)(v->now + 1 + LEAT_NET_PLAN(v->plan, ripening));
        } else if (v->lane[lane].port == (uint16_t)v->now) {
            LEAT_DEVICE_AND(&v->port_in[in].early, ~(set & -set));
            leat_net_lockstep_ask(v, router, lane);
        }
    }
}

/* ---- allocation of channels ------------------------------------------------------------------ */

/* Free channels that the head of this lane may take. */
static inline uint32_t leat_net_lockstep_usable(const struct leat_net_lockstep_view *v,
                                                uint32_t lane, uint32_t out, uint32_t set)
{
    const uint32_t packet = leat_net_lockstep_front(v, lane) & LEAT_NET_LOCKSTEP_PACKET;
    uint32_t found = set & ~v->port_out[out].taken;
    for (uint32_t rest = LEAT_NET_PLAN(v->plan, whole) ? found : 0; rest; rest &= rest - 1) {
        const uint32_t channel = leat_device_lowest(rest);
        const uint32_t used = v->ahead[(out << LEAT_NET_PLAN(v->plan, shift)) + channel].used;
        if (LEAT_NET_PLAN(v->plan, buffer) - used < v->packet[packet].flits)
            found &= ~(UINT32_C(1) << channel);
    }
    return found;
}

/* There is no way for the head of this lane: its packet is lost here. */
static inline void leat_net_lockstep_discard(struct leat_net_lockstep_view *v, uint32_t in,
                                             uint32_t lane)
{
    const uint32_t bit = UINT32_C(1) << (lane - (in << LEAT_NET_PLAN(v->plan, shift)));
    LEAT_DEVICE_AND(&v->port_in[in].asking, ~bit);
    v->loss[in].discards |= bit;
    leat_net_lockstep_remember(v, lane);
}

static inline void leat_net_lockstep_bid_for_channels(struct leat_net_lockstep_view *v,
                                                      uint32_t router, uint32_t in)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift), out_first = v->out_first[router];
    for (uint32_t set = v->port_in[in].asking; set; set &= set - 1) {
        const uint32_t lane = (in << shift) + leat_device_lowest(set);
        const struct leat_net_lockstep_lane l = v->lane[lane];
        const uint32_t out = out_first + l.port;
        const uint32_t usable = leat_net_lockstep_usable(v, lane, out, v->set[l.set]);
        if (!usable) {
            if (LEAT_NET_IS_FAULTY(v->plan) && !v->set[l.set])
                leat_net_lockstep_discard(v, in, lane);
            else
                v->sums.waits++;
            continue;
        }
        const uint32_t channel = leat_net_turn_channel(l.next, l.port, shift, usable);
        const uint32_t index = lane - (v->in_first[router] << shift);
        LEAT_DEVICE_STATE struct leat_net_lockstep_ahead *ahead =
            &v->ahead[(out << shift) + channel];
        const uint32_t bid = leat_net_turn_bid(index, ahead->next, index);
        LEAT_DEVICE_MAX(&ahead->bid, bid);
        LEAT_DEVICE_OR(&v->port_out[out].wanted, UINT32_C(1) << channel);
    }
}

static inline void leat_net_lockstep_grant_channels(struct leat_net_lockstep_view *v,
                                                    uint32_t router, uint32_t out)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift), lane_first = v->in_first[router] << shift;
    LEAT_DEVICE_STATE struct leat_net_lockstep_port_out *o = &v->port_out[out];
    for (uint32_t set = o->wanted; set; set &= set - 1) {
        const uint32_t channel = leat_device_lowest(set);
        LEAT_DEVICE_STATE struct leat_net_lockstep_ahead *ahead =
            &v->ahead[(out << shift) + channel];
        const uint32_t index = ahead->bid & LEAT_NET_LOCAL, lane = lane_first + index;
        LEAT_DEVICE_STATE struct leat_net_lockstep_lane *l = &v->lane[lane];
        LEAT_DEVICE_STATE struct leat_net_lockstep_port_in *in = &v->port_in[lane >> shift];
        const uint32_t bit = UINT32_C(1) << (index & ((UINT32_C(1) << shift) - 1));
        if (l->phase)
            v->packet[leat_net_lockstep_front(v, lane) & LEAT_NET_LOCKSTEP_PACKET].phase ^=
                l->phase;
        if (LEAT_NET_IS_FAULTY(v->plan)) leat_net_lockstep_remember(v, lane);
        l->next = (uint16_t)(((uint32_t)l->port << shift) + channel + 1);
        LEAT_DEVICE_AND(&in->asking, ~bit);
        LEAT_DEVICE_OR(&in->moving, bit);
        ahead->next = (uint16_t)(index + 1);
        ahead->bid = 0;
    }
    o->taken |= o->wanted;
    o->wanted = 0;
}

/* ---- allocation of the switch ---------------------------------------------------------------- */

/* An input port bids with one of its lanes that have a flit, a channel and a credit. */
static inline void leat_net_lockstep_bid_for_switch(struct leat_net_lockstep_view *v,
                                                    uint32_t router, uint32_t in)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift), out_first = v->out_first[router];
    const struct leat_net_lockstep_port_in port = v->port_in[in];
    uint32_t soonest = UINT32_MAX;
    for (uint32_t set = port.moving; set; set &= set - 1) {
        const uint32_t channel = leat_device_lowest(set);
        const struct leat_net_lockstep_lane l = v->lane[(in << shift) + channel];
        if (!l.count) continue;
        if (v->ahead[(out_first << shift) + l.next - 1].used == LEAT_NET_PLAN(v->plan, buffer)) {
            v->sums.waits++;
            continue;
        }
        const uint32_t turn = leat_net_turn_lane(l.port, port.out_turn, channel, port.channel_turn);
        if (turn < soonest) soonest = turn;
    }
    if (soonest == UINT32_MAX) return;
    const uint32_t lane = (in << shift) + (soonest & (LEAT_NET_CHANNELS_MAX - 1));
    const uint32_t index = lane - (v->in_first[router] << shift);
    LEAT_DEVICE_STATE struct leat_net_lockstep_port_out *out =
        &v->port_out[out_first + v->lane[lane].port];
    const uint32_t bid = leat_net_turn_bid(in - v->in_first[router], out->turn, index);
    LEAT_DEVICE_MAX(&out->bid, bid);
}

/* Removes the first flit of a lane and returns its credit. */
static inline uint32_t leat_net_lockstep_take(struct leat_net_lockstep_view *v, uint32_t in,
                                              uint32_t lane)
{
    const uint32_t flit = leat_net_lockstep_front(v, lane),
                   slots = LEAT_NET_PLAN(v->plan, credit_slots);
    const uint32_t bit = UINT32_C(1) << (lane - (in << LEAT_NET_PLAN(v->plan, shift)));
    const struct leat_net_lockstep_in from = v->in[in];
    LEAT_DEVICE_STATE struct leat_net_lockstep_lane *l = &v->lane[lane];
    const uint32_t at = (v->now + from.back) & (slots - 1);
    l->first = (uint16_t)(l->first + 1u < LEAT_NET_PLAN(v->plan, buffer) ? l->first + 1u : 0);
    l->count--;
    if (from.from & LEAT_NET_LOCKSTEP_TERMINAL)
        v->entry_credits[(from.from ^ LEAT_NET_LOCKSTEP_TERMINAL) * slots + at] |= bit;
    else
        v->credits[from.from * slots + at] |= bit;
    return flit;
}

/* A flit passes the switch into its wire. */
static inline void leat_net_lockstep_pass(struct leat_net_lockstep_view *v, uint32_t router,
                                          uint32_t lane, uint32_t out)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift),
                   slots = LEAT_NET_PLAN(v->plan, flit_slots), in = lane >> shift;
    LEAT_DEVICE_STATE struct leat_net_lockstep_lane *l = &v->lane[lane];
    const uint32_t channel = l->next - 1u - ((uint32_t)l->port << shift);
    const uint32_t flit = leat_net_lockstep_take(v, in, lane);
    const uint32_t mine = flit & (LEAT_NET_LOCKSTEP_HEAD | LEAT_NET_LOCKSTEP_TAIL |
                                  LEAT_NET_LOCKSTEP_PACKET);
    const struct leat_net_lockstep_out to = v->out[out];
    const uint32_t wire = to.to & LEAT_NET_LOCKSTEP_TERMINAL
                              ? LEAT_NET_PLAN(v->plan, ins) + (to.to ^ LEAT_NET_LOCKSTEP_TERMINAL)
                              : to.to;
    v->flits[wire * slots + ((v->now + to.cycles) & (slots - 1))] =
        mine | LEAT_NET_LOCKSTEP_THERE | channel << LEAT_NET_LOCKSTEP_CHANNEL;
    leat_net_lockstep_cross(v, lane, out);
    v->ahead[(out << shift) + channel].used++;
    v->out_flits[out]++;
    v->sums.flit_hops++;
    if (!(flit & LEAT_NET_LOCKSTEP_TAIL)) return;
    v->port_out[out].taken &= ~(UINT32_C(1) << channel);
    LEAT_DEVICE_AND(&v->port_in[in].moving, ~(UINT32_C(1) << (lane - (in << shift))));
    if (l->count) leat_net_lockstep_come_to_front(v, router, lane, v->now + 1);
}

static inline void leat_net_lockstep_grant_switch(struct leat_net_lockstep_view *v, uint32_t router,
                                                  uint32_t out)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift), in_first = v->in_first[router];
    const uint32_t bid = v->port_out[out].bid;
    if (!bid) return;
    const uint32_t lane = (in_first << shift) + (bid & LEAT_NET_LOCAL), in = lane >> shift;
    v->port_out[out].bid = 0;
    v->port_out[out].turn = in - in_first + 1;
    v->port_in[in].out_turn = (uint16_t)(out - v->out_first[router] + 1);
    v->port_in[in].channel_turn = (uint16_t)(lane - (in << shift) + 1);
    leat_net_lockstep_pass(v, router, lane, out);
}

/* ---- what is lost ---------------------------------------------------------------------------- */

/* Drops a flit of each packet that is lost at this port. All that wires did in this cycle is
 * done. */
static inline void leat_net_lockstep_drop(struct leat_net_lockstep_view *v, uint32_t router,
                                          uint32_t in)
{
    for (uint32_t set = v->loss[in].discards; set; set &= set - 1) {
        const uint32_t lane = (in << LEAT_NET_PLAN(v->plan, shift)) + leat_device_lowest(set);
        leat_net_lockstep_doom(v, v->mover[lane].packet, LEAT_NET_NO_WAY);
        if (!v->lane[lane].count || !(leat_net_lockstep_take(v, in, lane) & LEAT_NET_LOCKSTEP_TAIL))
            continue;
        v->loss[in].discards &= ~(set & -set);
        v->loss[in].ended |= set & -set;
        if (v->lane[lane].count) leat_net_lockstep_come_to_front(v, router, lane, v->now + 1);
    }
}

/* Packets whose tails were dropped in the cycle before. */
static inline void leat_net_lockstep_end_dropped(struct leat_net_lockstep_view *v, uint32_t in)
{
    for (uint32_t set = v->loss[in].ended; set; set &= set - 1) {
        const uint32_t lane = (in << LEAT_NET_PLAN(v->plan, shift)) + leat_device_lowest(set);
        leat_net_lockstep_lose(v, v->mover[lane].packet);
    }
    v->loss[in].ended = 0;
}

/* This wire breaks: packets that cross it are lost. */
static inline void leat_net_lockstep_break(struct leat_net_lockstep_view *v, uint32_t router,
                                           uint32_t out)
{
    const uint32_t shift = LEAT_NET_PLAN(v->plan, shift),
                   slots = LEAT_NET_PLAN(v->plan, flit_slots);
    for (uint32_t set = v->port_out[out].taken; set; set &= set - 1) {
        const uint32_t holder = v->ahead[(out << shift) + leat_device_lowest(set)].next - 1u;
        const uint32_t lane = (v->in_first[router] << shift) + holder;
        leat_net_lockstep_doom(v, v->mover[lane].packet, LEAT_NET_CUT);
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        const uint32_t flit = v->flits[v->out[out].to * slots + slot];
        if (flit) leat_net_lockstep_doom(v, flit & LEAT_NET_LOCKSTEP_PACKET, LEAT_NET_CUT);
    }
}

/* A period begins, at a port of a router. `broken`: up to now. */
static inline void leat_net_lockstep_change(struct leat_net_lockstep_view *v,
                                            LEAT_DEVICE_PLAN uint8_t *broken, uint32_t router,
                                            uint32_t port)
{
    const uint32_t in = v->in_first[router] + port, out = v->out_first[router] + port;
    if (out < v->out_first[router + 1] && v->broken[out] && !broken[out])
        leat_net_lockstep_break(v, router, out);
    if (in >= v->in_first[router + 1]) return;
    for (uint32_t set = v->port_in[in].asking; set; set &= set - 1) {
        const uint32_t lane = (in << LEAT_NET_PLAN(v->plan, shift)) + leat_device_lowest(set);
        leat_net_lockstep_route(v, router, &v->lane[lane],
                                leat_net_lockstep_front(v, lane) & LEAT_NET_LOCKSTEP_PACKET);
    }
}

static inline LEAT_DEVICE_PLAN uint8_t *
leat_net_lockstep_broken(LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *p, uint32_t outage)
{
    LEAT_DEVICE_PLAN uint32_t *words = (LEAT_DEVICE_PLAN uint32_t *)p + LEAT_NET_PLAN(p, broken);
    return (LEAT_DEVICE_PLAN uint8_t *)words + (size_t)outage * LEAT_NET_PLAN(p, outs);
}

/* At all ports: the share of one of so many threads. All have finished it before a cycle begins. */
static inline void leat_net_lockstep_change_all(struct leat_net_lockstep_view *v, uint32_t before,
                                                uint32_t item, uint32_t items)
{
    const uint32_t routers = LEAT_NET_PLAN(v->plan, routers);
    LEAT_DEVICE_PLAN uint8_t *broken = leat_net_lockstep_broken(v->plan, before);
    for (uint32_t i = item; i < routers * LEAT_NET_PLAN(v->plan, radix); i += items)
        leat_net_lockstep_change(v, broken, i % routers, i / routers);
}

/* ---- a cycle --------------------------------------------------------------------------------- */

enum leat_net_lockstep_stage {
    LEAT_NET_LOCKSTEP_ARRIVALS, /* at routers and terminals */
    LEAT_NET_LOCKSTEP_BIDS,   /* for channels; for the switch, too, if that is not fused; terminals
                                   send, as they know what has arrived */
    LEAT_NET_LOCKSTEP_GRANTS, /* of channels; of the switch, too, if that is not fused */
    LEAT_NET_LOCKSTEP_LATE_BIDS,
    LEAT_NET_LOCKSTEP_LATE_GRANTS, /* of the switch, if both allocations are in one cycle */
};

/* How many stages a cycle has; the last one is that of drops, if there are any. */
static inline uint32_t leat_net_lockstep_stages(const struct leat_net_lockstep_view *v)
{
    return (LEAT_NET_PLAN(v->plan, fused) ? LEAT_NET_LOCKSTEP_LATE_GRANTS
                                          : LEAT_NET_LOCKSTEP_GRANTS) +
           1u + LEAT_NET_IS_FAULTY(v->plan);
}

static inline void leat_net_lockstep_step_in(struct leat_net_lockstep_view *v, uint32_t router,
                                             uint32_t in, uint32_t stage)
{
    if (v->in[in].from == LEAT_NET_LOCKSTEP_NONE) return;
    if (LEAT_NET_IS_FAULTY(v->plan) && stage == LEAT_NET_LOCKSTEP_ARRIVALS)
        leat_net_lockstep_end_dropped(v, in);
    if (LEAT_NET_IS_FAULTY(v->plan) && stage == leat_net_lockstep_stages(v) - 1)
        leat_net_lockstep_drop(v, router, in);
    if (stage == LEAT_NET_LOCKSTEP_ARRIVALS) {
        leat_net_lockstep_flits_come(v, router, in);
        leat_net_lockstep_ripen(v, router, in);
    }
    if (stage == LEAT_NET_LOCKSTEP_BIDS) leat_net_lockstep_bid_for_channels(v, router, in);
    if (stage ==
        (LEAT_NET_PLAN(v->plan, fused) ? LEAT_NET_LOCKSTEP_LATE_BIDS : LEAT_NET_LOCKSTEP_BIDS))
        leat_net_lockstep_bid_for_switch(v, router, in);
}

static inline void leat_net_lockstep_step_out(struct leat_net_lockstep_view *v, uint32_t router,
                                              uint32_t out, uint32_t stage)
{
    if (v->out[out].to == LEAT_NET_LOCKSTEP_NONE) return;
    if (stage == LEAT_NET_LOCKSTEP_ARRIVALS) leat_net_lockstep_credits_come(v, out);
    if (stage == LEAT_NET_LOCKSTEP_GRANTS) leat_net_lockstep_grant_channels(v, router, out);
    if (stage ==
        (LEAT_NET_PLAN(v->plan, fused) ? LEAT_NET_LOCKSTEP_LATE_GRANTS : LEAT_NET_LOCKSTEP_GRANTS))
        leat_net_lockstep_grant_switch(v, router, out);
}

/* One stage of a port: of the input and of the output with this number. */
static inline void leat_net_lockstep_step(struct leat_net_lockstep_view *v, uint32_t router,
                                          uint32_t port, uint32_t stage)
{
    const uint32_t in = v->in_first[router] + port, out = v->out_first[router] + port;
    if (in < v->in_first[router + 1]) leat_net_lockstep_step_in(v, router, in, stage);
    if (out < v->out_first[router + 1]) leat_net_lockstep_step_out(v, router, out, stage);
}

/* One stage of a terminal. */
static inline void leat_net_lockstep_step_terminal(struct leat_net_lockstep_view *v,
                                                   uint32_t terminal, uint32_t stage)
{
    if (stage == LEAT_NET_LOCKSTEP_ARRIVALS)
        leat_net_lockstep_receive(v, v->terminal[terminal].out, terminal);
    if (stage == LEAT_NET_LOCKSTEP_BIDS)
        leat_net_lockstep_send(v, v->terminal[terminal].in, terminal);
}

/* One stage of each port, and then of each terminal: the share of one of so many threads. Threads
 * beside each other have the same port of other routers, so that they mostly do the same. */
static inline void leat_net_lockstep_step_all(struct leat_net_lockstep_view *v, uint32_t stage,
                                              uint32_t item, uint32_t items)
{
    const uint32_t routers = LEAT_NET_PLAN(v->plan, routers);
    const uint32_t ports = routers * LEAT_NET_PLAN(v->plan, radix);
    for (uint32_t i = item; i < ports + LEAT_NET_PLAN(v->plan, terminals); i += items) {
        if (i < ports)
            leat_net_lockstep_step(v, i % routers, i / routers, stage);
        else
            leat_net_lockstep_step_terminal(v, i - ports, stage);
    }
}

/* ---- a network ------------------------------------------------------------------------------- */

/* What faults add to it. */
static inline void leat_net_lockstep_see_outage(struct leat_net_lockstep_view *v, uint32_t outage,
                                                LEAT_DEVICE_STATE uint32_t *state,
                                                LEAT_DEVICE_STORE uint32_t *store)
{
    LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *p = v->plan;
    LEAT_DEVICE_PLAN uint32_t *plan = (LEAT_DEVICE_PLAN uint32_t *)p;
    const size_t routers = LEAT_NET_PLAN(p, routers), outs = LEAT_NET_PLAN(p, outs);
    const uint32_t batch = leat_net_lockstep_batch_of(v->table, v->now);
    v->row += plan[LEAT_NET_PLAN(p, table) + outage] * routers * routers;
    v->broken = leat_net_lockstep_broken(p, outage);
    v->dead = (LEAT_DEVICE_PLAN uint8_t *)(plan + LEAT_NET_PLAN(p, dead)) +
              (size_t)outage * LEAT_NET_PLAN(p, terminals);
    v->errors = plan + LEAT_NET_PLAN(p, errors) + outage * outs;
    v->loss = (LEAT_DEVICE_STATE struct leat_net_lockstep_loss *)(state + LEAT_NET_PLAN(p, loss));
    v->fate = store + LEAT_NET_PLAN(p, fate);
    v->mover = (LEAT_DEVICE_STORE struct leat_net_lockstep_mover *)(store +
                                                                    LEAT_NET_PLAN(p, mover));
    v->tally = (LEAT_DEVICE_STORE struct leat_net_lockstep_tally *)(store +
                                                                    LEAT_NET_PLAN(p, tally)) +
               batch;
}

/* Of the words of a network, at the first cycle of a leg. */
static inline struct leat_net_lockstep_view
leat_net_lockstep_view(LEAT_DEVICE_PLAN uint32_t *plan, LEAT_DEVICE_PLAN uint32_t *job,
                       LEAT_DEVICE_STATE uint32_t *state, LEAT_DEVICE_STORE uint32_t *store,
                       struct leat_net_lockstep_leg leg)
{
    LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *p =
        (LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *)plan;
    struct leat_net_lockstep_view v = {
        .plan = p,
        .in_first = plan + LEAT_NET_PLAN(p, in_first),
        .out_first = plan + LEAT_NET_PLAN(p, out_first),
        .in = (LEAT_DEVICE_PLAN struct leat_net_lockstep_in *)(plan + LEAT_NET_PLAN(p, in)),
        .out = (LEAT_DEVICE_PLAN struct leat_net_lockstep_out *)(plan + LEAT_NET_PLAN(p, out)),
        .terminal = (LEAT_DEVICE_PLAN struct leat_net_lockstep_terminal *)(plan + LEAT_NET_PLAN(
                                                                                      p, terminal)),
        .row = (LEAT_DEVICE_PLAN uint16_t *)(plan + LEAT_NET_PLAN(p, row)),
        .intact = (LEAT_DEVICE_PLAN uint16_t *)(plan + LEAT_NET_PLAN(p, row)),
        .branch = (LEAT_DEVICE_PLAN struct leat_net_branch *)(plan + LEAT_NET_PLAN(p, branch)),
        .choice = (LEAT_DEVICE_PLAN struct leat_net_choice *)(plan + LEAT_NET_PLAN(p, choice)),
        .set = plan + LEAT_NET_PLAN(p, set),
        .job = (LEAT_DEVICE_PLAN struct leat_net_lockstep_job *)job,
        .to = job + sizeof(struct leat_net_lockstep_job) / sizeof(uint32_t),
        .trace = (LEAT_DEVICE_PLAN struct leat_net_lockstep_entry
                      *)(job + sizeof(struct leat_net_lockstep_job) / sizeof(uint32_t)),
        .lane = (LEAT_DEVICE_STATE struct leat_net_lockstep_lane *)(state + LEAT_NET_PLAN(p, lane)),
        .port_in = (LEAT_DEVICE_STATE struct leat_net_lockstep_port_in *)(state + LEAT_NET_PLAN(
                                                                                      p, port_in)),
        .port_out =
            (LEAT_DEVICE_STATE struct leat_net_lockstep_port_out *)(state +
                                                                    LEAT_NET_PLAN(p, port_out)),
        .ahead = (LEAT_DEVICE_STATE struct leat_net_lockstep_ahead *)(state +
                                                                      LEAT_NET_PLAN(p, ahead)),
        .host = (LEAT_DEVICE_STATE struct leat_net_lockstep_host *)(state + LEAT_NET_PLAN(p, host)),
        .entry = (LEAT_DEVICE_STATE uint16_t *)(state + LEAT_NET_PLAN(p, entry)),
        .flits = state + LEAT_NET_PLAN(p, flits),
        .credits = state + LEAT_NET_PLAN(p, credits),
        .entry_credits = state + LEAT_NET_PLAN(p, entry_credits),
        .pool = (LEAT_DEVICE_STATE struct leat_net_lockstep_pool *)(state + LEAT_NET_PLAN(p, pool)),
        .source = (LEAT_DEVICE_STORE struct leat_net_source *)(store + LEAT_NET_PLAN(p, source)),
        .round = (LEAT_DEVICE_STORE struct leat_net_lockstep_round *)(store +
                                                                      LEAT_NET_PLAN(p, round)),
        .pending = (LEAT_DEVICE_STORE struct leat_net_lockstep_pending *)(store + LEAT_NET_PLAN(
                                                                                      p, pending)),
        .packet = (LEAT_DEVICE_STORE struct leat_net_lockstep_packet *)(store +
                                                                        LEAT_NET_PLAN(p, packet)),
        .free = store + LEAT_NET_PLAN(p, free),
        .buffers = store + LEAT_NET_PLAN(p, buffers),
        .delivered = store + LEAT_NET_PLAN(p, delivered),
        .out_flits = store + LEAT_NET_PLAN(p, out_flits),
        .created = store + LEAT_NET_PLAN(p, created),
        .batch = (LEAT_DEVICE_STORE struct leat_net_lockstep_sums *)(store +
                                                                     LEAT_NET_PLAN(p, batch)),
        .table = leg.table,
        .now = leg.now,
    };
    const uint32_t batch = leat_net_lockstep_batch_of(leg.table, leg.now);
    if (batch < LEAT_NET_LOCKSTEP_BATCHES)
        v.bins = store + p->bins + batch * LEAT_NET_LOCKSTEP_BINS;
    if (LEAT_NET_IS_FAULTY(p)) leat_net_lockstep_see_outage(&v, leg.outage, state, store);
    return v;
}

static inline void leat_net_lockstep_add(LEAT_DEVICE_STORE struct leat_net_lockstep_sums *to,
                                         const struct leat_net_lockstep_sums *from)
{
    to->certificate += from->certificate;
    to->latency += from->latency;
    to->hops += from->hops;
    to->packets += from->packets;
    to->flits += from->flits;
    to->begun += from->begun;
    to->flits_begun += from->flits_begun;
    to->flit_hops += from->flit_hops;
    to->waits += from->waits;
    if (from->latency_max > to->latency_max) to->latency_max = from->latency_max;
}

/* Merges neighbours of a full table, as net_steady.c does: the share of one of so many threads. All
 * have finished it before a cycle begins. */
static inline void leat_net_lockstep_halve(LEAT_DEVICE_PLAN struct leat_net_lockstep_plan *p,
                                           LEAT_DEVICE_STORE uint32_t *store, uint32_t item,
                                           uint32_t items)
{
    const uint32_t merged = LEAT_NET_LOCKSTEP_BATCHES / 2;
    LEAT_DEVICE_STORE uint32_t *bins = store + LEAT_NET_PLAN(p, bins);
    for (uint32_t i = item; i < LEAT_NET_LOCKSTEP_BINS; i += items) {
        for (uint32_t b = 0; b < merged; b++)
            bins[b * LEAT_NET_LOCKSTEP_BINS + i] = bins[2 * b * LEAT_NET_LOCKSTEP_BINS + i] +
                                                   bins[(2 * b + 1) * LEAT_NET_LOCKSTEP_BINS + i];
        for (uint32_t b = merged; b < LEAT_NET_LOCKSTEP_BATCHES; b++)
            bins[b * LEAT_NET_LOCKSTEP_BINS + i] = 0;
    }
    if (item) return;
    LEAT_DEVICE_STORE uint32_t *created = store + LEAT_NET_PLAN(p, created);
    LEAT_DEVICE_STORE struct leat_net_lockstep_sums *batch =
        (LEAT_DEVICE_STORE struct leat_net_lockstep_sums *)(store + LEAT_NET_PLAN(p, batch));
    const struct leat_net_lockstep_sums nothing = { 0 };
    LEAT_DEVICE_STORE struct leat_net_lockstep_tally *tally =
        (LEAT_DEVICE_STORE struct leat_net_lockstep_tally *)(store + LEAT_NET_PLAN(p, tally));
    const struct leat_net_lockstep_tally none = { 0 };
    for (uint32_t b = 0; b < merged; b++) {
        const struct leat_net_lockstep_sums second = batch[2 * b + 1];
        if (LEAT_NET_IS_FAULTY(p))
            leat_net_lockstep_merge(&tally[b], &tally[2 * b], &tally[2 * b + 1]);
        created[b] = created[2 * b] + created[2 * b + 1];
        batch[b] = batch[2 * b];
        leat_net_lockstep_add(&batch[b], &second);
    }
    for (uint32_t b = merged; b < LEAT_NET_LOCKSTEP_BATCHES; b++) {
        created[b] = 0;
        batch[b] = nothing;
        if (LEAT_NET_IS_FAULTY(p)) tally[b] = none;
    }
}

#endif
