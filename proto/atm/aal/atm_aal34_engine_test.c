#include "atm_aal34_engine.h"
#include "atm_seal_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

enum { SAR = LEAT_ATM_AAL34_SAR_LEN, SEGMENT = LEAT_ATM_AAL34_SEGMENT_LEN };
enum { PDU_MAX = 256, MIDS_MAX = 3, GAP = 1000 };

static alignas(max_align_t) unsigned char memory[8192];
static const struct leat_atm_aal34_config config = { .pdu_len_max = PDU_MAX,
                                                     .mids_max = MIDS_MAX,
                                                     .gap_ps_max = GAP };

static struct leat_atm_aal34 *fresh(void)
{
    struct leat_atm_aal34 *a = NULL;
    memset(memory, 0xa5, sizeof memory);
    EQ(leat_atm_aal34_init(memory, sizeof memory, &config, &a), LEAT_ERR_OK);
    return a;
}

static struct leat_atm_aal34_out cell(struct leat_atm_aal34 *a, leat_time now, const uint8_t *sar)
{
    struct leat_atm_aal34_out out;
    leat_atm_aal34_step(a, now, &(struct leat_atm_aal34_in){ LEAT_ATM_AAL34_CELL, 0, sar }, &out);
    return out;
}

static struct leat_atm_aal34_out timer(struct leat_atm_aal34 *a, leat_time now)
{
    struct leat_atm_aal34_out out;
    leat_atm_aal34_step(a, now, &(struct leat_atm_aal34_in){ LEAT_ATM_AAL34_TIMER, 0, NULL }, &out);
    return out;
}

static void expect_nothing(struct leat_atm_aal34_out out)
{
    OK(!out.delivered);
    EQ(out.drop_count, 0);
}

static void expect_drop(struct leat_atm_aal34_out out, enum leat_atm_aal34_drop why)
{
    OK(!out.delivered);
    EQ(out.drop_count, 1);
    EQ(out.drops[0], why);
}

/* All SAR-PDUs of one payload of `len` octets 0, 1, 2...; returns how many. */
static size_t segment(struct leat_atm_aal34_sender *s, size_t len, uint8_t sars[][SAR])
{
    static uint8_t payload[1024];
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        payload[i] = (uint8_t)i;
    EQ(leat_atm_aal34_sender_begin(s, 0, payload, len), LEAT_ERR_OK);
    while (leat_atm_aal34_sender_next(s, sars[n]))
        n++;
    return n;
}

static struct leat_atm_aal34_sender sender(uint16_t mid10)
{
    struct leat_atm_aal34_sender s;
    EQ(leat_atm_aal34_sender_init(&s, mid10), LEAT_ERR_OK);
    return s;
}

/* A SAR-PDU rewritten: decoded, changed by the caller, encoded. */
static struct leat_atm_aal34_sar meaning(const uint8_t *sar)
{
    struct leat_atm_aal34_sar out = { .li = 0 };
    EQ(leat_atm_aal34_sar_decode(sar, SAR, &out, NULL), LEAT_ERR_OK);
    return out;
}

static void remake(const struct leat_atm_aal34_sar *meant, uint8_t *sar)
{
    EQ(leat_atm_aal34_sar_encode(meant, sar, SAR), LEAT_ERR_OK);
}

/* ---- segmentation --------------------------------------------------------------------------- */

/* Note 2.3, third vector: SSM SN 0 MID 1, "ABCDEFGH", tag 1. */
static void the_first_pdu_of_a_sender_is_the_vector_of_the_note(void)
{
    struct leat_atm_aal34_sender s = sender(1);
    uint8_t sar[SAR], want[SAR] = "\xc0\x01\x00\x01\x00\x08"
                                  "ABCDEFGH"
                                  "\x00\x01\x00\x08";
    want[46] = 0x41;
    want[47] = 0x33;
    EQ(leat_atm_aal34_sender_begin(&s, 0, (const uint8_t *)"ABCDEFGH", 8), LEAT_ERR_OK);
    OK(leat_atm_aal34_sender_next(&s, sar));
    OK(memcmp(sar, want, SAR) == 0);
    OK(!leat_atm_aal34_sender_next(&s, sar));
}

