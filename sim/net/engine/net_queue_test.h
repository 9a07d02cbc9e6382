/* Shared by the tests of queueing switches: networks, hosts that draw packets, and their
 * arrivals. */
#ifndef LEAT_NET_QUEUE_TEST_H
#define LEAT_NET_QUEUE_TEST_H

#include "net_world_test.h"

enum { TERMINALS_MAX = 128, ARRIVALS_MAX = 1 << 14 };

/* Hosts: each draws whether a packet is created in a cycle, and of what kind. */
struct hosts {
    struct leat_random random[TERMINALS_MAX];
    uint64_t at[TERMINALS_MAX], number[TERMINALS_MAX];
    uint32_t terminals, flits_min, flits_max;
    uint32_t chance;   /* probability of a packet per cycle, in 2^-32 */
    uint64_t stop;     /* no packet is created from here on */
    uint64_t from;     /* packets created earlier are not measured */
    uint64_t measured; /* packets delivered */
    uint64_t latency;  /* their sum */
    bool keep;         /* all arrivals, for comparing */
    uint32_t arrivals;
    struct leat_net_arrival arrival[ARRIVALS_MAX];
};

static inline void hosts_init(struct hosts *h, uint32_t terminals, double load, uint32_t flits_min,
                              uint32_t flits_max, uint64_t seed)
{
    h->terminals = terminals;
    h->flits_min = flits_min;
    h->flits_max = flits_max;
    h->chance = (uint32_t)(load / (0.5 * (flits_min + flits_max)) * 4294967295.0);
    h->stop = LEAT_NEVER;
    h->from = h->measured = h->latency = 0;
    h->keep = false;
    h->arrivals = 0;
    for (uint32_t t = 0; t < terminals; t++) {
        leat_random_seed_entity(&h->random[t], seed, t);
        h->at[t] = h->number[t] = 0;
    }
}

static inline bool hosts_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct hosts *h = context;
    struct leat_random *r = &h->random[terminal];
    do {
        if (h->at[terminal] >= h->stop) return false;
        h->at[terminal]++;
    } while (leat_random_next(r) >> 32 >= h->chance);
    packet->created_at = h->at[terminal] - 1;
    packet->number = h->number[terminal]++;
    packet->random = leat_random_next(r);
    packet->source = terminal;
    packet->destination = (uint32_t)leat_random_below(r, h->terminals);
    packet->flits = h->flits_min + (uint32_t)leat_random_below(r, h->flits_max - h->flits_min + 1);
    return true;
}

static inline void hosts_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct hosts *h = context;
    if (h->keep && h->arrivals < ARRIVALS_MAX) h->arrival[h->arrivals++] = *arrival;
    if (arrival->fate != LEAT_NET_DELIVERED || arrival->packet.created_at < h->from) return;
    h->measured++;
    h->latency += arrival->tail_at - arrival->packet.created_at;
}

/* A network and its hosts. */
struct bench {
    struct world world;
    struct hosts hosts;
};

static inline struct leat_net_config bench_config(enum leat_net_switch architecture)
{
    return (struct leat_net_config){ .architecture = architecture,
                                     .channels = 1,
                                     .buffer_flits = LEAT_NET_BUFFER_MAX,
                                     .pipeline = 3,
                                     .credit_cycles = 1,
                                     .iterations = 1 };
}

/* False: this network is invalid. The caller sets the hosts before the first run. */
static inline bool bench_init(struct bench *b, const struct leat_net_shape *shape,
                              enum leat_net_route_rule rule, uint32_t channels,
                              const struct leat_net_config *config)
{
    char octets[256];
    struct leat_text why;
    leat_text_init(&why, octets, sizeof octets, NULL, NULL);
    if (!world_build(&b->world, shape, rule, channels)) return false;
    if (leat_net_check(&b->world.topology, config, &why)) {
        world_end(&b->world);
        return false;
    }
    const struct leat_net_host host = { &b->hosts, hosts_next, hosts_arrive };
    world_begin(&b->world, config, &host);
    return true;
}

static inline void bench_crossbar(struct bench *b, uint32_t ports, const struct leat_net_config *c)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_CROSSBAR, ports, 0);
    const bool built = bench_init(b, &shape, LEAT_NET_DOR, 1, c);
    OK(built);
}

#endif
