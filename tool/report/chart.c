#include "chart.h"
#include "markup.h"
#include <math.h>
#include <stdio.h>

/* Places in the picture, in its own units; a page scales it. */
enum {
    LEFT = 62,
    RIGHT = CHART_WIDTH - 14,
    TOP = 34,
    BOTTOM = TOP + 264,
    TICK_ROOM = 18,
    NAME_ROOM = 40, /* from the axis down to its name */
    LEGEND_AT = BOTTOM + 64,
    LEGEND_STEP = 20,
    LEGEND_KEY = 34, /* a piece of line with its mark */
    LEGEND_GAP = 14,
    LEGEND_NAME_MAX = 60, /* characters */
};
static const double mark_size = 3.7, legend_character = 6.7;

/* Beyond this ratio a linear axis would squeeze the small values into one line. */
static const double log_from_ratio = 25;
static const double headroom = 1.04; /* no point may lie on the frame */

/* ---- styles -------------------------------------------------------------------------------- */

/* Colours that remain distinct with any colour vision: based on the set of Okabe and Ito (2008),
 * the light ones darker on paper and all of them lighter on black, so that thin lines keep their
 * contrast. */
static const struct colour {
    const char *on_paper, *on_black;
} colours[CHART_COLOURS] = {
    { "#0072b2", "#56a9e8" }, { "#d55e00", "#ff8a4a" }, { "#009e73", "#2fcf9f" },
    { "#b0528f", "#e59ac9" }, { "#8a6000", "#e6b422" }, { "#3fa0dc", "#a5dcff" },
    { "#4a4a4a", "#cfcfcf" }, { "#8b1a4a", "#ff6f9f" },
};

unsigned chart_colour(unsigned style)
{
    return style % CHART_COLOURS;
}

/* Neighbours differ in both; the ninth has the first colour with the fifth mark, and so on. */
unsigned chart_mark(unsigned style)
{
    return (style + style / CHART_COLOURS) % CHART_MARKS;
}

static void put_colours(struct leat_text *text, const char *property, bool on_black)
{
    for (unsigned i = 0; i < CHART_COLOURS; i++)
        text_format(text, ".c%u { %s: %s }\n", i, property,
                    on_black ? colours[i].on_black : colours[i].on_paper);
}

/* Where the rules take their colours from. */
struct palette {
    const char *line, *ink, *quiet, *grid, *paper;
};

static void put_rules(struct leat_text *text, const struct palette *p)
{
    text_format(text,
                ".chart text { fill: %s; font-variant-numeric: tabular-nums }\n"
                ".chart .title { font-size: 14px; font-weight: 600 }\n"
                ".chart .quiet { fill: %s }\n"
                ".chart .grid { stroke: %s; stroke-width: 1 }\n"
                ".chart .frame { stroke: %s; stroke-width: 1; fill: none }\n"
                ".chart .ideal { stroke: %s; stroke-width: 1.2; stroke-dasharray: 2 4 }\n",
                p->ink, p->quiet, p->grid, p->quiet, p->quiet);
    text_format(text,
                ".chart .line { stroke: %s; stroke-width: 2.2; fill: none; stroke-linejoin: "
                "round }\n"
                ".chart .dashed { stroke-dasharray: 6 4 }\n"
                ".chart .band { fill: %s; fill-opacity: .17; stroke: none }\n"
                ".chart .mark { fill: %s; stroke: %s; stroke-width: 1.8 }\n"
                ".chart .open { fill: %s }\n"
                ".chart .touch { fill: transparent; stroke: none }\n",
                p->line, p->line, p->line, p->line, p->paper);
}

void chart_style(struct leat_text *text)
{
    static const struct palette of_page = { "var(--c)", "var(--ink)", "var(--quiet)", "var(--grid)",
                                            "var(--paper)" };
    put_colours(text, "--c", false);
    leat_text_puts(text, "@media screen and (prefers-color-scheme: dark) {\n");
    put_colours(text, "--c", true);
    leat_text_puts(text, "}\n.chart { display: block; width: 100%; height: auto; font: 12px "
                         "var(--sans) }\n");
    put_rules(text, &of_page);
}

