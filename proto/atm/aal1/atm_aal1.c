#include "atm_aal1.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SN_BITS = 4, SC_BITS = 3, POINTER_RESERVED = 0x80 };

/* The note, 2.1: SN, CRC-3 and parity of every SN. */
static const uint8_t header_of_sn[1 << SN_BITS] = {
    0x00, 0x17, 0x2d, 0x3a, 0x4e, 0x59, 0x63, 0x74, 0x8b, 0x9c, 0xa6, 0xb1, 0xc5, 0xd2, 0xe8, 0xff,
};

/*
 * Syndrome (expected SNP XOR received SNP) to the one wrong bit that explains it. The eight single
 * errors have the eight syndromes of odd weight, so 0 here is "none, or more than one".
 */
static const uint8_t error_of_syndrome[1 << SN_BITS] = {
    [0x1] = 0x01, [0x2] = 0x02, [0x4] = 0x04, [0x8] = 0x08,
    [0x7] = 0x10, [0xd] = 0x20, [0xe] = 0x40, [0xb] = 0x80,
};

bool leat_atm_aal1_is_p_format(uint8_t csi, uint8_t sc)
{
    return csi && sc % 2 == 0;
}

size_t leat_atm_aal1_payload_len(uint8_t csi, uint8_t sc)
{
    return LEAT_ATM_AAL1_PAYLOAD_LEN - (leat_atm_aal1_is_p_format(csi, sc) ? 1 : 0);
}

bool leat_atm_aal1_pointer_is_legal(uint8_t octet)
{
    return octet <= LEAT_ATM_AAL1_POINTER_MAX || octet == LEAT_ATM_AAL1_POINTER_NONE;
}

uint8_t leat_atm_aal1_sn_encode(uint8_t sn)
{
    assert(leat_fits(sn, SN_BITS));
    return header_of_sn[sn];
}

static unsigned syndrome_of(uint8_t octet)
{
    return (header_of_sn[octet >> SN_BITS] ^ octet) & 0xf;
}

static uint8_t csi_of(uint8_t octet)
{
    return (uint8_t)(octet >> 7);
}

static uint8_t sc_of(uint8_t octet)
{
    return (uint8_t)leat_bits(octet, SN_BITS, SC_BITS);
}

leat_err leat_atm_aal1_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal1_pdu *out,
                                  size_t *fault_at)
{
    if (len < LEAT_ATM_AAL1_PDU_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > LEAT_ATM_AAL1_PDU_LEN)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_AAL1_PDU_LEN, fault_at);
    if (syndrome_of(buf[0]) != 0) return leat_fault(LEAT_ERR_CHECKSUM, 0, fault_at);

    const bool p_format = leat_atm_aal1_is_p_format(csi_of(buf[0]), sc_of(buf[0]));
    if (p_format && (buf[1] & POINTER_RESERVED)) return leat_fault(LEAT_ERR_RESERVED, 1, fault_at);
    if (p_format && !leat_atm_aal1_pointer_is_legal(buf[1]))
        return leat_fault(LEAT_ERR_RANGE, 1, fault_at);

    out->csi = csi_of(buf[0]);
    out->sc = sc_of(buf[0]);
    out->pointer = p_format ? buf[1] : 0;
    const size_t head = p_format ? 2 : 1;
    out->payload[LEAT_ATM_AAL1_PAYLOAD_LEN - 1] = 0;
    memcpy(out->payload, buf + head, LEAT_ATM_AAL1_PDU_LEN - head);
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal1_pdu_encode(const struct leat_atm_aal1_pdu *pdu, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATM_AAL1_PDU_LEN) return LEAT_ERR_SPACE;
    if (!leat_fits(pdu->csi, 1) || !leat_fits(pdu->sc, SC_BITS)) return LEAT_ERR_RANGE;
    const bool p_format = leat_atm_aal1_is_p_format(pdu->csi, pdu->sc);
    if (p_format ? !leat_atm_aal1_pointer_is_legal(pdu->pointer) : pdu->pointer != 0)
        return LEAT_ERR_RANGE;

    uint8_t *p = buf;
    *p++ = header_of_sn[pdu->csi << SC_BITS | pdu->sc];
    if (p_format) *p++ = pdu->pointer;
    memcpy(p, pdu->payload, leat_atm_aal1_payload_len(pdu->csi, pdu->sc));
    return LEAT_ERR_OK;
}

static struct leat_atm_aal1_sn valid_sn(uint8_t octet, bool corrected)
{
    return (struct leat_atm_aal1_sn){
        .valid = true, .corrected = corrected, .csi = csi_of(octet), .sc = sc_of(octet)
    };
}

struct leat_atm_aal1_sn leat_atm_aal1_sn_step(enum leat_atm_aal1_sn_mode *mode, uint8_t octet)
{
    const enum leat_atm_aal1_sn_mode before = *mode;
    const unsigned syndrome = syndrome_of(octet);
    const uint8_t error = error_of_syndrome[syndrome];

    *mode = syndrome == 0 ? LEAT_ATM_AAL1_CORRECTION : LEAT_ATM_AAL1_DETECTION;
    if (syndrome == 0) return valid_sn(octet, false);
    switch (before) {
    case LEAT_ATM_AAL1_CORRECTION:
        if (error) return valid_sn(octet ^ error, true);
        return (struct leat_atm_aal1_sn){ .valid = false };
    case LEAT_ATM_AAL1_DETECTION: return (struct leat_atm_aal1_sn){ .valid = false };
    }
    abort();
}
