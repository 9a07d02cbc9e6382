/*
 * A process as a task of a run: attached through shared memory to a port of a simulated network, in
 * simulated time. The message-passing libraries (mpi/, pvm/, thesis/) build on it; one task per
 * process.
 *
 *     attach --- real time --- begin --- simulated time: now, charge, send, wait, next --- leave
 *
 * The task has a clock of its own. It stands still while the task computes, except for time that is
 * charged (or measured, if the run wants that). leat_task_wait advances it to the time of the event
 * that ends the wait. The network advances only when all tasks whose time it has reached wait, so
 * nothing depends on which task is faster.
 *
 * Not thread-safe: a process with several threads holds a lock around these calls. Each thread is
 * in a call of its own, and what it computes is charged to the one clock.
 */
#ifndef LEAT_PROGRAM_TASK_H
#define LEAT_PROGRAM_TASK_H

#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the call that a task waits in, and of what it waits for there; with their zeros. */
enum { LEAT_TASK_CALL_LEN = 64, LEAT_TASK_ABOUT_LEN = 128 };

/* What the calls of one name that a program made of the message library took, in simulated time.
 * Without calls: only a wait of a library whose calls are not counted. */
struct leat_task_profile {
    char name[LEAT_TASK_CALL_LEN];
    uint64_t calls, octets;       /* octets: that it handed over, by its own count */
    leat_time took_ps, waited_ps; /* waited: in leat_task_wait */
};

/* Environment of a task (set by `leat run`). */
#define LEAT_TASK_RUN_VARIABLE   "LEAT_RUN"  /* the memory of the run: a path */
#define LEAT_TASK_SLOT_VARIABLE  "LEAT_SLOT" /* number of the task; MPI: the rank instead */
/* MPI, ranks that another one has started: the number of the first of them. */
#define LEAT_TASK_FIRST_VARIABLE "LEAT_FIRST_SLOT"

enum leat_task_event_kind {
    LEAT_TASK_ARRIVED,   /* a message for this task: task, octets, len */
    LEAT_TASK_SENT,      /* the port has taken the message with this cookie */
    LEAT_TASK_ANSWERED,  /* to the call with this cookie: octets, len */
    LEAT_TASK_COLLECTED, /* to leat_task_collect with this cookie: octets, len */
    LEAT_TASK_SIGNALLED  /* an unrequested event for this task, defined by its service: octets, len
                         */
};

struct leat_task_event {
    enum leat_task_event_kind kind;
    leat_time at;  /* never later than the task's clock when it is taken */
    uint32_t task; /* the sender */
    uint64_t cookie;
    const uint8_t *octets; /* until leat_task_release */
    uint64_t len;
};

/* Is this process meant to be a task? (LEAT_RUN is set.) */
bool leat_task_is_wanted(void);

/* Maps the memory of the run and takes the slot. False: *why says why (a sentence). A second call
 * does nothing. */
bool leat_task_attach(uint32_t slot, const char **why);
bool leat_task_is_attached(void);
/* This process may attach later. If it ends before, the run learns that the task is gone. */
void leat_task_announce(uint32_t slot);

/* From here on the run waits for this task, and its time is simulated. */
void leat_task_begin(void);
bool leat_task_has_begun(void); /* and not left */

/* The process of a task that this one starts does not come: time no longer waits for it, unless it
 * has begun. Then the service has to be told. */
void leat_task_give_up(uint32_t slot);

/* If the run is killed, this process ends within a moment, whatever it does, also after it has
 * left; if it leads a process group, so does the group. Without this it ends at its next wait. */
void leat_task_end_with_run(void);

/* The run continues without this task. If it calls exit() instead, the run learns that it is gone.
 */
void leat_task_leave(void);

/* The run ends as a failure with this reason (a sentence without a full stop); does not return. By
 * attribute, since cppcheck does not know _Noreturn. */
__attribute__((noreturn)) void leat_task_fail(const char *reason);

/* The same, but it returns: the process is about to end by itself, and so is the program. */
void leat_task_abort(const char *reason);
/* This signal ends the process. For signal handlers. */
void leat_task_note_signal(int number);

/* Is this process a fork of a task? It is not a task itself: its messages would be the task's. It
 * has a clock of its own, and neither leaves nor waits. */
bool leat_task_is_copy(void);
/* A fork called the message library: the run ends as a failure that names the call, and so does the
 * fork. All calls below do this in a fork. */
_Noreturn void leat_task_refuse_copy(const char *call);

uint32_t leat_task_number(void);   /* its slot */
uint32_t leat_task_expected(void); /* tasks that the run was started with: slots 0 .. */
uint32_t leat_task_slots(void);    /* tasks at most */
uint32_t leat_task_ports(void);    /* of the network */
/* Of the slots below this one: has a task left whose process is still there? */
bool leat_task_any_ends(uint32_t below);
bool leat_task_any_was_added(void); /* to those that were expected */
uint32_t leat_task_port_of(uint32_t task);
/* The port of a task of the run that LEAT_RUN names, for processes that are not attached to it.
 * False: it has none. */
