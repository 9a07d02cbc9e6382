#include "atm_line.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BITS = 8 * LEAT_ATM_CELL_LEN, PPM = 1000000 };
#define PS_PER_S UINT64_C(1000000000000)

const struct leat_atm_line leat_atm_lines[LEAT_ATM_LINE_COUNT] = {
    { "stm1", "SDH, STM-1 frames", 155520000, 18720000, 53, LEAT_ATM_LINE_BY_HEC, true,
      LEAT_ATM_LINE_STM1 },
    { "e1", "PDH, G.704 frames, cells in 30 of 32 slots", 2048000, 240000, 53, LEAT_ATM_LINE_BY_HEC,
      true, LEAT_ATM_LINE_E1 },
    { "e3", "PDH, G.832 frames of 530 payload octets", 34368000, 80000, 1, LEAT_ATM_LINE_BY_HEC,
      true, LEAT_ATM_LINE_E3 },
    { "ds3-plcp", "PDH, 12 cells in a PLCP frame", 44736000, 96000, 1, LEAT_ATM_LINE_BY_ROWS, true,
      LEAT_ATM_LINE_DS3_PLCP },
    { "ds3-adm", "PDH, cells directly in M-frames", 44736000, 93945600, 901, LEAT_ATM_LINE_BY_HEC,
      true, LEAT_ATM_LINE_DS3_ADM },
    { "cell155", "cell after cell, no frames", 155520000, 19440000, 53, LEAT_ATM_LINE_BY_HEC, true,
      LEAT_ATM_LINE_CELLS },
    { "cell622", "cell after cell, no frames", 622080000, 77760000, 53, LEAT_ATM_LINE_BY_HEC, true,
      LEAT_ATM_LINE_CELLS },
    { "taxi100", "FDDI media, 4B/5B code", 125000000, 800000000, 3457, LEAT_ATM_LINE_BY_SYMBOLS,
      false, LEAT_ATM_LINE_TAXI },
    { "8b10b", "Fibre Channel media, 8B/10B code", 194400000, 18720000, 53, LEAT_ATM_LINE_BY_BLOCKS,
      false, LEAT_ATM_LINE_8B10B },
};

const struct leat_atm_line *leat_atm_line_find(const char *name, size_t name_len)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        if (strlen(line->name) == name_len && memcmp(line->name, name, name_len) == 0) return line;
    }
    return NULL;
}

const char *leat_atm_line_delineation_name(enum leat_atm_line_delineation delineation)
{
    switch (delineation) {
    case LEAT_ATM_LINE_BY_HEC: return "header checks";
    case LEAT_ATM_LINE_BY_ROWS: return "PLCP rows";
    case LEAT_ATM_LINE_BY_SYMBOLS: return "TT symbols";
    case LEAT_ATM_LINE_BY_BLOCKS: return "blocks of 27";
    }
    abort();
}

unsigned leat_atm_line_overhead_ppm(const struct leat_atm_line *line)
{
    const uint64_t whole = line->bits_per_s * line->cells_den;
    const uint64_t other = whole - line->cells_num * CELL_BITS;
    return (unsigned)((other * PPM + whole / 2) / whole);
}

/* --- where cells end --- */

/* Payload octets of the line begin behind some overhead; each returns where so many of them end, in
 * octets. */
static uint64_t stm1_octets(uint64_t payload)
{
    enum { ROW = LEAT_ATM_STM1_CONTAINER_LEN / LEAT_ATM_STM1_ROWS };
    enum { OVERHEAD = LEAT_ATM_STM1_COLUMNS - ROW };
    return payload + ((payload - 1) / ROW + 1) * OVERHEAD;
}

static uint64_t e1_octets(uint64_t payload)
{
    enum { SLOTS = 15 }; /* between slots 0 and 16 */
    return payload + (payload - 1) / SLOTS + 1;
}

static uint64_t e3_octets(uint64_t payload)
{
    enum { FRAME = 530, FIRST = 58, ROW = 59, ROWS = 4, FRAMING = 2, ALL = 7 };
    const uint64_t frame = (payload - 1) / FRAME, at = (payload - 1) % FRAME;
    const uint64_t before = at < FIRST                ? FRAMING
                            : at < FIRST + ROWS * ROW ? FRAMING + 1 + (at - FIRST) / ROW
                                                      : ALL;
    return payload + frame * ALL + before;
}

/* In bits. */
static uint64_t ds3_bits(uint64_t payload)
{
    enum { BLOCK = LEAT_ATM_DS3_BLOCK_BITS - 1 };
    return payload + (payload - 1) / BLOCK + 1;
}

