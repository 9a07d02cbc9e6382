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
#include <unistd.h>

#ifdef HAVE_EXPAT

#include "graph_place.h"
#include "leat_fnv.h"

_Static_assert((int)GRAPH_WORKERS_MAX == (int)LEAT_POETS_RUN_WORKERS_MAX, "the limit of -j");

struct job {
    struct leat_poets_run_options run;
    struct leat_poets_link link; /* --engine mpi; run.link is NULL without it */
    struct graph_fabric fabric;
    struct leat_handler_options handlers;
    enum leat_graph_dialect dialect;
    enum leat_poets_placement placement;
    bool rts_given, idle_is_good, json;
    const char *schedule_name;
    const char *engine; /* the name of a fabric; NULL: threads */
    struct graph_files files;
    struct graph_attach attach;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool read_schedule(const struct arguments *args, struct job *job)
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

/* Epochs are reproducible with any number of workers: there the order of the file is used. */
static enum leat_poets_placement placement_of(const struct arguments *args, const struct job *job)
{
    const char *word = argument(args, "--placement");
    for (int i = 0; word && i < LEAT_POETS_PLACE_COUNT; i++)
        if (strcmp(word, leat_poets_placement_name(i)) == 0) return (enum leat_poets_placement)i;
    return job->run.schedule == LEAT_POETS_RUN_FREE ? LEAT_POETS_PLACE_LOCALITY
                                                    : LEAT_POETS_PLACE_BLOCK;
}

static bool read_until(const struct arguments *args, struct job *job)
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
static bool read_fabric(const struct arguments *args, struct job *job)
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
static bool read_engine(const struct arguments *args, struct job *job)
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
static bool read_compat(const struct arguments *args, struct job *job)
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

static bool read_job(const struct arguments *args, struct job *job)
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
    job->run.host.lines = job->json ? stderr : stdout;
    job->run.host.folder = argument(args, "--output");
    job->run.host.instrument = argument(args, "--instrument");
    job->run.host.interval = LEAT_POETS_INTERVAL;
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
    if (job->run.link && (argument(args, "--record") || argument(args, "--snapshot")))
        return misused(args->verb,
                       "--engine mpi with --record or --snapshot, expected another engine: no "
                       "rank has all packets and states");
    if (!read_schedule(args, job) || !read_until(args, job) || !read_compat(args, job))
        return false;
    job->placement = placement_of(args, job);
    return (!job->engine || graph_fabric_open(args, job->engine, &job->run, &job->fabric)) &&
           graph_attach_open(args, &job->attach) && graph_files_open(&job->files, args, &job->run);
}

/* ---- results --------------------------------------------------------------------------------- */

static int exit_code_of(const struct job *job, const struct leat_graph *graph,
                        const struct leat_poets_run_result *r)
{
    if (r->reason != LEAT_POETS_RUN_IDLE) return r->exit_code ? FAILED : DONE;
    return graph->dialect == LEAT_GRAPH_ORCH || job->idle_is_good ? DONE : FAILED;
}

static void put_refusals(struct leat_json *j, const struct leat_poets_externals *x)
{
    for (unsigned i = 0; i < LEAT_POETS_REFUSAL_COUNT; i++)
        if (x->refused[i]) leat_json_uint(j, leat_poets_refusal_name(i), x->refused[i]);
}

static void put_counters(struct leat_json *j, const struct job *job,
                         const struct leat_poets_run_result *r)
{
    leat_json_object(j, "dropped_by_cause");
    for (unsigned i = 0; i < LEAT_POETS_CAUSE_COUNT; i++)
        if (r->cause[i]) leat_json_uint(j, leat_poets_cause_name(i), r->cause[i]);
    for (unsigned i = 0; i < LEAT_POETS_HOST_COUNT; i++)
        if (r->host_cause[i]) leat_json_uint(j, leat_poets_host_cause_name(i), r->host_cause[i]);
    put_refusals(j, &job->attach.externals.table);
    leat_json_end(j);
}

