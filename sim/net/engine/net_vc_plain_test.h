/*
 * A plain reference model of the network of net_vc_parts.h: every cycle visits everything, arbiters
 * step through all candidates, queues are shifted. It is slow and shares only topology and routing
 * with the engine. An oracle for tests.
 */
#ifndef LEAT_NET_VC_PLAIN_TEST_H
#define LEAT_NET_VC_PLAIN_TEST_H

#include "net.h"
#include "net_parts.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_flit {
    uint32_t packet, number;
};

struct plain_lane {
    struct plain_flit *flit; /* [buffer], first one first */
    uint32_t count, passed, turn;
    bool holds, lost, known; /* holds a channel; is being discarded; since is valid */
    enum leat_net_fate fate; /* of the packet being discarded */
    uint32_t out, channel, packet;
    uint64_t since; /* the cycle from which the head at the front counts as arrived */
    bool wants;     /* in this cycle */
    uint32_t want_out, want_channel;
    uint8_t want_phase;
};

struct plain_channel {
    uint32_t used, turn, holder;
    bool held;
};

enum plain_what { PLAIN_FLIT, PLAIN_CREDIT, PLAIN_SOURCE_CREDIT, PLAIN_END };

struct plain_event {
    uint64_t at;
    enum plain_what what;
    uint32_t port, channel;
    struct plain_flit flit;
};

enum plain_mood { PLAIN_EMPTY, PLAIN_WOKEN, PLAIN_HAS };

struct plain_source {
    enum plain_mood mood;
    struct leat_net_packet packet;
    uint32_t index, sent, channel;
    uint32_t *used;
};

struct plain {
    struct leat_net net; /* topology, routing, config, host, counts, faults; no engine */
    struct plain_lane *lane;
    struct plain_channel *channel;
    uint32_t *in_out_turn, *in_channel_turn, *out_turn;
    struct plain_source *source;
    struct leat_net_flight *packet;
    struct leat_net_course *course;
    bool *packet_ended;
    uint32_t packets, packets_cap;
    struct plain_event *event;
    size_t events, events_cap;
    uint32_t *ended, ended_count, ended_cap;
    uint64_t inside, moved_at;
    uint64_t touched_at; /* by a fault */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static inline void *plain_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) abort();
    return memory;
}

static inline void *plain_grown(void *memory, size_t count, size_t size)
{
    memory = realloc(memory, count * size);
    if (!memory) abort();
    return memory;
}

static inline void plain_init(struct plain *p, const struct leat_net_topology *t,
                              struct leat_net_routing *routing,
                              const struct leat_net_config *config,
                              const struct leat_net_host *host)
{
    const size_t lanes = (size_t)t->ins * config->channels;
    const size_t channels = (size_t)t->outs * config->channels;
    memset(p, 0, sizeof *p);
    p->net.topology = t;
    p->net.routing = routing;
    p->net.config = *config;
    p->net.host = *host;
    p->net.out_flits = plain_memory(t->outs, sizeof *p->net.out_flits);
    p->net.out_broken = plain_memory(t->outs, sizeof *p->net.out_broken);
    p->net.terminal_dead = plain_memory(t->terminals, sizeof *p->net.terminal_dead);
    p->lane = plain_memory(lanes, sizeof *p->lane);
    p->channel = plain_memory(channels, sizeof *p->channel);
    p->in_out_turn = plain_memory(t->ins, sizeof *p->in_out_turn);
    p->in_channel_turn = plain_memory(t->ins, sizeof *p->in_channel_turn);
    p->out_turn = plain_memory(t->outs, sizeof *p->out_turn);
    p->source = plain_memory(t->terminals, sizeof *p->source);
    for (size_t i = 0; i < lanes; i++)
        p->lane[i].flit = plain_memory(config->buffer_flits, sizeof *p->lane[i].flit);
    for (uint32_t i = 0; i < t->terminals; i++) {
        p->source[i].mood = PLAIN_WOKEN;
        p->source[i].used = plain_memory(config->channels, sizeof *p->source[i].used);
    }
}

