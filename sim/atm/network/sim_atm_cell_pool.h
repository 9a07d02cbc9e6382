/*
 * Where the octets of cells in a network are. Every copy of a cell has its own place, so whoever
 * has the copy may write its label and free it.
 *
 * Each part of the network takes and frees cells in a pool of its own (fabric.parts); cells that
 * moved to another part are freed into its pool. Between strides, pools that became poor get cells
 * from the others.
 *
 *     pool:   freed last --> ... --> freed first      then `next` .. `end`, never used yet
 */
#ifndef LEAT_SIM_ATM_CELL_POOL_H
#define LEAT_SIM_ATM_CELL_POOL_H

#include "sim_atm_parts.h"

struct cell {
    uint8_t octets[LEAT_ARENA_LINE - sizeof(uint32_t)]; /* CELL_LEN of them */
    uint32_t next_free;                                 /* number + 1; 0: the last */
};

struct pool { /* a line of its own: another thread writes the next one */
    _Alignas(LEAT_ARENA_LINE) uint32_t first_free; /* number + 1 */
    uint32_t free_count;                           /* from there on */
    uint32_t next, end;
    uint32_t need; /* cells that its part may take in a stride */
};

static inline uint32_t pool_count(const struct pool *pool)
{
    return pool->free_count + (pool->end - pool->next);
}

/* The number of a cell that is nobody's. */
static inline uint32_t pool_take(struct pool *pool, const struct cell *cell)
{
    if (!pool->free_count) {
        assert(pool->next < pool->end);
        return pool->next++;
    }
    const uint32_t number = pool->first_free - 1;
    pool->first_free = cell[number].next_free;
    pool->free_count--;
    return number;
}

static inline void pool_free(struct pool *pool, struct cell *cell, uint32_t number)
{
    cell[number].next_free = pool->first_free;
    pool->first_free = number + 1;
    pool->free_count++;
}

/* Moves cells from one pool to another. */
static inline void pool_move(struct pool *from, struct pool *to, struct cell *cell, uint32_t count)
{
    const uint32_t unused = from->end - from->next;
    assert(count <= pool_count(from));
    if (to->next == to->end && unused) { /* nobody need touch them */
        const uint32_t moved = count < unused ? count : unused;
        to->end = from->end;
        to->next = from->end -= moved;
        count -= moved;
    }
    while (count--)
        pool_free(to, cell, pool_take(from, cell));
}

#endif
