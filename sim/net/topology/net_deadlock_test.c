#include "net_deadlock.h"
#include "net_routing_test.h"
#include <string.h>

enum {
    NODES_MAX = 256, /* wires times channels of the networks that the plain model is for */
    WALKS_MAX = 2000,
    SALTS = 48, /* tried in each state: enough to find all of a few answers */
    CAMPAIGNS = LEAT_ROUNDS / 10000,
};

/* ---- finding -------------------------------------------------------------------------------- */

static void *memory_of_last_find;

static void find(const struct scene *s, struct leat_net_deadlock *out)
{
    free(memory_of_last_find);
    memory_of_last_find = scene_take(leat_net_deadlock_footprint(&s->shape, &s->config));
    leat_net_deadlock_find(&s->topology, s->routing, &s->config, memory_of_last_find, out);
}

/* Can it deadlock, by this rule with so many channels? */
static bool possible(struct scene *s, enum leat_net_route_rule rule, uint32_t channels)
{
    struct leat_net_deadlock deadlock = { .possible = false };
    const bool fits = scene_route(s, rule, channels);
    OK(fits);
    if (fits) find(s, &deadlock);
    return deadlock.possible;
}

/* ---- a plain model -------------------------------------------------------------------------- */

/*
 * All states that any packet can be in, found by asking for options with many salts each; an edge
 * from what it holds to what it may take next. Then nodes without successors are removed until
 * nothing changes: what is left has a cycle.
 */
static struct model {
    const struct scene *scene;
    uint32_t channels, nodes;
    uint8_t edge[NODES_MAX][NODES_MAX];
    struct leat_random random;
} model;

struct standing {
    uint32_t router, node_out, mask; /* came over node_out (NONE: from a terminal) in mask */
    struct leat_net_route route;
};

enum { STANDING_MAX = 1 << 14 };
static struct standing standing[STANDING_MAX];

static bool is_known(uint32_t count, const struct standing *s)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct standing *o = &standing[i];
        if (o->router == s->router && o->node_out == s->node_out && o->mask == s->mask &&
            o->route.via == s->route.via && o->route.phase == s->route.phase)
            return true;
    }
    return false;
}

static void join(uint32_t out, uint32_t mask, uint32_t next, uint32_t next_mask)
{
    const uint32_t v = model.channels;
    for (uint32_t i = 0; i < v && out != LEAT_NET_NONE; i++)
        for (uint32_t j = 0; j < v; j++)
            if (mask >> i & 1 && next_mask >> j & 1) model.edge[out * v + i][next * v + j] = 1;
}

/* All options of one state; new states are added. */
static uint32_t expand(const struct standing from, uint32_t count)
{
    const struct scene *s = model.scene;
    for (int salt = 0; salt < SALTS; salt++) {
        struct leat_net_option options[LEAT_NET_OPTIONS_MAX];
        struct leat_net_route route = from.route;
        route.salt = (uint32_t)leat_random_next(&model.random);
        const uint32_t n = leat_net_route_options(s->routing, from.router, &route, options);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t out = s->topology.out_first[from.router] + options[i].port;
            struct standing next = { scene_behind(s, out), out, options[i].channels, route };
            if (next.router == LEAT_NET_NONE) continue;
            join(from.node_out, from.mask, out, options[i].channels);
            next.route.phase = options[i].phase;
            if (is_known(count, &next)) continue;
            if (count == STANDING_MAX) abort();
            standing[count++] = next;
        }
    }
    return count;
}

static void walk(uint32_t source, uint32_t destination, uint32_t via)
{
    struct standing first = { .router = scene_entry(model.scene, source),
                              .node_out = LEAT_NET_NONE };
    uint32_t count = 1;
    leat_net_route_begin(model.scene->routing, source, destination, 0, &first.route);
    first.route.via = via;
    standing[0] = first;
    for (uint32_t i = 0; i < count; i++)
        count = expand(standing[i], count);
}

static void make_model(const struct scene *s)
{
    const struct leat_net_topology *t = &s->topology;
    const uint32_t vias = s->config.rule == LEAT_NET_VALIANT ? t->routers : 1;
    model.scene = s;
    model.channels = s->config.channels;
    model.nodes = t->outs * model.channels;
    for (uint32_t i = 0; i < model.nodes; i++)
        memset(model.edge[i], 0, model.nodes);
    for (uint32_t a = 0; a < t->terminals; a++)
        for (uint32_t b = 0; b < t->terminals; b++)
            for (uint32_t via = 0; via < vias; via++)
                walk(a, b, vias == 1 && s->config.rule != LEAT_NET_VALIANT ? LEAT_NET_NONE : via);
}

