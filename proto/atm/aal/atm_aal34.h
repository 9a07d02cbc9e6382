/*
 * AAL3/4 (ITU-T I.363.3): many messages share one virtual channel; MID distinguishes them.
 *
 *   SAR-PDU, 48 octets      0         1 2                    45 46        47
 *                     +--+----+-+---------+-----------------+------+----------+
 *                     |ST| SN |P|   MID   |    44 octets    |  LI  |  CRC-10  |
 *                     +--+----+-+---------+-----------------+------+----------+
 *                bits  2   4   1     9                         6        10
 *
 *   CPCS-PDU          +---+----+------+---------+--------+--+----+------+
 *                     |CPI|Btag|BASize| payload |PAD 0..3|AL|Etag|Length|
 *                     +---+----+------+---------+--------+--+----+------+
 *              octets   1   1     2                        1   1     2
 *
 * I.363.3 defines a MID of 10 bits; the thesis calls its highest bit P (priority). Here it is one
 * field, mid10, with accessors for the two parts.
 */
#ifndef LEAT_ATM_AAL34_H
#define LEAT_ATM_AAL34_H

#include <leat/atm.h>

enum {
    LEAT_ATM_AAL34_SAR_LEN = 48,
    LEAT_ATM_AAL34_SEGMENT_LEN = 44, /* payload octets of a SAR-PDU */
    LEAT_ATM_AAL34_LI_EOM_MIN = 4,
    LEAT_ATM_AAL34_LI_SSM_MIN = 8,
    LEAT_ATM_AAL34_LI_ABORT = 63, /* EOM only: the sender aborts the PDU */
    LEAT_ATM_AAL34_MID_COUNT = 1024,
    LEAT_ATM_AAL34_MID_BITS = 9, /* below P */

    LEAT_ATM_AAL34_CPCS_HEADER_LEN = 4,
    LEAT_ATM_AAL34_CPCS_TRAILER_LEN = 4,
    LEAT_ATM_AAL34_PAYLOAD_LEN_MAX = 65535,
    LEAT_ATM_AAL34_CPCS_LEN_MAX = 65544, /* 4 + 65535 + 1 + 4 */
};

enum leat_atm_aal34_st {
    LEAT_ATM_AAL34_COM, /* continuation of message */
    LEAT_ATM_AAL34_EOM, /* end */
    LEAT_ATM_AAL34_BOM, /* begin */
    LEAT_ATM_AAL34_SSM, /* single segment */
};

struct leat_atm_aal34_sar {
    enum leat_atm_aal34_st st;
    uint8_t sn;     /* 4 bits, modulo 16 per (VC, MID) */
    uint16_t mid10; /* P and MID, 10 bits */
    uint8_t li;     /* 44 in BOM and COM, 4..44 in EOM, 8..44 in SSM; 63 aborts (EOM) */
    uint8_t payload[LEAT_ATM_AAL34_SEGMENT_LEN]; /* li of them count, the others are 0 */
};

static inline unsigned leat_atm_aal34_p(uint16_t mid10)
{
    return mid10 >> LEAT_ATM_AAL34_MID_BITS & 1u;
}

static inline uint16_t leat_atm_aal34_mid(uint16_t mid10)
{
    return mid10 & ((1u << LEAT_ATM_AAL34_MID_BITS) - 1);
}

/*
 * `len` must be exactly LEAT_ATM_AAL34_SAR_LEN. On error *out is untouched and *fault_at (may be
 * NULL) is the offset of the error: CHECKSUM, or LENGTH if LI does not suit ST. Octets beyond LI
 * are not part of the meaning.
 */
leat_err leat_atm_aal34_sar_decode(const uint8_t *buf, size_t len, struct leat_atm_aal34_sar *out,
                                   size_t *fault_at);

/* Writes LEAT_ATM_AAL34_SAR_LEN octets. On error writes nothing and returns the reason. */
leat_err leat_atm_aal34_sar_encode(const struct leat_atm_aal34_sar *sar, uint8_t *buf, size_t cap);

/* Etag, AL, PAD and Length follow from these. */
struct leat_atm_aal34_cpcs {
    uint8_t cpi;
    uint8_t btag;
    uint16_t basize;        /* buffer to reserve: >= payload_len */
    const uint8_t *payload; /* decode: lent from the octets decoded */
    size_t payload_len;     /* 0..65535 */
};

/*
 * The whole of buf is one CPCS-PDU. Errors: SHORT, LENGTH (no multiple of 4, or Length does not
 * agree), RESERVED (AL), FIELD (Btag and Etag differ), RANGE (BASize below Length).
 */
leat_err leat_atm_aal34_cpcs_decode(const uint8_t *buf, size_t len, struct leat_atm_aal34_cpcs *out,
                                    size_t *fault_at);

/* `buf` must not overlap the payload. */
leat_err leat_atm_aal34_cpcs_encode(const struct leat_atm_aal34_cpcs *cpcs, uint8_t *buf,
                                    size_t cap, size_t *len);

#endif
