/* leat report: gathers the runs of a store into points. */
#include "report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_FIRST = 256, NAME_CAP = 512 };

/* A run that does not report saturation counts as saturated if less than this share of the expected
 * traffic was delivered. */
static const double share_delivered_min = 0.95;

/* ---- one result ---------------------------------------------------------------------------- */

/* Values of a result that the store does not extract itself. */
struct extras {
    double half[REPORT_FIGURES], cycles, offered, delivered; /* NAN: absent */
    double cycle_ns;                                         /* 0: absent */
    double lost[REPORT_LOSSES], rerouted, retransmissions;
    bool has_links;
};

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

static bool is_part_of(const char *path, const char *member)
{
    const char end = begins(path, member) ? path[strlen(member)] : 'x';
    return end == '\0' || end == '.' || end == '[';
}

static bool is_either(const char *path, const char *one, const char *other)
{
    return strcmp(path, one) == 0 || strcmp(path, other) == 0;
}

static bool on_value(void *context, const char *path, const struct report_value *value)
{
    struct extras *x = context;
    const double number = value->kind == REPORT_NUMBER && isfinite(value->number) ? value->number
                                                                                  : 0;
    if (strcmp(path, "latency_cycles.ci95") == 0) x->half[REPORT_LATENCY] = number;
    if (strcmp(path, "throughput_ci95") == 0) x->half[REPORT_THROUGHPUT] = number;
    if (strcmp(path, "cycles") == 0) x->cycles = number;
    if (strcmp(path, "cycle_ns") == 0) x->cycle_ns = number;
    if (is_either(path, "cells_offered", "flits_offered")) x->offered = number;
    if (is_either(path, "cells_delivered", "flits_delivered")) x->delivered = number;
    if (is_part_of(path, "losses")) x->lost[REPORT_PACKETS] += number; /* by cause */
    if (is_either(path, "lines.lost", "lines.outage")) x->lost[REPORT_CELLS] += number;
    if (strcmp(path, "messages_lost") == 0) x->lost[REPORT_MESSAGES] += number;
    if (is_part_of(path, "packets_rerouted")) x->rerouted += number;
    if (strcmp(path, "retransmissions") == 0) x->retransmissions += number;
    if (begins(path, "links[]")) x->has_links = true;
    return true;
}

static bool is_run_saturated(const struct store_figures *f, const struct extras *x)
{
    if (f->saturated >= 0) return f->saturated > 0;
    const double in_flight = x->offered * f->latency_mean / x->cycles;    /* Little 1961 */
    return x->delivered < share_delivered_min * (x->offered - in_flight); /* not if one is NAN */
}

/* ---- points -------------------------------------------------------------------------------- */

/* Latencies are in cycles until a run reports how long its cycle is: then they are in nanoseconds,
 * and those without a unit are forgotten. */
static void add_latency(struct report *report, struct report_point *point,
                        const struct store_figures *f, struct extras *x)
{
    const bool in_ns = x->cycle_ns > 0;
    for (size_t i = 0; in_ns && !report->is_in_ns && i < report->points; i++) {
        struct report_point *p = &report->point[i];
        p->mean[REPORT_LATENCY] = p->mean[REPORT_P99] = (struct mean){ 0 };
    }
    report->is_in_ns |= in_ns;
    report->line[point->line].has_cycles |= !in_ns;
    if (in_ns != report->is_in_ns) return;
    const double unit = in_ns ? x->cycle_ns : 1;
    mean_add(&point->mean[REPORT_LATENCY], unit * f->latency_mean);
    mean_add(&point->mean[REPORT_P99], unit * f->latency_p99);
    point->half[REPORT_LATENCY] = unit * x->half[REPORT_LATENCY];
}

static void add_run(struct report *report, struct report_point *point, const struct store_run *run,
                    struct extras *x)
{
    const struct store_figures *f = &run->figures;
    const bool deadlock = f->deadlock > 0;
    const bool delivered = !(x->delivered == 0); /* true where it is absent */
    if (point->runs == 0) point->first_seed = run->key.seed;
    if (deadlock && point->deadlocks == 0) point->deadlock_seed = run->key.seed;
    point->runs++;
    point->saturated += is_run_saturated(f, x);
    point->deadlocks += deadlock;
    mean_add(&point->mean[REPORT_THROUGHPUT], f->throughput);
    mean_add(&point->hops, f->hops_mean);
    memcpy(point->half, x->half, sizeof point->half);
    if (delivered) add_latency(report, point, f, x); /* undelivered packets have none */
    for (int i = 0; i < REPORT_LOSSES; i++)
        point->lost[i] += x->lost[i];
    point->rerouted += x->rerouted;
    point->retransmissions += x->retransmissions;
    point->has_links |= x->has_links;
}