static void segments_put_together_are_the_cpcs_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(0x3ff);
    uint8_t sn = 0, tag = 0;
    for (size_t len = 0; len <= 300; len++) {
        static uint8_t payload[300], want[320], got[320];
        size_t want_len = 0, got_len = 0;
        uint8_t sar[SAR];
        for (size_t i = 0; i < len; i++)
            payload[i] = (uint8_t)(i * 7 + len);
        tag++;
        const struct leat_atm_aal34_cpcs cpcs = { 9, tag, (uint16_t)len, payload, len };
        EQ(leat_atm_aal34_cpcs_encode(&cpcs, want, sizeof want, &want_len), LEAT_ERR_OK);
        EQ(leat_atm_aal34_sender_begin(&s, 9, payload, len), LEAT_ERR_OK);
        while (leat_atm_aal34_sender_next(&s, sar)) {
            const struct leat_atm_aal34_sar m = meaning(sar);
            const bool first = got_len == 0, last = got_len + m.li == want_len;
            EQ(m.st, first ? (last ? LEAT_ATM_AAL34_SSM : LEAT_ATM_AAL34_BOM)
                           : (last ? LEAT_ATM_AAL34_EOM : LEAT_ATM_AAL34_COM));
            EQ(m.sn, sn++ % 16);
            EQ(m.mid10, 0x3ff);
            memcpy(got + got_len, m.payload, m.li);
            got_len += m.li;
        }
        EQ(got_len, want_len);
        OK(memcmp(got, want, want_len) == 0);
    }
}

static void a_sender_refuses_what_has_no_place_on_the_wire(void)
{
    struct leat_atm_aal34_sender s = sender(5);
    static uint8_t payload[65536];
    uint8_t sar[SAR];
    EQ(leat_atm_aal34_sender_init(&s, 1024), LEAT_ERR_RANGE);
    EQ(leat_atm_aal34_sender_begin(&s, 0, payload, 65536), LEAT_ERR_RANGE);
    OK(!leat_atm_aal34_sender_next(&s, sar)); /* nothing was started */
}

static void the_longest_payload_goes_through(void)
{
    const struct leat_atm_aal34_config large = { 65535, 1, GAP };
    static alignas(max_align_t) unsigned char big[80000];
    static uint8_t payload[65535];
    struct leat_atm_aal34_sender s = sender(7);
    struct leat_atm_aal34 *a = NULL;
    struct leat_atm_aal34_out out = { .delivered = false };
    uint8_t sar[SAR];
    size_t cells = 0;
    OK(leat_atm_aal34_footprint(&large) <= sizeof big);
    EQ(leat_atm_aal34_init(big, sizeof big, &large, &a), LEAT_ERR_OK);
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)(i * i >> 3);
    EQ(leat_atm_aal34_sender_begin(&s, 0, payload, sizeof payload), LEAT_ERR_OK);
    while (leat_atm_aal34_sender_next(&s, sar)) {
        OK(!out.delivered);
        out = cell(a, 0, sar);
        cells++;
    }
    EQ(cells, (LEAT_ATM_AAL34_CPCS_LEN_MAX + SEGMENT - 1) / SEGMENT);
    OK(out.delivered);
    EQ(out.pdu.payload_len, sizeof payload);
    OK(memcmp(out.pdu.payload, payload, sizeof payload) == 0);
}

static void an_abort_is_sent_only_for_what_was_begun(void)
{
    struct leat_atm_aal34_sender s = sender(2);
    static const uint8_t payload[200];
    uint8_t sar[SAR];
    OK(!leat_atm_aal34_sender_abort(&s, sar)); /* nothing at all */
    EQ(leat_atm_aal34_sender_begin(&s, 0, payload, 200), LEAT_ERR_OK);
    OK(!leat_atm_aal34_sender_abort(&s, sar)); /* nothing was sent */
    OK(!leat_atm_aal34_sender_next(&s, sar));  /* and it is discarded */

    EQ(leat_atm_aal34_sender_begin(&s, 0, payload, 200), LEAT_ERR_OK);
    OK(leat_atm_aal34_sender_next(&s, sar));
    OK(leat_atm_aal34_sender_abort(&s, sar));
    const struct leat_atm_aal34_sar m = meaning(sar);
    EQ(m.st, LEAT_ATM_AAL34_EOM);
    EQ(m.li, LEAT_ATM_AAL34_LI_ABORT);
    EQ(m.sn, 1);
    OK(!leat_atm_aal34_sender_next(&s, sar));
    OK(!leat_atm_aal34_sender_abort(&s, sar)); /* it ended */
}

/* ---- reassembly: each cell of the state table ----------------------------------------------- */

static void a_single_segment_is_delivered(void)
{
    struct leat_atm_aal34_sender s = sender(0x12a);
    uint8_t sars[1][SAR];
    EQ(segment(&s, 36, sars), 1);
    const struct leat_atm_aal34_out out = cell(fresh(), 5, sars[0]);
    OK(out.delivered);
    EQ(out.drop_count, 0);
    EQ(out.mid10, 0x12a);
    EQ(out.pdu.payload_len, 36);
    EQ(out.pdu.payload[35], 35);
    OK(out.wake_at == LEAT_NEVER);
}

static void begin_continuation_and_end_make_a_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR];
    EQ(segment(&s, 100, sars), 3);
    struct leat_atm_aal34_out out = cell(a, 10, sars[0]);
    expect_nothing(out);
    EQ(out.wake_at, 10 + GAP);
    EQ(leat_atm_aal34_open_count(a), 1);
    out = cell(a, 20, sars[1]);
    expect_nothing(out);
    EQ(out.wake_at, 20 + GAP);
    out = cell(a, 30, sars[2]);
    OK(out.delivered);
    EQ(out.pdu.payload_len, 100);
    for (size_t i = 0; i < 100; i++)
        EQ(out.pdu.payload[i], i);
    OK(out.wake_at == LEAT_NEVER);
    EQ(leat_atm_aal34_open_count(a), 0);
}

