/*
 * Seeded random numbers: xoshiro256**, its state filled by splitmix64 (Blackman and Vigna).
 * One stream per entity, so that no entity's draws depend on another's.
 */
#ifndef LEAT_RANDOM_H
#define LEAT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct leat_random {
    uint64_t s[4];
};

/* splitmix64: advances *state, returns the next output. */
uint64_t leat_random_splitmix(uint64_t *state);

void leat_random_seed(struct leat_random *r, uint64_t seed);

/* The stream of one entity: seed XOR entity * 0x9E3779B97F4A7C15 (specs/poets.md, 5.4). */
void leat_random_seed_entity(struct leat_random *r, uint64_t seed, uint64_t entity);

uint64_t leat_random_next(struct leat_random *r);

/* 0 .. bound-1 by the high half of a 128-bit product; bound 0 gives 0. */
uint64_t leat_random_below(struct leat_random *r, uint64_t bound);

void leat_random_fill(struct leat_random *r, void *octets, size_t len);

#endif
