/* leat run: a real program over a simulated network. */
#include "number.h"
#include "result_file.h"
#include "run.h"
#include "sim.h"
#include "sim_mpi.h"
#include "style.h"
#include "threads.h"
#include "watch.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_PS UINT64_C(1000000000000)
#define DAY_PS    (86400 * SECOND_PS)
#define PS_MAX    (1000000 * SECOND_PS) /* as times are written */

/* ---- options --------------------------------------------------------------------------------- */

static bool read_compute(const struct arguments *args, double *scale)
{
    const char *text = argument(args, "--compute");
    *scale = 0;
    if (!text || !strcmp(text, "none")) return true;
    *scale = 1;
    if (!strcmp(text, "measured")) return true;
    char *end = NULL;
    if (!strncmp(text, "measured:", 9)) *scale = strtod(text + 9, &end);
    if (end && end != text + 9 && !*end && *scale > 0 && *scale <= 1e6) return true;
    return misused(args->verb,
                   "--compute %s: expected none, measured, or measured:SCALE with a scale up to "
                   "1e6, as in measured:0.5",
                   text);
}

/* Files besides the program's output. */
static bool check_files(const struct arguments *args)
{
    static const char *const options[] = { "--record", "--messages", "--json", "--store" };
    struct result_name names[] = { { "standard output", "-" }, { 0 }, { 0 }, { 0 }, { 0 } };
    size_t count = 1;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *path = argument(args, options[i]);
        if (i == 2 && (!path || !*path || strcmp(path, "-") == 0)) continue;
        if (path && strcmp(path, "-") == 0)
            return misused(args->verb, "%s '-', expected a file: standard output is the program's",
                           options[i]);
        if (path) names[count++] = (struct result_name){ options[i], path };
    }
    for (size_t i = 1; i < count; i++)
        if (!result_apart_from_options(args, names[i].option)) return false;
    return result_names_apart(args->verb, names, count, NULL);
}

/* Files that are those of one run. */
static bool check_several(const struct run_job *job)
{
    const char *option = job->record ? "--record" : job->records ? "--messages" : NULL;
    if (!option) return true;
    return misused(job->verb, "%s has room for one run, expected one --fabric with it", option);
}