/* Not even the MID of a damaged SAR-PDU is certain; the gap it leaves drops its PDU. */
static void a_wrong_crc_drops_the_cell_and_its_gap_the_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR];
    EQ(segment(&s, 150, sars), 4);
    cell(a, 0, sars[0]);
    sars[1][9] ^= 4;
    expect_drop(cell(a, 0, sars[1]), LEAT_ATM_AAL34_DROP_CRC);
    EQ(leat_atm_aal34_open_count(a), 1);
    expect_drop(cell(a, 0, sars[2]), LEAT_ATM_AAL34_DROP_SEQUENCE);
    EQ(leat_atm_aal34_open_count(a), 0);
    expect_nothing(cell(a, 0, sars[3])); /* one PDU is one drop */
}

static void a_gap_in_sn_drops_the_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    uint8_t sars[8][SAR];
    struct leat_atm_aal34 *a = fresh();
    EQ(segment(&s, 150, sars), 4);
    cell(a, 0, sars[0]);
    expect_drop(cell(a, 0, sars[2]), LEAT_ATM_AAL34_DROP_SEQUENCE);
    cell(a, 0, sars[0]);
    cell(a, 0, sars[1]);
    expect_drop(cell(a, 0, sars[1]), LEAT_ATM_AAL34_DROP_SEQUENCE); /* a duplicate is one too */
    cell(a, 0, sars[0]);
    cell(a, 0, sars[1]);
    expect_drop(cell(a, 0, sars[3]), LEAT_ATM_AAL34_DROP_SEQUENCE); /* at the end as well */
    expect_drop(cell(a, 0, sars[3]), LEAT_ATM_AAL34_DROP_NOT_OPEN); /* which closed the MID */
}

static void a_begin_while_open_drops_the_open_pdu_and_starts_the_new_one(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR], next[8][SAR], single[1][SAR];
    segment(&s, 150, sars);
    EQ(segment(&s, 60, next), 2);
    EQ(segment(&s, 10, single), 1);
    cell(a, 0, sars[0]);
    expect_drop(cell(a, 0, next[0]), LEAT_ATM_AAL34_DROP_UNENDED);
    EQ(leat_atm_aal34_open_count(a), 1);
    struct leat_atm_aal34_out out = cell(a, 0, next[1]);
    OK(out.delivered);
    EQ(out.pdu.payload_len, 60);

    cell(a, 0, sars[0]);
    out = cell(a, 0, single[0]);
    OK(out.delivered);
    EQ(out.drop_count, 1);
    EQ(out.drops[0], LEAT_ATM_AAL34_DROP_UNENDED);
    EQ(out.pdu.payload_len, 10);
    EQ(leat_atm_aal34_open_count(a), 0);
}

static void a_bad_single_segment_while_open_is_two_drops(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR], single[1][SAR];
    segment(&s, 150, sars);
    segment(&s, 10, single);
    struct leat_atm_aal34_sar m = meaning(single[0]);
    m.payload[1] ^= 1; /* Btag */
    remake(&m, single[0]);
    cell(a, 0, sars[0]);
    const struct leat_atm_aal34_out out = cell(a, 0, single[0]);
    OK(!out.delivered);
    EQ(out.drop_count, 2);
    EQ(out.drops[0], LEAT_ATM_AAL34_DROP_UNENDED);
    EQ(out.drops[1], LEAT_ATM_AAL34_DROP_TAG);
}

static void continuation_and_end_while_closed_are_dropped_once(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR];
    EQ(segment(&s, 150, sars), 4);
    expect_drop(cell(a, 0, sars[3]), LEAT_ATM_AAL34_DROP_NOT_OPEN);
    expect_drop(cell(a, 0, sars[1]), LEAT_ATM_AAL34_DROP_NOT_OPEN);
    expect_nothing(cell(a, 0, sars[2]));
    expect_nothing(cell(a, 0, sars[3]));
    expect_drop(cell(a, 0, sars[3]), LEAT_ATM_AAL34_DROP_NOT_OPEN);
}

static void while_skipping_a_begin_or_a_single_segment_counts_again(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR], single[1][SAR];
    EQ(segment(&s, 60, sars), 2);
    segment(&s, 10, single);
    struct leat_atm_aal34_sar com = meaning(sars[0]);
    uint8_t stray[SAR];
    com.st = LEAT_ATM_AAL34_COM;
    remake(&com, stray);
    expect_drop(cell(a, 0, stray), LEAT_ATM_AAL34_DROP_NOT_OPEN);
    expect_nothing(cell(a, 0, sars[0]));
    OK(cell(a, 0, sars[1]).delivered);
    expect_drop(cell(a, 0, stray), LEAT_ATM_AAL34_DROP_NOT_OPEN);
    OK(cell(a, 0, single[0]).delivered);
    expect_drop(cell(a, 0, stray), LEAT_ATM_AAL34_DROP_NOT_OPEN); /* closed, not skipping */
}

