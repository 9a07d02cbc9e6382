/* The page of leat experiment compare: a table, where the time of each program goes, and time
 * against what the switches are made of. */
#include "experiment_compare.h"
#include "markup.h"
#include "page.h"
#include "report.h"
#include <inttypes.h>
#include <math.h>

enum {
    LEFT = 270,
    RIGHT = CHART_WIDTH - 60,
    TOP = 34,
    STEP = 24,
    THICK = 15,
    AXIS_ROOM = 70, /* with the legend */
    NAME_MAX = 38,  /* characters of a fabric */
};

static const char *const titles[COMPARE_PROGRAMS] = {
    [COMPARE_LINEAR] = "Linear system",
    [COMPARE_MATRIX] = "Matrix product",
};

/* ---- the table ------------------------------------------------------------------------------- */

static void put_heads(const struct compare *c, struct leat_text *text)
{
    text_format(text,
                "<div class=\"scroll\"><table id=\"fabrics\">\n<thead>\n<tr><th></th><th></th>"
                "<th class=\"n\" colspan=\"2\">Echo, %s</th>",
                c->unit);
    for (int p = 0; p < COMPARE_PROGRAMS; p++)
        text_format(text, "<th class=\"n\" colspan=\"4\">%s, %s</th>", titles[p], c->unit);
    text_format(text,
                "<th class=\"n\" colspan=\"4\">Switches</th></tr>\n<tr><th>Fabric</th>"
                "<th class=\"n\">Ports</th><th class=\"n\">%u octets</th><th class=\"n\">%u "
                "octets</th>",
                compare_octets[0], compare_octets[1]);
    for (int p = 0; p < COMPARE_PROGRAMS; p++)
        leat_text_puts(text, "<th class=\"n\">Time</th><th class=\"n\">Contention</th>"
                             "<th class=\"n\">%</th><th class=\"n\">Lost<br/>cells</th>");
    leat_text_puts(text, "<th class=\"n\">Crosspoints</th><th class=\"n\">Room,<br/>cells</th>"
                         "<th class=\"n\">Wires</th><th class=\"n\">Memory<br/>moves</th></tr>\n"
                         "</thead>\n<tbody>\n");
}

static void put_number(const struct compare *c, double value, struct leat_text *text)
{
    text_format(text, "<td class=\"n\">%.*f</td>", c->unit_ns > 0 ? 3 : 0, value);
}

static void put_figures(const struct compare *c, const struct compare_row *row,
                        struct leat_text *text)
{
    for (int i = 0; i < COMPARE_DELAYS; i++)
        put_number(c, compare_time(c, row, row->delay[i]), text);
    for (int p = 0; p < COMPARE_PROGRAMS; p++) {
        const struct linear_outcome *o = &row->program[p];
        const double contention = compare_contention(o);
        put_number(c, compare_time(c, row, (double)o->cycle), text);
        put_number(c, compare_time(c, row, contention), text);
        text_format(text, "<td class=\"n\">%.1f</td><td class=\"n\">%" PRIu64 "</td>",
                    100 * contention / (double)o->cycle, o->cells_lost);
    }
}

static void put_row(const struct compare *c, const struct compare_row *row, struct leat_text *text)
{
    leat_text_puts(text, "<tr><th scope=\"row\">");
    text_escape(text, row->fabric);
    text_format(text, "</th><td class=\"n\">%u</td>", row->ports);
    if (compare_is_done(row))
        put_figures(c, row, text);
    else
        text_format(text, "<td class=\"alarm\" colspan=\"%d\">%s</td>",
                    COMPARE_DELAYS + 4 * COMPARE_PROGRAMS, row->status);
    text_format(text,
                "<td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%u</td></tr>\n",
                row->cost.crosspoints, row->cost.buffer_flits, row->cost.wires,
                row->cost.memory_flits);
}

static void put_table(const struct compare *c, struct leat_text *text)
{
    put_heads(c, text);
    for (size_t i = 0; i < c->rows; i++)
        put_row(c, &c->row[i], text);
    leat_text_puts(
        text,
        "</tbody></table></div>\n<p class=\"note\">Time: when the last message among the workers "
        "was sent or received. Contention: how much longer that is than in a run where cells never "
        "meet; below zero, another order of messages takes longer. Lost cells are sent again by "
        "the adaptation layer units. Crosspoints are inputs x outputs of each switch, and four of "
        "each element 2 x 2; room is that of all buffers; wires go one way; the busiest memory "
        "takes and gives so many cells in a cell time.</p>\n");
}

/* ---- where the time goes --------------------------------------------------------------------- */

static void put_piece(const struct time_axis *axis, double y, double from, double to, int style,
                      struct leat_text *text)
{
    if (!(to > from)) return;
    text_format(text,
                "<rect class=\"bar s%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n",
                style, time_axis_at(axis, from), y,
                time_axis_at(axis, to) - time_axis_at(axis, from), THICK);
}

static void put_bar(const struct compare *c, const struct compare_row *row,
                    const struct linear_outcome *o, const struct time_axis *axis, double y,
                    struct leat_text *text)
{
    const double all = compare_time(c, row, (double)o->cycle);
    const double alone = fmin(all, compare_time(c, row, (double)o->cycle_alone));
    text_format(text, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + 12);
    text_escape_short(text, row->fabric, NAME_MAX);
    leat_text_puts(text, "</text>\n");
    put_piece(axis, y, 0, alone, 0, text);
    put_piece(axis, y, alone, all, 1, text);
    text_format(text, "<text class=\"quiet small\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n",
                time_axis_at(axis, all) + 5, y + 12, c->unit_ns > 0 ? 3 : 0, all);
}

