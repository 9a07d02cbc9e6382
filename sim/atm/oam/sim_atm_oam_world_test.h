/* A network with monitored connections for tests: any fabric, with faults, and a list of what
 * changed. */
#ifndef LEAT_SIM_ATM_OAM_WORLD_TEST_H
#define LEAT_SIM_ATM_OAM_WORLD_TEST_H

#include "sim_atm_oam.h"
#include "sim_atm_plain_world_test.h"

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

/* With all pairs, and continuity checks; then change w->config, add faults, and world_open. */
static inline void world_begin(struct world *w, const char *name, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->config = (struct leat_sim_atm_oam_config){ .model = LEAT_SIM_ATM_CELL,
                                                  .pair = w->pair,
                                                  .checks = true,
                                                  .period = 4000,
                                                  .load_ppm = 200000,
                                                  .seed = seed,
                                                  .changed = world_changed,
                                                  .context = w };
    w->memory[1] = plain_world_fabric(name, seed, &w->bench, &w->graph, &w->config.fabric);
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
