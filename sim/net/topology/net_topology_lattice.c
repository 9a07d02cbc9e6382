/* Topologies whose routers all have terminals: lattices, cubes and groups of cliques. */
#include "net_topology_parts.h"

/* The terminals of all routers, after their wires. */
static void attach_all(struct leat_net_topology *t, uint32_t wires, uint32_t terminals)
{
    for (uint32_t i = 0; i < t->terminals; i++) {
        leat_net_attach_in(t, i, i / terminals, wires + i % terminals);
        leat_net_attach_out(t, i, i / terminals, wires + i % terminals);
    }
}

/* A wire from `a` to its neighbour `b` along a dimension; wires between boards are longer. */
static void join(struct leat_net_topology *t, uint32_t a, uint32_t p, uint32_t b, uint32_t q,
                 uint32_t size, uint32_t stride)
{
    const uint32_t board = t->shape.board;
    leat_net_join(t, a, p, b, q);
    if (!leat_net_holds(t, a) && !leat_net_holds(t, b)) return;
    if (board && a / stride % size / board != b / stride % size / board)
        t->out_cycles[t->out_first[a] + p] = (uint16_t)t->shape.board_cycles;
}

/* All wires along a dimension of `size`, whose neighbours are `stride` routers apart. */
static void wire_dimension(struct leat_net_topology *t, uint32_t dimension, uint32_t size,
                           uint32_t stride, bool wraps)
{
    const uint32_t up = 2 * dimension, down = up + 1;
    if (size == 1) return;
    for (uint32_t r = 0; r < t->routers; r++) {
        const bool last = r / stride % size == size - 1;
        if (last && !wraps) continue;
        const uint32_t next = last ? r - (size - 1) * stride : r + stride;
        if (wraps && size == 2) {
            join(t, r, up, next, up, size, stride);
        } else {
            join(t, r, up, next, down, size, stride);
            join(t, next, down, r, up, size, stride);
        }
    }
}

void leat_net_wire_lattice(struct leat_net_topology *t)
{
    const struct leat_net_shape *s = &t->shape;
    const bool wraps = s->kind == LEAT_NET_RING || s->kind == LEAT_NET_TORUS;
    uint32_t stride = 1;
    for (uint32_t d = 0; d < s->numbers; d++) {
        wire_dimension(t, d, s->number[d], stride, wraps);
        stride *= s->number[d];
    }
    attach_all(t, 2 * s->numbers, s->terminals);
}

void leat_net_wire_hypercube(struct leat_net_topology *t)
{
    const uint32_t dimensions = t->shape.number[0];
    for (uint32_t r = 0; r < t->routers; r++)
        for (uint32_t d = 0; d < dimensions; d++)
            leat_net_join(t, r, d, r ^ UINT32_C(1) << d, d);
    attach_all(t, dimensions, t->shape.terminals);
}

/* The place of `other` among all but `self`, in rising order. */
static uint32_t place_without(uint32_t other, uint32_t self)
{
    return other < self ? other : other - 1;
}

void leat_net_wire_hyperx(struct leat_net_topology *t)
{
    const struct leat_net_shape *s = &t->shape;
    uint32_t stride = 1, port = 0;
    for (uint32_t d = 0; d < s->numbers; d++) {
        const uint32_t size = s->number[d];
        for (uint32_t r = 0; r < t->routers; r++) {
            const uint32_t self = r / stride % size, row = r - self * stride;
            for (uint32_t other = 0; other < size; other++)
                if (other != self)
                    leat_net_join(t, r, port + place_without(other, self), row + other * stride,
                                  port + place_without(self, other));
        }
        stride *= size;
        port += size - 1;
    }
    attach_all(t, port, s->terminals);
}

/* The global wires of a group: to the other groups in rising order. */
static void wire_group(struct leat_net_topology *t, uint32_t group, uint32_t a, uint32_t h)
{
    for (uint32_t c = 0; c < a * h; c++) {
        const uint32_t other = c < group ? c : c + 1, back = place_without(group, other);
        leat_net_join(t, group * a + c / h, a - 1 + c % h, other * a + back / h, a - 1 + back % h);
    }
}

void leat_net_wire_dragonfly(struct leat_net_topology *t)
{
    const uint32_t p = t->shape.number[0], a = t->shape.number[1], h = t->shape.number[2];
    for (uint32_t r = 0; r < t->routers; r++) {
        const uint32_t self = r % a;
        for (uint32_t other = 0; other < a; other++)
            if (other != self)
                leat_net_join(t, r, place_without(other, self), r - self + other,
                              place_without(self, other));
    }
    for (uint32_t group = 0; group < a * h + 1; group++)
        wire_group(t, group, a, h);
    attach_all(t, a - 1 + h, p);
}
