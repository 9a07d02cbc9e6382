#include "sim_atm_calls_graph.h"
#include "sim_refuse.h"
#include <string.h>

#define NONE LEAT_NET_NONE

static bool is_clos(const struct leat_net_topology *t)
{
    return t->shape.kind == LEAT_NET_CLOS;
}

/* r switches of the first stage, m of the second, r of the third. */
static uint32_t node_of(const struct leat_net_topology *t, uint32_t router)
{
    const uint32_t m = t->shape.number[1], r = t->shape.number[2];
    return is_clos(t) && router >= r + m ? router - r - m : router;
}

static uint32_t nodes_of(const struct leat_net_topology *t)
{
    return is_clos(t) ? t->shape.number[1] + t->shape.number[2] : t->routers;
}

/* The node at the other end of an output port; NONE: a port, nothing, or the node itself. */
static uint32_t behind(const struct leat_net_topology *t, uint32_t out)
{
    const uint32_t router = leat_net_behind(t, out), from = node_of(t, t->out_router[out]);
    if (router == NONE) return NONE;
    return node_of(t, router) == from ? NONE : node_of(t, router);
}

/* How many wires lead from the routers of a node to another node? */
static uint32_t wires_between(const struct leat_net_topology *t, uint32_t from, uint32_t to)
{
    uint32_t wires = 0;
    const uint32_t second = is_clos(t) && from < t->shape.number[2]
                                ? from + t->shape.number[1] + t->shape.number[2]
                                : from;
    for (uint32_t o = t->out_first[from]; o < t->out_first[from + 1]; o++)
        wires += behind(t, o) == to;
    for (uint32_t o = t->out_first[second]; second != from && o < t->out_first[second + 1]; o++)
        wires += behind(t, o) == to;
    return wires;
}

