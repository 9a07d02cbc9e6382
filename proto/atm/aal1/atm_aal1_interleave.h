/*
 * Error correction with interleaving for AAL1 (I.363.1, the method for loss-sensitive streams):
 * user octets fill a matrix row by row, each row gets four check octets (atm_aal1_fec.h), and
 * SAR-PDUs leave column by column. A lost cell costs each row one octet at a known place.
 *
 *            124 columns of user octets      4 of check octets
 *          +----------------------------------+---------+
 *    row 0 |  0 1 2 ...                       |         |   47 rows: the payload of a SAR-PDU
 *        1 |  124 ...                         |         |
 *      ... |                                  |         |   128 SAR-PDUs in a block; CSI = 1
 *       46 |                                  |         |   marks the first
 *          +----------------------------------+---------+
 *
 * CSI is used up, so there are neither time stamps nor pointers. 128 is a multiple of 8: SC tells
 * the column modulo 8.
 *
 *   state   a SAR-PDU arrives                                            -> state
 *   ------  -----------------------------------------------------------  -------
 *   HUNT    valid SN with CSI = 1: column 0; others are ignored          BLOCK
 *   BLOCK   invalid SN: discarded, its column counts as lost             BLOCK
 *           SC up to four ahead: the columns between are lost            BLOCK
 *           SC further ahead: discarded, perhaps misinserted; if the     BLOCK
 *           next SC follows it, the columns between are lost after all
 *           the next SC is far ahead, too, and does not follow: cut      HUNT
 *           CSI = 0 in column 0: cut                                     HUNT
 *           CSI = 1 elsewhere: cut, and column 0 of the next block       BLOCK
 *
 * Cut: the open block is given up. A block is delivered when its last column is there or known to
 * be lost, also with rows that could not be corrected: these hold what arrived, and 0 for what did
 * not.
 *
 * `leat experiment circuit` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_INTERLEAVE_H
#define LEAT_ATM_AAL1_INTERLEAVE_H

#include "atm_aal1.h"
#include "atm_aal1_fec.h"

enum {
    LEAT_ATM_AAL1_INTERLEAVE_ROWS = LEAT_ATM_AAL1_PAYLOAD_LEN,
    LEAT_ATM_AAL1_INTERLEAVE_COLUMNS = LEAT_ATM_AAL1_FEC_ROW_LEN,
    LEAT_ATM_AAL1_INTERLEAVE_USER_LEN = LEAT_ATM_AAL1_INTERLEAVE_ROWS *
                                        LEAT_ATM_AAL1_FEC_DATA_LEN, /* 5828 */
    LEAT_ATM_AAL1_INTERLEAVE_AHEAD_MAX = LEAT_ATM_AAL1_FEC_CHECK_LEN,
};

struct leat_atm_aal1_matrix {
    uint8_t row[LEAT_ATM_AAL1_INTERLEAVE_ROWS][LEAT_ATM_AAL1_INTERLEAVE_COLUMNS];
};

/* Fills the matrix with a block of user octets, and protects it. */
void leat_atm_aal1_interleave_fill(const uint8_t user[LEAT_ATM_AAL1_INTERLEAVE_USER_LEN],
                                   struct leat_atm_aal1_matrix *matrix);

/* The SAR-PDU of a column, 0..127. */
void leat_atm_aal1_interleave_pdu(const struct leat_atm_aal1_matrix *matrix, unsigned column,
                                  uint8_t pdu[LEAT_ATM_AAL1_PDU_LEN]);

enum leat_atm_aal1_interleave_state {
    LEAT_ATM_AAL1_INTERLEAVE_HUNT,
    LEAT_ATM_AAL1_INTERLEAVE_BLOCK,
};

struct leat_atm_aal1_interleave_counts {
    uint64_t cells, discarded;   /* discarded: without a place in a block, or with an invalid SN */
    uint64_t lost;               /* columns that never came, of delivered blocks */
    uint64_t octets_corrected;   /* lost ones included */
    uint64_t rows_bad;           /* of delivered blocks: could not be corrected */
    uint64_t blocks, blocks_cut; /* delivered; given up before their end */
};

/* The caller's memory. Read only state and counts. */
struct leat_atm_aal1_interleave {
    enum leat_atm_aal1_interleave_state state;
    struct leat_atm_aal1_interleave_counts counts;
    enum leat_atm_aal1_sn_mode sn_mode;
    unsigned column;   /* expected next */
    bool astray;       /* the latest cell with a valid SN was too far ahead, */
    uint8_t astray_sc; /* with this SC */
    uint8_t erased[LEAT_ATM_AAL1_FEC_CHECK_LEN];
    unsigned erased_count; /* may exceed the list: then no row can be corrected */
    struct leat_atm_aal1_matrix matrix;
    uint8_t user[LEAT_ATM_AAL1_INTERLEAVE_USER_LEN];
};

struct leat_atm_aal1_interleave_out {
    const uint8_t *user; /* a block of LEAT_ATM_AAL1_INTERLEAVE_USER_LEN, lent until the next
                            step; or NULL */
    unsigned lost;       /* columns of it */
    uint64_t bad_rows;   /* bit r: row r could not be corrected */
    bool cut;            /* a block was given up in this step */
};

void leat_atm_aal1_interleave_init(struct leat_atm_aal1_interleave *rx);

/* Total: takes any 48 octets in any state. */
struct leat_atm_aal1_interleave_out
leat_atm_aal1_interleave_step(struct leat_atm_aal1_interleave *rx,
                              const uint8_t pdu[LEAT_ATM_AAL1_PDU_LEN]);

/* The stream ends: delivers the open block if at most four columns are missing, and hunts. */
struct leat_atm_aal1_interleave_out
leat_atm_aal1_interleave_flush(struct leat_atm_aal1_interleave *rx);

#endif
