/* leat sim FABRIC --circuits FILE: circuits of a constant bit rate and voice, beside other cells:
 * their delays, and what their receivers made of what arrived. */
#include "circuit_plan.h"
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "lines.h"
#include "number.h"
#include "pieces.h"
#include "sim.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHY_CAP = 1024,
    ROWS_MAX = 40, /* of each table, for people */
    P99 = 990,
};

struct job {
    const char *name, *file;
    struct circuit_plan plan;
    struct leat_sim_atm_circuits_config config;
    struct leat_sim_atm_line_outage outage[LEAT_SIM_ATM_LINE_OUTAGES_MAX];
    uint64_t cycles;
    struct sim_recorded record;
    struct leat_sim_atm_circuits sim;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool check(const struct arguments *args, const struct job *job)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    uint32_t line = 0;
    if (!leat_sim_atm_circuits_check(&job->config, &line, &why)) return true;
    if (line == LEAT_SIM_ATM_CIRCUITS_LINES_MAX)
        return misused(args->verb, "--circuits %s: %.*s", job->file, (int)why.len, why.buf);
    const struct leat_fabric_place place = { .file = strchr(job->file, ':') ? "--circuits"
                                                                            : job->file,
                                             .line = job->plan.place[line] };
    return wrong(&place, "%.*s", (int)why.len, why.buf);
}

static bool read_plan(const struct arguments *args, struct job *job)
{
    if (!circuits_read(&job->plan, job->file, &job->config.plain.fabric)) return false;
    job->config.line = job->plan.line;
    job->config.lines = job->plan.lines;
    return interrupted || check(args, job); /* the verb ends by itself */
}

static bool read_options(const struct arguments *args, struct leat_fabric *fabric, struct job *job)
{
    static const char known[] =
        "--circuits --load --cycles --seed --model --record --record-hops --json --fault "
        "--fault-file --bit-errors --loss --insert --duplicate --hec "
        "--dead";
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    struct leat_sim_atm_plain_config *plain = &job->config.plain;
    const char *foreign = argument_not_in(args, known);
    if (foreign)
        return misused(args->verb, "%s with --circuits, expected only %s", foreign, known + 11);
    return sim_read_faults(args, fabric) && (plain->fabric = atm->fabric, true) &&
           sim_read_model(args, &atm->fabric, &plain->model) &&
           number_take(args, "--cycles", &job->cycles) &&
           number_take(args, "--seed", &plain->seed) && sim_take_load(args, &plain->load_ppm) &&
           sim_read_lines(args, atm, &plain->line, job->outage) &&
           sim_read_record(args, fabric, &job->record) &&
           sim_check_cycles(args, job->cycles, &atm->base.clock, "") && read_plan(args, job);
}

/* ---- running --------------------------------------------------------------------------------- */

static bool run_to(void *context, uint64_t until)
{
    struct job *job = context;
    leat_sim_atm_circuits_run(&job->sim, until);
    return true;
}

static bool simulate(struct job *job, void **memory)
{
    double wall_seconds;
    *memory = sim_memory(leat_sim_atm_circuits_footprint(&job->config));
    if (!*memory) return false;
    leat_sim_atm_circuits_init(&job->sim, &job->config, *memory);
    if (job->record.path && !sim_record_open(&job->record, &job->sim.plain.sim, NULL)) return false;
    if (job->record.path) sim_record_seal();
    job->cycles = pieces_run(job->cycles, run_to, job, &wall_seconds);
    leat_sim_atm_circuits_settle(&job->sim);
    return !job->record.path || sim_record_close(job->cycles);
}

/* ---- figures --------------------------------------------------------------------------------- */

static double in_us(double ps)
{
    return ps / 1e6;
}

/* Shares and times of a line; NAN: of nothing. */
struct times {
    double least, mean, p99, most;
};

static struct times times_of(const struct leat_sim_histogram *h, uint64_t least)
{
    if (!h->count) return (struct times){ NAN, NAN, NAN, NAN };
    return (struct times){ in_us((double)least), in_us(leat_sim_histogram_mean(h)),
                           in_us((double)leat_sim_histogram_quantile(h, P99)),
                           in_us((double)h->max) };
}

/* What a circuit's receiver did. */
struct receiver {
    double playout, delay;    /* us; NAN: it does not play yet */
    double recovered, wander; /* ppm, us */
    uint64_t underruns, overruns, slips, inserted, dropped, played;
    uint64_t lost, misinserted, invalid; /* as AAL1 saw it */
    uint64_t corrected;
};

static bool knows_clock(const struct leat_sim_atm_circuit *plan, const struct leat_sim_atm_cbr *cbr)
{
    return plan->recovery != LEAT_SIM_ATM_CIRCUIT_SRTS ||
           leat_atm_aal1_srts_receive_ratio(&cbr->stamped).network_cycles;
}

