#include "esp_flight.h"
#include "esp_store.h"
#include "leat_arena.h"
#include <assert.h>
#include <string.h>

enum { CHILDREN = 4 };

static uint32_t places(uint32_t cap)
{
    uint32_t size = 2;
    while (size < 2 * cap)
        size *= 2;
    return size;
}

static void lay_out(struct leat_sim_esp_flights *f, struct leat_arena *arena)
{
    f->moment = leat_arena_lay(arena, places(f->cap), sizeof *f->moment);
    f->heap = leat_arena_lay(arena, f->cap, sizeof *f->heap);
    f->listed = leat_arena_lay(arena, f->cap, sizeof *f->listed);
    f->present = leat_arena_lay(arena, f->cap, sizeof *f->present);
    f->scratch = leat_arena_lay(arena, f->cap, sizeof *f->scratch);
    f->letter = leat_arena_lay(arena, f->cap, sizeof *f->letter);
    f->reply = leat_arena_lay(arena, f->replies_cap, sizeof *f->reply);
}

size_t leat_sim_esp_flights_footprint(uint32_t cap, uint32_t replies_cap)
{
    struct leat_sim_esp_flights measured = { .cap = cap, .replies_cap = replies_cap };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

void leat_sim_esp_flights_init(struct leat_sim_esp_flights *f, uint32_t cap, uint32_t replies_cap,
                               void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *f = (struct leat_sim_esp_flights){ .cap = cap,
                                        .replies_cap = replies_cap,
                                        .mask = places(cap) - 1 };
    lay_out(f, &arena);
    memset(f->moment, 0, ((size_t)f->mask + 1) * sizeof *f->moment);
}

uint32_t leat_sim_esp_letter_take(struct leat_sim_esp_flights *f)
{
    if (!f->free) return f->used < f->cap ? f->used++ : LEAT_SIM_ESP_NO_LETTER;
    const uint32_t letter = f->free - 1;
    f->free = f->letter[letter].next_free;
    return letter;
}

static bool is_reply(const struct leat_sim_esp_flights *f, uint32_t letter)
{
    return f->letter[letter].post.opcode == LEAT_ESP_REPLY;
}

uint32_t leat_sim_esp_letter_copy(struct leat_sim_esp_flights *f, uint32_t letter)
{
    const uint32_t copy = leat_sim_esp_letter_take(f);
    if (copy == LEAT_SIM_ESP_NO_LETTER) return copy;
    f->letter[copy] = f->letter[letter];
    if (is_reply(f, copy)) f->reply[f->letter[copy].reply].letters++;
    return copy;
}

void leat_sim_esp_letter_drop(struct leat_sim_esp_flights *f, uint32_t letter)
{
    const uint32_t reply = f->letter[letter].reply;
    if (is_reply(f, letter) && !--f->reply[reply].letters) {
        f->reply[reply].next_free = f->reply_free;
        f->reply_free = reply + 1;
    }
    f->letter[letter].next_free = f->free;
    f->free = letter + 1;
}

struct leat_esp_reply *leat_sim_esp_letter_reply(struct leat_sim_esp_flights *f, uint32_t letter)
{
    uint32_t reply = f->reply_free - 1;
    if (f->reply_free)
        f->reply_free = f->reply[reply].next_free;
    else if (f->reply_used < f->replies_cap)
        reply = f->reply_used++;
    else
        return NULL;
    f->reply[reply].letters = 1;
    f->letter[letter].reply = reply;
    f->letter[letter].post.opcode = LEAT_ESP_REPLY;
    return &f->reply[reply].reply;
}

/* ---- moments --------------------------------------------------------------------------------- */

static uint32_t home_of(const struct leat_sim_esp_flights *f, leat_time at)
{
    return (uint32_t)leat_esp_spread(at) & f->mask;
}

/* Where the moment is in the table, or where it would go. */
static uint32_t place_of(const struct leat_sim_esp_flights *f, leat_time at)
{
    uint32_t place = home_of(f, at);
    while (f->moment[place].last && f->moment[place].at != at)
        place = (place + 1) & f->mask;
    return place;
}

/* Entries after it that would no longer be found move up. */
static void forget(struct leat_sim_esp_flights *f, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & f->mask; f->moment[at].last; at = (at + 1) & f->mask) {
        const uint32_t home = home_of(f, f->moment[at].at);
        if (((at - home) & f->mask) < ((at - hole) & f->mask)) continue;
        f->moment[hole] = f->moment[at];
        hole = at;
    }
    f->moment[hole].last = 0;
}

static void push(struct leat_sim_esp_flights *f, leat_time moment)
{
    uint32_t at = f->moments++;
    for (; at && moment < f->heap[(at - 1) / CHILDREN]; at = (at - 1) / CHILDREN)
        f->heap[at] = f->heap[(at - 1) / CHILDREN];
    f->heap[at] = moment;
}

