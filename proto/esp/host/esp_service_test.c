/*
 * The root: services over small networks, compared with the true sums; what is void, what is late,
 * what is refused, which members it knows.
 */
#include "esp_world_test.h"
#include <string.h>

static uint64_t sum_of(const struct world *w)
{
    uint64_t sum = 0;
    for (unsigned m = 0; m < w->members; m++)
        sum += w->value[m];
    return sum;
}

/* All services, on an intact network. */
static void check_all(struct world *w)
{
    uint64_t max = w->value[0], min = w->value[0];
    for (unsigned m = 0; m < w->members; m++) {
        if (w->value[m] > max) max = w->value[m];
        if (w->value[m] < min) min = w->value[m];
    }
    const struct {
        enum leat_esp_announced kind;
        bool robust;
        uint64_t answer, counted;
    } row[] = {
        { LEAT_ESP_SERVICE_CENSUS, false, w->members, w->members },
        { LEAT_ESP_SERVICE_CENSUS, true, w->members, w->members },
        { LEAT_ESP_SERVICE_MAX, false, max, 0 },
        { LEAT_ESP_SERVICE_MIN, false, min, 0 },
        { LEAT_ESP_SERVICE_SUM, false, sum_of(w), w->members },
        { LEAT_ESP_SERVICE_SUM, true, sum_of(w), w->members },
        { LEAT_ESP_SERVICE_AVERAGE, false, sum_of(w), w->members },
    };
    join_all(w);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct leat_esp_request request = a_request(row[i].kind, row[i].robust);
        const struct leat_esp_service_result *r = serve(w, &request);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->answer, row[i].answer);
        EQ(r->counted, row[i].counted);
        EQ(r->members, w->members);
        EQ(r->attempts, 1);
        EQ(r->errors, 0);
        w->now += 2000 * ms; /* earlier bindings are gone */
    }
}

/* ---- the root's own store -------------------------------------------------------------------- */

static void members_on_the_roots_own_link_are_folded_by_its_own_store(void)
{
    static struct world w;
    open_world(&w, 20, 0, 1);
    check_all(&w);
}

static void two_routers_joined_to_the_root_give_one_answer(void)
{
    static struct world w;
    open_world(&w, 20, 2, 2);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    check_all(&w);
    open_world(&w, 21, 2, 2); /* and members beside them */
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 3 == 2 ? ROOT : m % 3;
    check_all(&w);
}

static void a_single_member_far_away_is_in_the_answer(void)
{
    static struct world w;
    open_world(&w, 1, 5, 3);
    for (unsigned r = 1; r < w.routers; r++)
        w.parent[r] = r - 1;
    w.member_at[0] = 4;
    check_all(&w);
}

static void any_tree_gives_the_truth(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN / 4 && !tap_checks_failed; i++) {
        draw_world(&w, &r);
        check_all(&w);
    }
}

static void signed_values_compare_as_signed(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_MAX, false);
    open_world(&w, 3, 0, 1);
    w.value[0] = (uint64_t)-5;
    w.value[1] = 2;
    w.value[2] = (uint64_t)-9;
    join_all(&w);
    EQ(serve(&w, &request)->answer, (uint64_t)-5);
    request.is_signed = true;
    EQ(serve(&w, &request)->answer, 2);
    request.kind = LEAT_ESP_SERVICE_MIN;
    EQ(serve(&w, &request)->answer, (uint64_t)-9);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

/* The first packets of member 0: all of its RCHLD in the first attempt. */
static bool loses_registrations(struct world *w, unsigned member,
                                const struct leat_esp_words *words)
{
    return member == 0 && words->opcode == LEAT_ESP_RCHLD && w->service.result.attempts == 1;
}

static void an_e_voids_a_robust_attempt_and_the_next_is_right(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_SUM, true);
    open_world(&w, 8, 2, 4);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    w.loses = loses_registrations;
    join_all(&w);
    request.attempts = 2;
    const struct leat_esp_service_result *r = serve(&w, &request);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, sum_of(&w));
    EQ(r->attempts, 2);
    EQ(r->voids, 1);
    OK(r->errors > 0);
    OK(w.lost >= 1);
    request.attempts = 1;
    w.now += 2000 * ms;
    EQ(serve(&w, &request)->end, LEAT_ESP_VOID);
}

static bool loses_all_of_one(struct world *w, unsigned member, const struct leat_esp_words *words)
{
    (void)words;
    return member == 5 && w->service.result.attempts == 1;
}

