/* What is known about nodes, and TELL with its answers. */
#include "packetway_router_test.h"

/* ---- TELL ---- */

#define T22_NODE2                                                          \
    "2900000501000201 2a07000153757065 7200000000000000 2b01000007040800 " \
    "2b03000005000000 2c00000001e00005"
#define T22_NODE3 "2900000101000301 2b02000007080000"

/* What T22 reports of two nodes, by T20 and T21; the nearer table (Q) first. */
static void t20_and_t21_are_answered_from_all_tables(void)
{
    open_network();
    hush(&a1);
    /* SAN 2 through the buddy, Q = 1 + 2; SAN 3 through the twin, Q = 1 */
    feed(&a1, LEAT_PACKETWAY_FROM_BUDDY,
         "00000102001d0001 0000000e00000103 3002000d00000002 3100000001000200 2f04000101000202 "
         "0100010300000000 2d02000000000001 2e00000000000400 2900000701000201 2a07000153757065 "
         "7200000000000000 2b01000007040800 2b03000005000000 2c00000001e00005 2d02000100000002 "
         "0084030003000000" Z);
    feed(&a1, LEAT_PACKETWAY_FROM_TWIN,
         "00000102001d0001 0000000900000302 3002000800000001 3100000001000300 2f00000001000302 "
         "2d02000000000000 2e00000000001000 2900000301000301 2b02000007080000 2d02000100000002 "
         "0083050300000000" Z);
    EQ(counts(&a1)->rtbl_received, 2);
    hush(&a1);
    feed(&a1, LEAT_PACKETWAY_FROM_HOST, vector("T21"));
    OK(says(&a1, "0000010100190001 0000000800000102 " T22_NODE3 " " T22_NODE2 Z));
    OK(!take(&a1));
    feed(&a1, LEAT_PACKETWAY_FROM_HOST, vector("T20"));
    OK(says(&a1, "0000010100190001 0000000600000102 " T22_NODE2 Z));
    /* by address range and mask, each node once however many records match (T30) */
    feed(&a1, LEAT_PACKETWAY_FROM_HOST, vector("T30"));
    OK(says(&a1, "0000010100190001 0000000a00000102 2900000001000302 " T22_NODE3
                 " 2900000001000202 " T22_NODE2 Z));
    close_network();
}

/* Two tables contain one node: it is reported once, from the one with the smaller Q. */
static void the_first_definition_by_q_wins(void)
{
    struct subject s;
    open_pair(&s);
    feed(&s, LEAT_PACKETWAY_FROM_TWIN, /* one hop, Q = 9 + 1 */
         "00000102001d0001 0000000800000302 3002000700000001 3100000001000600 2f00000001000302 "
         "2d02000000000009 2e00000000000000 2900000201000601 2a02000066610000 2d02000000000000" Z);
    feed(&s, LEAT_PACKETWAY_FROM_BUDDY, /* two hops, Q = 1 + 2 */
         "00000102001d0001 0000000900000103 3002000800000001 3100000001000600 2f04000101000700 "
         "0100010300000000 2d02000000000001 2e00000000000000 2900000201000601 2a0200006e650000 "
         "2d02000000000000" Z);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200180001 0000000100000101 2900000001000601" Z);
    OK(says(&s, "0000010100190001 0000000200000102 2900000101000601 2a0200006e650000" Z));
    OK(!take(&s));
    close(&s);
}

static void capabilities_match_as_6_4_says(void)
{
    const struct {
        uint8_t cc;
        const char *asked, *has;
        bool match;
    } row[] = {
        { 7, "", "0408", true },
        { 7, "08", "0408", true },
        { 7, "0804", "0408", true },
        { 7, "02", "0408", false },
        { 8, "10", "", false },
        { 8, "", "", true },
        { 2, "01000200", "0100010001000200", true },
        { 2, "01000300", "0100010001000200", false },
        { 2, "000200", "0100010001000200", false },
        { 5, "aa", "aa", true },
        { 5, "aa", "aabb", false },
        { 5, "", "aabb", true },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t asked[VECTOR_LEN_MAX], has[VECTOR_LEN_MAX];
        const size_t asked_len = unhex(row[i].asked, asked), has_len = unhex(row[i].has, has);
        EQ(leat_packetway_capability_matches(row[i].cc, asked, asked_len, has, has_len),
           row[i].match);
    }
}