static inline void plain_free(struct plain *p)
{
    const struct leat_net_topology *t = p->net.topology;
    for (size_t i = 0; i < (size_t)t->ins * p->net.config.channels; i++)
        free(p->lane[i].flit);
    for (uint32_t i = 0; i < t->terminals; i++)
        free(p->source[i].used);
    void *const all[] = { p->net.out_flits,
                          p->net.out_broken,
                          p->net.terminal_dead,
                          p->lane,
                          p->channel,
                          p->in_out_turn,
                          p->in_channel_turn,
                          p->out_turn,
                          p->source,
                          p->packet,
                          p->course,
                          p->packet_ended,
                          p->event,
                          p->ended };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static inline void plain_report(struct plain *p, uint64_t at, enum plain_what what, uint32_t port,
                                uint32_t channel, struct plain_flit flit)
{
    if (p->events == p->events_cap) {
        p->events_cap = p->events_cap ? 2 * p->events_cap : 64;
        p->event = plain_grown(p->event, p->events_cap, sizeof *p->event);
    }
    p->event[p->events++] = (struct plain_event){ at, what, port, channel, flit };
}

static inline void plain_end(struct plain *p, uint32_t packet)
{
    if (p->ended_count == p->ended_cap) {
        p->ended_cap = p->ended_cap ? 2 * p->ended_cap : 64;
        p->ended = plain_grown(p->ended, p->ended_cap, sizeof *p->ended);
    }
    p->packet_ended[packet] = true;
    p->ended[p->ended_count++] = packet;
}

static inline void plain_doom(struct plain *p, uint32_t packet, enum leat_net_fate fate)
{
    if (p->packet[packet].fate == LEAT_NET_DELIVERED) p->packet[packet].fate = (uint8_t)fate;
}

/* ---- small questions ------------------------------------------------------------------------- */

static inline struct plain_lane *plain_lane_of(struct plain *p, uint32_t in, uint32_t channel)
{
    return &p->lane[in * p->net.config.channels + channel];
}

static inline struct plain_channel *plain_channel_of(struct plain *p, uint32_t out,
                                                     uint32_t channel)
{
    return &p->channel[out * p->net.config.channels + channel];
}

static inline bool plain_is_tail(const struct plain *p, struct plain_flit flit)
{
    return flit.number + 1 == p->packet[flit.packet].packet.flits;
}

static inline bool plain_is_whole(const struct plain *p)
{
    return p->net.config.flow != LEAT_NET_WORMHOLE || p->net.config.drop;
}

/* Does a head at the front wait for a channel, and since when? */
static inline bool plain_waits(struct plain *p, struct plain_lane *l, uint64_t now)
{
    const struct leat_net_config *c = &p->net.config;
    const uint32_t ripening = c->pipeline > 3 ? c->pipeline - 3 : 0;
    return l->count && !l->holds && !l->lost && l->known && l->since + ripening <= now;
}

/* After any change of a lane: is a head at its front, ready to be processed from `at` on? */
static inline void plain_look(struct plain *p, struct plain_lane *l, uint64_t at)
{
    if (!l->count || l->holds || l->lost || l->known) return;
    bool whole = p->net.config.flow != LEAT_NET_STORE_AND_FORWARD;
    for (uint32_t i = 0; i < l->count; i++)
        whole |= plain_is_tail(p, l->flit[i]);
    if (!whole) return;
    l->known = true;
    l->since = at;
}

static inline struct plain_flit plain_shift(struct plain *p, uint32_t in, uint32_t channel)
{
    const struct leat_net_topology *t = p->net.topology;
    struct plain_lane *l = plain_lane_of(p, in, channel);
    const struct plain_flit flit = l->flit[0];
    const uint32_t from = t->in_from[in];
    memmove(l->flit, l->flit + 1, --l->count * sizeof *l->flit);
    if (from & LEAT_NET_TERMINAL)
        plain_report(p, p->net.now + 2, PLAIN_SOURCE_CREDIT, from ^ LEAT_NET_TERMINAL, channel,
                     flit);
    else
        plain_report(p, p->net.now + 1 + t->out_cycles[from] + p->net.config.credit_cycles,
                     PLAIN_CREDIT, from, channel, flit);
    p->moved_at = p->net.now + 1;
    return flit;
}

/* ---- arrivals, ends, sources ----------------------------------------------------------------- */

static inline void plain_arrivals(struct plain *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->events; i++) {
        const struct plain_event e = p->event[i];
        if (e.at != p->net.now) {
            p->event[kept++] = e;
        } else if (e.what == PLAIN_CREDIT) {
            plain_channel_of(p, e.port, e.channel)->used--;
        } else if (e.what == PLAIN_SOURCE_CREDIT) {
            p->source[e.port].used[e.channel]--;
        } else if (e.what == PLAIN_END) {
            plain_end(p, e.flit.packet);
        } else {
            struct plain_lane *l = plain_lane_of(p, e.port, e.channel);
            assert(l->count < p->net.config.buffer_flits);
            l->flit[l->count++] = e.flit;
            plain_look(p, l, p->net.now);
        }
    }
    p->events = kept;
}

