#include "atm_stm1.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, FRAME = LEAT_ATM_STM1_FRAME_LEN, COLUMNS = LEAT_ATM_STM1_COLUMNS };
enum { QUEUE = 64, FRAMES = 24 };
enum {
    C2_AT = 2 * COLUMNS + 9,
    H1_AT = 3 * COLUMNS,
    H2_AT = 3 * COLUMNS + 3,
    H4_AT = 5 * COLUMNS + 9
};

static uint8_t memory[QUEUE * CELL];
static uint8_t line[FRAMES * FRAME];

static struct leat_atm_stream fresh_stream(void)
{
    struct leat_atm_stream stream;
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    return stream;
}

static struct leat_atm_stm1 fresh(void)
{
    struct leat_atm_stm1 rx;
    EQ(leat_atm_stm1_init(&rx, &LEAT_ATM_DELINEATION_DEFAULT), LEAT_ERR_OK);
    return rx;
}

static void make_frame(struct leat_atm_stream *stream, uint8_t *frame)
{
    struct leat_atm_stm1_sender tx;
    leat_atm_stm1_sender_init(&tx, stream);
    leat_atm_stm1_sender_pull(&tx, frame, FRAME);
}

/* Frames of numbered cells without a gap, into `line`. */
static void make_line(void)
{
    struct leat_atm_stream stream = fresh_stream();
    uint32_t n = 0;
    for (size_t f = 0; f < FRAMES; f++) {
        while (stream.count < 60)
            EQ(put_cell(&stream, n++), LEAT_ERR_OK);
        make_frame(&stream, line + f * FRAME);
    }
    EQ(stream.idle_count, 0);
}

static void feed(struct leat_atm_stm1 *rx, const uint8_t *octets, size_t len, size_t chunk,
                 struct tally *t)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_stm1_feed(rx, octets + at, n, &out);
        OK(used >= 1 && used <= n);
        at += used;
        tally_add(t, &out);
    }
}

static struct tally receive(size_t from, size_t len, size_t chunk)
{
    struct leat_atm_stm1 rx = fresh();
    struct tally t = { .first = 0 };
    feed(&rx, line + from, len, chunk, &t);
    return t;
}

static void a_frame_is_laid_out_as_the_figures_say(void)
{
    struct leat_atm_stream stream = fresh_stream();
    uint8_t frame[FRAME], container[LEAT_ATM_STM1_CONTAINER_LEN];
    memset(frame, 0xee, sizeof frame);
    make_frame(&stream, frame);
    OK(memcmp(frame, "\xf6\xf6\xf6\x28\x28\x28", 6) == 0);
    OK(memcmp(frame + H1_AT, "\x6a\x9b\x9b\x0a\xff\xff\x00\x00\x00", 9) == 0);
    EQ(frame[C2_AT], 0x13);
    EQ(frame[H4_AT], 53 - 5 * 260 % 53); /* 1300 octets of cells came before it */
    EQ(LEAT_ATM_STM1_ROWS * COLUMNS, FRAME);
    EQ(LEAT_ATM_STM1_ROWS * (COLUMNS - 10), LEAT_ATM_STM1_CONTAINER_LEN);

    stream = fresh_stream();
    leat_atm_stream_pull(&stream, container, sizeof container);
    for (size_t row = 0; row < LEAT_ATM_STM1_ROWS; row++)
        OK(memcmp(frame + row * COLUMNS + 10, container + row * 260, 260) == 0);
}

/* 2340 = 44 x 53 + 8, so the offset falls by 8 from frame to frame, and has every value. */
static void h4_is_the_offset_to_the_next_cell(void)
{
    struct leat_atm_stream stream = fresh_stream();
    bool had[CELL] = { false };
    for (size_t f = 0; f < CELL; f++) {
        uint8_t frame[FRAME];
        make_frame(&stream, frame);
        const size_t before = f * LEAT_ATM_STM1_CONTAINER_LEN + 5 * 260;
        EQ((before + frame[H4_AT]) % CELL, 0);
        OK(frame[H4_AT] < CELL && !had[frame[H4_AT]]);
        had[frame[H4_AT]] = true;
    }
}

static void cells_cross_frames_and_arrive_in_order(void)
{
    make_line();
    for (size_t chunk = 1; chunk < 3 * FRAME; chunk = chunk * 3 + 1) {
        const struct tally t = receive(0, sizeof line, chunk);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
        EQ(t.events[LEAT_ATM_TC_SYNC], 1);
        /* One frame for the frame, then one cell to find and DELTA to confirm. */
        EQ(t.first, 44 + 1 + 6);
        EQ(t.last, FRAMES * LEAT_ATM_STM1_CONTAINER_LEN / CELL - 1);
        EQ(t.gaps, 0);
        for (unsigned e = LEAT_ATM_TC_DISCARD; e <= LEAT_ATM_TC_OFFSET; e++)
            if (e != LEAT_ATM_TC_SYNC && e != LEAT_ATM_TC_FRAME_SYNC) EQ(t.events[e], 0);
    }
}

