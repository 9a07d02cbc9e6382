/* Members: what they send and when, what they refuse; parts of values; posts as octets. */
#include "esp_member.h"
#include "esp_node.h"
#include "tap.h"
#include <leat/random.h>

enum { GROUP = 5, ID = 77, VALUE = 1000, CAMPAIGN = LEAT_ROUNDS / 100 + 100 };

static const leat_time us = 1000000;

static struct leat_esp_member a_member(void)
{
    struct leat_esp_member m;
    const struct leat_esp_member_config config = { .group = GROUP, .id = ID, .value = VALUE };
    leat_esp_member_init(&m, &config, 0);
    return m;
}

static struct leat_esp_announce an_announcement(uint8_t opcode, uint64_t serial)
{
    return (struct leat_esp_announce){
        .group = GROUP,
        .serial = serial,
        .service = LEAT_ESP_SERVICE_SUM,
        .value_from = LEAT_ESP_VALUE_OWN,
        .rounds = 3,
        .delay_us = 10,
        .interval_us = 4,
        .task = { .opcode = opcode,
                  .flags = LEAT_ESP_FLAG_X,
                  .op = 1,
                  .compValTag = 11,
                  .thresh = 1,
                  .chldCntTag = 12,
                  .sibCntTag = 13,
                  .fwdCntTag = 14,
                  .fwdThresh = 3,
                  .compIdTag = 15,
                  .collectFwdTag = 16,
                  .val = 1 },
    };
}

static void a_member_joins_at_once_and_again_and_leaves(void)
{
    struct leat_esp_member m;
    struct leat_esp_post post;
    const struct leat_esp_member_config config = {
        .group = GROUP, .id = ID, .value = VALUE, .join_every_ps = 2000 * us
    };
    leat_esp_member_init(&m, &config, 7 * us);
    EQ(leat_esp_member_wake_at(&m), 7 * us);
    OK(!leat_esp_member_next(&m, 7 * us - 1, &post));
    OK(leat_esp_member_next(&m, 7 * us, &post));
    EQ(post.opcode, LEAT_ESP_JOIN);
    EQ(post.join.group, GROUP);
    EQ(post.join.member, ID);
    EQ(post.join.value, VALUE);
    EQ(post.join.lifetime_ms, 6); /* three times 2 ms */
    OK(!leat_esp_member_next(&m, 7 * us, &post));
    EQ(leat_esp_member_wake_at(&m), 2007 * us);
    OK(leat_esp_member_next(&m, 9000 * us, &post)); /* late: one, not four */
    OK(!leat_esp_member_next(&m, 9000 * us, &post));
    leat_esp_member_leave(&m, &post);
    EQ(post.opcode, LEAT_ESP_JOIN);
    EQ(post.join.lifetime_ms, 0);
    EQ(post.join.serial, 3); /* each has its own */
}

static void rounds_come_at_their_times_with_the_members_number_and_value(void)
{
    static const struct {
        uint8_t opcode;
        uint64_t operand[LEAT_ESP_OPERANDS_MAX];
    } row[] = {
        { LEAT_ESP_COUNT, { 11, 1 } },
        { LEAT_ESP_COMPARE, { 11, VALUE, UINT64_C(1) << 32 } },
        { LEAT_ESP_COLLECT, { 11, VALUE, 12, UINT64_C(1) << 32 } },
        { LEAT_ESP_RCHLD, { 0, 13, 14, 3 } },
        { LEAT_ESP_RCOLLECT, { 0, 13, 15, VALUE, 16, 3, UINT64_C(1) << 32 } },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct leat_esp_member m = a_member();
        const struct leat_esp_announce a = an_announcement(row[i].opcode, 1);
        struct leat_esp_post post;
        OK(leat_esp_member_announced(&m, 100 * us, 99, &a));
        for (unsigned round = 0; round < 3; round++) {
            const leat_time at = (110 + 4 * round) * us;
            EQ(leat_esp_member_wake_at(&m), at);
            OK(!leat_esp_member_next(&m, at - 1, &post));
            OK(leat_esp_member_next(&m, at, &post));
            EQ(post.opcode, row[i].opcode);
            EQ(post.words.opcode, row[i].opcode);
            EQ(post.computation, 99);
            EQ(post.words.computation, 99);
            EQ(post.words.control, LEAT_ESP_FLAG_X);
            const bool has_id = row[i].opcode >= LEAT_ESP_RCHLD;
            EQ(post.words.operand[0], has_id ? leat_esp_mix64(ID, 99) : row[i].operand[0]);
            for (unsigned o = 1; o < LEAT_ESP_OPERANDS_MAX; o++)
                EQ(post.words.operand[o], row[i].operand[o]);
        }
        EQ(leat_esp_member_wake_at(&m), LEAT_NEVER);
    }
}

