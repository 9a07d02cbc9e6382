/*
 * The ephemeral store (spec/esp.md, "Store"): small values that expire by themselves. The library,
 * the simulator, the user-space router and XDP compile the same source.
 *
 *   store   G groups, G a power of two: group = mark mod G, mark = mix64(node seed, computation)
 *   group   last time | bucket 0 .. 31             one lock, which is the caller's
 *   bucket  key x 8 | computation x 8 | expiry x 8 | value x 8       four lines of 64 octets
 *
 * A binding's key is tag XOR mark. With the computation beside it the tag can be recovered, and
 * keys of different computations differ although all use the same few tags. One line of a bucket is
 * therefore nearly always enough to decide whether a binding exists. Both the key and the
 * computation are compared.
 *
 * A key may be in either of two buckets of its group. A new binding goes to the one with fewer live
 * bindings (the first if they tie), into the lowest slot that is not live. It fails iff both
 * buckets are full of live bindings. All of this is part of the contract: the same instructions at
 * the same times leave the same octets in every store.
 *
 * A binding is live iff time < expiry. Slots are never cleared: a group of zeros is empty, and an
 * expired binding is invisible and its slot free. Time is in ticks of the caller's clock; a group's
 * time never decreases.
 *
 * Memory: 32 octets per slot and 64 per group.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_STORE_H
#define LEAT_ESP_STORE_H

#include <leat/random.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * In the kernel a verifier follows every path, so a bucket is searched by arithmetic and not by a
 * branch per slot. Compilers recognise the arithmetic and turn it back into branches unless the
 * value is hidden from them. Older kernels forbid calls while a lock is held, so everything is
 * inlined.
 */
#ifdef __bpf__
#define LEAT_ESP_INLINE  static inline __attribute__((always_inline))
#define LEAT_ESP_HIDE(x) __asm__ volatile("" : "+r"(x))
#else
#define LEAT_ESP_INLINE  static inline
#define LEAT_ESP_HIDE(x) ((void)0)
#endif

enum {
    LEAT_ESP_SLOTS = 8, /* slots per bucket */
    LEAT_ESP_SLOTS_ALL = (1 << LEAT_ESP_SLOTS) - 1,
    LEAT_ESP_BUCKETS = 32,
    LEAT_ESP_GROUP_SLOTS = LEAT_ESP_SLOTS * LEAT_ESP_BUCKETS,
    LEAT_ESP_TAGS_MAX = 4, /* tags per instruction */
};

/* Larger clocks and lifetimes are clamped to this, so that time + tau stays below 2^63. */
#define LEAT_ESP_TICKS_MAX ((UINT64_C(1) << 62) - 1)

struct leat_esp_bucket {
    uint64_t key[LEAT_ESP_SLOTS];
    uint64_t computation[LEAT_ESP_SLOTS];
    uint64_t expiry[LEAT_ESP_SLOTS];
    uint64_t value[LEAT_ESP_SLOTS];
};

struct leat_esp_group {
    uint64_t last;     /* latest time of an instruction in this group */
    uint64_t owner[7]; /* reserved for the caller: its lock, or unused. Aligns the buckets to a
                          cache line */
    struct leat_esp_bucket bucket[LEAT_ESP_BUCKETS];
};

/* A store of a node. The three stores of a node (input, centre, output) each have their own id and
 * seed. */
struct leat_esp_node {
    uint64_t id;   /* the node's id, before it is mixed with a computation */
    uint64_t seed; /* seed of the placement; secret, so that nobody can aim at a bucket */
    uint64_t tau;  /* lifetime of a binding in ticks, from its creation */
};

/* ---- mixing ------------------------------------------------------------------------------- */

/* The first output of splitmix64 with seed x. */
LEAT_ESP_INLINE uint64_t leat_esp_spread(uint64_t x)
{
    return leat_random_splitmix(&x);
}

/* mix64 of spec/esp.md. */
LEAT_ESP_INLINE uint64_t leat_esp_mix64(uint64_t a, uint64_t b)
{
    return leat_esp_spread(leat_esp_spread(a) ^ b);
}

/* The mark of a computation in a store: its group is mark mod G, and tag XOR mark is a key. */
LEAT_ESP_INLINE uint64_t leat_esp_mark(const struct leat_esp_node *node, uint64_t computation)
{
    return leat_esp_mix64(node->seed, computation);
}

