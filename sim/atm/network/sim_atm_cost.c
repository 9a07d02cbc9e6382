#include "sim_atm_cost.h"

static void add_stage(const struct leat_atm_clos_stage *stage, uint32_t buffer_cells,
                      struct leat_net_cost *out)
{
    const uint64_t crosspoints = (uint64_t)stage->switch_count * stage->inputs * stage->outputs;
    out->crosspoints += crosspoints;
    out->buffer_flits += crosspoints * buffer_cells;
    out->wires += (uint64_t)stage->switch_count * stage->inputs; /* those into its switches */
}

struct leat_net_cost leat_sim_atm_cost(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_sim_atm_graph *graph = fabric->graph;
    struct leat_net_cost cost = { .wires = fabric->net.ports, .memory_flits = 2 };
    if (graph)
        leat_net_cost(graph->topology, &graph->net, &cost);
    else
        for (uint32_t s = 0; s < fabric->net.stages; s++)
            add_stage(&fabric->net.stage[s], fabric->buffer_cells, &cost);
    return cost;
}