static void a_count_that_is_too_low_voids_and_trust_does_not(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_SUM, true);
    open_world(&w, 8, 2, 4);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    w.loses = loses_all_of_one;
    join_all(&w);
    request.attempts = 3;
    const struct leat_esp_service_result *r = serve(&w, &request);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, sum_of(&w));
    EQ(r->attempts, 2);
    EQ(r->voids, 1);
    EQ(r->errors, 0);
    request.is_trusting = true;
    w.now += 2000 * ms;
    r = serve(&w, &request);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->attempts, 1);
    EQ(r->counted, 7);
    EQ(r->answer, sum_of(&w) - w.value[5]);
}

static bool loses_collects_of_one(struct world *w, unsigned member,
                                  const struct leat_esp_words *words)
{
    (void)w;
    return member == 5 && (words->opcode == LEAT_ESP_COLLECT || words->opcode == LEAT_ESP_RCOLLECT);
}

static void what_is_missing_is_reported_when_time_is_up(void)
{
    static struct world w;
    for (unsigned robust = 0; robust < 2; robust++) {
        struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_CENSUS, robust);
        open_world(&w, 8, 4, 4);
        for (unsigned m = 0; m < w.members; m++)
            w.member_at[m] = m % 4;
        w.loses = loses_collects_of_one;
        join_all(&w);
        request.attempts = 2;
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->end, LEAT_ESP_LATE);
        EQ(r->attempts, 2);
        EQ(r->branches, 4);
        EQ(r->branches_missing, 1);
        EQ(r->errors, 0);
        OK(r->ended_at - r->began_at <= 2 * (leat_esp_request_span(&request) + 2 * ms));
    }
}

static bool loses_compares(struct world *w, unsigned member, const struct leat_esp_words *words)
{
    (void)w, (void)member, (void)words;
    return true;
}

static void no_value_at_all_is_no_extreme(void)
{
    static struct world w;
    const struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_MAX, false);
    open_world(&w, 8, 0, 4);
    w.loses = loses_compares;
    join_all(&w);
    EQ(serve(&w, &request)->end, LEAT_ESP_LATE);
}

/* The largest value's first packets are lost above its router: a later one must arrive. */
static bool loses_early_rounds(struct world *w, unsigned member, const struct leat_esp_words *words)
{
    (void)member;
    struct leat_esp_words copy = *words;
    if (w->now >= w->service.act_at + 2 * ms) return false;
    leat_esp_store_execute(&w->store[0], w->now, &copy); /* seen by the router, lost after it */
    return true;
}

static void a_value_that_was_lost_on_its_way_travels_again(void)
{
    static struct world w;
    const struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_MAX, false);
    open_world(&w, 6, 1, 4);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = 0;
    w.loses = loses_early_rounds;
    join_all(&w);
    const struct leat_esp_service_result *r = serve(&w, &request);
    OK(w.lost > 0);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, w.value[5]);
}

static void a_host_that_is_too_slow_gives_no_wrong_answer(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_CENSUS, false);
    struct leat_esp_post post;
    struct leat_text why = LEAT_TEXT(128);
    open_world(&w, 8, 0, 4);
    join_all(&w);
    EQ(leat_esp_service_begin(&w.service, 0, &request, &why), LEAT_ERR_OK);
    OK(leat_esp_service_next(&w.service, 0, &post));
    OK(!leat_esp_service_next(&w.service, w.service.act_at + 1, &post));
    EQ(w.service.result.end, LEAT_ESP_VOID);
}

static void a_host_that_is_too_slow_gets_more_time_and_the_next_answer_is_right(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_SUM, false);
    request.attempts = 2;
    request.copies = 3;
    request.pace_ps = ms / 1000;
    open_world(&w, 8, 2, 5);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    w.send_ps = 7 * ms / 10;
    join_all(&w);
    const struct leat_esp_service_result *r = serve(&w, &request);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->attempts, 2);
    EQ(r->voids, 1);
    EQ(r->answer, sum_of(&w));
    EQ(r->counted, w.members);
}

