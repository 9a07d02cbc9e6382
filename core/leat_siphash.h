/*
 * SipHash-2-4 (Aumasson and Bernstein): leat_siphash of any octets; or word by word, for callers
 * whose octets are not contiguous, and for XDP:
 *
 *   start(key), word(...) for every eight octets, finish(the octets left over and the length)
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_SIPHASH_H
#define LEAT_SIPHASH_H

#include "leat_bytes.h"
#include <stddef.h>

enum { LEAT_SIP_KEY_LEN = 16 };

struct leat_sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t leat_sip_rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void leat_sip_round(struct leat_sip *s)
{
    s->v0 += s->v1;
    s->v1 = leat_sip_rotate(s->v1, 13) ^ s->v0;
    s->v0 = leat_sip_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = leat_sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = leat_sip_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = leat_sip_rotate(s->v1, 17) ^ s->v2;
    s->v2 = leat_sip_rotate(s->v2, 32);
}

static inline void leat_sip_word(struct leat_sip *s, uint64_t word)
{
    s->v3 ^= word;
    leat_sip_round(s);
    leat_sip_round(s);
    s->v0 ^= word;
}

static inline void leat_sip_start(struct leat_sip *s, const uint8_t *key)
{
    const uint64_t k0 = leat_get_le64(key), k1 = leat_get_le64(key + 8);
    /* "somepseudorandomlygeneratedbytes" */
    s->v0 = k0 ^ 0x736f6d6570736575;
    s->v1 = k1 ^ 0x646f72616e646f6d;
    s->v2 = k0 ^ 0x6c7967656e657261;
    s->v3 = k1 ^ 0x7465646279746573;
}

/* `rest`: the octets after the last whole word, the first one lowest; len: of all octets. */
static inline uint64_t leat_sip_finish(struct leat_sip *s, uint64_t rest, uint64_t len)
{
    leat_sip_word(s, rest | len << 56);
    s->v2 ^= 0xff;
    for (int round = 0; round < 4; round++)
        leat_sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* The octets from `from` (a whole number of words, already taken) to len, and the end. */
static inline uint64_t leat_sip_rest(struct leat_sip *s, const uint8_t *octets, size_t from,
                                     size_t len)
{
    size_t i = from;
    for (; len - i >= 8; i += 8)
        leat_sip_word(s, leat_get_le64(octets + i));
    uint64_t rest = 0;
    for (unsigned shift = 0; i < len; i++, shift += 8)
        rest |= (uint64_t)octets[i] << shift;
    return leat_sip_finish(s, rest, len);
}

static inline uint64_t leat_siphash(const uint8_t key[LEAT_SIP_KEY_LEN], const void *octets,
                                    size_t len)
{
    struct leat_sip s;
    leat_sip_start(&s, key);
    return leat_sip_rest(&s, octets, 0, len);
}

#endif
