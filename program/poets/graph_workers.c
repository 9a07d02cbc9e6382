/*
 * Workers: each has a share of the threads and runs their softswitches in turn.
 *
 *   device to device of one worker    handed over at once
 *   to a device of another worker     a ring of cells for each pair
 *   to the host, and from it          a ring each
 *
 * All rings are bounded. Who waits for room goes on receiving, so that no circle of full rings can
 * stand still. The host finds out when all is idle: all workers passive, and as much taken out of
 * rings as was put into them, twice in a row (Mattern's four counters).
 */
#include "graph_run_parts.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RING_CELLS = 1 << 12,      /* between two workers */
    HOST_CELLS = 1 << 14,      /* to and from the host */
    SENDS_AT_A_TIME = 1 << 14, /* of one softswitch, before the next has its turn: as long as it has
                                  something to send its devices stay in the cache */
    SPINS = 200,               /* without work, until a worker sleeps */
    SLEEP_NS = 50000,
    CLOCK_ROUNDS = 64, /* rounds between two looks at the clock */
    CACHE_LINE = 64,
    AHEAD = 2, /* blocks are fetched so many packets before */
};

/* A packet to a device, or to the host; one line of the cache, and what does not fit. */
struct cell {
    uint32_t block, pin_address;
    uint8_t payload[LEAT_POETS_PAYLOAD_LEN_MAX];
};

struct host_cell {
    uint32_t thread;
    struct leat_poets_slot slot;
};

/* One writer, one reader. Each keeps what it last saw of the other. */
struct ring {
    uint8_t *cells;
    uint32_t cell_len, cap; /* a power of two */
    _Alignas(CACHE_LINE) _Atomic uint32_t head;
    uint32_t tail_seen;
    _Alignas(CACHE_LINE) _Atomic uint32_t tail;
    uint32_t head_seen;
};

struct worker {
    _Alignas(CACHE_LINE) struct leat_poets_env env; /* handlers write to it */
    struct crew *crew;
    pthread_t thread;
    uint32_t number, first, end;   /* its threads */
    uint32_t block_from, block_to; /* its blocks */
    struct ring *in;               /* from each worker */
    struct ring from_host, to_host;
    bool released;       /* all its softswitches are past the barrier */
    uint64_t put, taken; /* cells of all its rings */
    _Alignas(CACHE_LINE) _Atomic uint64_t put_told, taken_told;
    atomic_bool passive, idle_vote;
    atomic_uint idle_done;
};

struct crew {
    struct leat_run *run;
    struct worker *worker;
    uint32_t count, started;
    uint64_t host_put, host_taken;
    atomic_uint idle_asked; /* number of the idle step that is asked for */
    atomic_uint resumed;    /* number of the last idle step that is over */
    atomic_bool ended;
};

/* ---- rings ---------------------------------------------------------------------------------- */

static bool make_ring(struct ring *ring, uint32_t cap, uint32_t cell_len)
{
    ring->cap = cap;
    ring->cell_len = cell_len;
    ring->cells = malloc((size_t)cap * cell_len);
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    return ring->cells;
}

/* Where the next cell is to be written; NULL: full. */
static void *ring_room(struct ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - ring->tail_seen == ring->cap) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - ring->tail_seen == ring->cap) return NULL;
    }
    return ring->cells + (size_t)(head & (ring->cap - 1)) * ring->cell_len;
}

static void ring_put(struct ring *ring)
{
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* The oldest cell; NULL: empty. */
static void *ring_oldest(struct ring *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == ring->head_seen) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (tail == ring->head_seen) return NULL;
    }
    return ring->cells + (size_t)(tail & (ring->cap - 1)) * ring->cell_len;
}

