/*
 * What a task did when: how long it was in each state, in each of a few bins of simulated time.
 *
 *     state 0   |  700 |  0 | 1000 | ...        picoseconds
 *     state 1   |  300 |  0 |    0 |            the rest of a bin: none of them
 *               0     bin   2 bin
 *
 * Bins begin narrow. When time outgrows them, two neighbours become one, as often as necessary: the
 * memory is bounded, and the result depends only on simulated time. It begins as zeros.
 */
#ifndef LEAT_PROGRAM_TIMELINE_H
#define LEAT_PROGRAM_TIMELINE_H

#include <leat/time.h>
#include <stdint.h>

enum {
    LEAT_TIMELINE_BINS = 512,
    LEAT_TIMELINE_STATES = 64,
    LEAT_TIMELINE_BIN_PS_MIN = 1000,
};

struct leat_timeline {
    leat_time bin_ps; /* 0: nothing was added */
    leat_time until;  /* the end of what was added last */
    uint32_t states;  /* the others have no time, and their memory was never touched */
    leat_time in_ps[LEAT_TIMELINE_STATES][LEAT_TIMELINE_BINS];
};

/* The task was in this state from `from` to `to`, from the start of the run. What is before the end
 * of the last span does not count again. */
void leat_timeline_add(struct leat_timeline *timeline, uint32_t state, leat_time from,
                       leat_time to);

/* The width of bins for so much time: the smallest number of the minimum, doubled. */
leat_time leat_timeline_width(leat_time time);

/* Makes bins at least this wide: what leat_timeline_width returned. */
void leat_timeline_widen(struct leat_timeline *timeline, leat_time bin_ps);

#endif
