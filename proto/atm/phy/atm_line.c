#include "atm_line.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BITS = 8 * LEAT_ATM_CELL_LEN, PPM = 1000000 };

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

/* --- sender --- */

void leat_atm_line_sender_init(struct leat_atm_line_sender *tx, const struct leat_atm_line *line,
                               struct leat_atm_stream *stream)
{
    tx->line = line;
    tx->stream = stream;
    tx->frame_len = 0;
    tx->at = 0;
    switch (line->codec) {
    case LEAT_ATM_LINE_STM1:
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

/* Lines of frames make one when the one before has been sent. */
static size_t make_frame(struct leat_atm_line_sender *tx)
{
    if (tx->line->codec == LEAT_ATM_LINE_STM1) {
        leat_atm_stm1_frame(tx->stream, tx->frame);
        return LEAT_ATM_STM1_FRAME_LEN;
    }
    if (tx->line->codec == LEAT_ATM_LINE_E1 || tx->line->codec == LEAT_ATM_LINE_E3)
        return leat_atm_pdh_frame(&tx->as.pdh, tx->frame);
    leat_atm_ds3_frame(&tx->as.ds3, tx->frame);
    return LEAT_ATM_DS3_FRAME_LEN;
}

static void pull_frames(struct leat_atm_line_sender *tx, uint8_t *octets, size_t len)
{
    for (size_t done = 0; done < len;) {
        if (tx->at == tx->frame_len) {
            tx->frame_len = make_frame(tx);
            tx->at = 0;
        }
        const size_t left = tx->frame_len - tx->at, n = left < len - done ? left : len - done;
        memcpy(octets + done, tx->frame + tx->at, n);
        tx->at += n;
        done += n;
    }
}

void leat_atm_line_pull(struct leat_atm_line_sender *tx, uint8_t *octets, size_t len)
{
    switch (tx->line->codec) {
    case LEAT_ATM_LINE_STM1:
    case LEAT_ATM_LINE_E1:
    case LEAT_ATM_LINE_E3:
    case LEAT_ATM_LINE_DS3_PLCP:
    case LEAT_ATM_LINE_DS3_ADM: pull_frames(tx, octets, len); return;
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