static void an_error_of_another_instruction_does_not_hide_a_full_store(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_CENSUS, true);
    struct leat_esp_words words = { .opcode = LEAT_ESP_RCHLD, .control = LEAT_ESP_FLAG_E };
    struct leat_esp_post post;
    struct leat_text why = LEAT_TEXT(128);
    request.is_trusting = true;
    request.attempts = 2;
    open_world(&w, MEMBERS_MAX, 0, 4);
    join_all(&w);
    EQ(leat_esp_service_begin(&w.service, 0, &request, &why), LEAT_ERR_OK);
    EQ(w.service.result.shards, 1);
    words.computation = w.service.computing[0].computation;
    leat_esp_service_receive(&w.service, 0, &words);
    words.opcode = LEAT_ESP_RCOLLECT;
    leat_esp_service_receive(&w.service, 0, &words);
    const leat_time end = w.service.end_at;
    while (w.now < end + ms && w.service.result.attempts == 1) {
        while (leat_esp_service_next(&w.service, w.now, &post)) {
        }
        w.now += ms / 4;
    }
    EQ(w.service.result.attempts, 2);
    OK(w.service.result.shards > 1);
}

static void packets_of_others_change_nothing(void)
{
    static struct world w;
    const struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_CENSUS, false);
    struct leat_text why = LEAT_TEXT(128);
    open_world(&w, 8, 0, 4);
    join_all(&w);
    struct leat_esp_words words = { .opcode = LEAT_ESP_COUNT,
                                    .control = LEAT_ESP_FLAG_X,
                                    .operand = { 1, 1 } };
    leat_esp_service_receive(&w.service, 0, &words); /* no request yet */
    EQ(leat_esp_service_begin(&w.service, 0, &request, &why), LEAT_ERR_OK);
    leat_esp_service_receive(&w.service, 0, &words); /* another computation */
    words.computation = w.service.computing[0].computation;
    words.opcode = LEAT_ESP_RCHLD; /* not asked for */
    leat_esp_service_receive(&w.service, 0, &words);
    words.opcode = LEAT_ESP_COUNT;
    words.control = 0; /* not to be executed */
    leat_esp_service_receive(&w.service, 0, &words);
    const struct leat_esp_reply reply = { .node = 9 };
    const struct leat_esp_next from = address_of(9);
    leat_esp_service_reply(&w.service, &from, words.computation, &reply);
    const struct leat_esp_service_result *r = run(&w);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, 8);
    EQ(r->received, 8 + 8 + 1);
}

static void requests_outside_the_limits_are_refused_with_the_reason(void)
{
    static struct world w;
    static const struct {
        const char *why;
        struct leat_esp_request request;
    } row[] = {
        { "no service of this kind", { .kind = LEAT_ESP_SERVICE_NONE } },
        { "rounds 0, expected 1 to 64", { .kind = LEAT_ESP_SERVICE_SUM } },
        { "rounds 65, expected", { .kind = LEAT_ESP_SERVICE_SUM, .rounds = 65 } },
        { "attempts 0, expected 1 to 64", { .kind = LEAT_ESP_SERVICE_SUM, .rounds = 1 } },
        { "copies of announcements 0",
          { .kind = LEAT_ESP_SERVICE_SUM, .rounds = 1, .attempts = 1 } },
        { "bits of a value 65",
          { .kind = LEAT_ESP_SERVICE_SUM,
            .rounds = 1,
            .attempts = 1,
            .copies = 1,
            .value_bits = 65 } },
        { "settling time in us 0",
          { .kind = LEAT_ESP_SERVICE_SUM,
            .rounds = 1,
            .attempts = 1,
            .copies = 1,
            .value_bits = 64 } },
        { "an attempt takes 1200004 us, expected at most tau, 1000000 us",
          { .kind = LEAT_ESP_SERVICE_SUM,
            .rounds = 1,
            .attempts = 1,
            .copies = 1,
            .value_bits = 64,
            .settle_ps = 300000000000,
            .gap_ps = 1000000 } },
    };
    open_world(&w, 8, 0, 4);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[256] = "";
        struct leat_text why;
        leat_text_init(&why, text, sizeof text - 1, NULL, NULL);
        EQ(leat_esp_service_begin(&w.service, 0, &row[i].request, &why), LEAT_ERR_RANGE);
        OK(strstr(text, row[i].why) == text);
        EQ(w.service.state, LEAT_ESP_SERVICE_IDLE);
    }
    char text[256] = "";
    struct leat_text why;
    const struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_SUM, false);
    leat_text_init(&why, text, sizeof text - 1, NULL, NULL);
    EQ(leat_esp_service_begin(&w.service, 0, &request, &why), LEAT_ERR_FULL);
    OK(strstr(text, "no members") == text);
}

