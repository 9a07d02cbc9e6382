#include "atm_oam.h"
#include "atm_seal.h"
#include <string.h>

enum { SPECIFIC_AT = 1 };

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
    leat_atm_payload_seal(payload, 0);
    return LEAT_ERR_OK;
}