static void ring_take(struct ring *ring)
{
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

/* ---- receiving ------------------------------------------------------------------------------ */

static void deliver(struct worker *w, uint32_t number, uint32_t pin_address, const uint8_t *payload)
{
    struct leat_run *run = w->crew->run;
    void *at = run->machine->blocks + (size_t)number * LEAT_POETS_BLOCK_UNIT;
    struct leat_poets_block *block = at;
    struct leat_poets_softswitch *ss = &run->softswitch[block->thread];
    if (ss->state == LEAT_POETS_SS_RUN)
        leat_poets_softswitch_deliver(ss, block, pin_address, payload);
    else
        ss->cause[LEAT_POETS_CAUSE_DISCARDED]++;
}

/* Control packets, from the host. True: there was one. */
static bool take_control(struct worker *w)
{
    const struct host_cell *cell;
    struct leat_run *run = w->crew->run;
    bool any = false;
    while ((cell = ring_oldest(&w->from_host))) {
        leat_poets_softswitch_receive(&run->softswitch[cell->thread], cell->slot.packet,
                                      cell->slot.nflit, leat_run_cycles());
        ring_take(&w->from_host);
        w->taken++;
        any = true;
    }
    if (!any || w->released) return any;
    w->released = true;
    for (uint32_t t = w->first; t < w->end; t++)
        if (run->softswitch[t].state == LEAT_POETS_SS_BARRIER) w->released = false;
    return any;
}

/* Cells of other workers wait until all threads here are past the barrier. */
static bool take_cells(struct worker *w)
{
    bool any = take_control(w);
    for (uint32_t i = 0; w->released && i < w->crew->count; i++) {
        const struct cell *cell;
        if (i == w->number) continue;
        while ((cell = ring_oldest(&w->in[i]))) {
            deliver(w, cell->block, cell->pin_address, cell->payload);
            ring_take(&w->in[i]);
            w->taken++;
            any = true;
        }
    }
    return any;
}

/* Room in a ring; others' packets are received in the meantime. NULL: the run is over. */
static void *wait_for_room(struct worker *w, struct ring *ring)
{
    void *room;
    while (!(room = ring_room(ring))) {
        if (atomic_load_explicit(&w->crew->ended, memory_order_relaxed)) return NULL;
        if (!take_cells(w)) sched_yield();
    }
    return room;
}

/* ---- sending -------------------------------------------------------------------------------- */

static void put_host(struct worker *w, uint32_t thread, const struct leat_poets_slot *slot)
{
    struct host_cell *cell = wait_for_room(w, &w->to_host);
    if (!cell) return;
    cell->thread = thread;
    cell->slot.nflit = slot->nflit;
    memcpy(cell->slot.packet, slot->packet, slot->nflit * (size_t)LEAT_POETS_FLIT_LEN);
    ring_put(&w->to_host);
    w->put++;
}

static bool flush_host(struct worker *w, uint32_t thread)
{
    struct leat_poets_slot slot;
    bool any = false;
    while (leat_poets_softswitch_take_host(&w->crew->run->softswitch[thread], &slot)) {
        put_host(w, thread, &slot);
        any = true;
    }
    return any;
}

static void put_cell(struct worker *w, const struct leat_poets_out_edge *edge,
                     const uint8_t *payload, uint32_t len)
{
    struct crew *crew = w->crew;
    uint32_t to = 0;
    while (edge->block >= crew->worker[to].block_to)
        to++;
    struct cell *cell = wait_for_room(w, &crew->worker[to].in[w->number]);
    if (!cell) return;
    cell->block = edge->block;
    cell->pin_address = edge->pin_address;
    memcpy(cell->payload, payload, len);
    ring_put(&crew->worker[to].in[w->number]);
    w->put++;
}

/* To the supervisor, or to an external: a packet for the host. */
static void send_to_host(struct worker *w, uint32_t thread, uint32_t edge)
{
    struct leat_poets_step_out out;
    leat_poets_softswitch_packet(&w->crew->run->softswitch[thread], edge, &out);
    put_host(w, thread, &out.out);
}

/* The memory of a block that is wanted soon. An address that is not there does no harm. */
static void prefetch(const struct worker *w, uint32_t block)
{
    const uint8_t *at = w->crew->run->machine->blocks + (size_t)block * LEAT_POETS_BLOCK_UNIT;
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + CACHE_LINE, 1);
}

/* A whole fan-out. While it waits for room, a STOP may end it: `sending` is empty then. */
static void send_all(struct worker *w, uint32_t thread)
{
    struct leat_poets_softswitch *ss = &w->crew->run->softswitch[thread];
    const struct leat_poets_sending *s = &ss->sending;
    const struct leat_poets_out_edge *edge = s->edge;
    const uint32_t count = s->count, from = w->block_from, to = w->block_to;
    if (s->to_supervisor) {
        send_to_host(w, thread, 0);
        return;
    }
    for (uint32_t i = 0; i < count && s->block; i++) {
        if (i + AHEAD < count) prefetch(w, edge[i + AHEAD].block);
        if (edge[i].block >= from && edge[i].block < to)
            deliver(w, edge[i].block, edge[i].pin_address, s->payload);
        else if (edge[i].block & LEAT_POETS_EXTERNAL)
            send_to_host(w, thread, i);
        else
            put_cell(w, &edge[i], s->payload, s->payload_len);
    }
    ss->sent += count;
}

static bool run_softswitch(struct worker *w, uint32_t thread)
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

/* Records that are due. */
static void look_at_clock(struct worker *w)
{
    struct leat_run *run = w->crew->run;
    const uint64_t now = leat_run_cycles();
    for (uint32_t t = w->first; t < w->end; t++) {
        struct leat_poets_slot slot;
        if (leat_poets_softswitch_instr(&run->softswitch[t], now, &slot)) put_host(w, t, &slot);
    }
}

/* ---- the worker ----------------------------------------------------------------------------- */

