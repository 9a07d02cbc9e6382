#include "poets_hash.h"

uint64_t leat_poets_hash(uint64_t hash, const void *octets, size_t len)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    const uint8_t *p = octets;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * prime;
    return hash;
}
