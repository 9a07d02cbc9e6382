/*
 * The seal of atm_seal.h by its definition (spec/atm.md, 2): 374 bits and ten zeros, divided one
 * bit at a time by x^10+x^9+x^5+x^4+x+1.
 */
#ifndef LEAT_ATM_SEAL_TEST_H
#define LEAT_ATM_SEAL_TEST_H

#include "leat_bytes.h"
#include <stdbool.h>

static inline unsigned plain_crc10(const uint8_t payload[48])
{
    unsigned rest = 0;
    for (unsigned bit = 0; bit < 374 + 10; bit++) {
        rest = rest << 1 | (bit < 374 ? leat_bit_get(payload, bit) : 0);
        if (rest & 0x400) rest ^= 0x633;
    }
    return rest;
}

static inline bool plain_check(const uint8_t payload[48])
{
    return plain_crc10(payload) == (leat_get_be16(payload + 46) & 0x3ffu);
}

/* Corrects the CRC, whatever the other bits are. */
static inline void plain_seal(uint8_t payload[48])
{
    const unsigned crc = plain_crc10(payload);
    payload[46] = (uint8_t)((payload[46] & 0xfcu) | crc >> 8);
    payload[47] = (uint8_t)crc;
}

#endif