/* Adaptive: only the escape's channels. */
static void keep_only_channels(uint32_t mask)
{
    for (uint32_t i = 0; i < model.nodes; i++)
        for (uint32_t j = 0; j < model.nodes; j++)
            if (!(mask >> i % model.channels & 1) || !(mask >> j % model.channels & 1))
                model.edge[i][j] = 0;
}

static uint64_t model_edges(void)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < model.nodes; i++)
        for (uint32_t j = 0; j < model.nodes; j++)
            edges += model.edge[i][j];
    return edges;
}

static bool model_has_cycle(void)
{
    static bool gone[NODES_MAX];
    memset(gone, 0, sizeof gone);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < model.nodes; i++) {
            bool leads_on = false;
            for (uint32_t j = 0; j < model.nodes && !gone[i] && !leads_on; j++)
                leads_on = model.edge[i][j] && !gone[j];
            if (gone[i] || leads_on) continue;
            gone[i] = changed = true;
        }
    }
    for (uint32_t i = 0; i < model.nodes; i++)
        if (!gone[i]) return true;
    return false;
}

/* ---- facts ---------------------------------------------------------------------------------- */

static void a_ring_with_one_channel_can_stop_and_the_cycle_is_reported(void)
{
    struct scene s;
    struct leat_net_deadlock deadlock;
    struct leat_text text;
    char line[4096];
    SCENE(&s, LEAT_NET_RING, 5);
    OK(possible(&s, LEAT_NET_DOR, 1));
    find(&s, &deadlock);
    EQ(deadlock.cycle_len, 5);
    EQ(deadlock.cycle_listed, 5);
    EQ(deadlock.channels, 10);
    EQ(deadlock.dependencies, 10);
    OK(!deadlock.smaller);
    leat_text_init(&text, line, sizeof line, NULL, NULL);
    leat_net_deadlock_text(&deadlock, &text);
    line[text.len] = 0;
    OK(strcmp(line, "0>1 vc0, 1>2 vc0, 2>3 vc0, 3>4 vc0, 4>0 vc0") == 0);
    OK(!possible(&s, LEAT_NET_DOR, 2));
    scene_close(&s);
    SCENE(&s, LEAT_NET_RING, 100);
    OK(possible(&s, LEAT_NET_DOR, 1));
    find(&s, &deadlock);
    EQ(deadlock.cycle_len, 100);
    EQ(deadlock.cycle_listed, LEAT_NET_DEADLOCK_CYCLE_MAX);
    leat_text_init(&text, line, sizeof line, NULL, NULL);
    leat_net_deadlock_text(&deadlock, &text);
    line[text.len] = 0;
    OK(strstr(line, "63>64 vc0, ...") != NULL);
    scene_close(&s);
}

/* Dally and Seitz 1987; Duato 1993; Kim, Dally, Scott and Abts 2008. */
static void what_is_known_to_stop_is_found_and_what_is_known_not_to_is_not(void)
{
    struct scene s;
    SCENE(&s, LEAT_NET_RING, 3); /* one wire each way is never waited for by its holder */
    OK(!possible(&s, LEAT_NET_DOR, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_TORUS, 16, 16);
    OK(possible(&s, LEAT_NET_DOR, 1));
    OK(!possible(&s, LEAT_NET_DOR, 2));
    OK(!possible(&s, LEAT_NET_DOR, 7));
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 3));
    OK(possible(&s, LEAT_NET_VALIANT, 3));
    OK(!possible(&s, LEAT_NET_VALIANT, 4));
    OK(!possible(&s, LEAT_NET_UPDOWN, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_MESH, 8, 8);
    OK(!possible(&s, LEAT_NET_DOR, 1));
    OK(possible(&s, LEAT_NET_VALIANT, 1));
    OK(!possible(&s, LEAT_NET_VALIANT, 2));
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
    OK(!possible(&s, LEAT_NET_UPDOWN, 1));
    OK(!possible(&s, LEAT_NET_TABLE, 1)); /* lowest port first is dimension order here */
    scene_close(&s);
    SCENE(&s, LEAT_NET_DRAGONFLY, 2, 4, 2);
    OK(possible(&s, LEAT_NET_HIERARCHICAL, 1));
    OK(!possible(&s, LEAT_NET_HIERARCHICAL, 2));
    OK(possible(&s, LEAT_NET_VALIANT, 3));
    OK(!possible(&s, LEAT_NET_VALIANT, 4));
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
    scene_close(&s);
    SCENE(&s, LEAT_NET_HYPERX, 4, 4);
    OK(!possible(&s, LEAT_NET_DOR, 1));
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
    scene_close(&s);
}

