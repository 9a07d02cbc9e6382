/*
 * A topology as a picture: self-contained SVG, readable on light and dark backgrounds. Routers are
 * numbered, terminals are dots, both directions of a wire are one line. If `use` is given (the
 * utilisation of each output port, 0 to 1), a line has the colour and width of its busier
 * direction, and there is a legend; tooltips show both directions.
 */
#ifndef LEAT_FABRIC_DRAW_H
#define LEAT_FABRIC_DRAW_H

#include "net_topology.h"

enum {
    FABRIC_DRAW_ROUTERS_MAX = 4096,
    FABRIC_DRAW_WIRES_MAX = 1 << 17,     /* directed */
    FABRIC_DRAW_TERMINALS_MAX = 1 << 14, /* with more, dots are omitted and the caption says so */
};

/* Is it small enough? `why`: "4900 routers, expected at most 4096 to be drawn". */
bool fabric_draw_fits(const struct leat_net_topology *t, struct leat_text *why);

/* An <svg> element of a topology that fits. `use` is NULL or has t->outs numbers. */
void fabric_draw(const struct leat_net_topology *t, const double *use, struct leat_text *text);

/*
 * The places of that picture as JSON, for a page that draws it with packets on its wires
 * (view/page).
 * All rows are flat, in pixels:
 *
 *   {"left":-40,"top":..,"width":..,"height":..,
 *    "routers":[x,y,...],
 *    "terminals":[x,y,router,...],     where they receive; [] if there are too many
 *    "senders":[x,y,router,...],       where they send, if it is elsewhere; else []
 *    "wires":[a,b,x,y,...]}            both directions; the wire bends through x,y
 */
void fabric_draw_places(const struct leat_net_topology *t, struct leat_text *text);

#endif
