#include "net_routing_test.h"
#include "net_routing.h"
#include <string.h>

enum {
    ROUTERS_MAX = 512, /* of the networks here */
    OUTS_MAX = 4096,
    GRAPH_MAX = 60, /* of graphs in which routes up and down are long */
    WAY_MAX = 64,
    CAMPAIGNS = LEAT_ROUNDS / 10000,
};

static uint32_t below(struct leat_random *random, uint32_t bound)
{
    return (uint32_t)leat_random_below(random, bound);
}

/* ---- a packet's way ------------------------------------------------------------------------- */

struct way {
    uint32_t out[WAY_MAX], channels[WAY_MAX], len; /* wires */
    bool arrived, rerouted, met_via, escaped;
    uint32_t via, escaped_at; /* the first wire of the escape */
};

static bool is_one_of_ours(const struct scene *s, uint32_t mask)
{
    return mask != 0 && (uint64_t)mask < UINT64_C(1) << s->config.channels;
}

/* Takes a random option each time; every option must be sound. */
static void go(const struct scene *s, uint32_t source, uint32_t destination,
               struct leat_random *random, struct way *way)
{
    const struct leat_net_topology *t = &s->topology;
    struct leat_net_option options[LEAT_NET_OPTIONS_MAX];
    struct leat_net_route route;
    uint32_t router = scene_entry(s, source);
    *way = (struct way){ 0 };
    leat_net_route_begin(s->routing, source, destination, leat_random_next(random), &route);
    way->via = route.via;
    for (;;) {
        const uint32_t count = leat_net_route_options(s->routing, router, &route, options);
        if (router == way->via) way->met_via = true;
        way->rerouted = route.rerouted;
        if (count == 0) return;
        OK(count <= LEAT_NET_OPTIONS_MAX);
        const uint32_t first = t->out_first[router], ports = t->out_first[router + 1] - first;
        for (uint32_t i = 0; i < count; i++) {
            OK(options[i].port < ports && t->out_to[first + options[i].port] != LEAT_NET_NONE);
            OK(is_one_of_ours(s, options[i].channels));
        }
        const struct leat_net_option *o = &options[below(random, count)];
        const uint32_t out = first + o->port;
        if (t->out_to[out] == (LEAT_NET_TERMINAL | destination)) {
            OK(count == 1 && route.via == LEAT_NET_NONE);
            way->arrived = true;
            return;
        }
        if (s->config.rule == LEAT_NET_ADAPTIVE && o == &options[count - 1] && !way->escaped) {
            way->escaped = true;
            way->escaped_at = way->len;
        }
        if (scene_behind(s, out) == LEAT_NET_NONE || way->len == WAY_MAX) return;
        way->out[way->len] = out;
        way->channels[way->len++] = o->channels;
        route.phase = o->phase;
        router = scene_behind(s, out);
    }
}

/* ---- plain models --------------------------------------------------------------------------- */

static const bool none_broken[OUTS_MAX];

static uint32_t distance_between(const struct scene *s, uint32_t from, uint32_t to)
{
    static uint32_t distance[ROUTERS_MAX], scratch[2 * ROUTERS_MAX];
    leat_net_topology_distances(&s->topology, from, distance, scratch);
    return distance[to];
}

/* Which wires are up wires? Levels are distances from router 0; in fat trees reversed. */
static void find_up(const struct scene *s, bool *up)
{
    static uint32_t level[ROUTERS_MAX], scratch[2 * ROUTERS_MAX];
    leat_net_topology_distances(&s->topology, 0, level, scratch);
    for (uint32_t o = 0; o < s->topology.outs; o++) {
        const uint32_t from = s->topology.out_router[o], to = scene_behind(s, o);
        if (to == LEAT_NET_NONE) continue;
        if (s->shape.kind == LEAT_NET_FATTREE)
            up[o] = to > from;
        else
            up[o] = level[to] != level[from] ? level[to] < level[from] : to < from;
    }
}

/* The fewest wires from router to router when up wires come before down wires and broken ones do
 * not exist, by relaxing until nothing changes. `legal` false: in any order. */
