/*
 * A ring of cells between two threads: one writes, one reads.
 *
 *            tail                 head
 *              v                    v
 *   [ . . . . | x x x x x x x x x | . . . ]     full: head - tail is its capacity
 */
#ifndef LEAT_GRAPH_RING_H
#define LEAT_GRAPH_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { LEAT_POETS_CACHE_LINE = 64 };

/* One writer, one reader. Each caches its last view of the other's index. */
struct leat_poets_fifo {
    uint8_t *cells;
    uint32_t cell_len, cap; /* a power of two */
    _Alignas(LEAT_POETS_CACHE_LINE) _Atomic uint32_t head;
    uint32_t tail_seen;
    _Alignas(LEAT_POETS_CACHE_LINE) _Atomic uint32_t tail;
    uint32_t head_seen;
};

static inline bool leat_poets_fifo_make(struct leat_poets_fifo *ring, uint32_t cap,
                                        uint32_t cell_len)
{
    ring->cap = cap;
    ring->cell_len = cell_len;
    ring->cells = malloc((size_t)cap * cell_len);
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    return ring->cells;
}

/* Where the next cell is to be written; NULL: full. */
static inline void *leat_poets_fifo_room(struct leat_poets_fifo *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - ring->tail_seen == ring->cap) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - ring->tail_seen == ring->cap) return NULL;
    }
    return ring->cells + (size_t)(head & (ring->cap - 1)) * ring->cell_len;
}

static inline void leat_poets_fifo_put(struct leat_poets_fifo *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* The oldest cell; NULL: empty. */
static inline void *leat_poets_fifo_oldest(struct leat_poets_fifo *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == ring->head_seen) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (tail == ring->head_seen) return NULL;
    }
    return ring->cells + (size_t)(tail & (ring->cap - 1)) * ring->cell_len;
}

static inline void leat_poets_fifo_take(struct leat_poets_fifo *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

#endif
