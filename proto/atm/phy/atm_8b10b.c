#include "atm_8b10b.h"
#include <stdlib.h>
#include <string.h>

/* --- sender --- */

void leat_atm_8b10b_sender_init(struct leat_atm_8b10b_sender *tx, struct leat_atm_stream *stream)
{
    *tx = (struct leat_atm_8b10b_sender){ .stream = stream };
}

static unsigned next_word(struct leat_atm_8b10b_sender *tx)
{
    if (tx->number == 0) {
        const bool mark = tx->sent < LEAT_ATM_8B10B_MARKS;
        const unsigned word = leat_atm_8b10b_encode(mark ? LEAT_ATM_8B10B_K28_5 : 0, mark,
                                                    &tx->plus);
        tx->sent++;
        return word;
    }
    if (tx->sent == 0) leat_atm_stream_next(tx->stream, tx->cell);
    return leat_atm_8b10b_encode(tx->cell[tx->sent++], false, &tx->plus);
}

void leat_atm_8b10b_sender_pull(struct leat_atm_8b10b_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (leat_atm_tens_wants(&tx->tens)) {
            leat_atm_tens_add(&tx->tens, next_word(tx));
            if (tx->sent == LEAT_ATM_CELL_LEN) {
                tx->sent = 0;
                tx->number = (tx->number + 1) % LEAT_ATM_8B10B_CELLS;
            }
        }
        octets[i] = leat_atm_tens_octet(&tx->tens);
    }
}

/* --- receiver --- */

/* The one place where the state changes. */
static void enter(struct leat_atm_8b10b *rx, enum leat_atm_8b10b_state next)
{
    rx->state = next;
    rx->marks = 0;
    rx->bad_blocks = 0;
    rx->number = 0;
    rx->have = 0;
    rx->damaged = false;
}

void leat_atm_8b10b_init(struct leat_atm_8b10b *rx)
{
    leat_atm_8b10b_table_init(&rx->table);
    rx->tens = (struct leat_atm_tens){ 0 };
    rx->plus = false;
    rx->idle_count = 0;
    enter(rx, LEAT_ATM_8B10B_SEARCH);
}

static bool is_mark(unsigned word)
{
    return word == LEAT_ATM_8B10B_K28_5_MINUS || word == LEAT_ATM_8B10B_K28_5_PLUS;
}

/* Five marks in a row, ten bits apart. */
static enum leat_atm_tc_event search(struct leat_atm_8b10b *rx, unsigned latest)
{
    if (rx->marks == 0) {
        if (!is_mark(latest)) return LEAT_ATM_TC_NOTHING;
        rx->tens.have = 0;
    } else if (!leat_atm_tens_word(&rx->tens)) {
        return LEAT_ATM_TC_NOTHING;
    } else if (!is_mark(latest)) {
        rx->marks = 0;
        return LEAT_ATM_TC_NOTHING;
    }
    if (++rx->marks < LEAT_ATM_8B10B_MARKS) return LEAT_ATM_TC_NOTHING;
    rx->plus = latest == LEAT_ATM_8B10B_K28_5_MINUS;
    enter(rx, LEAT_ATM_8B10B_IN_BLOCK);
    rx->have = LEAT_ATM_8B10B_MARKS;
    return LEAT_ATM_TC_FRAME_SYNC;
}

static enum leat_atm_tc_event on_separator(struct leat_atm_8b10b *rx)
{
    rx->bad_blocks = rx->marks < LEAT_ATM_8B10B_MARKS_MIN ? rx->bad_blocks + 1 : 0;
    rx->marks = 0;
    if (rx->bad_blocks < LEAT_ATM_8B10B_BAD_BLOCKS_MAX) return LEAT_ATM_TC_NOTHING;
    enter(rx, LEAT_ATM_8B10B_SEARCH);
    return LEAT_ATM_TC_FRAME_LOST;
}

static enum leat_atm_tc_event on_whole_cell(struct leat_atm_8b10b *rx, struct leat_atm_tc_out *out)
{
    const bool damaged = rx->damaged, separator = rx->number == 0;
    rx->have = 0;
    rx->damaged = false;
    rx->number = (rx->number + 1) % LEAT_ATM_8B10B_CELLS;
    if (separator) return LEAT_ATM_TC_NOTHING;
    if (damaged || leat_atm_hec_syndrome(rx->cell) != 0) return LEAT_ATM_TC_DISCARD;
    if (leat_atm_cell_is_idle(rx->cell)) {
        rx->idle_count++;
        return LEAT_ATM_TC_NOTHING;
    }
    out->cell = rx->cell;
    return LEAT_ATM_TC_CELL;
}

static enum leat_atm_tc_event on_word(struct leat_atm_8b10b *rx, unsigned word,
                                      struct leat_atm_tc_out *out)
{
    const struct leat_atm_8b10b_symbol symbol = leat_atm_8b10b_decode(&rx->table, word, &rx->plus);
    rx->damaged |= symbol.violation || symbol.control;
    rx->cell[rx->have++] = symbol.octet;
    if (rx->number == 0 && rx->have <= LEAT_ATM_8B10B_MARKS) {
        rx->marks += is_mark(word);
        if (rx->have == LEAT_ATM_8B10B_MARKS) return on_separator(rx);
    }
    return rx->have < LEAT_ATM_CELL_LEN ? LEAT_ATM_TC_NOTHING : on_whole_cell(rx, out);
}

static enum leat_atm_tc_event feed_bit(struct leat_atm_8b10b *rx, unsigned bit,
                                       struct leat_atm_tc_out *out)
{
    const unsigned latest = leat_atm_tens_bit(&rx->tens, bit);
    if (rx->state == LEAT_ATM_8B10B_SEARCH) return search(rx, latest);
    return leat_atm_tens_word(&rx->tens) ? on_word(rx, latest, out) : LEAT_ATM_TC_NOTHING;
}

size_t leat_atm_8b10b_feed(struct leat_atm_8b10b *rx, const uint8_t *octets, size_t len,
                           struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    /* Events are at words at least two words apart, so one octet never has two. */
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        const unsigned octet = octets[used++];
        for (int i = 7; i >= 0; i--) {
            const enum leat_atm_tc_event event = feed_bit(rx, octet >> i & 1, out);
            if (event != LEAT_ATM_TC_NOTHING) out->event = event;
        }
    }
    return used;
}
