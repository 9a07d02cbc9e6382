/* One layout for each family of topologies. */
#include "fabric_draw_layout.h"
#include <math.h>

#define TURN 6.283185307179586

enum {
    LINE_STRAIGHT_MAX = 24, /* longer lines are folded */
    ROW_MAX = 6,            /* terminals of a router that stand in a row, not in a circle */
    STRESS_MAX = 512,       /* larger graphs are not optimised */
    STRESS_ROUNDS = 200,
    BLOCK_DIMENSIONS = 3, /* of a lattice that is drawn as one block; others set blocks apart */
};

static const double DOT_PITCH = 0.22, DOT_AWAY = 0.42, DEPTH = 0.5;

/* ---- terminals ------------------------------------------------------------------------------ */

static double circle_radius(double pitch, uint32_t count)
{
    return pitch * count / TURN;
}

static double dots_radius(uint32_t count)
{
    return fmax(DOT_AWAY, circle_radius(0.75 * DOT_PITCH, count));
}

struct fabric_point fabric_layout_terminal(const struct fabric_layout *layout, uint32_t router,
                                           double side, uint32_t index, uint32_t count)
{
    const struct fabric_point at = layout->router[router];
    if (layout->in_a_row || count <= ROW_MAX) {
        const double away = layout->in_a_row ? 2 * DOT_AWAY : DOT_AWAY;
        const double along = DOT_PITCH * (index - (count - 1) / 2.0);
        return (struct fabric_point){ at.x + away * cos(side) - along * sin(side),
                                      at.y + away * sin(side) + along * cos(side) };
    }
    const double angle = side + TURN * index / count, radius = dots_radius(count);
    return (struct fabric_point){ at.x + radius * cos(angle), at.y + radius * sin(angle) };
}

/* The most terminals at one router. */
static uint32_t most_terminals(const struct leat_net_topology *t)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < t->routers; r++) {
        uint32_t count = 0;
        for (uint32_t o = t->out_first[r]; o < t->out_first[r + 1]; o++)
            count += t->out_to[o] != LEAT_NET_NONE && t->out_to[o] & LEAT_NET_TERMINAL;
        if (count > most) most = count;
    }
    return most;
}

static double gap_for(uint32_t terminals, bool in_a_row)
{
    if (in_a_row || terminals <= ROW_MAX) return fmax(1, DOT_PITCH * (terminals + 1));
    return 2 * dots_radius(terminals) + 3 * DOT_PITCH;
}

/* ---- lines and circles ---------------------------------------------------------------------- */

/* Long ones are folded. */
static void place_line(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const uint32_t n = t->routers;
    const uint32_t width = n <= LINE_STRAIGHT_MAX ? n : (uint32_t)ceil(sqrt(1.5 * n));
    for (uint32_t r = 0; r < n; r++) {
        const uint32_t row = r / width, column = r % width;
        l->router[r].x = l->gap * (row % 2 ? width - 1 - column : column);
        l->router[r].y = l->gap * row;
        l->side[r] = n == width ? TURN / 4 : TURN / 8;
    }
}

static void place_circle(struct fabric_layout *l, uint32_t first, uint32_t count,
                         struct fabric_point centre, double radius, double turned)
{
    for (uint32_t i = 0; i < count; i++) {
        const double angle = turned + TURN * i / count;
        l->router[first + i].x = centre.x + radius * cos(angle);
        l->router[first + i].y = centre.y + radius * sin(angle);
        l->side[first + i] = angle;
    }
}

static void place_ring(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const double radius = fmax(circle_radius(l->gap, t->routers), 0.5 * l->gap);
    place_circle(l, 0, t->routers, (struct fabric_point){ 0, 0 }, radius, -TURN / 4);
}

/* ---- lattices ------------------------------------------------------------------------------- */

/*
 * A step of each dimension on paper: to the right, downwards, into the depth; further dimensions
 * set whole blocks side by side and below each other.
 */
static uint32_t lattice_steps(const struct leat_net_shape *s, double gap, struct fabric_point *step)
{
    const uint32_t dimensions = leat_net_shape_dimensions(s);
    double width = 0, height = 0, pitch = gap;
    if (dimensions > 2) pitch = gap * fmax(1, DEPTH * leat_net_shape_size(s, 2) + 0.5);
    for (uint32_t d = 0; d < dimensions; d++) {
        const double steps = leat_net_shape_size(s, d) - 1;
        const bool deep = d == 2, down = d == 1 || (d > 2 && d % 2 == 0);
        const double apart = (down ? height : width) + 1.5 * gap;
        const double each = deep ? DEPTH * gap : d < 2 ? pitch : apart;
        step[d].x = down ? 0 : each;
        step[d].y = down ? each : deep ? -each : 0;
        width += steps * step[d].x;
        height += steps * fabs(step[d].y);
    }
    return dimensions;
}