static void see_aal1(const struct leat_sim_atm_cbr *cbr, struct receiver *out)
{
    if (cbr->deinterleave) {
        out->lost = cbr->deinterleave->counts.lost;
        out->invalid = cbr->deinterleave->counts.discarded;
        out->corrected = cbr->deinterleave->counts.octets_corrected;
    } else {
        out->lost = cbr->reassemble.counts.lost;
        out->misinserted = cbr->reassemble.counts.misinserted;
        out->invalid = cbr->reassemble.counts.invalid;
    }
}

static struct receiver receiver_of(const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuits_line *line = &job->sim.line[i];
    const struct leat_sim_atm_cbr *cbr = job->sim.channel[line->first].cbr;
    struct receiver r = { NAN, NAN, NAN, NAN };
    see_aal1(cbr, &r);
    if (!cbr->playout) return r;
    const struct leat_atm_aal1_playout_counts n = leat_atm_aal1_playout_counts(cbr->playout);
    r.playout = in_us((double)cbr->tolerance);
    r.delay = in_us((double)cbr->delay);
    if (knows_clock(&job->plan.line[i], cbr)) r.recovered = cbr->reader.ppb / 1e3;
    r.wander = in_us((double)(cbr->error_max - cbr->error_min));
    r.underruns = n.underruns;
    r.overruns = n.overruns;
    r.slips = n.underruns + n.overruns + line->counts.shifts;
    r.inserted = n.dummy_len;
    r.dropped = n.dropped_len;
    r.played = n.played_len;
    return r;
}

/* Frames that never came, or not all of their cells. */
static uint64_t frames_lost(const struct leat_sim_atm_circuits_counts *n)
{
    return n->frames_talk - n->frames_played - n->frames_late - n->frames_damaged -
           n->frames_under_way;
}

/* ---- people ---------------------------------------------------------------------------------- */

static void put(const char *text, uint64_t value)
{
    printf("  %-40s %14" PRIu64 "\n", text, value);
}

static void put_number(int width, int decimals, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, decimals, value);
}

static void put_times(struct times t)
{
    put_number(9, 2, t.least);
    put_number(9, 2, t.mean);
    put_number(9, 2, t.p99);
    put_number(9, 2, t.most);
}

static void put_title(const struct job *job)
{
    const struct leat_sim_atm_plain_config *c = &job->config.plain;
    printf("%s, an ATM fabric, %s model, circuits: %u, virtual channels: %u, other load %g, seed "
           "%" PRIu64 "\n%" PRIu64 " cycles (%.6g ms of network time)%s\n",
           job->name, sim_model_name(c->model), job->plan.lines, job->sim.channels,
           (double)c->load_ppm / SIM_LOAD_ONE, c->seed, job->cycles,
           (double)job->cycles * (double)c->fabric.period_ps_num / (double)c->fabric.period_ps_den /
               1e9,
           interrupted ? ", interrupted" : "");
}

static void put_counts(const struct job *job)
{
    struct leat_sim_atm_losses losses;
    struct leat_sim_atm_line_counts lines;
    leat_sim_atm_losses(&job->sim.plain.sim, &losses);
    leat_sim_atm_plain_lines(&job->sim.plain, &lines);
    put("other cells sent", job->sim.users_sent);
    put("other cells delivered", job->sim.users_received);
    if (job->sim.unknown) put("cells of no channel", job->sim.unknown);
    if (job->config.plain.fabric.graph || job->config.plain.fabric.faults)
        put("cells lost in the network", leat_sim_atm_losses_sum(&losses));
    if (lines.lost + lines.outage) put("cells lost on lines", lines.lost + lines.outage);
    if (lines.damaged) put("cells damaged on lines", lines.damaged);
    if (lines.hec_discarded) put("cells discarded by the HEC", lines.hec_discarded);
    if (lines.inserted) put("cells inserted on lines", lines.inserted);
    if (lines.duplicated) put("cells duplicated on lines", lines.duplicated);
    printf("  %-40s %016" PRIx64 "\n", "certificate",
           leat_sim_certificate_value(&job->sim.plain.certificate));
}

static void put_cells(const struct job *job)
{
    puts("cells:                                                            delay, us\n"
         "  line   from   to       sent  delivered     lost    extra  damaged       min      mean"
         "       p99       max  CDV, us");
    for (uint32_t i = 0; i < job->plan.lines && i < ROWS_MAX; i++) {
        const struct leat_sim_atm_circuits_line *line = &job->sim.line[i];
        const struct leat_sim_atm_circuits_counts *n = &line->counts;
        const struct times t = times_of(&line->delay, line->delay_min);
        printf("  %4u   %4u %4u %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64,
               job->plan.place[i], job->plan.line[i].from, job->plan.line[i].to, n->cells_sent,
               n->cells_delivered, n->cells_lost, n->cells_extra, n->cells_damaged);
        put_times(t);
        put_number(8, 2, t.most - t.least);
        puts("");
    }
    if (job->plan.lines > ROWS_MAX)
        printf("  and %u more (all of them: --json)\n", job->plan.lines - ROWS_MAX);
}

