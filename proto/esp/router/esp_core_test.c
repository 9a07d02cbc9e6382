#include "esp_core.h"
#include "esp_model_test.h"
#include "esp_node.h"
#include "esp_trace_test.h"
#include <string.h>

enum { TAU = 10000, GROUPS = 4 };
static const struct leat_esp_node node = { .id = 77, .seed = 0x5eed, .tau = TAU };
static _Alignas(64) uint8_t memory[MODEL_GROUPS * (sizeof(struct leat_esp_group) + 64)];

static struct leat_esp_store fresh(uint32_t groups)
{
    struct leat_esp_store store;
    OK(leat_esp_store_footprint(groups) <= sizeof memory);
    leat_esp_store_init(&store, &node, groups, memory);
    return store;
}

/* ---- small parts -------------------------------------------------------------------------- */

/* splitmix64 from 1234567, as published with xoshiro's reference code; a widely used check. */
static void numbers_are_spread_by_splitmix64(void)
{
    static const uint64_t want[] = { 6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u, 4593380528125082431u,
                                     16408922859458223821u };
    for (uint64_t i = 0; i < 5; i++)
        OK(leat_esp_spread(1234567 + i * UINT64_C(0x9E3779B97F4A7C15)) == want[i]);
    OK(leat_esp_mix64(3, 4) == leat_esp_spread(leat_esp_spread(3) ^ 4));
    OK(leat_esp_mark(&node, 9) == model_mix(node.seed, 9));
    OK(leat_esp_child_id(&node, 9) == model_mix(node.id, 9));
}

static void masks_are_what_a_loop_finds(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 10000; round++) {
        uint64_t word[8];
        uint32_t equal = 0, live = 0;
        const uint64_t wanted = leat_random_below(&r, 3);
        for (uint32_t i = 0; i < 8; i++) {
            word[i] = leat_random_below(&r, 3);
            if (!leat_random_below(&r, 9)) word[i] += LEAT_ESP_TICKS_MAX;
            equal |= (uint32_t)(word[i] == wanted) << i;
            live |= (uint32_t)(wanted < word[i]) << i;
        }
        EQ(leat_esp_mask_equal(word, wanted), equal);
        EQ(leat_esp_mask_live(word, wanted), live);
    }
    for (uint32_t mask = 0; mask < 256; mask++) {
        uint32_t lowest = 0;
        while (mask && !(mask >> lowest & 1))
            lowest++;
        EQ(leat_esp_mask_lowest(mask), lowest);
        EQ(leat_esp_mask_count(mask), model_bits(mask));
    }
}

static void a_keys_two_buckets_differ_and_all_are_used(void)
{
    uint32_t first[32] = { 0 }, second[32] = { 0 }, apart[32] = { 0 };
    for (uint64_t tag = 0; tag < 32000; tag++) {
        uint32_t want[2];
        model_buckets(node.seed, 5, tag, want);
        const uint64_t spread = leat_esp_spread(tag ^ leat_esp_mark(&node, 5));
        EQ(leat_esp_bucket_first(spread), want[0]);
        EQ(leat_esp_bucket_second(spread), want[1]);
        first[want[0]]++;
        second[want[1]]++;
        apart[(want[1] - want[0]) & 31]++;
    }
    EQ(apart[0], 0);
    for (int i = 0; i < 32; i++) /* 1000 each, of standard deviation 31 */
        OK(first[i] > 800 && second[i] > 800 && (i == 0 || apart[i] > 800));
}

static void operators_are_those_of_plain_arithmetic(void)
{
    static const uint64_t edge[] = { 0,
                                     1,
                                     2,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     INT64_MAX,
                                     INT64_MAX - 1,
                                     UINT64_C(1) << 63,
                                     (UINT64_C(1) << 63) + 1 };
#define X(name, code) code,
    static const uint32_t compare[] = { LEAT_ESP_COMPARE_LIST(X) };
    static const uint32_t fold[] = { LEAT_ESP_FOLD_LIST(X) };
#undef X
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 20000; round++) {
        const uint64_t dice = leat_random_below(&r, 4);
        const uint64_t a = dice & 1 ? edge[leat_random_below(&r, 9)] : leat_random_next(&r);
        const uint64_t b = dice & 2 ? edge[leat_random_below(&r, 9)] : leat_random_next(&r);
        for (size_t i = 0; i < sizeof compare / sizeof *compare; i++)
            EQ(leat_esp_compare(compare[i], a, b), model_compare(compare[i], a, b));
        for (size_t i = 0; i < sizeof fold / sizeof *fold; i++)
            OK(leat_esp_fold(fold[i], a, b) == model_fold(fold[i], a, b));
    }
    OK(leat_esp_add_signed(5, UINT64_MAX) == 4);
    OK(leat_esp_op_bias(LEAT_ESP_FOLD_MIN_S) == UINT64_C(1) << 63);
    OK(leat_esp_op_bias(LEAT_ESP_FOLD_MIN) == 0);
}