static void place_lattice(const struct leat_net_topology *t, struct fabric_layout *l)
{
    struct fabric_point step[LEAT_NET_DIMENSIONS_MAX];
    const bool bent = t->shape.kind == LEAT_NET_TORUS || t->shape.kind == LEAT_NET_HYPERX;
    l->gap *= bent ? 1.4 : 1; /* room for curves */
    const uint32_t dimensions = lattice_steps(&t->shape, l->gap, step);
    l->lattice = true;
    for (uint32_t r = 0; r < t->routers; r++) {
        l->router[r] = (struct fabric_point){ 0, 0 };
        l->side[r] = TURN / 8;
        for (uint32_t d = 0; d < dimensions; d++) {
            const double c = leat_net_topology_coordinate(t, r, d);
            l->router[r].x += c * step[d].x;
            l->router[r].y += c * step[d].y;
        }
    }
}

/* Wires along one dimension to a router that is not adjacent, and wires between blocks, would cross
 * others. */
double fabric_layout_bend(const struct leat_net_topology *t, const struct fabric_layout *layout,
                          uint32_t a, uint32_t b)
{
    if (!layout->lattice) return 0;
    for (uint32_t d = 0; d < leat_net_shape_dimensions(&t->shape); d++) {
        const uint32_t i = leat_net_topology_coordinate(t, a, d);
        const uint32_t j = leat_net_topology_coordinate(t, b, d);
        const uint32_t steps = i < j ? j - i : i - j;
        if (steps == 0) continue;
        if (steps == 1 && d < BLOCK_DIMENSIONS) return 0;
        return layout->gap * (d < BLOCK_DIMENSIONS ? fmin(0.12 + 0.06 * steps, 0.42) : 0.42);
    }
    return 0;
}

/* ---- stages and levels ---------------------------------------------------------------------- */

/* `count` routers from `first` on, in a row or column whose middle is at 0. */
static void place_column(struct fabric_layout *l, uint32_t first, uint32_t count, double x)
{
    for (uint32_t i = 0; i < count; i++) {
        l->router[first + i].x = x;
        l->router[first + i].y = l->gap * (i - (count - 1) / 2.0);
        l->side[first + i] = 0;
    }
}

static void place_stages(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const uint32_t *n = t->shape.number;
    const bool clos = t->shape.kind == LEAT_NET_CLOS;
    const uint32_t outer = clos ? n[2] : t->terminals / t->radix, inner = clos ? n[1] : outer;
    const uint32_t stages = clos ? 3 : t->routers / outer;
    const double apart = fmax(2, l->gap * fmax(inner, outer) / 5);
    l->two_sides = true;
    l->side_in = TURN / 2;
    for (uint32_t s = 0, first = 0; s < stages; s++) {
        const uint32_t count = s == 0 || s == stages - 1 ? outer : inner;
        place_column(l, first, count, apart * s);
        first += count;
    }
}

static void place_grid(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const uint32_t n = t->shape.number[0];
    l->two_sides = true;
    l->side_in = TURN / 2;
    for (uint32_t r = 0; r < t->routers; r++) {
        l->router[r] = (struct fabric_point){ r % n, r / n };
        l->side[r] = TURN / 4;
    }
}

/* The leaves at the bottom. */
static void place_fattree(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const uint32_t level = t->terminals / t->shape.number[0];
    const double apart = fmax(1.8, l->gap * level / 7);
    for (uint32_t r = 0; r < t->routers; r++) {
        l->router[r] = (struct fabric_point){ l->gap * (r % level), -apart * (r / level) };
        l->side[r] = TURN / 4;
    }
}

static void place_dragonfly(const struct leat_net_topology *t, struct fabric_layout *l)
{
    const uint32_t a = t->shape.number[1], groups = t->routers / a;
    const double of_group = a == 1 ? 0 : fmax(0.7 * l->gap, circle_radius(l->gap, a));
    const double radius = circle_radius(2 * of_group + 1.6 * l->gap, groups);
    for (uint32_t g = 0; g < groups; g++) {
        const double angle = TURN * g / groups - TURN / 4;
        const struct fabric_point centre = { radius * cos(angle), radius * sin(angle) };
        place_circle(l, g * a, a, centre, of_group, angle);
    }
}

