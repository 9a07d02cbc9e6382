#include "share.h"
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint64_t up_to(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

/* The hub has a slot behind the tasks', for its own returned blocks. */
static uint64_t blocks_at(uint32_t slots)
{
    return up_to(PAGE + ((uint64_t)slots + 1) * sizeof(struct leat_share_slot), PAGE);
}

uint64_t leat_share_len(uint32_t slots)
{
    return blocks_at(slots) + ((uint64_t)slots + 1) * LEAT_SHARE_BLOCKS;
}

void leat_share_init(struct leat_share *share, uint32_t slots)
{
    share->version = LEAT_SHARE_VERSION;
    share->slots = slots;
    share->slots_at = PAGE;
    share->blocks_at = blocks_at(slots);
    share->len = leat_share_len(slots);
    share->magic = LEAT_SHARE_MAGIC;
}

/* ---- the hub's life -------------------------------------------------------------------------- */

bool leat_share_begin_life(struct leat_share *share)
{
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind)) return false;
    const bool is_made = !pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) &&
                         !pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) &&
                         !pthread_mutex_init(&share->hub_lives, &kind);
    pthread_mutexattr_destroy(&kind);
    return is_made && !pthread_mutex_lock(&share->hub_lives);
}

static struct leat_share *map_new(uint64_t len, int file)
{
    if (file < 0 || ftruncate(file, (off_t)len)) return MAP_FAILED;
    return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
}

struct leat_share *leat_share_create(uint32_t slots, int file, char *why, size_t why_cap)
{
    const uint64_t len = leat_share_len(slots);
    struct leat_share *share = map_new(len, file);
    if (share == MAP_FAILED) {
        snprintf(why, why_cap, "no shared memory for %u tasks: %s", slots, strerror(errno));
        return NULL;
    }
    leat_share_init(share, slots);
    if (leat_share_begin_life(share)) return share;
    snprintf(why, why_cap, "no robust lock for tasks to see the end of the run by");
    munmap(share, len);
    return NULL;
}

void leat_share_end_life(struct leat_share *share)
{
    pthread_mutex_unlock(&share->hub_lives);
}

/* A task that gets the lock never releases it, since it is about to end: then the next one gets it.
 */
bool leat_share_is_over(struct leat_share *share)
{
    return pthread_mutex_trylock(&share->hub_lives) != EBUSY;
}

