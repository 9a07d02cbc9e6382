/* A network with monitored connections for tests: any fabric, with faults, and a list of what
 * changed. */
#ifndef LEAT_SIM_ATM_OAM_WORLD_TEST_H
#define LEAT_SIM_ATM_OAM_WORLD_TEST_H

#include "net_plan.h"
#include "sim_atm_faults_test.h"
#include "sim_atm_oam.h"
#include <string.h>

enum { WORLD_PORTS_MAX = 16, WORLD_PAIRS_MAX = 120, WORLD_CHANGES_MAX = 1 << 16 };

struct world {
    struct leat_sim_atm_oam_config config;
    struct leat_sim_atm_oam oam;
    struct leat_sim_atm_oam_pair pair[WORLD_PAIRS_MAX];
    struct faults_bench bench;
    struct leat_sim_atm_graph graph;
    void *memory[3];
    struct leat_sim_atm_oam_change change[WORLD_CHANGES_MAX];
    uint32_t changes;
};

static inline void world_changed(void *context, const struct leat_sim_atm_oam_change *change)
{
    struct world *w = context;
    if (w->changes < WORLD_CHANGES_MAX) w->change[w->changes++] = *change;
}

/* Other switches: "mesh:4/switch=output". */
static inline void world_graph(struct world *w, const char *name, uint64_t seed)
{
    struct leat_net_plan plan;
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_net_plan_parse(name, &plan, &why), LEAT_ERR_OK);
    plan.net.pipeline = 1;
    plan.net.in_order = plan.routing.in_order = true;
    w->bench.memory = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&w->bench.topology, &plan.shape, w->bench.memory, &why),
       LEAT_ERR_OK);
    w->memory[1] = calloc(1, leat_net_routing_footprint(&w->bench.topology, &plan.routing));
    leat_net_faults_init(&w->bench.list);
    w->bench.list.flit_bits = 8 * LEAT_ATM_CELL_LEN;
    w->bench.faults = (struct leat_sim_atm_faults){ &w->bench.list, &w->bench.topology, seed,
                                                    false };
    w->graph = (struct leat_sim_atm_graph){
        .topology = &w->bench.topology,
        .routing = leat_net_routing_init(&w->bench.topology, &plan.routing, w->memory[1]),
        .net = plan.net,
        .seed = seed,
    };
    w->config.fabric = (struct leat_sim_atm_fabric){ .graph = &w->graph };
    leat_atm_clos_init_other(&w->config.fabric.net, w->bench.topology.terminals);
}

/* With all pairs, and continuity checks; then change w->config, add faults, and world_open. */
static inline void world_begin(struct world *w, const char *name, uint64_t seed)
{
    struct leat_text why = LEAT_TEXT(256);
    memset(w, 0, sizeof *w);
    w->config = (struct leat_sim_atm_oam_config){ .model = LEAT_SIM_ATM_CELL,
                                                  .pair = w->pair,
                                                  .checks = true,
                                                  .period = 4000,
                                                  .load_ppm = 200000,
                                                  .seed = seed,
                                                  .changed = world_changed,
                                                  .context = w };
    if (strncmp(name, "clos", 4) == 0 || strncmp(name, "bmx", 3) == 0) {
        EQ(leat_sim_atm_fabric_parse(name, &w->config.fabric, &why), LEAT_ERR_OK);
        faults_begin(&w->bench, &w->config.fabric.net, seed);
    } else {
        world_graph(w, name, seed);
    }
    w->bench.faults.pinned = true;
    w->config.flow.f5 = w->config.fabric.net.header_octets == LEAT_ATM_VC_HEADER;
    for (uint32_t a = 0; a < w->config.fabric.net.ports; a++)
        for (uint32_t b = a + 1; b < w->config.fabric.net.ports; b++)
            w->pair[w->config.pairs++] = (struct leat_sim_atm_oam_pair){ { a, b } };
}

static inline void world_open(struct world *w)
{
    struct leat_text why = LEAT_TEXT(256);
    if (w->bench.list.count) w->config.fabric.faults = &w->bench.faults;
    uint32_t *scratch = calloc(leat_sim_atm_oam_wires(&w->config.fabric), sizeof *scratch);
    EQ(leat_sim_atm_oam_check(&w->config, scratch, &why), LEAT_ERR_OK);
    free(scratch);
    w->memory[0] = calloc(1, leat_sim_atm_oam_footprint(&w->config));
    leat_sim_atm_oam_init(&w->oam, &w->config, w->memory[0]);
}

static inline void world_run(struct world *w, uint64_t until)
{
    leat_sim_atm_oam_run(&w->oam, until);
    leat_sim_atm_oam_settle(&w->oam);
}

static inline void world_close(struct world *w)
{
    for (size_t i = 0; i < sizeof w->memory / sizeof *w->memory; i++)
        free(w->memory[i]);
    free(w->bench.memory);
}

/* All cells that ports and switches sent, and that ports took. */
static inline uint64_t world_sent(const struct world *w)
{
    uint64_t sum = w->oam.counts.users_sent;
    for (unsigned i = 0; i < LEAT_SIM_ATM_OAM_KINDS; i++)
        sum += w->oam.counts.sent[i];
    return sum;
}

static inline uint64_t world_received(const struct world *w)
{
    const struct leat_sim_atm_oam_counts *c = &w->oam.counts;
    uint64_t sum = c->users_received + c->bad + c->unknown;
    for (unsigned i = 0; i < LEAT_SIM_ATM_OAM_KINDS; i++)
        sum += c->received[i];
    return sum;
}

#endif
