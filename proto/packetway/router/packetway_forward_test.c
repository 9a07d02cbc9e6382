/* The forwarding path, priorities and address bias, each compared with a plain model. */
#include "packetway_bias.h"
#include "packetway_forward.h"
#include "packetway_queue.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* ---- a small half-router: 0x102, twin 0x302, buddy 0x103, node 0x101 ---- */

enum { SLOT_BITS = 6 };

static struct leat_packetway_entry entries[1 << SLOT_BITS];
static struct leat_packetway_range ranges[8];
static const struct leat_packetway_native natives[] = { { 2, { 0xA1, 0xA2 } },
                                                        { 3, { 0xB1, 0xB2, 0xB3 } } };

static struct leat_packetway_fib fib_of(uint32_t twins)
{
    struct leat_packetway_fib f = { .entries = entries,
                                    .ranges = ranges,
                                    .natives = natives,
                                    .slot_bits = SLOT_BITS,
                                    .known_max = 32,
                                    .ranges_max = 8,
                                    .twin_count = twins,
                                    .buddy_count = 1 };
    f.buddies[0] = (struct leat_packetway_neighbour){ .address = 0x103, .native = 2, .up = true };
    for (uint32_t i = 0; i < twins; i++)
        f.twins[i] = (struct leat_packetway_neighbour){ .address = 0x302 + 0x100 * i, .up = true };
    leat_packetway_fib_clear(&f);
    leat_packetway_fib_take(&f, 0x102)->flags = LEAT_PACKETWAY_ENTRY_ME;
    leat_packetway_fib_take(&f, 0x101)->native = 1;
    leat_packetway_fib_take(&f, 0x103)->native = 2;
    for (uint32_t i = 0; i < twins; i++) {
        struct leat_packetway_entry *e = leat_packetway_fib_take(&f, 0x302 + 0x100 * i);
        e->flags = LEAT_PACKETWAY_ENTRY_TWIN;
        e->twin = (uint8_t)(i + 1);
    }
    if (twins) leat_packetway_entry_offer(leat_packetway_fib_take(&f, 0x301), true, 0, 5);
    leat_packetway_entry_offer(leat_packetway_fib_take(&f, 0x201), false, 0, 5);
    if (twins) leat_packetway_entry_offer(leat_packetway_fib_take(&f, 0x201), true, 0, 9);
    leat_packetway_fib_take(&f, 0x777)->failure = 3;
    return f;
}

static struct leat_packetway_decision forward(const struct leat_packetway_fib *f,
                                              enum leat_packetway_side side, const char *hex)
{
    uint8_t buf[VECTOR_LEN_MAX];
    struct leat_packetway_decision d;
    const size_t len = unhex(hex, buf);
    leat_packetway_forward(f, side, buf, (uint32_t)len, &d);
    d.route = NULL; /* was lent from buf */
    return d;
}

#define PH(dt) "09" dt "00070051 0000000000000101 0000000000000000"

static void every_rule_of_layer_3_in_its_order(void)
{
    const struct leat_packetway_fib f = fib_of(1);
    const struct {
        enum leat_packetway_side side;
        const char *hex;
        enum leat_packetway_verdict verdict;
        enum leat_packetway_reason reason;
    } row[] = {
        { LEAT_PACKETWAY_FROM_HOST, PH("000102"), LEAT_PACKETWAY_DELIVER, 0 },
        { LEAT_PACKETWAY_FROM_TWIN, PH("000102"), LEAT_PACKETWAY_DELIVER, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("7ffffe"), LEAT_PACKETWAY_DELIVER, 0 },
        { LEAT_PACKETWAY_FROM_TWIN, PH("7fffff"), LEAT_PACKETWAY_DELIVER, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("000302"), LEAT_PACKETWAY_TO_TWIN, 0 },
        { LEAT_PACKETWAY_FROM_BUDDY, PH("000302"), LEAT_PACKETWAY_TO_TWIN, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("e00005"), LEAT_PACKETWAY_COPIES, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("000101"), LEAT_PACKETWAY_TO_SAN, 0 },
        { LEAT_PACKETWAY_FROM_BUDDY, PH("000101"), LEAT_PACKETWAY_TO_SAN, 0 },
        { LEAT_PACKETWAY_FROM_TWIN, PH("000101"), LEAT_PACKETWAY_TO_SAN, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("000301"), LEAT_PACKETWAY_TO_TWIN, 0 },
        { LEAT_PACKETWAY_FROM_BUDDY, PH("000301"), LEAT_PACKETWAY_TO_TWIN, 0 },
        { LEAT_PACKETWAY_FROM_TWIN, PH("000301"), LEAT_PACKETWAY_REFUSE,
          LEAT_PACKETWAY_REASON_UNKNOWN },
        { LEAT_PACKETWAY_FROM_HOST, PH("000201"), LEAT_PACKETWAY_TO_SAN, 0 },
        { LEAT_PACKETWAY_FROM_BUDDY, PH("000201"), LEAT_PACKETWAY_TO_TWIN, 0 },
        { LEAT_PACKETWAY_FROM_TWIN, PH("000201"), LEAT_PACKETWAY_TO_SAN, 0 },
        { LEAT_PACKETWAY_FROM_HOST, PH("000777"), LEAT_PACKETWAY_REFUSE,
          LEAT_PACKETWAY_REASON_FAILED },
        { LEAT_PACKETWAY_FROM_HOST, PH("000999"), LEAT_PACKETWAY_REFUSE,
          LEAT_PACKETWAY_REASON_UNKNOWN },
        { LEAT_PACKETWAY_FROM_HOST, PH("000000"), LEAT_PACKETWAY_REFUSE,
          LEAT_PACKETWAY_REASON_ADDRESS },
        { LEAT_PACKETWAY_FROM_HOST, PH("c00001"), LEAT_PACKETWAY_REFUSE,
          LEAT_PACKETWAY_REASON_ADDRESS },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct leat_packetway_decision d = forward(&f, row[i].side, row[i].hex);
        EQ(d.verdict, row[i].verdict);
        EQ(d.reason, row[i].reason);
        EQ(d.priority, 9);
        EQ(d.consumed, 0);
        EQ(d.layer2, false);
    }
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000201")).buddy, 1);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000101")).buddy, 0);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000101")).route_len, 2);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000201")).route_len, 3);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000777")).failure, 3);
}

