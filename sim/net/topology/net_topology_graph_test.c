/* Graphs by their edges, and graphs that cannot be built. */
#include "net_topology_test.h"
#include <leat/random.h>

enum { ROUTERS_CAP = 12, EDGES_CAP = 40, TERMINALS_CAP = 20 };

/* ---- random graphs beside a plain model ------------------------------------------------------ */

struct graph {
    struct leat_net_shape shape;
    struct leat_net_edge edge[EDGES_CAP];
    uint32_t terminal_at[TERMINALS_CAP];
    uint32_t distance[ROUTERS_CAP][ROUTERS_CAP]; /* NONE: unreachable */
};

static struct leat_net_edge random_edge(struct leat_random *random, uint32_t routers)
{
    const uint32_t a = (uint32_t)leat_random_below(random, routers);
    const uint32_t b = (a + 1 + (uint32_t)leat_random_below(random, routers - 1)) % routers;
    const uint32_t cycles = (uint32_t)leat_random_below(random, 4);
    const bool one_way = leat_random_below(random, 4) == 0;
    return (struct leat_net_edge){ a, b, cycles, one_way };
}

static void random_graph(struct leat_random *random, struct graph *g)
{
    struct leat_net_shape *s = &g->shape;
    *s = (struct leat_net_shape){ .kind = LEAT_NET_GRAPH, .edge = g->edge };
    s->wire_cycles = 1 + (uint32_t)leat_random_below(random, 9);
    s->routers = 2 + (uint32_t)leat_random_below(random, ROUTERS_CAP - 1);
    s->edges = (uint32_t)leat_random_below(random, 3 * s->routers);
    s->terminals = 1 + (uint32_t)leat_random_below(random, 2);
    for (uint32_t i = 0; i < s->edges; i++)
        g->edge[i] = random_edge(random, s->routers);
    if (leat_random_below(random, 2)) return;
    s->terminal_at = g->terminal_at;
    s->terminal_count = 1 + (uint32_t)leat_random_below(random, TERMINALS_CAP);
    for (uint32_t i = 0; i < s->terminal_count; i++)
        g->terminal_at[i] = (uint32_t)leat_random_below(random, s->routers);
}

/* All shortest paths by Floyd and Warshall. True: every router reaches every other. */
static bool measure(struct graph *g)
{
    const uint32_t n = g->shape.routers;
    bool connected = true;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            g->distance[a][b] = a == b ? 0 : LEAT_NET_NONE / 2;
    for (uint32_t i = 0; i < g->shape.edges; i++) {
        g->distance[g->edge[i].a][g->edge[i].b] = 1;
        if (!g->edge[i].one_way) g->distance[g->edge[i].b][g->edge[i].a] = 1;
    }
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                if (g->distance[a][m] + g->distance[m][b] < g->distance[a][b])
                    g->distance[a][b] = g->distance[a][m] + g->distance[m][b];
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (g->distance[a][b] >= n) {
                g->distance[a][b] = LEAT_NET_NONE;
                connected = false;
            }
    return connected;
}

/* Ports in the order of the edges, then the terminals. */
static void ports_are_in_the_order_of_edges(const struct graph *g,
                                            const struct leat_net_topology *t)
{
    uint32_t outs[ROUTERS_CAP] = { 0 }, ins[ROUTERS_CAP] = { 0 };
    for (uint32_t i = 0; i < g->shape.edges; i++) {
        const struct leat_net_edge *e = &g->edge[i];
        for (uint32_t back = 0; back < (e->one_way ? 1 : 2); back++) {
            const uint32_t a = back ? e->b : e->a, b = back ? e->a : e->b;
            const uint32_t out = t->out_first[a] + outs[a]++;
            EQ(t->out_to[out], t->in_first[b] + ins[b]++);
            EQ(t->out_cycles[out], e->cycles ? e->cycles : g->shape.wire_cycles);
        }
    }
    for (uint32_t i = 0; i < t->terminals; i++) {
        const uint32_t r = g->shape.terminal_at ? g->terminal_at[i] : i / g->shape.terminals;
        EQ(t->terminal_out[i], t->out_first[r] + outs[r]++);
        EQ(t->terminal_in[i], t->in_first[r] + ins[r]++);
    }
    uint32_t most = 0;
    for (uint32_t r = 0; r < t->routers; r++) {
        EQ(t->out_first[r] + outs[r], t->out_first[r + 1]);
        EQ(t->in_first[r] + ins[r], t->in_first[r + 1]);
        if (outs[r] > most) most = outs[r];
        if (ins[r] > most) most = ins[r];
    }
    EQ(t->radix, most);
}

