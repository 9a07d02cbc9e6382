#include "atm_pdh.h"
#include <stdlib.h>

enum { FAS = 0x1b, FAS_MASK = 0x7f, NO_FAS_BIT = 0x40, NO_FAS_AT = 32 };
enum { FA1 = 0xf6, FA2 = 0x28, EM_AT = 60, MA_AT = 180, MA_CELLS = 0x10, MA_TYPE_MASK = 0x38 };

struct overhead {
    uint16_t at;
    uint8_t octet;
};

/* The last entry ends the frame. */
static const struct overhead e1[] = {
    { 0, 0x80 | FAS }, { 16, 0xff }, { 32, 0xdf }, { 48, 0xff }, { LEAT_ATM_PDH_E1_FRAME_LEN, 0 }
};
static const struct overhead e3[] = { { 0, FA1 },          { 1, FA2 },
                                      { EM_AT, 0 },        { 120, 0 },
                                      { MA_AT, MA_CELLS }, { 240, 0 },
                                      { 300, 0 },          { LEAT_ATM_PDH_E3_FRAME_LEN, 0 } };

static const struct shape {
    const struct overhead *overhead;
    size_t frame_len;
    size_t pattern_len;
    unsigned bad_max;
} shapes[] = {
    [LEAT_ATM_PDH_E1] = { e1, LEAT_ATM_PDH_E1_FRAME_LEN, 1, 3 },
    [LEAT_ATM_PDH_E3] = { e3, LEAT_ATM_PDH_E3_FRAME_LEN, 2, 4 },
};

static uint8_t parity_of(const uint8_t *octets, size_t len)
{
    uint8_t parity = 0;
    for (size_t i = 0; i < len; i++)
        parity ^= octets[i];
    return parity;
}

/* --- sender --- */

void leat_atm_pdh_sender_init(struct leat_atm_pdh_sender *tx, enum leat_atm_pdh_kind kind,
                              struct leat_atm_stream *stream)
{
    *tx = (struct leat_atm_pdh_sender){ .stream = stream, .kind = kind };
}

/* One octet of overhead, or payload up to the next one. */
static size_t pull_some(struct leat_atm_pdh_sender *tx, uint8_t *octets, size_t len)
{
    const struct overhead *o = shapes[tx->kind].overhead;
    while (o->at < tx->at)
        o++;
    if (o->at == tx->at) {
        *octets = tx->kind == LEAT_ATM_PDH_E3 && tx->at == EM_AT ? tx->parity_before : o->octet;
        return 1;
    }
    const size_t left = o->at - tx->at, n = left < len ? left : len;
    leat_atm_stream_pull(tx->stream, octets, n);
    return n;
}

void leat_atm_pdh_sender_pull(struct leat_atm_pdh_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t n; len > 0; octets += n, len -= n) {
        n = pull_some(tx, octets, len);
        tx->parity ^= parity_of(octets, n);
        tx->at += n;
        if (tx->at < shapes[tx->kind].frame_len) continue;
        tx->at = 0;
        tx->parity_before = tx->parity;
        tx->parity = 0;
    }
}

/* --- receiver --- */

static void enter(struct leat_atm_pdh *rx, enum leat_atm_pdh_state next)
{
    rx->state = next;
    rx->bad = 0;
}

leat_err leat_atm_pdh_init(struct leat_atm_pdh *rx, enum leat_atm_pdh_kind kind,
                           const struct leat_atm_delineation_config *config)
{
    struct leat_atm_delineation cells;
    const leat_err err = leat_atm_delineation_init(&cells, config);
    if (err != LEAT_ERR_OK) return err;
    *rx = (struct leat_atm_pdh){ .kind = kind, .cells = cells };
    enter(rx, LEAT_ATM_PDH_SEARCH);
    return LEAT_ERR_OK;
}

/* Does the alignment pattern end with this octet? */
static bool ends_pattern(const struct leat_atm_pdh *rx, uint8_t octet)
{
    return rx->kind == LEAT_ATM_PDH_E1 ? (octet & FAS_MASK) == FAS
                                       : rx->last == FA1 && octet == FA2;
}