/* What ends a PDU badly: the last SAR-PDU of two, changed in one octet of the trailer or header. */
static void each_rule_of_the_cpcs_pdu_has_its_reason(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR], changed[SAR];
    EQ(segment(&s, 60, sars), 2); /* 68 octets: 44 + 24, the trailer at 20 of the second */
    static const struct {
        int which, at;
        uint8_t flip;
        enum leat_atm_aal34_drop why;
    } cases[] = {
        { 1, 20, 1, LEAT_ATM_AAL34_DROP_AL },        { 1, 21, 1, LEAT_ATM_AAL34_DROP_TAG },
        { 0, 1, 1, LEAT_ATM_AAL34_DROP_TAG },        { 1, 22, 1, LEAT_ATM_AAL34_DROP_LENGTH },
        { 1, 23, 0xff, LEAT_ATM_AAL34_DROP_LENGTH }, { 0, 3, 60, LEAT_ATM_AAL34_DROP_BASIZE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leat_atm_aal34_sar m = meaning(sars[cases[i].which]);
        m.payload[cases[i].at] ^= cases[i].flip;
        remake(&m, changed);
        expect_nothing(cell(a, 0, cases[i].which == 0 ? changed : sars[0]));
        expect_drop(cell(a, 0, cases[i].which == 1 ? changed : sars[1]), cases[i].why);
        EQ(leat_atm_aal34_open_count(a), 0);
    }
    struct leat_atm_aal34_sar m = meaning(sars[1]);
    m.li = 22; /* no longer a multiple of four */
    remake(&m, changed);
    cell(a, 0, sars[0]);
    expect_drop(cell(a, 0, changed), LEAT_ATM_AAL34_DROP_LENGTH);
}

/* Gives a SAR-PDU another LI and the matching CRC-10. */
static void set_li(uint8_t *sar, unsigned li)
{
    sar[46] = (uint8_t)(li << 2);
    plain_seal(sar);
}

static void a_li_that_does_not_suit_drops_the_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR], bad[8][SAR], single[1][SAR];
    EQ(segment(&s, 100, sars), 3);
    segment(&s, 10, single);
    memcpy(bad, sars, sizeof bad);
    set_li(bad[0], 43);
    set_li(bad[1], 40);
    set_li(bad[2], 3);
    set_li(single[0], 63);
    expect_drop(cell(a, 0, bad[0]), LEAT_ATM_AAL34_DROP_LI);
    expect_nothing(cell(a, 0, bad[1])); /* the rest of the same PDU */
    expect_nothing(cell(a, 0, bad[2]));
    cell(a, 0, sars[0]);
    expect_drop(cell(a, 0, bad[1]), LEAT_ATM_AAL34_DROP_LI);
    cell(a, 0, sars[0]);
    cell(a, 0, sars[1]);
    expect_drop(cell(a, 0, bad[2]), LEAT_ATM_AAL34_DROP_LI);
    expect_drop(cell(a, 0, single[0]), LEAT_ATM_AAL34_DROP_LI);
    expect_drop(cell(a, 0, bad[2]), LEAT_ATM_AAL34_DROP_NOT_OPEN);
    EQ(leat_atm_aal34_open_count(a), 0);
}

static void a_pdu_longer_than_agreed_overflows_once(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    static uint8_t sars[32][SAR];
    for (size_t len = PDU_MAX - 3; len < 400; len++) {
        const size_t n = segment(&s, len, sars);
        int drops = 0, delivered = 0;
        for (size_t i = 0; i < n; i++) {
            const struct leat_atm_aal34_out out = cell(a, 0, sars[i]);
            drops += out.drop_count;
            delivered += out.delivered;
            if (out.drop_count) EQ(out.drops[0], LEAT_ATM_AAL34_DROP_OVERFLOW);
        }
        EQ(delivered, len <= PDU_MAX);
        EQ(drops, len > PDU_MAX);
    }
}

static void a_begin_that_cannot_fit_overflows_at_once(void)
{
    const struct leat_atm_aal34_config tiny = { 5, 1, GAP };
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = NULL;
    uint8_t sars[8][SAR];
    EQ(leat_atm_aal34_init(memory, sizeof memory, &tiny, &a), LEAT_ERR_OK);
    EQ(segment(&s, 60, sars), 2);
    expect_drop(cell(a, 0, sars[0]), LEAT_ATM_AAL34_DROP_OVERFLOW);
    expect_nothing(cell(a, 0, sars[1]));
    segment(&s, 6, sars);
    expect_drop(cell(a, 0, sars[0]), LEAT_ATM_AAL34_DROP_OVERFLOW);
    segment(&s, 5, sars);
    OK(cell(a, 0, sars[0]).delivered);
}

