#include "fi_threads.h"
#include "clock.h"
#include "fi_behind.h"
#include "fi_memory.h"
#include "fi_others.h"
#include "fi_rank.h"
#include "task.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS_MIN    UINT64_C(20000) /* between two looks at other threads */
#define PAUSE_NS_MAX    UINT64_C(1000000)
#define OUTSIDE_NS      UINT64_C(100000000) /* of sleep in a system call: it counts as blocked */
#define PATIENCE_NS     UINT64_C(500000000) /* with a thread that computes, or spins */
#define PATIENCE_NS_MIN UINT64_C(1000000)   /* once there was one that did not end */

enum {
    LOCKS_AT_ONCE = 1000, /* that a thread may ask for before it has to yield */
    LOOKS_IN_VAIN = 10,   /* of one that yields, before time passes without it ... */
    LOCKS_AGAIN = 100,    /* ... which then need not be as long */
};

enum state {
    RUNS, /* or blocks in a system call */
    WANTS_TURN,
    WAITS,
    YIELDS,
    ENDS,
};

/* What a thread sleeps on while it wants or waits. */
enum { MAY_SLEEP, MAY_GO, MUST_WATCH };

struct thread {
    struct thread *next; /* by order of creation */
    _Atomic pid_t id;    /* 0: it has not begun */
    pthread_t handle;    /* once it has */
    enum state state;
    atomic_bool joins; /* it waits for the end of this one */
    pthread_t joined;
    atomic_bool is_outside;
    _Atomic(const void *) cond; /* it waits for this one to be signalled; NULL: for none */
    atomic_uint word;
    uint64_t seen;             /* changes, when it began to wait */
    uint64_t polled;           /* changes, at its last idle read */
    uint32_t reads;            /* since then */
    const char *in;            /* the MPI call; NULL: none */
    leat_time since, deadline; /* of its wait */
    const char *call, *about;
    leat_fi_pass_time *pass_time;
    /* As others have last seen it: */
    bool is_calm; /* it slept, with this many switches, since that real time */
    uint64_t switches, calm_since_ns;
    bool is_busy; /* it ran; with that much processor time */
    uint64_t busy_since_ns;
    bool is_let_alone; /* it ran for too long to wait for it, until it calls MPI */
    /* A thread that waits for another in a loop: */
    uint64_t acts_seen;    /* when it last yielded */
    uint32_t looks;        /* it has looked that often since then */
    uint32_t locks;        /* it asked for since it last yielded or called MPI */
    bool has_yielded_long; /* since it called MPI */
    bool is_looking;       /* it runs since it yielded: no act, until it has left its loop */
};

static struct {
    uint32_t count;
    struct thread *first;
    struct thread *watcher; /* the waiting thread that looks after the others */
    struct thread *standby; /* the one that does so if there is none */
    struct thread *_Atomic reader;
    uint64_t acts; /* of threads that do not just yield: those that yield may wait for one */
    uint64_t patience_ns;
    pthread_key_t key; /* to learn of the end of a thread */
    char about[LEAT_TASK_ABOUT_LEN];
} all = { .patience_ns = PATIENCE_NS };

struct leat_fi_threads leat_fi_threads;
static _Thread_local struct thread *self;
static _Thread_local bool starts_ours;

/* ---- the program's threads ------------------------------------------------------------------- */

static void count_again(void)
{
    atomic_store_explicit(&leat_fi_threads.are_many, leat_fi_threads_are_allowed() && all.count > 1,
                          memory_order_relaxed);
}

static struct thread *add(void)
{
    struct thread *added = calloc(1, sizeof *added), **link = &all.first;
    if (!added) leat_task_fail("there is no more memory for its threads");
    while (*link)
        link = &(*link)->next;
    *link = added;
    all.count++;
    count_again();
    return added;
}

static void drop(struct thread *t)
{
    struct thread **link = &all.first;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    if (all.standby == t) all.standby = NULL;
    all.count--;
    count_again();
    free(t);
}

/* The kernel has yet to wake who waits for its end: it is dropped when it is gone. */
static void on_end(void *thread)
{
    struct thread *t = thread;
    leat_fi_lock();
    all.acts++;
    t->state = ENDS;
    t->cond = NULL;
    t->joins = false;
    if (all.reader == t) all.reader = NULL;
    leat_fi_unlock();
}

static void make_key(void)
{
    if (pthread_key_create(&all.key, on_end)) abort(); /* a program that has used up all keys */
}

