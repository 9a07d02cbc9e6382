/*
 * Seeded random numbers: xoshiro256**, its state filled by splitmix64 (Blackman and Vigna).
 * One stream per entity, so that no entity's draws depend on another's.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_RANDOM_H
#define LEAT_RANDOM_H

#include <leat/api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state of a stream. */
struct leat_random {
    uint64_t s[4];
};

/* splitmix64: advances *state, returns the next output. */
static inline uint64_t leat_random_splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Begins the stream of a seed. */
LEAT_API void leat_random_seed(struct leat_random *r, uint64_t seed);

/* The stream of one entity: seed XOR entity * 0x9E3779B97F4A7C15 (spec/poets.md, 5.4). */
LEAT_API void leat_random_seed_entity(struct leat_random *r, uint64_t seed, uint64_t entity);

/* The next 64 bits. */
static inline uint64_t leat_random_next(struct leat_random *r)
{
    uint64_t *s = r->s;
    const uint64_t product = s[1] * 5, result = (product << 7 | product >> 57) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* 0 .. bound-1 by the high half of a 128-bit product; bound 0 gives 0. */
static inline uint64_t leat_random_below(struct leat_random *r, uint64_t bound)
{
    /* The high half of next * bound, from four 32-bit products: no 128-bit type needed. */
    const uint64_t x = leat_random_next(r);
    const uint64_t xl = (uint32_t)x, xh = x >> 32, bl = (uint32_t)bound, bh = bound >> 32;
    const uint64_t middle = xh * bl + (xl * bl >> 32);
    const uint64_t other = xl * bh + (uint32_t)middle;
    return xh * bh + (middle >> 32) + (other >> 32);
}

/* Fills `octets` with the next numbers, each in little-endian order. */
LEAT_API void leat_random_fill(struct leat_random *r, void *octets, size_t len);

#ifdef __cplusplus
}
#endif

#endif
