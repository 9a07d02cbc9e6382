/*
 * A store is exhaustible. Three limits keep a stranger, one sender or one link from filling it.
 * They determine how many bindings the next instruction may create (leat_esp_execute's `allowed`);
 * instructions on existing bindings are never limited.
 *
 *   key       computations get nothing unless their ID was made with the network's key. Such an ID
 *             is 32 arbitrary bits and 32 bits of SipHash-2-4 of these
 *   source    a time budget that accrues up to a limit; a binding costs 1 / rate seconds.
 *             Budgets are a fixed table, found by a keyed hash of the address: sources that share
 *             an entry share its budget, and no sender can choose its entry.
 *   ingress   creations of the last tau, in WINDOWS pieces of tau / (WINDOWS - 1): the sum is never
 *             below the live bindings, and a binding is counted at most one piece too long
 *
 * Budgets and ingresses are charged for what was created. Fixed tables, no allocation; compiles for
 * BPF. The caller locks: two processors that draw from one budget at once may exceed it by one
 * instruction.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_LIMITS_H
#define LEAT_ESP_LIMITS_H

#include "esp_store.h"
#include "leat_siphash.h"

enum { LEAT_ESP_WINDOWS = 16, LEAT_ESP_BUDGETS = 4096 };

/* All zero: no limits. */
struct leat_esp_limits {
    uint64_t price_ticks;  /* cost of one creation by a source; 0: unlimited */
    uint64_t saved_ticks;  /* the most that a source can accrue */
    uint64_t window_ticks; /* tau / (WINDOWS - 1), rounded up */
    uint64_t capacity;     /* live bindings created through one ingress; 0: unlimited */
};

/* All zero: a new source has its full budget. */
struct leat_esp_budget {
    uint64_t at; /* when `spent` was updated */
    uint64_t spent_ticks;
};

/* All zero: nothing was created. */
struct leat_esp_ingress {
    uint64_t window; /* number of the latest piece */
    uint64_t sum;    /* sum over all pieces */
    uint32_t created[LEAT_ESP_WINDOWS];
};

/* Makes a computation ID that nodes with the key accept. */
LEAT_ESP_INLINE uint64_t leat_esp_computation_keyed(const uint8_t key[LEAT_SIP_KEY_LEN],
                                                    uint32_t chosen)
{
    struct leat_sip s;
    leat_sip_start(&s, key);
    return (uint64_t)chosen << 32 | (uint32_t)leat_sip_finish(&s, chosen, 4);
}

LEAT_ESP_INLINE bool leat_esp_computation_is_keyed(const uint8_t key[LEAT_SIP_KEY_LEN],
                                                   uint64_t computation)
{
    return leat_esp_computation_keyed(key, (uint32_t)(computation >> 32)) == computation;
}

/* Limits from the user's values: creations per second and burst; 0 for none. */
LEAT_ESP_INLINE struct leat_esp_limits leat_esp_limits_of(uint64_t ticks_per_s, uint64_t rate_per_s,
                                                          uint64_t burst, uint64_t capacity,
                                                          uint64_t tau)
{
    struct leat_esp_limits l = { .window_ticks = leat_esp_ticks(tau) / (LEAT_ESP_WINDOWS - 1) + 1,
                                 .capacity = capacity };
    if (rate_per_s) {
        l.price_ticks = ticks_per_s > rate_per_s ? leat_esp_ticks(ticks_per_s / rate_per_s) : 1;
        if (burst < LEAT_ESP_TAGS_MAX) burst = LEAT_ESP_TAGS_MAX; /* one instruction fits */
        const uint64_t most = LEAT_ESP_TICKS_MAX / l.price_ticks;
        l.saved_ticks = burst < most ? burst * l.price_ticks : LEAT_ESP_TICKS_MAX;
    }
    return l;
}

/* Which budget a source uses. `source`: its address, folded to 64 bits. */
LEAT_ESP_INLINE uint32_t leat_esp_budget_of(const struct leat_esp_node *node, uint64_t source)
{
    return leat_esp_mix64(node->seed, source) >> 32 & (LEAT_ESP_BUDGETS - 1);
}

/* How many bindings the source may create now, at most LEAT_ESP_TAGS_MAX. */
LEAT_ESP_INLINE uint32_t leat_esp_budget_allows(struct leat_esp_budget *b,
                                                const struct leat_esp_limits *l, uint64_t now)
{
    if (!l->price_ticks) return LEAT_ESP_TAGS_MAX;
    if (now > b->at) {
        const uint64_t earned = now - b->at;
        b->spent_ticks = b->spent_ticks > earned ? b->spent_ticks - earned : 0;
        b->at = now;
    }
    const uint64_t left = l->saved_ticks > b->spent_ticks ? l->saved_ticks - b->spent_ticks : 0;
    const uint64_t count = left / l->price_ticks;
    return count < LEAT_ESP_TAGS_MAX ? (uint32_t)count : LEAT_ESP_TAGS_MAX;
}

LEAT_ESP_INLINE void leat_esp_budget_charge(struct leat_esp_budget *b,
                                            const struct leat_esp_limits *l, uint32_t created)
{
    b->spent_ticks += created * l->price_ticks;
}

/* How many bindings this ingress may create now, at most LEAT_ESP_TAGS_MAX. */
LEAT_ESP_INLINE uint32_t leat_esp_ingress_allows(struct leat_esp_ingress *in,
                                                 const struct leat_esp_limits *l, uint64_t now)
{
    if (!l->window_ticks) return LEAT_ESP_TAGS_MAX;
    const uint64_t window = now / l->window_ticks;
    for (uint32_t i = 0; i < LEAT_ESP_WINDOWS && in->window < window; i++) {
        in->window++;
        in->sum -= in->created[in->window & (LEAT_ESP_WINDOWS - 1)];
        in->created[in->window & (LEAT_ESP_WINDOWS - 1)] = 0;
    }
    if (in->window < window) in->window = window; /* all pieces have expired */
    if (!l->capacity) return LEAT_ESP_TAGS_MAX;
    const uint64_t left = l->capacity > in->sum ? l->capacity - in->sum : 0;
    return left < LEAT_ESP_TAGS_MAX ? (uint32_t)left : LEAT_ESP_TAGS_MAX;
}

LEAT_ESP_INLINE void leat_esp_ingress_charge(struct leat_esp_ingress *in, uint32_t created)
{
    in->created[in->window & (LEAT_ESP_WINDOWS - 1)] += created;
    in->sum += created;
}

#endif
