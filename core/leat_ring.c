#include "leat_ring.h"
#include <string.h>

leat_err leat_ring_init(struct leat_ring *ring, void *memory, size_t memory_len, size_t item_len,
                        size_t capacity)
{
    if (item_len < 1 || capacity < 1) return LEAT_ERR_RANGE;
    if (capacity > memory_len / item_len) return LEAT_ERR_MEMORY;
    *ring = (struct leat_ring){ .memory = memory, .item_len = item_len, .capacity = capacity };
    return LEAT_ERR_OK;
}

static uint8_t *slot(const struct leat_ring *ring, size_t index)
{
    const size_t place = ring->head + index; /* both below capacity: no overflow before memory */
    return ring->memory +
           (place < ring->capacity ? place : place - ring->capacity) * ring->item_len;
}

bool leat_ring_push(struct leat_ring *ring, const void *item)
{
    if (ring->count == ring->capacity) return false;
    memcpy(slot(ring, ring->count++), item, ring->item_len);
    return true;
}

bool leat_ring_pop(struct leat_ring *ring, void *item)
{
    if (!ring->count) return false;
    memcpy(item, slot(ring, 0), ring->item_len);
    ring->head = ring->head + 1 == ring->capacity ? 0 : ring->head + 1;
    ring->count--;
    return true;
}

size_t leat_ring_count(const struct leat_ring *ring)
{
    return ring->count;
}
