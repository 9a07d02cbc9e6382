/* leat report: the tables of the page. */
#include "markup.h"
#include "report.h"

static double load_of(const struct report_point *point)
{
    return (double)point->load / STORE_LOAD_ONE;
}

/* Two cells: a mean and its confidence interval. */
static void put_mean(struct leat_text *text, const struct report_point *point,
                     enum report_figure figure, int decimals)
{
    const struct mean *mean = point ? &point->mean[figure] : NULL;
    if (!mean || !mean->count) {
        leat_text_puts(text, "<td class=\"n\">–</td><td class=\"pm\"></td>");
        return;
    }
    const double half = report_half(point, figure);
    text_format(text, "<td class=\"n\">%.*f</td><td class=\"pm\">", decimals, mean->mean);
    if (half >= 0) text_format(text, "± %.*f", decimals, half);
    leat_text_puts(text, "</td>");
}

static void put_fabric(const struct report *report, size_t line, struct leat_text *text)
{
    text_format(text, "<span class=\"swatch c%u\"></span>", chart_colour((unsigned)line));
    text_escape(text, report->line[line].name);
}

/* ---- where fabrics saturate ---------------------------------------------------------------- */

struct verdict {
    const struct report_point *lowest, *steady, *saturated; /* NULL: there is none */
    const struct report_point *best; /* the one with the highest throughput */
};

static struct verdict judge(const struct report *report, struct report_series series)
{
    struct verdict v = { 0 };
    for (uint32_t i = series.first; i < series.first + series.count; i++) {
        const struct report_point *p = &report->point[i];
        if (!v.lowest && p->mean[REPORT_LATENCY].count) v.lowest = p;
        if (!v.saturated && report_is_saturated(p)) v.saturated = p;
        if (!v.saturated) v.steady = p;
        if (p->mean[REPORT_THROUGHPUT].count &&
            (!v.best || p->mean[REPORT_THROUGHPUT].mean > v.best->mean[REPORT_THROUGHPUT].mean))
            v.best = p;
    }
    return v;
}

static void put_load(struct leat_text *text, const struct report_point *point,
                     const char *otherwise)
{
    if (point)
        text_format(text, "<td class=\"n\">%.6g</td>", load_of(point));
    else
        text_format(text, "<td class=\"n\">%s</td>", otherwise);
}

static void put_verdict(const struct verdict *v, struct leat_text *text)
{
    put_load(text, v->steady, "–");
    put_load(text, v->saturated, "not reached");
    put_mean(text, v->best, REPORT_THROUGHPUT, 4);
    if (v->lowest)
        text_format(text, "<td class=\"n\">%.2f</td></tr>\n", v->lowest->mean[REPORT_LATENCY].mean);
    else
        leat_text_puts(text, "<td class=\"n\">–</td></tr>\n");
}

void report_saturation(const struct report *report, size_t traffic, struct leat_text *text)
{
    leat_text_puts(text, "<div class=\"scroll\"><table>\n<caption>Saturation</caption>\n"
                         "<thead><tr><th scope=\"col\">Fabric</th>"
                         "<th scope=\"col\" class=\"n\">Steady<br/>up to load,<br/>of a line</th>"
                         "<th scope=\"col\" class=\"n\">Saturated<br/>from load,<br/>of a line</th>"
                         "<th scope=\"colgroup\" colspan=\"2\" "
                         "class=\"n\">Highest<br/>throughput,<br/>of a line</th>"
                         "<th scope=\"col\" class=\"n\">Latency<br/>at lowest<br/>load, ");
    text_format(text, "%s</th></tr></thead>\n<tbody>\n", report->unit);
    for (size_t l = 0; l < report->lines; l++) {
        const struct report_series series = report->series[l][traffic];
        if (!series.count) continue;
        const struct verdict verdict = judge(report, series);
        leat_text_puts(text, "<tr><th scope=\"row\">");
        put_fabric(report, l, text);
        leat_text_puts(text, "</th>");
        put_verdict(&verdict, text);
    }
    leat_text_puts(text, "</tbody></table></div>\n");
}

/* ---- all points ---------------------------------------------------------------------------- */

static void put_state(const struct report_point *point, struct leat_text *text)
{
    leat_text_puts(text, "<td>");
    if (point->deadlocks)
        text_format(text, "<span class=\"alarm\">deadlock in %u of %u</span>", point->deadlocks,
                    point->runs);
    else if (point->saturated == point->runs)
        leat_text_puts(text, "saturated");
    else if (point->saturated)
        text_format(text, "saturated in %u of %u", point->saturated, point->runs);
    else
        leat_text_puts(text, "steady");
    leat_text_puts(text, "</td>");
}

static void put_point(const struct report_point *point, struct leat_text *text)
{
    text_format(text, "<tr><td class=\"n\">%.6g</td><td class=\"n\">%u</td>", load_of(point),
                point->runs);
    put_mean(text, point, REPORT_THROUGHPUT, 4);
    put_mean(text, point, REPORT_LATENCY, 2);
    put_mean(text, point, REPORT_P99, 1);
    if (point->hops.count)
        text_format(text, "<td class=\"n\">%.3f</td>", point->hops.mean);
    else
        leat_text_puts(text, "<td class=\"n\">–</td>");
    put_state(point, text);
    leat_text_puts(text, "</tr>\n");
}

