/* leat graph run: the options, the run, and its result. */
#include "duration.h"
#include "graph_job.h"
#include "json_out.h"
#include "number.h"
#include "pieces.h"
#include "sim_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_EXPAT

_Static_assert((int)GRAPH_WORKERS_MAX == (int)LEAT_POETS_RUN_WORKERS_MAX, "the limit of -j");

_Static_assert((int)GRAPH_TASKS_MAX == (int)LEAT_POETS_RUN_TASKS_MAX, "the limit of tasks");

enum { LARGE_FILE = 1 << 24 /* octets */ };

/* ---- options -------------------------------------------------------------------------------- */

static bool read_schedule(const struct arguments *args, struct graph_job *job)
{
    static const char *const names[] = { "free", "fifo", "lifo", "random" };
    const char *word = argument(args, "--schedule");
    job->schedule_name = word ? word : names[0];
    if (!word) return true;
    for (int i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0) {
            job->run.schedule = (enum leat_poets_run_schedule)i;
            return true;
        }
    if (strncmp(word, "delay:", 6) == 0) {
        char *end;
        job->run.schedule = LEAT_POETS_RUN_DELAY;
        job->run.delay = strtod(word + 6, &end);
        if (word[6] && !*end && job->run.delay >= 0 && job->run.delay <= 0.99) return true;
    }
    return misused(args->verb,
                   "--schedule '%s', %sexpected free, fifo, lifo, random or delay:0 to delay:0.99",
                   word, did_you_mean(word, "free fifo lifo random"));
}

/* Locality needs all edges of a file. */
static bool is_large(const char *file)
{
    struct stat s;
    return stat(file, &s) == 0 && s.st_size >= LARGE_FILE;
}

/* Epochs are reproducible with any number of workers, and ranks read a large file together: there
 * the order of the file is used. */
static enum leat_poets_placement placement_of(const struct arguments *args,
                                              const struct graph_job *job)
{
    const char *word = argument(args, "--placement");
    for (enum leat_poets_placement i = 0; word && i < LEAT_POETS_PLACE_COUNT; i++)
        if (strcmp(word, leat_poets_placement_name(i)) == 0) return i;
    if (job->run.link && is_large(args->operand[1])) return LEAT_POETS_PLACE_BLOCK;
    return job->run.schedule == LEAT_POETS_RUN_FREE ? LEAT_POETS_PLACE_LOCALITY
                                                    : LEAT_POETS_PLACE_BLOCK;
}

static bool read_until(const struct arguments *args, struct graph_job *job)
{
    const char *word = argument(args, "--until");
    uint64_t ps = 0;
    if (!word) return true;
    if (strcmp(word, "idle") == 0) return job->idle_is_good = true;
    if (strcmp(word, "stop") == 0) return job->run.until_stop = true;
    const bool has_unit = duration_read(word, &ps);
    if ((!has_unit && !duration_read_bare(word, "s", &ps)) || !ps)
        return misused(args->verb, "--until '%s', expected idle, stop or a time as in 20s or 500ms",
                       word);
    if (!has_unit)
        caution("--until %s is taken for %ss: write the unit, which leat will expect", word, word);
    job->run.seconds_max = (double)ps * 1e-12;
    return true;
}

/* --fabric, or --engine fabric:NAME, as it was written once. */
static bool read_fabric(const struct arguments *args, struct graph_job *job)
{
    static const char former[] = "fabric:";
    const char *engine = argument(args, "--engine");
    job->engine = argument(args, "--fabric");
    if (engine && job->engine)
        return misused(args->verb, "--engine %s with --fabric, expected one of them", engine);
    if (argument(args, "--threads") && !job->engine &&
        (!engine || word_is_in(engine, "threads mpi")))
        return misused(args->verb,
                       "--threads, expected --fabric with it (-j: workers without one)");
    if (!engine || word_is_in(engine, "threads mpi")) return true;
    if (strncmp(engine, former, strlen(former)) != 0 || !engine[strlen(former)])
        return misused(args->verb, "--engine '%s', %sexpected threads or mpi, or --fabric FABRIC",
                       engine, did_you_mean(engine, "threads mpi"));
    job->engine = engine + strlen(former);
    caution("--engine %s is called --fabric %s now", engine, job->engine);
    return true;
}

/* A fabric has no schedule other than its own. */
static bool read_engine(const struct arguments *args, struct graph_job *job)
{
    static const char *const of_fabrics[] = { "--mailbox", "--cost" };
    static const char *const of_threads[] = { "--schedule", "--quantum" };
    if (!read_fabric(args, job)) return false;
    for (int i = 0; i < 2; i++) {
        const char *foreign = job->engine ? of_threads[i] : of_fabrics[i];
        if (argument(args, foreign))
            return misused(args->verb, "%s has no meaning %s --fabric", foreign,
                           job->engine ? "with" : "without");
    }
    return true;
}

