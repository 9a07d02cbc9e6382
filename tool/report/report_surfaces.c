/* leat report: surfaces. Lines that differ in numbers only are their rows. */
#include "markup.h"
#include "report.h"
#include "report_axes.h"
#include "surface.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_CAP = 1024, NAME_CAP = 128, KEYS_MAX = 2 * AXES_MAX };

/* Lines of one stem. */
struct family {
    const struct axes *axes; /* of all lines of the report */
    size_t line[REPORT_LINES_MAX], lines;
    const char *key[KEYS_MAX]; /* in which they differ */
    size_t keys;
    size_t y; /* the key of the rows */
};

struct search {
    struct report *report;
    size_t traffic;
    double *x; /* room for the loads of all points */
    report_surface_visit *visit;
    void *context;
    size_t found;
};

static double value_of(const struct family *f, size_t index, size_t key)
{
    return axes_value(&f->axes[f->line[index]], f->key[key]);
}

/* How many different values the lines have. */
static size_t count_values(const struct family *f, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < f->lines; i++) {
        const double value = axes_value(&f->axes[f->line[i]], name);
        size_t before = 0;
        while (before < i && axes_value(&f->axes[f->line[before]], name) != value)
            before++;
        count += before == i;
    }
    return count;
}

static bool has_key(const struct family *f, const char *name)
{
    for (size_t k = 0; k < f->keys; k++)
        if (strcmp(f->key[k], name) == 0) return true;
    return false;
}

/* Rows are what has the most values; of equals, what was named first. */
static void find_keys(struct family *f)
{
    size_t most = 0;
    for (size_t i = 0; i < f->lines; i++) {
        const struct axes *axes = &f->axes[f->line[i]];
        for (size_t a = 0; a < axes->count && f->keys < KEYS_MAX; a++) {
            const size_t values = count_values(f, axes->axis[a].name);
            if (values < 2 || has_key(f, axes->axis[a].name)) continue;
            if (values > most) f->y = f->keys;
            if (values > most) most = values;
            f->key[f->keys++] = axes->axis[a].name;
        }
    }
}

/* By all keys but that of the rows; then, with `whole`, by that. */
static int compare(const struct family *f, size_t a, size_t b, bool whole)
{
    for (size_t k = 0; k < f->keys; k++) {
        const double x = value_of(f, a, k), y = value_of(f, b, k);
        if (k != f->y && x != y) return x < y ? -1 : 1;
    }
    const double x = value_of(f, a, f->y), y = value_of(f, b, f->y);
    return whole && x != y ? (x < y ? -1 : 1) : 0;
}

static void sort_lines(struct family *f)
{
    for (size_t i = 1; i < f->lines; i++)
        for (size_t k = i; k > 0 && compare(f, k - 1, k, true) > 0; k--) {
            const size_t line = f->line[k];
            f->line[k] = f->line[k - 1];
            f->line[k - 1] = line;
        }
}

/* ---- one surface ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct chart_point point_of(const struct report_point *point)
{
    const struct mean *mean = &point->mean[REPORT_LATENCY];
    return (struct chart_point){ .x = (double)point->load / STORE_LOAD_ONE,
                                 .y = mean->count ? mean->mean : NAN,
                                 .half = mean->count ? report_half(point, REPORT_LATENCY) : NAN,
                                 .runs = point->runs,
                                 .open = report_is_saturated(point) };
}

/* The rows from line `from` of the family on, up to `to`. A line whose values another has, too,
 * has no row. */
static size_t fill_rows(const struct search *s, const struct family *f, size_t from, size_t to,
                        struct surface_row *row)
{
    struct chart_point *next = s->report->drawn;
    size_t rows = 0;
    for (size_t i = from; i < to; i++) {
        const struct report_series series = s->report->series[f->line[i]][s->traffic];
        if (i > from && compare(f, i - 1, i, true) == 0) continue;
        row[rows++] = (struct surface_row){ value_of(f, i, f->y), next, series.count };
        for (uint32_t p = series.first; p < series.first + series.count; p++)
            *next++ = point_of(&s->report->point[p]);
    }
    return rows;
}

/* The loads of all rows, rising, each once. */
static size_t fill_columns(const struct surface_row *row, size_t rows, double *x)
{
    size_t all = 0, count = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < row[r].count; i++)
            x[all++] = row[r].point[i].x;
    qsort(x, all, sizeof *x, by_value);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || x[i] != x[i - 1]) x[count++] = x[i];
    return count;
}

/* "mesh:8,8, vcs 4: latency by load and buffer" */
static void put_title(const struct family *f, size_t line, struct leat_text *title)
{
    leat_text_puts(title, f->axes[f->line[line]].stem);
    for (size_t k = 0; k < f->keys; k++)
        if (k != f->y)
            text_format(title, ", %s %.6g", axes_short_name(f->key[k]), value_of(f, line, k));
    text_format(title, ": latency by load and %s", axes_short_name(f->key[f->y]));
}

