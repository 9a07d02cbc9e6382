/*
 * A ring of equal items in the caller's memory: first in, first out, bounded. One owner: nothing
 * here is atomic.
 */
#ifndef LEAT_RING_H
#define LEAT_RING_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_ring {
    uint8_t *memory;
    size_t item_len, capacity;
    size_t head, count; /* head: the oldest item */
};

/* memory_len >= item_len * capacity; item_len and capacity are at least 1. */
leat_err leat_ring_init(struct leat_ring *ring, void *memory, size_t memory_len, size_t item_len,
                        size_t capacity);

/* Copies the item in; false when full. */
bool leat_ring_push(struct leat_ring *ring, const void *item);

/* Copies the oldest item out; false when empty. */
bool leat_ring_pop(struct leat_ring *ring, void *item);

size_t leat_ring_count(const struct leat_ring *ring);

#endif
