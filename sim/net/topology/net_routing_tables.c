/* Routing by search: tables with a row per goal, and their update when wires break. */
#include "net_routing_parts.h"
#include <string.h>

/* Distances are below this, so they and router numbers fit an entry. */
_Static_assert(LEAT_NET_TABLE_ROUTERS_MAX < LEAT_NET_NONE16, "an entry holds a router's number");

static inline const uint16_t *row_of(const struct leat_net_routing *routing, const uint16_t *table,
                                     uint32_t goal)
{
    return table + (size_t)goal * routing->topology->routers;
}

static inline bool is_broken(const uint8_t *broken, uint32_t out)
{
    return broken && broken[out];
}

/* ---- shortest ways -------------------------------------------------------------------------- */

void leat_net_distances_to(const struct leat_net_topology *topology, const uint8_t *broken,
                           uint32_t goal, uint16_t *distance, uint16_t *queue)
{
    const struct leat_net_topology *t = topology;
    uint32_t head = 0, tail = 0;
    memset(distance, 0xff, t->routers * sizeof *distance);
    distance[goal] = 0;
    queue[tail++] = (uint16_t)goal;
    while (head < tail) {
        const uint32_t r = queue[head++];
        for (uint32_t i = t->in_first[r]; i < t->in_first[r + 1]; i++) {
            const uint32_t out = t->in_from[i];
            if (out & LEAT_NET_TERMINAL || is_broken(broken, out)) continue;
            const uint32_t before = t->out_router[out];
            if (distance[before] != LEAT_NET_NONE16) continue;
            distance[before] = (uint16_t)(distance[r] + 1);
            queue[tail++] = (uint16_t)before;
        }
    }
}

uint16_t leat_net_nearest_port(const struct leat_net_topology *topology, const uint8_t *broken,
                               uint32_t router, const uint16_t *distance)
{
    const struct leat_net_topology *t = topology;
    const uint32_t first = t->out_first[router];
    if (distance[router] == LEAT_NET_NONE16 || distance[router] == 0) return LEAT_NET_NONE16;
    for (uint32_t o = first; o < t->out_first[router + 1]; o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next == LEAT_NET_NONE || is_broken(broken, o)) continue;
        if (distance[next] + 1 == distance[router]) return (uint16_t)(o - first);
    }
    return LEAT_NET_NONE16;
}

static void fill_near(struct leat_net_routing *routing, uint16_t *near, const uint8_t *broken)
{
    const uint32_t routers = routing->topology->routers;
    for (uint32_t goal = 0; goal < routers; goal++)
        leat_net_distances_to(routing->topology, broken, goal, near + (size_t)goal * routers,
                              routing->scratch);
}

static void fill_port_row(struct leat_net_routing *routing, uint32_t goal, const uint8_t *broken,
                          uint16_t *row)
{
    const struct leat_net_topology *t = routing->topology;
    uint16_t *queue = routing->scratch, *distance = queue + t->routers;
    leat_net_distances_to(t, broken, goal, distance, queue);
    for (uint32_t r = 0; r < t->routers; r++)
        row[r] = leat_net_nearest_port(t, broken, r, distance);
}

static void fill_ports(struct leat_net_routing *routing)
{
    const uint32_t routers = routing->topology->routers;
    uint16_t *port = routing->intact.port;
    for (uint32_t goal = 0; goal < routers; goal++)
        fill_port_row(routing, goal, NULL, port + (size_t)goal * routers);
    for (uint32_t i = 0; i < routing->config.entries; i++) {
        const struct leat_net_route_entry *e = &routing->config.entry[i];
        port[(size_t)e->to * routers + e->router] = (uint16_t)e->port;
    }
}

/* A row without broken wires is kept. Others are searched anew, because lines of a table combined
 * with detours could form a cycle. */
static void fill_ports_round(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    for (uint32_t goal = 0; goal < t->routers; goal++) {
        const uint16_t *intact = row_of(routing, routing->intact.port, goal);
        uint16_t *row = routing->detour.port + (size_t)goal * t->routers;
        bool hurt = false;
        for (uint32_t r = 0; r < t->routers && !hurt; r++)
            hurt = intact[r] != LEAT_NET_NONE16 && routing->broken[t->out_first[r] + intact[r]];
        if (hurt)
            fill_port_row(routing, goal, routing->broken, row);
        else
            memcpy(row, intact, t->routers * sizeof *row);
    }
}

