/*
 * Whose turn it is, among tasks of a port that share memory: one at a time, and of those that could
 * continue the one whose last turn is longest ago, then the lowest. So the order depends on
 * nothing but the order in which they wait.
 *
 *     begin, offer, offer ... --- has? --- take ... the task runs, until it waits
 *
 * A task that computes for long may wait, in a loop, for what another will write. From then on the
 * tasks of its port take no turns (leat_turns_end).
 */
#ifndef LEAT_PROGRAM_TURNS_H
#define LEAT_PROGRAM_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_turns_port {
    uint32_t next;     /* whose turn it is, + 1; 0: nobody's */
    bool are_all_free; /* no turns at this port */
};

struct leat_turns_task {
    uint64_t last;       /* number of its last turn; 0: none yet */
    uint64_t seen;       /* number of the turn in which it was seen to run */
    int64_t computed_ns; /* by its process, then */
    int64_t seen_ns;     /* the time, then */
};

struct leat_turns {
    struct leat_turns_port *port;
    struct leat_turns_task *task;
    uint32_t ports;
    uint64_t count;  /* turns so far */
    int64_t long_ns; /* of computing: a turn is long */
};

/* Of tasks 0 .. tasks - 1; ends the process if out of memory. `long_ns`: 0 is
 * LEAT_TURNS_COMPUTING_NS. */
void leat_turns_init(struct leat_turns *turns, uint32_t ports, uint32_t tasks, int64_t long_ns);
void leat_turns_free(struct leat_turns *turns);

/* Nobody could continue; then: this task could. */
void leat_turns_begin(struct leat_turns *turns);
void leat_turns_offer(struct leat_turns *turns, uint32_t port, uint32_t task);

/* May this task continue? */
bool leat_turns_has(const struct leat_turns *turns, uint32_t port, uint32_t task);
/* It does. */
void leat_turns_take(struct leat_turns *turns, uint32_t task);

/* Has the task, which runs as this process, had its turn for too long? It has if it has computed
 * or slept for so long since this was first asked. */
#define LEAT_TURNS_COMPUTING_NS INT64_C(2000000000)
#define LEAT_TURNS_SLEEPING_NS  INT64_C(10000000000)
#define LEAT_TURNS_AGAIN_NS     INT64_C(20000000) /* either, after the end of turns */
bool leat_turns_is_long(struct leat_turns *turns, uint32_t port, uint32_t task, pid_t process);
void leat_turns_end(struct leat_turns *turns, uint32_t port);

#endif
