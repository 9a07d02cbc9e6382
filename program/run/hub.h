/*
 * The other side of program/run/task.h: the process that owns the network and the shared memory,
 * and runs tasks and network in turns.
 *
 *     tasks run ... all wait ---> requests are taken, by task ---> the network runs until a
 *       ^                                                          callback, or a deadline
 *       +------------------- tasks whose time has come continue <---------+
 *
 * Simulated time advances only while every task waits. Between two waits a task depends only on the
 * events it was given, and requests are taken in task order: so runs are reproducible.
 *
 * A task may get a message before its time has come, if the network knows it in advance. It then
 * runs at its own time, on another processor, while the network catches up and other tasks
 * continue. The hub waits for it and takes its requests only when the network has caught up, so
 * this affects only the real time of a run.
 */
#ifndef LEAT_PROGRAM_HUB_H
#define LEAT_PROGRAM_HUB_H

#include "collect.h"
#include "task.h"
#include "timeline.h"
#include <leat/port.h>
#include <sys/types.h>

enum {
    LEAT_HUB_SLOTS_MAX = 4096,
    LEAT_HUB_POLLS_MIN = 1000,
    LEAT_HUB_POLLS_MAX = 200000,       /* of all tasks, and at least so many ... */
    LEAT_HUB_POLLS_OF_EACH = 10000,    /* ... of each */
    LEAT_HUB_POLLS_BY_THE_CLOCK = 100, /* times as many, if tasks read clocks between them */
};

struct leat_hub;

enum leat_hub_end {
    LEAT_HUB_DONE,  /* all tasks have left */
    LEAT_HUB_STUCK, /* all tasks wait, nothing is in flight, and no deadline is pending; or tasks
                       have polled in vain for longer than leat_hub_config.patience; or the network
                       is deadlocked */
    LEAT_HUB_LIVELOCKED,  /* the network stays busy but delivers nothing */
    LEAT_HUB_DIED,        /* a task's process has ended without leaving */
    LEAT_HUB_FAILED,      /* a task said so: leat_task_fail */
    LEAT_HUB_ABORTED,     /* a task ends the program: leat_task_abort */
    LEAT_HUB_LOST,        /* a message was lost for good */
    LEAT_HUB_INTERRUPTED, /* by leat_hub_config.interrupted */
};

/* Queries of tasks (leat_task_call). Any member may be NULL. */
struct leat_hub_service {
    void *context;
    /* At time `at`, in order of time, then of tasks. Answers with leat_hub_answer, now or later. */
    void (*call)(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                 const uint8_t *question, size_t len, leat_time at);
    /* A task has left or, if the service allows it, died with its process. True: the run continues
     * without it; false: a task that died ends the run. */
    bool (*gone)(void *context, struct leat_hub *hub, uint32_t task, bool died, leat_time at);
    /* A message of leat_hub_carry has arrived. */
    void (*carried)(void *context, struct leat_hub *hub, uint64_t cookie, leat_time at);
    /* A task's part in an operation (leat_hub_part) is over. is_redone: hosts did it again. The
     * words of all together are lent. */
    void (*collected)(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                      bool is_redone, const uint64_t *word, uint32_t words, leat_time at);
    /* It reaches only tasks that have asked it: others may run as if there were none. */
    bool only_answers;
};

/* A message from one task to another, as observers see it; lent for the call. */
struct leat_hub_message {
    uint64_t number;   /* from 0 on, in the order in which the run took them */
    uint32_t from, to; /* tasks */
    uint32_t port;     /* of `from` */
    const uint8_t *octets;
    uint64_t len;
};
typedef void leat_hub_see(void *context, const struct leat_hub_message *message, leat_time at);

/* An operation of a group of tasks that the network carries out; lent for the call. */
struct leat_hub_operation {
    uint32_t group;       /* groups are numbered from 0 on, in the order in which they were made */
    uint64_t number;      /* of the group's operations, from 0 on */
    const char *call;     /* of the program */
    uint64_t len;         /* octets of the result */
    const uint32_t *task; /* [members] */
    uint32_t members;
    uint32_t completed_by; /* the member with the last part that it needs; `members`: not yet */
    bool is_redone;        /* the network has failed: hosts do it, by messages */
};
/* `member`: the place of a task in the group. */
typedef void leat_hub_see_operation(void *context, const struct leat_hub_operation *operation,
                                    uint32_t member, leat_time at);

