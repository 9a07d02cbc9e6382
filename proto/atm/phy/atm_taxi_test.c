#include "atm_taxi.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, QUEUE = 200, SYMBOL = 5, J = 0x18, K = 0x11, TT_SYMBOL = 0x0d };
enum { LINE_LEN = 14000 };

/* FDDI's symbols as the standard prints them. */
static const char *const data_symbols[16] = { "11110", "01001", "10100", "10101", "01010", "01011",
                                              "01110", "01111", "10010", "10011", "10110", "10111",
                                              "11010", "11011", "11100", "11101" };

static uint8_t memory[QUEUE * CELL], line[LINE_LEN + 1];

static void make_line(uint32_t cells)
{
    struct leat_atm_stream stream = stream_of(memory, sizeof memory, cells);
    struct leat_atm_taxi_sender tx;
    leat_atm_taxi_sender_init(&tx, &stream);
    leat_atm_taxi_sender_pull(&tx, line, LINE_LEN);
}

static unsigned symbol_of(unsigned data)
{
    unsigned symbol = 0;
    for (const char *c = data_symbols[data]; *c; c++)
        symbol = symbol << 1 | (*c == '1');
    return symbol;
}

static struct tally receive(size_t from_bit, size_t chunk)
{
    static uint8_t octets[LINE_LEN];
    struct leat_atm_taxi rx;
    struct tally t = { .first = 0 };
    const size_t len = (8 * (size_t)LINE_LEN - from_bit) / 8;
    for (size_t i = 0; i < 8 * len; i++)
        leat_bit_put(octets, i, leat_bit_get(line, from_bit + i));
    leat_atm_taxi_init(&rx);
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        at += leat_atm_taxi_feed(&rx, octets + at, n, &out);
        tally_add(&t, &out);
    }
    return t;
}

/* JK, TT and the halves of each octet, in the places of the figure. */
static void cells_follow_tt_and_jk_fills_the_gaps(void)
{
    struct leat_atm_stream stream = stream_of(memory, sizeof memory, 100);
    uint8_t cell[CELL];
    size_t at = 0;
    make_line(100);
    for (unsigned n = 0; n < 100; n++) {
        if (n % LEAT_ATM_TAXI_CELLS_MAX == 0) {
            EQ(word_at(line, SYMBOL, at++), J);
            EQ(word_at(line, SYMBOL, at++), K);
        }
        EQ(word_at(line, SYMBOL, at++), TT_SYMBOL);
        EQ(word_at(line, SYMBOL, at++), TT_SYMBOL);
        leat_atm_stream_next(&stream, cell);
        for (size_t i = 0; i < CELL; i++) {
            EQ(word_at(line, SYMBOL, at++), symbol_of(cell[i] >> 4));
            EQ(word_at(line, SYMBOL, at++), symbol_of(cell[i] & 0xf));
        }
    }
    while (at + 2 <= 8 * LINE_LEN / SYMBOL) {
        EQ(word_at(line, SYMBOL, at++), J);
        EQ(word_at(line, SYMBOL, at++), K);
    }
}

/* Any symbols of a valid line beside each other, at any bit. */
static void jk_is_unlike_any_ten_bits_of_cells(void)
{
    unsigned symbols[17];
    for (unsigned i = 0; i < 16; i++)
        symbols[i] = symbol_of(i);
    symbols[16] = TT_SYMBOL;
    for (unsigned a = 0; a < 17; a++)
        for (unsigned b = 0; b < 17; b++)
            for (unsigned c = 0; c < 17; c++) {
                const unsigned bits = symbols[a] << 10 | symbols[b] << 5 | symbols[c];
                for (unsigned shift = 0; shift <= SYMBOL; shift++)
                    OK((bits >> shift & 0x3ff) != (J << SYMBOL | K));
            }
}

