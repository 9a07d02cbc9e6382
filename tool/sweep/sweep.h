/*
 * Shared by the parts of `leat sweep`: the runs that a command line requests, how they are run and
 * shown. A run is a child that executes `leat sim FABRIC ... --json`; whatever that verb can
 * simulate can be swept.
 *
 *     plan ---- run 0 .. runs-1, each a point (fabric, traffic, load) and a seed
 *       |
 *       |   one child per run, some at a time             one transaction per run
 *       +-> leat sim FABRIC --traffic T --load L ... ----> store ----> table
 */
#ifndef LEAT_SWEEP_H
#define LEAT_SWEEP_H

#include "device_choice.h"
#include "progress.h"
#include "sim_ranks.h"
#include "store.h"
#include "tool.h"
#include <stdio.h>

enum {
    SWEEP_FABRICS_MAX = 256,
    SWEEP_TRAFFICS_MAX = 64,
    SWEEP_LOADS_MAX = 10000,
    SWEEP_SEEDS_MAX = 10000,
    SWEEP_RUNS_MAX = 1000000,
    SWEEP_JOBS_MAX = 256,
};

/* The requested runs. They are numbered with the seed as the lowest digit, then the load, the
 * traffic, the fabric; fabrics and traffics as given, loads and seeds rising. */
struct sweep_plan {
    const struct arguments *args;
    const struct verb *sim;
    char *fabric[SWEEP_FABRICS_MAX];   /* owned */
    char *traffic[SWEEP_TRAFFICS_MAX]; /* the first owns the memory of all */
    uint64_t load[SWEEP_LOADS_MAX];    /* in parts of STORE_LOAD_ONE */
    uint64_t seed[SWEEP_SEEDS_MAX];
    uint32_t fabrics, traffics, loads, seeds, runs;
    uint32_t jobs;
    bool uses_device;
    const char *store;
    /* Common to all runs, as in struct store_sweep. */
    char *options, *files;
};

/* False after a complaint. Call sweep_plan_free in either case. */
bool sweep_plan_read(const struct arguments *args, struct sweep_plan *plan);
void sweep_plan_free(struct sweep_plan *plan);

/* The fabrics (sweep_fabrics.c). False after a complaint. */
bool sweep_fabrics_read(struct sweep_plan *plan);

struct store_key sweep_run_at(const struct sweep_plan *plan, uint32_t run);

/* "0.25", without trailing zeros. */
enum { SWEEP_LOAD_CAP = 16 };
void sweep_load_text(uint32_t load, char out[SWEEP_LOAD_CAP]);

/* The command line of one run, quoted for a shell. */
void sweep_put_command(FILE *out, const struct sweep_plan *plan, uint32_t run);

/* The arguments of one run of `leat sim`; words: theirs. */
enum { SWEEP_SEED_CAP = 24 };
struct sweep_words {
    char load[SWEEP_LOAD_CAP], seed[SWEEP_SEED_CAP];
    char *operand[2];
};
void sweep_arguments(const struct sweep_plan *plan, uint32_t run, struct sweep_words *words,
                     struct arguments *args);

/* Executes one run in this process, with its output on standard output. Its exit code. With
 * `only_checks`, only finds out whether it would be refused. */
int sweep_run_here(const struct sweep_plan *plan, uint32_t run, bool only_checks);

/* Executes all runs of a fabric that are not taken on the plan's device, in this process. Prints
 * two lines for each: its number, and its result. Those that a device cannot run, or that do not
 * pay, are left out with a remark if the device was chosen by leat; else it is WRONG. */
int sweep_device_here(const struct sweep_plan *plan, uint32_t fabric, const bool *taken);

/* ---- running (sweep_run.c) ------------------------------------------------------------------- */

/* Executes the runs that are not in the store yet, on all ranks of mpirun (NULL: here). DONE; WRONG
 * or FAILED after a complaint; SIGNALLED and more after an interrupt. *partly: only some runs
 * failed, all others are stored. */
int sweep_run(const struct sweep_plan *plan, struct store *store, int64_t sweep,
              struct leat_sim_ranks *ranks, bool *partly);

/* Another rank than 0: executes what rank 0 orders, until it is dismissed. */
void sweep_dismiss(struct leat_sim_ranks *ranks);
void sweep_serve(const struct sweep_plan *plan, struct leat_sim_ranks *ranks);

/* ---- on a terminal: progress (sweep_progress.c) ---------------------------------------------- */

struct sweep_progress {
    struct progress line;
    double work_done, work_left;
    uint32_t runs, done, ended; /* done: in the store; ended: since it was begun */
};

void sweep_progress_begin(struct sweep_progress *progress, uint32_t runs);

/* A run of this load belongs to the sweep, and is done or pending; it has ended, successfully or
 * not. */
void sweep_progress_add(struct sweep_progress *progress, uint32_t load, bool done);
void sweep_progress_end(struct sweep_progress *progress, uint32_t load, bool done);

/* Shows it, if due. */
void sweep_progress_show(struct sweep_progress *progress, uint32_t running);

/* ---- showing (sweep_table.c) ----------------------------------------------------------------- */

/* The points of the plan, from the store. DONE; FAILED after a complaint, also about runs that
 * ended in a deadlock. After an interrupt only points that have a run. */
int sweep_put_table(const struct sweep_plan *plan, struct store *store, int64_t sweep, bool json);

#endif