bool leat_task_find_port(uint32_t task, uint32_t *port);

/* Why a run may not be reproducible: reported with its result. */
enum leat_task_note {
    LEAT_TASK_READS_COUNTER = 1, /* of the processor, in real time */
    LEAT_TASK_HAS_THREADS = 2,   /* that communicate, in an order that the system may decide */
    LEAT_TASK_RUNS_BESIDE = 4,   /* another that shares its memory: see leat_task_share_memory */
};
void leat_task_note(enum leat_task_note note);

/* From now on this task communicates with others of its port through memory. Tasks that do so run
 * one at a time, in a fixed order: each until it waits. If one computes for long, it may be in a
 * loop that waits for another: then the run goes on without it until it waits, which is noted. */
void leat_task_share_memory(void);

/* ---- time ----------------------------------------------------------------------------------- */

leat_time leat_task_now(void);            /* simulated; begins at 1 s */
void leat_task_charge(leat_time span_ps); /* this much time passes for this task */
/* For libraries: the task has sent or received a message, or a part of a collective operation. Its
 * host needs some time for that, if the run says so. */
void leat_task_spend_overhead(void);
void leat_task_note_sleeper(leat_time wakes_at); /* of its threads, beside others; 0: none sleeps */
void leat_task_note_clock(void);           /* the program reads its clock, and may act on it */
#define LEAT_TASK_POLL_PS UINT64_C(100000) /* cost of a poll in vain */

/* ---- messages ------------------------------------------------------------------------------- */

/* Memory for a message; 8-octet aligned. NULL: more than the run has room for. */
uint8_t *leat_task_room(uint64_t len);

/* These octets are not the program's: in the certificate of the run only their number counts. */
void leat_task_make_private(uint8_t *octets);

/* It does not end a wait of its receiver, who gets it with the next message that does, or when many
 * of them have come. */
void leat_task_make_quiet(uint8_t *octets);

/* Sends a message written into such memory, which passes to the run; stamped with the task's clock.
 * Messages from one task to another arrive in the order in which they were sent. notify_sent: a
 * SENT event will follow. */
void leat_task_send(uint32_t to, uint8_t *octets, uint64_t len, uint64_t cookie, bool notify_sent);

/* What this task sends from now on are copies of the multicast that the service knows by this
 * number; 0: of none. */
void leat_task_set_cast(uint32_t cast);

/* A query to the service of the run, of any length that there is room for; its ANSWERED event comes
 * at once or much later, as the service decides. */
void leat_task_call(const void *question, size_t len, uint64_t cookie);

/* A question about collective operations (collect.h), and what belongs to it. If it has an answer,
 * its COLLECTED event comes at once or much later. */
struct leat_collect_question;
void leat_task_collect(const struct leat_collect_question *question, const void *octets, size_t len,
                       uint64_t cookie);

/* How the collective calls of one kind were carried out (collect.h). */
enum { LEAT_TASK_CARRIERS = 9 };
struct leat_task_collective {
    char name[LEAT_TASK_CALL_LEN];
    uint64_t octets;
    uint64_t calls[LEAT_TASK_CARRIERS]; /* by enum leat_collect_carrier */
    leat_time network_ps, hosts_ps;     /* that they took */
};
void leat_task_count_collective(const char *name, uint32_t carrier, uint64_t octets,
                                leat_time took_ps);

/* A call of the program begins, and has ended: it counts as one of this name, which is static. One
 * within another does not count. */
struct leat_task_span {
    const char *name; /* NULL: it does not count */
    leat_time at, waited;
};
struct leat_task_span leat_task_enter(const char *name);
void leat_task_exit(struct leat_task_span span, uint64_t octets);

/* While this thread sleeps, another may wait for it (leat_task_wait): that counts as its wait. */
struct leat_task_pause {
    leat_time at, waited;
};
struct leat_task_pause leat_task_pause_begin(void);
void leat_task_pause_end(struct leat_task_pause pause);

/* Blocks until there is an event, or the clock has reached `deadline` (LEAT_NEVER: none). True:
 * there is an event. With a past deadline it only checks for events up to now. `call`: the call
 * that it waits in ("MPI_Recv"), static; `about`: what for (" from 3, tag 7", or ""). Both are
 * shown, one after the other, if nothing more can happen. */
bool leat_task_wait(leat_time deadline, const char *call, const char *about);

/* Takes the next event, in the order in which they happened. False: there is none at this time. */
bool leat_task_next(struct leat_task_event *out);

/* The memory of the event's octets is no longer needed. For every event that was taken; in any
 * order. */
void leat_task_release(const struct leat_task_event *event);

#endif
