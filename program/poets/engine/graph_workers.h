/*
 * Workers, each with a share of this process's threads, whose softswitches it runs in turn.
 * Both engines without a fixed order share them, the one for one machine and the one for ranks.
 * Each task has its workers; POSIX thread number n runs worker n of every task.
 *
 *   device to device of one worker    handed over at once
 *   to a device of another worker     a ring of cells for each pair
 *   to the host, to another rank      a ring, which the host empties
 *   from the host, from other ranks   a ring each
 *
 * All rings are bounded. A worker that waits for room keeps receiving, for all tasks, so a cycle of
 * full rings cannot deadlock. The workers of a task are idle when all of them are passive and the
 * counts of cells put into and taken out of rings agree twice in a row (Mattern's four counters).
 *
 * The first POSIX thread may be the host's own. The host then runs the rounds of the first workers,
 * and gets a callback (`meanwhile`) while such a worker is busy or waits.
 */
#ifndef LEAT_GRAPH_WORKERS_H
#define LEAT_GRAPH_WORKERS_H

#include "graph_ring.h"
#include "graph_run_parts.h"
#include <pthread.h>

#define LEAT_POETS_WORKERS_HOST UINT32_MAX /* instead of a thread */

/* A packet as it is on the wire, to a thread or to the host. */
struct leat_poets_workers_cell {
    uint32_t thread;
    struct leat_poets_slot slot;
};

struct leat_poets_worker {
    _Alignas(LEAT_POETS_CACHE_LINE) struct leat_poets_env env; /* handlers write to it */
    struct leat_poets_workers *workers;
    uint32_t number, first, end;   /* its threads */
    uint32_t block_from, block_to; /* its blocks */
    struct leat_poets_fifo *in;    /* from each worker */
    struct leat_poets_fifo from_host, from_ranks, to_host;
    bool released; /* all its softswitches are past the barrier */
    bool inside;   /* of the host's thread */
    unsigned rounds, without_work;
    uint64_t put, taken; /* cells of all its rings */
    _Alignas(LEAT_POETS_CACHE_LINE) _Atomic uint64_t put_reported, taken_reported, handled_reported;
    atomic_bool passive, idle_vote;
    atomic_uint idle_done;
};

struct leat_poets_crew;

/* Of a task. */
struct leat_poets_workers {
    struct leat_poets_run *run;
    struct leat_poets_crew *crew;
    struct leat_poets_worker *worker;
    uint32_t count;
    uint64_t host_put, host_taken;
    atomic_uint idle_requested; /* number of the requested idle step */
    atomic_uint resumed;        /* number of the last completed idle step */
    atomic_bool ended;          /* nobody waits for anything any more */
    void (*meanwhile)(struct leat_poets_workers *workers);
};

/* A POSIX thread. */
struct leat_poets_mate {
    struct leat_poets_crew *crew;
    uint32_t number;
    pthread_t thread;
};

/* The workers of all tasks. */
struct leat_poets_crew {
    struct leat_poets_workers *of; /* by task */
    uint32_t task_count, count;    /* count: of workers of each task */
    struct leat_poets_mate *mate;
    uint32_t first_started, started; /* mates first_started .. started - 1 */
    atomic_bool ended;
};

/* Softswitches and workers. False: no memory; leat_poets_crew_end is due in any case. */
bool leat_poets_crew_make(struct leat_poets_crew *crew, struct leat_poets_runs *runs);
/* Starts POSIX threads for the workers from `first` on. False: one could not be started. */
bool leat_poets_crew_start(struct leat_poets_crew *crew, uint32_t first);
/* Ends all workers. Results stay in the runs. */
void leat_poets_crew_end(struct leat_poets_crew *crew);

/* For a worker without a thread of its own, whose crashes are watched: OnInit of its devices; then
 * rounds, which return false if there was nothing to do. */
void leat_poets_worker_begin(struct leat_poets_worker *w);
bool leat_poets_worker_round(struct leat_poets_worker *w);

/* A packet for a local thread, from the host or from another rank. False: there is no room yet. */
bool leat_poets_workers_from_host(struct leat_poets_workers *workers, uint32_t thread,
                                  const uint8_t *packet, unsigned nflit);
bool leat_poets_workers_from_ranks(struct leat_poets_workers *workers, uint32_t thread,
                                   const uint8_t *packet, unsigned nflit);

/* The oldest packet of a worker for the host or another rank; NULL: none. It stays until it is
 * taken. */
const struct leat_poets_workers_cell *leat_poets_workers_oldest(struct leat_poets_workers *workers,
                                                                uint32_t worker);
void leat_poets_workers_take(struct leat_poets_workers *workers, uint32_t worker);

/* Nothing is pending or in flight. */
bool leat_poets_workers_is_idle(const struct leat_poets_workers *workers);
/* All are to run OnHardwareIdle and to vote, then to wait. */
void leat_poets_workers_vote(struct leat_poets_workers *workers);
/* All have voted. `unanimous`: no worker wants to continue. */
bool leat_poets_workers_have_voted(const struct leat_poets_workers *workers, bool *unanimous);
void leat_poets_workers_resume(struct leat_poets_workers *workers);

/* Packets that local handlers have received, as far as workers have reported. */
uint64_t leat_poets_workers_received(const struct leat_poets_workers *workers);

/* A pause that grows with the number of idle rounds. */
void leat_poets_workers_rest(unsigned rounds);
/* OnSupervisorIdle, once a millisecond; `last` is the time of the last call. */
void leat_poets_workers_supervise(struct leat_poets_workers *workers, double *last);

#endif
