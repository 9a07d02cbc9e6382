/* leat report: the charts of a traffic, as points and names; drawn elsewhere. */
#include "report.h"
#include <stdio.h>

static struct chart_point point_of(const struct report_point *point, enum report_figure figure)
{
    const struct mean *mean = &point->mean[figure];
    return (struct chart_point){ .x = (double)point->load / STORE_LOAD_ONE,
                                 .y = mean->mean,
                                 .half = report_half(point, figure),
                                 .runs = mean->count,
                                 .open = report_is_saturated(point) };
}

static const struct chart templates[REPORT_FIGURES] = {
    [REPORT_LATENCY] = { .title = "Latency",
                         .y_name = "mean latency",
                         .decimals = 2,
                         .may_be_log = true },
    [REPORT_THROUGHPUT] = { .title = "Throughput",
                            .y_name = "accepted load, share of a terminal's line",
                            .y_unit = "of a line",
                            .diagonal = "all that is offered",
                            .decimals = 4 },
    [REPORT_P99] = { .title = "Tail latency",
                     .y_name = "99th percentile",
                     .decimals = 1,
                     .may_be_log = true },
};

bool report_chart(struct report *report, size_t traffic, enum report_figure figure,
                  struct chart_line *lines, struct chart *out)
{
    static const char *const short_names[REPORT_FIGURES] = { "latency", "throughput", "p99" };
    static char id[48], y_name[48];
    struct chart_point *next = report->drawn;
    *out = templates[figure];
    for (size_t l = 0; l < report->lines; l++) {
        const struct report_series series = report->series[l][traffic];
        struct chart_point *first = next;
        for (uint32_t i = series.first; i < series.first + series.count; i++) {
            *next = point_of(&report->point[i], figure);
            if (next->runs) next++;
        }
        if (next > first)
            lines[out->lines++] = (struct chart_line){ .name = report->line[l].name,
                                                       .style = (unsigned)l,
                                                       .point = first,
                                                       .count = (size_t)(next - first) };
    }
    snprintf(id, sizeof id, "chart-%zu-%s", traffic + 1, short_names[figure]);
    out->id = id;
    if (!out->y_unit) { /* a time */
        snprintf(y_name, sizeof y_name, "%s, %s", out->y_name, report->unit);
        out->y_name = y_name;
        out->y_unit = report->unit;
    }
    out->x_name = "offered load, share of a terminal's line";
    out->open_name = "saturated";
    out->line = lines;
    return out->lines > 0;
}
