/*
 * ESP routers in trees and graphs: answers compared with the truth, packets with closed forms,
 * robust sums under loss, duplication and reordering, and plain ones on the same links.
 */
#include "esp_sim.h"
#include "tap.h"
#include <math.h>
#include <string.h>

enum {
    ROUTERS_MAX = 400,
    WIRES_MAX = 1000,
    MEMBERS_MAX = 1200,
    CAMPAIGN = LEAT_ROUNDS / 10000 + 5,
    FLIGHTS = 40000,
    REPLIES = 4000,
};

static const leat_time us = 1000000, ms = 1000000000;

struct world {
    struct leat_sim_esp sim;
    struct leat_sim_esp_config config;
    struct leat_sim_esp_wire wire[WIRES_MAX];
    uint32_t member_at[MEMBERS_MAX];
    uint64_t value[MEMBERS_MAX];
    leat_time settle;
    void *memory;
};

/* ---- networks -------------------------------------------------------------------------------- */

static void join(struct world *w, uint32_t a, uint32_t b, leat_time delay_ps)
{
    struct leat_sim_esp_graph *g = &w->config.graph;
    w->wire[g->wires++] = (struct leat_sim_esp_wire){ a, b, delay_ps };
    w->wire[g->wires++] = (struct leat_sim_esp_wire){ b, a, delay_ps };
}

static void begin_world(struct world *w, uint32_t routers, uint32_t members, uint64_t seed)
{
    *w = (struct world){ .config = { .graph = { .routers = routers, .wire = w->wire },
                                     .members = members,
                                     .member_at = w->member_at,
                                     .value = w->value,
                                     .access_ps = ms,
                                     .tau_ps = 10000 * ms,
                                     .reorder_ps = 4 * ms,
                                     .seed = seed,
                                     .groups = 1,
                                     .flights_max = FLIGHTS,
                                     .replies_max = REPLIES } };
    for (uint32_t m = 0; m < members; m++)
        w->value[m] = 1000 + m * m;
}

/* The model of spec/esp.md: levels of routers, members at the last ones in turn. */
static void make_tree(struct world *w, uint32_t levels, uint32_t fanout, uint32_t members,
                      uint64_t seed)
{
    uint32_t routers = 0, first_leaf = 0, width = 1;
    for (uint32_t i = 0; i < levels; i++, width *= fanout) {
        first_leaf = routers;
        routers += width;
    }
    begin_world(w, routers, members, seed);
    for (uint32_t r = 1; r < routers; r++)
        join(w, r, (r - 1) / fanout, ms);
    for (uint32_t m = 0; m < members; m++)
        w->member_at[m] = first_leaf + m % (routers - first_leaf);
}

/* Any connected graph, members anywhere. */
static void draw_graph(struct world *w, struct leat_random *r)
{
    const uint32_t routers = 1 + (uint32_t)leat_random_below(r, 40);
    const uint32_t members = 1 + (uint32_t)leat_random_below(r, 80);
    begin_world(w, routers, members, leat_random_next(r));
    for (uint32_t i = 1; i < routers; i++) {
        const uint32_t to = (uint32_t)leat_random_below(r, i);
        join(w, i, to, ms / 2 + leat_random_below(r, ms));
    }
    for (uint32_t i = 0; i < routers / 2; i++) {
        const uint32_t from = (uint32_t)leat_random_below(r, routers),
                       to = (uint32_t)leat_random_below(r, routers);
        join(w, from, to, ms / 2 + leat_random_below(r, ms));
    }
    w->config.graph.root = (uint32_t)leat_random_below(r, routers);
    for (uint32_t m = 0; m < w->config.members; m++) {
        w->member_at[m] = (uint32_t)leat_random_below(r, routers);
        w->value[m] = leat_random_next(r);
        w->value[m] >>= leat_random_below(r, 64);
    }
}

static void open_world(struct world *w)
{
    struct leat_text why = LEAT_TEXT(128);
    void *scratch = malloc(leat_sim_esp_paths_footprint(&w->config.graph));
    EQ(leat_sim_esp_check(&w->config, scratch, &why), LEAT_ERR_OK);
    free(scratch);
    w->memory = malloc(leat_sim_esp_footprint(&w->config));
    leat_sim_esp_init(&w->sim, &w->config, w->memory);
    w->settle = (leat_sim_esp_settle(&w->sim) + us - 1) / us * us;
}