static void cells_arrive_from_any_bit_in_chunks_of_any_size(void)
{
    make_line(200);
    for (size_t from = 0; from < 600; from += 7)
        for (size_t chunk = 1; chunk < 5000; chunk = 20 * chunk + 1) {
            const struct tally t = receive(from, chunk);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
            EQ(t.first, from == 0 ? 0 : 64); /* behind the next JK */
            EQ(t.last, 199);
            EQ(t.gaps, 0);
            EQ(t.events[LEAT_ATM_TC_DISCARD] + t.events[LEAT_ATM_TC_FRAME_LOST], 0);
        }
}

static const size_t cell_10 = 2 + 10 * 108; /* where its TT begins, in symbols */

static void a_violation_costs_its_cell(void)
{
    for (size_t i = 2; i < 108; i += 3) {
        make_line(100);
        put_word(line, SYMBOL, cell_10 + i, 0x04); /* H of FDDI: halt */
        const struct tally t = receive(0, 100);
        EQ(t.events[LEAT_ATM_TC_DISCARD], 1);
        EQ(t.events[LEAT_ATM_TC_CELL], 99);
        EQ(t.gaps, 1);
    }
}

static void a_missing_start_costs_its_cell(void)
{
    for (size_t i = 0; i < 2; i++) {
        make_line(100);
        put_word(line, SYMBOL, cell_10 + i, symbol_of(3));
        const struct tally t = receive(0, 100);
        EQ(t.events[LEAT_ATM_TC_DISCARD], 1);
        EQ(t.events[LEAT_ATM_TC_CELL], 99);
    }
}

static void control_pairs_inside_a_cell_end_it(void)
{
    make_line(100);
    put_word(line, SYMBOL, cell_10 + 50,
             TT_SYMBOL); /* another cell that never fills: the next TT ends it */
    put_word(line, SYMBOL, cell_10 + 51, TT_SYMBOL);
    put_word(line, SYMBOL, cell_10 + 3 * 108 + 50, J); /* the rest is no gap */
    put_word(line, SYMBOL, cell_10 + 3 * 108 + 51, K);
    const struct tally t = receive(0, 100);
    EQ(t.events[LEAT_ATM_TC_DISCARD], 4);
    EQ(t.events[LEAT_ATM_TC_CELL], 98);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
}

/* One line bit can be three of the cell: CRC-8 detects any four in a row, correction would not. */
static void no_wrong_bit_changes_a_header(void)
{
    for (size_t bit = 0; bit < 540; bit += bit < 70 ? 1 : 7) {
        const size_t at = cell_10 * SYMBOL + bit;
        make_line(100);
        leat_bit_put(line, at, !leat_bit_get(line, at));
        const struct tally t = receive(0, 2000);
        const bool payload = bit >= 10 * 6; /* damaged into another symbol, or a violation */
        OK(t.events[LEAT_ATM_TC_CELL] == 99 || (payload && t.events[LEAT_ATM_TC_CELL] == 100));
        EQ(t.corrected, 0);
    }
}

static void two_strays_in_a_row_move_the_boundary(void)
{
    static uint8_t slipped[sizeof line];
    make_line(200);
    for (size_t i = 0; i < 8 * LINE_LEN; i++) /* a bit is lost within cell 10 */
        leat_bit_put(slipped, i, leat_bit_get(line, i + (i > cell_10 * SYMBOL + 77)));
    memcpy(line, slipped, LINE_LEN);
    const struct tally t = receive(0, 300);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 2);
    EQ(t.events[LEAT_ATM_TC_CELL],
       10 + 200 - 192); /* JK before 64, 128: strays; before 192: sync */
    EQ(t.last, 199);
}

TAP_MAIN(T(cells_follow_tt_and_jk_fills_the_gaps), T(jk_is_unlike_any_ten_bits_of_cells),
         T(cells_arrive_from_any_bit_in_chunks_of_any_size), T(a_violation_costs_its_cell),
         T(a_missing_start_costs_its_cell), T(control_pairs_inside_a_cell_end_it),
         T(no_wrong_bit_changes_a_header), T(two_strays_in_a_row_move_the_boundary))
