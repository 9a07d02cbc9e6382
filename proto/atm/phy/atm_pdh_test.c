#include "atm_pdh.h"
#include "atm_tc_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, FRAMES = 40, QUEUE = 460 };
enum { FRAME_MAX = LEAT_ATM_PDH_FRAME_LEN_MAX };
static const enum leat_atm_pdh_kind e1 = LEAT_ATM_PDH_E1, e3 = LEAT_ATM_PDH_E3;
enum { EM_AT = 60, MA_AT = 180 };

static const enum leat_atm_pdh_kind kinds[] = { LEAT_ATM_PDH_E1, LEAT_ATM_PDH_E3 };
static const size_t frame_len[] = { 64, 537 }, payload_len[] = { 60, 530 };
static uint8_t memory[QUEUE * CELL], line[FRAMES * FRAME_MAX];

/* Frames full of cells; as many as they carry. */
static struct leat_atm_stream full_stream(void)
{
    struct leat_atm_stream stream;
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    for (uint32_t n = 0; n < QUEUE; n++)
        EQ(put_cell(&stream, n), LEAT_ERR_OK);
    return stream;
}

static size_t make_line(enum leat_atm_pdh_kind kind)
{
    struct leat_atm_stream stream = full_stream();
    struct leat_atm_pdh_sender tx;
    leat_atm_pdh_sender_init(&tx, kind, &stream);
    leat_atm_pdh_sender_pull(&tx, line, FRAMES * frame_len[kind]);
    return FRAMES * frame_len[kind];
}

static uint32_t last_number(enum leat_atm_pdh_kind kind)
{
    return (uint32_t)(FRAMES * payload_len[kind] / CELL - 1);
}

static struct leat_atm_pdh fresh(enum leat_atm_pdh_kind kind)
{
    struct leat_atm_pdh rx;
    EQ(leat_atm_pdh_init(&rx, kind, &LEAT_ATM_DELINEATION_DEFAULT), LEAT_ERR_OK);
    return rx;
}

static void feed(struct leat_atm_pdh *rx, const uint8_t *octets, size_t len, size_t chunk,
                 struct tally *t)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_pdh_feed(rx, octets + at, n, &out);
        OK(used > 0 && used <= n);
        at += used;
        tally_add(t, &out);
    }
}

static struct tally receive(enum leat_atm_pdh_kind kind, size_t from, size_t to, size_t chunk)
{
    struct leat_atm_pdh rx = fresh(kind);
    struct tally t = { .first = 0 };
    feed(&rx, line + from, to - from, chunk, &t);
    return t;
}

/* G.704: slots 0 and 16 of 32 carry no cells. */
static void e1_frames_are_laid_out_as_the_picture_says(void)
{
    struct leat_atm_stream stream = full_stream();
    const size_t len = make_line(e1);
    for (size_t i = 0; i < len; i++) {
        uint8_t want;
        if (i % 32 == 0)
            want = i / 32 % 2 ? 0xdf : 0x9b;
        else if (i % 32 == 16)
            want = 0xff;
        else
            leat_atm_stream_pull(&stream, &want, 1);
        EQ(line[i], want);
    }
}

/* G.832: nine rows of 59 columns behind a column of six; parity bit by bit. */
static void e3_frames_are_laid_out_as_the_picture_says(void)
{
    struct leat_atm_stream stream = full_stream();
    make_line(e3);
    const uint8_t *octet = line;
    for (size_t f = 0; f < FRAMES; f++)
        for (unsigned row = 0; row < 9; row++)
            for (unsigned column = row < 6 ? 0 : 1; column < 60; column++, octet++) {
                uint8_t want = 0;
                if (column == 0 && row == 1) {
                    for (unsigned bit = 0; f > 0 && bit < 8; bit++) {
                        unsigned ones = 0;
                        for (size_t i = 0; i < 537; i++)
                            ones += line[(f - 1) * 537 + i] >> bit & 1;
                        want |= (uint8_t)(ones % 2 << bit);
                    }
                } else if (column == 0) {
                    want = row == 0 ? 0xf6 : row == 3 ? 0x10 : 0;
                } else if (row == 0 && column == 1) {
                    want = 0x28;
                } else {
                    leat_atm_stream_pull(&stream, &want, 1);
                }
                EQ(*octet, want);
            }
    EQ(octet - line, FRAMES * 537);
}

static void cells_arrive_in_order_from_any_place_in_chunks_of_any_size(void)
{
    for (size_t k = 0; k < 2; k++) {
        const size_t len = make_line(kinds[k]);
        for (size_t from = 0; from < frame_len[k]; from += 1 + frame_len[k] / 20)
            for (size_t chunk = 1; chunk < 1200; chunk = 3 * chunk + 1) {
                const struct tally t = receive(kinds[k], from, len, chunk);
                EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
                EQ(t.events[LEAT_ATM_TC_SYNC], 1);
                EQ(t.last, last_number(kinds[k]));
                EQ(t.gaps, 0);
                for (unsigned e = LEAT_ATM_TC_FRAME_LOST; e <= LEAT_ATM_TC_PARITY; e++)
                    EQ(t.events[e], 0);
            }
    }
}