static void make_faulty(struct world *w)
{
    w->config.loss = w->config.duplicate = w->config.reorder = UINT64_MAX / 10;
}

/* ---- services -------------------------------------------------------------------------------- */

static struct leat_esp_request a_request(const struct world *w, enum leat_esp_announced kind,
                                         bool robust, uint32_t rounds)
{
    const bool is_faulty = w->config.loss != 0;
    return (struct leat_esp_request){ .kind = kind,
                                      .robust = robust,
                                      .value_bits = 64,
                                      .rounds = rounds,
                                      .attempts = 1,
                                      .copies = is_faulty ? 8 : 1,
                                      .settle_ps = w->settle,
                                      .gap_ps = w->settle };
}

static const struct leat_esp_service_result *serve(struct world *w,
                                                   const struct leat_esp_request *request)
{
    struct leat_text why = LEAT_TEXT(256);
    const leat_err err = leat_sim_esp_ask(&w->sim, request, &why);
    EQ(err, LEAT_ERR_OK);
    if (err) printf("# %.*s\n", (int)why.len, why.buf);
    OK(!leat_sim_esp_run(&w->sim, LEAT_NEVER));
    OK(!w->sim.is_full);
    return &w->sim.service.result;
}

static uint64_t truth_of(const struct world *w, enum leat_esp_announced kind)
{
    uint64_t sum = 0, max = w->value[0], min = w->value[0];
    for (uint32_t m = 0; m < w->config.members; m++) {
        sum += w->value[m];
        if (w->value[m] > max) max = w->value[m];
        if (w->value[m] < min) min = w->value[m];
    }
    if (kind == LEAT_ESP_SERVICE_CENSUS) return w->config.members;
    if (kind == LEAT_ESP_SERVICE_MAX) return max;
    return kind == LEAT_ESP_SERVICE_MIN ? min : sum;
}

/* ---- nothing goes wrong ---------------------------------------------------------------------- */

static const enum leat_esp_announced kinds[] = { LEAT_ESP_SERVICE_CENSUS, LEAT_ESP_SERVICE_MAX,
                                                 LEAT_ESP_SERVICE_MIN, LEAT_ESP_SERVICE_SUM,
                                                 LEAT_ESP_SERVICE_AVERAGE };

static void all_services_are_right_on_any_graph(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_graph(&w, &r);
        open_world(&w);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (unsigned robust = 0; robust < 2; robust++) {
                const struct leat_esp_request request = a_request(&w, kinds[k], robust, 2);
                const struct leat_esp_service_result *result = serve(&w, &request);
                EQ(result->end, LEAT_ESP_ANSWERED);
                EQ(result->answer, truth_of(&w, kinds[k]));
                EQ(result->errors, 0);
                w.sim.now += w.config.tau_ps; /* stores are empty again */
            }
        free(w.memory);
    }
}

/* Graphs and runs that are drawn from a seed are the same with every compiler and processor. */
static void a_seed_has_one_certificate_on_every_machine(void)
{
    static const uint64_t expected[] = { 0x15b052bf5393268a, 0xdbd88f184cc217e7, 0x594437ef8301bfa2,
                                         0x7ec5ac348dfb00f7, 0x64a6960c62834895 };
    static struct world w;
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct leat_random r;
        leat_random_seed(&r, i + 1);
        draw_graph(&w, &r);
        make_faulty(&w);
        open_world(&w);
        const struct leat_esp_request request = a_request(&w, kinds[i], i % 2, 3);
        serve(&w, &request);
        EQ(leat_sim_certificate_value(&w.sim.certificate), expected[i]);
        free(w.memory);
    }
}

/* COUNT and COLLECT pass every link of the tree once each, whatever its shape. */
static void a_census_costs_two_packets_per_link(void)
{
    static struct world w;
    make_tree(&w, 4, 4, 200, 1);
    open_world(&w);
    const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, false, 1);
    EQ(serve(&w, &request)->answer, 200);
    const struct leat_sim_esp_traffic esp = leat_sim_esp_instructions(&w.sim);
    const struct leat_sim_esp_traffic unicast = leat_sim_esp_unicast(&w.sim);
    const struct leat_sim_esp_traffic messages = leat_sim_esp_messages(&w.sim);
    EQ(esp.packets, 2 * (200 + 84 + 1)); /* members' links, wires between routers, the root's */
    EQ(esp.per_link_max, 2);
    EQ(unicast.packets, 200 * 5); /* four levels are three wires, and two links of hosts */
    EQ(unicast.per_link_max, 200);
    EQ(messages.packets, 2 * 200 * 5);
    EQ(messages.per_link_max, 2 * 200);
    EQ(w.sim.counts.executed, 2 * (200 + 84));
    EQ(w.sim.counts.stopped, 2 * (200 + 84) - 2 * 85);
    EQ(w.sim.counts.aborted + w.sim.counts.full, 0);
    free(w.memory);
}

