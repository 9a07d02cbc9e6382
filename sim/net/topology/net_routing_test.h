/* Networks for the tests of routing and deadlocks: built from a few words, or at random. */
#ifndef LEAT_NET_ROUTING_TEST_H
#define LEAT_NET_ROUTING_TEST_H

#include "net_routing.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { SCENE_EDGES_MAX = 256, SCENE_WHY_CAP = 512 };

struct scene {
    struct leat_net_shape shape;
    struct leat_net_edge edge[SCENE_EDGES_MAX];
    struct leat_net_topology topology;
    struct leat_net_routing_config config;
    struct leat_net_routing *routing;
    void *topology_memory, *routing_memory;
    struct leat_net_routing_fault fault;
    char why[SCENE_WHY_CAP];
};

static inline void *scene_take(size_t len)
{
    void *memory = malloc(len ? len : 1);
    if (!memory) abort();
    memset(memory, 0xa5, len); /* nothing may depend on the previous contents */
    return memory;
}

static inline void scene_close(struct scene *s)
{
    free(s->topology_memory);
    free(s->routing_memory);
    s->topology_memory = s->routing_memory = NULL;
}

/* The topology of s->shape. */
static inline void scene_build(struct scene *s)
{
    struct leat_text why;
    leat_text_init(&why, s->why, sizeof s->why - 1, NULL, NULL);
    s->topology_memory = s->routing_memory = NULL;
    s->routing = NULL;
    const leat_err err = leat_net_shape_check(&s->shape, &why);
    if (!err) s->topology_memory = scene_take(leat_net_topology_footprint(&s->shape));
    if (err || leat_net_topology_build(&s->topology, &s->shape, s->topology_memory, &why)) {
        printf("# no such topology: %.*s\n", (int)why.len, s->why);
        abort();
    }
}

/* Its routing, if the rule fits; else s->why says why not. */
static inline bool scene_route(struct scene *s, enum leat_net_route_rule rule, uint32_t channels)
{
    struct leat_text why;
    leat_text_init(&why, s->why, sizeof s->why - 1, NULL, NULL);
    s->config.rule = rule;
    s->config.channels = channels;
    const leat_err err = leat_net_routing_check(&s->topology, &s->config, &why, &s->fault);
    s->why[why.len] = 0;
    if (err) return false;
    free(s->routing_memory);
    s->routing_memory = scene_take(leat_net_routing_footprint(&s->topology, &s->config));
    s->routing = leat_net_routing_init(&s->topology, &s->config, s->routing_memory);
    return true;
}

static inline void scene_numbers(struct scene *s, enum leat_net_kind kind, uint32_t numbers,
                                 const uint32_t *number)
{
    memset(s, 0, sizeof *s);
    s->shape.kind = kind;
    s->shape.numbers = numbers;
    for (uint32_t i = 0; i < numbers; i++)
        s->shape.number[i] = number[i];
    s->shape.terminals = 1;
    s->shape.wire_cycles = 1;
}

#define SCENE(s, kind, ...)                                                                   \
    do {                                                                                      \
        const uint32_t numbers_[] = { __VA_ARGS__ };                                          \
        scene_numbers((s), (kind), (uint32_t)(sizeof numbers_ / sizeof *numbers_), numbers_); \
        scene_build(s);                                                                       \
    } while (0)

static inline uint32_t scene_between(struct leat_random *random, uint32_t least, uint32_t most)
{
    return least + (uint32_t)leat_random_below(random, most - least + 1);
}

/* A tree, so that it is connected, and some more wires; parallel ones too. */
static inline void scene_random_graph(struct scene *s, struct leat_random *random,
                                      uint32_t routers_max, bool one_way)
{
    scene_numbers(s, LEAT_NET_GRAPH, 0, NULL);
    s->shape.routers = scene_between(random, 1, routers_max);
    s->shape.terminals = scene_between(random, 1, 2);
    s->shape.edge = s->edge;
    const uint32_t more = s->shape.routers > 1 ? scene_between(random, 0, s->shape.routers) : 0;
    for (uint32_t r = 1; r < s->shape.routers; r++)
        s->edge[s->shape.edges++] = (struct leat_net_edge){ scene_between(random, 0, r - 1), r, 0,
                                                            false };
    for (uint32_t i = 0; i < more; i++) {
        const uint32_t a = scene_between(random, 1, s->shape.routers - 1);
        const uint32_t b = scene_between(random, 0, a - 1);
        s->edge[s->shape.edges++] =
            (struct leat_net_edge){ a, b, 0, one_way && scene_between(random, 0, 1) };
    }
}

/* A small shape of a kind. */
static inline void scene_random(struct scene *s, enum leat_net_kind kind,
                                struct leat_random *random)
{
    uint32_t number[LEAT_NET_NUMBERS_MAX] = { 0 }, numbers = 1;
    number[0] = scene_between(random, 1, 9);
    switch (kind) {
    case LEAT_NET_LINE:
    case LEAT_NET_RING:
    case LEAT_NET_CROSSBAR: break;
    case LEAT_NET_GRID: number[0] = scene_between(random, 1, 5); break;
    case LEAT_NET_MESH:
    case LEAT_NET_TORUS:
    case LEAT_NET_HYPERX:
        numbers = scene_between(random, 1, 3);
        for (uint32_t i = 0; i < numbers; i++)
            number[i] = scene_between(random, 1, numbers == 3 ? 4 : 7);
        break;
    case LEAT_NET_HYPERCUBE: number[0] = scene_between(random, 1, 5); break;
    case LEAT_NET_BENES: number[0] = UINT32_C(1) << scene_between(random, 1, 4); break;
    case LEAT_NET_FLY:
    case LEAT_NET_FATTREE:
        numbers = 2;
        number[0] = scene_between(random, 2, 4);
        number[1] = scene_between(random, 1, number[0] == 4 ? 2 : 3);
        break;
    case LEAT_NET_CLOS:
    case LEAT_NET_DRAGONFLY:
        numbers = 3;
        for (uint32_t i = 0; i < numbers; i++)
            number[i] = scene_between(random, 1, kind == LEAT_NET_CLOS ? 5 : 3);
        break;
    case LEAT_NET_GRAPH: scene_random_graph(s, random, 12, false); break;
    }
    if (kind != LEAT_NET_GRAPH) scene_numbers(s, kind, numbers, number);
    if (kind != LEAT_NET_GRAPH) s->shape.terminals = scene_between(random, 1, 2);
    scene_build(s);
}

/* The router at the other end of an output port; NONE: none. */
static inline uint32_t scene_behind(const struct scene *s, uint32_t out)
{
    return leat_net_behind(&s->topology, out);
}

static inline uint32_t scene_home(const struct scene *s, uint32_t terminal)
{
    return s->topology.out_router[s->topology.terminal_out[terminal]];
}

static inline uint32_t scene_entry(const struct scene *s, uint32_t terminal)
{
    return s->topology.in_router[s->topology.terminal_in[terminal]];
}

#endif