static uint32_t search(const struct scene *s, const bool *broken, uint32_t from, uint32_t to,
                       bool legal)
{
    static bool up[OUTS_MAX];
    uint32_t least[ROUTERS_MAX][2]; /* not yet gone down, gone down */
    memset(least, 0xff, sizeof least);
    memset(up, true, sizeof up);
    if (legal) find_up(s, up);
    least[from][0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t o = 0; o < s->topology.outs; o++) {
            const uint32_t a = s->topology.out_router[o], b = scene_behind(s, o);
            if (b == LEAT_NET_NONE || broken[o]) continue;
            for (uint32_t gone = 0; gone < 2; gone++) {
                if (least[a][gone] == LEAT_NET_NONE || (up[o] && gone)) continue;
                uint32_t *there = &least[b][!up[o]];
                if (*there <= least[a][gone] + 1) continue;
                *there = least[a][gone] + 1;
                changed = true;
            }
        }
    }
    return least[to][0] < least[to][1] ? least[to][0] : least[to][1];
}

/* ---- names and checks ----------------------------------------------------------------------- */

static void rules_have_names_and_every_kind_a_rule(void)
{
    for (unsigned i = 0; i < LEAT_NET_RULES; i++)
        for (unsigned k = 0; k < LEAT_NET_RULES; k++)
            OK((strcmp(leat_net_rule_name((enum leat_net_route_rule)i),
                       leat_net_rule_name((enum leat_net_route_rule)k)) == 0) == (i == k));
    OK(leat_net_rule_name((enum leat_net_route_rule)LEAT_NET_RULES) == NULL);
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (unsigned kind = 0; kind < LEAT_NET_KINDS; kind++) {
        struct scene s;
        scene_random(&s, (enum leat_net_kind)kind, &random);
        OK(scene_route(&s, leat_net_rule_default((enum leat_net_kind)kind), 1));
        scene_close(&s);
    }
}

#define REFUSED(s, rule, channels, words)                                     \
    do {                                                                      \
        OK(!scene_route((s), (rule), (channels)) && strstr((s)->why, words)); \
        if (!strstr((s)->why, words)) printf("# it says: %s\n", (s)->why);    \
    } while (0)

static void what_cannot_be_is_refused_with_the_reason(void)
{
    struct scene s;
    SCENE(&s, LEAT_NET_MESH, 4, 4);
    REFUSED(&s, LEAT_NET_TAG, 1, "expected one of dor, updown, adaptive, valiant, table");
    REFUSED(&s, (enum leat_net_route_rule)LEAT_NET_RULES, 1, "routing unknown");
    REFUSED(&s, LEAT_NET_DOR, 0, "0 virtual channels, expected 1 to 32");
    REFUSED(&s, LEAT_NET_DOR, 33, "33 virtual channels, expected 1 to 32");
    REFUSED(&s, LEAT_NET_ADAPTIVE, 1, "expected 2 to 32");
    OK(scene_route(&s, LEAT_NET_ADAPTIVE, 2));
    s.config.entry = &(struct leat_net_route_entry){ 0, 1, 0 };
    s.config.entries = 1;
    REFUSED(&s, LEAT_NET_DOR, 1, "expected routing table");
    scene_close(&s);
    SCENE(&s, LEAT_NET_TORUS, 4, 4);
    REFUSED(&s, LEAT_NET_ADAPTIVE, 2, "expected 3 to 32");
    scene_close(&s);
    SCENE(&s, LEAT_NET_CLOS, 2, 2, 2);
    REFUSED(&s, LEAT_NET_VALIANT, 4, "expected one of tag, table");
    REFUSED(&s, LEAT_NET_UPDOWN, 4, "expected one of tag, table");
    scene_close(&s);
    SCENE(&s, LEAT_NET_LINE, LEAT_NET_TABLE_ROUTERS_MAX + 1);
    REFUSED(&s, LEAT_NET_UPDOWN, 1, "8193 routers, expected at most 8192");
    OK(scene_route(&s, LEAT_NET_ADAPTIVE, 2));
    scene_close(&s);
}