static void copies_count_once_and_phases_apart(void)
{
    struct leat_esp_member m = a_member();
    struct leat_esp_announce a = an_announcement(LEAT_ESP_COUNT, 1);
    OK(leat_esp_member_announced(&m, 0, 99, &a));
    a.delay_us = 3; /* a later copy */
    OK(!leat_esp_member_announced(&m, 7 * us, 99, &a));
    a.phase = 1;
    a.serial = 2;
    OK(leat_esp_member_announced(&m, 7 * us, 99, &a));
    OK(!leat_esp_member_announced(&m, 8 * us, 99, &a));
    EQ(m.refused, 0);
    struct leat_esp_post post;
    for (unsigned i = 0; i < 6; i++)
        OK(leat_esp_member_next(&m, LEAT_NEVER - 1, &post));
    OK(!leat_esp_member_next(&m, LEAT_NEVER - 1, &post));
    OK(!leat_esp_member_announced(&m, 9 * us, 99, &a)); /* done, and still known */
}

static void what_was_evicted_is_not_accepted_again(void)
{
    struct leat_esp_member m = a_member();
    struct leat_esp_announce a = an_announcement(LEAT_ESP_COUNT, 0);
    /* Each pair comes in the wrong order, which must not matter. */
    for (uint64_t i = 0; i < LEAT_ESP_PLANS_MAX + 4; i++) {
        a.serial = 100 + (i ^ 1);
        OK(leat_esp_member_announced(&m, 0, 1000 + a.serial, &a));
    }
    for (uint64_t serial = 100; serial < 100 + LEAT_ESP_PLANS_MAX + 4; serial++) {
        a.serial = serial;
        OK(!leat_esp_member_announced(&m, 0, 1000 + serial, &a));
    }
    EQ(m.forgotten, 103);
    EQ(m.plans, LEAT_ESP_PLANS_MAX);
    EQ(m.refused, 0);
}

static void what_makes_no_sense_is_refused(void)
{
    struct leat_esp_announce bad[9];
    const size_t count = sizeof bad / sizeof *bad;
    struct leat_esp_member m = a_member();
    for (size_t i = 0; i < count; i++)
        bad[i] = an_announcement(LEAT_ESP_COLLECT, 1);
    bad[0].group++;
    bad[1].member = ID + 1;
    bad[2].rounds = 0;
    bad[3].rounds = LEAT_ESP_ROUNDS_MAX + 1;
    bad[4].task.opcode = LEAT_ESP_NOP;
    bad[5].task.opcode = LEAT_ESP_QUERY;
    bad[6].task.chldCntTag = bad[6].task.compValTag;
    bad[7].task.op = 0x99;
    bad[8].value_shift = LEAT_ESP_VALUE_BITS;
    for (size_t i = 0; i < count; i++) {
        OK(!leat_esp_member_announced(&m, 0, i, &bad[i]));
        EQ(m.refused, i + 1);
    }
    EQ(leat_esp_member_wake_at(&m), LEAT_NEVER);
    struct leat_esp_announce good = an_announcement(LEAT_ESP_COLLECT, 1);
    good.member = ID;
    OK(leat_esp_member_announced(&m, 0, 1, &good));
}

static void a_welcome_is_noted_and_requests_nothing(void)
{
    struct leat_esp_member m = a_member();
    const struct leat_esp_welcome welcome = {
        .group = GROUP, .member = ID, .serial = 1, .flags = LEAT_ESP_WELCOME_KNOWN
    };
    struct leat_esp_post post;
    EQ(m.welcomed_at, LEAT_NEVER);
    leat_esp_member_leave(&m, &post); /* the first that it sends */
    OK(leat_esp_member_welcome(&m, 5, &welcome));
    EQ(m.welcomed_at, 5);
    EQ(m.refused, 0);
    EQ(leat_esp_member_wake_at(&m), LEAT_NEVER);
}

