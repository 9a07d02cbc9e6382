/* leat run: a real program over a network that exists only as a description. */
#include "run.h"
#include "sim.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What came of a run. */
struct outcome {
    enum leat_hub_end end;
    char reason[512];
    int code; /* of the program */
    double wall_seconds;
    leat_time simulated_ps;
    uint64_t certificate, messages, octets;
    uint32_t tasks, begun; /* slots, and those that were used */
    struct leat_hub_task *task;
    uint32_t *port;
    char fabric[NET_NAME_CAP];
};

#define START_PS UINT64_C(1000000000000) /* a clock that begins at 0 confuses programs */

/* ---- options -----------------------------------------------------------------------------------
 */

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
    misuse(args->verb,
           "--compute %s: expected none, measured, or measured:SCALE with a scale up to "
           "1e6, as in measured:0.5",
           text);
    return false;
}

static bool read_job(const struct arguments *args, struct run_job *job)
{
    uint64_t tasks = 0;
    *job = (struct run_job){ .verb = args->verb,
                             .args = args,
                             .fabric = argument(args, "--fabric"),
                             .placement = argument(args, "--placement"),
                             .record = argument(args, "--record"),
                             .json = argument(args, "--json"),
                             .real_clock = argument(args, "--real-clock"),
                             .contention = argument(args, "--contention"),
                             .flit_octets = 16,
                             .packet_flits = 16,
                             .words = args->operand };
    args->operand[args->operand_count] = NULL; /* they lie in a list that has an end */
    if (args->operand_count < 1 || !job->fabric) {
        misuse(args->verb,
               "expected --fabric F and a program, as in leat run --fabric clos444 -- ./program");
        return false;
    }
    if (job->record && strcmp(job->record, "-") == 0) {
        misuse(args->verb, "--record '-', expected a file: standard output is the program's");
        return false;
    }
    if (!sim_read_model(args->verb, argument(args, "--model"), &job->model) ||
        !sim_read_number(args, "-n", 1, RUN_TASKS_MAX, &tasks) ||
        !sim_read_number(args, "--flit-bytes", 1, LEAT_NET_PORT_FLIT_OCTETS_MAX,
                         &job->flit_octets) ||
        !sim_read_number(args, "--packet-flits", 2, LEAT_NET_FLITS_MAX, &job->packet_flits) ||
        !read_compute(args, &job->compute_scale))
        return false;
    job->tasks = (uint32_t)tasks;
    return run_program_find(job, argument(args, "--library"));
}

/* ---- placement ---------------------------------------------------------------------------------
 */

/* "3,0,0,5": the ports of tasks 0, 1, ...; the list begins anew when it is used up. */
static bool place_by_list(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port)
{
    uint32_t count = 0;
    for (const char *at = job->placement; count < slots; count++) {
        char *end;
        const unsigned long long value = strtoull(at, &end, 10);
        if (end == at || value >= ports || (*end && *end != ',')) {
            misuse(job->verb,
                   "--placement %s: expected cyclic, block, or ports 0 to %u with commas "
                   "between",
                   job->placement, ports - 1);
            return false;
        }
        port[count] = (uint32_t)value;
        at = *end ? end + 1 : job->placement;
    }
    return true;
}

static bool place(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port)
{
    const uint32_t each = (job->tasks + ports - 1) / ports;
    const bool block = job->placement && !strcmp(job->placement, "block");
    if (job->placement && !block && strcmp(job->placement, "cyclic") != 0)
        return place_by_list(job, slots, ports, port);
    for (uint32_t i = 0; i < slots; i++)
        port[i] = block ? i / each % ports : i % ports;
    return true;
}

/* ---- a run -------------------------------------------------------------------------------------
 */

static bool is_interrupted(void)
{
    return interrupted;
}

/* A task that has not attached is alive as long as its launcher is. */
static bool is_alive(void *context, uint32_t slot)
{
    (void)slot;
    return !run_processes_have_ended(context);
}

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_tasks(const struct leat_hub *hub, struct outcome *out)
{
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *task = leat_hub_task(hub, i);
        out->task[i] = *task;
        out->begun += task->begun;
        out->messages += task->messages_sent;
        out->octets += task->octets_sent;
        if (task->clock > START_PS && task->clock - START_PS > out->simulated_ps)
            out->simulated_ps = task->clock - START_PS;
    }
}