static void put_placement(struct leat_json *j, const struct job *job,
                          const struct leat_poets_machine *m, const struct leat_poets_run_result *r)
{
    /* With a fixed order one worker does everything, whatever -j is. */
    const bool free_order = job->run.schedule == LEAT_POETS_RUN_FREE && !job->engine;
    const uint32_t workers = free_order ? m->rank_count * job->run.workers : 1;
    leat_json_string(j, "placement", leat_poets_placement_name(job->placement));
    leat_json_uint(j, "cut_threads", leat_poets_machine_cut(m, m->thread_count));
    leat_json_uint(j, "cut_workers", leat_poets_machine_cut(m, workers));
    leat_json_string(j, "engine", job->run.link ? "mpi" : job->engine ? "fabric" : "threads");
    leat_json_uint(j, "ranks", m->rank_count);
    leat_json_uint(j, "cut_ranks", leat_poets_machine_cut(m, m->rank_count));
    if (r->frames_bad || r->frames_unknown) {
        leat_json_uint(j, "frames_bad", r->frames_bad);
        leat_json_uint(j, "frames_unknown", r->frames_unknown);
    }
}

static void show_result(const struct job *job, const struct leat_poets_machine *m,
                        const struct leat_poets_run_result *r, double load_seconds)
{
    const double rate = r->seconds > 0 ? (double)r->receives / r->seconds : 0;
    const char *reason = leat_poets_run_reason_name(r->reason);
    FILE *text = job->json ? NULL : stderr;
    struct json_out out;
    struct leat_json *j = json_open(&out, job->json ? stdout : NULL);
    leat_json_string(j, "file", m->graph->report.file[0]);
    leat_json_string(j, "instance", m->instance->id);
    leat_json_string(j, "dialect", leat_graph_dialect_name(m->graph->dialect));
    leat_json_string(j, "rts", job->run.rts == LEAT_POETS_LEVEL ? "level" : "latched");
    leat_json_string(j, "schedule", job->schedule_name);
    if (job->json) put_placement(j, job, m, r); /* counting cut edges takes time */
    LEAT_JSON_UINTS(j, { "seed", job->run.seed }, { "workers", job->run.workers },
                    { "threads", m->thread_count }, { "devices", m->device_count },
                    { "edges", m->instance->joined_count });
    leat_json_string(j, "reason", reason);
    LEAT_JSON_UINTS(j, { "receives", r->receives }, { "sends", r->sends },
                    { "supervisor_packets", r->supervisor_packets }, { "output_lines", r->lines },
                    { "epochs", r->epochs });
    json_certificate(j, "states", r->digest);
    put_counters(j, job, r);
    graph_attach_show(&job->attach, j);
    text_print(text,
               "%s after %.3f s: %llu packets received, %llu sent, %llu by the supervisor; "
               "%.3g received per second; states %016llx\n",
               reason, r->seconds, (unsigned long long)r->receives, (unsigned long long)r->sends,
               (unsigned long long)r->supervisor_packets, rate, (unsigned long long)r->digest);
    if (job->engine) graph_fabric_show(&job->fabric, &job->run, &r->fabric, j, text);
    json_fixed(j, "load_seconds", load_seconds, 3);
    json_fixed(j, "compile_seconds", m->handlers->seconds, 3);
    json_fixed(j, "seconds", r->seconds, 6);
    json_fixed(j, "receives_per_second", rate, 0);
    json_close(&out, json_status());
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

static int run_machine(struct job *job, struct leat_poets_machine *machine, double load_seconds)
{
    struct leat_poets_run_result result;
    const uint32_t places = leat_poets_run_threads(&job->run);
    if (job->engine && machine->thread_count > places) {
        complain("%s: %u devices need %u threads, expected at most %u (--mailbox threads=N)",
                 job->fabric.network->name, machine->device_count, machine->thread_count, places);
        return WRONG;
    }
    if (!graph_attach_begin(&job->attach, machine, &job->run)) return fail("no memory");
    progress_begin(&progress, STDERR_FILENO);
    if (!job->run.link) { /* a rank knows only its own packets */
        job->run.watch.progress = show_progress;
        job->run.host.before_line = progress_make_way;
    }
    const bool ran = leat_poets_run(machine, &job->run, &result);
    progress_end(&progress);
    if (!ran)
        return fail(
            "no memory, or too many packets wait (expected fewer than 4194304 at a softswitch)");
    const bool silent = job->run.link && job->run.link->rank; /* the first rank reports for all */
    if (!silent) show_result(job, machine, &result, load_seconds);
    if (result.fabric.failed[0]) {
        complain("%s: %s", job->fabric.network->name, result.fabric.failed);
        return finish(FAILED);
    }
    if (!graph_files_close(&job->files, &job->run, machine, &result) || result.table_failed)
        return finish(FAILED);
    if (result.reason == LEAT_POETS_RUN_INTERRUPTED || job->attach.externals.lost)
        return finish(FAILED);
    if (!silent && result.reason == LEAT_POETS_RUN_IDLE &&
        exit_code_of(job, machine->graph, &result) != DONE)
        complain("the application is idle and has not said that it is done (--until idle: that is "
                 "good)");
    return finish(exit_code_of(job, machine->graph, &result));
}

/* The file may come from anybody, and its code is not sandboxed. */
static void warn_of_code(const struct leat_graph *graph, const struct leat_handlers *handlers)
{
    if (handlers->unseen)
        caution("%s: this runs C++ code of the file for the first time, with all your rights",
                graph->report.file[0]);
}

/* What ranks must have in common. */
static uint64_t fingerprint_of(const struct job *job, const struct leat_poets_machine *m)
{
    const uint64_t words[] = { m->graph->file_len, m->device_count,  m->instance->joined_count,
                               m->thread_count,    job->run.workers, job->run.rts,
                               job->placement };
    return leat_fnv(LEAT_FNV_EMPTY, (const uint8_t *)words, sizeof words);
}

static bool build_machine(const struct job *job, struct leat_graph *graph,
                          const struct leat_graph_instance *instance,
                          const struct leat_handlers *handlers, struct leat_poets_machine *machine)
{
    const uint32_t threads = leat_poets_run_threads(&job->run);
    const struct leat_poets_link *link = job->run.link;
    uint32_t *order = leat_graph_order(graph, instance, job->placement, threads, job->run.seed);
    const bool good = order &&
                      leat_poets_machine_build(machine, graph, instance, handlers, threads, order,
                                               link ? link->rank : 0, link ? link->rank_count : 1);
    free(order);
    return good;
}

static int run_graph_file(const struct arguments *args, struct job *job, struct leat_graph *graph)
{
    struct leat_handlers handlers = { 0 };
    struct leat_poets_machine machine = { 0 };
    const double began = seconds_now();
    const struct leat_graph_instance *instance =
        leat_graph_read(graph, args->operand[1], job->dialect)
            ? leat_graph_select(graph, argument(args, "--instance"))
            : NULL;
    if (!job->rts_given)
        job->run.rts = graph->dialect == LEAT_GRAPH_ORCH ? LEAT_POETS_LATCHED : LEAT_POETS_LEVEL;
    /* The first rank compiles; the others use its cached objects if they can. */
    struct leat_poets_link *link = job->run.link;
    const bool first = !link || !link->rank;
    bool good = instance &&
                (!first || leat_handlers_build(graph, instance, &job->handlers, &handlers));
    if (link && !graph_agree(link, &graph->report, good, 0))
        return leat_handlers_close(&handlers), interrupted ? finish(FAILED) : WRONG;
    if (!first) good = leat_handlers_build(graph, instance, &job->handlers, &handlers);
    if (good && first) warn_of_code(graph, &handlers);
    good = good && leat_handlers_load(graph, &job->run, &handlers) &&
           build_machine(job, graph, instance, &handlers, &machine);
    good = graph_agree(link, &graph->report, good, good ? fingerprint_of(job, &machine) : 0);
    if (good && first) graph_print_report(&graph->report); /* warnings */
    int code = interrupted ? finish(FAILED) : WRONG;
    if (good) code = run_machine(job, &machine, seconds_now() - began - handlers.seconds);
    leat_poets_machine_free(&machine);
    leat_handlers_close(&handlers);
    return code;
}

/* Ranks read the same command line; the first reports errors in it. */
static bool read_job_of_ranks(const struct arguments *args, struct job *job)
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
    return good;
}

int graph_run(const struct arguments *args)
{
    static struct leat_graph graph;
    static struct job job;
    if (!graph_has_file(args)) return WRONG;
    const int code = read_job_of_ranks(args, &job) ? run_graph_file(args, &job, &graph) : WRONG;
    graph_fabric_close(&job.fabric);
    graph_attach_close(&job.attach);
    graph_files_drop(&job.files); /* if nothing ran */
    leat_graph_free(&graph);
    if (job.run.link) job.run.link->close(job.run.link);
    return code;
}

#endif
