#include "leat_bytes.h"
#include <leat/random.h>
#include <string.h>

void leat_random_seed(struct leat_random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = leat_random_splitmix(&seed);
}

void leat_random_seed_entity(struct leat_random *r, uint64_t seed, uint64_t entity)
{
    leat_random_seed(r, seed ^ entity * UINT64_C(0x9E3779B97F4A7C15));
}

void leat_random_fill(struct leat_random *r, void *octets, size_t len)
{
    uint8_t *p = octets;
    for (; len >= 8; p += 8, len -= 8)
        leat_put_le64(p, leat_random_next(r));
    if (len) {
        uint8_t last[8];
        leat_put_le64(last, leat_random_next(r));
        memcpy(p, last, len);
    }
}