static void a_dead_link_is_no_way(void)
{
    struct leat_packetway_fib f = fib_of(1);
    f.twins[0].up = false;
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000302")).reason, LEAT_PACKETWAY_REASON_LINK);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, "0081010000000000 " PH("000201")).reason,
       LEAT_PACKETWAY_REASON_LINK);
}

/* Spec 5.2: symbols are consumed, an L2RH by the half-router that sends into a SAN. */
static void layer_2_consumes_symbols_and_its_own_l2rh(void)
{
    const struct leat_packetway_fib two = fib_of(1), four = fib_of(3), one = fib_of(0);
    struct leat_packetway_decision d;

    d = forward(&two, LEAT_PACKETWAY_FROM_HOST, "0085010102030000 " PH("000201"));
    EQ(d.verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(d.consumed, 0);
    OK(d.layer2);
    EQ(d.priority, 9);
    d = forward(&two, LEAT_PACKETWAY_FROM_TWIN, "0085010102030000 00f0000100000000 " PH("000201"));
    EQ(d.verdict, LEAT_PACKETWAY_TO_SAN);
    EQ(d.consumed, 8); /* the symbol is the next router's */
    EQ(d.route_len, 5);
    EQ(d.header_at, 16);
    d = forward(
        &two, LEAT_PACKETWAY_FROM_HOST,
        "00f0000109010203 0405060708090000 00f0000200000000 0081010000000000 " PH("000201"));
    EQ(d.verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(d.consumed, 24);
    d = forward(&two, LEAT_PACKETWAY_FROM_HOST, "00f0000109010203 0405060708090000 " PH("000101"));
    EQ(d.verdict, LEAT_PACKETWAY_TO_SAN);
    EQ(d.consumed, 16);
    OK(!d.layer2);

    /* Of several twins the L2RH names one. */
    d = forward(&four, LEAT_PACKETWAY_FROM_HOST, "0083000402000000 0081010000000000 " PH("000201"));
    EQ(d.verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(d.twin, 1);
    EQ(d.consumed, 8);
    d = forward(&four, LEAT_PACKETWAY_FROM_HOST, "0083000409000000 " PH("000201"));
    EQ(d.reason, LEAT_PACKETWAY_REASON_NO_TWIN);
    d = forward(&four, LEAT_PACKETWAY_FROM_HOST, "0084000402000000 " PH("000201"));
    EQ(d.reason, LEAT_PACKETWAY_REASON_NO_TWIN);
    d = forward(&one, LEAT_PACKETWAY_FROM_HOST, "0083000302000000 " PH("000201"));
    EQ(d.reason, LEAT_PACKETWAY_REASON_NO_TWIN);
}

/* The steps that a special driver may take one by one. */
static void the_steps_of_a_decision_agree_with_the_whole(void)
{
    const struct leat_packetway_fib f = fib_of(2);
    struct leat_packetway_decision d = { 0 };
    uint8_t buf[VECTOR_LEN_MAX];
    uint32_t at = 99;
    for (uint16_t len = 0; len < 256; len++) { /* the formulas of 1.1 and 1.2 once more */
        const struct leat_packetway_leading l2rh = { .kind = LEAT_PACKETWAY_L2RH, .len = len };
        const struct leat_packetway_leading symbol = { .kind = LEAT_PACKETWAY_SYMBOL, .len = len };
        if (len < 64) EQ(leat_packetway_l2rh_size(len), leat_packetway_leading_size(&l2rh));
        EQ(leat_packetway_symbol_size(len), leat_packetway_leading_size(&symbol));
    }
    OK(leat_packetway_has(10, 8, 2) && !leat_packetway_has(10, 9, 2) &&
       !leat_packetway_has(10, 11, 0));
    const uint32_t len = (uint32_t)unhex("0083000402000000 " PH("000201"), buf);
    EQ(leat_packetway_find_header(buf, len, 0, 64, &at), LEAT_PACKETWAY_REASON_NONE);
    EQ(at, 8);
    EQ(leat_packetway_find_header(buf, len, 0, 0, &at), LEAT_PACKETWAY_REASON_TOO_MANY);
    EQ(leat_packetway_by_route(&f, LEAT_PACKETWAY_FROM_HOST, buf, 3, 0, &d), 5); /* not all seen */
    EQ(leat_packetway_by_route(&f, LEAT_PACKETWAY_FROM_HOST, buf, len, 0, &d), 0);
    EQ(d.twin, 1);
    OK(leat_packetway_goes_on(&d));
    d = (struct leat_packetway_decision){ 0 };
    leat_packetway_by_name_of_twin(&f, buf + 2, 3, &d);
    EQ(d.twin, 1);
    d = (struct leat_packetway_decision){ 0 };
    leat_packetway_by_address(&f, LEAT_PACKETWAY_FROM_HOST, 0x101, &d);
    EQ(d.verdict, LEAT_PACKETWAY_TO_SAN);
    OK(d.route == natives[0].octets);
    leat_packetway_emit(&f, 2, &d);
    OK(d.route == natives[1].octets);
    leat_packetway_hand_over(&f, 1, &d);
    EQ(d.verdict, LEAT_PACKETWAY_TO_TWIN);
    leat_packetway_next_hop(&f, leat_packetway_fib_exact(&f, 0x301), LEAT_PACKETWAY_FROM_TWIN, &d);
    EQ(d.reason, LEAT_PACKETWAY_REASON_UNKNOWN);
    leat_packetway_refuse(&d, LEAT_PACKETWAY_REASON_MTU);
    EQ(d.verdict, LEAT_PACKETWAY_REFUSE);
    leat_packetway_drop(&d, LEAT_PACKETWAY_REASON_SHORT);
    EQ(d.verdict, LEAT_PACKETWAY_DROP);
    OK(!leat_packetway_goes_on(&d));
    EQ(leat_packetway_mtu_min(0, 0), 0); /* 0 is infinite */
    EQ(leat_packetway_mtu_min(0, 7), 7);
    EQ(leat_packetway_mtu_min(9, 0), 9);
    EQ(leat_packetway_mtu_min(9, 7), 7);
}

/* Spec 5.4: low six bits of the L2RH, else PH. */
static void the_priority_of_a_hop_is_the_l2rhs_if_it_has_one(void)
{
    const struct leat_packetway_fib f = fib_of(1);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, "2a81010000000000 " PH("000201")).priority, 42);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, "0081010000000000 " PH("000201")).priority, 9);
}