static void updown_wants_wires_in_both_directions(void)
{
    struct scene s;
    scene_numbers(&s, LEAT_NET_GRAPH, 0, NULL);
    s.shape.routers = 3;
    s.shape.edge = s.edge;
    s.shape.edges = 3;
    for (uint32_t i = 0; i < 3; i++)
        s.edge[i] = (struct leat_net_edge){ i, (i + 1) % 3, 0, i == 1 };
    scene_build(&s);
    REFUSED(&s, LEAT_NET_UPDOWN, 1, "from router 1 to 2 and none back");
    EQ(s.fault.place, LEAT_NET_AT_WIRE);
    EQ(s.fault.from, 1);
    EQ(s.fault.to, 2);
    REFUSED(&s, LEAT_NET_TAG, 1, "does not lead through");
    EQ(s.fault.place, LEAT_NET_AT_RULE);
    REFUSED(&s, LEAT_NET_VALIANT, 2, "both directions");
    REFUSED(&s, LEAT_NET_ADAPTIVE, 2, "both directions");
    OK(scene_route(&s, LEAT_NET_TABLE, 1));
    scene_close(&s);
}

static void lines_of_a_table_that_lead_nowhere_are_named(void)
{
    /* a ring of four: up is port 0, down is port 1, the terminal port 2 */
    static const struct {
        struct leat_net_route_entry entry[2];
        const char *why;
        uint32_t at; /* entry[at] */
    } bad[] = {
        { { { 0, 2, 0 }, { 4, 2, 0 } },
          "entry 2 of the table (at router 4 to 2 by port 0) names",
          1 },
        { { { 0, 2, 0 }, { 1, 4, 0 } }, "names a router that does not exist, expected 0 to 3", 1 },
        { { { 0, 2, 2 }, { 1, 2, 0 } },
          "entry 1 of the table (at router 0 to 2 by port 2) names a port" },
        { { { 0, 2, 3 }, { 1, 2, 0 } },
          "names a port that leads to no router, expected one that does" },
        { { { 0, 2, 0 }, { 3, 3, 0 } },
          "entry 2 of the table (at router 3 to 3 by router 0) leads on",
          1 },
        { { { 0, 2, 0 }, { 0, 2, 1 } },
          "entry 2 of the table (at router 0 to 2 by router 3) is there twice",
          1 },
        { { { 0, 1, 0 }, { 1, 2, 1 } },
          "entry 2 of the table (at router 1 to 2 by router 0) leads in a cycle, "
          "expected a route to its destination",
          1 },
    };
    struct scene s;
    SCENE(&s, LEAT_NET_RING, 4);
    s.config.entries = 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.config.entry = bad[i].entry;
        REFUSED(&s, LEAT_NET_TABLE, 1, bad[i].why);
        EQ(s.fault.place, LEAT_NET_AT_ENTRY);
        EQ(s.fault.entry, bad[i].at);
    }
    scene_close(&s);
    /* in a butterfly the wrong port of the first stage can never reach the goal */
    SCENE(&s, LEAT_NET_FLY, 2, 2);
    s.config.entry = &(struct leat_net_route_entry){ 0, 2, 1 };
    s.config.entries = 1;
    REFUSED(&s, LEAT_NET_TABLE, 1,
            "leads to a router without a route to its destination, expected one");
    scene_close(&s);
}

/* ---- all rules, all kinds ------------------------------------------------------------------- */

/* The number of wires that a rule must take where it is known; else a bound, and *exact false. */
static uint32_t wires_wanted(const struct scene *s, const struct way *way, uint32_t from,
                             uint32_t to, bool *exact)
{
    const uint32_t distance = distance_between(s, from, to);
    const uint32_t dimensions = leat_net_shape_dimensions(&s->shape);
    *exact = true;
    switch (s->config.rule) {
    case LEAT_NET_DOR:
    case LEAT_NET_TAG:
    case LEAT_NET_TABLE: return distance;
    case LEAT_NET_UPDOWN: return search(s, none_broken, from, to, true);
    case LEAT_NET_ADAPTIVE:
        if (dimensions || !way->escaped) return distance;
        *exact = false;
        return 2 * s->topology.routers;
    case LEAT_NET_VALIANT:
        OK(way->met_via);
        if (dimensions)
            return distance_between(s, from, way->via) + distance_between(s, way->via, to);
        *exact = false;
        return s->shape.kind == LEAT_NET_DRAGONFLY ? 6 : 2 * s->topology.routers;
    case LEAT_NET_HIERARCHICAL: *exact = distance < 2; return distance < 2 ? distance : 3;
    }
    return 0;
}

