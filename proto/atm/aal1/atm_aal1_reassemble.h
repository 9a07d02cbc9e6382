/*
 * AAL1 reassembly of one virtual channel: turns SAR-PDUs back into the stream of octets. Dummy
 * octets replace each lost SAR-PDU, so that the stream keeps its length (I.363.1). The robust
 * sequence number algorithm decides which cell was lost and which was misinserted: it keeps a cell
 * back until the next one has arrived. L is the SC of the latest cell in sequence, S that of the
 * cell kept back where it differs, all sums modulo 8.
 *
 *   state            next SN              the cell kept back                 -> state
 *   ---------------  -------------------  ---------------------------------  ---------------
 *   START            valid                (none)                             OUT_OF_SYNC
 *                    invalid              (none; the new one is discarded)   START
 *   OUT_OF_SYNC      L+1                  delivered, the stream restarts     SYNC
 *                    other                discarded                          OUT_OF_SYNC
 *                    invalid              discarded, the new one too         START
 *   SYNC             L+1                  delivered                          SYNC
 *                    other                delivered                          OUT_OF_SEQUENCE
 *                    invalid              delivered                          INVALID
 *   OUT_OF_SEQUENCE  L+1                  discarded: it was misinserted      SYNC
 *                    S+1                  S-L-1 lost cells are replaced,     SYNC
 *                                         then it is delivered (*)
 *                    L+2                  delivered as L+1: its SN was bad   SYNC
 *                    other                discarded                          OUT_OF_SYNC
 *                    invalid              discarded, the new one too         START
 *   INVALID          L+1                  discarded: it was misinserted      SYNC
 *                    L+2                  delivered as L+1                   SYNC
 *                    other                discarded (counts as lost)         OUT_OF_SEQUENCE
 *                    invalid              discarded, the new one too         START
 *
 *   (*) more lost than lost_cells_max: nothing is replaced, the stream restarts with the cell.
 *
 * A second copy of a cell (S = L) counts as misinserted; so do seven lost cells, and eight are
 * invisible: SC has only three bits. Cells that carry no user data (PT 4..7) are ignored.
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_REASSEMBLE_H
#define LEAT_ATM_AAL1_REASSEMBLE_H

#include "atm_aal1_block.h"
#include <leat/atm.h>

enum {
    LEAT_ATM_AAL1_LOST_MAX = 6, /* lost cells in a row that SC can count */
    LEAT_ATM_AAL1_STEP_LEN_MAX = (LEAT_ATM_AAL1_LOST_MAX + 1) * LEAT_ATM_AAL1_PAYLOAD_LEN,
};

struct leat_atm_aal1_reassemble_config {
    uint32_t block_len;     /* as the sender's; 0: no structure */
    uint8_t lost_cells_max; /* 0..LEAT_ATM_AAL1_LOST_MAX are replaced */
    uint8_t dummy;          /* by octets of this value */
};

struct leat_atm_aal1_reassemble_counts {
    uint64_t cells;          /* of user data */
    uint64_t corrected;      /* headers */
    uint64_t invalid;        /* headers */
    uint64_t lost;           /* cells replaced by dummy octets */
    uint64_t misinserted;    /* cells discarded as such */
    uint64_t discarded;      /* cells discarded without a place in the sequence */
    uint64_t restarts;       /* of the stream, its first start included */
    uint64_t pointer_errors; /* illegal, or not where the blocks were expected */
};

enum leat_atm_aal1_rts { LEAT_ATM_AAL1_RTS_NONE, LEAT_ATM_AAL1_RTS_SEEN, LEAT_ATM_AAL1_RTS_LOST };

/* What one step adds to the stream. */
struct leat_atm_aal1_reassemble_out {
    const uint8_t *octets;         /* lent until the next step */
    size_t octets_len;             /* 0..LEAT_ATM_AAL1_STEP_LEN_MAX */
    size_t dummy_len;              /* of these, octets at the front that replace lost cells */
    size_t block_at;               /* where the first block starts; octets_len: none, or unknown */
    bool restarted;                /* an unknown number of octets before these is missing */
    enum leat_atm_aal1_rts rts_is; /* a cycle ended: with its time stamp, or without */
    uint8_t rts;                   /* SEEN */
};

enum leat_atm_aal1_reassemble_state {
    LEAT_ATM_AAL1_START,
    LEAT_ATM_AAL1_OUT_OF_SYNC,
    LEAT_ATM_AAL1_SYNC,
    LEAT_ATM_AAL1_OUT_OF_SEQUENCE,
    LEAT_ATM_AAL1_INVALID,
};

/* The caller's memory. Read only state and counts; the rest is private. */
struct leat_atm_aal1_reassemble {
    enum leat_atm_aal1_reassemble_state state;
    struct leat_atm_aal1_reassemble_counts counts;
    struct leat_atm_aal1_reassemble_config config;
    enum leat_atm_aal1_sn_mode sn_mode;
    uint8_t last_sc; /* L */
    struct {
        uint8_t csi, sc;
        uint8_t octets[LEAT_ATM_AAL1_PDU_LEN - 1]; /* what follows the header */
    } kept;
    bool aligned; /* block is valid */
    struct leat_atm_aal1_block block;
    uint8_t rts, rts_bits; /* of this cycle so far: the stamp, and how many of its bits */
    uint8_t octets[LEAT_ATM_AAL1_STEP_LEN_MAX];
};

/* RANGE if the configuration is outside its limits. */
leat_err leat_atm_aal1_reassemble_init(struct leat_atm_aal1_reassemble *r,
                                       const struct leat_atm_aal1_reassemble_config *config);

/* Total and deterministic: every state accepts every cell. */
struct leat_atm_aal1_reassemble_out
leat_atm_aal1_reassemble_cell(struct leat_atm_aal1_reassemble *r, const struct leat_atm_cell *cell);

/* The stream ends: delivers the cell kept back if it is in sequence, and returns to START. */
struct leat_atm_aal1_reassemble_out
leat_atm_aal1_reassemble_flush(struct leat_atm_aal1_reassemble *r);

#endif
