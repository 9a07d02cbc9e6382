#include "atm_plcp.h"
#include "atm_tc_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, QUEUE = 64, ROW = 2 * LEAT_ATM_PLCP_ROW_LEN };
enum { ROWS = LEAT_ATM_PLCP_ROWS, FRAMES = 12, LINE = FRAMES * 1382 };

static uint8_t memory[QUEUE * CELL];

/* The link as nibbles, one per octet, and where each frame begins. */
static uint8_t line[LINE];
static size_t line_nibbles, frame_at[FRAMES];

/* An independent model of the frame, a nibble at a time. */
static void put_octet(unsigned octet)
{
    line[line_nibbles++] = (uint8_t)(octet >> 4);
    line[line_nibbles++] = octet & 0xf;
}

static unsigned odd_parity(unsigned seven_bits)
{
    unsigned ones = 0;
    for (unsigned b = seven_bits; b; b >>= 1)
        ones += b & 1;
    return seven_bits << 1 | (ones + 1) % 2;
}

static void plain_frame(unsigned c1, unsigned trailer, uint32_t first)
{
    static const uint8_t header[LEAT_ATM_HEADER_LEN] = { 0x00, 0x10, 0x00, 0x50, 0x40 };
    for (unsigned row = 0; row < ROWS; row++) {
        const unsigned number = ROWS - 1 - row;
        put_octet(0xf6);
        put_octet(0x28);
        put_octet(odd_parity(number << 1)); /* six bits, a zero, the parity */
        put_octet(number ? 0 : c1);
        for (unsigned i = 0; i < LEAT_ATM_HEADER_LEN; i++)
            put_octet(header[i]);
        for (unsigned i = 0; i < LEAT_ATM_PAYLOAD_LEN; i++)
            put_octet(i < 4 ? (first + row) >> (24 - 8 * i) & 0xff : 0);
    }
    while (trailer-- > 0)
        line[line_nibbles++] = 0xc;
}

/* Cycles of FF 13, 00 14, then 66 13 or 99 14: of the first four cycles the 2nd and 4th are
 * stuffed. */
static void make_line(void)
{
    line_nibbles = 0;
    for (unsigned f = 0; f < FRAMES; f++) {
        const bool stuffed = f / 3 % 2;
        frame_at[f] = line_nibbles;
        if (f % 3 == 0) plain_frame(0xff, 13, f * ROWS);
        if (f % 3 == 1) plain_frame(0x00, 14, f * ROWS);
        if (f % 3 == 2) plain_frame(stuffed ? 0x99 : 0x66, stuffed ? 14 : 13, f * ROWS);
    }
}

static void feed(struct leat_atm_plcp *rx, const uint8_t *octets, size_t len, size_t chunk,
                 struct tally *t)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_plcp_feed(rx, octets + at, n, &out);
        OK(used >= 1 && used <= n);
        at += used;
        tally_add(t, &out);
    }
}