static void shortest_ways_round_a_circle_can_stop_and_up_and_down_cannot(void)
{
    for (uint32_t one_way = 0; one_way < 2; one_way++) {
        struct scene s;
        scene_numbers(&s, LEAT_NET_GRAPH, 0, NULL);
        s.shape.routers = s.shape.edges = 6;
        s.shape.edge = s.edge;
        for (uint32_t i = 0; i < 6; i++)
            s.edge[i] = (struct leat_net_edge){ i, (i + 1) % 6, 0, one_way };
        scene_build(&s);
        OK(possible(&s, LEAT_NET_TABLE, 4));
        if (!one_way) OK(!possible(&s, LEAT_NET_UPDOWN, 1));
        if (!one_way) OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
        scene_close(&s);
    }
}

static void the_natural_rule_of_every_kind_is_safe_with_two_channels(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t round = 0; round < 280; round++) {
        struct scene s;
        scene_random(&s, (enum leat_net_kind)(round % LEAT_NET_KINDS), &random);
        OK(!possible(&s, leat_net_rule_default(s.shape.kind), 2 + round % 5));
        scene_close(&s);
    }
}

/* ---- against the plain model ---------------------------------------------------------------- */

static void the_cycle_is_one_of_the_model(const struct leat_net_deadlock *d)
{
    OK(d->cycle_len > 0 && d->cycle_listed == d->cycle_len);
    for (uint32_t i = 0; i < d->cycle_listed; i++) {
        const struct leat_net_deadlock_step *a = &d->cycle[i];
        const struct leat_net_deadlock_step *b = &d->cycle[(i + 1) % d->cycle_listed];
        OK(model.edge[a->out * model.channels + a->channel][b->out * model.channels + b->channel]);
    }
}

/* A small random network; false: its rule does not fit, or the model would take too long. */
static bool draw(struct scene *s, struct leat_random *random)
{
    const enum leat_net_kind kind = (enum leat_net_kind)leat_random_below(random, LEAT_NET_KINDS);
    const enum leat_net_route_rule rule = (enum leat_net_route_rule)leat_random_below(
        random, LEAT_NET_RULES);
    const uint32_t channels = scene_between(random, 1, 4);
    if (kind == LEAT_NET_GRAPH && rule == LEAT_NET_TABLE) {
        scene_random_graph(s, random, 12, true);
        scene_build(s);
    } else {
        scene_random(s, kind, random);
    }
    const uint64_t terminals = s->topology.terminals;
    const uint64_t vias = rule == LEAT_NET_VALIANT ? s->topology.routers : 1;
    return s->topology.outs * channels <= NODES_MAX && terminals * terminals * vias <= WALKS_MAX &&
           scene_route(s, rule, channels);
}

/* The escape has two channels where there are rings of more than three, else one. */
static uint32_t escape_of(const struct leat_net_shape *shape)
{
    if (shape->kind != LEAT_NET_RING && shape->kind != LEAT_NET_TORUS) return 1;
    for (uint32_t i = 0; i < shape->numbers; i++)
        if (shape->number[i] > 3) return 3;
    return 1;
}

static void answers_equal_those_of_a_plain_model(void)
{
    struct leat_random random;
    uint32_t safe = 0, unsafe = 0;
    leat_random_seed(&random, tap_seed());
    leat_random_seed(&model.random, tap_seed() + 1);
    for (uint32_t round = 0; round < 100 + 2 * CAMPAIGNS;) {
        struct scene s;
        struct leat_net_deadlock deadlock;
        if (!draw(&s, &random)) {
            scene_close(&s);
            continue;
        }
        round++;
        find(&s, &deadlock);
        make_model(&s);
        if (s.config.rule == LEAT_NET_ADAPTIVE) keep_only_channels(escape_of(&s.shape));
        OK(deadlock.possible == model_has_cycle());
        EQ(deadlock.dependencies, model_edges());
        if (deadlock.possible) the_cycle_is_one_of_the_model(&deadlock);
        deadlock.possible ? unsafe++ : safe++;
        scene_close(&s);
    }
    OK(safe > 10 && unsafe > 2);
}

/* ---- large ones ----------------------------------------------------------------------------- */

