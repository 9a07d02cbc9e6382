/* leat sim FABRIC --calls FILE: connections that are set up and released while the network runs. */
#include "atm_hec.h"
#include "atm_node.h"
#include "call_plan.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "number.h"
#include "pieces.h"
#include "record_fabric.h"
#include "result_file.h"
#include "sim.h"
#include <inttypes.h>
#include <leat/capture.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES_DEFAULT = 1000000, WARMUP_HOLDS = 5, NAME_CAP = 32, P50 = 500, P99 = 990 };

struct job {
    struct calls calls;
    struct leat_sim_atm_calls_config config;
    struct leat_sim_atm_calls_graph graph;
    struct leat_net_topology topology;
    void *topology_memory, *graph_memory, *memory;
    const char *fabric; /* its name */
    struct leat_sim_clock clock;
    uint64_t cycles, seed, slots;
    struct leat_sim_atm_calls *sim;
    struct leat_sim_recorder recorder;
    uint32_t *lane; /* by link */
};

/* ---- the network ----------------------------------------------------------------------------- */

/* Bus matrices as the topology of their switches. */
static bool build_topology(struct job *job, const struct leat_net_shape *shape)
{
    struct leat_text why = LEAT_TEXT(256);
    job->topology_memory = sim_memory(leat_net_topology_footprint(shape));
    if (!job->topology_memory) return false;
    const leat_err err = leat_net_topology_build(&job->topology, shape, job->topology_memory, &why);
    return !err || (complain("%s: %s", job->fabric, why.buf), false);
}

static bool build_graph(struct job *job, const struct leat_net_topology *topology,
                        uint32_t switch_slots)
{
    struct leat_text why = LEAT_TEXT(256);
    struct leat_arena arena;
    if (leat_sim_atm_calls_graph_check(topology, &why)) {
        complain("%s: --calls: %s", job->fabric, why.buf);
        return false;
    }
    leat_arena_init(&arena, NULL, 0);
    leat_sim_atm_calls_graph_lay(&job->graph, topology, switch_slots, &arena);
    job->graph_memory = sim_memory(arena.used);
    if (!job->graph_memory) return false;
    leat_arena_init(&arena, job->graph_memory, arena.used);
    leat_sim_atm_calls_graph_lay(&job->graph, topology, switch_slots, &arena);
    return true;
}

static bool build(struct job *job, struct leat_fabric *fabric)
{
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    const struct leat_net_config *net = &atm->cells.design.plan.net;
    if (!atm->fabric.graph)
        return build_topology(job, fabric->kind->shape(fabric)) &&
               build_graph(job, &job->topology, 1);
    if (net->architecture != LEAT_NET_SWITCH_VC && net->architecture != LEAT_NET_SWITCH_OUTPUT) {
        complain("%s: --calls, expected no /switch or /switch=output: switches with connections "
                 "have output queues",
                 job->fabric);
        return false;
    }
    return build_graph(job, &atm->cells.built.topology, net->pipeline);
}

static bool read_options(const struct arguments *args, struct job *job)
{
    static const char known[] = "--calls --cycles --seed --record --json";
    const char *foreign = argument_not_in(args, known);
    const uint64_t cycles_max = leat_sim_clock_last(&job->clock, LEAT_SIM_ATM_CALLS_PS_MAX);
    if (foreign)
        return misused(args->verb,
                       "%s with --calls, expected only --cycles, --seed, --record, --json",
                       foreign);
    return number_take_within(args, "--cycles", 1, leat_smaller(cycles_max, SIM_CYCLES_MAX),
                              &job->cycles) &&
           number_take(args, "--seed", &job->seed) && sim_check_record(args);
}

/* Calls at random begin in an empty network: those of the first holding times do not count. */
static uint64_t warmup_of(const struct job *job)
{
    uint64_t hold = 0;
    for (uint32_t i = 0; i < job->config.randoms; i++)
        hold = leat_larger(hold, job->config.random[i].hold);
    return leat_smaller(WARMUP_HOLDS * hold, job->slots / 4);
}

/* ---- recording ------------------------------------------------------------------------------- */

static void name_end(const struct job *job, uint32_t end, char name[NAME_CAP])
{
    const bool is_port = end >= job->graph.nodes;
    snprintf(name, NAME_CAP, "%s%u", is_port ? "port" : "", is_port ? end - job->graph.nodes : end);
}

/* "port3>0", "0>4", "4>port3" */
static void name_link(const struct job *job, uint32_t link, char name[2 * NAME_CAP])
{
    char from[NAME_CAP], to[NAME_CAP];
    name_end(job, job->graph.link[link].from, from);
    name_end(job, job->graph.link[link].to, to);
    snprintf(name, 2 * NAME_CAP, "%s>%s", from, to);
}