static const char *const recoveries[] = { "network", "srts", "adaptive" };

static void put_cbr(const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuit *plan = &job->plan.line[i];
    const struct leat_sim_atm_circuits_counts *n = &job->sim.line[i].counts;
    const struct receiver r = receiver_of(job, i);
    printf("  %4u %9.3f  %-8s %+6d", job->plan.place[i], (double)plan->rate / 1e3,
           recoveries[plan->recovery], plan->clock_ppm);
    put_number(9, 3, r.recovered);
    put_number(8, 3, r.wander);
    put_number(8, 1, in_us((double)leat_sim_atm_circuit_packetisation(plan)));
    put_number(8, 1, r.playout);
    put_number(9, 1, r.delay);
    printf(" %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", r.underruns,
           r.overruns, r.slips, n->octets_wrong, n->octets_replaced);
}

static void put_circuits(const struct job *job)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < job->plan.lines; i++) {
        if (job->plan.line[i].kind != LEAT_SIM_ATM_CIRCUIT_CBR || rows++ >= ROWS_MAX) continue;
        if (rows == 1)
            puts("circuits:              clock, ppm       wander   packet  playout    delay  under"
                 "   over           octets\n"
                 "  line      kb/s  recovery   true recovered      us       us       us       us"
                 "   runs   runs  slips    wrong replaced");
        put_cbr(job, i);
    }
}

static void put_voice(const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuit *plan = &job->plan.line[i];
    const struct leat_sim_atm_circuits_line *line = &job->sim.line[i];
    const struct leat_sim_atm_circuits_counts *n = &line->counts;
    printf("  %4u     %4u %9.3f %8.3f", job->plan.place[i], plan->channels,
           (double)plan->rate / 1e3, (double)plan->frame / 1e9);
    put_number(6, 3, n->frames ? (double)n->frames_talk / (double)n->frames : NAN);
    printf(" %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64, n->frames_talk, frames_lost(n),
           n->frames_late, n->frames_damaged);
    put_times(times_of(&line->mouth, line->mouth_min));
    puts("");
}

static void put_voices(const struct job *job)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < job->plan.lines; i++) {
        if (job->plan.line[i].kind != LEAT_SIM_ATM_CIRCUIT_VOICE || rows++ >= ROWS_MAX) continue;
        if (rows == 1)
            puts("voice:                         frame  share     frames                        "
                 "      mouth to ear, us\n"
                 "  line channels      kb/s       ms  talks       sent     lost     late  damaged"
                 "       min      mean       p99       max");
        put_voice(job, i);
    }
}