/* ---- any graph ------------------------------------------------------------------------------ */

/* Distances of all pairs in wires, in the shorter direction. */
static void fill_distances(const struct leat_net_topology *t,
                           uint16_t distance[STRESS_MAX][STRESS_MAX])
{
    static uint32_t from_one[STRESS_MAX], scratch[STRESS_MAX];
    for (uint32_t a = 0; a < t->routers; a++) {
        leat_net_topology_distances(t, a, from_one, scratch);
        for (uint32_t b = 0; b < t->routers; b++)
            if (b > a || from_one[b] < distance[b][a])
                distance[a][b] = distance[b][a] = (uint16_t)from_one[b];
    }
}

/* The position that all others prefer for a router: each at its distance by wire, near ones with
 * more weight. */
static struct fabric_point wanted(const struct fabric_layout *l, const uint16_t *distance,
                                  uint32_t routers, uint32_t r)
{
    const struct fabric_point me = l->router[r];
    double x = 0, y = 0, weights = 0;
    for (uint32_t i = 0; i < routers; i++) {
        if (i == r) continue;
        const struct fabric_point other = l->router[i];
        const double dx = me.x - other.x, dy = me.y - other.y;
        const double length = fmax(sqrt(dx * dx + dy * dy), 1e-9);
        const double want = l->gap * distance[i], weight = 1 / (want * want);
        x += weight * (other.x + dx / length * want);
        y += weight * (other.y + dy / length * want);
        weights += weight;
    }
    return (struct fabric_point){ x / weights, y / weights };
}

/* Stress, lowered one router at a time (Gansner, Koren and North 2004); from a circle, so that the
 * same graph always looks the same. */
static void place_graph(const struct leat_net_topology *t, struct fabric_layout *l)
{
    static uint16_t distance[STRESS_MAX][STRESS_MAX];
    const uint32_t n = t->routers;
    l->gap *= 1.5; /* wires come from anywhere */
    place_ring(t, l);
    if (n > STRESS_MAX || n < 3) return;
    fill_distances(t, distance);
    for (uint32_t round = 0; round < STRESS_ROUNDS; round++)
        for (uint32_t r = 0; r < n; r++)
            l->router[r] = wanted(l, distance[r], n, r);
    struct fabric_point middle = { 0, 0 };
    for (uint32_t r = 0; r < n; r++) {
        middle.x += l->router[r].x / n;
        middle.y += l->router[r].y / n;
    }
    for (uint32_t r = 0; r < n; r++)
        l->side[r] = atan2(l->router[r].y - middle.y, l->router[r].x - middle.x);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Of one dimension longer than 2, a lattice is a line or a circle. */
static void place_flat(const struct leat_net_topology *t, struct fabric_layout *l, bool round)
{
    const bool flat = leat_net_shape_dimensions(&t->shape) == 1;
    if (flat && round && t->routers > 2)
        place_ring(t, l);
    else if (flat)
        place_line(t, l);
    else
        place_lattice(t, l);
}

void fabric_layout_make(const struct leat_net_topology *t, struct fabric_layout *layout)
{
    const enum leat_net_kind kind = t->shape.kind;
    const bool in_a_row = kind == LEAT_NET_FLY || kind == LEAT_NET_BENES || kind == LEAT_NET_CLOS ||
                          kind == LEAT_NET_FATTREE;
    *layout = (struct fabric_layout){ .in_a_row = in_a_row };
    layout->gap = gap_for(most_terminals(t), in_a_row);
    switch (kind) {
    case LEAT_NET_LINE:
    case LEAT_NET_MESH: place_flat(t, layout, false); break;
    case LEAT_NET_RING:
    case LEAT_NET_TORUS:
    case LEAT_NET_HYPERX: place_flat(t, layout, true); break;
    case LEAT_NET_HYPERCUBE: place_lattice(t, layout); break;
    case LEAT_NET_CROSSBAR: place_ring(t, layout); break;
    case LEAT_NET_GRID: place_grid(t, layout); break;
    case LEAT_NET_FLY:
    case LEAT_NET_BENES:
    case LEAT_NET_CLOS: place_stages(t, layout); break;
    case LEAT_NET_FATTREE: place_fattree(t, layout); break;
    case LEAT_NET_DRAGONFLY: place_dragonfly(t, layout); break;
    case LEAT_NET_GRAPH: place_graph(t, layout); break;
    }
}
