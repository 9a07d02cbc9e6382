#include "fi_rank.h"
#include "clock.h"
#include "fi_component.h"
#include "fi_memory.h"
#include "fi_others.h"
#include "fi_pairs.h"
#include "fi_private.h"
#include "fi_queue.h"
#include "fi_threads.h"
#include "leat_text.h"
#include "task.h"
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    bool is_wanted, is_finalizing, has_left;
    atomic_bool is_locked;
    atomic_bool has_started_deep;
    atomic_uint deep_calls; /* that threads are in */
    bool is_started;        /* by another rank */
    uint32_t first;         /* slot of its job */
} rank;

/* The call that a thread is in. */
static _Thread_local struct {
    const struct leat_fi_call *call;
    struct leat_task_span span;
    leat_time began;                 /* the call, if it polls memory */
    char about[LEAT_TASK_ABOUT_LEN]; /* what leat_fi_call_about says ... */
    enum leat_fi_call_detail detail; /* ... of a call with these */
    int number, tag;
} in;

static _Thread_local bool is_rank_thread, has_lock;

/* A fork of a rank's process is not a rank. Before MPI_Init it may still become one. */
static void in_child(void)
{
    if (!leat_task_is_attached()) return;
    rank.is_wanted = has_lock = false;
    leat_fi_threads_forget();
    atomic_store(&rank.is_locked, false);
}

bool leat_fi_is_wanted(void)
{
    return rank.is_wanted;
}

static bool read_number(const char *variable, uint32_t *out)
{
    const char *text = getenv(variable);
    char *end;
    const unsigned long number = text ? strtoul(text, &end, 10) : ULONG_MAX;
    *out = (uint32_t)number;
    return number <= INT_MAX && end != text && !*end;
}

uint32_t leat_fi_first(void)
{
    return rank.first;
}

uint32_t leat_fi_ranks(void)
{
    uint32_t ranks;
    return rank.is_started && read_number("OMPI_COMM_WORLD_SIZE", &ranks) ? ranks
                                                                          : leat_task_expected();
}

bool leat_fi_slot(uint32_t *slot)
{
    const bool is_rank = read_number("OMPI_COMM_WORLD_RANK", slot);
    *slot += leat_fi_first();
    return is_rank;
}

__attribute__((constructor)) static void read_environment(void)
{
    uint32_t slot;
    rank.is_wanted = leat_task_is_wanted();
    if (!rank.is_wanted) return;
    pthread_atfork(NULL, NULL, in_child);
    rank.is_started = read_number(LEAT_TASK_FIRST_VARIABLE, &rank.first);
    if (!rank.is_started) rank.first = 0;
    if (leat_fi_slot(&slot)) leat_task_announce(slot);
}

bool leat_fi_attach(const char **why)
{
    uint32_t slot;
    if (leat_fi_slot(&slot)) return leat_task_attach(slot, why);
    *why = "OMPI_COMM_WORLD_RANK does not say which rank this is: mpirun has not started it";
    return false;
}

static void begin(void)
{
    is_rank_thread = true;
    leat_fi_threads_are_ours(true);
    leat_task_end_with_run();
    leat_fi_threads_are_ours(false);
    leat_task_begin();
    leat_clock_begin();
    leat_fi_end_watch();
    leat_task_wait(leat_task_now(), "MPI_Init", ""); /* until all others have begun too */
}

static const struct leat_fi_call init = { .name = "MPI_Init", .is_deep = true };

void leat_fi_begin(void)
{
    if (!leat_task_has_begun()) begin();
    if (in.call != &init) return;
    in.call = NULL;
    rank.deep_calls--;
}

void leat_fi_begin_in_init(void)
{
    if (leat_task_has_begun() || !leat_fi_may_ask()) return;
    in.call = &init;
    rank.deep_calls++;
    begin();
    leat_fi_queue_stir();
}

bool leat_fi_is_in_init(void)
{
    return in.call == &init;
}

bool leat_fi_may_ask(void)
{
    if (!rank.is_wanted || rank.is_finalizing) return false;
    return leat_task_has_begun() || (leat_task_is_attached() && !rank.has_left && rank.is_started);
}

void leat_fi_leave(void)
{
    leat_clock_leave();
    leat_task_leave();
    leat_fi_threads_end();
    rank.has_left = true;
}

bool leat_fi_is_rank_thread(void)
{
    return is_rank_thread;
}

bool leat_fi_is_simulated(void)
{
    return rank.is_wanted && leat_task_has_begun();
}

void leat_fi_finalizes(bool yes)
{
    rank.is_finalizing = yes;
}

bool leat_fi_is_finalizing(void)
{
    return rank.is_finalizing;
}

/* ---- threads --------------------------------------------------------------------------------- */

bool leat_fi_try_lock(void)
{
    if (atomic_exchange_explicit(&rank.is_locked, true, memory_order_acquire)) return false;
    has_lock = true;
    return true;
}

/* Most have it for a moment; only one that lets time pass, for longer. */
static void await_lock(void)
{
    enum { SHORT_WAITS = 100, PAUSE_NS = 50000 };
    for (int waits = 0; !leat_fi_try_lock(); waits++)
        if (waits < SHORT_WAITS)
            syscall(SYS_sched_yield);
        else
            leat_fi_real_pause(PAUSE_NS);
}

bool leat_fi_may_call(void)
{
    return is_rank_thread || leat_fi_threads_are_allowed();
}

