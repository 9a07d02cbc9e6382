/* leat sim: runs the job piece by piece, so that interrupts are noticed. */
#include "pieces.h"
#include "sim.h"
#include "sim_atm_load_memory.h"
#include "sim_atm_load_stuck.h"
#include "sim_view.h"
#include "threads.h"
#include <stdlib.h>

struct simulation {
    const struct sim_job *job;
    struct leat_sim_atm_check_load check; /* with W, else the rest */
    struct leat_sim_atm_load load;
    struct leat_sim_atm_traffic traffic;
    struct leat_sim_atm_traffic_source *source;
    uint32_t *partner;
    struct leat_net_steady steady;
    void *memory, *steady_memory;
    struct leat_crew *crew; /* NULL: one thread */
    bool dead;
};

static bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct simulation *s = context;
    out->len = s->job->bytes;
    return leat_sim_atm_traffic_next(&s->traffic, &s->source[port], port, &out->at, &out->to);
}

uint32_t sim_cells_of(uint32_t octets)
{
    return (octets + LEAT_ATM_TASK_MESSAGE_LEN + LEAT_ATM_TASK_PAYLOAD_LEN - 1) /
           LEAT_ATM_TASK_PAYLOAD_LEN;
}

static void begin_traffic(struct simulation *s)
{
    for (uint32_t port = 0; port < s->job->fabric.net.ports; port++)
        leat_sim_atm_traffic_source_init(&s->source[port], s->job->seed, port);
}

/* The load of a port is that of its line: a message takes a cell time for each of its cells. */
static bool set_up_traffic(struct simulation *s)
{
    const struct sim_job *job = s->job;
    const uint32_t ports = job->fabric.net.ports;
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&job->fabric);
    s->source = sim_memory(ports * sizeof *s->source);
    s->partner = sim_memory(ports * sizeof *s->partner);
    s->steady_memory = sim_memory(leat_net_steady_footprint());
    if (!s->source || !s->partner || !s->steady_memory) return false;
    leat_sim_atm_traffic_init(&s->traffic, job->pattern, ports, job->load,
                              leat_sim_clock_at(&slot, (uint64_t)sim_cells_of(job->bytes)
                                                           << LEAT_SIM_ATM_TRAFFIC_TIME_BITS),
                              job->seed, s->partner);
    begin_traffic(s);
    leat_net_steady_init(&s->steady, LEAT_NET_STEADY_FIND, s->steady_memory);
    return true;
}

/* ---- saturation, as of other networks (net_steady.h): what waits at the hosts grows ---------- */

static void arrived(void *context, const struct leat_sim_delivery *delivery, uint64_t arose_at)
{
    struct simulation *s = context;
    const struct leat_net_arrival arrival = {
        .packet = { .created_at = arose_at == LEAT_NEVER ? delivery->at : arose_at,
                    .flits = sim_cells_of(s->job->bytes) },
        .fate = LEAT_NET_DELIVERED,
        .tail_at = delivery->at,
    };
    leat_net_steady_add(&s->steady, &arrival);
}

/* Discarded data does not wait. */
static void given_up(void *context, uint32_t port, uint32_t ports_missing, uint64_t at)
{
    struct simulation *s = context;
    const struct leat_net_arrival arrival = {
        .packet = { .source = port, .flits = ports_missing * sim_cells_of(s->job->bytes) },
        .fate = LEAT_NET_CUT,
        .tail_at = at,
    };
    leat_net_steady_add(&s->steady, &arrival);
}

/* Draws all messages so far again; a broadcast is offered to each port. Their number. */
static uint64_t find_saturation(struct simulation *s, uint64_t cycles, struct sim_result *out)
{
    uint64_t messages = 0;
    const uint32_t ports = s->job->fabric.net.ports;
    uint64_t bound[LEAT_NET_STEADY_BATCHES + 1], offered[LEAT_NET_STEADY_BATCHES] = { 0 }, at;
    const uint32_t count = leat_net_steady_bounds(&s->steady, cycles + 1, bound);
    begin_traffic(s);
    for (uint32_t port = 0, to; port < ports; port++) {
        uint32_t piece = 0;
        while (leat_sim_atm_traffic_next(&s->traffic, &s->source[port], port, &at, &to) &&
               at <= cycles) {
            messages++;
            while (piece + 1 < count && at >= bound[piece + 1])
                piece++;
            offered[piece] += (uint64_t)sim_cells_of(s->job->bytes) *
                              (to == LEAT_SIM_ATM_TRAFFIC_ALL ? ports : 1);
        }
    }
    leat_net_steady_result(&s->steady, cycles + 1, ports, offered, &out->steady);
    return messages;
}

/* Threads for the parts of the network, if it is worth several. Only cells go in parts. */
static void set_up_crew(struct simulation *s, struct leat_sim_atm_load_config *config)
{
    const struct sim_job *job = s->job;
    if (job->model != LEAT_SIM_ATM_CELL || job->record.path) return;
    const uint32_t parts = leat_sim_atm_fabric_parts_for(&job->fabric, job->threads);
    s->crew = threads_start(parts);
    if (s->crew) config->fabric.parts = parts;
    config->crew = leat_crew_lend(s->crew);
}

static bool set_up_load(struct simulation *s)
{
    const struct sim_job *job = s->job;
    struct leat_sim_atm_load_config config = {
        .fabric = job->fabric,
        .model = job->model,
        .len_max = job->bytes,
        .aal = job->aal,
        .next = next_message,
        .next_context = s,
        .line = job->line,
        .arrived = arrived,
        .given_up = given_up,
    };
    if (!set_up_traffic(s)) return false;
    set_up_crew(s, &config);
    s->memory = sim_memory_often(leat_sim_atm_load_footprint(&config),
                                 leat_sim_atm_load_footprint_often(&config));
    if (!s->memory) return false;
    leat_sim_atm_load_init(&s->load, &config, s->memory);
    return true;
}

