/*
 * ESP routers in trees and graphs where nothing goes wrong: answers compared with the truth,
 * packets with closed forms, lifetimes, packets of one's own, limits.
 */
#include "esp_sim_world_test.h"

/* ---- nothing goes wrong ---------------------------------------------------------------------- */

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
        /* Queries go down the tree that was built on the way up: on the same paths, or parts of the
         * tree stay unknown. */
        bool same = true;
        for (uint32_t m = 0; m < w.config.members; m++)
            for (uint32_t at = w.member_at[m]; at != w.config.graph.root; at = above(&w, at))
                same = same && above(&w, at) == w.wire[w.sim.paths.down[at]].from;
        const struct leat_esp_service_result *result = serve(&w, &request);
        if (same) EQ(result->end, LEAT_ESP_ANSWERED);
        EQ(result->end == LEAT_ESP_ANSWERED, result->unplaced == 0);
        if (result->end == LEAT_ESP_ANSWERED) check_map(&w);
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

/* ---- limits --------------------------------------------------------------------------------- */

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
         T(a_packet_of_ones_own_is_executed_seen_and_sent_back),
         T(a_packet_of_ones_own_stops_and_expires_like_others),
         T(more_packets_than_there_is_room_for_are_reported),
         T(numbers_outside_their_limits_are_refused))
