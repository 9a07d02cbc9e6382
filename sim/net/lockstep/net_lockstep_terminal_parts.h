/*
 * Terminals of a network in lockstep (net_lockstep_parts.h): what they send and receive, and the
 * ends of packets. Internal.
 */
#ifndef LEAT_NET_LOCKSTEP_TERMINAL_PARTS_H
#define LEAT_NET_LOCKSTEP_TERMINAL_PARTS_H

#include "net_lockstep_fate_parts.h"

/* ---- ends of packets ------------------------------------------------------------------------- */

static inline uint64_t leat_net_lockstep_edge(const struct leat_net_lockstep_view *v)
{
    return v->job->clock_num ? (uint64_t)v->now * v->job->clock_num / v->job->clock_den : v->now;
}

/* All packets of a round have arrived: nobody else is at work now. */
static inline void leat_net_lockstep_end_round(struct leat_net_lockstep_view *v)
{
    LEAT_DEVICE_STORE struct leat_net_lockstep_round *round = v->round;
    const uint32_t cycles = v->now + 1 - round->at;
    if (!round->count || cycles < round->cycles_min) round->cycles_min = cycles;
    if (cycles > round->cycles_max) round->cycles_max = cycles;
    round->cycles += cycles;
    round->count++;
    if (v->job->rounds && round->count == v->job->rounds) {
        round->done_after = v->now + 1;
        return;
    }
    round->at = v->now + 1;
    round->left = (uint32_t)leat_net_round_packets(&v->job->draw);
    for (uint32_t t = 0; t < LEAT_NET_PLAN(v->plan, terminals); t++) {
        v->source[t].next_at = v->now + 1;
        v->source[t].sent = v->source[t].received = 0;
    }
}

/* A packet has ended: it may be the last one of a trace. */
static inline void leat_net_lockstep_end_one(struct leat_net_lockstep_view *v, uint32_t number)
{
    const uint32_t given = LEAT_DEVICE_ADD(&v->pool->given, 1);
    v->free[given & (LEAT_NET_PLAN(v->plan, packets) - 1)] = number;
    if (v->job->draw.pattern != LEAT_NET_TRACE) return;
    if (LEAT_DEVICE_ADD(&v->round->ended, 1) + 1 == v->job->trace_count)
        v->round->done_after = v->now + 1;
}

/* A packet has arrived at a terminal whose next packet may wait for it. */
static inline void leat_net_lockstep_note(struct leat_net_lockstep_view *v, uint32_t terminal)
{
    if (!leat_net_draw_is_closed(v->job->draw.pattern)) return;
    v->source[terminal].received++;
    v->source[terminal].next_at = v->now + 1;
    if (LEAT_DEVICE_ADD(&v->round->left, UINT32_MAX) == 1) leat_net_lockstep_end_round(v);
}

static inline void leat_net_lockstep_deliver(struct leat_net_lockstep_view *v, uint32_t number)
{
    const struct leat_net_lockstep_packet p = v->packet[number];
    const uint32_t latency = v->now - p.created_at;
    v->sums.certificate += leat_sim_certificate_mix(leat_net_lockstep_edge(v), p.source,
                                                    p.destination, p.number, p.flits);
    v->sums.latency += latency;
    v->sums.hops += p.hops;
    v->sums.packets++;
    v->sums.flits += p.flits;
    if (latency > v->sums.latency_max) v->sums.latency_max = latency;
    LEAT_DEVICE_ADD(&v->delivered[p.source], 1);
    if (v->bins) LEAT_DEVICE_ADD(&v->bins[leat_sim_histogram_bin(latency)], 1);
    if (LEAT_NET_IS_FAULTY(v->plan) && p.phase & LEAT_NET_LOCKSTEP_DETOUR) {
        leat_net_lockstep_count(v, LEAT_NET_LOCKSTEP_REROUTED, 1);
        leat_net_lockstep_count(v, LEAT_NET_LOCKSTEP_ARRIVED_REROUTED, 1);
    }
    leat_net_lockstep_end_one(v, number);
    leat_net_lockstep_note(v, p.destination);
}

/* The end of a packet that has met its fate. */
static inline void leat_net_lockstep_lose(struct leat_net_lockstep_view *v, uint32_t number)
{
    LEAT_DEVICE_STORE const struct leat_net_lockstep_packet *p = &v->packet[number];
    leat_net_lockstep_count(v, LEAT_NET_LOCKSTEP_LOST + v->fate[number], 1);
    leat_net_lockstep_count(v, LEAT_NET_LOCKSTEP_LOST_FLITS + v->fate[number], p->flits);
    if (p->phase & LEAT_NET_LOCKSTEP_DETOUR)
        leat_net_lockstep_count(v, LEAT_NET_LOCKSTEP_REROUTED, 1);
    leat_net_lockstep_end_one(v, number);
}

