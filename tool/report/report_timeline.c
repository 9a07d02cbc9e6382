/* leat report: what each task does when, over all fabrics on one axis of time. */
#include "markup.h"
#include "report.h"
#include <math.h>
#include <string.h>

enum {
    LEFT = 62,
    RIGHT = TIMELINE_WIDTH - 60,
    TOP = 34,
    HEAD = 24, /* above each fabric's rows: its name */
    GAP = 10,
    LEGEND_ROOM = 54,
    TICKS_MAX = 8,
    FABRIC_MAX = 100, /* characters */
};
static const double rows_height = 160, row_max = 12;
static const double least_height = 0.02; /* of a drawn share */

static double row_height(const struct program_timeline *t)
{
    return fmin(row_max, rows_height / t->rows);
}

/* One with nothing but computing would not tell waiting from it. */
static bool is_drawn(const struct program_timeline *t)
{
    return t->rows && t->states > 1;
}

static double panel_height(const struct program_timeline *t)
{
    return HEAD + row_height(t) * t->rows + GAP;
}

static bool is_on(const struct program *program, size_t scale, size_t run)
{
    return program->scale[run] == scale && is_drawn(&program->run[run].timeline);
}

static double bottom_of(const struct program *program, size_t scale)
{
    double bottom = TOP;
    for (size_t i = 0; i < program->runs; i++)
        if (is_on(program, scale, i)) bottom += panel_height(&program->run[i].timeline);
    return bottom;
}

static void find_styles(const struct program *program, const struct program_timeline *t,
                        bool has[PROGRAM_STYLES])
{
    for (size_t i = 0; i < (size_t)t->rows * t->columns * t->states; i++)
        if (t->share[i] > 0) has[program_style(program, t->state[i % t->states])] = true;
}

/* The legend's end; `text` NULL: only that. */
static double put_legend(const struct program *program, size_t scale, struct leat_text *text)
{
    bool has[PROGRAM_STYLES] = { 0 };
    for (size_t i = 0; i < program->runs; i++)
        if (is_on(program, scale, i)) find_styles(program, &program->run[i].timeline, has);
    return program_legend(program, has, text, LEFT, bottom_of(program, scale) + LEGEND_ROOM, RIGHT);
}

double program_timelines_height(const struct program *program, size_t scale)
{
    return bottom_of(program, scale) > TOP ? put_legend(program, scale, NULL) + 4 : 0;
}

/* ---- a row --------------------------------------------------------------------------------- */

struct row {
    const struct program_timeline *t;
    const float *share; /* [column][state] */
    double y, height, column_width;
};

static const float *column_at(const struct row *row, uint32_t column)
{
    return row->share + (size_t)column * row->t->states;
}

/* The columns from `first` on that look the same. */
static uint32_t same_until(const struct row *row, uint32_t first)
{
    uint32_t after = first + 1;
    while (after < row->t->columns && memcmp(column_at(row, first), column_at(row, after),
                                             row->t->states * sizeof *row->share) == 0)
        after++;
    return after;
}

/* All of a state in one path; shares are stacked in the order of states. */
static void put_state(const struct row *row, uint32_t state, unsigned style, struct leat_text *text)
{
    bool begun = false;
    for (uint32_t column = 0, after; column < row->t->columns; column = after) {
        const float *share = column_at(row, column);
        double above = 0;
        after = same_until(row, column);
        for (uint32_t i = 0; i < state; i++)
            above += share[i];
        const double height = row->height * share[state], x = LEFT + row->column_width * column;
        if (height < least_height || x >= RIGHT) continue;
        if (!begun) text_format(text, "<path class=\"s%u\" d=\"", style);
        begun = true;
        const double width = fmin(row->column_width * (after - column), RIGHT - x);
        text_format(text, "M%.2f %.2fh%.2fv%.2fh%.2fz", x, row->y + row->height * above, width,
                    height, -width);
    }
    if (begun) leat_text_puts(text, "\"/>");
}

/* "task 3: computing 25.0 %, MPI_Recv 75.0 %": shares of the run's time. */
static void put_row_title(const struct program_run *run, const struct row *row, uint32_t number,
                          struct leat_text *text)
{
    const struct program_timeline *t = row->t;
    const uint32_t first = number * t->group, after = first + t->group;
    const uint32_t last = (after < run->tasks ? after : run->tasks) - 1;
    const char *colon = ": ";
    leat_text_puts(text, "<title>");
    text_format(text, last > first ? "tasks %u to %u" : "task %u", first, last);
    for (uint32_t s = 0; s < t->states; s++) {
        double sum = 0;
        for (uint32_t c = 0; c < t->columns; c++)
            sum += column_at(row, c)[s];
        if (!(sum > 0) || !(run->seconds > 0)) continue;
        text_format(text, "%s", colon);
        text_escape(text, t->state[s]);
        text_format(text, " %.1f %%", 100 * sum * t->column_seconds / run->seconds);
        colon = ", ";
    }
    leat_text_puts(text, "</title>");
}

