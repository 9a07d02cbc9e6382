/*
 * What the parts of `leat report` share: the runs of a store, gathered into points.
 *
 *    store  --report_read-->  struct report  --report_page-->  HTML   (report_fabric: the drawings)
 *      |                          '----------report_plot-->  PNG, by rsvg-convert
 *      '---------------------------------------report_csv-->  CSV, run by run
 *
 * A line is a fabric under the options of a sweep; a series is a line under one traffic; a point of
 * it is a load, with the means over all seeds. Points are in the order of the store: series after
 * series, loads rising. Runs count in cycles of 50 ns, of 1 ns or of a bit time: reports convert to
 * nanoseconds, since one axis has one unit.
 */
#ifndef LEAT_REPORT_H
#define LEAT_REPORT_H

#include "chart.h"
#include "leat_text.h"
#include "mean.h"
#include "report_axes.h"
#include "report_program.h"
#include "report_where.h"
#include "store.h"
#include "surface.h"
#include "tool.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPORT_LINES_MAX = CHART_STYLES, /* distinguishable by colours and marks */
    REPORT_TRAFFICS_MAX = 32,
    REPORT_SWEEPS_MAX = 256,
    REPORT_POINTS_MAX = 1 << 16,
    REPORT_SEEDS_MAX = 64,    /* ranges of a sweep's seeds */
    REPORT_DRAWINGS_MAX = 16, /* of fabrics on a page */
    REPORT_SURFACES_MAX = 12, /* of a traffic */
    REPORT_KEYS_MAX = 256,    /* columns of a table of runs */
    REPORT_KEY_CAP = 64,
    REPORT_JSON_DEPTH_MAX = 16,
};

/* Figures that have a chart. */
enum report_figure {
    REPORT_LATENCY,
    REPORT_THROUGHPUT,
    REPORT_P99,
    REPORT_FIGURES,
};

/* What fabrics lose: each counts in its own unit. */
enum report_loss {
    REPORT_PACKETS,
    REPORT_CELLS,
    REPORT_MESSAGES,
    REPORT_LOSSES,
};

struct report_point {
    uint16_t line, traffic;
    uint32_t load; /* in parts of STORE_LOAD_ONE */
    uint32_t runs, saturated, deadlocks;
    struct mean mean[REPORT_FIGURES], hops;
    double half[REPORT_FIGURES]; /* of a single run, by its own account; NAN: none */
    double lost[REPORT_LOSSES], rerouted, retransmissions;
    uint64_t first_seed, deadlock_seed; /* of the first run, of the first deadlocked one */
    bool has_links;
};

struct report_line {
    uint16_t sweep; /* place in the table of sweeps */
    char *fabric;
    bool has_cycles; /* runs of an earlier leat, which do not report how long a cycle is */
    char *name;      /* in legends: the fabric, with the sweep where other sweeps have it, too */
};

/* Seeds without a gap between them. */
struct report_seeds {
    uint64_t first, last;
};

struct report_sweep {
    int64_t id;
    char *version, *options, *files, *created;
    uint32_t runs;
    struct report_seeds seed[REPORT_SEEDS_MAX];
    uint32_t seeds;
    bool seeds_left_out; /* there are more ranges than these */
};

/* The points of a line under a traffic. */
struct report_series {
    uint32_t first, count;
};

struct report {
    const char *title; /* of the page */
    const char *name;  /* of the store, for complaints */
    struct store *store;
    struct where where; /* what is shown */
    struct report_sweep sweep[REPORT_SWEEPS_MAX];
    size_t sweeps;
    struct report_line line[REPORT_LINES_MAX];
    size_t lines;
    char *traffic[REPORT_TRAFFICS_MAX];
    size_t traffics;
    struct report_point *point;
    size_t points, points_cap;
    struct report_series series[REPORT_LINES_MAX][REPORT_TRAFFICS_MAX];
    uint32_t runs;
    bool is_in_ns;    /* latencies; otherwise cycles: no run reports how long one is */
    const char *unit; /* of latencies: ns or cycles */
    struct programs programs;
    struct chart_point *drawn; /* room for all points of a chart */
    bool lacks_memory;         /* something is missing on the page */
};

/* ---- the rows of the store that report->where selects (report_rows.c) ---- */

/* As those of the store. */
bool report_each_run(const struct report *report, int64_t sweep,
                     bool (*visit)(void *context, const struct store_run *run), void *context);
