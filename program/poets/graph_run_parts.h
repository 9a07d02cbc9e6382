/* What the engines share. */
#ifndef LEAT_GRAPH_RUN_PARTS_H
#define LEAT_GRAPH_RUN_PARTS_H

#include "graph_run.h"
#include <stdatomic.h>

struct leat_run {
    struct leat_machine *machine;
    const struct leat_run_options *options;
    struct leat_host host;
    struct leat_poets_softswitch *softswitch; /* by thread */
    void **memory;                            /* of each */
    atomic_int exit_code;                     /* what a handler asked for; -1: nothing */
    _Atomic uint64_t debug_octets;
    uint64_t turns; /* epochs, fabric: cycles */
    uint64_t epochs;
    struct leat_fabric_result fabric;
    uint64_t frames_bad, frames_unknown; /* ranks */
};

/* `env` of thread t is env[t / per_env]. */
bool leat_run_make(struct leat_run *run, struct leat_poets_env *env, uint32_t per_env);
void leat_run_free(struct leat_run *run);
void leat_run_env(struct leat_run *run, struct leat_poets_env *env, bool clock);

/* Cycles of a clock of 240 MHz, and seconds of the same clock. */
uint64_t leat_run_cycles(void);
double leat_run_seconds(void);

/* The environment of the calling thread: a handler that crashes is told with its device's name. */
void leat_run_watch_crashes(struct leat_poets_env *env);
/* The calling thread runs no more handlers. */
void leat_run_forget_crashes(void);

/* How often idleness must be found before it is the end. */
uint32_t leat_run_idle_steps(const struct leat_run *run);
/* What ends it from outside: an interrupt, a limit, an exit that a handler asked for. */
void leat_run_check_end(struct leat_run *run, double began);
/* The same for who has a clock of its own: it has run for so long. */
void leat_run_check_end_after(struct leat_run *run, double seconds);
/* Idle everywhere, often enough. */
void leat_run_end_idle(struct leat_run *run);

bool leat_run_workers(struct leat_run *run);
bool leat_run_epochs(struct leat_run *run);
bool leat_run_fabric(struct leat_run *run);
bool leat_run_ranks(struct leat_run *run);

#endif
