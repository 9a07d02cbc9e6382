/*
 * The process as a rank of a run: when its time is simulated, and which MPI call it is in.
 *
 *     start --- MPI_Init: attach ... begin --- simulated time --- MPI_Finalize: leave ... --- exit
 *               `--- real time ---'                                `--- real time ---'
 *
 * Inside MPI_Init and MPI_Finalize ranks find each other outside the network, in real time: nothing
 * waits for the network there, and nothing is charged.
 */
#ifndef LEAT_FI_RANK_H
#define LEAT_FI_RANK_H

#include "task.h"
#include <mpi.h>
#include <stdbool.h>

/* Does a run expect this process? (Not the processes that it forks.) */
bool leat_fi_is_wanted(void);

/* Its slot: its rank, counted from that of its job's first one. False: mpirun has not started this
 * process. */
bool leat_fi_slot(uint32_t *slot);
uint32_t leat_fi_first(void); /* the slot of rank 0 of its job */
uint32_t leat_fi_ranks(void); /* of its job */
/* Takes the rank's slot in the run. False: *why says why. */
bool leat_fi_attach(const char **why);
void leat_fi_begin(void);
/* In MPI_Init a rank that another one has started connects to it: its time begins with the first
 * message or question, not at the end of MPI_Init. Under the lock. */
void leat_fi_begin_in_init(void);
bool leat_fi_is_in_init(void); /* it has begun there */
/* May this rank ask the run (fi_ask.h)? */
bool leat_fi_may_ask(void);
void leat_fi_leave(void);
bool leat_fi_is_simulated(void);
bool leat_fi_is_rank_thread(void); /* the one that called MPI_Init */
/* In MPI_Finalize, after the rank has left. */
void leat_fi_finalizes(bool yes);
bool leat_fi_is_finalizing(void);

/* The connection of a rank to its launcher (fi_launcher.c), which ranks find each other through in
 * MPI_Init and sign off with in MPI_Finalize. A program that closes descriptors it does not own, as
 * daemons do, closes it too: MPI_Finalize would then wait for ever, in real time. */
void leat_fi_launcher_note(void);    /* at the end of MPI_Init: finds it */
bool leat_fi_launcher_is_lost(void); /* there was one that is now gone */

/* Around the MPI library's own MPI_Finalize, which closes the connection. If the process of a rank
 * ends before mpirun has closed it too, PMIx 4 still watches the descriptor. The next rank that is
 * started gets the same one, and never an answer. So the rank waits, a moment at most. */
void leat_fi_launcher_keep(void);
void leat_fi_launcher_await_end(void);

/* Waits, in real time, until the processes of all ranks that have left have ended, of the slots
 * below this one; a moment at most, since they may go on for as long as they like. */
void leat_fi_ranks_settle(uint32_t below);

/* From now on the run learns how this process ends (fi_end.c): by exit without MPI_Finalize, or by
 * which signal and in which call. */
void leat_fi_end_watch(void);

/* In a process forked by a rank: this call ends it, and the run. */
void leat_fi_be_no_copy(const char *call);

/* One thread at a time may access the task. Clock reads only try to. Which of them calls MPI, if
 * several do: fi_threads.h. */
void leat_fi_lock(void);
bool leat_fi_try_lock(void);
bool leat_fi_has_lock(void); /* this thread */
void leat_fi_unlock(void);

/* Has this thread begun the rank, or may all threads call MPI? */
bool leat_fi_may_call(void);

/* ---- the MPI call that a thread is in -------------------------------------------------------- */

enum leat_fi_call_detail {
    LEAT_FI_CALL_ONLY,
    LEAT_FI_CALL_FROM, /* a rank, a tag */
    LEAT_FI_CALL_TO,   /* a rank, a tag */
    LEAT_FI_CALL_ROOT, /* a rank */
    LEAT_FI_CALL_AT,   /* a rank whose memory it accesses */
    LEAT_FI_CALL_OF,   /* number of requests */
};

/* A call that returns only after an event in the network. */
struct leat_fi_call {
    const char *name;
    uint64_t octets; /* that this rank hands over */
    enum leat_fi_call_detail detail;
    int number, tag;
    bool probes; /* waits for a message, not a completion */
    bool is_one_sided;
    bool is_deep; /* it consists of operations that Open MPI advances step by step */
    bool makes_window;
    bool avoids_rdma; /* fi_component.h: what another does is advanced step by step until the end */
    bool frees_window;
    const MPI_Win *window; /* that it creates or frees, if it may be in shared memory */
    bool shares_memory;    /* it creates one there (fi_memory.h) ... */
    bool polls_memory;     /* ... waits for what another rank writes there ... */
    bool hands_over;       /* ... or lets others see and change it */
    bool syncs; /* it takes as long as a poll at least: the program may be in a loop that waits for
                   another rank to change this one's memory */
};

/* True: this is the call to show, until leat_fi_call_exit; false: the thread is already in one. */
bool leat_fi_call_enter(const struct leat_fi_call *call);
void leat_fi_call_exit(const struct leat_fi_call *call, bool entered);

/* A call that is counted for the profile only. */
struct leat_task_span leat_fi_span_begin(const char *name);
void leat_fi_span_end(struct leat_task_span span, uint64_t octets);

/* NULL: in none that blocks. */
const struct leat_fi_call *leat_fi_call(void);
leat_time leat_fi_call_began(void); /* of one that polls memory, or syncs */
/* Is it deep, or that of another thread, which this one may advance? Or may an earlier deep one
 * still be active in the background? */
bool leat_fi_call_is_deep_now(void);
bool leat_fi_call_is_deep(void);
void leat_fi_call_starts_deep(void);
/* "MPI_Recv", and " from 3, tag 7". */
const char *leat_fi_call_name(void);
const char *leat_fi_call_about(void);

#endif