bool report_each_program(const struct report *report,
                         bool (*visit)(void *context, const struct store_program *program),
                         void *context);

/* Complains that there is no row, or none that is selected. A code. */
int report_nothing(const struct report *report);

/* ---- reading (report_read.c) ---- */

/* Gathers the runs of report->store into a report of which only the first members are set. DONE, or
 * a code after a complaint. Call report_free in either case. _gather: there may be no run. */
int report_read(struct report *report);
int report_gather(struct report *report);
void report_free(struct report *report);

/* The half-width of the 95 % confidence interval of a mean: over seeds, or as a single run reports
 * it; NAN: unknown. */
double report_half(const struct report_point *point, enum report_figure figure);

/* At least one run of the point was saturated. If a fabric's runs do not report it, a run counts as
 * saturated that delivered less than 95 % of the offered load, not counting what was still in
 * flight. */
bool report_is_saturated(const struct report_point *point);

/* The programs, too (report_program_read.c). DONE, or a code after a complaint. */
int report_read_programs(struct report *report);
void report_free_programs(struct report *report);

/* ---- values of a result (report_json.c) ---- */

enum report_kind { REPORT_NULL, REPORT_FALSE, REPORT_TRUE, REPORT_NUMBER, REPORT_STRING };

struct report_value {
    enum report_kind kind;
    const char *text; /* as it is written, without quotes; not terminated */
    size_t len;
    double number;         /* NUMBER */
    const uint32_t *index; /* the place in each list of the path: one for each [] */
};

/* Visits all scalar values of a JSON text, in order, each with its path: latency_cycles.mean,
 * links[]. False: it is not JSON, nested too deep, a path is too long, or a visit returned false.
 */
bool report_json_each(const char *json,
                      bool (*visit)(void *context, const char *path,
                                    const struct report_value *value),
                      void *context);

/* ---- charts (report_charts.c) ---- */

/* A chart of one figure under one traffic; `lines` has REPORT_LINES_MAX places. Points are lent
 * until the next call. False: no run has this figure. */
bool report_chart(struct report *report, size_t traffic, enum report_figure figure,
                  struct chart_line *lines, struct chart *out);

/* ---- surfaces (report_surfaces.c) ---- */

/* Visits the first REPORT_SURFACES_MAX surfaces of a traffic; a surface is lent for the call.
 * Returns how many there are. */
typedef void report_surface_visit(void *context, const struct surface *surface);
size_t report_each_surface(struct report *report, size_t traffic, report_surface_visit *visit,
                           void *context);

/* The scale of all these. */
struct surface_scale report_surface_scale(struct report *report, size_t traffic);

/* Lines that differ in numbers only, of any traffic; lent for the call. Line i of the family has
 * the number axes_value(&axes[line[i]], key[k]). */
struct report_family {
    const struct axes *axes; /* of all lines of the report */
    const size_t *line;
    size_t lines;
    const char *const *key; /* in which they differ */
    size_t keys;
};
typedef void report_family_visit(void *context, const struct report_family *family);
void report_each_family(struct report *report, report_family_visit *visit, void *context);

/* The part of the page. */
void report_surfaces(struct report *report, size_t traffic, struct leat_text *text);

/* ---- writing ---- */

int report_page(struct report *report, struct leat_text *text);

/* Tables of a traffic's fabrics, of its points; of all failures (report_tables.c). */
void report_saturation(const struct report *report, size_t traffic, struct leat_text *text);
void report_points(const struct report *report, size_t traffic, struct leat_text *text);
void report_trouble(const struct report *report, struct leat_text *text);

/* How the runs were made, and how to repeat them (report_replay.c). */
int report_replay(const struct report *report, struct leat_text *text);
void report_put_run(const struct report *report, const struct report_point *point, uint64_t seed,
                    struct leat_text *text);

/* Drawings of the fabrics whose runs counted the flits of each wire (report_fabric.c). */
int report_fabrics(const struct report *report, struct leat_text *text);

/* The sections of the programs (report_program_page.c). */
void report_programs(const struct report *report, struct leat_text *text);

/* A word, quoted for a shell (report_replay.c). */
void report_put_word(struct leat_text *text, const char *word);

/* All runs, by RFC 4180. */
int report_csv(const struct report *report, struct leat_text *text);

/* All of it as JSON, for the page of leat view (report_view.c). */
void report_view(struct report *report, struct leat_text *text);

/* The charts as a picture (report_plot.c). */
int report_plot(struct report *report, struct leat_text *text);

#endif