/* Quirks of the original: words separated by newlines. */
static bool read_compat(const struct arguments *args, struct graph_job *job)
{
    static const char known[] =
        "hdr_pin_as_edge, reply_cnc0, reply_1flit, stop_ack=off, log_raw, fp32const";
    const char *at = argument(args, "--compat");
    job->run.host.stop_ack = true;
    while (at && *at) {
        const size_t len = strcspn(at, "\n,");
        const struct {
            const char *name;
            bool *flag, value;
        } keys[] = { { "hdr_pin_as_edge", &job->run.hdr_pin_as_edge, true },
                     { "reply_cnc0", &job->run.host.reply_cnc0, true },
                     { "reply_1flit", &job->run.host.reply_1flit, true },
                     { "stop_ack=off", &job->run.host.stop_ack, false },
                     { "log_raw", &job->run.log_raw, true },
                     { "fp32const", &job->handlers.single_precision, true } };
        size_t i = 0;
        while (i < sizeof keys / sizeof *keys &&
               (strlen(keys[i].name) != len || memcmp(keys[i].name, at, len) != 0))
            i++;
        if (i == sizeof keys / sizeof *keys)
            return misused(args->verb, "--compat '%.*s', expected %s", (int)len, at, known);
        *keys[i].flag = keys[i].value;
        at += len + (at[len] != '\0');
    }
    return true;
}

/* Words of an option that is repeated. */
static bool has_several(const char *words)
{
    return words && strchr(words, '\n');
}

static bool read_job(const struct arguments *args, struct graph_job *job)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *rts = argument(args, "--rts");
    job->run = (struct leat_poets_run_options){ .workers = processors > 0 ? (uint32_t)processors
                                                                          : 1,
                                                .log_level = 2,
                                                .seed = 1,
                                                .interrupted = &interrupted,
                                                .link = job->run.link };
    job->json = argument(args, "--json");
    job->run.counts_cuts = job->json; /* it takes time */
    job->run.host.lines = job->json ? stderr : stdout;
    job->run.host.folder = argument(args, "--output");
    job->run.host.instrument = argument(args, "--instrument");
    job->run.host.interval = LEAT_POETS_INTERVAL;
    job->restore = argument(args, "--restore");
    job->run.resumes = job->restore;
    job->handlers.flags = argument(args, "--cxxflags");
    job->handlers.interrupted = &interrupted;
    if (!read_engine(args, job)) return false;
    job->dialect = graph_dialect(args);
    job->rts_given = rts;
    if (rts && strcmp(rts, "level") == 0) job->run.rts = LEAT_POETS_LEVEL;
    if (processors > GRAPH_WORKERS_MAX) job->run.workers = GRAPH_WORKERS_MAX;
    if (job->run.link) job->run.workers = 1; /* processors belong to the ranks */
    if (!number_take_small(args, "-j", &job->run.workers) ||
        !number_take(args, "--seed", &job->run.seed) ||
        !number_take_small(args, "--log", &job->run.log_level) ||
        !number_take_small(args, "--quantum", &job->run.quantum) ||
        !number_take_small(args, "--idle-steps", &job->run.idle_steps))
        return false;
    if (job->run.link && (argument(args, "--schedule") || strcmp(args->operand[1], "-") == 0))
        return misused(args->verb,
                       "--engine mpi, expected a file that all ranks can read, and no --schedule");
    if (job->run.link && (args->operand_count > 2 || has_several(argument(args, "--instance"))))
        return misused(args->verb, "--engine mpi with several tasks, expected another engine");
    if (!read_schedule(args, job) || !read_until(args, job) || !read_compat(args, job))
        return false;
    job->placement = placement_of(args, job);
    job->placement_given = argument(args, "--placement");
    return graph_sandbox_read(args, job) &&
           (!job->engine || graph_fabric_open(args, job->engine, &job->run, &job->fabric)) &&
           graph_attach_open(args, job->attach) && graph_files_open(&job->files, args, &job->run);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Has the application ended well? Its files and externals may have failed all the same. */
static bool is_well(const struct graph_job *job, const struct graph_task *task,
                    const struct leat_poets_run_result *r)
{
    if (r->reason != LEAT_POETS_RUN_IDLE) return !r->exit_code;
    return task->graph.dialect == LEAT_GRAPH_ORCH || job->idle_is_good;
}