static void an_identity_changes_no_value(void)
{
    static const uint64_t edge[] = { 0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63 };
#define X(name, code) code,
    static const uint32_t fold[] = { LEAT_ESP_FOLD_LIST(X) };
#undef X
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t round = 0; round < 1000; round++) {
        const uint64_t value = round < 5 ? edge[round] : leat_random_next(&r);
        for (size_t i = 0; i < sizeof fold / sizeof *fold; i++) {
            const uint64_t identity = leat_esp_identity(fold[i]);
            OK(model_fold(fold[i], identity, value) == value);
            OK(model_fold(fold[i], value, identity) == value);
        }
    }
}

static void lists_of_words_are_the_packets_operands(void)
{
    struct leat_esp_packet p = { .opcode = LEAT_ESP_RCOLLECT,
                                 .loc = 6,
                                 .flags = 9,
                                 .op = 3,
                                 .computationId = 1,
                                 .pktId = 2,
                                 .sibCntTag = 3,
                                 .compIdTag = 4,
                                 .val = 5,
                                 .collectFwdTag = 6,
                                 .fwdThresh = 7 };
    struct leat_esp_packet back;
    struct leat_esp_words w;
    leat_esp_words_of(&p, &w);
    EQ(w.control, 0xc9);
    EQ(w.operand[5], 7);
    EQ(w.operand[6], 3ll << 32);
    leat_esp_words_back(&w, &back);
    OK(memcmp(&p, &back, sizeof p) == 0);
    uint64_t operand[LEAT_ESP_OPERANDS_MAX];
    leat_esp_packet_gather(&p, operand);
    OK(memcmp(operand, w.operand, sizeof operand) == 0);
    operand[3] = 55;
    leat_esp_packet_scatter(operand, &back);
    EQ(back.val, 55);
    EQ(leat_esp_rewritten(LEAT_ESP_RCOLLECT), 1 | 8);
    EQ(leat_esp_rewritten(LEAT_ESP_RCHLD), 1);
    EQ(leat_esp_rewritten(LEAT_ESP_COLLECT), 2 | 4);
    EQ(leat_esp_rewritten(LEAT_ESP_COMPARE) | leat_esp_rewritten(LEAT_ESP_COUNT), 0);
}

/* ---- the rows of the note ----------------------------------------------------------------- */

static enum leat_esp_verdict run(struct leat_esp_store *store, uint64_t clock,
                                 struct leat_esp_packet *p)
{
    p->flags = LEAT_ESP_FLAG_X;
    p->computationId = 7;
    return (enum leat_esp_verdict)leat_esp_store_visit(store, clock, p).verdict;
}

static struct leat_esp_packet count_packet(uint64_t tag, uint64_t thresh)
{
    return (
        struct leat_esp_packet){ .opcode = LEAT_ESP_COUNT, .compValTag = tag, .thresh = thresh };
}

/* Binds a tag to a value, whatever it was. */
static void bind(struct leat_esp_store *store, uint64_t clock, uint64_t tag, uint64_t value)
{
    struct leat_esp_packet p = {
        .opcode = LEAT_ESP_COMPARE, .compValTag = tag, .pktVal = value, .op = LEAT_ESP_COMPARE_NE
    };
    const enum leat_esp_verdict verdict = run(store, clock, &p);
    OK(verdict == LEAT_ESP_PASS || verdict == LEAT_ESP_STOP);
}

/* The value of a tag; -1: unbound. */
static long long value_of(const struct leat_esp_store *store, uint64_t clock, uint64_t tag)
{
    struct leat_esp_binding all[LEAT_ESP_GROUP_SLOTS];
    uint32_t cursor = 0;
    const uint64_t mark = leat_esp_mark(&store->node, 7);
    const uint32_t count = leat_esp_group_list(leat_esp_store_group(store, mark), mark, 7, clock,
                                               &cursor, all, LEAT_ESP_GROUP_SLOTS);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].tag == tag) return (long long)all[i].value;
    return -1;
}

static void count_passes_up_to_its_threshold_and_wraps(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(1, 2), none = count_packet(2, 0);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    EQ(value_of(&store, 0, 1), 3);
    EQ(run(&store, 0, &none), LEAT_ESP_STOP);
    EQ(value_of(&store, 0, 2), 1);
    bind(&store, 0, 1, UINT64_MAX);
    p.thresh = 0;
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(value_of(&store, 0, 1), 0);
}

static void compare_keeps_what_improves(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = {
        .opcode = LEAT_ESP_COMPARE, .compValTag = 1, .pktVal = 5, .op = LEAT_ESP_COMPARE_LT
    };
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    p.pktVal = 4;
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    EQ(value_of(&store, 0, 1), 5);
    p.pktVal = 6;
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(value_of(&store, 0, 1), 6);
}

static void collect_waits_for_all_children(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = { .opcode = LEAT_ESP_COLLECT,
                                 .compValTag = 1,
                                 .chldCntTag = 2,
                                 .val = 10,
                                 .op = LEAT_ESP_FOLD_ADD };
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED);
    EQ(p.flags, LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_E);
    EQ(value_of(&store, 0, 1), -1); /* "Holes", 2: no half-made total */
    bind(&store, 0, 2, 2);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    EQ(p.val, 10);
    p.val = 5;
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(p.val, 15);
    EQ(value_of(&store, 0, 2), 0);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED); /* "Holes", 3: not below 0 */
    EQ(value_of(&store, 0, 1), 15);
    EQ(value_of(&store, 0, 2), 0);
}