double report_half(const struct report_point *point, enum report_figure figure)
{
    const struct mean *mean = &point->mean[figure];
    return mean->count >= 2 ? mean_half(mean) : point->half[figure];
}

bool report_is_saturated(const struct report_point *point)
{
    return point->saturated > 0 || point->deadlocks > 0;
}

/* ---- the store ----------------------------------------------------------------------------- */

struct reading {
    struct report *report;
    uint16_t sweep; /* place of the one whose runs are read */
    int code;       /* of a complaint */
};

static bool refuse(struct reading *r, int code)
{
    r->code = code;
    return false;
}

static bool too_many(struct reading *r, const char *what, size_t most)
{
    complain("%s: there are more than %zu %s, which is all that one report shows (--csv alone has "
             "all)",
             r->report->name, most, what);
    return refuse(r, WRONG);
}

static char *copy(struct reading *r, const char *text)
{
    char *mine = strdup(text ? text : "");
    if (!mine) refuse(r, fail("no memory"));
    return mine;
}

static bool find_line(struct reading *r, const char *fabric, uint16_t *out)
{
    struct report *report = r->report;
    for (size_t i = report->lines; i-- > 0 && report->line[i].sweep == r->sweep;)
        if (strcmp(report->line[i].fabric, fabric) == 0) {
            *out = (uint16_t)i;
            return true;
        }
    if (report->lines == REPORT_LINES_MAX) return too_many(r, "fabrics", REPORT_LINES_MAX);
    *out = (uint16_t)report->lines;
    report->line[report->lines++] = (struct report_line){ .sweep = r->sweep,
                                                          .fabric = copy(r, fabric) };
    return r->code == DONE;
}

static bool find_traffic(struct reading *r, const char *traffic, uint16_t *out)
{
    struct report *report = r->report;
    for (size_t i = 0; i < report->traffics; i++)
        if (strcmp(report->traffic[i], traffic) == 0) {
            *out = (uint16_t)i;
            return true;
        }
    if (report->traffics == REPORT_TRAFFICS_MAX)
        return too_many(r, "kinds of traffic", REPORT_TRAFFICS_MAX);
    *out = (uint16_t)report->traffics;
    report->traffic[report->traffics++] = copy(r, traffic);
    return r->code == DONE;
}

static bool grow(struct reading *r)
{
    struct report *report = r->report;
    if (report->points < report->points_cap) return true;
    if (report->points == REPORT_POINTS_MAX)
        return too_many(r, "points (a fabric, a traffic and a load)", REPORT_POINTS_MAX);
    const size_t cap = report->points_cap ? 2 * report->points_cap : POINTS_FIRST;
    struct report_point *more = realloc(report->point, cap * sizeof *more);
    if (!more) return refuse(r, fail("no memory for %zu points", cap));
    report->point = more;
    report->points_cap = cap;
    return true;
}

/* The point of a run: the last one, or a new one, since runs come in order. */
static struct report_point *find_point(struct reading *r, const struct store_key *key)
{
    struct report *report = r->report;
    uint16_t line, traffic;
    if (!find_line(r, key->fabric, &line) || !find_traffic(r, key->traffic, &traffic)) return NULL;
    struct report_point *last = report->points ? &report->point[report->points - 1] : NULL;
    if (last && last->line == line && last->traffic == traffic && last->load == key->load)
        return last;
    if (!grow(r)) return NULL;
    struct report_series *series = &report->series[line][traffic];
    if (series->count++ == 0) series->first = (uint32_t)report->points;
    last = &report->point[report->points++];
    *last = (struct report_point){ .line = line, .traffic = traffic, .load = key->load };
    return last;
}

static void note_seed(struct report_sweep *sweep, uint64_t seed)
{
    for (uint32_t i = 0; i < sweep->seeds; i++)
        if (seed >= sweep->seed[i].first && seed <= sweep->seed[i].last) return;
    for (uint32_t i = 0; i < sweep->seeds; i++)
        if (seed - 1 == sweep->seed[i].last) {
            sweep->seed[i].last = seed;
            return;
        }
    sweep->seeds_left_out |= sweep->seeds == REPORT_SEEDS_MAX;
    if (!sweep->seeds_left_out) sweep->seed[sweep->seeds++] = (struct report_seeds){ seed, seed };
}

