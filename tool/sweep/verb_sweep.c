/* leat sweep: many runs of `leat sim` in parallel, kept in a store, and resumed where they stopped.
 */
#include "sim.h"
#include "sim_mpi.h"
#include "sweep.h"

static int run_with(const struct sweep_plan *plan, struct store *store)
{
    const struct store_sweep settings = { .version = LEAT_VERSION,
                                          .options = plan->options,
                                          .files = plan->files };
    int code;
    bool partly;
    const int64_t id = store_begin(store, &settings, &code);
    if (!id) return code;
    code = sweep_run(plan, store, id, &partly);
    if (code != DONE && !partly && !interrupted) return code;
    const int shown = sweep_put_table(plan, store, id, argument(plan->args, "--json"));
    return finish(shown == DONE ? code : shown);
}

static int run_sweep(const struct arguments *args)
{
    static struct sweep_plan plan;
    int code = WRONG;
    if (sim_is_under_mpi())
        return misuse(args->verb,
                      "several ranks of mpirun, expected one process: -j N runs N at a time");
    if (sweep_plan_read(args, &plan)) {
        struct store *store = store_open(plan.store, STORE_WRITE, &code);
        if (store) code = run_with(&plan, store);
        store_close(store);
    }
    sweep_plan_free(&plan);
    return code;
}

const struct verb verb_sweep = {
    .name = "sweep",
    .summary = "run a network at many loads, with several seeds, in parallel",
    .synopsis = "FABRIC... --load FIRST:LAST:STEP|LIST --store FILE [--traffic NAMES] "
                "[--seeds N|LIST] [-j N] [--json] [options of leat sim]",
    .help = help_sweep,
    .options = {
        { "--load", "LOADS", "0.1,0.25 or FIRST:LAST:STEP, or both: 0.05:0.4:0.05,0.42" },
        { "--traffic", "NAMES", "separated by commas (leat help sim traffic)",
          .words = SIM_TRAFFIC, .preset = "uniform" },
        { "--seeds", "SEEDS", "how many, or which: 5, 3,8,9 or 10:19", .preset = "5" },
        { "-j", "N", "runs at a time", COUNT(1, SWEEP_JOBS_MAX),
          .preset = "as many as processors" },
        { "--store", "FILE", "where the runs are kept; created if missing" },
        OPTION_JSON("one JSON object per fabric, traffic and load"),
        OPTIONS_OF_A_RUN,
    },
    .operands = "$fabrics",
    .run = run_sweep,
};
