/*
 * Calls while a network runs: what they carry, what is left behind, and how many are blocked,
 * against closed forms. Seeds are fixed; the standard deviation of each blocking is below 0.8 %.
 */
#include "sim_atm_calls_parts.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANS = 64, PARTIES = 256, SECOND_SLOTS = 377358, CIRCUITS = 10 };

static struct world {
    struct leat_net_topology topology;
    struct leat_sim_atm_calls_graph graph;
    struct leat_sim_atm_calls_config config;
    struct leat_sim_atm_calls_plan plan[PLANS];
    struct leat_sim_atm_calls_party party[PARTIES];
    struct leat_sim_atm_calls_random random[2];
    void *memory[3];
    struct leat_sim_atm_calls *calls;
} w;

static void *take(unsigned i, size_t len)
{
    free(w.memory[i]);
    return w.memory[i] = calloc(1, len);
}

static leat_err make_graph(const struct leat_net_shape *shape)
{
    struct leat_text why = LEAT_TEXT(256);
    struct leat_arena arena;
    EQ(leat_net_topology_build(&w.topology, shape, take(0, leat_net_topology_footprint(shape)),
                               &why),
       LEAT_ERR_OK);
    const leat_err err = leat_sim_atm_calls_graph_check(&w.topology, &why);
    if (err) return err;
    leat_arena_init(&arena, NULL, 0);
    leat_sim_atm_calls_graph_lay(&w.graph, &w.topology, 1, &arena);
    const size_t len = arena.used;
    leat_arena_init(&arena, take(1, len), len);
    leat_sim_atm_calls_graph_lay(&w.graph, &w.topology, 1, &arena);
    return LEAT_ERR_OK;
}

/* A network of 160 Mb/s lines without calls; the jitter before a line does not count. */
static void make(const struct leat_net_shape *shape)
{
    EQ(make_graph(shape), LEAT_ERR_OK);
    w.config = (struct leat_sim_atm_calls_config){
        .graph = &w.graph,
        .slot = { 50000 * LEAT_ATM_CELL_LEN, 1 },
        .line_rate = UINT64_C(377358) * LEAT_ATM_RATE_UNIT,
        .lines = leat_sim_atm_calls_lines_default(),
        .plan = w.plan,
        .party = w.party,
        .random = w.random,
        .seed = 1,
    };
    w.config.lines.jitter_ps = 0;
}

static struct leat_net_shape shape_of(enum leat_net_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    return (struct leat_net_shape){ .kind = kind,
                                    .number = { a, b, c },
                                    .numbers = c   ? 3
                                               : b ? 2
                                                   : 1,
                                    .terminals = 1,
                                    .wire_cycles = 1,
                                    .board_cycles = 1 };
}

static struct leat_sim_atm_calls_want want_of(uint64_t cells_per_second)
{
    return (struct leat_sim_atm_calls_want){
        .contract = { .class = LEAT_ATM_CBR,
                      .pcr = cells_per_second * LEAT_ATM_RATE_UNIT,
                      .clr_e12 = LEAT_ATM_CLR_ONE,
                      .ctd_ps = LEAT_NEVER,
                      .cdv_ps = LEAT_NEVER },
        .data = true,
    };
}

/* A call to `count` ports, from this slot on. */
static void plan_call(uint64_t at, uint64_t hold, uint32_t from, const uint32_t *to, uint32_t count,
                      const struct leat_sim_atm_calls_want *want)
{
    w.plan[w.config.plans++] = (struct leat_sim_atm_calls_plan){ .at = at,
                                                                 .hold = hold,
                                                                 .from = from,
                                                                 .first_party = w.config.parties,
                                                                 .parties = count,
                                                                 .want = *want };
    for (uint32_t i = 0; i < count; i++)
        w.party[w.config.parties++] = (struct leat_sim_atm_calls_party){ to[i], 0, LEAT_NEVER };
}

static const struct leat_sim_atm_calls_counts *run(uint64_t slots)
{
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_calls_check(&w.config, &why), LEAT_ERR_OK);
    w.calls = leat_sim_atm_calls_init(&w.config, take(2, leat_sim_atm_calls_footprint(&w.config)));
    leat_sim_atm_calls_run(w.calls, slots);
    return leat_sim_atm_calls_counts(w.calls);
}

