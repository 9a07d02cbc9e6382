/* What the engines share. */
#ifndef LEAT_GRAPH_RUN_PARTS_H
#define LEAT_GRAPH_RUN_PARTS_H

#include "graph_run.h"
#include "graph_spool.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { LEAT_POETS_RUN_CRASHES = 6 };           /* signals */
#define LEAT_POETS_RUN_CYCLES_PER_SECOND 240e6 /* of leat_poets_run_cycles */

struct leat_poets_runs;

/* One task. */
struct leat_poets_run {
    struct leat_poets_runs *all;
    struct leat_poets_machine *machine;
    const struct leat_poets_run_options *options;
    struct leat_poets_graph_host host;
    struct leat_poets_softswitch *softswitch; /* by thread */
    void **memory;                            /* of each */
    bool env_lent;                            /* of softswitches */
    atomic_int exit_code;                     /* requested by a handler; -1: none */
    _Atomic uint64_t debug_octets;
    uint64_t began; /* cycles of the clock */
    uint64_t turns; /* epochs, fabric: cycles */
    uint64_t epochs;
    uint32_t idle_steps; /* in a row */
    /* LIMIT, INTERRUPTED: why it is held; RUNNING: it is not. */
    enum leat_poets_run_reason held;
    struct leat_poets_fabric_result fabric;
    uint64_t frames_bad, frames_unknown; /* ranks */
    double seconds;                      /* until it was over */
    atomic_bool over;
    struct leat_poets_spool spool; /* ranks */
    pthread_mutex_t inspecting;    /* of env, watched */
    struct leat_poets_run_watched {
        pthread_t thread;
        const struct leat_poets_env *env;
    } watched[LEAT_POETS_RUN_WORKERS_MAX]; /* threads that run handlers */
    uint32_t watched_count;
};

/* All tasks of an engine. Options of the engine itself are those of the first. */
struct leat_poets_runs {
    struct leat_poets_run *run;
    uint32_t count;
    double began;
    pthread_mutex_t watching; /* one worker at a time */
    uint64_t packets;         /* shown, or beyond the limit */
    double progress_at;
};

/* `env` of thread t is env[t / per_env]. */
bool leat_poets_run_make(struct leat_poets_run *run, struct leat_poets_env *env, uint32_t per_env);
void leat_poets_run_env(struct leat_poets_run *run, struct leat_poets_env *env, bool clock);

/* Cycles of a clock of 240 MHz, and seconds of the same clock. */
uint64_t leat_poets_run_cycles(void);
double leat_poets_run_seconds(void);

/*
 * What handlers must not do (graph_guard.c). A handler that crashes or ends the process is reported
 * with its device's name; so is one that does not return after the run was to end. Without a run it
 * is other code of the file: constructors and destructors of static objects.
 */
struct leat_poets_run_guard {
    const struct leat_poets_run_options *options;
    struct leat_poets_runs *runs; /* NULL: none */
    uint64_t began;               /* cycles of the clock */
    struct sigaction before[LEAT_POETS_RUN_CRASHES];
    pthread_t thread, host; /* of the guard, and where it began */
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool watches, is_over;
};

void leat_poets_run_guard_begin(struct leat_poets_run_guard *guard,
                                const struct leat_poets_run_options *options,
                                struct leat_poets_runs *runs);
void leat_poets_run_guard_end(struct leat_poets_run_guard *guard);
/* Environments of softswitches may be inspected, or no longer. Engines revoke this before they free
 * them. `block` is NULL in them while no handler runs for some time. */
void leat_poets_run_lend_env(struct leat_poets_run *run, bool lent);
/* The calling thread starts, or stops, running handlers of these tasks (NULL: of none). */
void leat_poets_run_watch_crashes(void);
void leat_poets_run_forget_crashes(struct leat_poets_runs *runs);
/* It will run those of this environment; it does so from now on. */
void leat_poets_run_enlist(struct leat_poets_env *env);
void leat_poets_run_watch_env(struct leat_poets_env *env);

/* Reports a packet to a thread, or from a thread to the host, to the observer. */
void leat_poets_run_show(struct leat_poets_run *run, bool to_host, uint32_t thread,
                         const uint8_t *packet, unsigned nflit);

/* Packets that the handlers of all threads have received. */
uint64_t leat_poets_run_received(const struct leat_poets_run *run);
/* OnHardwareIdle of the devices of threads from..to. True: one wants to continue. */
bool leat_poets_run_hardware_idle(const struct leat_poets_run *run, uint32_t from, uint32_t to);

/* Reports progress of all tasks, twice a second. */
void leat_poets_run_progress(struct leat_poets_runs *runs, uint64_t receives);

/* External reasons to end: an interrupt, a limit, an exit that a handler requested. */
void leat_poets_run_check_end(struct leat_poets_run *run);
/* The same for an engine with its own clock: it has run for this long. */
void leat_poets_run_check_end_after(struct leat_poets_run *run, double seconds);
/* Idle everywhere: `active` if OnHardwareIdle has changed that. If it was idle often
 * enough, returns true, and ends the run unless something else must. */
bool leat_poets_run_count_idle(struct leat_poets_run *run, bool active);
/* Idle everywhere: the end of a run that is held. False: it is not. */
bool leat_poets_run_end_held(struct leat_poets_run *run);
/* The task is over; the first time, this is its end, which the processes of its externals learn. */
bool leat_poets_run_is_over(struct leat_poets_run *run);

/* ---- ranks ---------------------------------------------------------------------------------- */

/* Kinds of notes. Numbers are in this order. */
enum {
    LEAT_POETS_NOTE_PROBE = 1, /* wave */
    LEAT_POETS_NOTE_COUNTS,    /* wave, sent, received: the sender is passive */
    LEAT_POETS_NOTE_IDLE,      /* all ranks are idle: OnHardwareIdle, then vote */
    LEAT_POETS_NOTE_VOTE,      /* does the rank agree to end? */
    LEAT_POETS_NOTE_RESUME,    /* all have voted */
    LEAT_POETS_NOTE_EXIT,      /* code that a handler asked for */
    LEAT_POETS_NOTE_INTERRUPT, /* signal */
    LEAT_POETS_NOTE_END,       /* reason, exit code, signal */
    LEAT_POETS_NOTE_TOTALS,    /* counters of a rank */
    LEAT_POETS_NOTE_PULL,      /* requests the next piece of states, on the data channel */
    LEAT_POETS_NOTE_BYE,
};

/* After the run is over on all ranks, with nothing in flight: collects all counters and the hash of
 * all states into rank 0's result, and shows the states to its observer. One process has nothing to
 * collect. False: no memory. */
bool leat_poets_run_gather(struct leat_poets_run *run, struct leat_poets_run_result *out);

/* ---- engines -------------------------------------------------------------------------------- */

bool leat_poets_run_local(struct leat_poets_runs *runs);
bool leat_poets_run_epochs(struct leat_poets_runs *runs);
bool leat_poets_run_fabric(struct leat_poets_runs *runs);
bool leat_poets_run_ranks(struct leat_poets_runs *runs);

#endif
