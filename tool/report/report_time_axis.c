/* leat report: a horizontal axis of time, for bars and timelines. */
#include "markup.h"
#include "report.h"

enum { TICK_ROOM = 18, NAME_ROOM = 38 };

struct time_axis time_axis_make(double longest, const struct program_unit *unit, double left,
                                double right, double top, double bottom)
{
    struct chart_axis round;
    chart_linear_axis(longest / unit->seconds, &round);
    return (struct time_axis){ .left = left,
                               .right = right,
                               .top = top,
                               .bottom = bottom,
                               .seconds = round.max * unit->seconds,
                               .unit_seconds = unit->seconds,
                               .unit = unit->name };
}

double time_axis_at(const struct time_axis *axis, double seconds)
{
    return axis->left + (axis->right - axis->left) * seconds / axis->seconds;
}

void time_axis_put(const struct time_axis *axis, const char *name, struct leat_text *text)
{
    struct chart_axis round;
    chart_linear_axis(axis->seconds / axis->unit_seconds, &round);
    for (size_t i = 0; i < round.ticks; i++) {
        const double x = time_axis_at(axis, round.tick[i] * axis->unit_seconds);
        text_format(text,
                    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"quiet\" x=\"%.1f\" "
                    "y=\"%.1f\" text-anchor=\"middle\">",
                    x, axis->top, axis->bottom, x, axis->bottom + TICK_ROOM);
        chart_put_tick(text, round.tick[i]);
        leat_text_puts(text, "</text>\n");
    }
    text_format(text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s, %s</text>\n",
                (axis->left + axis->right) / 2, axis->bottom + NAME_ROOM, name, axis->unit);
}
