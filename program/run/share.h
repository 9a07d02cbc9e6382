/*
 * The memory that a run and its tasks share; for task.c and hub.c alone.
 *
 *     header | slot 0 | slot 1 | ...            | blocks of slot 0 | blocks of slot 1 | ... | hub's
 *              request ring: task -> hub          messages, until their receiver releases them
 *              event ring:   hub -> task
 *
 * A slot belongs alternately to its task, while it runs, and to the hub, while the task waits.
 * `turn` and `state` hand it over; nothing else in it needs to be atomic. The blocks are sparse:
 * unused ones take no memory.
 */
#ifndef LEAT_PROGRAM_SHARE_H
#define LEAT_PROGRAM_SHARE_H

#include "task.h"
#include "timeline.h"
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

enum {
    LEAT_SHARE_VERSION = 17,
    LEAT_SHARE_REQUESTS = 1024, /* of a ring: a power of two */
    LEAT_SHARE_EVENTS = 1024,
    LEAT_SHARE_LINE = 64,
    LEAT_SHARE_GROUP = 32,     /* slots with one bell: a bit of a futex for each */
    LEAT_SHARE_CLASS_MIN = 7,  /* log2 of the smallest block */
    LEAT_SHARE_CLASS_MAX = 28, /* of the largest: 256 MiB */
    LEAT_SHARE_CLASSES = LEAT_SHARE_CLASS_MAX + 1,
    LEAT_SHARE_REASON_LEN = 256,
    LEAT_SHARE_CALL_LEN = 64,
    LEAT_SHARE_PROFILES =
        LEAT_TIMELINE_STATES,    /* names of calls; more are counted together in the last */
    LEAT_SHARE_COLLECTIVES = 24, /* kinds of collective calls */
};
#define LEAT_SHARE_MAGIC  UINT64_C(0x316e75727461656c) /* "leatrun1" */
#define LEAT_SHARE_BLOCKS (UINT64_C(1) << 30)          /* octets of each slot */

enum leat_share_request_kind { LEAT_SHARE_SEND, LEAT_SHARE_CALL, LEAT_SHARE_COLLECT };

struct leat_share_request {
    enum leat_share_request_kind kind;
    uint32_t to; /* a task */
    leat_time at;
    uint64_t cookie;
    uint64_t block; /* where its octets are; calls have them here too */
    uint64_t len;
    bool notify_sent;
    uint32_t cast; /* leat_task_set_cast */
};

struct leat_share_event {
    enum leat_task_event_kind kind;
    uint32_t task;
    leat_time at;
    uint64_t cookie;
    uint64_t block; /* 0: none */
    uint64_t len;
    bool is_quiet; /* leat_task_make_quiet */
};

enum leat_share_state {
    LEAT_SHARE_EMPTY,
    LEAT_SHARE_EXPECTED, /* its process is being started */
    LEAT_SHARE_ATTACHED, /* still in real time */
    LEAT_SHARE_RUNS,
    LEAT_SHARE_AHEAD, /* runs ahead of the network, which can run on until it needs this task */
    LEAT_SHARE_WAITS,
    LEAT_SHARE_LEFT,
    LEAT_SHARE_FAILED,  /* reason says why */
    LEAT_SHARE_ABORTED, /* so does it here */
};

struct leat_share_slot {
    alignas(LEAT_SHARE_LINE) _Atomic uint32_t turn; /* the task waits for the next one ... */
    _Atomic uint32_t sleeps;                        /* ... asleep, if this is 1 */
    _Atomic uint32_t bell;  /* of the first slot of a group: all sleep on it */
    _Atomic uint32_t state; /* enum leat_share_state */
    _Atomic uint32_t pid;
    _Atomic uint32_t notes;         /* enum leat_task_note, together */
    _Atomic uint32_t shares_memory; /* with tasks of its port */
    _Atomic uint32_t signal;        /* that ends the process; 0: none that it has seen */
    uint32_t port;
    leat_time clock;    /* the task's */
    leat_time deadline; /* of its wait */
    leat_time wakes_at; /* another of its threads, which sleeps; 0: none */
    leat_time horizon;  /* while it runs: no event reaches it before this time */
    uint32_t polls;     /* waits that ended in vain since it last handed over */
    bool reads_clock;   /* since then: it may poll until a certain time */
    uint32_t requests;  /* in the ring, from its start: the hub takes all of them */
    uint32_t event_first, events;
    char call[LEAT_TASK_CALL_LEN], about[LEAT_TASK_ABOUT_LEN]; /* of its wait */
    char reason[LEAT_SHARE_REASON_LEN];
    char ended_in[LEAT_TASK_CALL_LEN]; /* the call in which that signal came; "": in none */
    uint32_t profiles;
    struct leat_task_profile profile[LEAT_SHARE_PROFILES];
    struct leat_timeline timeline;                                  /* its states: the profiles */
    struct leat_task_collective collective[LEAT_SHARE_COLLECTIVES]; /* until one without a name */
    /* Blocks that receivers returned: a stack, linked through their headers. */
    alignas(LEAT_SHARE_LINE) _Atomic uint64_t returned;
    struct leat_share_request request[LEAT_SHARE_REQUESTS];
    struct leat_share_event event[LEAT_SHARE_EVENTS];
};

