/* Random draws that are the same on every machine. Probabilities are fractions of 2^64, since
 * floating point may differ. */
#ifndef LEAT_SIM_DRAW_H
#define LEAT_SIM_DRAW_H

#include <leat/random.h>

/* a b / 2^64, from four 32-bit products: no 128-bit type needed. */
static inline uint64_t leat_sim_fixed_multiply(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32);
    const uint64_t other = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

/* floor(num 2^bits / den) for num < den <= 2^63 and bits <= 64: long division. */
static inline uint64_t leat_sim_fixed_divide(uint64_t num, uint64_t den, unsigned bits)
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

/* Sattolo's shuffle: one cycle through all numbers below `count`, so that none is its own
 * partner. */
static inline void leat_sim_draw_partners(uint64_t seed, uint32_t *partner, uint32_t count)
{
    struct leat_random random;
    leat_random_seed_entity(&random, seed, UINT64_MAX);
    for (uint32_t i = 0; i < count; i++)
        partner[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        const uint32_t j = (uint32_t)leat_random_below(&random, i), other = partner[j];
        partner[j] = partner[i];
        partner[i] = other;
    }
}

#endif