static void no_more_than_mids_max_pdus_are_open(void)
{
    struct leat_atm_aal34 *a = fresh();
    static uint8_t sars[MIDS_MAX + 1][8][SAR];
    uint8_t single[1][SAR];
    for (uint16_t i = 0; i <= MIDS_MAX; i++) {
        struct leat_atm_aal34_sender s = sender((uint16_t)(1023 - i));
        EQ(segment(&s, 100, sars[i]), 3);
    }
    for (int i = 0; i < MIDS_MAX; i++)
        expect_nothing(cell(a, 0, sars[i][0]));
    expect_drop(cell(a, 0, sars[MIDS_MAX][0]), LEAT_ATM_AAL34_DROP_FULL);
    expect_nothing(cell(a, 0, sars[MIDS_MAX][1])); /* the rest of it is skipped */
    EQ(leat_atm_aal34_open_count(a), MIDS_MAX);
    struct leat_atm_aal34_sender s = sender(500);
    segment(&s, 4, single);
    OK(cell(a, 0, single[0]).delivered); /* which needs no slot */
    cell(a, 0, sars[0][1]);
    OK(cell(a, 0, sars[0][2]).delivered);
    expect_nothing(cell(a, 0, sars[MIDS_MAX][0])); /* a slot is free again */
    EQ(leat_atm_aal34_open_count(a), MIDS_MAX);
}

static void an_abort_drops_the_open_pdu(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    static const uint8_t payload[200];
    uint8_t sar[SAR];
    EQ(leat_atm_aal34_sender_begin(&s, 0, payload, 200), LEAT_ERR_OK);
    OK(leat_atm_aal34_sender_next(&s, sar));
    expect_nothing(cell(a, 0, sar));
    OK(leat_atm_aal34_sender_abort(&s, sar));
    expect_drop(cell(a, 0, sar), LEAT_ATM_AAL34_DROP_ABORT);
    EQ(leat_atm_aal34_open_count(a), 0);
}

static void silence_drops_the_open_pdu_and_only_then(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    uint8_t sars[8][SAR];
    EQ(segment(&s, 100, sars), 3);
    EQ(cell(a, 5, sars[0]).wake_at, 5 + GAP);
    expect_nothing(timer(a, 4 + GAP)); /* early */
    struct leat_atm_aal34_out out = timer(a, 5 + GAP);
    expect_drop(out, LEAT_ATM_AAL34_DROP_LATE);
    EQ(out.mid10, 3);
    OK(out.wake_at == LEAT_NEVER);
    expect_nothing(timer(a, 6 + GAP));
    expect_nothing(cell(a, 7 + GAP, sars[1])); /* the late rest of it */
    expect_nothing(cell(a, 7 + GAP, sars[2]));
}

static void the_longest_silent_goes_first_and_one_at_a_step(void)
{
    struct leat_atm_aal34 *a = fresh();
    static uint8_t sars[3][8][SAR];
    for (uint16_t i = 0; i < 3; i++) {
        struct leat_atm_aal34_sender s = sender(i);
        EQ(segment(&s, 100, sars[i]), 3);
        cell(a, i, sars[i][0]);
    }
    EQ(cell(a, 10, sars[0][1]).wake_at, 1 + GAP); /* MID 0 sent again: MID 1 is next */
    struct leat_atm_aal34_out out = timer(a, 500 + GAP);
    EQ(out.mid10, 1);
    EQ(out.wake_at, 500 + GAP); /* at once: MID 2 is due as well */
    out = timer(a, 500 + GAP);
    EQ(out.mid10, 2);
    out = timer(a, 500 + GAP);
    EQ(out.mid10, 0);
    OK(out.wake_at == LEAT_NEVER);
    EQ(leat_atm_aal34_open_count(a), 0);
}

static void cells_without_user_data_pass_by_unseen(void)
{
    struct leat_atm_aal34_sender s = sender(3);
    struct leat_atm_aal34 *a = fresh();
    struct leat_atm_aal34_out out;
    uint8_t sars[1][SAR];
    segment(&s, 10, sars);
    for (uint8_t pt = 0; pt < 8; pt++) {
        leat_atm_aal34_step(a, 0, &(struct leat_atm_aal34_in){ LEAT_ATM_AAL34_CELL, pt, sars[0] },
                            &out);
        EQ(out.delivered, pt < 4);
        EQ(out.drop_count, 0);
    }
}