static void add_surface(struct search *s, const struct family *f, size_t from, size_t to)
{
    static struct surface_row row[REPORT_LINES_MAX];
    static char title_text[TITLE_CAP], y_name[NAME_CAP], id[48];
    struct leat_text title, y;
    const size_t rows = fill_rows(s, f, from, to, row);
    const size_t columns = fill_columns(row, rows, s->x);
    if (rows < 2 || columns < 2) return;
    leat_text_init(&title, title_text, sizeof title_text - 1, NULL, NULL);
    put_title(f, from, &title);
    title_text[title.len] = '\0';
    leat_text_init(&y, y_name, sizeof y_name - 1, NULL, NULL);
    axes_put_name(f->key[f->y], &y);
    y_name[y.len] = '\0';
    snprintf(id, sizeof id, "surface-%zu-%zu", s->traffic + 1, ++s->found);
    const struct surface surface = { .id = id,
                                     .title = title_text,
                                     .x_name = "offered load, share of a terminal's line",
                                     .y_name = y_name,
                                     .y_short = axes_short_name(f->key[f->y]),
                                     .z_name = "mean latency",
                                     .unit = s->report->unit,
                                     .open_name = "saturated",
                                     .decimals = 2,
                                     .x = s->x,
                                     .columns = columns,
                                     .row = row,
                                     .rows = rows };
    if (s->found <= REPORT_SURFACES_MAX) s->visit(s->context, &surface);
}

static void add_family(void *context, struct family *f)
{
    struct search *s = context;
    sort_lines(f);
    for (size_t from = 0, to; from < f->lines; from = to) {
        for (to = from + 1; to < f->lines && compare(f, to - 1, to, false) == 0;)
            to++;
        add_surface(s, f, from, to);
    }
}

/* ---- all of a traffic ------------------------------------------------------------------------ */

/* Runs of one version of leat that have read the same files. */
static bool are_alike(const struct report *report, size_t one, size_t other)
{
    const struct report_sweep *a = &report->sweep[report->line[one].sweep];
    const struct report_sweep *b = &report->sweep[report->line[other].sweep];
    return strcmp(a->version, b->version) == 0 && strcmp(a->files, b->files) == 0;
}

static void read_axes(const struct report *report, struct axes *axes)
{
    for (size_t l = 0; l < report->lines; l++)
        axes_read(report->line[l].fabric, report->sweep[report->line[l].sweep].options, &axes[l]);
}

/* Visits the lines of each stem; `traffic` NULL: of all. */
static void each_family(struct report *report, const size_t *traffic,
                        void (*visit)(void *context, struct family *family), void *context)
{
    static struct axes axes[REPORT_LINES_MAX];
    bool used[REPORT_LINES_MAX] = { false };
    read_axes(report, axes);
    for (size_t l = 0; l < report->lines; l++) {
        struct family f = { .axes = axes };
        for (size_t k = l; k < report->lines; k++) {
            if (used[k] || (traffic && !report->series[k][*traffic].count) ||
                !are_alike(report, l, k) || !axes_match(&axes[l], &axes[k]))
                continue;
            used[k] = true;
            f.line[f.lines++] = k;
        }
        if (f.lines) find_keys(&f);
        if (f.keys) visit(context, &f);
    }
}

size_t report_each_surface(struct report *report, size_t traffic, report_surface_visit *visit,
                           void *context)
{
    struct search s = { .report = report, .traffic = traffic, .visit = visit, .context = context };
    s.x = calloc(report->points + 1, sizeof *s.x);
    report->lacks_memory |= !s.x;
    if (!s.x) return 0;
    each_family(report, &traffic, add_family, &s);
    free(s.x);
    return s.found;
}

struct families {
    report_family_visit *visit;
    void *context;
};

static void lend_family(void *context, struct family *f)
{
    const struct families *all = context;
    const struct report_family family = { f->axes, f->line, f->lines, f->key, f->keys };
    all->visit(all->context, &family);
}

void report_each_family(struct report *report, report_family_visit *visit, void *context)
{
    struct families all = { visit, context };
    each_family(report, NULL, lend_family, &all);
}

static void widen(void *context, const struct surface *surface)
{
    surface_scale_widen(context, surface);
}

struct surface_scale report_surface_scale(struct report *report, size_t traffic)
{
    struct surface_scale scale = SURFACE_SCALE_NONE;
    report_each_surface(report, traffic, widen, &scale);
    surface_scale_complete(&scale);
    return scale;
}

/* ---- the page -------------------------------------------------------------------------------- */

struct drawing {
    struct surface_scale scale;
    struct leat_text *text;
    bool begun;
};

static void put_figure(void *context, const struct surface *surface)
{
    struct drawing *d = context;
    if (!d->begun)
        leat_text_puts(
            d->text,
            "<h3>Surfaces</h3>\n<p>Where a fabric was run with several values of a parameter, "
            "colour shows the mean latency over load and that parameter, by one scale for all "
            "surfaces of this traffic. The scale covers the points that are not saturated. "
            "Saturated ones are hatched; those above the scale have its last colour.</p>\n"
            "<div class=\"charts surfaces\">\n");
    d->begun = true;
    leat_text_puts(d->text, "<figure>\n");
    surface_write(surface, &d->scale, d->text);
    leat_text_puts(d->text, "<details><summary>This surface as numbers</summary>\n");
    surface_table(surface, d->text);
    leat_text_puts(d->text, "</details>\n</figure>\n");
}

void report_surfaces(struct report *report, size_t traffic, struct leat_text *text)
{
    struct drawing d = { .scale = report_surface_scale(report, traffic), .text = text };
    const size_t found = report_each_surface(report, traffic, put_figure, &d);
    if (d.begun) leat_text_puts(text, "</div>\n");
    if (found > REPORT_SURFACES_MAX)
        text_format(text,
                    "<p class=\"note\">The first %d of %zu surfaces are drawn. --where selects "
                    "others.</p>\n",
                    REPORT_SURFACES_MAX, found);
}