static struct leat_esp_packet rchld(uint64_t child)
{
    return (struct leat_esp_packet){
        .opcode = LEAT_ESP_RCHLD, .pktId = child, .sibCntTag = 2, .fwdCntTag = 3, .fwdThresh = 3
    };
}

static void rchld_counts_a_child_once(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet a = rchld(100), b = rchld(200);
    EQ(run(&store, 0, &a), LEAT_ESP_PASS);
    OK(a.pktId == leat_esp_mix64(node.id, 7)); /* "Holes", 4 */
    EQ(value_of(&store, 0, 2), 1);
    a = rchld(100);
    EQ(run(&store, 0, &a), LEAT_ESP_PASS);
    EQ(value_of(&store, 0, 2), 1);
    EQ(run(&store, 0, &b), LEAT_ESP_PASS);
    EQ(value_of(&store, 0, 2), 2);
    b = rchld(200);
    EQ(run(&store, 0, &b), LEAT_ESP_STOP);
    EQ(b.pktId, 200);
    EQ(value_of(&store, 0, 100), 1);
    EQ(value_of(&store, 0, 3), 4);
}

static struct leat_esp_packet rcollect(uint64_t child, uint64_t val)
{
    return (struct leat_esp_packet){ .opcode = LEAT_ESP_RCOLLECT,
                                     .pktId = child,
                                     .sibCntTag = 2,
                                     .compIdTag = 4,
                                     .val = val,
                                     .collectFwdTag = 5,
                                     .fwdThresh = 2,
                                     .op = LEAT_ESP_FOLD_ADD };
}

static void rcollect_takes_a_child_once_and_returns_the_total(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED);
    p = rchld(100);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    p = rchld(200);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    p = rcollect(300, 1);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED); /* nobody's child */
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP); /* a duplicate */
    EQ(value_of(&store, 0, 4), 10);
    p = rcollect(200, 5);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(p.val, 15);
    OK(p.pktId == leat_esp_mix64(node.id, 7));
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS); /* what was lost is sent again */
    EQ(p.val, 15);
    p = rcollect(200, 5);
    EQ(run(&store, 0, &p), LEAT_ESP_STOP);
}

/* "Holes", 3. */
static void rcollect_aborts_where_counts_do_not_fit(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = rcollect(100, 10);
    bind(&store, 0, 100, 1);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED); /* siblings unbound */
    bind(&store, 0, 2, 0);
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED); /* a fresh child, no siblings */
    EQ(value_of(&store, 0, 100), 1);
    bind(&store, 0, 100, 0);
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_ABORTED); /* all there, but no total */
    EQ(value_of(&store, 0, 5), -1);
    bind(&store, 0, 4, 99);
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(p.val, 99);
    bind(&store, 0, 100, 2); /* neither 0 nor 1: as 0 */
    p = rcollect(100, 10);
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(value_of(&store, 0, 100), 2);
}

static void a_node_whose_id_is_a_tag_of_the_packet_aborts(void)
{
    const uint64_t own = leat_esp_child_id(&node, 7);
    for (int which = 0; which < 5; which++) {
        struct leat_esp_store store = fresh(1);
        struct leat_esp_packet p = which < 2 ? rchld(100) : rcollect(100, 1);
        uint64_t *tag[] = { &p.sibCntTag, &p.fwdCntTag, &p.sibCntTag, &p.compIdTag,
                            &p.collectFwdTag };
        *tag[which] = own;
        if (which >= 2) {
            bind(&store, 0, 100, 1);
            bind(&store, 0, p.sibCntTag, 1);
        }
        struct leat_esp_group before = store.group[0];
        EQ(run(&store, 0, &p), LEAT_ESP_ABORTED);
        OK(memcmp(&before, store.group, sizeof before) == 0);
        p.flags = LEAT_ESP_FLAG_X;
        p.fwdThresh = 0; /* it stops here: nothing malformed is forwarded */
        EQ(run(&store, 0, &p), LEAT_ESP_STOP);
    }
}

static void nothing_happens_without_x_or_with_e_or_to_a_nop(void)
{
    static const uint8_t flags[] = { 0, LEAT_ESP_FLAG_E, LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_E,
                                     LEAT_ESP_FLAG_R | LEAT_ESP_FLAG_XR };
    struct leat_esp_store store = fresh(1);
    const struct leat_esp_group empty = store.group[0];
    struct leat_esp_packet nop = { .opcode = LEAT_ESP_NOP };
    for (int i = 0; i < 4; i++) {
        struct leat_esp_packet p = count_packet(1, 0);
        p.flags = flags[i];
        const struct leat_esp_packet before = p;
        EQ(leat_esp_store_visit(&store, 5, &p).verdict, LEAT_ESP_PASS);
        OK(memcmp(&p, &before, sizeof p) == 0);
    }
    EQ(run(&store, 5, &nop), LEAT_ESP_PASS);
    OK(memcmp(&empty, store.group, sizeof empty) == 0);
}