/* No up wire after a down wire. */
static void updown_is_legal(const struct scene *s, const struct way *way, uint32_t first)
{
    static bool up[OUTS_MAX];
    bool down = false;
    find_up(s, up);
    for (uint32_t i = first; i < way->len; i++) {
        OK(!(up[way->out[i]] && down));
        down = down || !up[way->out[i]];
    }
}

static void every_rule_leads_from_everywhere_to_everywhere(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 400 + 100 * CAMPAIGNS; round++) {
        struct scene s;
        scene_random(&s, (enum leat_net_kind)(round % LEAT_NET_KINDS), &random);
        const enum leat_net_route_rule rule = (enum leat_net_route_rule)below(&random,
                                                                              LEAT_NET_RULES);
        const bool fits = scene_route(&s, rule, scene_between(&random, 1, 9));
        for (uint32_t i = 0; i < 40 && fits; i++) {
            struct way way;
            bool exact;
            const uint32_t a = below(&random, s.topology.terminals);
            const uint32_t b = below(&random, s.topology.terminals);
            go(&s, a, b, &random, &way);
            OK(way.arrived && !way.rerouted);
            const uint32_t want = wires_wanted(&s, &way, scene_entry(&s, a), scene_home(&s, b),
                                               &exact);
            if (exact)
                EQ(way.len, want);
            else
                OK(way.len <= want);
            if (rule == LEAT_NET_UPDOWN) updown_is_legal(&s, &way, 0);
        }
        scene_close(&s);
    }
}

/* Up wires before down wires, and no shorter route of that kind; escapes from where they begin. */
static void in_graphs_ways_up_and_down_are_allowed_and_shortest(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 400 + 4 * CAMPAIGNS; round++) {
        struct scene s;
        scene_random_graph(&s, &random, GRAPH_MAX, false);
        scene_build(&s);
        OK(scene_route(&s, round % 2 ? LEAT_NET_ADAPTIVE : LEAT_NET_UPDOWN, 2));
        for (uint32_t i = 0; i < 40; i++) {
            struct way way;
            const uint32_t a = below(&random, s.topology.terminals);
            const uint32_t b = below(&random, s.topology.terminals);
            go(&s, a, b, &random, &way);
            OK(way.arrived);
            if (round % 2 && !way.escaped) continue;
            const uint32_t from = way.escaped ? s.topology.out_router[way.out[way.escaped_at]]
                                              : scene_entry(&s, a);
            EQ(way.len - way.escaped_at, search(&s, none_broken, from, scene_home(&s, b), true));
            updown_is_legal(&s, &way, way.escaped_at);
        }
        scene_close(&s);
    }
}

/* ---- single rules --------------------------------------------------------------------------- */

/* In rings of four and more: a packet whose route in the dimension crosses the end has the lower
 * half of the channels while it is in it, others have the upper half. */
static void rings_keep_those_apart_which_cross_the_end(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 2000; round++) {
        struct scene s;
        struct way way;
        scene_random(&s, LEAT_NET_TORUS, &random);
        const uint32_t channels = scene_between(&random, 2, 9), half = channels / 2;
        const uint32_t lower = (UINT32_C(1) << half) - 1, all = (UINT32_C(1) << channels) - 1;
        OK(scene_route(&s, LEAT_NET_DOR, channels));
        const bool rings = s.shape.number[0] > 3 || s.shape.number[1] > 3 || s.shape.number[2] > 3;
        const uint32_t source = below(&random, s.topology.terminals);
        const uint32_t destination = below(&random, s.topology.terminals);
        go(&s, source, destination, &random, &way);
        for (uint32_t i = 0, end; i < way.len; i = end) {
            uint32_t step = 1;
            bool crosses = false;
            const uint32_t port = way.out[i] -
                                  s.topology.out_first[s.topology.out_router[way.out[i]]];
            const uint32_t size = s.shape.number[port / 2];
            for (uint32_t d = 0; d < port / 2; d++)
                step *= s.shape.number[d];
            for (end = i; end < way.len; end++) {
                const uint32_t from = s.topology.out_router[way.out[end]];
                const uint32_t to = scene_behind(&s, way.out[end]);
                if ((way.out[end] - s.topology.out_first[from]) / 2 != port / 2) break;
                const uint32_t far = from > to ? from - to : to - from;
                if (size > 2 && far != step) crosses = true;
            }
            for (uint32_t j = i; j < end; j++)
                EQ(way.channels[j], size < 4 || !rings ? all : crosses ? lower : all & ~lower);
        }
        scene_close(&s);
    }
}

