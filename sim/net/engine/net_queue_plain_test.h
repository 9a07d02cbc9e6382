/*
 * The plain reference model of a network of queueing switches: the rules at the top of net_queue.c
 * with arrays, and loops over everything in every cycle. It shares only topology, routing and the
 * draw of bit errors with the engine.
 */
#ifndef LEAT_NET_QUEUE_PLAIN_TEST_H
#define LEAT_NET_QUEUE_PLAIN_TEST_H

#include "net_queue_test.h"

enum {
    P_PACKETS = 1 << 13,
    P_HOPS = 24, /* of a packet */
    P_PORTS = 128,
    P_ROUTERS = 48,
    P_FLYING = 1 << 13, /* flits and credits on wires */
    P_QUEUES = 1024,
    P_QUEUED = 64,
};

struct p_flit {
    uint32_t packet, index, hop; /* hop: routers passed */
};

struct p_queue {
    struct p_flit flit[P_QUEUED];
    uint32_t count;
};

struct p_packet {
    struct leat_net_packet packet;
    struct leat_net_route route;
    uint64_t head_at;
    enum leat_net_fate fate;
    bool ended, reported;
    uint32_t hops;
    uint32_t out[P_HOPS], entered[P_HOPS], gone[P_HOPS];
    bool cut[P_HOPS];
};

struct p_flying {
    uint64_t at;
    uint32_t to; /* flit: out_to; credit: in_from */
    bool credit;
    struct p_flit flit;
};

struct p_source {
    bool has;
    uint32_t packet, sent, credits;
};

struct plain {
    const struct leat_net *params; /* topology, configuration, faults */
    struct leat_net_routing *routing;
    struct hosts *hosts;
    uint64_t now, waits, hops, inside;
    uint32_t packets, flying;
    struct p_packet packet[P_PACKETS];
    struct p_flying fly[P_FLYING];
    struct p_queue stage[P_PORTS], queue[P_QUEUES];
    struct p_source source[TERMINALS_MAX];
    uint32_t credits[P_PORTS], out_last[P_PORTS], in_last[P_PORTS];
    uint64_t head_at[P_PORTS]; /* of inputs with one queue: since when its head is the head */
};

static inline enum leat_net_switch p_kind(const struct plain *p)
{
    return p->params->config.architecture;
}

/* One queue per input, of which only the head can leave? */
static inline bool p_heads(const struct plain *p)
{
    return p_kind(p) == LEAT_NET_SWITCH_FIFO || p_kind(p) == LEAT_NET_SWITCH_BATCHER;
}

static inline uint32_t p_ins(const struct plain *p, uint32_t r)
{
    return p->params->topology->in_first[r + 1] - p->params->topology->in_first[r];
}

static inline uint32_t p_outs(const struct plain *p, uint32_t r)
{
    return p->params->topology->out_first[r + 1] - p->params->topology->out_first[r];
}

/* The queue of input i and output o of a router. How many are used depends on the architecture. */
static inline struct p_queue *p_queue_of(struct plain *p, uint32_t r, uint32_t i, uint32_t o)
{
    const struct leat_net_topology *t = p->params->topology;
    uint32_t first = 0;
    if (p_heads(p)) return &p->queue[t->in_first[r] + i];
    if (p_kind(p) == LEAT_NET_SWITCH_OUTPUT || p_kind(p) == LEAT_NET_SWITCH_SHARED)
        return &p->queue[t->out_first[r] + o];
    for (uint32_t k = 0; k < r; k++)
        first += p_ins(p, k) * p_outs(p, k);
    return &p->queue[first + i * p_outs(p, r) + o];
}

static inline struct p_flit p_pop(struct p_queue *q)
{
    const struct p_flit flit = q->flit[0];
    memmove(q->flit, q->flit + 1, --q->count * sizeof *q->flit);
    return flit;
}

static inline void p_push(struct p_queue *q, struct p_flit flit)
{
    OK(q->count < P_QUEUED);
    q->flit[q->count++] = flit;
}

