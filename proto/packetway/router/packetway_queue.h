/*
 * The queue of an output (spec 5.4): 64 priorities, 63 first, FIFO within one.
 *
 *   push(priority, handle) --> | 63 |.....|
 *                              | .. |..   |  --> pop: the oldest of the highest
 *                              |  0 |...  |
 *
 * Bounded. When it is full, the newest packet of the lowest priority is dropped, which may be the
 * arriving one. To prevent starvation, every `patience`-th pop takes the oldest packet of all.
 * Back-pressure has two thresholds: on at the high one, off at the low one.
 */
#ifndef LEAT_PACKETWAY_QUEUE_H
#define LEAT_PACKETWAY_QUEUE_H

#include "packetway_header.h"

enum {
    LEAT_PACKETWAY_PRIORITIES = LEAT_PACKETWAY_PRIORITY_MAX + 1,
    LEAT_PACKETWAY_QUEUE_MAX = 1 << 20, /* packets */
};

struct leat_packetway_queue_config {
    uint32_t capacity;  /* packets, 1 .. LEAT_PACKETWAY_QUEUE_MAX */
    uint32_t patience;  /* 0: strict priority; n: every n-th pop takes the oldest */
    uint32_t high, low; /* thresholds of back-pressure, low < high <= capacity; 0, 0: none */
};

struct leat_packetway_queue_item; /* packetway_queue.c */

struct leat_packetway_queue {
    struct leat_packetway_queue_config config;
    struct leat_packetway_queue_item *items;
    uint64_t levels; /* bit p: there is a packet of priority p */
    uint32_t first[LEAT_PACKETWAY_PRIORITIES], last[LEAT_PACKETWAY_PRIORITIES];
    uint32_t oldest, newest, free;
    uint32_t count, pops;
    uint64_t dropped;
    bool pressed; /* back-pressure: senders to this output should pause */
};

/* Octets of memory, aligned as by malloc; 0 if the configuration is out of bounds. */
size_t leat_packetway_queue_footprint(const struct leat_packetway_queue_config *config);
leat_err leat_packetway_queue_init(struct leat_packetway_queue *queue,
                                   const struct leat_packetway_queue_config *config, void *memory,
                                   size_t len);

/*
 * Enqueues a packet. False: the queue was full, and the packet with handle *dropped was removed,
 * which may be the new one. The caller owns the handle.
 */
bool leat_packetway_queue_push(struct leat_packetway_queue *queue, uint8_t priority,
                               uint64_t handle, uint64_t *dropped);

/* False: empty. */
bool leat_packetway_queue_pop(struct leat_packetway_queue *queue, uint64_t *handle);

#endif