/* ---- time --------------------------------------------------------------------------------- */

static void a_binding_dies_tau_after_its_creation_to_the_tick(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(1, 100);
    run(&store, 1000, &p);
    run(&store, 1000 + TAU / 2, &p); /* rewriting does not prolong it */
    EQ(value_of(&store, 1000 + TAU - 1, 1), 2);
    EQ(value_of(&store, 1000 + TAU, 1), -1);
    run(&store, 1000 + TAU - 1, &p);
    EQ(value_of(&store, 1000 + TAU - 1, 1), 3);
    run(&store, 1000 + TAU, &p);
    EQ(value_of(&store, 1000 + TAU, 1), 1);
    EQ(value_of(&store, 1000 + 2 * TAU - 1, 1), 1);
    EQ(value_of(&store, 1000 + 2 * TAU, 1), -1);
}

static void a_groups_time_never_runs_back(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(1, 100), other = count_packet(2, 100);
    struct leat_esp_packet aborts = rcollect(100, 1);
    run(&store, 1000, &p);
    run(&store, 500, &other); /* at 1000, too */
    EQ(value_of(&store, 1000 + TAU - 1, 2), 1);
    EQ(value_of(&store, 1000 + TAU, 2), -1);
    EQ(run(&store, 1000 + TAU, &aborts), LEAT_ESP_ABORTED);
    EQ((long long)store.group[0].last, 1000 + TAU);
    run(&store, 1000 + TAU - 1, &p); /* what was seen expired stays expired */
    EQ(value_of(&store, 1000 + TAU, 1), 1);
}

static void clocks_and_lifetimes_have_an_end(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(1, 100);
    store.node.tau = UINT64_MAX;
    EQ(leat_esp_ticks(5), 5);
    run(&store, 0, &p);
    run(&store, LEAT_ESP_TICKS_MAX - 1, &p);
    EQ(value_of(&store, LEAT_ESP_TICKS_MAX - 1, 1), 2);
    run(&store, UINT64_MAX, &p); /* is LEAT_ESP_TICKS_MAX: there the first life ends */
    EQ(value_of(&store, LEAT_ESP_TICKS_MAX, 1), 1);
    store.node.tau = 0; /* lives for no time at all */
    p.compValTag = 2;
    EQ(run(&store, 0, &p), LEAT_ESP_PASS);
    EQ(value_of(&store, LEAT_ESP_TICKS_MAX, 2), -1);
}

/* ---- installed counts --------------------------------------------------------------------- */

enum { TOTAL_TAG = 1, COUNT_TAG = 2, PARENT_TAG = 3 };

static struct leat_esp_words collect(uint64_t computation, uint16_t installed, uint32_t op,
                                     uint64_t val)
{
    return (struct leat_esp_words){ .computation = computation,
                                    .opcode = LEAT_ESP_COLLECT,
                                    .installed = installed,
                                    .parent = PARENT_TAG,
                                    .operand = { TOTAL_TAG, val, COUNT_TAG, (uint64_t)op << 32 } };
}

/* A value arrives in computation 7. What it passes with is checked if it passes. */
static void arrives(struct leat_esp_store *store, uint64_t clock, uint16_t installed, uint64_t val,
                    enum leat_esp_verdict verdict, uint32_t created, uint64_t total)
{
    struct leat_esp_words w = collect(7, installed, LEAT_ESP_FOLD_ADD, val);
    const struct leat_esp_outcome out = leat_esp_store_execute(store, clock, &w);
    EQ(out.verdict, verdict);
    EQ(out.created, created);
    EQ(w.operand[1], verdict == LEAT_ESP_PASS ? total : val);
    EQ(w.operand[2], verdict == LEAT_ESP_PASS && installed ? PARENT_TAG : COUNT_TAG);
}

static void an_installed_count_serves_one_operation_after_the_other(void)
{
    struct leat_esp_store store = fresh(1);
    arrives(&store, 0, 3, 10, LEAT_ESP_STOP, 2, 0);
    EQ(value_of(&store, 0, TOTAL_TAG), 10);
    EQ(value_of(&store, 0, COUNT_TAG), 2);
    arrives(&store, 0, 3, 20, LEAT_ESP_STOP, 0, 0);
    arrives(&store, 0, 3, 30, LEAT_ESP_PASS, 0, 60);
    EQ(value_of(&store, 0, TOTAL_TAG), 0);
    EQ(value_of(&store, 0, COUNT_TAG), 3);
    arrives(&store, 0, 3, 1, LEAT_ESP_STOP, 0, 0);
    arrives(&store, 0, 3, 2, LEAT_ESP_STOP, 0, 0);
    arrives(&store, 0, 3, 3, LEAT_ESP_PASS, 0, 6);
    bind(&store, 0, COUNT_TAG, 1); /* a bound count is that count */
    arrives(&store, 0, 3, 7, LEAT_ESP_PASS, 0, 7);
    EQ(value_of(&store, 0, COUNT_TAG), 3);
    bind(&store, 0, COUNT_TAG, 0);
    arrives(&store, 0, 3, 7, LEAT_ESP_ABORTED, 0, 0);
    EQ(value_of(&store, 0, TOTAL_TAG), 0);
}

