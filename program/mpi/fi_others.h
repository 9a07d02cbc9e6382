/*
 * Other threads of this process, as the system sees them: which of them can still act?
 */
#ifndef LEAT_FI_OTHERS_H
#define LEAT_FI_OTHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum leat_fi_other_state {
    LEAT_FI_OTHER_RUNS,   /* or could */
    LEAT_FI_OTHER_BLOCKS, /* until another thread of the process wakes it */
    LEAT_FI_OTHER_SLEEPS, /* in another system call: the world outside may wake it */
    LEAT_FI_OTHER_IS_GONE,
};

struct leat_fi_other {
    enum leat_fi_other_state state;
    uint64_t switches; /* how often it left a processor: if unchanged, it has slept throughout */
    bool wants_lock;   /* that another thread holds; only while it blocks */
};

struct leat_fi_other leat_fi_other_look(pid_t thread);

/* Processor time of a thread of this process, in nanoseconds. */
uint64_t leat_fi_other_computed_ns(pid_t thread);

/* Real time, and a pause in it; by system call: the program's own clocks may be simulated. */
uint64_t leat_fi_real_ns(void);
void leat_fi_real_pause(uint64_t span_ns);

/* Waits, in real time, until all other threads of this process sleep; a moment at most, since those
 * of the program may compute. */
void leat_fi_others_settle(void);

#endif
