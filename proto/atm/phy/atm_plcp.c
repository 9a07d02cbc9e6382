#include "atm_plcp.h"
#include <stdlib.h>
#include <string.h>

enum { A1 = 0xf6, A2 = 0x28, POI_AT = 2, POH_AT = 3, CELL_AT = 4, LAST_ROW = 0 };
enum { ROW_NIBBLES = 2 * LEAT_ATM_PLCP_ROW_LEN, HEAD_NIBBLES = 2 * (POI_AT + 1) };
enum { TRAILER_PATTERN = 0xcc, CYCLE_LEN = 3, STUFFED = 56, CYCLES = 85 };

static const uint8_t poi_code[LEAT_ATM_PLCP_ROWS] = { 0x01, 0x04, 0x08, 0x0d, 0x10, 0x15,
                                                      0x19, 0x1c, 0x20, 0x25, 0x29, 0x2c };

struct trailer {
    uint8_t c1;
    uint8_t nibbles;
};

/* The third frame of a cycle has two forms: plain, then stuffed. */
static const struct trailer trailers[] = { { 0xff, 13 }, { 0x00, 14 }, { 0x66, 13 }, { 0x99, 14 } };
enum { TRAILERS = sizeof trailers / sizeof *trailers };

/* --- sender --- */

void leat_atm_plcp_sender_init(struct leat_atm_plcp_sender *tx, struct leat_atm_stream *stream)
{
    tx->stream = stream;
    tx->nibbles = 0;
    tx->at = 0;
    tx->number = LAST_ROW;
    tx->cycle = 0;
    tx->stuff = 0;
}

static const struct trailer *next_trailer(struct leat_atm_plcp_sender *tx)
{
    const struct trailer *t = &trailers[tx->cycle];
    if (tx->cycle == CYCLE_LEN - 1) {
        tx->stuff += STUFFED;
        if (tx->stuff >= CYCLES) {
            tx->stuff -= CYCLES;
            t++;
        }
    }
    tx->cycle = (tx->cycle + 1) % CYCLE_LEN;
    return t;
}

/* The last one of a frame with the trailer behind it. */
static void build_row(struct leat_atm_plcp_sender *tx)
{
    uint8_t *row = tx->row;
    tx->number = tx->number == LAST_ROW ? LEAT_ATM_PLCP_ROWS - 1 : tx->number - 1;
    row[0] = A1;
    row[1] = A2;
    row[POI_AT] = poi_code[tx->number];
    row[POH_AT] = 0;
    leat_atm_stream_next(tx->stream, row + CELL_AT);
    tx->nibbles = ROW_NIBBLES;
    tx->at = 0;
    if (tx->number != LAST_ROW) return;
    const struct trailer *trailer = next_trailer(tx);
    row[POH_AT] = trailer->c1;
    memset(row + LEAT_ATM_PLCP_ROW_LEN, TRAILER_PATTERN, LEAT_ATM_PLCP_TRAILER_LEN_MAX);
    tx->nibbles += trailer->nibbles;
}

unsigned leat_atm_plcp_sender_nibble(struct leat_atm_plcp_sender *tx)
{
    if (tx->at == tx->nibbles) build_row(tx);
    const unsigned octet = tx->row[tx->at / 2];
    return tx->at++ % 2 ? octet & 0xf : octet >> 4;
}

void leat_atm_plcp_sender_pull(struct leat_atm_plcp_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned first = leat_atm_plcp_sender_nibble(tx);
        octets[i] = (uint8_t)(first << 4 | leat_atm_plcp_sender_nibble(tx));
    }
}

/* --- receiver --- */

static void enter(struct leat_atm_plcp *rx, enum leat_atm_plcp_state next)
{
    rx->state = next;
    rx->window = 0;
    rx->bad_poi = 0;
    leat_atm_hec_init(&rx->hec);
}

void leat_atm_plcp_init(struct leat_atm_plcp *rx)
{
    enter(rx, LEAT_ATM_PLCP_SEARCH);
    rx->row = 0;
    rx->at = 0;
    rx->trailer = 0;
    rx->idle_count = 0;
}

/* The four codes differ in four bits or more, so the nearest one corrects a single error. */
static unsigned trailer_nibbles(uint8_t c1)
{
    const struct trailer *nearest = trailers;
    unsigned distance = 9;
    for (size_t i = 0; i < TRAILERS; i++) {
        unsigned d = 0;
        for (unsigned diff = c1 ^ trailers[i].c1; diff; diff &= diff - 1)
            d++;
        if (d < distance) {
            distance = d;
            nearest = &trailers[i];
        }
    }
    return nearest->nibbles;
}

