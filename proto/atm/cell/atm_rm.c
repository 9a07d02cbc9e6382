#include "atm_rm.h"
#include "atm_oam.h"
#include "atm_seal.h"
#include "leat_bytes.h"
#include <string.h>

enum { FLAGS_AT = 1, ER_AT = 2, CCR_AT = 4, MCR_AT = 6, QL_AT = 8, SN_AT = 12, RESERVED_AT = 16 };

/* A coded rate: nz, e and m, below a reserved bit. */
enum { CODE_MAX = 0x7fff, NZ = 0x4000, E = 9, E_WIDTH = 5, M_WIDTH = 9 };

leat_err leat_atm_rm_decode(const uint8_t *payload, size_t len, struct leat_atm_rm *out,
                            size_t *fault_at)
{
    const leat_err err = leat_atm_payload_check(payload, len, fault_at);
    if (err != LEAT_ERR_OK) return err;
    if (payload[0] != LEAT_ATM_RM_ABR) {
        if (fault_at) *fault_at = 0;
        return LEAT_ERR_TYPE;
    }

    out->flags = payload[FLAGS_AT] & LEAT_ATM_RM_FLAGS;
    out->er = leat_get_be16(payload + ER_AT) & CODE_MAX;
    out->ccr = leat_get_be16(payload + CCR_AT) & CODE_MAX;
    out->mcr = leat_get_be16(payload + MCR_AT) & CODE_MAX;
    out->ql = leat_get_be32(payload + QL_AT);
    out->sn = leat_get_be32(payload + SN_AT);
    return LEAT_ERR_OK;
}

leat_err leat_atm_rm_encode(const struct leat_atm_rm *rm, uint8_t *payload, size_t cap)
{
    if (cap < LEAT_ATM_PAYLOAD_LEN) return LEAT_ERR_SPACE;
    if (rm->flags & ~LEAT_ATM_RM_FLAGS) return LEAT_ERR_RANGE;
    if (rm->er > CODE_MAX || rm->ccr > CODE_MAX || rm->mcr > CODE_MAX) return LEAT_ERR_RANGE;

    payload[0] = LEAT_ATM_RM_ABR;
    payload[FLAGS_AT] = rm->flags;
    leat_put_be16(payload + ER_AT, rm->er);
    leat_put_be16(payload + CCR_AT, rm->ccr);
    leat_put_be16(payload + MCR_AT, rm->mcr);
    leat_put_be32(payload + QL_AT, rm->ql);
    leat_put_be32(payload + SN_AT, rm->sn);
    memset(payload + RESERVED_AT, 0, LEAT_ATM_SEAL_AT - RESERVED_AT);
    leat_atm_payload_seal(payload, 0);
    return LEAT_ERR_OK;
}

uint64_t leat_atm_rate_decode(uint16_t code)
{
    if (!(code & NZ)) return 0;
    return (LEAT_ATM_RATE_UNIT + leat_bits(code, 0, M_WIDTH)) << leat_bits(code, E, E_WIDTH);
}

uint16_t leat_atm_rate_encode(uint64_t rate)
{
    if (rate < LEAT_ATM_RATE_UNIT) return 0; /* below one cell per second there is only 0 */
    unsigned e = 0;
    while (rate >> e >= 2 * LEAT_ATM_RATE_UNIT)
        e++;
    if (!leat_fits(e, E_WIDTH)) return CODE_MAX;
    return (uint16_t)(NZ | e << E | leat_bits(rate >> e, 0, M_WIDTH));
}