/*
 * Callbacks of an observer (a recording); all are set, but the last ones may be NULL. Times are
 * those of the network, which begin at 0. They are not strictly ordered, since tasks run ahead of
 * the network, but none is before the last `reached`.
 */
struct leat_hub_watch {
    void *context;
    void (*begins)(void *context, uint32_t task, uint32_t port, leat_time at);
    /* `call`: as in leat_task_wait; lent. */
    void (*waits)(void *context, uint32_t task, const char *call, leat_time at);
    /* It receives this many messages that have arrived. */
    void (*goes_on)(void *context, uint32_t task, uint32_t messages, leat_time at);
    void (*leaves)(void *context, uint32_t task, leat_time at);
    leat_hub_see *handed_over; /* to its port */
    leat_hub_see *sent, *arrived, *lost;
    /* The network has run up to here, and tasks continue from here or later. */
    void (*reached)(void *context, leat_time at);
    /* A task hands over its part; it has the result. In between: that of this task was the last
     * that the result needed. */
    leat_hub_see_operation *takes_part, *completes, *gets_result;
    /* As in leat_port_observer. */
    void (*packet)(void *context, const struct leat_port_packet *packet, leat_time at);
};

struct leat_jail;

struct leat_hub_config {
    struct leat_port_net *net;
    uint32_t slots;       /* tasks at most */
    uint32_t expected;    /* initial tasks: slots 0 .. ; time waits for them */
    const uint32_t *port; /* of each slot; NULL: slot modulo ports */
    leat_time start;      /* of simulated time; 0: one second */
    /* Tasks may poll for something that can never come. This is the longest simulated time without
     * any message sent or received and without any task starting or ending, while tasks continue at
     * least LEAT_HUB_POLLS_MIN times. 0: for ever. A single long sleep is no poll. */
    leat_time patience;
    /* A second limit, since polls take little simulated time: so many of them in vain, while no
     * message is in flight and no task sleeps for longer than a poll. */
    bool limits_polls;
    int64_t turn_ns;      /* see turns.h: of computing; 0: LEAT_TURNS_COMPUTING_NS */
    double compute_scale; /* factor for measured computing time; 0: none counts */
    leat_time overhead;   /* of a task, for each message that it sends or receives */
    bool has_casts;       /* the service multicasts: nobody runs ahead of that */
    struct leat_hub_service service;
    const struct leat_hub_watch *watch; /* lent for good; NULL: no observer */
    bool (*interrupted)(void);          /* polled occasionally; NULL: never */
    /* Is the slot's process alive? Polled occasionally; NULL: by the pid that it attached with. */
    bool (*alive)(void *context, uint32_t slot);
    void *alive_context;
    bool has_launcher;            /* one for all tasks: `alive` tells of it */
    const struct leat_jail *jail; /* that the tasks' processes enter; lent for good; NULL: none */
};

struct leat_hub_task {
    leat_time start;     /* when it was expected */
    leat_time clock;     /* of the task, when it last waited or left */
    leat_time waited_ps; /* in leat_task_wait, simulated */
    uint64_t messages_sent, octets_sent, messages_received, octets_received;
    uint64_t order; /* of the senders of its messages, in sequence: a hash */
    uint32_t notes; /* enum leat_task_note, combined */
    bool begun, left;
    bool saw_its_end; /* the signal that ended its process: the reason names it */
    pid_t pid;
    char doing[LEAT_TASK_CALL_LEN + LEAT_TASK_ABOUT_LEN]; /* while it waits */
};

/* NULL: `why` (a buffer) says why. */
struct leat_hub *leat_hub_create(const struct leat_hub_config *config, char *why, size_t why_cap);
void leat_hub_destroy(struct leat_hub *hub);

/* The value of LEAT_RUN for tasks; what they are in, or NULL. */
const char *leat_hub_path(const struct leat_hub *hub);
const struct leat_jail *leat_hub_jail(const struct leat_hub *hub);

/* Runs until the end. `reason`: of a failure, a sentence without a full stop. */
enum leat_hub_end leat_hub_run(struct leat_hub *hub, char *reason, size_t reason_cap);

const struct leat_hub_task *leat_hub_task(const struct leat_hub *hub, uint32_t slot);

/* The call that a task waits in now, lent until the hub goes on; NULL: it does not wait. */
const char *leat_hub_call(const struct leat_hub *hub, uint32_t slot);

/* The calls that a task has made, in the order of their first ones; NULL past the last. */
const struct leat_task_profile *leat_hub_profile(const struct leat_hub *hub, uint32_t slot,
                                                 uint32_t index);
