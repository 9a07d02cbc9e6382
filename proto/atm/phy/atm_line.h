/*
 * All lines that cells travel on, in one table: name, rates, and the codec behind each, so that
 * whoever carries cells (a simulator) needs not know which one it is.
 *
 *     cells --> leat_atm_stream --> leat_atm_line_pull --> octets of the line -> leat_atm_line_feed
 *                                                            ^ bit errors          --> cells
 *
 *   name       bit/s        cells/s           delineation
 *   ---------  -----------  ----------------  ---------------------------------------------------
 *   stm1       155,520,000  353,207.5         header checks in STM-1 frames
 *   e1           2,048,000    4,528.3         header checks in 30 of 32 slots (G.804)
 *   e3          34,368,000   80,000           header checks in G.832 frames
 *   ds3-plcp    44,736,000   96,000           rows of PLCP frames in M-frames
 *   ds3-adm     44,736,000  104,268.1         header checks in M-frames
 *   cell155    155,520,000  366,792.5         header checks: frames are cells (thesis 8.2.3)
 *   cell622    622,080,000  1,467,169.8       the same
 *   taxi100    125,000,000  231,414.5         TT before each cell (4B/5B)
 *   8b10b      194,400,000  353,207.5         blocks of 27 cells behind five K28.5
 *
 * `leat fabric lines` prints it. The bit rate is that of the line code. Octets of the line are
 * eight bits of it, the first one most significant. The cell rate is exact, idle cells included: as
 * many as go out if cells never lack.
 */
#ifndef LEAT_ATM_LINE_H
#define LEAT_ATM_LINE_H

#include "atm_8b10b.h"
#include "atm_ds3.h"
#include "atm_pdh.h"
#include "atm_stm1.h"
#include "atm_taxi.h"

enum { LEAT_ATM_LINE_COUNT = 9 };

enum leat_atm_line_delineation {
    LEAT_ATM_LINE_BY_HEC,
    LEAT_ATM_LINE_BY_ROWS,
    LEAT_ATM_LINE_BY_SYMBOLS,
    LEAT_ATM_LINE_BY_BLOCKS,
};

enum leat_atm_line_codec {
    LEAT_ATM_LINE_STM1,
    LEAT_ATM_LINE_E1,
    LEAT_ATM_LINE_E3,
    LEAT_ATM_LINE_DS3_PLCP,
    LEAT_ATM_LINE_DS3_ADM,
    LEAT_ATM_LINE_CELLS,
    LEAT_ATM_LINE_TAXI,
    LEAT_ATM_LINE_8B10B,
};

struct leat_atm_line {
    const char *name;
    const char *summary;
    uint64_t bits_per_s;
    uint64_t cells_num, cells_den; /* cells per second, in lowest terms */
    enum leat_atm_line_delineation delineation;
    bool corrects; /* single errors of headers */
    enum leat_atm_line_codec codec;
};

/* All of them, in the order above. */
extern const struct leat_atm_line leat_atm_lines[LEAT_ATM_LINE_COUNT];

/* NULL if no line has this name. */
const struct leat_atm_line *leat_atm_line_find(const char *name, size_t name_len);

/* "header checks", "PLCP rows", ... */
const char *leat_atm_line_delineation_name(enum leat_atm_line_delineation delineation);

/* How much of the line is not cells, in millionths, rounded to the nearest. */
unsigned leat_atm_line_overhead_ppm(const struct leat_atm_line *line);

/*
 * Where in the bits of the line does cell k end, if cells never lack? The number of bits up to and
 * with its last one, from the first bit that a sender gives; k counts from 0. `period` cells take a
 * whole number of octets of the line, and the frames are where they were.
 */
uint64_t leat_atm_line_cell_end(const struct leat_atm_line *line, uint64_t k);
unsigned leat_atm_line_period(const struct leat_atm_line *line);

/* Frames let some cells wait for overhead, blocks and stuffing. So much later, in ps, can a cell
 * come than in even cell times after the earliest one; rounded down. */
uint64_t leat_atm_line_framing_ps(const struct leat_atm_line *line);

/* Private. */
struct leat_atm_line_sender {
    const struct leat_atm_line *line;
    struct leat_atm_stream *stream;
    union {
        struct leat_atm_stm1_sender stm1;
        struct leat_atm_pdh_sender pdh;
        struct leat_atm_ds3_sender ds3;
        struct leat_atm_taxi_sender taxi;
        struct leat_atm_8b10b_sender b10;
    } as;
};

/* Private, except that both are memory of the caller without pointers into it. */
struct leat_atm_line_receiver {
    const struct leat_atm_line *line;
    union {
        struct leat_atm_delineation cells;
        struct leat_atm_stm1 stm1;
        struct leat_atm_pdh pdh;
        struct leat_atm_ds3 ds3;
        struct leat_atm_taxi taxi;
        struct leat_atm_8b10b b10;
    } as;
};

/* The stream must outlive the sender; only the sender may pull from it. */
void leat_atm_line_sender_init(struct leat_atm_line_sender *tx, const struct leat_atm_line *line,
                               struct leat_atm_stream *stream);
/* After it was copied together with its stream: the copy pulls from the stream's copy. */
void leat_atm_line_sender_moved(struct leat_atm_line_sender *tx, struct leat_atm_stream *stream);
void leat_atm_line_pull(struct leat_atm_line_sender *tx, uint8_t *octets, size_t len);

/* ALPHA and DELTA, where there are such, are those of I.432.1. */
void leat_atm_line_receiver_init(struct leat_atm_line_receiver *rx,
                                 const struct leat_atm_line *line);

/* Returns the number of octets used: at least one if len is not 0. */
size_t leat_atm_line_feed(struct leat_atm_line_receiver *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out);

#endif