static inline uint32_t p_there(const struct plain *p, uint32_t in)
{
    const uint32_t from = p->params->topology->in_from[in];
    return from >= LEAT_NET_TERMINAL
               ? 2
               : p->params->config.pipeline + p->params->topology->out_cycles[from];
}

static inline uint32_t p_back(const struct plain *p, uint32_t in)
{
    const uint32_t from = p->params->topology->in_from[in];
    return from >= LEAT_NET_TERMINAL
               ? 2
               : 1 + p->params->config.credit_cycles + p->params->topology->out_cycles[from];
}

static inline uint32_t p_places(const struct plain *p, uint32_t in)
{
    const bool at_input = p_heads(p) || p_kind(p) == LEAT_NET_SWITCH_VOQ;
    return at_input ? p->params->config.buffer_flits : p_there(p, in) + p_back(p, in);
}

static inline void p_init(struct plain *p, const struct leat_net *params,
                          struct leat_net_routing *routing, struct hosts *hosts)
{
    const struct leat_net_topology *t = params->topology;
    memset(p, 0, sizeof *p);
    p->params = params;
    p->routing = routing;
    p->hosts = hosts;
    for (uint32_t o = 0; o < t->outs; o++) {
        p->out_last[o] = UINT32_MAX;
        if (t->out_to[o] < LEAT_NET_TERMINAL) p->credits[o] = p_places(p, t->out_to[o]);
    }
    for (uint32_t i = 0; i < t->ins; i++)
        p->in_last[i] = UINT32_MAX;
    for (uint32_t i = 0; i < t->terminals; i++)
        p->source[i].credits = p_places(p, t->terminal_in[i]);
}

static inline void p_end(struct p_packet *packet, enum leat_net_fate fate)
{
    if (!packet->ended && packet->fate == LEAT_NET_DELIVERED) packet->fate = fate;
    packet->ended = true;
}

static inline void p_launch(struct plain *p, uint64_t at, uint32_t to, bool credit,
                            struct p_flit flit)
{
    OK(p->flying < P_FLYING);
    p->fly[p->flying++] = (struct p_flying){ at, to, credit, flit };
}

static inline void p_return(struct plain *p, uint32_t in)
{
    const struct p_flit none = { 0 };
    if (!p->params->config.drop)
        p_launch(p, p->now + p_back(p, in), p->params->topology->in_from[in], true, none);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

static inline void p_flit_comes(struct plain *p, uint32_t to, struct p_flit flit)
{
    struct p_packet *packet = &p->packet[flit.packet];
    if (to < LEAT_NET_TERMINAL) {
        p_push(&p->stage[to], flit);
        return;
    }
    p->inside--;
    if (flit.index == 0) packet->head_at = p->now;
    if (flit.index + 1 == packet->packet.flits)
        p_end(packet, p->params->terminal_dead[to & ~LEAT_NET_TERMINAL] ? LEAT_NET_NO_WAY
                                                                        : LEAT_NET_DELIVERED);
}

static inline void p_come(struct plain *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->flying; i++) {
        const struct p_flying f = p->fly[i];
        if (f.at != p->now)
            p->fly[kept++] = f;
        else if (!f.credit)
            p_flit_comes(p, f.to, f.flit);
        else if (f.to & LEAT_NET_TERMINAL)
            p->source[f.to & ~LEAT_NET_TERMINAL].credits++;
        else
            p->credits[f.to]++;
    }
    p->flying = kept;
}

/* ---- a switch ------------------------------------------------------------------------------ */

static inline uint32_t p_bound_for(struct plain *p, uint32_t r, uint32_t o)
{
    const uint32_t out = p->params->topology->out_first[r] + o;
    uint32_t flits = 0;
    if (p_heads(p)) {
        for (uint32_t i = 0; i < p_ins(p, r); i++) {
            const struct p_queue *q = p_queue_of(p, r, i, 0);
            for (uint32_t k = 0; k < q->count; k++)
                flits += p->packet[q->flit[k].packet].out[q->flit[k].hop] == out;
        }
        return flits;
    }
    const bool one = p_kind(p) == LEAT_NET_SWITCH_OUTPUT || p_kind(p) == LEAT_NET_SWITCH_SHARED;
    for (uint32_t i = 0; i < (one ? 1 : p_ins(p, r)); i++)
        flits += p_queue_of(p, r, i, o)->count;
    return flits;
}

