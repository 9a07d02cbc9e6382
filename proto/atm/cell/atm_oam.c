#include "atm_oam.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include <string.h>

enum { SPECIFIC_AT = 1 };

/* In a loopback cell's specific field. */
enum { TAG_AT = 1, PLACE_AT = 5, SOURCE_AT = 21, UNUSED_AT = 37, GOES_BACK = 1 };

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

void leat_atm_oam_loopback_put(const struct leat_atm_oam_loopback *loopback,
                               struct leat_atm_oam *out)
{
    *out = (struct leat_atm_oam){ .type = LEAT_ATM_OAM_FAULT, .function = LEAT_ATM_OAM_LOOPBACK };
    out->specific[0] = loopback->goes_back ? GOES_BACK : 0;
    leat_put_be32(out->specific + TAG_AT, loopback->tag);
    memcpy(out->specific + PLACE_AT, loopback->place, LEAT_ATM_OAM_PLACE_LEN);
    memcpy(out->specific + SOURCE_AT, loopback->source, LEAT_ATM_OAM_PLACE_LEN);
    memset(out->specific + UNUSED_AT, LEAT_ATM_FILL, LEAT_ATM_OAM_SPECIFIC_LEN - UNUSED_AT);
}

bool leat_atm_oam_loopback_get(const struct leat_atm_oam *oam, struct leat_atm_oam_loopback *out)
{
    if (oam->type != LEAT_ATM_OAM_FAULT || oam->function != LEAT_ATM_OAM_LOOPBACK) return false;
    out->goes_back = oam->specific[0] & GOES_BACK;
    out->tag = leat_get_be32(oam->specific + TAG_AT);
    memcpy(out->place, oam->specific + PLACE_AT, LEAT_ATM_OAM_PLACE_LEN);
    memcpy(out->source, oam->specific + SOURCE_AT, LEAT_ATM_OAM_PLACE_LEN);
    return true;
}
