/* Fabrics for tests of plain ports, by name: bus matrices, and other switches as "mesh:4". */
#ifndef LEAT_SIM_ATM_PLAIN_WORLD_TEST_H
#define LEAT_SIM_ATM_PLAIN_WORLD_TEST_H

#include "net_plan.h"
#include "sim_atm_faults_test.h"
#include <string.h>

/* Other switches: "mesh:4/switch=output". Returns the memory of their routing, for free(). */
static inline void *plain_world_graph(const char *name, uint64_t seed, struct faults_bench *bench,
                                      struct leat_sim_atm_graph *graph,
                                      struct leat_sim_atm_fabric *fabric)
{
    struct leat_net_plan plan;
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_net_plan_parse(name, &plan, &why), LEAT_ERR_OK);
    plan.net.pipeline = 1;
    plan.net.in_order = plan.routing.in_order = true;
    bench->memory = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&bench->topology, &plan.shape, bench->memory, &why), LEAT_ERR_OK);
    void *memory = calloc(1, leat_net_routing_footprint(&bench->topology, &plan.routing));
    leat_net_faults_init(&bench->list);
    bench->list.flit_bits = 8 * LEAT_ATM_CELL_LEN;
    bench->faults = (struct leat_sim_atm_faults){ &bench->list, &bench->topology, seed, false };
    *graph = (struct leat_sim_atm_graph){
        .topology = &bench->topology,
        .routing = leat_net_routing_init(&bench->topology, &plan.routing, memory),
        .net = plan.net,
        .seed = seed,
    };
    *fabric = (struct leat_sim_atm_fabric){ .graph = graph,
                                            .period_ps_num = LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS,
                                            .period_ps_den = 1 };
    leat_atm_clos_init_other(&fabric->net, bench->topology.terminals);
    return memory;
}

/* Any. Free what it returns, and the bench's memory. */
static inline void *plain_world_fabric(const char *name, uint64_t seed, struct faults_bench *bench,
                                       struct leat_sim_atm_graph *graph,
                                       struct leat_sim_atm_fabric *fabric)
{
    struct leat_text why = LEAT_TEXT(256);
    void *memory = NULL;
    if (strncmp(name, "clos", 4) == 0 || strncmp(name, "bmx", 3) == 0) {
        EQ(leat_sim_atm_fabric_parse(name, fabric, &why), LEAT_ERR_OK);
        faults_begin(bench, &fabric->net, seed);
    } else
        memory = plain_world_graph(name, seed, bench, graph, fabric);
    bench->faults.pinned = true;
    return memory;
}

#endif
