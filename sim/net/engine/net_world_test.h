/* A network with its own memory, for tests of what runs on it. */
#ifndef LEAT_NET_WORLD_TEST_H
#define LEAT_NET_WORLD_TEST_H

#include "net_parts.h"
#include "tap.h"
#include <string.h>

struct world {
    struct leat_net_topology topology;
    struct leat_net_routing_config rule;
    struct leat_net_routing *routing;
    struct leat_net net;
    void *memory[3]; /* of topology, routing and net */
};

static inline void *world_memory(size_t len)
{
    void *memory = calloc(1, len ? len : 1);
    if (!memory) abort();
    return memory;
}

static inline void world_end(struct world *w)
{
    for (size_t i = 0; i < 3; i++) {
        free(w->memory[i]);
        w->memory[i] = NULL;
    }
}

/* Topology and routing. False: they are invalid, and nothing needs to be ended. */
static inline bool world_build_share(struct world *w, const struct leat_net_shape *shape,
                                     enum leat_net_route_rule rule, uint32_t channels,
                                     const struct leat_net_share *share)
{
    char line[256];
    struct leat_text why;
    struct leat_net_routing_fault fault = { .place = LEAT_NET_AT_RULE };
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    memset(w, 0, sizeof *w);
    if (leat_net_shape_check(shape, &why)) return false;
    w->memory[0] = world_memory(leat_net_topology_footprint(shape));
    w->rule = (struct leat_net_routing_config){ .rule = rule, .channels = channels };
    if ((share ? leat_net_topology_build_share(&w->topology, shape, share, w->memory[0], &why)
               : leat_net_topology_build(&w->topology, shape, w->memory[0], &why)) ||
        leat_net_routing_check(&w->topology, &w->rule, &why, &fault)) {
        world_end(w);
        return false;
    }
    w->memory[1] = world_memory(leat_net_routing_footprint(&w->topology, &w->rule));
    w->routing = leat_net_routing_init(&w->topology, &w->rule, w->memory[1]);
    return true;
}

static inline bool world_build(struct world *w, const struct leat_net_shape *shape,
                               enum leat_net_route_rule rule, uint32_t channels)
{
    return world_build_share(w, shape, rule, channels, NULL);
}

/* Starts the network, or restarts it. */
static inline void world_begin(struct world *w, const struct leat_net_config *config,
                               const struct leat_net_host *host)
{
    free(w->memory[2]);
    w->memory[2] = world_memory(leat_net_footprint(&w->topology, config));
    leat_net_init(&w->net, &w->topology, w->routing, config, host, w->memory[2]);
}

/* The switches of test/validate. */
static const struct leat_net_config golden = { .architecture = LEAT_NET_SWITCH_VC,
                                               .channels = 4,
                                               .buffer_flits = 8,
                                               .pipeline = 3,
                                               .credit_cycles = 1,
                                               .iterations = 1 };

static inline struct leat_net_shape shape_of(enum leat_net_kind kind, uint32_t a, uint32_t b)
{
    return (struct leat_net_shape){
        .kind = kind, .number = { a, b }, .numbers = b ? 2 : 1, .terminals = 1, .wire_cycles = 1
    };
}

#endif