/* SEARCH: does the window end in A1 A2 and some POI? */
static bool is_row_head(uint32_t window, unsigned *number)
{
    if ((window >> 16 & 0xff) != A1 || (window >> 8 & 0xff) != A2) return false;
    for (unsigned n = 0; n < LEAT_ATM_PLCP_ROWS; n++)
        if ((window & 0xff) == poi_code[n]) {
            *number = n;
            return true;
        }
    return false;
}

static void search(struct leat_atm_plcp *rx, unsigned nibble)
{
    rx->window = rx->window << 4 | nibble;
    if (!is_row_head(rx->window, &rx->row)) return;
    enter(rx, LEAT_ATM_PLCP_CHECK);
    rx->at = HEAD_NIBBLES;
}

static bool head_is_lost(struct leat_atm_plcp *rx)
{
    const bool poi_ok = rx->octets[POI_AT] == poi_code[rx->row];
    rx->bad_poi = poi_ok ? 0 : rx->bad_poi + 1;
    return (rx->octets[0] != A1 && rx->octets[1] != A2) || rx->bad_poi == LEAT_ATM_PLCP_BAD_POI_MAX;
}

/* A1, A2 and the POI of a row have arrived. */
static enum leat_atm_tc_event on_head(struct leat_atm_plcp *rx)
{
    const uint8_t *head = rx->octets;
    switch (rx->state) {
    case LEAT_ATM_PLCP_SEARCH: break; /* has no rows */
    case LEAT_ATM_PLCP_CHECK:
        if (head[0] == A1 && head[1] == A2 && head[POI_AT] == poi_code[rx->row]) {
            enter(rx, LEAT_ATM_PLCP_IN_FRAME);
            return LEAT_ATM_TC_FRAME_SYNC;
        }
        enter(rx, LEAT_ATM_PLCP_SEARCH);
        return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_PLCP_IN_FRAME:
        if (!head_is_lost(rx)) return LEAT_ATM_TC_NOTHING;
        enter(rx, LEAT_ATM_PLCP_SEARCH);
        return LEAT_ATM_TC_FRAME_LOST;
    }
    abort();
}

static enum leat_atm_tc_event judge_cell(struct leat_atm_plcp *rx, struct leat_atm_tc_out *out)
{
    uint8_t *cell = rx->octets + CELL_AT;
    const enum leat_atm_hec_verdict verdict = leat_atm_hec_step(&rx->hec, cell);
    if (verdict == LEAT_ATM_HEC_DISCARD) return LEAT_ATM_TC_DISCARD;
    if (leat_atm_cell_is_idle(cell)) {
        rx->idle_count++;
        return LEAT_ATM_TC_NOTHING;
    }
    out->cell = cell;
    out->corrected = verdict == LEAT_ATM_HEC_CORRECTED;
    return LEAT_ATM_TC_CELL;
}

static void next_row(struct leat_atm_plcp *rx)
{
    rx->at = 0;
    if (rx->row == LAST_ROW) {
        rx->row = LEAT_ATM_PLCP_ROWS;
        rx->trailer = trailer_nibbles(rx->octets[POH_AT]);
    }
    rx->row--;
}

void leat_atm_plcp_feed_nibble(struct leat_atm_plcp *rx, unsigned nibble,
                               struct leat_atm_tc_out *out)
{
    if (rx->state == LEAT_ATM_PLCP_SEARCH) {
        search(rx, nibble);
        return;
    }
    if (rx->trailer > 0) {
        rx->trailer--;
        return;
    }
    uint8_t *octet = &rx->octets[rx->at / 2];
    *octet = (uint8_t)(rx->at % 2 ? *octet | nibble : nibble << 4);
    rx->at++;
    if (rx->at == HEAD_NIBBLES) out->event = on_head(rx);
    if (rx->at < ROW_NIBBLES) return;
    next_row(rx);
    if (rx->state == LEAT_ATM_PLCP_IN_FRAME) out->event = judge_cell(rx, out);
}

size_t leat_atm_plcp_feed(struct leat_atm_plcp *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    /* Events are at least half a row apart, so one octet never has two. */
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        const unsigned octet = octets[used++];
        leat_atm_plcp_feed_nibble(rx, octet >> 4, out);
        leat_atm_plcp_feed_nibble(rx, octet & 0xf, out);
    }
    return used;
}
