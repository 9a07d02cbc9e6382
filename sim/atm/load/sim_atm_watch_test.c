/* What an observer of cells sees: each cell's whole path, and the same run. */
#include "sim_atm_check_load.h"
#include "tap.h"
#include <string.h>

enum { CYCLES = 6000, CELLS_MAX = 1 << 14, LATE = LEAT_SIM_ATM_STRIDE };

struct path {
    uint64_t at; /* the last crossing */
    uint32_t wires, first, last;
    bool is_over;
};

static struct seen {
    struct leat_sim_atm_watch watch;
    const struct leat_sim_atm *sim;
    struct path path[CELLS_MAX];
    uint64_t arrived;
    bool wrong;
} seen;

static void crosses(void *context, uint64_t number, uint32_t wire, uint64_t at)
{
    struct seen *s = context;
    struct path *p = &s->path[number % CELLS_MAX];
    s->wrong |= number >= CELLS_MAX || p->is_over || (p->wires && at <= p->at) ||
                at + LATE < s->sim->now;
    if (!p->wires++) p->first = wire;
    p->last = wire;
    p->at = at;
}

static void arrives(void *context, uint64_t number, uint32_t port, uint64_t now)
{
    struct seen *s = context;
    struct path *p = &s->path[number % CELLS_MAX];
    const uint32_t outs = s->sim->fabric.graph ? s->sim->fabric.graph->topology->outs
                                               : s->sim->fabric.net.spd_count;
    s->wrong |= p->is_over || p->first < outs || p->first >= outs + s->sim->fabric.net.ports ||
                p->last >= outs || now < p->at + LEAT_ATM_CELL_LEN ||
                port >= s->sim->fabric.net.ports;
    p->is_over = true;
    s->arrived++;
}

/* The certificate; with an observer if there is one for this model. */
static uint64_t run(const char *name, enum leat_sim_atm_model model, bool is_watched)
{
    static struct leat_sim_atm_check_load w;
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    void *memory = calloc(1, leat_sim_atm_check_load_footprint(&fabric, model));
    if (!memory) abort();
    leat_sim_atm_check_load_init(&w, &fabric, model, 3, 60, CYCLES, memory);
    seen = (struct seen){ .sim = &w.sim };
    seen.watch = (struct leat_sim_atm_watch){ &seen, crosses, arrives, NULL, 0 };
    if (is_watched) {
        seen.watch.number = calloc(leat_sim_atm_watch_room(&w.sim) + 1, sizeof(uint64_t));
        w.sim.host.stride = NULL;
        leat_sim_atm_observe(&w.sim, &seen.watch);
    }
    leat_sim_atm_check_load_run(&w, CYCLES);
    free(seen.watch.number);
    EQ(seen.arrived, is_watched ? w.delivered : 0);
    OK(w.delivered > 100 && !seen.wrong);
    free(memory);
    return leat_sim_certificate_value(&w.certificate);
}

static void an_observer_sees_every_cell_cross_its_wires_and_changes_nothing(void)
{
    EQ(run("clos444", LEAT_SIM_ATM_CELL, true), run("clos444", LEAT_SIM_ATM_CELL, false));
    uint64_t whole = 0;
    run("clos444", LEAT_SIM_ATM_CELL, true);
    for (uint32_t i = 0; i < CELLS_MAX; i++) /* its port's, two inside, one to a port */
        whole += seen.path[i].is_over && seen.path[i].wires == 4;
    EQ(whole, seen.arrived);
    EQ(run("clos:2,3,4/buffer=1", LEAT_SIM_ATM_CELL, true),
       run("clos:2,3,4/buffer=1", LEAT_SIM_ATM_CELL, false)); /* cells are refused */
}

static void registers_and_lone_cells_cannot_be_observed(void)
{
    static struct leat_sim_atm_check_load w;
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    const enum leat_sim_atm_model models[] = { LEAT_SIM_ATM_RTL, LEAT_SIM_ATM_CELL,
                                               LEAT_SIM_ATM_ALONE };
    EQ(leat_sim_atm_fabric_parse("bmx:4", &fabric, &why), LEAT_ERR_OK);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        void *memory = calloc(1, leat_sim_atm_check_load_footprint(&fabric, models[i]));
        if (!memory) abort();
        leat_sim_atm_check_load_init(&w, &fabric, models[i], 1, 10, 100, memory);
        EQ(leat_sim_atm_can_observe(&w.sim), models[i] == LEAT_SIM_ATM_CELL);
        EQ(leat_sim_atm_watch_room(&w.sim) > 0, models[i] == LEAT_SIM_ATM_CELL);
        free(memory);
    }
}

TAP_MAIN(T(an_observer_sees_every_cell_cross_its_wires_and_changes_nothing),
         T(registers_and_lone_cells_cannot_be_observed))