static bool set_up_check(struct simulation *s)
{
    const struct sim_job *job = s->job;
    s->memory = sim_memory(leat_sim_atm_check_load_footprint(&job->fabric, job->model));
    if (!s->memory) return false;
    leat_sim_atm_check_load_init(&s->check, &job->fabric, job->model, job->seed,
                                 job->load / SIM_PERCENT, job->cycles, s->memory);
    return true;
}

static struct leat_sim_atm *network_of(struct simulation *s)
{
    return s->job->check_load ? &s->check.sim : &s->load.sim;
}

static bool run_to(void *context, uint64_t until)
{
    struct simulation *s = context;
    if (s->job->check_load)
        leat_sim_atm_check_load_run(&s->check, until);
    else
        s->dead = !leat_sim_atm_load_run_watched(&s->load, until);
    return !s->dead;
}

static void collect_locked(const struct simulation *s, struct sim_result *out)
{
    struct sim_locked each;
    for (each.port = 0; each.port < s->job->fabric.net.ports; each.port++)
        if (leat_sim_atm_load_is_locked(&s->load, each.port, &each.since)) {
            if (out->locked < SIM_LOCKED_MAX) out->lock[out->locked] = each;
            out->locked++;
        }
}

static void collect(struct simulation *s, struct sim_result *out)
{
    out->network = &network_of(s)->counts;
    leat_sim_atm_losses(network_of(s), &out->losses);
    if (s->job->fabric.graph) leat_sim_atm_graph_phy(network_of(s), &out->phy);
    if (s->job->check_load) {
        out->cells_offered = leat_sim_atm_check_load_sent(&s->check);
        out->cells_delivered = s->check.delivered;
        out->certificate = leat_sim_certificate_value(&s->check.certificate);
        out->last_delivery_at = s->check.certificate.at;
        out->delivery_hash = leat_sim_delivery_hash_value(&s->check.hash);
        out->latency = &s->check.latency;
        return;
    }
    const uint64_t offered = find_saturation(s, out->cycles, out);
    out->dead = s->dead;
    out->gaps = leat_sim_atm_load_gaps(&s->load);
    collect_locked(s, out);
    leat_sim_atm_load_units(&s->load, &out->units);
    leat_sim_atm_load_lines(&s->load, &out->lines);
    out->messages = s->load.counts;
    out->messages.messages_offered = offered; /* also those that still wait to be written */
    out->messages.cells_offered = offered * sim_cells_of(s->job->bytes);
    out->cells_offered = out->messages.cells_offered;
    out->cells_delivered = out->messages.cells_delivered;
    out->certificate = leat_sim_certificate_value(&s->load.certificate);
    out->last_delivery_at = s->load.last_delivery_at;
    out->latency = &s->load.latency;
}

/* ---- --view ---------------------------------------------------------------------------------- */

/* Cells of W, else those of messages. */
static void take_view(void *context, struct watch_sample *sample)
{
    struct simulation *s = context;
    const bool check = s->job->check_load;
    const struct leat_sim_histogram *latency = check ? &s->check.latency : &s->load.latency;
    const struct leat_sim_atm_load_counts *counts = &s->load.counts;
    const uint64_t offered = check ? leat_sim_atm_check_load_sent(&s->check)
                                   : counts->messages_offered;
    const uint64_t delivered = check ? s->check.delivered : counts->messages_delivered;
    sample->column[SIM_VIEW_ACCEPTED] = (double)(check ? delivered : counts->cells_delivered);
    sample->column[SIM_VIEW_LATENCY_SUM] = (double)latency->sum;
    sample->column[SIM_VIEW_LATENCY_COUNT] = (double)latency->count;
    sample->column[SIM_VIEW_IN_FLIGHT] = offered > delivered ? (double)(offered - delivered) : 0;
    watch_fact(sample, check ? "cells delivered" : "messages delivered", (double)delivered);
}

static void show_view(struct simulation *s)
{
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&s->job->fabric);
    const double cell_cycles = (double)slot.num / (double)slot.den;
    sim_view(&(struct sim_view){ cell_cycles / s->job->fabric.net.ports,
                                 "cells per port and cell time",
                                 s->job->check_load ? "cells" : "messages" },
             take_view, s);
}

static bool simulate(struct simulation *s, struct sim_result *out)
{
    const struct sim_recorded *record = &s->job->record;
    if (!(s->job->check_load ? set_up_check(s) : set_up_load(s))) return false;
    if (record->path &&
        !sim_record_open(record, network_of(s), s->job->check_load ? NULL : &s->load))
        return false;
    show_view(s);
    out->cycles = pieces_run(s->job->cycles, run_to, s, &out->wall_seconds);
    out->threads = leat_sim_crew_members(leat_crew_lend(s->crew));
    if (s->dead) out->cycles = s->load.sim.now - 1; /* it may have ended within a piece */
    collect(s, out);
    return !record->path || sim_record_close(out->cycles);
}

int sim_run(const struct sim_job *job, struct sim_result *result)
{
    static struct simulation s;
    s = (struct simulation){ .job = job };
    *result = (struct sim_result){ 0 };
    const bool done = simulate(&s, result);
    leat_crew_end(s.crew);
    free(s.memory);
    free(s.source);
    free(s.partner);
    free(s.steady_memory);
    return done ? DONE : FAILED;
}
