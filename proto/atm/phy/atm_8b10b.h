/*
 * Cells on an asynchronous link with the 8B/10B code (thesis 8.2.4; the 155.52 Mb/s interface of
 * the ATM Forum over Fibre Channel's media): 194.4 Mbaud, blocks of 27 cells, of which the first
 * separates the blocks.
 *
 *     K28.5 x 5, 48 x 00 | cell | cell | ... | cell |     27 x 53 words of ten bits
 *     ------ cell 0 ----- ---- cells 1 to 26 -------
 *
 * Idle cells fill the gaps. The receiver:
 *
 *   state     five K28.5                        otherwise
 *   --------  --------------------------------  --------------------------------------------------
 *   SEARCH    (the first at any bit)            stay
 *             -> IN_BLOCK
 *   IN_BLOCK  stay                              fewer than three of the five, twice in a row:
 *                                               -> SEARCH
 *
 * One wrong bit of the line can be several of a cell, so headers are not corrected. A cell with a
 * violation of the code or a wrong header check is discarded. A violation of the disparity may show
 * some words late, thus in the next cell.
 */
#ifndef LEAT_ATM_8B10B_H
#define LEAT_ATM_8B10B_H

#include "atm_8b10b_code.h"
#include "atm_hec.h"
#include "atm_stream.h"
#include "atm_tens.h"

enum {
    LEAT_ATM_8B10B_CELLS = 27,
    LEAT_ATM_8B10B_MARKS = 5,
    LEAT_ATM_8B10B_MARKS_MIN = 3,
    LEAT_ATM_8B10B_BAD_BLOCKS_MAX = 2,
};

/* Private to the engine. */
struct leat_atm_8b10b_sender {
    struct leat_atm_stream *stream;
    struct leat_atm_tens tens;
    bool plus;
    unsigned number; /* of the cell in its block */
    size_t sent;     /* octets of it */
    uint8_t cell[LEAT_ATM_CELL_LEN];
};

void leat_atm_8b10b_sender_init(struct leat_atm_8b10b_sender *tx, struct leat_atm_stream *stream);

/* The next 8 * len bits of the link. */
void leat_atm_8b10b_sender_pull(struct leat_atm_8b10b_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_8b10b_state { LEAT_ATM_8B10B_SEARCH, LEAT_ATM_8B10B_IN_BLOCK };

/* Private to the engine, except the state and the count. */
struct leat_atm_8b10b {
    enum leat_atm_8b10b_state state;
    struct leat_atm_8b10b_table table;
    struct leat_atm_tens tens;
    bool plus;
    unsigned marks;      /* K28.5 in this place: in a row (SEARCH), of the block (IN_BLOCK) */
    unsigned bad_blocks; /* in a row */
    unsigned number;     /* of the cell in its block */
    size_t have;         /* octets of it */
    bool damaged;        /* it has a violation */
    uint8_t cell[LEAT_ATM_CELL_LEN];
    uint64_t idle_count; /* idle cells removed so far */
};

void leat_atm_8b10b_init(struct leat_atm_8b10b *rx);

/* Returns the number of octets used: at least one if len is not 0. CELL, DISCARD, FRAME_SYNC and
 * FRAME_LOST. */
size_t leat_atm_8b10b_feed(struct leat_atm_8b10b *rx, const uint8_t *octets, size_t len,
                           struct leat_atm_tc_out *out);

#endif