/* A challenge is answered at once, by a JOIN of its own, and only once. */
static void a_challenge_is_answered_at_once(void)
{
    struct leat_esp_member m;
    struct leat_esp_post post;
    const struct leat_esp_member_config config = {
        .group = GROUP, .id = ID, .join_every_ps = 2000 * us, .is_keyed = true
    };
    struct leat_esp_welcome welcome = { .group = GROUP, .member = ID, .challenge = 99 };
    leat_esp_member_init(&m, &config, 0);
    for (uint64_t serial = 1; serial <= 3; serial++) { /* its JOINs are in flight for long */
        OK(leat_esp_member_next(&m, 2000 * us * (serial - 1), &post));
        EQ(post.join.serial, serial);
        EQ(post.join.challenge, 0);
    }
    welcome.serial = 1;
    OK(leat_esp_member_welcome(&m, 5000 * us, &welcome));
    EQ(m.welcomed_at, LEAT_NEVER);
    EQ(leat_esp_member_wake_at(&m), 5000 * us);
    OK(leat_esp_member_next(&m, 5000 * us, &post));
    EQ(post.join.serial, 4);
    EQ(post.join.challenge, 99);
    for (welcome.serial = 2; welcome.serial <= 3; welcome.serial++) {
        OK(leat_esp_member_welcome(&m, 5001 * us, &welcome));
        OK(!leat_esp_member_next(&m, 5001 * us, &post));
    }
    EQ(m.refused, 0);
    welcome.serial = 2;
    OK(!leat_esp_member_welcome(&m, 5002 * us, &welcome));
    EQ(m.refused, 1);
}

static void a_new_value_is_for_what_is_announced_later(void)
{
    struct leat_esp_member m = a_member();
    struct leat_esp_announce a = an_announcement(LEAT_ESP_COLLECT, 1);
    struct leat_esp_post post;
    a.rounds = 1;
    OK(leat_esp_member_announced(&m, 0, 1, &a));
    m.config.value = 8;
    a.serial = 2;
    a.delay_us = 11;
    OK(leat_esp_member_announced(&m, 0, 2, &a));
    OK(leat_esp_member_next(&m, 20 * us, &post));
    EQ(post.words.operand[1], VALUE);
    OK(leat_esp_member_next(&m, 20 * us, &post));
    EQ(post.words.operand[1], 8);
    OK(!leat_esp_member_next(&m, 20 * us, &post));
}