static struct plain *plain_sorted;

static inline int plain_order(const void *a, const void *b)
{
    const struct leat_net_packet *x = &plain_sorted->packet[*(const uint32_t *)a].packet;
    const struct leat_net_packet *y = &plain_sorted->packet[*(const uint32_t *)b].packet;
    if (x->destination != y->destination) return x->destination < y->destination ? -1 : 1;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static inline void plain_ends(struct plain *p)
{
    if (!p->ended_count) return;
    plain_sorted = p;
    qsort(p->ended, p->ended_count, sizeof *p->ended, plain_order);
    for (uint32_t i = 0; i < p->ended_count; i++) {
        const uint32_t packet = p->ended[i];
        if (p->net.terminal_dead[p->packet[packet].packet.destination])
            plain_doom(p, packet, LEAT_NET_NO_WAY);
        leat_net_end(&p->net, &p->packet[packet], &p->course[packet], p->net.now);
        p->moved_at = p->net.now + 1;
    }
    p->ended_count = 0;
}

static inline void plain_wake(struct plain *p, uint32_t terminal)
{
    if (p->source[terminal].mood == PLAIN_EMPTY) p->source[terminal].mood = PLAIN_WOKEN;
}

static inline void plain_ask(struct plain *p, uint32_t terminal)
{
    struct plain_source *s = &p->source[terminal];
    s->sent = 0;
    s->mood = p->net.host.next(p->net.host.context, terminal, &s->packet) ? PLAIN_HAS : PLAIN_EMPTY;
}

static inline bool plain_begin(struct plain *p, uint32_t terminal)
{
    struct plain_source *s = &p->source[terminal];
    const struct leat_net_config *c = &p->net.config;
    struct leat_net_route route;
    leat_net_route_begin(p->net.routing, terminal, s->packet.destination, s->packet.random, &route);
    const uint32_t need = plain_is_whole(p) ? s->packet.flits : 1;
    uint32_t i = 1;
    for (; i <= c->channels; i++) {
        const uint32_t channel = (s->channel + i) % c->channels;
        if (s->used[channel] + need <= c->buffer_flits) break;
    }
    if (i > c->channels) return false;
    s->channel = (s->channel + i) % c->channels;
    if (p->packets == p->packets_cap) {
        p->packets_cap = p->packets_cap ? 2 * p->packets_cap : 64;
        p->packet = plain_grown(p->packet, p->packets_cap, sizeof *p->packet);
        p->course = plain_grown(p->course, p->packets_cap, sizeof *p->course);
        p->packet_ended = plain_grown(p->packet_ended, p->packets_cap, sizeof *p->packet_ended);
    }
    s->index = p->packets++;
    memset(&p->packet[s->index], 0, sizeof *p->packet);
    p->packet[s->index].packet = s->packet;
    p->course[s->index] = (struct leat_net_course){ .route = route };
    p->packet_ended[s->index] = false;
    p->net.counts.packets_begun++;
    return true;
}

static inline void plain_send(struct plain *p, uint32_t terminal)
{
    struct plain_source *s = &p->source[terminal];
    if (s->mood != PLAIN_HAS || s->packet.created_at > p->net.now) return;
    if (!s->sent && p->net.terminal_dead[terminal]) return;
    if (!s->sent && !plain_begin(p, terminal)) return;
    if (s->used[s->channel] == p->net.config.buffer_flits) return;
    if (p->net.terminal_dead[terminal]) plain_doom(p, s->index, LEAT_NET_CUT);
    const struct plain_flit flit = { s->index, s->sent++ };
    s->used[s->channel]++;
    p->inside++;
    p->net.counts.flits_begun++;
    p->moved_at = p->net.now + 1;
    plain_report(p, p->net.now + 2, PLAIN_FLIT, p->net.topology->terminal_in[terminal], s->channel,
                 flit);
    if (s->sent == s->packet.flits) plain_ask(p, terminal);
}

/* ---- channels -------------------------------------------------------------------------------- */

static inline bool plain_fits(struct plain *p, uint32_t out, uint32_t channel, uint32_t flits,
                              bool adaptive)
{
    const struct plain_channel *c = plain_channel_of(p, out, channel);
    if (c->held) return false;
    if (p->net.config.drop && p->net.topology->out_to[out] & LEAT_NET_TERMINAL) return true;
    if (!c->used || c->used + flits <= p->net.config.buffer_flits) return true;
    return !adaptive && !plain_is_whole(p);
}

/* The options of the head; or it is lost. */
static inline void plain_want(struct plain *p, uint32_t router, struct plain_lane *l)
{
    const struct leat_net_topology *t = p->net.topology;
    const struct leat_net_config *c = &p->net.config;
    const uint32_t packet = l->flit[0].packet, out_first = t->out_first[router];
    const uint32_t flits = p->packet[packet].packet.flits;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route = p->course[packet].route;
    const uint32_t n = leat_net_route_options(p->net.routing, router, &route, option);
    bool way = false, some_free = false;
    uint32_t best_credits = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t out = out_first + option[i].port;
        if (p->net.out_broken[out]) continue;
        if (l->wants && option[i].phase != l->want_phase) break;
        const bool adaptive = option[i].phase != option[n - 1].phase;
        const uint32_t outs = t->out_first[router + 1] - out_first;
        uint32_t sum = 0, chosen = LEAT_NET_NONE;
        way = true;
        for (uint32_t k = 0; k < outs * c->channels; k++) {
            const uint32_t x = (l->turn + k) % (outs * c->channels), channel = x % c->channels;
            if (x / c->channels != option[i].port || !(option[i].channels >> channel & 1)) continue;
            some_free |= !plain_channel_of(p, out, channel)->held;
            if (!plain_fits(p, out, channel, flits, adaptive)) continue;
            sum += c->buffer_flits - plain_channel_of(p, out, channel)->used;
            if (chosen == LEAT_NET_NONE) chosen = channel;
        }
        if (chosen == LEAT_NET_NONE || (l->wants && sum <= best_credits)) continue;
        l->wants = true;
        l->want_out = out;
        l->want_channel = chosen;
        l->want_phase = option[i].phase;
        best_credits = sum;
    }
    if (l->wants) return;
    if (way && !(c->drop && some_free)) {
        p->net.counts.waits++;
        return;
    }
    l->fate = way ? LEAT_NET_NO_ROOM : LEAT_NET_NO_WAY;
    l->lost = true;
    l->packet = packet;
}

