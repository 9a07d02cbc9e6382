/* Fractions of 2^64, so that random draws are the same on every machine: floating point may differ.
 * */
#ifndef LEAT_NET_FIXED_H
#define LEAT_NET_FIXED_H

#include <stdint.h>

/* a b / 2^64, from four 32-bit products: no 128-bit type needed. */
static inline uint64_t leat_net_fixed_multiply(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32);
    const uint64_t other = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

/* floor(num 2^bits / den) for num < den <= 2^63 and bits <= 64: long division. */
static inline uint64_t leat_net_fixed_divide(uint64_t num, uint64_t den, unsigned bits)
{
    uint64_t quotient = 0;
    for (; bits; bits--) {
        num <<= 1;
        quotient <<= 1;
        if (num >= den) {
            num -= den;
            quotient |= 1;
        }
    }
    return quotient;
}

#endif