/* Where it is not installed, nothing counts for it and nothing is put back. */
static void without_an_installed_count_collect_is_as_ever(void)
{
    struct leat_esp_store store = fresh(1);
    arrives(&store, 0, 0, 10, LEAT_ESP_ABORTED, 0, 0);
    EQ(value_of(&store, 0, TOTAL_TAG), -1);
    EQ(value_of(&store, 0, COUNT_TAG), -1);
    bind(&store, 0, COUNT_TAG, 1);
    arrives(&store, 0, 0, 10, LEAT_ESP_PASS, 1, 10);
    EQ(value_of(&store, 0, TOTAL_TAG), 10);
    EQ(value_of(&store, 0, COUNT_TAG), 0);
}

/* Putting them back does not prolong them, and the end of their life never ends an operation. */
static void an_installed_count_and_its_total_expire_together_to_the_tick(void)
{
    struct leat_esp_store store = fresh(1);
    arrives(&store, 1000, 3, 10, LEAT_ESP_STOP, 2, 0);
    arrives(&store, 1000 + TAU / 2, 3, 20, LEAT_ESP_STOP, 0, 0);
    arrives(&store, 1000 + TAU - 1, 3, 30, LEAT_ESP_PASS, 0, 60);
    EQ(value_of(&store, 1000 + TAU - 1, TOTAL_TAG), 0);
    EQ(value_of(&store, 1000 + TAU - 1, COUNT_TAG), 3);
    EQ(value_of(&store, 1000 + TAU, TOTAL_TAG), -1);
    EQ(value_of(&store, 1000 + TAU, COUNT_TAG), -1);
    store = fresh(1);
    arrives(&store, 1000, 3, 10, LEAT_ESP_STOP, 2, 0);
    arrives(&store, 1000 + TAU - 1, 3, 20, LEAT_ESP_STOP, 0, 0);
    arrives(&store, 1000 + TAU, 3, 30, LEAT_ESP_STOP, 2, 0); /* the first two are lost */
    EQ(value_of(&store, 1000 + TAU, TOTAL_TAG), 30);
    EQ(value_of(&store, 1000 + TAU, COUNT_TAG), 2);
}

/* A computation in a plain model: no identity, and one lifetime for all it knows. */
struct gathered {
    uint32_t class;
    uint16_t children, left;
    bool is_bound, has_total;
    uint64_t expiry, total;
};

/* Folds that may follow each other in a computation, since their totals begin alike. */
static const struct {
    uint64_t identity;
    uint32_t count, fold[6];
} classes[] = {
    { 0,
      6,
      { LEAT_ESP_FOLD_ADD, LEAT_ESP_FOLD_MAX, LEAT_ESP_FOLD_OR, LEAT_ESP_FOLD_XOR,
        LEAT_ESP_FOLD_ADDSAT, LEAT_ESP_FOLD_ADDSAT_S } },
    { UINT64_MAX, 2, { LEAT_ESP_FOLD_MIN, LEAT_ESP_FOLD_AND } },
    { INT64_MAX, 1, { LEAT_ESP_FOLD_MIN_S } },
    { UINT64_C(1) << 63, 1, { LEAT_ESP_FOLD_MAX_S } },
};

static enum leat_esp_verdict gather(struct gathered *g, uint64_t now, uint32_t op, uint64_t *val,
                                    uint32_t *created)
{
    *created = 0;
    if (!g->is_bound || now >= g->expiry) {
        g->is_bound = true;
        g->has_total = false;
        g->expiry = now + TAU;
        g->left = g->children;
        *created = 2;
    }
    g->total = g->has_total ? model_fold(op, g->total, *val) : *val;
    g->has_total = --g->left > 0;
    if (g->left) return LEAT_ESP_STOP;
    *val = g->total;
    g->left = g->children;
    return LEAT_ESP_PASS;
}

static bool holds(const struct leat_esp_store *store, uint64_t now, uint64_t computation,
                  const struct gathered *g)
{
    struct leat_esp_binding all[3];
    uint32_t cursor = 0, found = 0;
    const uint64_t mark = leat_esp_mark(&store->node, computation);
    const uint32_t count = leat_esp_group_list(leat_esp_store_group(store, mark), mark, computation,
                                               now, &cursor, all, 3);
    const uint64_t total = g->has_total ? g->total : classes[g->class].identity;
    for (uint32_t i = 0; i < count; i++)
        found += all[i].tag == COUNT_TAG ? all[i].value == g->left
                                         : all[i].tag == TOTAL_TAG && all[i].value == total;
    return g->is_bound && now < g->expiry ? found == 2 && count == 2 : count == 0;
}