/* ---- up and down ---------------------------------------------------------------------------- */

/* Levels of a breadth-first tree from router 0; in fat trees the top is level 0. Every router has
 * one, because graphs are connected. */
static void find_levels(struct leat_net_routing *routing, uint16_t *level)
{
    const struct leat_net_topology *t = routing->topology;
    if (t->shape.kind != LEAT_NET_FATTREE) {
        leat_net_distances_to(t, NULL, 0, level, routing->scratch);
        return;
    }
    for (uint32_t r = 0; r < t->routers; r++)
        level[r] = (uint16_t)(t->shape.number[1] - 1 - routing->level[r]);
}

/* Ranks by level, then by number: the prefix sum of the routers per level is where each begins. */
static void find_ranks(struct leat_net_routing *routing)
{
    const uint32_t routers = routing->topology->routers;
    uint16_t *level = routing->scratch + routers;
    uint32_t *begin = routing->order, sum = 0; /* until the order is known */
    find_levels(routing, level);
    memset(begin, 0, routers * sizeof *begin);
    for (uint32_t r = 0; r < routers; r++)
        begin[level[r]]++;
    for (uint32_t l = 0; l < routers; l++) {
        const uint32_t count = begin[l];
        begin[l] = sum;
        sum += count;
    }
    for (uint32_t r = 0; r < routers; r++)
        routing->rank[r] = begin[level[r]]++;
    for (uint32_t r = 0; r < routers; r++)
        routing->order[routing->rank[r]] = r;
}

/* A wire leads to the router of row `other`: takes the shorter route to each goal. */
static void come_nearer(uint16_t *restrict row, const uint16_t *restrict other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t there = (uint16_t)(other[i] + (other[i] != LEAT_NET_NONE16));
        row[i] = there < row[i] ? there : row[i];
    }
}

/* All of a router's wires on one side, up or down. */
static void come_nearer_by(const struct leat_net_routing *routing, const uint8_t *broken,
                           uint32_t router, bool up, uint16_t *table)
{
    const struct leat_net_topology *t = routing->topology;
    for (uint32_t o = t->out_first[router]; o < t->out_first[router + 1]; o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next == LEAT_NET_NONE || next == router || is_broken(broken, o)) continue;
        if ((routing->rank[next] < routing->rank[router]) != up) continue;
        come_nearer(table + (size_t)router * t->routers, table + (size_t)next * t->routers,
                    t->routers);
    }
}

/* To all goals at once. Down wires lead to higher ranks, so these come first; up wires lead to
 * lower ones. */
static void fill_updown(struct leat_net_routing *routing, const struct leat_net_tables *tables,
                        const uint8_t *broken)
{
    const uint32_t routers = routing->topology->routers;
    const size_t row_len = routers * sizeof *tables->down;
    for (uint32_t i = routers; i-- > 0;) {
        const uint32_t r = routing->order[i];
        uint16_t *down = tables->down + (size_t)r * routers;
        memset(down, 0xff, row_len);
        down[r] = 0;
        come_nearer_by(routing, broken, r, false, tables->down);
    }
    for (uint32_t i = 0; i < routers; i++) {
        const uint32_t r = routing->order[i];
        memcpy(tables->any + (size_t)r * routers, tables->down + (size_t)r * routers, row_len);
        come_nearer_by(routing, broken, r, true, tables->any);
    }
}

/* The remaining distances to a goal, in the tables. */
struct updown {
    const uint16_t *any, *down; /* of router 0; the next router's is `routers` further */
    uint32_t rank, left;
    bool may_rise;
};

static bool leads_on(const struct leat_net_routing *routing, const struct updown *u, uint32_t next)
{
    const size_t at = (size_t)next * routing->topology->routers;
    if (routing->rank[next] < u->rank) return u->may_rise && u->any[at] + 1u == u->left;
    return u->down[at] + 1u == u->left;
}

