/* leat report: where the time of a program goes, a stacked bar for each fabric. */
#include "markup.h"
#include "report.h"
#include <math.h>
#include <string.h>

enum {
    LEFT = 170,
    RIGHT = CHART_WIDTH - 60,
    TOP = 34,
    STEP = 28,
    THICK = 18,
    LEGEND_ROOM = 54,
    NAME_MAX = 20, /* characters of a fabric */
};

static double bottom_of(const struct program *program, size_t scale)
{
    double bottom = TOP;
    for (size_t i = 0; i < program->runs; i++)
        bottom += program->scale[i] == scale ? STEP : 0;
    return bottom;
}

/* The legend's end; `text` NULL: only that. */
static double put_legend(const struct program *program, size_t scale, struct leat_text *text)
{
    bool has[PROGRAM_STYLES] = { 0 };
    double seconds[PROGRAM_STYLES];
    for (size_t i = 0; i < program->runs; i++) {
        if (program->scale[i] != scale) continue;
        program_times(program, &program->run[i], seconds);
        for (int s = 0; s < PROGRAM_STYLES; s++)
            has[s] |= seconds[s] > 0;
    }
    return program_legend(program, has, text, 2, bottom_of(program, scale) + LEGEND_ROOM,
                          CHART_WIDTH);
}

double program_bars_height(const struct program *program, size_t scale)
{
    return put_legend(program, scale, NULL) + 4;
}

static double sum(const double *seconds)
{
    double all = 0;
    for (int i = 0; i < PROGRAM_STYLES; i++)
        all += seconds[i];
    return all;
}

static void put_piece(const struct program *program, const struct program_run *run, unsigned style,
                      const double *seconds, const struct time_axis *axis, struct leat_text *text)
{
    leat_text_puts(text, "<title>");
    text_escape(text, run->fabric);
    leat_text_puts(text, ": ");
    text_escape(text, program_style_name(program, style));
    text_format(text, " %.4g %s, %.1f %%</title>", seconds[style] / axis->unit_seconds, axis->unit,
                100 * seconds[style] / sum(seconds));
}

static void put_bar(const struct program *program, const struct program_run *run, double y,
                    const struct time_axis *axis, struct leat_text *text)
{
    double seconds[PROGRAM_STYLES], begin = 0;
    program_times(program, run, seconds);
    text_format(text, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + 13);
    text_escape_short(text, run->fabric, NAME_MAX);
    leat_text_puts(text, "</text>\n");
    for (unsigned i = 0; i < PROGRAM_STYLES; i++) {
        const double x = time_axis_at(axis, begin);
        begin += seconds[i];
        if (!(seconds[i] > 0)) continue;
        text_format(text,
                    "<rect class=\"bar s%u\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\">",
                    i, x, y, time_axis_at(axis, begin) - x, THICK);
        put_piece(program, run, i, seconds, axis, text);
        leat_text_puts(text, "</rect>\n");
    }
    text_format(text, "<text class=\"quiet small\" x=\"%.1f\" y=\"%.1f\">%.4g",
                time_axis_at(axis, begin) + 5, y + 13, begin / axis->unit_seconds);
    if (strcmp(run->status, "done") != 0) {
        leat_text_puts(text, ", ");
        text_escape(text, run->status);
    }
    leat_text_puts(text, "</text>\n");
}

static double longest_of(const struct program *program, size_t scale)
{
    double longest = 0, seconds[PROGRAM_STYLES];
    for (size_t i = 0; i < program->runs; i++) {
        if (program->scale[i] != scale) continue;
        program_times(program, &program->run[i], seconds);
        longest = fmax(longest, sum(seconds));
    }
    return longest;
}

void program_bars(const struct program *program, size_t scale, struct leat_text *text)
{
    const double bottom = bottom_of(program, scale);
    const struct time_axis axis = time_axis_make(
        longest_of(program, scale), &program->scale_unit[scale], LEFT, RIGHT, TOP, bottom);
    double y = TOP + (STEP - THICK) / 2;
    text_format(text,
                "<svg class=\"chart\" id=\"program-%zu-bars-%zu\" viewBox=\"0 0 %d %.0f\" "
                "role=\"img\">\n<text class=\"title\" x=\"2\" y=\"16\">Where the time of a task "
                "goes</text>\n",
                program->number, scale + 1, CHART_WIDTH, program_bars_height(program, scale));
    time_axis_put(&axis, "time of a task, mean over all tasks", text);
    for (size_t i = 0; i < program->runs; i++) {
        if (program->scale[i] != scale) continue;
        put_bar(program, &program->run[i], y, &axis, text);
        y += STEP;
    }
    put_legend(program, scale, text);
    leat_text_puts(text, "</svg>\n");
}