static void installed_counts_match_a_plain_model(void)
{
    enum { COMPUTATIONS = 16, ROUNDS = 200000 };
    static struct gathered g[COMPUTATIONS];
    static uint32_t op[COMPUTATIONS];
    struct leat_esp_store store = fresh(GROUPS);
    struct leat_random r;
    uint64_t now = 0, passed[4] = { 0 }, created_often = 0;
    leat_random_seed(&r, tap_seed());
    for (uint32_t c = 0; c < COMPUTATIONS; c++)
        g[c] = (struct gathered){ .class = c % 4,
                                  .children = (uint16_t)(1 + leat_random_below(&r, 6)) };
    for (uint32_t i = 0; i < ROUNDS && !tap_checks_failed; i++) {
        const uint64_t c = leat_random_below(&r, COMPUTATIONS), dice = leat_random_below(&r, 3);
        const uint64_t val = dice ? leat_random_next(&r) : leat_random_below(&r, 2) - 1;
        uint32_t created;
        now += leat_random_below(&r, TAU / 100);
        if (!g[c].has_total) /* the first of an operation */
            op[c] = classes[g[c].class].fold[leat_random_below(&r, classes[g[c].class].count)];
        struct leat_esp_words w = collect(c, g[c].children, op[c], val);
        uint64_t want = val;
        const enum leat_esp_verdict verdict = gather(&g[c], now, op[c], &want, &created);
        const struct leat_esp_outcome out = leat_esp_store_execute(&store, now, &w);
        EQ(out.verdict, verdict);
        EQ(out.created, created);
        OK(w.operand[1] == want);
        OK(holds(&store, now, c, &g[c]));
        passed[g[c].class] += verdict == LEAT_ESP_PASS;
        created_often += created;
    }
    for (int class = 0; class < 4; class ++)
        OK(passed[class] > ROUNDS / 100);
    OK(created_often > 100 && created_often < ROUNDS / 4);
}

/* ---- no room ------------------------------------------------------------------------------ */

enum { CROWDED = 9 }; /* the bucket under test */

/* Another computation occupies all slots but `holes` of the crowded bucket. */
static void fill(struct leat_esp_group *group, uint32_t holes)
{
    for (uint32_t i = 0; i < LEAT_ESP_GROUP_SLOTS; i++) {
        struct leat_esp_bucket *b = &group->bucket[i / 8];
        if (b->expiry[i % 8]) continue;
        if (i / 8 == CROWDED && holes) {
            holes--;
            continue;
        }
        b->key[i % 8] = i;
        b->computation[i % 8] = 8;
        b->expiry[i % 8] = TAU;
    }
}

/* The n-th tag of computation 7 that can be in the crowded bucket. */
static uint64_t crowded_tag(int n)
{
    for (uint64_t tag = 0x10000;; tag++) {
        uint32_t at[2];
        model_buckets(node.seed, 7, tag, at);
        if ((at[0] == CROWDED || at[1] == CROWDED) && n-- == 0) return tag;
    }
}

/* An instruction whose tags all map to the crowded bucket, some bound already; all pass. */
struct crowd {
    uint8_t opcode;
    uint8_t tags[LEAT_ESP_TAGS_MAX], tag_count; /* which operands */
    uint8_t bound;                              /* mask of tags */
    uint64_t value[LEAT_ESP_TAGS_MAX];
    uint32_t needs; /* new bindings */
    uint16_t installed;
};

/* clang-format off */
static const struct crowd crowds[] = {
    { LEAT_ESP_COUNT,    { 0 },          1, 0, { 0 },          1, 0 },
    { LEAT_ESP_COMPARE,  { 0 },          1, 0, { 0 },          1, 0 },
    { LEAT_ESP_COLLECT,  { 0, 2 },       2, 2, { 0, 1 },       1, 0 },
    { LEAT_ESP_COLLECT,  { 0, 2 },       2, 3, { 4, 1 },       0, 0 },
    { LEAT_ESP_COLLECT,  { 0, 2 },       2, 0, { 0 },          2, 1 },
    { LEAT_ESP_COLLECT,  { 0, 2 },       2, 2, { 0, 1 },       1, 5 },
    { LEAT_ESP_COLLECT,  { 0, 2 },       2, 3, { 4, 1 },       0, 5 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 0, { 0 },          3, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 1, { 1 },          1, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 2, { 0, 5 },       2, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 4, { 0, 0, 2 },    2, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 3, { 1, 1 },       1, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 6, { 0, 1, 1 },    1, 0 },
    { LEAT_ESP_RCHLD,    { 0, 1, 2 },    3, 7, { 1, 1, 1 },    0, 0 },
    { LEAT_ESP_RCOLLECT, { 0, 1, 2, 4 }, 4, 3, { 1, 1 },       2, 0 },
    { LEAT_ESP_RCOLLECT, { 0, 1, 2, 4 }, 4, 7, { 1, 1, 6 },    1, 0 },
    { LEAT_ESP_RCOLLECT, { 0, 1, 2, 4 }, 4, 7, { 0, 0, 6 },    1, 0 },
    { LEAT_ESP_RCOLLECT, { 0, 1, 2, 4 }, 4, 11, { 1, 1, 0, 3 }, 1, 0 },
    { LEAT_ESP_RCOLLECT, { 0, 1, 2, 4 }, 4, 15, { 1, 1, 6, 3 }, 0, 0 },
};
/* clang-format on */