/* All requests of a router; then each channel is granted in round-robin order. */
static inline void plain_channels(struct plain *p, uint32_t router)
{
    const struct leat_net_topology *t = p->net.topology;
    const uint32_t channels = p->net.config.channels, in_first = t->in_first[router];
    const uint32_t lanes = (t->in_first[router + 1] - in_first) * channels;
    const uint32_t out_first = t->out_first[router];
    struct plain_lane *lane = &p->lane[in_first * channels];
    for (uint32_t i = 0; i < lanes; i++) {
        lane[i].wants = false;
        if (plain_waits(p, &lane[i], p->net.now)) plain_want(p, router, &lane[i]);
    }
    for (uint32_t out = out_first; out < t->out_first[router + 1]; out++)
        for (uint32_t channel = 0; channel < channels; channel++) {
            struct plain_channel *c = plain_channel_of(p, out, channel);
            for (uint32_t k = 0; k < lanes; k++) {
                const uint32_t i = (c->turn + k) % lanes;
                struct plain_lane *l = &lane[i];
                if (!l->wants || l->want_out != out || l->want_channel != channel) continue;
                struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
                struct leat_net_route *route = &p->course[l->flit[0].packet].route;
                leat_net_route_options(p->net.routing, router, route, option);
                route->phase = l->want_phase;
                l->holds = true;
                l->known = false;
                l->out = out;
                l->channel = channel;
                l->packet = l->flit[0].packet;
                l->passed = 0;
                l->turn = ((out - out_first) * channels + channel + 1) %
                          ((t->out_first[router + 1] - out_first) * channels);
                c->held = true;
                c->holder = in_first * channels + i;
                c->turn = (i + 1) % lanes;
                break;
            }
        }
}

