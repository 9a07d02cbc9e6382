#include "sim_atm.h"
#include "sim_atm_parts.h"

uint32_t leat_sim_atm_link_count(const struct leat_atm_clos *net)
{
    return net->ppd_count + net->ports;
}

/* `wanted`: the model that was asked for. */
static void lay_out(struct leat_sim_atm *sim, enum leat_sim_atm_model wanted,
                    struct leat_arena *arena)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    sim->port = leat_arena_lay_lines(arena, net->ports, sizeof *sim->port);
    sim->link_cells = leat_arena_lay(arena, leat_sim_atm_link_count(net), sizeof *sim->link_cells);
    sim->group = leat_arena_lay(arena, (size_t)sim->fabric.groups * ((net->ports + 63) / 64),
                                sizeof *sim->group);
    leat_sim_atm_faults_lay(sim, arena);
    switch (sim->model) {
    case LEAT_SIM_ATM_RTL: leat_sim_atm_rtl_lay(sim, arena); break;
    case LEAT_SIM_ATM_CELL: leat_sim_atm_cells_lay(sim, arena); break;
    case LEAT_SIM_ATM_ALONE: leat_sim_atm_alone_lay(sim, arena); break;
    case LEAT_SIM_ATM_GRAPH:
        leat_sim_atm_graph_lay(sim, wanted == LEAT_SIM_ATM_ALONE, arena);
        break;
    }
}

static enum leat_sim_atm_model model_of(const struct leat_sim_atm_fabric *fabric,
                                        enum leat_sim_atm_model wanted)
{
    assert(!fabric->graph || wanted != LEAT_SIM_ATM_RTL);
    return fabric->graph ? LEAT_SIM_ATM_GRAPH : wanted;
}

size_t leat_sim_atm_footprint(const struct leat_sim_atm_fabric *fabric,
                              enum leat_sim_atm_model model)
{
    struct leat_sim_atm sim = { .fabric = *fabric, .model = model_of(fabric, model) };
    struct leat_arena arena = { 0 };
    lay_out(&sim, model, &arena);
    return arena.used;
}

void leat_sim_atm_init(struct leat_sim_atm *sim, const struct leat_sim_atm_fabric *fabric,
                       enum leat_sim_atm_model model, const struct leat_sim_atm_host *host,
                       void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *sim =
        (struct leat_sim_atm){ .fabric = *fabric, .model = model_of(fabric, model), .host = *host };
    lay_out(sim, model, &arena);
    for (uint32_t p = 0; p < fabric->net.ports; p++) {
        struct leat_sim_atm_port *port = &sim->port[p];
        port->act_at = port->send_at = LEAT_NEVER;
        port->refused_at = port->check_at = LEAT_NEVER;
        port->arrival[0].at = port->arrival[1].at = LEAT_NEVER;
        port->part = leat_sim_atm_fabric_part_of(
            fabric, 0, p / (fabric->net.ports / fabric->net.stage[0].switch_count));
    }
    if (sim->model == LEAT_SIM_ATM_RTL) leat_sim_atm_rtl_init(sim);
    if (sim->model == LEAT_SIM_ATM_CELL) leat_sim_atm_cells_init(sim);
}

void leat_sim_atm_lend_crew(struct leat_sim_atm *sim, const struct leat_sim_atm_crew *crew)
{
    sim->crew = *crew;
}

bool leat_sim_atm_can_observe(const struct leat_sim_atm *sim)
{
    return sim->model == LEAT_SIM_ATM_CELL ||
           (sim->model == LEAT_SIM_ATM_GRAPH && !leat_sim_atm_graph_is_alone(sim));
}

size_t leat_sim_atm_watch_room(const struct leat_sim_atm *sim)
{
    return sim->model == LEAT_SIM_ATM_CELL ? leat_sim_atm_cells_max(sim) : 0;
}

void leat_sim_atm_observe(struct leat_sim_atm *sim, struct leat_sim_atm_watch *watch)
{
    assert(leat_sim_atm_can_observe(sim) && !sim->host.stride);
    sim->watch = watch;
    if (sim->model == LEAT_SIM_ATM_GRAPH) leat_sim_atm_graph_observe(sim);
}

