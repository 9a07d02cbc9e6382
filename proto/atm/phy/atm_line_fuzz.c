/*
 * The first octet chooses a line, the second a chunk size; the rest damages the octets of a line
 * full of cells: for any damage chunks make no difference, delivered cells have valid headers, and
 * clean octets bring all cells again.
 */
#include "atm_line.h"
#include <stdlib.h>
#include <string.h>

enum { SYNC_LEN = 12000, CLEAN_LEN = 4000, CHUNK = 1000, CELLS = 10, DAMAGED_LEN = 512 };

/* A line that has found its cells, made once and copied here, where its pointers lead. */
static struct link {
    bool made;
    uint8_t memory[CELLS * LEAT_ATM_CELL_LEN];
    struct leat_atm_stream stream;
    struct leat_atm_line_sender tx;
    struct leat_atm_line_receiver rx;
} link_, synced[LEAT_ATM_LINE_COUNT];

/* A hash of the events, and of the places where they were seen; counts cells. */
static uint64_t feed(struct leat_atm_line_receiver *rx, const uint8_t *octets, size_t len,
                     size_t chunk, unsigned *cells)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_line_feed(rx, octets + at, n, &out);
        if (used == 0 || used > n) abort();
        if ((out.event == LEAT_ATM_TC_CELL) != (out.cell != NULL)) abort();
        at += used;
        if (out.event == LEAT_ATM_TC_NOTHING) continue;
        hash = hash * 31 + at * 16 + out.event;
        if (!out.cell) continue;
        if (leat_atm_hec_syndrome(out.cell) != 0 || leat_atm_cell_is_idle(out.cell)) abort();
        (*cells)++;
    }
    return hash;
}

/* Clean octets; returns how many cells came. */
static unsigned carry(size_t len)
{
    unsigned cells = 0;
    for (size_t done = 0; done < len; done += CHUNK) {
        uint8_t octets[CHUNK];
        leat_atm_line_pull(&link_.tx, octets, CHUNK);
        feed(&link_.rx, octets, CHUNK, CHUNK, &cells);
    }
    return cells;
}

static void start(unsigned index)
{
    if (!synced[index].made) {
        link_.made = true;
        if (leat_atm_stream_init(&link_.stream, link_.memory, sizeof link_.memory) != LEAT_ERR_OK)
            abort();
        leat_atm_line_sender_init(&link_.tx, &leat_atm_lines[index], &link_.stream);
        leat_atm_line_receiver_init(&link_.rx, &leat_atm_lines[index]);
        carry(SYNC_LEN);
        synced[index] = link_;
    }
    link_ = synced[index];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t cell[LEAT_ATM_CELL_LEN] = { 0x00, 0x10, 0x00, 0x50 };
    static struct leat_atm_line_receiver copy;
    uint8_t damaged[DAMAGED_LEN];
    unsigned cells = 0;
    if (len < 2 || len - 2 > DAMAGED_LEN) return 0;
    start(data[0] % LEAT_ATM_LINE_COUNT);

    leat_atm_line_pull(&link_.tx, damaged, DAMAGED_LEN);
    for (size_t i = 2; i < len; i++)
        damaged[i - 2] ^= data[i];
    copy = link_.rx;
    if (feed(&link_.rx, damaged, DAMAGED_LEN, DAMAGED_LEN, &cells) !=
        feed(&copy, damaged, DAMAGED_LEN, 1u + data[1], &cells))
        abort();

    carry(CLEAN_LEN);
    for (unsigned i = 0; i < CELLS; i++)
        if (leat_atm_stream_put(&link_.stream, cell) != LEAT_ERR_OK) abort();
    if (carry(CLEAN_LEN) != CELLS) abort();
    return 0;
}
