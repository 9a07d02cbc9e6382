#include "atm_aal1.h"
#include "atm_text.h"

/* One walk for both directions: names, places and widths of the fields. */
static void walk(struct leat_fields *f, struct leat_atm_aal1_pdu *pdu)
{
    pdu->csi = (uint8_t)leat_fields_uint(f, "csi", 0, 1, pdu->csi);
    pdu->sc = (uint8_t)leat_fields_uint(f, "sc", 0, 3, pdu->sc);

    const uint8_t header = leat_atm_aal1_sn_encode((uint8_t)(pdu->csi << 3 | pdu->sc));
    leat_fields_checksum(f, "crc", 0, 3, header >> 1 & 7);
    leat_fields_checksum(f, "parity", 0, 1, header & 1);

    const bool p_format = leat_atm_aal1_is_p_format(pdu->csi, pdu->sc);
    if (p_format) {
        pdu->pointer = (uint8_t)leat_fields_uint(f, "pointer", 1, 7, pdu->pointer);
        if (!leat_atm_aal1_pointer_is_legal(pdu->pointer))
            leat_fields_refuse(f, LEAT_ERR_RANGE, "pointer", "expected 0..93, or 127 for none");
    } else if (leat_fields_reading(f) && leat_fields_has(f, "pointer")) {
        leat_fields_refuse(f, LEAT_ERR_FIELD, "pointer", "expected only with csi=1 and an even sc");
    }
    leat_fields_octets_fixed(f, "payload", p_format ? 2 : 1, pdu->payload,
                             leat_atm_aal1_payload_len(pdu->csi, pdu->sc), true);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_aal1_pdu pdu;
    const leat_err err = leat_atm_aal1_pdu_decode(octets, len, &pdu, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &pdu);
    return err;
}

static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_aal1_pdu pdu = { .csi = 0 };
    walk(f, &pdu);
    const leat_err err = f->err ? f->err : leat_atm_aal1_pdu_encode(&pdu, octets, cap);
    if (!err) *len = LEAT_ATM_AAL1_PDU_LEN;
    return err;
}

const struct leat_format leat_aal1_format = {
    .name = "aal1",
    .in_cells = true,
    .summary = "AAL1 SAR-PDU (I.363.1): constant bit rate, 47 octets of a cell",
    .unit_len = LEAT_ATM_AAL1_PDU_LEN,
    .show = show,
    .build = build,
};