/* The first call, in a copy of a task's process, that only the task may make. */
struct leat_share_copy {
    _Atomic uint32_t is_taken; /* by the copy that writes the rest */
    _Atomic uint32_t is_reported;
    uint32_t task;
    char call[LEAT_SHARE_CALL_LEN];
};

struct leat_share {
    uint64_t magic;
    uint32_t version;
    uint32_t slots, expected, ports;
    uint64_t slots_at, blocks_at, len; /* where they begin; of all */
    leat_time start;                   /* of simulated time */
    double compute_scale;
    leat_time overhead; /* of a task, for each message */
    struct leat_share_copy copy;
    /* The hub holds it as long as it lives. It is robust: the kernel releases it when the hub ends,
     * for whatever reason and whether or not anybody reaps it. */
    pthread_mutex_t hub_lives;
    /* Tasks that run and are not ahead; the hub sleeps on it ... */
    alignas(LEAT_SHARE_LINE) _Atomic uint32_t running;
    _Atomic uint32_t hub_sleeps; /* ... if this is 1 */
    _Atomic uint32_t polling;    /* tasks that poll for their turn */
};

/* Before the octets of a block. */
struct leat_share_block {
    uint64_t next;   /* in a list of free ones */
    uint32_t owner;  /* a slot, or `slots`: the hub */
    uint8_t class;   /* log2 of its size, header included */
    bool is_private; /* leat_task_make_private */
    bool is_quiet;   /* leat_task_make_quiet */
};

/* One side's view of its own blocks. */
struct leat_share_blocks {
    struct leat_share *share;
    uint32_t owner;
    _Atomic uint64_t *returned;
    uint64_t next, end;                /* what was never used */
    uint64_t free[LEAT_SHARE_CLASSES]; /* lists; 0: empty */
};

static inline struct leat_share_slot *leat_share_slot(struct leat_share *share, uint32_t slot)
{
    return (struct leat_share_slot *)((uint8_t *)share + share->slots_at) + slot;
}

static inline struct leat_share_block *leat_share_block_at(struct leat_share *share, uint64_t block)
{
    return (struct leat_share_block *)(void *)((uint8_t *)share + block);
}

static inline uint8_t *leat_share_octets(struct leat_share *share, uint64_t block)
{
    return (uint8_t *)share + block + sizeof(struct leat_share_block);
}

/* The block of octets that leat_share_octets returned. */
static inline uint64_t leat_share_block_of(struct leat_share *share, const uint8_t *octets)
{
    return (uint64_t)(octets - (const uint8_t *)share) - sizeof(struct leat_share_block);
}

/* Length of the memory for this many slots. */
uint64_t leat_share_len(uint32_t slots);
void leat_share_init(struct leat_share *share, uint32_t slots);

/* Memory of a new run, in an empty file; it is alive. NULL: `why` (a buffer) says why. */
struct leat_share *leat_share_create(uint32_t slots, int file, char *why, size_t why_cap);

/* Called by the hub's thread at the start, and before the memory is freed. False: the system has no
 * such lock. */
bool leat_share_begin_life(struct leat_share *share);
void leat_share_end_life(struct leat_share *share);
/* For tasks: has the hub ended? */
bool leat_share_is_over(struct leat_share *share);
/* Waits for that. True: it was killed; false: it ended properly. */
bool leat_share_await_end(struct leat_share *share);

/* `owner`: a slot, or `slots`: the hub. */
void leat_share_blocks_init(struct leat_share_blocks *blocks, struct leat_share *share,
                            uint32_t owner);
/* A block with room for `len` octets; 0: none is free. */
uint64_t leat_share_take(struct leat_share_blocks *blocks, uint64_t len);
/* Returns it to its owner, whoever holds it. */
void leat_share_give(struct leat_share *share, uint64_t block);

/* Both wait, at most this long: they poll for a while, yielding each time, and then sleep. They may
 * return too early. */

/* For a task: while the turn of its slot is still this one. */
void leat_share_await_turn(struct leat_share *share, uint32_t slot, uint32_t turn,
                           int64_t timeout_ns);
/* For the hub: while so many tasks run. */
void leat_share_await_tasks(struct leat_share *share, uint32_t running, int64_t timeout_ns);

/* It is this task's turn. Those of a group that sleep wake together, when their bell rings: their
 * bits are added to `waking`, of the group. */
void leat_share_give_turn(struct leat_share *share, uint32_t slot, uint32_t *waking);
/* For the first slot of a group, or any other of it. */
void leat_share_ring(struct leat_share *share, uint32_t slot, uint32_t waking);

/*
 * Shortens the time slice of this thread. Hub and tasks hand over to each other constantly and
 * compute little in between. On a busy machine Linux from 6.12 on lets a thread that wakes up go
 * first only if its slice is shorter than that of the running thread, so each hand-over took
 * milliseconds. Older systems need no such hint, and ignore it.
 */
void leat_share_take_short_turns(void);
/* The row of the collective calls of this name; the last one is for all names that have none. */
struct leat_task_collective *leat_share_collective(struct leat_share_slot *slot, const char *name);

/* The running task of this slot enters another state, and the slot becomes the hub's. Wakes the hub
 * if the tasks that it waits for are so few that it polls for them. */
void leat_share_stop_running(struct leat_share *share, struct leat_share_slot *slot,
                             enum leat_share_state state);

#endif