/* The id by which a node is known to its parent as a child ("Holes", 4). */
LEAT_ESP_INLINE uint64_t leat_esp_child_id(const struct leat_esp_node *node, uint64_t computation)
{
    return leat_esp_mix64(node->id, computation);
}

LEAT_ESP_INLINE uint32_t leat_esp_bucket_first(uint64_t spread)
{
    return spread & (LEAT_ESP_BUCKETS - 1);
}

/* The second bucket: 1 .. 31 places after the first, uniformly distributed. */
LEAT_ESP_INLINE uint32_t leat_esp_bucket_second(uint64_t spread)
{
    const uint64_t on = 1 + ((spread >> 32) * (LEAT_ESP_BUCKETS - 1) >> 32);
    return (uint32_t)(spread + on) & (LEAT_ESP_BUCKETS - 1);
}

/* ---- eight slots at once: bit i of a mask is slot i --------------------------------------- */

LEAT_ESP_INLINE uint32_t leat_esp_mask_equal(const uint64_t word[LEAT_ESP_SLOTS], uint64_t wanted)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LEAT_ESP_SLOTS; i++) {
#ifdef __bpf__
        uint64_t differs = word[i] ^ wanted;
        differs |= 0 - differs;
        LEAT_ESP_HIDE(differs);
        mask |= (uint32_t)(1 ^ differs >> 63) << i;
#else
        mask |= (uint32_t)(word[i] == wanted) << i;
#endif
    }
    return mask;
}

LEAT_ESP_INLINE uint32_t leat_esp_mask_live(const uint64_t expiry[LEAT_ESP_SLOTS], uint64_t time)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LEAT_ESP_SLOTS; i++) {
        uint64_t left = time - expiry[i]; /* both below 2^63: negative iff live */
        LEAT_ESP_HIDE(left);
        mask |= (uint32_t)(left >> 63) << i;
    }
    return mask;
}

LEAT_ESP_INLINE uint32_t leat_esp_mask_count(uint32_t mask)
{
    mask = mask - (mask >> 1 & 0x55);
    mask = (mask & 0x33) + (mask >> 2 & 0x33);
    return (mask + (mask >> 4)) & 0xf;
}

/* Index of the lowest set bit, 0 .. 7; 0 for an empty mask. Clang's builtin crashes its BPF
 * backend. */
LEAT_ESP_INLINE uint32_t leat_esp_mask_lowest(uint32_t mask)
{
    /* 0x1d is a de Bruijn sequence: its eight shifts begin with eight different 3-bit patterns. */
    const uint32_t triple = ((mask & (0 - mask)) * 0x1d & 0xff) >> 5;
    return UINT32_C(0x34572610) >> 4 * triple & (LEAT_ESP_SLOTS - 1);
}

/* ---- one tag of an instruction ------------------------------------------------------------ */

/* Working state of an instruction. */
struct leat_esp_turn {
    struct leat_esp_group *group;
    uint64_t computation, mark;
    uint64_t time, expiry; /* the current time, and the expiry of new bindings */
    uint32_t allowed;      /* bindings that it may still create */
};

/* Where a tag is bound or will be bound. Only leat_esp_cells_write copies it to the store. */
struct leat_esp_cell {
    uint64_t key, value;
    uint32_t first, second; /* its buckets */
    uint32_t bucket, slot;
    uint32_t bound; /* 1: existed before */
    uint32_t put;   /* 1: value must be written */
    uint32_t fresh; /* the slot's bit, once one is chosen for a new binding */
};

LEAT_ESP_INLINE uint64_t leat_esp_ticks(uint64_t ticks)
{
    return ticks > LEAT_ESP_TICKS_MAX ? LEAT_ESP_TICKS_MAX : ticks;
}

/* `clock` was read before the group was locked; the group's time never decreases. */
LEAT_ESP_INLINE void leat_esp_turn_begin(struct leat_esp_turn *turn, uint64_t clock, uint64_t tau)
{
    uint64_t time = leat_esp_ticks(clock);
    if (time < turn->group->last) time = turn->group->last;
    turn->group->last = time;
    turn->time = time;
    turn->expiry = time + leat_esp_ticks(tau);
}

