/* leat graph: POETS applications: the subcommands, and how errors are reported. */
#include "graph_job.h"
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
    for (int i = 0; word && i < LEAT_GRAPH_DIALECT_COUNT; i++)
        if (strcmp(leat_graph_dialect_name(i), word) == 0) return (enum leat_graph_dialect)i;
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

static int run_check(const struct arguments *args)
{
    static struct leat_graph graph;
    if (!graph_has_file(args)) return WRONG;
    if (leat_graph_read(&graph, args->operand[1], graph_dialect(args)) &&
        !argument(args, "--no-handlers"))
        compile_all(&graph);
    const bool good = graph_print_report(&graph.report) && !interrupted;
    if (good)
        printf("%s: sound: %u device types, %u instances\n", args->operand[1], graph.type_count,
               graph.instance_count);
    leat_graph_free(&graph);
    return good || interrupted ? finish(DONE) : WRONG;
}

static int run_info(const struct arguments *args)
{
    static struct leat_graph graph;
    if (!graph_has_file(args)) return WRONG;
    leat_graph_read(&graph, args->operand[1], graph_dialect(args));
    const struct leat_graph_instance *instance =
        graph.report.error_count ? NULL : leat_graph_select(&graph, argument(args, "--instance"));
    const bool good = graph_print_report(&graph.report);
    if (good) graph_show(&graph, instance, argument(args, "--json"));
    leat_graph_free(&graph);
    return good ? finish(DONE) : WRONG;
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
    { .name = "check",
      .summary = "report the errors of an application, compiler messages too",
      .synopsis = "FILE [--no-handlers] [--dialect DIALECT]",
      .options = "--dialect --no-handlers",
      .text =
          "Reports all errors, up to 64, as FILE:LINE:COLUMN: CODE: what was found and what was "
          "expected. Handlers of types that have devices are compiled, but not run; compiler "
          "messages refer to lines of FILE. The exit code is 2 if there is any error; warnings do "
          "not count.",
      .examples = "leat graph check plate.xml\nleat graph check plate.xml --no-handlers",
      .run = run_check },
    { .name = "info",
      .summary = "describe types, devices, edges and the memory of a run",
      .synopsis = "FILE [--instance ID] [--dialect DIALECT] [--json]",
      .options = "--dialect --instance --json",
      .text =
          "Prints types with their pins, structs and messages, devices by type, edges, how many "
          "edges devices have, and the memory that a run needs.\n"
          "The JSON object has file, dialect, graph_type, instance, messages (id, octets), "
          "device_types (id, kind, devices, properties, state: octets; inputs and outputs: name, "
          "message, octets, indexed, edges), devices, externals, edges, in_degree and out_degree "
          "(of devices: least, mean, most, and histogram: from, to, devices) and memory_octets. "
          "Octets are null if only a compiler knows them.",
      .examples = "leat graph info plate.xml --json",
      .run = run_info },
    { .name = "run",
      .summary = "run an application, on threads, over MPI or over a simulated fabric",
      .synopsis = "FILE [-j N] [--fabric FABRIC | --engine ENGINE] [--schedule ORDER] [--seed N] "
                  "[--until END] [--json] [options]",
      .options = "--dialect --instance --json --fabric --engine -j --placement --schedule --seed "
                 "--quantum --rts --log --instrument --output --until --idle-steps --compat "
                 "--cxxflags --mailbox --cost --record --record-packets --snapshot",
      .text =
          "Compiles the handlers, says so if their code has not run here before, distributes the "
          "devices over threads, and runs until the application exits, stops itself, fails, or is "
          "idle. Log lines and what the supervisor posts are on standard output (with --json on "
          "standard error).\n"
          "The exit code is 0 after success, a stop, or the time of --until; after idleness 0 for "
          "the Orchestrator's applications and with --until idle, else 1; 1 when the application "
          "failed.",
      .examples = "leat graph run plate.xml -j 2\n"
                  "leat graph run plate.xml --schedule random --seed 7 --json\n"
                  "leat graph run plate.xml --fabric tinsel:2,2 --placement random",
      .run = graph_run },
    { NULL },
};

