#include "graph_workers.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RING_CELLS = 1 << 12,      /* between two workers */
    HOST_CELLS = 1 << 14,      /* to and from the host, and from other ranks */
    SENDS_AT_A_TIME = 1 << 14, /* of one softswitch, before the next has its turn: its devices stay
                                  in the cache as long as it has something to send */
    SPINS = 200,               /* idle rounds before a worker sleeps */
    SLEEP_NS = 50000,
    CLOCK_ROUNDS = 64, /* rounds between two clock reads */
    AHEAD = 2,         /* blocks are prefetched this many packets ahead */
};

/* A packet to a device of another worker: one cache line. */
struct cell {
    uint32_t block, pin_address;
    uint8_t payload[LEAT_POETS_PAYLOAD_LEN_MAX];
};

/* ---- receiving ------------------------------------------------------------------------------ */

static void deliver(struct leat_poets_worker *w, uint32_t number, uint32_t pin_address,
                    const uint8_t *payload)
{
    struct leat_poets_run *run = w->workers->run;
    void *at = run->machine->blocks + (size_t)number * LEAT_POETS_BLOCK_UNIT;
    struct leat_poets_block *block = at;
    struct leat_poets_softswitch *ss = &run->softswitch[block->thread];
    if (ss->state == LEAT_POETS_SS_RUN)
        leat_poets_softswitch_deliver(ss, block, pin_address, payload);
    else
        ss->cause[LEAT_POETS_CAUSE_DISCARDED]++;
}

/*
 * Call this before anything is taken or put: it withdraws the reported counts. If a worker took a
 * packet and put another first, it would still look passive, and its unreported counts would not be
 * missed: each lacks one.
 */
static void wake(struct leat_poets_worker *w)
{
    if (!w->without_work) return;
    atomic_store(&w->passive, false);
    w->without_work = 0;
}

/* Packets of the host or of other ranks. These are untrusted and checked like any packet on a wire.
 * True: there was one. */
static bool take_packets(struct leat_poets_worker *w, struct leat_poets_fifo *ring)
{
    const struct leat_poets_workers_cell *cell = leat_poets_fifo_oldest(ring);
    const bool any = cell;
    const uint64_t now = any ? leat_poets_run_cycles() : 0;
    for (; cell; cell = leat_poets_fifo_oldest(ring)) {
        wake(w);
        leat_poets_softswitch_receive(&w->workers->run->softswitch[cell->thread], cell->slot.packet,
                                      cell->slot.nflit, now);
        leat_poets_fifo_take(ring);
        w->taken++;
    }
    return any;
}

/* Control packets, which may open the barrier. */
static bool take_control(struct leat_poets_worker *w)
{
    const struct leat_poets_run *run = w->workers->run;
    const bool any = take_packets(w, &w->from_host);
    if (!any || w->released) return any;
    w->released = true;
    for (uint32_t t = w->first; t < w->end; t++)
        if (run->softswitch[t].state == LEAT_POETS_SS_BARRIER) w->released = false;
    return any;
}

/* Cells of other workers and ranks wait until all local threads are past the barrier. */
static bool take_cells(struct leat_poets_worker *w)
{
    bool any = take_control(w);
    if (w->released) any = take_packets(w, &w->from_ranks) || any;
    for (uint32_t i = 0; w->released && i < w->workers->count; i++) {
        const struct cell *cell;
        if (i == w->number) continue;
        while ((cell = leat_poets_fifo_oldest(&w->in[i]))) {
            wake(w);
            deliver(w, cell->block, cell->pin_address, cell->payload);
            leat_poets_fifo_take(&w->in[i]);
            w->taken++;
            any = true;
        }
    }
    return any;
}

