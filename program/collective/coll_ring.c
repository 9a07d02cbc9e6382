/* The means of a process whose host is a station of a live ring. */
#include "coll_ring.h"
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ompi/runtime/mpiruntime.h>
#include <opal/runtime/opal_progress.h>

enum {
    SPINS = 40,      /* looks before other processes may run */
    YIELDS = 60,     /* looks before this one sleeps */
    SLEEP_US = 1000, /* messages of hosts are looked for as often */
};

/* One thread at a time; also, progress does not go into itself. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct leat_ring *rings;
static uint64_t calls[LEAT_COLLECT_CARRIERS];

void ring_say(const struct leat_ring *r, const char *text, ...)
{
    static char last[2 * RING_WHY_LEN];
    char line[2 * RING_WHY_LEN];
    va_list arguments;
    if (r->rank != 0) return;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    if (strcmp(line, last) == 0) return;
    memcpy(last, line, sizeof last);
    fprintf(stderr, "leat: ring: %s\n", line);
}

/* ---- operations ------------------------------------------------------------------------------ */

void ring_complete(struct ring_operation *op)
{
    struct leat_ring *r = op->ring;
    struct ring_operation **link = &r->first;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    r->completed = op->part.number + 1;
    r->done[op->part.number % RING_KEPT] = op->part;
    if (op->out && op->len) memcpy(op->out, op->word, (size_t)op->len);
    op->is_over = true;
}

/* The words of this host are complete. */
static void fold(struct leat_ring *r, struct ring_operation *op)
{
    if (op->part.is_cast)
        ring_library.cast(r->group, op->part.is_root, (uint32_t)op->part.number, op->word,
                          op->part.words);
    else
        ring_library.enter(r->group, op->part.fold, op->word, op->part.words);
    op->stage = RING_FOLDING;
}

static void speak(struct leat_ring *r, struct ring_operation *op)
{
    switch (ring_library.step(r->group)) {
    case LEAT_ATON_GROUP_WORKS: break;
    case LEAT_ATON_GROUP_OVER:
        if (r->host) ring_host_publish(r, op->part.number, op->word, op->part.words);
        ring_complete(op);
        break;
    case LEAT_ATON_GROUP_BROKEN: ring_give_up(r, ring_library.why(r->group)); break;
    }
}

static void hand_over(struct leat_ring *r, struct ring_operation *op)
{
    op->stage = RING_HANDED_OVER;
    if (r->host)
        ring_host_hand_over(r, &op->part);
    else
        fold(r, op);
}

/* The oldest operation goes on as far as it can. */
static void advance(struct leat_ring *r)
{
    struct ring_operation *op = r->first;
    if (!op) return;
    if (op->stage == RING_QUEUED) hand_over(r, op);
    if (op->stage == RING_HANDED_OVER && r->local) {
        if (ring_host_is_published(r, op->part.number, op->word, op->part.words)) ring_complete(op);
        return;
    }
    if (op->stage == RING_HANDED_OVER && ring_host_collect(r, &op->part, op->word)) fold(r, op);
    if (op->stage == RING_FOLDING) speak(r, op);
}

static void step(struct leat_ring *r)
{
    ring_notes();
    if (r->trust == RING_TRUSTED) advance(r);
}

