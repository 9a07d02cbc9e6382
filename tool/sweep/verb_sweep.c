/* leat sweep: many runs of `leat sim` in parallel, kept in a store, and resumed where they stopped.
 */
#include "sim.h"
#include "sim_mpi.h"
#include "sweep.h"
#include "watch.h"

static int run_with(const struct sweep_plan *plan, struct store *store,
                    struct leat_sim_ranks *ranks)
{
    const struct store_sweep settings = { .version = LEAT_VERSION,
                                          .options = plan->options,
                                          .files = plan->files };
    int code;
    bool partly;
    const int64_t id = store_begin(store, &settings, &code);
    if (!id) return code;
    code = sweep_run(plan, store, id, ranks, &partly);
    if (code != DONE && !partly && !interrupted) return code;
    const int shown = sweep_put_table(plan, store, id, argument(plan->args, "--json"));
    return finish(shown == DONE ? code : shown);
}

/* Before the store is open: its lock is that of the sweep alone. */
static bool open_page(const struct sweep_plan *plan, int *code)
{
    char name[512];
    snprintf(name, sizeof name, "leat sweep --store %s", plan->store);
    *code = watch_open(plan->args, name, plan->store);
    return *code == DONE;
}

/* Rank 0 has the store; the others run what it tells them to. */
static int run_plan(struct sweep_plan *plan, struct leat_sim_ranks *ranks)
{
    const uint32_t count = leat_sim_ranks_count(ranks);
    int code = WRONG;
    if (ranks && !argument(plan->args, "-j")) plan->jobs = 1;
    if ((uint64_t)plan->jobs * count > SWEEP_JOBS_MAX)
        return misuse(plan->args->verb, "-j %u on %u ranks, expected at most %d runs at a time",
                      plan->jobs, count, SWEEP_JOBS_MAX);
    if (ranks && plan->uses_device)
        return misuse(plan->args->verb, "--device on %u ranks, expected one process", count);
    if (leat_sim_ranks_own(ranks)) return sweep_serve(plan, ranks), DONE;
    struct store *store = open_page(plan, &code) ? store_open(plan->store, STORE_WRITE, &code)
                                                 : NULL;
    if (store) code = run_with(plan, store, ranks);
    sweep_dismiss(ranks);
    store_close(store);
    return watch_close(code);
}

static int run_sweep(const struct arguments *args)
{
    static struct sweep_plan plan;
    static struct leat_sim_ranks ranks;
    const bool many = sim_is_under_mpi();
    if (many && !sim_ranks_open(&ranks)) return FAILED;
    const int code = sweep_plan_read(args, &plan) ? run_plan(&plan, many ? &ranks : NULL) : WRONG;
    if (many) ranks.close(&ranks);
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
        OPTION_DEVICE,
        { "--store", "FILE", "where the runs are kept; created if missing" },
        OPTION_JSON("one JSON object per fabric, traffic and load"),
        OPTIONS_OF_A_RUN,
        OPTIONS_OF_WATCH,
    },
    .operands = "$fabrics",
    .run = run_sweep,
};