static leat_time pull(struct leat_sim_esp_flights *f)
{
    const leat_time top = f->heap[0], last = f->heap[--f->moments];
    uint32_t at = 0;
    for (uint32_t child; (child = CHILDREN * at + 1) < f->moments; at = child) {
        const uint32_t end = child + CHILDREN < f->moments ? child + CHILDREN : f->moments;
        for (uint32_t i = child + 1; i < end; i++)
            if (f->heap[i] < f->heap[child]) child = i;
        if (last <= f->heap[child]) break;
        f->heap[at] = f->heap[child];
    }
    f->heap[at] = last;
    return top;
}

bool leat_sim_esp_flights_add(struct leat_sim_esp_flights *f,
                              const struct leat_sim_esp_flight *flight)
{
    assert(flight->at >= f->present_at);
    if (f->count == f->cap) return false;
    if (flight->letter != LEAT_SIM_ESP_NO_LETTER) {
        f->letter[flight->letter].from = flight->from;
        f->letter[flight->letter].number = flight->number;
    }
    const uint32_t listed = f->listed_free ? f->listed_free - 1 : f->listed_used++;
    if (f->listed_free) f->listed_free = f->listed[listed].next;
    struct leat_sim_esp_moment *m = &f->moment[place_of(f, flight->at)];
    if (!m->last) {
        *m = (struct leat_sim_esp_moment){ .at = flight->at };
        push(f, flight->at);
    }
    f->listed[listed] = (struct leat_sim_esp_listed){ .event = { flight->to, flight->letter },
                                                      .next = m->last };
    m->last = listed + 1;
    m->count++;
    f->count++;
    return true;
}

/* ---- the present moment ---------------------------------------------------------------------- */

static uint32_t from_of(const struct leat_sim_esp_flights *f, const struct leat_sim_esp_event *e)
{
    return e->letter == LEAT_SIM_ESP_NO_LETTER ? e->to : f->letter[e->letter].from;
}

static uint64_t number_of(const struct leat_sim_esp_flights *f, const struct leat_sim_esp_event *e)
{
    return e->letter == LEAT_SIM_ESP_NO_LETTER ? 0 : f->letter[e->letter].number;
}

static bool is_after(const struct leat_sim_esp_flights *f, const struct leat_sim_esp_event *a,
                     const struct leat_sim_esp_event *b)
{
    if (a->to != b->to) return a->to > b->to;
    if (from_of(f, a) != from_of(f, b)) return from_of(f, a) > from_of(f, b);
    return number_of(f, a) > number_of(f, b);
}

/* The end of the run that begins here. */
static uint32_t run_end(const struct leat_sim_esp_flights *f, uint32_t at)
{
    for (at++; at < f->present_count; at++)
        if (is_after(f, &f->present[at - 1], &f->present[at])) break;
    return at < f->present_count ? at : f->present_count;
}

static void merge(struct leat_sim_esp_flights *f, uint32_t first, uint32_t middle, uint32_t end)
{
    const struct leat_sim_esp_event *e = f->present;
    uint32_t a = first, b = middle;
    for (uint32_t to = first; to < end; to++)
        f->scratch[to] = b == end || (a < middle && !is_after(f, &e[a], &e[b])) ? e[a++] : e[b++];
}

/* Merges pairs of runs until one is left. Events are added nearly in order: runs are long. */
static void sort(struct leat_sim_esp_flights *f)
{
    while (run_end(f, 0) < f->present_count) {
        for (uint32_t first = 0; first < f->present_count;) {
            const uint32_t middle = run_end(f, first);
            const uint32_t end = middle < f->present_count ? run_end(f, middle) : middle;
            merge(f, first, middle, end);
            first = end;
        }
        struct leat_sim_esp_event *const merged = f->scratch;
        f->scratch = f->present;
        f->present = merged;
    }
}

/* The next moment is the present one. */
static void begin_moment(struct leat_sim_esp_flights *f)
{
    const leat_time at = pull(f);
    const uint32_t place = place_of(f, at);
    uint32_t left = f->moment[place].count;
    f->present_at = at;
    f->present_next = 0;
    f->present_count = left;
    for (uint32_t listed = f->moment[place].last; listed;) { /* the last was added last */
        struct leat_sim_esp_listed *l = &f->listed[listed - 1];
        const uint32_t next = l->next;
        f->present[--left] = l->event;
        l->next = f->listed_free;
        f->listed_free = listed;
        listed = next;
    }
    forget(f, place);
    sort(f);
}

bool leat_sim_esp_flights_take(struct leat_sim_esp_flights *f, leat_time until,
                               struct leat_sim_esp_flight *out)
{
    if (f->present_next == f->present_count) {
        if (!f->moments || f->heap[0] >= until) return false;
        begin_moment(f);
    }
    if (f->present_at >= until) return false;
    const struct leat_sim_esp_event *e = &f->present[f->present_next++];
    f->count--;
    *out = (struct leat_sim_esp_flight){ .at = f->present_at,
                                         .to = e->to,
                                         .from = from_of(f, e),
                                         .number = number_of(f, e),
                                         .letter = e->letter };
    return true;
}
