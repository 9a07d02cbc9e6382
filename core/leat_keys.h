/*
 * The keys of a network. The first one signs, and all are accepted, so that nodes can change from
 * one key to the next one after another, while packets of both pass:
 *
 *   accept the next key everywhere   old next
 *   sign with it everywhere          next old
 *   forget the old one everywhere    next
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_KEYS_H
#define LEAT_KEYS_H

#include "leat_siphash.h"

enum { LEAT_KEYS_MAX = 2 };

struct leat_keys {
    uint32_t count; /* 0: no key */
    uint32_t zero;
    uint8_t key[LEAT_KEYS_MAX][LEAT_SIP_KEY_LEN];
};

/* Keys that change while packets pass: a reader takes `turn` once per packet, and the keys of that
 * turn are complete and remain so until the change after the next. */
struct leat_key_ring {
    uint32_t turn;
    uint32_t zero;
    struct leat_keys of_turn[2];
};

static inline uint32_t leat_key_ring_turn(const struct leat_key_ring *ring)
{
    return *(const volatile uint32_t *)&ring->turn & 1;
}

#ifndef __bpf__

/* From what callers give: a key and another that is accepted, too; NULL: none. */
static inline struct leat_keys leat_keys_of(const uint8_t *key, const uint8_t *other)
{
    struct leat_keys keys = { .count = !key ? 0 : other ? 2 : 1 };
    for (uint32_t i = 0; key && i < LEAT_SIP_KEY_LEN; i++) {
        keys.key[0][i] = key[i];
        if (other) keys.key[1][i] = other[i];
    }
    return keys;
}

/* The key that is accepted, too; NULL: none. */
static inline const uint8_t *leat_keys_other(const struct leat_keys *keys)
{
    return keys->count > 1 ? keys->key[1] : NULL;
}

/* By one writer at a time. */
static inline void leat_key_ring_set(struct leat_key_ring *ring, const struct leat_keys *keys)
{
    const uint32_t next = leat_key_ring_turn(ring) ^ 1;
    ring->of_turn[next] = *keys;
    __atomic_store_n(&ring->turn, next, __ATOMIC_RELEASE);
}

#endif
#endif