bool leat_share_await_end(struct leat_share *share)
{
    const int err = pthread_mutex_lock(&share->hub_lives);
    if (!err) pthread_mutex_unlock(&share->hub_lives);
    return err == EOWNERDEAD;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void leat_share_blocks_init(struct leat_share_blocks *blocks, struct leat_share *share,
                            uint32_t owner)
{
    const uint64_t first = share->blocks_at + owner * LEAT_SHARE_BLOCKS;
    *blocks = (struct leat_share_blocks){ .share = share,
                                          .owner = owner,
                                          .returned = &leat_share_slot(share, owner)->returned,
                                          .next = first,
                                          .end = first + LEAT_SHARE_BLOCKS };
}

static uint32_t class_of(uint64_t len)
{
    uint32_t class = LEAT_SHARE_CLASS_MIN;
    const uint64_t all = len + sizeof(struct leat_share_block);
    while (class <= LEAT_SHARE_CLASS_MAX && UINT64_C(1) << class < all)
        class ++;
    return class;
}

static void collect_returned(struct leat_share_blocks *blocks)
{
    uint64_t block = atomic_exchange_explicit(blocks->returned, 0, memory_order_acquire);
    while (block) {
        struct leat_share_block *b = leat_share_block_at(blocks->share, block);
        const uint64_t next = b->next;
        b->next = blocks->free[b->class];
        blocks->free[b->class] = block;
        block = next;
    }
}

uint64_t leat_share_take(struct leat_share_blocks *blocks, uint64_t len)
{
    const uint32_t class = len < LEAT_SHARE_BLOCKS ? class_of(len) : LEAT_SHARE_CLASSES;
    if (class > LEAT_SHARE_CLASS_MAX) return 0;
    if (!blocks->free[class]) collect_returned(blocks);
    const uint64_t block = blocks->free[class];
    if (block) {
        struct leat_share_block *b = leat_share_block_at(blocks->share, block);
        blocks->free[class] = b->next;
        b->is_private = false;
        b->is_quiet = false;
        return block;
    }
    if (blocks->end - blocks->next < UINT64_C(1) << class) return 0;
    const uint64_t fresh = blocks->next;
    blocks->next += UINT64_C(1) << class;
    *leat_share_block_at(blocks->share, fresh) =
        (struct leat_share_block){ .class = (uint8_t) class, .owner = blocks->owner };
    return fresh;
}

void leat_share_give(struct leat_share *share, uint64_t block)
{
    struct leat_share_block *b = leat_share_block_at(share, block);
    _Atomic uint64_t *stack = &leat_share_slot(share, b->owner)->returned;
    b->next = atomic_load_explicit(stack, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(stack, &b->next, block, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

/* ---- sleeping -------------------------------------------------------------------------------- */

enum {
    POLLS = 200,               /* of an awaited word, before its reader sleeps */
    RUNNING_MAX = 1,           /* tasks that run while hub and tasks poll */
    POLLING_MAX = 2,           /* tasks that poll together */
    POLL_NS_MAX = 100000,      /* longer: another process had the processor */
    TIMED_EVERY = 16,          /* waits: reading the time takes as long as a poll */
    WAITS_WITHOUT_POLLS = 1024 /* until polling is tried again */
};

/* Not clock_gettime, which returns simulated time in a task. */
static int64_t real_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A poller yields the processor each time. On a busy machine other processes take it: then waits
 * sleep at once, for a while. */
static bool has_changed(_Atomic uint32_t *word, uint32_t value)
{
    static _Thread_local uint32_t waits, waits_without;
    if (waits_without) {
        waits_without--;
        return false;
    }
    const bool timed = waits++ % TIMED_EVERY == 0;
    int64_t before = timed ? real_ns() : 0;
    for (uint32_t i = 0; i < POLLS && !waits_without; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != value) return true;
        sched_yield();
        if (!timed) continue;
        const int64_t now = real_ns();
        if (now - before > POLL_NS_MAX) waits_without = WAITS_WITHOUT_POLLS;
        before = now;
    }
    return false;
}

static long futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *until,
                  uint32_t bits)
{
    return syscall(SYS_futex, word, what, value, until, NULL, bits);
}

/* Waits for a set of bits end at a time, not after a span. To read the time takes as long as a
 * poll, so a thread does it only when its last end has passed. */
static void sleep_on(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t timeout_ns)
{
    static _Thread_local struct timespec end;
    if (!futex(word, FUTEX_WAIT_BITSET, value, &end, bits) || errno != ETIMEDOUT) return;
    const int64_t end_ns = real_ns() + timeout_ns;
    end = (struct timespec){ end_ns / 1000000000, end_ns % 1000000000 };
}

static _Atomic uint32_t *bell_of(struct leat_share *share, uint32_t slot)
{
    return &leat_share_slot(share, slot - slot % LEAT_SHARE_GROUP)->bell;
}

static uint32_t bit_of(uint32_t slot)
{
    return UINT32_C(1) << slot % LEAT_SHARE_GROUP;
}

/* Polling is many times faster than sleeping, but a poller keeps other tasks from the processor.
 * So a task polls only while few others run or poll. */
static bool polls_for_turn(struct leat_share *share, _Atomic uint32_t *word, uint32_t turn)
{
    bool came = false;
    if (atomic_load_explicit(&share->running, memory_order_relaxed) > RUNNING_MAX) return false;
    if (atomic_fetch_add(&share->polling, 1) < POLLING_MAX) came = has_changed(word, turn);
    atomic_fetch_sub(&share->polling, 1);
    return came;
}

void leat_share_await_turn(struct leat_share *share, uint32_t slot, uint32_t turn,
                           int64_t timeout_ns)
{
    struct leat_share_slot *s = leat_share_slot(share, slot);
    _Atomic uint32_t *bell = bell_of(share, slot);
    if (polls_for_turn(share, &s->turn, turn)) return;
    const uint32_t rung = atomic_load(bell);
    atomic_store(&s->sleeps, 1);
    if (atomic_load(&s->turn) == turn) /* else the hub may not have seen that we sleep */
        sleep_on(bell, rung, bit_of(slot), timeout_ns);
    atomic_store(&s->sleeps, 0);
}

void leat_share_give_turn(struct leat_share *share, uint32_t slot, uint32_t *waking)
{
    struct leat_share_slot *s = leat_share_slot(share, slot);
    atomic_fetch_add(&s->turn, 1);
    if (atomic_load(&s->sleeps)) *waking |= bit_of(slot);
}

void leat_share_ring(struct leat_share *share, uint32_t slot, uint32_t waking)
{
    _Atomic uint32_t *bell = bell_of(share, slot);
    atomic_fetch_add(bell, 1);
    futex(bell, FUTEX_WAKE_BITSET, INT32_MAX, NULL, waking);
}

void leat_share_await_tasks(struct leat_share *share, uint32_t running, int64_t timeout_ns)
{
    if (running <= RUNNING_MAX && has_changed(&share->running, running)) return;
    atomic_store(&share->hub_sleeps, 1);
    if (atomic_load(&share->running) == running)
        sleep_on(&share->running, running, FUTEX_BITSET_MATCH_ANY, timeout_ns);
    atomic_store(&share->hub_sleeps, 0);
}

/* As the system call takes it; the kernel's own header does not go together with <sched.h>. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

void leat_share_take_short_turns(void)
{
    enum { SHORT_NS = 100000 }; /* the minimum of Linux */
    struct scheduling how = { 0 };
    if (syscall(SYS_sched_getattr, 0, &how, sizeof how, 0) || how.policy != SCHED_OTHER)
        return; /* real-time priorities and the like are the user's choice */
    how.runtime_ns = SHORT_NS;
    syscall(SYS_sched_setattr, 0, &how, 0);
}

void leat_share_stop_running(struct leat_share *share, struct leat_share_slot *slot,
                             enum leat_share_state state)
{
    if (atomic_exchange(&slot->state, (uint32_t)state) == LEAT_SHARE_AHEAD) return;
    if (atomic_fetch_sub(&share->running, 1) <= RUNNING_MAX + 1 && atomic_load(&share->hub_sleeps))
        futex(&share->running, FUTEX_WAKE_BITSET, 1, NULL, FUTEX_BITSET_MATCH_ANY);
}

struct leat_task_collective *leat_share_collective(struct leat_share_slot *slot, const char *name)
{
    struct leat_task_collective *c = slot->collective;
    uint32_t i = 0;
    while (i < LEAT_SHARE_COLLECTIVES - 1 && *c[i].name && strcmp(c[i].name, name) != 0)
        i++;
    snprintf(c[i].name, sizeof c[i].name, "%s", name);
    return &c[i];
}