/* Who sees what was taken sees what was put because of it, too: the host looks in the other order.
 */
static void tell_counts(struct worker *w)
{
    atomic_store_explicit(&w->put_told, w->put, memory_order_relaxed);
    atomic_store_explicit(&w->taken_told, w->taken, memory_order_release);
}

/* OnHardwareIdle, when the host has found all to be idle; nothing is sent until all have done so.
 */
static void idle_step(struct worker *w)
{
    struct crew *crew = w->crew;
    const unsigned asked = atomic_load(&crew->idle_asked);
    bool active = false;
    if (asked == atomic_load(&w->idle_done)) return;
    for (uint32_t t = w->first; t < w->end; t++)
        active = leat_poets_softswitch_hardware_idle(&crew->run->softswitch[t]) || active;
    atomic_store(&w->passive, false);
    atomic_store(&w->idle_vote, !active);
    atomic_store(&w->idle_done, asked);
    while (atomic_load(&crew->resumed) != asked && !atomic_load(&crew->ended))
        sched_yield();
}

static void rest(unsigned rounds)
{
    static const struct timespec nap = { .tv_nsec = SLEEP_NS };
    if (rounds < SPINS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

static void *work(void *context)
{
    struct worker *w = context;
    struct leat_run *run = w->crew->run;
    unsigned without_work = 0, rounds = 0;
    leat_run_watch_crashes(&w->env);
    for (uint32_t t = w->first; t < w->end; t++) {
        leat_poets_softswitch_start(&run->softswitch[t], leat_run_cycles());
        flush_host(w, t);
    }
    while (!atomic_load_explicit(&w->crew->ended, memory_order_relaxed)) {
        bool any = take_cells(w);
        for (uint32_t t = w->first; t < w->end && w->released; t++) {
            any = run_softswitch(w, t) || any;
            any = take_cells(w) || any;
        }
        for (uint32_t t = w->first; t < w->end && !w->released; t++)
            any = flush_host(w, t) || any;
        if (rounds++ % CLOCK_ROUNDS == 0 || !any) look_at_clock(w);
        if (any) {
            if (without_work) atomic_store(&w->passive, false);
            without_work = 0;
            continue;
        }
        tell_counts(w);
        atomic_store(&w->passive, true);
        idle_step(w);
        rest(without_work++);
    }
    leat_run_forget_crashes();
    return NULL;
}

/* ---- the host ------------------------------------------------------------------------------- */

static bool take_host_cells(struct crew *crew)
{
    bool any = false;
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct host_cell *cell;
        while ((cell = ring_oldest(&crew->worker[i].to_host))) {
            const struct host_cell copy = *cell; /* what it leads to may take further cells */
            ring_take(&crew->worker[i].to_host);
            leat_host_packet(&crew->run->host, copy.slot.packet, copy.slot.nflit);
            crew->host_taken++;
            any = true;
        }
    }
    return any;
}

/* A worker that waits for the host's ring takes what is in this one, so this ends. */
static void send_to_thread(struct leat_host *host, uint32_t thread, const uint8_t *packet,
                           unsigned nflit)
{
    struct crew *crew = host->engine;
    uint32_t i = 0;
    struct host_cell *cell;
    while (thread >= crew->worker[i].end)
        i++;
    while (!(cell = ring_room(&crew->worker[i].from_host)))
        sched_yield();
    cell->thread = thread;
    cell->slot.nflit = (uint8_t)nflit;
    memcpy(cell->slot.packet, packet, (size_t)nflit * LEAT_POETS_FLIT_LEN);
    ring_put(&crew->worker[i].from_host);
    crew->host_put++;
}

struct wave {
    bool passive;
    uint64_t put, taken;
};

static struct wave look_round(const struct crew *crew)
{
    struct wave wave = { true, crew->host_put, crew->host_taken };
    for (uint32_t i = 0; i < crew->count; i++) {
        const struct worker *w = &crew->worker[i];
        wave.passive = wave.passive && atomic_load(&w->passive);
        wave.taken += atomic_load(&w->taken_told);
        wave.put += atomic_load(&w->put_told);
    }
    return wave;
}

static bool all_idle(const struct crew *crew)
{
    const struct wave first = look_round(crew);
    if (!first.passive || first.taken != first.put) return false;
    const struct wave second = look_round(crew);
    return second.passive && first.taken == second.put && first.put == second.put &&
           second.taken == second.put;
}

/* All run OnHardwareIdle and vote. True: none of them wants anything. */
static bool ask_idle(struct crew *crew)
{
    const unsigned step = atomic_fetch_add(&crew->idle_asked, 1) + 1;
    bool unanimous = true;
    for (uint32_t i = 0; i < crew->count; i++) {
        while (atomic_load(&crew->worker[i].idle_done) != step)
            sched_yield();
        unanimous = unanimous && atomic_load(&crew->worker[i].idle_vote);
    }
    atomic_store(&crew->resumed, step);
    return unanimous;
}

/* Once a millisecond, while nothing has come for it. */
static void supervise(struct crew *crew, double *last)
{
    const double now = leat_run_seconds();
    if (now - *last < 1e-3) return;
    *last = now;
    leat_host_idle(&crew->run->host);
}

static void host_to_the_end(struct crew *crew)
{
    struct leat_run *run = crew->run;
    const double began = leat_run_seconds();
    double supervised = began;
    uint32_t idle_steps = 0;
    unsigned without_work = 0;
    while (!leat_host_is_over(&run->host)) {
        leat_run_check_end(run, began);
        if (take_host_cells(crew)) {
            without_work = idle_steps = 0;
            continue;
        }
        supervise(crew, &supervised);
        if (run->host.app.state == LEAT_POETS_APP_RUNNING && all_idle(crew)) {
            const bool unanimous = !run->machine->has_hardware_idle || ask_idle(crew);
            idle_steps = unanimous ? idle_steps + 1 : 0;
            if (idle_steps >= leat_run_idle_steps(run)) leat_run_end_idle(run);
        }
        rest(without_work++);
    }
}

/* ---- making and ending ---------------------------------------------------------------------- */

/* The first block of a thread; threads have theirs together, one after the other. */
static uint32_t first_block(const struct leat_machine *m, uint32_t thread)
{
    uint32_t least = (uint32_t)(m->blocks_len / LEAT_POETS_BLOCK_UNIT);
    for (uint32_t k = m->first[thread]; thread < m->thread_to && k < m->first[thread + 1]; k++)
        if (m->dealt[k] < least) least = m->dealt[k];
    return least;
}

/* Equal shares of the threads that are here. */
static uint32_t first_thread(const struct leat_machine *m, uint32_t worker, uint32_t workers)
{
    return m->thread_from +
           (uint32_t)((uint64_t)(m->thread_to - m->thread_from) * worker / workers);
}

static bool make_worker(struct crew *crew, uint32_t number)
{
    const struct leat_machine *m = crew->run->machine;
    struct worker *w = &crew->worker[number];
    w->crew = crew;
    w->number = number;
    w->first = first_thread(m, number, crew->count);
    w->end = first_thread(m, number + 1, crew->count);
    w->block_from = first_block(m, w->first);
    w->block_to = first_block(m, w->end);
    w->released = w->first == w->end;
    leat_run_env(crew->run, &w->env, true);
    for (uint32_t t = w->first; t < w->end; t++)
        crew->run->softswitch[t].config.env = &w->env;
    w->in = aligned_alloc(CACHE_LINE, crew->count * sizeof *w->in);
    if (!w->in) return false;
    memset(w->in, 0, crew->count * sizeof *w->in);
    for (uint32_t i = 0; i < crew->count; i++)
        if (i != number && !make_ring(&w->in[i], RING_CELLS, sizeof(struct cell))) return false;
    return make_ring(&w->from_host, HOST_CELLS, sizeof(struct host_cell)) &&
           make_ring(&w->to_host, HOST_CELLS, sizeof(struct host_cell));
}

static void free_workers(struct crew *crew)
{
    for (uint32_t i = 0; crew->worker && i < crew->count; i++) {
        struct worker *w = &crew->worker[i];
        for (uint32_t k = 0; w->in && k < crew->count; k++)
            free(w->in[k].cells);
        free(w->in);
        free(w->from_host.cells);
        free(w->to_host.cells);
    }
    free(crew->worker);
}

static bool start_workers(struct crew *crew)
{
    /* Signals are the host's affair. */
    sigset_t all, before;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (crew->started < crew->count) {
        struct worker *w = &crew->worker[crew->started];
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
        crew->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return crew->started == crew->count;
}

bool leat_run_workers(struct leat_run *run)
{
    const uint32_t count = run->options->workers;
    struct crew crew = { .run = run, .count = count };
    crew.worker = aligned_alloc(CACHE_LINE, count * sizeof *crew.worker);
    if (crew.worker) memset(crew.worker, 0, count * sizeof *crew.worker);
    bool good = crew.worker &&
                leat_run_make(run, &crew.worker->env, run->machine->thread_count + 1);
    for (uint32_t i = 0; good && i < count; i++)
        good = make_worker(&crew, i);
    if (good) {
        run->host.send = send_to_thread;
        run->host.engine = &crew;
        leat_host_begin(&run->host);
        good = start_workers(&crew);
        if (good) host_to_the_end(&crew);
    }
    atomic_store(&crew.ended, true);
    for (uint32_t i = 0; i < crew.started; i++)
        pthread_join(crew.worker[i].thread, NULL);
    free_workers(&crew);
    return good;
}
