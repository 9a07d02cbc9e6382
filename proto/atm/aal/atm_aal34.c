#include "atm_aal34.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <string.h>

enum { ST = 14, SN = 10 }; /* lowest bit of each, in the first 16 bits */
enum { SEGMENT_AT = 2 };   /* in the SAR-PDU */

enum { CPI_AT = 0, BTAG_AT = 1, BASIZE_AT = 2 }; /* in the CPCS-PDU's header */
enum { AL_AT = 0, ETAG_AT = 1, LENGTH_AT = 2 };  /* in its trailer */
enum {
    PAD_LEN_MAX = 3,
    OVERHEAD_LEN = LEAT_ATM_AAL34_CPCS_HEADER_LEN + LEAT_ATM_AAL34_CPCS_TRAILER_LEN
};

static bool li_suits(enum leat_atm_aal34_st st, unsigned li)
{
    switch (st) {
    case LEAT_ATM_AAL34_BOM:
    case LEAT_ATM_AAL34_COM: return li == LEAT_ATM_AAL34_SEGMENT_LEN;
    case LEAT_ATM_AAL34_EOM:
        return li == LEAT_ATM_AAL34_LI_ABORT ||
               (li >= LEAT_ATM_AAL34_LI_EOM_MIN && li <= LEAT_ATM_AAL34_SEGMENT_LEN);
    case LEAT_ATM_AAL34_SSM:
        return li >= LEAT_ATM_AAL34_LI_SSM_MIN && li <= LEAT_ATM_AAL34_SEGMENT_LEN;
    }
    return false;
}

/* An abort carries nothing. */
static size_t octets_used(unsigned li)
{
    return li == LEAT_ATM_AAL34_LI_ABORT ? 0 : li;
}

leat_err leat_atm_aal34_sar_decode(const uint8_t *buf, size_t len, struct leat_atm_aal34_sar *out,
                                   size_t *fault_at)
{
    const leat_err err = leat_atm_payload_check(buf, len, fault_at);
    if (err) return err;

    const uint16_t head = leat_get_be16(buf);
    const enum leat_atm_aal34_st st = (enum leat_atm_aal34_st)leat_bits(head, ST, 2);
    const unsigned li = leat_atm_payload_six(buf);
    if (!li_suits(st, li)) return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_SEAL_AT, fault_at);

    const size_t used = octets_used(li);
    out->st = st;
    out->sn = (uint8_t)leat_bits(head, SN, 4);
    out->mid10 = (uint16_t)leat_bits(head, 0, 10);
    out->li = (uint8_t)li;
    memcpy(out->payload, buf + SEGMENT_AT, used);
    memset(out->payload + used, 0, sizeof out->payload - used);
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal34_sar_encode(const struct leat_atm_aal34_sar *sar, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATM_AAL34_SAR_LEN) return LEAT_ERR_SPACE;
    if (!leat_fits(sar->st, 2) || !leat_fits(sar->sn, 4) || !leat_fits(sar->mid10, 10))
        return LEAT_ERR_RANGE;
    if (!li_suits(sar->st, sar->li)) return LEAT_ERR_LENGTH;

    const size_t used = octets_used(sar->li);
    leat_put_be16(buf, (uint16_t)((unsigned)sar->st << ST | (unsigned)sar->sn << SN | sar->mid10));
    memcpy(buf + SEGMENT_AT, sar->payload, used);
    memset(buf + SEGMENT_AT + used, 0, LEAT_ATM_AAL34_SEGMENT_LEN - used);
    leat_atm_payload_seal(buf, sar->li);
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal34_cpcs_decode(const uint8_t *buf, size_t len, struct leat_atm_aal34_cpcs *out,
                                    size_t *fault_at)
{
    if (len < OVERHEAD_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len % 4 != 0 || len > LEAT_ATM_AAL34_CPCS_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, len, fault_at);

    const size_t trailer_at = len - LEAT_ATM_AAL34_CPCS_TRAILER_LEN;
    const uint8_t *trailer = buf + trailer_at;
    const size_t length = leat_get_be16(trailer + LENGTH_AT), room = len - OVERHEAD_LEN;
    if (trailer[AL_AT] != 0) return leat_fault(LEAT_ERR_RESERVED, trailer_at + AL_AT, fault_at);
    if (buf[BTAG_AT] != trailer[ETAG_AT])
        return leat_fault(LEAT_ERR_FIELD, trailer_at + ETAG_AT, fault_at);
    if (length > room || room - length > PAD_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, trailer_at + LENGTH_AT, fault_at);
    if (leat_get_be16(buf + BASIZE_AT) < length)
        return leat_fault(LEAT_ERR_RANGE, BASIZE_AT, fault_at);

    out->cpi = buf[CPI_AT];
    out->btag = buf[BTAG_AT];
    out->basize = leat_get_be16(buf + BASIZE_AT);
    out->payload = buf + LEAT_ATM_AAL34_CPCS_HEADER_LEN;
    out->payload_len = length;
    return LEAT_ERR_OK;
}

leat_err leat_atm_aal34_cpcs_encode(const struct leat_atm_aal34_cpcs *cpcs, uint8_t *buf,
                                    size_t cap, size_t *len)
{
    if (cpcs->payload_len > cpcs->basize) return LEAT_ERR_RANGE; /* hence it is below 65536 */
    const size_t pad_len = -cpcs->payload_len & PAD_LEN_MAX;
    const size_t total = OVERHEAD_LEN + cpcs->payload_len + pad_len;
    if (cap < total) return LEAT_ERR_SPACE;

    buf[CPI_AT] = cpcs->cpi;
    buf[BTAG_AT] = cpcs->btag;
    leat_put_be16(buf + BASIZE_AT, cpcs->basize);
    uint8_t *p = buf + LEAT_ATM_AAL34_CPCS_HEADER_LEN;
    if (cpcs->payload_len) memcpy(p, cpcs->payload, cpcs->payload_len);
    p += cpcs->payload_len;
    memset(p, 0, pad_len);
    p += pad_len;
    p[AL_AT] = 0;
    p[ETAG_AT] = cpcs->btag;
    leat_put_be16(p + LENGTH_AT, (uint16_t)cpcs->payload_len);
    *len = total;
    return LEAT_ERR_OK;
}
