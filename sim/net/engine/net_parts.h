/* What the engines of networks share; not for users. */
#ifndef LEAT_NET_PARTS_H
#define LEAT_NET_PARTS_H

#include "leat_arena.h"
#include "net.h"
#include <leat/random.h>

/* One way of switching. All memory comes from the arena that `lay` is given (leat_arena_lay). */
struct leat_net_engine {
    void (*lay)(struct leat_net *net,
                struct leat_arena *arena); /* sets net->state; measuring: NULL memory */
    /* The hosts are not asked yet: they are in the first run. */
    void (*start)(struct leat_net *net);
    bool (*run)(struct leat_net *net, uint64_t until);
    void (*wake)(struct leat_net *net, uint32_t terminal);
    uint64_t (*inside)(const struct leat_net *net);
    uint32_t (*stuck)(const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap);
    /* The wire is broken or healed already: mark the packets that lie across it. */
    void (*broke)(struct leat_net *net, uint32_t out);
    /* Tables of the routing are new: options that were asked for before are stale. May be NULL. */
    void (*rerouted)(struct leat_net *net);
};

extern const struct leat_net_engine leat_net_vc_engine, leat_net_queue_engine;

/* A packet on its way. */
struct leat_net_flight {
    struct leat_net_packet packet;
    struct leat_net_route route;
    uint64_t head_at;
    uint32_t hops;
    uint8_t fate; /* enum leat_net_fate: what will be told at the end */
};

/* Room for the packets on their way: taken from the top until something is given back, so that what
 * is never used is never touched. */
struct leat_net_flights {
    struct leat_net_flight *flight;
    uint32_t *free; /* a stack of those given back */
    uint32_t cap, top, free_count;
};

void leat_net_flights_lay(struct leat_net_flights *flights, uint32_t cap, struct leat_arena *arena);
/* LEAT_NET_NONE: there is no room. */
uint32_t leat_net_flights_take(struct leat_net_flights *flights);
static inline bool leat_net_flights_none(const struct leat_net_flights *flights)
{
    return !flights->free_count && flights->top == flights->cap;
}
void leat_net_flights_give(struct leat_net_flights *flights, uint32_t index);

/* The end of a packet: counts it and tells the host. The engine sees to the order. */
void leat_net_end(struct leat_net *net, struct leat_net_flight *flight, uint64_t now);

/* Is this flit of the packet damaged on this wire? A function of seed, wire, packet and flit, so
 * that no order has a part in it. */
bool leat_net_damages(const struct leat_net *net, uint32_t out,
                      const struct leat_net_packet *packet, uint32_t flit);

#endif