/* Spec 5.5: words left to send against the MTU of the output. */
static void the_mtu_counts_what_is_left_to_send(void)
{
    struct leat_packetway_fib f = fib_of(1);
    f.mtu_words = 3;
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000101")).verdict, LEAT_PACKETWAY_TO_SAN);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, "00f0000100000000 " PH("000101")).verdict,
       LEAT_PACKETWAY_TO_SAN); /* the symbol is consumed here */
    EQ(forward(&f, LEAT_PACKETWAY_FROM_TWIN, "0081010000000000 " PH("000101")).verdict,
       LEAT_PACKETWAY_TO_SAN);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_TWIN, "0081010000000000 0081010000000000 " PH("000101"))
           .reason,
       LEAT_PACKETWAY_REASON_MTU);
    f.mtu_words = 2;
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000101")).reason, LEAT_PACKETWAY_REASON_MTU);
    f.twins[0].mtu_words = 3;
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, PH("000301")).verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(forward(&f, LEAT_PACKETWAY_FROM_HOST, "0081010000000000 " PH("000301")).reason,
       LEAT_PACKETWAY_REASON_MTU);
}

/* ---- against the codec ---- */

static enum leat_packetway_reason reason_of(leat_err err)
{
    switch ((int)err) {
    case LEAT_ERR_PACKETWAY_VERSION: return LEAT_PACKETWAY_REASON_VERSION;
    case LEAT_ERR_PACKETWAY_ALIGN: return LEAT_PACKETWAY_REASON_ALIGN;
    case LEAT_ERR_PACKETWAY_SHORT: return LEAT_PACKETWAY_REASON_SHORT;
    case LEAT_ERR_PACKETWAY_L2RH_LEN: return LEAT_PACKETWAY_REASON_L2RH_LEN;
    case LEAT_ERR_PACKETWAY_TOO_MANY: return LEAT_PACKETWAY_REASON_TOO_MANY;
    }
    return LEAT_PACKETWAY_REASON_NONE; /* of PH: a router does not check it */
}

