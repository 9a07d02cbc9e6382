#include "atm_queue.h"
#include "leat_ring.h"
#include <assert.h>
#include <stdalign.h>

struct level {
    struct leat_ring ring;
    uint32_t capacity, threshold;
    uint32_t passed; /* cells served above this level while it waited, since its last service */
    struct leat_atm_queue_counts counts;
};

struct leat_atm_queue {
    uint32_t level_count, w;
    struct level level[LEAT_ATM_QUEUE_LEVELS_MAX];
    struct leat_atm_queue_item items[];
};

leat_err leat_atm_queue_check(const struct leat_atm_queue_config *config)
{
    if (config->level_count < 1 || config->level_count > LEAT_ATM_QUEUE_LEVELS_MAX)
        return LEAT_ERR_RANGE;
    if (config->w < 1 || config->w > LEAT_ATM_QUEUE_W_MAX) return LEAT_ERR_RANGE;
    for (unsigned i = 0; i < config->level_count; i++) {
        const uint32_t capacity = config->level[i].capacity;
        if (capacity < 1 || capacity > LEAT_ATM_QUEUE_CAPACITY_MAX) return LEAT_ERR_RANGE;
        if (config->level[i].threshold > capacity) return LEAT_ERR_RANGE;
    }
    return LEAT_ERR_OK;
}

size_t leat_atm_queue_footprint(const struct leat_atm_queue_config *config)
{
    size_t cells = 0;
    for (unsigned i = 0; i < config->level_count; i++)
        cells += config->level[i].capacity;
    return sizeof(struct leat_atm_queue) + cells * sizeof(struct leat_atm_queue_item);
}

leat_err leat_atm_queue_init(void *memory, size_t memory_len,
                             const struct leat_atm_queue_config *config,
                             struct leat_atm_queue **out)
{
    const leat_err err = leat_atm_queue_check(config);
    if (err != LEAT_ERR_OK) return err;
    if (memory_len < leat_atm_queue_footprint(config)) return LEAT_ERR_MEMORY;
    if ((uintptr_t)memory % alignof(struct leat_atm_queue)) return LEAT_ERR_MEMORY;

    struct leat_atm_queue *q = memory;
    *q = (struct leat_atm_queue){ .level_count = config->level_count, .w = config->w };
    struct leat_atm_queue_item *items = q->items;
    for (unsigned i = 0; i < q->level_count; i++) {
        struct level *l = &q->level[i];
        l->capacity = config->level[i].capacity;
        l->threshold = config->level[i].threshold;
        const leat_err made = leat_ring_init(&l->ring, items, l->capacity * sizeof *items,
                                             sizeof *items, l->capacity);
        assert(made == LEAT_ERR_OK);
        items += l->capacity;
    }
    *out = q;
    return LEAT_ERR_OK;
}

bool leat_atm_queue_put(struct leat_atm_queue *queue, struct leat_atm_queue_item item)
{
    assert(item.level < queue->level_count);
    struct level *l = &queue->level[item.level];
    if (leat_ring_count(&l->ring) < (item.clp ? l->threshold : l->capacity)) {
        l->counts.entered++;
        return leat_ring_push(&l->ring, &item);
    }
    *(item.clp ? &l->counts.dropped_clp1 : &l->counts.dropped_clp0) += 1;
    return false;
}

/* The level to serve; level_count: none waits. */
static unsigned choose(const struct leat_atm_queue *q)
{
    unsigned first = q->level_count;
    for (unsigned i = 0; i < q->level_count; i++) {
        if (!leat_ring_count(&q->level[i].ring)) continue;
        if (q->level[i].passed >= q->w) return i;
        if (first == q->level_count) first = i;
    }
    return first;
}

bool leat_atm_queue_take(struct leat_atm_queue *queue, struct leat_atm_queue_item *out)
{
    const unsigned served = choose(queue);
    if (served == queue->level_count) return false;
    queue->level[served].passed = 0;
    for (unsigned i = served + 1; i < queue->level_count; i++)
        if (leat_ring_count(&queue->level[i].ring) && queue->level[i].passed < queue->w)
            queue->level[i].passed++;
    return leat_ring_pop(&queue->level[served].ring, out);
}

size_t leat_atm_queue_len(const struct leat_atm_queue *queue, unsigned level)
{
    assert(level < queue->level_count);
    return leat_ring_count(&queue->level[level].ring);
}

struct leat_atm_queue_counts leat_atm_queue_counts(const struct leat_atm_queue *queue,
                                                   unsigned level)
{
    assert(level < queue->level_count);
    return queue->level[level].counts;
}