static void memory_and_configuration_are_checked(void)
{
    struct leat_atm_aal34 *a = NULL;
    const size_t need = leat_atm_aal34_footprint(&config);
    OK(need <= sizeof memory);
    EQ(leat_atm_aal34_init(memory, need - 1, &config, &a), LEAT_ERR_MEMORY);
    EQ(leat_atm_aal34_init(memory + 1, need, &config, &a), LEAT_ERR_MEMORY);
    static const struct leat_atm_aal34_config wrong[] = {
        { 0, 1, 1 }, { 65536, 1, 1 }, { 1, 0, 1 }, { 1, 1025, 1 }
    };
    for (int i = 0; i < 4; i++)
        EQ(leat_atm_aal34_init(memory, sizeof memory, &wrong[i], &a), LEAT_ERR_RANGE);
    OK(a == NULL);
    EQ(leat_atm_aal34_init(memory, need, &config, &a), LEAT_ERR_OK);
}

/* ---- campaigns ------------------------------------------------------------------------------ */

enum { SENDERS = 6 };

/* Octet i of PDU `id`, so that whatever is delivered can be recognized. */
static uint8_t octet_of(uint64_t id, size_t i)
{
    return (uint8_t)(i < 8 ? id >> 8 * i : (id + 1) * 0x9e3779b97f4a7c15u >> i % 57);
}

struct source {
    struct leat_atm_aal34_sender s;
    uint64_t id, last_delivered;
    uint8_t payload[400];
};

static void begin_next(struct source *src, uint64_t id, struct leat_random *r)
{
    const size_t len = 8 + leat_random_below(r, leat_random_below(r, 4) ? 120 : 300);
    src->id = id;
    for (size_t i = 0; i < len; i++)
        src->payload[i] = octet_of(id, i);
    leat_atm_aal34_sender_begin(&src->s, 0, src->payload, len);
}

static void what_arrives_in_order_is_delivered_whatever_the_interleaving(void)
{
    static struct source sources[MIDS_MAX];
    struct leat_random r;
    struct leat_atm_aal34 *a = fresh();
    uint64_t delivered = 0, begun = 0;
    leat_random_seed(&r, tap_seed());
    for (uint16_t i = 0; i < MIDS_MAX; i++)
        leat_atm_aal34_sender_init(&sources[i].s, (uint16_t)(i * 301));
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        struct source *src = &sources[leat_random_below(&r, MIDS_MAX)];
        uint8_t sar[SAR];
        if (!leat_atm_aal34_sender_next(&src->s, sar)) {
            do
                begin_next(src, ++begun, &r);
            while (src->s.payload_len > PDU_MAX);
            OK(leat_atm_aal34_sender_next(&src->s, sar));
        }
        const struct leat_atm_aal34_out out = cell(a, (leat_time)round, sar);
        OK(out.drop_count == 0);
        OK(out.delivered == (src->s.sent == src->s.cpcs_len));
        if (out.delivered) {
            delivered++;
            OK(out.mid10 == src->s.mid10 && out.pdu.payload_len == src->s.payload_len &&
               memcmp(out.pdu.payload, src->payload, src->s.payload_len) == 0);
        }
        if (tap_checks_failed > 9) return;
    }
    OK(delivered > 0);
}

/*
 * The receiver again as a plain model: one record per MID, searched and copied without
 * optimisation. The note's list of discards says what it does with a SAR-PDU.
 */
struct record {
    int open, skipping;
    unsigned sn;
    size_t used;
    leat_time seen_at;
    uint64_t stamp; /* when the record was touched, for the order of timers */
    uint8_t octets[1024];
};

struct model {
    struct record mid[LEAT_ATM_AAL34_MID_COUNT];
    uint64_t stamp;
};

struct verdict {
    int delivered, drop_count;
    int drops[2], mid10;
    uint8_t payload[1024];
    size_t payload_len;
};

static int model_open_count(const struct model *m)
{
    int n = 0;
    for (int i = 0; i < LEAT_ATM_AAL34_MID_COUNT; i++)
        n += m->mid[i].open;
    return n;
}

static int model_oldest(const struct model *m)
{
    int oldest = -1;
    for (int i = 0; i < LEAT_ATM_AAL34_MID_COUNT; i++)
        if (m->mid[i].open && (oldest < 0 || m->mid[i].stamp < m->mid[oldest].stamp)) oldest = i;
    return oldest;
}

static void model_drop(struct verdict *v, int mid10, int why)
{
    v->drops[v->drop_count++] = why;
    v->mid10 = mid10;
}

static void model_end(struct verdict *v, int mid10, const uint8_t *cpcs, size_t len)
{
    const uint8_t *t = cpcs + len - 4;
    const size_t length = (size_t)t[2] << 8 | t[3], basize = (size_t)cpcs[2] << 8 | cpcs[3];
    if (len < 8 || len % 4)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_LENGTH);
    else if (t[0] != 0)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_AL);
    else if (cpcs[1] != t[1])
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_TAG);
    else if (4 + (length + 3) / 4 * 4 + 4 != len)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_LENGTH);
    else if (basize < length)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_BASIZE);
    else if (length > PDU_MAX)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_OVERFLOW);
    else {
        v->delivered = 1;
        v->mid10 = mid10;
        v->payload_len = length;
        memcpy(v->payload, cpcs + 4, length);
    }
}