/* All that calls had is free again. */
static void nothing_is_left(void)
{
    const struct leat_sim_atm_calls *s = w.calls;
    uint32_t cells = 0, legs = 0, labels = 0;
    for (uint32_t i = s->cells_free; i; i = s->cell[i - 1].next)
        cells++;
    EQ(cells, s->cells_top);
    for (uint32_t i = 0; i < s->legs; i++)
        legs += s->leg[i].used;
    EQ(legs, 0);
    for (uint32_t n = 0; n < w.graph.nodes; n++) {
        const struct leat_atm_node_counts *c = leat_atm_node_counts(s->node[n].control);
        EQ(c->calls + c->half_calls + c->parties, 0);
        for (uint32_t k = 0; k < leat_sim_atm_calls_graph_lines(&w.graph, n); k++)
            EQ(leat_atm_node_cac(s->node[n].control, k)->connections, 0);
    }
    for (uint32_t p = 0; p < w.graph.ports; p++)
        EQ(s->user[p].cac.connections, 0);
    for (uint32_t l = 0; l < w.graph.links; l++)
        for (uint32_t i = 0; i < w.config.lines.labels; i++)
            labels += s->link[l].entry[i] != 0;
    EQ(labels, 0);
    EQ(leat_sim_atm_calls_counts(s)->misdelivered, 0);
}

/* ---- what calls carry ------------------------------------------------------------------------ */

static void a_call_carries_its_cells_at_its_rate(void)
{
    const struct leat_net_shape cube = shape_of(LEAT_NET_HYPERCUBE, 3, 0, 0);
    const struct leat_sim_atm_calls_want want = want_of(37736); /* a cell in ten slots */
    make(&cube);
    plan_call(10, 10000, 0, (const uint32_t[]){ 7 }, 1, &want);
    const struct leat_sim_atm_calls_counts *n = run(20000);
    EQ(n->connected, 1);
    EQ(n->released, 1);
    OK(n->cells_sent >= 999 && n->cells_sent <= 1001);
    EQ(n->cells_delivered, n->cells_sent);
    EQ(leat_sim_atm_calls_delay(w.calls)->max, 5 * 2); /* alone: five lines and their switches */
    EQ(leat_sim_histogram_quantile(leat_sim_atm_calls_delay(w.calls), 1), 5 * 2);
    EQ(n->signal_lost + n->cells_lost + n->cells_late, 0);
    EQ(leat_sim_atm_calls_now(w.calls), 20000);
    EQ(leat_sim_atm_calls_set_up(w.calls)->count, 1);
    EQ(leat_sim_atm_calls_set_up(w.calls)->max, leat_sim_atm_calls_fate(w.calls, 0)->set_up);
    /* Two slots a line; on four lines SETUP has a label and so a second cell; CONNECT has one. */
    EQ(leat_sim_atm_calls_set_up(w.calls)->max, 5 * 2 + 4 + 5 * 2);
    nothing_is_left();
}

/* From node 0 to port 7 of a cube three lines are shortest, from node 3 one, in order of ports. */
static void routes_are_shortest_lowest_port_first(void)
{
    const struct leat_net_shape cube = shape_of(LEAT_NET_HYPERCUBE, 3, 0, 0);
    make(&cube);
    EQ(w.graph.diameter, 3);
    for (uint32_t line = 0; line < 3; line++) {
        EQ(leat_sim_atm_calls_graph_next(&w.graph, 0, 7, line), line);
        EQ(w.graph.link[w.graph.out[w.graph.out_first[0] + line]].to, 1u << line);
    }
    EQ(leat_sim_atm_calls_graph_next(&w.graph, 0, 7, 3), LEAT_NET_NONE);
    EQ(leat_sim_atm_calls_graph_next(&w.graph, 3, 7, 0), 2);
    EQ(leat_sim_atm_calls_graph_next(&w.graph, 7, 7, 0), 3); /* its port, behind the wires */
}

static void both_ways_both_users_send(void)
{
    const struct leat_net_shape clos = shape_of(LEAT_NET_CLOS, 4, 4, 4);
    struct leat_sim_atm_calls_want want = want_of(37736);
    want.both_ways = true;
    make(&clos);
    plan_call(10, 10000, 0, (const uint32_t[]){ 15 }, 1, &want);
    const struct leat_sim_atm_calls_counts *n = run(20000);
    OK(n->cells_delivered >= 1990 && n->cells_delivered <= 2002);
    EQ(n->cells_delivered + n->cells_late, n->cells_sent);
    OK(n->cells_late <= 2); /* the called user sends until it hears of the end */
    nothing_is_left();
}