/* ---- the switch ------------------------------------------------------------------------------ */

static inline void plain_pass(struct plain *p, uint32_t in, uint32_t channel)
{
    const struct leat_net_topology *t = p->net.topology;
    struct plain_lane *l = plain_lane_of(p, in, channel);
    struct plain_channel *c = plain_channel_of(p, l->out, l->channel);
    const struct plain_flit flit = plain_shift(p, in, channel);
    struct leat_net_flight *packet = &p->packet[flit.packet];
    const uint32_t to = t->out_to[l->out];
    const uint64_t at = p->net.now + (p->net.config.pipeline > 1 ? 2u : 1u) + t->out_cycles[l->out];
    p->net.counts.flit_hops++;
    p->net.out_flits[l->out]++;
    c->used++;
    p->course[flit.packet].hops += flit.number == 0;
    if (leat_net_damages(&p->net, l->out, &packet->packet, flit.number))
        plain_doom(p, flit.packet, LEAT_NET_CORRUPTED);
    if (to & LEAT_NET_TERMINAL) {
        p->inside--;
        if (flit.number == 0) packet->head_at = at;
        if (plain_is_tail(p, flit)) plain_report(p, at, PLAIN_END, l->out, 0, flit);
        plain_report(p, at + 2 + p->net.config.credit_cycles, PLAIN_CREDIT, l->out, l->channel,
                     flit);
    } else {
        plain_report(p, at, PLAIN_FLIT, to, l->channel, flit);
    }
    if (plain_is_tail(p, flit)) {
        l->holds = c->held = false;
        plain_look(p, l, p->net.now + 1);
    }
}

/* An input port bids for one output port, with one of its lanes. */
static inline void plain_bid(struct plain *p, uint32_t router, uint32_t in, uint32_t *bid_out,
                             uint32_t *bid_channel)
{
    const struct leat_net_topology *t = p->net.topology;
    const uint32_t channels = p->net.config.channels, out_first = t->out_first[router];
    const uint32_t outs = t->out_first[router + 1] - out_first;
    *bid_out = LEAT_NET_NONE;
    for (uint32_t j = 0; j < outs; j++) {
        const uint32_t out = out_first + (p->in_out_turn[in] + j) % outs;
        for (uint32_t k = 0; k < channels; k++) {
            const uint32_t channel = (p->in_channel_turn[in] + k) % channels;
            const struct plain_lane *l = plain_lane_of(p, in, channel);
            if (!l->holds || !l->count || l->out != out) continue;
            if (plain_channel_of(p, out, l->channel)->used == p->net.config.buffer_flits) continue;
            *bid_out = out;
            *bid_channel = channel;
            return;
        }
    }
}

struct plain_bid {
    uint32_t out, channel;
};

static inline void plain_bids(struct plain *p, uint32_t router, struct plain_bid *bid)
{
    const struct leat_net_topology *t = p->net.topology;
    for (uint32_t in = t->in_first[router]; in < t->in_first[router + 1]; in++) {
        plain_bid(p, router, in, &bid[in].out, &bid[in].channel);
        for (uint32_t c = 0; c < p->net.config.channels; c++) {
            const struct plain_lane *l = plain_lane_of(p, in, c);
            if (l->holds && l->count &&
                plain_channel_of(p, l->out, l->channel)->used == p->net.config.buffer_flits)
                p->net.counts.waits++;
        }
    }
}

