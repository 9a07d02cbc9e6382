#include "atm_seal.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include <leat/crc.h>

enum { SIX_BITS = 6 };

/*
 * Six steps of the shift register after 46 whole octets: the bits shifted out at its top, together
 * with the six bits, give the CRC of one octet.
 */
void leat_atm_payload_seal(uint8_t payload[LEAT_ATM_PAYLOAD_LEN], unsigned six)
{
    const unsigned before = leat_crc10(0, payload, LEAT_ATM_SEAL_AT);
    const uint8_t top = (uint8_t)(before >> (LEAT_ATM_SEAL_BITS - SIX_BITS) ^ six);
    const unsigned crc = (unsigned)leat_bits(before << SIX_BITS, 0, LEAT_ATM_SEAL_BITS) ^
                         leat_crc10(0, &top, 1);
    leat_put_be16(payload + LEAT_ATM_SEAL_AT, (uint16_t)(six << LEAT_ATM_SEAL_BITS | crc));
}

unsigned leat_atm_payload_six(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN])
{
    return payload[LEAT_ATM_SEAL_AT] >> (8 - SIX_BITS);
}

uint16_t leat_atm_payload_crc(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN])
{
    return (uint16_t)leat_bits(leat_get_be16(payload + LEAT_ATM_SEAL_AT), 0, LEAT_ATM_SEAL_BITS);
}

leat_err leat_atm_payload_check(const uint8_t *payload, size_t len, size_t *fault_at)
{
    if (len < LEAT_ATM_PAYLOAD_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > LEAT_ATM_PAYLOAD_LEN)
        return leat_fault(LEAT_ERR_LENGTH, LEAT_ATM_PAYLOAD_LEN, fault_at);
    if (leat_crc10(0, payload, len) != 0)
        return leat_fault(LEAT_ERR_CHECKSUM, LEAT_ATM_SEAL_AT, fault_at);
    return LEAT_ERR_OK;
}
