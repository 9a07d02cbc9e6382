/*
 * Windows in memory that ranks of one host share. The ranks then communicate by loads and stores,
 * and wait for each other in loops that read the memory. Since they run one at a time
 * (leat_task_share_memory), a rank hands over to the others
 *
 *     in a call that waits for them       polls it, instead of waiting for a message
 *     after a call that synchronises      the program may be in a loop around it
 *     in sched_yield                      the same
 */
#ifndef LEAT_FI_MEMORY_H
#define LEAT_FI_MEMORY_H

#include <leat/time.h>
#include <mpi.h>
#include <stdbool.h>

/* Are there several ranks of this rank's host in it? Open MPI then puts the window, or at least the
 * state of its locks, into memory that they share. */
bool leat_fi_memory_unites(MPI_Comm comm);
/* Are any of another host? */
bool leat_fi_memory_spans(MPI_Comm comm);
/* Is it of several hosts, whose number divides that of its ranks? */
bool leat_fi_memory_is_spread_evenly(MPI_Comm comm);

/* A window was made there, or is about to be freed. */
void leat_fi_memory_note(MPI_Win win);
void leat_fi_memory_forget(MPI_Win win);
bool leat_fi_memory_holds(MPI_Win win);
bool leat_fi_memory_is_shared(void); /* is there any such window? */

/* Hands over to the other ranks of the host, for as long as a poll takes. */
void leat_fi_memory_yield(const char *call);
/* After any other call: what it has sent goes now, since the program may wait in a loop for a rank
 * that needs it. */
void leat_fi_memory_release(const char *call);
/* Between two polls of the memory: longer the longer the rank has polled, since each costs a
 * hand-over. */
leat_time leat_fi_memory_pause(leat_time since);
/* In a call that polls the memory. */
void leat_fi_memory_wait(void);

#endif
