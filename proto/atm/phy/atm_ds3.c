#include "atm_ds3.h"
#include "leat_bytes.h"
#include <stdlib.h>
#include <string.h>

enum { BITS = LEAT_ATM_DS3_FRAME_BITS, BLOCK = LEAT_ATM_DS3_BLOCK_BITS };
enum { BLOCKS = BITS / BLOCK, SUBFRAME = 8, NIBBLE = 4 };
enum { F_WINDOW = 0xffff, F_WRONG_MAX = 3, M_WINDOW = 0xf, M_WRONG_MAX = 3 };

enum kind { KIND_X, KIND_P, KIND_M, KIND_F, KIND_C };

static enum kind kind_of(unsigned block)
{
    static const enum kind first[BLOCKS / SUBFRAME] = { KIND_X, KIND_X, KIND_P, KIND_P,
                                                        KIND_M, KIND_M, KIND_M };
    if (block % SUBFRAME == 0) return first[block / SUBFRAME];
    return block % 2 ? KIND_F : KIND_C;
}

/* Of M and F bits. */
static unsigned framing_bit(unsigned block)
{
    if (block % SUBFRAME == 0) return block / SUBFRAME == 5;
    return block % SUBFRAME == 1 || block % SUBFRAME == 7;
}

/* --- sender --- */

void leat_atm_ds3_sender_init(struct leat_atm_ds3_sender *tx, enum leat_atm_ds3_mapping mapping,
                              struct leat_atm_stream *stream)
{
    *tx = (struct leat_atm_ds3_sender){ .stream = stream, .mapping = mapping };
    leat_atm_plcp_sender_init(&tx->plcp, stream);
}

static unsigned overhead_bit(const struct leat_atm_ds3_sender *tx, unsigned block)
{
    const enum kind kind = kind_of(block);
    if (kind == KIND_M || kind == KIND_F) return framing_bit(block);
    return kind == KIND_P ? tx->parity_before : 1;
}

static unsigned payload_bit(struct leat_atm_ds3_sender *tx)
{
    if (tx->left == 0 && tx->mapping == LEAT_ATM_DS3_PLCP) {
        tx->payload = (uint8_t)leat_atm_plcp_sender_nibble(&tx->plcp);
        tx->left = NIBBLE;
    } else if (tx->left == 0) {
        leat_atm_stream_pull(tx->stream, &tx->payload, 1);
        tx->left = 8;
    }
    const unsigned bit = tx->payload >> --tx->left & 1;
    tx->parity ^= bit;
    return bit;
}

static unsigned next_bit(struct leat_atm_ds3_sender *tx)
{
    const unsigned at = tx->at;
    const unsigned bit = at % BLOCK ? payload_bit(tx) : overhead_bit(tx, at / BLOCK);
    tx->at = (at + 1) % BITS;
    if (tx->at) return bit;
    tx->parity_before = tx->parity;
    tx->parity = 0;
    return bit;
}

void leat_atm_ds3_sender_pull(struct leat_atm_ds3_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned octet = 0;
        for (int bit = 0; bit < 8; bit++)
            octet = octet << 1 | next_bit(tx);
        octets[i] = (uint8_t)octet;
    }
}

/* --- receiver --- */

static void enter(struct leat_atm_ds3 *rx, enum leat_atm_ds3_state next)
{
    rx->state = next;
    rx->filled = 0;
    rx->at = 0;
    rx->f_wrong = 0;
    rx->m_wrong = 0;
    rx->m_wrong_now = false;
    rx->parity = 0;
    rx->octet = 0;
    rx->have = 0;
    rx->hunted = 0;
}

leat_err leat_atm_ds3_init(struct leat_atm_ds3 *rx, enum leat_atm_ds3_mapping mapping,
                           const struct leat_atm_delineation_config *config)
{
    struct leat_atm_delineation cells;
    const leat_err err = leat_atm_delineation_init(&cells, config);
    if (err != LEAT_ERR_OK) return err;
    *rx = (struct leat_atm_ds3){ .mapping = mapping, .cells = cells };
    leat_atm_plcp_init(&rx->plcp);
    enter(rx, LEAT_ATM_DS3_SEARCH);
    return LEAT_ERR_OK;
}

/* Do the latest 4760 bits have the framing bits of one frame? `at` is the oldest of them. */
static bool latest_are_a_frame(const struct leat_atm_ds3 *rx)
{
    for (unsigned block = 0; block < BLOCKS; block++) {
        const enum kind kind = kind_of(block);
        if (kind != KIND_F && kind != KIND_M) continue;
        if (leat_bit_get(rx->latest, (rx->at + block * BLOCK) % BITS) != framing_bit(block))
            return false;
    }
    return true;
}

static void search(struct leat_atm_ds3 *rx, bool bit)
{
    leat_bit_put(rx->latest, rx->at, bit);
    rx->at = (rx->at + 1) % BITS;
    if (rx->filled < BITS) rx->filled++;
    if (rx->filled == BITS && latest_are_a_frame(rx)) enter(rx, LEAT_ATM_DS3_CHECK);
}

static unsigned count_bits(unsigned word)
{
    unsigned n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
}

static enum leat_atm_tc_event lose_frame(struct leat_atm_ds3 *rx)
{
    const uint64_t idle_count = rx->plcp.idle_count;
    enter(rx, LEAT_ATM_DS3_SEARCH);
    leat_atm_delineation_hunt(&rx->cells);
    leat_atm_plcp_init(&rx->plcp);
    rx->plcp.idle_count = idle_count;
    return LEAT_ATM_TC_FRAME_LOST;
}