/* By these tables; `broken` wires are skipped, and not even counted. */
static uint32_t step_updown(const struct leat_net_routing *routing,
                            const struct leat_net_tables *tables, const uint8_t *broken,
                            uint32_t router, uint32_t goal, const struct leat_net_route *route,
                            struct leat_net_turn *turn, struct leat_net_option *option)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t first = t->out_first[router], end = t->out_first[router + 1];
    const size_t here = (size_t)router * t->routers;
    struct updown u = { .any = tables->any + goal,
                        .down = tables->down + goal,
                        .rank = routing->rank[router],
                        .may_rise = (route->phase & ~LEAT_NET_ESCAPED) != LEAT_NET_DOWN };
    uint32_t count = 0;
    u.left = u.may_rise ? u.any[here] : u.down[here];
    if (u.left == LEAT_NET_NONE16) return 0;
    for (uint32_t o = first; o < end; o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next != LEAT_NET_NONE && !is_broken(broken, o)) count += leads_on(routing, &u, next);
    }
    uint32_t passed = leat_net_pick(route, router, turn, count);
    for (uint32_t o = first; o < end; o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next == LEAT_NET_NONE || is_broken(broken, o) || !leads_on(routing, &u, next)) continue;
        if (passed-- > 0) continue;
        option->port = o - first;
        option->phase = routing->rank[next] < u.rank ? 0 : LEAT_NET_DOWN;
        return 1;
    }
    return 0;
}

bool leat_net_updown_allows(const struct leat_net_routing *routing, uint32_t out, uint32_t next_out)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t *rank = routing->rank;
    const uint32_t from = t->out_router[out], between = t->out_router[next_out];
    return rank[between] < rank[from] || rank[between] < rank[leat_net_behind(t, next_out)];
}

/* While all wires are intact; fat trees find the route by their digits. */
static uint32_t step_intact(const struct leat_net_routing *routing, uint32_t router,
                            const struct leat_net_goal *goal, uint32_t leg,
                            struct leat_net_route *route, struct leat_net_turn *turn,
                            struct leat_net_option *option)
{
    if (!routing->intact.any)
        return leat_net_toward_fattree(routing, router, goal, leg, route, turn, option);
    return step_updown(routing, &routing->intact, NULL, router, goal->router, route, turn, option);
}

uint32_t leat_net_toward_updown(const struct leat_net_routing *routing, uint32_t router,
                                const struct leat_net_goal *goal, uint32_t leg,
                                struct leat_net_route *route, struct leat_net_turn *turn,
                                struct leat_net_option *option)
{
    struct leat_net_option intact;
    option->channels = routing->channels.leg[leg].all;
    if (routing->broken_count == 0 || !routing->detour.any)
        return step_intact(routing, router, goal, leg, route, turn, option);
    const uint32_t count = step_updown(routing, &routing->detour, routing->broken, router,
                                       goal->router, route, turn, option);
    if (turn || count == 0) return count;
    if (!step_intact(routing, router, goal, leg, route, NULL, &intact) ||
        intact.port != option->port)
        route->rerouted = true;
    return count;
}

/* ---- the table ------------------------------------------------------------------------------ */

uint32_t leat_net_toward_table(const struct leat_net_routing *routing, uint32_t router,
                               const struct leat_net_goal *goal, uint32_t leg,
                               struct leat_net_route *route, struct leat_net_turn *turn,
                               struct leat_net_option *option)
{
    const struct leat_net_tables *tables = routing->broken_count ? &routing->detour
                                                                 : &routing->intact;
    const uint16_t port = row_of(routing, tables->port, goal->router)[router];
    (void)turn;
    if (port == LEAT_NET_NONE16) return 0;
    if (port != row_of(routing, routing->intact.port, goal->router)[router]) route->rerouted = true;
    *option = (struct leat_net_option){ .port = port, .channels = routing->channels.leg[leg].all };
    return 1;
}

/* ---- adaptive ------------------------------------------------------------------------------- */