static void check_against_codec(const struct leat_packetway_fib *f, const uint8_t *buf, size_t len)
{
    static struct leat_packetway_message m;
    struct leat_packetway_decision d;
    const leat_err err = leat_packetway_message_decode(buf, len, LEAT_PACKETWAY_LENIENT,
                                                       LEAT_PACKETWAY_FORWARDING, &m, NULL);
    leat_packetway_forward(f, LEAT_PACKETWAY_FROM_HOST, buf, (uint32_t)len, &d);
    const enum leat_packetway_reason reason = reason_of(err);
    OK((d.verdict == LEAT_PACKETWAY_DROP) == (reason != LEAT_PACKETWAY_REASON_NONE));
    if (reason != LEAT_PACKETWAY_REASON_NONE) EQ(d.reason, reason);
    if (!err) EQ(d.header_at, m.header_at);
}

static void what_is_dropped_is_what_the_codec_refuses(void)
{
    const struct leat_packetway_fib f = fib_of(1);
    uint8_t buf[VECTOR_LEN_MAX];
    struct leat_random r;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        check_against_codec(&f, buf, unhex(vectors[i].hex, buf));
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        check_against_codec(&f, buf, unhex(malformed[i].hex, buf));
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 5; i++) {
        static const uint8_t heads[] = { 0x00, 0x80, 0x81, 0x86, 0xBF, 0xF0, 0xC0, 0xE0 };
        size_t len = leat_random_below(&r, 40) * 8;
        len += leat_random_below(&r, 20) == 0;
        memset(buf, 0, len);
        for (size_t at = 0; at + 8 <= len; at += 8) {
            buf[at] = (uint8_t)(leat_random_below(&r, 40) == 0 ? 0x40 : leat_random_below(&r, 64));
            buf[at + 1] = heads[leat_random_below(&r, sizeof heads)];
            buf[at + 4] = (uint8_t)leat_random_below(&r, 30);
            buf[at + 7] = 1;
        }
        check_against_codec(&f, buf, len);
    }
    for (size_t words = 60; words < 70; words++) { /* 64 leading records and more */
        char hex[128];
        snprintf(hex, sizeof hex, "%zu*0081050000000000 " PH("000201"), words);
        check_against_codec(&f, buf, unhex(hex, buf));
    }
}

/* ---- cut-through ---- */

/* Octet after octet, the early decision is the one for the whole packet. */
static void check_cut_through(const struct leat_packetway_fib *f, enum leat_packetway_side side,
                              const uint8_t *buf, uint32_t len, uint32_t in_mtu)
{
    struct leat_packetway_decision early, whole;
    uint32_t seen = 0, need = 1;
    leat_packetway_forward(f, side, buf, len, &whole);
    if (whole.verdict == LEAT_PACKETWAY_DROP) return;
    while (need && need <= len) {
        OK(need > seen);
        seen = need;
        need = leat_packetway_cut_through(f, side, buf, seen, in_mtu, &early);
    }
    if (need) return; /* the whole packet is needed: then forward() decides */
    const bool fits_in = !in_mtu || len / 8 <= in_mtu;
    if (!fits_in) return; /* the input would not have let it through */
    EQ(early.verdict, whole.verdict);
    EQ(early.reason, whole.reason);
    EQ(early.consumed, whole.consumed);
    EQ(early.twin, whole.twin);
    EQ(early.buddy, whole.buddy);
    OK(early.route == whole.route);
}

