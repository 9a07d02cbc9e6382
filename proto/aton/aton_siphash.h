/*
 * SipHash-2-4 (Aumasson and Bernstein), word by word: for whoever cannot call leat_aton_siphash,
 * XDP, and for leat_aton_siphash itself.
 *
 *   start(key), word(...) for every eight octets, finish(the octets left over and the length)
 */
#ifndef LEAT_ATON_SIPHASH_H
#define LEAT_ATON_SIPHASH_H

#include "leat_bytes.h"

struct leat_aton_sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t leat_aton_sip_rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void leat_aton_sip_round(struct leat_aton_sip *s)
{
    s->v0 += s->v1;
    s->v1 = leat_aton_sip_rotate(s->v1, 13) ^ s->v0;
    s->v0 = leat_aton_sip_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = leat_aton_sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = leat_aton_sip_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = leat_aton_sip_rotate(s->v1, 17) ^ s->v2;
    s->v2 = leat_aton_sip_rotate(s->v2, 32);
}

static inline void leat_aton_sip_word(struct leat_aton_sip *s, uint64_t word)
{
    s->v3 ^= word;
    leat_aton_sip_round(s);
    leat_aton_sip_round(s);
    s->v0 ^= word;
}

static inline void leat_aton_sip_start(struct leat_aton_sip *s, const uint8_t *key)
{
    const uint64_t k0 = leat_get_le64(key), k1 = leat_get_le64(key + 8);
    /* "somepseudorandomlygeneratedbytes" */
    s->v0 = k0 ^ 0x736f6d6570736575;
    s->v1 = k1 ^ 0x646f72616e646f6d;
    s->v2 = k0 ^ 0x6c7967656e657261;
    s->v3 = k1 ^ 0x7465646279746573;
}

/* `rest`: the octets behind the last whole word, the first lowest; len: of all octets. */
static inline uint64_t leat_aton_sip_finish(struct leat_aton_sip *s, uint64_t rest, uint64_t len)
{
    leat_aton_sip_word(s, rest | len << 56);
    s->v2 ^= 0xff;
    for (int round = 0; round < 4; round++)
        leat_aton_sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif
