/*
 * The memory that a run and its tasks share; for task.c and hub.c alone.
 *
 *     header | slot 0 | slot 1 | ...            | blocks of slot 0 | blocks of slot 1 | ... | hub's
 *              request ring: task -> hub          messages, until their receiver releases them
 *              event ring:   hub -> task
 *
 * A slot belongs in turns to its task, while it runs, and to the hub, while it waits: `turn` and
 * `state` hand it over, and nothing else in it needs to be atomic. The blocks are sparse: what is
 * never used takes no memory.
 */
#ifndef LEAT_PROGRAM_SHARE_H
#define LEAT_PROGRAM_SHARE_H

#include "task.h"
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
    LEAT_SHARE_VERSION = 5,
    LEAT_SHARE_REQUESTS = 1024, /* of a ring: a power of two */
    LEAT_SHARE_EVENTS = 1024,
    LEAT_SHARE_LINE = 64,
    LEAT_SHARE_CLASS_MIN = 7,  /* log2 of the smallest block */
    LEAT_SHARE_CLASS_MAX = 28, /* of the greatest: 256 MiB */
    LEAT_SHARE_CLASSES = LEAT_SHARE_CLASS_MAX + 1,
    LEAT_SHARE_REASON_LEN = 256,
    LEAT_SHARE_CALL_LEN = 64,
};
#define LEAT_SHARE_MAGIC  UINT64_C(0x316e75727461656c) /* "leatrun1" */
#define LEAT_SHARE_BLOCKS (UINT64_C(1) << 30)          /* octets of each slot */

enum leat_share_request_kind { LEAT_SHARE_SEND, LEAT_SHARE_CALL };

struct leat_share_request {
    enum leat_share_request_kind kind;
    uint32_t to; /* a task */
    leat_time at;
    uint64_t cookie;
    uint64_t block; /* where its octets are; calls have them here too */
    uint64_t len;
    bool tell_sent;
};

struct leat_share_event {
    enum leat_task_event_kind kind;
    uint32_t task;
    leat_time at;
    uint64_t cookie;
    uint64_t block; /* 0: none */
    uint64_t len;
};

enum leat_share_state {
    LEAT_SHARE_EMPTY,
    LEAT_SHARE_EXPECTED, /* its process is being started */
    LEAT_SHARE_ATTACHED, /* in real time still */
    LEAT_SHARE_RUNS,
    LEAT_SHARE_AHEAD, /* runs ahead of the network, which has something to do until it needs it */
    LEAT_SHARE_WAITS,
    LEAT_SHARE_LEFT,
    LEAT_SHARE_FAILED, /* reason says why */
};

struct leat_share_slot {
    alignas(LEAT_SHARE_LINE) _Atomic uint32_t turn; /* the task sleeps on it ... */
    _Atomic uint32_t sleeps;                        /* ... if this is 1 */
    _Atomic uint32_t state;                         /* enum leat_share_state */
    _Atomic uint32_t pid;
    _Atomic uint32_t notes; /* enum leat_task_note, together */
    uint32_t port;
    leat_time clock;    /* the task's */
    leat_time deadline; /* of its wait */
    leat_time horizon;  /* while it runs: nothing reaches it before this */
    uint32_t requests;  /* in the ring, from its beginning: the hub takes all of them */
    uint32_t event_first, events;
    char doing[LEAT_TASK_DOING_LEN];
    char reason[LEAT_SHARE_REASON_LEN];
    /* Blocks that receivers gave back: a stack, linked by their heads. */
    alignas(LEAT_SHARE_LINE) _Atomic uint64_t returned;
    struct leat_share_request request[LEAT_SHARE_REQUESTS];
    struct leat_share_event event[LEAT_SHARE_EVENTS];
};

/* What a copy of a task's process did that only the task may do; the first of all copies. */
struct leat_share_copy {
    _Atomic uint32_t is_taken; /* by the copy that writes the rest */
    _Atomic uint32_t is_told;
    uint32_t task;
    char call[LEAT_SHARE_CALL_LEN];
};

struct leat_share {
    uint64_t magic;
    uint32_t version;
    uint32_t slots, expected;
    uint64_t slots_at, blocks_at, len; /* where they begin; of all */
    double compute_scale;
    uint32_t looks; /* at what a task waits for, before it sleeps */
    struct leat_share_copy copy;
    /* The hub holds it as long as it lives. It is robust: the kernel lets go of it when the hub
     * ends, however that happens and whether or not anybody reaps it. */
    pthread_mutex_t hub_lives;
    /* Tasks that run and are not ahead; the hub sleeps on it ... */
    alignas(LEAT_SHARE_LINE) _Atomic uint32_t running;
    _Atomic uint32_t hub_sleeps; /* ... if this is 1 */
};

/* Before the octets of a block. */
struct leat_share_block {
    uint64_t next;   /* in a list of free ones */
    uint32_t owner;  /* a slot, or `slots`: the hub */
    uint8_t class;   /* log2 of its size, head included */
    bool is_private; /* leat_task_make_private */
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

/* The block of octets that leat_share_octets told. */
static inline uint64_t leat_share_block_of(struct leat_share *share, const uint8_t *octets)
{
    return (uint64_t)(octets - (const uint8_t *)share) - sizeof(struct leat_share_block);
}

/* Octets of the memory for so many slots. */
uint64_t leat_share_len(uint32_t slots);
void leat_share_init(struct leat_share *share, uint32_t slots);

/* By the hub's thread; and before the memory goes. False: the system has no such lock. */
bool leat_share_begin_life(struct leat_share *share);
void leat_share_end_life(struct leat_share *share);
/* For tasks: has the hub ended? */
bool leat_share_is_over(struct leat_share *share);
/* Waits for that. True: it was killed; false: it took leave. */
bool leat_share_await_end(struct leat_share *share);

/* `owner`: a slot, or `slots`: the hub. */
void leat_share_blocks_init(struct leat_share_blocks *blocks, struct leat_share *share,
                            uint32_t owner);
/* A block with room for `len` octets; 0: there is none. */
uint64_t leat_share_take(struct leat_share_blocks *blocks, uint64_t len);
/* Back to its owner, whoever has it. */
void leat_share_give(struct leat_share *share, uint64_t block);

/*
 * Waits while *word == value: looks so many times, letting others go first each time, then sleeps,
 * at most so long (negative: for ever). `sleeps` tells others that they must wake it.
 */
void leat_share_await(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleeps,
                      uint32_t looks, int64_t timeout_ns);
/*
 * Makes the turns of this thread short. Hub and tasks hand over to each other all the time and
 * compute little in between. On a busy machine Linux from 6.12 on lets a thread that wakes up or
 * has waited go first only if its turns are shorter than those of whoever has the processor, so
 * that each handing over took milliseconds. Older systems need no such hint, and ignore it.
 */
void leat_share_take_short_turns(void);
/* The word has changed: wakes who sleeps on it. */
void leat_share_rouse(_Atomic uint32_t *word, _Atomic uint32_t *sleeps);

/* The task of this slot, which runs, is in another state from now on, and the slot is the hub's. If
 * it was the last one that the hub waits for, the hub is woken. */
void leat_share_stop_running(struct leat_share *share, struct leat_share_slot *slot,
                             enum leat_share_state state);

#endif