/* The instruction in w, the bound tags in the store, and `holes` free slots where all tags go. */
static struct leat_esp_store crowd_up(const struct crowd *c, uint32_t holes,
                                      struct leat_esp_words *w)
{
    struct leat_esp_store store = fresh(1);
    *w = (struct leat_esp_words){ .computation = 7,
                                  .opcode = c->opcode,
                                  .installed = c->installed,
                                  .operand = { 9, 9, 9, 9, 9, 9, UINT64_C(1) << 32 } };
    w->operand[c->opcode == LEAT_ESP_COMPARE ? 2 : 3] = UINT64_C(1) << 32; /* or a threshold */
    for (int i = 0; i < c->tag_count; i++) {
        w->operand[c->tags[i]] = crowded_tag(i);
        if (c->bound >> i & 1) bind(&store, 0, crowded_tag(i), c->value[i]);
    }
    fill(store.group, holes);
    return store;
}

static void a_full_store_leaves_nothing_half_done_in_any_position(void)
{
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        for (uint32_t holes = 0; holes <= crowds[i].needs; holes++) {
            struct leat_esp_words w;
            struct leat_esp_store store = crowd_up(&crowds[i], holes, &w);
            const struct leat_esp_words sent = w;
            const struct leat_esp_group before = store.group[0];
            const struct leat_esp_outcome out = leat_esp_store_execute(&store, 0, &w);
            const bool enough = holes == crowds[i].needs;
            EQ(out.verdict, enough ? LEAT_ESP_PASS : LEAT_ESP_FULL);
            EQ(out.created, enough ? holes : 0);
            if (enough) continue;
            OK(memcmp(&before, store.group, sizeof before) == 0);
            OK(memcmp(&sent, &w, sizeof w) == 0);
        }
    }
}

static void what_a_limit_does_not_allow_is_not_done(void)
{
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        for (uint32_t allowed = 0; allowed <= crowds[i].needs; allowed++) {
            struct leat_esp_words w;
            struct leat_esp_store store = crowd_up(&crowds[i], crowds[i].needs, &w);
            const struct leat_esp_words sent = w;
            const struct leat_esp_group before = store.group[0];
            const struct leat_esp_outcome out = leat_esp_execute(
                store.group, &node, 0, leat_esp_mark(&node, 7), allowed, &w);
            const bool enough = allowed == crowds[i].needs;
            EQ(out.verdict, enough ? LEAT_ESP_PASS : LEAT_ESP_LIMITED);
            if (enough) continue;
            OK(memcmp(&before, store.group, sizeof before) == 0);
            OK(memcmp(&sent, &w, sizeof w) == 0);
        }
    }
}

static void room_elsewhere_does_not_help_and_the_dead_make_room(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(crowded_tag(0), 9);
    uint32_t at[2];
    model_buckets(node.seed, 7, p.compValTag, at);
    fill(store.group, 0);
    for (uint32_t b = 0; b < 32; b++) /* all others are empty */
        if (b != at[0] && b != at[1])
            memset(&store.group[0].bucket[b], 0, sizeof(struct leat_esp_bucket));
    EQ(run(&store, TAU - 1, &p), LEAT_ESP_FULL);
    EQ(p.flags, LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_E);
    EQ(run(&store, TAU, &p), LEAT_ESP_PASS);
    EQ(value_of(&store, TAU, p.compValTag), 1);
}

