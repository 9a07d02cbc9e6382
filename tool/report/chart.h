/*
 * A chart of lines, over an axis of loads unless it says otherwise: its data, its axes, and the
 * chart as part of a page or as a picture.
 *
 *      title
 *      |            .--o    filled mark: a mean over runs; open: the fabric was saturated there
 *      |       ____/        solid line between filled ones, dashed to open ones
 *      |______/             a band round the line: 95 % confidence
 *      +-------------- x
 *       -o- line    -x- line
 */
#ifndef LEAT_CHART_H
#define LEAT_CHART_H

#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    CHART_WIDTH = 520, /* in its own units; a page scales it */
    CHART_COLOURS = 8,
    CHART_MARKS = 5,
    CHART_STYLES = CHART_COLOURS * CHART_MARKS, /* distinguishable lines */
    CHART_TICKS_MAX = 32,
};

struct chart_point {
    double x, y;
    double half;   /* half-width of the band; NAN: unknown */
    unsigned runs; /* 0: tips do not count them */
    bool open;
};

/* Marks alone: values that were taken one by one; a line alone: a formula. */
enum chart_look { CHART_LINE_AND_MARKS, CHART_MARKS_ALONE, CHART_LINE_ALONE };

struct chart_line {
    const char *name;
    unsigned style; /* 0 .. CHART_STYLES - 1 */
    const struct chart_point *point;
    size_t count; /* at least one */
    enum chart_look look;
};

struct chart {
    const char *id; /* of the element; letters, digits and dashes */
    const char *title, *x_name, *y_name;
    const char *x_tip;     /* before x in tips; NULL: "load" */
    const char *y_unit;    /* in tips: "cycles" */
    const char *open_name; /* what open marks mean: "saturated" */
    const char *diagonal;  /* label of the line y = x; NULL: there is none */
    int decimals;          /* of y in tips */
    bool may_be_log;       /* y is never negative and may span decades */
    bool x_is_log;         /* no x is zero */
    const struct chart_line *line;
    size_t lines;
};

struct chart_axis {
    double min, max;
    bool is_log;
    size_t ticks;
    double tick[CHART_TICKS_MAX];
};

/* The colour and the mark of a style; each combination is unique. */
unsigned chart_colour(unsigned style);
unsigned chart_mark(unsigned style);

/* Axes that cover all points, with ticks at round numbers. */
void chart_axes(const struct chart *chart, struct chart_axis *x, struct chart_axis *y);

/* An axis from zero that covers a value, with ticks at round numbers; what a tick says: 0.05, 250,
 * 20k, 3M. */
void chart_linear_axis(double max, struct chart_axis *out);
void chart_put_tick(struct leat_text *text, double value);

/* The style sheet rules for charts, once per page. */
void chart_style(struct leat_text *text);

/* The same for a picture on white paper. */
void chart_style_on_paper(struct leat_text *text);

/* Its height at width CHART_WIDTH. */
double chart_height(const struct chart *chart);

/* The chart as an <svg> element. */
void chart_write(const struct chart *chart, struct leat_text *text);

#endif
