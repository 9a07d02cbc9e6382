#include "atm_ip.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdbool.h>
#include <string.h>

/* RFC 2684, 5.1: an unnumbered information frame from and to the SAP of SNAP. */
enum { SNAP = 0xaaaa03, OUI_AT = 3, TYPE_AT = 6, OUI_BITS = 24 };

enum { NOT_BRIDGED, FRAME, FRAME_AND_FCS };

unsigned leat_atm_ip_bridged(enum leat_atm_ip_mux mux, uint32_t oui, uint16_t type)
{
    switch (mux) {
    case LEAT_ATM_IP_VC_ROUTED: return NOT_BRIDGED;
    case LEAT_ATM_IP_VC_BRIDGED: return FRAME;
    case LEAT_ATM_IP_VC_BRIDGED_FCS: return FRAME_AND_FCS;
    case LEAT_ATM_IP_LLC: break;
    }
    if (oui != LEAT_ATM_IP_OUI_BRIDGED) return NOT_BRIDGED;
    if (type == LEAT_ATM_IP_BRIDGED) return FRAME;
    return type == LEAT_ATM_IP_BRIDGED_FCS ? FRAME_AND_FCS : NOT_BRIDGED;
}

/* The octets of IEEE 802.3's FCS: its CRC, the least significant octet first. */
static uint32_t fcs_of(const uint8_t *frame, size_t len)
{
    return leat_crc32(0, frame, len);
}

/* Octets of a payload at least. */
static size_t payload_min(unsigned bridged)
{
    if (bridged == NOT_BRIDGED) return 1;
    return bridged == FRAME ? LEAT_ATM_IP_FRAME_LEN_MIN : LEAT_ATM_IP_FCS_FRAME_MIN;
}

static leat_err decode_frame(const uint8_t *buf, size_t len, size_t at, unsigned bridged,
                             struct leat_atm_ip_pdu *pdu, size_t *fault_at)
{
    const size_t fcs_len = bridged == FRAME_AND_FCS ? LEAT_ATM_IP_FCS_LEN : 0;
    if (len < at + LEAT_ATM_IP_PAD_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_get_be16(buf + at)) return leat_fault(LEAT_ERR_RESERVED, at, fault_at);
    at += LEAT_ATM_IP_PAD_LEN;
    if (len < at + payload_min(bridged) + fcs_len)
        return leat_fault(LEAT_ERR_LENGTH, len, fault_at);
    pdu->payload = buf + at;
    pdu->payload_len = len - at - fcs_len;
    if (fcs_len && leat_get_le32(buf + len - fcs_len) != fcs_of(pdu->payload, pdu->payload_len))
        return leat_fault(LEAT_ERR_CHECKSUM, len - fcs_len, fault_at);
    return LEAT_ERR_OK;
}

leat_err leat_atm_ip_decode(const uint8_t *buf, size_t len, enum leat_atm_ip_mux mux,
                            struct leat_atm_ip_pdu *out, size_t *fault_at)
{
    struct leat_atm_ip_pdu pdu = { 0 };
    size_t at = 0;
    if (len > LEAT_ATM_IP_PDU_LEN_MAX)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_IP_PDU_LEN_MAX, fault_at);
    if (mux == LEAT_ATM_IP_LLC) {
        if (len < LEAT_ATM_IP_LLC_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
        if (leat_get_be24(buf) != SNAP) return leat_fault(LEAT_ERR_TYPE, 0, fault_at);
        pdu.oui = leat_get_be24(buf + OUI_AT);
        pdu.type = leat_get_be16(buf + TYPE_AT);
        at = LEAT_ATM_IP_LLC_LEN;
    }
    const unsigned bridged = leat_atm_ip_bridged(mux, pdu.oui, pdu.type);
    if (bridged) {
        const leat_err err = decode_frame(buf, len, at, bridged, &pdu, fault_at);
        if (err) return err;
    } else {
        if (len == at) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
        pdu.payload = buf + at;
        pdu.payload_len = len - at;
    }
    *out = pdu;
    return LEAT_ERR_OK;
}

leat_err leat_atm_ip_encode(const struct leat_atm_ip_pdu *pdu, enum leat_atm_ip_mux mux,
                            uint8_t *buf, size_t cap, size_t *len)
{
    const unsigned bridged = leat_atm_ip_bridged(mux, pdu->oui, pdu->type);
    const bool llc = mux == LEAT_ATM_IP_LLC;
    const size_t head = (llc ? LEAT_ATM_IP_LLC_LEN : 0u) + (bridged ? LEAT_ATM_IP_PAD_LEN : 0u);
    const size_t fcs_len = bridged == FRAME_AND_FCS ? LEAT_ATM_IP_FCS_LEN : 0;
    if (!leat_fits(pdu->oui, OUI_BITS)) return LEAT_ERR_RANGE;
    if (!llc && (pdu->oui || pdu->type)) return LEAT_ERR_FIELD;
    if (pdu->payload_len < payload_min(bridged)) return LEAT_ERR_LENGTH;
    if (pdu->payload_len > LEAT_ATM_IP_PDU_LEN_MAX - head - fcs_len) return LEAT_ERR_LENGTH;
    const size_t all = head + pdu->payload_len + fcs_len;
    if (cap < all) return LEAT_ERR_SPACE;

    memset(buf, 0, head);
    if (llc) {
        leat_put_be24(buf, SNAP);
        leat_put_be24(buf + OUI_AT, pdu->oui);
        leat_put_be16(buf + TYPE_AT, pdu->type);
    }
    memcpy(buf + head, pdu->payload, pdu->payload_len);
    if (fcs_len) leat_put_le32(buf + all - fcs_len, fcs_of(pdu->payload, pdu->payload_len));
    *len = all;
    return LEAT_ERR_OK;
}