static void frames_are_found_from_any_place(void)
{
    make_line();
    for (size_t from = 1; from < FRAME; from += 97) {
        const struct tally t = receive(from, sizeof line - from, 1000);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
        EQ(t.last, FRAMES * LEAT_ATM_STM1_CONTAINER_LEN / CELL - 1);
        EQ(t.gaps, 0);
    }
}

static void a_false_pattern_in_a_payload_delays_and_does_not_mislead(void)
{
    make_line();
    memcpy(line + 4 * COLUMNS + 50, "\xf6\xf6\xf6\x28\x28\x28", 6);
    struct leat_atm_stm1 rx = fresh();
    struct tally t = { .first = 0 };
    feed(&rx, line + 100, FRAME - 100, FRAME, &t); /* past the true pattern */
    EQ(rx.state, LEAT_ATM_STM1_CHECK);
    feed(&rx, line + FRAME, sizeof line - FRAME, FRAME, &t);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(rx.state, LEAT_ATM_STM1_IN_FRAME);
    EQ(t.gaps, 0);
}

static void the_fourth_bad_pattern_in_a_row_loses_the_frame(void)
{
    for (size_t bad = 1; bad <= 5; bad++) {
        make_line();
        for (size_t f = 0; f < bad; f++)
            line[(8 + f) * FRAME + 2] ^= 1;
        const struct tally t = receive(0, sizeof line, 500);
        const bool lost = bad >= LEAT_ATM_STM1_BAD_FRAMES_MAX;
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], lost);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], lost ? 2 : 1);
        EQ(t.events[LEAT_ATM_TC_SYNC], lost ? 2 : 1);
        EQ(t.events[LEAT_ATM_TC_LOST], 0); /* the frame takes the cells with it */
        EQ(t.gaps == 0, !lost);
        EQ(t.last, FRAMES * LEAT_ATM_STM1_CONTAINER_LEN / CELL - 1);
    }
}

static void bad_patterns_with_a_good_one_between_do_not_add_up(void)
{
    make_line();
    for (size_t f = 8; f < 15; f++)
        if (f != 11) line[f * FRAME + 5] ^= 0x80;
    const struct tally t = receive(0, sizeof line, 500);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(t.gaps, 0);
}

static void a_slip_is_healed(void)
{
    static uint8_t slipped[sizeof line];
    make_line();
    for (size_t slip = 1; slip < 300; slip += 13) {
        const size_t place = 6 * FRAME + 1234;
        memcpy(slipped, line, place);
        memcpy(slipped + place, line + place + slip, sizeof line - place - slip);
        struct leat_atm_stm1 rx = fresh();
        struct tally t = { .first = 0 };
        feed(&rx, slipped, sizeof line - slip, 777, &t);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 2);
        EQ(rx.state, LEAT_ATM_STM1_IN_FRAME);
        EQ(rx.cells.state, LEAT_ATM_DELINEATION_SYNC);
        EQ(t.last, FRAMES * LEAT_ATM_STM1_CONTAINER_LEN / CELL - 1);
    }
}

static void wrong_overhead_is_reported_and_the_cells_go_on(void)
{
    static const struct {
        size_t at;
        enum leat_atm_tc_event event;
    } wrong[] = { { C2_AT, LEAT_ATM_TC_LABEL },
                  { H1_AT, LEAT_ATM_TC_POINTER },
                  { H2_AT, LEAT_ATM_TC_POINTER },
                  { H4_AT, LEAT_ATM_TC_OFFSET } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_line();
        line[5 * FRAME + wrong[i].at] ^= 0x02;
        line[9 * FRAME + wrong[i].at] ^= 0x02;
        const struct tally t = receive(0, sizeof line, FRAME);
        EQ(t.events[wrong[i].event], 2);
        EQ(t.events[LEAT_ATM_TC_LABEL] + t.events[LEAT_ATM_TC_POINTER] +
               t.events[LEAT_ATM_TC_OFFSET],
           2);
        EQ(t.gaps, 0);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    }
}