/* Every line of the tree carries each cell once; the lines are those of shortest routes. */
static void switches_copy_the_cells_of_a_tree(void)
{
    const struct leat_net_shape cube = shape_of(LEAT_NET_HYPERCUBE, 3, 0, 0);
    const struct leat_sim_atm_calls_want want = want_of(37736);
    make(&cube);
    plan_call(10, 20000, 0, (const uint32_t[]){ 1, 3, 5, 7 }, 4, &want);
    const struct leat_sim_atm_calls_counts *n = run(30000);
    uint64_t carried = 0, most = 0;
    EQ(n->parties_added, 3);
    for (uint32_t l = 0; l < w.graph.links; l++) {
        const struct leat_sim_atm_calls_use use = leat_sim_atm_calls_use(w.calls, l);
        carried += use.cells - use.signal_cells;
        most = leat_larger(most, use.cells - use.signal_cells);
    }
    EQ(most, n->cells_sent);
    /* One cell: from port 0, 0>1, 1>3, 1>5, 3>7 and four ports; the first cells find fewer. */
    OK(carried <= 9 * n->cells_sent && carried >= 9 * n->cells_sent - 9 * 20);
    EQ(n->copies + n->cells_sent, n->cells_delivered);
    OK(n->cells_delivered >= 4 * (n->cells_sent - 20));
    for (uint32_t i = 0; i < 4; i++)
        EQ(leat_sim_atm_calls_party_fate(w.calls, i)->what, LEAT_SIM_ATM_CALL_RELEASED);
    nothing_is_left();
}

static void parties_come_and_go(void)
{
    const struct leat_net_shape cube = shape_of(LEAT_NET_HYPERCUBE, 3, 0, 0);
    const struct leat_sim_atm_calls_want want = want_of(37736);
    make(&cube);
    plan_call(10, 30000, 0, (const uint32_t[]){ 1, 6 }, 2, &want);
    w.party[0].drop_at = 20000;
    w.party[1].add_at = 10000;
    w.party[1].drop_at = 25000;
    const struct leat_sim_atm_calls_counts *n = run(40000);
    const struct leat_sim_atm_calls_fate *first = leat_sim_atm_calls_party_fate(w.calls, 0),
                                         *second = leat_sim_atm_calls_party_fate(w.calls, 1);
    EQ(first->what, LEAT_SIM_ATM_CALL_RELEASED);
    EQ(second->what, LEAT_SIM_ATM_CALL_RELEASED);
    OK(first->delivered >= 1985 && first->delivered <= 2005);
    OK(second->delivered >= 1485 && second->delivered <= 1505);
    EQ(n->released, 1); /* with its last party */
    OK(leat_sim_atm_calls_fate(w.calls, 0)->sent <= 2510);
    nothing_is_left();
}

static void a_call_without_room_is_blocked_with_its_cause(void)
{
    const struct leat_net_shape line = shape_of(LEAT_NET_MESH, 3, 0, 0);
    const struct leat_sim_atm_calls_want want = want_of(200000);
    make(&line);
    plan_call(10, 10000, 0, (const uint32_t[]){ 2 }, 1, &want);
    plan_call(1000, 10000, 1, (const uint32_t[]){ 2 }, 1, &want); /* the line to 2 is taken */
    plan_call(1100, 10000, 0, (const uint32_t[]){ 1 }, 1, &want); /* the user's own */
    w.config.lines.labels = 1;
    plan_call(20000, 1000, 0, (const uint32_t[]){ 2 }, 1, &want);
    w.plan[3].want = want_of(1000);
    plan_call(20000, 1000, 1, (const uint32_t[]){ 2 }, 1, &w.plan[3].want); /* no label */
    const struct leat_sim_atm_calls_counts *n = run(40000);
    EQ(leat_sim_atm_calls_fate(w.calls, 0)->what, LEAT_SIM_ATM_CALL_RELEASED);
    EQ(leat_sim_atm_calls_fate(w.calls, 1)->cause, LEAT_ATM_CAUSE_RATE);
    EQ(leat_sim_atm_calls_fate(w.calls, 2)->cause, LEAT_ATM_CAUSE_RATE);
    EQ(n->blocked_by_user, 1);
    EQ(leat_sim_atm_calls_fate(w.calls, 3)->what == LEAT_SIM_ATM_CALL_BLOCKED,
       leat_sim_atm_calls_fate(w.calls, 4)->what == LEAT_SIM_ATM_CALL_RELEASED);
    EQ(n->by_cause[LEAT_ATM_CAUSE_NO_LABEL], 1);
    nothing_is_left();
}

