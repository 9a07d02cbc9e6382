/*
 * AAL1 segmentation: a stream of octets becomes SAR-PDUs (I.363.1). Each takes 47 octets, or 46 if
 * the block structure needs a pointer (atm_aal1_block.h). SC counts from 0; the CSI bits of SC 1,
 * 3, 5, 7 carry a residual time stamp, most significant bit first.
 *
 *   event            effect
 *   ---------------  ----------------------------------------------------------------
 *   rts(value)       the stamp is sent in the next cycle that begins, and in every one
 *                    after it until another is given; without any the bits are 0
 *   push(octets)     takes octets up to the end of one SAR-PDU; a full one comes out
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_SEGMENT_H
#define LEAT_ATM_AAL1_SEGMENT_H

#include "atm_aal1_block.h"

/* The caller's memory, the engine's fields. */
struct leat_atm_aal1_segment {
    struct leat_atm_aal1_block block;
    struct leat_atm_aal1_pdu pdu; /* the one being filled */
    size_t used;                  /* payload octets in it */
    uint8_t rts_next, rts;        /* 4 bits: of the next cycle, of this one */
};

/* block_len 0: no structure. RANGE if it is above LEAT_ATM_AAL1_BLOCK_LEN_MAX. */
leat_err leat_atm_aal1_segment_init(struct leat_atm_aal1_segment *segment, uint32_t block_len);

/* 0..15; RANGE above. */
leat_err leat_atm_aal1_segment_rts(struct leat_atm_aal1_segment *segment, uint8_t rts);

/*
 * Returns how many octets were taken: all of them, or fewer if *ready. Then the
 * LEAT_ATM_AAL1_PDU_LEN octets of `cell_payload` were written; otherwise they are untouched.
 */
size_t leat_atm_aal1_segment_push(struct leat_atm_aal1_segment *segment, const uint8_t *octets,
                                  size_t len, uint8_t *cell_payload, bool *ready);

#endif