/* The fabrics are job->fabric, one at a time. */
static bool read_job(const struct arguments *args, struct run_job *job,
                     char *fabric[RUN_FABRICS_MAX], uint32_t *fabrics)
{
    *job = (struct run_job){ .verb = args->verb,
                             .args = args,
                             .fabric = argument(args, "--fabric"),
                             .placement = argument(args, "--placement"),
                             .record = argument(args, "--record"),
                             .record_hops = RECORD_HOPS_DEFAULT,
                             .records = argument(args, "--messages"),
                             .json = argument(args, "--json"),
                             .store = argument(args, "--store"),
                             .profile = argument(args, "--profile"),
                             .real_clock = argument(args, "--real-clock"),
                             .contention = argument(args, "--contention"),
                             .patience = DAY_PS,
                             .limits_polls = !argument(args, "--patience"),
                             .flit_octets = 16,
                             .packet_flits = 16,
                             .words = args->operand };
    args->operand[args->operand_count] = NULL; /* they are in a list that has an end */
    if (sim_is_under_mpi())
        return misused(args->verb,
                       "several ranks of mpirun, expected leat run -n N without mpirun: "
                       "it starts the ranks of the program");
    if (args->operand_count < 1 || !job->fabric)
        return misused(
            args->verb,
            "expected --fabric FABRIC and a program, as in leat run --fabric clos444 -- ./program");
    *fabrics = run_fabrics_read(args, fabric);
    if (!*fabrics) return false;
    job->is_one_of_several = *fabrics > 1;
    job->fabric = fabric[0];
    if (argument(args, "--record-hops") && !job->record)
        return misused(args->verb, "--record-hops, expected --record with it");
    return number_take(args, "--record-hops", &job->record_hops) && check_files(args) &&
           number_take_small(args, "-n", &job->tasks) &&
           number_take(args, "--patience", &job->patience) &&
           number_take(args, "--overhead", &job->overhead) &&
           number_take_small(args, "--flit-bytes", &job->flit_octets) &&
           number_take_small(args, "--packet-flits", &job->packet_flits) &&
           threads_take(args, &job->threads) && read_compute(args, &job->compute_scale) &&
           run_collectives_read(args, job) && run_program_find(job, argument(args, "--library")) &&
           run_atm_check(job) && run_place_read(args, job) && run_jail_read(args, job) &&
           run_tool_read(args, job);
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_text(const struct run_job *job, const struct run_outcome *out)
{
    char certificate[17] = "none";
    if (run_has_certificate(out))
        snprintf(certificate, sizeof certificate, "%016" PRIx64, out->certificate);
    fprintf(stderr,
            "leat: %s, %u tasks on %s: %.9f s simulated, %" PRIu64 " messages, %" PRIu64
            " octets, certificate %s, %.2f s real%s\n",
            job->words[0], out->begun, out->fabric, run_seconds(out->simulated_ps), out->messages,
            out->octets, certificate, out->wall_seconds,
            out->end == LEAT_HUB_INTERRUPTED ? ", interrupted" : "");
    if (out->replayed)
        fprintf(stderr, "  %" PRIu64 " messages went as others did before: not simulated again\n",
                out->replayed);
    const char *reason[RUN_REASONS_MAX];
    const size_t reasons = run_not_repeatable(job, out, reason);
    for (size_t i = 0; i < reasons; i++)
        fprintf(stderr, "  another run may differ: %s\n", reason[i]);
    style_put(stderr, STYLE_HEADING,
              "  task  port           time        waiting       sent     octets   received\n");
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        if (!t->begun) continue;
        fprintf(stderr, "  %4u  %4u  %12.9f s %12.9f s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                i, out->port[i], run_seconds(t->clock > RUN_START_PS ? t->clock - RUN_START_PS : 0),
                run_seconds(t->waited_ps), t->messages_sent, t->octets_sent, t->messages_received);
    }
    if (job->profile) run_profile_text(out, stderr);
    if (out->collectives) run_collectives_text(job, out, stderr);
}

