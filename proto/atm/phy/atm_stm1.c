#include "atm_stm1.h"
#include <stdlib.h>

/* Column 9 is the path overhead; C2 and H4 are named by their rows in it. */
enum { POH = 9, CONTAINER = 10, C2_ROW = 2, POINTER_ROW = 3, H4_ROW = 5 };
enum { C2_ATM = 0x13, H4_MASK = 0x3f };

static const uint8_t framing[POH] = { 0xf6, 0xf6, 0xf6, 0x28, 0x28, 0x28, 0x01 };
static const uint8_t pointer[POH] = { 0x6a, 0x9b, 0x9b, 0x0a, 0xff, 0xff };
enum { PATTERN_LEN = 6, H1_COLUMN = 0, H2_COLUMN = 3 };
#define PATTERN      UINT64_C(0xf6f6f6282828)
#define PATTERN_MASK UINT64_C(0xffffffffffff)

/* --- sender --- */

void leat_atm_stm1_sender_init(struct leat_atm_stm1_sender *tx, struct leat_atm_stream *stream)
{
    *tx = (struct leat_atm_stm1_sender){ .stream = stream };
}

static uint8_t overhead(const struct leat_atm_stm1_sender *tx, size_t row, size_t column)
{
    if (row == C2_ROW && column == POH) return C2_ATM;
    if (row == H4_ROW && column == POH) return (uint8_t)leat_atm_stream_to_boundary(tx->stream);
    if (column == POH) return 0;
    return row == 0 ? framing[column] : row == POINTER_ROW ? pointer[column] : 0;
}

void leat_atm_stm1_sender_pull(struct leat_atm_stm1_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t n; len > 0; octets += n, len -= n) {
        const size_t row = tx->at / LEAT_ATM_STM1_COLUMNS, column = tx->at % LEAT_ATM_STM1_COLUMNS;
        const size_t left = LEAT_ATM_STM1_COLUMNS - column;
        n = column < CONTAINER ? 1 : left < len ? left : len;
        if (column < CONTAINER)
            *octets = overhead(tx, row, column);
        else
            leat_atm_stream_pull(tx->stream, octets, n);
        tx->at = (tx->at + n) % LEAT_ATM_STM1_FRAME_LEN;
    }
}

/* --- receiver --- */

static void enter(struct leat_atm_stm1 *rx, enum leat_atm_stm1_state next)
{
    rx->state = next;
    rx->bad = 0;
}

leat_err leat_atm_stm1_init(struct leat_atm_stm1 *rx,
                            const struct leat_atm_delineation_config *config)
{
    const leat_err err = leat_atm_delineation_init(&rx->cells, config);
    if (err != LEAT_ERR_OK) return err;
    enter(rx, LEAT_ATM_STM1_SEARCH);
    rx->at = 0;
    rx->window = 0;
    return LEAT_ERR_OK;
}

/* The window now holds the last octet of the place where a pattern is expected. */
static enum leat_atm_tc_event on_pattern(struct leat_atm_stm1 *rx, bool found)
{
    switch (rx->state) {
    case LEAT_ATM_STM1_SEARCH:
        if (!found) return LEAT_ATM_TC_NOTHING;
        enter(rx, LEAT_ATM_STM1_CHECK);
        rx->at = PATTERN_LEN;
        return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_STM1_CHECK:
        enter(rx, found ? LEAT_ATM_STM1_IN_FRAME : LEAT_ATM_STM1_SEARCH);
        return found ? LEAT_ATM_TC_FRAME_SYNC : LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_STM1_IN_FRAME:
        rx->bad = found ? 0 : rx->bad + 1;
        if (rx->bad < LEAT_ATM_STM1_BAD_FRAMES_MAX) return LEAT_ATM_TC_NOTHING;
        enter(rx, LEAT_ATM_STM1_SEARCH);
        leat_atm_delineation_hunt(&rx->cells);
        return LEAT_ATM_TC_FRAME_LOST;
    }
    abort();
}

static bool offset_is_wrong(const struct leat_atm_stm1 *rx, uint8_t h4)
{
    return rx->cells.state == LEAT_ATM_DELINEATION_SYNC &&
           leat_atm_delineation_to_boundary(&rx->cells) != (h4 & H4_MASK);
}

/* In IN_FRAME, past the framing pattern. */
static enum leat_atm_tc_event on_overhead(const struct leat_atm_stm1 *rx, size_t row, size_t column,
                                          uint8_t octet)
{
    if (row == POINTER_ROW && (column == H1_COLUMN || column == H2_COLUMN))
        return octet == pointer[column] ? LEAT_ATM_TC_NOTHING : LEAT_ATM_TC_POINTER;
    if (row == C2_ROW && column == POH)
        return octet == C2_ATM ? LEAT_ATM_TC_NOTHING : LEAT_ATM_TC_LABEL;
    if (row == H4_ROW && column == POH)
        return offset_is_wrong(rx, octet) ? LEAT_ATM_TC_OFFSET : LEAT_ATM_TC_NOTHING;
    return LEAT_ATM_TC_NOTHING;
}

static void feed_overhead(struct leat_atm_stm1 *rx, uint8_t octet, struct leat_atm_tc_out *out)
{
    const size_t row = rx->at / LEAT_ATM_STM1_COLUMNS, column = rx->at % LEAT_ATM_STM1_COLUMNS;
    rx->at++;
    if (row == 0 && column < PATTERN_LEN) {
        rx->window = rx->window << 8 | octet;
        if (column == PATTERN_LEN - 1)
            out->event = on_pattern(rx, (rx->window & PATTERN_MASK) == PATTERN);
    } else if (rx->state == LEAT_ATM_STM1_IN_FRAME) {
        out->event = on_overhead(rx, row, column, octet);
    }
}

static size_t feed_container(struct leat_atm_stm1 *rx, const uint8_t *octets, size_t len,
                             struct leat_atm_tc_out *out)
{
    const size_t left = LEAT_ATM_STM1_COLUMNS - rx->at % LEAT_ATM_STM1_COLUMNS;
    size_t n = left < len ? left : len;
    if (rx->state == LEAT_ATM_STM1_IN_FRAME)
        n = leat_atm_delineation_feed(&rx->cells, octets, n, out);
    rx->at = (rx->at + n) % LEAT_ATM_STM1_FRAME_LEN;
    return n;
}

static void feed_search(struct leat_atm_stm1 *rx, uint8_t octet, struct leat_atm_tc_out *out)
{
    rx->window = rx->window << 8 | octet;
    out->event = on_pattern(rx, (rx->window & PATTERN_MASK) == PATTERN);
}

size_t leat_atm_stm1_feed(struct leat_atm_stm1 *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        if (rx->state == LEAT_ATM_STM1_SEARCH)
            feed_search(rx, octets[used++], out);
        else if (rx->at % LEAT_ATM_STM1_COLUMNS < CONTAINER)
            feed_overhead(rx, octets[used++], out);
        else
            used += feed_container(rx, octets + used, len - used, out);
    }
    return used;
}