/* With such a large ALPHA, H4 is the first to show that an octet of the container is missing. */
static void h4_reports_a_slip_inside_the_container(void)
{
    struct leat_atm_stream stream = fresh_stream();
    struct leat_atm_stm1 rx;
    struct tally t = { .first = 0 };
    EQ(leat_atm_stm1_init(&rx, &(struct leat_atm_delineation_config){ 100, 6 }), LEAT_ERR_OK);
    for (unsigned f = 0; f < 8; f++) {
        uint8_t frame[FRAME], lost;
        if (f == 5) leat_atm_stream_pull(&stream, &lost, 1);
        make_frame(&stream, frame);
        feed(&rx, frame, sizeof frame, FRAME, &t);
        EQ(t.events[LEAT_ATM_TC_OFFSET], f < 5 ? 0 : f == 5 ? 1 : 2);
        EQ(rx.cells.state == LEAT_ATM_DELINEATION_HUNT, f == 0);
    }
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(t.events[LEAT_ATM_TC_LOST], 1);
}

static void bad_parameters_are_refused(void)
{
    struct leat_atm_stm1 rx;
    EQ(leat_atm_stm1_init(&rx, &(struct leat_atm_delineation_config){ 0, 1 }), LEAT_ERR_RANGE);
}

/* Idle cells, random cells, errors in headers: cells arrive in order, and all that are not hit
 * arrive. */
static void random_traffic_with_single_errors_arrives_whole(void)
{
    struct leat_random r;
    struct leat_atm_stream stream = fresh_stream();
    struct leat_atm_stm1 rx = fresh();
    struct tally t = { .first = 0 };
    uint32_t n = 0;
    leat_random_seed(&r, tap_seed());
    for (long f = 0; f < LEAT_ROUNDS / 500; f++) {
        uint8_t frame[FRAME];
        /* Before cell synchronisation there are none to lose. */
        for (uint64_t k = f < 3 ? 0 : leat_random_below(&r, 50); k > 0 && stream.count < QUEUE; k--)
            EQ(put_cell(&stream, n++), LEAT_ERR_OK);
        make_frame(&stream, frame);
        if (f > 3) { /* one header bit of one cell: H4 shows where a cell begins */
            const size_t at = 5 * COLUMNS + 10 + frame[H4_AT];
            const uint64_t bit = 8 * at + leat_random_below(&r, LEAT_ATM_HEADER_BITS);
            leat_bit_put(frame, bit, !leat_bit_get(frame, bit));
        }
        feed(&rx, frame, sizeof frame, 1 + leat_random_below(&r, 4000), &t);
    }
    EQ(t.gaps, 0);
    EQ(t.first, 0);
    OK(n - (t.last + 1) <= QUEUE + 1);
    EQ(t.events[LEAT_ATM_TC_DISCARD] + t.events[LEAT_ATM_TC_LOST] + t.events[LEAT_ATM_TC_OFFSET],
       0);
    OK(rx.cells.idle_count > 0);
}

/* Noise never breaks the receiver, and it finds the valid frames after it. */
static void after_random_noise_the_frames_are_found_again(void)
{
    struct leat_random r;
    struct leat_atm_stm1 rx = fresh();
    leat_random_seed(&r, tap_seed());
    make_line();
    for (long i = 0; i < LEAT_ROUNDS / 10000; i++) {
        static uint8_t noise[6 * FRAME];
        struct tally t = { .first = 0 };
        const size_t len = leat_random_below(&r, sizeof noise);
        const size_t from = leat_random_below(&r, 3 * FRAME);
        leat_random_fill(&r, noise, len);
        feed(&rx, noise, len, 1 + leat_random_below(&r, 4000), &t);
        feed(&rx, line + from, sizeof line - from, 1 + leat_random_below(&r, 4000), &t);
        EQ(rx.state, LEAT_ATM_STM1_IN_FRAME);
        EQ(rx.cells.state, LEAT_ATM_DELINEATION_SYNC);
        EQ(t.last, FRAMES * LEAT_ATM_STM1_CONTAINER_LEN / CELL - 1);
    }
}

TAP_MAIN(T(a_frame_is_laid_out_as_the_figures_say), T(h4_is_the_offset_to_the_next_cell),
         T(cells_cross_frames_and_arrive_in_order), T(frames_are_found_from_any_place),
         T(a_false_pattern_in_a_payload_delays_and_does_not_mislead),
         T(the_fourth_bad_pattern_in_a_row_loses_the_frame),
         T(bad_patterns_with_a_good_one_between_do_not_add_up), T(a_slip_is_healed),
         T(wrong_overhead_is_reported_and_the_cells_go_on),
         T(h4_reports_a_slip_inside_the_container), T(bad_parameters_are_refused),
         T(random_traffic_with_single_errors_arrives_whole),
         T(after_random_noise_the_frames_are_found_again))