/* Of all tasks: who waits for a worker of this task may do so within another one. */
static bool take_cells_of_all(struct leat_poets_worker *w)
{
    const struct leat_poets_crew *crew = w->workers->crew;
    bool any = false;
    w->env.block = NULL; /* its handler has returned */
    for (uint32_t k = 0; k < crew->task_count; k++) {
        struct leat_poets_worker *other = &crew->of[k].worker[w->number];
        if (atomic_load_explicit(&crew->of[k].ended, memory_order_relaxed)) continue;
        leat_poets_run_watch_env(&other->env);
        any = take_cells(other) || any;
        other->env.block = NULL;
    }
    leat_poets_run_watch_env(&w->env);
    return any;
}

/* Room in a ring; receives packets of others while it waits. NULL: the task is over. */
static void *wait_for_room(struct leat_poets_worker *w, struct leat_poets_fifo *ring)
{
    void *room;
    while (!(room = leat_poets_fifo_room(ring))) {
        if (atomic_load_explicit(&w->workers->ended, memory_order_relaxed)) return NULL;
        if (w->inside) w->workers->meanwhile(w->workers);
        if (!take_cells_of_all(w)) sched_yield();
    }
    return room;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* Writes a packet to a thread, or to the host, into the free cell of a ring. */
static void fill_cell(struct leat_poets_fifo *ring, struct leat_poets_workers_cell *cell,
                      uint32_t thread, const uint8_t *packet, unsigned nflit)
{
    cell->thread = thread;
    cell->slot.nflit = (uint8_t)nflit;
    memcpy(cell->slot.packet, packet, (size_t)nflit * LEAT_POETS_FLIT_LEN);
    leat_poets_fifo_put(ring);
}

/* To the host, which forwards packets for remote threads. */
static void put_host(struct leat_poets_worker *w, uint32_t from, uint32_t to,
                     const struct leat_poets_slot *slot)
{
    wake(w);
    struct leat_poets_workers_cell *cell = wait_for_room(w, &w->to_host);
    if (!cell) return;
    const bool to_host = to == LEAT_POETS_WORKERS_HOST;
    leat_poets_run_show(w->workers->run, to_host, to_host ? from : to, slot->packet, slot->nflit);
    fill_cell(&w->to_host, cell, to, slot->packet, slot->nflit);
    w->put++;
}

static bool flush_host(struct leat_poets_worker *w, uint32_t thread)
{
    struct leat_poets_slot slot;
    bool any = false;
    while (leat_poets_softswitch_take_host(&w->workers->run->softswitch[thread], &slot)) {
        put_host(w, thread, LEAT_POETS_WORKERS_HOST, &slot);
        any = true;
    }
    return any;
}

static void put_cell(struct leat_poets_worker *w, const struct leat_poets_out_edge *edge,
                     const uint8_t *payload, uint32_t len)
{
    struct leat_poets_workers *workers = w->workers;
    uint32_t to = 0;
    while (edge->block >= workers->worker[to].block_to)
        to++;
    struct cell *cell = wait_for_room(w, &workers->worker[to].in[w->number]);
    if (!cell) return;
    cell->block = edge->block;
    cell->pin_address = edge->pin_address;
    memcpy(cell->payload, payload, len);
    leat_poets_fifo_put(&workers->worker[to].in[w->number]);
    w->put++;
}

/* To the supervisor, to an external, to another rank: a packet as it is on the wire. */
static void send_packet(struct leat_poets_worker *w, uint32_t thread, uint32_t edge)
{
    struct leat_poets_step_out out;
    leat_poets_softswitch_packet(&w->workers->run->softswitch[thread], edge, &out);
    put_host(w, thread, out.kind == LEAT_POETS_STEP_SEND ? out.thread : LEAT_POETS_WORKERS_HOST,
             &out.out);
}

/* Reports a packet to a device to the observer; one to an external or to another rank is reported
 * on its way to the host. */
static void show_edge(struct leat_poets_worker *w, uint32_t thread, uint32_t edge)
{
    struct leat_poets_softswitch *ss = &w->workers->run->softswitch[thread];
    struct leat_poets_step_out out;
    if (ss->sending.edge[edge].block & (LEAT_POETS_EXTERNAL | LEAT_POETS_AWAY)) return;
    leat_poets_softswitch_packet(ss, edge, &out);
    ss->sent--; /* it is counted with the whole fan-out */
    leat_poets_run_show(w->workers->run, false, out.thread, out.out.packet, out.out.nflit);
}

/* Prefetches the memory of a block. An invalid address does no harm. */
static void prefetch(const struct leat_poets_worker *w, uint32_t block)
{
    const uint8_t *at = w->workers->run->machine->blocks + (size_t)block * LEAT_POETS_BLOCK_UNIT;
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LEAT_POETS_CACHE_LINE, 1);
}

