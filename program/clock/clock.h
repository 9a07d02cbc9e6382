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
#ifndef LEAT_CLOCK_H
#define LEAT_CLOCK_H

#include "leat_time.h"
#include <stdbool.h>

#define LEAT_REAL_CLOCK_VARIABLE "LEAT_REAL_CLOCK"

/* Simulated time begins: what has passed on the process's own clock has passed. */
void leat_clock_begin(void);
/* The process's own clock goes on from here. */
void leat_clock_leave(void);
/* For threads that may not look themselves: this is the time. */
void leat_clock_set(leat_time now);

/* ---- what the library that it is a part of provides ---------------------------------------------
 */

/* Is this process in the simulated part of the run? */
bool leat_clock_is_simulated(void);

/* May the task be touched now? Not while another thread does, nor from a signal in the midst of it.
 */
bool leat_clock_try_lock(void);
void leat_clock_unlock(void);

/* What has been done so far is charged. */
void leat_clock_settle(void);
/* Time passes up to the deadline; messages that come meanwhile are taken care of. */
void leat_clock_wait(leat_time deadline, const char *doing);

#endif