/* When it made them: its states are the calls, by their index. */
const struct leat_timeline *leat_hub_timeline(const struct leat_hub *hub, uint32_t slot);

/* How its collective calls were carried out; NULL past the last. */
const struct leat_task_collective *leat_hub_collective(const struct leat_hub *hub, uint32_t slot,
                                                       uint32_t index);

/* What a task has sent to others. */
struct leat_hub_pair {
    uint64_t messages, octets;
};
/* To each slot; NULL: nothing to any. */
const struct leat_hub_pair *leat_hub_sent_to(const struct leat_hub *hub, uint32_t slot);

leat_time leat_hub_now(const struct leat_hub *hub);

/* ---- for services --------------------------------------------------------------------------- */

void leat_hub_answer(struct leat_hub *hub, uint32_t task, uint64_t cookie, const void *octets,
                     size_t len, leat_time at);
void leat_hub_signal(struct leat_hub *hub, uint32_t task, const void *octets, size_t len,
                     leat_time at);
/* A message of the service's own, of at most LEAT_HUB_CARRY_MAX octets, from port to port: the
 * network carries it, then carried() comes. cookie: below 2^32. */
enum { LEAT_HUB_CARRY_MAX = 256 };
void leat_hub_carry(struct leat_hub *hub, uint32_t from, uint32_t to, uint32_t len, uint64_t cookie,
                    leat_time at);
uint32_t leat_hub_port(const struct leat_hub *hub, uint32_t task);

/* What a task sends to several. Each receiver gets it as a message. */
struct leat_hub_multicast {
    uint32_t task;    /* the sender */
    const char *call; /* of the program, for the report */
    uint64_t octets;  /* of the program, for the report */
    const uint32_t *to;
    uint32_t receivers;
    const uint8_t *message; /* NULL: it is longer than the network takes */
    uint64_t len;
};
/* By the network; the result says so, or why not (enum leat_collect_carrier). From the overhead of
 * one message after `at`. */
enum leat_collect_carrier leat_hub_multicast(struct leat_hub *hub,
                                             const struct leat_hub_multicast *m, leat_time at);
/* By the sender's own messages, so many. The result is for leat_task_set_cast. */
uint32_t leat_hub_multicast_by_hosts(struct leat_hub *hub, const struct leat_hub_multicast *m,
                                     enum leat_collect_carrier why, uint32_t messages,
                                     leat_time at);

/* Makes a group of tasks, at two ports at least. 0: the network has no room for it, or no means. */
uint32_t leat_hub_group(struct leat_hub *hub, const uint32_t *task, uint32_t members);
/* The task's part in its next operation of the group: a fold, the same for all. collected()
 * follows. */
void leat_hub_part(struct leat_hub *hub, uint32_t group, uint32_t task, enum leat_port_fold fold,
                   const uint64_t *word, uint32_t words, uint64_t cookie, leat_time at);
/* The group is not needed any more. Operations that lack a part end without results. */
void leat_hub_disband(struct leat_hub *hub, uint32_t group);
const struct leat_port_means *leat_hub_means(const struct leat_hub *hub); /* NULL: none */
leat_time leat_hub_overhead(const struct leat_hub *hub);
/* A message that the service carried, not the network: it counts like the others. */
void leat_hub_count_sent(struct leat_hub *hub, uint32_t task, uint32_t to, uint64_t octets);
void leat_hub_count_received(struct leat_hub *hub, uint32_t task, uint64_t octets);
/* Ends the run with this reason (a sentence without a full stop), unless it has ended already. */
void leat_hub_stop(struct leat_hub *hub, enum leat_hub_end end, const char *reason);
/* The first of so many slots, one after the other, that were never used; the number of slots: there
 * are none. */
uint32_t leat_hub_next_slots(const struct leat_hub *hub, uint32_t count);
/* A process is being started for this unused slot: time waits until it begins (or dies). */
void leat_hub_expect(struct leat_hub *hub, uint32_t slot);
/* The same, from when this task goes on, which starts it. */
void leat_hub_reserve(struct leat_hub *hub, uint32_t parent, uint32_t slot);
/* The parent has given it up: leat_task_give_up. */
void leat_hub_expect_no_more(struct leat_hub *hub, uint32_t slot);
void leat_hub_expect_pid(struct leat_hub *hub, uint32_t slot, pid_t pid);

#endif