/* A whole fan-out. While it waits for room, a STOP may end it: `sending` is empty then. */
static void send_all(struct leat_poets_worker *w, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &w->workers->run->softswitch[thread];
    const struct leat_poets_sending *s = &ss->sending;
    const struct leat_poets_out_edge *edge = s->edge;
    const uint32_t count = s->count, from = w->block_from, to = w->block_to;
    const bool shown = w->workers->run->options->watch.packet;
    uint32_t packets = 0; /* which count themselves */
    if (s->to_supervisor) {
        send_packet(w, thread, 0);
        return;
    }
    for (uint32_t i = 0; i < count && s->block; i++) {
        if (i + AHEAD < count) prefetch(w, edge[i + AHEAD].block);
        if (shown) show_edge(w, thread, i);
        if (edge[i].block >= from && edge[i].block < to)
            deliver(w, edge[i].block, edge[i].pin_address, s->payload);
        else if (edge[i].block & (LEAT_POETS_EXTERNAL | LEAT_POETS_AWAY))
            send_packet(w, thread, i), packets++;
        else
            put_cell(w, &edge[i], s->payload, s->payload_len);
    }
    ss->sent += count - packets;
}

static bool run_softswitch(struct leat_poets_worker *w, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &w->workers->run->softswitch[thread];
    bool any = false;
    for (int i = 0; i < SENDS_AT_A_TIME && leat_poets_softswitch_can_begin(ss); i++) {
        any = true;
        if (ss->ring_count > AHEAD) {
            const uint32_t next = ss->ring_first + AHEAD;
            prefetch(w, ss->ring[next < ss->ring_cap ? next : next - ss->ring_cap].block);
        }
        if (!leat_poets_softswitch_begin_send(ss)) continue;
        send_all(w, thread);
        leat_poets_softswitch_end_send(ss);
    }
    if (!any && ss->state == LEAT_POETS_SS_RUN) any = leat_poets_softswitch_idle(ss);
    if (ss->host.count) any = flush_host(w, thread) || any;
    return any;
}

/* Records that are due, and progress. */
static void check_clock(struct leat_poets_worker *w)
{
    struct leat_poets_run *run = w->workers->run;
    const uint64_t now = leat_poets_run_cycles();
    uint64_t handled = 0;
    for (uint32_t t = w->first; t < w->end; t++) {
        struct leat_poets_slot slot;
        handled += run->softswitch[t].handled;
        if (leat_poets_softswitch_instr(&run->softswitch[t], now, &slot))
            put_host(w, t, LEAT_POETS_WORKERS_HOST, &slot);
    }
    atomic_store_explicit(&w->handled_reported, handled, memory_order_relaxed);
}

/* ---- the worker ----------------------------------------------------------------------------- */

/* Whoever sees the taken count also sees the put count that it caused: the host reads in the
 * opposite order. */
static void report_counts(struct leat_poets_worker *w)
{
    atomic_store_explicit(&w->put_reported, w->put, memory_order_relaxed);
    atomic_store_explicit(&w->taken_reported, w->taken, memory_order_release);
}

/* OnHardwareIdle of all, and the vote on it. */
static void vote(struct leat_poets_worker *w, unsigned step)
{
    leat_poets_run_watch_env(&w->env);
    const bool active = leat_poets_run_hardware_idle(w->workers->run, w->first, w->end);
    w->env.block = NULL;
    atomic_store(&w->passive, false);
    atomic_store(&w->idle_vote, !active);
    atomic_store(&w->idle_done, step);
}