void leat_sim_atm_hurry(struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    if (sim->model == LEAT_SIM_ATM_CELL) leat_sim_atm_cells_wake(sim, port, at);
    if (sim->model == LEAT_SIM_ATM_ALONE) leat_sim_atm_alone_wake(sim, port, at);
    if (sim->model == LEAT_SIM_ATM_GRAPH) leat_sim_atm_graph_wake(sim, port, at);
}

void leat_sim_atm_send(struct leat_sim_atm *sim, uint32_t port, const uint8_t *cell, uint64_t at)
{
    if (sim->model != LEAT_SIM_ATM_CELL) sim->port[port].send_at = at;
    switch (sim->model) {
    case LEAT_SIM_ATM_RTL: memcpy(sim->port[port].out, cell, CELL_LEN); break;
    case LEAT_SIM_ATM_CELL: leat_sim_atm_cells_send(sim, port, cell, at); break;
    case LEAT_SIM_ATM_ALONE: leat_sim_atm_alone_send(sim, cell, at); break;
    case LEAT_SIM_ATM_GRAPH:
        memcpy(sim->port[port].out, cell, CELL_LEN);
        leat_sim_atm_graph_send(sim, port, at);
        break;
    }
}

const uint8_t *leat_sim_atm_sent(const struct leat_sim_atm *sim, uint32_t port)
{
    return sim->model == LEAT_SIM_ATM_CELL ? leat_sim_atm_cells_sent(sim, port)
                                           : sim->port[port].out;
}

void leat_sim_atm_set_group(struct leat_sim_atm *sim, uint32_t group, const uint64_t *members)
{
    const size_t words = (sim->fabric.net.ports + 63) / 64;
    assert(group < sim->fabric.groups);
    if (sim->model == LEAT_SIM_ATM_CELL) leat_sim_atm_cells_before_tables(sim);
    memcpy(leat_sim_atm_group(sim, group), members, words * sizeof *members);
    if (sim->model == LEAT_SIM_ATM_RTL) leat_sim_atm_rtl_set_group(sim, group);
}

bool leat_sim_atm_route(const struct leat_sim_atm *sim, uint32_t ppd, uint32_t label,
                        struct leat_atm_route *out)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const uint32_t group = leat_atm_clos_group(net, ppd, label);
    if (group == LEAT_ATM_CLOS_NONE) return leat_atm_clos_route(net, ppd, label, out);
    if (group >= sim->fabric.groups) return false;
    leat_atm_clos_group_route(net, ppd, label, leat_sim_atm_group(sim, group), out);
    return true;
}

static void run_model(struct leat_sim_atm *sim, uint64_t until)
{
    switch (sim->model) {
    case LEAT_SIM_ATM_RTL: leat_sim_atm_rtl_run(sim, until); break;
    case LEAT_SIM_ATM_CELL: leat_sim_atm_cells_run(sim, until); break;
    case LEAT_SIM_ATM_ALONE: leat_sim_atm_alone_run(sim, until); break;
    case LEAT_SIM_ATM_GRAPH: leat_sim_atm_graph_run(sim, until); break;
    }
}

static void apply_faults(struct leat_sim_atm *sim)
{
    if (sim->model == LEAT_SIM_ATM_CELL) leat_sim_atm_cells_before_tables(sim);
    leat_sim_atm_faults_apply(sim, sim->now);
    if (sim->model == LEAT_SIM_ATM_CELL) leat_sim_atm_cells_set_faults(sim);
}

/* From one change of faults to the next. */
void leat_sim_atm_run(struct leat_sim_atm *sim, uint64_t until)
{
    uint64_t end = until;
    do {
        if (sim->faulty) {
            if (sim->faulty->player.next_at <= sim->now) apply_faults(sim);
            end = leat_smaller(until, sim->faulty->player.next_at);
        }
        run_model(sim, end);
    } while (end < until && !sim->pauses);
}

uint64_t leat_sim_atm_link_cells(const struct leat_sim_atm *sim, uint32_t link)
{
    if (link < sim->fabric.net.ppd_count) {
        const uint64_t cut = sim->faulty ? leat_sim_atm_faults_cut(sim, link) : 0;
        if (sim->model == LEAT_SIM_ATM_RTL) return leat_sim_atm_rtl_accepted(sim, link) - cut;
        if (sim->model == LEAT_SIM_ATM_CELL) return leat_sim_atm_cells_accepted(sim, link) - cut;
    }
    return sim->link_cells[link];
}