/* The tail of a packet is at its terminal. */
static inline void leat_net_lockstep_arrive(struct leat_net_lockstep_view *v, uint32_t terminal,
                                            uint32_t number)
{
    if (leat_net_lockstep_is_dead(v, terminal)) leat_net_lockstep_doom(v, number, LEAT_NET_NO_WAY);
    if (LEAT_NET_IS_FAULTY(v->plan) && v->fate[number])
        leat_net_lockstep_lose(v, number);
    else
        leat_net_lockstep_deliver(v, number);
}

/* ---- terminals ------------------------------------------------------------------------------- */

/* The wire of an output port ends at a terminal. */
static inline void leat_net_lockstep_receive(struct leat_net_lockstep_view *v, uint32_t out,
                                             uint32_t terminal)
{
    const uint32_t slots = LEAT_NET_PLAN(v->plan, flit_slots),
                   back = LEAT_NET_PLAN(v->plan, credit_slots);
    LEAT_DEVICE_STATE uint32_t *slot =
        &v->flits[(LEAT_NET_PLAN(v->plan, ins) + terminal) * slots + (v->now & (slots - 1))];
    const uint32_t flit = *slot;
    if (!flit) return;
    *slot = 0;
    const uint32_t at = v->now + LEAT_NET_RETURN_CYCLES + LEAT_NET_PLAN(v->plan, credit_cycles);
    v->credits[out * back + (at & (back - 1))] = UINT32_C(1) << (flit >> LEAT_NET_LOCKSTEP_CHANNEL &
                                                                 (LEAT_NET_CHANNELS_MAX - 1));
    if (flit & LEAT_NET_LOCKSTEP_TAIL)
        leat_net_lockstep_arrive(v, terminal, flit & LEAT_NET_LOCKSTEP_PACKET);
}

static inline bool leat_net_lockstep_draw_trace(const struct leat_net_lockstep_view *v,
                                                struct leat_net_source *source,
                                                struct leat_net_drawn *drawn, uint32_t *flits)
{
    if (source->to == LEAT_NET_LOCKSTEP_NONE) return false;
    const struct leat_net_lockstep_entry entry = v->trace[source->to];
    drawn->created_at = entry.cycle;
    drawn->destination = entry.destination;
    drawn->random = leat_random_next(&source->random);
    if (entry.flits) *flits = entry.flits;
    source->to = entry.next;
    source->number++;
    return true;
}

/* Draws the next packet of a terminal that has none. Packets of open traffic are counted when their
 * successor is drawn: so they were created in a cycle that has been reached. */
static inline void leat_net_lockstep_draw(struct leat_net_lockstep_view *v, uint32_t terminal)
{
    LEAT_DEVICE_PLAN struct leat_net_draw *rule = &v->job->draw;
    struct leat_net_source source = v->source[terminal];
    struct leat_net_drawn drawn = { 0 };
    uint32_t flits = rule->flits;
    bool has;
    if (leat_net_draw_is_closed(rule->pattern)) {
        has = v->round->left && leat_net_draw_closed(rule, &source, terminal, &drawn);
    } else if (rule->pattern == LEAT_NET_TRACE) {
        has = leat_net_lockstep_draw_trace(v, &source, &drawn, &flits);
    } else {
        const uint32_t last_at = (uint32_t)leat_net_drawn_last(rule, &source);
        LEAT_DEVICE_ADD(&v->created[leat_net_lockstep_batch_of(v->table, last_at)], 1);
        has = leat_net_draw_packet(rule, &source, terminal,
                                   rule->has_destination ? v->to[terminal] : 0, &drawn);
    }
    v->host[terminal].due = has && drawn.created_at < LEAT_NET_LOCKSTEP_NEVER
                                ? (uint32_t)drawn.created_at
                                : LEAT_NET_LOCKSTEP_NEVER;
    if (!has) return;
    v->source[terminal] = source;
    v->pending[terminal].destination = drawn.destination;
    v->pending[terminal].salt = (uint32_t)drawn.random;
    v->pending[terminal].flits = flits;
}

/* The room that a new packet needs to begin. */
static inline uint32_t leat_net_lockstep_need(const struct leat_net_lockstep_view *v,
                                              uint32_t terminal)
{
    return LEAT_NET_PLAN(v->plan, whole) ? v->pending[terminal].flits : 1;
}