/* Tasks that it begins with, and with those that they may start. */
static uint32_t count_slots(struct run_job *job, uint32_t ports)
{
    const uint32_t one_each = ports < RUN_TASKS_MAX ? ports : RUN_TASKS_MAX;
    if (!job->tasks) job->tasks = job->library == RUN_MPI ? one_each : 1;
    return job->tasks + (job->library == RUN_PVM ? RUN_SPAWNED_MAX : 0);
}

static bool make_room(struct outcome *out, const struct run_network *network, uint32_t slots)
{
    *out = (struct outcome){ .tasks = slots };
    out->task = calloc(slots, sizeof *out->task);
    out->port = calloc(slots, sizeof *out->port);
    snprintf(out->fabric, sizeof out->fabric, "%s", network->name);
    if (out->task && out->port) return true;
    complain("no memory for %u tasks", slots);
    return false;
}

static struct leat_hub *make_hub(const struct run_job *job, struct run_network *network,
                                 struct run_processes *processes)
{
    char why[256];
    const struct leat_hub_config config = { .net = network->net,
                                            .slots = processes->slots,
                                            .expected = job->tasks,
                                            .port = processes->port,
                                            .start = START_PS,
                                            .compute_scale = job->compute_scale,
                                            .service = processes->service,
                                            .interrupted = is_interrupted,
                                            .alive = is_alive,
                                            .alive_context = processes };
    struct leat_hub *hub = leat_hub_create(&config, why, sizeof why);
    if (!hub) complain("%s", why);
    return hub;
}

/* Over a network that is open. False: it could not begin. */
static bool run_over(struct run_job *job, struct run_network *network, struct outcome *out)
{
    const uint32_t ports = network->net->ports, slots = count_slots(job, ports);
    struct run_processes processes = { .job = job, .slots = slots, .ports = ports };
    struct leat_hub *hub = NULL;
    bool ran = false;
    if (make_room(out, network, slots) && place(job, slots, ports, out->port)) {
        processes.port = out->port;
        if (run_processes_prepare(&processes)) hub = make_hub(job, network, &processes);
    }
    if (hub && run_processes_start(&processes, hub)) {
        ran = true;
        out->end = leat_hub_run(hub, out->reason, sizeof out->reason);
        keep_tasks(hub, out);
        memcpy(out->port, processes.port, slots * sizeof *out->port);
        out->code = run_processes_end(&processes, hub, out->end != LEAT_HUB_DONE);
        out->certificate = network->net->certificate;
    }
    if (hub) leat_hub_destroy(hub);
    run_processes_free(&processes);
    return ran;
}

/* What is printed meanwhile is not shown. Returns what brings standard output back. */
static int silence(void)
{
    const int kept = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fflush(stdout);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
    return kept;
}

static void speak_again(int kept)
{
    if (kept < 0) return;
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

static bool run_once(struct run_job *job, bool contention_free, struct outcome *out)
{
    static struct run_network network;
    const double start = wall_seconds();
    const int kept = contention_free ? silence() : -1;
    const bool ran = run_network_open(job, contention_free, &network) &&
                     run_over(job, &network, out);
    speak_again(kept);
    out->wall_seconds = wall_seconds() - start;
    return run_network_close(&network) && ran;
}

static void forget(struct outcome *out)
{
    free(out->task);
    free(out->port);
    *out = (struct outcome){ 0 };
}

/* ---- what is told ------------------------------------------------------------------------------
 */

static double seconds(leat_time ps)
{
    return 1e-12 * (double)ps;
}

/* Who waits for what, where nobody goes on. */
static void tell_waiting(const struct outcome *out)
{
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *task = &out->task[i];
        if (!task->begun) continue;
        const char *doing = task->left ? "has left" : *task->doing ? task->doing : "waits";
        complain("  task %u at %.9f s: %s", i, seconds(task->clock - START_PS), doing);
    }
}

