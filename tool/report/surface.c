#include "surface.h"
#include "markup.h"
#include <math.h>

/* Places in the picture, in its own units, as those of charts. */
enum {
    LEFT = 62,
    RIGHT = CHART_WIDTH - 14,
    TOP = 34,
    BOTTOM = TOP + 264,
    TICK_ROOM = 18,
    NAME_ROOM = 40,
    KEY_AT = BOTTOM + 58, /* the colours of the scale */
    KEY_HEIGHT = 12,
    KEY_TICK_ROOM = 16,
    KEY_TICKS = 5,
    KEY_NAME_AT = KEY_AT + 50,
    KEY_SWATCH = 22,
    KEY_OPEN_AT = RIGHT - 150,
    HEIGHT = KEY_NAME_AT + 14,
    TICK_GAP_X = 34, /* between labels of columns, of rows */
    TICK_GAP_Y = 16,
    HATCH = 6,
};

/* Beyond this ratio a linear scale would leave the small values one colour. */
static const double log_from_ratio = 10;

/* ---- colours --------------------------------------------------------------------------------- */

/* viridis (Smith and van der Walt 2015, CC0) at even steps: lightness rises evenly, so that the
 * order is seen with any colour vision, and on paper without colours. */
static const unsigned char colours[][3] = {
    { 0x44, 0x01, 0x54 }, { 0x47, 0x2d, 0x7b }, { 0x3b, 0x52, 0x8b },
    { 0x2c, 0x72, 0x8e }, { 0x21, 0x91, 0x8c }, { 0x28, 0xae, 0x80 },
    { 0x5e, 0xc9, 0x62 }, { 0xad, 0xdc, 0x30 }, { 0xfd, 0xe7, 0x25 },
};
enum { COLOURS = sizeof colours / sizeof *colours };

static unsigned colour_at(double share)
{
    const double place = share * (COLOURS - 1);
    const unsigned from = place >= COLOURS - 1 ? COLOURS - 2 : (unsigned)place;
    unsigned colour = 0;
    for (int i = 0; i < 3; i++) {
        const double low = colours[from][i], high = colours[from + 1][i];
        colour = colour << 8 | (unsigned)lround(low + (place - from) * (high - low));
    }
    return colour;
}

void surface_scale_widen(struct surface_scale *scale, const struct surface *surface)
{
    for (size_t r = 0; r < surface->rows; r++)
        for (size_t i = 0; i < surface->row[r].count; i++) {
            const struct chart_point *p = &surface->row[r].point[i];
            double *const min = p->open ? &scale->open_min : &scale->min;
            double *const max = p->open ? &scale->open_max : &scale->max;
            *min = fmin(*min, p->y); /* NAN does not count */
            *max = fmax(*max, p->y);
        }
}

void surface_scale_complete(struct surface_scale *scale)
{
    if (scale->min > scale->max) {
        scale->min = scale->open_min;
        scale->max = scale->open_max;
    }
    if (scale->min > scale->max) scale->min = scale->max = 0;
    scale->is_log = scale->min > 0 && scale->max > log_from_ratio * scale->min;
}

static double share_of(const struct surface_scale *s, double value)
{
    if (!(value > s->min)) return 0;
    if (value >= s->max) return 1;
    return s->is_log ? log(value / s->min) / log(s->max / s->min)
                     : (value - s->min) / (s->max - s->min);
}

static double value_at(const struct surface_scale *s, double share)
{
    return s->is_log ? s->min * pow(s->max / s->min, share) : s->min + share * (s->max - s->min);
}

unsigned surface_colour(const struct surface_scale *scale, double value)
{
    return colour_at(share_of(scale, value));
}