static void bad_alignments_in_a_row_lose_the_frame(void)
{
    static const size_t bad_max[] = { 3, 4 };
    for (size_t k = 0; k < 2; k++)
        for (size_t bad = 1; bad <= 5; bad++) {
            const size_t len = make_line(kinds[k]);
            for (size_t f = 0; f < bad; f++)
                line[(20 + f) * frame_len[k]] ^= 1;
            const struct tally t = receive(kinds[k], 0, len, 500);
            const bool lost = bad >= bad_max[k];
            EQ(t.events[LEAT_ATM_TC_FRAME_LOST], lost);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], lost ? 2 : 1);
            EQ(t.events[LEAT_ATM_TC_LOST], 0); /* the frame takes the cells with it */
            EQ(t.gaps == 0, !lost);
            EQ(t.last, last_number(kinds[k]));
        }
}

static void a_false_alignment_in_a_payload_delays_and_does_not_mislead(void)
{
    for (size_t k = 0; k < 2; k++) {
        const size_t len = make_line(kinds[k]);
        const size_t at = frame_len[k] + 40;
        memcpy(line + at, kinds[k] == e1 ? "\x1b\x00" : "\xf6\x28", 2);
        struct leat_atm_pdh rx = fresh(kinds[k]);
        struct tally t = { .first = 0 };
        feed(&rx, line + at, 2, 2, &t);
        EQ(rx.state, LEAT_ATM_PDH_CHECK);
        feed(&rx, line + at + 2, len - at - 2, 100, &t);
        EQ(rx.state, LEAT_ATM_PDH_IN_FRAME);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
        EQ(t.gaps, 0);
    }
}

/* E1: slot 0 without the signal has a 1 where the signal has its first 0. */
static void the_frame_between_is_looked_at_too(void)
{
    const size_t len = make_line(e1);
    line[32] ^= 0x40;
    struct leat_atm_pdh rx = fresh(e1);
    struct tally t = { .first = 0 };
    feed(&rx, line, 33, 33, &t);
    EQ(rx.state, LEAT_ATM_PDH_SEARCH);
    feed(&rx, line + 33, len - 33, 100, &t);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
}

static void e3_reports_parity_and_label_and_the_cells_go_on(void)
{
    const size_t len = make_line(e3);
    line[9 * 537 + 400] ^= 0x10;    /* a payload bit: seen in frame 10 */
    line[15 * 537 + EM_AT] ^= 0x81; /* itself, and in frame 16, which covers it */
    line[20 * 537 + MA_AT] ^= 0x08; /* not cells; and parity of frame 21 */
    const struct tally t = receive(e3, 0, len, 1000);
    EQ(t.events[LEAT_ATM_TC_PARITY], 4);
    EQ(t.events[LEAT_ATM_TC_LABEL], 1);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(t.gaps, 0);
}

static void a_slip_is_healed(void)
{
    static uint8_t slipped[sizeof line];
    for (size_t k = 0; k < 2; k++) {
        const size_t len = make_line(kinds[k]), place = 15 * frame_len[k] + 33;
        for (size_t slip = 1; slip < 31; slip += 4) {
            memcpy(slipped, line, place);
            memcpy(slipped + place, line + place + slip, len - place - slip);
            struct leat_atm_pdh rx = fresh(kinds[k]);
            struct tally t = { .first = 0 };
            feed(&rx, slipped, len - slip, 777, &t);
            EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 2);
            EQ(rx.state, LEAT_ATM_PDH_IN_FRAME);
            EQ(t.last, last_number(kinds[k]));
        }
    }
}

static void bad_parameters_are_refused(void)
{
    struct leat_atm_pdh rx;
    EQ(leat_atm_pdh_init(&rx, e1, &(struct leat_atm_delineation_config){ 0, 1 }), LEAT_ERR_RANGE);
}

TAP_MAIN(T(e1_frames_are_laid_out_as_the_picture_says),
         T(e3_frames_are_laid_out_as_the_picture_says),
         T(cells_arrive_in_order_from_any_place_in_chunks_of_any_size),
         T(bad_alignments_in_a_row_lose_the_frame),
         T(a_false_alignment_in_a_payload_delays_and_does_not_mislead),
         T(the_frame_between_is_looked_at_too), T(e3_reports_parity_and_label_and_the_cells_go_on),
         T(a_slip_is_healed), T(bad_parameters_are_refused))