static void be(struct thread *t)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    self = t;
    pthread_setspecific(all.key, t);
    leat_clock_thread_begins();
    t->handle = pthread_self();
    atomic_store(&t->id, gettid());
}

/* With the lock. */
static struct thread *this_thread(void)
{
    if (!self) be(add());
    return self;
}

struct start {
    void *(*routine)(void *);
    void *argument;
    struct thread *thread;
};

static void *start_thread(void *argument)
{
    const struct start start = *(struct start *)argument;
    free(argument);
    be(start.thread);
    return start.routine(start.argument);
}

static int start_own(int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
                     pthread_t *out, const pthread_attr_t *kind, struct start wanted)
{
    struct start *start = malloc(sizeof *start);
    if (!start) return EAGAIN;
    leat_fi_lock();
    this_thread();
    wanted.thread = add();
    leat_fi_unlock();
    *start = wanted;
    const int error = next(out, kind, start_thread, start);
    if (!error) return 0;
    leat_fi_lock();
    drop(wanted.thread);
    leat_fi_unlock();
    free(start);
    return error;
}

void leat_fi_threads_are_ours(bool are_ours)
{
    starts_ours = are_ours;
}

/* Those of the MPI library and of this object are not the program's. */
int pthread_create(pthread_t *restrict out, const pthread_attr_t *restrict kind,
                   void *(*routine)(void *), void *restrict argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    const struct start start = { routine, argument, NULL };
    LEAT_FI_FIND(next, "pthread_create");
    if (!leat_fi_is_wanted() || starts_ours || !leat_clock_is_program(__builtin_return_address(0)))
        return next(out, kind, routine, argument);
    return start_own(next, out, kind, start);
}

void leat_fi_threads_go_outside(void)
{
    if (self) self->is_outside = true;
}

void leat_fi_threads_come_back(void)
{
    if (self) self->is_outside = false;
}

void leat_fi_threads_allow(void)
{
    leat_fi_lock();
    this_thread();
    leat_fi_threads.is_allowed = true;
    count_again();
    leat_fi_unlock();
}

void leat_fi_threads_forget(void)
{
    leat_fi_threads.is_allowed = false;
    all.first = self;
    all.count = self != NULL;
    if (self) self->next = NULL;
    all.watcher = all.standby = NULL;
    all.reader = NULL;
    count_again();
}

static bool is_parked(const struct thread *t)
{
    return t->state == WANTS_TURN || t->state == WAITS || t->state == YIELDS;
}

/* ---- sleeping and waking --------------------------------------------------------------------- */

/* Without a span: until it is woken. With one: as long as another thread has the lock, it need not
 * look after the others. */
static void doze(struct thread *me, uint64_t span_ns)
{
    const struct timespec span = { .tv_nsec = (long)span_ns };
    if (atomic_load(&me->word) != MAY_SLEEP) return;
    leat_fi_unlock();
    do
        syscall(SYS_futex, &me->word, FUTEX_WAIT_PRIVATE, MAY_SLEEP, span_ns ? &span : NULL, NULL,
                0);
    while (atomic_load(&me->word) == MAY_SLEEP && !leat_fi_try_lock());
    if (!leat_fi_has_lock()) leat_fi_lock();
}