/* When the host has found all idle; nothing is sent until all have voted. True: it has voted. */
static bool idle_step(struct leat_poets_worker *w)
{
    const unsigned requested = atomic_load(&w->workers->idle_requested);
    if (requested == atomic_load(&w->idle_done)) return false;
    vote(w, requested);
    return true;
}

/* It has voted, and others have not. */
static bool is_waiting(const struct leat_poets_worker *w)
{
    return atomic_load(&w->idle_done) != atomic_load(&w->workers->resumed);
}

void leat_poets_workers_rest(unsigned rounds)
{
    static const struct timespec nap = { .tv_nsec = SLEEP_NS };
    if (rounds < SPINS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

void leat_poets_worker_begin(struct leat_poets_worker *w)
{
    leat_poets_run_enlist(&w->env);
    for (uint32_t t = w->first; t < w->end; t++) {
        leat_poets_softswitch_start(&w->workers->run->softswitch[t], leat_poets_run_cycles());
        flush_host(w, t);
    }
}

bool leat_poets_worker_round(struct leat_poets_worker *w)
{
    if (is_waiting(w)) return false;
    leat_poets_run_watch_env(&w->env);
    bool any = take_cells(w);
    for (uint32_t t = w->first; t < w->end && w->released; t++) {
        any = run_softswitch(w, t) || any;
        if (w->inside) w->workers->meanwhile(w->workers);
        any = take_cells(w) || any;
    }
    for (uint32_t t = w->first; t < w->end && !w->released; t++)
        any = flush_host(w, t) || any;
    if (w->rounds++ % CLOCK_ROUNDS == 0 || !any) check_clock(w);
    w->env.block = NULL;
    if (any) return wake(w), true;
    report_counts(w);
    atomic_store(&w->passive, true);
    w->without_work++;
    return false;
}

/* Its worker of this task. True: there was something to do. */
static bool work_for(struct leat_poets_worker *w)
{
    if (atomic_load_explicit(&w->workers->ended, memory_order_relaxed)) return false;
    return leat_poets_worker_round(w) || idle_step(w);
}

static void *work(void *context)
{
    const struct leat_poets_mate *mate = context;
    struct leat_poets_crew *crew = mate->crew;
    unsigned without_work = 0;
    leat_poets_run_watch_crashes();
    for (uint32_t k = 0; k < crew->task_count; k++)
        leat_poets_worker_begin(&crew->of[k].worker[mate->number]);
    while (!atomic_load_explicit(&crew->ended, memory_order_relaxed)) {
        bool any = false;
        for (uint32_t k = 0; k < crew->task_count; k++)
            any = work_for(&crew->of[k].worker[mate->number]) || any;
        if (!any) leat_poets_workers_rest(without_work);
        without_work = any ? 0 : without_work + 1;
    }
    leat_poets_run_forget_crashes(crew->of->run->all);
    return NULL;
}

/* ---- interface of the host ------------------------------------------------------------------- */

static struct leat_poets_worker *worker_of(struct leat_poets_workers *workers, uint32_t thread)
{
    uint32_t i = 0;
    while (thread >= workers->worker[i].end)
        i++;
    return &workers->worker[i];
}

static bool put_packet(struct leat_poets_workers *workers, struct leat_poets_fifo *ring,
                       uint32_t thread, const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_workers_cell *cell = leat_poets_fifo_room(ring);
    if (!cell) return false;
    fill_cell(ring, cell, thread, packet, nflit);
    workers->host_put++;
    return true;
}

bool leat_poets_workers_from_host(struct leat_poets_workers *workers, uint32_t thread,
                                  const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_worker *w = worker_of(workers, thread);
    if (put_packet(workers, &w->from_host, thread, packet, nflit)) return true;
    if (w->inside) take_control(w); /* nobody else will */
    return put_packet(workers, &w->from_host, thread, packet, nflit);
}

bool leat_poets_workers_from_ranks(struct leat_poets_workers *workers, uint32_t thread,
                                   const uint8_t *packet, unsigned nflit)
{
    return put_packet(workers, &worker_of(workers, thread)->from_ranks, thread, packet, nflit);
}

const struct leat_poets_workers_cell *leat_poets_workers_oldest(struct leat_poets_workers *workers,
                                                                uint32_t worker)
{
    return leat_poets_fifo_oldest(&workers->worker[worker].to_host);
}

void leat_poets_workers_take(struct leat_poets_workers *workers, uint32_t worker)
{
    leat_poets_fifo_take(&workers->worker[worker].to_host);
    workers->host_taken++;
}

struct wave {
    bool passive;
    uint64_t put, taken;
};

static struct wave read_counts(const struct leat_poets_workers *workers)
{
    struct wave wave = { true, workers->host_put, workers->host_taken };
    for (uint32_t i = 0; i < workers->count; i++) {
        const struct leat_poets_worker *w = &workers->worker[i];
        wave.passive = wave.passive && atomic_load(&w->passive);
        wave.taken += atomic_load(&w->taken_reported);
        wave.put += atomic_load(&w->put_reported);
    }
    return wave;
}

bool leat_poets_workers_is_idle(const struct leat_poets_workers *workers)
{
    const struct wave first = read_counts(workers);
    if (!first.passive || first.taken != first.put) return false;
    const struct wave second = read_counts(workers);
    return second.passive && first.taken == second.put && first.put == second.put &&
           second.taken == second.put;
}

void leat_poets_workers_vote(struct leat_poets_workers *workers)
{
    const unsigned step = atomic_fetch_add(&workers->idle_requested, 1) + 1;
    for (uint32_t i = 0; i < workers->count; i++)
        if (workers->worker[i].inside) vote(&workers->worker[i], step);
}

bool leat_poets_workers_have_voted(const struct leat_poets_workers *workers, bool *unanimous)
{
    const unsigned step = atomic_load(&workers->idle_requested);
    *unanimous = true;
    for (uint32_t i = 0; i < workers->count; i++) {
        const struct leat_poets_worker *w = &workers->worker[i];
        if (atomic_load(&w->idle_done) != step) return false;
        *unanimous = *unanimous && atomic_load(&w->idle_vote);
    }
    return true;
}

void leat_poets_workers_resume(struct leat_poets_workers *workers)
{
    atomic_store(&workers->resumed, atomic_load(&workers->idle_requested));
}

uint64_t leat_poets_workers_received(const struct leat_poets_workers *workers)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < workers->count; i++)
        sum += atomic_load_explicit(&workers->worker[i].handled_reported, memory_order_relaxed);
    return sum;
}

