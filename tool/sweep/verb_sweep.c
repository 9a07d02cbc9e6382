/* leat sweep: many runs of `leat sim` in parallel, kept in a store, and resumed where they stopped.
 */
#include "sim.h"
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
    if (code != DONE && !partly) return code;
    const int shown = sweep_put_table(plan, store, id, argument(plan->args, "--json"));
    return finish(shown == DONE ? code : shown);
}

static int run_sweep(const struct arguments *args)
{
    static struct sweep_plan plan;
    int code = WRONG;
    if (sweep_plan_read(args, &plan)) {
        struct store *store = store_open(plan.store, STORE_WRITE, &code);
        if (store) code = run_with(&plan, store);
        store_close(store);
    }
    sweep_plan_free(&plan);
    return code;
}

static const char about_store[] =
    "A sweep may be interrupted or killed at any time: the same command then runs only what is "
    "missing and ends with the same table. The same holds after a full disk. More loads, seeds, "
    "traffics or fabrics on the command line add to what is there. Other options, another version "
    "of leat, or files with other contents start another sweep in the same store; files named "
    "within files are not examined. One sweep writes to a store at a time.\n"
    "The store is an SQLite file with the tables sweep (id, version, options, files, starts, "
    "created) and run (sweep, fabric, traffic, load in millionths, seed, result: what `leat sim "
    "--json` prints, with the flits over each wire).\n"
    "Runs of networks with up to 8192 wires are kept with the flits over each wire, which `leat "
    "report` draws; larger ones with --links.";

static const char about_json[] =
    "--json prints one object per fabric, traffic and load: fabric, traffic, load, runs (how many "
    "seeds are there), throughput, latency_cycles and p99_cycles with mean and ci95 (half of the "
    "interval; null with one seed), saturated and deadlocks (how many runs; saturated is null if "
    "runs do not report it), lost and rerouted (packets of all runs; null if runs do not report "
    "them), certificates by seed.\n"
    "The table shows lost and rerouted with --fault, and whenever they are not zero.";

const struct verb verb_sweep = {
    .name = "sweep",
    .summary = "run a network at many loads, with several seeds, in parallel",
    .synopsis = "FABRIC... --load FIRST:LAST:STEP|LIST --store FILE [--traffic NAMES] "
                "[--seeds N|LIST] [-j N] [--json] [options of leat sim]",
    .description =
        "Runs `leat sim` for every fabric, traffic, load and seed, one run per processor at a "
        "time, and stores every result as soon as it is available. Then it prints a table: for "
        "every fabric, traffic and load the means over all seeds with their 95 % intervals "
        "(Student's t). The same command continues a sweep that was interrupted.\n"
        "Loads are exact: 0.05:0.95:0.05 has 19 of them. --seeds 5 means the seeds 1 to 5, "
        "--seeds 10:19 and --seeds 3,8,9 name them. There are at most 256 fabrics, 64 traffics, "
        "10000 loads, 10000 seeds and 1000000 runs. The certificate of a run is the same for any "
        "-j.\n"
        "A run that fails is reported with the command that repeats it, and is not stored; the "
        "others continue and the exit code is 1. The exit code is also 1 if a run ended in a "
        "deadlock, which is a result and is stored. Anything that `leat sim` refuses, such as a "
        "fabric, ends the sweep with exit code 2; all fabrics and traffics are checked before the "
        "first run starts.",
    .topics =
        (const struct topic[]){
            { "store", about_store },
            { "json", about_json },
            { NULL, NULL },
        },
    .options = {
        { "--load", "LOADS", "0.1,0.25 or FIRST:LAST:STEP, or both: 0.05:0.4:0.05,0.42" },
        { "--traffic", "NAMES", "separated by commas (leat help sim traffic)",
          .words = SIM_TRAFFIC, .preset = "uniform" },
        { "--seeds", "SEEDS", "how many, or which: 5, 3,8,9 or 10:19", .preset = "5" },
        { "-j", "N", "runs at a time", COUNT(1, SWEEP_JOBS_MAX),
          .preset = "as many as processors" },
        { "--store", "FILE", "where the runs are kept; created if missing" },
        { "--json", NULL, "one JSON object per fabric, traffic and load" },
        OPTIONS_OF_A_RUN,
    },
    .examples = "leat sweep clos444 --load 0.1:0.9:0.1 --cycles 100000 --store runs.sqlite\n"
                "leat sweep mesh:8,8 torus:8,8 --load 0.1:0.5:0.1 --seeds 3 --store runs.sqlite\n"
                "leat sweep clos444 bmx:16 --load 0.2,0.4,0.6 --traffic uniform,bursty --store runs.sqlite "
                "-j 2 --json",
    .operands = "$fabrics",
    .run = run_sweep,
};