static void an_early_decision_is_the_right_one(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 10; i++) {
        static const char *const dts[] = { "000101", "000102", "000201", "000301",
                                           "000302", "000777", "000999", "e00005" };
        struct leat_packetway_fib f = fib_of((uint32_t)leat_random_below(&r, 3));
        char hex[512] = "";
        uint8_t buf[VECTOR_LEN_MAX];
        static const char *const leading[] = { "0081010000000000 ",
                                               "008d010203040506 0708090a0b0c0d00 ",
                                               "00f0000109010203 0405060708090000 ",
                                               "0083000302000000 " };
        for (uint64_t k = leat_random_below(&r, 4); k > 0; k--)
            strcat(hex, leading[leat_random_below(&r, 4)]);
        const uint64_t dl = leat_random_below(&r, 4);
        char ph[64];
        snprintf(ph, sizeof ph, "00%s00000051 0000000%d00000101 ", dts[leat_random_below(&r, 8)],
                 (int)dl);
        strcat(hex, ph);
        for (uint64_t k = 0; k <= dl; k++)
            strcat(hex, "0000000000000000 ");
        f.mtu_words = (uint32_t)leat_random_below(&r, 10);
        for (uint32_t k = 0; k < f.twin_count; k++)
            f.twins[k].mtu_words = (uint32_t)leat_random_below(&r, 10);
        hex[strlen(hex) - 1] = 0;
        const enum leat_packetway_side side = (enum leat_packetway_side)leat_random_below(&r, 3);
        check_cut_through(&f, side, buf, (uint32_t)unhex(hex, buf),
                          (uint32_t)leat_random_below(&r, 10));
    }
}

/* Spec 5.8: what is decidable after how many octets. */
static void the_table_of_cut_through_holds(void)
{
    struct leat_packetway_fib f = fib_of(1);
    struct leat_packetway_decision d;
    uint8_t buf[VECTOR_LEN_MAX];
    unhex(PH("000301"), buf);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 0, 0, &d), 2);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 2, 0, &d), 4);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 4, 0, &d), 0);
    EQ(d.verdict, LEAT_PACKETWAY_TO_TWIN);
    EQ(d.priority, 9);
    f.twins[0].mtu_words = 100;
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 4, 100, &d), 0);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 5, 101, &d), 13);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 13, 101, &d), 0);
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 13, 0, &d), 0);
    buf[12] |= 0x80; /* OH fields: the length shows at the end */
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 13, 0, &d),
       LEAT_PACKETWAY_ALL);
    buf[11] = 98; /* DL + 3 = 101 words */
    EQ(leat_packetway_cut_through(&f, LEAT_PACKETWAY_FROM_HOST, buf, 13, 0, &d), 0);
    EQ(d.reason, LEAT_PACKETWAY_REASON_MTU);
    buf[0] = 0x40;
    EQ(leat_packetway_front(&f, LEAT_PACKETWAY_FROM_HOST, buf, 2, &d), 0);
    EQ(d.reason, LEAT_PACKETWAY_REASON_VERSION);
    unhex("00f0000109010203 0405060708090000", buf);
    EQ(leat_packetway_front(&f, LEAT_PACKETWAY_FROM_HOST, buf, 4, &d), 5);
    EQ(leat_packetway_front(&f, LEAT_PACKETWAY_FROM_HOST, buf, 5, &d), 18);
}

/* In pieces of any size: the packet comes out whole, its last word after the EI rule. */
static void the_word_in_hand_gets_the_ei_rule(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 20; i++) {
        uint8_t in[256], out[300];
        struct leat_packetway_cut cut = { .len = 0 };
        const uint32_t len = 24 + (uint32_t)leat_random_below(&r, 200);
        const bool fault = leat_random_below(&r, 2);
        uint32_t n = 0;
        leat_random_fill(&r, in, len);
        for (uint32_t at = 0; at < len;) {
            uint32_t piece = 1 + (uint32_t)leat_random_below(&r, 40);
            if (piece > len - at) piece = len - at;
            n += leat_packetway_cut_push(&cut, in + at, piece, out + n);
            at += piece;
            OK(n + 8 <= at || n == 0); /* one word is held back */
        }
        n += leat_packetway_cut_end(&cut, fault, out + n);
        EQ(n, len / 8 * 8);
        OK(memcmp(in, out, n - 8) == 0);
        const uint64_t ei = leat_get_be64(in + n - 8);
        EQ(leat_get_be64(out + n - 8), leat_packetway_ei_step(ei, fault || len % 8));
    }
}

