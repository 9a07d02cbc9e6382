/* leat sim: the result of a run, as a table or as one JSON object. */
#include "json_out.h"
#include "sim.h"
#include "style.h"
#include "threads.h"
#include <stdio.h>

/* A cell time. */
static double cell_cycles(const struct sim_job *job)
{
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&job->fabric);
    return (double)slot.num / (double)slot.den;
}

/* Cells per port and cell time. */
static double throughput(const struct sim_job *job, const struct sim_result *r)
{
    const double cell_times = (double)r->cycles / cell_cycles(job);
    return r->cycles ? (double)r->cells_delivered / cell_times / job->fabric.net.ports : 0;
}

static double cycles_per_second(const struct sim_result *r)
{
    return r->wall_seconds > 0 ? (double)r->cycles / r->wall_seconds : 0;
}

static const char *traffic_name(const struct sim_job *job)
{
    return job->check_load ? "W" : leat_sim_atm_traffic_name(job->pattern);
}

/* Numbers of both forms. */
struct row {
    const char *key, *text;
    uint64_t value;
};

enum { ROWS_MAX = 24 };

struct rows {
    struct row row[ROWS_MAX]; /* ends with a NULL key */
};

static struct rows unit_rows(const struct sim_result *r)
{
    return (struct rows){ {
        { "acks", "acknowledgements sent", r->units.acks_sent },
        { "parked", "cells ahead of their turn, parked", r->units.parked },
        { "beyond", "cells too far ahead, not acknowledged", r->units.beyond },
        { "duplicates", "cells received again", r->units.duplicates },
        { "bad_cells", "cells with a wrong checksum", r->units.bad_cells },
        { "misdelivered", "cells for another port", r->units.misdelivered },
        { "undeliverable", "cells given up by their senders", r->units.undeliverable },
        { "messages_given_up", "messages given up", r->units.given_up },
        { "given_up_delivered", "  of these delivered all the same",
          r->messages.given_up_delivered },
        { "cut_short", "messages dropped half received", r->units.cut_short },
        { "resynchronised", "streams resynchronised", r->units.resynchronised },
        { "unsynchronised", "streams that wait for a cell given up", r->gaps },
        { "discarded", "messages discarded as obsolete", r->units.discarded },
        { "discarded_unread", "  of these unread", r->units.discarded_unread },
        { "altered", "messages altered", r->messages.altered },
        { "messages_duplicated", "messages delivered twice", r->messages.duplicated },
        { "messages_unreadable", "messages with a damaged header", r->messages.unreadable },
    } };
}

/* Lines without errors are not shown. */
static bool has_lines(const struct sim_job *job)
{
    return leat_sim_atm_line_has_faults(&job->line);
}

static struct rows line_rows(const struct sim_result *r)
{
    const struct leat_sim_atm_line_counts *c = &r->lines;
    return (struct rows){ {
        { "cells", "cells on the lines", c->cells },
        { "header_bits", "bits flipped in headers", c->header_bits },
        { "payload_bits", "bits flipped in payloads", c->payload_bits },
        { "damaged", "cells with flipped bits", c->damaged },
        { "lost", "cells lost", c->lost },
        { "inserted", "cells inserted", c->inserted },
        { "duplicated", "cells duplicated", c->duplicated },
        { "outage", "cells lost at dead ports", c->outage },
        { "hec_corrected", "headers corrected by the HEC", c->hec_corrected },
        { "hec_discarded", "cells discarded by the HEC", c->hec_discarded },
        { "header_wrong", "cells that passed with a wrong header", c->header_wrong },
        { "undetected", "damaged cells with a sound checksum", c->undetected },
        { "no_room", "extra cells without room at the host", c->no_room },
    } };
}

/* ---- people -------------------------------------------------------------------------------- */

static void put(const char *text, uint64_t value)
{
    printf("  %-40s %14llu\n", text, (unsigned long long)value);
}

static void put_some(struct rows rows)
{
    for (const struct row *row = rows.row; row->key; row++)
        if (row->value) put(row->text, row->value);
}

static void put_title(const struct sim_job *job, const struct sim_result *r)
{
    printf("%s, an ATM fabric, %s model, traffic %s at load %g, seed %llu", job->name,
           sim_model_name(job->model), traffic_name(job), (double)job->load / SIM_LOAD_ONE,
           (unsigned long long)job->seed);
    if (!job->check_load) printf(", messages of %u bytes", job->bytes);
    printf("\n%llu cycles (%.6g ms of network time)%s\n", (unsigned long long)r->cycles,
           (double)r->cycles * (double)job->fabric.period_ps_num /
               (double)job->fabric.period_ps_den / 1e9,
           r->locked                 ? ", deadlock"
           : r->cycles < job->cycles ? ", interrupted"
                                     : "");
}

/* Cells per port and cell time, the unit of the load. */
static double rate(const struct sim_job *job, double cells_per_cycle)
{
    return cells_per_cycle * cell_cycles(job);
}

