/* Any graph, given as its edges. */
#include "net_topology_parts.h"
#include "sim_refuse.h"

static leat_err check_edge(const struct leat_net_shape *shape, const struct leat_net_edge *edge,
                           struct leat_text *why)
{
    const char between = edge->one_way ? '>' : '-';
    if (edge->a >= shape->routers || edge->b >= shape->routers)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "edge %u%c%u, expected routers 0 to %u",
                               edge->a, between, edge->b, shape->routers - 1);
    if (edge->a == edge->b)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "edge %u%c%u, expected two different routers",
                               edge->a, between, edge->b);
    if (edge->cycles > LEAT_NET_WIRE_CYCLES_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "edge %u%c%u is too long, expected cycles up to %u", edge->a,
                               between, edge->b, LEAT_NET_WIRE_CYCLES_MAX);
    return LEAT_ERR_OK;
}

static leat_err check_terminal(const struct leat_net_shape *shape, uint32_t terminal,
                               struct leat_text *why)
{
    if (shape->terminal_at[terminal] < shape->routers) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE,
                           "terminal %u at router %u, expected routers 0 to %u", terminal,
                           shape->terminal_at[terminal], shape->routers - 1);
}

/* A count that must be within limits before anything is read. */
static leat_err check_count(uint32_t count, const char *what, uint32_t least, uint32_t most,
                            struct leat_text *why)
{
    if (count >= least && count <= most) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u%s, expected %u to %u", count, what, least,
                           most);
}

leat_err leat_net_graph_check(const struct leat_net_shape *shape, struct leat_text *why)
{
    leat_err err = check_count(shape->routers, " routers", 1, LEAT_NET_ROUTERS_MAX, why);
    if (!err) err = check_count(shape->edges, " edges", 0, LEAT_NET_PORTS_MAX, why);
    if (!err && shape->terminal_at)
        err = check_count(shape->terminal_count, " terminals", 1, LEAT_NET_TERMINALS_MAX, why);
    for (uint32_t i = 0; !err && i < shape->edges; i++)
        err = check_edge(shape, &shape->edge[i], why);
    for (uint32_t i = 0; !err && shape->terminal_at && i < shape->terminal_count; i++)
        err = check_terminal(shape, i, why);
    return err;
}

uint64_t leat_net_graph_wires(const struct leat_net_shape *shape)
{
    uint64_t wires = 0;
    for (uint32_t i = 0; i < shape->edges; i++)
        wires += shape->edge[i].one_way ? 1 : 2;
    return wires;
}

uint64_t leat_net_graph_terminals(const struct leat_net_shape *shape)
{
    return shape->terminal_at ? shape->terminal_count : (uint64_t)shape->routers * shape->terminals;
}

static uint32_t router_of_terminal(const struct leat_net_shape *shape, uint32_t terminal)
{
    return shape->terminal_at ? shape->terminal_at[terminal] : terminal / shape->terminals;
}

/* ---- ports ---------------------------------------------------------------------------------- */

/* Counts the ports of each router in its place of out_first and in_first. */
static void count_ports(struct leat_net_topology *t)
{
    const struct leat_net_shape *s = &t->shape;
    memset(t->out_first, 0, (t->routers + (size_t)1) * sizeof *t->out_first);
    memset(t->in_first, 0, (t->routers + (size_t)1) * sizeof *t->in_first);
    for (uint32_t i = 0; i < s->edges; i++) {
        const struct leat_net_edge *e = &s->edge[i];
        t->out_first[e->a]++;
        t->in_first[e->b]++;
        if (e->one_way) continue;
        t->out_first[e->b]++;
        t->in_first[e->a]++;
    }
    for (uint32_t i = 0; i < t->terminals; i++) {
        t->out_first[router_of_terminal(s, i)]++;
        t->in_first[router_of_terminal(s, i)]++;
    }
}