void report_points(const struct report *report, size_t traffic, struct leat_text *text)
{
    leat_text_puts(text,
                   "<details open=\"open\"><summary>All points as numbers</summary>\n"
                   "<div class=\"scroll\"><table class=\"points\">\n<thead><tr>"
                   "<th scope=\"col\" class=\"n\">Offered load,<br/>of a line</th>"
                   "<th scope=\"col\" class=\"n\">Runs</th>"
                   "<th scope=\"colgroup\" colspan=\"2\" class=\"n\">Accepted,<br/>of a line</th>");
    text_format(text,
                "<th scope=\"colgroup\" colspan=\"2\" class=\"n\">Mean latency,<br/>%s</th>"
                "<th scope=\"colgroup\" colspan=\"2\" class=\"n\">99th percentile,<br/>%s</th>",
                report->unit, report->unit);
    leat_text_puts(text, "<th scope=\"col\" class=\"n\">Mean<br/>hops</th>"
                         "<th scope=\"col\">State</th></tr></thead>\n");
    for (size_t l = 0; l < report->lines; l++) {
        const struct report_series series = report->series[l][traffic];
        if (!series.count) continue;
        leat_text_puts(text, "<tbody><tr><th scope=\"rowgroup\" colspan=\"10\">");
        put_fabric(report, l, text);
        leat_text_puts(text, "</th></tr>\n");
        for (uint32_t i = series.first; i < series.first + series.count; i++)
            put_point(&report->point[i], text);
        leat_text_puts(text, "</tbody>\n");
    }
    leat_text_puts(text, "</table></div></details>\n");
}

/* ---- what went wrong ----------------------------------------------------------------------- */

static bool has_lost(const struct report_point *point)
{
    return point->lost[REPORT_PACKETS] > 0 || point->lost[REPORT_CELLS] > 0 ||
           point->lost[REPORT_MESSAGES] > 0;
}

static bool is_troubled(const struct report_point *point)
{
    return point->deadlocks || has_lost(point) || point->rerouted > 0;
}

/* One column for each unit that a fabric of the report loses. */
struct losses {
    bool any[REPORT_LOSSES];
};

static void put_troubled(const struct report *report, const struct report_point *point,
                         const struct losses *losses, struct leat_text *text)
{
    leat_text_puts(text, "<tr><th scope=\"row\">");
    put_fabric(report, point->line, text);
    leat_text_puts(text, "</th><td>");
    text_escape(text, report->traffic[point->traffic]);
    text_format(text, "</td><td class=\"n\">%.6g</td><td class=\"n\">%u</td>", load_of(point),
                point->runs);
    for (int i = 0; i < REPORT_LOSSES; i++)
        if (losses->any[i]) text_format(text, "<td class=\"n\">%.0f</td>", point->lost[i]);
    text_format(text, "<td class=\"n\">%.0f</td><td class=\"n\">%.0f</td>", point->rerouted,
                point->retransmissions);
    text_format(text, "<td class=\"n%s\">%u</td></tr>\n", point->deadlocks ? " alarm" : "",
                point->deadlocks);
}

static void put_deadlocks(const struct report *report, struct leat_text *text)
{
    bool begun = false;
    for (size_t i = 0; i < report->points; i++) {
        const struct report_point *point = &report->point[i];
        if (!point->deadlocks) continue;
        if (!begun)
            leat_text_puts(text, "<p>In a deadlock packets wait for each other in a cycle and "
                                 "nothing moves any more. These commands show the cycle:</p><pre>");
        begun = true;
        report_put_run(report, point, point->deadlock_seed, text);
    }
    if (begun) leat_text_puts(text, "</pre>\n");
}

static void put_trouble_head(const struct losses *losses, struct leat_text *text)
{
    static const char *const names[REPORT_LOSSES] = { "Packets<br/>lost", "Cells<br/>lost",
                                                      "Messages<br/>lost" };
    leat_text_puts(
        text,
        "<h2 id=\"trouble\">What went wrong</h2>\n<p>Points where packets were lost, rerouted "
        "around broken wires, or deadlocked; sums over their runs.</p>\n"
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Fabric</th>"
        "<th scope=\"col\">Traffic</th><th scope=\"col\" class=\"n\">Offered load,<br/>of a "
        "line</th><th scope=\"col\" class=\"n\">Runs</th>");
    for (int i = 0; i < REPORT_LOSSES; i++)
        if (losses->any[i]) text_format(text, "<th scope=\"col\" class=\"n\">%s</th>", names[i]);
    leat_text_puts(text, "<th scope=\"col\" class=\"n\">Packets<br/>rerouted</th>"
                         "<th scope=\"col\" class=\"n\">Cells<br/>sent again</th>"
                         "<th scope=\"col\" class=\"n\">Deadlocked<br/>runs</th></tr></thead>\n"
                         "<tbody>\n");
}

void report_trouble(const struct report *report, struct leat_text *text)
{
    struct losses losses = { 0 };
    size_t troubled = 0;
    for (size_t i = 0; i < report->points; i++) {
        troubled += is_troubled(&report->point[i]);
        for (int k = 0; k < REPORT_LOSSES; k++)
            losses.any[k] |= report->point[i].lost[k] > 0;
    }
    if (!troubled) return;
    put_trouble_head(&losses, text);
    for (size_t i = 0; i < report->points; i++)
        if (is_troubled(&report->point[i])) put_troubled(report, &report->point[i], &losses, text);
    leat_text_puts(text, "</tbody></table></div>\n");
    put_deadlocks(report, text);
}
