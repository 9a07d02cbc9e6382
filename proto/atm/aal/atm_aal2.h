/*
 * AAL2 SAR-PDU in the older form of the thesis (Fig. 8.22), the payload of a cell:
 *
 *     7    4 3    0                                 5    0 9           0
 *    +------+------+-------------------------------+------+-------------+
 *    |  SN  |  IT  |  45 octets, LI of them used   |  LI  |   CRC-10    |
 *    +------+------+-------------------------------+------+-------------+
 *
 * SN counts modulo 16. IT: 2 begins a message (BOM), 0 continues (COM), 1 ends (EOM), 3 is a
 * message by itself (SSM): the segment types of AAL3/4, its upper two bits are 0. LI is 1..45 in
 * every cell: partly filled ones may stand anywhere. CRC-10 covers all bits before it.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_ATM_AAL2_H
#define LEAT_ATM_AAL2_H

#include "leat_err.h"
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_AAL2_PDU_LEN = 48,
    LEAT_ATM_AAL2_PAYLOAD_LEN = 45,
    LEAT_ATM_AAL2_SN_COUNT = 16, /* SN counts modulo this */
};

enum leat_atm_aal2_it {
    LEAT_ATM_AAL2_COM = 0,
    LEAT_ATM_AAL2_EOM = 1,
    LEAT_ATM_AAL2_BOM = 2,
    LEAT_ATM_AAL2_SSM = 3,
};

/* The meaning of a SAR-PDU. */
struct leat_atm_aal2_pdu {
    uint8_t sn; /* 4 bits */
    enum leat_atm_aal2_it it;
    uint8_t li;                                 /* 1..45 */
    uint8_t payload[LEAT_ATM_AAL2_PAYLOAD_LEN]; /* zeros behind li */
};

/*
 * `len` must be exactly LEAT_ATM_AAL2_PDU_LEN. On error *out is untouched and *fault_at (may be
 * NULL) is the offset of the error. Octets after LI are ignored.
 */
leat_err leat_atm_aal2_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal2_pdu *out,
                                  size_t *fault_at);

/* Writes LEAT_ATM_AAL2_PDU_LEN octets, zeros after LI. On error writes nothing and returns the
 * reason. */
leat_err leat_atm_aal2_pdu_encode(const struct leat_atm_aal2_pdu *pdu, uint8_t *buf, size_t cap);

#endif
