/*
 * M-frames of a 44736 kb/s link (ITU-T G.704): 56 blocks of 85 bits, an overhead bit and 84 bits of
 * payload. That is a stream of cells, which begin at nibbles and are found by their header checks
 * (direct mapping, ADM; thesis 8.2.2, ITU-T G.804), or the nibbles of PLCP frames (atm_plcp.h).
 *
 *            block  0    1    2    3    4    5    6    7
 *   subframe 0      X    F=1  C    F=0  C    F=0  C    F=1      X = 1
 *            1      X    1    C    0    C    0    C    1        C = 1 (C-bit parity unused)
 *            2      P    1    C    0    C    0    C    1        P: parity of the 4704 payload bits
 *            3      P    1    C    0    C    0    C    1           of the frame before, sent twice
 *            4      M=0  1    C    0    C    0    C    1
 *            5      M=1  1    C    0    C    0    C    1
 *            6      M=0  1    C    0    C    0    C    1
 *
 * The receiver looks at bits, so frames may begin anywhere in an octet:
 *
 *   state    28 F bits and 3 M bits                 otherwise
 *   -------  -------------------------------------  ---------------------------------------------
 *   SEARCH   (of the latest 4760 bits, at any bit)  stay, one bit on
 *            -> CHECK
 *   CHECK    (of the next frame) -> IN_FRAME        at the first wrong one -> SEARCH
 *   IN_FRAME stay                                   3 of 16 F bits wrong, or M bits in 3 of 4
 *                                                   frames: -> SEARCH; else stay
 *
 * Payload is read in IN_FRAME only. Where direct mapping shows no cells for the length of 16, the
 * receiver takes octets from the other nibble.
 */
#ifndef LEAT_ATM_DS3_H
#define LEAT_ATM_DS3_H

#include "atm_delineation.h"
#include "atm_plcp.h"
#include "atm_stream.h"

enum {
    LEAT_ATM_DS3_FRAME_BITS = 4760,
    LEAT_ATM_DS3_FRAME_LEN = 595,
    LEAT_ATM_DS3_PAYLOAD_LEN = 588,
    LEAT_ATM_DS3_BLOCK_BITS = 85,
    LEAT_ATM_DS3_SLIP_LEN = 16 * LEAT_ATM_CELL_LEN,
};

enum leat_atm_ds3_mapping { LEAT_ATM_DS3_DIRECT, LEAT_ATM_DS3_PLCP };

/* Private to the engine. */
struct leat_atm_ds3_sender {
    struct leat_atm_stream *stream;   /* direct mapping, */
    struct leat_atm_plcp_sender plcp; /* or this */
    enum leat_atm_ds3_mapping mapping;
    unsigned at;                    /* bits of the frame sent */
    unsigned parity, parity_before; /* of this frame so far, of the one before */
    uint8_t payload;                /* an octet of cells, or a nibble of the PLCP; */
    unsigned left;                  /* bits of it still to send */
};

void leat_atm_ds3_sender_init(struct leat_atm_ds3_sender *tx, enum leat_atm_ds3_mapping mapping,
                              struct leat_atm_stream *stream);

/* The next octets of the link. */
void leat_atm_ds3_sender_pull(struct leat_atm_ds3_sender *tx, uint8_t *octets, size_t len);

enum leat_atm_ds3_state {
    LEAT_ATM_DS3_SEARCH,
    LEAT_ATM_DS3_CHECK,
    LEAT_ATM_DS3_IN_FRAME,
};

/* Private to the engine, except the state. */
struct leat_atm_ds3 {
    enum leat_atm_ds3_state state;
    enum leat_atm_ds3_mapping mapping;
    struct leat_atm_delineation cells;      /* DIRECT */
    struct leat_atm_plcp plcp;              /* PLCP */
    uint8_t latest[LEAT_ATM_DS3_FRAME_LEN]; /* SEARCH: a ring of bits */
    unsigned filled;                        /* bits in it */
    unsigned at;                            /* SEARCH: in the ring; else in the frame */
    unsigned f_wrong, m_wrong;              /* one bit per F bit, per frame: was it wrong? */
    bool m_wrong_now, p_wrong;
    unsigned parity, parity_before;  /* of payload bits */
    unsigned octet, have;            /* payload bits that are no octet yet */
    size_t hunted;                   /* octets since cell boundaries were lost */
    enum leat_atm_tc_event deferred; /* for the next octet: a cell came first */
};

/* The configuration is for direct mapping. */
leat_err leat_atm_ds3_init(struct leat_atm_ds3 *rx, enum leat_atm_ds3_mapping mapping,
                           const struct leat_atm_delineation_config *config);

/* FRAME_SYNC and FRAME_LOST are those of M-frames and of PLCP frames. Returns the number of octets
 * used: at least one if len is not 0. Never LABEL, POINTER, OFFSET. */
size_t leat_atm_ds3_feed(struct leat_atm_ds3 *rx, const uint8_t *octets, size_t len,
                         struct leat_atm_tc_out *out);

#endif
