/*
 * Switches that watch their wires, and send cells of their own behind broken ones:
 *
 *     switch A                          switch B
 *       SPD ------- wire X broken -----> PPD ---> crosspoint memory ---> SPD ---> ...
 *                                         ^ insert: a whole cell, behind the translation
 *
 * Both models of bus matrices take the cell between two cycles, as if its check had ended the last
 * one. Nothing that the wire carried is being written then: the wire is silent for long enough.
 */
#include "sim_atm_labels.h"
#include "sim_atm_parts.h"

uint32_t leat_sim_atm_wires_between(const struct leat_sim_atm_fabric *fabric)
{
    return fabric->graph ? fabric->graph->topology->outs : fabric->net.spd_count;
}

uint32_t leat_sim_atm_way(const struct leat_sim_atm_fabric *fabric, uint32_t from, uint32_t to,
                          uint32_t path, uint32_t wire[LEAT_SIM_ATM_WAY_MAX])
{
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    uint32_t count = 0;
    wire[count++] = leat_sim_atm_wires_between(fabric) + from;
    if (fabric->graph) {
        const uint32_t more = leat_sim_atm_labels_way(fabric->graph, from, to, wire + count,
                                                      LEAT_SIM_ATM_WAY_MAX - 1);
        return more == LEAT_NET_NONE ? 0 : count + more;
    }
    leat_atm_clos_path(&fabric->net, from, to, path, false, hop);
    for (uint32_t i = 0; i + 1 < fabric->net.stages; i++)
        wire[count++] = hop[i].spd;
    return count;
}

bool leat_sim_atm_is_silent(const struct leat_sim_atm *sim, uint32_t wire)
{
    if (sim->model == LEAT_SIM_ATM_GRAPH) return leat_sim_atm_graph_is_silent(sim, wire);
    return sim->faulty && leat_sim_atm_faults_is_silent(sim, wire);
}

/* The hop whose switch is behind the wire. */
static uint32_t stage_behind(const struct leat_sim_atm *sim, uint32_t wire)
{
    if (wire >= leat_sim_atm_wires_between(&sim->fabric)) return 0;
    return leat_atm_clos_spd_place(&sim->fabric.net, wire).stage + 1;
}

bool leat_sim_atm_insert(struct leat_sim_atm *sim, uint32_t wire, uint32_t from, uint32_t to,
                         uint32_t path, const uint8_t *cell)
{
    struct leat_atm_clos_hop hops[LEAT_ATM_CLOS_STAGES_MAX];
    uint8_t octets[CELL_LEN];
    struct leat_atm_route route = { 0 };
    if (sim->model == LEAT_SIM_ATM_GRAPH)
        return leat_sim_atm_graph_insert(sim, wire, from, to, cell);
    if (!sim->faulty || leat_sim_atm_faults_reroutes(sim, from, to)) return false;
    leat_atm_clos_path(&sim->fabric.net, from, to, path, false, hops);
    const struct leat_atm_clos_hop *hop = &hops[stage_behind(sim, wire)];
    leat_sim_atm_route(sim, hop->ppd, hop->label, &route);
    memcpy(octets, cell, sizeof octets);
    leat_atm_label_put(octets, sim->fabric.net.header_octets, route.label);
    return sim->model == LEAT_SIM_ATM_RTL
               ? leat_sim_atm_rtl_insert(sim, hop->ppd, route.select, octets)
               : leat_sim_atm_cells_insert(sim, hop->ppd, route.select, octets);
}