static void model_collect(struct model *m, struct record *r, leat_time now, const uint8_t *sar,
                          unsigned li)
{
    memcpy(r->octets + r->used, sar + 2, li);
    r->used += li;
    r->sn = (sar[0] >> 2 & 15u) + 1;
    r->seen_at = now;
    r->stamp = ++m->stamp;
}

static void model_cell(struct model *m, leat_time now, const uint8_t *sar, struct verdict *v)
{
    enum { COM, EOM, BOM, SSM };
    const unsigned st = sar[0] >> 6, sn = sar[0] >> 2 & 15u, li = sar[46] >> 2;
    const int mid10 = (sar[0] & 3) << 8 | sar[1];
    const size_t cpcs_max = 4 + PDU_MAX + 4;
    struct record *r = &m->mid[mid10];
    const int li_bad = st == BOM || st == COM ? li != 44
                       : st == EOM            ? (li < 4 || li > 44) && li != 63
                                              : li < 8 || li > 44;
    if (!plain_check(sar)) {
        v->drops[v->drop_count++] = LEAT_ATM_AAL34_DROP_CRC;
        return;
    }
    if (st == BOM || st == SSM) {
        if (r->open) model_drop(v, mid10, LEAT_ATM_AAL34_DROP_UNENDED);
        r->open = r->skipping = 0;
        if (li_bad) {
            model_drop(v, mid10, LEAT_ATM_AAL34_DROP_LI);
            r->skipping = st == BOM;
        } else if (st == SSM) {
            model_end(v, mid10, sar + 2, li);
        } else if (model_open_count(m) == MIDS_MAX) {
            model_drop(v, mid10, LEAT_ATM_AAL34_DROP_FULL);
            r->skipping = 1;
        } else {
            r->open = 1;
            r->used = 0;
            model_collect(m, r, now, sar, li);
        }
        return;
    }
    const int was_open = r->open, was_skipping = r->skipping;
    r->open = 0;
    r->skipping = st == COM; /* unless it is complete */
    if (was_skipping) return;
    if (!was_open)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_NOT_OPEN);
    else if (li_bad)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_LI);
    else if (li == 63)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_ABORT);
    else if (sn != r->sn % 16)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_SEQUENCE);
    else if (r->used + li > cpcs_max)
        model_drop(v, mid10, LEAT_ATM_AAL34_DROP_OVERFLOW);
    else {
        model_collect(m, r, now, sar, li);
        if (st == EOM) {
            model_end(v, mid10, r->octets, r->used);
        } else {
            r->open = 1;
            r->skipping = 0;
        }
    }
}

static void model_timer(struct model *m, leat_time now, struct verdict *v)
{
    const int oldest = model_oldest(m);
    if (oldest < 0 || now < m->mid[oldest].seen_at + GAP) return;
    model_drop(v, oldest, LEAT_ATM_AAL34_DROP_LATE);
    m->mid[oldest].open = 0;
    m->mid[oldest].skipping = 1;
}

static int agrees(const struct model *m, leat_time now, const struct leat_atm_aal34_out *out,
                  const struct verdict *v, const struct leat_atm_aal34 *a)
{
    const int oldest = model_oldest(m);
    leat_time wake = oldest < 0 ? LEAT_NEVER : m->mid[oldest].seen_at + GAP;
    if (wake < now) wake = now;
    if (out->wake_at != wake || (int)leat_atm_aal34_open_count(a) != model_open_count(m)) return 0;
    if (out->delivered != v->delivered || out->drop_count != v->drop_count) return 0;
    for (int i = 0; i < v->drop_count; i++)
        if ((int)out->drops[i] != v->drops[i]) return 0;
    const int crc = v->drop_count && v->drops[0] == LEAT_ATM_AAL34_DROP_CRC;
    if ((v->delivered || (v->drop_count && !crc)) && out->mid10 != v->mid10) return 0;
    return !v->delivered || (out->pdu.payload_len == v->payload_len &&
                             memcmp(out->pdu.payload, v->payload, v->payload_len) == 0);
}

/* Loss, duplicates, damage, aborts, silence, more MIDs than slots. */
struct mishaps {
    struct source sources[SENDERS];
    struct leat_random r;
    uint64_t begun;
    uint8_t latest[SAR]; /* as it was sent */
    uint8_t sar[SAR];    /* as it arrives */
};

/* The next SAR-PDU to arrive; false if there is none. */
static bool next_sar(struct mishaps *w)
{
    struct source *src = &w->sources[leat_random_below(&w->r, SENDERS)];
    const uint64_t mishap = leat_random_below(&w->r, 40);
    bool arrives = mishap != 0;
    if (mishap == 1) {
        arrives = leat_atm_aal34_sender_abort(&src->s, w->latest);
    } else if (mishap != 2) { /* 2: the latest once more */
        if (!leat_atm_aal34_sender_next(&src->s, w->latest)) {
            begin_next(src, ++w->begun, &w->r);
            leat_atm_aal34_sender_next(&src->s, w->latest);
        }
    }
    memcpy(w->sar, w->latest, SAR);
    if (mishap == 3) {
        const size_t at = leat_random_below(&w->r, SAR);
        w->sar[at] ^= (uint8_t)(1u << leat_random_below(&w->r, 8));
    }
    if (mishap == 4) set_li(w->sar, (unsigned)leat_random_below(&w->r, 64));
    return arrives;
}