static int progress(void)
{
    if (!rings || pthread_mutex_trylock(&lock)) return 0;
    ring_notes();
    for (struct leat_ring *r = rings; r; r = r->next)
        if (r->trust == RING_TRUSTED) advance(r);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *start(leat_coll_module *m, struct leat_collect_question *part, const void *in,
                   void *out)
{
    struct leat_ring *r = m->ring;
    struct ring_operation *op = calloc(1, sizeof *op), **last = &r->first;
    const uint32_t words = (uint32_t)((part->len + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    if (!op || words > RING_WORDS_MAX) abort();
    op->ring = r;
    op->out = out;
    op->len = part->len;
    op->part.words = words;
    op->part.fold = part->kind == LEAT_PORT_CAST ? LEAT_PORT_OR : part->fold;
    if (in) memcpy(op->part.word, in, (size_t)part->len);
    memcpy(op->word, op->part.word, sizeof op->word);
    pthread_mutex_lock(&lock);
    op->part.number = r->started++;
    op->part.is_cast = r->has_casts && part->kind == LEAT_PORT_CAST &&
                       r->casts + 1 < LEAT_ATON_GROUP_CASTS;
    op->part.is_root = in;
    r->casts = op->part.is_cast ? r->casts + 1 : 0;
    while (*last)
        last = &(*last)->next;
    *last = op;
    if (r->trust == RING_SETTLED) ring_redo(r, &op->part);
    pthread_mutex_unlock(&lock);
    return op;
}

static bool is_over(const void *operation)
{
    const struct ring_operation *op = operation;
    if (op->is_over || pthread_mutex_trylock(&lock)) return op->is_over;
    step(op->ring);
    pthread_mutex_unlock(&lock);
    return op->is_over;
}

static enum leat_collect_refusal end(void *operation)
{
    struct ring_operation *op = operation;
    const bool is_redone = op->is_redone;
    free(op);
    return is_redone ? LEAT_COLLECT_REDONE : LEAT_COLLECT_GRANTED;
}

/* Cores may be shared with those that this rank waits for. */
static void rest(leat_coll_module *m, uint32_t times)
{
    struct leat_ring *r = m->ring;
    if (times < SPINS) return;
    if (times < YIELDS) {
        sched_yield();
        return;
    }
    if (r->trust != RING_TRUSTED || !r->first) {
        const struct timespec pause = { .tv_nsec = SLEEP_US * 1000 / 10 };
        nanosleep(&pause, NULL);
    } else if (r->first->stage == RING_FOLDING) {
        ring_library.wait(r->group, SLEEP_US);
    } else if (r->host) {
        ring_host_sleep(r, SLEEP_US);
    }
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool is_on(void)
{
    return ompi_mpi_state >= OMPI_MPI_STATE_INIT_COMPLETED &&
           ompi_mpi_state < OMPI_MPI_STATE_FINALIZE_STARTED;
}

/* Each word is a packet that goes round, so that long operations are faster by host messages. */
static struct leat_port_means means(void)
{
    const int asked = leat_coll_words < RING_WORDS_MAX ? leat_coll_words : RING_WORDS_MAX;
    const uint32_t words = asked < 1 ? 1 : (uint32_t)asked;
    return (struct leat_port_means){ .folds = (1u << LEAT_PORT_FOLDS) - 1,
                                     .words_max = words,
                                     .octets_max = words * sizeof(uint64_t) };
}

static void link_in(struct leat_ring *r)
{
    if (!rings) opal_progress_register(progress);
    pthread_mutex_lock(&lock);
    r->next = rings;
    rings = r;
    pthread_mutex_unlock(&lock);
}

static void unlink_from(struct leat_ring *r)
{
    struct leat_ring **link = &rings;
    pthread_mutex_lock(&lock);
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    pthread_mutex_unlock(&lock);
    if (!rings) opal_progress_unregister(progress);
}

/* Are all members of this job? */
static bool is_of_one_job(const leat_coll_module *m)
{
    const struct ompi_group_t *group = m->comm->c_local_group;
    const opal_process_name_t own = ompi_group_get_proc_name((struct ompi_group_t *)group, 0);
    for (int i = 1; i < ompi_comm_size(m->comm); i++)
        if (ompi_group_get_proc_name((struct ompi_group_t *)group, i).jobid != own.jobid)
            return false;
    return true;
}

/* Others may have joined, and send notes, before this rank knows that all have: it is in the list
 * before. */
static enum leat_collect_carrier join(leat_coll_module *m)
{
    if (!is_of_one_job(m)) return LEAT_COLLECT_RANKS;
    struct leat_ring *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->m = m;
    r->rank = ompi_comm_rank(m->comm);
    r->ranks = ompi_comm_size(m->comm);
    const int missing = ring_find_missing(r);
    link_in(r);
    if (missing >= 0)
        ring_say(r,
                 "rank %d has no component of this leat for its Open MPI: install the same leat on "
                 "all hosts. Collective calls go by host messages",
                 missing);
    if (missing >= 0 || !ring_join(r)) {
        unlink_from(r);
        free(r);
        return LEAT_COLLECT_ROOM;
    }
    m->ring = r;
    m->group.means = means();
    return LEAT_COLLECT_BY_NETWORK;
}

/* A rank that still waits for a result needs the others: the library waits for all at its end, and
 * before it we do. */
static void leave(leat_coll_module *m)
{
    struct leat_ring *r = m->ring;
    if (is_on()) {
        pthread_mutex_lock(&lock);
        ring_send_leave(r);
        pthread_mutex_unlock(&lock);
        while (!*(volatile bool *)&r->is_left)
            opal_progress();
    }
    unlink_from(r);
    ring_silence(r);
    ring_library.close(r->group);
    ring_host_close(r);
    ring_free_early(r);
    free(r);
    m->ring = NULL;
}

/* While it is not known where the ring was given up, nothing is promised. A call that waits for
 * others of its rank to go first starts later; it counts already, so that all ranks agree on it. */
static bool promise(leat_coll_module *m, uint32_t operations)
{
    struct leat_ring *r = m->ring;
    pthread_mutex_lock(&lock);
    while (r->trust == RING_FROZEN) {
        pthread_mutex_unlock(&lock);
        opal_progress();
        pthread_mutex_lock(&lock);
    }
    const bool is_promised = r->trust == RING_TRUSTED || r->promised < r->until;
    if (is_promised) r->promised += operations;
    pthread_mutex_unlock(&lock);
    return is_promised;
}

/* ---- what was done --------------------------------------------------------------------------- */

static void count(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                  uint64_t began)
{
    (void)call, (void)octets, (void)began;
    calls[carrier]++;
}

static uint64_t now(void)
{
    return 0;
}

const struct leat_coll_means leat_coll_ring = { .is_on = is_on,
                                                .join = join,
                                                .leave = leave,
                                                .finish = ring_end_notes,
                                                .promise = promise,
                                                .start = start,
                                                .is_over = is_over,
                                                .end = end,
                                                .rest = rest,
                                                .count = count,
                                                .now = now,
                                                .is_slow_to_join = true,
                                                .pieces_max = 1 };
