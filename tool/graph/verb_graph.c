/* leat graph: POETS applications: the subcommands, and how errors are reported. */
#include "graph_job.h"
#include "json_out.h"
#include "threads.h"
#include <stdio.h>
#include <string.h>

#ifdef HAVE_EXPAT

bool graph_print_report(const struct leat_graph_report *report)
{
    for (uint32_t i = 0; i < report->kept; i++) {
        const struct leat_graph_mistake *m = &report->mistake[i];
        fprintf(stderr, "%s:", report->file[m->place.file]);
        if (m->place.line) fprintf(stderr, "%u:", m->place.line);
        if (m->place.column) fprintf(stderr, "%u:", m->place.column);
        fprintf(stderr, " %s%s: %s\n", m->warning ? "warning: " : "", m->code, m->text);
    }
    const uint32_t all = report->error_count + report->warning_count;
    if (all > report->kept) complain("and %u more", all - report->kept);
    return !report->error_count;
}

enum leat_graph_dialect graph_dialect(const struct arguments *args)
{
    const char *word = argument(args, "--dialect");
    for (enum leat_graph_dialect i = 0; word && i < LEAT_GRAPH_DIALECT_COUNT; i++)
        if (strcmp(leat_graph_dialect_name(i), word) == 0) return i;
    return LEAT_GRAPH_DIALECT_COUNT;
}

bool graph_has_file(const struct arguments *args)
{
    if (args->operand_count == 2) return true;
    return misused(args->verb, "%s: expected one file, as in leat graph %s plate.xml",
                   args->operand[0], args->operand[0]);
}

/* The handlers of every type that an instance has devices of; of all types if there is no instance.
 * Nothing is loaded: a file is checked before anybody trusts it. */
static void compile_all(struct leat_graph *graph)
{
    const struct leat_handler_options options = { .interrupted = &interrupted };
    struct leat_handlers handlers;
    for (uint32_t i = 0; !interrupted && (i < graph->instance_count || i == 0); i++)
        if (leat_handlers_build(graph, i < graph->instance_count ? &graph->instance[i] : NULL,
                                &options, &handlers))
            leat_handlers_close(&handlers);
}

static void put_mistakes(struct leat_json *json, const struct leat_graph_report *report)
{
    leat_json_uint(json, "mistake_count", report->error_count + report->warning_count);
    leat_json_array(json, "mistakes");
    for (uint32_t i = 0; i < report->kept; i++) {
        const struct leat_graph_mistake *m = &report->mistake[i];
        leat_json_object(json, NULL);
        leat_json_string(json, "file", report->file[m->place.file]);
        leat_json_uint(json, "line", m->place.line);
        leat_json_uint(json, "column", m->place.column);
        leat_json_bool(json, "warning", m->warning);
        leat_json_string(json, "code", m->code);
        leat_json_string(json, "text", m->text);
        leat_json_end(json);
    }
    leat_json_end(json);
}

static void put_check(const struct leat_graph *graph, const char *file)
{
    struct json_out out;
    struct leat_json *json = json_open(&out, stdout);
    leat_json_string(json, "file", file);
    leat_json_uint(json, "device_type_count", graph->type_count);
    leat_json_uint(json, "instance_count", graph->instance_count);
    put_mistakes(json, &graph->report);
    json_close(&out, !interrupted && graph->report.error_count ? "unsound" : json_status());
}

static int run_check(const struct arguments *args)
{
    static struct leat_graph graph;
    if (!graph_has_file(args)) return WRONG;
    leat_graph_read(&graph, args->operand[1], graph_dialect(args));
    if (graph.complete && !argument(args, "--no-handlers")) compile_all(&graph);
    const bool good = graph_print_report(&graph.report) && !interrupted;
    if (argument(args, "--json"))
        put_check(&graph, args->operand[1]);
    else if (good)
        printf("%s: sound: %u device types, %u instances\n", args->operand[1], graph.type_count,
               graph.instance_count);
    leat_graph_free(&graph);
    return good || interrupted ? finish(DONE) : WRONG;
}

static int run_info(const struct arguments *args)
{
    static struct graph_job job;
    if (!graph_has_files(args)) return WRONG;
    job.dialect = graph_dialect(args);
    job.only_reads = true;
    const bool good = graph_tasks_read(args, &job);
    bool shown = good;
    for (uint32_t i = 0; shown && i < job.task_count; i++)
        shown = graph_show(job.task[i], i, argument(args, "--json"));
    graph_tasks_free(&job);
    return good ? finish(shown ? DONE : FAILED) : WRONG;
}

#else

static int run_check(const struct arguments *args)
{
    (void)args;
    return fail("graph: this leat was built without libexpat (libexpat1-dev)");
}

#define run_info  run_check
#define graph_run run_check

#endif

