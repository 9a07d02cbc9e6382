/*
 * The queue of an output (spec 5.4): 64 priorities, 63 first, FIFO within one.
 *
 *   push(priority, handle) --> | 63 |.....|
 *                              | .. |..   |  --> pop: the oldest of the highest
 *                              |  0 |...  |
 *
 * Bounded. When it is full, the newest packet of the lowest priority is dropped, which may be the
 * arriving one.
 */
#ifndef LEAT_PACKETWAY_QUEUE_H
#define LEAT_PACKETWAY_QUEUE_H

#include "packetway_header.h"

enum {
    LEAT_PACKETWAY_PRIORITIES = LEAT_PACKETWAY_PRIORITY_MAX + 1,
    LEAT_PACKETWAY_QUEUE_MAX = 1 << 20, /* packets */
};

struct leat_packetway_queue_item; /* packetway_queue.c */

struct leat_packetway_queue {
    struct leat_packetway_queue_item *items;
    uint64_t levels; /* bit p: there is a packet of priority p */
    uint32_t first[LEAT_PACKETWAY_PRIORITIES], last[LEAT_PACKETWAY_PRIORITIES];
    uint32_t free;
    uint32_t count, capacity;
    uint64_t dropped;
};

/* Octets of memory, aligned as by malloc; 0 if there can be no such queue. */
size_t leat_packetway_queue_footprint(uint32_t capacity);
leat_err leat_packetway_queue_init(struct leat_packetway_queue *queue, uint32_t capacity,
                                   void *memory, size_t len);

/*
 * Enqueues a packet. False: the queue was full, and the packet with handle *dropped was removed,
 * which may be the new one. The caller owns the handle.
 */
bool leat_packetway_queue_push(struct leat_packetway_queue *queue, uint8_t priority,
                               uint64_t handle, uint64_t *dropped);

/* False: empty. */
bool leat_packetway_queue_pop(struct leat_packetway_queue *queue, uint64_t *handle);

#endif
