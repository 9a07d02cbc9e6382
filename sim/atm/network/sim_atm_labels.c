#include "sim_atm_labels.h"
#include "leat_arena.h"
#include "sim_refuse.h"
#include <leat/random.h>

uint64_t leat_sim_atm_route_random(const struct leat_sim_atm_graph *graph, uint32_t from,
                                   uint32_t to)
{
    uint64_t random = graph->seed ^ ((uint64_t)from << 32 | to);
    return leat_random_splitmix(&random);
}

/* ---- a route --------------------------------------------------------------------------------- */

/* A cell on its way. */
struct walk {
    const struct leat_sim_atm_graph *graph;
    struct leat_net_route route;
    uint32_t in, out; /* of the router that it has reached */
    uint32_t channels;
};

/* The next router. False: it has left the network; or `is_one` is not set: there is a choice. */
static bool step(struct walk *w, uint32_t ahead, bool *is_one)
{
    const struct leat_net_topology *t = w->graph->topology;
    struct leat_net_option option[LEAT_NET_OPTIONS_MAX];
    *is_one = true;
    if (ahead & LEAT_NET_TERMINAL) return false;
    const uint32_t router = t->in_router[ahead];
    *is_one = leat_net_route_options(w->graph->routing, router, &w->route, option) == 1;
    if (!*is_one) return false;
    w->in = ahead;
    w->out = t->out_first[router] + option[0].port;
    w->route.phase = option[0].phase;
    w->channels = option[0].channels;
    return true;
}

static struct walk begin(const struct leat_sim_atm_graph *g, uint32_t from, uint32_t to)
{
    struct walk w = { .graph = g, .out = LEAT_NET_NONE };
    leat_net_route_begin(g->routing, from, to, leat_sim_atm_route_random(g, from, to), &w.route);
    return w;
}

/* Routers on the route; 0: there is a choice. */
static uint32_t count_hops(const struct leat_sim_atm_graph *g, uint32_t from, uint32_t to)
{
    struct walk w = begin(g, from, to);
    uint32_t hops = 0, ahead = g->topology->terminal_in[from];
    bool is_one;
    for (; step(&w, ahead, &is_one); hops++)
        ahead = g->topology->out_to[w.out];
    return is_one ? hops : 0;
}

uint32_t leat_sim_atm_labels_way(const struct leat_sim_atm_graph *graph, uint32_t from, uint32_t to,
                                 uint32_t *wire, uint32_t cap)
{
    const struct leat_net_topology *t = graph->topology;
    struct walk w = begin(graph, from, to);
    uint32_t count = 0, ahead = t->terminal_in[from];
    bool is_one;
    while (step(&w, ahead, &is_one)) {
        ahead = t->out_to[w.out];
        if (ahead & LEAT_NET_TERMINAL) continue;
        if (count == cap) return LEAT_NET_NONE;
        wire[count++] = w.out;
    }
    return is_one ? count : LEAT_NET_NONE;
}

bool leat_sim_atm_labels_cross(const struct leat_sim_atm_graph *graph, uint32_t from, uint32_t to,
                               uint32_t wire, struct leat_net_route *route, uint32_t *channels)
{
    const struct leat_net_topology *t = graph->topology;
    struct walk w = begin(graph, from, to);
    uint32_t ahead = t->terminal_in[from], hops = 0;
    bool is_one;
    while (hops++ < t->routers && step(&w, ahead, &is_one) && w.out != wire)
        ahead = t->out_to[w.out];
    if (w.out != wire) return false;
    *route = w.route;
    *channels = w.channels;
    return true;
}