static const struct subverb subverbs[] = {
    { "check", "report the errors of an application, compiler messages too",
      "FILE [--no-handlers] [--dialect DIALECT] [--json]", "--dialect --no-handlers --json",
      run_check },
    { "info", "describe types, devices, edges and the memory of a run",
      "FILE... [--instance ID] [--dialect DIALECT] [--json]", "--dialect --instance --json",
      run_info },
    { "run", "run an application, on threads, over MPI or over a simulated fabric",
      "FILE... [-j N] [--fabric FABRIC | --engine ENGINE] [--schedule ORDER] [--seed N] "
      "[--until END] [--json] [options]",
      "--dialect --instance --json --fabric --threads --engine -j --placement --schedule --seed "
      "--quantum --rts --log --instrument --output --until --idle-steps --compat "
      "--cxxflags --mailbox --cost --record --record-packets --snapshot --restore --attach "
      "--attach-wait --sandbox --no-sandbox --sandbox-memory --sandbox-time",
      graph_run },
    { NULL },
};

const struct verb verb_graph = {
    .name = "graph",
    .summary = "check, describe and run POETS applications",
    .synopsis = "check|info|run FILE [options]",
    .help = help_graph,
    .subverbs = subverbs,
    .options = {
        { "--dialect", "DIALECT", "the dialect, whatever the namespace says", WORD("orch v4 v3") },
        { "--instance", "ID", "which of several graph instances; each is a task", true },
        { "--no-handlers", NULL, "compile nothing" },
        OPTION_JSON("JSON"),
        { "--fabric", "FABRIC", "send packets over this simulated fabric" },
        OPTION_THREADS_OF("flits packetway"),
        { "--engine", "ENGINE",
          "threads, of this machine, or mpi: of all ranks that mpirun has started",
          .words = "threads mpi", .preset = "threads" },
        { "-j", "N", "workers, instead of one per processor (with mpi, one per rank)",
          COUNT(1, GRAPH_WORKERS_MAX) },
        { "--placement", "WHERE", "which devices share a thread, instead of locality (with a schedule, block)",
          WORD("block locality random") },
        { "--schedule", "ORDER", "of packets: free, fifo, lifo, random or delay:P",
          .words = "free fifo lifo random delay:", .preset = "free" },
        { "--seed", "N", "random seed of schedule, placement and a fabric's routing",
          COUNT(0, UINT64_MAX), .preset = "1" },
        { "--quantum", "N", "turns in an epoch", COUNT(1, 1000000), .preset = "16" },
        { "--rts", "WHEN", "when a pin that was ready sends, instead of by the dialect",
          WORD("latched level") },
        { "--log", "LEVEL", "log lines up to this level", COUNT(0, 1000), .preset = "2" },
        { "--instrument", NULL, "write a table of counters for each thread, a row a second" },
        { "--output", "DIR", "for files of the supervisor and tables", .preset = "poets_output" },
        { "--until", "END", "idle, stop (idleness does not end it), or a time: 20s, 500ms, 200us",
          .words = "idle stop" },
        { "--idle-steps", "N", "end after being idle N times, with OnHardwareIdle each time",
          COUNT(1, 1000000000), .preset = "10" },
        { "--record", "FILE", "every packet as it is sent, pcapng, for leat decode and Wireshark" },
        { "--record-packets", "N", "at most N of them", COUNT(1, GRAPH_RECORD_MAX), .preset = "1000000" },
        { "--snapshot", "FILE", "the last states of devices and edges, as graph_schema's XML" },
        { "--restore", "FILE", "go on from a snapshot of the same graph" },
        { "--attach", "[TASK=]ADDRESS",
          "let processes attach as externals, at unix:PATH or udp:ADDRESS[:PORT]", true },
        { "--attach-wait", "TIME", "for all of them before the start; 0s: none",
          TIME(0, UINT64_C(86400000000000000)), .preset = "60s" },
        { "--sandbox", NULL,
          "handlers write no files, and reach neither networks nor other processes; the default "
          "for files of other users" },
        { "--no-sandbox", NULL, "handlers have all your rights, also those of other users" },
        { "--sandbox-memory", "OCTETS", "private memory in a sandbox",
          OCTETS(1 << 20, UINT64_C(1) << 40), .preset = "4G" },
        { "--sandbox-time", "TIME", "processor time in a sandbox",
          TIME(UINT64_C(1000000000000), UINT64_C(1000000000000000000)), .preset = "3600s" },
        { "--compat", "KEYS",
          "as the original: hdr_pin_as_edge, reply_cnc0, reply_1flit, stop_ack=off, log_raw, "
          "fp32const", true,
          .words = "hdr_pin_as_edge reply_cnc0 reply_1flit stop_ack=off log_raw fp32const" },
        { "--cxxflags", "FLAGS", "more flags for the compiler" },
        { "--mailbox", "KEYS",
          "of fabrics: threads=64, slots=448 to receive in, of each mailbox; host=0, the host's "
          "port", true },
        { "--cost", "KEYS",
          "of fabrics, in cycles: turn=32, receive=320, send=320, edge=64, copy=1, idle=320, "
          "host=240, detect=240; mhz=240", true },
    },
};
