#include "atm_taxi.h"
#include <stdlib.h>

enum { SYMBOL_BITS = 5, SYMBOLS = 32, SYMBOL_MASK = SYMBOLS - 1 };
enum { JK = 0x18 << SYMBOL_BITS | 0x11, TT = 0x0d << SYMBOL_BITS | 0x0d };

static const uint8_t symbol_of[16] = { 0x1e, 0x09, 0x14, 0x15, 0x0a, 0x0b, 0x0e, 0x0f,
                                       0x12, 0x13, 0x16, 0x17, 0x1a, 0x1b, 0x1c, 0x1d };

/* Back again, one more; 0: no data. */
static const uint8_t data_of[SYMBOLS] = {
    [0x1e] = 1,  [0x09] = 2,  [0x14] = 3,  [0x15] = 4,  [0x0a] = 5,  [0x0b] = 6,
    [0x0e] = 7,  [0x0f] = 8,  [0x12] = 9,  [0x13] = 10, [0x16] = 11, [0x17] = 12,
    [0x1a] = 13, [0x1b] = 14, [0x1c] = 15, [0x1d] = 16
};

/* --- sender --- */

void leat_atm_taxi_sender_init(struct leat_atm_taxi_sender *tx, struct leat_atm_stream *stream)
{
    *tx = (struct leat_atm_taxi_sender){ .stream = stream,
                                         .sent = LEAT_ATM_CELL_LEN,
                                         .cells = LEAT_ATM_TAXI_CELLS_MAX };
}

static unsigned next_pair(struct leat_atm_taxi_sender *tx)
{
    if (tx->sent < LEAT_ATM_CELL_LEN) {
        const uint8_t octet = tx->cell[tx->sent++];
        if (tx->idle) return JK;
        return (unsigned)symbol_of[octet >> 4] << SYMBOL_BITS | symbol_of[octet & 0xf];
    }
    if (tx->stream->count == 0 || tx->cells == LEAT_ATM_TAXI_CELLS_MAX) {
        tx->cells = 0;
        return JK;
    }
    leat_atm_stream_next(tx->stream, tx->cell);
    tx->sent = 0;
    tx->cells++;
    tx->idle = leat_atm_cell_is_idle(tx->cell);
    return tx->idle ? JK : TT;
}

void leat_atm_taxi_sender_pull(struct leat_atm_taxi_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (leat_atm_tens_wants(&tx->tens)) leat_atm_tens_add(&tx->tens, next_pair(tx));
        octets[i] = leat_atm_tens_octet(&tx->tens);
    }
}

/* --- receiver --- */

/* The one place where the state changes. */
static void enter(struct leat_atm_taxi *rx, enum leat_atm_taxi_state next)
{
    rx->state = next;
    rx->told = false;
    rx->damaged = false;
    rx->have = 0;
}

void leat_atm_taxi_init(struct leat_atm_taxi *rx)
{
    rx->tens = (struct leat_atm_tens){ 0 };
    rx->strays = 0;
    enter(rx, LEAT_ATM_TAXI_SEARCH);
}

static enum leat_atm_tc_event on_whole_cell(struct leat_atm_taxi *rx, struct leat_atm_tc_out *out)
{
    const bool sound = !rx->damaged && leat_atm_hec_syndrome(rx->cell) == 0;
    enter(rx, LEAT_ATM_TAXI_GAP);
    if (!sound) return LEAT_ATM_TC_DISCARD;
    if (leat_atm_cell_is_idle(rx->cell)) return LEAT_ATM_TC_NOTHING;
    out->cell = rx->cell;
    return LEAT_ATM_TC_CELL;
}

static enum leat_atm_tc_event on_data(struct leat_atm_taxi *rx, unsigned pair,
                                      struct leat_atm_tc_out *out)
{
    if (rx->state == LEAT_ATM_TAXI_GAP) {
        if (rx->told) return LEAT_ATM_TC_NOTHING;
        rx->told = true;
        return LEAT_ATM_TC_DISCARD;
    }
    const unsigned upper = data_of[pair >> SYMBOL_BITS], lower = data_of[pair & SYMBOL_MASK];
    if (upper == 0 || lower == 0) rx->damaged = true;
    rx->cell[rx->have++] = (uint8_t)((upper - 1) << 4 | ((lower - 1) & 0xf));
    return rx->have < LEAT_ATM_CELL_LEN ? LEAT_ATM_TC_NOTHING : on_whole_cell(rx, out);
}

/* In GAP or CELL. A control pair ends an open cell. */
static enum leat_atm_tc_event on_pair(struct leat_atm_taxi *rx, unsigned pair,
                                      struct leat_atm_tc_out *out)
{
    if (pair != JK && pair != TT) return on_data(rx, pair, out);
    const bool open = rx->state == LEAT_ATM_TAXI_CELL;
    rx->strays = 0;
    enter(rx, pair == TT ? LEAT_ATM_TAXI_CELL : LEAT_ATM_TAXI_GAP);
    return open ? LEAT_ATM_TC_DISCARD : LEAT_ATM_TC_NOTHING;
}

static enum leat_atm_tc_event on_stray(struct leat_atm_taxi *rx)
{
    if (++rx->strays < LEAT_ATM_TAXI_STRAYS_MAX) return LEAT_ATM_TC_NOTHING;
    rx->strays = 0;
    enter(rx, LEAT_ATM_TAXI_SEARCH);
    return LEAT_ATM_TC_FRAME_LOST;
}

static enum leat_atm_tc_event feed_bit(struct leat_atm_taxi *rx, unsigned bit,
                                       struct leat_atm_tc_out *out)
{
    const unsigned latest = leat_atm_tens_bit(&rx->tens, bit);
    if (rx->state == LEAT_ATM_TAXI_SEARCH) {
        if (latest != JK) return LEAT_ATM_TC_NOTHING;
        rx->tens.have = 0;
        enter(rx, LEAT_ATM_TAXI_GAP);
        return LEAT_ATM_TC_FRAME_SYNC;
    }
    if (leat_atm_tens_word(&rx->tens)) return on_pair(rx, latest, out);
    return latest == JK ? on_stray(rx) : LEAT_ATM_TC_NOTHING;
}

size_t leat_atm_taxi_feed(struct leat_atm_taxi *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        const unsigned octet = octets[used++];
        /* Of two events in one octet, a cell's end and a lost boundary, the later one counts. */
        for (int i = 7; i >= 0; i--) {
            const enum leat_atm_tc_event event = feed_bit(rx, octet >> i & 1, out);
            if (event != LEAT_ATM_TC_NOTHING) out->event = event;
        }
    }
    if (out->event != LEAT_ATM_TC_CELL) out->cell = NULL;
    return used;
}
