/* What the engines share. */
#ifndef LEAT_GRAPH_RUN_PARTS_H
#define LEAT_GRAPH_RUN_PARTS_H

#include "graph_run.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { LEAT_POETS_RUN_CRASHES = 6 };           /* signals */
#define LEAT_POETS_RUN_CYCLES_PER_SECOND 240e6 /* of leat_poets_run_cycles */

struct leat_poets_run {
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
    struct leat_poets_fabric_result fabric;
    uint64_t frames_bad, frames_unknown; /* ranks */
    pthread_mutex_t watching;            /* one worker at a time */
    pthread_mutex_t inspecting;          /* of env */
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
    struct leat_poets_run *run; /* NULL: none */
    uint64_t began;             /* cycles of the clock */
    struct sigaction before[LEAT_POETS_RUN_CRASHES];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool watches, is_over;
};

void leat_poets_run_guard_begin(struct leat_poets_run_guard *guard,
                                const struct leat_poets_run_options *options,
                                struct leat_poets_run *run);
void leat_poets_run_guard_end(struct leat_poets_run_guard *guard);
/* Environments of softswitches may be inspected, or no longer. Engines revoke this before they free
 * them. `block` is NULL in them while no handler runs for some time. */
void leat_poets_run_lend_env(struct leat_poets_run *run, bool lent);
/* The calling thread starts, or stops, running the handlers of this environment. */
void leat_poets_run_watch_crashes(struct leat_poets_env *env);
void leat_poets_run_forget_crashes(void);

/* Reports a packet to a thread, or from a thread to the host, to the observer. */
void leat_poets_run_show(struct leat_poets_run *run, bool to_host, uint32_t thread,
                         const uint8_t *packet, unsigned nflit);

/* Packets that the handlers of all threads have received. */
uint64_t leat_poets_run_received(const struct leat_poets_run *run);
/* OnHardwareIdle of the devices of threads from..to. True: one wants to continue. */
bool leat_poets_run_hardware_idle(const struct leat_poets_run *run, uint32_t from, uint32_t to);

/* Reports progress, twice a second. */
void leat_poets_run_progress(struct leat_poets_run *run, double began, uint64_t receives);

/* How often idleness must be detected before the run ends. */
uint32_t leat_poets_run_idle_steps(const struct leat_poets_run *run);
/* External reasons to end: an interrupt, a limit, an exit that a handler requested. */
void leat_poets_run_check_end(struct leat_poets_run *run, double began);
/* The same for an engine with its own clock: it has run for this long. */
void leat_poets_run_check_end_after(struct leat_poets_run *run, double seconds);
/* Idle everywhere, often enough. */
void leat_poets_run_end_idle(struct leat_poets_run *run);

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
 * all states into rank 0's result. */
void leat_poets_ranks_gather(const struct leat_poets_run *run, struct leat_poets_run_result *out);

/* ---- engines -------------------------------------------------------------------------------- */

bool leat_poets_run_local(struct leat_poets_run *run);
bool leat_poets_run_epochs(struct leat_poets_run *run);
bool leat_poets_run_fabric(struct leat_poets_run *run);
bool leat_poets_run_ranks(struct leat_poets_run *run);

#endif
