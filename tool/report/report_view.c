/*
 * leat report: what it has gathered, as JSON for the page of leat view.
 *
 *   unit, runs   of latencies: "ns" or "cycles"
 *   sweeps       id, version, options, files, created, runs
 *   lines        name, fabric, sweep (its place in the list); and where other lines differ from it
 *                in numbers only: family (a place in the list), values (by the family's keys)
 *   families     keys: name, text ("buffer, flits")
 *   traffics     names
 *   columns      what a point has, in this order; a point is an array
 *   points       line and traffic are places in their lists. Means over seeds with half the width
 *                of their 95 % intervals; null where there is none
 *   programs     the latest runs of programs
 */
#include "json_out.h"
#include "report.h"
#include <math.h>

enum { DIGITS = 15 };

static const char *const columns[] = {
    "line",
    "traffic",
    "load",
    "runs",
    "is_saturated",
    "saturated",
    "deadlocks",
    "throughput",
    "latency",
    "p99",
    "hops",
    "throughput_half",
    "latency_half",
    "p99_half",
    "lost_packets",
    "lost_cells",
    "lost_messages",
    "rerouted",
    "retransmissions",
};

/* ---- lines ----------------------------------------------------------------------------------- */

struct members {
    struct leat_json *json; /* NULL: notes where each line belongs */
    const struct report *report;
    uint32_t families;
    uint32_t family[REPORT_LINES_MAX]; /* + 1; 0: none */
    double value[REPORT_LINES_MAX][2 * AXES_MAX];
    size_t values[REPORT_LINES_MAX];
};

static void put_key(struct leat_json *j, const char *name)
{
    struct leat_text text = LEAT_TEXT(256);
    axes_put_name(name, &text);
    leat_json_object(j, NULL);
    leat_json_string(j, "name", axes_short_name(name));
    leat_json_chars(j, "text", text.buf, text.len);
    leat_json_end(j);
}

static void on_family(void *context, const struct report_family *f)
{
    struct members *m = context;
    m->families++;
    leat_json_object(m->json, NULL);
    leat_json_array(m->json, "keys");
    for (size_t k = 0; k < f->keys; k++)
        put_key(m->json, f->key[k]);
    leat_json_end(m->json);
    leat_json_end(m->json);
    for (size_t i = 0; i < f->lines; i++) {
        const size_t line = f->line[i];
        m->family[line] = m->families;
        m->values[line] = f->keys;
        for (size_t k = 0; k < f->keys; k++)
            m->value[line][k] = axes_value(&f->axes[line], f->key[k]);
    }
}

static void put_line(struct leat_json *j, const struct report *report, const struct members *m,
                     size_t line)
{
    leat_json_object(j, NULL);
    leat_json_string(j, "name", report->line[line].name);
    leat_json_string(j, "fabric", report->line[line].fabric);
    leat_json_uint(j, "sweep", report->line[line].sweep);
    if (m->family[line]) {
        leat_json_uint(j, "family", m->family[line] - 1);
        leat_json_array(j, "values");
        for (size_t k = 0; k < m->values[line]; k++)
            json_general(j, NULL, m->value[line][k], DIGITS);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_lines(struct leat_json *j, struct report *report)
{
    static struct members m;
    m = (struct members){ .json = j, .report = report };
    leat_json_array(j, "families");
    report_each_family(report, on_family, &m);
    leat_json_end(j);
    leat_json_array(j, "lines");
    for (size_t l = 0; l < report->lines; l++)
        put_line(j, report, &m, l);
    leat_json_end(j);
}

/* ---- points ---------------------------------------------------------------------------------- */

static void put_numbers(struct leat_json *j, const double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_general(j, NULL, value[i], DIGITS);
}

static double mean_of(const struct report_point *p, enum report_figure figure)
{
    return p->mean[figure].count ? p->mean[figure].mean : NAN;
}

static void put_point(struct leat_json *j, const struct report_point *p)
{
    const double value[] = {
        p->line,
        p->traffic,
        (double)p->load / STORE_LOAD_ONE,
        p->runs,
        report_is_saturated(p),
        p->saturated,
        p->deadlocks,
        mean_of(p, REPORT_THROUGHPUT),
        mean_of(p, REPORT_LATENCY),
        mean_of(p, REPORT_P99),
        p->hops.count ? p->hops.mean : NAN,
        report_half(p, REPORT_THROUGHPUT),
        report_half(p, REPORT_LATENCY),
        report_half(p, REPORT_P99),
        p->lost[REPORT_PACKETS],
        p->lost[REPORT_CELLS],
        p->lost[REPORT_MESSAGES],
        p->rerouted,
        p->retransmissions,
    };
    _Static_assert(sizeof value / sizeof *value == sizeof columns / sizeof *columns,
                   "a name for each");
    leat_json_array(j, NULL);
    put_numbers(j, value, sizeof value / sizeof *value);
    leat_json_end(j);
}

static void put_points(struct leat_json *j, const struct report *report)
{
    leat_json_array(j, "columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        leat_json_string(j, NULL, columns[i]);
    leat_json_end(j);
    leat_json_array(j, "points");
    for (size_t i = 0; i < report->points; i++)
        put_point(j, &report->point[i]);
    leat_json_end(j);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void put_sweeps(struct leat_json *j, const struct report *report)
{
    leat_json_array(j, "sweeps");
    for (size_t i = 0; i < report->sweeps; i++) {
        const struct report_sweep *sweep = &report->sweep[i];
        leat_json_object(j, NULL);
        leat_json_int(j, "id", sweep->id);
        leat_json_string(j, "version", sweep->version);
        leat_json_string(j, "options", sweep->options);
        leat_json_string(j, "files", sweep->files);
        leat_json_string(j, "created", sweep->created);
        leat_json_uint(j, "runs", sweep->runs);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_program(struct leat_json *j, const struct program_run *run)
{
    leat_json_object(j, NULL);
    leat_json_int(j, "id", run->id);
    leat_json_string(j, "command", run->command);
    leat_json_string(j, "options", run->options);
    leat_json_string(j, "fabric", run->fabric);
    leat_json_string(j, "created", run->created);
    leat_json_string(j, "status", run->status);
    leat_json_string(j, "certificate", run->certificate);
    leat_json_uint(j, "tasks", run->tasks);
    json_general(j, "seconds", run->seconds, DIGITS);
    json_general(j, "contention_seconds", run->contention_seconds, DIGITS);
    json_general(j, "messages", run->messages, DIGITS);
    json_general(j, "octets", run->octets, DIGITS);
    leat_json_end(j);
}

void report_view(struct report *report, struct leat_text *text)
{
    struct leat_json json, *j = &json;
    leat_json_init(j, text);
    leat_json_object(j, NULL);
    leat_json_string(j, "unit", report->unit);
    leat_json_uint(j, "runs", report->runs);
    put_sweeps(j, report);
    put_lines(j, report);
    leat_json_array(j, "traffics");
    for (size_t i = 0; i < report->traffics; i++)
        leat_json_string(j, NULL, report->traffic[i]);
    leat_json_end(j);
    put_points(j, report);
    leat_json_array(j, "programs");
    for (size_t i = 0; i < report->programs.runs; i++)
        put_program(j, &report->programs.run[i]);
    leat_json_end(j);
    leat_json_end(j);
}
