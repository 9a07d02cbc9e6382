/*
 * Running an application. Four engines:
 *
 *   free    as fast as this machine can: workers (POSIX threads) with their share of the threads;
 *           packets between devices of one worker are handed over at once, those to another worker
 *           travel in rings. No order is promised.
 *   epochs  one order, given by a schedule and a seed: in an epoch every softswitch takes some
 *           turns; its packets can be received in the next epoch. Reproducible.
 *   fabric  every packet crosses a simulated network (graph_fabric.h). Reproducible.
 *   ranks   as free, but the threads are first dealt to several processes (MPI).
 *
 * All end when the application is idle everywhere, stops, exits or fails.
 *
 * An engine runs up to 64 applications at once: tasks. They share its workers, its mailboxes and
 * its network, and nothing else: each has its own threads (softswitches), barrier, STOP,
 * supervisor, externals, end and result.
 *
 *   free     a worker has a share of the threads of each task, which it runs in turn
 *   epochs   each task in turn has an epoch
 *   fabric   the threads of all tasks are dealt to the mailboxes, task by task
 */
#ifndef LEAT_GRAPH_RUN_H
#define LEAT_GRAPH_RUN_H

#include "graph_fabric.h"
#include "graph_host.h"
#include "graph_link.h"
#include <leat/random.h>
#include <stdatomic.h>

enum leat_poets_run_schedule {
    LEAT_POETS_RUN_FREE,
    LEAT_POETS_RUN_FIFO,
    LEAT_POETS_RUN_LIFO,
    LEAT_POETS_RUN_RANDOM,
    LEAT_POETS_RUN_DELAY,
};

struct leat_poets_run_result;

/* Observer of every packet as it is sent: when (nanoseconds since the run began; epochs count by
 * turns, fabrics by their clock, so it is reproducible), and the thread that it goes to or, for
 * packets to the host, comes from. Calls never overlap; with ranks these are calls of rank 0, after
 * the run. `crashed` may clean up before a crash ends the process; it runs in a signal handler. */
struct leat_poets_run_watch {
    uint64_t packets_max; /* `packet` is called for the first only */
    void (*packet)(void *context, uint64_t time_ns, bool to_host, uint32_t address,
                   const uint8_t *packet, unsigned nflit);
    void (*crashed)(void *context);
    void (*progress)(void *context, double seconds, uint64_t receives); /* twice a second */
    /* At the end `states`, with all of the result but the digest; then `state` for each device in
     * the order of the file, and what it wants if the run is held; then again for each with the
     * states of its edges, one after another. With ranks these are calls of rank 0. */
    void (*states)(void *context, const struct leat_poets_run_result *result);
    void (*state)(void *context, uint32_t index, bool of_edges, uint64_t wants,
                  const uint8_t *octets);
    void *context;
};

struct leat_poets_run_options {
    struct leat_poets_graph_host_options host;
    struct leat_poets_fabric_options fabric; /* with a network: no schedule */
    enum leat_poets_run_schedule schedule;
    double delay; /* chance of LEAT_POETS_RUN_DELAY, 0 to below 1 */
    uint64_t seed;
    uint32_t quantum;             /* turns of a softswitch in an epoch; 0: 16 */
    uint32_t workers;             /* free: 1 to 256, of each rank */
    struct leat_poets_link *link; /* free: to other ranks of the same run; NULL: there are none */
    enum leat_poets_rts rts;
    uint32_t log_level;
    bool log_raw, hdr_pin_as_edge, instr_first, no_request_idle; /* compat, loop modes */
    bool until_stop;                                             /* idleness does not end it */
    bool counts_cuts;                                            /* edges between threads */
    double seconds_max;  /* 0: no limit; of the simulated clock with a fabric */
    uint32_t idle_steps; /* ends after being idle this often; 0: 10, or 1 without OnHardwareIdle */
    atomic_int *interrupted; /* a signal's number, once it has arrived */
    /* A limit or an interrupt holds all softswitches, and ends the run when nothing is in flight: it
     * can go on later (graph_restore.h). Not with a supervisor, whose object cannot be saved. */
    bool holds;
    bool resumes;                      /* states, and what devices want, have been restored */
    uint32_t idle_steps_done;          /* before */
    struct leat_poets_run_watch watch; /* functions may be NULL */
};

enum {
    LEAT_POETS_RUN_WORKERS_MAX = 256,
    LEAT_POETS_RUN_TASKS_MAX = LEAT_POETS_TASK_MAX + 1,
    LEAT_POETS_RUN_THREADS_PER_WORKER = 16,
    LEAT_POETS_RUN_THREADS_EPOCH = 64
};

struct leat_poets_run_result {
    enum leat_poets_run_reason reason;
    int exit_code;
    bool table_failed; /* an instrumentation table could not be written, which was reported */
    double seconds;
    bool resumable;           /* it ended so that it can go on later, */
    uint32_t idle_steps_done; /* after so many idle steps in a row */
    uint64_t receives, sends, supervisor_packets, lines, debug_octets, epochs;
    uint64_t digest;
    uint64_t packets; /* that were to be shown to the observer */
    uint64_t cut_threads, cut_workers,
        cut_ranks;                       /* edges between them, if they were to be counted */
    uint64_t frames_bad, frames_unknown; /* malformed frames; packets for remote threads */
    uint64_t cause[LEAT_POETS_CAUSE_COUNT], host_cause[LEAT_POETS_HOST_COUNT];
    struct leat_poets_fabric_result fabric;
};

/* Number of threads that an application with these options is dealt to. */
uint32_t leat_poets_run_threads(const struct leat_poets_run_options *options);

/* The same for each of several tasks with so many devices. They have as many threads as alone, or
 * of a fabric that is too small for that a share by their devices. False: all have `least` threads,
 * and those are too many. */
bool leat_poets_run_shares(const struct leat_poets_run_options *options, const uint32_t *devices,
                           uint32_t count, uint32_t *threads, uint32_t *least);

/* A task of several. What concerns the engine is the same in the options of all: fabric, schedule,
 * delay, seed, quantum, workers, link, seconds_max, interrupted. */
struct leat_poets_task {
    struct leat_poets_machine *machine;
    const struct leat_poets_run_options *options;
    struct leat_poets_run_result result;
};

/* Numbers the machines, and their threads: those of a task follow the ones of the task before. The
 * rest is as below. */
bool leat_poets_run_tasks(struct leat_poets_task *task, uint32_t count);

/* One task. False: out of memory, or threads cannot be started; nothing ran. Of several ranks only
 * the first has the result of all; each knows how the run ended. */
bool leat_poets_run(struct leat_poets_machine *machine,
                    const struct leat_poets_run_options *options,
                    struct leat_poets_run_result *out);

#endif
