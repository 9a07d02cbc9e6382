/*
 * The clocks of the program. Simulated time begins when the message library has started (the end of
 * MPI_Init, the first call of PVM) and ends when the library ends. Only the program's own work in
 * between takes simulated time. The caller decides (clock_owner.h): the program and its own
 * libraries read simulated time; the message library, its plug-ins and their threads read real
 * time.
 *
 *     program   ... reads ...  MPI_Init     ... simulated time ...     MPI_Finalize  ... reads ...
 *     clock     its own        stands still  that of the task           its own again
 *
 * Before and after that, the process has a clock of its own, which advances by the cost of the
 * program's clock reads and sleeps. It never goes backwards and affects no other process.
 *
 *     CLOCK_MONOTONIC   seconds of simulated time; the first is past when the run begins
 *     CLOCK_REALTIME    the same, from a fixed day on: all runs are equal
 *     CPU time          the same, from the beginning of the run: a rank is never idle
 *     rdtsc, cntvct     the same, where the system allows to trap them (clock_counter.h)
 *
 * With LEAT_REAL_CLOCK=1 in the environment all clocks are the machine's.
 */
#ifndef LEAT_CLOCK_H
#define LEAT_CLOCK_H

#include <leat/time.h>
#include <stdbool.h>
#include <stdint.h>

#define LEAT_REAL_CLOCK_VARIABLE "LEAT_REAL_CLOCK"

/* A message library that works in real time starts (`library` is an address in it), and has
 * started. In between this thread reads the machine's clocks. */
void leat_clock_library_starts(const void *library);
void leat_clock_library_started(void);
/* So many processes wait in it for each other. Each has only its share of the machine: naps of a
 * fraction of a millisecond last as many times as long as there are processes per processor, or
 * hundreds of them would keep the machine busy with waking up. */
void leat_clock_library_crowds(uint32_t processes);
/* It ends: its sleeps of whole seconds, which only give other processes time, are skipped; in a
 * crowd its clock goes as many times slower, since the launcher has to answer all of them before
 * PMIx gives up waiting after 2 seconds. */
void leat_clock_library_ends(void);

/* Does this code work for the program, in the program's own thread, and not for the library? */
bool leat_clock_is_program(const void *caller);

/* This thread is the program's own, too. */
void leat_clock_thread_begins(void);

/* Simulated time begins. */
void leat_clock_begin(void);
/* The process's own clock continues from here. */
void leat_clock_leave(void);
/* For threads that may not query the task: this is its time. */
void leat_clock_set(leat_time now);

/* The program reads the time of the run, which is the same for all tasks: seconds since its
 * beginning. False: it reads the machine's clocks. */
bool leat_clock_read_run(double *seconds);

/* ---- provided by the enclosing library ------------------------------------------------------- */

/* Is this process in the simulated part of the run? */
bool leat_clock_is_simulated(void);

/* Is the program in a call of the message library? */
bool leat_clock_is_in_call(void);

/* May this thread access the task now? Not while another thread does, nor from a signal that
 * interrupted such an access. */
bool leat_clock_try_lock(void);
void leat_clock_unlock(void);

/* Charges the work done so far. */
void leat_clock_settle(void);
/* Lets time pass up to the deadline and handles messages that arrive meanwhile. */
void leat_clock_wait(leat_time deadline, const char *call);

#endif
