/*
 * The first two octets choose ALPHA, DELTA and a chunk size; the rest is a line. For any input:
 * delivered cells have valid headers and are not idle, chunks make no difference, and the receiver
 * finds a clean stream afterwards.
 */
#include "atm_delineation.h"
#include "atm_stream.h"
#include <stdlib.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN };

/* A hash of the events, and of the places where they were seen. */
static uint64_t feed(struct leat_atm_delineation *d, const uint8_t *line, size_t len, size_t chunk)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_delineation_feed(d, line + at, n, &out);
        if (used == 0 || used > n) abort();
        if (out.event == LEAT_ATM_TC_NOTHING && used != n) abort();
        at += used;
        if (out.event == LEAT_ATM_TC_NOTHING) continue;
        hash = hash * 31 + at * 16 + out.event;
        if ((out.event == LEAT_ATM_TC_CELL) != (out.cell != NULL)) abort();
        if (!out.cell) continue;
        if (leat_atm_hec_syndrome(out.cell) != 0 || leat_atm_cell_is_idle(out.cell)) abort();
        for (size_t i = 0; i < CELL; i++)
            hash = hash * 31 + out.cell[i];
    }
    return hash;
}

static void expect_sync_after_idle_cells(struct leat_atm_delineation *d)
{
    uint8_t memory[CELL], octets[CELL];
    struct leat_atm_stream stream;
    if (leat_atm_stream_init(&stream, memory, sizeof memory) != LEAT_ERR_OK) abort();
    /* To lose a false sync, to be misled once more, and to find the true one. */
    for (unsigned n = 0; n < d->config.alpha + 2 * d->config.delta + 4; n++) {
        leat_atm_stream_pull(&stream, octets, sizeof octets);
        feed(d, octets, sizeof octets, sizeof octets);
    }
    if (d->state != LEAT_ATM_DELINEATION_SYNC) abort();
    if (leat_atm_delineation_to_boundary(d) != leat_atm_stream_to_boundary(&stream)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_delineation a, b;
    if (len < 2) return 0;
    const struct leat_atm_delineation_config config = { .alpha = 1 + data[0] % 8,
                                                        .delta = 1 + data[0] / 8 % 8 };
    if (leat_atm_delineation_init(&a, &config) != LEAT_ERR_OK) abort();
    b = a;
    if (feed(&a, data + 2, len - 2, SIZE_MAX) != feed(&b, data + 2, len - 2, 1 + data[1])) abort();
    if (a.state != b.state || a.idle_count != b.idle_count) abort();
    expect_sync_after_idle_cells(&a);
    return 0;
}
