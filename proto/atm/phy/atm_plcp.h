/*
 * Cells in the PLCP frames of a 44736 kb/s link (thesis 8.2.2, figure 8.6; the DS3 form): twelve
 * rows of 57 octets every 125 us, then a trailer of 13 or 14 nibbles.
 *
 *    A1  A2  POI  POH  53 octets
 *   +---+---+----+----+-----------+     POI, the path overhead identifier, counts rows down: the
 *   |F6 |28 | 2C | Z6 |   cell    |     number (6 bits), 0, odd parity.
 *   |F6 |28 | 29 | Z5 |   cell    |
 *   |F6 |28 | 25 | Z4 |   cell    |     C1, in the last row, gives the trailer's length:
 *   |F6 |28 | 20 | Z3 |   cell    |
 *   |F6 |28 | 1C | Z2 |   cell    |       frame of the cycle    C1   nibbles
 *   |F6 |28 | 19 | Z1 |   cell    |       first                 FF   13
 *   |F6 |28 | 15 | X  |   cell    |       second                00   14
 *   |F6 |28 | 10 | B1 |   cell    |       third                 66   13
 *   |F6 |28 | 0D | G1 |   cell    |       third, stuffed        99   14
 *   |F6 |28 | 08 | X  |   cell    |
 *   |F6 |28 | 04 | X  |   cell    |
 *   |F6 |28 | 01 | C1 |   cell    +--------------+
 *   +---+---+----+----+-----------+ C C C ... C  |
 *                                 +--------------+
 *
 * Other path overhead is 0 and ignored. Frames are whole nibbles, so octets here are two nibbles of
 * the link each, the first in the upper half, and every other frame begins in mid-octet.
 *
 * 84 of the 85 bits of a DS3 carry payload: in 125 us 44736 * 84/85 / 8 bits = 1381 47/85 nibbles,
 * of which rows take 1368. Trailers must be 13 47/85 nibbles on average, 40 56/85 in a cycle of
 * three frames, so 56 of 85 cycles are stuffed.
 *
 * Cells are found by the frame, not by their headers. The receiver:
 *
 *   state    row begins with A1 A2 and the POI expected   otherwise
 *   -------  -------------------------------------------  ----------------------------------------
 *   SEARCH   (any nibble, any POI) -> CHECK               stay, one nibble on
 *   CHECK    (a row later) -> IN_FRAME                    -> SEARCH
 *   IN_FRAME stay                                         both A1 and A2 wrong, or the second wrong
 *                                                         POI in a row: -> SEARCH; else stay
 *
 * The receiver delivers cells in IN_FRAME, from the row that led there on. It checks their headers
 * with atm_hec.h and removes idle cells.
 */
#ifndef LEAT_ATM_PLCP_H
#define LEAT_ATM_PLCP_H

#include "atm_hec.h"
#include "atm_stream.h"

enum {
    LEAT_ATM_PLCP_ROWS = 12,
    LEAT_ATM_PLCP_ROW_LEN = 57,
    LEAT_ATM_PLCP_TRAILER_LEN_MAX = 7, /* 14 nibbles */
    LEAT_ATM_PLCP_BAD_POI_MAX = 2,
};

/* Private to the engine. */
struct leat_atm_plcp_sender {
    struct leat_atm_stream *stream;
    uint8_t row[LEAT_ATM_PLCP_ROW_LEN + LEAT_ATM_PLCP_TRAILER_LEN_MAX];
    size_t nibbles, at; /* of the row: its length, how many were sent */
    unsigned number;    /* of the row, as in its POI */
    unsigned cycle;     /* place of the next trailer in the cycle of three */
    unsigned stuff;     /* in 85ths of a nibble: how far the link is ahead of the frames */
};

/* The stream must outlive the sender; only the sender may pull from it. */
void leat_atm_plcp_sender_init(struct leat_atm_plcp_sender *tx, struct leat_atm_stream *stream);

/* The next nibble of the link. */
unsigned leat_atm_plcp_sender_nibble(struct leat_atm_plcp_sender *tx);

/* The next 2 * len nibbles of the link. */
void leat_atm_plcp_sender_pull(struct leat_atm_plcp_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_plcp_state {
    LEAT_ATM_PLCP_SEARCH,
    LEAT_ATM_PLCP_CHECK,
    LEAT_ATM_PLCP_IN_FRAME,
};

/* Private to the engine, except the state and the count. */
struct leat_atm_plcp {
    enum leat_atm_plcp_state state;
    uint32_t window;  /* SEARCH: the latest six nibbles */
    unsigned row;     /* number of the current row, as in its POI: 11 to 0 */
    size_t at;        /* nibbles of it received */
    unsigned trailer; /* nibbles still to skip before the next row */
    unsigned bad_poi; /* in a row */
    struct leat_atm_hec hec;
    uint8_t octets[LEAT_ATM_PLCP_ROW_LEN];
    uint64_t idle_count; /* idle cells removed so far */
};

void leat_atm_plcp_init(struct leat_atm_plcp *rx);

/* The next nibble of the link; *out says NOTHING, and is changed by an event. */
void leat_atm_plcp_feed_nibble(struct leat_atm_plcp *rx, unsigned nibble,
                               struct leat_atm_tc_out *out);

/* Returns the number of octets used: at least one if len is not 0. Never SYNC, LOST. */
size_t leat_atm_plcp_feed(struct leat_atm_plcp *rx, const uint8_t *octets, size_t len,
                          struct leat_atm_tc_out *out);

#endif