void leat_fi_lock(void)
{
    if (!leat_fi_try_lock()) await_lock();
    if (!is_rank_thread && !leat_fi_may_call() && leat_fi_is_simulated())
        leat_task_note(LEAT_TASK_HAS_THREADS);
}

bool leat_fi_has_lock(void)
{
    return has_lock;
}

void leat_fi_unlock(void)
{
    has_lock = false;
    atomic_store_explicit(&rank.is_locked, false, memory_order_release);
}

/* ---- calls ----------------------------------------------------------------------------------- */

void leat_fi_be_no_copy(const char *call)
{
    if (leat_task_is_copy()) leat_task_refuse_copy(call);
}

/* Tools and Fortran call PMPI_Send for MPI_Send. */
static const char *plain_name(const char *name)
{
    return name[0] == 'P' ? name + 1 : name;
}

struct leat_task_span leat_fi_span_begin(const char *name)
{
    struct leat_task_span span = { 0 };
    if (!leat_fi_is_simulated()) return span;
    if (!in.call) leat_fi_threads_take_turn(plain_name(name));
    leat_fi_lock();
    span = leat_task_enter(plain_name(name));
    leat_fi_unlock();
    return span;
}

void leat_fi_span_end(struct leat_task_span span, uint64_t octets)
{
    if (!in.call) leat_fi_threads_call_ends();
    if (!span.name) return;
    leat_fi_lock();
    leat_task_exit(span, octets);
    leat_fi_unlock();
}

static leat_time now(void)
{
    leat_fi_lock();
    const leat_time at = leat_task_now();
    leat_fi_unlock();
    return at;
}

leat_time leat_fi_call_began(void)
{
    return in.began;
}

bool leat_fi_call_enter(const struct leat_fi_call *call)
{
    leat_fi_be_no_copy(call->name);
    if (call->makes_window) leat_fi_private_window_begins();
    if (call->avoids_rdma) {
        rank.has_started_deep = true;
        leat_fi_component_leave_rdma();
    }
    if (call->shares_memory) leat_task_share_memory();
    if (call->frees_window) leat_fi_memory_forget(*call->window);
    if (in.call) return false;
    in.span = leat_fi_span_begin(call->name);
    in.call = call;
    if (call->is_deep) rank.deep_calls++;
    if (call->polls_memory || call->syncs) in.began = now();
    leat_fi_queue_stir();
    return true;
}

void leat_fi_call_exit(const struct leat_fi_call *call, bool entered)
{
    if (call->makes_window) leat_fi_private_window_made();
    if (call->makes_window && call->window) leat_fi_pairs_mend(*call->window);
    if (call->avoids_rdma) leat_fi_component_resume_rdma();
    if (call->frees_window) leat_fi_private_window_freed();
    if (call->shares_memory) leat_fi_memory_note(*call->window);
    if (!entered) return;
    if (call->hands_over || (call->syncs && now() == in.began))
        leat_fi_memory_yield(plain_name(call->name));
    else if (leat_fi_memory_is_shared())
        leat_fi_memory_release(plain_name(call->name));
    if (call->is_deep) rank.deep_calls--;
    in.call = NULL;
    leat_fi_span_end(in.span, call->octets);
}

const struct leat_fi_call *leat_fi_call(void)
{
    return in.call;
}

bool leat_fi_call_is_deep(void)
{
    return rank.has_started_deep || rank.deep_calls;
}

bool leat_fi_call_is_deep_now(void)
{
    return rank.deep_calls;
}

void leat_fi_call_starts_deep(void)
{
    rank.has_started_deep = true;
}

static void write_number(struct leat_text *out, const char *before, int number)
{
    const int64_t value = number;
    leat_text_puts(out, before);
    if (value < 0) leat_text_putc(out, '-');
    leat_text_decimal(out, (uint64_t)(value < 0 ? -value : value));
}

static void write_peer(struct leat_text *out, const char *way, int peer, int tag)
{
    leat_text_puts(out, way);
    if (peer == MPI_ANY_SOURCE)
        leat_text_puts(out, "any rank");
    else
        write_number(out, "", peer);
    if (tag == MPI_ANY_TAG)
        leat_text_puts(out, ", any tag");
    else
        write_number(out, ", tag ", tag);
}

static void write_about(const struct leat_fi_call *call)
{
    struct leat_text out;
    in.detail = call->detail;
    in.number = call->number;
    in.tag = call->tag;
    leat_text_init(&out, in.about, sizeof in.about - 1, NULL, NULL);
    switch (call->detail) {
    case LEAT_FI_CALL_ONLY: break;
    case LEAT_FI_CALL_FROM: write_peer(&out, " from ", call->number, call->tag); break;
    case LEAT_FI_CALL_TO: write_peer(&out, " to ", call->number, call->tag); break;
    case LEAT_FI_CALL_ROOT: write_number(&out, ", root ", call->number); break;
    case LEAT_FI_CALL_AT: write_number(&out, " at rank ", call->number); break;
    case LEAT_FI_CALL_OF:
        write_number(&out, " of ", call->number);
        leat_text_puts(&out, " requests");
        break;
    }
    in.about[out.len] = '\0';
}

const char *leat_fi_call_name(void)
{
    if (!in.call) return "a poll";
    return plain_name(in.call->name);
}

/* Called in every wait: so it writes only what has changed. */
const char *leat_fi_call_about(void)
{
    if (!in.call) return "";
    if (in.detail != in.call->detail || in.number != in.call->number || in.tag != in.call->tag)
        write_about(in.call);
    return in.about;
}