static enum leat_atm_tc_event on_pattern(struct leat_atm_pdh *rx, bool found)
{
    switch (rx->state) {
    case LEAT_ATM_PDH_SEARCH:
        if (!found) return LEAT_ATM_TC_NOTHING;
        enter(rx, LEAT_ATM_PDH_CHECK);
        rx->at = shapes[rx->kind].pattern_len;
        rx->parity = FA1 ^ FA2;
        return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_PDH_CHECK:
        enter(rx, found ? LEAT_ATM_PDH_IN_FRAME : LEAT_ATM_PDH_SEARCH);
        return found ? LEAT_ATM_TC_FRAME_SYNC : LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_PDH_IN_FRAME:
        rx->bad = found ? 0 : rx->bad + 1;
        if (rx->bad < shapes[rx->kind].bad_max) return LEAT_ATM_TC_NOTHING;
        enter(rx, LEAT_ATM_PDH_SEARCH);
        leat_atm_delineation_hunt(&rx->cells);
        return LEAT_ATM_TC_FRAME_LOST;
    }
    abort();
}

/* Past the pattern, in CHECK or IN_FRAME. */
static enum leat_atm_tc_event on_overhead(struct leat_atm_pdh *rx, size_t at, uint8_t octet)
{
    const bool in_frame = rx->state == LEAT_ATM_PDH_IN_FRAME;
    if (rx->kind == LEAT_ATM_PDH_E1) {
        if (at == NO_FAS_AT && !(octet & NO_FAS_BIT) && !in_frame) enter(rx, LEAT_ATM_PDH_SEARCH);
        return LEAT_ATM_TC_NOTHING;
    }
    if (in_frame && at == EM_AT && octet != rx->parity_before) return LEAT_ATM_TC_PARITY;
    if (in_frame && at == MA_AT && (octet & MA_TYPE_MASK) != MA_CELLS) return LEAT_ATM_TC_LABEL;
    return LEAT_ATM_TC_NOTHING;
}

static void advance(struct leat_atm_pdh *rx, uint8_t parity, size_t n)
{
    rx->parity ^= parity;
    rx->at += n;
    if (rx->at < shapes[rx->kind].frame_len) return;
    rx->at = 0;
    rx->parity_before = rx->parity;
    rx->parity = 0;
}

static size_t feed_payload(struct leat_atm_pdh *rx, const uint8_t *octets, size_t len, size_t left,
                           struct leat_atm_tc_out *out)
{
    size_t n = left < len ? left : len;
    if (rx->state == LEAT_ATM_PDH_IN_FRAME)
        n = leat_atm_delineation_feed(&rx->cells, octets, n, out);
    advance(rx, parity_of(octets, n), n);
    return n;
}

/* One octet of overhead, or any one in SEARCH; or payload up to the next overhead. */
static size_t feed_some(struct leat_atm_pdh *rx, const uint8_t *octets, size_t len,
                        struct leat_atm_tc_out *out)
{
    const struct overhead *o = shapes[rx->kind].overhead;
    const size_t pattern_at = shapes[rx->kind].pattern_len - 1, at = rx->at;
    if (rx->state == LEAT_ATM_PDH_SEARCH) {
        out->event = on_pattern(rx, ends_pattern(rx, *octets));
    } else {
        while (o->at < at)
            o++;
        if (o->at > at) return feed_payload(rx, octets, len, o->at - at, out);
        advance(rx, *octets, 1);
        if (at == pattern_at)
            out->event = on_pattern(rx, ends_pattern(rx, *octets));
        else if (at > pattern_at)
            out->event = on_overhead(rx, at, *octets);
    }
    rx->last = *octets;
    return 1;
}

size_t leat_atm_pdh_feed(struct leat_atm_pdh *rx, const uint8_t *octets, size_t len,
                         struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    while (used < len && out->event == LEAT_ATM_TC_NOTHING)
        used += feed_some(rx, octets + used, len - used, out);
    return used;
}
