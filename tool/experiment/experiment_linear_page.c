/*
 * The page of leat experiment linear, matrix and contention: what contention costs a program, as
 * the thesis' figure 11.18 compares it. How many records lie behind in each cycle, and when each
 * worker does what.
 */
#include "chart.h"
#include "experiment_linear.h"
#include "markup.h"
#include "page.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    POINTS_MAX = 4096, /* of a track in the first chart; of the second, else it is left out */
};

static const char *const names[LINEAR_TRACKS] = {
    [LINEAR_MEASURED] = "measured",
    [LINEAR_RULE] = "measured, by the rule",
    [LINEAR_APART] = "cells never meet",
    [LINEAR_PUBLISHED] = "published",
    [LINEAR_PUBLISHED_RULE] = "published, by the rule",
};

static struct chart_point points[LINEAR_TRACKS][POINTS_MAX];

static uint64_t cycle_of(const struct linear_track *track, size_t i)
{
    return track->by_rule ? track->by_rule[i] : track->records.record[i].cycle;
}

static int by_cycle(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The known cycles of a track in their order; free them. NULL: no memory. */
static uint64_t *sorted_cycles(const struct linear_track *track, size_t *count)
{
    uint64_t *cycle = malloc((track->records.count + 1) * sizeof *cycle);
    *count = 0;
    for (size_t i = 0; cycle && i < track->records.count; i++)
        if (cycle_of(track, i) != COMM_CYCLE_UNKNOWN) cycle[(*count)++] = cycle_of(track, i);
    if (cycle) qsort(cycle, *count, sizeof *cycle, by_cycle);
    return cycle;
}

/* The first cycle of a track, from which its time is counted here; the last one. */
static void find_ends(const struct linear_track *track, uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (size_t i = 0; i < track->records.count; i++) {
        const uint64_t cycle = cycle_of(track, i);
        if (cycle == COMM_CYCLE_UNKNOWN) continue;
        if (cycle < *first) *first = cycle;
        if (cycle > *last) *last = cycle;
    }
}

/* Long tracks: each k-th record, and the last one. */
static size_t make_progress(const struct linear_track *track, struct chart_point *point)
{
    size_t count, made = 0;
    uint64_t *cycle = sorted_cycles(track, &count);
    const size_t stride = count / (POINTS_MAX - 1) + 1;
    for (size_t i = 0; cycle && i < count; i++)
        if (i % stride == 0 || i + 1 == count)
            point[made++] = (struct chart_point){ .x = (double)(cycle[i] - cycle[0]),
                                                  .y = (double)(i + 1),
                                                  .half = NAN };
    free(cycle);
    return made;
}

static size_t make_marks(const struct linear_track *track, struct chart_point *point)
{
    uint64_t first, last;
    size_t made = 0;
    find_ends(track, &first, &last);
    for (size_t i = 0; i < track->records.count && made < POINTS_MAX; i++)
        if (cycle_of(track, i) != COMM_CYCLE_UNKNOWN)
            point[made++] = (struct chart_point){ .x = (double)(cycle_of(track, i) - first),
                                                  .y = track->records.record[i].task.instance,
                                                  .half = NAN };
    return made;
}

static void put_chart(const struct chart *form, struct chart_line *line, size_t lines,
                      const char *caption, struct leat_text *text)
{
    struct chart chart = *form;
    chart.x_name = "cycles since the first record";
    chart.x_tip = "cycle";
    chart.line = line;
    chart.lines = lines;
    leat_text_puts(text, "<figure>\n");
    chart_write(&chart, text);
    text_format(text, "<figcaption>%s</figcaption>\n</figure>\n", caption);
}

/* The thesis studied these records, too. */
static bool is_published(const struct linear_track *track)
{
    return track[LINEAR_PUBLISHED].records.count > 0;
}

static void put_progress(const struct linear_track *track, struct leat_text *text)
{
    const struct chart form = { .id = "figure-11-18",
                                .title = is_published(track) ? "Figure 11.18: what contention costs"
                                                             : "What contention costs",
                                .y_name = "records behind",
                                .y_unit = "records" };
    struct chart_line line[LINEAR_TRACKS];
    size_t lines = 0;
    for (unsigned t = 0; t < LINEAR_TRACKS; t++) {
        const size_t count = make_progress(&track[t], points[t]);
        if (count)
            line[lines++] = (struct chart_line){ names[t], t, points[t], count, CHART_LINE_ALONE };
    }
    put_chart(&form, line, lines,
              "Messages that the workers have sent and received by a cycle. Where a curve without "
              "contention ends before the one beside it, the difference is the cost of "
              "contention.",
              text);
}

static void put_workers(const struct linear_track *track, struct leat_text *text)
{
    static const struct chart form = { .id = "workers",
                                       .title = "When each worker sends and receives",
                                       .y_name = "worker",
                                       .y_unit = "is the worker" };
    static const enum linear_tracks drawn[] = { LINEAR_MEASURED, LINEAR_RULE };
    struct chart_line line[2];
    for (unsigned i = 0; i < 2; i++) {
        const enum linear_tracks t = drawn[i];
        if (track[t].records.count > POINTS_MAX) {
            text_format(text,
                        "<p class=\"note\">More than %d records: a chart of each worker is "
                        "left out.</p>\n",
                        POINTS_MAX);
            return;
        }
        line[i] = (struct chart_line){ names[t], t, points[t], make_marks(&track[t], points[t]),
                                       CHART_MARKS_ALONE };
    }
    put_chart(&form, line, 2,
              "A mark is a message sent or received: as it was, and by the thesis' rule.", text);
}

static void put_table(const struct linear_track *track, struct leat_text *text)
{
    leat_text_puts(text, "<h2 id=\"records\">Last records</h2>\n<div class=\"scroll\"><table>\n"
                         "<thead><tr><th></th><th class=\"n\">records</th>"
                         "<th class=\"n\">first cycle</th><th class=\"n\">last cycle</th>"
                         "</tr></thead>\n<tbody>\n");
    for (int t = 0; t < LINEAR_TRACKS; t++) {
        uint64_t first, last;
        if (!track[t].records.count) continue;
        find_ends(&track[t], &first, &last);
        text_format(text,
                    "<tr><th>%s</th><td class=\"n\">%zu</td><td class=\"n\">%" PRIu64 "</td>"
                    "<td class=\"n\">%" PRIu64 "</td></tr>\n",
                    names[t], track[t].records.count, first, last);
    }
    leat_text_puts(
        text,
        "</tbody></table></div>\n"
        "<p class=\"note\">The rule: each message takes 193 cycles from the lock, receptions at a "
        "port are 40 cycles apart, tasks compute as long as they did.");
    if (is_published(track))
        text_format(text,
                    " The thesis, with a timeline made by hand, found cycle %d for its records.",
                    PUBLISHED_WITHOUT_CONTENTION);
    leat_text_puts(text, "</p>\n");
}

void linear_page(const char *fabric, const char *name, const struct linear_track *track,
                 struct leat_text *text)
{
    page_begin("Contention in a program of the thesis", text);
    page_begin_body(text);
    leat_text_puts(text, "<header>\n<h1>Contention in a program of the thesis</h1>\n"
                         "<p class=\"lead\">");
    text_escape(text, name);
    if (fabric) leat_text_puts(text, " over ");
    if (fabric) text_escape(text, fabric);
    leat_text_puts(text, ".</p>\n</header>\n<main>\n<div class=\"charts\">\n");
    put_progress(track, text);
    put_workers(track, text);
    leat_text_puts(text, "</div>\n");
    put_table(track, text);
    page_end(text);
}
