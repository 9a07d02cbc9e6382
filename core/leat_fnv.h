/* FNV-1a, 64 bits (Fowler, Noll, Vo): the hash of deliveries of W and of final states
 * (spec/atm.md, 8; spec/poets.md, 5.4). It detects accidents, not forgery. */
#ifndef LEAT_FNV_H
#define LEAT_FNV_H

#include <stddef.h>
#include <stdint.h>

#define LEAT_FNV_EMPTY UINT64_C(0xcbf29ce484222325)
#define LEAT_FNV_PRIME UINT64_C(0x100000001b3)

/* Start with LEAT_FNV_EMPTY and feed the pieces in order. */
static inline uint64_t leat_fnv(uint64_t hash, const void *octets, size_t len)
{
    const uint8_t *p = octets;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * LEAT_FNV_PRIME;
    return hash;
}

#endif
