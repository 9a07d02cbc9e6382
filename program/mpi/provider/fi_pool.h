/*
 * Items with numbers, which stand for them on the network: a peer names "your receive 5". The same
 * calls give the same numbers in every run. An item never moves in memory.
 */
#ifndef LEAT_FI_POOL_H
#define LEAT_FI_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As reallocarray; ends the run if out of memory. */
void *leat_fi_grown(void *old, size_t count, size_t size);

struct leat_fi_pool {
    size_t size;     /* of an item */
    uint8_t **chunk; /* of items */
    uint32_t *free;  /* numbers, a stack */
    uint8_t *in_use; /* per item */
    uint32_t cap, frees;
};

/* The item's octets are zero. */
uint32_t leat_fi_pool_take(struct leat_fi_pool *pool);
void leat_fi_pool_give(struct leat_fi_pool *pool, uint32_t number);
bool leat_fi_pool_has(const struct leat_fi_pool *pool, uint32_t number);
/* Of one in use. */
void *leat_fi_pool_at(const struct leat_fi_pool *pool, uint32_t number);
void leat_fi_pool_free(struct leat_fi_pool *pool);

/* Items in a line, by number. The first member of such an item is the number of the next one. */
#define LEAT_FI_NOBODY UINT32_MAX
struct leat_fi_line {
    uint32_t first, last; /* LEAT_FI_NOBODY: it is empty */
};
#define LEAT_FI_LINE_EMPTY             \
    {                                  \
        LEAT_FI_NOBODY, LEAT_FI_NOBODY \
    }

void leat_fi_line_add(struct leat_fi_line *line, const struct leat_fi_pool *pool, uint32_t number);
void leat_fi_line_drop_first(struct leat_fi_line *line, const struct leat_fi_pool *pool);

#endif