/* ---- the same whatever the pieces ------------------------------------------------------------ */

static void pieces_do_not_change_a_run(void)
{
    const struct leat_net_shape cube = shape_of(LEAT_NET_HYPERCUBE, 2, 0, 0);
    make(&cube);
    w.random[0] = (struct leat_sim_atm_calls_random){ .from = LEAT_SIM_ATM_CALLS_ANY,
                                                      .to = LEAT_SIM_ATM_CALLS_ANY,
                                                      .hold = 500,
                                                      .gap_q16 = UINT64_C(100) << 16,
                                                      .want = want_of(10000) };
    w.config.randoms = 1;
    run(20000);
    const uint64_t whole = leat_sim_atm_calls_certificate(w.calls);
    run(1);
    for (uint64_t at = 2; at < 20000; at += at / 3 + 1)
        leat_sim_atm_calls_run(w.calls, at);
    leat_sim_atm_calls_run(w.calls, 20000);
    OK(leat_sim_atm_calls_certificate(w.calls) == whole);
    w.config.seed = 2;
    run(20000);
    OK(leat_sim_atm_calls_certificate(w.calls) != whole);
}

/* ---- blocking -------------------------------------------------------------------------------- */

static double erlang_b(unsigned servers, double erlangs)
{
    double b = 1;
    for (unsigned n = 1; n <= servers; n++)
        b = erlangs * b / (n + erlangs * b);
    return b;
}

static double binomial(unsigned n, unsigned k)
{
    double b = 1;
    if (k > n) return 0;
    for (unsigned i = 1; i <= k; i++)
        b = b * (n - k + i) / i;
    return b;
}

/* Engset: the share of calls that find all servers taken, of sources with `a` = hold / idle. */
static double engset(unsigned sources, unsigned servers, double a)
{
    double sum = 0;
    for (unsigned k = 0; k <= servers; k++)
        sum += binomial(sources - 1, k) * pow(a, k);
    return binomial(sources - 1, servers) * pow(a, servers) / sum;
}

/* Ways to place k rooks that do not attack on an n x n board without `gone` diagonal squares. */
static double rooks(unsigned n, unsigned gone, unsigned k)
{
    double ways = 0, sign = 1;
    for (unsigned j = 0; j <= k; j++, sign = -sign) {
        double rest = binomial(n - j, k - j) * binomial(n - j, k - j);
        for (unsigned i = 2; i <= k - j; i++)
            rest *= i;
        ways += sign * binomial(gone, j) * rest;
    }
    return ways;
}

/*
 * A switch whose lines take one call each, both from and to a port. Its state is a set of calls,
 * of which no two share a caller or a called port; the probability of a state of k calls is
 * proportional to (a / (n - 1))^k (product form). A call is blocked where its caller or its port is
 * taken.
 */
static double blocked_by_either_line(unsigned n, double erlangs)
{
    double all = 0, with_room = 0, power = 1;
    for (unsigned k = 0; k <= n; k++, power *= erlangs / (n - 1)) {
        all += rooks(n, n, k) * power;
        if (k < n) with_room += rooks(n - 1, n - 2, k) * power;
    }
    return 1 - with_room / all;
}

static void closed_forms_have_known_values(void)
{
    OK(fabs(erlang_b(10, 10) - 0.21458) < 1e-5); /* tables of Erlang B */
    OK(fabs(engset(2, 1, 1) - 0.5) < 1e-12);
    OK(fabs(rooks(4, 4, 4) - 9) < 1e-9);                  /* derangements of four */
    OK(fabs(blocked_by_either_line(2, 1) - 0.5) < 1e-12); /* two independent servers */
}