static void put_state(const struct sim_job *job, const struct sim_result *r)
{
    const uint32_t shown = r->locked < SIM_LOCKED_MAX ? r->locked : SIM_LOCKED_MAX;
    if (r->steady.saturated)
        printf(
            "  %ssaturated%s: of %.4f cells offered per port and cell time %.4f came through after "
            "the warm-up; the others wait, more and more of them\n",
            style(stdout, STYLE_DOUBTFUL), style_end(stdout), rate(job, r->steady.offered),
            rate(job, r->steady.accepted));
    if (r->locked)
        printf("  %sdeadlock%s: ports that are full and can send nothing: %u\n",
               style(stdout, STYLE_BAD), style_end(stdout), r->locked);
    for (uint32_t i = 0; i < shown; i++)
        printf("    port %u, since cycle %llu\n", r->lock[i].port,
               (unsigned long long)r->lock[i].since);
}

static void put_messages(const struct sim_result *r)
{
    put("messages offered", r->messages.messages_offered);
    put("messages delivered", r->messages.messages_delivered);
    put("retransmissions", r->units.retransmissions);
    put_some(unit_rows(r));
    put_some(line_rows(r));
}

static struct rows loss_rows(const struct sim_result *r)
{
    const uint64_t *lost = r->losses.cells;
    return (struct rows){ {
        { "no_room", "  of these without room", lost[LEAT_NET_NO_ROOM] },
        { "no_way", "  of these without a way", lost[LEAT_NET_NO_WAY] },
        { "cut", "  of these on broken wires, at dead ports", lost[LEAT_NET_CUT] },
        { "corrupted", "  of these damaged", lost[LEAT_NET_CORRUPTED] },
    } };
}

/* Of physical lines. */
static struct rows phy_rows(const struct sim_result *r)
{
    const struct leat_sim_atm_phy_counts *c = &r->phy;
    return (struct rows){ {
        { "line_cells", "cells on lines with bit errors", c->cells },
        { "line_bits", "  bits damaged there", c->bits },
        { "headers_corrected", "  cells with a header corrected", c->corrected },
        { "discarded_cells", "  cells discarded for header or code", c->discarded },
        { "cells_missed", "  cells while frames or cells were lost", c->missed },
        { "cells_misrouted", "  cells that passed with a wrong label", c->misrouted },
        { "altered_cells", "  cells that passed with wrong octets", c->altered },
        { "strays", "  cells that errors made", c->strays },
        { "synchronisation_lost", "  times that frames or cells were lost", c->lost_bounds },
    } };
}

static const struct leat_atm_line *line_of(const struct sim_job *job)
{
    return job->fabric.graph ? job->fabric.graph->line : NULL;
}

static void put_phy(const struct sim_job *job, const struct sim_result *r)
{
    const struct leat_atm_line *line = line_of(job);
    if (!line) return;
    printf("  %-40s %14.1f  cells/s on every wire of %s, a cell time of %.6g cycles\n", "line",
           (double)line->cells_num / (double)line->cells_den, line->name, cell_cycles(job));
    put_some(phy_rows(r));
}

static void put_phy_json(struct leat_json *j, const struct sim_job *job, const struct sim_result *r)
{
    const struct leat_atm_line *line = line_of(job);
    const struct rows rows = phy_rows(r);
    if (!line) return;
    leat_json_string(j, "physical_line", line->name);
    LEAT_JSON_UINTS(j, { "cells_numerator", line->cells_num },
                    { "cells_denominator", line->cells_den });
    leat_json_object(j, "line_errors");
    for (const struct row *row = rows.row; row->key; row++)
        leat_json_uint(j, row->key, row->value);
    leat_json_end(j);
}

/* Bus matrices lose nothing of their own. */
static void put_losses(const struct sim_job *job, const struct sim_result *r)
{
    if (!job->fabric.graph && !job->fabric.faults) return;
    put("cells lost in the network", leat_sim_atm_losses_sum(&r->losses));
    put_some(loss_rows(r));
    if (r->losses.rerouted) put("cells rerouted", r->losses.rerouted);
}

static void put_losses_json(struct leat_json *j, const struct sim_result *r)
{
    const struct rows rows = loss_rows(r);
    leat_json_uint(j, "lost", leat_sim_atm_losses_sum(&r->losses));
    leat_json_object(j, "losses");
    for (const struct row *row = rows.row; row->key; row++)
        leat_json_uint(j, row->key, row->value);
    leat_json_end(j);
    leat_json_uint(j, "cells_rerouted", r->losses.rerouted);
}