static void a_new_binding_goes_to_the_emptier_bucket_and_the_lowest_slot(void)
{
    struct leat_esp_store store = fresh(1);
    struct leat_esp_packet p = count_packet(crowded_tag(0), 9);
    uint32_t at[2];
    model_buckets(node.seed, 7, p.compValTag, at);
    struct leat_esp_bucket *first = &store.group[0].bucket[at[0]];
    struct leat_esp_bucket *second = &store.group[0].bucket[at[1]];
    run(&store, 0, &p);
    EQ((long long)first->value[0], 1); /* as many in both */
    first->expiry[0] = second->expiry[0] = 0;
    first->expiry[7] = TAU;
    run(&store, 0, &p);
    EQ((long long)second->value[0], 1);
    second->expiry[0] = 0;
    second->expiry[1] = second->expiry[2] = TAU;
    first->expiry[0] = first->expiry[7] = TAU;
    first->key[0] = 0;
    first->expiry[1] = 0;
    run(&store, 0, &p);
    EQ((long long)first->value[1], 1);
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* Of each of five traces: half a million instructions in release, 200 million in a soak. */
#define STEPS (UINT64_C(2) * LEAT_ROUNDS)

typedef uint64_t tally[LEAT_ESP_OPCODE_END][LEAT_ESP_VERDICTS];

/* Has every instruction had every verdict up to `worst` often enough? */
static bool met_often(tally seen, enum leat_esp_verdict worst)
{
    bool all = true;
    for (unsigned opcode = LEAT_ESP_COUNT; opcode < LEAT_ESP_OPCODE_END; opcode++) {
        const bool aborts = opcode == LEAT_ESP_COLLECT || opcode == LEAT_ESP_RCOLLECT;
        for (unsigned verdict = LEAT_ESP_PASS; verdict <= worst; verdict++)
            all = all && (seen[opcode][verdict] > STEPS / 1000 ||
                          (verdict == LEAT_ESP_ABORTED && !aborts));
    }
    return all;
}

/*
 * A trace against the model, packet by packet. `groups` and `computations` make stores from idle to
 * always full; `worst` is the last verdict that every instruction must have had often: the trace
 * continues until then.
 */
static void match(uint64_t seed, uint32_t groups, uint64_t computations, uint64_t tau,
                  enum leat_esp_verdict worst)
{
    static struct model m;
    static struct esp_trace trace;
    struct leat_esp_store store = fresh(groups);
    store.node.tau = tau;
    m = (struct model){ .id = node.id, .seed = node.seed, .tau = tau, .groups = groups };
    esp_trace_begin(&trace, seed, &store.node, computations);
    tally seen = { { 0 } };
    for (uint64_t i = 0; i < STEPS || (i < 20 * STEPS && !met_often(seen, worst)); i++) {
        const uint64_t clock = esp_trace_clock(&trace);
        struct leat_esp_packet want = esp_trace_packet(&trace), got = want;
        const enum leat_esp_verdict verdict = model_execute(&m, clock, &want);
        const struct leat_esp_outcome out = leat_esp_store_visit(&store, clock, &got);
        if (verdict >= LEAT_ESP_ABORTED) want.flags |= LEAT_ESP_FLAG_E;
        const bool same = out.verdict == verdict && out.created == m.created &&
                          memcmp(&want, &got, sizeof got) == 0;
        const bool store_is_the_models = same && (i % 61 || model_holds(&m, &store));
        OK(store_is_the_models);
        if (!store_is_the_models) {
            printf("# packet %llu of trace %llu\n", (unsigned long long)i,
                   (unsigned long long)seed);
            return;
        }
        seen[got.opcode][verdict]++;
    }
    OK(model_holds(&m, &store));
    OK(met_often(seen, worst));
}

static void a_million_packets_match_the_plain_model(void)
{
    match(tap_seed(), 1, 4, TAU, LEAT_ESP_ABORTED);
    match(tap_seed() + 1, 1, 14, TAU, LEAT_ESP_ABORTED);
    match(tap_seed() + 2, 1, 60, TAU, LEAT_ESP_FULL);
    match(tap_seed() + 3, 4, 30, TAU, LEAT_ESP_ABORTED);
    match(tap_seed() + 4, 2, 2, 3, LEAT_ESP_ABORTED);
}

static void many_at_once_are_as_one_after_the_other(void)
{
    enum { BATCH = 64 };
    static uint8_t other[sizeof memory];
    struct leat_esp_store one = fresh(GROUPS), many;
    static struct esp_trace trace;
    leat_esp_store_init(&many, &node, GROUPS, other);
    esp_trace_begin(&trace, tap_seed(), &node, 20);
    for (uint32_t round = 0; round < 2000; round++) {
        struct leat_esp_words w[BATCH], v[BATCH];
        struct leat_esp_outcome out[BATCH], want;
        const size_t count = esp_trace_below(&trace, BATCH + 1);
        const uint64_t clock = esp_trace_clock(&trace);
        for (size_t i = 0; i < count; i++) {
            const struct leat_esp_packet p = esp_trace_packet(&trace);
            leat_esp_words_of(&p, &w[i]);
            v[i] = w[i];
        }
        leat_esp_store_execute_many(&many, clock, v, out, count);
        for (size_t i = 0; i < count; i++) {
            want = leat_esp_store_execute(&one, clock, &w[i]);
            OK(memcmp(&want, &out[i], sizeof want) == 0 && memcmp(&w[i], &v[i], sizeof *w) == 0);
        }
    }
    OK(memcmp(one.group, many.group, GROUPS * sizeof *one.group) == 0);
}

TAP_MAIN(T(numbers_are_spread_by_splitmix64), T(masks_are_what_a_loop_finds),
         T(a_keys_two_buckets_differ_and_all_are_used), T(operators_are_those_of_plain_arithmetic),
         T(an_identity_changes_no_value), T(lists_of_words_are_the_packets_operands),
         T(count_passes_up_to_its_threshold_and_wraps), T(compare_keeps_what_improves),
         T(collect_waits_for_all_children), T(rchld_counts_a_child_once),
         T(rcollect_takes_a_child_once_and_returns_the_total),
         T(rcollect_aborts_where_counts_do_not_fit),
         T(a_node_whose_id_is_a_tag_of_the_packet_aborts),
         T(nothing_happens_without_x_or_with_e_or_to_a_nop),
         T(a_binding_dies_tau_after_its_creation_to_the_tick), T(a_groups_time_never_runs_back),
         T(clocks_and_lifetimes_have_an_end),
         T(an_installed_count_serves_one_operation_after_the_other),
         T(without_an_installed_count_collect_is_as_ever),
         T(an_installed_count_and_its_total_expire_together_to_the_tick),
         T(installed_counts_match_a_plain_model),
         T(a_full_store_leaves_nothing_half_done_in_any_position),
         T(what_a_limit_does_not_allow_is_not_done),
         T(room_elsewhere_does_not_help_and_the_dead_make_room),
         T(a_new_binding_goes_to_the_emptier_bucket_and_the_lowest_slot),
         T(a_million_packets_match_the_plain_model), T(many_at_once_are_as_one_after_the_other))