/* Whatever else happens, the engine delivers only what was sent, and on its own MID. */
static int was_sent(const struct leat_atm_aal34_out *out, uint64_t begun)
{
    uint64_t id = 0;
    if (out->pdu.payload_len < 8) return 0;
    for (size_t i = 0; i < 8; i++)
        id |= (uint64_t)out->pdu.payload[i] << 8 * i;
    for (size_t i = 0; i < out->pdu.payload_len; i++)
        if (out->pdu.payload[i] != octet_of(id, i)) return 0;
    return id >= 1 && id <= begun;
}

/* Every reason that a link can cause. */
static bool met_all(const long seen[LEAT_ATM_AAL34_DROP_COUNT])
{
    bool all = true;
    for (int i = 0; i < LEAT_ATM_AAL34_DROP_COUNT; i++)
        all = all && (seen[i] > 0 || i == LEAT_ATM_AAL34_DROP_AL || i == LEAT_ATM_AAL34_DROP_TAG ||
                      i == LEAT_ATM_AAL34_DROP_BASIZE);
    return all;
}

/* Runs until every case occurred, if the rounds of the build are too few for rare ones. */
static void random_mishaps_end_as_in_the_plain_model(void)
{
    static struct mishaps w;
    static struct model m;
    static struct leat_atm_aal34_out out;
    static struct verdict v;
    struct leat_atm_aal34 *a = fresh();
    leat_time now = 0;
    long seen[LEAT_ATM_AAL34_DROP_COUNT] = { 0 }, delivered = 0;
    leat_random_seed(&w.r, tap_seed() + 7);
    for (uint16_t i = 0; i < SENDERS; i++)
        leat_atm_aal34_sender_init(&w.sources[i].s, (uint16_t)(i * 204));
    /* the model searches all 1024 MIDs at every step: a fifth of the rounds is enough */
    for (long round = 0; round < LEAT_ROUNDS / 5 || (!met_all(seen) && round < LEAT_ROUNDS * 4L);
         round++) {
        const bool is_timer = leat_random_below(&w.r, 16) == 0;
        now += leat_random_below(&w.r, leat_random_below(&w.r, 20) ? 40 : 1500);
        v.delivered = v.drop_count = 0;
        if (is_timer) {
            out = timer(a, now);
            model_timer(&m, now, &v);
        } else {
            if (!next_sar(&w)) continue;
            out = cell(a, now, w.sar);
            model_cell(&m, now, w.sar, &v);
        }
        OK(agrees(&m, now, &out, &v, a));
        if (out.delivered) OK(was_sent(&out, w.begun));
        delivered += out.delivered;
        for (int i = 0; i < out.drop_count; i++)
            seen[out.drops[i]]++;
        if (tap_checks_failed > 9) return;
    }
    OK(delivered > LEAT_ROUNDS / 1000);
    OK(met_all(seen));
}

TAP_MAIN(T(the_first_pdu_of_a_sender_is_the_vector_of_the_note),
         T(segments_put_together_are_the_cpcs_pdu),
         T(a_sender_refuses_what_has_no_place_on_the_wire), T(the_longest_payload_goes_through),
         T(an_abort_is_sent_only_for_what_was_begun), T(a_single_segment_is_delivered),
         T(begin_continuation_and_end_make_a_pdu),
         T(a_wrong_crc_drops_the_cell_and_its_gap_the_pdu), T(a_gap_in_sn_drops_the_pdu),
         T(a_begin_while_open_drops_the_open_pdu_and_starts_the_new_one),
         T(a_bad_single_segment_while_open_is_two_drops),
         T(continuation_and_end_while_closed_are_dropped_once),
         T(while_skipping_a_begin_or_a_single_segment_counts_again),
         T(each_rule_of_the_cpcs_pdu_has_its_reason), T(a_li_that_does_not_suit_drops_the_pdu),
         T(a_pdu_longer_than_agreed_overflows_once), T(a_begin_that_cannot_fit_overflows_at_once),
         T(no_more_than_mids_max_pdus_are_open), T(an_abort_drops_the_open_pdu),
         T(silence_drops_the_open_pdu_and_only_then),
         T(the_longest_silent_goes_first_and_one_at_a_step),
         T(cells_without_user_data_pass_by_unseen), T(memory_and_configuration_are_checked),
         T(what_arrives_in_order_is_delivered_whatever_the_interleaving),
         T(random_mishaps_end_as_in_the_plain_model))
