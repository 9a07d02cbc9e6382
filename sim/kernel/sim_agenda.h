/*
 * The event kernel. Entities act in phases of a cycle. An event is (time, phase, entity), and this
 * is also the order of all events: neither insertion order nor addresses affect it. The entity
 * holds what to do; the agenda has at most one event per (phase, entity).
 *
 *   while (leat_sim_agenda_advance(&a, until, &now))
 *       for (uint32_t phase = 0; phase < phases; phase++)
 *           while (leat_sim_agenda_take(&a, phase, &entity))
 *               act(phase, entity, now);          may set events, also for later in this cycle
 *
 *   now                              now + LEAT_SIM_WHEEL
 *    |  wheel: one slot per cycle       |  heap: the far events, by time
 *    v                                  v
 *   [slot][slot][    ][slot] ... [    ] |   o
 *     |                                 |  o o
 *     phase 0, phase 1, ...: the entities due, as bits; a word of bits over every 64 words, up to
 *     one word on top per phase, so that the next entity is found in a step per level
 *
 * A mark per slot shows which slots may hold anything, so idle cycles cost nothing, however many.
 * Memory is the caller's and fixed at init; the heap has room for every (phase, entity).
 */
#ifndef LEAT_SIM_AGENDA_H
#define LEAT_SIM_AGENDA_H

#include <assert.h>
#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_SIM_PHASES_MAX = 4,
    LEAT_SIM_ENTITIES_MAX = 1 << 24, /* per phase */
    LEAT_SIM_CURSOR_SHIFT = 25,      /* (phase << this) + entity + 1 is a position within a cycle */
    LEAT_SIM_LEVELS_MAX = 4,         /* levels of 64-bit words: four cover 2^24 entities */
    LEAT_SIM_WHEEL = 128, /* cycles; more than a cell time, so that cells never use the heap */
};

/* Callers pass a constant phase: inlining removes half of the instructions. */
#ifdef __GNUC__
#define LEAT_SIM_ALWAYS_INLINE __attribute__((always_inline)) static inline
#else
#define LEAT_SIM_ALWAYS_INLINE static inline
#endif

struct leat_sim_agenda_shape {
    uint32_t phases;
    uint32_t entities[LEAT_SIM_PHASES_MAX];
};

/* Only for the functions below. */
struct leat_sim_agenda_phase {
    uint64_t *due;     /* by entity; LEAT_NEVER: no event */
    uint64_t plain;    /* future cycles that are only a bit in a slot; 0: none */
    uint32_t entities; /* how many */
    uint32_t id;       /* of entity 0 in the heap */
    uint32_t levels;
    uint32_t word[LEAT_SIM_LEVELS_MAX]; /* where each level begins in a slot; [0]: entities */
};

/* An event in the heap: with its time, so that sorting it touches no other memory. */
struct leat_sim_agenda_far {
    uint64_t at;
    uint32_t id;
};

struct leat_sim_agenda {
    uint64_t now;
    uint64_t *present; /* the slot of `now` */
    uint32_t cursor;   /* the first (phase, entity) still pending in the present cycle */
    uint32_t phases;
    uint32_t slot_shift; /* log2 of the words of a slot; the top words of the phases come first */
    uint32_t heap_count;
    uint64_t occupied[LEAT_SIM_WHEEL / 64]; /* bits: slots that may hold something */
    struct leat_sim_agenda_phase phase[LEAT_SIM_PHASES_MAX];
    uint64_t *slots;
    uint64_t *due;                    /* of all phases, by id */
    struct leat_sim_agenda_far *heap; /* the earliest on top */
    uint32_t *place;                  /* of an id, while it is in the heap */
};

/* Octets of memory that init needs. 1..4 phases of 0..2^24 entities (asserted). */
size_t leat_sim_agenda_footprint(const struct leat_sim_agenda_shape *shape);

/* Starts at time 0 with nothing due. `memory` is aligned for uint64_t and lent for the agenda's
 * lifetime. */
void leat_sim_agenda_init(struct leat_sim_agenda *a, const struct leat_sim_agenda_shape *shape,
                          void *memory);

/* The general case of leat_sim_agenda_advance and leat_sim_agenda_set. */
bool leat_sim_agenda_jump(struct leat_sim_agenda *a, uint64_t until, uint64_t *now);
void leat_sim_agenda_move(struct leat_sim_agenda *a, uint32_t phase, uint32_t entity, uint64_t at);

/* The next cycle, from the present one on, that has anything due; LEAT_NEVER: none. */
uint64_t leat_sim_agenda_next(struct leat_sim_agenda *a);

/* The lowest set bit of a nonzero word. */
static inline uint32_t leat_sim_agenda_lowest(uint64_t word)
{
#ifdef __GNUC__
    return (uint32_t)__builtin_ctzll(word);
#else
    uint32_t n = 0;
    for (uint32_t step = 32; step; step /= 2)
        if (!(word & ((UINT64_C(1) << step) - 1))) {
            word >>= step;
            n += step;
        }
    return n;
#endif
}

/* Is anything due in this phase of the present cycle? */
static inline bool leat_sim_agenda_any(const struct leat_sim_agenda *a, uint32_t phase)
{
    return a->present[phase] != 0;
}

/* Cycles from `from` to the first slot that may hold anything, in its word and the next one; or to
 * the slot after these words. */
static inline uint64_t leat_sim_agenda_ahead(const struct leat_sim_agenda *a, uint64_t from)
{
    const uint64_t slot = from % LEAT_SIM_WHEEL, bit = slot % 64;
    const uint64_t here = a->occupied[slot / 64] >> bit;
    if (here) return leat_sim_agenda_lowest(here);
    const uint64_t next = a->occupied[(slot / 64 + 1) % (LEAT_SIM_WHEEL / 64)];
    return 64 - bit + (next ? leat_sim_agenda_lowest(next) : 64);
}