leat_err leat_sim_atm_calls_graph_check(const struct leat_net_topology *t, struct leat_text *why)
{
    if (nodes_of(t) > LEAT_SIM_ATM_CALLS_NODES_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u switches, expected at most %u for calls",
                               nodes_of(t), (unsigned)LEAT_SIM_ATM_CALLS_NODES_MAX);
    if (t->terminals > LEAT_SIM_ATM_CALLS_PORTS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u ports, expected at most %u for calls",
                               t->terminals, (unsigned)LEAT_SIM_ATM_CALLS_PORTS_MAX);
    for (uint32_t p = 0; p < t->terminals; p++)
        if (node_of(t, t->in_router[t->terminal_in[p]]) !=
            node_of(t, t->out_router[t->terminal_out[p]]))
            return leat_sim_refuse(why, LEAT_ERR_FIELD,
                                   "port %u sends into one switch and receives from another, "
                                   "expected wires that go both ways, or a Clos network",
                                   p);
    for (uint32_t o = 0; o < t->outs; o++) {
        const uint32_t from = node_of(t, t->out_router[o]), to = behind(t, o);
        if (to != NONE && wires_between(t, from, to) != wires_between(t, to, from))
            return leat_sim_refuse(why, LEAT_ERR_FIELD,
                                   "%u wires from switch %u to switch %u and %u back, expected "
                                   "wires that go both ways, or a Clos network",
                                   wires_between(t, from, to), from, to,
                                   wires_between(t, to, from));
    }
    return LEAT_ERR_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_line(struct leat_sim_atm_calls_graph *g, uint32_t a, uint32_t b, uint32_t slots)
{
    const uint32_t l = g->links;
    g->link[l] = (struct leat_sim_atm_calls_link){ .from = a, .to = b, .slots = slots };
    g->link[l + 1] = (struct leat_sim_atm_calls_link){ .from = b, .to = a, .slots = slots };
    g->links += 2;
}

/* The first wire of `from`, not taken yet, that leads to another node. */
static uint32_t wire_back(const struct leat_net_topology *t, uint32_t from, uint32_t to,
                          const uint32_t *link_of)
{
    uint32_t out = t->out_first[from];
    while (behind(t, out) != to || link_of[out] != NONE)
        out++;
    return out;
}

/* In a Clos network, the higher node of a line is one switch of the middle stage. */
static void add_lines(struct leat_sim_atm_calls_graph *g, const struct leat_net_topology *t,
                      uint32_t switch_slots, uint32_t *link_of)
{
    memset(link_of, 0xff, t->outs * sizeof *link_of);
    for (uint32_t p = 0; p < g->ports; p++) {
        g->port_node[p] = node_of(t, t->out_router[t->terminal_out[p]]);
        link_of[t->terminal_out[p]] = g->links + 1;
        add_line(g, g->nodes + p, g->port_node[p], 1 + switch_slots);
    }
    for (uint32_t o = 0; o < t->outs; o++) {
        const uint32_t from = node_of(t, t->out_router[o]), to = behind(t, o);
        if (to == NONE || from > to) continue;
        link_of[o] = g->links;
        link_of[wire_back(t, to, from, link_of)] = g->links + 1;
        add_line(g, from, to, t->out_cycles[o] + switch_slots);
    }
}

/* Numbers the lines of each node, in the order of its output ports. */
static void number_lines(struct leat_sim_atm_calls_graph *g, const struct leat_net_topology *t,
                         const uint32_t *link_of)
{
    memset(g->out_first, 0, (g->nodes + 1) * sizeof *g->out_first);
    for (uint32_t l = 0; l < g->links; l++)
        if (g->link[l].from < g->nodes) g->out_first[g->link[l].from + 1]++;
    for (uint32_t n = 0; n < g->nodes; n++)
        g->out_first[n + 1] += g->out_first[n];
    for (uint32_t o = 0; o < t->outs; o++) {
        if (link_of[o] == NONE) continue;
        struct leat_sim_atm_calls_link *link = &g->link[link_of[o]];
        for (uint32_t k = g->out_first[link->from]; g->out[k] != NONE; k++)
            link->from_at++;
        g->out[g->out_first[link->from] + link->from_at] = link_of[o];
        g->link[link_of[o] ^ 1].to_at = link->from_at;
    }
}

static void find_distances(struct leat_sim_atm_calls_graph *g, uint32_t *queue)
{
    memset(g->distance, 0xff, (size_t)g->nodes * g->nodes * sizeof *g->distance);
    for (uint32_t root = 0; root < g->nodes; root++) {
        uint16_t *distance = g->distance + (size_t)root * g->nodes;
        uint32_t first = 0, count = 1;
        distance[root] = 0;
        queue[0] = root;
        for (; first < count; first++) {
            const uint32_t n = queue[first];
            g->diameter = (uint32_t)leat_larger(g->diameter, distance[n]);
            for (uint32_t k = g->out_first[n]; k < g->out_first[n + 1]; k++) {
                const uint32_t to = g->link[g->out[k]].to;
                if (to >= g->nodes || distance[to] != UINT16_MAX) continue;
                distance[to] = (uint16_t)(distance[n] + 1);
                queue[count++] = to;
            }
        }
    }
}

void leat_sim_atm_calls_graph_lay(struct leat_sim_atm_calls_graph *g,
                                  const struct leat_net_topology *t, uint32_t switch_slots,
                                  struct leat_arena *arena)
{
    struct leat_sim_atm_calls_graph made = { .nodes = nodes_of(t), .ports = t->terminals };
    const size_t links = 2 * (size_t)t->terminals + t->wires;
    made.link = leat_arena_lay(arena, links, sizeof *made.link);
    made.out_first = leat_arena_lay(arena, made.nodes + 1, sizeof *made.out_first);
    made.out = leat_arena_lay(arena, links, sizeof *made.out);
    made.port_node = leat_arena_lay(arena, made.ports, sizeof *made.port_node);
    made.distance = leat_arena_lay(arena, (size_t)made.nodes * made.nodes, sizeof *made.distance);
    uint32_t *queue = leat_arena_lay(arena, made.nodes, sizeof *queue);
    uint32_t *link_of = leat_arena_lay(arena, t->outs, sizeof *link_of);
    made.links = (uint32_t)links;
    *g = made;
    if (!made.link) return;
    g->links = 0;
    memset(g->out, 0xff, links * sizeof *g->out);
    add_lines(g, t, switch_slots, link_of);
    number_lines(g, t, link_of);
    find_distances(g, queue);
}

/* ---- routes ---------------------------------------------------------------------------------- */

uint32_t leat_sim_atm_calls_graph_next(const struct leat_sim_atm_calls_graph *g, uint32_t node,
                                       uint32_t port, uint32_t at)
{
    const uint32_t target = g->port_node[port];
    const uint16_t *distance = g->distance + (size_t)target * g->nodes;
    const uint32_t lines = leat_sim_atm_calls_graph_lines(g, node);
    for (; at < lines; at++) {
        const uint32_t to = g->link[g->out[g->out_first[node] + at]].to;
        if (node == target ? to == g->nodes + port
                           : to < g->nodes && distance[to] + 1 == distance[node])
            return at;
    }
    return NONE;
}
