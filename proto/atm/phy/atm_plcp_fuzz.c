/*
 * Valid frames, then the input as it is, then valid frames: the receiver finds them again, and
 * chunks make no difference.
 */
#include "atm_plcp.h"
#include <stdlib.h>
#include <string.h>

enum { FRAME = LEAT_ATM_PLCP_ROWS * LEAT_ATM_PLCP_ROW_LEN + LEAT_ATM_PLCP_TRAILER_LEN_MAX };

static uint64_t feed(struct leat_atm_plcp *rx, const uint8_t *line, size_t len, size_t chunk)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_plcp_feed(rx, line + at, n, &out);
        if (used == 0 || used > n) abort();
        at += used;
        if (out.event == LEAT_ATM_TC_NOTHING) continue;
        hash = hash * 31 + at * 16 + out.event;
        if (!out.cell) continue;
        if (leat_atm_hec_syndrome(out.cell) != 0 || leat_atm_cell_is_idle(out.cell)) abort();
    }
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t memory[LEAT_ATM_CELL_LEN], line[FRAME];
    struct leat_atm_stream stream;
    struct leat_atm_plcp_sender tx;
    struct leat_atm_plcp a, b;
    if (len < 1) return 0;
    if (leat_atm_stream_init(&stream, memory, sizeof memory) != LEAT_ERR_OK) abort();
    leat_atm_plcp_sender_init(&tx, &stream);
    leat_atm_plcp_init(&a);
    leat_atm_plcp_sender_pull(&tx, line, 1 + data[0]);
    feed(&a, line, 1u + data[0], SIZE_MAX);

    b = a;
    if (feed(&a, data + 1, len - 1, SIZE_MAX) != feed(&b, data + 1, len - 1, 1 + data[0])) abort();
    if (a.state != b.state) abort();
    leat_atm_plcp_sender_pull(&tx, line, sizeof line);
    feed(&a, line, sizeof line, SIZE_MAX);
    if (a.state != LEAT_ATM_PLCP_IN_FRAME) abort();
    /* Both sides are at the same nibble of the same row, or of the trailer behind it. */
    const size_t row = 2 * LEAT_ATM_PLCP_ROW_LEN;
    const bool in_row = tx.at < row;
    const unsigned next = (tx.number + LEAT_ATM_PLCP_ROWS - 1) % LEAT_ATM_PLCP_ROWS;
    if (a.row != (in_row ? tx.number : next)) abort();
    if (a.at != (in_row ? tx.at : 0) || a.trailer != (in_row ? 0 : tx.nibbles - tx.at)) abort();
    return 0;
}
