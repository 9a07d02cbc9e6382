/*
 * A surface as a map of colours: a value over an axis of loads and another parameter.
 *
 *      title
 *      8 |####|####|====|----|----|      a cell is a mean over runs; its colour is the value
 *      4 |####|====|----|////|////|      hatched: the fabric was saturated there
 *      2 |====|----|    |////|////|      empty: there is no run
 *        +--------------------------- x
 *      [ the colours of the scale ]   // saturated
 *
 * Surfaces that are compared share a scale. It covers the cells that are not saturated: latency
 * beyond saturation grows with the length of the run, and would leave one colour to all others.
 */
#ifndef LEAT_SURFACE_H
#define LEAT_SURFACE_H

#include "chart.h"

/* Points of one value of y, in the order of x. */
struct surface_row {
    double y;
    const struct chart_point *point; /* open: saturated; y NAN: nothing was measured */
    size_t count;
};

struct surface {
    const char *id; /* of the element; letters, digits and dashes */
    const char *title, *x_name, *y_name;
    const char *y_short; /* in tips: "buffer" */
    const char *z_name;  /* "mean latency" */
    const char *unit;    /* of the values: "ns" */
    const char *open_name;
    int decimals;    /* in tips */
    const double *x; /* of the columns, rising; at least two */
    size_t columns;
    const struct surface_row *row; /* y rising; at least two */
    size_t rows;
};

struct surface_scale {
    double min, max; /* of cells that are not open; min > max: there is none */
    double open_min, open_max;
    bool is_log;
};

/* A scale without values; then widened by each surface, and completed. */
#define SURFACE_SCALE_NONE \
    ((struct surface_scale){ INFINITY, -INFINITY, INFINITY, -INFINITY, false })
void surface_scale_widen(struct surface_scale *scale, const struct surface *surface);
void surface_scale_complete(struct surface_scale *scale);

/* The colour of a value, as 0xrrggbb; values outside the scale have that of its end. */
unsigned surface_colour(const struct surface_scale *scale, double value);

/* The style sheet rules for surfaces, behind those for charts; for pages and pictures. */
void surface_style(struct leat_text *text);

double surface_height(void);

/* The surface as an <svg> element. */
void surface_write(const struct surface *surface, const struct surface_scale *scale,
                   struct leat_text *text);

/* The same figures as a <table>. */
void surface_table(const struct surface *surface, struct leat_text *text);

#endif