static bool on_run(void *context, const struct store_run *run)
{
    struct reading *r = context;
    struct extras extras = {
        .half = { NAN, NAN, NAN }, .cycles = NAN, .offered = NAN, .delivered = NAN
    };
    struct report_sweep *sweep = &r->report->sweep[r->sweep];
    if (interrupted) return refuse(r, FAILED);
    if (!report_json_each(run->result, on_value, &extras)) {
        complain("%s: sweep %lld, %s, %s, load %g, seed %llu: the result is damaged, expected the "
                 "JSON object of leat sim --json",
                 r->report->name, (long long)sweep->id, run->key.fabric, run->key.traffic,
                 (double)run->key.load / STORE_LOAD_ONE, (unsigned long long)run->key.seed);
        return refuse(r, WRONG);
    }
    struct report_point *point = find_point(r, &run->key);
    if (!point) return false;
    add_run(r->report, point, run, &extras);
    note_seed(sweep, run->key.seed);
    sweep->runs++;
    r->report->runs++;
    return true;
}

static bool on_sweep(void *context, const struct store_sweep *sweep)
{
    struct reading *r = context;
    struct report *report = r->report;
    if (report->sweeps == REPORT_SWEEPS_MAX) return too_many(r, "sweeps", REPORT_SWEEPS_MAX);
    report->sweep[report->sweeps++] = (struct report_sweep){
        .id = sweep->id,
        .version = copy(r, sweep->version),
        .options = copy(r, sweep->options),
        .files = copy(r, sweep->files),
        .created = copy(r, sweep->created),
    };
    return r->code == DONE;
}

/* A fabric of several sweeps needs more than its name. */
static bool name_lines(struct reading *r)
{
    struct report *report = r->report;
    for (size_t i = 0; i < report->lines; i++) {
        struct report_line *line = &report->line[i];
        bool alone = true;
        for (size_t k = 0; k < report->lines; k++)
            alone &= k == i || strcmp(report->line[k].fabric, line->fabric) != 0;
        char name[NAME_CAP];
        snprintf(name, sizeof name, alone ? "%s" : "%s (sweep %lld)", line->fabric,
                 (long long)report->sweep[line->sweep].id);
        line->name = copy(r, name);
        if (!line->name) return false;
    }
    return true;
}

static void name_unit(struct report *report)
{
    report->unit = report->is_in_ns ? "ns" : "cycles";
    for (size_t i = 0; report->is_in_ns && i < report->lines; i++)
        if (report->line[i].has_cycles)
            complain("%s: some runs of %s do not report how long a cycle is, since an earlier leat "
                     "made them: their latencies are left out",
                     report->name, report->line[i].name);
}

static bool read_all(struct reading *r)
{
    struct report *report = r->report;
    if (!store_each_sweep(report->store, on_sweep, r)) return false;
    for (; r->sweep < report->sweeps; r->sweep++)
        if (!report_each_run(report, report->sweep[r->sweep].id, on_run, r)) return false;
    if (!name_lines(r)) return false;
    name_unit(report);
    report->drawn = calloc(report->points + 1, sizeof *report->drawn);
    if (!report->drawn) return refuse(r, fail("no memory for %zu points", report->points));
    return true;
}

int report_gather(struct report *report)
{
    struct reading r = { .report = report };
    if (!read_all(&r)) return r.code ? r.code : WRONG; /* the store itself has complained */
    return report_read_programs(report);
}

int report_read(struct report *report)
{
    const int code = report_gather(report);
    return code || report->runs || report->programs.runs ? code : report_nothing(report);
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->sweeps; i++) {
        struct report_sweep *sweep = &report->sweep[i];
        free(sweep->version);
        free(sweep->options);
        free(sweep->files);
        free(sweep->created);
    }
    for (size_t i = 0; i < report->lines; i++) {
        free(report->line[i].fabric);
        free(report->line[i].name);
    }
    for (size_t i = 0; i < report->traffics; i++)
        free(report->traffic[i]);
    free(report->point);
    free(report->drawn);
    report_free_programs(report);
}