static inline bool p_choose(struct plain *p, uint32_t r, struct p_packet *packet, uint32_t hop)
{
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    const uint32_t first = p->params->topology->out_first[r];
    const uint32_t n = leat_net_route_options(p->routing, r, &packet->route, option);
    uint32_t best = n;
    packet->hops++;
    for (uint32_t k = n; k--;) {
        if (p->params->out_broken[first + option[k].port]) continue;
        if (best == n || p_bound_for(p, r, option[k].port) <= p_bound_for(p, r, option[best].port))
            best = k;
    }
    if (best == n) return false;
    packet->route.phase = option[best].phase;
    packet->out[hop] = first + option[best].port;
    return true;
}

static inline bool p_room(struct plain *p, uint32_t r, uint32_t i, uint32_t o)
{
    const struct leat_net_topology *t = p->params->topology;
    uint32_t flits = 0, room = p->params->config.buffer_flits;
    if (p_kind(p) == LEAT_NET_SWITCH_VOQ) {
        for (uint32_t k = 0; k < p_outs(p, r); k++)
            flits += p_queue_of(p, r, i, k)->count;
    } else if (p_kind(p) == LEAT_NET_SWITCH_SHARED) {
        /* If flits wait (credits), an output without any has a reserved place. */
        const bool kept = !p->params->config.drop;
        uint32_t outs = 0;
        if (kept && !p_queue_of(p, r, 0, o)->count) return true;
        for (uint32_t k = 0; k < p_outs(p, r); k++) {
            const bool exists = t->out_to[t->out_first[r] + k] != LEAT_NET_NONE;
            const uint32_t count = p_queue_of(p, r, 0, k)->count;
            flits += kept && exists && !count ? 1 : count;
            outs += exists;
        }
        room *= outs;
    } else {
        flits = p_queue_of(p, r, i, o)->count;
    }
    return flits < room;
}

static inline void p_lose(struct plain *p, struct p_packet *packet, uint32_t hop,
                          enum leat_net_fate fate)
{
    (void)p;
    packet->cut[hop] = true;
    p_end(packet, fate);
}

static inline void p_enter(struct plain *p, uint32_t r, uint32_t i)
{
    const struct leat_net_topology *t = p->params->topology;
    const uint32_t in = t->in_first[r] + i;
    struct p_queue *stage = &p->stage[in];
    const bool at_input = p_heads(p) || p_kind(p) == LEAT_NET_SWITCH_VOQ;
    if (!stage->count) return;
    const struct p_flit flit = stage->flit[0];
    struct p_packet *packet = &p->packet[flit.packet];
    OK(flit.hop < P_HOPS);
    if (flit.index == 0 && packet->hops == flit.hop && !p_choose(p, r, packet, flit.hop))
        p_lose(p, packet, flit.hop, LEAT_NET_NO_WAY);
    const uint32_t o = packet->out[flit.hop] - t->out_first[r];
    if (!packet->cut[flit.hop] && !p_room(p, r, i, o)) {
        if (!p->params->config.drop) {
            p->waits++;
            return;
        }
        p_lose(p, packet, flit.hop, LEAT_NET_NO_ROOM);
    }
    p_pop(stage);
    if (packet->cut[flit.hop]) {
        packet->gone[flit.hop]++;
        p->inside--;
        p_return(p, in);
    } else {
        packet->entered[flit.hop]++;
        p_push(p_queue_of(p, r, i, o), flit);
        if (p_queue_of(p, r, i, o)->count == 1) p->head_at[in] = p->now;
        if (!at_input) p_return(p, in);
    }
}

/* Does the head of the queue of i go to o? */
static inline bool p_offers(struct plain *p, uint32_t r, uint32_t i, uint32_t o)
{
    const struct p_queue *q = p_queue_of(p, r, i, o);
    if (!q->count) return false;
    return p->packet[q->flit[0].packet].out[q->flit[0].hop] ==
           p->params->topology->out_first[r] + o;
}