static void ranges_meet_where_they_have_an_address_in_common(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 200; i++) {
        struct leat_packetway_address a[2];
        bool exact = true, meet = false;
        for (int k = 0; k < 2; k++) {
            const uint32_t x = 1 + (uint32_t)leat_random_below(&r, 40);
            const uint64_t kind = leat_random_below(&r, 3);
            a[k] = (struct leat_packetway_address)PW_SINGLE(x);
            if (kind == 1)
                a[k] = (struct leat_packetway_address){ LEAT_PACKETWAY_AT_MIN, x,
                                                        x + (uint32_t)leat_random_below(&r, 9) };
            if (kind == 2)
                a[k] = (struct leat_packetway_address){ LEAT_PACKETWAY_AT_VALUE, x & 0x7FFFFA,
                                                        0x7FFFFA };
        }
        /* a mask and a span are compared by the span that the mask covers */
        if (a[0].at != LEAT_PACKETWAY_AT_SINGLE && a[1].at != LEAT_PACKETWAY_AT_SINGLE &&
            a[0].at != a[1].at)
            exact = false;
        for (uint32_t x = 0; x < 80; x++)
            meet = meet || (leat_packetway_address_matches(&a[0], x) &&
                            leat_packetway_address_matches(&a[1], x));
        const bool got = leat_packetway_address_meets(&a[0], &a[1]);
        OK(exact ? got == meet : got || !meet);
        OK(got == leat_packetway_address_meets(&a[1], &a[0]));
    }
}

static void any_record_of_a_tell_is_enough(void)
{
    uint8_t about[VECTOR_LEN_MAX], asked[VECTOR_LEN_MAX];
    const struct leat_packetway_address x = PW_SINGLE(0x201);
    const size_t about_len = unhex("2a07000153757065 7200000000000000 2b01000007040800 "
                                   "2c00000001e00005",
                                   about);
    const struct leat_packetway_records has = leat_packetway_records_of(about, about_len,
                                                                        LEAT_PACKETWAY_STRICT);
    const struct {
        const char *asked;
        bool match;
    } row[] = {
        { "2900000001000201", true },
        { "2900000001000202", false },
        { "2a07000153757065 7200000000000000", true },
        { "2a07000153757065 7300000000000000", false },
        { "2900000001000202 2b02000007080000", true },
        { "2900000001000202 2b02000005080000", false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        EQ(leat_packetway_about_matches(
               leat_packetway_records_of(asked, unhex(row[i].asked, asked), LEAT_PACKETWAY_STRICT),
               &x, has),
           row[i].match);
    OK(leat_packetway_logical_matches(has, 0xE00005));
    OK(!leat_packetway_logical_matches(has, 0xE00006));
}

static void the_records_about_a_node_have_an_order(void)
{
    static const struct {
        const char *hex;
        leat_err err;
    } row[] = {
        { "", LEAT_ERR_OK },
        { "2a02000061620000 2b03000001000000 2b03000002000000 2c00000001e00005", LEAT_ERR_OK },
        { "2c00000001e00005 2b03000001000000", LEAT_ERR_FIELD },
        { "2900000001000201", LEAT_ERR_FIELD },
        { "2a02000161620000", LEAT_ERR_FIELD },
        { "33*2b03000001000000", LEAT_ERR_RANGE },
    };
    uint8_t about[VECTOR_LEN_MAX], copy[64];
    struct leat_packetway_build b;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        EQ(leat_packetway_about_check(about, unhex(row[i].hex, about)), row[i].err);
    EQ(leat_packetway_about_check(about, 7), LEAT_ERR_RANGE);
    const size_t len = unhex(row[1].hex, about);
    const struct leat_packetway_records records = leat_packetway_about_of(about, len);
    EQ(leat_packetway_records_count(&records), 4);
    /* copied under an ADDR, which counts it */
    leat_packetway_build_init(&b, copy, sizeof copy);
    EQ(leat_packetway_single(0x201).low, 0x201);
    EQ(leat_packetway_build_node(&b, 0x201), LEAT_ERR_OK);
    leat_packetway_build_nest(&b);
    EQ(leat_packetway_build_copy(&b, about, len), LEAT_ERR_OK);
    leat_packetway_build_leave(&b);
    EQ(b.len, 8 + len);
    EQ(copy[3], len / 8);
    OK(memcmp(copy + 8, about, len) == 0);
    EQ(leat_packetway_build_copy(&b, about, 32), LEAT_ERR_PACKETWAY_NOSPC);
    EQ(b.len, 8 + len);
    /* the same for INFO, with capabilities and without */
    uint8_t info[64];
    for (int all = 0; all < 2; all++) {
        leat_packetway_build_init(&b, info, sizeof info);
        leat_packetway_about_write(&b, 0x201, about, len, all);
        EQ(b.len, all ? 8 + len : 24);
    }
    OK(memcmp(info, copy, b.len) == 0);
}

/* INFOs are split between nodes where they would be above the MTU. */
static void an_info_above_the_mtu_is_split_between_nodes(void)
{
    struct subject s;
    unsigned infos = 0, nodes = 0;
    open(&s, 0x102, 0x100, 12);
    for (uint32_t i = 0; i < 20; i++)
        node(&s, 0x110 + i, "0103", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0000010200180001 0000000200000110 2904000102000110 030001ff00000000" Z);
    while (take(&s)) {
        OK(s.out.len <= 12 * 8);
        EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_INFO);
        nodes += (s.out.len - 24) / 8; /* bare ADDRs */
        infos++;
    }
    EQ(nodes, 20);
    EQ(infos, 3);
    close(&s);
}

/* What no INFO can hold, and what no node keeps. */
static void what_is_too_long_to_report_or_to_query(void)
{
    struct subject s;
    open(&s, 0x102, 0x100, 8); /* 5 words of DB */
    node(&s, 0x101, "01", false);
    node(&s, 0x105, "05", false);
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0000010200190001 0000000600000101 2900000501000101 5*2b03000001000000" Z);
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0000010200190001 0000000200000105 2900000101000105 "
         "2b03000001000000" Z);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200180001 0000000100000101 2b03000001000000" Z);
    OK(says(&s, "0000010100190001 0000000200000102 2900000101000105 2b03000001000000" Z));
    OK(!take(&s));
    EQ(counts(&s)->pending_full, 1);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000010200180001 0000007e00000101 126*2b03000001000000" Z);
    hush(&s);
    s.in[11] = 0x81; /* 129 words, more than is kept */
    for (size_t i = 126; i < 129; i++)
        memcpy(s.in + 16 + 8 * i, s.in + 16, 8);
    memset(s.in + 16 + 8 * 129, 0, 8);
    feed_octets(&s, LEAT_PACKETWAY_FROM_HOST, 0, 24 + 8 * 129);
    OK(take(&s));
    EQ(leat_get_be16(s.out.octets + 4), LEAT_PACKETWAY_TE_GENERAL);
    close(&s);
}

/* To a half-router, a range is reported once, from the table with the smaller Q; a lost one, not at
 * all. For hosts, mappers are asked first (sim_packetway_sizes_test.c). */
static void ranges_are_reported_once_and_not_after_their_loss(void)
{
    struct subject s;
    static const char tell[] = "0000010200180001 0000000100000103 2900000001000615" Z;
    static const char range[] = "0000010300190001 0000000200000102 2904000102000610 "
                                "0300061f00000000" Z;
    open_pair(&s);
    for (int far = 0; far < 2; far++)
        feed(&s, far ? LEAT_PACKETWAY_FROM_BUDDY : LEAT_PACKETWAY_FROM_TWIN,
             far ? "00000102001d0001 0000000800000103 3002000700000001 3100000001000600 "
                   "2f00000001000103 2d02000000000000 2e00000000000000 2904000202000610 "
                   "0300061f00000000 2d02000000000002" Z
                 : "00000102001d0001 0000000800000302 3002000700000001 3100000001000600 "
                   "2f00000001000302 2d02000000000000 2e00000000000000 2904000202000610 "
                   "0300061f00000000 2d02000000000002" Z);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, tell);
    OK(says(&s, range));
    OK(!take(&s));
    EQ(leat_packetway_router_link(s.r, 0x302, false, 0), LEAT_ERR_OK);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST, tell); /* the buddy's is left */
    OK(says(&s, range));
    EQ(feed(&s, LEAT_PACKETWAY_FROM_HOST, "0000061500000052 0000000000000101" Z)->buddy, 1);
    close(&s);
}