static void put_text(const struct job *job)
{
    put_title(job);
    put_counts(job);
    put_cells(job);
    put_circuits(job);
    put_voices(job);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void put_json_times(struct leat_json *j, const char *key, struct times t)
{
    leat_json_object(j, key);
    json_fixed(j, "min", t.least, 3);
    json_fixed(j, "mean", t.mean, 3);
    json_fixed(j, "p99", t.p99, 3);
    json_fixed(j, "max", t.most, 3);
    leat_json_end(j);
}

static void put_json_cells(struct leat_json *j, const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuit *plan = &job->plan.line[i];
    const struct leat_sim_atm_circuits_line *line = &job->sim.line[i];
    const struct leat_sim_atm_circuits_counts *n = &line->counts;
    const struct times t = times_of(&line->delay, line->delay_min);
    LEAT_JSON_UINTS(j, { "line", job->plan.place[i] }, { "from", plan->from }, { "to", plan->to },
                    { "bits_per_second", plan->rate }, { "cells_sent", n->cells_sent },
                    { "cells_delivered", n->cells_delivered }, { "lost", n->cells_lost },
                    { "cells_extra", n->cells_extra }, { "cells_damaged", n->cells_damaged });
    put_json_times(j, "delay_us", t);
    json_fixed(j, "cdv_us", t.most - t.least, 3);
    json_fixed(j, "packetisation_us", in_us((double)leat_sim_atm_circuit_packetisation(plan)), 3);
}

static void put_json_cbr(struct leat_json *j, const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuit *plan = &job->plan.line[i];
    const struct leat_sim_atm_circuits_counts *n = &job->sim.line[i].counts;
    const struct receiver r = receiver_of(job, i);
    put_json_cells(j, job, i);
    leat_json_string(j, "recovery", recoveries[plan->recovery]);
    json_fixed(j, "clock_ppm", plan->clock_ppm, 3);
    json_fixed(j, "recovered_ppm", r.recovered, 3);
    json_fixed(j, "wander_us", r.wander, 3);
    leat_json_bool(j, "interleaved", plan->fec);
    leat_json_uint(j, "structure", plan->block_len);
    json_fixed(j, "playout_us", r.playout, 3);
    json_fixed(j, "octet_delay_us", r.delay, 3);
    LEAT_JSON_UINTS(j, { "underruns", r.underruns }, { "overruns", r.overruns },
                    { "slips", r.slips }, { "octets_played", r.played },
                    { "octets_wrong", n->octets_wrong }, { "octets_replaced", n->octets_replaced },
                    { "octets_inserted", r.inserted }, { "octets_dropped", r.dropped });
    leat_json_object(j, "aal1");
    LEAT_JSON_UINTS(j, { "lost", r.lost }, { "misinserted", r.misinserted },
                    { "invalid", r.invalid }, { "octets_corrected", r.corrected },
                    { "rows_bad", n->rows_bad });
    leat_json_end(j);
}

static void put_json_voice(struct leat_json *j, const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_circuit *plan = &job->plan.line[i];
    const struct leat_sim_atm_circuits_line *line = &job->sim.line[i];
    const struct leat_sim_atm_circuits_counts *n = &line->counts;
    put_json_cells(j, job, i);
    leat_json_uint(j, "channels", plan->channels);
    json_fixed(j, "frame_us", in_us((double)plan->frame), 3);
    json_fixed(j, "playout_us", in_us((double)plan->playout), 3);
    LEAT_JSON_UINTS(j, { "frames", n->frames }, { "frames_sent", n->frames_talk },
                    { "frames_played", n->frames_played }, { "frames_lost", frames_lost(n) },
                    { "frames_late", n->frames_late }, { "frames_damaged", n->frames_damaged });
    json_fixed(j, "talk_share", n->frames ? (double)n->frames_talk / (double)n->frames : NAN, 6);
    put_json_times(j, "mouth_to_ear_us", times_of(&line->mouth, line->mouth_min));
}

static void put_json_lines(struct leat_json *j, const struct job *job, const char *key,
                           enum leat_sim_atm_circuit_kind kind)
{
    leat_json_array(j, key);
    for (uint32_t i = 0; i < job->plan.lines; i++) {
        if (job->plan.line[i].kind != kind) continue;
        leat_json_break(j);
        leat_json_object(j, NULL);
        (kind == LEAT_SIM_ATM_CIRCUIT_CBR ? put_json_cbr : put_json_voice)(j, job, i);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_json(const struct job *job)
{
    const struct leat_sim_atm_plain_config *c = &job->config.plain;
    struct leat_sim_atm_losses losses;
    struct json_out out;
    leat_sim_atm_losses(&job->sim.plain.sim, &losses);
    json_schema("leat.sim.circuits/1");
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->name);
    leat_json_string(j, "model", sim_model_name(c->model));
    json_general(j, "load", (double)c->load_ppm / SIM_LOAD_ONE, 6);
    LEAT_JSON_UINTS(j, { "seed", c->seed }, { "cycles", job->cycles });
    json_general(j, "cycle_ns",
                 (double)c->fabric.period_ps_num / (double)c->fabric.period_ps_den / 1000, 12);
    json_certificate(j, "certificate", leat_sim_certificate_value(&job->sim.plain.certificate));
    LEAT_JSON_UINTS(
        j, { "cells_sent", job->sim.users_sent }, { "cells_delivered", job->sim.users_received },
        { "cells_unknown", job->sim.unknown }, { "lost", leat_sim_atm_losses_sum(&losses) });
    put_json_lines(j, job, "cbr_circuits", LEAT_SIM_ATM_CIRCUIT_CBR);
    put_json_lines(j, job, "voice_circuits", LEAT_SIM_ATM_CIRCUIT_VOICE);
    json_close(&out, json_status());
}

/* ---- all ------------------------------------------------------------------------------------- */

int run_sim_circuits(const struct arguments *args, struct leat_fabric *fabric, const char *file)
{
    static struct job job;
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    void *memory = NULL;
    job = (struct job){ .name = atm->base.name, .file = file, .cycles = 1000000 };
    job.config.plain.seed = 1;
    int code = read_options(args, fabric, &job) ? DONE : WRONG;
    job.config.plain.line.seed = atm->faults.seed = job.config.plain.seed;
    atm->cells.graph.error_seed = job.config.plain.seed;
    atm->faults.pinned = true;
    if (code == DONE && !args->only_check && !interrupted) {
        code = simulate(&job, &memory) ? DONE : FAILED;
        if (code == DONE) (argument(args, "--json") ? put_json : put_text)(&job);
    }
    free(memory);
    return args->only_check ? code : finish(code);
}
