/* A simulated network of ESP routers, its services, and the truth to compare answers with. */
#ifndef LEAT_ESP_SIM_WORLD_TEST_H
#define LEAT_ESP_SIM_WORLD_TEST_H

#include "esp_sim.h"
#include "tap.h"
#include <string.h>

enum {
    ROUTERS_MAX = 400,
    WIRES_MAX = 1000,
    MEMBERS_MAX = 2000,
    CAMPAIGN = LEAT_ROUNDS / 10000 + 5,
    FLIGHTS = 40000,
    REPLIES = 4000,
};

static const leat_time us = 1000000, ms = 1000000000;

struct world {
    struct leat_sim_esp sim;
    struct leat_sim_esp_config config;
    struct leat_sim_esp_wire wire[WIRES_MAX];
    uint32_t member_at[MEMBERS_MAX];
    uint64_t value[MEMBERS_MAX];
    leat_time settle;
    void *memory;
};

/* ---- networks -------------------------------------------------------------------------------- */

static inline void join(struct world *w, uint32_t a, uint32_t b, leat_time delay_ps)
{
    struct leat_sim_esp_graph *g = &w->config.graph;
    w->wire[g->wires++] = (struct leat_sim_esp_wire){ a, b, delay_ps };
    w->wire[g->wires++] = (struct leat_sim_esp_wire){ b, a, delay_ps };
}

static inline void begin_world(struct world *w, uint32_t routers, uint32_t members, uint64_t seed)
{
    *w = (struct world){ .config = { .graph = { .routers = routers, .wire = w->wire },
                                     .members = members,
                                     .member_at = w->member_at,
                                     .value = w->value,
                                     .access_ps = ms,
                                     .tau_ps = 10000 * ms,
                                     .reorder_ps = 4 * ms,
                                     .seed = seed,
                                     .groups = 1,
                                     .flights_max = FLIGHTS,
                                     .replies_max = REPLIES } };
    for (uint32_t m = 0; m < members; m++)
        w->value[m] = 1000 + m * m;
}

/* The model of spec/esp.md: levels of routers, members at the last ones in turn. */
static inline void make_tree(struct world *w, uint32_t levels, uint32_t fanout, uint32_t members,
                             uint64_t seed)
{
    uint32_t routers = 0, first_leaf = 0, width = 1;
    for (uint32_t i = 0; i < levels; i++, width *= fanout) {
        first_leaf = routers;
        routers += width;
    }
    begin_world(w, routers, members, seed);
    for (uint32_t r = 1; r < routers; r++)
        join(w, r, (r - 1) / fanout, ms);
    for (uint32_t m = 0; m < members; m++)
        w->member_at[m] = first_leaf + m % (routers - first_leaf);
}

/* Any connected graph, members anywhere. */
static inline void draw_graph(struct world *w, struct leat_random *r)
{
    const uint32_t routers = 1 + (uint32_t)leat_random_below(r, 40);
    const uint32_t members = 1 + (uint32_t)leat_random_below(r, 80);
    begin_world(w, routers, members, leat_random_next(r));
    for (uint32_t i = 1; i < routers; i++) {
        const uint32_t to = (uint32_t)leat_random_below(r, i);
        join(w, i, to, ms / 2 + leat_random_below(r, ms));
    }
    for (uint32_t i = 0; i < routers / 2; i++) {
        const uint32_t from = (uint32_t)leat_random_below(r, routers),
                       to = (uint32_t)leat_random_below(r, routers);
        join(w, from, to, ms / 2 + leat_random_below(r, ms));
    }
    w->config.graph.root = (uint32_t)leat_random_below(r, routers);
    for (uint32_t m = 0; m < w->config.members; m++) {
        w->member_at[m] = (uint32_t)leat_random_below(r, routers);
        w->value[m] = leat_random_next(r);
        w->value[m] >>= leat_random_below(r, 64);
    }
}

static inline void open_world(struct world *w)
{
    struct leat_text why = LEAT_TEXT(128);
    void *scratch = malloc(leat_sim_esp_paths_footprint(&w->config.graph));
    EQ(leat_sim_esp_check(&w->config, scratch, &why), LEAT_ERR_OK);
    free(scratch);
    w->memory = malloc(leat_sim_esp_footprint(&w->config));
    leat_sim_esp_init(&w->sim, &w->config, w->memory);
    w->settle = (leat_sim_esp_settle(&w->sim) + us - 1) / us * us;
}