static inline bool p_open(const struct plain *p, uint32_t out)
{
    return p->params->config.drop || p->params->topology->out_to[out] >= LEAT_NET_TERMINAL ||
           p->credits[out] > 0;
}

static inline void p_leave(struct plain *p, uint32_t r, uint32_t i, uint32_t o)
{
    const struct leat_net_topology *t = p->params->topology;
    const uint32_t out = t->out_first[r] + o, to = t->out_to[out];
    struct p_flit flit = p_pop(p_queue_of(p, r, i, o));
    struct p_packet *packet = &p->packet[flit.packet];
    if (leat_net_damages(p->params, out, &packet->packet, flit.index) &&
        packet->fate == LEAT_NET_DELIVERED && !packet->ended)
        packet->fate = LEAT_NET_CORRUPTED;
    packet->gone[flit.hop]++;
    flit.hop++;
    p->hops++;
    p->head_at[t->in_first[r] + i] = p->now + 1;
    if (!p->params->config.drop && to < LEAT_NET_TERMINAL) p->credits[out]--;
    p_launch(p, p->now + p->params->config.pipeline + t->out_cycles[out], to, false, flit);
    if (p_heads(p) || p_kind(p) == LEAT_NET_SWITCH_VOQ) p_return(p, t->in_first[r] + i);
}

/* iSLIP, step by step: requests, grants, accepts. from[o]: the input that o is matched with. */
static inline void p_islip(struct plain *p, uint32_t r, uint32_t *from)
{
    const struct leat_net_topology *t = p->params->topology;
    const uint32_t ins = p_ins(p, r), outs = p_outs(p, r);
    bool taken[P_PORTS] = { false };
    for (uint32_t it = 0; it < p->params->config.iterations; it++) {
        uint32_t granted[P_PORTS];
        for (uint32_t o = 0; o < outs; o++) {
            const uint32_t out = t->out_first[r] + o;
            granted[o] = LEAT_NET_NONE;
            for (uint32_t k = 1; k <= ins && from[o] == LEAT_NET_NONE && p_open(p, out); k++) {
                const uint32_t i = (p->out_last[out] + k) % ins;
                if (taken[i] || !p_offers(p, r, i, o)) continue;
                granted[o] = i;
                break;
            }
        }
        for (uint32_t i = 0; i < ins; i++)
            for (uint32_t k = 1; k <= outs && !taken[i]; k++) {
                const uint32_t o = (p->in_last[t->in_first[r] + i] + k) % outs;
                if (granted[o] != i) continue;
                taken[i] = true;
                from[o] = i;
                if (it) continue;
                p->in_last[t->in_first[r] + i] = o;
                p->out_last[t->out_first[r] + o] = i;
            }
    }
}

static inline void p_turns(struct plain *p, uint32_t r, uint32_t *from)
{
    const bool one = p_kind(p) == LEAT_NET_SWITCH_OUTPUT || p_kind(p) == LEAT_NET_SWITCH_SHARED;
    const uint32_t lanes = one ? 1 : p_ins(p, r);
    for (uint32_t o = 0; o < p_outs(p, r); o++) {
        const uint32_t out = p->params->topology->out_first[r] + o;
        for (uint32_t k = 1; k <= lanes && from[o] == LEAT_NET_NONE && p_open(p, out); k++)
            if (p_offers(p, r, (p->out_last[out] + k) % lanes, o))
                from[o] = (p->out_last[out] + k) % lanes;
        if (from[o] != LEAT_NET_NONE) p->out_last[out] = from[o];
    }
}

/*
 * A sorter and a Banyan, element by element (Batcher 1968; Hui and Arthurs 1987). The sorter has a
 * column of elements 2 x 2 for each pair of `half` and `run`; the Banyan shuffles its rows before
 * each column, whose elements set a bit of the row to that of the output.
 */
struct p_line {
    uint32_t out; /* LEAT_NET_NONE: idle */
    uint64_t since;
    uint32_t in;
};

static inline bool p_line_is_after(const struct p_line *a, const struct p_line *b)
{
    if (a->out != b->out) return a->out > b->out;
    return a->since != b->since ? a->since > b->since : a->in > b->in;
}