/* Whatever was announced: nothing is due before wake_at, something is at it, in order of time. */
static void nothing_is_due_before_it_says_so(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned run = 0; run < CAMPAIGN / 20; run++) {
        struct leat_esp_member m = a_member();
        unsigned expected = 0;
        leat_time now = 0;
        for (uint64_t i = 1; i <= LEAT_ESP_PLANS_MAX; i++) {
            struct leat_esp_announce a = an_announcement(LEAT_ESP_RCHLD, i);
            a.rounds = (uint16_t)(1 + leat_random_below(&r, 4));
            a.delay_us = (uint32_t)leat_random_below(&r, 20);
            a.interval_us = (uint32_t)leat_random_below(&r, 5);
            expected += a.rounds;
            OK(leat_esp_member_announced(&m, leat_random_below(&r, 5 * us), i, &a));
        }
        for (;; expected--) {
            struct leat_esp_post post;
            const leat_time at = leat_esp_member_wake_at(&m);
            if (at == LEAT_NEVER) break;
            OK(at >= now);
            if (at > now) OK(!leat_esp_member_next(&m, at - 1, &post));
            OK(leat_esp_member_next(&m, at, &post));
            now = at;
        }
        EQ(expected, 0);
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void parts_are_those_of_the_table(void)
{
    static const struct {
        uint32_t members;
        unsigned bits, parts, piece;
    } row[] = {
        { 1, 0, 1, 0 },         { 255, 48, 1, 48 },   { 255, 49, 2, 48 },   { 256, 48, 2, 46 },
        { 4095, 40, 1, 40 },    { 65535, 32, 1, 32 }, { 65535, 33, 2, 32 }, { 1048575, 24, 1, 24 },
        { 1048575, 64, 3, 24 }, { 1, 64, 2, 62 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct leat_esp_part part[LEAT_ESP_PARTS_MAX];
        EQ(leat_esp_part_plan(row[i].members, row[i].bits, part), row[i].parts);
        if (row[i].bits) EQ(2 * part[0].count_at - 64, row[i].piece);
        for (unsigned p = 1; p < row[i].parts; p++)
            EQ(part[p].shift, p * row[i].piece);
    }
    EQ(leat_esp_part_mask(0), 0);
    EQ(leat_esp_part_mask(64), UINT64_MAX);
    const struct leat_esp_part census = { 0 };
    EQ(leat_esp_part_base(&census), 1); /* the note's val of a census */
    EQ(leat_esp_part_val(1, 0, UINT64_MAX), 1);
}

/* Added in any order, vals give back the count and the whole sum, and so the average. */
static void parts_add_up_to_count_and_sum(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned run = 0; run < CAMPAIGN; run++) {
        struct leat_esp_part part[LEAT_ESP_PARTS_MAX];
        const unsigned bits = 1 + (unsigned)leat_random_below(&r, 64);
        const uint32_t members = 1 +
                                 (uint32_t)leat_random_below(&r, 1u << leat_random_below(&r, 9));
        const unsigned parts = leat_esp_part_plan(members, bits, part);
        uint64_t total[LEAT_ESP_PARTS_MAX] = { 0 }, sum = 0, found = 0;
        uint64_t wraps = 0, found_high = 0, rest;
        const bool is_large = leat_random_next(&r) & 1;
        OK(parts >= 1 && parts <= LEAT_ESP_PARTS_MAX);
        for (uint32_t m = 0; m < members; m++) {
            const uint64_t most = leat_esp_part_mask(bits);
            const uint64_t value = is_large ? most : leat_random_next(&r) & most;
            sum += value;
            wraps += sum < value;
            for (unsigned p = 0; p < parts; p++)
                total[p] += leat_esp_part_val(leat_esp_part_base(&part[p]), part[p].shift, value);
        }
        for (unsigned p = 0; p < parts; p++) {
            EQ(leat_esp_part_count(&part[p], total[p]), members);
            const uint64_t share = leat_esp_part_share(&part[p], total[p]);
            found += share;
            found_high += leat_esp_part_share_high(&part[p], total[p]) + (found < share);
        }
        EQ(found, sum);
        EQ(found_high, wraps);
        const uint64_t average = leat_esp_part_average(found_high, found, members, &rest);
        OK(average <= leat_esp_part_mask(bits) && rest < members);
        EQ(average * members + rest, sum);
        if (is_large) OK(average == leat_esp_part_mask(bits) && rest == 0);
    }
}

/* ---- posts ----------------------------------------------------------------------------------- */

static void posts_are_what_the_codecs_read(void)
{
    static const uint8_t key[LEAT_ESP_KEY_LEN] = { 1, 2, 3 };
    uint8_t buf[LEAT_ESP_MANAGEMENT_LEN_MAX];
    struct leat_esp_management got;
    struct leat_esp_packet packet;
    size_t len;
    struct leat_esp_member m = a_member();
    struct leat_esp_announce a = an_announcement(LEAT_ESP_RCOLLECT, 1);
    struct leat_esp_post post = { .opcode = LEAT_ESP_ANNOUNCE, .computation = 42 };
    a.value_from = LEAT_ESP_VALUE_PART;
    a.value_shift = 48;
    post.announce = a;
    EQ(leat_esp_post_encode(&post, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(leat_esp_management_decode(buf, len, key, &got, NULL), LEAT_ERR_OK);
    EQ(got.announce.value_shift, 48);
    EQ(got.announce.value_from, LEAT_ESP_VALUE_PART);
    EQ(got.announce.task.collectFwdTag, 16);
    /* What a member makes of the decoded packet decodes again. */
    OK(leat_esp_member_announced(&m, 0, got.computationId, &got.announce));
    OK(leat_esp_member_next(&m, 10 * us, &post));
    EQ(leat_esp_post_encode(&post, NULL, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(leat_esp_packet_decode(buf, len, &packet, NULL), LEAT_ERR_OK);
    EQ(packet.opcode, LEAT_ESP_RCOLLECT);
    EQ(packet.computationId, 42);
    EQ(packet.pktId, leat_esp_mix64(ID, 42));
    EQ(leat_esp_post_encode(&post, NULL, buf, len - 1, &len), LEAT_ERR_SPACE);
    leat_esp_member_leave(&m, &post);
    EQ(leat_esp_post_encode(&post, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(leat_esp_management_decode(buf, len, key, &got, NULL), LEAT_ERR_OK);
    EQ(got.join.member, ID);
    post = (struct leat_esp_post){ .opcode = LEAT_ESP_QUERY, .computation = 42 };
    post.query = (struct leat_esp_query){ .target = 7, .nonce = 8, .store = LEAT_ESP_LOC_CENTRE };
    EQ(leat_esp_post_encode(&post, key, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(leat_esp_management_decode(buf, len, key, &got, NULL), LEAT_ERR_OK);
    EQ(got.query.target, 7);
}

TAP_MAIN(T(a_member_joins_at_once_and_again_and_leaves),
         T(rounds_come_at_their_times_with_the_members_number_and_value),
         T(copies_count_once_and_phases_apart), T(what_was_evicted_is_not_accepted_again),
         T(what_makes_no_sense_is_refused), T(a_welcome_is_noted_and_requests_nothing),
         T(a_challenge_is_answered_at_once), T(a_new_value_is_for_what_is_announced_later),
         T(nothing_is_due_before_it_says_so), T(parts_are_those_of_the_table),
         T(parts_add_up_to_count_and_sum), T(posts_are_what_the_codecs_read))