static void the_map_is_the_tree_of_the_ways(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_graph(&w, &r);
        open_world(&w);
        const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_TREE, false, 2);
        const struct leat_esp_map *map = &w.sim.service.map;
        /* Queries go down the tree that was built on the way up: on the same paths, or parts of the
         * tree stay unknown. */
        bool same = true;
        for (uint32_t m = 0; m < w.config.members; m++)
            for (uint32_t at = w.member_at[m]; at != w.config.graph.root;
                 at = w.wire[w.sim.paths.up[at]].to)
                same = same && w.wire[w.sim.paths.up[at]].to == w.wire[w.sim.paths.down[at]].from;
        const struct leat_esp_service_result *result = serve(&w, &request);
        if (same) EQ(result->end, LEAT_ESP_ANSWERED);
        EQ(result->end == LEAT_ESP_ANSWERED, result->unplaced == 0);
        for (uint32_t n = 1; n < map->nodes && result->end == LEAT_ESP_ANSWERED; n++) {
            const uint32_t router = leat_sim_esp_router_of(&map->node[n].address);
            const uint32_t parent = leat_esp_map_parent(map, map->node[n].id);
            EQ(map->node[n].id, w.sim.store[router].node.id);
            if (router == w.config.graph.root)
                EQ(parent, 0);
            else
                EQ(leat_sim_esp_router_of(&map->node[parent].address),
                   w.wire[w.sim.paths.up[router]].to);
        }
        for (uint32_t m = 0; m < w.config.members && result->end == LEAT_ESP_ANSWERED; m++) {
            const uint32_t parent = leat_esp_map_parent(map, w.sim.member[m].config.id);
            EQ(leat_sim_esp_router_of(&map->node[parent].address), w.member_at[m]);
        }
        free(w.memory);
    }
}

static const struct leat_esp_service_result *install_all(struct world *w)
{
    struct leat_esp_request request = a_request(w, LEAT_ESP_SERVICE_MULTICAST, false, 2);
    request.lifetime_ms = 60000;
    request.attempts = 3;
    return serve(w, &request);
}

/* Two announcements of a census, once over every link of the tree. */
static void announcements_by_duplicates_cost_a_packet_per_link(void)
{
    static struct world w;
    make_tree(&w, 4, 4, 200, 1);
    w.config.has_duplicates = true;
    open_world(&w);
    EQ(install_all(&w)->end, LEAT_ESP_ANSWERED);
    EQ(w.sim.service.result.answer, 85);
    OK(leat_sim_esp_messages(&w.sim).packets > 0);
    leat_sim_esp_forget_traffic(&w.sim);
    EQ(leat_sim_esp_messages(&w.sim).packets + leat_sim_esp_instructions(&w.sim).packets, 0);
    const struct leat_esp_request census = a_request(&w, LEAT_ESP_SERVICE_CENSUS, false, 1);
    EQ(serve(&w, &census)->answer, 200);
    const struct leat_sim_esp_traffic messages = leat_sim_esp_messages(&w.sim);
    EQ(messages.packets, 2 * (200 + 84 + 1));
    EQ(messages.per_link_max, 2);
    free(w.memory);
}

