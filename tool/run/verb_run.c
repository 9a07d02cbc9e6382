/* leat run: a real program over a simulated network. */
#include "json_out.h"
#include "number.h"
#include "result_file.h"
#include "run.h"
#include "sim.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    static const char *const options[] = { "--record", "--messages", "--json" };
    struct result_name names[] = { { "standard output", "-" }, { 0 }, { 0 }, { 0 } };
    size_t count = 1;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *path = argument(args, options[i]);
        if (i == 2 && (!path || !*path || strcmp(path, "-") == 0)) continue;
        if (path && strcmp(path, "-") == 0)
            return misused(args->verb, "%s '-', expected a file: standard output is the program's",
                           options[i]);
        if (path) names[count++] = (struct result_name){ options[i], path };
    }
    return result_names_apart(args->verb, names, count, NULL);
}

static bool read_job(const struct arguments *args, struct run_job *job)
{
    *job = (struct run_job){ .verb = args->verb,
                             .args = args,
                             .fabric = argument(args, "--fabric"),
                             .placement = argument(args, "--placement"),
                             .record = argument(args, "--record"),
                             .records = argument(args, "--messages"),
                             .json = argument(args, "--json"),
                             .profile = argument(args, "--profile"),
                             .real_clock = argument(args, "--real-clock"),
                             .contention = argument(args, "--contention"),
                             .patience = DAY_PS,
                             .flit_octets = 16,
                             .packet_flits = 16,
                             .words = args->operand };
    args->operand[args->operand_count] = NULL; /* they are in a list that has an end */
    if (args->operand_count < 1 || !job->fabric)
        return misused(
            args->verb,
            "expected --fabric FABRIC and a program, as in leat run --fabric clos444 -- ./program");
    return check_files(args) && number_take_small(args, "-n", &job->tasks) &&
           number_take(args, "--patience", &job->patience) &&
           number_take_small(args, "--flit-bytes", &job->flit_octets) &&
           number_take_small(args, "--packet-flits", &job->packet_flits) &&
           read_compute(args, &job->compute_scale) &&
           run_program_find(job, argument(args, "--library")) && run_atm_check(job);
}

/* ---- results --------------------------------------------------------------------------------- */

static double seconds(leat_time ps)
{
    return 1e-12 * (double)ps;
}

enum { REASONS_MAX = 4 };

/* Why another run may give a different result; returns the number of reasons. */
static size_t not_repeatable(const struct run_job *job, const struct run_outcome *out,
                             const char *reason[REASONS_MAX])
{
    size_t count = 0;
    if (job->real_clock) reason[count++] = "--real-clock: the program reads the machine's clocks";
    if (job->compute_scale > 0)
        reason[count++] = "--compute measured: computing takes the time that it took here";
    if (out->notes & LEAT_TASK_READS_COUNTER)
        reason[count++] = "the program reads the processor's counter, which this system cannot "
                          "answer in simulated time";
    if (out->notes & LEAT_TASK_HAS_THREADS)
        reason[count++] = "several threads of a rank communicate, and the system decides which of "
                          "them goes first";
    return count;
}

static void put_text(const struct run_job *job, const struct run_outcome *out)
{
    fprintf(stderr,
            "leat: %s, %u tasks on %s: %.9f s simulated, %" PRIu64 " messages, %" PRIu64
            " octets, certificate %016" PRIx64 ", %.2f s real\n",
            job->words[0], out->begun, out->fabric, seconds(out->simulated_ps), out->messages,
            out->octets, out->certificate, out->wall_seconds);
    if (out->replayed)
        fprintf(stderr, "  %" PRIu64 " messages went as others did before: not simulated again\n",
                out->replayed);
    const char *reason[REASONS_MAX];
    const size_t reasons = not_repeatable(job, out, reason);
    for (size_t i = 0; i < reasons; i++)
        fprintf(stderr, "  another run may differ: %s\n", reason[i]);
    fprintf(stderr,
            "  task  port           time        waiting       sent     octets   received\n");
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        if (!t->begun) continue;
        fprintf(stderr, "  %4u  %4u  %12.9f s %12.9f s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                i, out->port[i], seconds(t->clock > RUN_START_PS ? t->clock - RUN_START_PS : 0),
                seconds(t->waited_ps), t->messages_sent, t->octets_sent, t->messages_received);
    }
    if (job->profile) run_profile_text(out, stderr);
}

