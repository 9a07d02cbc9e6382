/* leat run: a program over a network, from start to end. */
#include "pieces.h"
#include "run.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a run ----------------------------------------------------------------------------------- */

/* A task that has not attached is alive as long as its launcher is. */
static bool is_alive(void *context, uint32_t slot)
{
    (void)slot;
    return !run_processes_have_ended(context);
}

static void keep_tasks(const struct leat_hub *hub, struct run_outcome *out)
{
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *task = leat_hub_task(hub, i);
        out->task[i] = *task;
        out->begun += task->begun;
        out->notes |= task->notes;
        out->messages += task->messages_sent;
        out->octets += task->octets_sent;
        if (task->clock > RUN_START_PS && task->clock - RUN_START_PS > out->simulated_ps)
            out->simulated_ps = task->clock - RUN_START_PS;
    }
}

static bool make_room(struct run_outcome *out, const struct run_network *network, uint32_t slots)
{
    *out = (struct run_outcome){ .tasks = slots };
    out->task = calloc(slots, sizeof *out->task);
    out->port = calloc(slots, sizeof *out->port);
    snprintf(out->fabric, sizeof out->fabric, "%s", network->fabric->name);
    if (out->task && out->port) return true;
    complain("no memory for %u tasks", slots);
    out->has_no_memory = true;
    return false;
}

static struct leat_hub *make_hub(const struct run_job *job, struct run_network *network,
                                 struct run_processes *processes, const struct leat_jail *jail)
{
    char why[256];
    const struct leat_hub_config config = { .net = network->net,
                                            .slots = processes->slots,
                                            .expected = job->tasks,
                                            .port = processes->port,
                                            .start = RUN_START_PS,
                                            .patience = job->patience,
                                            .limits_polls = job->limits_polls,
                                            .compute_scale = job->compute_scale,
                                            .overhead = job->overhead,
                                            .has_casts = run_collectives_are_told(job),
                                            .service = processes->service,
                                            .watch = run_record_watch(),
                                            .interrupted = run_screen_poll,
                                            .alive = is_alive,
                                            .alive_context = processes,
                                            .has_launcher = job->library == RUN_MPI,
                                            .jail = jail };
    struct leat_hub *hub = leat_hub_create(&config, why, sizeof why);
    if (!hub) complain("%s", why);
    run_screen_watch(hub);
    return hub;
}

/* Bus matrices stop a cell for a host without room, others lose it. */
static void keep_cells(const struct run_network *network, struct run_outcome *out)
{
    struct leat_atm_aal_counts counts = { 0 };
    struct leat_sim_atm_losses losses;
    if (!network->load) return;
    const struct leat_sim_atm *sim = &network->load->sim;
    leat_sim_atm_load_units(network->load, &counts);
    out->unread = counts.discarded_unread;
    out->cells_again = counts.retransmissions;
    leat_sim_atm_losses(sim, &losses);
    out->cells_lost = leat_sim_atm_losses_sum(&losses) +
                      (sim->fabric.graph ? sim->counts.port_refusals : 0);
}

/* A signal came while the program continued after the simulation: its exit code is meaningless. */
static void be_interrupted(struct run_outcome *out)
{
    out->end = LEAT_HUB_INTERRUPTED;
    snprintf(out->reason, sizeof out->reason, "interrupted");
}

/* As under mpirun, ranks may do without MPI, if all of them do: then mpirun has ended by itself,
 * and its exit code says it all. */
static void accept_no_ranks(struct run_processes *processes, struct run_outcome *out)
{
    const bool any_began = out->end != LEAT_HUB_DIED || out->begun;
    if (any_began || processes->job->library != RUN_MPI || !run_processes_have_ended(processes))
        return;
    out->end = LEAT_HUB_DONE;
    out->reason[0] = '\0';
}

/* How a process ended that has not seen it coming, only its launcher knows. */
static void explain_death(struct run_outcome *out)
{
    enum { SIGNAL_LAST = 64 };
    const size_t len = strlen(out->reason), room = sizeof out->reason - len;
    const int number = out->code - SIGNALLED;
    for (uint32_t i = 0; i < out->tasks; i++)
        if (out->task[i].saw_its_end) return;
    if (number > 0 && number <= SIGNAL_LAST)
        snprintf(out->reason + len, room, ": signal %d (%s)", number, strsignal(number));
    else if (out->code)
        snprintf(out->reason + len, room, ": code %d", out->code);
}

/* Over an open network. False: it could not begin. */
static bool run_over(struct run_job *job, struct run_network *network, struct run_outcome *out)
{
    const uint32_t ports = network->net->ports, slots = run_place_slots(job, ports);
    struct run_processes processes = {
        .job = job, .slots = slots, .ports = ports, .platform = &network->platform.base
    };
    struct leat_hub *hub = NULL;
    struct leat_jail *jail = NULL;
    bool ran = false;
    if (run_tool_check(job) && run_jail_open(job, &jail) && make_room(out, network, slots) &&
        run_place(job, slots, ports, out->port)) {
        processes.port = out->port;
        if (run_processes_prepare(&processes) &&
            (!network->is_recorded || run_record_open(job, network, slots, processes.port)))
            out->has_no_memory = !(hub = make_hub(job, network, &processes, jail));
    }
    if (hub && processes.ops->start(&processes, hub)) {
        ran = true;
        out->end = leat_hub_run(hub, out->reason, sizeof out->reason);
        keep_tasks(hub, out);
        run_profile_keep(hub, out);
        run_collectives_keep(hub, out);
        run_pairs_keep(hub, out);
        run_timeline_keep(hub, out);
        run_wires_keep(network, out);
        memcpy(out->port, processes.port, slots * sizeof *out->port);
        accept_no_ranks(&processes, out);
        out->code = processes.ops->end(&processes, hub, out->end);
        if (out->end == LEAT_HUB_DIED && run_has_code(out)) explain_death(out);
        if (out->end == LEAT_HUB_ABORTED && !out->code) out->code = FAILED; /* MPI_Abort with 0 */
        if (out->end == LEAT_HUB_DONE && interrupted) be_interrupted(out);
        out->certificate = leat_port_certificate(network->net);
        keep_cells(network, out);
        out->replayed = network->replay ? network->replay->replayed : 0;
    }
    run_screen_watch(NULL);
    if (hub) leat_hub_destroy(hub);
    leat_jail_close(jail);
    out->is_unrecorded = !run_record_close(ran);
    run_processes_free(&processes);
    return ran;
}

