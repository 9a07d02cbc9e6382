/*
 * Cells on an asynchronous link with the 4B/5B code of FDDI (thesis 8.2.4, figure 8.7; the 100 Mb/s
 * interface of the ATM Forum, TAXI): 125 Mbaud, symbols of five bits.
 *
 *    ... J K | J K | T T | 106 data symbols: a cell | T T | a cell | J K | T T | ...
 *
 *   symbols  0 11110   4 01010   8 10010   C 11010   J 11000
 *            1 01001   5 01011   9 10011   D 11011   K 10001
 *            2 10100   6 01110   A 10110   E 11100   T 01101
 *            3 10101   7 01111   B 10111   F 11101   all others are violations
 *
 * An octet is two symbols, its upper half first. JK fills the space between cells, also that of an
 * idle cell that is sent; it is unlike any other ten bits of a valid line and shows where symbols
 * begin. A pair follows at the latest after 64 cells in a row. Bits are those before the NRZI of
 * the medium.
 *
 * The receiver:
 *
 *   state     JK at a pair of symbols   JK elsewhere             TT                  other pair
 *   --------  ------------------------  -----------------------  ------------------  ------------
 *   SEARCH    (any bit) -> GAP          -                        -                   -
 *   GAP       stay                      stay; 2nd in a row       -> CELL             DISCARD, once
 *                                       -> SEARCH                                    a gap
 *   CELL      DISCARD, -> GAP           same                     DISCARD, again CELL 53rd octet:
 *                                                                                    -> GAP
 *
 * One wrong bit of the line is up to four of a cell, so headers are not corrected. A cell with a
 * violation or a wrong header check is discarded.
 */
#ifndef LEAT_ATM_TAXI_H
#define LEAT_ATM_TAXI_H

#include "atm_hec.h"
#include "atm_stream.h"
#include "atm_tens.h"

enum {
    LEAT_ATM_TAXI_CELLS_MAX = 64, /* in a row */
    LEAT_ATM_TAXI_STRAYS_MAX = 2,
};

/* Private to the engine. */
struct leat_atm_taxi_sender {
    struct leat_atm_stream *stream;
    struct leat_atm_tens tens;
    uint8_t cell[LEAT_ATM_CELL_LEN];
    size_t sent;    /* octets of it */
    bool idle;      /* an idle cell is JK all through */
    unsigned cells; /* since the latest JK */
};

void leat_atm_taxi_sender_init(struct leat_atm_taxi_sender *tx, struct leat_atm_stream *stream);

/* The next 8 * len bits of the link. */
void leat_atm_taxi_sender_pull(struct leat_atm_taxi_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_taxi_state { LEAT_ATM_TAXI_SEARCH, LEAT_ATM_TAXI_GAP, LEAT_ATM_TAXI_CELL };

/* Private to the engine, except the state. */
struct leat_atm_taxi {
    enum leat_atm_taxi_state state;
    struct leat_atm_tens tens;
    unsigned strays; /* JK in wrong places, in a row */
    bool told;       /* GAP: something that is no symbol pair of a gap was reported */
    bool damaged;    /* CELL: it has a violation */
    uint8_t cell[LEAT_ATM_CELL_LEN];
    size_t have; /* octets in cell */
};

void leat_atm_taxi_init(struct leat_atm_taxi *rx);

/* Returns the number of octets used: at least one if len is not 0. CELL, DISCARD, FRAME_SYNC and
 * FRAME_LOST. */
size_t leat_atm_taxi_feed(struct leat_atm_taxi *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out);

#endif
