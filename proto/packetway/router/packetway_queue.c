#include "packetway_queue.h"
#include "leat_bytes.h"
#include <assert.h>

#define NONE UINT32_MAX

struct leat_packetway_queue_item {
    uint64_t handle;
    uint32_t before, behind; /* of its priority; `behind` also links the free ones */
};

size_t leat_packetway_queue_footprint(uint32_t capacity)
{
    const bool legal = capacity >= 1 && capacity <= LEAT_PACKETWAY_QUEUE_MAX;
    return legal ? capacity * sizeof(struct leat_packetway_queue_item) : 0;
}

leat_err leat_packetway_queue_init(struct leat_packetway_queue *q, uint32_t capacity, void *memory,
                                   size_t len)
{
    const size_t need = leat_packetway_queue_footprint(capacity);
    if (!need) return LEAT_ERR_RANGE;
    if (!memory || len < need || (uintptr_t)memory % _Alignof(struct leat_packetway_queue_item))
        return LEAT_ERR_MEMORY;
    *q = (struct leat_packetway_queue){ .capacity = capacity, .items = memory };
    for (unsigned p = 0; p < LEAT_PACKETWAY_PRIORITIES; p++)
        q->first[p] = q->last[p] = NONE;
    for (uint32_t i = 0; i < capacity; i++)
        q->items[i].behind = i + 1 < capacity ? i + 1 : NONE;
    return LEAT_ERR_OK;
}

static unsigned highest(uint64_t levels)
{
    return leat_bit_width(levels) - 1;
}

static unsigned lowest(uint64_t levels)
{
    return highest(levels & (~levels + 1));
}

/* Removes the first or the last packet of a priority. */
static uint64_t take_out(struct leat_packetway_queue *q, unsigned priority, uint32_t i)
{
    struct leat_packetway_queue_item *items = q->items, *x = &items[i];
    *(x->before == NONE ? &q->first[priority] : &items[x->before].behind) = x->behind;
    *(x->behind == NONE ? &q->last[priority] : &items[x->behind].before) = x->before;
    if (q->first[priority] == NONE) q->levels &= ~(UINT64_C(1) << priority);
    x->behind = q->free;
    q->free = i;
    q->count--;
    return x->handle;
}

bool leat_packetway_queue_push(struct leat_packetway_queue *q, uint8_t priority, uint64_t handle,
                               uint64_t *dropped)
{
    assert(priority <= LEAT_PACKETWAY_PRIORITY_MAX);
    const bool full = q->count == q->capacity;
    if (full) {
        const unsigned low = lowest(q->levels);
        q->dropped++;
        *dropped = handle;
        if (priority <= low) return false;
        *dropped = take_out(q, low, q->last[low]);
    }
    const uint32_t i = q->free;
    struct leat_packetway_queue_item *x = &q->items[i];
    q->free = x->behind;
    *x = (struct leat_packetway_queue_item){ handle, q->last[priority], NONE };
    *(x->before == NONE ? &q->first[priority] : &q->items[x->before].behind) = i;
    q->last[priority] = i;
    q->levels |= UINT64_C(1) << priority;
    q->count++;
    return !full;
}

bool leat_packetway_queue_pop(struct leat_packetway_queue *q, uint64_t *handle)
{
    if (!q->count) return false;
    const unsigned priority = highest(q->levels);
    *handle = take_out(q, priority, q->first[priority]);
    return true;
}