/* Trailers take 13, 14 and, 56 times of 85, 14 nibbles, else 13. */
static uint64_t plcp_nibbles(uint64_t cells)
{
    const uint64_t frames = (cells - 1) / LEAT_ATM_PLCP_ROWS, cycles = frames / 3;
    return cells * 2 * LEAT_ATM_PLCP_ROW_LEN + 13 * frames + (frames + 1) / 3 + cycles * 56 / 85;
}

uint64_t leat_atm_line_cell_end(const struct leat_atm_line *line, uint64_t k)
{
    const uint64_t cells = k + 1, octets = cells * LEAT_ATM_CELL_LEN;
    switch (line->codec) {
    case LEAT_ATM_LINE_STM1: return 8 * stm1_octets(octets);
    case LEAT_ATM_LINE_E1: return 8 * e1_octets(octets);
    case LEAT_ATM_LINE_E3: return 8 * e3_octets(octets);
    case LEAT_ATM_LINE_DS3_PLCP: return ds3_bits(4 * plcp_nibbles(cells));
    case LEAT_ATM_LINE_DS3_ADM: return ds3_bits(8 * octets);
    case LEAT_ATM_LINE_CELLS: return 8 * octets;
    case LEAT_ATM_LINE_TAXI: /* TT before each, JK before the first one of 64 */
        return LEAT_ATM_TEN_BITS * (octets + cells + k / LEAT_ATM_TAXI_CELLS_MAX + 1);
    case LEAT_ATM_LINE_8B10B:
        return LEAT_ATM_TEN_BITS * LEAT_ATM_CELL_LEN * (cells + k / (LEAT_ATM_8B10B_CELLS - 1) + 1);
    }
    abort();
}

unsigned leat_atm_line_period(const struct leat_atm_line *line)
{
    switch (line->codec) {
    case LEAT_ATM_LINE_STM1: return 2340;      /* of 53 frames */
    case LEAT_ATM_LINE_E1: return 60;          /* of 53 pairs of frames */
    case LEAT_ATM_LINE_E3: return 10;          /* of a frame */
    case LEAT_ATM_LINE_DS3_PLCP: return 21420; /* of 3 x 595 frames in 3 x 699 M-frames */
    case LEAT_ATM_LINE_DS3_ADM: return 588;    /* of 53 M-frames */
    case LEAT_ATM_LINE_CELLS: return 1;
    case LEAT_ATM_LINE_TAXI: return 256;  /* 4 x 64, for whole octets */
    case LEAT_ATM_LINE_8B10B: return 104; /* of 4 blocks, for whole octets */
    }
    abort();
}

/* Cell k is end(k) - k B late, B being the bits of the line for a cell; here times cells_num. */
uint64_t leat_atm_line_framing_ps(const struct leat_atm_line *line)
{
    const uint64_t b = line->bits_per_s * line->cells_den;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t k = 0; k < leat_atm_line_period(line); k++) {
        const uint64_t late = leat_atm_line_cell_end(line, k) * line->cells_num - k * b;
        if (late < least) least = late;
        if (late > most) most = late;
    }
    return (most - least) / line->cells_num * PS_PER_S / line->bits_per_s;
}

/* --- sender --- */

void leat_atm_line_sender_init(struct leat_atm_line_sender *tx, const struct leat_atm_line *line,
                               struct leat_atm_stream *stream)
{
    tx->line = line;
    tx->stream = stream;
    switch (line->codec) {
    case LEAT_ATM_LINE_STM1: leat_atm_stm1_sender_init(&tx->as.stm1, stream); return;
    case LEAT_ATM_LINE_CELLS: return;
    case LEAT_ATM_LINE_E1: leat_atm_pdh_sender_init(&tx->as.pdh, LEAT_ATM_PDH_E1, stream); return;
    case LEAT_ATM_LINE_E3: leat_atm_pdh_sender_init(&tx->as.pdh, LEAT_ATM_PDH_E3, stream); return;
    case LEAT_ATM_LINE_DS3_PLCP:
        leat_atm_ds3_sender_init(&tx->as.ds3, LEAT_ATM_DS3_PLCP, stream);
        return;
    case LEAT_ATM_LINE_DS3_ADM:
        leat_atm_ds3_sender_init(&tx->as.ds3, LEAT_ATM_DS3_DIRECT, stream);
        return;
    case LEAT_ATM_LINE_TAXI: leat_atm_taxi_sender_init(&tx->as.taxi, stream); return;
    case LEAT_ATM_LINE_8B10B: leat_atm_8b10b_sender_init(&tx->as.b10, stream); return;
    }
    abort();
}

