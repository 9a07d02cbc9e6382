/*
 * Cells in STM-1 frames (thesis 8.2.1, figures 8.4 and 8.5; SDH of ITU-T G.707): 9 rows of 270
 * octets every 125 us, sent row by row.
 *
 *   row   column 0                    8    9    10                          269
 *        +-----------------------------+----+----------------------------------+
 *    0   | F6 F6 F6 28 28 28 01  0  0  | J1 |                                  |
 *    1   |                             | B3 |                                  |
 *    2   | section overhead            | C2 | = 13: cells                      |
 *    3   | 6A 9B 9B 0A FF FF  0  0  0  | G1 |   container: 9 x 260 = 2340      |
 *    4   |                             | F2 |   octets, of a stream of cells   |
 *    5   |                             | H4 | = octets from here to the next   |
 *    6   |                             | F3 |   cell boundary, 0 to 52         |
 *    7   |                             | K3 |                                  |
 *    8   |                             | N1 |                                  |
 *        +-----------------------------+----+----------------------------------+
 *
 * 2340 is no multiple of 53, so cells run across rows and frames. Row 3 holds the AU-4 pointer; its
 * value here is always 522, which puts the virtual container at row 0. Parity octets are 0 and
 * neither pattern nor payload is scrambled: there is no analogue line below.
 *
 * The receiver:
 *
 *   state    framing pattern as expected            not so
 *   -------  -------------------------------------  ------------------------------------------
 *   SEARCH   (any octet) -> CHECK                   stay, one octet on
 *   CHECK    (a frame later) -> IN_FRAME            -> SEARCH
 *   IN_FRAME (every frame) stay                     stay; the 4th in a row -> SEARCH
 *
 * Cells are delineated in IN_FRAME only. H4 verifies cell boundaries and does not establish them
 * (thesis 8.2.1).
 */
#ifndef LEAT_ATM_STM1_H
#define LEAT_ATM_STM1_H

#include "atm_delineation.h"
#include "atm_stream.h"

enum {
    LEAT_ATM_STM1_ROWS = 9,
    LEAT_ATM_STM1_COLUMNS = 270,
    LEAT_ATM_STM1_FRAME_LEN = 2430,
    LEAT_ATM_STM1_CONTAINER_LEN = 2340,
    LEAT_ATM_STM1_BAD_FRAMES_MAX = 4,
};

/* Private to the engine. */
struct leat_atm_stm1_sender {
    struct leat_atm_stream *stream;
    size_t at; /* in the frame */
};

/* The stream must outlive the sender. */
void leat_atm_stm1_sender_init(struct leat_atm_stm1_sender *tx, struct leat_atm_stream *stream);

/* The next octets of the link. */
void leat_atm_stm1_sender_pull(struct leat_atm_stm1_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_stm1_state {
    LEAT_ATM_STM1_SEARCH,
    LEAT_ATM_STM1_CHECK,
    LEAT_ATM_STM1_IN_FRAME,
};

/* Private to the engine, except the state. */
struct leat_atm_stm1 {
    enum leat_atm_stm1_state state;
    struct leat_atm_delineation cells;
    size_t at;       /* in the frame; not in SEARCH */
    uint64_t window; /* the latest octets that may hold a pattern */
    unsigned bad;    /* frames without a pattern, in a row */
};

leat_err leat_atm_stm1_init(struct leat_atm_stm1 *rx,
                            const struct leat_atm_delineation_config *config);

/* Returns the number of octets used: at least one if len is not 0. Any event. */
size_t leat_atm_stm1_feed(struct leat_atm_stm1 *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out);

#endif