static inline void plain_switch(struct plain *p, uint32_t router, const struct plain_bid *bid)
{
    const struct leat_net_topology *t = p->net.topology;
    const uint32_t in_first = t->in_first[router], ins = t->in_first[router + 1] - in_first;
    const uint32_t out_first = t->out_first[router], outs = t->out_first[router + 1] - out_first;
    for (uint32_t out = out_first; out < out_first + outs; out++)
        for (uint32_t k = 0; k < ins; k++) {
            const uint32_t in = in_first + (p->out_turn[out] + k) % ins;
            if (bid[in].out != out) continue;
            p->out_turn[out] = (in - in_first + 1) % ins;
            p->in_out_turn[in] = (out - out_first + 1) % outs;
            p->in_channel_turn[in] = (bid[in].channel + 1) % p->net.config.channels;
            plain_pass(p, in, bid[in].channel);
            break;
        }
}

/* ---- cycles ---------------------------------------------------------------------------------- */

static inline void plain_discards(struct plain *p)
{
    const struct leat_net_topology *t = p->net.topology;
    for (uint32_t in = 0; in < t->ins; in++)
        for (uint32_t channel = 0; channel < p->net.config.channels; channel++) {
            struct plain_lane *l = plain_lane_of(p, in, channel);
            if (l->lost) plain_doom(p, l->packet, l->fate);
            if (!l->lost || !l->count) continue;
            const struct plain_flit flit = plain_shift(p, in, channel);
            p->inside--;
            if (!plain_is_tail(p, flit)) continue;
            plain_end(p, flit.packet);
            l->lost = l->known = false;
            plain_look(p, l, p->net.now + 1);
        }
}

static inline void plain_cycle(struct plain *p, struct plain_bid *bid)
{
    const struct leat_net_topology *t = p->net.topology;
    plain_arrivals(p);
    plain_ends(p);
    for (uint32_t i = 0; i < t->terminals; i++)
        if (p->source[i].mood == PLAIN_WOKEN) plain_ask(p, i);
    for (uint32_t i = 0; i < t->terminals; i++)
        plain_send(p, i);
    for (uint32_t r = 0; r < t->routers; r++) {
        if (p->net.config.pipeline < 3) plain_channels(p, r);
        plain_bids(p, r, bid);
        if (p->net.config.pipeline >= 3) plain_channels(p, r);
        plain_switch(p, r, bid);
    }
    plain_discards(p);
    p->net.now++;
}

/* Nothing moved for longer than any delay, and no source waits for a time. */
static inline bool plain_is_still(const struct plain *p)
{
    const uint64_t at = p->moved_at > p->touched_at ? p->moved_at : p->touched_at;
    if (p->events || p->ended_count || p->net.now < at + LEAT_NET_PIPELINE_MAX + 2) return false;
    for (uint32_t i = 0; i < p->net.topology->terminals; i++)
        if (p->source[i].mood == PLAIN_WOKEN ||
            (p->source[i].mood == PLAIN_HAS && p->source[i].packet.created_at >= p->net.now))
            return false;
    return true;
}

/* Like leat_net_run; a deadlock is noticed some cycles after the last movement. */
static inline bool plain_run(struct plain *p, uint64_t until)
{
    struct plain_bid *bid = plain_memory(p->net.topology->ins, sizeof *bid);
    while (p->net.now < until && !plain_is_still(p))
        plain_cycle(p, bid);
    free(bid);
    if (p->net.now >= until || p->inside) return p->net.now >= until;
    p->net.now = until;
    return true;
}

static inline void plain_kill(struct plain *p, uint32_t terminal, bool dead)
{
    p->net.terminal_dead[terminal] = dead;
    p->touched_at = p->net.now;
    if (!dead) plain_wake(p, terminal);
}

static inline void plain_break(struct plain *p, uint32_t out, bool broken)
{
    const struct leat_net_topology *t = p->net.topology;
    p->net.out_broken[out] = broken;
    p->touched_at = p->net.now;
    leat_net_routing_wire(p->net.routing, out, broken);
    if (!broken) return;
    for (uint32_t i = 0; i < t->ins * p->net.config.channels; i++)
        if (p->lane[i].holds && p->lane[i].out == out)
            plain_doom(p, p->lane[i].packet, LEAT_NET_CUT);
    for (size_t i = 0; i < p->events; i++) {
        const struct plain_event *e = &p->event[i];
        if ((e->what == PLAIN_FLIT && t->out_to[out] == e->port) ||
            (e->what == PLAIN_END && e->port == out))
            plain_doom(p, e->flit.packet, LEAT_NET_CUT);
    }
}

#endif