static void distances_are_the_model_s(const struct graph *g, const struct leat_net_topology *t)
{
    uint32_t distance[ROUTERS_CAP], scratch[ROUTERS_CAP];
    for (uint32_t a = 0; a < t->routers; a++) {
        leat_net_topology_distances(t, a, distance, scratch);
        for (uint32_t b = 0; b < t->routers; b++)
            EQ(distance[b], g->distance[a][b]);
    }
}

static void random_graphs_are_what_their_edges_say(void)
{
    struct leat_random random;
    static struct graph g;
    uint32_t built = 0, refused = 0;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 20; round++) {
        struct leat_net_topology t;
        void *memory;
        random_graph(&random, &g);
        const bool connected = measure(&g);
        EQ(check(&g.shape), LEAT_ERR_OK);
        const leat_err err = build(&g.shape, &t, &memory);
        EQ(err, connected ? LEAT_ERR_OK : LEAT_ERR_RANGE);
        OK(sound(&t));
        ports_are_in_the_order_of_edges(&g, &t);
        distances_are_the_model_s(&g, &t);
        if (err) {
            unsigned from = ROUTERS_CAP, to = ROUTERS_CAP;
            EQ(sscanf(complaint, "no route from router %u to router %u, expected one", &from, &to),
               2);
            OK(from < t.routers && to < t.routers && g.distance[from][to] == LEAT_NET_NONE);
        }
        *(err ? &refused : &built) += 1;
        free(memory);
    }
    OK(built > 10 && refused > 10);
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* Wires of one cycle; numbers come last. */
#define SHAPE(kind_, numbers_, terminals_, ...)                                                 \
    {                                                                                           \
        .kind = kind_, .number = { __VA_ARGS__ }, .numbers = numbers_, .terminals = terminals_, \
        .wire_cycles = 1                                                                        \
    }
#define GRAPH(terminals_, routers_, edges_, edge_)                                              \
    {                                                                                           \
        .kind = LEAT_NET_GRAPH, .terminals = terminals_, .wire_cycles = 1, .routers = routers_, \
        .edges = edges_, .edge = edge_                                                          \
    }