/* ---- a fabric ------------------------------------------------------------------------------ */

static void put_head(const struct program_run *run, double y, const struct time_axis *axis,
                     struct leat_text *text)
{
    text_format(text, "<text x=\"%d\" y=\"%.1f\">", LEFT, y + HEAD - 7);
    text_escape_short(text, run->fabric, FABRIC_MAX);
    if (run->seconds >= 0)
        text_format(text, ": %.6g %s", run->seconds / axis->unit_seconds, axis->unit);
    if (strcmp(run->status, "done") != 0) {
        leat_text_puts(text, ", ");
        text_escape(text, run->status);
    }
    leat_text_puts(text, "</text>\n");
}

static void put_rows(const struct program *program, const struct program_run *run, struct row row,
                     struct leat_text *text)
{
    const struct program_timeline *t = row.t;
    for (uint32_t r = 0; r < t->rows; r++) {
        leat_text_puts(text, "<g>");
        put_row_title(run, &row, r, text);
        for (uint32_t s = 0; s < t->states; s++)
            put_state(&row, s, program_style(program, t->state[s]), text);
        leat_text_puts(text, "</g>\n");
        row.y += row.height;
        row.share += (size_t)t->columns * t->states;
    }
}

static void put_panel(const struct program *program, const struct program_run *run, double y,
                      const struct time_axis *axis, struct leat_text *text)
{
    const struct program_timeline *t = &run->timeline;
    const uint32_t step = (t->rows + TICKS_MAX - 1) / TICKS_MAX;
    const struct row first = { .t = t,
                               .share = t->share,
                               .y = y + HEAD,
                               .height = row_height(t),
                               .column_width = time_axis_at(axis, t->column_seconds) - LEFT };
    put_head(run, y, axis, text);
    text_format(text, "<g id=\"program-%zu-tasks-%zu\">\n", program->number,
                (size_t)(run - program->run) + 1);
    put_rows(program, run, first, text);
    leat_text_puts(text, "</g>\n");
    for (uint32_t r = 0; r < t->rows; r += step)
        text_format(text,
                    "<text class=\"quiet small\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u"
                    "</text>\n",
                    LEFT - 8, first.y + first.height * (r + 0.5) + 3.5, r * t->group);
    if (run->seconds >= 0)
        text_format(text, "<path class=\"frame\" d=\"M%.2f %.1fV%.1f\"/>\n",
                    time_axis_at(axis, run->seconds), first.y - 3,
                    first.y + first.height * t->rows + 3);
}

/* ---- all fabrics of a scale ---------------------------------------------------------------- */

static double longest_of(const struct program *program, size_t scale)
{
    double longest = 0;
    for (size_t i = 0; i < program->runs; i++)
        if (is_on(program, scale, i)) longest = fmax(longest, program->run[i].seconds);
    return longest;
}

void program_timelines(const struct program *program, size_t scale, struct leat_text *text)
{
    const double bottom = bottom_of(program, scale);
    const struct time_axis axis = time_axis_make(
        longest_of(program, scale), &program->scale_unit[scale], LEFT, RIGHT, TOP, bottom);
    double y = TOP;
    text_format(text,
                "<svg class=\"chart\" id=\"program-%zu-timeline-%zu\" viewBox=\"0 0 %d %.0f\" "
                "role=\"img\">\n<text class=\"title\" x=\"2\" y=\"16\">What the tasks do, on one "
                "axis of time</text>\n",
                program->number, scale + 1, TIMELINE_WIDTH,
                program_timelines_height(program, scale));
    time_axis_put(&axis, "simulated time", text);
    text_format(text,
                "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">number "
                "of the task</text>\n",
                (TOP + bottom) / 2);
    for (size_t i = 0; i < program->runs; i++) {
        if (!is_on(program, scale, i)) continue;
        put_panel(program, &program->run[i], y, &axis, text);
        y += panel_height(&program->run[i].timeline);
    }
    put_legend(program, scale, text);
    leat_text_puts(text, "</svg>\n");
}
