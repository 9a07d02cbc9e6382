#include "leat_random.h"
#include "leat_bytes.h"
#include <string.h>

uint64_t leat_random_splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void leat_random_seed(struct leat_random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = leat_random_splitmix(&seed);
}

void leat_random_seed_entity(struct leat_random *r, uint64_t seed, uint64_t entity)
{
    leat_random_seed(r, seed ^ entity * UINT64_C(0x9E3779B97F4A7C15));
}

static uint64_t rotated_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

uint64_t leat_random_next(struct leat_random *r)
{
    uint64_t *s = r->s;
    const uint64_t result = rotated_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated_left(s[3], 45);
    return result;
}

uint64_t leat_random_below(struct leat_random *r, uint64_t bound)
{
    /* The high half of next * bound, from four 32-bit products: no 128-bit type needed. */
    const uint64_t x = leat_random_next(r);
    const uint64_t xl = (uint32_t)x, xh = x >> 32, bl = (uint32_t)bound, bh = bound >> 32;
    const uint64_t middle = xh * bl + (xl * bl >> 32);
    const uint64_t other = xl * bh + (uint32_t)middle;
    return xh * bh + (middle >> 32) + (other >> 32);
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
