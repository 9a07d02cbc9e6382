/*
 * What a simulated rank offers the collective component of Open MPI (program/collective):
 * collective operations by the network (program/run/collect.h). The component finds the table by
 * its name.
 */
#ifndef LEAT_FI_COLLECT_H
#define LEAT_FI_COLLECT_H

#include "collect.h"

enum { LEAT_FI_COLLECTIVE_VERSION = 2 };

struct leat_fi_operation;

struct leat_fi_collective {
    uint32_t version;
    /* Is the rank in simulated time, and are its collective operations the network's? */
    bool (*is_on)(void);
    /* The group of these ranks of the rank's own job; waits for the answer. `key` tells groups of
     * the same ranks apart. */
    struct leat_collect_answer (*join)(const uint32_t *rank, uint32_t count, uint32_t key);
    void (*leave)(uint32_t group);
    /* Is what a group with this key does now the library's own (fi_private.h)? */
    bool (*is_private)(uint32_t key);
    /* Starts an operation: group, call, kind, fold, root (a rank), len. `in`: NULL if this rank
     * contributes nothing; `out`: room for len octets, lent until the end; NULL: it gets nothing. */
    struct leat_fi_operation *(*start)(const struct leat_collect_question *part, const void *in,
                                       void *out);
    bool (*is_over)(const struct leat_fi_operation *operation);
    /* It is over: GRANTED or REDONE. The result is there either way. */
    enum leat_collect_refusal (*end)(struct leat_fi_operation *operation);
    /* Counts a call for the report: who carried it out, or why not the network. `began`: of `now`. */
    void (*count)(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                  uint64_t began);
    uint64_t (*now)(void);
};

extern const struct leat_fi_collective leat_fi_collective;

struct leat_task_event;
/* A COLLECTED event has come. */
void leat_fi_collect_note(const struct leat_task_event *event);

#endif