static int judge(const struct run_job *job, const struct outcome *out)
{
    switch (out->end) {
    case LEAT_HUB_DONE:
        if (out->code) complain("%s: it ended with code %d", job->words[0], out->code);
        return out->code ? FAILED : DONE;
    case LEAT_HUB_STUCK:
        complain("%s: deadlock: %s", job->words[0], out->reason);
        tell_waiting(out);
        return FAILED;
    case LEAT_HUB_INTERRUPTED: return SIGNALLED + interrupted;
    case LEAT_HUB_DIED:
    case LEAT_HUB_FAILED:
    case LEAT_HUB_LOST: break;
    }
    complain("%s: %s", job->words[0], out->reason);
    return FAILED;
}

static void put_text(const struct run_job *job, const struct outcome *out)
{
    fprintf(stderr,
            "leat: %s, %u tasks on %s: %.9f s simulated, %" PRIu64 " messages, %" PRIu64
            " octets, certificate %016" PRIx64 ", %.2f s real\n",
            job->words[0], out->begun, out->fabric, seconds(out->simulated_ps), out->messages,
            out->octets, out->certificate, out->wall_seconds);
    fprintf(stderr,
            "  task  port           time        waiting       sent     octets   received\n");
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        if (!t->begun) continue;
        fprintf(stderr, "  %4u  %4u  %12.9f s %12.9f s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                i, out->port[i], seconds(t->clock > START_PS ? t->clock - START_PS : 0),
                seconds(t->waited_ps), t->messages_sent, t->octets_sent, t->messages_received);
    }
}

static void put_json(const struct run_job *job, const struct outcome *out,
                     const struct outcome *alone)
{
    fputs("{\"fabric\":", stdout);
    print_quoted(out->fabric);
    fputs(",\"program\":", stdout);
    print_quoted(job->words[0]);
    printf(",\"library\":\"%s\",\"tasks\":%u,\"simulated_seconds\":%.12f,\"messages\":%" PRIu64
           ",\"bytes\":%" PRIu64 ",\"certificate\":\"%016" PRIx64 "\",\"wall_seconds\":%.6f",
           job->library == RUN_MPI ? "mpi" : "pvm", out->begun, seconds(out->simulated_ps),
           out->messages, out->octets, out->certificate, out->wall_seconds);
    if (alone)
        printf(",\"contention_free_seconds\":%.12f,\"contention_seconds\":%.12f",
               seconds(alone->simulated_ps),
               seconds(out->simulated_ps) - seconds(alone->simulated_ps));
    uint32_t told = 0;
    fputs(",\"task\":[", stdout);
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *t = &out->task[i];
        if (!t->begun) continue;
        printf("%s{\"task\":%u,\"port\":%u,\"seconds\":%.12f,\"waiting_seconds\":%.12f,"
               "\"messages_sent\":%" PRIu64 ",\"bytes_sent\":%" PRIu64
               ",\"messages_received\":%" PRIu64 ",\"bytes_received\":%" PRIu64 "}",
               told++ ? "," : "", i, out->port[i],
               seconds(t->clock > START_PS ? t->clock - START_PS : 0), seconds(t->waited_ps),
               t->messages_sent, t->octets_sent, t->messages_received, t->octets_received);
    }
    fputs("]}\n", stdout);
}

static void put_contention(const struct outcome *out, const struct outcome *alone)
{
    const double with = seconds(out->simulated_ps), without = seconds(alone->simulated_ps);
    fprintf(stderr, "leat: without contention %.9f s: contention is %.9f s, %.1f %% of the run\n",
            without, with - without, with > 0 ? 100 * (with - without) / with : 0);
}

int run_run(const struct arguments *args)
{
    static struct run_job job;
    struct outcome out = { 0 }, alone = { 0 };
    int code = WRONG;
    if (!read_job(args, &job)) return WRONG;
    if (run_once(&job, false, &out)) {
        fflush(stdout);
        code = judge(&job, &out);
        bool compared = false;
        if (code == DONE && job.contention) {
            compared = run_once(&job, true, &alone);
            code = compared ? judge(&job, &alone) : FAILED;
        }
        if (job.json)
            put_json(&job, &out, compared ? &alone : NULL);
        else
            put_text(&job, &out);
        if (compared && !job.json) put_contention(&out, &alone);
    }
    forget(&out);
    forget(&alone);
    return finish(code);
}