void leat_atm_line_sender_moved(struct leat_atm_line_sender *tx, struct leat_atm_stream *stream)
{
    tx->stream = stream;
    switch (tx->line->codec) {
    case LEAT_ATM_LINE_STM1: tx->as.stm1.stream = stream; return;
    case LEAT_ATM_LINE_E1:
    case LEAT_ATM_LINE_E3: tx->as.pdh.stream = stream; return;
    case LEAT_ATM_LINE_DS3_PLCP:
    case LEAT_ATM_LINE_DS3_ADM: tx->as.ds3.stream = tx->as.ds3.plcp.stream = stream; return;
    case LEAT_ATM_LINE_CELLS: return;
    case LEAT_ATM_LINE_TAXI: tx->as.taxi.stream = stream; return;
    case LEAT_ATM_LINE_8B10B: tx->as.b10.stream = stream; return;
    }
    abort();
}

void leat_atm_line_pull(struct leat_atm_line_sender *tx, uint8_t *octets, size_t len)
{
    switch (tx->line->codec) {
    case LEAT_ATM_LINE_STM1: leat_atm_stm1_sender_pull(&tx->as.stm1, octets, len); return;
    case LEAT_ATM_LINE_E1:
    case LEAT_ATM_LINE_E3: leat_atm_pdh_sender_pull(&tx->as.pdh, octets, len); return;
    case LEAT_ATM_LINE_DS3_PLCP:
    case LEAT_ATM_LINE_DS3_ADM: leat_atm_ds3_sender_pull(&tx->as.ds3, octets, len); return;
    case LEAT_ATM_LINE_CELLS: leat_atm_stream_pull(tx->stream, octets, len); return;
    case LEAT_ATM_LINE_TAXI: leat_atm_taxi_sender_pull(&tx->as.taxi, octets, len); return;
    case LEAT_ATM_LINE_8B10B: leat_atm_8b10b_sender_pull(&tx->as.b10, octets, len); return;
    }
    abort();
}

/* --- receiver --- */

static leat_err init_codec(struct leat_atm_line_receiver *rx,
                           const struct leat_atm_delineation_config *config)
{
    switch (rx->line->codec) {
    case LEAT_ATM_LINE_STM1: return leat_atm_stm1_init(&rx->as.stm1, config);
    case LEAT_ATM_LINE_E1: return leat_atm_pdh_init(&rx->as.pdh, LEAT_ATM_PDH_E1, config);
    case LEAT_ATM_LINE_E3: return leat_atm_pdh_init(&rx->as.pdh, LEAT_ATM_PDH_E3, config);
    case LEAT_ATM_LINE_DS3_PLCP: return leat_atm_ds3_init(&rx->as.ds3, LEAT_ATM_DS3_PLCP, config);
    case LEAT_ATM_LINE_DS3_ADM: return leat_atm_ds3_init(&rx->as.ds3, LEAT_ATM_DS3_DIRECT, config);
    case LEAT_ATM_LINE_CELLS: return leat_atm_delineation_init(&rx->as.cells, config);
    case LEAT_ATM_LINE_TAXI: leat_atm_taxi_init(&rx->as.taxi); return LEAT_ERR_OK;
    case LEAT_ATM_LINE_8B10B: leat_atm_8b10b_init(&rx->as.b10); return LEAT_ERR_OK;
    }
    abort();
}

void leat_atm_line_receiver_init(struct leat_atm_line_receiver *rx,
                                 const struct leat_atm_line *line)
{
    rx->line = line;
    const leat_err err = init_codec(rx, &LEAT_ATM_DELINEATION_DEFAULT);
    assert(err == LEAT_ERR_OK);
}

size_t leat_atm_line_feed(struct leat_atm_line_receiver *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out)
{
    switch (rx->line->codec) {
    case LEAT_ATM_LINE_STM1: return leat_atm_stm1_feed(&rx->as.stm1, octets, len, out);
    case LEAT_ATM_LINE_E1:
    case LEAT_ATM_LINE_E3: return leat_atm_pdh_feed(&rx->as.pdh, octets, len, out);
    case LEAT_ATM_LINE_DS3_PLCP:
    case LEAT_ATM_LINE_DS3_ADM: return leat_atm_ds3_feed(&rx->as.ds3, octets, len, out);
    case LEAT_ATM_LINE_CELLS: return leat_atm_delineation_feed(&rx->as.cells, octets, len, out);
    case LEAT_ATM_LINE_TAXI: return leat_atm_taxi_feed(&rx->as.taxi, octets, len, out);
    case LEAT_ATM_LINE_8B10B: return leat_atm_8b10b_feed(&rx->as.b10, octets, len, out);
    }
    abort();
}
