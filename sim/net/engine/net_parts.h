/* Shared by the engines of networks. Internal. */
#ifndef LEAT_NET_PARTS_H
#define LEAT_NET_PARTS_H

#include "leat_arena.h"
#include "net.h"
#include <leat/random.h>

/* A switching engine. All memory comes from the arena given to `lay` (leat_arena_lay). */
struct leat_net_engine {
    void (*lay)(struct leat_net *net,
                struct leat_arena *arena); /* sets net->state; measuring: NULL memory */
    /* Does not call the hosts yet: the first run does. */
    void (*start)(struct leat_net *net);
    bool (*run)(struct leat_net *net, uint64_t until);
    void (*wake)(struct leat_net *net, uint32_t terminal);
    uint64_t (*inside)(const struct leat_net *net);
    uint32_t (*stuck)(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);
    /* The wire is already marked as broken or repaired: mark the packets that cross it. */
    void (*broke)(struct leat_net *net, uint32_t out);
    /* The routing tables have changed: earlier options are stale. May be NULL. */
    void (*rerouted)(struct leat_net *net);
};

extern const struct leat_net_engine leat_net_vc_engine, leat_net_queue_engine;

/* A packet in flight. */
struct leat_net_flight {
    struct leat_net_packet packet;
    struct leat_net_route route;
    uint64_t head_at;
    uint32_t hops;
    uint8_t fate; /* enum leat_net_fate: reported at the end */
};

/* A pool for packets in flight: allocated from the top until something is freed, so that unused
 * memory is never touched. */
struct leat_net_flights {
    struct leat_net_flight *flight;
    uint32_t *free; /* a stack of freed ones */
    uint32_t cap, top, free_count;
};

void leat_net_flights_lay(struct leat_net_flights *flights, uint32_t cap, struct leat_arena *arena);
/* LEAT_NET_NONE: the pool is exhausted. */
uint32_t leat_net_flights_take(struct leat_net_flights *flights);
static inline bool leat_net_flights_none(const struct leat_net_flights *flights)
{
    return !flights->free_count && flights->top == flights->cap;
}
void leat_net_flights_give(struct leat_net_flights *flights, uint32_t index);

/* Ends a packet: counts it and calls the host. The engine is responsible for the order. */
void leat_net_end(struct leat_net *net, struct leat_net_flight *flight, uint64_t now);

/* Is this flit of the packet damaged on this wire? A function of seed, wire, packet and flit,
 * independent of any order. */
bool leat_net_damages(const struct leat_net *net, uint32_t out,
                      const struct leat_net_packet *packet, uint32_t flit);

#endif