/* Spec 5.6, and the examples of section 9. */
static void the_seal_reports_what_this_router_saw(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const size_t len = unhex("0081010000000000 " PH("000201"), buf);
    leat_packetway_seal(buf, (uint32_t)len, 8, false);
    EQ(leat_get_be64(buf + len - 8), 0);
    leat_packetway_seal(buf, (uint32_t)len, 8, true);
    EQ(leat_get_be64(buf + len - 8), 1);
    leat_packetway_seal(buf, (uint32_t)len, 8, false);
    EQ(leat_get_be64(buf + len - 8), 2);
    leat_put_be64(buf + len - 8, 1); /* the source reports it */
    leat_packetway_seal(buf, (uint32_t)len, 8, false);
    leat_packetway_seal(buf, (uint32_t)len, 8, true);
    leat_packetway_seal(buf, (uint32_t)len, 8, false);
    EQ(leat_get_be64(buf + len - 8), 0xA);
    leat_put_be64(buf + len - 8, 0);
    buf[8 + 11] = 1; /* DL says one word more */
    OK(leat_packetway_contradicts(buf, (uint32_t)len, 8));
    leat_packetway_seal(buf, (uint32_t)len, 8, false);
    EQ(leat_get_be64(buf + len - 8), 1);
    buf[8 + 11] = 0;
    buf[8 + 12] = 0x80; /* an OH field is promised */
    OK(leat_packetway_contradicts(buf, (uint32_t)len, 8));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        static struct leat_packetway_message m;
        const size_t n = unhex(vectors[i].hex, buf);
        EQ(leat_packetway_message_decode(buf, n, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                         &m, NULL),
           LEAT_ERR_OK);
        OK(!leat_packetway_contradicts(buf, (uint32_t)n, (uint32_t)m.header_at));
        EQ(leat_packetway_dl(buf + m.header_at), m.header.dl);
    }
}

static void reasons_have_words(void)
{
    for (unsigned i = 0; i <= LEAT_PACKETWAY_REASON_COUNT; i++)
        OK(strlen(leat_packetway_reason_text((enum leat_packetway_reason)i)) > 3);
}

/* ---- the fib against a list ---- */

struct offered {
    uint32_t dt;
    bool twin;
    uint32_t index;
    uint16_t q;
};

/* The smallest Q wins, the first of equals. -1: none. */
static int best_of(const struct offered *all, int count, uint32_t dt, int kind)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (all[i].dt == dt && (kind < 0 || all[i].twin == (kind == 1)) &&
            (best < 0 || all[i].q < all[best].q))
            best = i;
    return best;
}

static void the_fib_keeps_the_best_of_each_kind(void)
{
    enum { COUNT = 200, ADDRESSES = 30 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned round = 0; round < LEAT_ROUNDS / 2000; round++) {
        struct leat_packetway_fib f = fib_of(0);
        static struct offered all[COUNT];
        leat_packetway_fib_clear(&f);
        for (int i = 0; i < COUNT; i++) {
            all[i].dt = 1 + (uint32_t)leat_random_below(&r, ADDRESSES) * 0x10001;
            all[i].twin = leat_random_below(&r, 2);
            all[i].index = (uint32_t)leat_random_below(&r, 16);
            all[i].q = (uint16_t)leat_random_below(&r, 12);
            leat_packetway_entry_offer(leat_packetway_fib_take(&f, all[i].dt), all[i].twin,
                                       all[i].index, all[i].q);
        }
        for (uint32_t a = 0; a < ADDRESSES; a++) {
            const uint32_t dt = 1 + a * 0x10001;
            struct leat_packetway_entry spare;
            const struct leat_packetway_entry *e = leat_packetway_fib_find(&f, dt, &spare);
            const int any = best_of(all, COUNT, dt, -1), twin = best_of(all, COUNT, dt, 1),
                      buddy = best_of(all, COUNT, dt, 0);
            OK((e != NULL) == (any >= 0));
            if (!e) continue;
            EQ(e->twin, twin < 0 ? 0 : all[twin].index + 1);
            EQ(e->buddy, buddy < 0 ? 0 : all[buddy].index + 1);
            OK(!all[any].twin == !!(e->flags & LEAT_PACKETWAY_ENTRY_BUDDY_LEADS));
        }
    }
}

static void the_fib_is_bounded_and_small(void)
{
    struct leat_packetway_fib f = fib_of(0);
    leat_packetway_fib_clear(&f);
    for (uint32_t i = 1; i <= 32; i++)
        OK(leat_packetway_fib_take(&f, i * 977) != NULL);
    OK(leat_packetway_fib_take(&f, 5) == NULL);
    OK(leat_packetway_fib_take(&f, 977) != NULL);
    EQ(f.count, 32);
    OK(leat_packetway_fib_exact(&f, 5) == NULL);
    OK(leat_packetway_fib_slot(&f, 5) < 64);
    /* issue: at most 64 octets per forwarding entry, for 100,000 nodes */
    const uint64_t slots = UINT64_C(1) << leat_packetway_fib_slot_bits(100000);
    OK(slots >= 200000);
    OK(slots * sizeof(struct leat_packetway_entry) <= 64 * 100000);
}

