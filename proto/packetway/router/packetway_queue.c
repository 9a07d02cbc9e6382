#include "packetway_queue.h"
#include <assert.h>

/* Every item is in two lists: that of its priority, and the one of all by age. */
#define NONE UINT32_MAX

struct leat_packetway_queue_item {
    uint64_t handle;
    uint32_t before, behind; /* of its priority */
    uint32_t older, newer;   /* of all; `newer` also links the free ones */
    uint8_t priority;
};

static bool is_legal(const struct leat_packetway_queue_config *c)
{
    if (c->capacity < 1 || c->capacity > LEAT_PACKETWAY_QUEUE_MAX) return false;
    return (c->high == 0 && c->low == 0) || (c->low < c->high && c->high <= c->capacity);
}

size_t leat_packetway_queue_footprint(const struct leat_packetway_queue_config *config)
{
    return is_legal(config) ? config->capacity * sizeof(struct leat_packetway_queue_item) : 0;
}

leat_err leat_packetway_queue_init(struct leat_packetway_queue *q,
                                   const struct leat_packetway_queue_config *config, void *memory,
                                   size_t len)
{
    const size_t need = leat_packetway_queue_footprint(config);
    if (!need) return LEAT_ERR_RANGE;
    if (!memory || len < need || (uintptr_t)memory % _Alignof(struct leat_packetway_queue_item))
        return LEAT_ERR_MEMORY;
    *q = (struct leat_packetway_queue){
        .config = *config, .items = memory, .oldest = NONE, .newest = NONE
    };
    for (unsigned p = 0; p < LEAT_PACKETWAY_PRIORITIES; p++)
        q->first[p] = q->last[p] = NONE;
    for (uint32_t i = 0; i < config->capacity; i++)
        q->items[i].newer = i + 1 < config->capacity ? i + 1 : NONE;
    return LEAT_ERR_OK;
}

static unsigned highest(uint64_t levels)
{
    unsigned p = 0;
    for (unsigned step = 32; step; step /= 2)
        if (levels >> step) {
            levels >>= step;
            p += step;
        }
    return p;
}

static unsigned lowest(uint64_t levels)
{
    return highest(levels & (~levels + 1));
}

static void tell_pressure(struct leat_packetway_queue *q)
{
    if (!q->config.high) return;
    if (q->count >= q->config.high) q->pressed = true;
    if (q->count <= q->config.low) q->pressed = false;
}

static uint64_t take_out(struct leat_packetway_queue *q, uint32_t i)
{
    struct leat_packetway_queue_item *items = q->items, *x = &items[i];
    *(x->before == NONE ? &q->first[x->priority] : &items[x->before].behind) = x->behind;
    *(x->behind == NONE ? &q->last[x->priority] : &items[x->behind].before) = x->before;
    *(x->older == NONE ? &q->oldest : &items[x->older].newer) = x->newer;
    *(x->newer == NONE ? &q->newest : &items[x->newer].older) = x->older;
    if (q->first[x->priority] == NONE) q->levels &= ~(UINT64_C(1) << x->priority);
    x->newer = q->free;
    q->free = i;
    q->count--;
    tell_pressure(q);
    return x->handle;
}

bool leat_packetway_queue_push(struct leat_packetway_queue *q, uint8_t priority, uint64_t handle,
                               uint64_t *dropped)
{
    assert(priority <= LEAT_PACKETWAY_PRIORITY_MAX);
    const bool full = q->count == q->config.capacity;
    if (full) {
        const unsigned low = lowest(q->levels);
        q->dropped++;
        *dropped = handle;
        if (priority <= low) return false;
        *dropped = take_out(q, q->last[low]);
    }
    const uint32_t i = q->free;
    struct leat_packetway_queue_item *x = &q->items[i];
    q->free = x->newer;
    *x = (struct leat_packetway_queue_item){ .handle = handle,
                                             .before = q->last[priority],
                                             .behind = NONE,
                                             .older = q->newest,
                                             .newer = NONE,
                                             .priority = priority };
    *(x->before == NONE ? &q->first[priority] : &q->items[x->before].behind) = i;
    *(x->older == NONE ? &q->oldest : &q->items[x->older].newer) = i;
    q->last[priority] = q->newest = i;
    q->levels |= UINT64_C(1) << priority;
    q->count++;
    tell_pressure(q);
    return !full;
}

bool leat_packetway_queue_pop(struct leat_packetway_queue *q, uint64_t *handle)
{
    if (!q->count) return false;
    const bool turn = q->config.patience && ++q->pops % q->config.patience == 0;
    *handle = take_out(q, turn ? q->oldest : q->first[highest(q->levels)]);
    return true;
}