static void wake(struct thread *t, unsigned word)
{
    atomic_store(&t->word, word);
    if (t != self) syscall(SYS_futex, &t->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void forget_looks(struct thread *t)
{
    t->is_calm = t->is_busy = t->is_let_alone = false;
}

static void let_go(struct thread *t)
{
    t->is_looking = t->state == YIELDS;
    t->state = RUNS;
    forget_looks(t);
    wake(t, MAY_GO);
}

void leat_fi_threads_end(void)
{
    leat_fi_threads.is_allowed = false;
    count_again();
    for (struct thread *t = all.first; t; t = t->next)
        if (t->state == WANTS_TURN || t->state == YIELDS) let_go(t);
}

/* ---- waits that can be seen ------------------------------------------------------------------ */

/* A thread that joins another, or waits for a signal of another (most of those that MPI's library
 * has put aside do), need not be looked at. One that waits here may go on instead. */
static void nudge(void)
{
    all.acts++;
    struct thread *t = all.watcher ? all.watcher : all.first;
    while (t && !is_parked(t))
        t = t->next;
    if (!t) return;
    all.watcher = t;
    wake(t, MUST_WATCH);
}

int pthread_join(pthread_t thread, void **value)
{
    static int (*next)(pthread_t, void **);
    LEAT_FI_FIND(next, "pthread_join");
    if (!leat_fi_threads_are_many() || !self) return next(thread, value);
    leat_fi_lock();
    self->joined = thread;
    self->joins = true;
    nudge();
    leat_fi_unlock();
    const int error = next(thread, value);
    self->joins = false;
    return error;
}

/* The C library of x86-64 has conditions of two kinds. Without a version the old kind is found. */
static void *find_condition(const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : leat_fi_behind(name);
}

/* Which of those that wait, the system decides: all of them have to be looked at. */
static void note_signal(const pthread_cond_t *cond)
{
    if (!leat_fi_threads_are_many()) return;
    leat_fi_lock();
    all.acts++;
    for (struct thread *t = all.first; t; t = t->next)
        if (t->cond == cond) t->cond = NULL;
    leat_fi_unlock();
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    static int (*next)(pthread_cond_t *);
    if (!next) *(void **)(void *)&next = find_condition("pthread_cond_signal");
    note_signal(cond);
    return next(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    static int (*next)(pthread_cond_t *);
    if (!next) *(void **)(void *)&next = find_condition("pthread_cond_broadcast");
    note_signal(cond);
    return next(cond);
}

/* ---- can the others act? --------------------------------------------------------------------- */

/* A thread that neither sleeps for long nor calls MPI would hold up all others for ever: it may
 * spin until one of them does something. */
static bool is_let_alone(struct thread *t)
{
    const uint64_t computed_ns = leat_fi_other_computed_ns(t->id);
    if (t->is_let_alone) return true;
    if (!t->is_busy) t->busy_since_ns = computed_ns;
    t->is_busy = true;
    if (computed_ns - t->busy_since_ns < all.patience_ns) return false;
    leat_task_note(LEAT_TASK_HAS_THREADS);
    if (all.patience_ns > PATIENCE_NS_MIN) all.patience_ns /= 2;
    t->is_let_alone = true;
    return true;
}

/* Once is not enough: it may just be between two sleeps. */
static bool has_slept(struct thread *t, const struct leat_fi_other *seen)
{
    const bool is_same = t->is_calm && t->switches == seen->switches;
    const uint64_t now_ns = leat_fi_real_ns();
    t->is_calm = seen->state != LEAT_FI_OTHER_RUNS;
    t->switches = seen->switches;
    if (!is_same) t->calm_since_ns = now_ns;
    if (!t->is_calm || !is_same) return false;
    const bool is_outside = seen->state == LEAT_FI_OTHER_SLEEPS;
    if (is_outside && now_ns - t->calm_since_ns < OUTSIDE_NS) return false;
    if (is_outside || seen->wants_lock) leat_task_note(LEAT_TASK_HAS_THREADS);
    t->is_busy = false;
    return true;
}

static bool joins_another(const struct thread *t)
{
    if (!atomic_load(&t->joins)) return false;
    for (const struct thread *other = all.first; other; other = other->next)
        if (other->id && other->state != ENDS && pthread_equal(other->handle, t->joined))
            return true;
    return false;
}

enum act { CANNOT, CAN, IS_GONE };

static enum act can_act(struct thread *t)
{
    if (is_parked(t)) return CANNOT;
    if (t->is_outside || !t->id) return CAN;
    if (t->cond || joins_another(t)) return CANNOT;
    const struct leat_fi_other seen = leat_fi_other_look(t->id);
    if (seen.state == LEAT_FI_OTHER_IS_GONE) return IS_GONE;
    if (!has_slept(t, &seen) && !is_let_alone(t)) return CAN;
    all.acts += t->is_looking; /* it waits for something else now */
    t->is_looking = false;
    return CANNOT;
}

static bool all_are_quiet(void)
{
    bool can_any = false, acts_any = false;
    for (struct thread *t = all.first, *next; t; t = next) {
        next = t->next;
        const enum act act = can_act(t);
        can_any |= act == CAN;
        acts_any |= act == CAN && !t->is_looking;
        if (act == IS_GONE) drop(t);
    }
    all.acts += acts_any;
    return !can_any;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool is_ready(const struct thread *t, leat_time now)
{
    return t->state == WANTS_TURN ||
           (t->state == WAITS && (t->seen != leat_fi_threads.changes || t->deadline <= now));
}

/* One that yields has looked in vain if no other thread has done anything since: then time may pass
 * without it, until one has. */
static bool may_look(const struct thread *t)
{
    return t->state == YIELDS && (t->acts_seen != all.acts || t->looks < LOOKS_IN_VAIN);
}

static struct thread *first_to_look(void)
{
    struct thread *t = all.first;
    while (t && !may_look(t))
        t = t->next;
    return t;
}

static struct thread *first_ready(void)
{
    const leat_time now = leat_task_now();
    struct thread *found = NULL;
    uint32_t wanting = 0;
    for (struct thread *t = all.first; t; t = t->next) {
        if (!found && is_ready(t, now)) found = t;
        wanting += t->state == WANTS_TURN;
    }
    if (wanting > 1) leat_task_note(LEAT_TASK_HAS_THREADS);
    return found;
}

static struct thread *earliest_waiting(void)
{
    struct thread *found = NULL;
    for (struct thread *t = all.first; t; t = t->next)
        if (t->state == WAITS && (!found || t->deadline < found->deadline)) found = t;
    return found;
}

/* What the rank waits for, and where its other threads are: some wait here, others in the library
 * for one that does. */
static const char *about(const struct thread *one)
{
    const char *in = NULL;
    uint32_t others = 0;
    for (const struct thread *t = all.first; t; t = t->next) {
        if (t == one || !t->in) continue;
        in = t->in;
        others++;
    }
    if (!others) return one->about;
    snprintf(all.about, sizeof all.about, "%.48s; %u other thread%s in MPI, one in %.24s",
             one->about, others, others > 1 ? "s" : "", in);
    return all.about;
}

static bool sleeps(const struct thread *t)
{
    return t->state == WAITS && t->deadline != LEAT_NEVER &&
           t->deadline > leat_time_add(t->since, LEAT_TASK_POLL_PS);
}

/* Others may poll until then. */
static leat_time last_wakes_at(void)
{
    leat_time last = 0;
    for (const struct thread *t = all.first; t; t = t->next)
        if (sleeps(t) && t->deadline > last) last = t->deadline;
    return last;
}

/* Without one that waits for it: those that yield wait for something outside. */
static void pass_time(void)
{
    const struct thread *one = earliest_waiting();
    all.acts++;
    leat_task_note_sleeper(last_wakes_at());
    if (one && one->pass_time(one->deadline, one->call, about(one))) leat_fi_threads.changes++;
}

/* Another thread that waits here looks after the others, after a while: most threads that go on
 * soon wait again. */
static void pass_watch(void)
{
    struct thread *t = all.first;
    all.watcher = NULL;
    if (all.standby && is_parked(all.standby)) return;
    while (t && !is_parked(t))
        t = t->next;
    all.standby = t;
    if (t) wake(t, MUST_WATCH);
}

/* No thread of the program can act by itself. True: time has passed; false: one goes on. */
static bool go_on(void)
{
    struct thread *ready = first_ready();
    if (ready) all.acts++;
    if (!ready) ready = first_to_look();
    if (ready)
        let_go(ready);
    else
        pass_time();
    return !ready;
}

/* The thread that came last knows best: it looks after the others. */
static void wait_to_go(struct thread *me)
{
    uint64_t pause_ns = PAUSE_NS_MIN;
    all.watcher = me;
    while (atomic_load(&me->word) != MAY_GO) {
        atomic_store(&me->word, MAY_SLEEP);
        if (!all.watcher) all.watcher = me;
        if (all.watcher != me || !leat_fi_is_simulated()) {
            doze(me, all.standby == me ? pause_ns : 0);
            if (pause_ns < PAUSE_NS_MAX) pause_ns *= 2;
        } else if (!all_are_quiet() || !go_on()) {
            doze(me, pause_ns);
            if (pause_ns < PAUSE_NS_MAX) pause_ns *= 2;
        }
    }
    atomic_store(&me->word, MAY_SLEEP);
    if (all.watcher == me) pass_watch();
}

static void be_parked(struct thread *me, enum state state)
{
    me->state = state;
    forget_looks(me);
    wait_to_go(me);
}

bool leat_fi_threads_await_turn(const char *call)
{
    if (leat_fi_has_lock() || (self && self->state != RUNS)) return false;
    leat_fi_lock();
    be_parked(this_thread(), WANTS_TURN);
    self->locks = 0;
    self->has_yielded_long = false;
    self->in = call;
    leat_fi_unlock();
    return true;
}

void leat_fi_threads_wait(leat_time deadline, const char *call, const char *about_it,
                          leat_fi_pass_time *pass)
{
    struct thread *me = this_thread();
    const struct leat_task_pause pause = leat_task_pause_begin();
    me->seen = leat_fi_threads.changes;
    me->since = leat_task_now();
    me->deadline = deadline;
    me->call = call;
    me->about = about_it;
    me->pass_time = pass;
    be_parked(me, WAITS);
    leat_task_pause_end(pause);
}

/* ---- yielding -------------------------------------------------------------------------------- */

static bool may_yield(void)
{
    return leat_fi_threads_are_many() && self && !self->in && self->state == RUNS &&
           !leat_fi_has_lock();
}

/* The thread waits in a loop of its own: for another thread, since for itself it would not. */
static void yield(void)
{
    leat_fi_lock();
    if (self->acts_seen != all.acts) self->looks = 0;
    self->acts_seen = all.acts;
    self->has_yielded_long |= ++self->looks >= LOOKS_IN_VAIN;
    be_parked(self, YIELDS);
    leat_fi_unlock();
}

/* For another thread, or for a rank that shares its memory. */
int sched_yield(void)
{
    if (leat_fi_has_lock() || !leat_clock_is_program(__builtin_return_address(0)))
        return (int)syscall(SYS_sched_yield);
    if (may_yield()) {
        yield();
        return 0;
    }
    if (!leat_fi_memory_is_shared() || leat_fi_call() || !leat_fi_is_rank_thread())
        return (int)syscall(SYS_sched_yield);
    leat_fi_memory_yield("sched_yield");
    return 0;
}

/* One that asks for locks again and again, and never calls MPI, may look each time whether another
 * thread has done something. */
static void count_lock(void)
{
    if (!may_yield()) return;
    if (++self->locks < (self->has_yielded_long ? LOCKS_AGAIN : LOCKS_AT_ONCE)) return;
    self->locks = 0;
    leat_task_note(LEAT_TASK_HAS_THREADS);
    yield();
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    LEAT_FI_FIND(next, "pthread_mutex_lock");
    count_lock();
    return next(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    LEAT_FI_FIND(next, "pthread_mutex_trylock");
    count_lock();
    return next(mutex);
}

/* ---- woken in MPI ---------------------------------------------------------------------------- */

/* A thread that the MPI library has put aside and another one has woken: the library lets it spin
 * until that one has finished, which may be long on a loaded machine. It goes on when the other
 * thread waits, or has left MPI and calls it again; and it does so without the mutex, which others
 * may need before. */
static void await_waker(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    leat_fi_lock();
    if (leat_fi_threads_are_many()) be_parked(self, WANTS_TURN);
    leat_fi_unlock();
    pthread_mutex_lock(mutex);
}

int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *);
    if (!next) *(void **)(void *)&next = find_condition("pthread_cond_wait");
    if (!leat_fi_threads_are_many() || !self) return next(cond, mutex);
    leat_fi_lock();
    self->cond = cond;
    if (self->in) leat_fi_threads_stir(); /* what it has begun, another one completes by polling */
    nudge();
    leat_fi_unlock();
    const int error = next(cond, mutex);
    self->cond = NULL;
    if (self->in) await_waker(mutex);
    return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

uint32_t leat_fi_threads_idle_reads(void)
{
    struct thread *me = this_thread();
    if (me->polled != leat_fi_threads.changes) me->reads = 0;
    me->polled = leat_fi_threads.changes;
    return me->reads++;
}

static void end_reading(void)
{
    all.reader = NULL;
    leat_fi_threads.changes++;
}

bool leat_fi_threads_no_other_reads(void)
{
    return !all.reader || all.reader == self;
}

void leat_fi_threads_await_reader(leat_fi_pass_time *pass)
{
    while (!leat_fi_threads_no_other_reads())
        leat_fi_threads_wait(LEAT_NEVER, "another thread", " to handle what it has read", pass);
    if (all.reader) end_reading();
}

void leat_fi_threads_be_reader(void)
{
    all.reader = this_thread();
}

void leat_fi_threads_leave_call(void)
{
    if (!self) return;
    self->in = NULL;
    if (all.reader != self) return;
    leat_fi_lock();
    end_reading();
    leat_fi_unlock();
}
