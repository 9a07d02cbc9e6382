#include "atm_oam.h"
#include "leat_bytes.h"
#include "leat_crc.h"
#include <string.h>

enum { SPECIFIC_AT = 1, CRC_MASK = 0x3ff };

/*
 * 374 bits are 46 octets and six bits. The six are zero here, so all they do is to move the
 * register by six places: what falls out at the top comes back as the CRC of that one octet.
 */
void leat_atm_payload_seal(uint8_t payload[LEAT_ATM_PAYLOAD_LEN])
{
    const unsigned crc = leat_crc10(0, payload, LEAT_ATM_SEAL_AT);
    const uint8_t top = (uint8_t)(crc >> 4);
    leat_put_be16(payload + LEAT_ATM_SEAL_AT,
                  (uint16_t)((crc << 6 & CRC_MASK) ^ leat_crc10(0, &top, 1)));
}

leat_err leat_atm_payload_check(const uint8_t *payload, size_t len, size_t *fault_at)
{
    leat_err err = LEAT_ERR_OK;
    size_t at = 0;
    if (len < LEAT_ATM_PAYLOAD_LEN) {
        err = LEAT_ERR_SHORT;
        at = len;
    } else if (len > LEAT_ATM_PAYLOAD_LEN) {
        err = LEAT_ERR_LENGTH;
        at = LEAT_ATM_PAYLOAD_LEN;
    } else if (leat_crc10(0, payload, LEAT_ATM_PAYLOAD_LEN) != 0) {
        err = LEAT_ERR_CHECKSUM;
        at = LEAT_ATM_SEAL_AT;
    }
    if (err != LEAT_ERR_OK && fault_at) *fault_at = at;
    return err;
}

leat_err leat_atm_oam_decode(const uint8_t *payload, size_t len, struct leat_atm_oam *out,
                             size_t *fault_at)
{
    const leat_err err = leat_atm_payload_check(payload, len, fault_at);
    if (err != LEAT_ERR_OK) return err;

    out->type = payload[0] >> 4;
    out->function = payload[0] & 0xf;
    memcpy(out->specific, payload + SPECIFIC_AT, LEAT_ATM_OAM_SPECIFIC_LEN);
    return LEAT_ERR_OK;
}

leat_err leat_atm_oam_encode(const struct leat_atm_oam *oam, uint8_t *payload, size_t cap)
{
    if (cap < LEAT_ATM_PAYLOAD_LEN) return LEAT_ERR_SPACE;
    if (oam->type > 0xf || oam->function > 0xf) return LEAT_ERR_RANGE;

    payload[0] = (uint8_t)(oam->type << 4 | oam->function);
    memcpy(payload + SPECIFIC_AT, oam->specific, LEAT_ATM_OAM_SPECIFIC_LEN);
    leat_atm_payload_seal(payload);
    return LEAT_ERR_OK;
}
