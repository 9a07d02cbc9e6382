/* Random networks of virtual channels, and hosts that send at random and record callbacks. */
#ifndef LEAT_NET_CROWD_TEST_H
#define LEAT_NET_CROWD_TEST_H

#include "net_world_test.h"

/* ---- hosts that send at random and record callbacks ------------------------------------------ */

enum { LOG_MAX = 1 << 14 };

struct crowd {
    struct leat_random *random;
    uint64_t *clock, *number;
    uint32_t terminals, left, flits_max, gap_max;
    uint32_t to; /* all to this one; NONE: anyone */
    bool moody;  /* at times it has nothing, until an arrival */
    void (*wake)(void *network, uint32_t terminal);
    void *network;
    struct leat_net_arrival log[LOG_MAX];
    uint32_t logged;
};

static inline bool crowd_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct crowd *c = context;
    struct leat_random *r = &c->random[terminal];
    if (c->number[terminal] == c->left) return false;
    if (c->moody && !leat_random_below(r, 4)) return false;
    c->clock[terminal] += leat_random_below(r, c->gap_max) + 1;
    *packet = (struct leat_net_packet){
        .created_at = c->clock[terminal],
        .number = c->number[terminal]++,
        .source = terminal,
    };
    packet->random = leat_random_next(r);
    packet->destination = (uint32_t)leat_random_below(r, c->terminals);
    packet->flits = (uint32_t)leat_random_below(r, c->flits_max) + 1;
    if (c->to != LEAT_NET_NONE) packet->destination = c->to;
    return true;
}

static inline void crowd_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct crowd *c = context;
    if (c->logged < LOG_MAX) c->log[c->logged++] = *arrival;
    if (c->moody) c->wake(c->network, arrival->packet.destination);
}

static inline void crowd_begin(struct crowd *c, uint32_t terminals, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->terminals = terminals;
    c->to = LEAT_NET_NONE;
    c->random = world_memory(terminals * sizeof *c->random);
    c->clock = world_memory(terminals * sizeof *c->clock);
    c->number = world_memory(terminals * sizeof *c->number);
    for (uint32_t t = 0; t < terminals; t++)
        leat_random_seed_entity(&c->random[t], seed, t);
}

static inline void crowd_end(struct crowd *c)
{
    free(c->random);
    free(c->clock);
    free(c->number);
}

static inline struct leat_net_host host_of(struct crowd *c)
{
    return (struct leat_net_host){ .context = c, .next = crowd_next, .arrive = crowd_arrive };
}

static inline void wake_net(void *network, uint32_t terminal)
{
    leat_net_wake(network, terminal);
}

/* ---- random networks ------------------------------------------------------------------------- */

static inline uint32_t one_to(struct leat_random *r, uint32_t most)
{
    return 1 + (uint32_t)leat_random_below(r, most);
}

static inline struct leat_net_shape random_shape(struct leat_random *r)
{
    static const enum leat_net_kind kind[] = {
        LEAT_NET_LINE, LEAT_NET_RING,  LEAT_NET_CROSSBAR, LEAT_NET_MESH,   LEAT_NET_TORUS,
        LEAT_NET_FLY,  LEAT_NET_BENES, LEAT_NET_FATTREE,  LEAT_NET_HYPERX, LEAT_NET_HYPERCUBE,
        LEAT_NET_CLOS, LEAT_NET_GRID,  LEAT_NET_DRAGONFLY
    };
    struct leat_net_shape shape = {
        .kind = kind[leat_random_below(r, sizeof kind / sizeof *kind)],
    };
    for (int i = 0; i < 3; i++)
        shape.number[i] = one_to(r, 4);
    shape.terminals = one_to(r, 2);
    shape.wire_cycles = one_to(r, 4);
    shape.numbers = 1 + (uint32_t)leat_random_below(r, 3);
    return shape;
}

static inline struct leat_net_config random_config(struct leat_random *r)
{
    struct leat_net_config config = { .architecture = LEAT_NET_SWITCH_VC, .iterations = 1 };
    config.flow = (enum leat_net_flow)leat_random_below(r, LEAT_NET_FLOWS);
    config.drop = !leat_random_below(r, 4);
    config.channels = one_to(r, 5);
    config.buffer_flits = one_to(r, 6);
    config.pipeline = one_to(r, 6);
    config.credit_cycles = (uint32_t)leat_random_below(r, 4);
    return config;
}

static inline bool arrivals_are_equal(const struct leat_net_arrival *a,
                                      const struct leat_net_arrival *b)
{
    return a->packet.source == b->packet.source && a->packet.number == b->packet.number &&
           a->packet.destination == b->packet.destination && a->fate == b->fate &&
           a->head_at == b->head_at && a->tail_at == b->tail_at && a->hops == b->hops &&
           a->rerouted == b->rerouted;
}

static inline bool logs_are_equal(const struct crowd *a, const struct crowd *b)
{
    if (a->logged != b->logged) return false;
    for (uint32_t i = 0; i < a->logged; i++)
        if (!arrivals_are_equal(&a->log[i], &b->log[i])) return false;
    return true;
}

/* Of a network, or of the plain model of one, which has no engine. */
static inline uint64_t out_flits(const struct leat_net *net, uint32_t out)
{
    return net->engine ? leat_net_out_flits(net, out) : net->out_flits[out];
}

static inline bool counts_are_equal(const struct leat_net *a, const struct leat_net *b)
{
    bool equal = a->counts.flit_hops == b->counts.flit_hops &&
                 a->counts.packets_begun == b->counts.packets_begun &&
                 a->counts.flits_begun == b->counts.flits_begun &&
                 a->counts.flits_delivered == b->counts.flits_delivered &&
                 a->counts.packets_rerouted == b->counts.packets_rerouted;
    for (int f = 0; f < LEAT_NET_FATES; f++)
        equal &= a->counts.packets_ended[f] == b->counts.packets_ended[f];
    for (uint32_t out = 0; out < a->topology->outs; out++)
        equal &= out_flits(a, out) == out_flits(b, out);
    return equal;
}

#endif