static void put_refusals(struct leat_json *j, const struct leat_poets_externals *x)
{
    for (unsigned i = 0; i < LEAT_POETS_REFUSAL_COUNT; i++)
        if (x->refused[i]) leat_json_uint(j, leat_poets_refusal_name(i), x->refused[i]);
}

static void put_counters(struct leat_json *j, const struct graph_attach *attach,
                         const struct leat_poets_run_result *r)
{
    leat_json_object(j, "dropped_by_cause");
    for (unsigned i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
        if (r->cause[i]) leat_json_uint(j, leat_poets_cause_name(i), r->cause[i]);
    for (unsigned i = 0; i < LEAT_POETS_HOST_COUNT; i++)
        if (r->host_cause[i]) leat_json_uint(j, leat_poets_host_cause_name(i), r->host_cause[i]);
    put_refusals(j, &attach->externals.table);
    leat_json_end(j);
}

static void put_placement(struct leat_json *j, const struct graph_job *job,
                          const struct leat_poets_machine *m, bool dealt,
                          const struct leat_poets_run_result *r)
{
    leat_json_string(j, "placement", leat_poets_placement_name(job->placement));
    leat_json_uint(j, "cut_threads", r->cut_threads);
    leat_json_uint(j, "cut_workers", r->cut_workers);
    leat_json_string(j, "engine", job->run.link ? "mpi" : job->engine ? "fabric" : "threads");
    leat_json_uint(j, "ranks", m->rank_count);
    leat_json_uint(j, "cut_ranks", r->cut_ranks);
    leat_json_bool(j, "read_together", dealt);
    if (r->frames_bad || r->frames_unknown) {
        leat_json_uint(j, "frames_bad", r->frames_bad);
        leat_json_uint(j, "frames_unknown", r->frames_unknown);
    }
}

/* Of a task: its object, or its line. */
static void show_result(const struct graph_job *job, uint32_t number,
                        const struct leat_poets_run_result *r, int code)
{
    const struct graph_task *task = job->task[number];
    const struct leat_poets_machine *m = &task->machine;
    const double rate = r->seconds > 0 ? (double)r->receives / r->seconds : 0;
    const char *reason = leat_poets_run_reason_name(r->reason);
    FILE *text = job->json ? NULL : stderr;
    struct json_out out;
    struct leat_json *j = json_open(&out, job->json ? stdout : NULL);
    leat_json_uint(j, "task", number);
    leat_json_string(j, "file", m->graph->report.file[0]);
    leat_json_string(j, "instance", m->instance->id);
    leat_json_string(j, "dialect", leat_graph_dialect_name(m->graph->dialect));
    leat_json_string(j, "rts", task->run.rts == LEAT_POETS_LEVEL ? "level" : "latched");
    leat_json_string(j, "schedule", job->schedule_name);
    put_placement(j, job, m, task->dealt, r);
    LEAT_JSON_UINTS(j, { "seed", job->run.seed }, { "workers", job->run.workers },
                    { "threads", m->thread_count }, { "devices", m->device_count },
                    { "edges", m->instance->joined_count });
    leat_json_string(j, "reason", reason);
    LEAT_JSON_UINTS(j, { "receives", r->receives }, { "sends", r->sends },
                    { "supervisor_packets", r->supervisor_packets }, { "output_lines", r->lines },
                    { "epochs", r->epochs });
    json_certificate(j, "states", r->digest);
    put_counters(j, &job->attach[number], r);
    graph_attach_show(&job->attach[number], j);
    text_print(text,
               "%s%s after %.3f s: %llu packets received, %llu sent, %llu by the supervisor; "
               "%.3g received per second; states %016llx\n",
               task->prefix, reason, r->seconds, (unsigned long long)r->receives,
               (unsigned long long)r->sends, (unsigned long long)r->supervisor_packets, rate,
               (unsigned long long)r->digest);
    /* The network is that of all tasks: for people once. */
    if (job->engine)
        graph_fabric_show(&job->fabric, &job->run, &r->fabric,
                          job->task_count > 1 ? "the last task" : "the application", j,
                          number + 1 == job->task_count ? text : NULL);
    json_fixed(j, "load_seconds", task->load_seconds, 3);
    json_fixed(j, "compile_seconds", m->handlers->seconds, 3);
    json_fixed(j, "seconds", r->seconds, 6);
    json_fixed(j, "receives_per_second", rate, 0);
    json_close(&out, code == DONE || interrupted ? json_status() : "failed");
}

/* ---- progress, for somebody at a terminal ---------------------------------------------------- */

static struct progress progress;

static void show_progress(void *context, double seconds, uint64_t receives)
{
    char all[PROGRESS_FIGURE_CAP], rate[PROGRESS_FIGURE_CAP];
    (void)context; /* that of the recording */
    if (!progress_is_due(&progress)) return;
    progress_show(&progress, "%.0f s, %s packets received, %s/s", seconds,
                  progress_figure((double)receives, all),
                  progress_figure((double)receives / seconds, rate));
}

/* ---- the run -------------------------------------------------------------------------------- */

static int report_task(struct graph_job *job, uint32_t number,
                       const struct leat_poets_run_result *result)
{
    const struct graph_task *task = job->task[number];
    const bool silent = job->run.link && job->run.link->rank; /* the first rank reports for all */
    const bool well = is_well(job, task, result);
    const bool failed = !well || result->table_failed || job->attach[number].externals.lost ||
                        result->reason == LEAT_POETS_RUN_INTERRUPTED;
    if (!silent) show_result(job, number, result, failed ? FAILED : DONE);
    if (!silent && result->reason == LEAT_POETS_RUN_IDLE && !well)
        complain("%sthe application is idle and has not said that it is done (--until idle: that "
                 "is good)",
                 task->prefix);
    return failed ? FAILED : DONE;
}

/* The worst of all tasks. */
static int report_tasks(struct graph_job *job, const struct leat_poets_task *task)
{
    int worst = DONE;
    for (uint32_t i = 0; i < job->task_count; i++) {
        const int code = report_task(job, i, &task[i].result);
        if (code > worst) worst = code;
    }
    if (task->result.fabric.failed[0]) {
        complain("%s: %s", job->fabric.network->name, task->result.fabric.failed);
        return FAILED;
    }
    return graph_files_close(&job->files, &job->run, &task->result) ? worst : FAILED;
}

static int run_tasks(struct graph_job *job)
{
    struct leat_poets_task task[GRAPH_TASKS_MAX] = { 0 };
    for (uint32_t i = 0; i < job->task_count; i++) {
        struct graph_task *t = job->task[i];
        if (!graph_attach_begin(&job->attach[i], t)) return fail("no memory");
        task[i].machine = &t->machine;
        task[i].options = &t->run;
        if (job->run.link) continue; /* a rank knows only its own packets */
        t->run.watch.progress = show_progress;
        t->run.host.before_line = progress_make_way;
    }
    progress_begin(&progress, STDERR_FILENO);
    const bool ran = leat_poets_run_tasks(task, job->task_count);
    progress_end(&progress);
    if (!ran)
        return fail(
            "no memory, or too many packets wait (expected fewer than 4194304 at a softswitch)");
    return finish(report_tasks(job, task));
}

static int load_and_run(struct graph_job *job)
{
    if (!graph_tasks_load(job)) return interrupted ? finish(FAILED) : WRONG;
    graph_files_begin(&job->files, job);
    return run_tasks(job);
}

static int compile_and_run(const struct arguments *args, struct graph_job *job)
{
    if (!graph_tasks_compile(args, job)) return interrupted ? finish(FAILED) : WRONG;
    if (!graph_attach_check(args, job->attach, job->task_count)) return WRONG;
    if (!graph_sandbox_is_needed(job)) return load_and_run(job);
    return job->run.link ? WRONG : graph_sandbox_run(job, load_and_run);
}

/* Ranks read the same command line; the first reports errors in it. */
static bool read_job_of_ranks(const struct arguments *args, struct graph_job *job)
{
    const char *engine = argument(args, "--engine");
    if (!engine || strcmp(engine, "mpi") != 0) {
        if (!sim_is_under_mpi()) return read_job(args, job);
        return misused(args->verb,
                       "several ranks of mpirun, expected --engine mpi, or one process");
    }
    if (!graph_link_open(&job->link)) return false;
    job->run.link = &job->link;
    const int before = job->link.rank ? graph_mute() : -1;
    const bool good = read_job(args, job);
    if (job->link.rank) graph_unmute(before);
    /* The first rank alone opens files. */
    return leat_poets_link_agree(&job->link, good, 0).good;
}

int graph_run(const struct arguments *args)
{
    static struct graph_job job;
    if (!graph_has_files(args)) return WRONG;
    const int code = read_job_of_ranks(args, &job) ? compile_and_run(args, &job) : WRONG;
    graph_fabric_close(&job.fabric);
    for (uint32_t i = 0; i < GRAPH_TASKS_MAX; i++)
        graph_attach_close(&job.attach[i]);
    graph_files_drop(&job.files); /* if nothing ran */
    graph_tasks_free(&job);
    if (job.run.link) job.run.link->close(job.run.link);
    return code;
}

#endif
