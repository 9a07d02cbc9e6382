#include "sim_agenda.h"
#include "leat_heap.h"
#include <string.h>

enum { WORD_BITS = 64 };
_Static_assert(LEAT_SIM_WHEEL % 64 == 0, "leat_sim_agenda_ahead() looks at 64 slots at a time");

/* ---- memory ------------------------------------------------------------------------------- */

static uint32_t words_over(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

/* The levels of a phase: the top word among the slot's first ones, the others from *next on. */
static void lay_levels(struct leat_sim_agenda_phase *p, uint32_t phase, uint32_t *next)
{
    uint32_t words = words_over(p->entities);
    for (p->levels = 0; words > 1; words = words_over(words)) {
        p->word[p->levels++] = *next;
        *next += words;
    }
    p->word[p->levels++] = phase;
    p->plain = p->levels == 1 ? LEAT_SIM_WHEEL - 1 : 0;
}

/* Everything that follows from the shape, without memory. Returns the number of (phase, entity). */
static uint32_t lay_out(struct leat_sim_agenda *a, const struct leat_sim_agenda_shape *shape)
{
    assert(shape->phases >= 1 && shape->phases <= LEAT_SIM_PHASES_MAX);
    *a = (struct leat_sim_agenda){ .phases = shape->phases };
    uint32_t ids = 0, words = LEAT_SIM_PHASES_MAX;
    for (uint32_t i = 0; i < a->phases; i++) {
        assert(shape->entities[i] <= LEAT_SIM_ENTITIES_MAX);
        a->phase[i].entities = shape->entities[i];
        a->phase[i].id = ids;
        lay_levels(&a->phase[i], i, &words);
        ids += shape->entities[i];
    }
    while (words > UINT32_C(1) << a->slot_shift)
        a->slot_shift++;
    return ids;
}

size_t leat_sim_agenda_footprint(const struct leat_sim_agenda_shape *shape)
{
    struct leat_sim_agenda a;
    const size_t ids = lay_out(&a, shape);
    return sizeof(uint64_t) * (((size_t)LEAT_SIM_WHEEL << a.slot_shift) + ids) +
           (sizeof(struct leat_sim_agenda_far) + sizeof(uint32_t)) * ids;
}

void leat_sim_agenda_init(struct leat_sim_agenda *a, const struct leat_sim_agenda_shape *shape,
                          void *memory)
{
    const size_t ids = lay_out(a, shape), words = (size_t)LEAT_SIM_WHEEL << a->slot_shift;
    assert((uintptr_t)memory % sizeof(uint64_t) == 0);
    a->slots = memory;
    a->due = a->slots + words;
    a->heap = (struct leat_sim_agenda_far *)(void *)(a->due + ids);
    a->place = (uint32_t *)(void *)(a->heap + ids);
    a->present = a->slots;
    memset(a->slots, 0, words * sizeof *a->slots);
    for (size_t i = 0; i < ids; i++)
        a->due[i] = LEAT_NEVER;
    for (uint32_t i = 0; i < a->phases; i++)
        a->phase[i].due = a->due + a->phase[i].id;
}

/* ---- the wheel ---------------------------------------------------------------------------- */

static uint64_t *slot_of(struct leat_sim_agenda *a, uint64_t at)
{
    return a->slots + (at % LEAT_SIM_WHEEL << a->slot_shift);
}

static void wheel_put(struct leat_sim_agenda *a, uint32_t phase, uint32_t entity, uint64_t at)
{
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    uint64_t *slot = slot_of(a, at);
    a->occupied[at % LEAT_SIM_WHEEL / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
    for (uint32_t level = 0; level < p->levels; level++, entity /= WORD_BITS)
        slot[p->word[level] + entity / WORD_BITS] |= UINT64_C(1) << entity % WORD_BITS;
}

/* The slot's mark in `occupied` stays: advance() checks the slot itself. */
static void wheel_drop(struct leat_sim_agenda *a, uint32_t phase, uint32_t entity, uint64_t at)
{
    const struct leat_sim_agenda_phase *p = &a->phase[phase];
    uint64_t *slot = slot_of(a, at);
    for (uint32_t level = 0; level < p->levels; level++, entity /= WORD_BITS)
        if (slot[p->word[level] + entity / WORD_BITS] &= ~(UINT64_C(1) << entity % WORD_BITS))
            return;
}

/* Cycles from now to the first slot that may hold anything; LEAT_SIM_WHEEL: none may. */
static uint64_t next_occupied(const struct leat_sim_agenda *a)
{
    for (uint64_t ahead = 0; ahead < LEAT_SIM_WHEEL;) {
        const uint64_t at = ahead + leat_sim_agenda_ahead(a, a->now + ahead), slot = a->now + at;
        if (at >= LEAT_SIM_WHEEL) break;
        if (a->occupied[slot % LEAT_SIM_WHEEL / WORD_BITS] >> slot % WORD_BITS & 1) return at;
        ahead = at;
    }
    return LEAT_SIM_WHEEL;
}

/* ---- the far events ----------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct leat_sim_agenda_far *)a)->at <
           ((const struct leat_sim_agenda_far *)b)->at;
}

static void keep_place(void *context, const void *event, uint32_t place)
{
    ((uint32_t *)context)[((const struct leat_sim_agenda_far *)event)->id] = place;
}

static inline struct leat_heap heap_of(const struct leat_sim_agenda *a)
{
    return (struct leat_heap){ a->heap, sizeof *a->heap, is_before, keep_place, a->place };
}

static void heap_push(struct leat_sim_agenda *a, struct leat_sim_agenda_far event)
{
    const struct leat_heap heap = heap_of(a);
    leat_heap_push(&heap, &a->heap_count, &event);
}

/* The last entry fills the gap and moves to its place from there. */
static void heap_drop(struct leat_sim_agenda *a, uint32_t place)
{
    const struct leat_heap heap = heap_of(a);
    const struct leat_sim_agenda_far last = a->heap[--a->heap_count];
    if (place == a->heap_count) return;
    if (place && last.at < a->heap[(place - 1) / 2].at)
        leat_heap_up(&heap, place, &last);
    else
        leat_heap_down(&heap, a->heap_count, place, &last);
}

/* ---- events ------------------------------------------------------------------------------- */

void leat_sim_agenda_move(struct leat_sim_agenda *a, uint32_t phase, uint32_t entity, uint64_t at)
{
    assert(phase < a->phases && entity < a->phase[phase].entities);
    const uint32_t id = a->phase[phase].id + entity;
    const uint64_t was = a->due[id];
    assert(at > a->now || (at == a->now && (phase << LEAT_SIM_CURSOR_SHIFT) + entity >= a->cursor));
    if (was == at) return;
    if (was != LEAT_NEVER && was - a->now < LEAT_SIM_WHEEL)
        wheel_drop(a, phase, entity, was);
    else if (was != LEAT_NEVER)
        heap_drop(a, a->place[id]);
    a->due[id] = at;
    if (at != LEAT_NEVER && at - a->now < LEAT_SIM_WHEEL)
        wheel_put(a, phase, entity, at);
    else if (at != LEAT_NEVER)
        heap_push(a, (struct leat_sim_agenda_far){ at, id });
}

static uint32_t phase_of(const struct leat_sim_agenda *a, uint32_t id)
{
    uint32_t phase = a->phases - 1;
    while (id < a->phase[phase].id)
        phase--;
    return phase;
}

/* Advances time; events that the wheel now covers leave the heap. */
static void stand_at(struct leat_sim_agenda *a, uint64_t now)
{
    a->now = now;
    a->present = slot_of(a, now);
    a->cursor = 0;
    while (a->heap_count && a->heap[0].at - now < LEAT_SIM_WHEEL) {
        const uint32_t id = a->heap[0].id, phase = phase_of(a, id);
        heap_drop(a, 0);
        wheel_put(a, phase, id - a->phase[phase].id, a->due[id]);
    }
}

/* Clears the marks of empty slots on the way. */
uint64_t leat_sim_agenda_next(struct leat_sim_agenda *a)
{
    uint64_t ahead;
    while ((ahead = next_occupied(a)) < LEAT_SIM_WHEEL) {
        const uint64_t at = a->now + ahead;
        if (!leat_sim_agenda_slot_is_empty(slot_of(a, at))) return at;
        leat_sim_agenda_forget(a, at);
    }
    return a->heap_count ? a->heap[0].at : LEAT_NEVER;
}

bool leat_sim_agenda_jump(struct leat_sim_agenda *a, uint64_t until, uint64_t *now)
{
    if (a->cursor) leat_sim_agenda_forget(a, a->now);
    const uint64_t at = leat_sim_agenda_next(a);
    if (at < until) {
        stand_at(a, at);
        *now = at;
        return true;
    }
    if (until > a->now && until != LEAT_NEVER) stand_at(a, until);
    return false;
}