static void ranges_are_put_together_by_preference(void)
{
    struct leat_packetway_fib f = fib_of(1);
    struct leat_packetway_entry spare;
    const struct leat_packetway_address wide = { LEAT_PACKETWAY_AT_MIN, 0x4000, 0x4FFF };
    const struct leat_packetway_address half = { LEAT_PACKETWAY_AT_VALUE, 0x4800, 0x7FF800 };
    f.ranges[0] = (struct leat_packetway_range){ half, { .native = 1 } };
    f.ranges[1] = (struct leat_packetway_range){ wide, { .twin = 1, .twin_q = 9 } };
    f.ranges[2] = (struct leat_packetway_range){ wide, { .buddy = 1, .buddy_q = 4 } };
    f.range_count = 3;
    OK(leat_packetway_fib_find(&f, 0x3FFF, &spare) == NULL);
    EQ(leat_packetway_fib_find(&f, 0x4800, &spare)->native, 1);
    const struct leat_packetway_entry *e = leat_packetway_fib_find(&f, 0x47FF, &spare);
    EQ(e->native, 0);
    EQ(e->twin, 1);
    EQ(e->buddy, 1);
    OK(e->flags & LEAT_PACKETWAY_ENTRY_BUDDY_LEADS);
    OK(leat_packetway_fib_ranges(&f, 0x5000, &spare) == NULL);
    EQ(leat_packetway_fib_find(&f, 0x101, &spare)->native, 1); /* exact before ranges */
}

/* ---- priorities ---- */

enum { LINE_MAX = 24 };

/* A plain list of packets: the model of the queue. */
struct line {
    struct {
        uint8_t priority;
        uint64_t handle;
    } at[LINE_MAX + 1];
    unsigned count;
};

static uint64_t line_remove(struct line *l, unsigned i)
{
    const uint64_t handle = l->at[i].handle;
    memmove(&l->at[i], &l->at[i + 1], (l->count - i - 1) * sizeof l->at[0]);
    l->count--;
    return handle;
}

/* Newest of the lowest. */
static unsigned line_worst(const struct line *l)
{
    unsigned worst = 0;
    for (unsigned i = 1; i < l->count; i++)
        if (l->at[i].priority <= l->at[worst].priority) worst = i;
    return worst;
}

/* Oldest of the highest. */
static unsigned line_best(const struct line *l)
{
    unsigned best = 0;
    for (unsigned i = 1; i < l->count; i++)
        if (l->at[i].priority > l->at[best].priority) best = i;
    return best;
}

static void the_queue_serves_as_a_plain_line_would(void)
{
    _Alignas(16) static uint8_t memory[4096];
    struct leat_packetway_queue q;
    static struct line l;
    struct leat_random r;
    uint64_t drops = 0;
    leat_random_seed(&r, tap_seed());
    OK(leat_packetway_queue_footprint(LINE_MAX) <= sizeof memory);
    EQ(leat_packetway_queue_init(&q, LINE_MAX, memory, sizeof memory), LEAT_ERR_OK);
    for (unsigned i = 0; i < 4 * (LEAT_ROUNDS / 10); i++) {
        const bool phase = i / 100 % 2; /* fills up, then empties */
        uint64_t got = 0;
        if (leat_random_below(&r, 3) < (phase ? 2u : 1u)) {
            const uint8_t p = (uint8_t)leat_random_below(&r, 64);
            const bool in = leat_packetway_queue_push(&q, p, i, &got);
            l.at[l.count].priority = p;
            l.at[l.count++].handle = i;
            EQ(in, l.count <= LINE_MAX);
            if (l.count > LINE_MAX) {
                EQ(got, line_remove(&l, line_worst(&l)));
                drops++;
            }
        } else {
            const bool some = leat_packetway_queue_pop(&q, &got);
            EQ(some, l.count > 0);
            if (some) EQ(got, line_remove(&l, line_best(&l)));
        }
        EQ(q.count, l.count);
    }
    EQ(q.dropped, drops);
    OK(drops > 0);
}

static void a_queue_out_of_bounds_is_refused(void)
{
    static const uint32_t bad[] = { 0, LEAT_PACKETWAY_QUEUE_MAX + 1 };
    _Alignas(16) uint8_t memory[512];
    struct leat_packetway_queue q;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EQ(leat_packetway_queue_footprint(bad[i]), 0);
        EQ(leat_packetway_queue_init(&q, bad[i], memory, sizeof memory), LEAT_ERR_RANGE);
    }
    EQ(leat_packetway_queue_init(&q, 8, memory, 8), LEAT_ERR_MEMORY);
    EQ(leat_packetway_queue_init(&q, 8, memory + 1, 500), LEAT_ERR_MEMORY);
}

/* ---- bias ---- */