static inline void make_faulty(struct world *w)
{
    w->config.loss = w->config.duplicate = w->config.reorder = UINT64_MAX / 10;
}

/* ---- services -------------------------------------------------------------------------------- */

static const enum leat_esp_announced kinds[] = { LEAT_ESP_SERVICE_CENSUS, LEAT_ESP_SERVICE_MAX,
                                                 LEAT_ESP_SERVICE_MIN, LEAT_ESP_SERVICE_SUM,
                                                 LEAT_ESP_SERVICE_AVERAGE };

static inline struct leat_esp_request a_request(const struct world *w, enum leat_esp_announced kind,
                                                bool robust, uint32_t rounds)
{
    const bool is_faulty = w->config.loss != 0;
    return (struct leat_esp_request){ .kind = kind,
                                      .robust = robust,
                                      .value_bits = 64,
                                      .rounds = rounds,
                                      .attempts = 1,
                                      .copies = is_faulty ? 8 : 1,
                                      .settle_ps = w->settle,
                                      .gap_ps = w->settle };
}

static inline const struct leat_esp_service_result *serve(struct world *w,
                                                          const struct leat_esp_request *request)
{
    struct leat_text why = LEAT_TEXT(256);
    const leat_err err = leat_sim_esp_ask(&w->sim, request, &why);
    EQ(err, LEAT_ERR_OK);
    if (err) printf("# %.*s\n", (int)why.len, why.buf);
    OK(!leat_sim_esp_run(&w->sim, LEAT_NEVER));
    OK(!w->sim.is_full);
    return &w->sim.service.result;
}

static inline uint64_t truth_of(const struct world *w, enum leat_esp_announced kind)
{
    uint64_t sum = 0, max = w->value[0], min = w->value[0];
    for (uint32_t m = 0; m < w->config.members; m++) {
        sum += w->value[m];
        if (w->value[m] > max) max = w->value[m];
        if (w->value[m] < min) min = w->value[m];
    }
    if (kind == LEAT_ESP_SERVICE_CENSUS) return w->config.members;
    if (kind == LEAT_ESP_SERVICE_MAX) return max;
    return kind == LEAT_ESP_SERVICE_MIN ? min : sum;
}

/* ---- the tree map ---------------------------------------------------------------------------- */

/* The router above another one; the root's has none. */
static inline uint32_t above(const struct world *w, uint32_t router)
{
    return w->wire[w->sim.paths.up[router]].to;
}

/* Each member and each router with members below is below the right one, which has so many. */
static inline void check_map(const struct world *w)
{
    const struct leat_esp_map *map = &w->sim.service.map;
    uint32_t children[ROUTERS_MAX] = { 0 }, nodes = 1;
    for (uint32_t m = 0; m < w->config.members; m++) {
        const uint32_t parent = leat_esp_map_parent(map, w->sim.member[m].config.id);
        OK(parent != LEAT_ESP_MAP_NONE);
        if (parent == LEAT_ESP_MAP_NONE) return;
        EQ(leat_sim_esp_router_of(&map->node[parent].address), w->member_at[m]);
        uint32_t at = w->member_at[m];
        while (children[at]++ == 0 && at != w->config.graph.root)
            at = above(w, at);
    }
    for (uint32_t r = 0; r < w->config.graph.routers; r++)
        nodes += children[r] != 0;
    EQ(map->nodes, nodes);
    EQ(map->node[0].children, 1);
    for (uint32_t n = 1; n < map->nodes; n++) {
        const uint32_t router = leat_sim_esp_router_of(&map->node[n].address);
        const uint32_t parent = leat_esp_map_parent(map, map->node[n].id);
        EQ(map->node[n].id, w->sim.store[router].node.id);
        EQ(map->node[n].children, children[router]);
        if (router == w->config.graph.root)
            EQ(parent, 0);
        else
            EQ(leat_sim_esp_router_of(&map->node[parent].address), above(w, router));
    }
}

#endif