/* Nibbles `from` on, two to an octet; an odd one at the end is left out. */
static struct tally receive(struct leat_atm_plcp *rx, size_t from, size_t chunk)
{
    static uint8_t octets[LINE / 2];
    const size_t len = (line_nibbles - from) / 2;
    struct tally t = { .first = 0 };
    for (size_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(line[from + 2 * i] << 4 | line[from + 2 * i + 1]);
    leat_atm_plcp_init(rx);
    feed(rx, octets, len, chunk, &t);
    return t;
}

static void path_overhead_identifiers_are_those_of_the_figure(void)
{
    static const uint8_t want[ROWS] = { 0x01, 0x04, 0x08, 0x0d, 0x10, 0x15,
                                        0x19, 0x1c, 0x20, 0x25, 0x29, 0x2c };
    for (unsigned n = 0; n < ROWS; n++)
        EQ(odd_parity(n << 1), want[n]);
}

static void the_sender_makes_the_frames_of_the_plain_model(void)
{
    struct leat_atm_stream stream;
    struct leat_atm_plcp_sender tx;
    make_line();
    for (size_t chunk = 1; chunk < 2000; chunk = 2 * chunk + 1) {
        uint32_t n = 0;
        EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
        leat_atm_plcp_sender_init(&tx, &stream);
        for (size_t at = 0; at < line_nibbles / 2;) {
            uint8_t octets[2000];
            const size_t left = line_nibbles / 2 - at, len = left < chunk ? left : chunk;
            while (stream.count < 48)
                EQ(put_cell(&stream, n++), LEAT_ERR_OK);
            leat_atm_plcp_sender_pull(&tx, octets, len);
            for (size_t i = 0; i < len; i++, at++)
                EQ(octets[i], line[2 * at] << 4 | line[2 * at + 1]);
        }
    }
}

static void nibble_by_nibble_a_line_is_the_same(void)
{
    struct leat_atm_plcp by_octet, by_nibble;
    struct tally t = { .first = 0 }, u = { .first = 0 };
    struct leat_atm_stream stream;
    struct leat_atm_plcp_sender tx;
    uint32_t n = 0;
    make_line();
    leat_atm_plcp_init(&by_octet);
    leat_atm_plcp_init(&by_nibble);
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    leat_atm_plcp_sender_init(&tx, &stream);
    for (size_t at = 0; at + 1 < line_nibbles; at += 2) {
        uint8_t octet = 0;
        for (size_t i = 0; i < 2; i++) {
            struct leat_atm_tc_out out = { .event = LEAT_ATM_TC_NOTHING };
            while (stream.count < 48)
                EQ(put_cell(&stream, n++), LEAT_ERR_OK);
            const unsigned nibble = leat_atm_plcp_sender_nibble(&tx);
            EQ(nibble, line[at + i]);
            octet = (uint8_t)(octet << 4 | nibble);
            leat_atm_plcp_feed_nibble(&by_nibble, nibble, &out);
            if (out.event != LEAT_ATM_TC_NOTHING) tally_add(&u, &out);
        }
        feed(&by_octet, &octet, 1, 1, &t);
    }
    EQ(u.events[LEAT_ATM_TC_CELL], t.events[LEAT_ATM_TC_CELL]);
    EQ(u.events[LEAT_ATM_TC_FRAME_SYNC], 1);
    OK(u.events[LEAT_ATM_TC_CELL] > ROWS && u.last == t.last && u.first == t.first);
}

/* 255 frames are 85 cycles: 255 * 125 us * 44736 kb/s * 84/85 = 352296 nibbles, to the bit. */
static void frames_keep_the_rate_of_the_link(void)
{
    struct leat_atm_stream stream;
    struct leat_atm_plcp_sender tx;
    uint8_t octets[352296 / 2 / 4];
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    leat_atm_plcp_sender_init(&tx, &stream);
    for (unsigned round = 0; round < 4; round++)
        for (unsigned quarter = 0; quarter < 4; quarter++)
            leat_atm_plcp_sender_pull(&tx, octets, sizeof octets);
    EQ(stream.idle_count, 4 * 255 * ROWS);
    EQ(tx.at, tx.nibbles); /* a frame has just ended */
}

static void cells_arrive_in_order_in_chunks_of_any_size(void)
{
    struct leat_atm_plcp rx;
    make_line();
    for (size_t chunk = 1; chunk < 2000; chunk = 2 * chunk + 1) {
        const struct tally t = receive(&rx, 0, chunk);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
        EQ(t.events[LEAT_ATM_TC_CELL], FRAMES * ROWS - 1);
        EQ(t.first, 1); /* the first row is only detected, the second confirms it */
        EQ(t.gaps, 0);
    }
}

static void frames_are_found_from_any_nibble(void)
{
    struct leat_atm_plcp rx;
    make_line();
    for (size_t from = 1; from < 1400; from++) {
        const struct tally t = receive(&rx, from, SIZE_MAX);
        const uint32_t rows_gone = (uint32_t)(from <= frame_at[1] - 13 ? (from + ROW - 1) / ROW
                                                                       : 12);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
        if (from < frame_at[1]) EQ(t.first, rows_gone + 1);
        EQ(t.gaps, 0);
        OK(t.last >= FRAMES * ROWS - 2);
    }
}

static void one_wrong_framing_octet_is_tolerated_two_are_not(void)
{
    struct leat_atm_plcp rx;
    for (unsigned wrong = 1; wrong < 4; wrong++) {
        make_line();
        const size_t row = frame_at[3] + 5 * ROW;
        if (wrong & 1) line[row] ^= 1;
        if (wrong & 2) line[row + 2] ^= 1;
        const struct tally t = receive(&rx, 0, SIZE_MAX);
        const bool lost = wrong == 3;
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], lost);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], lost ? 2 : 1);
        EQ(t.gaps, lost);
        EQ(t.events[LEAT_ATM_TC_CELL], FRAMES * ROWS - 1 - (lost ? 2 : 0));
    }
}

static void one_wrong_identifier_is_tolerated_two_in_a_row_are_not(void)
{
    struct leat_atm_plcp rx;
    for (unsigned distance = 0; distance < 4; distance++) {
        make_line();
        line[frame_at[3] + 5 * ROW + 4] ^= 1;
        if (distance) line[frame_at[3] + (5 + distance) * ROW + 5] ^= 2;
        const struct tally t = receive(&rx, 0, SIZE_MAX);
        const bool lost = distance == 1;
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], lost);
        EQ(t.gaps, lost);
    }
}

static void a_search_is_not_misled_by_an_identifier_out_of_order(void)
{
    struct leat_atm_plcp rx;
    make_line();
    line[4] = 2; /* row 11 claims to be 9, which has the code 25 */
    line[5] = 5;
    const struct tally t = receive(&rx, 0, SIZE_MAX);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
    EQ(t.first, 3); /* row 1 refutes row 0, and is itself consumed by that; 2 and 3 agree */
}

static void a_single_error_in_c1_is_mended(void)
{
    struct leat_atm_plcp rx;
    for (unsigned f = 0; f < 6; f++)
        for (unsigned bit = 0; bit < 8; bit++) {
            make_line();
            line[frame_at[f] + 11 * ROW + 6 + bit / 4] ^= (uint8_t)(8 >> bit % 4);
            const struct tally t = receive(&rx, 0, SIZE_MAX);
            EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
            EQ(t.gaps, 0);
        }
}