void surface_style(struct leat_text *text)
{
    leat_text_puts(text, ".surface .tile { stroke: none; shape-rendering: crispEdges }\n"
                         ".surface .hatch-dark { stroke: #000000; stroke-width: 1.3 }\n"
                         ".surface .hatch-light { stroke: #ffffff; stroke-width: 1.3 }\n");
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The left end of a column, in the units of x: half-way to its neighbour. */
static double edge(const struct surface *s, size_t column)
{
    const double *x = s->x;
    const size_t last = s->columns - 1;
    if (column == 0) return x[0] - (x[1] - x[0]) / 2;
    if (column > last) return x[last] + (x[last] - x[last - 1]) / 2;
    return (x[column - 1] + x[column]) / 2;
}

static double across(const struct surface *s, double x)
{
    const double first = edge(s, 0);
    return LEFT + (x - first) / (edge(s, s->columns) - first) * (RIGHT - LEFT);
}

/* The upper end of a row. */
static double above(const struct surface *s, size_t row)
{
    return BOTTOM - (double)(row + 1) * (BOTTOM - TOP) / (double)s->rows;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void put_names(const struct surface *s, struct leat_text *text)
{
    text_format(text, "<text class=\"title\" id=\"%s-title\" x=\"2\" y=\"16\">", s->id);
    text_escape_short(text, s->title, 68);
    text_format(text, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                (LEFT + RIGHT) / 2, BOTTOM + NAME_ROOM);
    text_escape(text, s->x_name);
    text_format(text,
                "</text>\n<text transform=\"translate(14 %d) rotate(-90)\" "
                "text-anchor=\"middle\">",
                (TOP + BOTTOM) / 2);
    text_escape(text, s->y_name);
    leat_text_puts(text, "</text>\n");
}

/* "buffer 2: 20.0 at 0.1 to 30.0 at 0.3, saturated from 0.3": of what was measured. */
static void describe_row(const struct surface *s, const struct surface_row *row,
                         struct leat_text *text)
{
    const struct chart_point *first = NULL, *last = NULL, *open = NULL;
    for (const struct chart_point *p = row->point; p < row->point + row->count; p++) {
        if (!open && p->open) open = p;
        if (isnan(p->y)) continue;
        if (!first) first = p;
        last = p;
    }
    leat_text_puts(text, " ");
    text_escape(text, s->y_short);
    text_format(text, " %.6g:", row->y);
    if (first) text_format(text, " %.*f at %.6g", s->decimals, first->y, first->x);
    if (last > first) text_format(text, " to %.*f at %.6g", s->decimals, last->y, last->x);
    if (open) text_format(text, "%s %s from %.6g", first ? "," : "", s->open_name, open->x);
    leat_text_puts(text, ".");
}

/* For screen readers: each row in a sentence. */
static void put_description(const struct surface *s, struct leat_text *text)
{
    text_format(text, "<desc id=\"%s-desc\">", s->id);
    text_escape(text, s->z_name);
    leat_text_puts(text, " by offered load and ");
    text_escape(text, s->y_short);
    leat_text_puts(text, ".");
    for (size_t r = 0; r < s->rows; r++)
        describe_row(s, &s->row[r], text);
    leat_text_puts(text, "</desc>\n");
}

static void put_hatch(const struct surface *s, struct leat_text *text)
{
    text_format(text,
                "<defs><pattern id=\"%s-hatch\" width=\"%d\" height=\"%d\" "
                "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                "<path class=\"hatch-dark\" d=\"M1 0V%d\"/><path class=\"hatch-light\" "
                "d=\"M2.3 0V%d\"/></pattern></defs>\n",
                s->id, HATCH, HATCH, HATCH, HATCH);
}

static void put_tip(const struct surface *s, const struct surface_row *row,
                    const struct chart_point *p, struct leat_text *text)
{
    leat_text_puts(text, "<title>");
    text_escape(text, s->y_short);
    text_format(text, " %.6g at load %.6g: ", row->y, p->x);
    if (isnan(p->y))
        leat_text_puts(text, "nothing arrived");
    else
        text_format(text, "%.*f", s->decimals, p->y);
    if (p->half >= 0) text_format(text, " ± %.*f", s->decimals, p->half);
    if (!isnan(p->y)) text_format(text, " %s", s->unit);
    text_format(text, " (%u run%s)", p->runs, p->runs == 1 ? "" : "s");
    if (p->open) text_format(text, ", %s", s->open_name);
    leat_text_puts(text, "</title>");
}

static void put_rect(double x, double y, double width, double height, struct leat_text *text)
{
    text_format(text, "<rect class=\"tile\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
                x, y, width, height);
}

static void put_cell(const struct surface *s, const struct surface_scale *scale, size_t r,
                     size_t column, const struct chart_point *p, struct leat_text *text)
{
    const double x = across(s, edge(s, column)), width = across(s, edge(s, column + 1)) - x;
    const double y = above(s, r), height = (double)(BOTTOM - TOP) / (double)s->rows;
    leat_text_puts(text, "<g>");
    put_tip(s, &s->row[r], p, text);
    put_rect(x, y, width, height, text);
    if (isnan(p->y))
        leat_text_puts(text, " fill=\"none\"/>");
    else
        text_format(text, " fill=\"#%06x\"/>", surface_colour(scale, p->y));
    if (p->open) {
        put_rect(x, y, width, height, text);
        text_format(text, " fill=\"url(#%s-hatch)\"/>", s->id);
    }
    leat_text_puts(text, "</g>\n");
}

static void put_cells(const struct surface *s, const struct surface_scale *scale,
                      struct leat_text *text)
{
    for (size_t r = 0; r < s->rows; r++)
        for (size_t i = 0, column = 0; i < s->row[r].count; i++) {
            const struct chart_point *p = &s->row[r].point[i];
            while (s->x[column] < p->x)
                column++;
            put_cell(s, scale, r, column, p, text);
        }
}

/* Columns and rows are labelled with their values, as far as there is room. */
static void put_axes(const struct surface *s, struct leat_text *text)
{
    double last = -TICK_GAP_X;
    for (size_t i = 0; i < s->columns; i++) {
        const double at = across(s, s->x[i]);
        if (at < last + TICK_GAP_X) continue;
        last = at;
        text_format(text,
                    "<text class=\"quiet\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.4g"
                    "</text>\n",
                    at, BOTTOM + TICK_ROOM, s->x[i]);
    }
    last = BOTTOM + TICK_GAP_Y;
    for (size_t r = 0; r < s->rows; r++) {
        const double at = (above(s, r) + above(s, r) + (double)(BOTTOM - TOP) / (double)s->rows) /
                          2;
        if (at > last - TICK_GAP_Y) continue;
        last = at;
        text_format(text, "<text class=\"quiet\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    LEFT - 8, at + 4);
        chart_put_tick(text, s->row[r].y);
        leat_text_puts(text, "</text>\n");
    }
    text_format(text, "<path class=\"frame\" d=\"M%d %dH%dV%dH%dz\"/>\n", LEFT, TOP, RIGHT, BOTTOM,
                LEFT);
}

static void put_colours(const struct surface *s, struct leat_text *text)
{
    text_format(text, "<defs><linearGradient id=\"%s-scale\">", s->id);
    for (unsigned i = 0; i < COLOURS; i++)
        text_format(text, "<stop offset=\"%.4f\" stop-color=\"#%02x%02x%02x\"/>",
                    (double)i / (COLOURS - 1), colours[i][0], colours[i][1], colours[i][2]);
    text_format(text,
                "</linearGradient></defs>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                "fill=\"url(#%s-scale)\"/>\n",
                LEFT, KEY_AT, RIGHT - LEFT, KEY_HEIGHT, s->id);
}

static void put_key(const struct surface *s, const struct surface_scale *scale,
                    struct leat_text *text)
{
    put_colours(s, text);
    for (int i = 0; i < KEY_TICKS; i++) {
        const double share = (double)i / (KEY_TICKS - 1), value = value_at(scale, share);
        text_format(text, "<text class=\"quiet\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                    LEFT + share * (RIGHT - LEFT), KEY_AT + KEY_HEIGHT + KEY_TICK_ROOM);
        text_format(text,
                    value >= 1e5   ? "%.3g</text>\n"
                    : value >= 100 ? "%.0f</text>\n"
                                   : "%.3g</text>\n",
                    value);
    }
    text_format(text, "<text x=\"%d\" y=\"%d\">", LEFT, KEY_NAME_AT);
    text_escape(text, s->z_name);
    leat_text_puts(text, ", ");
    text_escape(text, s->unit);
    text_format(text, "%s</text>\n<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" ",
                scale->is_log ? " (log scale)" : "", KEY_OPEN_AT, KEY_NAME_AT - KEY_HEIGHT + 2,
                KEY_SWATCH);
    text_format(text,
                "height=\"%d\"/><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                "fill=\"url(#%s-hatch)\"/><text x=\"%d\" y=\"%d\">",
                KEY_HEIGHT, KEY_OPEN_AT, KEY_NAME_AT - KEY_HEIGHT + 2, KEY_SWATCH, KEY_HEIGHT,
                s->id, KEY_OPEN_AT + KEY_SWATCH + 8, KEY_NAME_AT);
    text_escape(text, s->open_name);
    leat_text_puts(text, "</text>\n");
}

double surface_height(void)
{
    return HEIGHT;
}

void surface_write(const struct surface *s, const struct surface_scale *scale,
                   struct leat_text *text)
{
    text_format(text,
                "<svg class=\"chart surface\" id=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" "
                "aria-labelledby=\"%s-title %s-desc\">\n",
                s->id, CHART_WIDTH, HEIGHT, s->id, s->id);
    put_description(s, text);
    put_hatch(s, text);
    put_names(s, text);
    put_cells(s, scale, text);
    put_axes(s, text);
    put_key(s, scale, text);
    leat_text_puts(text, "</svg>\n");
}

/* ---- as a table ------------------------------------------------------------------------------ */

static void put_table_row(const struct surface *s, const struct surface_row *row,
                          struct leat_text *text)
{
    text_format(text, "<tr><th scope=\"row\" class=\"n\">%.6g</th>", row->y);
    for (size_t c = 0, i = 0; c < s->columns; c++) {
        const struct chart_point *p = &row->point[i];
        const bool there = i < row->count && p->x == s->x[c];
        i += there;
        leat_text_puts(text, "<td class=\"n\">");
        if (!there || isnan(p->y))
            leat_text_puts(text, "–");
        else
            text_format(text, "%.*f", s->decimals, p->y);
        if (there && p->open) leat_text_puts(text, " (s)");
        leat_text_puts(text, "</td>");
    }
    leat_text_puts(text, "</tr>\n");
}

void surface_table(const struct surface *s, struct leat_text *text)
{
    leat_text_puts(text, "<div class=\"scroll\"><table class=\"surface\">\n<caption>");
    text_escape(text, s->title);
    leat_text_puts(text, ", ");
    text_escape(text, s->unit);
    text_format(text, "; (s): %s</caption>\n<thead><tr><th scope=\"col\" class=\"n\">",
                s->open_name);
    text_escape(text, s->y_name);
    leat_text_puts(text, "</th>");
    for (size_t c = 0; c < s->columns; c++)
        text_format(text, "<th scope=\"col\" class=\"n\">load<br/>%.6g</th>", s->x[c]);
    leat_text_puts(text, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < s->rows; r++)
        put_table_row(s, &s->row[r], text);
    leat_text_puts(text, "</tbody></table></div>\n");
}