void sim_put_text(const struct sim_job *job, const struct sim_result *r)
{
    put_title(job, r);
    put(job->check_load ? "cells sent" : "cells offered", r->cells_offered);
    put("cells delivered", r->cells_delivered);
    printf("  %-40s %14.4f  cells per port and cell time\n", "throughput", throughput(job, r));
    printf("  %-40s %14.1f  cycles; median %llu, p99 %llu, max %llu\n", "latency",
           leat_sim_histogram_mean(r->latency),
           (unsigned long long)leat_sim_histogram_quantile(r->latency, 500),
           (unsigned long long)leat_sim_histogram_quantile(r->latency, 990),
           (unsigned long long)r->latency->max);
    put("cycle of the last delivery", r->last_delivery_at);
    put("suspensions", r->network->suspensions);
    put_losses(job, r);
    put_phy(job, r);
    if (r->network->port_refusals) put("cells refused by full hosts", r->network->port_refusals);
    if (r->network->unrouted) put("cells whose label leads nowhere", r->network->unrouted);
    if (!job->check_load) put_messages(r);
    put_state(job, r);
    printf("  %-40s %016llx\n", "certificate", (unsigned long long)r->certificate);
    if (job->check_load)
        printf("  %-40s %016llx\n", "delivery hash", (unsigned long long)r->delivery_hash);
    printf("  %-40s %14.3f  seconds%s, %.4g cycles per second\n", "run", r->wall_seconds,
           threads_text(r->threads, 1), cycles_per_second(r));
}

/* ---- programs ------------------------------------------------------------------------------ */

static void put_latency(struct leat_json *j, const struct leat_sim_histogram *latency)
{
    leat_json_object(j, "latency_cycles");
    json_fixed(j, "mean", leat_sim_histogram_mean(latency), 3);
    LEAT_JSON_UINTS(j, { "p50", leat_sim_histogram_quantile(latency, 500) },
                    { "p99", leat_sim_histogram_quantile(latency, 990) }, { "max", latency->max });
    leat_json_end(j);
}

static void put_units(struct leat_json *j, const struct sim_job *job, const struct sim_result *r)
{
    const struct rows units = unit_rows(r), lines = line_rows(r);
    leat_json_uint(j, "bytes", job->bytes);
    leat_json_uint(j, "messages_offered", r->messages.messages_offered);
    for (const struct row *row = units.row; row->key; row++)
        leat_json_uint(j, row->key, row->value);
    leat_json_object(j, "lines");
    if (!has_lines(job)) leat_json_null(j, "cells");
    for (const struct row *row = lines.row + !has_lines(job); row->key; row++)
        leat_json_uint(j, row->key, row->value);
    leat_json_end(j);
}

/* W has sinks that take everything, and sources that wait. */
static void put_state_json(struct leat_json *j, const struct sim_job *job,
                           const struct sim_result *r)
{
    const uint32_t shown = r->locked < SIM_LOCKED_MAX ? r->locked : SIM_LOCKED_MAX;
    if (job->check_load)
        leat_json_null(j, "saturated");
    else
        leat_json_bool(j, "saturated", r->steady.saturated);
    if (r->steady.saturated)
        json_format(j, "saturation",
                    "of %.4f cells offered per port and cell time %.4f came through after the "
                    "warm-up; the others wait, more and more of them",
                    rate(job, r->steady.offered), rate(job, r->steady.accepted));
    if (!r->locked) {
        leat_json_null(j, "deadlock");
        return;
    }
    leat_json_array(j, "deadlock");
    for (uint32_t i = 0; i < shown; i++) {
        leat_json_object(j, NULL);
        leat_json_uint(j, "port", r->lock[i].port);
        leat_json_uint(j, "since_cycle", r->lock[i].since);
        leat_json_end(j);
    }
    leat_json_end(j);
}

void sim_put_json(const struct sim_job *job, const struct sim_result *r)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->name);
    leat_json_string(j, "model", sim_model_name(job->model));
    leat_json_string(j, "traffic", traffic_name(job));
    json_general(j, "load", (double)job->load / SIM_LOAD_ONE, 6);
    leat_json_uint(j, "seed", job->seed);
    leat_json_uint(j, "cycles", r->cycles);
    json_general(j, "cycle_ns",
                 (double)job->fabric.period_ps_num / (double)job->fabric.period_ps_den / 1000, 12);
    LEAT_JSON_UINTS(j, { "cells_offered", r->cells_offered },
                    { "cells_delivered", r->cells_delivered },
                    { "messages_delivered", r->messages.messages_delivered });
    json_fixed(j, "throughput", throughput(job, r), 6);
    put_latency(j, r->latency);
    LEAT_JSON_UINTS(
        j, { "last_delivery_cycle", r->last_delivery_at },
        { "suspensions", r->network->suspensions }, { "retransmissions", r->units.retransmissions },
        { "port_refusals", r->network->port_refusals }, { "unrouted", r->network->unrouted });
    put_losses_json(j, r);
    put_phy_json(j, job, r);
    if (!job->check_load) put_units(j, job, r);
    put_state_json(j, job, r);
    json_certificate(j, "certificate", r->certificate);
    if (job->check_load) json_certificate(j, "delivery_hash", r->delivery_hash);
    leat_json_uint(j, "threads", r->threads);
    json_fixed(j, "wall_seconds", r->wall_seconds, 6);
    json_fixed(j, "cycles_per_second", cycles_per_second(r), 0);
    json_close(&out, r->locked ? "deadlock" : json_status());
}
