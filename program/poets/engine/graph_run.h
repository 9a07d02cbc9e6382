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

/* Observer of every packet as it is sent: when (nanoseconds since the run began; epochs count by
 * turns, fabrics by their clock, so it is reproducible), and the thread that it goes to or, for
 * packets to the host, comes from. Calls never overlap; with ranks there are none. `crashed` may
 * clean up before a crash ends the process; it runs in a signal handler. */
struct leat_poets_run_watch {
    void (*packet)(void *context, uint64_t time_ns, bool to_host, uint32_t address,
                   const uint8_t *packet, unsigned nflit);
    void (*crashed)(void *context);
    void (*progress)(void *context, double seconds, uint64_t receives); /* twice a second */
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
    double seconds_max;  /* 0: no limit; of the simulated clock with a fabric */
    uint32_t idle_steps; /* ends after being idle this often; 0: 10, or 1 without OnHardwareIdle */
    atomic_int *interrupted;           /* a signal's number, once it has arrived */
    struct leat_poets_run_watch watch; /* functions may be NULL */
};

enum {
    LEAT_POETS_RUN_WORKERS_MAX = 256,
    LEAT_POETS_RUN_THREADS_PER_WORKER = 16,
    LEAT_POETS_RUN_THREADS_EPOCH = 64
};

struct leat_poets_run_result {
    enum leat_poets_run_reason reason;
    int exit_code;
    bool table_failed; /* an instrumentation table could not be written, which was reported */
    double seconds;
    uint64_t receives, sends, supervisor_packets, lines, debug_octets, epochs;
    uint64_t digest;
    uint64_t frames_bad, frames_unknown; /* malformed frames; packets for remote threads */
    uint64_t cause[LEAT_POETS_CAUSE_COUNT], host_cause[LEAT_POETS_HOST_COUNT];
    struct leat_poets_fabric_result fabric;
};

/* Number of threads that an application with these options is dealt to. */
uint32_t leat_poets_run_threads(const struct leat_poets_run_options *options);

/* False: out of memory, or threads cannot be started; nothing ran. Of several ranks only the first
 * has the result of all; each knows how the run ended. */
bool leat_poets_run(struct leat_poets_machine *machine,
                    const struct leat_poets_run_options *options,
                    struct leat_poets_run_result *out);

#endif