static void duplicates_serve_any_graph(void)
{
    static struct world w;
    struct leat_random r;
    unsigned installed = 0;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN / 4 && !tap_checks_failed; i++) {
        draw_graph(&w, &r);
        w.config.has_duplicates = true;
        open_world(&w);
        installed += install_all(&w)->end == LEAT_ESP_ANSWERED;
        w.sim.now += w.config.tau_ps;
        const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, true, 2);
        EQ(serve(&w, &request)->answer, truth_of(&w, LEAT_ESP_SERVICE_SUM));
        free(w.memory);
    }
    OK(installed > 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint32_t bindings_at(const struct world *w, uint32_t router, leat_time now)
{
    const uint64_t computation = w->sim.service.computing[0].computation;
    const struct leat_esp_store *store = &w->sim.store[router];
    const uint64_t mark = leat_esp_mark(&store->node, computation);
    struct leat_esp_binding binding[LEAT_ESP_BINDINGS_MAX];
    uint32_t cursor = 0;
    return leat_esp_group_list(leat_esp_store_group(store, mark), mark, computation, now, &cursor,
                               binding, LEAT_ESP_BINDINGS_MAX);
}

/*
 * Router 1 receives the first COUNT one link after the members act, router 0 two links after; the
 * total is bound when the first COLLECT arrives. Each exists for tau, to the tick.
 */
static void bindings_die_tau_after_their_creation(void)
{
    static struct world w;
    make_tree(&w, 2, 1, 3, 1);
    open_world(&w);
    const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, false, 1);
    EQ(serve(&w, &request)->answer, 3);
    /* Announcements take three links down; then one or two up. */
    const leat_time tau = w.config.tau_ps, acts = w.sim.service.act_at + 3 * ms;
    const leat_time collects = w.sim.service.collect_at + 3 * ms;
    for (uint32_t router = 0; router < 2; router++) {
        const leat_time counted = acts + (2 - router) * ms, total = collects + (2 - router) * ms;
        EQ(bindings_at(&w, router, counted + tau - 1), 2);
        EQ(bindings_at(&w, router, counted + tau), 1);
        EQ(bindings_at(&w, router, total + tau - 1), 1);
        EQ(bindings_at(&w, router, total + tau), 0);
    }
    free(w.memory);
}

static void an_attempt_that_takes_longer_than_tau_is_refused(void)
{
    static struct world w;
    make_tree(&w, 2, 2, 4, 1);
    open_world(&w);
    const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, true, 4);
    const leat_time span = leat_esp_request_span(&request);
    struct leat_text why = LEAT_TEXT(128);
    free(w.memory);
    w.config.tau_ps = span - 1;
    open_world(&w);
    EQ(leat_sim_esp_ask(&w.sim, &request, &why), LEAT_ERR_RANGE);
    free(w.memory);
    w.config.tau_ps = span;
    open_world(&w);
    EQ(serve(&w, &request)->answer, 4);
    free(w.memory);
}

static void the_same_seed_gives_the_same_run_in_any_pieces(void)
{
    static struct world w;
    uint64_t first = 0, other = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct leat_text why = LEAT_TEXT(128);
        make_tree(&w, 3, 3, 40, i < 2 ? 5 : 6);
        make_faulty(&w);
        open_world(&w);
        const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, true, 8);
        EQ(leat_sim_esp_ask(&w.sim, &request, &why), LEAT_ERR_OK);
        while (leat_sim_esp_run(&w.sim, w.sim.now + (i ? 777777 : 10 * ms))) {
        }
        OK(w.sim.counts.lost > 0 && w.sim.counts.duplicated > 0 && w.sim.counts.reordered > 0);
        const uint64_t value = leat_sim_certificate_value(&w.sim.certificate);
        if (i == 0) first = value;
        if (i == 1) EQ(value, first);
        if (i == 2) other = value;
        free(w.memory);
    }
    OK(first != other);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

/* How many of the model's runs were right, wrong, or had no answer. */
struct score {
    unsigned right, wrong, none;
};

static struct score play(unsigned runs, bool robust, uint32_t rounds, bool trusts,
                         uint32_t attempts)
{
    static struct world w;
    struct score score = { 0 };
    for (unsigned i = 0; i < runs; i++) {
        make_tree(&w, 4, 4, 200, tap_seed() + i);
        make_faulty(&w);
        open_world(&w);
        struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, robust, rounds);
        request.value_bits = 32; /* one part */
        request.is_trusting = trusts;
        request.attempts = attempts;
        request.copies = 32; /* the model has no announcements: nearly all must arrive */
        const struct leat_esp_service_result *r = serve(&w, &request);
        if (r->end != LEAT_ESP_ANSWERED)
            score.none++;
        else if (r->answer == truth_of(&w, LEAT_ESP_SERVICE_SUM) && r->counted == 200)
            score.right++;
        else
            score.wrong++;
        free(w.memory);
    }
    return score;
}