static void a_slip_of_one_nibble_is_healed(void)
{
    struct leat_atm_plcp rx;
    make_line();
    const size_t place = frame_at[4] + 3 * ROW + 50;
    memmove(line + place, line + place + 1, line_nibbles - place - 1);
    line_nibbles--;
    const struct tally t = receive(&rx, 0, SIZE_MAX);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 2);
    OK(t.last >= FRAMES * ROWS - 2);
}

static void headers_are_mended_or_discarded_by_the_two_modes(void)
{
    struct leat_atm_plcp rx;
    make_line();
    for (unsigned row = 4; row < 7; row++)
        line[frame_at[2] + row * ROW + 8] ^= 1; /* three errors: one corrected, two discarded */
    line[frame_at[5] + 8] ^= 3;
    const struct tally t = receive(&rx, 0, SIZE_MAX);
    EQ(t.corrected, 1);
    EQ(t.events[LEAT_ATM_TC_DISCARD], 3);
    EQ(t.events[LEAT_ATM_TC_CELL], FRAMES * ROWS - 1 - 3);
}

static void a_new_frame_starts_in_correction_mode(void)
{
    struct leat_atm_plcp rx;
    make_line();
    line[frame_at[2] + 8] ^= 3;   /* discarded: detection mode */
    line[frame_at[2] + ROW] ^= 1; /* the next row begins with neither A1 nor A2 */
    line[frame_at[2] + ROW + 2] ^= 1;
    line[frame_at[2] + 3 * ROW + 8] ^= 1; /* the first cell after that has a single error */
    const struct tally t = receive(&rx, 0, SIZE_MAX);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
    EQ(t.events[LEAT_ATM_TC_DISCARD], 1);
    EQ(t.corrected, 1);
}

static void random_traffic_arrives_whole_and_without_idle_cells(void)
{
    struct leat_random r;
    struct leat_atm_stream stream;
    struct leat_atm_plcp_sender tx;
    struct leat_atm_plcp rx;
    struct tally t = { .first = 0 };
    uint32_t n = 0;
    leat_random_seed(&r, tap_seed());
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    leat_atm_plcp_sender_init(&tx, &stream);
    leat_atm_plcp_init(&rx);
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        uint8_t octets[1000];
        const size_t len = 1 + leat_random_below(&r, sizeof octets);
        for (uint64_t k = leat_random_below(&r, 20); i > 5 && k > 0 && stream.count < QUEUE; k--)
            EQ(put_cell(&stream, n++), LEAT_ERR_OK);
        leat_atm_plcp_sender_pull(&tx, octets, len);
        feed(&rx, octets, len, 1 + leat_random_below(&r, sizeof octets), &t);
    }
    EQ(t.first, 0);
    EQ(t.gaps, 0);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST] + t.events[LEAT_ATM_TC_DISCARD], 0);
    OK(n - (t.last + 1) <= QUEUE + ROWS);
    OK(stream.idle_count - rx.idle_count <= 1 + ROWS);
}

static void after_random_noise_the_frames_are_found_again(void)
{
    struct leat_random r;
    struct leat_atm_plcp rx;
    leat_random_seed(&r, tap_seed());
    leat_atm_plcp_init(&rx);
    make_line();
    for (long i = 0; i < LEAT_ROUNDS / 1000; i++) {
        uint8_t noise[3000], octets[LINE / 2];
        struct tally t = { .first = 0 };
        const size_t len = leat_random_below(&r, sizeof noise), from = leat_random_below(&r, 3000);
        const size_t clean = (line_nibbles - from) / 2;
        leat_random_fill(&r, noise, len);
        feed(&rx, noise, len, SIZE_MAX, &t);
        for (size_t k = 0; k < clean; k++)
            octets[k] = (uint8_t)(line[from + 2 * k] << 4 | line[from + 2 * k + 1]);
        feed(&rx, octets, clean, SIZE_MAX, &t);
        EQ(rx.state, LEAT_ATM_PLCP_IN_FRAME);
        OK(t.last >= FRAMES * ROWS - 2);
    }
}

TAP_MAIN(T(path_overhead_identifiers_are_those_of_the_figure),
         T(the_sender_makes_the_frames_of_the_plain_model), T(nibble_by_nibble_a_line_is_the_same),
         T(frames_keep_the_rate_of_the_link), T(cells_arrive_in_order_in_chunks_of_any_size),
         T(frames_are_found_from_any_nibble), T(one_wrong_framing_octet_is_tolerated_two_are_not),
         T(one_wrong_identifier_is_tolerated_two_in_a_row_are_not),
         T(a_search_is_not_misled_by_an_identifier_out_of_order), T(a_single_error_in_c1_is_mended),
         T(a_slip_of_one_nibble_is_healed), T(headers_are_mended_or_discarded_by_the_two_modes),
         T(a_new_frame_starts_in_correction_mode),
         T(random_traffic_arrives_whole_and_without_idle_cells),
         T(after_random_noise_the_frames_are_found_again))
