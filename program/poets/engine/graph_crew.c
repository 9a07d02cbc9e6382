#include "graph_crew.h"
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
    struct leat_poets_run *run = w->crew->run;
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
    const struct leat_poets_crew_cell *cell = leat_poets_fifo_oldest(ring);
    const bool any = cell;
    const uint64_t now = any ? leat_poets_run_cycles() : 0;
    for (; cell; cell = leat_poets_fifo_oldest(ring)) {
        wake(w);
        leat_poets_softswitch_receive(&w->crew->run->softswitch[cell->thread], cell->slot.packet,
                                      cell->slot.nflit, now);
        leat_poets_fifo_take(ring);
        w->taken++;
    }
    return any;
}

/* Control packets, which may open the barrier. */
static bool take_control(struct leat_poets_worker *w)
{
    const struct leat_poets_run *run = w->crew->run;
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
    for (uint32_t i = 0; w->released && i < w->crew->count; i++) {
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

/* Room in a ring; receives packets of others while it waits. NULL: the run is over. */
static void *wait_for_room(struct leat_poets_worker *w, struct leat_poets_fifo *ring)
{
    void *room;
    while (!(room = leat_poets_fifo_room(ring))) {
        if (atomic_load_explicit(&w->crew->ended, memory_order_relaxed)) return NULL;
        if (w->inside) w->crew->meanwhile(w->crew);
        if (take_cells(w)) continue;
        w->env.block = NULL; /* no handler runs */
        sched_yield();
    }
    return room;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* Writes a packet to a thread, or to the host, into the free cell of a ring. */
static void fill_cell(struct leat_poets_fifo *ring, struct leat_poets_crew_cell *cell,
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
    struct leat_poets_crew_cell *cell = wait_for_room(w, &w->to_host);
    if (!cell) return;
    if (to == LEAT_POETS_CREW_HOST)
        leat_poets_run_show(w->crew->run, true, from, slot->packet, slot->nflit);
    fill_cell(&w->to_host, cell, to, slot->packet, slot->nflit);
    w->put++;
}

static bool flush_host(struct leat_poets_worker *w, uint32_t thread)
{
    struct leat_poets_slot slot;
    bool any = false;
    while (leat_poets_softswitch_take_host(&w->crew->run->softswitch[thread], &slot)) {
        put_host(w, thread, LEAT_POETS_CREW_HOST, &slot);
        any = true;
    }
    return any;
}

static void put_cell(struct leat_poets_worker *w, const struct leat_poets_out_edge *edge,
                     const uint8_t *payload, uint32_t len)
{
    struct leat_poets_crew *crew = w->crew;
    uint32_t to = 0;
    while (edge->block >= crew->worker[to].block_to)
        to++;
    struct cell *cell = wait_for_room(w, &crew->worker[to].in[w->number]);
    if (!cell) return;
    cell->block = edge->block;
    cell->pin_address = edge->pin_address;
    memcpy(cell->payload, payload, len);
    leat_poets_fifo_put(&crew->worker[to].in[w->number]);
    w->put++;
}

/* To the supervisor, to an external, to another rank: a packet as it is on the wire. */
static void send_packet(struct leat_poets_worker *w, uint32_t thread, uint32_t edge)
{
    struct leat_poets_step_out out;
    leat_poets_softswitch_packet(&w->crew->run->softswitch[thread], edge, &out);
    put_host(w, thread, out.kind == LEAT_POETS_STEP_SEND ? out.thread : LEAT_POETS_CREW_HOST,
             &out.out);
}

/* Reports a packet to a device to the observer; one to an external is reported on its way to the
 * host. */
static void show_edge(struct leat_poets_worker *w, uint32_t thread, uint32_t edge)
{
    struct leat_poets_softswitch *ss = &w->crew->run->softswitch[thread];
    struct leat_poets_step_out out;
    if (ss->sending.edge[edge].block & (LEAT_POETS_EXTERNAL | LEAT_POETS_AWAY)) return;
    leat_poets_softswitch_packet(ss, edge, &out);
    ss->sent--; /* it is counted with the whole fan-out */
    leat_poets_run_show(w->crew->run, false, out.thread, out.out.packet, out.out.nflit);
}

/* Prefetches the memory of a block. An invalid address does no harm. */
static void prefetch(const struct leat_poets_worker *w, uint32_t block)
{
    const uint8_t *at = w->crew->run->machine->blocks + (size_t)block * LEAT_POETS_BLOCK_UNIT;
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LEAT_POETS_CACHE_LINE, 1);
}

/* A whole fan-out. While it waits for room, a STOP may end it: `sending` is empty then. */
static void send_all(struct leat_poets_worker *w, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &w->crew->run->softswitch[thread];
    const struct leat_poets_sending *s = &ss->sending;
    const struct leat_poets_out_edge *edge = s->edge;
    const uint32_t count = s->count, from = w->block_from, to = w->block_to;
    const bool shown = w->crew->run->options->watch.packet;
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
    struct leat_poets_softswitch *ss = &w->crew->run->softswitch[thread];
    bool any = false;
    for (int i = 0; i < SENDS_AT_A_TIME && ss->state == LEAT_POETS_SS_RUN && ss->ring_count; i++) {
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
static void look_at_clock(struct leat_poets_worker *w)
{
    struct leat_poets_run *run = w->crew->run;
    const uint64_t now = leat_poets_run_cycles();
    uint64_t handled = 0;
    for (uint32_t t = w->first; t < w->end; t++) {
        struct leat_poets_slot slot;
        handled += run->softswitch[t].handled;
        if (leat_poets_softswitch_instr(&run->softswitch[t], now, &slot))
            put_host(w, t, LEAT_POETS_CREW_HOST, &slot);
    }
    atomic_store_explicit(&w->handled_told, handled, memory_order_relaxed);
}

/* ---- the worker ----------------------------------------------------------------------------- */

/* Whoever sees the taken count also sees the put count that it caused: the host reads in the
 * opposite order. */
static void tell_counts(struct leat_poets_worker *w)
{
    atomic_store_explicit(&w->put_told, w->put, memory_order_relaxed);
    atomic_store_explicit(&w->taken_told, w->taken, memory_order_release);
}

/* OnHardwareIdle of all, and the vote on it. */
static void vote(struct leat_poets_worker *w, unsigned step)
{
    const bool active = leat_poets_run_hardware_idle(w->crew->run, w->first, w->end);
    w->env.block = NULL;
    atomic_store(&w->passive, false);
    atomic_store(&w->idle_vote, !active);
    atomic_store(&w->idle_done, step);
}

/* When the host has found all idle; nothing is sent until all have voted. */
static void idle_step(struct leat_poets_worker *w)
{
    struct leat_poets_crew *crew = w->crew;
    const unsigned asked = atomic_load(&crew->idle_asked);
    if (asked == atomic_load(&w->idle_done)) return;
    vote(w, asked);
    while (atomic_load(&crew->resumed) != asked && !atomic_load(&crew->ended))
        sched_yield();
}

void leat_poets_crew_rest(unsigned rounds)
{
    static const struct timespec nap = { .tv_nsec = SLEEP_NS };
    if (rounds < SPINS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

void leat_poets_worker_begin(struct leat_poets_worker *w)
{
    leat_poets_run_watch_crashes(&w->env);
    for (uint32_t t = w->first; t < w->end; t++) {
        leat_poets_softswitch_start(&w->crew->run->softswitch[t], leat_poets_run_cycles());
        flush_host(w, t);
    }
}

bool leat_poets_worker_round(struct leat_poets_worker *w)
{
    bool any = take_cells(w);
    for (uint32_t t = w->first; t < w->end && w->released; t++) {
        any = run_softswitch(w, t) || any;
        if (w->inside) w->crew->meanwhile(w->crew);
        any = take_cells(w) || any;
    }
    for (uint32_t t = w->first; t < w->end && !w->released; t++)
        any = flush_host(w, t) || any;
    if (w->rounds++ % CLOCK_ROUNDS == 0 || !any) look_at_clock(w);
    if (any) return wake(w), true;
    w->env.block = NULL;
    tell_counts(w);
    atomic_store(&w->passive, true);
    w->without_work++;
    return false;
}

static void *work(void *context)
{
    struct leat_poets_worker *w = context;
    leat_poets_worker_begin(w);
    while (!atomic_load_explicit(&w->crew->ended, memory_order_relaxed)) {
        if (leat_poets_worker_round(w)) continue;
        idle_step(w);
        leat_poets_crew_rest(w->without_work);
    }
    leat_poets_run_forget_crashes();
    return NULL;
}

/* ---- interface of the host ------------------------------------------------------------------- */

static struct leat_poets_worker *worker_of(struct leat_poets_crew *crew, uint32_t thread)
{
    uint32_t i = 0;
    while (thread >= crew->worker[i].end)
        i++;
    return &crew->worker[i];
}

static bool put_packet(struct leat_poets_crew *crew, struct leat_poets_fifo *ring, uint32_t thread,
                       const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_crew_cell *cell = leat_poets_fifo_room(ring);
    if (!cell) return false;
    fill_cell(ring, cell, thread, packet, nflit);
    crew->host_put++;
    return true;
}

bool leat_poets_crew_from_host(struct leat_poets_crew *crew, uint32_t thread, const uint8_t *packet,
                               unsigned nflit)
{
    struct leat_poets_worker *w = worker_of(crew, thread);
    if (put_packet(crew, &w->from_host, thread, packet, nflit)) return true;
    if (w->inside) take_control(w); /* nobody else will */
    return put_packet(crew, &w->from_host, thread, packet, nflit);
}

bool leat_poets_crew_from_ranks(struct leat_poets_crew *crew, uint32_t thread,
                                const uint8_t *packet, unsigned nflit)
{
    return put_packet(crew, &worker_of(crew, thread)->from_ranks, thread, packet, nflit);
}

const struct leat_poets_crew_cell *leat_poets_crew_oldest(struct leat_poets_crew *crew,
                                                          uint32_t worker)
{
    return leat_poets_fifo_oldest(&crew->worker[worker].to_host);
}

void leat_poets_crew_take(struct leat_poets_crew *crew, uint32_t worker)
{
    leat_poets_fifo_take(&crew->worker[worker].to_host);
    crew->host_taken++;
}

struct wave {
    bool passive;
    uint64_t put, taken;
};

static struct wave look_round(const struct leat_poets_crew *crew)
{
    struct wave wave = { true, crew->host_put, crew->host_taken };
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct leat_poets_worker *w = &crew->worker[i];
        wave.passive = wave.passive && atomic_load(&w->passive);
        wave.taken += atomic_load(&w->taken_told);
        wave.put += atomic_load(&w->put_told);
    }
    return wave;
}

bool leat_poets_crew_is_idle(const struct leat_poets_crew *crew)
{
    const struct wave first = look_round(crew);
    if (!first.passive || first.taken != first.put) return false;
    const struct wave second = look_round(crew);
    return second.passive && first.taken == second.put && first.put == second.put &&
           second.taken == second.put;
}

bool leat_poets_crew_vote(struct leat_poets_crew *crew)
{
    const unsigned step = atomic_fetch_add(&crew->idle_asked, 1) + 1;
    bool unanimous = true;
    for (uint32_t i = 0; i < crew->count; i++) {
        struct leat_poets_worker *w = &crew->worker[i];
        if (w->inside) vote(w, step);
        while (atomic_load(&w->idle_done) != step)
            sched_yield();
        unanimous = unanimous && atomic_load(&w->idle_vote);
    }
    return unanimous;
}

void leat_poets_crew_resume(struct leat_poets_crew *crew)
{
    atomic_store(&crew->resumed, atomic_load(&crew->idle_asked));
}

uint64_t leat_poets_crew_received(const struct leat_poets_crew *crew)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < crew->count; i++)
        sum += atomic_load_explicit(&crew->worker[i].handled_told, memory_order_relaxed);
    return sum;
}

void leat_poets_crew_supervise(struct leat_poets_crew *crew, double *last)
{
    const double now = leat_poets_run_seconds();
    if (now - *last < 1e-3) return;
    *last = now;
    leat_poets_graph_host_idle(&crew->run->host);
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

static bool make_worker(struct leat_poets_crew *crew, uint32_t number)
{
    const struct leat_poets_machine *m = crew->run->machine;
    struct leat_poets_worker *w = &crew->worker[number];
    w->crew = crew;
    w->number = number;
    w->first = first_thread(m, number, crew->count);
    w->end = first_thread(m, number + 1, crew->count);
    w->block_from = first_block(m, w->first);
    w->block_to = first_block(m, w->end);
    w->released = w->first == w->end;
    leat_poets_run_env(crew->run, &w->env, true);
    for (uint32_t t = w->first; t < w->end; t++)
        crew->run->softswitch[t].config.env = &w->env;
    w->in = aligned_alloc(LEAT_POETS_CACHE_LINE, crew->count * sizeof *w->in);
    if (!w->in) return false;
    memset(w->in, 0, crew->count * sizeof *w->in);
    for (uint32_t i = 0; i < crew->count; i++)
        if (i != number && !leat_poets_fifo_make(&w->in[i], RING_CELLS, sizeof(struct cell)))
            return false;
    if (m->rank_count > 1 &&
        !leat_poets_fifo_make(&w->from_ranks, HOST_CELLS, sizeof(struct leat_poets_crew_cell)))
        return false;
    return leat_poets_fifo_make(&w->from_host, HOST_CELLS, sizeof(struct leat_poets_crew_cell)) &&
           leat_poets_fifo_make(&w->to_host, HOST_CELLS, sizeof(struct leat_poets_crew_cell));
}

static void free_workers(struct leat_poets_crew *crew)
{
    for (uint32_t i = 0; crew->worker && i < crew->count; i++) {
        struct leat_poets_worker *w = &crew->worker[i];
        for (uint32_t k = 0; w->in && k < crew->count; k++)
            free(w->in[k].cells);
        free(w->in);
        free(w->from_host.cells);
        free(w->from_ranks.cells);
        free(w->to_host.cells);
    }
    free(crew->worker);
}

bool leat_poets_crew_make(struct leat_poets_crew *crew, struct leat_poets_run *run)
{
    const uint32_t count = run->options->workers;
    *crew = (struct leat_poets_crew){ .run = run };
    crew->worker = aligned_alloc(LEAT_POETS_CACHE_LINE, count * sizeof *crew->worker);
    if (!crew->worker) return false;
    memset(crew->worker, 0, count * sizeof *crew->worker);
    crew->count = count;
    bool good = leat_poets_run_make(run, &crew->worker->env, run->machine->thread_count + 1);
    for (uint32_t i = 0; good && i < count; i++)
        good = make_worker(crew, i);
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
        struct leat_poets_worker *w = &crew->worker[crew->started];
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
        crew->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return crew->started == crew->count;
}

void leat_poets_crew_end(struct leat_poets_crew *crew)
{
    atomic_store(&crew->ended, true);
    for (uint32_t i = crew->first_started; i < crew->started; i++)
        pthread_join(crew->worker[i].thread, NULL);
    leat_poets_run_lend_env(crew->run, false);
    free_workers(crew);
}
