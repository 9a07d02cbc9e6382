/*
 * A topology as a picture: self-contained SVG, readable on light and dark backgrounds. Routers are
 * numbered, terminals are dots, both directions of a wire are one line. If `use` is given (the
 * utilisation of each output port, 0 to 1), a line has the colour and width of its busier
 * direction, and there is a legend; tooltips show both directions.
 */
#ifndef LEAT_FABRIC_DRAW_H
#define LEAT_FABRIC_DRAW_H

#include "net_topology.h"
#include <stdio.h>

enum {
    FABRIC_DRAW_ROUTERS_MAX = 4096,
    FABRIC_DRAW_WIRES_MAX = 1 << 17,     /* directed */
    FABRIC_DRAW_TERMINALS_MAX = 1 << 14, /* with more, dots are omitted and the caption says so */
};

/* Is it small enough? `why`: "4900 routers, expected at most 4096 to be drawn". */
bool fabric_draw_fits(const struct leat_net_topology *t, struct leat_text *why);

/* A file. `use` is NULL or has t->outs numbers. False, with nothing written, if it does not fit;
 * the caller checks `out` for write errors. */
bool fabric_draw(const struct leat_net_topology *t, const double *use, FILE *out);

/* The same without the XML prologue, for embedding in a page. */
bool fabric_draw_element(const struct leat_net_topology *t, const double *use, FILE *out);

#endif