/* Returns the number of elements. */
static inline uint32_t p_sort(struct p_line *line, uint32_t lines)
{
    uint32_t elements = 0;
    for (uint32_t run = 2; run <= lines; run *= 2)
        for (uint32_t half = run / 2; half; half /= 2)
            for (uint32_t i = 0; i < lines; i++) {
                const uint32_t j = i ^ half;
                if (j < i) continue;
                elements++;
                const bool falls = i & run;
                if (p_line_is_after(&line[i], &line[j]) == falls) continue;
                const struct p_line kept = line[i];
                line[i] = line[j];
                line[j] = kept;
            }
    return elements;
}

/* False: two flits want the same row. Else each is in the row of its output. */
static inline bool p_banyan(struct p_line *line, uint32_t lines)
{
    for (uint32_t bit = lines / 2; bit; bit /= 2) {
        struct p_line next[P_PORTS];
        for (uint32_t i = 0; i < lines; i++)
            next[i].out = LEAT_NET_NONE;
        for (uint32_t i = 0; i < lines; i++) {
            if (line[i].out == LEAT_NET_NONE) continue;
            const uint32_t shuffled = (2 * i) % lines + 2 * i / lines;
            const uint32_t row = (shuffled & ~1u) | ((line[i].out & bit) != 0);
            if (next[row].out != LEAT_NET_NONE) return false;
            next[row] = line[i];
        }
        memcpy(line, next, lines * sizeof *line);
    }
    return true;
}

static inline void p_batcher(struct plain *p, uint32_t r, uint32_t *from)
{
    const struct leat_net_topology *t = p->params->topology;
    struct p_line request[P_PORTS], flit[P_PORTS];
    uint32_t lines = 1;
    while (lines < p_ins(p, r) || lines < p_outs(p, r))
        lines *= 2;
    for (uint32_t i = 0; i < lines; i++) {
        request[i] = (struct p_line){ LEAT_NET_NONE, 0, i };
        flit[i].out = LEAT_NET_NONE;
        for (uint32_t o = 0; i < p_ins(p, r) && o < p_outs(p, r); o++)
            if (p_offers(p, r, i, o) && p_open(p, t->out_first[r] + o))
                request[i] = (struct p_line){ o, p->head_at[t->in_first[r] + i], i };
    }
    p_sort(request, lines);
    for (uint32_t i = 0; i < lines; i++) /* those told that they won */
        if (i == 0 || request[i - 1].out != request[i].out) flit[request[i].in] = request[i];
    p_sort(flit, lines);
    OK(p_banyan(flit, lines));
    for (uint32_t o = 0; o < p_outs(p, r); o++) {
        if (flit[o].out == LEAT_NET_NONE) continue;
        EQ(flit[o].out, o);
        from[o] = flit[o].in;
    }
}

static inline void p_switch(struct plain *p, uint32_t r)
{
    const struct leat_net_topology *t = p->params->topology;
    const bool one = p_kind(p) == LEAT_NET_SWITCH_OUTPUT || p_kind(p) == LEAT_NET_SWITCH_SHARED;
    uint32_t from[P_PORTS];
    for (uint32_t k = 0; k < p_ins(p, r); k++)
        p_enter(p, r, (uint32_t)((p->now + k) % p_ins(p, r)));
    for (uint32_t o = 0; o < p_outs(p, r); o++) {
        from[o] = LEAT_NET_NONE;
        if (p_open(p, t->out_first[r] + o)) continue;
        for (uint32_t i = 0; i < (one ? 1 : p_ins(p, r)); i++)
            p->waits += p_offers(p, r, i, o);
    }
    if (p_kind(p) == LEAT_NET_SWITCH_VOQ)
        p_islip(p, r, from);
    else if (p_kind(p) == LEAT_NET_SWITCH_BATCHER)
        p_batcher(p, r, from);
    else
        p_turns(p, r, from);
    for (uint32_t o = 0; o < p_outs(p, r); o++)
        if (from[o] != LEAT_NET_NONE) p_leave(p, r, from[o], o);
}

