/* The means of a process whose host is part of a live network. */
#include "coll_live.h"
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
struct leat_live *lives;
static uint64_t calls[LEAT_COLLECT_CARRIERS];

void live_say(const struct leat_live *r, const char *text, ...)
{
    static char last[2 * LIVE_WHY_LEN];
    char line[2 * LIVE_WHY_LEN];
    va_list arguments;
    if (r->rank != 0) return;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    if (strcmp(line, last) == 0) return;
    memcpy(last, line, sizeof last);
    fprintf(stderr, "leat: %s: %s\n", live_by->name, line);
}

/* ---- operations ------------------------------------------------------------------------------ */

void live_complete(struct live_operation *op)
{
    struct leat_live *r = op->live;
    struct live_operation **link = &r->first;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    r->completed = op->part.number + 1;
    r->done[op->part.number % LIVE_KEPT] = op->part;
    if (op->out && op->len) memcpy(op->out, op->word, (size_t)op->len);
    op->is_over = true;
}

/* The words of this host are complete. */
static void fold(struct leat_live *r, struct live_operation *op)
{
    live_by->fold(r->group, &op->part, op->word);
    op->stage = LIVE_FOLDING;
}

static void speak(struct leat_live *r, struct live_operation *op)
{
    switch (live_by->step(r->group)) {
    case LIVE_WORKS: break;
    case LIVE_OVER:
        if (r->host) live_host_publish(r, op->part.number, op->word, op->part.words);
        live_complete(op);
        break;
    case LIVE_DOUBTS: live_doubt(r, op->part.number, live_by->why(r->group)); break;
    case LIVE_BROKEN: live_give_up(r, live_by->why(r->group)); break;
    }
}

static void hand_over(struct leat_live *r, struct live_operation *op)
{
    op->stage = LIVE_HANDED_OVER;
    if (r->host)
        live_host_hand_over(r, &op->part);
    else
        fold(r, op);
}

/* The oldest operation goes on as far as it can. */
static void advance(struct leat_live *r)
{
    struct live_operation *op = r->first;
    if (r->is_in && r->group && live_by->needs_progress && (!op || op->stage != LIVE_FOLDING) &&
        live_by->step(r->group) == LIVE_BROKEN)
        live_give_up(r, live_by->why(r->group));
    if (!op || r->trust != LIVE_TRUSTED) return;
    if (op->stage == LIVE_QUEUED) hand_over(r, op);
    if (op->stage == LIVE_HANDED_OVER && r->local) {
        if (live_host_is_published(r, op->part.number, op->word, op->part.words)) live_complete(op);
        return;
    }
    if (op->stage == LIVE_HANDED_OVER && live_host_collect(r, &op->part, op->word)) fold(r, op);
    if (op->stage == LIVE_FOLDING) speak(r, op);
}

static void step(struct leat_live *r)
{
    live_notes();
    if (r->trust == LIVE_TRUSTED) advance(r);
}