/*
 * spec/esp.md, "Services", "robust aggregate": 300 of 300 with K = 8, 298 with 5, 123 with 3, and
 * without the voiding rule 46 wrong answers with 3. A soak has these 300 runs, others a share.
 */
static void robust_sums_are_right_as_often_as_the_note_says_and_never_wrong(void)
{
    const unsigned all = LEAT_ROUNDS >= 100000000 ? 300 : LEAT_ROUNDS >= 1000000 ? 30 : 6;
    const struct score eight = play(all, true, 8, false, 1), five = play(all, true, 5, false, 1);
    const struct score three = play(all, true, 3, false, 1), trust = play(all, true, 3, true, 1);
    printf("# of %u: K=8 %u right, K=5 %u, K=3 %u; K=3 trusting %u right, %u wrong\n", all,
           eight.right, five.right, three.right, trust.right, trust.wrong);
    EQ(eight.wrong + five.wrong + three.wrong, 0);
    EQ(eight.right, all);
    OK(five.right >= all - all / 20 - 1);
    if (all >= 30) OK(three.right >= all / 5 && three.right <= all * 8 / 10 && trust.wrong > 0);
}

static void plain_sums_are_wrong_or_missing_on_the_same_links(void)
{
    const unsigned all = LEAT_ROUNDS >= 1000000 ? 30 : 6;
    const struct score robust = play(all, true, 8, false, 4), plain = play(all, false, 1, false, 1);
    EQ(robust.right, all);
    EQ(plain.right, 0);
    EQ(plain.wrong + plain.none, all);
}

static void retries_make_few_rounds_right_too(void)
{
    const unsigned all = LEAT_ROUNDS >= 1000000 ? 20 : 4;
    const struct score score = play(all, true, 3, false, 32);
    EQ(score.right, all);
}

/* The model's tree where each link loses this share of the packets, and nothing else happens. */
static void open_lossy(struct world *w, double loss, uint64_t seed)
{
    make_tree(w, 4, 4, 200, seed);
    w->config.loss = (uint64_t)(loss * 18446744073709551616.0);
    open_world(w);
}

/*
 * With many rounds an attempt succeeds if every member hears of both phases. Of C copies over five
 * links one arrives with probability 1 - (1 - (1 - p)^5)^C.
 */
static void an_attempt_succeeds_as_often_as_its_announcements_arrive(void)
{
    static struct world w;
    const unsigned all = LEAT_ROUNDS >= 1000000 ? 300 : 60;
    const double loss = 0.2, heard = 1 - pow(1 - pow(1 - loss, 5), 16);
    const double expected = pow(heard, 2 * 200);
    unsigned right = 0;
    for (unsigned i = 0; i < all; i++) {
        open_lossy(&w, loss, tap_seed() + i);
        struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, true, 24);
        request.copies = 16;
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->end != LEAT_ESP_ANSWERED || r->answer == 200, true);
        right += r->end == LEAT_ESP_ANSWERED;
        free(w.memory);
    }
    printf("# %u of %u attempts, expected %.1f\n", right, all, expected * all);
    OK(fabs(right - expected * all) <= 5 * sqrt(expected * (1 - expected) * all));
}

/* doc/esp.md, "Loss, duplication, reordering". */
static void attempts_that_grow_answer_where_links_lose_much(void)
{
    static struct world w;
    static const struct {
        double loss;
        uint32_t attempts_max; /* ... that were ever needed */
        leat_time within_ps;
    } row[] = { { 0.2, 5, 3000 * ms }, { 0.3, 6, 6000 * ms }, { 0.5, 8, 20000 * ms } };
    const unsigned all = LEAT_ROUNDS >= 1000000 ? 40 : 4;
    for (unsigned i = 0; i < 3 * all; i++) {
        open_lossy(&w, row[i / all].loss, tap_seed() + i);
        struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, true, 8);
        request.attempts = row[i / all].attempts_max;
        request.pace_ps = us;
        request.rounds_max = LEAT_ESP_ROUNDS_MAX;
        request.copies_max = LEAT_ESP_ANNOUNCEMENTS_MAX;
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->answer, 200);
        OK(r->ended_at - r->began_at <= row[i / all].within_ps);
        free(w.memory);
    }
}