static void large_ones_are_judged_by_smaller_ones_of_their_kind(void)
{
    struct scene s;
    struct leat_net_deadlock deadlock;
    SCENE(&s, LEAT_NET_TORUS, 64, 63);
    for (uint32_t channels = 1; channels < 3; channels++) {
        OK(possible(&s, LEAT_NET_DOR, channels) == (channels == 1));
        find(&s, &deadlock);
        OK(deadlock.smaller);
        EQ(deadlock.checked.shape.number[0], 6);
        EQ(deadlock.checked.shape.number[1], 5);
        OK(channels == 2 || deadlock.cycle_len == 5 || deadlock.cycle_len == 6);
    }
    scene_close(&s);
    SCENE(&s, LEAT_NET_TORUS, 3, 3, 3, 3, 3, 3, 3, 4);
    OK(!possible(&s, LEAT_NET_DOR, 2));
    OK(possible(&s, LEAT_NET_DOR, 1));
    find(&s, &deadlock);
    OK(deadlock.smaller && deadlock.checked.routers < 2049);
    scene_close(&s);
    SCENE(&s, LEAT_NET_HYPERCUBE, 12);
    OK(!possible(&s, LEAT_NET_DOR, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_FATTREE, 255, 2); /* few routers, but each may offer 255 ports */
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
    find(&s, &deadlock);
    OK(deadlock.smaller);
    scene_close(&s);
    SCENE(&s, LEAT_NET_FLY, 8, 5);
    OK(!possible(&s, LEAT_NET_TAG, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_BENES, 1024);
    OK(!possible(&s, LEAT_NET_TAG, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_FATTREE, 8, 5);
    OK(!possible(&s, LEAT_NET_UPDOWN, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_DRAGONFLY, 4, 12, 16);
    OK(!possible(&s, LEAT_NET_HIERARCHICAL, 2));
    OK(possible(&s, LEAT_NET_HIERARCHICAL, 1));
    scene_close(&s);
    SCENE(&s, LEAT_NET_GRID, 64);
    OK(!possible(&s, LEAT_NET_DOR, 1));
    scene_close(&s);
}

/* More pairs than are searched: a ring of routers with some wires across. */
static void large_graphs_are_judged_by_the_turns_they_allow(void)
{
    enum { ROUTERS = 2100 };
    static struct leat_net_edge edge[2 * ROUTERS];
    struct leat_random random;
    struct scene s;
    leat_random_seed(&random, tap_seed());
    scene_numbers(&s, LEAT_NET_GRAPH, 0, NULL);
    s.shape.routers = ROUTERS;
    s.shape.edge = edge;
    for (uint32_t i = 0; i < ROUTERS; i++) {
        const uint32_t other = (i + scene_between(&random, 2, ROUTERS - 2)) % ROUTERS;
        edge[s.shape.edges++] = (struct leat_net_edge){ i, (i + 1) % ROUTERS, 0, false };
        if (i % 2) edge[s.shape.edges++] = (struct leat_net_edge){ i, other, 0, false };
    }
    scene_build(&s);
    OK(!possible(&s, LEAT_NET_UPDOWN, 1));
    OK(!possible(&s, LEAT_NET_ADAPTIVE, 2));
    OK(!possible(&s, LEAT_NET_VALIANT, 2));
    OK(possible(&s, LEAT_NET_VALIANT, 1));
    OK(possible(&s, LEAT_NET_TABLE, 1));
    scene_close(&s);
    free(memory_of_last_find);
    memory_of_last_find = NULL;
}

/* Small networks are searched themselves, and tables are made from all wires. */
static void a_share_is_enough_for_large_networks_without_tables(void)
{
    static const struct {
        const struct leat_net_shape shape;
        enum leat_net_route_rule rule;
        bool enough;
    } cases[] = {
        { { .kind = LEAT_NET_TORUS, .number = { 64, 63 }, .numbers = 2 }, LEAT_NET_DOR, true },
        { { .kind = LEAT_NET_TORUS, .number = { 64, 63 }, .numbers = 2 }, LEAT_NET_UPDOWN, false },
        { { .kind = LEAT_NET_TORUS, .number = { 64, 63 }, .numbers = 2 }, LEAT_NET_TABLE, false },
        { { .kind = LEAT_NET_TORUS, .number = { 8, 8 }, .numbers = 2 }, LEAT_NET_DOR, false },
        { { .kind = LEAT_NET_FLY, .number = { 8, 5 }, .numbers = 2 }, LEAT_NET_TAG, true },
        { { .kind = LEAT_NET_GRAPH, .routers = 5000 }, LEAT_NET_VALIANT, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct leat_net_routing_config config = { .rule = cases[i].rule, .channels = 4 };
        EQ(leat_net_share_suffices(&cases[i].shape, &config), cases[i].enough);
    }
}

TAP_MAIN(T(a_ring_with_one_channel_can_stop_and_the_cycle_is_reported),
         T(what_is_known_to_stop_is_found_and_what_is_known_not_to_is_not),
         T(shortest_ways_round_a_circle_can_stop_and_up_and_down_cannot),
         T(the_natural_rule_of_every_kind_is_safe_with_two_channels),
         T(answers_equal_those_of_a_plain_model),
         T(large_ones_are_judged_by_smaller_ones_of_their_kind),
         T(large_graphs_are_judged_by_the_turns_they_allow),
         T(a_share_is_enough_for_large_networks_without_tables))