/* Tasks that receive from others in a different order without contention. */
static uint32_t count_reordered(const struct run_outcome *out, const struct run_outcome *alone)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->tasks && i < alone->tasks; i++)
        count += out->task[i].order != alone->task[i].order;
    return count;
}

/*
 * A run can take longer where messages never meet: ports, units and half-routers still serve one
 * message after the other, and with other times they serve them in another order (R. L. Graham,
 * Bounds on Multiprocessing Timing Anomalies, 1969).
 */
static const char anomaly[] = "messages come to ports, units and half-routers at other times, "
                              "which still serve one after the "
                              "other, and they end later; this run does not show the contention";

static void put_json_contention(struct leat_json *j, const struct run_outcome *out,
                                const struct run_outcome *alone)
{
    const double with = seconds(out->simulated_ps), without = seconds(alone->simulated_ps);
    json_fixed(j, "contention_free_seconds", without, 12);
    json_fixed(j, "contention_seconds", with - without, 12);
    leat_json_uint(j, "reordered_tasks", count_reordered(out, alone));
    if (alone->simulated_ps > out->simulated_ps) leat_json_string(j, "contention_note", anomaly);
}

static void put_json_repeatable(struct leat_json *j, const struct run_job *job,
                                const struct run_outcome *out)
{
    const char *reason[REASONS_MAX];
    const size_t reasons = not_repeatable(job, out, reason);
    leat_json_bool(j, "repeatable", !reasons);
    leat_json_array(j, "not_repeatable_because");
    for (size_t i = 0; i < reasons; i++)
        leat_json_string(j, NULL, reason[i]);
    leat_json_end(j);
}

static void put_tasks(struct leat_json *j, const struct run_outcome *out)
{
    leat_json_array(j, "task");
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        if (!t->begun) continue;
        leat_json_object(j, NULL);
        leat_json_uint(j, "task", i);
        leat_json_uint(j, "port", out->port[i]);
        json_fixed(j, "seconds", seconds(t->clock > RUN_START_PS ? t->clock - RUN_START_PS : 0),
                   12);
        json_fixed(j, "waiting_seconds", seconds(t->waited_ps), 12);
        LEAT_JSON_UINTS(j, { "messages_sent", t->messages_sent }, { "bytes_sent", t->octets_sent },
                        { "messages_received", t->messages_received },
                        { "bytes_received", t->octets_received });
        leat_json_end(j);
    }
    leat_json_end(j);
}

/* `ended`: the run to report, the one without contention if that failed. */
static void put_status(struct leat_json *j, const struct run_outcome *ended)
{
    char reason[sizeof ended->reason];
    leat_json_string(j, "status", run_status(ended, reason, sizeof reason));
    leat_json_string(j, "reason", *reason ? reason : NULL);
    if (ended->end == LEAT_HUB_DONE)
        leat_json_int(j, "exit_code", ended->code);
    else
        leat_json_null(j, "exit_code"); /* leat ended it */
}

static void put_object(struct leat_text *text, const struct run_job *job,
                       const struct run_outcome *out, const struct run_outcome *alone)
{
    struct leat_json json, *j = &json;
    leat_json_init(j, text);
    leat_json_object(j, NULL);
    leat_json_string(j, "fabric", out->fabric);
    leat_json_string(j, "program", job->words[0]);
    leat_json_string(j, "library", run_library_names[job->library]);
    put_status(j, alone ? alone : out);
    leat_json_uint(j, "tasks", out->begun);
    json_fixed(j, "simulated_seconds", seconds(out->simulated_ps), 12);
    leat_json_uint(j, "messages", out->messages);
    leat_json_uint(j, "bytes", out->octets);
    json_certificate(j, "certificate", out->certificate);
    json_fixed(j, "wall_seconds", out->wall_seconds, 6);
    leat_json_uint(j, "replayed", out->replayed);
    if (alone) put_json_contention(j, out, alone);
    put_json_repeatable(j, job, out);
    run_profile_json(j, out);
    put_tasks(j, out);
    leat_json_end(j);
    leat_text_putc(text, '\n');
}

/* Does the next output begin a line? Only a file can be checked for how it ends. */
static bool is_at_line_start(void)
{
    struct stat info;
    const off_t at = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode) || at < 0) return false;
    if (at == 0) return true;
    const int file = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
    char last = 0;
    const bool is_read = file >= 0 && pread(file, &last, 1, at - 1) == 1;
    if (file >= 0) close(file);
    return is_read && last == '\n';
}

