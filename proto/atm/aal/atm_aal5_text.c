#include "atm_text.h"
#include "leat_bytes.h"
#include <leat/atm.h>

static void walk(struct leat_fields *f, struct leat_atm_aal5_pdu *pdu, uint32_t crc)
{
    leat_fields_octets(f, "payload", 0, LEAT_ATM_AAL5_PAYLOAD_LEN_MAX, &pdu->payload,
                       &pdu->payload_len);
    const size_t at = leat_atm_aal5_pdu_len(pdu->payload_len) - LEAT_ATM_AAL5_TRAILER_LEN;
    pdu->uu = (uint8_t)leat_fields_uint(f, "uu", at, 8, pdu->uu);
    pdu->cpi = (uint8_t)leat_fields_uint(f, "cpi", at + 1, 8, pdu->cpi);
    leat_fields_derived(f, "length", at + 2, 16, pdu->payload_len);
    leat_fields_checksum(f, "crc", at + 4, 32, crc);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_aal5_pdu pdu;
    const leat_err err = leat_atm_aal5_pdu_decode(octets, len, &pdu, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &pdu, leat_get_be32(octets + len - 4));
    return err;
}

/* No fields: 40 octets of 0, which fill one cell. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    static const uint8_t zeros[LEAT_ATM_PAYLOAD_LEN - LEAT_ATM_AAL5_TRAILER_LEN];
    struct leat_atm_aal5_pdu pdu = { .payload = zeros, .payload_len = sizeof zeros };
    walk(f, &pdu, 0);
    if (f->err) return f->err;
    const leat_err err = leat_atm_aal5_pdu_encode(&pdu, octets, cap, len);
    if (err == LEAT_ERR_RANGE)
        leat_fields_refuse(f, LEAT_ERR_LENGTH, "payload", "no octets, expected 1 to 65535");
    return f->err ? f->err : err;
}

const struct leat_format leat_aal5_format = {
    .name = "aal5",
    .in_cells = true,
    .summary = "AAL5 CPCS-PDU: a packet in whole cells, with length and CRC-32 at its end",
    .show = show,
    .build = build,
};