LEAT_ESP_INLINE uint32_t leat_esp_bucket_find(const struct leat_esp_turn *turn, uint32_t bucket,
                                              uint64_t key)
{
    const struct leat_esp_bucket *b = &turn->group->bucket[bucket & (LEAT_ESP_BUCKETS - 1)];
    uint32_t mask = leat_esp_mask_equal(b->key, key);
    if (!mask) return 0;
    const uint32_t slot = leat_esp_mask_lowest(mask);
    if (b->computation[slot] == turn->computation && turn->time < b->expiry[slot])
        return mask & (0 - mask);
    /* Rare: an expired binding with the same key, or two computations whose keys collide. */
    return mask & leat_esp_mask_equal(b->computation, turn->computation) &
           leat_esp_mask_live(b->expiry, turn->time);
}

/* get(tag): value and bound. */
LEAT_ESP_INLINE struct leat_esp_cell leat_esp_cell_find(const struct leat_esp_turn *turn,
                                                        uint64_t tag)
{
    const uint64_t key = tag ^ turn->mark, spread = leat_esp_spread(key);
    struct leat_esp_cell c = { .key = key,
                               .first = leat_esp_bucket_first(spread),
                               .second = leat_esp_bucket_second(spread) };
    c.bucket = c.first;
    uint32_t mask = leat_esp_bucket_find(turn, c.first, key);
    if (!mask) {
        c.bucket = c.second;
        mask = leat_esp_bucket_find(turn, c.second, key);
    }
    LEAT_ESP_HIDE(mask);
    c.bound = (0 - mask) >> 31;
    c.slot = leat_esp_mask_lowest(mask);
    if (mask) c.value = turn->group->bucket[c.bucket & (LEAT_ESP_BUCKETS - 1)].value[c.slot];
    return c;
}

/* put(tag, value), deferred. */
LEAT_ESP_INLINE void leat_esp_cell_put(struct leat_esp_cell *cell, uint64_t value)
{
    cell->value = value;
    cell->put = 1;
}

/* Live bindings of a bucket, plus those that cells before cell i will create there. */
LEAT_ESP_INLINE uint32_t leat_esp_bucket_busy(const struct leat_esp_turn *turn, uint32_t bucket,
                                              const struct leat_esp_cell *cell, uint32_t i)
{
    const struct leat_esp_bucket *b = &turn->group->bucket[bucket & (LEAT_ESP_BUCKETS - 1)];
    uint32_t busy = leat_esp_mask_live(b->expiry, turn->time);
    for (uint32_t j = 0; j < i; j++)
        if (cell[j].bucket == bucket) busy |= cell[j].fresh;
    return busy;
}

/* Chooses a slot for cell i, which is new. False: both buckets are full. */
LEAT_ESP_INLINE bool leat_esp_cell_reserve(const struct leat_esp_turn *turn,
                                           struct leat_esp_cell *cell, uint32_t i)
{
    struct leat_esp_cell *c = &cell[i];
    const uint32_t first = leat_esp_bucket_busy(turn, c->first, cell, i);
    const uint32_t second = leat_esp_bucket_busy(turn, c->second, cell, i);
    const bool take_first = leat_esp_mask_count(first) <= leat_esp_mask_count(second);
    const uint32_t free = LEAT_ESP_SLOTS_ALL ^ (take_first ? first : second);
    c->bucket = take_first ? c->first : c->second;
    c->slot = leat_esp_mask_lowest(free);
    c->fresh = free & (0 - free);
    return free != 0;
}

/* Slots for all new bindings of an instruction, in the order of its operands. */
LEAT_ESP_INLINE bool leat_esp_cells_reserve(const struct leat_esp_turn *turn,
                                            struct leat_esp_cell *cell, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cell[i].put && !cell[i].bound && !leat_esp_cell_reserve(turn, cell, i)) return false;
    return true;
}

LEAT_ESP_INLINE void leat_esp_cells_write(const struct leat_esp_turn *turn,
                                          const struct leat_esp_cell *cell, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = cell[i].slot & (LEAT_ESP_SLOTS - 1);
        struct leat_esp_bucket *b = &turn->group->bucket[cell[i].bucket & (LEAT_ESP_BUCKETS - 1)];
        if (!cell[i].put) continue;
        b->value[slot] = cell[i].value;
        if (cell[i].bound) continue;
        b->key[slot] = cell[i].key;
        b->computation[slot] = turn->computation;
        b->expiry[slot] = turn->expiry;
    }
}

#endif
