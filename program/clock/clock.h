/*
 * The clocks of the program. Simulated time begins where the message library has started (the end
 * of MPI_Init, the first call of PVM) and ends where it ends; only what the program itself does in
 * between takes simulated time. Who asks decides (clock_owner.h): the program and what it brings
 * along see simulated time; the message library, its plug-ins and their threads see real time.
 *
 *     program   ... looks ...  MPI_Init     ... simulated time ...     MPI_Finalize  ... looks ...
 *     clock     its own        stands still  that of the task           its own again
 *
 * Before and after, a clock of the process's own goes on by what looks and sleeps of the program
 * cost. It is never set back, and counts for nobody else.
 *
 *     CLOCK_MONOTONIC   seconds of simulated time; the first is past when the run begins
 *     CLOCK_REALTIME    the same, from a fixed day on: all runs are equal
 *     CPU time          the same, from the beginning of the run: a rank is never idle
 *     rdtsc, cntvct     the same, where the system allows to trap them (clock_counter.h)
 *
 * LEAT_REAL_CLOCK=1 in the environment: all clocks are the machine's.
 */
#ifndef LEAT_CLOCK_H
#define LEAT_CLOCK_H

#include <leat/time.h>
#include <stdbool.h>

#define LEAT_REAL_CLOCK_VARIABLE "LEAT_REAL_CLOCK"

/* A message library that works in real time starts, `library` being an address in it; and has
 * started. Meanwhile this thread has the machine's clocks. */
void leat_clock_library_starts(const void *library);
void leat_clock_library_started(void);

/* Simulated time begins. */
void leat_clock_begin(void);
/* The process's own clock goes on from here. */
void leat_clock_leave(void);
/* For threads that may not look themselves: this is the task's time. */
void leat_clock_set(leat_time now);

/* The program looks at the time of the run, which is the same for all tasks: seconds since its
 * beginning. False: it has the machine's clocks. */
bool leat_clock_read_run(double *seconds);

/* ---- what the library that it is a part of provides ---------------------------------------------
 */

/* Is this process in the simulated part of the run? */
bool leat_clock_is_simulated(void);

/* Is the program in a call of the message library? */
bool leat_clock_is_in_call(void);

/* May the task be touched now? Not while another thread does, nor from a signal in the midst of it.
 */
bool leat_clock_try_lock(void);
void leat_clock_unlock(void);

/* What has been done so far is charged. */
void leat_clock_settle(void);
/* Time passes up to the deadline; messages that come meanwhile are taken care of. */
void leat_clock_wait(leat_time deadline, const char *doing);

#endif