/* ---- ends and sources ---------------------------------------------------------------------- */

static inline bool p_before(const struct leat_net_packet *a, const struct leat_net_packet *b)
{
    if (a->destination != b->destination) return a->destination < b->destination;
    return a->source != b->source ? a->source < b->source : a->number < b->number;
}

static inline void p_report(struct plain *p)
{
    for (;;) {
        struct p_packet *first = NULL;
        for (uint32_t i = 0; i < p->packets; i++) {
            struct p_packet *packet = &p->packet[i];
            if (!packet->ended || packet->reported) continue;
            if (!first || p_before(&packet->packet, &first->packet)) first = packet;
        }
        if (!first) return;
        first->reported = true;
        const bool whole = first->fate == LEAT_NET_DELIVERED || first->fate == LEAT_NET_CORRUPTED;
        const struct leat_net_arrival arrival = {
            first->packet, first->fate, whole ? first->head_at : p->now,
            p->now,        first->hops, first->route.rerouted
        };
        hosts_arrive(p->hosts, &arrival);
    }
}

static inline bool p_ask(struct plain *p, uint32_t terminal)
{
    struct p_source *s = &p->source[terminal];
    if (s->has) return true;
    OK(p->packets < P_PACKETS);
    struct p_packet *packet = &p->packet[p->packets];
    if (!hosts_next(p->hosts, terminal, &packet->packet)) return false;
    *s = (struct p_source){ true, p->packets++, 0, s->credits };
    return true;
}

static inline void p_send(struct plain *p, uint32_t terminal)
{
    struct p_source *s = &p->source[terminal];
    if (!p_ask(p, terminal)) return;
    struct p_packet *packet = &p->packet[s->packet];
    const bool dead = p->params->terminal_dead[terminal];
    if (packet->packet.created_at > p->now || (dead && !s->sent)) return;
    if (!p->params->config.drop && !s->credits) return;
    if (!s->sent)
        leat_net_route_begin(p->routing, packet->packet.source, packet->packet.destination,
                             packet->packet.random, &packet->route);
    if (dead && packet->fate == LEAT_NET_DELIVERED) packet->fate = LEAT_NET_CUT;
    const struct p_flit flit = { s->packet, s->sent, 0 };
    p_launch(p, p->now + 2, p->params->topology->terminal_in[terminal], false, flit);
    s->credits -= !p->params->config.drop;
    p->inside++;
    if (++s->sent == packet->packet.flits) s->has = false;
}

static inline void p_run(struct plain *p, uint64_t until)
{
    for (; p->now < until; p->now++) {
        p_come(p);
        for (uint32_t r = 0; r < p->params->topology->routers; r++)
            p_switch(p, r);
        p_report(p);
        for (uint32_t t = 0; t < p->params->topology->terminals; t++)
            p_send(p, t);
    }
}

/* ---- faults -------------------------------------------------------------------------------- */

/* Flits that will have arrived at a packet's router, as far as known. */
static inline uint32_t p_expected(const struct p_packet *packet, uint32_t hop)
{
    uint32_t flits = packet->packet.flits;
    for (uint32_t h = 0; h < hop; h++)
        if (packet->cut[h] && packet->entered[h] < flits) flits = packet->entered[h];
    return flits;
}

static inline void p_broke(struct plain *p, uint32_t out)
{
    for (uint32_t i = 0; i < p->packets; i++) {
        struct p_packet *packet = &p->packet[i];
        for (uint32_t h = 0; h < packet->hops && h < P_HOPS; h++)
            if (packet->out[h] == out && packet->gone[h] < p_expected(packet, h) &&
                packet->fate == LEAT_NET_DELIVERED)
                packet->fate = LEAT_NET_CUT;
    }
    for (uint32_t i = 0; i < p->flying; i++) {
        struct p_packet *packet = &p->packet[p->fly[i].flit.packet];
        if (!p->fly[i].credit && p->fly[i].to == p->params->topology->out_to[out] &&
            packet->fate == LEAT_NET_DELIVERED)
            packet->fate = LEAT_NET_CUT;
    }
}

#endif
