/*
 * Cells directly in the octet frames of plesiochronous links (thesis 8.2.2; ITU-T G.804): payload
 * octets are a stream of cells, found by their header checks.
 *
 *   E1, 2048 kb/s (G.704): 32 slots every 125 us; here two frames, which alternate in slot 0
 *
 *      slot   0                      1 .. 15    16    17 .. 31
 *           +----------------------+----------+----+----------+
 *           | 9B: 1 0011011        |  cells   | FF |  cells   |    with the alignment signal
 *           | DF: 1 1 A=0 11111    |  cells   | FF |  cells   |    without
 *           +----------------------+----------+----+----------+
 *
 *   E3, 34368 kb/s (G.832): 537 octets every 125 us, 530 of them for cells: 59 columns, and a
 *   column of six overhead octets before them; FA2 takes the 59th place of its row
 *
 *           +-----+-----+-------------------+
 *           | FA1 | FA2 |   58 octets       |   F6 28
 *           | EM  |        59 octets        |   parity of each bit over the frame before
 *           | TR  |                         |   00
 *           | MA  |                         |   10: the payload is cells
 *           | NR  |                         |   00
 *           | GC  |                         |   00
 *           +-----+                         |
 *                 |     3 x 59 octets       |
 *                 +-------------------------+
 *
 * The receiver:
 *
 *   state    alignment as expected                     not so
 *   -------  ----------------------------------------  ------------------------------------------
 *   SEARCH   (any octet) -> CHECK                      stay, one octet on
 *   CHECK    (a frame later; E1: slot 0 of the frame   -> SEARCH
 *            between has a 1 as its second bit)
 *            -> IN_FRAME
 *   IN_FRAME stay                                      stay; the 3rd (E1) or 4th (E3) in a row
 *                                                      -> SEARCH
 *
 * Octets of the link are octets here: the receiver knows where they begin.
 */
#ifndef LEAT_ATM_PDH_H
#define LEAT_ATM_PDH_H

#include "atm_delineation.h"
#include "atm_stream.h"

enum {
    LEAT_ATM_PDH_E1_FRAME_LEN = 64, /* two frames */
    LEAT_ATM_PDH_E3_FRAME_LEN = 537,
    LEAT_ATM_PDH_FRAME_LEN_MAX = 537,
};

enum leat_atm_pdh_kind { LEAT_ATM_PDH_E1, LEAT_ATM_PDH_E3 };

/* Private to the engine. */
struct leat_atm_pdh_sender {
    struct leat_atm_stream *stream;
    enum leat_atm_pdh_kind kind;
    size_t at;                     /* in the frame */
    uint8_t parity, parity_before; /* of this frame so far, of the one before */
};

void leat_atm_pdh_sender_init(struct leat_atm_pdh_sender *tx, enum leat_atm_pdh_kind kind,
                              struct leat_atm_stream *stream);

/* The next octets of the link. */
void leat_atm_pdh_sender_pull(struct leat_atm_pdh_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_pdh_state {
    LEAT_ATM_PDH_SEARCH,
    LEAT_ATM_PDH_CHECK,
    LEAT_ATM_PDH_IN_FRAME,
};

/* Private to the engine, except the state. */
struct leat_atm_pdh {
    enum leat_atm_pdh_kind kind;
    enum leat_atm_pdh_state state;
    struct leat_atm_delineation cells;
    size_t at;                     /* in the frame; not in SEARCH */
    uint8_t last;                  /* the octet before */
    unsigned bad;                  /* frames without alignment, in a row */
    uint8_t parity, parity_before; /* of this frame so far, of the one before */
};

leat_err leat_atm_pdh_init(struct leat_atm_pdh *rx, enum leat_atm_pdh_kind kind,
                           const struct leat_atm_delineation_config *config);

/* Returns the number of octets used: at least one if len is not 0. Never POINTER, OFFSET. */
size_t leat_atm_pdh_feed(struct leat_atm_pdh *rx, const uint8_t *octets, size_t len,
                         struct leat_atm_tc_out *out);

#endif
