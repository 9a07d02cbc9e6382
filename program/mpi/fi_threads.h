/*
 * Several threads of a rank that call MPI (MPI_THREAD_MULTIPLE). The rank has one clock, and one
 * thread at a time is in the MPI library:
 *
 *     it runs --- calls MPI: it wants its turn ... has it --- the queue is empty: it waits ...
 *
 * Once no thread of the program can act by itself any more (each wants its turn, waits here, or
 * blocks for another one: in a lock, a join, a barrier), the first thread in the order of creation
 * that can go on does. If none can, simulated time passes up to the earliest deadline, for all of
 * them. So the order of calls does not depend on which thread the system prefers. What threads
 * decide among themselves outside of MPI may: a rank with two that want their turn at once, or one
 * that waits for a lock, says so in the report (LEAT_TASK_HAS_THREADS).
 *
 * A thread that waits for another in a loop around sched_yield or a lock yields: it goes on after
 * all that want their turn, and simulated time passes without it once it has looked often enough.
 *
 * A process in which the program has never started a thread pays one comparison per call.
 */
#ifndef LEAT_FI_THREADS_H
#define LEAT_FI_THREADS_H

#include <leat/time.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The program may call MPI from several threads at once; and no longer, since simulated time ends,
 * or since this is a fork. */
void leat_fi_threads_allow(void);
void leat_fi_threads_end(void);
void leat_fi_threads_forget(void);

/* Threads that this thread starts, from now on, are not the program's. */
void leat_fi_threads_are_ours(bool are_ours);

/* What ranks with one thread ask in every call, and so without calling a function. */
extern struct leat_fi_threads {
    atomic_bool is_allowed, are_many;
    uint64_t changes;
} leat_fi_threads;

/* This thread waits outside of the network, in real time, for something that is certain to come:
 * until it has, simulated time does not pass. */
void leat_fi_threads_go_outside(void);
void leat_fi_threads_come_back(void);

/* May it? And does it have several threads? Without them nothing below does anything. */
static inline bool leat_fi_threads_are_allowed(void)
{
    return atomic_load_explicit(&leat_fi_threads.is_allowed, memory_order_relaxed);
}
static inline bool leat_fi_threads_are_many(void)
{
    return atomic_load_explicit(&leat_fi_threads.are_many, memory_order_relaxed);
}

/* Without the lock: returns when it is this thread's turn, in this call (NULL: in none of MPI).
 * False: in a signal handler that has interrupted MPI. */
bool leat_fi_threads_await_turn(const char *call);
static inline bool leat_fi_threads_take_turn(const char *call)
{
    return !leat_fi_threads_are_many() || leat_fi_threads_await_turn(call);
}

/* With the lock, which others may have meanwhile: waits until something has changed that the thread
 * may wait for, or until the deadline. `pass_time` lets time pass, up to a deadline; true:
 * something has happened. */
typedef bool leat_fi_pass_time(leat_time deadline, const char *call, const char *about);
void leat_fi_threads_wait(leat_time deadline, const char *call, const char *about,
                          leat_fi_pass_time *pass_time);

/* With the lock: something has changed. */
static inline void leat_fi_threads_stir(void)
{
    leat_fi_threads.changes++;
}

/* With the lock: how many reads of a queue has this thread begun since anything changed? */
uint32_t leat_fi_threads_idle_reads(void);

/* What a thread has read from a queue the library handles before it reads again, and no other
 * thread may do so at the same time. With the lock: begins to read (waits until no other handles
 * what it has read); may still read, after a wait; has read something. */
void leat_fi_threads_await_reader(leat_fi_pass_time *pass_time);
static inline void leat_fi_threads_read_begins(leat_fi_pass_time *pass_time)
{
    if (leat_fi_threads_are_many()) leat_fi_threads_await_reader(pass_time);
}
bool leat_fi_threads_no_other_reads(void);
static inline bool leat_fi_threads_may_read(void)
{
    return !leat_fi_threads_are_many() || leat_fi_threads_no_other_reads();
}
void leat_fi_threads_be_reader(void);
static inline void leat_fi_threads_has_read(void)
{
    if (leat_fi_threads_are_many()) leat_fi_threads_be_reader();
}

/* Without the lock: the call has ended. */
void leat_fi_threads_leave_call(void);
static inline void leat_fi_threads_call_ends(void)
{
    if (leat_fi_threads_are_allowed()) leat_fi_threads_leave_call();
}

#endif