/* All answers at a router, over many salts: the ports as bits. */
static uint64_t ports_over_salts(const struct scene *s, uint32_t router, uint32_t destination,
                                 struct leat_random *random)
{
    uint64_t ports = 0;
    for (int i = 0; i < 200; i++) {
        struct leat_net_option options[LEAT_NET_OPTIONS_MAX];
        struct leat_net_route route;
        leat_net_route_begin(s->routing, 0, destination, leat_random_next(random), &route);
        const uint32_t count = leat_net_route_options(s->routing, router, &route, options);
        for (uint32_t j = 0; j < count; j++)
            ports |= UINT64_C(1) << options[j].port;
    }
    return ports;
}

static void where_ways_are_equal_salts_use_them_all(void)
{
    struct leat_random random;
    struct scene s;
    leat_random_seed(&random, tap_seed());
    SCENE(&s, LEAT_NET_RING, 8);
    OK(scene_route(&s, LEAT_NET_DOR, 2));
    EQ(ports_over_salts(&s, 0, 4, &random), 3);
    EQ(ports_over_salts(&s, 0, 3, &random), 1);
    EQ(ports_over_salts(&s, 0, 5, &random), 2);
    scene_close(&s);
    SCENE(&s, LEAT_NET_FATTREE, 4, 2);
    OK(scene_route(&s, LEAT_NET_UPDOWN, 1));
    EQ(ports_over_salts(&s, 0, 15, &random), 0xf0);
    EQ(ports_over_salts(&s, 4, 15, &random), 8); /* a top: down to the leaf of 12 .. 15 */
    scene_close(&s);
    SCENE(&s, LEAT_NET_BENES, 8);
    OK(scene_route(&s, LEAT_NET_TAG, 1));
    EQ(ports_over_salts(&s, 0, 5, &random), 3);
    EQ(ports_over_salts(&s, 4, 5, &random), 3);
    EQ(ports_over_salts(&s, 8, 5, &random), 2); /* the middle: the highest bit of 5 */
    scene_close(&s);
    SCENE(&s, LEAT_NET_CLOS, 2, 5, 3);
    OK(scene_route(&s, LEAT_NET_TAG, 1));
    EQ(ports_over_salts(&s, 0, 5, &random), 0x1f);
    EQ(ports_over_salts(&s, 3, 5, &random), 4);
    scene_close(&s);
    SCENE(&s, LEAT_NET_HYPERCUBE, 3);
    OK(scene_route(&s, LEAT_NET_UPDOWN, 1));
    EQ(ports_over_salts(&s, 7, 0, &random), 7);
    scene_close(&s);
}

static void valiant_visits_all_routers_equally_often(void)
{
    enum { PACKETS = 16000 };
    uint32_t visits[16] = { 0 };
    struct leat_random random;
    struct scene s;
    leat_random_seed(&random, tap_seed());
    SCENE(&s, LEAT_NET_MESH, 4, 4);
    OK(scene_route(&s, LEAT_NET_VALIANT, 5));
    for (int i = 0; i < PACKETS; i++) {
        struct way way;
        const uint32_t from = below(&random, 16);
        const uint32_t to = below(&random, 16);
        go(&s, from, to, &random, &way);
        OK(way.arrived && way.met_via);
        visits[way.via]++;
        for (uint32_t j = 0; j < way.len; j++)
            OK(way.channels[j] == 3 || way.channels[j] == 28);
        for (uint32_t j = 1; j < way.len; j++)
            OK(way.channels[j] >= way.channels[j - 1]);
    }
    for (int r = 0; r < 16; r++) /* five standard deviations */
        OK(visits[r] > 1000 - 155 && visits[r] < 1000 + 155);
    scene_close(&s);
}