/* An F or an M bit in CHECK or IN_FRAME. */
static enum leat_atm_tc_event on_framing(struct leat_atm_ds3 *rx, enum kind kind, bool wrong)
{
    switch (rx->state) {
    case LEAT_ATM_DS3_SEARCH: break;
    case LEAT_ATM_DS3_CHECK:
        if (wrong) enter(rx, LEAT_ATM_DS3_SEARCH);
        return LEAT_ATM_TC_NOTHING;
    case LEAT_ATM_DS3_IN_FRAME:
        if (kind == KIND_M) {
            rx->m_wrong_now |= wrong;
            return LEAT_ATM_TC_NOTHING;
        }
        rx->f_wrong = (rx->f_wrong << 1 | wrong) & F_WINDOW;
        return count_bits(rx->f_wrong) < F_WRONG_MAX ? LEAT_ATM_TC_NOTHING : lose_frame(rx);
    }
    abort();
}

/* The first P bit is kept, the second makes the verdict. */
static enum leat_atm_tc_event on_parity(struct leat_atm_ds3 *rx, unsigned block, bool bit)
{
    const bool wrong = bit != rx->parity_before, second = block / SUBFRAME == 3;
    const bool any = wrong || (second && rx->p_wrong);
    rx->p_wrong = wrong;
    return rx->state == LEAT_ATM_DS3_IN_FRAME && second && any ? LEAT_ATM_TC_PARITY
                                                               : LEAT_ATM_TC_NOTHING;
}

static enum leat_atm_tc_event on_overhead(struct leat_atm_ds3 *rx, unsigned block, bool bit)
{
    const enum kind kind = kind_of(block);
    if (kind == KIND_P) return on_parity(rx, block, bit);
    if (kind == KIND_M || kind == KIND_F) return on_framing(rx, kind, bit != framing_bit(block));
    return LEAT_ATM_TC_NOTHING;
}

static enum leat_atm_tc_event on_frame_end(struct leat_atm_ds3 *rx)
{
    rx->at = 0;
    rx->parity_before = rx->parity;
    rx->parity = 0;
    if (rx->state == LEAT_ATM_DS3_CHECK) {
        const unsigned parity = rx->parity_before;
        enter(rx, LEAT_ATM_DS3_IN_FRAME);
        rx->parity_before = parity;
        return LEAT_ATM_TC_FRAME_SYNC;
    }
    rx->m_wrong = (rx->m_wrong << 1 | rx->m_wrong_now) & M_WINDOW;
    rx->m_wrong_now = false;
    return count_bits(rx->m_wrong) < M_WRONG_MAX ? LEAT_ATM_TC_NOTHING : lose_frame(rx);
}

/* Takes octets from the other nibble if these have shown no cells for long. */
static void slip_if_lost(struct leat_atm_ds3 *rx)
{
    rx->hunted = rx->cells.state == LEAT_ATM_DELINEATION_SYNC ? 0 : rx->hunted + 1;
    if (rx->hunted < LEAT_ATM_DS3_SLIP_LEN) return;
    rx->hunted = 0;
    rx->have = NIBBLE;
    leat_atm_delineation_hunt(&rx->cells);
}

static void on_payload(struct leat_atm_ds3 *rx, bool bit, struct leat_atm_tc_out *out)
{
    rx->parity ^= bit;
    if (rx->state != LEAT_ATM_DS3_IN_FRAME) return;
    const bool plcp = rx->mapping == LEAT_ATM_DS3_PLCP;
    rx->octet = rx->octet << 1 | bit;
    if (++rx->have < (plcp ? NIBBLE : 8)) return;
    const uint8_t octet = (uint8_t)rx->octet;
    rx->have = 0;
    if (plcp) {
        leat_atm_plcp_feed_nibble(&rx->plcp, octet & 0xf, out);
        return;
    }
    leat_atm_delineation_feed(&rx->cells, &octet, 1, out);
    slip_if_lost(rx);
}

/* An octet has at most one event of its payload, and at most one of its frame. */
static void feed_bit(struct leat_atm_ds3 *rx, bool bit, struct leat_atm_tc_out *cell,
                     enum leat_atm_tc_event *frame)
{
    if (rx->state == LEAT_ATM_DS3_SEARCH) {
        search(rx, bit);
        return;
    }
    const unsigned at = rx->at++;
    enum leat_atm_tc_event event = LEAT_ATM_TC_NOTHING;
    if (at % BLOCK == 0)
        event = on_overhead(rx, at / BLOCK, bit);
    else
        on_payload(rx, bit, cell);
    if (rx->state != LEAT_ATM_DS3_SEARCH && rx->at == BITS) event = on_frame_end(rx);
    if (event != LEAT_ATM_TC_NOTHING) *frame = event;
}

size_t leat_atm_ds3_feed(struct leat_atm_ds3 *rx, const uint8_t *octets, size_t len,
                         struct leat_atm_tc_out *out)
{
    size_t used = 0;
    *out = (struct leat_atm_tc_out){ .event = LEAT_ATM_TC_NOTHING };
    while (used < len && out->event == LEAT_ATM_TC_NOTHING) {
        struct leat_atm_tc_out cell = { .event = LEAT_ATM_TC_NOTHING };
        enum leat_atm_tc_event frame = rx->deferred;
        const unsigned octet = octets[used++];
        for (int i = 7; i >= 0; i--) {
            struct leat_atm_tc_out now = { .event = LEAT_ATM_TC_NOTHING };
            feed_bit(rx, octet >> i & 1, &now, &frame);
            if (now.event != LEAT_ATM_TC_NOTHING) cell = now;
        }
        const bool both = cell.event != LEAT_ATM_TC_NOTHING && frame != LEAT_ATM_TC_NOTHING;
        rx->deferred = both ? frame : LEAT_ATM_TC_NOTHING;
        *out = cell;
        if (!both && frame != LEAT_ATM_TC_NOTHING) out->event = frame;
    }
    return used;
}
