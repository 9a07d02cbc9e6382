/* Positions in the drawing of a topology. Lengths are in units of the pitch between routers without
 * terminals; x to the right, y downwards. */
#ifndef LEAT_FABRIC_DRAW_LAYOUT_H
#define LEAT_FABRIC_DRAW_LAYOUT_H

#include "fabric_draw.h"

struct fabric_point {
    double x, y;
};

struct fabric_layout {
    struct fabric_point router[FABRIC_DRAW_ROUTERS_MAX];
    double side[FABRIC_DRAW_ROUTERS_MAX]; /* the angle of a router's terminals */
    double gap;                           /* between neighbours, with room for their terminals */
    bool lattice;                         /* in rows and columns */
    bool in_a_row;                        /* all terminals in one row */
    bool two_sides;                       /* terminals send at side_in, receive at their side */
    double side_in;
};

/* For a topology that fits. */
void fabric_layout_make(const struct leat_net_topology *t, struct fabric_layout *layout);

/* Position of the index-th of `count` terminals of a router, at this side of it. */
struct fabric_point fabric_layout_terminal(const struct fabric_layout *layout, uint32_t router,
                                           double side, uint32_t index, uint32_t count);

/* How far a wire's middle bends from the straight line, to pass beside other routers. */
double fabric_layout_bend(const struct leat_net_topology *t, const struct fabric_layout *layout,
                          uint32_t a, uint32_t b);

#endif