static void adaptive_offers_all_nearer_ports_and_the_escape_last(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 300; round++) {
        struct scene s;
        struct leat_net_option options[LEAT_NET_OPTIONS_MAX];
        struct leat_net_route route;
        scene_random(&s, (enum leat_net_kind)(round % LEAT_NET_KINDS), &random);
        const uint32_t a = below(&random, s.topology.terminals);
        const uint32_t b = below(&random, s.topology.terminals);
        const uint32_t router = scene_entry(&s, a), goal = scene_home(&s, b);
        if (router == goal || !scene_route(&s, LEAT_NET_ADAPTIVE, 4)) {
            scene_close(&s);
            continue;
        }
        leat_net_route_begin(s.routing, a, b, leat_random_next(&random), &route);
        uint32_t nearer = 0;
        const uint32_t count = leat_net_route_options(s.routing, router, &route, options);
        const uint32_t escape = options[count - 1].channels;
        for (uint32_t o = s.topology.out_first[router]; o < s.topology.out_first[router + 1]; o++) {
            const uint32_t next = scene_behind(&s, o);
            if (next == LEAT_NET_NONE ||
                distance_between(&s, next, goal) + 1 != distance_between(&s, router, goal))
                continue;
            bool offered = false;
            for (uint32_t i = 0; i + 1 < count; i++)
                offered |= options[i].port == o - s.topology.out_first[router];
            OK(offered);
            nearer++;
        }
        EQ(count, nearer + 1);
        OK(escape < 4);
        for (uint32_t i = 0; i + 1 < count; i++)
            OK(options[i].channels == 12 || options[i].channels == 14);
        route.phase = options[count - 1].phase; /* it stays there */
        EQ(leat_net_route_options(s.routing, router, &route, options), 1);
        OK((options[0].channels & ~UINT32_C(3)) == 0);
        scene_close(&s);
    }
}

static void lines_of_a_table_are_followed(void)
{
    static const struct leat_net_route_entry round_about[] = { { 0, 1, 1 },
                                                               { 5, 1, 1 },
                                                               { 4, 1, 1 } };
    struct leat_random random;
    struct scene s;
    struct way way;
    leat_random_seed(&random, tap_seed());
    SCENE(&s, LEAT_NET_RING, 6);
    s.config.entry = round_about;
    s.config.entries = 3;
    OK(scene_route(&s, LEAT_NET_TABLE, 3));
    go(&s, 0, 1, &random, &way);
    OK(way.arrived && way.len == 5);
    go(&s, 0, 2, &random, &way);
    OK(way.arrived && way.len == 2);
    /* a broken wire on that route: then the shortest intact route, and the same as before once
     * repaired */
    const uint32_t out = s.topology.out_first[5] + 1;
    leat_net_routing_wire(s.routing, out, true);
    leat_net_routing_update(s.routing);
    go(&s, 0, 1, &random, &way);
    OK(way.arrived && way.len == 1 && way.rerouted);
    go(&s, 0, 2, &random, &way);
    OK(way.arrived && way.len == 2 && !way.rerouted);
    leat_net_routing_wire(s.routing, out, false);
    leat_net_routing_update(s.routing);
    go(&s, 0, 1, &random, &way);
    OK(way.arrived && way.len == 5 && !way.rerouted);
    scene_close(&s);
}

/* ---- broken wires --------------------------------------------------------------------------- */

static const enum leat_net_route_rule learning[] = { LEAT_NET_UPDOWN, LEAT_NET_ADAPTIVE,
                                                     LEAT_NET_TABLE };