/* T27's kind: nothing matched, so everything requested is returned as unknown. */
static void a_tell_that_matches_nothing_gets_unk_with_all_records(void)
{
    struct subject s;
    open(&s, 0x102, 0x100, 0);
    node(&s, 0x101, "01", false);
    hush(&s);
    feed(&s, LEAT_PACKETWAY_FROM_HOST,
         "0500010200180001 0000000300000101 2a07000153757065 7200000000000000 29000000010002ff" Z);
    OK(says(&s, "050001010047ffff 0000000300000102 2a07000153757065 7200000000000000 "
                "29000000010002ff" Z));
    /* one at a time per peer */
    feed(&s, LEAT_PACKETWAY_FROM_HOST, vector("T20"));
    feed(&s, LEAT_PACKETWAY_FROM_HOST, vector("T20"));
    EQ(hush(&s), 1);
    close(&s);
}

TAP_MAIN(T(t20_and_t21_are_answered_from_all_tables), T(the_first_definition_by_q_wins),
         T(capabilities_match_as_6_4_says), T(ranges_meet_where_they_have_an_address_in_common),
         T(any_record_of_a_tell_is_enough), T(the_records_about_a_node_have_an_order),
         T(an_info_above_the_mtu_is_split_between_nodes), T(what_is_too_long_to_report_or_to_query),
         T(ranges_are_reported_once_and_not_after_their_loss),
         T(a_tell_that_matches_nothing_gets_unk_with_all_records))
