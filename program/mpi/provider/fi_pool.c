#include "fi_pool.h"
#include "task.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 };

void *leat_fi_grown(void *old, size_t count, size_t size)
{
    void *fresh = reallocarray(old, count, size);
    if (!fresh) leat_task_fail("there is no more memory for its messages");
    return fresh;
}

static void grow(struct leat_fi_pool *pool)
{
    const uint32_t old = pool->cap, cap = old + CHUNK;
    pool->chunk = leat_fi_grown(pool->chunk, cap / CHUNK, sizeof *pool->chunk);
    pool->free = leat_fi_grown(pool->free, cap, sizeof *pool->free);
    pool->in_use = leat_fi_grown(pool->in_use, cap, sizeof *pool->in_use);
    pool->chunk[old / CHUNK] = leat_fi_grown(NULL, CHUNK, pool->size);
    memset(pool->in_use + old, 0, CHUNK);
    pool->cap = cap;
    for (uint32_t number = cap; number-- > old;)
        pool->free[pool->frees++] = number;
}

static void *item_at(const struct leat_fi_pool *pool, uint32_t number)
{
    return pool->chunk[number / CHUNK] + number % CHUNK * pool->size;
}

uint32_t leat_fi_pool_take(struct leat_fi_pool *pool)
{
    if (!pool->frees) grow(pool);
    const uint32_t number = pool->free[--pool->frees];
    pool->in_use[number] = true;
    memset(item_at(pool, number), 0, pool->size);
    return number;
}

void leat_fi_pool_give(struct leat_fi_pool *pool, uint32_t number)
{
    pool->in_use[number] = false;
    pool->free[pool->frees++] = number;
}

bool leat_fi_pool_has(const struct leat_fi_pool *pool, uint32_t number)
{
    return number < pool->cap && pool->in_use[number];
}

void *leat_fi_pool_at(const struct leat_fi_pool *pool, uint32_t number)
{
    assert(leat_fi_pool_has(pool, number));
    return item_at(pool, number);
}

void leat_fi_pool_free(struct leat_fi_pool *pool)
{
    for (uint32_t i = 0; i < pool->cap / CHUNK; i++)
        free(pool->chunk[i]);
    free(pool->chunk);
    free(pool->free);
    free(pool->in_use);
    *pool = (struct leat_fi_pool){ .size = pool->size };
}

static uint32_t *next_of(const struct leat_fi_pool *pool, uint32_t number)
{
    return leat_fi_pool_at(pool, number);
}

void leat_fi_line_add(struct leat_fi_line *line, const struct leat_fi_pool *pool, uint32_t number)
{
    *next_of(pool, number) = LEAT_FI_NOBODY;
    if (line->first == LEAT_FI_NOBODY)
        line->first = number;
    else
        *next_of(pool, line->last) = number;
    line->last = number;
}

void leat_fi_line_drop_first(struct leat_fi_line *line, const struct leat_fi_pool *pool)
{
    line->first = *next_of(pool, line->first);
}