static uint32_t near_by_table(const struct leat_net_routing *routing, const uint16_t *near,
                              const uint8_t *broken, uint32_t router, uint32_t goal,
                              struct leat_net_option *options)
{
    const struct leat_net_topology *t = routing->topology;
    const uint16_t *row = row_of(routing, near, goal);
    const uint32_t first = t->out_first[router];
    uint32_t count = 0;
    if (row[router] == LEAT_NET_NONE16) return 0;
    for (uint32_t o = first; o < t->out_first[router + 1] && count < LEAT_NET_OPTIONS_MAX - 1;
         o++) {
        const uint32_t next = leat_net_behind(t, o);
        if (next == LEAT_NET_NONE || is_broken(broken, o) || row[next] + 1u != row[router])
            continue;
        options[count++].port = o - first;
    }
    return count;
}

static uint32_t near_intact(const struct leat_net_routing *routing, uint32_t router,
                            const struct leat_net_goal *goal, struct leat_net_option *options)
{
    if (!routing->intact.near) return leat_net_lattice_near(routing, router, goal, options);
    return near_by_table(routing, routing->intact.near, NULL, router, goal->router, options);
}

/* Only intact ones: all that a lattice too large for a table can do. */
static uint32_t near_sound(const struct leat_net_routing *routing, uint32_t router,
                           const struct leat_net_goal *goal, struct leat_net_option *options)
{
    const uint32_t all = leat_net_lattice_near(routing, router, goal, options);
    const uint8_t *broken = routing->broken + routing->topology->out_first[router];
    uint32_t count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (!broken[options[i].port]) options[count++].port = options[i].port;
    return count;
}

/* Ports that lead closer around broken wires. */
static uint32_t near_round(const struct leat_net_routing *routing, uint32_t router,
                           const struct leat_net_goal *goal, struct leat_net_route *route,
                           struct leat_net_option *options)
{
    struct leat_net_option intact[LEAT_NET_OPTIONS_MAX];
    const uint32_t count = routing->detour.near
                               ? near_by_table(routing, routing->detour.near, routing->broken,
                                               router, goal->router, options)
                               : near_sound(routing, router, goal, options);
    if (count == 0) return 0;
    bool same = near_intact(routing, router, goal, intact) == count;
    for (uint32_t i = 0; i < count && same; i++)
        same = options[i].port == intact[i].port;
    if (!same) route->rerouted = true;
    return count;
}

/* Is the rest of the escape's route intact? A packet already in it continues as far as possible. */
static bool escape_is_sound(const struct leat_net_routing *routing, uint32_t router,
                            const struct leat_net_goal *goal, const struct leat_net_option *first,
                            const struct leat_net_route *route)
{
    const struct leat_net_topology *t = routing->topology;
    const bool whole = !(route->phase & LEAT_NET_ESCAPED) && routing->detour.near;
    struct leat_net_route copy = *route;
    struct leat_net_option option = *first;
    for (;;) {
        const uint32_t out = t->out_first[router] + option.port;
        if (routing->broken[out]) return false;
        router = leat_net_behind(t, out);
        if (!whole || router == goal->router) return true;
        copy.phase = option.phase;
        routing->toward(routing, router, goal, 1, &copy, NULL, &option);
    }
}

uint32_t leat_net_rule_adaptive(const struct leat_net_routing *routing, uint32_t router,
                                struct leat_net_route *route, struct leat_net_turn *turn,
                                struct leat_net_option *options)
{
    const struct leat_net_goal *target = &routing->target[route->destination];
    uint32_t count = 0;
    if (target->router == router) return leat_net_arrived(routing, target, route, options);
    if (!(route->phase & LEAT_NET_ESCAPED)) {
        count = routing->broken_count ? near_round(routing, router, target, route, options)
                                      : near_intact(routing, router, target, options);
        for (uint32_t i = 0; i < count; i++) {
            options[i].channels = routing->channels.adaptive;
            options[i].phase = 0;
        }
    }
    struct leat_net_option *escape = &options[count];
    if (!routing->toward(routing, router, target, 1, route, turn, escape)) return count;
    if (routing->broken_count && !escape_is_sound(routing, router, target, escape, route))
        return count;
    escape->phase |= LEAT_NET_ESCAPED;
    return count + 1;
}