/* Headers get their check here: switches change them at every hop. */
static void carried(void *context, uint32_t link, uint64_t slot, const uint8_t *cell)
{
    struct job *job = context;
    uint8_t sealed[LEAT_ATM_CELL_LEN];
    memcpy(sealed, cell, sizeof sealed);
    sealed[LEAT_ATM_HEADER_LEN - 1] ^= leat_atm_hec_syndrome(sealed);
    leat_sim_record_frame(&job->recorder, leat_sim_clock_at(&job->config.slot, slot),
                          job->lane[link], LEAT_SIM_OUT, sealed, sizeof sealed);
}

static bool open_record(struct job *job, const char *path, struct result_file *file)
{
    char name[2 * NAME_CAP];
    if (job->graph.links > LEAT_SIM_TRACKS_MAX / 2) {
        complain("--record: %u directions of lines, expected at most %d", job->graph.links,
                 LEAT_SIM_TRACKS_MAX / 2);
        return false;
    }
    job->lane = sim_memory(job->graph.links * sizeof *job->lane);
    if (!job->lane || !result_file_open(file, path)) return false;
    leat_sim_recorder_init(&job->recorder, &file->out.text);
    const uint32_t group = leat_sim_recorder_group(&job->recorder, 0, "lines");
    struct leat_sim_event fabric;
    const bool has_name = record_fabric_declare(&job->recorder, group, job->fabric, &fabric);
    const uint32_t clock = leat_sim_recorder_clock(&job->recorder, &job->config.slot);
    for (uint32_t l = 0; l < job->graph.links; l++) {
        name_link(job, l, name);
        job->lane[l] = leat_sim_recorder_lane(&job->recorder, group, clock, LEAT_LINK_USER0, name);
    }
    if (has_name) leat_sim_recorder_put(&job->recorder, &fabric);
    job->config.carried = carried;
    job->config.context = job;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *cause_text(uint32_t cause)
{
    static const struct {
        uint32_t cause;
        const char *text;
    } texts[] = { { LEAT_ATM_CAUSE_NO_ROUTE, "no route" },
                  { LEAT_ATM_CAUSE_NORMAL, "normal clearing" },
                  { LEAT_ATM_CAUSE_NO_RESPONSE, "no response" },
                  { LEAT_ATM_CAUSE_RATE, "the cell rate is not available" },
                  { LEAT_ATM_CAUSE_TEMPORARY, "temporary failure" },
                  { LEAT_ATM_CAUSE_NO_LABEL, "no VPI and VCI is available" },
                  { LEAT_ATM_CAUSE_RESOURCES, "no room for another call" },
                  { LEAT_ATM_CAUSE_QOS, "the quality of service is not available" },
                  { LEAT_ATM_CAUSE_TIMER, "a timer ended" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].cause == cause) return texts[i].text;
    return "";
}

static const char *what_text(enum leat_sim_atm_calls_what what)
{
    static const char *const texts[] = { "waits",   "begun",    "connected",
                                         "blocked", "released", "lost" };
    return texts[what];
}

static double in_us(const struct job *job, double slots)
{
    return slots * (double)job->config.slot.num / (double)job->config.slot.den / 1e6;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double carried_erlangs(const struct job *job)
{
    const uint64_t now = leat_sim_atm_calls_now(job->sim);
    return now > job->config.warmup
               ? share(leat_sim_atm_calls_counts(job->sim)->live_slots, now - job->config.warmup)
               : 0;
}

static uint32_t busiest(const struct job *job)
{
    uint32_t most = 0;
    for (uint32_t l = 1; l < job->graph.links; l++)
        if (leat_sim_atm_calls_use(job->sim, l).cells >
            leat_sim_atm_calls_use(job->sim, most).cells)
            most = l;
    return most;
}

/* ---- people ---------------------------------------------------------------------------------- */

static void put_causes(const char *what, const uint64_t *by_cause)
{
    for (uint32_t cause = 0; cause < LEAT_SIM_ATM_CALLS_CAUSES; cause++)
        if (by_cause[cause])
            printf("  %s, cause %u: %" PRIu64 " (%s)\n", what, cause, by_cause[cause],
                   cause_text(cause));
}

static void put_numbers(const struct job *job)
{
    const struct leat_sim_atm_calls_counts *n = leat_sim_atm_calls_counts(job->sim);
    const struct leat_sim_histogram *set_up = leat_sim_atm_calls_set_up(job->sim),
                                    *delay = leat_sim_atm_calls_delay(job->sim);
    printf("calls: %" PRIu64 " offered, %" PRIu64 " connected, %" PRIu64 " blocked (%.3f %%), "
           "%" PRIu64 " released, %" PRIu64 " lost\n",
           n->offered, n->connected, n->blocked, 100 * share(n->blocked, n->offered), n->released,
           n->lost);
    put_causes("blocked", n->by_cause);
    if (n->parties_offered)
        printf("parties: %" PRIu64 " to add, %" PRIu64 " added, %" PRIu64 " refused\n",
               n->parties_offered, n->parties_added, n->parties_refused);
    put_causes("parties refused", n->party_causes);
    printf("carried: %.3f erlangs, at most %" PRIu64 " calls at once\n", carried_erlangs(job),
           n->live_max);
    printf("set-up time: mean %.3f us, p50 %.3f, p99 %.3f, max %.3f\n",
           in_us(job, leat_sim_histogram_mean(set_up)),
           in_us(job, (double)leat_sim_histogram_quantile(set_up, P50)),
           in_us(job, (double)leat_sim_histogram_quantile(set_up, P99)),
           in_us(job, (double)set_up->max));
    printf("cells of calls: %" PRIu64 " sent, %" PRIu64 " delivered, %" PRIu64 " lost in queues, "
           "%" PRIu64 " after the end of their label, %" PRIu64 " copies by switches\n",
           n->cells_sent, n->cells_delivered, n->cells_lost, n->cells_late, n->copies);
    printf("delay of cells: mean %.3f us, p99 %.3f, max %.3f\n",
           in_us(job, leat_sim_histogram_mean(delay)),
           in_us(job, (double)leat_sim_histogram_quantile(delay, P99)),
           in_us(job, (double)delay->max));
    printf("signalling: %" PRIu64 " messages, %" PRIu64 " cells on VCI 5, %" PRIu64 " lost\n",
           n->messages, n->signal_cells, n->signal_lost);
}

static void put_lines(const struct job *job)
{
    char name[2 * NAME_CAP];
    const uint32_t most = busiest(job);
    const struct leat_sim_atm_calls_use use = leat_sim_atm_calls_use(job->sim, most);
    uint32_t labels = 0;
    for (uint32_t l = 0; l < job->graph.links; l++)
        labels = (uint32_t)leat_larger(labels, leat_sim_atm_calls_use(job->sim, l).labels_max);
    name_link(job, most, name);
    printf("busiest line: %s, %.3f %% used, %.3f %% by signalling; at most %u labels of a line\n",
           name, 100 * share(use.cells, leat_sim_atm_calls_now(job->sim)),
           100 * share(use.signal_cells, leat_sim_atm_calls_now(job->sim)), labels);
    for (uint32_t i = 0; i < job->config.randoms; i++) {
        const struct leat_sim_atm_calls_want *want = &job->config.random[i].want;
        if (want->contract.class == LEAT_ATM_UBR) continue;
        printf("calls of random %u that a line admits: %u from a user, %u behind the first switch, "
               "%u behind others\n",
               i + 1, leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_ACCESS),
               leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_FIRST),
               leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_INNER));
    }
}

