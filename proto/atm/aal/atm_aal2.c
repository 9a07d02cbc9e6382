#include "atm_aal2.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <string.h>

enum { SN = 4, IT_BITS = 2 };

leat_err leat_atm_aal2_pdu_decode(const uint8_t *buf, size_t len, struct leat_atm_aal2_pdu *out,
                                  size_t *fault_at)
{
    const leat_err err = leat_atm_payload_check(buf, len, fault_at);
    if (err) return err;

    const unsigned it = (unsigned)leat_bits(buf[0], 0, SN);
    const size_t li = leat_atm_payload_six(buf);
    if (!leat_fits(it, IT_BITS)) return leat_fault(LEAT_ERR_RESERVED, 0, fault_at);
    if (li < 1 || li > LEAT_ATM_AAL2_PAYLOAD_LEN)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_SEAL_AT, fault_at);

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
    leat_atm_payload_seal(buf, pdu->li);
    return LEAT_ERR_OK;
}