void leat_poets_workers_supervise(struct leat_poets_workers *workers, double *last)
{
    const double now = leat_poets_run_seconds();
    if (now - *last < 1e-3) return;
    *last = now;
    leat_poets_graph_host_idle(&workers->run->host);
}

/* ---- making and ending ---------------------------------------------------------------------- */

/* The first block of a thread; the blocks of a thread are contiguous. */
static uint32_t first_block(const struct leat_poets_machine *m, uint32_t thread)
{
    uint32_t least = (uint32_t)(m->blocks_len / LEAT_POETS_BLOCK_UNIT);
    for (uint32_t k = m->first[thread]; thread < m->thread_to && k < m->first[thread + 1]; k++)
        if (m->dealt[k] < least) least = m->dealt[k];
    return least;
}

/* Equal shares of the local threads. */
static uint32_t first_thread(const struct leat_poets_machine *m, uint32_t worker, uint32_t workers)
{
    return m->thread_from +
           (uint32_t)((uint64_t)(m->thread_to - m->thread_from) * worker / workers);
}

static bool make_worker(struct leat_poets_workers *workers, uint32_t number)
{
    const struct leat_poets_machine *m = workers->run->machine;
    struct leat_poets_worker *w = &workers->worker[number];
    w->workers = workers;
    w->number = number;
    w->first = first_thread(m, number, workers->count);
    w->end = first_thread(m, number + 1, workers->count);
    w->block_from = first_block(m, w->first);
    w->block_to = first_block(m, w->end);
    w->released = w->first == w->end;
    leat_poets_run_env(workers->run, &w->env, true);
    for (uint32_t t = w->first; t < w->end; t++)
        workers->run->softswitch[t].config.env = &w->env;
    w->in = aligned_alloc(LEAT_POETS_CACHE_LINE, workers->count * sizeof *w->in);
    if (!w->in) return false;
    memset(w->in, 0, workers->count * sizeof *w->in);
    for (uint32_t i = 0; i < workers->count; i++)
        if (i != number && !leat_poets_fifo_make(&w->in[i], RING_CELLS, sizeof(struct cell)))
            return false;
    if (m->rank_count > 1 &&
        !leat_poets_fifo_make(&w->from_ranks, HOST_CELLS, sizeof(struct leat_poets_workers_cell)))
        return false;
    return leat_poets_fifo_make(&w->from_host, HOST_CELLS,
                                sizeof(struct leat_poets_workers_cell)) &&
           leat_poets_fifo_make(&w->to_host, HOST_CELLS, sizeof(struct leat_poets_workers_cell));
}