static void put_key(double x, double y, int style, const char *name, struct leat_text *text)
{
    text_format(text,
                "<rect class=\"key s%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>"
                "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                style, x, y, x + 18, y + 10, name);
}

static void put_bars(const struct compare *c, enum compare_program p, struct leat_text *text)
{
    const struct program_unit unit = { c->unit, 1 };
    double bottom = TOP, longest = 0, y = TOP + (STEP - THICK) / 2.0;
    for (size_t i = 0; i < c->rows; i++) {
        if (!compare_is_done(&c->row[i])) continue;
        longest = fmax(longest, compare_time(c, &c->row[i], (double)c->row[i].program[p].cycle));
        bottom += STEP;
    }
    const struct time_axis axis = time_axis_make(longest, &unit, LEFT, RIGHT, TOP, bottom);
    text_format(text,
                "<figure>\n<svg class=\"chart\" id=\"bars-%s\" viewBox=\"0 0 %d %.0f\" "
                "role=\"img\">\n<text class=\"title\" x=\"2\" y=\"16\">%s: where the time goes"
                "</text>\n",
                compare_names[p], CHART_WIDTH, bottom + AXIS_ROOM, titles[p]);
    time_axis_put(&axis, "time", text);
    for (size_t i = 0; i < c->rows; i++) {
        if (!compare_is_done(&c->row[i])) continue;
        put_bar(c, &c->row[i], &c->row[i].program[p], &axis, y, text);
        y += STEP;
    }
    put_key(LEFT, bottom + 50, 0, "without contention", text);
    put_key(LEFT + 150, bottom + 50, 1, "contention", text);
    leat_text_puts(text, "</svg>\n</figure>\n");
}

/* ---- time against cost ----------------------------------------------------------------------- */

static const struct cost_axis {
    const char *id, *name, *title;
} costs[] = {
    { "crosspoints", "crosspoints of all switches", "time and crosspoints" },
    { "memory", "room of all buffers, cells", "time and memory" },
};
enum { COSTS = sizeof costs / sizeof *costs };

static double cost_of(const struct compare_row *row, int cost)
{
    return (double)(cost ? row->cost.buffer_flits : row->cost.crosspoints);
}

static void put_cost(const struct compare *c, enum compare_program p, int cost,
                     struct leat_text *text)
{
    static struct chart_point point[COMPARE_FABRICS_MAX];
    static struct chart_line line[COMPARE_FABRICS_MAX];
    char id[48], title[64], y_name[48];
    struct chart chart = { .id = id, .title = title, .y_name = y_name, .line = line };
    snprintf(id, sizeof id, "%s-%s", compare_names[p], costs[cost].id);
    snprintf(title, sizeof title, "%s: %s", titles[p], costs[cost].title);
    snprintf(y_name, sizeof y_name, "time, %s", c->unit);
    chart.x_name = costs[cost].name;
    chart.x_tip = cost ? "room" : "crosspoints";
    chart.y_unit = c->unit;
    chart.decimals = c->unit_ns > 0 ? 3 : 0;
    chart.x_is_log = true;
    for (size_t i = 0; i < c->rows; i++) {
        const struct compare_row *row = &c->row[i];
        if (!compare_is_done(row)) continue;
        point[i] = (struct chart_point){
            .x = cost_of(row, cost),
            .y = compare_time(c, row, (double)row->program[p].cycle),
            .half = NAN,
        };
        line[chart.lines++] = (struct chart_line){ row->fabric, (unsigned)i, &point[i], 1,
                                                   CHART_MARKS_ALONE };
    }
    if (!chart.lines) return;
    leat_text_puts(text, "<figure>\n");
    chart_write(&chart, text);
    leat_text_puts(text, "</figure>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_commands(const struct compare *c, struct leat_text *text)
{
    leat_text_puts(text, "<h2 id=\"how\">How it was run</h2>\n<pre>leat experiment compare");
    if (c->size) text_format(text, " -n %u", c->size);
    leat_text_puts(text, " --fabrics ");
    for (size_t i = 0; i < c->rows; i++) {
        if (i) leat_text_putc(text, ',');
        report_put_word(text, c->row[i].word);
    }
    leat_text_puts(text, "</pre>\n");
}

void compare_page(const struct compare *c, struct leat_text *text)
{
    static const char title[] = "Architectures under the thesis' programs";
    page_begin(title, text);
    program_style_sheet(text);
    page_begin_body(text);
    text_format(text,
                "<header>\n<h1>%s</h1>\n<p class=\"lead\">%zu fabrics carry echo, a linear system "
                "and a matrix product: %s.</p>\n</header>\n<main>\n",
                title, c->rows, c->size_text);
    put_table(c, text);
    for (int p = 0; p < COMPARE_PROGRAMS; p++) {
        text_format(text, "<h2 id=\"%s\">%s</h2>\n<div class=\"charts\">\n", compare_names[p],
                    titles[p]);
        put_bars(c, (enum compare_program)p, text);
        for (int cost = 0; cost < COSTS; cost++)
            put_cost(c, (enum compare_program)p, cost, text);
        leat_text_puts(text, "</div>\n");
    }
    put_commands(c, text);
    page_end(text);
}