/* The requirements on one packet when wires are broken. */
static void goes_round(const struct scene *s, const bool *broken, uint32_t a, uint32_t b,
                       uint64_t seed, const struct way *before)
{
    struct way way;
    struct leat_random random;
    const uint32_t from = scene_entry(s, a), to = scene_home(s, b);
    const bool legal = s->config.rule == LEAT_NET_UPDOWN;
    const uint32_t least = search(s, broken, from, to, legal);
    leat_random_seed(&random, seed);
    go(s, a, b, &random, &way);
    OK(way.arrived == (least != LEAT_NET_NONE));
    bool same = way.len == before->len;
    for (uint32_t i = 0; i < way.len; i++) {
        OK(!broken[way.out[i]]);
        same = same && way.out[i] == before->out[i];
    }
    if (!way.arrived) return;
    if (s->config.rule != LEAT_NET_ADAPTIVE) {
        EQ(way.len, least);
        OK(way.rerouted == !same);
    } else if (!way.escaped) {
        EQ(way.len, least);
        OK(way.rerouted || way.len == before->len || before->escaped);
    }
    if (broken == none_broken) OK(!way.rerouted);
}

static void those_who_learn_of_broken_wires_lead_round_them(void)
{
    static bool broken[OUTS_MAX];
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 400 + 4 * CAMPAIGNS; round++) {
        struct scene s;
        struct way before[20];
        const enum leat_net_kind kind = (enum leat_net_kind)below(&random, LEAT_NET_KINDS);
        scene_random(&s, kind, &random);
        const bool fits = scene_route(&s, learning[round % 3], 4);
        const uint64_t seed = leat_random_next(&random);
        const uint32_t terminals = s.topology.terminals, breaks = below(&random, 4);
        if (!fits || s.topology.wires == 0) {
            scene_close(&s);
            continue;
        }
        for (uint32_t i = 0; i < 20; i++) {
            struct leat_random own;
            leat_random_seed(&own, seed + i);
            go(&s, i % terminals, (i * 7 + 3) % terminals, &own, &before[i]);
        }
        memset(broken, 0, sizeof broken);
        for (uint32_t i = 0; i < breaks; i++) {
            const uint32_t out = below(&random, s.topology.outs);
            if (scene_behind(&s, out) == LEAT_NET_NONE) continue;
            broken[out] = true;
            leat_net_routing_wire(s.routing, out, true);
        }
        leat_net_routing_update(s.routing);
        for (uint32_t i = 0; i < 20; i++)
            goes_round(&s, broken, i % terminals, (i * 7 + 3) % terminals, seed + i, &before[i]);
        for (uint32_t o = 0; o < s.topology.outs; o++)
            if (broken[o]) leat_net_routing_wire(s.routing, o, false);
        leat_net_routing_update(s.routing);
        for (uint32_t i = 0; i < 20; i++)
            goes_round(&s, none_broken, i % terminals, (i * 7 + 3) % terminals, seed + i,
                       &before[i]);
        scene_close(&s);
    }
}

static void the_others_name_the_broken_port(void)
{
    struct scene s;
    struct way way;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    SCENE(&s, LEAT_NET_MESH, 4, 4);
    OK(scene_route(&s, LEAT_NET_DOR, 1));
    leat_net_routing_wire(s.routing, s.topology.out_first[0], true);
    leat_net_routing_update(s.routing);
    go(&s, 0, 3, &random, &way);
    OK(way.arrived && way.len == 3 && way.out[0] == s.topology.out_first[0] && !way.rerouted);
    scene_close(&s);
}

TAP_MAIN(T(rules_have_names_and_every_kind_a_rule), T(what_cannot_be_is_refused_with_the_reason),
         T(updown_wants_wires_in_both_directions), T(lines_of_a_table_that_lead_nowhere_are_named),
         T(every_rule_leads_from_everywhere_to_everywhere),
         T(in_graphs_ways_up_and_down_are_allowed_and_shortest),
         T(rings_keep_those_apart_which_cross_the_end), T(where_ways_are_equal_salts_use_them_all),
         T(valiant_visits_all_routers_equally_often),
         T(adaptive_offers_all_nearer_ports_and_the_escape_last), T(lines_of_a_table_are_followed),
         T(those_who_learn_of_broken_wires_lead_round_them), T(the_others_name_the_broken_port))