/* 400 members, two parts, two phases, 1 ms each: a copy of 1.6 s, of which 671 end in 1,073 s. */
static void copies_that_take_longer_than_announcements_can_say_are_refused(void)
{
    static _Alignas(max_align_t) uint8_t memory[1 << 20];
    const struct leat_esp_service_config config = {
        .group = GROUP, .node = { .id = 1, .seed = 4, .tau = 1000 * ms }, .members_max = 400
    };
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_SUM, true);
    struct leat_esp_service service;
    OK(leat_esp_service_footprint(&config) <= sizeof memory);
    leat_esp_service_init(&service, &config, memory);
    for (unsigned m = 0; m < config.members_max; m++) {
        const struct leat_esp_join join = { .group = GROUP, .member = 7 + m, .lifetime_ms = 10 };
        struct leat_esp_next from = address_of(m);
        from.port = (uint16_t)(1 + m);
        OK(leat_esp_service_join(&service, 0, &from, &join));
    }
    EQ(service.roster.count, 400);
    request.pace_ps = ms;
    for (request.copies = 671; request.copies <= 672; request.copies++) {
        struct leat_text why = LEAT_TEXT(128);
        const leat_err err = leat_esp_service_begin(&service, 0, &request, &why);
        EQ(err, request.copies == 671 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
        EQ(service.state, LEAT_ESP_SERVICE_COMPUTING); /* the one before */
    }
}

/* ---- who is known ---------------------------------------------------------------------------- */

static void joins_are_counted_renewed_and_forgotten(void)
{
    static struct world w;
    struct leat_esp_join join = { .group = GROUP, .member = 7, .lifetime_ms = 10 };
    struct leat_esp_next from = address_of(1);
    struct leat_esp_post post;
    open_world(&w, 0, 0, 4);
    w.service.config.welcomes = true;
    OK(leat_esp_service_join(&w.service, 0, &from, &join));
    OK(leat_esp_service_join(&w.service, ms, &from, &join));
    EQ(w.service.roster.count, 1);
    EQ(w.service.roster.entry[0].until, 11 * ms);
    EQ(leat_esp_service_wake_at(&w.service), 0);
    OK(leat_esp_service_next(&w.service, ms, &post));
    EQ(post.opcode, LEAT_ESP_WELCOME);
    EQ(post.welcome.member, 7);
    EQ(post.welcome.flags, LEAT_ESP_WELCOME_KNOWN);
    OK(leat_esp_service_next(&w.service, ms, &post));
    OK(!leat_esp_service_next(&w.service, ms, &post));
    join.group++;
    OK(!leat_esp_service_join(&w.service, ms, &from, &join));
    join.group--;
    join.member = 0;
    OK(!leat_esp_service_join(&w.service, ms, &from, &join));
    EQ(w.service.refused, 2);
    join.member = 8;
    for (unsigned i = 2; i <= MEMBERS_MAX; i++) {
        from = address_of(i);
        OK(leat_esp_service_join(&w.service, 2 * ms, &from, &join));
    }
    from = address_of(200);
    OK(!leat_esp_service_join(&w.service, 2 * ms, &from, &join)); /* full */
    OK(leat_esp_service_join(&w.service, 11 * ms, &from, &join)); /* one is forgotten by then */
    join.lifetime_ms = 0;
    OK(leat_esp_service_join(&w.service, 11 * ms, &from, &join));
    leat_esp_roster_expire(&w.service.roster, 11 * ms);
    EQ(w.service.roster.count, MEMBERS_MAX - 1);
}

TAP_MAIN(T(members_on_the_roots_own_link_are_folded_by_its_own_store),
         T(two_routers_joined_to_the_root_give_one_answer),
         T(a_single_member_far_away_is_in_the_answer), T(any_tree_gives_the_truth),
         T(signed_values_compare_as_signed), T(an_e_voids_a_robust_attempt_and_the_next_is_right),
         T(a_count_that_is_too_low_voids_and_trust_does_not),
         T(what_is_missing_is_reported_when_time_is_up), T(no_value_at_all_is_no_extreme),
         T(a_value_that_was_lost_on_its_way_travels_again),
         T(a_host_that_is_too_slow_gives_no_wrong_answer),
         T(a_host_that_is_too_slow_gets_more_time_and_the_next_answer_is_right),
         T(an_error_of_another_instruction_does_not_hide_a_full_store),
         T(copies_that_take_longer_than_announcements_can_say_are_refused),
         T(packets_of_others_change_nothing),
         T(requests_outside_the_limits_are_refused_with_the_reason),
         T(joins_are_counted_renewed_and_forgotten))
