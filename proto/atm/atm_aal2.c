#include "atm_aal2.h"
#include "leat_bytes.h"
#include "leat_crc.h"
#include <string.h>

enum { SN = 4, IT_BITS = 2, TRAILER_AT = 46, LI = 10, LI_BITS = 6, CRC_BITS = 10 };

/*
 * 374 bits are 46 octets and the six of LI. Six steps of the shift register: what falls out at its
 * top, with LI, comes back as the CRC of that one octet.
 */
static uint16_t crc10_of_374_bits(const uint8_t *pdu, unsigned li)
{
    const unsigned crc = leat_crc10(0, pdu, TRAILER_AT);
    const uint8_t top = (uint8_t)(crc >> (CRC_BITS - LI_BITS) ^ li);
    return (uint16_t)(leat_bits(crc << LI_BITS, 0, CRC_BITS) ^ leat_crc10(0, &top, 1));
}

static leat_err fault(leat_err err, size_t at, size_t *fault_at)
{
    if (fault_at) *fault_at = at;
    return err;
}

leat_err leat_atm_aal2_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal2_pdu *out,
                                  size_t *fault_at)
{
    if (len < LEAT_ATM_AAL2_PDU_LEN) return fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > LEAT_ATM_AAL2_PDU_LEN) return fault(LEAT_ERR_LENGTH, LEAT_ATM_AAL2_PDU_LEN, fault_at);
    /* The note, 2: with its CRC the whole PDU divides to 0. */
    if (leat_crc10(0, buf, len) != 0) return fault(LEAT_ERR_CHECKSUM, TRAILER_AT, fault_at);

    const unsigned it = (unsigned)leat_bits(buf[0], 0, SN);
    const size_t li = (size_t)leat_bits(leat_get_be16(buf + TRAILER_AT), LI, LI_BITS);
    if (!leat_fits(it, IT_BITS)) return fault(LEAT_ERR_RESERVED, 0, fault_at);
    if (li < 1 || li > LEAT_ATM_AAL2_PAYLOAD_LEN)
        return fault(LEAT_ERR_LENGTH, TRAILER_AT, fault_at);

    out->sn = buf[0] >> SN;
    out->it = (enum leat_atm_aal2_it)it;
    out->li = (uint8_t)li;
    memcpy(out->payload, buf + 1, li);
    memset(out->payload + li, 0, sizeof out->payload - li);
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal2_pdu_encode(const struct leat_atm_aal2_pdu *pdu, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATM_AAL2_PDU_LEN) return LEAT_ERR_SPACE;
    if (pdu->sn >= LEAT_ATM_AAL2_SN_COUNT || !leat_fits(pdu->it, IT_BITS)) return LEAT_ERR_RANGE;
    if (pdu->li < 1 || pdu->li > LEAT_ATM_AAL2_PAYLOAD_LEN) return LEAT_ERR_LENGTH;

    buf[0] = (uint8_t)((unsigned)pdu->sn << SN | (unsigned)pdu->it);
    memcpy(buf + 1, pdu->payload, pdu->li);
    memset(buf + 1 + pdu->li, 0, (size_t)LEAT_ATM_AAL2_PAYLOAD_LEN - pdu->li);
    leat_put_be16(buf + TRAILER_AT,
                  (uint16_t)((unsigned)pdu->li << LI | crc10_of_374_bits(buf, pdu->li)));
    return LEAT_ERR_OK;
}