/* Discards standard output meanwhile. `kept` restores it. */
static bool silence(int *kept)
{
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    *kept = nothing < 0 ? -1 : dup(STDOUT_FILENO);
    fflush(stdout);
    const bool done = *kept >= 0 && dup2(nothing, STDOUT_FILENO) >= 0;
    if (nothing >= 0) close(nothing);
    return done || complain("standard output cannot be set aside: %s", strerror(errno));
}

static bool speak_again(int kept)
{
    if (kept < 0) return true;
    const bool done = dup2(kept, STDOUT_FILENO) >= 0 ||
                      complain("standard output cannot be restored: %s", strerror(errno));
    close(kept);
    return done;
}

bool run_once(struct run_job *job, bool contention_free, struct run_outcome *out)
{
    static struct run_network network;
    const double start = seconds_now();
    const bool silent = job->silent;
    job->silent = silent || contention_free;
    int kept = -1;
    const bool heard = job->silent && !silence(&kept);
    if (!job->tool.needs_terminal) run_screen_begin();
    bool ran = !heard && run_network_open(job, contention_free, &network) &&
               run_collectives_check(job, &network) && run_over(job, &network, out);
    run_screen_end();
    run_tool_take_terminal_back(job);
    const bool speaks = speak_again(kept);
    if (heard || !speaks) {
        out->has_no_memory = true;
        ran = false;
    }
    job->silent = silent;
    out->wall_seconds = seconds_now() - start;
    run_network_close(&network);
    return ran;
}

void run_outcome_free(struct run_outcome *out)
{
    free(out->task);
    free(out->port);
    free(out->call);
    free(out->collective);
    free(out->pair);
    free(out->timeline.state);
    free(out->timeline.slice);
    *out = (struct run_outcome){ 0 };
}

/* ---- how it went ----------------------------------------------------------------------------- */

/* Reports what each task waits for when none can continue. */
static void report_waiting(const struct run_outcome *out)
{
    for (uint32_t i = 0; i < out->tasks; i++) {
        const struct leat_hub_task *task = &out->task[i];
        if (!task->begun) continue;
        const char *doing = task->left ? "has left" : *task->doing ? task->doing : "waits";
        complain("  task %u at %.9f s: %s", i, 1e-12 * (double)(task->clock - RUN_START_PS), doing);
    }
}

const char *run_status(const struct run_outcome *out, char *reason, size_t cap)
{
    snprintf(reason, cap, "%s", out->reason);
    switch (out->end) {
    case LEAT_HUB_DONE: break;
    case LEAT_HUB_STUCK: return "deadlock";
    case LEAT_HUB_LIVELOCKED: return "livelock";
    case LEAT_HUB_DIED: return "died";
    case LEAT_HUB_FAILED: return "failed";
    case LEAT_HUB_ABORTED: return "aborted";
    case LEAT_HUB_LOST: return "lost";
    case LEAT_HUB_INTERRUPTED: return "interrupted";
    }
    if (out->code) {
        snprintf(reason, cap, "it ended with code %d", out->code);
        return "exit";
    }
    if (!out->is_unrecorded) return "done";
    snprintf(reason, cap, "the recording could not be written");
    return "unrecorded";
}

int run_judge(const struct run_job *job, const struct run_outcome *out)
{
    switch (out->end) {
    case LEAT_HUB_DONE:
        if (out->code) complain("%s: it ended with code %d", job->words[0], out->code);
        if (!out->begun)
            caution("%s: no rank called MPI_Init, so nothing was simulated", job->words[0]);
        return out->code ? out->code : out->is_unrecorded ? FAILED : DONE;
    case LEAT_HUB_STUCK:
        complain("%s: deadlock: %s", job->words[0], out->reason);
        report_waiting(out);
        if (out->unread)
            complain("  %llu messages were discarded unread: see --obsolete and --descriptors",
                     (unsigned long long)out->unread);
        return FAILED;
    case LEAT_HUB_LIVELOCKED:
        complain("%s: livelock: %s", job->words[0], out->reason);
        report_waiting(out);
        return FAILED;
    case LEAT_HUB_INTERRUPTED: return SIGNALLED + interrupted;
    case LEAT_HUB_DIED:
    case LEAT_HUB_ABORTED:
    case LEAT_HUB_FAILED:
    case LEAT_HUB_LOST: break;
    }
    complain("%s: %s", job->words[0], out->reason);
    return run_has_code(out) && out->code ? out->code : FAILED;
}