static void put_contention(const struct run_outcome *out, const struct run_outcome *alone)
{
    const double with = run_seconds(out->simulated_ps), without = run_seconds(alone->simulated_ps);
    const double share = with > 0 ? 100 * (with - without) / with : 0;
    if (alone->simulated_ps <= out->simulated_ps) {
        fprintf(stderr,
                "leat: without contention %.9f s: contention is %.9f s, %.1f %% of the run\n",
                without, with - without, share);
        return;
    }
    fprintf(stderr,
            "leat: where messages never meet it takes %.9f s, %.9f s longer (%.1f %%): %s (%u of "
            "%u tasks receive in another order)\n",
            without, without - with, -share, run_anomaly, run_count_reordered(out, alone),
            out->begun);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct run_line line_of(const struct run_job *job, const struct run_outcome *out,
                               const struct run_outcome *alone)
{
    const struct run_outcome *ended = alone ? alone : out;
    char reason[sizeof ended->reason];
    struct run_line line = { .status = run_status(ended, reason, sizeof reason),
                             .tasks = out->begun,
                             .simulated_ps = out->simulated_ps,
                             .contention = NAN,
                             .messages = out->messages,
                             .octets = out->octets };
    snprintf(line.fabric, sizeof line.fabric, "%s", job->fabric);
    if (alone) line.contention = run_seconds(out->simulated_ps) - run_seconds(alone->simulated_ps);
    return line;
}

/* The same silently, to be compared. */
static int run_again(struct run_job *job, bool contention_free, struct run_outcome *out)
{
    const size_t tool_words = job->tool.words;
    const bool silent = job->silent;
    job->records = NULL; /* they are of the first run, */
    job->tool.words = 0; /* and so is the tool */
    job->silent = true;
    const bool ran = run_once(job, contention_free, out);
    job->tool.words = tool_words;
    job->silent = silent;
    return ran ? run_judge(job, out) : FAILED;
}

static void show(const struct run_job *job, const struct run_outcome *out)
{
    if (!job->json)
        put_text(job, out);
    else if (job->profile)
        run_profile_text(out, stderr);
}

/* Sets *line, for the first run and the one without contention. */
static int run_first(struct run_job *job, struct run_results *results, struct run_outcome *out,
                     struct run_line *line)
{
    struct run_outcome alone = { 0 };
    int code = run_judge(job, out);
    const bool compared = code == DONE && job->contention;
    if (compared) code = run_again(job, true, &alone);
    const struct run_outcome *other = compared && alone.tasks ? &alone : NULL;
    show(job, out);
    if (other && !job->json) put_contention(out, other);
    if (!run_results_add(results, out, other) && code == DONE) code = FAILED;
    *line = line_of(job, out, other);
    run_outcome_free(&alone);
    return code;
}

/* After it has run by hosts: by the network. */
static int compare_collectives(struct run_job *job, struct run_results *results,
                               const struct run_outcome *hosts)
{
    struct run_outcome out = { 0 };
    job->collectives = RUN_BY_NETWORK;
    int code = run_again(job, false, &out);
    if (code == DONE) {
        show(job, &out);
        if (!job->json) run_collectives_compare(hosts, &out, stderr);
        if (!run_results_add(results, &out, NULL)) code = FAILED;
    }
    job->collectives = RUN_BY_HOSTS;
    run_outcome_free(&out);
    return code;
}

/* Over job->fabric. Sets *line once it has run. */
static int run_one(struct run_job *job, struct run_results *results, struct run_line *line)
{
    struct run_outcome out = { 0 };
    const uint32_t tasks = job->tasks;
    int code;
    if (run_once(job, false, &out)) {
        fflush(stdout);
        code = run_first(job, results, &out, line);
        if (code == DONE && job->compares_collectives)
            code = compare_collectives(job, results, &out);
    } else {
        code = out.has_no_memory ? FAILED : WRONG;
    }
    job->tasks = tasks; /* where none were requested, each fabric has its own number */
    run_outcome_free(&out);
    return code;
}

/* One after the other, also if some of them fail. */
static int run_several(struct run_job *job, char *const *fabric, uint32_t fabrics,
                       struct run_results *results)
{
    static struct run_line line[RUN_FABRICS_MAX];
    uint32_t lines = 0;
    int code = DONE;
    for (uint32_t i = 0; i < fabrics && !interrupted; i++) {
        struct run_line *next = &line[lines];
        next->status = NULL;
        job->fabric = fabric[i];
        if (run_one(job, results, next) != DONE) code = FAILED;
        lines += next->status && !interrupted;
    }
    if (lines) run_compare(line, lines, stderr);
    if (interrupted) complain("interrupted: %u of %u fabrics are finished", lines, fabrics);
    return code;
}

static int open_page(const struct run_job *job)
{
    const char *slash = strrchr(job->words[0], '/');
    char name[512];
    snprintf(name, sizeof name, "leat run %s", slash ? slash + 1 : job->words[0]);
    return watch_open(job->args, name, NULL);
}

static int run_fabrics(const struct arguments *args, struct run_job *job)
{
    static struct run_results results; /* large */
    struct run_line line;
    char *fabric[RUN_FABRICS_MAX];
    uint32_t fabrics;
    if (!read_job(args, job, fabric, &fabrics)) return WRONG;
    if (fabrics > 1 && !(check_several(job) && run_fabrics_check(job, fabric, fabrics)))
        return WRONG;
    int code = open_page(job);
    if (code != DONE) return code;
    code = run_results_open(job, &results);
    if (code == DONE)
        code = fabrics > 1 ? run_several(job, fabric, fabrics, &results)
                           : run_one(job, &results, &line);
    const int closed = run_results_close(&results);
    return code == DONE ? closed : code;
}

static int run_run(const struct arguments *args)
{
    static struct run_job job;
    const int code = run_fabrics(args, &job);
    run_tool_free(&job);
    return watch_close(finish(code));
}

/* ---- help ------------------------------------------------------------------------------------ */

const struct verb verb_run = {
    .name = "run",
    .summary = "run a real program, of MPI, PVM or the thesis, over a simulated network",
    .synopsis = "--fabric FABRIC... [-n N] [--contention] [--json [FILE]] [--store FILE] [options] "
                "-- PROGRAM [ARGUMENT...]",
    .help = help_run,
    .options = {
        { "--fabric", "FABRIC", "the network; several are run one after the other, and compared",
          true },
        { "-n", "N", "tasks", COUNT(1, RUN_TASKS_MAX),
          .preset = "one for each port (MPI), or one" },
        { "--compute", "C", "the time of computation: none, measured or measured:SCALE",
          .words = "none measured", .preset = "none" },
        { "--overhead", "TIME", "of a host, for each message it sends or receives (MPI, PVM)",
          TIME(0, SECOND_PS), .preset = "0s", .unit = "s" },
        { "--placement", "P", "of tasks on ports: cyclic, block, ports as in 0,4,8, or a file",
          .words = "cyclic block", .preset = "cyclic" },
        { "--ranks-per-host", "K", "ranks 0 to K-1 on port 0, the next K on port 1, and so on",
          COUNT(1, RUN_TASKS_MAX), .preset = "as --placement says" },
        { "--contention", NULL, "run again, silently, without contention, and compare" },
        { "--collectives", "C", "who does them: host, network[,reproducible], or compare both",
          .words = "host network network,reproducible compare", .preset = "host" },
        { "--json", "[FILE]", "the result as JSON, to FILE or after the program's output" },
        { "--store", "FILE", "keep the results there, for leat report; created if missing" },
        { "--profile", NULL, "print what each MPI call took, over all tasks" },
        { "--patience", "TIME", "until polling without a message is a deadlock (0s: never)",
          TIME(0, PS_MAX), .preset = "86400s", .unit = "s" },
        { "--record", "FILE", "what tasks and network do, for leat view and leat export" },
        OPTION_RECORD_HOPS,
        { "--gdb", "RANK", "start this rank (task) under gdb, in this terminal",
          COUNT(0, RUN_TASKS_MAX - 1) },
        { "--wrap", "TOOL", "start ranks under a tool, as \"valgrind --leak-check=full\"" },
        { "--wrap-rank", "RANK", "only this one under the tool of --wrap",
          COUNT(0, RUN_TASKS_MAX - 1), .preset = "all" },
        { "--jail", NULL,
          "the program writes no files, and reaches neither networks nor other processes" },
        { "--jail-write", "FOLDER", "but it may write below this folder" },
        { "--jail-memory", "OCTETS", "private memory of each of its processes",
          OCTETS(1 << 20, UINT64_C(1) << 40), .preset = "4G" },
        { "--jail-time", "TIME", "processor time of each of its processes",
          TIME(SECOND_PS, PS_MAX), .preset = "3600s" },
        { "--real-clock", NULL, "the program's clocks stay real" },
        { "--library", "L", "of the program, if it cannot be detected", WORD("mpi pvm atm") },
        { "--every-cycle", NULL, "simulate every cycle, replay nothing" },
        { "--model", "M", "what is simulated", WORD("cell rtl"), .preset = "cell", .kinds = "atm" },
        OPTIONS_OF_ATM,
        { "--polling", NULL, "programs of leat/atm_task.h: tasks poll, as in the thesis",
          .kinds = "atm", .former = "--poll" },
        { "--messages", "FILE", "programs of leat/atm_task.h: what tasks sent and received, CSV",
          .kinds = "atm", .former = "--records" },
        { "--flit-bytes", "N", "of a flit", OCTETS(1, LEAT_NET_PORT_FLIT_OCTETS_MAX),
          .preset = "16", .kinds = "flits packetway" },
        { "--packet-flits", "N", "of a packet at most", COUNT(2, LEAT_NET_FLITS_MAX),
          .preset = "16", .kinds = "flits packetway" },
        OPTION_THREADS_OF("flits packetway"),
        OPTIONS_OF_FAULTS,
        OPTIONS_OF_PACKETWAY,
        OPTIONS_OF_WATCH,
    },
    .run = run_run,
};