/* Turns counts into first ports; returns the largest count, and whose it is. */
static uint32_t add_up(uint32_t *first, uint32_t routers, uint32_t *whose)
{
    uint32_t at = 0, most = 0;
    for (uint32_t r = 0; r <= routers; r++) {
        const uint32_t count = first[r];
        first[r] = at;
        at += count;
        if (count <= most) continue;
        most = count;
        *whose = r;
    }
    return most;
}

leat_err leat_net_graph_number(struct leat_net_topology *t, struct leat_text *why)
{
    uint32_t out_most_at = 0, in_most_at = 0;
    count_ports(t);
    const uint32_t outs = add_up(t->out_first, t->routers, &out_most_at);
    const uint32_t ins = add_up(t->in_first, t->routers, &in_most_at);
    t->radix = outs > ins ? outs : ins;
    if (t->radix <= LEAT_NET_RADIX_MAX) return LEAT_ERR_OK;
    return leat_sim_refuse(why, LEAT_ERR_RANGE, "router %u has %u ports, expected at most %u",
                           outs > ins ? out_most_at : in_most_at, t->radix, LEAT_NET_RADIX_MAX);
}

/* Connecting uses a router's ports one after the other and increments its first port, which ends as
 * the first of the next router. */
static void count_back(uint32_t *first, uint32_t routers)
{
    memmove(first + 1, first, routers * sizeof *first);
    first[0] = 0;
}

void leat_net_wire_graph(struct leat_net_topology *t)
{
    const struct leat_net_shape *s = &t->shape;
    uint32_t *out = t->out_first, *in = t->in_first;
    for (uint32_t i = 0; i < s->edges; i++) {
        const struct leat_net_edge *e = &s->edge[i];
        const uint32_t cycles = e->cycles ? e->cycles : s->wire_cycles;
        leat_net_join_ports(t, out[e->a]++, in[e->b]++, cycles);
        if (!e->one_way) leat_net_join_ports(t, out[e->b]++, in[e->a]++, cycles);
    }
    for (uint32_t i = 0; i < t->terminals; i++) {
        const uint32_t r = router_of_terminal(s, i);
        leat_net_attach_in(t, i, r, 0);
        leat_net_attach_out(t, i, r, 0);
        in[r]++;
        out[r]++;
    }
    count_back(out, t->routers);
    count_back(in, t->routers);
}

/* ---- connected ------------------------------------------------------------------------------ */

/* A router that cannot be reached from router 0, or NONE; backwards: that cannot reach it. */
static uint32_t find_lost(const struct leat_net_topology *t, bool backwards, uint32_t *scratch)
{
    uint32_t *seen = scratch, *queue = scratch + t->routers, head = 0, tail = 0;
    const uint32_t *first = backwards ? t->in_first : t->out_first;
    const uint32_t *port = backwards ? t->in_from : t->out_to;
    const uint32_t *owner = backwards ? t->out_router : t->in_router;
    memset(seen, 0, t->routers * sizeof *seen);
    seen[0] = 1;
    queue[tail++] = 0;
    while (head < tail) {
        const uint32_t r = queue[head++];
        for (uint32_t p = first[r]; p < first[r + 1]; p++) {
            if (port[p] & LEAT_NET_TERMINAL) continue;
            const uint32_t next = owner[port[p]];
            if (seen[next]) continue;
            seen[next] = 1;
            queue[tail++] = next;
        }
    }
    if (tail == t->routers) return LEAT_NET_NONE;
    uint32_t lost = 0;
    while (seen[lost])
        lost++;
    return lost;
}

leat_err leat_net_graph_connected(const struct leat_net_topology *t, uint32_t *scratch,
                                  struct leat_text *why)
{
    const uint32_t forth = find_lost(t, false, scratch);
    const uint32_t back = forth == LEAT_NET_NONE ? find_lost(t, true, scratch) : LEAT_NET_NONE;
    if (forth == LEAT_NET_NONE && back == LEAT_NET_NONE) return LEAT_ERR_OK;
    return leat_sim_refuse(
        why, LEAT_ERR_RANGE,
        "no route from router %u to router %u, expected one from each router to each other",
        forth == LEAT_NET_NONE ? back : 0, forth == LEAT_NET_NONE ? 0 : forth);
}
