/* An arena: the caller's memory, allocated in order and freed all at once. */
#ifndef LEAT_ARENA_H
#define LEAT_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct leat_arena {
    uint8_t *memory;
    size_t cap, used;
};

void leat_arena_init(struct leat_arena *arena, void *memory, size_t cap);

/* Zeroed, aligned to max_align_t; NULL when the arena has no room. */
void *leat_arena_take(struct leat_arena *arena, size_t len);

/* Octets need no alignment. Not zeroed. */
uint8_t *leat_arena_take_octets(struct leat_arena *arena, size_t len);

/*
 * For objects that are laid out twice, once to measure and once to allocate: room for `count` items
 * of `size` octets, aligned, not zeroed. An arena whose memory is NULL has no end and returns NULL;
 * its `used` is then the footprint.
 */
void *leat_arena_lay(struct leat_arena *arena, size_t count, size_t size);

/* The same, at the start of a cache line, so that an item of 64 octets is in one line. */
enum { LEAT_ARENA_LINE = 64 };
void *leat_arena_lay_lines(struct leat_arena *arena, size_t count, size_t size);

/* A hint: the line of this object is written soon. It may be any address, and nothing changes. */
static inline void leat_arena_fetch(const void *object)
{
#ifdef __GNUC__
    __builtin_prefetch(object, 1);
#else
    (void)object;
#endif
}

#endif