/* ---- memory, and changes -------------------------------------------------------------------- */

/* The tables of a rule: from the beginning, and for broken wires. */
struct needs {
    bool updown, near, port;                   /* intact */
    bool updown_round, near_round, port_round; /* detour */
    bool broken;
};

static struct needs needs_of(const struct leat_net_routing *routing)
{
    const enum leat_net_kind kind = routing->topology->shape.kind;
    const enum leat_net_route_rule rule = routing->config.rule;
    const bool lattice = leat_net_kind_is_lattice(kind);
    const bool fit = routing->topology->routers <= LEAT_NET_TABLE_ROUTERS_MAX;
    struct needs n = { .broken = true };
    switch (rule) {
    case LEAT_NET_UPDOWN:
        n.updown = kind != LEAT_NET_FATTREE;
        n.updown_round = fit;
        break;
    case LEAT_NET_ADAPTIVE:
        n.updown = n.updown_round = n.near = !lattice;
        n.near_round = fit;
        break;
    case LEAT_NET_TABLE: n.port = n.port_round = true; break;
    case LEAT_NET_VALIANT:
        n.updown = kind == LEAT_NET_GRAPH;
        n.broken = false;
        break;
    case LEAT_NET_DOR:
    case LEAT_NET_TAG:
    case LEAT_NET_HIERARCHICAL: n.broken = false; break;
    }
    return n;
}

static uint16_t *lay_rows(struct leat_arena *arena, bool needed, size_t routers)
{
    return needed ? leat_arena_lay(arena, routers * routers, sizeof(uint16_t)) : NULL;
}

void leat_net_tables_lay(struct leat_net_routing *routing, struct leat_arena *arena)
{
    const struct needs n = needs_of(routing);
    const size_t routers = routing->topology->routers;
    const bool ranks = n.updown || n.updown_round;
    const bool tables = ranks || n.near_round || n.port;
    routing->broken = n.broken
                          ? leat_arena_lay(arena, routing->topology->outs, sizeof *routing->broken)
                          : NULL;
    routing->rank = leat_arena_lay(arena, ranks ? routers : 0, sizeof *routing->rank);
    routing->order = leat_arena_lay(arena, ranks ? routers : 0, sizeof *routing->order);
    routing->scratch = leat_arena_lay(arena, tables ? 2 * routers : 0, sizeof *routing->scratch);
    routing->intact = (struct leat_net_tables){ .any = lay_rows(arena, n.updown, routers),
                                                .down = lay_rows(arena, n.updown, routers),
                                                .near = lay_rows(arena, n.near, routers),
                                                .port = lay_rows(arena, n.port, routers) };
    routing->detour = (struct leat_net_tables){ .any = lay_rows(arena, n.updown_round, routers),
                                                .down = lay_rows(arena, n.updown_round, routers),
                                                .near = lay_rows(arena, n.near_round, routers),
                                                .port = lay_rows(arena, n.port_round, routers) };
}

void leat_net_tables_fill(struct leat_net_routing *routing)
{
    const struct needs n = needs_of(routing);
    if (routing->broken) memset(routing->broken, 0, routing->topology->outs);
    if (n.updown || n.updown_round) find_ranks(routing);
    if (n.updown) fill_updown(routing, &routing->intact, NULL);
    if (n.near) fill_near(routing, routing->intact.near, NULL);
    if (n.port) fill_ports(routing);
}

void leat_net_routing_wire(struct leat_net_routing *routing, uint32_t out, bool broken)
{
    if (!routing->broken || (bool)routing->broken[out] == broken) return;
    routing->broken[out] = broken;
    routing->broken_count = broken ? routing->broken_count + 1 : routing->broken_count - 1;
}

void leat_net_routing_update(struct leat_net_routing *routing)
{
    if (routing->broken_count == 0) return;
    if (routing->detour.any) fill_updown(routing, &routing->detour, routing->broken);
    if (routing->detour.near) fill_near(routing, routing->detour.near, routing->broken);
    if (routing->detour.port) fill_ports_round(routing);
}