/* Twice as much each time, up to the limits, and never more than tau allows. */
static void attempts_grow_as_far_as_they_may(void)
{
    static struct world w;
    static const uint32_t rounds[] = { 2, 4, 5, 5 }, copies[] = { 1, 2, 3, 3 };
    for (uint32_t attempts = 1; attempts <= 4; attempts++)
        for (unsigned is_short = 0; is_short < 2; is_short++) {
            make_tree(&w, 2, 2, 4, 1);
            w.config.loss = LEAT_SIM_ESP_ALWAYS;
            open_world(&w);
            struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, true, 2);
            request.attempts = attempts;
            request.copies = 1;
            request.rounds_max = 5;
            request.copies_max = 3;
            if (is_short) w.sim.service.config.node.tau = leat_esp_request_span(&request);
            EQ(serve(&w, &request)->end, LEAT_ESP_LATE);
            EQ(w.sim.service.result.rounds, is_short ? 2 : rounds[attempts - 1]);
            EQ(w.sim.service.request.copies, copies[attempts - 1]);
            free(w.memory);
        }
}

static void extremes_of_several_rounds_survive_loss(void)
{
    static struct world w;
    unsigned right = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_tree(&w, 4, 4, 200, seed);
        make_faulty(&w);
        open_world(&w);
        struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_MAX, false, 8);
        request.copies = 32;
        right += serve(&w, &request)->answer == truth_of(&w, LEAT_ESP_SERVICE_MAX);
        free(w.memory);
    }
    EQ(right, 20);
}

static void where_all_is_lost_nothing_is_answered(void)
{
    static struct world w;
    make_tree(&w, 2, 2, 4, 1);
    w.config.loss = LEAT_SIM_ESP_ALWAYS;
    open_world(&w);
    const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, true, 2);
    EQ(serve(&w, &request)->end, LEAT_ESP_LATE);
    EQ(w.sim.counts.executed, 0);
    free(w.memory);
}

static void where_all_comes_twice_robust_is_right_and_plain_is_not(void)
{
    static struct world w;
    for (unsigned robust = 0; robust < 2; robust++) {
        make_tree(&w, 2, 2, 4, 1);
        w.config.duplicate = LEAT_SIM_ESP_ALWAYS;
        open_world(&w);
        const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, robust, 8);
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->answer == truth_of(&w, LEAT_ESP_SERVICE_SUM), robust);
        free(w.memory);
    }
}

/* E is set where it aborts, and routers that see E only forward. */
static void an_instruction_that_aborts_is_executed_no_further(void)
{
    static struct world w;
    make_tree(&w, 3, 1, 1, 1);
    open_world(&w);
    const uint32_t letter = leat_sim_esp_letter_take(&w.sim.flights);
    const struct leat_sim_esp_flight flight = { .at = ms, .to = 3, .from = 4, .letter = letter };
    w.sim.flights.letter[letter] = (struct leat_sim_esp_letter){
        .origin = 4,
        .target = 0,
        .post = { .opcode = LEAT_ESP_COLLECT,
                  .words = { .opcode = LEAT_ESP_COLLECT,
                             .control = LEAT_ESP_FLAG_X,
                             .operand = { 1, 5, 2, UINT64_C(1) << 32 } } },
    };
    OK(leat_sim_esp_flights_add(&w.sim.flights, &flight));
    leat_sim_esp_run(&w.sim, LEAT_NEVER);
    EQ(w.sim.counts.executed, 1);
    EQ(w.sim.counts.aborted, 1);
    EQ(leat_sim_esp_instructions(&w.sim).packets, 3); /* it comes to the root */
    free(w.memory);
}

/* ---- packets of one's own -------------------------------------------------------------------- */

/* What an observer has seen. */
struct seen {
    const struct leat_sim_esp *sim;
    unsigned count;
    uint32_t host[8], from[8];
    leat_time at[8];
    struct leat_esp_words words[8];
};

static leat_sim_esp_observer look;

static bool look(void *context, uint32_t host, uint32_t from, const struct leat_esp_words *words)
{
    struct seen *s = context;
    OK(s->count < 8);
    if (s->count == 8) return true;
    s->host[s->count] = host;
    s->from[s->count] = from;
    s->at[s->count] = s->sim->now;
    s->words[s->count++] = *words;
    return true;
}

static struct leat_esp_words a_count(uint8_t control, uint64_t thresh)
{
    return (struct leat_esp_words){
        .computation = 7, .opcode = LEAT_ESP_COUNT, .control = control, .operand = { 1, thresh }
    };
}

/* Three levels below one another: four links from the member to the root. R brings it back; XR lets
 * the routers execute it again. */