/* The object to standard output or to its file. */
static bool put_json(const struct run_job *job, const struct run_outcome *out,
                     const struct run_outcome *alone)
{
    static struct result_file file; /* large */
    const bool to_file = *job->json && strcmp(job->json, "-") != 0;
    if (!to_file && !is_at_line_start()) putchar('\n');
    fflush(stdout);
    if (!result_file_open(&file, to_file ? job->json : NULL)) return false;
    put_object(&file.out.text, job, out, alone);
    return result_file_close(&file, true);
}

static void put_contention(const struct run_outcome *out, const struct run_outcome *alone)
{
    const double with = seconds(out->simulated_ps), without = seconds(alone->simulated_ps);
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
            without, without - with, -share, anomaly, count_reordered(out, alone), out->begun);
}

static int run_run(const struct arguments *args)
{
    static struct run_job job;
    struct run_outcome out = { 0 }, alone = { 0 };
    int code;
    if (!read_job(args, &job)) return finish(WRONG);
    if (run_once(&job, false, &out)) {
        fflush(stdout);
        code = run_judge(&job, &out);
        bool compared = false;
        if (code == DONE && job.contention) {
            job.records = NULL; /* they are of the first run */
            compared = run_once(&job, true, &alone);
            code = compared ? run_judge(&job, &alone) : FAILED;
        }
        if (!job.json)
            put_text(&job, &out);
        else if (!put_json(&job, &out, compared ? &alone : NULL) && code == DONE)
            code = FAILED;
        if (compared && !job.json) put_contention(&out, &alone);
    } else {
        code = out.has_no_memory ? FAILED : WRONG;
    }
    run_outcome_free(&out);
    run_outcome_free(&alone);
    return finish(code);
}

/* ---- help ------------------------------------------------------------------------------------ */

const struct verb verb_run = {
    .name = "run",
    .summary = "run a real program, of MPI, PVM or the thesis, over a simulated network",
    .synopsis = "--fabric FABRIC [-n N] [--contention] [--json [FILE]] [options] -- PROGRAM "
                "[ARGUMENT...]",
    .help = help_run,
    .options = {
        { "--fabric", "FABRIC", "the network" },
        { "-n", "N", "tasks", COUNT(1, RUN_TASKS_MAX),
          .preset = "one for each port (MPI), or one" },
        { "--compute", "C", "the time of computation: none, measured or measured:SCALE",
          .words = "none measured", .preset = "none" },
        { "--placement", "P", "of tasks on ports: cyclic, block, or ports as in 0,4,8",
          .words = "cyclic block", .preset = "cyclic" },
        { "--contention", NULL, "run again, silently, without contention, and compare" },
        { "--json", "[FILE]", "the result as JSON, to FILE or after the program's output" },
        { "--profile", NULL, "print what each MPI call took, over all tasks" },
        { "--patience", "TIME", "until polling without a message is a deadlock (0s: never)",
          TIME(0, PS_MAX), .preset = "86400s", .unit = "s" },
        { "--record", "FILE", "what tasks and network do, for leat export" },
        { "--real-clock", NULL, "the program's clocks stay real" },
        { "--library", "L", "of the program, if it cannot be detected", WORD("mpi pvm atm") },
        { "--model", "M", "what is simulated", WORD("cell rtl"), .preset = "cell", .kinds = "atm" },
        { "--every-cycle", NULL, "simulate every cycle, replay nothing", .kinds = "atm" },
        OPTIONS_OF_ATM,
        { "--poll", NULL, "programs of leat/atm_task.h: tasks poll, as in the thesis",
          .kinds = "atm" },
        { "--messages", "FILE", "programs of leat/atm_task.h: what tasks sent and received, CSV",
          .kinds = "atm", .former = "--records" },
        { "--flit-bytes", "N", "of a flit", OCTETS(1, LEAT_NET_PORT_FLIT_OCTETS_MAX),
          .preset = "16", .kinds = "flits packetway" },
        { "--packet-flits", "N", "of a packet at most", COUNT(2, LEAT_NET_FLITS_MAX),
          .preset = "16", .kinds = "flits packetway" },
        OPTIONS_OF_FAULTS,
        OPTIONS_OF_PACKETWAY,
    },
    .run = run_run,
};
