/* leat report: octets between tasks, a cell for each pair that sent. */
#include "markup.h"
#include "report.h"
#include <math.h>

enum {
    LEFT = 62,
    TOP = 34,
    SIDE = 360,
    HEIGHT = TOP + SIDE + 48,
    KEY_AT = LEFT + SIDE + 22,
    KEY_STEP = 22,
    KEYS = 5,
    TICKS_MAX = 8,
};

/* Beyond this ratio the smaller cells of a linear scale would all look empty. */
static const double log_from_ratio = 30;
static const double faintest = 0.14; /* the opacity of the smallest value */

struct shades {
    double min, max; /* of what is not zero */
    bool is_log;
};

static struct shades find_shades(const struct program_matrix *m)
{
    struct shades s = { .min = INFINITY };
    for (size_t i = 0; i < (size_t)m->rows * m->rows; i++)
        if (m->octets[i] > 0) {
            s.min = fmin(s.min, m->octets[i]);
            s.max = fmax(s.max, m->octets[i]);
        }
    s.is_log = s.max > log_from_ratio * s.min;
    return s;
}

/* Messages without octets are fainter than any other. */
static double opacity(const struct shades *s, double octets)
{
    if (!(octets > 0)) return faintest / 2;
    const double share = s->is_log ? log(octets / s->min) / log(s->max / s->min) : octets / s->max;
    return faintest + (1 - faintest) * share;
}

/* The value of a key: even steps of the scale, the smallest first. */
static double key_value(const struct shades *s, int key)
{
    return s->is_log ? s->min * pow(s->max / s->min, (double)key / (KEYS - 1))
                     : s->max * (key + 1) / KEYS;
}

static void put_keys(const struct shades *s, struct leat_text *text)
{
    text_format(text, "<text x=\"%d\" y=\"%d\">octets</text>\n", KEY_AT, TOP + 10);
    if (s->is_log)
        text_format(text, "<text class=\"quiet small\" x=\"%d\" y=\"%d\">log scale</text>\n",
                    KEY_AT, TOP + 24);
    for (int i = 0; i <= KEYS; i++) {
        const int y = TOP + 34 + KEY_STEP * (KEYS - i);
        const double value = i ? key_value(s, i - 1) : 0;
        text_format(text,
                    "<rect class=\"cell key\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" "
                    "fill-opacity=\"%.3f\"/><text x=\"%d\" y=\"%d\">%.4g%s</text>\n",
                    KEY_AT, y, i ? opacity(s, value) : 0, KEY_AT + 20, y + 11,
                    value >= 1e6   ? value / 1e6
                    : value >= 1e4 ? value / 1e3
                                   : value,
                    value >= 1e6   ? "M"
                    : value >= 1e4 ? "k"
                                   : "");
    }
}

/* "task 3" or "tasks 16 to 31". */
static void put_group(const struct program_matrix *m, uint32_t group, uint32_t tasks,
                      struct leat_text *text)
{
    const uint32_t first = group * m->group, after = first + m->group;
    const uint32_t last = (after < tasks ? after : tasks) - 1;
    if (last > first)
        text_format(text, "tasks %u to %u", first, last);
    else
        text_format(text, "task %u", first);
}

static void put_cells(const struct program_run *run, const struct shades *s, struct leat_text *text)
{
    const struct program_matrix *m = &run->matrix;
    const double side = (double)SIDE / m->rows;
    for (uint32_t from = 0; from < m->rows; from++)
        for (uint32_t to = 0; to < m->rows; to++) {
            const size_t at = (size_t)from * m->rows + to;
            if (!(m->messages[at] > 0)) continue;
            text_format(text,
                        "<rect class=\"cell\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                        "height=\"%.2f\" fill-opacity=\"%.3f\"><title>",
                        LEFT + side * to, TOP + side * from, side, side, opacity(s, m->octets[at]));
            put_group(m, from, run->tasks, text);
            leat_text_puts(text, " to ");
            put_group(m, to, run->tasks, text);
            text_format(text, ": %.0f octets in %.0f message%s</title></rect>\n", m->octets[at],
                        m->messages[at], m->messages[at] == 1 ? "" : "s");
        }
}

static void put_axes(const struct program_matrix *m, struct leat_text *text)
{
    const uint32_t step = (m->rows + TICKS_MAX - 1) / TICKS_MAX;
    const double side = (double)SIDE / m->rows;
    text_format(text, "<path class=\"frame\" d=\"M%d %dh%dv%dh%dz\"/>\n", LEFT, TOP, SIDE, SIDE,
                -SIDE);
    for (uint32_t i = 0; i < m->rows; i += step) {
        const double middle = side * (i + 0.5);
        text_format(text,
                    "<text class=\"quiet\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>"
                    "<text class=\"quiet\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
                    LEFT - 8, TOP + middle + 4, i * m->group, LEFT + middle, TOP + SIDE + 18,
                    i * m->group);
    }
    text_format(text,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">receiver, number of the task</text>"
                "\n<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">sender, "
                "number of the task</text>\n",
                LEFT + SIDE / 2, TOP + SIDE + 38, TOP + SIDE / 2);
}

double program_matrix_height(void)
{
    return HEIGHT;
}

bool program_matrix(const struct program *program, const struct program_run *run,
                    struct leat_text *text)
{
    const struct shades shades = find_shades(&run->matrix);
    if (!run->matrix.rows) return false;
    text_format(text,
                "<svg class=\"chart\" id=\"program-%zu-matrix-%zu\" viewBox=\"0 0 %d %d\" "
                "role=\"img\">\n<text class=\"title\" x=\"2\" y=\"16\">Octets between ",
                program->number, (size_t)(run - program->run) + 1, CHART_WIDTH, HEIGHT);
    if (run->matrix.group > 1) text_format(text, "groups of %u ", run->matrix.group);
    leat_text_puts(text, "tasks</text>\n");
    put_cells(run, &shades, text);
    put_axes(&run->matrix, text);
    if (shades.max > 0) put_keys(&shades, text);
    leat_text_puts(text, "</svg>\n");
    return true;
}
