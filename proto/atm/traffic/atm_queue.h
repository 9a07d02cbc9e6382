/*
 * The queue before a link: delay and loss priorities (note, 3.2; thesis 8.6.7 and Fig. 8.35).
 *
 *                    threshold  capacity
 *     level 0  ---> |    :         |  ---\
 *     level 1  ---> |  :       |      ----+--> link, one cell per slot
 *     level 2  ---> |      :       |  ---/
 *
 * Delay: one first-in first-out queue per level, level 0 is served first. A level that waits while
 * W cells of higher levels are served gets the next service (of several such levels, the highest
 * first), so at most W + level - 1 cells of higher levels pass it between two of its own. Loss: a
 * cell with CLP 1 enters while its level holds less than `threshold` cells, one with CLP 0 while it
 * holds less than `capacity`.
 *
 * The caller keeps the cells: an item is the caller's number of a cell.
 */
#ifndef LEAT_ATM_QUEUE_H
#define LEAT_ATM_QUEUE_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_QUEUE_LEVELS_MAX = 8,
    LEAT_ATM_QUEUE_CAPACITY_MAX = 1 << 24,
    LEAT_ATM_QUEUE_W_DEFAULT = 8, /* the note's */
    LEAT_ATM_QUEUE_W_MAX = 1 << 16,
};

struct leat_atm_queue_config {
    uint32_t level_count; /* 1..LEAT_ATM_QUEUE_LEVELS_MAX */
    uint32_t w;           /* 1..LEAT_ATM_QUEUE_W_MAX */
    struct {
        uint32_t capacity;  /* cells, 1..LEAT_ATM_QUEUE_CAPACITY_MAX */
        uint32_t threshold; /* S, 0..capacity; 0 excludes all cells with CLP 1 */
    } level[LEAT_ATM_QUEUE_LEVELS_MAX];
};

struct leat_atm_queue_item {
    uint32_t handle; /* the caller's */
    uint8_t level;   /* below level_count */
    bool clp;
};

struct leat_atm_queue_counts {
    uint64_t entered, dropped_clp0, dropped_clp1;
};

struct leat_atm_queue; /* opaque */

leat_err leat_atm_queue_check(const struct leat_atm_queue_config *config);

/* The caller provides the memory: ask for its size (with a valid config), pass it in, and keep it
 * alive. */
size_t leat_atm_queue_footprint(const struct leat_atm_queue_config *config);
leat_err leat_atm_queue_init(void *memory, size_t memory_len,
                             const struct leat_atm_queue_config *config,
                             struct leat_atm_queue **out);

/* A cell arrives. false: there is no room, the cell is lost. */
bool leat_atm_queue_put(struct leat_atm_queue *queue, struct leat_atm_queue_item item);

/* The link is free: returns the cell to send. false: none waits. */
bool leat_atm_queue_take(struct leat_atm_queue *queue, struct leat_atm_queue_item *out);

/* Cells that wait in one level. */
size_t leat_atm_queue_len(const struct leat_atm_queue *queue, unsigned level);

struct leat_atm_queue_counts leat_atm_queue_counts(const struct leat_atm_queue *queue,
                                                   unsigned level);

#endif