const struct verb verb_graph = {
    .name = "graph",
    .summary = "check, describe and run POETS applications",
    .synopsis = "check|info|run FILE [options]",
    .description =
        "FILE is a POETS application in XML (- is standard input): of the Orchestrator (without "
        "a namespace) or of graph_schema (v4 and v3), distinguished by the namespace. Its handlers "
        "are C++ code, which runs with all your privileges.",
    .topics = (const struct topic[]){
        { "handlers",
          "Handlers are C++14, compiled by c++ and kept by content in ~/.cache/leat/poets "
          "(XDG_CACHE_HOME/leat/poets), which no other user may be able to write to. They run with "
          "all your privileges." },
        { "schedules",
          "Without --schedule, N workers run as fast as they can and no order is promised. With "
          "one, the run is made of epochs: in an epoch each of 64 threads takes up to --quantum "
          "turns, and what it sends can be received in the next. The same file, schedule and seed "
          "give the same run every time, for any -j.\n"
          "fifo takes the oldest packet first, lifo the newest, random any of them (and sends "
          "before it receives half of the time). delay:P delays a packet to the next epoch with "
          "probability P, 0 to 0.99.\n"
          "--placement: which devices share a thread, and which threads a worker. block: equal "
          "shares in the order of the file; locality: connected devices together, unless the order "
          "of the file already does so; random: anywhere, by --seed.\n"
          "--rts latched: a pin that ReadyToSend has named will send, whatever happens in between "
          "(as in the Orchestrator); level: only if ReadyToSend still says so (as in "
          "graph_schema)." },
        { "fabrics",
          "With --fabric every packet between mailboxes crosses a simulated fabric, any that `leat "
          "fabric list` has: tinsel, tinsel:3,2, mesh:8,8, clos444, ring16, twosan, FILE.yaml. The "
          "run is the same every time, for any -j. The time of --until is simulated. A fabric that "
          "loses a packet ends the run, with exit code 1.\n"
          "Each port has a mailbox with threads=64 threads, dealt in equal shares, and slots=448 "
          "slots to receive in; a packet waits at its source until a slot is reserved for it. The "
          "host, with the supervisor, has a mailbox at port host=0. --mailbox changes these.\n"
          "All threads run in parallel at mhz=240. Costs in cycles: turn=32 per turn, receive=320 "
          "for a handler of a packet (and each OnInit and OnHardwareIdle), send=320 for OnSend, "
          "edge=64 for each packet that is sent (copy=1 for each flit within a mailbox), idle=320 "
          "for OnDeviceIdle. The host needs host=240 cycles for a packet, and idleness is known "
          "after detect=240. --cost changes these." },
        { "mpi",
          "mpirun -n 8 leat graph run FILE --engine mpi distributes the threads over 8 processes, "
          "which may be on several machines; all must be able to read FILE. Supervisor, lines and "
          "results are those of rank 0; the answer is the same. It needs libleat-mpi.so, which is "
          "built where libopenmpi-dev is installed." },
        { "files",
          "--record writes the frames of `leat formats poets`: direction, hardware address and "
          "packet. With a schedule their times count turns of 240 MHz, with a fabric they are "
          "simulated; the file is then the same every time.\n"
          "--snapshot writes a GraphSnapshot with DevS and EdgeS, their states as JSON members; its "
          "orchestratorTime is epochs, or seconds (with a fabric simulated ones). Neither works "
          "with --engine mpi." },
        { "json",
          "The JSON object of run has file, instance, dialect, rts, schedule, placement, "
          "cut_threads, cut_workers and cut_ranks (edges from one thread, worker or rank to "
          "another), engine, ranks, seed, workers, threads, devices, edges, reason (success, "
          "stopped, failed, idle, assertion, limit, interrupted), receives, sends, "
          "supervisor_packets, lines, epochs, states (a hash of the states of all devices and "
          "edges), dropped (by cause), load_seconds, compile_seconds, seconds, "
          "receives_per_second.\n"
          "With a fabric it also has fabric: name, mailboxes, threads_per_mailbox, slots, "
          "host_port, cycles (until all threads had stopped), ran_cycles (of the application, from "
          "barrier to end), simulated_us, threads and host (packets between threads, and from and "
          "to the host: packets, flits, waits for a slot, latency_cycles: mean, max), copied "
          "(packets within mailboxes), busiest_port (port, packets), and of networks hops_mean "
          "(routers passed by a flit) and busiest_wire (from, to, flits, use: the share of its "
          "cycles); certificate." },
        { NULL, NULL },
    },
    .subverbs = subverbs,
    .options = {
        { "--dialect", "DIALECT", "the dialect, whatever the namespace says", WORD("orch v4 v3") },
        { "--instance", "ID", "which of several graph instances" },
        { "--no-handlers", NULL, "compile nothing" },
        { "--json", NULL, "as JSON" },
        { "--fabric", "FABRIC", "send packets over this simulated fabric" },
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
    .examples = "leat graph check plate.xml\n"
                "leat graph run plate.xml -j 2\n"
                "leat graph run plate.xml --fabric tinsel:2,2 --placement random\n"
                "leat graph info plate.xml --json\n"
                "leat graph run plate.xml --schedule random --seed 7 --json\n"
                "mpirun -n 8 leat graph run plate.xml --engine mpi",
};