leat_err leat_sim_atm_labels_measure(const struct leat_sim_atm_graph *graph, uint32_t *entries,
                                     struct leat_text *why)
{
    const uint32_t ports = graph->topology->terminals;
    uint64_t sum = 0;
    if (ports > LEAT_SIM_ATM_LABELS_PORTS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u ports, expected at most %u for labels",
                               ports, (unsigned)LEAT_SIM_ATM_LABELS_PORTS_MAX);
    for (uint32_t from = 0; from < ports; from++)
        for (uint32_t to = 0; to < ports; to++) {
            const uint32_t hops = count_hops(graph, from, to);
            sum += hops;
            if (!hops)
                return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                       "routers choose a wire for each cell, expected a routing "
                                       "with one route from port to port");
            if (sum > LEAT_SIM_ATM_LABELS_MAX)
                return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                       "more than %u labels, expected a network with fewer ports "
                                       "or shorter routes",
                                       (unsigned)LEAT_SIM_ATM_LABELS_MAX);
        }
    *entries = (uint32_t)sum;
    return LEAT_ERR_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void lay(struct leat_sim_atm_labels *l, struct leat_arena *arena)
{
    const struct leat_net_topology *t = l->graph->topology;
    l->links = t->ins + t->terminals;
    l->count = leat_arena_lay(arena, l->links, sizeof *l->count);
    l->first = leat_arena_lay(arena, t->ins, sizeof *l->first);
    l->entry = leat_arena_lay(arena, l->entries, sizeof *l->entry);
    l->access = leat_arena_lay(arena, (size_t)t->terminals * t->terminals, sizeof *l->access);
}

size_t leat_sim_atm_labels_footprint(const struct leat_sim_atm_graph *graph, uint32_t entries)
{
    struct leat_arena arena = { 0 };
    struct leat_sim_atm_labels l = { .graph = graph, .entries = entries };
    lay(&l, &arena);
    return arena.used;
}

uint32_t leat_sim_atm_labels_link(const struct leat_sim_atm_labels *labels, uint32_t out)
{
    const struct leat_net_topology *t = labels->graph->topology;
    const uint32_t to = t->out_to[out];
    return to & LEAT_NET_TERMINAL ? t->ins + (to & ~LEAT_NET_TERMINAL) : to;
}

/* Gives a connection the next label of each link; with tables, writes their entries, too. */
static void connect(struct leat_sim_atm_labels *l, uint32_t from, uint32_t to, bool has_tables)
{
    const struct leat_net_topology *t = l->graph->topology;
    struct walk w = begin(l->graph, from, to);
    uint32_t ahead = t->terminal_in[from];
    uint32_t number = l->count[ahead]++;
    bool is_one;
    l->access[(size_t)from * t->terminals + to] = number;
    while (step(&w, ahead, &is_one)) {
        const uint32_t next = l->count[leat_sim_atm_labels_link(l, w.out)]++;
        if (has_tables)
            l->entry[l->first[w.in] + number] = (struct leat_sim_atm_label_entry){ w.out, next };
        number = next;
        ahead = t->out_to[w.out];
    }
}

static void connect_all(struct leat_sim_atm_labels *l, bool has_tables)
{
    const uint32_t ports = l->graph->topology->terminals;
    for (uint32_t i = 0; i < l->links; i++)
        l->count[i] = 0;
    for (uint32_t from = 0; from < ports; from++)
        for (uint32_t to = 0; to < ports; to++)
            connect(l, from, to, has_tables);
}

/* First counts the labels of each link, so that tables can stand one behind the other. */
void leat_sim_atm_labels_init(struct leat_sim_atm_labels *labels,
                              const struct leat_sim_atm_graph *graph, uint32_t entries,
                              void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    uint32_t used = 0;
    *labels = (struct leat_sim_atm_labels){ .graph = graph, .entries = entries };
    lay(labels, &arena);
    connect_all(labels, false);
    for (uint32_t link = 0; link < labels->links; link++) {
        if (labels->count[link] > labels->longest) labels->longest = labels->count[link];
        if (link >= graph->topology->ins) continue;
        labels->first[link] = used;
        used += labels->count[link];
    }
    connect_all(labels, true);
}
