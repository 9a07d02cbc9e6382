#include "atm_8b10b.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, QUEUE = 300, TEN = 10, BLOCK = 27 * CELL, BLOCKS = 12 };
enum { LINE_LEN = BLOCKS * BLOCK * TEN / 8, CELLS = BLOCKS * 26 };

static uint8_t memory[QUEUE * CELL], line[LINE_LEN + 1];

static void make_line(uint32_t cells)
{
    struct leat_atm_stream stream = stream_of(memory, sizeof memory, cells);
    struct leat_atm_8b10b_sender tx;
    leat_atm_8b10b_sender_init(&tx, &stream);
    leat_atm_8b10b_sender_pull(&tx, line, LINE_LEN);
}

static struct tally receive(size_t from_bit, size_t chunk)
{
    static uint8_t octets[LINE_LEN];
    static struct leat_atm_8b10b rx;
    struct tally t = { .first = 0 };
    const size_t len = (8 * (size_t)LINE_LEN - from_bit) / 8;
    for (size_t i = 0; i < 8 * len; i++)
        leat_bit_put(octets, i, leat_bit_get(line, from_bit + i));
    leat_atm_8b10b_init(&rx);
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        at += leat_atm_8b10b_feed(&rx, octets + at, n, &out);
        tally_add(&t, &out);
    }
    return t;
}

static void blocks_of_27_cells_begin_with_five_commas(void)
{
    struct leat_atm_stream stream = stream_of(memory, sizeof memory, QUEUE);
    uint8_t octets[CELL];
    bool plus = false;
    make_line(QUEUE);
    for (size_t w = 0; w + 1 < 8 * LINE_LEN / TEN; w++) {
        const size_t at = w % BLOCK;
        if (at >= CELL && at % CELL == 0) leat_atm_stream_next(&stream, octets);
        const uint8_t octet = at < 5 ? 0xbc : at < CELL ? 0 : octets[at % CELL];
        EQ(word_at(line, TEN, w), leat_atm_8b10b_encode(octet, at < 5, &plus));
    }
}

static void cells_arrive_from_any_bit_in_chunks_of_any_size(void)
{
    make_line(QUEUE);
    for (size_t from = 0; from < TEN * BLOCK; from += 491)
        for (size_t chunk = 1; chunk < 6000; chunk = 70 * chunk + 1) {
            const struct tally t = receive(from, chunk);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
            EQ(t.first, from == 0 ? 0 : 26);
            EQ(t.last, QUEUE - 1);
            EQ(t.gaps, 0);
            EQ(t.events[LEAT_ATM_TC_DISCARD] + t.events[LEAT_ATM_TC_FRAME_LOST], 0);
        }
}

static void a_violation_costs_its_cell(void)
{
    make_line(QUEUE);
    put_word(line, TEN, 2 * BLOCK + 3 * CELL + 20, 0x3ff);
    const struct tally t = receive(0, 1000);
    OK(t.events[LEAT_ATM_TC_DISCARD] >= 1 && t.events[LEAT_ATM_TC_DISCARD] <= 2); /* disparity */
    EQ(t.events[LEAT_ATM_TC_CELL] + t.events[LEAT_ATM_TC_DISCARD], QUEUE);
    EQ(t.gaps, 1);
}

static void two_of_five_commas_may_be_wrong_and_so_may_a_block(void)
{
    for (unsigned bad = 1; bad <= 3; bad++)
        for (unsigned blocks = 1; blocks <= 2; blocks++) {
            make_line(QUEUE);
            for (unsigned b = 0; b < blocks; b++)
                for (unsigned i = 0; i < bad; i++)
                    put_word(line, TEN, (4 + b) * BLOCK + 2 * i % 5, 0x155);
            const struct tally t = receive(0, 1000);
            const bool lost = bad == 3 && blocks == 2;
            EQ(t.events[LEAT_ATM_TC_FRAME_LOST], lost);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], lost ? 2 : 1);
            EQ(t.gaps, lost);
            EQ(t.last, QUEUE - 1);
        }
}

static void a_slip_is_healed(void)
{
    static uint8_t slipped[sizeof line];
    for (size_t slip = 1; slip < 10; slip += 2) {
        make_line(QUEUE);
        for (size_t i = 0; i + slip < 8 * LINE_LEN; i++)
            leat_bit_put(slipped, i, leat_bit_get(line, i + (i > 4 * BLOCK * TEN + 3000) * slip));
        memcpy(line, slipped, LINE_LEN);
        const struct tally t = receive(0, 300);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 2);
        EQ(t.last, QUEUE - 1);
    }
}

/* Four of five are not enough to begin with. */
static void a_search_wants_all_five_commas(void)
{
    make_line(QUEUE);
    put_word(line, TEN, 1, 0x155);
    EQ(receive(0, 500).first, 26);
}

TAP_MAIN(T(blocks_of_27_cells_begin_with_five_commas),
         T(cells_arrive_from_any_bit_in_chunks_of_any_size), T(a_violation_costs_its_cell),
         T(two_of_five_commas_may_be_wrong_and_so_may_a_block), T(a_slip_is_healed),
         T(a_search_wants_all_five_commas))
