/*
 * The page of leat experiment echo: the thesis' figures 11.16 (delay) and 11.17 (throughput), the
 * throughput beside Minnesota's, and where each curve reaches half of its r_max.
 */
#include "chart.h"
#include "experiment_echo.h"
#include "markup.h"
#include "page.h"
#include <math.h>

enum {
    CURVE_POINTS = 121, /* of a formula */
    SERIES_MAX = 5,
    SMALLEST_DRAWN = 4,
    MINNESOTA = 4, /* its style */
};

/* PVM over ATM (AAL3/4), routes "direct" (spec/atm.md, 7.2; seed 001, 11.3.2.2). Mbit/s. */
static const double minnesota = 27.202;

/* What a chart shows of a delay. */
enum quantity { DELAY, THROUGHPUT, MBIT, SHARE_OF_R_MAX };

/* The lines of one chart. */
struct drawing {
    const struct echo_result *result;
    enum quantity quantity;
    uint32_t longest; /* octets */
    bool is_log;
    struct chart_line line[SERIES_MAX];
    struct chart_point point[SERIES_MAX][2 * ECHO_POINTS_MAX];
    size_t lines;
};

static double value_of(const struct drawing *d, double octets, double cycles, double r_max)
{
    switch (d->quantity) {
    case DELAY: return cycles;
    case THROUGHPUT: return octets / cycles;
    case MBIT: return octets / cycles * echo_line_rate[1];
    case SHARE_OF_R_MAX: return octets / cycles / r_max;
    }
    return 0;
}

static struct chart_point point_of(const struct drawing *d, double octets, double cycles,
                                   double r_max)
{
    return (
        struct chart_point){ .x = octets, .y = value_of(d, octets, cycles, r_max), .half = NAN };
}

static struct chart_line *add_line(struct drawing *d, const char *name, unsigned style,
                                   enum chart_look look)
{
    struct chart_line *line = &d->line[d->lines];
    *line = (struct chart_line){
        .name = name, .style = style, .look = look, .point = d->point[d->lines]
    };
    d->lines++;
    return line;
}

static double r_max_of(const struct echo_curve *c)
{
    double best = 0;
    for (size_t i = 0; i < c->count; i++)
        best = fmax(best, c->point[i].octets / c->point[i].cycles);
    return best;
}

/* Values that were taken one by one. `more`: further ones, or NULL. */
static void add_curve(struct drawing *d, const char *name, unsigned style,
                      const struct echo_curve *c, const struct echo_curve *more)
{
    const double r_max = r_max_of(c);
    struct chart_line *line = add_line(d, name, style, CHART_MARKS_ALONE);
    struct chart_point *point = d->point[d->lines - 1];
    for (size_t i = 0; i < c->count; i++)
        point[line->count++] = point_of(d, c->point[i].octets, c->point[i].cycles, r_max);
    for (size_t i = 0; more && i < more->count; i++)
        point[line->count++] = point_of(d, more->point[i].octets, more->point[i].cycles, r_max);
    if (!line->count) d->lines--;
}

/* The size at place i of a formula's line. */
static double size_at(const struct drawing *d, int i)
{
    const double share = (double)i / (CURVE_POINTS - 1);
    if (!d->is_log) return fmax(SMALLEST_DRAWN, d->longest * share);
    return SMALLEST_DRAWN * pow((double)d->longest / SMALLEST_DRAWN, share);
}

/* `line` NULL: the closed form. */
static void add_formula(struct drawing *d, const char *name, unsigned style,
                        const struct echo_line *formula)
{
    const struct echo_result *r = d->result;
    double cycles[CURVE_POINTS], r_max = 0;
    struct chart_line *line = add_line(d, name, style, CHART_LINE_ALONE);
    for (int i = 0; i < CURVE_POINTS; i++) {
        const double n = size_at(d, i);
        cycles[i] = formula ? formula->slope * n + formula->base
                            : echo_theory(r->crossing, (uint32_t)n);
        r_max = fmax(r_max, (formula ? n : floor(n)) / cycles[i]);
    }
    for (int i = 0; i < CURVE_POINTS; i++) {
        const double n = formula ? size_at(d, i) : floor(size_at(d, i));
        d->point[d->lines - 1][line->count++] = point_of(d, n, cycles[i], r_max);
    }
}

static void add_level(struct drawing *d, const char *name, unsigned style, double level)
{
    struct chart_line *line = add_line(d, name, style, CHART_LINE_ALONE);
    for (int i = 0; i < 2; i++)
        d->point[d->lines - 1][line->count++] = (struct chart_point){ .x = i ? d->longest
                                                                           : d->is_log
                                                                               ? SMALLEST_DRAWN
                                                                               : 0,
                                                                      .y = level,
                                                                      .half = NAN };
}

static void put_chart(const struct drawing *d, const struct chart *form, const char *caption,
                      struct leat_text *text)
{
    struct chart chart = *form;
    chart.line = d->line;
    chart.lines = d->lines;
    chart.x_is_log = d->is_log;
    chart.x_name = "size of the message, octets";
    chart.x_tip = "octets";
    leat_text_puts(text, "<figure>\n");
    chart_write(&chart, text);
    leat_text_puts(text, "<figcaption>");
    text_escape(text, caption);
    leat_text_puts(text, "</figcaption>\n</figure>\n");
}

/* ---- the charts ------------------------------------------------------------------------------ */