/* SVG renderers do not support CSS variables, but the colour of an element. */
void chart_style_on_paper(struct leat_text *text)
{
    static const struct palette on_paper = { "currentColor", "#1c2024", "#5a636d", "#e6e9ed",
                                             "#ffffff" };
    put_colours(text, "color", false);
    leat_text_puts(text, ".chart { font: 12px sans-serif }\n");
    put_rules(text, &on_paper);
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* The round number nearest above: 1, 2 or 5 times a power of ten (Heckbert 1990). */
static double round_up(double value)
{
    const double power = pow(10, floor(log10(value)));
    const double digit = value / power;
    return (digit > 5 * (1 + 1e-9)   ? 10
            : digit > 2 * (1 + 1e-9) ? 5
            : digit > 1 + 1e-9       ? 2
                                     : 1) *
           power;
}

static double round_down(double value)
{
    const double power = pow(10, floor(log10(value) + 1e-9));
    const double digit = value / power;
    return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

void chart_linear_axis(double max, struct chart_axis *out)
{
    const double step = round_up((max > 0 ? max : 1) / 6);
    const double steps = ceil((max > 0 ? max : 1) / step - 1e-9);
    *out = (struct chart_axis){ .max = steps * step };
    for (double i = 0; i <= steps && out->ticks < CHART_TICKS_MAX; i++)
        out->tick[out->ticks++] = i * step;
}

/* Over few decades 1, 2, 5, 10, ...; over many, powers of ten with the necessary spacing. */
static void log_axis(double min, double max, struct chart_axis *out)
{
    static const double digits[] = { 1, 2, 5 };
    *out = (struct chart_axis){ .min = round_down(min), .max = round_up(max), .is_log = true };
    const double decades = log10(out->max / out->min);
    const double stride = decades <= 3 ? 1 : ceil(decades / 8);
    const size_t each = decades <= 3 ? 3 : 1;
    const double first = floor(log10(out->min) + 1e-9);
    for (double k = first; pow(10, k) <= out->max * (1 + 1e-9); k += stride)
        for (size_t d = 0; d < each && out->ticks < CHART_TICKS_MAX; d++) {
            const double tick = digits[d] * pow(10, k);
            if (tick >= out->min * (1 - 1e-9) && tick <= out->max * (1 + 1e-9))
                out->tick[out->ticks++] = tick;
        }
}

void chart_axes(const struct chart *chart, struct chart_axis *x, struct chart_axis *y)
{
    double x_min = INFINITY, x_max = 0, y_max = 0, y_min = INFINITY;
    for (size_t l = 0; l < chart->lines; l++)
        for (size_t i = 0; i < chart->line[l].count; i++) {
            const struct chart_point *p = &chart->line[l].point[i];
            x_min = fmin(x_min, p->x);
            x_max = fmax(x_max, p->x);
            y_max = fmax(y_max, p->y);
            y_min = fmin(y_min, p->y);
        }
    if (chart->x_is_log && x_max > x_min)
        log_axis(x_min, x_max, x);
    else
        chart_linear_axis(x_max, x);
    if (chart->diagonal) y_max = fmax(y_max, x_max);
    if (chart->may_be_log && y_min > 0 && y_max > y_min * log_from_ratio)
        log_axis(y_min / headroom, y_max * headroom, y);
    else
        chart_linear_axis(chart->diagonal ? y_max : y_max * headroom, y);
}

/* 0 at the axis' beginning, 1 at its end; values outside are clipped to the frame. */
static double share(const struct chart_axis *axis, double value)
{
    if (value <= axis->min) return 0;
    if (value >= axis->max) return 1;
    return axis->is_log ? log(value / axis->min) / log(axis->max / axis->min)
                        : (value - axis->min) / (axis->max - axis->min);
}

/* ---- drawing ------------------------------------------------------------------------------- */

struct canvas {
    const struct chart *chart;
    struct chart_axis x, y;
    struct leat_text *text;
};

static double across(const struct canvas *c, double x)
{
    return LEFT + share(&c->x, x) * (RIGHT - LEFT);
}

static double down(const struct canvas *c, double y)
{
    return BOTTOM - share(&c->y, y) * (BOTTOM - TOP);
}

void chart_put_tick(struct leat_text *text, double value)
{
    if (value >= 1e6)
        text_format(text, "%.6gM", value / 1e6);
    else if (value >= 1e4)
        text_format(text, "%.6gk", value / 1e3);
    else
        text_format(text, "%.6g", value);
}

static void put_axes(const struct canvas *c)
{
    struct leat_text *text = c->text;
    for (size_t i = 0; i < c->y.ticks; i++) {
        const double at = down(c, c->y.tick[i]);
        text_format(text, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, RIGHT);
        text_format(text, "<text class=\"quiet\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    LEFT - 8, at + 4);
        chart_put_tick(text, c->y.tick[i]);
        leat_text_puts(text, "</text>\n");
    }
    for (size_t i = 0; i < c->x.ticks; i++) {
        const double at = across(c, c->x.tick[i]);
        text_format(text, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, BOTTOM);
        text_format(text, "<text class=\"quiet\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", at,
                    BOTTOM + TICK_ROOM);
        chart_put_tick(text, c->x.tick[i]);
        leat_text_puts(text, "</text>\n");
    }
    text_format(text, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
}

static void put_names(const struct canvas *c)
{
    struct leat_text *text = c->text;
    text_format(text, "<text class=\"title\" id=\"%s-title\" x=\"2\" y=\"16\">", c->chart->id);
    text_escape(text, c->chart->title);
    text_format(text, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                (LEFT + RIGHT) / 2, BOTTOM + NAME_ROOM);
    text_escape(text, c->chart->x_name);
    text_format(text,
                "%s</text>\n<text transform=\"translate(14 %d) rotate(-90)\" "
                "text-anchor=\"middle\">",
                c->x.is_log ? " (log scale)" : "", (TOP + BOTTOM) / 2);
    text_escape(text, c->chart->y_name);
    text_format(text, "%s</text>\n", c->y.is_log ? " (log scale)" : "");
}

/* For screen readers: a summary of the chart. */
static void put_description(const struct canvas *c)
{
    text_format(c->text, "<desc id=\"%s-desc\">", c->chart->id);
    text_escape(c->text, c->chart->y_name);
    leat_text_puts(c->text, " against ");
    text_escape(c->text, c->chart->x_name);
    leat_text_puts(c->text, ".");
    for (size_t l = 0; l < c->chart->lines; l++) {
        const struct chart_line *line = &c->chart->line[l];
        const struct chart_point *a = line->point, *b = line->point + line->count - 1;
        leat_text_puts(c->text, " ");
        text_escape(c->text, line->name);
        text_format(c->text, ": %.*f at %.6g", c->chart->decimals, a->y, a->x);
        if (b > a) text_format(c->text, " to %.*f at %.6g", c->chart->decimals, b->y, b->x);
        if (b->open) text_format(c->text, ", %s", c->chart->open_name);
        leat_text_puts(c->text, ".");
    }
    leat_text_puts(c->text, "</desc>\n");
}

/* Each run of points with a known interval is a shape of its own. */
static void put_band(const struct canvas *c, const struct chart_line *line)
{
    const struct chart_point *p = line->point;
    for (size_t from = 0, to; from < line->count; from = to + 1) {
        for (to = from; to < line->count && p[to].half >= 0; to++)
            ;
        if (to < from + 2) continue;
        leat_text_puts(c->text, "<path class=\"band\" d=\"");
        for (size_t i = from; i < to; i++)
            text_format(c->text, "%c%.1f %.1f", i == from ? 'M' : 'L', across(c, p[i].x),
                        down(c, p[i].y + p[i].half));
        for (size_t i = to; i-- > from;)
            text_format(c->text, "L%.1f %.1f", across(c, p[i].x), down(c, p[i].y - p[i].half));
        leat_text_puts(c->text, "z\"/>\n");
    }
}

/* The pieces of a line whose ends are open, or those whose are not. */
static void put_pieces(const struct canvas *c, const struct chart_line *line, bool open)
{
    const struct chart_point *p = line->point;
    bool begun = false, joined = false;
    for (size_t i = 1; i < line->count; i++) {
        if ((p[i].open || p[i - 1].open) != open) {
            joined = false;
            continue;
        }
        if (!begun) text_format(c->text, "<path class=\"line%s\" d=\"", open ? " dashed" : "");
        if (!joined) text_format(c->text, "M%.1f %.1f", across(c, p[i - 1].x), down(c, p[i - 1].y));
        text_format(c->text, "L%.1f %.1f", across(c, p[i].x), down(c, p[i].y));
        begun = joined = true;
    }
    if (begun) leat_text_puts(c->text, "\"/>\n");
}

static void put_mark(struct leat_text *text, unsigned mark, bool open, double x, double y)
{
    const double r = mark_size;
    text_format(text, "<path class=\"mark%s\" d=\"", open ? " open" : "");
    switch (mark) {
    case 0:
        text_format(text, "M%.2f %.2fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0z", x - r, y, r,
                    r, 2 * r, r, r, -2 * r);
        break;
    case 1:
        text_format(text, "M%.2f %.2fh%.2fv%.2fh%.2fz", x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r,
                    -1.8 * r);
        break;
    case 2:
        text_format(text, "M%.2f %.2fl%.2f %.2fh%.2fz", x, y - 1.2 * r, 1.15 * r, 2 * r, -2.3 * r);
        break;
    case 3:
        text_format(text, "M%.2f %.2fl%.2f %.2fl%.2f %.2fl%.2f %.2fz", x, y - 1.3 * r, 1.3 * r,
                    1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r);
        break;
    default:
        text_format(text, "M%.2f %.2fl%.2f %.2fh%.2fz", x, y + 1.2 * r, 1.15 * r, -2 * r, -2.3 * r);
    }
    leat_text_puts(text, "\"/>");
}

static void put_tip(const struct canvas *c, const struct chart_line *line,
                    const struct chart_point *p)
{
    leat_text_puts(c->text, "<title>");
    text_escape(c->text, line->name);
    text_format(c->text, " at %s %.6g: %.*f", c->chart->x_tip ? c->chart->x_tip : "load", p->x,
                c->chart->decimals, p->y);
    if (p->half >= 0) text_format(c->text, " ± %.*f", c->chart->decimals, p->half);
    text_format(c->text, " %s", c->chart->y_unit);
    if (p->runs) text_format(c->text, " (%u run%s)", p->runs, p->runs == 1 ? "" : "s");
    if (p->open) text_format(c->text, ", %s", c->chart->open_name);
    leat_text_puts(c->text, "</title>");
}

static void put_line(const struct canvas *c, const struct chart_line *line)
{
    text_format(c->text, "<g class=\"c%u\">\n", chart_colour(line->style));
    put_band(c, line);
    for (int open = 0; open < 2 && line->look != CHART_MARKS_ALONE; open++)
        put_pieces(c, line, open);
    for (size_t i = 0; i < line->count && line->look != CHART_LINE_ALONE; i++) {
        const struct chart_point *p = &line->point[i];
        const double x = across(c, p->x), y = down(c, p->y);
        leat_text_puts(c->text, "<g>");
        put_tip(c, line, p);
        text_format(c->text, "<circle class=\"touch\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>", x, y);
        put_mark(c->text, chart_mark(line->style), p->open, x, y);
        leat_text_puts(c->text, "</g>\n");
    }
    leat_text_puts(c->text, "</g>\n");
}

/* ---- the legend ---------------------------------------------------------------------------- */

struct legend {
    double x, y;
};

/* A key and its name, which is truncated with an ellipsis if too long. */
static double legend_width(const char *name)
{
    const size_t width = text_width(name);
    return LEGEND_KEY +
           legend_character * (double)(width < LEGEND_NAME_MAX ? width : LEGEND_NAME_MAX + 1);
}

/* An entry behind the last one, or in a new row; `line` NULL: the diagonal. `text` NULL: only its
 * place. */
static void put_legend_entry(struct leat_text *text, const char *name,
                             const struct chart_line *line, struct legend *at)
{
    const double width = legend_width(name);
    if (at->x > LEFT && at->x + width > RIGHT) *at = (struct legend){ LEFT, at->y + LEGEND_STEP };
    if (text && line) {
        text_format(text, "<g class=\"c%u\">", chart_colour(line->style));
        if (line->look != CHART_MARKS_ALONE)
            text_format(text, "<path class=\"line\" d=\"M%.1f %.1fh26\"/>", at->x, at->y);
        if (line->look != CHART_LINE_ALONE)
            put_mark(text, chart_mark(line->style), false, at->x + 13, at->y);
        leat_text_puts(text, "</g>\n");
    } else if (text) {
        text_format(text, "<path class=\"ideal\" d=\"M%.1f %.1fh26\"/>", at->x, at->y);
    }
    if (text) {
        text_format(text, "<text x=\"%.1f\" y=\"%.1f\">", at->x + LEGEND_KEY, at->y + 4);
        text_escape_short(text, name, LEGEND_NAME_MAX);
        leat_text_puts(text, "</text>\n");
    }
    at->x += width + LEGEND_GAP;
}

/* The picture's height; `text` NULL: only that. */
static double put_legend(const struct chart *chart, struct leat_text *text)
{
    struct legend at = { LEFT, LEGEND_AT };
    for (size_t l = 0; l < chart->lines; l++)
        put_legend_entry(text, chart->line[l].name, &chart->line[l], &at);
    if (chart->diagonal) put_legend_entry(text, chart->diagonal, NULL, &at);
    return at.y + LEGEND_STEP / 2 + 4;
}

double chart_height(const struct chart *chart)
{
    return put_legend(chart, NULL);
}

void chart_write(const struct chart *chart, struct leat_text *text)
{
    struct canvas c = { .chart = chart, .text = text };
    chart_axes(chart, &c.x, &c.y);
    text_format(text,
                "<svg class=\"chart\" id=\"%s\" viewBox=\"0 0 %d %.0f\" role=\"img\" "
                "aria-labelledby=\"%s-title %s-desc\">\n",
                chart->id, CHART_WIDTH, chart_height(chart), chart->id, chart->id);
    put_description(&c);
    put_names(&c);
    put_axes(&c);
    if (chart->diagonal) {
        const double end = fmin(c.x.max, c.y.max);
        text_format(text, "<path class=\"ideal\" d=\"M%d %dL%.1f %.1f\"/>\n", LEFT, BOTTOM,
                    across(&c, end), down(&c, end));
    }
    for (size_t l = 0; l < chart->lines; l++)
        put_line(&c, &chart->line[l]);
    put_legend(chart, text);
    leat_text_puts(text, "</svg>\n");
}