static void free_workers(struct leat_poets_workers *workers)
{
    for (uint32_t i = 0; workers->worker && i < workers->count; i++) {
        struct leat_poets_worker *w = &workers->worker[i];
        for (uint32_t k = 0; w->in && k < workers->count; k++)
            free(w->in[k].cells);
        free(w->in);
        free(w->from_host.cells);
        free(w->from_ranks.cells);
        free(w->to_host.cells);
    }
    free(workers->worker);
}

static bool make_workers(struct leat_poets_workers *workers, struct leat_poets_crew *crew,
                         struct leat_poets_run *run)
{
    *workers = (struct leat_poets_workers){ .run = run, .crew = crew };
    workers->worker = aligned_alloc(LEAT_POETS_CACHE_LINE, crew->count * sizeof *workers->worker);
    if (!workers->worker) return false;
    memset(workers->worker, 0, crew->count * sizeof *workers->worker);
    workers->count = crew->count;
    bool good = leat_poets_run_make(run, &workers->worker->env, run->machine->thread_count + 1);
    for (uint32_t i = 0; good && i < crew->count; i++)
        good = make_worker(workers, i);
    return good;
}

bool leat_poets_crew_make(struct leat_poets_crew *crew, struct leat_poets_runs *runs)
{
    *crew = (struct leat_poets_crew){ .count = runs->run->options->workers };
    crew->of = calloc(runs->count, sizeof *crew->of);
    crew->mate = calloc(crew->count, sizeof *crew->mate);
    bool good = crew->of && crew->mate;
    while (good && crew->task_count < runs->count) {
        struct leat_poets_workers *workers = &crew->of[crew->task_count];
        good = make_workers(workers, crew, &runs->run[crew->task_count++]);
    }
    return good;
}

bool leat_poets_crew_start(struct leat_poets_crew *crew, uint32_t first)
{
    /* Signals are handled by the host. */
    sigset_t all, before;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    crew->first_started = crew->started = first;
    while (crew->started < crew->count) {
        struct leat_poets_mate *mate = &crew->mate[crew->started];
        mate->crew = crew;
        mate->number = crew->started;
        if (pthread_create(&mate->thread, NULL, work, mate) != 0) break;
        crew->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return crew->started == crew->count;
}

void leat_poets_crew_end(struct leat_poets_crew *crew)
{
    atomic_store(&crew->ended, true);
    for (uint32_t k = 0; k < crew->task_count; k++)
        atomic_store(&crew->of[k].ended, true);
    for (uint32_t i = crew->first_started; i < crew->started; i++)
        pthread_join(crew->mate[i].thread, NULL);
    for (uint32_t k = 0; k < crew->task_count; k++) {
        leat_poets_run_lend_env(crew->of[k].run, false);
        free_workers(&crew->of[k]);
    }
    free(crew->of);
    free(crew->mate);
}