static const struct form {
    enum quantity quantity;
    bool is_log;
    struct chart chart;
    const char *caption;
} forms[] = {
    { DELAY,
      false,
      { .id = "figure-11-16",
        .title = "Figure 11.16: one-way delay",
        .y_name = "cycles",
        .y_unit = "cycles" },
      "From the cycle in which the writer gets its lock to that in which the reader has the last "
      "word. The published run had its tasks and its network on two processors of one machine: "
      "the network went on while a task moved words, so each word cost more." },
    { THROUGHPUT,
      false,
      { .id = "figure-11-17",
        .title = "Figure 11.17: throughput",
        .y_name = "octets per cycle",
        .y_unit = "octets per cycle",
        .decimals = 5 },
      "The size of a message divided by its delay." },
    { MBIT,
      false,
      { .id = "minnesota",
        .title = "The same at lines of 622.08 Mbit/s",
        .y_name = "Mbit/s",
        .y_unit = "Mbit/s",
        .decimals = 2 },
      "A line carries an octet per cycle. Beside it the highest throughput that the University of "
      "Minnesota measured with PVM over ATM (AAL3/4), routes advised as direct: 27.202 Mbit/s." },
    { SHARE_OF_R_MAX,
      true,
      { .id = "half",
        .title = "Where throughput reaches half of its highest: n_1/2",
        .y_name = "share of the curve's own r_max",
        .y_unit = "of r_max",
        .decimals = 4 },
      "n_1/2 is the smallest message whose curve is above one half. Without the delays of "
      "scheduling it is a few words; the published regression starts with 11,068 cycles, and "
      "reaches its half at 625 octets." },
};

static void put_form(const struct form *f, const struct echo_result *r, bool whole,
                     struct leat_text *text)
{
    static struct drawing d;
    d = (struct drawing){ .result = r, .quantity = f->quantity, .is_log = f->is_log };
    for (size_t i = 0; i < r->measured.count; i++)
        if (r->measured.point[i].octets > d.longest) d.longest = r->measured.point[i].octets;
    for (size_t i = 0; i < r->published.count; i++)
        if (r->published.point[i].octets > d.longest) d.longest = r->published.point[i].octets;
    add_formula(&d, r->formula, 2, NULL);
    add_curve(&d, "measured here", 0, &r->measured, f->is_log && whole ? &r->tried : NULL);
    add_formula(&d, "published, regression", 3, &r->published_line);
    add_curve(&d, "published", 1, &r->published, NULL);
    if (f->quantity == MBIT) add_level(&d, "Minnesota, 27.202", MINNESOTA, minnesota);
    if (f->quantity == SHARE_OF_R_MAX) add_level(&d, "one half", MINNESOTA, 0.5);
    put_chart(&d, &f->chart, f->caption, text);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_figures(const struct echo_row *row, struct leat_text *text)
{
    leat_text_puts(text,
                   "<h2 id=\"figures\">Figures</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
                   "<th></th><th class=\"n\">r_max, octets/cycle</th>"
                   "<th class=\"n\">Mbit/s at 155.52</th><th class=\"n\">at 622.08</th>"
                   "<th class=\"n\">n_1/2, octets</th><th class=\"n\">t_0, cycles</th>"
                   "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < ECHO_ROWS; i++) {
        const struct echo_figures *f = &row[i].figures;
        leat_text_puts(text, "<tr><th>");
        text_escape(text, row[i].name);
        text_format(text,
                    "</th><td class=\"n\">%.10f</td><td class=\"n\">%.4f</td>"
                    "<td class=\"n\">%.4f</td><td class=\"n\">%.1f</td><td class=\"n\">%.0f</td>"
                    "</tr>\n",
                    f->r_max, f->r_max * echo_line_rate[0], f->r_max * echo_line_rate[1], f->n_half,
                    f->t_0);
    }
    text_format(text,
                "<tr><th>Minnesota, PVM over ATM</th><td class=\"n\"></td><td class=\"n\"></td>"
                "<td class=\"n\">%.3f</td><td class=\"n\"></td><td class=\"n\"></td></tr>\n"
                "</tbody></table></div>\n"
                "<p class=\"note\">Minnesota's figure is Mbit/s as measured there, on other "
                "hosts and lines. The published t_0 of 11346 is the regression's value at 16 "
                "octets.</p>\n",
                minnesota);
}

static void put_delays(const struct echo_result *r, struct leat_text *text)
{
    leat_text_puts(text, "<h2 id=\"delays\">Delays</h2>\n<div class=\"scroll\"><table>\n"
                         "<thead><tr><th class=\"n\">octets</th><th class=\"n\">measured</th>"
                         "<th class=\"n\">");
    text_escape(text, r->formula);
    leat_text_puts(text, "</th><th class=\"n\">published</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->measured.count; i++) {
        const struct echo_point *p = &r->measured.point[i];
        text_format(text,
                    "<tr><td class=\"n\">%u</td><td class=\"n\">%.0f</td>"
                    "<td class=\"n\">%.0f</td><td class=\"n\">",
                    p->octets, p->cycles, r->theory.point[i].cycles);
        for (size_t k = 0; k < r->published.count; k++)
            if (r->published.point[k].octets == p->octets)
                text_format(text, "%.0f", r->published.point[k].cycles);
        leat_text_puts(text, "</td></tr>\n");
    }
    leat_text_puts(text, "</tbody></table></div>\n");
}

void echo_page(const struct echo_result *r, const struct echo_row *row, struct leat_text *text)
{
    page_begin("The delay of a message by its size", text);
    page_begin_body(text);
    leat_text_puts(text, "<header>\n<h1>The delay of a message by its size</h1>\n"
                         "<p class=\"lead\">One message over ");
    text_escape(text, r->fabric);
    text_format(text,
                "%s, beside what the thesis published of its Clos(4,4,4) network.</p>\n"
                "</header>\n<main>\n<div class=\"charts\">\n",
                row ? "" : " (interrupted)");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        put_form(&forms[i], r, row, text);
    leat_text_puts(text, "</div>\n");
    if (row) put_figures(row, text);
    put_delays(r, text);
    page_end(text);
}
