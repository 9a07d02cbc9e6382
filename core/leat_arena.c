#include "leat_arena.h"
#include <assert.h>
#include <stdalign.h>
#include <string.h>

void leat_arena_init(struct leat_arena *arena, void *memory, size_t cap)
{
    *arena = (struct leat_arena){ .memory = memory, .cap = cap };
}

uint8_t *leat_arena_take_octets(struct leat_arena *arena, size_t len)
{
    if (len > arena->cap - arena->used) return NULL;
    uint8_t *p = arena->memory + arena->used;
    arena->used += len;
    return p;
}

void *leat_arena_take(struct leat_arena *arena, size_t len)
{
    const size_t misfit = (uintptr_t)(arena->memory + arena->used) % alignof(max_align_t);
    const size_t gap = misfit ? alignof(max_align_t) - misfit : 0;
    const size_t room = arena->cap - arena->used;
    if (gap > room || len > room - gap) return NULL;
    arena->used += gap;
    return memset(leat_arena_take_octets(arena, len), 0, len);
}

void *leat_arena_lay(struct leat_arena *arena, size_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t), at = (arena->used + align - 1) / align * align;
    arena->used = at + count * size;
    if (!arena->memory) return NULL;
    assert(arena->used <= arena->cap);
    return arena->memory + at;
}

void *leat_arena_lay_lines(struct leat_arena *arena, size_t count, size_t size)
{
    uint8_t *p = leat_arena_lay(arena, 1, count * size + LEAT_ARENA_LINE - 1);
    return p ? p + (LEAT_ARENA_LINE - (uintptr_t)p % LEAT_ARENA_LINE) % LEAT_ARENA_LINE : NULL;
}