static void impossible_numbers_are_named_with_the_limit(void)
{
    static const struct {
        struct leat_net_shape shape;
        const char *complaint;
    } bad[] = {
        { SHAPE(LEAT_NET_BENES, 1, 1, 12), "N is 12, expected a power of two, 2 to 65536" },
        { SHAPE(LEAT_NET_BENES, 1, 1, 131072), "N is 131072, expected a power of two, 2 to 65536" },
        { SHAPE(LEAT_NET_BENES, 1, 1, 0), "N is 0, expected a power of two, 2 to 65536" },
        { SHAPE(LEAT_NET_MESH, 2, 1, 8, 0), "K2 is 0, expected 1 to 16777216" },
        { SHAPE(LEAT_NET_MESH, 2, 1, 8000, 8000), "64000000 routers, expected at most 16777216" },
        { SHAPE(LEAT_NET_TORUS, 3, 1, 1 << 20, 1 << 20, 1 << 20),
          "4294967295 or more routers, expected at most 16777216" },
        { SHAPE(LEAT_NET_TORUS, 1, 0, 4), "0 terminals at each router, expected 1 to 1024" },
        { SHAPE(LEAT_NET_TORUS, 1, 1023, 4), "1025 ports of a router, expected at most 1024" },
        { SHAPE(LEAT_NET_RING, 1, 2, 1 << 24), "33554432 terminals, expected at most 16777216" },
        { SHAPE(LEAT_NET_TORUS, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8),
          "285212672 ports, expected at most 134217728" },
        { SHAPE(LEAT_NET_HYPERCUBE, 1, 1, 21), "D is 21, expected 1 to 20" },
        { SHAPE(LEAT_NET_CROSSBAR, 1, 1, 1025), "N is 1025, expected 1 to 1024" },
        { SHAPE(LEAT_NET_FLY, 2, 1, 1, 3), "K is 1, expected 2 to 1024" },
        { SHAPE(LEAT_NET_FLY, 2, 1, 3, 15), "71744535 routers, expected at most 16777216" },
        { SHAPE(LEAT_NET_FLY, 2, 1, 1024, 20),
          "4294967295 or more routers, expected at most 16777216" },
        { SHAPE(LEAT_NET_FATTREE, 2, 1, 600, 2), "1200 ports of a router, expected at most 1024" },
        { SHAPE(LEAT_NET_DRAGONFLY, 3, 1, 1024, 1024, 1024),
          "1073742848 routers, expected at most 16777216" },
        { SHAPE(LEAT_NET_CLOS, 2, 1, 4, 4), "2 numbers, expected 3: E,M,R" },
        { SHAPE(LEAT_NET_MESH, 0, 1, 0), "0 numbers, expected 1 to 8: K1,K2,..." },
        { SHAPE(LEAT_NET_MESH, 9, 1, 2, 2, 2, 2, 2, 2, 2, 2),
          "9 numbers, expected 1 to 8: K1,K2,..." },
        { { .kind = LEAT_NET_CLOS,
            .number = { 4, 4, 4 },
            .numbers = 3,
            .terminals = 1,
            .wire_cycles = 0 },
          "wires of 0 cycles, expected 1 to 1000" },
        { { .kind = LEAT_NET_BENES,
            .number = { 4 },
            .numbers = 1,
            .terminals = 1,
            .wire_cycles = 1001 },
          "wires of 1001 cycles, expected 1 to 1000" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EQ(check(&bad[i].shape), LEAT_ERR_RANGE);
        OK(strcmp(complaint, bad[i].complaint) == 0);
        if (strcmp(complaint, bad[i].complaint) != 0) printf("# %s\n", complaint);
    }
}

static void unsound_graphs_are_named_with_what_was_expected(void)
{
    static const struct leat_net_edge far[] = { { 0, 1, 1, false }, { 1, 3, 1, true } },
                                      loop[] = { { 2, 2, 1, false } },
                                      slow[] = { { 0, 1, 1001, false } };
    static const uint32_t nowhere[] = { 0, 5 };
    static const struct {
        struct leat_net_shape shape;
        const char *complaint;
    } bad[] = {
        { GRAPH(1, 3, 2, far), "edge 1>3, expected routers 0 to 2" },
        { GRAPH(1, 3, 1, loop), "edge 2-2, expected two different routers" },
        { GRAPH(1, 3, 1, slow), "edge 0-1 is too long, expected cycles up to 1000" },
        { { .kind = LEAT_NET_GRAPH, .terminals = 1, .wire_cycles = 1 },
          "0 routers, expected 1 to 16777216" },
        { GRAPH(1, 5, 4294967295, slow), "4294967295 edges, expected 0 to 134217728" },
        { GRAPH(0, 3, 2, far), "0 terminals at each router, expected 1 to 1024" },
        { { .kind = LEAT_NET_GRAPH,
            .wire_cycles = 1,
            .routers = 5,
            .edges = 2,
            .edge = far,
            .terminal_at = nowhere,
            .terminal_count = 2 },
          "terminal 1 at router 5, expected routers 0 to 4" },
        { { .kind = LEAT_NET_GRAPH,
            .wire_cycles = 1,
            .routers = 5,
            .edges = 2,
            .edge = far,
            .terminal_at = nowhere,
            .terminal_count = 0 },
          "0 terminals, expected 1 to 16777216" },
        { GRAPH(1024, 1048576, 2, far), "1073741824 terminals, expected at most 16777216" },
        { { .kind = LEAT_NET_GRAPH,
            .number = { 3 },
            .numbers = 1,
            .terminals = 1,
            .wire_cycles = 1,
            .routers = 5,
            .edges = 2,
            .edge = far },
          "1 numbers, expected 0" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EQ(check(&bad[i].shape), LEAT_ERR_RANGE);
        OK(strcmp(complaint, bad[i].complaint) == 0);
        if (strcmp(complaint, bad[i].complaint) != 0) printf("# %s\n", complaint);
    }
}

static void a_router_of_too_many_edges_is_refused_when_built(void)
{
    static struct leat_net_edge edge[LEAT_NET_RADIX_MAX];
    const struct leat_net_shape star = { .kind = LEAT_NET_GRAPH,
                                         .terminals = 1,
                                         .wire_cycles = 1,
                                         .routers = LEAT_NET_RADIX_MAX + 1,
                                         .edges = LEAT_NET_RADIX_MAX,
                                         .edge = edge };
    struct leat_net_topology t;
    void *memory;
    for (uint32_t i = 0; i < LEAT_NET_RADIX_MAX; i++)
        edge[i] = (struct leat_net_edge){ 7, i < 7 ? i : i + 1, 0, false };
    EQ(check(&star), LEAT_ERR_OK);
    EQ(build(&star, &t, &memory), LEAT_ERR_RANGE);
    OK(strcmp(complaint, "router 7 has 1025 ports, expected at most 1024") == 0);
    free(memory);
}

static void one_way_wires_must_lead_back_somewhere(void)
{
    struct leat_net_edge edge[] = { { 0, 1, 0, true }, { 1, 2, 0, true }, { 2, 0, 0, true } };
    struct leat_net_shape s = GRAPH(1, 3, 3, edge);
    struct leat_net_topology t;
    void *memory;
    EQ(build(&s, &t, &memory), LEAT_ERR_OK);
    EQ(t.wires, 3);
    free(memory);
    s.edges = 2;
    EQ(build(&s, &t, &memory), LEAT_ERR_RANGE);
    OK(strcmp(complaint, "no route from router 1 to router 0, expected one from each router "
                         "to each other") == 0);
    free(memory);
}

/* Any numbers get an answer, and shapes reported as possible are built within limits. */
static void any_numbers_get_an_answer(void)
{
    struct leat_random random;
    uint32_t built = 0;
    leat_random_seed(&random, tap_seed() + 2);
    for (int round = 0; round < LEAT_ROUNDS; round++) {
        struct leat_net_shape s = { .wire_cycles = 1 };
        s.kind = (enum leat_net_kind)leat_random_below(&random, LEAT_NET_GRAPH);
        s.numbers = (uint32_t)leat_random_below(&random, 6);
        s.terminals = (uint32_t)leat_random_below(&random, 5);
        for (uint32_t i = 0; i < s.numbers; i++) {
            const uint64_t any = leat_random_next(&random);
            s.number[i] = (uint32_t)(any >> (32 + leat_random_below(&random, 32)));
        }
        if (check(&s)) continue;
        struct leat_net_topology t;
        void *memory;
        if (leat_net_topology_footprint(&s) > 1 << 14 || built * 50 > LEAT_ROUNDS) continue;
        EQ(build(&s, &t, &memory), LEAT_ERR_OK);
        OK(sound(&t));
        free(memory);
        built++;
    }
    OK(built > 20);
}

TAP_MAIN(T(random_graphs_are_what_their_edges_say), T(impossible_numbers_are_named_with_the_limit),
         T(unsound_graphs_are_named_with_what_was_expected),
         T(a_router_of_too_many_edges_is_refused_when_built),
         T(one_way_wires_must_lead_back_somewhere), T(any_numbers_get_an_answer))
