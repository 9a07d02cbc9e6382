#include "poets_instr.h"
#include "poets_wire.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

/* V17 of spec/poets.md: the record of thread 0x0411. */
static const struct leat_poets_instr record = {
    .count = 14,
    .counter = { 0, 240000000, 1000, 998, 500, 7, 490, 3, 2, 1, 11, 22, 33, 44 },
};
static const uint8_t record_octets[64] = {
    0x00, 0x00, 0xfb, 0xc0, 0x11, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1c, 0x4e, 0x0e,
    0xe8, 0x03, 0x00, 0x00, 0xe6, 0x03, 0x00, 0x00, 0xf4, 0x01, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00,
    0xea, 0x01, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x0b, 0x00, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00, 0x21, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00, 0x00,
};

static bool same(const struct leat_poets_instr *a, const struct leat_poets_instr *b)
{
    return a->count == b->count && memcmp(a->counter, b->counter, 4 * a->count) == 0;
}

static void the_published_record_has_its_octets(void)
{
    struct leat_poets_packet p = { .packet_class = LEAT_POETS_CLASS_SUP,
                                   .opcode = LEAT_POETS_OP_INSTR,
                                   .sender = 0x0411 };
    struct leat_poets_instr back;
    uint8_t buf[64];
    size_t len = 0;
    EQ(leat_poets_instr_encode(&record, p.payload, sizeof p.payload, &len), LEAT_ERR_OK);
    EQ(len, 56);
    p.payload_len = (uint16_t)len;
    EQ(leat_poets_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, 64);
    OK(memcmp(buf, record_octets, sizeof buf) == 0);

    EQ(leat_poets_packet_decode(record_octets, 64, &p, NULL), LEAT_ERR_OK);
    EQ(leat_poets_instr_decode(p.payload, p.payload_len, &back, NULL), LEAT_ERR_OK);
    OK(same(&back, &record));
    EQ(back.counter[LEAT_POETS_INSTR_CYCLES], 240000000);
    EQ(back.counter[LEAT_POETS_INSTR_BLOCK_CNT], 1);
    EQ(back.counter[LEAT_POETS_INSTR_CPU_IDLE_COUNT], 44);
}

static void three_flits_hold_ten_counters(void)
{
    struct leat_poets_packet p;
    struct leat_poets_instr out;
    uint8_t buf[56];
    size_t len = 0;
    memset(&out, 0xee, sizeof out);
    EQ(leat_poets_packet_decode(record_octets, 48, &p, NULL), LEAT_ERR_OK);
    EQ(leat_poets_instr_decode(p.payload, p.payload_len, &out, NULL), LEAT_ERR_OK);
    EQ(out.count, 10);
    for (unsigned i = 0; i < 14; i++)
        EQ(out.counter[i], i < 10 ? record.counter[i] : 0);
    EQ(leat_poets_instr_encode(&out, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, 40);
    EQ(leat_poets_nflit(len), 3);
    OK(memcmp(buf, record_octets + 8, len) == 0);
}

static void lengths_other_than_40_and_56_are_refused(void)
{
    const uint8_t buf[80] = { 0 };
    for (size_t len = 0; len <= sizeof buf; len++) {
        struct leat_poets_instr out, before;
        size_t at = 999;
        if (len == 40 || len == 56) continue;
        memset(&out, 0x5c, sizeof out);
        memset(&before, 0x5c, sizeof before);
        EQ(leat_poets_instr_decode(buf, len, &out, &at),
           len < 40 ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH);
        EQ(at, len < 56 ? len : 56);
        OK(memcmp(&out, &before, sizeof out) == 0);
    }
}

static void the_encoder_refuses_other_counts_and_small_buffers(void)
{
    uint8_t buf[56] = { 0x5a };
    size_t len = 77;
    for (unsigned count = 0; count < 20; count++) {
        const struct leat_poets_instr bad = { .count = count, .counter = { 1 } };
        if (count == 10 || count == 14)
            EQ(leat_poets_instr_encode(&bad, buf, 4 * count - 1, &len), LEAT_ERR_SPACE);
        else
            EQ(leat_poets_instr_encode(&bad, buf, sizeof buf, &len), LEAT_ERR_RANGE);
    }
    EQ(buf[0], 0x5a);
    EQ(len, 77);
}

static void counters_have_the_names_of_the_note(void)
{
    OK(strcmp(leat_poets_instr_name(LEAT_POETS_INSTR_CIDX), "cIDX") == 0);
    OK(strcmp(leat_poets_instr_name(LEAT_POETS_INSTR_IDLE_HAN_CNT), "idleHanCnt") == 0);
    OK(strcmp(leat_poets_instr_name(13), "CPUIdleCount") == 0);
    OK(leat_poets_instr_name(14) == NULL);
    OK(leat_poets_instr_name(UINT32_MAX) == NULL);
}

static void random_records_round_trip_both_ways(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t buf[56], back[56];
        const size_t len = leat_random_below(&r, 2) ? 40 : 56;
        struct leat_poets_instr x, y;
        size_t back_len = 0;
        leat_random_fill(&r, buf, len);
        EQ(leat_poets_instr_decode(buf, len, &x, NULL), LEAT_ERR_OK);
        for (unsigned i = 0; i < len; i++) /* octet i of the payload is octet i%4 of word i/4 */
            EQ(x.counter[i / 4] >> 8 * (i % 4) & 0xff, buf[i]);
        EQ(leat_poets_instr_encode(&x, back, sizeof back, &back_len), LEAT_ERR_OK);
        EQ(back_len, len);
        OK(memcmp(back, buf, len) == 0);
        EQ(leat_poets_instr_decode(back, back_len, &y, NULL), LEAT_ERR_OK);
        OK(same(&x, &y));
        if (tap_checks_failed) return;
    }
}

TAP_MAIN(T(the_published_record_has_its_octets), T(three_flits_hold_ten_counters),
         T(lengths_other_than_40_and_56_are_refused),
         T(the_encoder_refuses_other_counts_and_small_buffers),
         T(counters_have_the_names_of_the_note), T(random_records_round_trip_both_ways))