static inline bool leat_net_lockstep_has_room(const struct leat_net_lockstep_view *v,
                                              uint32_t terminal, uint32_t channel, uint32_t need)
{
    const uint32_t used = v->entry[(terminal << LEAT_NET_PLAN(v->plan, shift)) + channel];
    return LEAT_NET_PLAN(v->plan, buffer) - used >= need;
}

/* The channel of a new packet: the next one with room after that of the last packet. */
static inline bool leat_net_lockstep_find_channel(struct leat_net_lockstep_view *v,
                                                  uint32_t terminal)
{
    const uint32_t need = leat_net_lockstep_need(v, terminal);
    const uint32_t channels = LEAT_NET_PLAN(v->plan, channels);
    uint32_t channel = v->host[terminal].channel;
    for (uint32_t i = 0; i < channels; i++) {
        channel = channel + 1 < channels ? channel + 1 : 0;
        if (!leat_net_lockstep_has_room(v, terminal, channel, need)) continue;
        v->host[terminal].channel = (uint16_t)channel;
        return true;
    }
    return false;
}

static inline bool leat_net_lockstep_begin(struct leat_net_lockstep_view *v, uint32_t terminal)
{
    LEAT_DEVICE_STATE struct leat_net_lockstep_host *host = &v->host[terminal];
    if (leat_net_lockstep_is_dead(v, terminal) || !leat_net_lockstep_find_channel(v, terminal))
        return false;
    const uint32_t taken = LEAT_DEVICE_ADD(&v->pool->taken, 1);
    host->packet = taken < LEAT_NET_PLAN(v->plan, packets)
                       ? taken
                       : v->free[taken & (LEAT_NET_PLAN(v->plan, packets) - 1)];
    LEAT_DEVICE_STORE struct leat_net_lockstep_packet *p = &v->packet[host->packet];
    p->created_at = host->due;
    p->number = (uint32_t)v->source[terminal].number - 1;
    p->source = terminal;
    p->destination = v->pending[terminal].destination;
    p->salt = v->pending[terminal].salt;
    p->phase = 0;
    p->hops = 0;
    p->flits = v->pending[terminal].flits;
    if (LEAT_NET_IS_FAULTY(v->plan)) v->fate[host->packet] = LEAT_NET_DELIVERED;
    v->sums.begun++;
    return true;
}

/* A terminal at this input port: credits come back, and it sends a flit, if it can. */
static inline void leat_net_lockstep_send(struct leat_net_lockstep_view *v, uint32_t in,
                                          uint32_t terminal)
{
    const uint32_t slots = LEAT_NET_PLAN(v->plan, flit_slots),
                   back = LEAT_NET_PLAN(v->plan, credit_slots);
    const uint32_t entry = terminal << LEAT_NET_PLAN(v->plan, shift);
    LEAT_DEVICE_STATE struct leat_net_lockstep_host *host = &v->host[terminal];
    LEAT_DEVICE_STATE uint32_t *slot = &v->entry_credits[terminal * back + (v->now & (back - 1))];
    for (uint32_t set = *slot; set; set &= set - 1)
        v->entry[entry + leat_device_lowest(set)]--;
    *slot = 0;
    if (host->due == LEAT_NET_LOCKSTEP_NEVER && leat_net_draw_is_closed(v->job->draw.pattern))
        leat_net_lockstep_draw(v, terminal);
    if (host->due > v->now) return;
    if (host->sent ? !leat_net_lockstep_has_room(v, terminal, host->channel, 1)
                   : !leat_net_lockstep_begin(v, terminal))
        return;
    const uint32_t head = host->sent ? 0 : LEAT_NET_LOCKSTEP_HEAD;
    const uint32_t tail = ++host->sent == v->pending[terminal].flits ? LEAT_NET_LOCKSTEP_TAIL : 0;
    const uint32_t at = v->now + LEAT_NET_ENTRY_CYCLES;
    v->entry[entry + host->channel]++;
    v->flits[in * slots + (at & (slots - 1))] = host->packet | head | tail |
                                                LEAT_NET_LOCKSTEP_THERE |
                                                (uint32_t)host->channel
                                                    << LEAT_NET_LOCKSTEP_CHANNEL;
    v->sums.flits_begun++;
    if (leat_net_lockstep_is_dead(v, terminal))
        leat_net_lockstep_doom(v, host->packet, LEAT_NET_CUT);
    if (!tail) return;
    host->sent = 0;
    leat_net_lockstep_draw(v, terminal);
}

#endif
