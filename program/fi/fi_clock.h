/*
 * The clocks of the program. In a run they show simulated time, also before and after the part of
 * the run that is simulated: there a clock of the process's own goes on by what looks and sleeps
 * cost. Who asks decides: the program and what it brings along see simulated time; the machinery of
 * MPI, which works in real time, does not.
 *
 *     CLOCK_MONOTONIC   seconds of simulated time; the first is past when the run begins
 *     CLOCK_REALTIME    the same, from a fixed day on: all runs are equal
 *     CPU time          the same, from the beginning of the run: a rank is never idle
 *
 * LEAT_REAL_CLOCK=1 in the environment: all clocks are the machine's.
 */
#ifndef LEAT_FI_CLOCK_H
#define LEAT_FI_CLOCK_H

#include "leat_time.h"

#define LEAT_FI_REAL_CLOCK_VARIABLE "LEAT_REAL_CLOCK"

/* Simulated time begins: what has passed on the process's own clock has passed. */
void leat_fi_clock_begin(void);
/* The process's own clock goes on from here. */
void leat_fi_clock_leave(void);
/* For threads that may not look themselves: this is the time. */
void leat_fi_clock_set(leat_time now);

#endif
