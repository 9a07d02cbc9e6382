/*
 * AAL1 SAR-PDU (ITU-T I.363.1), the payload of a cell of a constant-bit-rate connection:
 *
 *      7    6   4 3   1  0
 *    +-----+-----+-----+---+-------------------------------------------+
 *    | CSI | SC  | CRC | P |  47 octets                                |
 *    +-----+-----+-----+---+---+---------+-----------------------------+
 *    |  1  |even | CRC | P | 0 | pointer |  46 octets                  |   "P format"
 *    +-----+-----+-----+---+---+---------+-----------------------------+
 *     \-- SN ---/ \- SNP -/
 *
 * SC counts modulo 8. CRC is of x^3+x+1 over SN; P makes the whole octet even. CSI of an odd SC
 * carries a bit of the residual time stamp; CSI = 1 of an even SC announces the pointer: how many
 * octets follow it before the next block of a structured stream starts (0..93), or 127 for none.
 *
 * SN and SNP together are a code of distance 4: any one wrong bit can be corrected, or any two
 * detected. The receiver of SN decides which by a mode (reset: CORRECTION):
 *
 *   mode        correct            one bit wrong                  more
 *   ----------  -----------------  -----------------------------  -----------------------
 *   CORRECTION  valid, stay        corrected, valid -> DETECTION  invalid -> DETECTION
 *   DETECTION   valid -> CORRECTION  invalid, stay                invalid, stay
 *
 * Pure: no state but the caller's; no allocation.
 */
#ifndef LEAT_ATM_AAL1_H
#define LEAT_ATM_AAL1_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_AAL1_PDU_LEN = 48,
    LEAT_ATM_AAL1_PAYLOAD_LEN = 47,   /* 46 in the P format */
    LEAT_ATM_AAL1_CYCLE = 8,          /* SC counts modulo this */
    LEAT_ATM_AAL1_POINTER_MAX = 93,   /* the rest of this payload and all of the next */
    LEAT_ATM_AAL1_POINTER_NONE = 127, /* no block starts there */
};

/* The meaning of a SAR-PDU. */
struct leat_atm_aal1_pdu {
    uint8_t csi;                                /* 1 bit */
    uint8_t sc;                                 /* 3 bits */
    uint8_t pointer;                            /* P format: 0..93 or 127; otherwise 0 */
    uint8_t payload[LEAT_ATM_AAL1_PAYLOAD_LEN]; /* P format: the last octet is not sent */
};

/* Is there a pointer (CSI = 1 and SC even)? How many payload octets remain then? */
bool leat_atm_aal1_is_p_format(uint8_t csi, uint8_t sc);
size_t leat_atm_aal1_payload_len(uint8_t csi, uint8_t sc);

/* Is this octet legal in a P format? The reserved bit is 0, the offset 0..93 or 127. */
bool leat_atm_aal1_pointer_is_legal(uint8_t octet);

/*
 * `len` must be exactly LEAT_ATM_AAL1_PDU_LEN. Nothing is corrected here. On error *out is
 * untouched and *fault_at (may be NULL) is the offset of the error.
 */
leat_err leat_atm_aal1_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal1_pdu *out,
                                  size_t *fault_at);

/* Writes LEAT_ATM_AAL1_PDU_LEN octets. On error writes nothing and returns the reason. */
leat_err leat_atm_aal1_pdu_encode(const struct leat_atm_aal1_pdu *pdu, uint8_t *buf, size_t cap);

/* The header octet, SN and SNP, of the four bits of SN (CSI is bit 3). */
uint8_t leat_atm_aal1_sn_encode(uint8_t sn);

enum leat_atm_aal1_sn_mode { LEAT_ATM_AAL1_CORRECTION, LEAT_ATM_AAL1_DETECTION };

struct leat_atm_aal1_sn {
    bool valid;
    bool corrected;
    uint8_t csi, sc; /* 0 if not valid */
};

/* The receiver's machine: one header octet in order of arrival; *mode is its whole state. */
struct leat_atm_aal1_sn leat_atm_aal1_sn_step(enum leat_atm_aal1_sn_mode *mode, uint8_t octet);

#endif
