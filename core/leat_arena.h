/* An arena: memory of the caller's, given out in order and taken back all at once. */
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
 * For objects that are laid out twice, once to measure and once in earnest: room for `count` things
 * of `size` octets, aligned, not zeroed. An arena whose memory is NULL has no end and gives NULL;
 * its `used` is then the footprint.
 */
void *leat_arena_lay(struct leat_arena *arena, size_t count, size_t size);

/* The same, beginning on a line of the processor's cache, so that a thing of 64 octets is in one.
 */
enum { LEAT_ARENA_LINE = 64 };
void *leat_arena_lay_lines(struct leat_arena *arena, size_t count, size_t size);

#endif