static void put_fate(const struct job *job, const struct leat_sim_atm_calls_fate *fate)
{
    printf(" %-9s", what_text(fate->what));
    if (fate->set_up)
        printf(" %10.3f", in_us(job, (double)fate->set_up));
    else
        printf(" %10s", "-");
    printf(" %9" PRIu64 " %9" PRIu64, fate->sent, fate->delivered);
    if (fate->cause) printf("  cause %u %s", fate->cause, cause_text(fate->cause));
    putchar('\n');
}

static void put_plan(const struct job *job)
{
    const struct leat_sim_atm_calls_config *c = &job->config;
    if (!c->plans) return;
    printf("\n%-6s %12s %5s %5s %-9s %10s %9s %9s\n", "line", "at us", "from", "to", "what",
           "set-up us", "sent", "delivered");
    for (uint32_t i = 0; i < c->plans; i++) {
        const struct leat_sim_atm_calls_plan *p = &c->plan[i];
        printf("%-6u %12.3f %5u %5u", job->calls.plan_line[i], in_us(job, (double)p->at), p->from,
               c->party[p->first_party].port);
        put_fate(job, leat_sim_atm_calls_fate(job->sim, i));
        for (uint32_t k = 0; p->parties > 1 && k < p->parties; k++) {
            printf("%-6s %12s %5s %5u", "", "", "party", c->party[p->first_party + k].port);
            put_fate(job, leat_sim_atm_calls_party_fate(job->sim, p->first_party + k));
        }
    }
}