static void offer(uint32_t from, uint32_t to, double erlangs, uint64_t rate)
{
    const uint64_t hold = 20 * SECOND_SLOTS; /* long against the time to set up a call */
    w.random[w.config.randoms++] = (struct leat_sim_atm_calls_random){
        .from = from,
        .to = to,
        .hold = hold,
        .gap_q16 = (uint64_t)((double)(hold << 16) / erlangs),
        .want = want_of(rate),
    };
    w.random[w.config.randoms - 1].want.data = false;
    w.config.warmup = 5 * hold;
}

static void is_within_two_percent(const struct leat_sim_atm_calls_counts *n, double expected)
{
    const double measured = (double)n->blocked / (double)n->offered;
    printf("# blocked %.5f of %llu calls, the formula says %.5f\n", measured,
           (unsigned long long)n->offered, expected);
    OK(fabs(measured / expected - 1) < 0.02);
    EQ(n->lost + n->signal_lost, 0);
}

/* Four ports call the fifth: its line refuses, never theirs. */
static void blocking_of_a_line_is_erlang_b(void)
{
    const struct leat_net_shape star = shape_of(LEAT_NET_CROSSBAR, 5, 0, 0);
    make(&star);
    offer(LEAT_SIM_ATM_CALLS_ANY, 4, 4, 35000);
    EQ(leat_sim_atm_calls_circuits(&w.config, &w.random[0].want, LEAT_SIM_ATM_CALLS_FIRST),
       CIRCUITS);
    const struct leat_sim_atm_calls_counts *n = run(UINT64_C(20) * SECOND_SLOTS * 1000);
    is_within_two_percent(n, erlang_b(CIRCUITS, 4 * 4));
    EQ(n->by_cause[LEAT_ATM_CAUSE_RATE], n->blocked);
    EQ(n->blocked_by_user, 0);
    OK(fabs((double)n->live_slots / (double)(w.calls->now - w.config.warmup) /
                (16 * (1 - erlang_b(CIRCUITS, 16))) -
            1) < 0.02);
}

static void blocking_by_labels_is_erlang_b(void)
{
    const struct leat_net_shape line = shape_of(LEAT_NET_MESH, 2, 0, 0);
    make(&line);
    offer(0, 1, 6, 1000);
    w.config.lines.labels = 4;
    const struct leat_sim_atm_calls_counts *n = run(UINT64_C(20) * SECOND_SLOTS * 2000);
    is_within_two_percent(n, erlang_b(4, 6));
    EQ(n->by_cause[LEAT_ATM_CAUSE_NO_LABEL], n->blocked);
}

static void blocking_of_few_sources_is_engset(void)
{
    const struct leat_net_shape star = shape_of(LEAT_NET_CROSSBAR, 3, 0, 0);
    make(&star);
    offer(LEAT_SIM_ATM_CALLS_ANY, 2, 1, 100000);
    w.random[0].sources = 3;
    w.random[0].idle = w.random[0].hold;
    EQ(leat_sim_atm_calls_circuits(&w.config, &w.random[0].want, LEAT_SIM_ATM_CALLS_FIRST), 3);
    is_within_two_percent(run(UINT64_C(20) * SECOND_SLOTS * 4000), engset(6, 3, 1));
}

static void blocking_of_two_lines_has_product_form(void)
{
    const struct leat_net_shape star = shape_of(LEAT_NET_CROSSBAR, 6, 0, 0);
    make(&star);
    offer(LEAT_SIM_ATM_CALLS_ANY, LEAT_SIM_ATM_CALLS_ANY, 0.5, 200000);
    EQ(leat_sim_atm_calls_circuits(&w.config, &w.random[0].want, LEAT_SIM_ATM_CALLS_ACCESS), 1);
    is_within_two_percent(run(UINT64_C(20) * SECOND_SLOTS * 4000), blocked_by_either_line(6, 0.5));
}

/* ---- campaign -------------------------------------------------------------------------------- */

static struct leat_net_shape draw_shape(struct leat_random *r)
{
    const uint32_t which = (uint32_t)leat_random_below(r, 6);
    const uint32_t size = 2 + (uint32_t)leat_random_below(r, 3);
    switch (which) {
    case 0: return shape_of(LEAT_NET_HYPERCUBE, size, 0, 0);
    case 1: return shape_of(LEAT_NET_TORUS, size, 3, 0);
    case 2: return shape_of(LEAT_NET_MESH, size, 2, 0);
    case 3: return shape_of(LEAT_NET_CLOS, size, 2, 3);
    case 4: return shape_of(LEAT_NET_FATTREE, size, 2, 0);
    default: return shape_of(LEAT_NET_CROSSBAR, size + 2, 0, 0);
    }
}

