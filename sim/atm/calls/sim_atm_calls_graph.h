/*
 * A network of nodes for calls: those of a topology whose wires go both ways, and the ports at
 * them. Switches of the first and the last stage of a Clos network with the same number are one
 * node, because a signalling channel needs both directions: calls between its ports stay in it.
 *
 *   line i, both ways:  link 2i  from the port, or from the lower node, to the other end
 *                       link 2i+1  back
 *   lines 0 .. ports-1 are those of the ports; node n has its links at out_first[n] ..
 */
#ifndef LEAT_SIM_ATM_CALLS_GRAPH_H
#define LEAT_SIM_ATM_CALLS_GRAPH_H

#include "leat_arena.h"
#include "net_topology.h"
#include <leat/time.h>

enum {
    LEAT_SIM_ATM_CALLS_NODES_MAX = 1024,
    LEAT_SIM_ATM_CALLS_PORTS_MAX = 4096,
};

/* A direction of a line. Ends below `nodes` are nodes, the others ports: nodes + port. */
struct leat_sim_atm_calls_link {
    uint32_t from, to;
    uint32_t from_at, to_at; /* its number among the lines of that node; of ports 0 */
    uint32_t slots;          /* of the wire and the switch behind it */
};

struct leat_sim_atm_calls_graph {
    uint32_t nodes, ports, links, diameter; /* diameter: lines between two nodes, at most */
    struct leat_sim_atm_calls_link *link;
    uint32_t *out_first, *out; /* [nodes + 1]; [links]: the link that leaves by each line */
    uint32_t *port_node;
    uint16_t *distance; /* [nodes * nodes] lines between nodes */
};

/* Can it be built? On error `why` has one line for the user. */
leat_err leat_sim_atm_calls_graph_check(const struct leat_net_topology *topology,
                                        struct leat_text *why);

/* Lays and builds it from a topology that was checked; `switch_slots`: a cell takes so long in a
 * node. An arena without memory: only measures. */
void leat_sim_atm_calls_graph_lay(struct leat_sim_atm_calls_graph *graph,
                                  const struct leat_net_topology *topology, uint32_t switch_slots,
                                  struct leat_arena *arena);

/* The number of a line at a node by which the shortest ways to a port go on, from `at` on;
 * LEAT_NET_NONE: no further one. */
uint32_t leat_sim_atm_calls_graph_next(const struct leat_sim_atm_calls_graph *graph, uint32_t node,
                                       uint32_t port, uint32_t at);

static inline uint32_t leat_sim_atm_calls_graph_lines(const struct leat_sim_atm_calls_graph *graph,
                                                      uint32_t node)
{
    return graph->out_first[node + 1] - graph->out_first[node];
}

#endif