/* Marks the slot of this cycle as empty. */
static inline void leat_sim_agenda_forget(struct leat_sim_agenda *a, uint64_t at)
{
    a->occupied[at % LEAT_SIM_WHEEL / 64] &= ~(UINT64_C(1) << at % 64);
}

static inline bool leat_sim_agenda_slot_is_empty(const uint64_t *slot)
{
    return !(slot[0] | slot[1] | slot[2] | slot[3]);
}

/*
 * Advances to the next cycle before `until` that has anything due. False: there is none; *now is
 * untouched, and the agenda stands at `until` (where it was, if until is past or LEAT_NEVER), so
 * that events can be set for that very cycle. All events of the present cycle must have been taken
 * (asserted).
 */
static inline bool leat_sim_agenda_advance(struct leat_sim_agenda *a, uint64_t until, uint64_t *now)
{
    const uint64_t at = a->now + 1 + leat_sim_agenda_ahead(a, a->now + 1);
    uint64_t *slot = a->slots + (at % LEAT_SIM_WHEEL << a->slot_shift);
    const bool far = !a->heap_count || a->heap[0].at - at >= LEAT_SIM_WHEEL;
    assert(!a->cursor || leat_sim_agenda_slot_is_empty(a->present));
    if (!a->cursor || !far || at >= until || leat_sim_agenda_slot_is_empty(slot))
        return leat_sim_agenda_jump(a, until, now);
    leat_sim_agenda_forget(a, a->now);
    a->now = at;
    a->present = slot;
    a->cursor = 0;
    *now = at;
    return true;
}

/*
 * Removes the first entity due now from the bits of all levels; there is one. A word that becomes
 * empty clears its bit in the word above, without a branch that would be mispredicted.
 */
static inline uint32_t leat_sim_agenda_pull(struct leat_sim_agenda *a, uint32_t phase)
{
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    uint64_t *slot = a->present, gone = 1;
    uint32_t found = 0;
    for (uint32_t level = p->levels; level--;)
        found = found * 64 + leat_sim_agenda_lowest(slot[p->word[level] + found]);
    for (uint32_t level = 0, at = found; level < p->levels; level++, at /= 64) {
        uint64_t *word = &slot[p->word[level] + at / 64];
        *word &= ~(gone << at % 64);
        gone = !*word;
    }
    return found;
}

/* The same for three levels (4,097 to 262,144 entities), unrolled: twice as fast. */
static inline uint32_t leat_sim_agenda_pull_3(struct leat_sim_agenda *a, uint32_t phase)
{
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    uint64_t *top = a->present + phase;
    const uint32_t middle_at = leat_sim_agenda_lowest(*top);
    uint64_t *middle = a->present + p->word[1] + middle_at;
    const uint32_t leaf_at = middle_at * 64 + leat_sim_agenda_lowest(*middle);
    uint64_t *leaf = a->present + p->word[0] + leaf_at;
    const uint64_t bits = *leaf, rest = bits & (bits - 1);
    const uint64_t middle_rest = rest ? *middle : *middle & (*middle - 1);
    *top = middle_rest ? *top : *top & (*top - 1);
    *middle = middle_rest;
    *leaf = rest;
    return leaf_at * 64 + leat_sim_agenda_lowest(bits);
}

/* When the entity acts in this phase; LEAT_NEVER: no event. */
static inline uint64_t leat_sim_agenda_due(const struct leat_sim_agenda *a, uint32_t phase,
                                           uint32_t entity)
{
    assert(phase < a->phases && entity < a->phase[phase].entities);
    return a->phase[phase].due[entity];
}

/*
 * The entity acts in this phase at `at`; this replaces an earlier event. LEAT_NEVER cancels it.
 * `at` may be the present cycle while (phase, entity) is still pending in it (asserted).
 */
LEAT_SIM_ALWAYS_INLINE void leat_sim_agenda_set(struct leat_sim_agenda *a, uint32_t phase,
                                                uint32_t entity, uint64_t at)
{
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    if (at - a->now - 1 >= p->plain || p->due[entity] != LEAT_NEVER) {
        leat_sim_agenda_move(a, phase, entity, at);
        return;
    }
    const uint64_t slot = at % LEAT_SIM_WHEEL;
    p->due[entity] = at;
    a->slots[(slot << a->slot_shift) + phase] |= UINT64_C(1) << entity;
    a->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
}

/*
 * Takes the next entity due now in this phase, by number, including those set meanwhile. False:
 * none is left, and the phase is over for this cycle. Phases come in order; one may be skipped if
 * nothing is due in it.
 */
LEAT_SIM_ALWAYS_INLINE bool leat_sim_agenda_take(struct leat_sim_agenda *a, uint32_t phase,
                                                 uint32_t *entity)
{
    assert(a->cursor >> LEAT_SIM_CURSOR_SHIFT <= phase);
    const uint64_t word = a->present[phase];
    if (!word) {
        a->cursor = (phase + 1) << LEAT_SIM_CURSOR_SHIFT;
        return false;
    }
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    uint32_t found;
    if (p->levels == 1) {
        found = leat_sim_agenda_lowest(word);
        a->present[phase] = word & (word - 1);
    } else {
        found = p->levels == 3 ? leat_sim_agenda_pull_3(a, phase) : leat_sim_agenda_pull(a, phase);
    }
    p->due[found] = LEAT_NEVER;
    a->cursor = (phase << LEAT_SIM_CURSOR_SHIFT) + found + 1;
    *entity = found;
    return true;
}

#endif
