#include "atm_aal2.h"
#include "atm_seal.h"
#include "atm_text.h"
#include <string.h>

enum { PAYLOAD_AT = 1, TRAILER_AT = 46 };

static const struct leat_name it_names[] = {
    { LEAT_ATM_AAL2_COM, "COM" },
    { LEAT_ATM_AAL2_EOM, "EOM" },
    { LEAT_ATM_AAL2_BOM, "BOM" },
    { LEAT_ATM_AAL2_SSM, "SSM" },
    { 0, NULL },
};

/* One walk for both directions. LI is the length of the payload, so it follows from it. */
static void walk(struct leat_fields *f, struct leat_atm_aal2_pdu *pdu, unsigned crc)
{
    const uint8_t *payload = pdu->payload;
    size_t payload_len = pdu->li;

    pdu->sn = (uint8_t)leat_fields_uint(f, "sn", 0, 4, pdu->sn);
    pdu->it = (enum leat_atm_aal2_it)leat_fields_enum(f, "it", 0, 2, it_names, pdu->it);
    leat_fields_octets(f, "payload", PAYLOAD_AT, LEAT_ATM_AAL2_PAYLOAD_LEN, &payload, &payload_len);
    leat_fields_derived(f, "li", TRAILER_AT, 6, payload_len);
    leat_fields_checksum(f, "crc", TRAILER_AT, 10, crc);
    if (payload_len < 1)
        leat_fields_refuse(f, LEAT_ERR_LENGTH, "payload", "no octets, expected 1 to 45");
    if (payload != pdu->payload) memcpy(pdu->payload, payload, payload_len);
    pdu->li = (uint8_t)payload_len;
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_aal2_pdu pdu;
    const leat_err err = leat_atm_aal2_pdu_decode(octets, len, &pdu, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &pdu, leat_atm_payload_crc(octets));
    return err;
}

/* Without a payload: a whole message of 45 zeros. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_aal2_pdu pdu = { .it = LEAT_ATM_AAL2_SSM, .li = LEAT_ATM_AAL2_PAYLOAD_LEN };
    walk(f, &pdu, 0);
    const leat_err err = f->err ? f->err : leat_atm_aal2_pdu_encode(&pdu, octets, cap);
    if (!err) *len = LEAT_ATM_AAL2_PDU_LEN;
    return err;
}

const struct leat_format leat_aal2_format = {
    .name = "aal2",
    .in_cells = true,
    .summary = "AAL2 SAR-PDU, older form: variable bit rate, 45 octets of a cell",
    .unit_len = LEAT_ATM_AAL2_PDU_LEN,
    .show = show,
    .build = build,
};