static void a_packet_of_ones_own_is_executed_seen_and_sent_back(void)
{
    static struct world w;
    struct seen seen = { .sim = &w.sim };
    for (unsigned again = 0; again < 2; again++) {
        const uint8_t control = LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_R | (again ? LEAT_ESP_FLAG_XR : 0);
        const struct leat_esp_words count = a_count(control, 9);
        make_tree(&w, 3, 1, 2, 1);
        open_world(&w);
        seen.count = 0;
        leat_sim_esp_observe(&w.sim, look, &seen);
        OK(leat_sim_esp_send(&w.sim, 2, 0, &count));
        leat_sim_esp_wait(&w.sim, 100 * ms);
        EQ(w.sim.now, 4 * ms); /* paused where it arrived */
        leat_sim_esp_wait(&w.sim, 100 * ms);
        EQ(w.sim.now, 8 * ms);
        leat_sim_esp_wait(&w.sim, 100 * ms);
        EQ(w.sim.now, 100 * ms);
        EQ(seen.count, 2);
        EQ(seen.host[0] == 0 && seen.from[0] == 2 && seen.at[0] == 4 * ms, true);
        EQ(seen.host[1] == 2 && seen.from[1] == 0 && seen.at[1] == 8 * ms, true);
        EQ(seen.words[0].control, control);
        EQ(seen.words[1].control, again ? LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_XR : 0);
        EQ(w.sim.counts.executed, again ? 6 : 3);
        free(w.memory);
    }
}

static void a_packet_of_ones_own_stops_and_expires_like_others(void)
{
    static struct world w;
    struct seen seen = { .sim = &w.sim };
    const struct leat_esp_words count = a_count(LEAT_ESP_FLAG_X, 1);
    make_tree(&w, 2, 2, 4, 1);
    w.config.tau_ps = 50 * ms;
    open_world(&w);
    leat_sim_esp_observe(&w.sim, look, &seen);
    for (unsigned i = 0; i < 4; i++) { /* bound at 1 and 2 ms: gone at 51 and 52 */
        OK(leat_sim_esp_send(&w.sim, 1, 0, &count));
        leat_sim_esp_wait(&w.sim, w.sim.now + 10 * ms);
        leat_sim_esp_wait(&w.sim, (i + 1) * 17 * ms);
        EQ(seen.count, i < 3 ? 1 : 2);
    }
    EQ(w.sim.counts.stopped, 2);
    leat_sim_esp_observe(&w.sim, NULL, NULL);
    OK(leat_sim_esp_send(&w.sim, 4, 1, &count)); /* to another member, over the top */
    leat_sim_esp_wait(&w.sim, 200 * ms);
    EQ(seen.count, 2);
    free(w.memory);
}

/* 220 children hardly fit the 256 slots of a group with their two choices of bucket. */
static void a_store_that_is_full_voids_and_says_so(void)
{
    static struct world w;
    make_tree(&w, 1, 1, 220, 1);
    open_world(&w);
    struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, true, 2);
    request.value_bits = 32;
    const struct leat_esp_service_result *r = serve(&w, &request);
    if (w.sim.counts.full) {
        EQ(r->end, LEAT_ESP_VOID);
        OK(r->errors > 0);
    } else {
        EQ(r->answer, truth_of(&w, LEAT_ESP_SERVICE_SUM));
    }
    w.sim.now += w.config.tau_ps;
    request.value_bits = 64; /* two parts are 440 bindings: they cannot fit */
    EQ(serve(&w, &request)->end, LEAT_ESP_VOID);
    OK(w.sim.counts.full > 0);
    free(w.memory);
}

/* Children of one router: members, or routers with some members each. The service does not know how
 * many there are, and finds out how many computations their bindings need. */
static void any_number_of_children_has_room_where_the_store_has(void)
{
    static struct world w;
    static const struct {
        uint32_t routers, members;
        bool robust_sum;
    } row[] = { { 0, 177, true },
                { 0, 300, true },
                { 0, 1200, false },
                { 300, 300, true },
                { 300, 900, false } };
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        const enum leat_esp_announced kind = row[i].robust_sum ? LEAT_ESP_SERVICE_SUM
                                                               : LEAT_ESP_SERVICE_CENSUS;
        make_tree(&w, row[i].routers ? 2 : 1, row[i].routers, row[i].members, tap_seed() + i);
        w.config.groups = 256;
        open_world(&w);
        struct leat_esp_request request = a_request(&w, kind, true, 4);
        request.attempts = 8;
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->answer, truth_of(&w, kind));
        EQ(r->counted, row[i].members);
        OK(row[i].members <= 177 || (r->shards > 1 && r->attempts > 1));
        OK(r->shards <= row[i].members / 32 + 1);
        free(w.memory);
    }
}