static void put_text(const struct job *job)
{
    printf("%s, %u switches, seed %" PRIu64 ", %" PRIu64 " slots of %.3f us%s, certificate "
           "%016" PRIx64 "\n",
           job->fabric, job->graph.nodes, job->seed, leat_sim_atm_calls_now(job->sim),
           in_us(job, 1), leat_sim_atm_calls_now(job->sim) < job->slots ? ", interrupted" : "",
           leat_sim_atm_calls_certificate(job->sim));
    put_numbers(job);
    put_lines(job);
    put_plan(job);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void put_times(struct leat_json *j, const struct job *job, const char *key,
                      const struct leat_sim_histogram *h)
{
    leat_json_object(j, key);
    json_fixed(j, "mean", in_us(job, leat_sim_histogram_mean(h)), 3);
    json_fixed(j, "p50", in_us(job, (double)leat_sim_histogram_quantile(h, P50)), 3);
    json_fixed(j, "p99", in_us(job, (double)leat_sim_histogram_quantile(h, P99)), 3);
    json_fixed(j, "max", in_us(job, (double)h->max), 3);
    leat_json_end(j);
}

static void put_cause_array(struct leat_json *j, const char *key, const uint64_t *by_cause)
{
    leat_json_array(j, key);
    for (uint32_t cause = 0; cause < LEAT_SIM_ATM_CALLS_CAUSES; cause++) {
        if (!by_cause[cause]) continue;
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "cause", cause }, { "count", by_cause[cause] });
        leat_json_string(j, "text", cause_text(cause));
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_fate_json(struct leat_json *j, const struct job *job,
                          const struct leat_sim_atm_calls_fate *fate)
{
    leat_json_string(j, "what", what_text(fate->what));
    if (fate->cause)
        leat_json_uint(j, "cause", fate->cause);
    else
        leat_json_null(j, "cause");
    if (fate->set_up)
        json_fixed(j, "set_up_us", in_us(job, (double)fate->set_up), 3);
    else
        leat_json_null(j, "set_up_us");
    LEAT_JSON_UINTS(j, { "cells_sent", fate->sent }, { "cells_delivered", fate->delivered });
}

static void put_calls_json(struct leat_json *j, const struct job *job)
{
    const struct leat_sim_atm_calls_config *c = &job->config;
    leat_json_array(j, "call_plan");
    for (uint32_t i = 0; i < c->plans; i++) {
        const struct leat_sim_atm_calls_plan *p = &c->plan[i];
        leat_json_break(j);
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "line", job->calls.plan_line[i] }, { "from", p->from });
        put_fate_json(j, job, leat_sim_atm_calls_fate(job->sim, i));
        leat_json_array(j, "parties");
        for (uint32_t k = p->first_party; k < p->first_party + p->parties; k++) {
            leat_json_object(j, NULL);
            leat_json_uint(j, "to", c->party[k].port);
            if (p->parties > 1) put_fate_json(j, job, leat_sim_atm_calls_party_fate(job->sim, k));
            leat_json_end(j);
        }
        leat_json_end(j);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_lines_json(struct leat_json *j, const struct job *job)
{
    char name[2 * NAME_CAP];
    leat_json_array(j, "line_use");
    for (uint32_t l = 0; l < job->graph.links; l++) {
        const struct leat_sim_atm_calls_use use = leat_sim_atm_calls_use(job->sim, l);
        if (!use.cells) continue;
        name_link(job, l, name);
        leat_json_break(j);
        leat_json_object(j, NULL);
        leat_json_string(j, "name", name);
        LEAT_JSON_UINTS(j, { "cells", use.cells }, { "signal_cells", use.signal_cells },
                        { "labels_max", use.labels_max });
        json_fixed(j, "booked_max", (double)use.booked_max / LEAT_ATM_RATE_UNIT, 3);
        json_fixed(j, "utilisation", share(use.cells, leat_sim_atm_calls_now(job->sim)), 6);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_circuits_json(struct leat_json *j, const struct job *job)
{
    leat_json_array(j, "circuits");
    for (uint32_t i = 0; i < job->config.randoms; i++) {
        const struct leat_sim_atm_calls_want *want = &job->config.random[i].want;
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(
            j,
            { "access",
              leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_ACCESS) },
            { "first", leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_FIRST) },
            { "inner", leat_sim_atm_calls_circuits(&job->config, want, LEAT_SIM_ATM_CALLS_INNER) });
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_json(const struct job *job)
{
    const struct leat_sim_atm_calls_counts *n = leat_sim_atm_calls_counts(job->sim);
    struct json_out out;
    json_schema("leat.sim.calls/1");
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->fabric);
    LEAT_JSON_UINTS(j, { "seed", job->seed }, { "switches", job->graph.nodes },
                    { "cycles", leat_sim_atm_calls_now(job->sim) * LEAT_ATM_CELL_LEN },
                    { "warmup_cycles", job->config.warmup * LEAT_ATM_CELL_LEN });
    json_general(j, "cycle_ns", in_us(job, 1) * 1e3 / LEAT_ATM_CELL_LEN, 12);
    json_certificate(j, "certificate", leat_sim_atm_calls_certificate(job->sim));
    LEAT_JSON_UINTS(
        j, { "calls_offered", n->offered }, { "calls_connected", n->connected },
        { "calls_blocked", n->blocked }, { "calls_released", n->released },
        { "calls_lost", n->lost }, { "calls_live_max", n->live_max },
        { "blocked_by_user", n->blocked_by_user }, { "parties_offered", n->parties_offered },
        { "parties_added", n->parties_added }, { "parties_refused", n->parties_refused });
    json_general(j, "blocking", share(n->blocked, n->offered), 9);
    json_fixed(j, "carried_erlangs", carried_erlangs(job), 6);
    put_cause_array(j, "causes", n->by_cause);
    put_cause_array(j, "party_causes", n->party_causes);
    put_times(j, job, "set_up_times_us", leat_sim_atm_calls_set_up(job->sim));
    put_times(j, job, "delay_us", leat_sim_atm_calls_delay(job->sim));
    LEAT_JSON_UINTS(j, { "cells_sent", n->cells_sent }, { "cells_delivered", n->cells_delivered },
                    { "lost", n->cells_lost }, { "cells_late", n->cells_late },
                    { "misdelivered", n->misdelivered }, { "copies", n->copies },
                    { "messages", n->messages }, { "signal_cells", n->signal_cells },
                    { "signal_lost", n->signal_lost });
    leat_json_break(j);
    put_circuits_json(j, job);
    put_lines_json(j, job);
    put_calls_json(j, job);
    json_close(&out, json_status());
}

/* ---- running --------------------------------------------------------------------------------- */

static bool run_to(void *context, uint64_t until)
{
    const struct job *job = context;
    leat_sim_atm_calls_run(job->sim, until);
    return true;
}

static int simulate(const struct arguments *args, struct job *job)
{
    const char *record = argument(args, "--record");
    struct leat_text why = LEAT_TEXT(256);
    struct result_file file = { 0 };
    double wall_seconds;
    if (leat_sim_atm_calls_check(&job->config, &why)) {
        complain("%s: --calls: %s", job->fabric, why.buf);
        return WRONG;
    }
    if (args->only_check) return DONE;
    job->memory = sim_memory(leat_sim_atm_calls_footprint(&job->config));
    if (!job->memory || (record && !open_record(job, record, &file))) return FAILED;
    job->sim = leat_sim_atm_calls_init(&job->config, job->memory);
    pieces_run(job->slots, run_to, job, &wall_seconds);
    (argument(args, "--json") ? put_json : put_text)(job);
    if (record) {
        leat_sim_recorder_close(
            &job->recorder, leat_sim_clock_at(&job->config.slot, leat_sim_atm_calls_now(job->sim)));
        if (!result_file_close(&file, true)) return FAILED;
    }
    return finish(DONE);
}

static int prepare(const struct arguments *args, struct job *job, struct leat_fabric *fabric,
                   const char *file)
{
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    if (!read_options(args, job) || !build(job, fabric)) return WRONG;
    if (!calls_read(&job->calls, file, &atm->fabric))
        return interrupted ? SIGNALLED + interrupted : WRONG;
    job->slots = leat_larger(1, job->cycles / LEAT_ATM_CELL_LEN);
    job->config = job->calls.config;
    job->config.graph = &job->graph;
    job->config.seed = job->seed;
    job->config.warmup = warmup_of(job);
    return simulate(args, job);
}

int run_sim_calls(const struct arguments *args, struct leat_fabric *fabric, const char *file)
{
    static struct job job;
    job = (struct job){ .fabric = fabric->name, .cycles = CYCLES_DEFAULT, .seed = 1 };
    job.clock = leat_sim_atm_fabric_cell_ps(&leat_fabric_as_atm(fabric)->fabric);
    job.clock.den *= LEAT_ATM_CELL_LEN; /* a cycle: a 53rd of a cell time */
    const int outcome = prepare(args, &job, fabric, file);
    calls_close(&job.calls);
    free(job.topology_memory);
    free(job.graph_memory);
    free(job.memory);
    free(job.lane);
    return outcome;
}