/* Spec section 7. */
static void the_example_of_section_7(void)
{
    struct leat_packetway_block blocks[4];
    struct leat_packetway_bias_map map = { .blocks = blocks, .cap = 4 };
    const struct leat_packetway_block sans[] = { { 0x200, 2 }, { 0x100, 4 }, { 0x300, 2 } };
    uint32_t local = 99;
    for (int i = 0; i < 3; i++)
        EQ(leat_packetway_bias_add(&map, &sans[i], NULL), LEAT_ERR_OK);
    EQ(leat_packetway_bias_find(&map, 0x201, &local)->bias, 0x200);
    EQ(local, 1);
    EQ(leat_packetway_bias_find(&map, 0x200, &local)->bias, 0x200);
    EQ(local, 0);
    OK(leat_packetway_bias_find(&map, 0x203, &local) == NULL);
    OK(leat_packetway_bias_find(&map, 0xFF, NULL) == NULL);
    OK(leat_packetway_block_holds(&sans[0], 0x202));
    OK(!leat_packetway_block_holds(&sans[0], 0x200)); /* the SAN is no node */
    OK(!leat_packetway_block_holds(&sans[0], 0x203));
}

static bool overlaps(const struct leat_packetway_block *a, const struct leat_packetway_block *b)
{
    for (uint32_t x = a->bias; x <= a->bias + a->count; x++)
        if (x >= b->bias && x <= b->bias + b->count) return true;
    return false;
}

static void blocks_that_overlap_are_refused(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned round = 0; round < LEAT_ROUNDS / 2000; round++) {
        struct leat_packetway_block kept[16], blocks[16];
        struct leat_packetway_bias_map map = { .blocks = blocks, .cap = 16 };
        uint32_t count = 0;
        for (int i = 0; i < 40 && count < 16; i++) {
            struct leat_packetway_block b = { 0 };
            b.bias = (uint32_t)leat_random_below(&r, 300);
            b.count = 1 + (uint32_t)leat_random_below(&r, 20);
            uint32_t other = 99;
            bool clash = false;
            for (uint32_t k = 0; k < count; k++)
                clash = clash || overlaps(&b, &kept[k]);
            const leat_err err = leat_packetway_bias_add(&map, &b, &other);
            EQ(err, clash ? LEAT_ERR_DUPLICATE : LEAT_ERR_OK);
            if (clash)
                OK(overlaps(&b, &map.blocks[other]));
            else
                kept[count++] = b;
        }
        for (uint32_t x = 0; x < 330; x++) {
            const struct leat_packetway_block *found = leat_packetway_bias_find(&map, x, NULL);
            bool any = false;
            for (uint32_t k = 0; k < count; k++)
                if (x >= kept[k].bias && x <= kept[k].bias + kept[k].count) {
                    any = true;
                    OK(found && found->bias == kept[k].bias);
                }
            OK(any == (found != NULL));
        }
    }
    struct leat_packetway_block one[1];
    struct leat_packetway_bias_map map = { .blocks = one, .cap = 1 };
    const struct leat_packetway_block last = { 0x7FFFF0, 13 }, high = { 0x7FFFF0, 14 },
                                      wide = { 0, 0x7FFFFD }, none = { 5, 0 },
                                      beyond = { 0x7FFFFE, 1 }, huge = { 1, UINT32_MAX };
    EQ(leat_packetway_block_check(&last), LEAT_ERR_OK);
    EQ(leat_packetway_block_check(&wide), LEAT_ERR_OK);
    EQ(leat_packetway_bias_add(&map, &high, NULL), LEAT_ERR_RANGE);
    EQ(leat_packetway_bias_add(&map, &none, NULL), LEAT_ERR_RANGE);
    EQ(leat_packetway_bias_add(&map, &beyond, NULL), LEAT_ERR_RANGE);
    EQ(leat_packetway_bias_add(&map, &huge, NULL), LEAT_ERR_RANGE);
    EQ(leat_packetway_bias_add(&map, &last, NULL), LEAT_ERR_OK);
    const struct leat_packetway_block more = { 1, 1 };
    EQ(leat_packetway_bias_add(&map, &more, NULL), LEAT_ERR_FULL);
}

TAP_MAIN(T(every_rule_of_layer_3_in_its_order), T(a_dead_link_is_no_way),
         T(layer_2_consumes_symbols_and_its_own_l2rh),
         T(the_steps_of_a_decision_agree_with_the_whole),
         T(the_priority_of_a_hop_is_the_l2rhs_if_it_has_one),
         T(the_mtu_counts_what_is_left_to_send), T(what_is_dropped_is_what_the_codec_refuses),
         T(an_early_decision_is_the_right_one), T(the_table_of_cut_through_holds),
         T(the_word_in_hand_gets_the_ei_rule), T(the_seal_reports_what_this_router_saw),
         T(reasons_have_words), T(the_fib_keeps_the_best_of_each_kind),
         T(the_fib_is_bounded_and_small), T(ranges_are_put_together_by_preference),
         T(the_queue_serves_as_a_plain_line_would), T(a_queue_out_of_bounds_is_refused),
         T(the_example_of_section_7), T(blocks_that_overlap_are_refused))
