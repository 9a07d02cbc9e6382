/* A network with circuits for tests: any fabric, lines of a plan, and all cells that arrived. */
#ifndef LEAT_SIM_ATM_CIRCUITS_WORLD_TEST_H
#define LEAT_SIM_ATM_CIRCUITS_WORLD_TEST_H

#include "sim_atm_circuits.h"
#include "sim_atm_plain_world_test.h"
#include <stddef.h>

enum { WORLD_HEARD_MAX = 1 << 18, WORLD_CYCLE_PS = 50000, WORLD_CELL = LEAT_ATM_CELL_LEN };

struct world {
    struct leat_sim_atm_circuits_config config;
    struct leat_sim_atm_circuits sim;
    struct leat_sim_atm_circuit line[LEAT_SIM_ATM_CIRCUITS_LINES_MAX];
    struct faults_bench bench;
    struct leat_sim_atm_graph graph;
    void *memory[2];
    uint32_t heards;
    struct leat_sim_atm_circuits_heard heard[WORLD_HEARD_MAX]; /* not cleared */
};

static inline void world_hears(void *context, const struct leat_sim_atm_circuits_heard *heard)
{
    struct world *w = context;
    if (w->heards < WORLD_HEARD_MAX) w->heard[w->heards++] = *heard;
}

/* Then add lines, change w->config, and world_open. */
static inline void world_begin(struct world *w, const char *name, uint64_t seed)
{
    memset(w, 0, offsetof(struct world, heard));
    w->config = (struct leat_sim_atm_circuits_config){
        .plain = { .model = LEAT_SIM_ATM_CELL, .seed = seed, .line.seed = seed },
        .line = w->line,
        .heard = world_hears,
        .context = w
    };
    w->memory[0] = plain_world_fabric(name, seed, &w->bench, &w->graph, &w->config.plain.fabric);
}

static inline struct leat_sim_atm_circuit *world_add(struct world *w, uint32_t from, uint32_t to,
                                                     uint64_t rate)
{
    struct leat_sim_atm_circuit *line = &w->line[w->config.lines++];
    *line = (struct leat_sim_atm_circuit){ .kind = LEAT_SIM_ATM_CIRCUIT_CBR,
                                           .from = from,
                                           .to = to,
                                           .rate = rate,
                                           .start = LEAT_NEVER,
                                           .playout = LEAT_NEVER };
    return line;
}

static inline struct leat_sim_atm_circuit *world_speak(struct world *w, uint32_t from, uint32_t to,
                                                       uint64_t rate, leat_time frame)
{
    struct leat_sim_atm_circuit *line = world_add(w, from, to, rate);
    line->kind = LEAT_SIM_ATM_CIRCUIT_VOICE;
    line->channels = 1;
    line->frame = line->playout = frame;
    return line;
}

static inline void world_open(struct world *w)
{
    struct leat_text why = LEAT_TEXT(256);
    uint32_t line = 0;
    EQ(leat_sim_atm_circuits_check(&w->config, &line, &why), LEAT_ERR_OK);
    w->memory[1] = calloc(1, leat_sim_atm_circuits_footprint(&w->config));
    if (!w->memory[1]) abort();
    leat_sim_atm_circuits_init(&w->sim, &w->config, w->memory[1]);
}

static inline void world_run(struct world *w, uint64_t until)
{
    leat_sim_atm_circuits_run(&w->sim, until);
    leat_sim_atm_circuits_settle(&w->sim);
}

static inline void world_close(struct world *w)
{
    free(w->memory[0]);
    free(w->memory[1]);
    free(w->bench.memory);
}

/* Cells that may be anywhere between their ports. */
static inline uint64_t world_under_way(const struct world *w, uint32_t line)
{
    const struct leat_sim_atm_circuits_counts *n = &w->sim.line[line].counts;
    return n->cells_sent - n->cells_delivered - n->cells_lost;
}

#endif
