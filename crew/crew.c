#define _GNU_SOURCE /* sched_getaffinity */
#include "crew.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    WATCHES = 4096, /* reads of the word before a member sleeps; fewer than processors: none */
    LINE = 64,
};

/* A number that only grows, for which members wait. */
struct signal {
    _Alignas(LINE) atomic_uint number;
    atomic_uint sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

struct member {
    struct leat_crew *crew;
    uint32_t index;
    pthread_t thread;
};

struct leat_crew {
    struct leat_sim_crew base;
    leat_sim_work *work; /* NULL: the crew ends */
    void *context;
    uint32_t watches;
    struct signal calls;             /* how often the crew was called to work */
    struct signal meetings;          /* how often all have met */
    _Alignas(LINE) atomic_uint here; /* members at this meeting */
    struct member member[];
};

/* ---- signals --------------------------------------------------------------------------------- */

static void signal_init(struct signal *s)
{
    atomic_init(&s->number, 0);
    atomic_init(&s->sleepers, 0);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
}

static void signal_end(struct signal *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* A member that has counted itself among the sleepers looks once more before it sleeps, and whoever
 * advances looks for sleepers afterwards: one of them sees the other. */
static void advance(struct signal *s)
{
    atomic_fetch_add(&s->number, 1);
    if (!atomic_load(&s->sleepers)) return;
    pthread_mutex_lock(&s->mutex);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

/* Waits until the number is no longer `was`. */
static void wait_after(struct signal *s, unsigned was, uint32_t watches)
{
    for (uint32_t i = 0; i < watches; i++) {
        if (atomic_load_explicit(&s->number, memory_order_acquire) != was) return;
        relax();
    }
    pthread_mutex_lock(&s->mutex);
    atomic_fetch_add(&s->sleepers, 1);
    while (atomic_load(&s->number) == was)
        pthread_cond_wait(&s->changed, &s->mutex);
    atomic_fetch_sub(&s->sleepers, 1);
    pthread_mutex_unlock(&s->mutex);
}

/* ---- working --------------------------------------------------------------------------------- */

static struct leat_crew *of(struct leat_sim_crew *base)
{
    return (struct leat_crew *)base;
}

static void meet(struct leat_sim_crew *base)
{
    struct leat_crew *crew = of(base);
    const unsigned was = atomic_load_explicit(&crew->meetings.number, memory_order_relaxed);
    if (atomic_fetch_add(&crew->here, 1) + 1 < base->members) {
        wait_after(&crew->meetings, was, crew->watches);
        return;
    }
    atomic_store_explicit(&crew->here, 0, memory_order_relaxed);
    advance(&crew->meetings);
}

static void run(struct leat_sim_crew *base, leat_sim_work *work, void *context)
{
    struct leat_crew *crew = of(base);
    crew->work = work;
    crew->context = context;
    advance(&crew->calls);
    work(context, 0);
    meet(base);
}

static void *serve(void *argument)
{
    const struct member *self = argument;
    struct leat_crew *crew = self->crew;
    for (unsigned calls = 0;; calls++) {
        wait_after(&crew->calls, calls, crew->watches);
        if (!crew->work) return NULL;
        crew->work(crew->context, self->index);
        meet(&crew->base);
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

uint32_t leat_crew_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    const int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (uint32_t)count;
}

/* Ends the first `started` threads besides the caller. */
static void dismiss(struct leat_crew *crew, uint32_t started)
{
    crew->work = NULL;
    advance(&crew->calls);
    for (uint32_t i = 1; i <= started; i++)
        pthread_join(crew->member[i].thread, NULL);
    signal_end(&crew->calls);
    signal_end(&crew->meetings);
    free(crew);
}

struct leat_crew *leat_crew_start(uint32_t members)
{
    assert(members >= 1 && members <= LEAT_SIM_CREW_MAX);
    const size_t len = sizeof(struct leat_crew) + members * sizeof(struct member);
    struct leat_crew *crew = aligned_alloc(LINE, (len + LINE - 1) / LINE * LINE);
    if (!crew) return NULL;
    *crew = (struct leat_crew){ .base = { .members = members, .run = run, .meet = meet } };
    crew->watches = members <= leat_crew_processors() ? WATCHES : 0;
    signal_init(&crew->calls);
    signal_init(&crew->meetings);
    atomic_init(&crew->here, 0);
    for (uint32_t i = 1; i < members; i++) {
        crew->member[i] = (struct member){ .crew = crew, .index = i };
        if (pthread_create(&crew->member[i].thread, NULL, serve, &crew->member[i])) {
            dismiss(crew, i - 1);
            return NULL;
        }
    }
    return crew;
}

struct leat_sim_crew *leat_crew_lend(struct leat_crew *crew)
{
    return crew ? &crew->base : NULL;
}

void leat_crew_end(struct leat_crew *crew)
{
    if (crew) dismiss(crew, crew->base.members - 1);
}