static int progress(void)
{
    if (!lives || pthread_mutex_trylock(&lock)) return 0;
    live_notes();
    for (struct leat_live *r = lives; r; r = r->next)
        if (r->trust == LIVE_TRUSTED) advance(r);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *start(leat_coll_module *m, struct leat_collect_question *part, const void *in,
                   void *out)
{
    struct leat_live *r = m->live;
    struct live_operation *op = calloc(1, sizeof *op), **last = &r->first;
    const uint32_t words = (uint32_t)((part->len + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    if (!op || words > LIVE_WORDS_MAX) abort();
    op->live = r;
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
    if (r->trust == LIVE_SETTLED) live_redo(r, &op->part);
    pthread_mutex_unlock(&lock);
    return op;
}

static bool is_over(const void *operation)
{
    const struct live_operation *op = operation;
    if (op->is_over || pthread_mutex_trylock(&lock)) return op->is_over;
    step(op->live);
    pthread_mutex_unlock(&lock);
    return op->is_over;
}

static enum leat_collect_refusal end(void *operation)
{
    struct live_operation *op = operation;
    const bool is_redone = op->is_redone;
    free(op);
    return is_redone ? LEAT_COLLECT_REDONE : LEAT_COLLECT_GRANTED;
}

/* Cores may be shared with those that this rank waits for. */
static void rest(leat_coll_module *m, uint32_t times)
{
    struct leat_live *r = m->live;
    if (times < SPINS) return;
    if (times < YIELDS) {
        sched_yield();
        return;
    }
    if (r->trust != LIVE_TRUSTED || !r->first) {
        const struct timespec pause = { .tv_nsec = SLEEP_US * 1000 / 10 };
        nanosleep(&pause, NULL);
    } else if (r->first->stage == LIVE_FOLDING) {
        live_by->wait(r->group, SLEEP_US);
    } else if (r->host) {
        live_host_sleep(r, SLEEP_US);
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
    const int asked = leat_coll_words < LIVE_WORDS_MAX ? leat_coll_words : LIVE_WORDS_MAX;
    const uint32_t words = asked < 1 ? 1 : (uint32_t)asked;
    return (struct leat_port_means){ .folds = (1u << LEAT_PORT_FOLDS) - 1,
                                     .words_max = words,
                                     .octets_max = words * sizeof(uint64_t) };
}

static void link_in(struct leat_live *r)
{
    if (!lives) opal_progress_register(progress);
    pthread_mutex_lock(&lock);
    r->next = lives;
    lives = r;
    pthread_mutex_unlock(&lock);
}

static void unlink_from(struct leat_live *r)
{
    struct leat_live **link = &lives;
    pthread_mutex_lock(&lock);
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    pthread_mutex_unlock(&lock);
    if (!lives) opal_progress_unregister(progress);
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
    struct leat_live *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->m = m;
    r->rank = ompi_comm_rank(m->comm);
    r->ranks = ompi_comm_size(m->comm);
    const int missing = live_find_missing(r);
    link_in(r);
    if (missing >= 0)
        live_say(r,
                 "rank %d has no component of this leat for its Open MPI: install the same leat on "
                 "all hosts. Collective calls go by host messages",
                 missing);
    if (missing >= 0 || !live_join(r)) {
        unlink_from(r);
        free(r);
        return LEAT_COLLECT_ROOM;
    }
    m->live = r;
    r->is_in = true;
    m->group.means = means();
    return LEAT_COLLECT_BY_NETWORK;
}

/* A rank that still waits for a result needs the others: the library waits for all at its end, and
 * before it we do. */
static void leave(leat_coll_module *m)
{
    struct leat_live *r = m->live;
    if (is_on()) {
        pthread_mutex_lock(&lock);
        live_send_leave(r);
        pthread_mutex_unlock(&lock);
        while (!*(volatile bool *)&r->is_left)
            opal_progress();
    }
    unlink_from(r);
    live_silence(r);
    if (r->group) live_by->close(r->group);
    live_host_close(r);
    live_free_early(r);
    free(r->doubts);
    free(r);
    m->live = NULL;
}

/* While it is not known where the network was given up, nothing is promised. A call that waits for
 * others of its rank to go first starts later; it counts already, so that all ranks agree on it. */
static bool promise(leat_coll_module *m, uint32_t operations)
{
    struct leat_live *r = m->live;
    pthread_mutex_lock(&lock);
    while (r->trust == LIVE_FROZEN) {
        pthread_mutex_unlock(&lock);
        opal_progress();
        pthread_mutex_lock(&lock);
    }
    const bool is_promised = r->trust == LIVE_TRUSTED || r->promised < r->until;
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

const struct leat_coll_means leat_coll_live = { .is_on = is_on,
                                                .join = join,
                                                .leave = leave,
                                                .finish = live_end_notes,
                                                .promise = promise,
                                                .start = start,
                                                .is_over = is_over,
                                                .end = end,
                                                .rest = rest,
                                                .count = count,
                                                .now = now,
                                                .is_slow_to_join = true,
                                                .pieces_max = 1 };