/* Together: all parties are added at once, which small queues do not hold. */
static void draw_call(struct leat_random *r, bool together)
{
    static const enum leat_atm_class classes[] = { LEAT_ATM_CBR, LEAT_ATM_VBR_RT, LEAT_ATM_VBR_NRT,
                                                   LEAT_ATM_UBR };
    const uint32_t ports = w.graph.ports;
    const uint64_t rate = 1000 + leat_random_below(r, 60000);
    struct leat_sim_atm_calls_want want = want_of(rate);
    uint32_t to[4], from = (uint32_t)leat_random_below(r, ports), count = 0;
    const uint32_t wanted = 1 + (uint32_t)leat_random_below(r, 4);
    want.contract.class = classes[leat_random_below(r, 4)];
    want.contract.scr = want.contract.pcr / LEAT_ATM_RATE_UNIT / 2 * LEAT_ATM_RATE_UNIT;
    want.contract.mbs = 1 + leat_random_below(r, 10);
    for (uint32_t p = (uint32_t)leat_random_below(r, ports), i = 0; i < ports && count < wanted;
         i++, p = (p + 1) % ports)
        if (p != from) to[count++] = p;
    want.both_ways = count == 1 && leat_random_below(r, 2);
    const uint64_t at = 1 + (uint64_t)w.config.plans * (together ? 3 : 100);
    const uint64_t hold = 1 + leat_random_below(r, 5000);
    plan_call(at, hold, from, to, count, &want);
    for (uint32_t i = w.config.parties - count; i < w.config.parties; i++) {
        w.party[i].add_at = together ? 0 : at + leat_random_below(r, 2000);
        const uint64_t stay = leat_random_below(r, 4000);
        if (stay % 2) w.party[i].drop_at = at + 2000 + stay;
    }
}

/* Small queues of signalling lose messages: timers repeat them, audits end what is left. */
static void whatever_happens_nothing_is_left(void)
{
    struct leat_random r;
    uint64_t lost = 0, trees = 0, ended = 0;
    leat_random_seed(&r, tap_seed());
    for (unsigned round = 0; round < 40; round++) {
        const struct leat_net_shape shape = draw_shape(&r);
        const bool loses = round % 2;
        make(&shape);
        w.config.lines.labels = 1 + (uint32_t)leat_random_below(&r, 8);
        if (loses) w.config.lines.cells[2] = 3 + (uint32_t)leat_random_below(&r, 3);
        for (unsigned i = 0; i < 40; i++)
            draw_call(&r, loses);
        const struct leat_sim_atm_calls_counts *n = run(UINT64_C(400) * SECOND_SLOTS);
        EQ(n->offered, 40);
        EQ(n->connected + n->blocked, n->offered);
        EQ(n->released + n->lost, n->connected);
        EQ(n->cells_sent + n->copies, n->cells_delivered + n->cells_lost + n->cells_late);
        if (!loses) EQ(n->signal_lost, 0);
        lost += n->signal_lost;
        trees += n->parties_added;
        ended += n->lost;
        nothing_is_left();
    }
    printf("# %llu cells of signalling lost, %llu parties added, %llu calls ended by the network\n",
           (unsigned long long)lost, (unsigned long long)trees, (unsigned long long)ended);
    OK(lost > 0 && trees > 0);
}

static void wires_of_one_way_are_refused(void)
{
    const struct leat_net_shape fly = shape_of(LEAT_NET_FLY, 2, 3, 0);
    EQ(make_graph(&fly), LEAT_ERR_FIELD);
}

TAP_MAIN(T(routes_are_shortest_lowest_port_first), T(a_call_carries_its_cells_at_its_rate),
         T(both_ways_both_users_send), T(switches_copy_the_cells_of_a_tree), T(parties_come_and_go),
         T(a_call_without_room_is_blocked_with_its_cause), T(pieces_do_not_change_a_run),
         T(closed_forms_have_known_values), T(blocking_of_a_line_is_erlang_b),
         T(blocking_by_labels_is_erlang_b), T(blocking_of_few_sources_is_engset),
         T(blocking_of_two_lines_has_product_form), T(whatever_happens_nothing_is_left),
         T(wires_of_one_way_are_refused))