/* The same members in any number of shards: the same answer. More than members: some are empty. */
static void shards_change_no_answer(void)
{
    static struct world w;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++)
        for (uint32_t shards = 0; shards <= 8; shards += 4) {
            draw_graph(&w, &random);
            w.config.groups = 64;
            open_world(&w);
            const enum leat_esp_announced kind = kinds[i % 2 ? 3 : 0];
            struct leat_esp_request request = a_request(&w, kind, true, 2);
            request.shards = shards;
            const struct leat_esp_service_result *r = serve(&w, &request);
            EQ(r->end, LEAT_ESP_ANSWERED);
            EQ(r->answer, truth_of(&w, kind));
            EQ(r->branches_missing, 0);
            free(w.memory);
        }
}

static void more_packets_than_there_is_room_for_are_reported(void)
{
    static struct world w;
    struct leat_text why = LEAT_TEXT(128);
    make_tree(&w, 2, 2, 40, 1);
    w.config.flights_max = 30;
    open_world(&w);
    const struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_CENSUS, false, 1);
    EQ(leat_sim_esp_ask(&w.sim, &request, &why), LEAT_ERR_OK);
    leat_sim_esp_run(&w.sim, LEAT_NEVER);
    OK(w.sim.is_full);
    free(w.memory);
}

static void numbers_outside_their_limits_are_refused(void)
{
    static struct world w;
    static const char *const expected[] = { "members 0",
                                            "delay of a host's link in ps 0",
                                            "tau in ps 0",
                                            "groups of a store 0",
                                            "groups of a store 3, expected a power of two",
                                            "packets at a time 0",
                                            "router of a member 7" };
    static uint8_t scratch[4096];
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[128] = "";
        struct leat_text why;
        leat_text_init(&why, text, sizeof text - 1, NULL, NULL);
        make_tree(&w, 2, 2, 4, 1);
        if (i == 0) w.config.members = 0;
        if (i == 1) w.config.access_ps = 0;
        if (i == 2) w.config.tau_ps = 0;
        if (i == 3) w.config.groups = 0;
        if (i == 4) w.config.groups = 3;
        if (i == 5) w.config.flights_max = 0;
        if (i == 6) w.member_at[3] = 7;
        EQ(leat_sim_esp_check(&w.config, scratch, &why), LEAT_ERR_RANGE);
        OK(strstr(text, expected[i]) == text);
    }
}

TAP_MAIN(T(all_services_are_right_on_any_graph), T(a_seed_has_one_certificate_on_every_machine),
         T(a_census_costs_two_packets_per_link), T(the_map_is_the_tree_of_the_ways),
         T(announcements_by_duplicates_cost_a_packet_per_link), T(duplicates_serve_any_graph),
         T(bindings_die_tau_after_their_creation),
         T(an_attempt_that_takes_longer_than_tau_is_refused),
         T(the_same_seed_gives_the_same_run_in_any_pieces),
         T(robust_sums_are_right_as_often_as_the_note_says_and_never_wrong),
         T(plain_sums_are_wrong_or_missing_on_the_same_links), T(retries_make_few_rounds_right_too),
         T(an_attempt_succeeds_as_often_as_its_announcements_arrive),
         T(attempts_that_grow_answer_where_links_lose_much), T(attempts_grow_as_far_as_they_may),
         T(extremes_of_several_rounds_survive_loss), T(where_all_is_lost_nothing_is_answered),
         T(where_all_comes_twice_robust_is_right_and_plain_is_not),
         T(an_instruction_that_aborts_is_executed_no_further),
         T(a_packet_of_ones_own_is_executed_seen_and_sent_back),
         T(a_packet_of_ones_own_stops_and_expires_like_others),
         T(a_store_that_is_full_voids_and_says_so),
         T(any_number_of_children_has_room_where_the_store_has), T(shards_change_no_answer),
         T(more_packets_than_there_is_room_for_are_reported),
         T(numbers_outside_their_limits_are_refused))
