/* Topologies of switches in stages or levels, with terminals at their ends. */
#include "net_topology_parts.h"

void leat_net_wire_crossbar(struct leat_net_topology *t)
{
    for (uint32_t i = 0; i < t->terminals; i++) {
        leat_net_attach_in(t, i, 0, i);
        leat_net_attach_out(t, i, 0, i);
    }
}

void leat_net_wire_grid(struct leat_net_topology *t)
{
    const uint32_t n = t->shape.number[0];
    for (uint32_t r = 0; r < t->routers; r++) {
        if (r % n < n - 1) leat_net_join(t, r, 0, r + 1, 0);
        if (r / n < n - 1) leat_net_join(t, r, 1, r + n, 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        leat_net_attach_in(t, i, i * n, 0);
        leat_net_attach_out(t, i, (n - 1) * n + i, 1);
    }
}

/* Terminals on both sides, `each` at a switch; the last stage begins with switch `last`. */
static void attach_sides(struct leat_net_topology *t, uint32_t last, uint32_t each)
{
    for (uint32_t i = 0; i < t->terminals; i++) {
        leat_net_attach_in(t, i, i / each, i % each);
        leat_net_attach_out(t, i, last + i / each, i % each);
    }
}

/* `row` with its lowest digit and that of weight `weight` exchanged, in base k. */
static uint32_t change_over(uint32_t row, uint32_t k, uint32_t weight)
{
    const uint32_t low = row % k, high = row / weight % k;
    return row - low - high * weight + high + low * weight;
}

void leat_net_wire_fly(struct leat_net_topology *t)
{
    const uint32_t k = t->shape.number[0], n = t->shape.number[1];
    const uint32_t stage = t->terminals / k; /* switches */
    uint32_t weight = t->terminals;          /* of digit n-1-s */
    for (uint32_t s = 0; s + 1 < n; s++) {
        weight /= k;
        for (uint32_t row = 0; row < t->terminals; row++) {
            const uint32_t next = change_over(row, k, weight);
            leat_net_join(t, s * stage + row / k, row % k, (s + 1) * stage + next / k, next % k);
        }
    }
    attach_sides(t, (n - 1) * stage, k);
}

/* Where a row of a network of `size` rows leads after its first column: out 0 of switch i to place
 * i of the upper half, out 1 to place i of the lower. The inverse applies before the last
 * column. */
static uint32_t split(uint32_t row, uint32_t size)
{
    const uint32_t place = row % size;
    return row - place + place % 2 * (size / 2) + place / 2;
}

void leat_net_wire_benes(struct leat_net_topology *t)
{
    const uint32_t n = t->terminals, stage = n / 2, stages = t->routers / stage;
    for (uint32_t s = 0; s < stages / 2; s++) {
        const uint32_t mirror = stages - 2 - s; /* the stage before the last column of this size */
        for (uint32_t row = 0; row < n; row++) {
            const uint32_t inner = split(row, n >> s);
            leat_net_join(t, s * stage + row / 2, row % 2, (s + 1) * stage + inner / 2, inner % 2);
            leat_net_join(t, mirror * stage + inner / 2, inner % 2, (mirror + 1) * stage + row / 2,
                          row % 2);
        }
    }
    attach_sides(t, (stages - 1) * stage, 2);
}

void leat_net_wire_clos(struct leat_net_topology *t)
{
    const uint32_t e = t->shape.number[0], m = t->shape.number[1], r = t->shape.number[2];
    for (uint32_t middle = 0; middle < m; middle++) {
        for (uint32_t side = 0; side < r; side++) {
            leat_net_join(t, side, middle, r + middle, side);
            leat_net_join(t, r + middle, side, r + m + side, middle);
        }
    }
    attach_sides(t, r + m, e);
}

void leat_net_wire_fattree(struct leat_net_topology *t)
{
    const uint32_t k = t->shape.number[0], n = t->shape.number[1];
    const uint32_t level = t->terminals / k; /* routers */
    uint32_t weight = 1;                     /* of digit l */
    for (uint32_t l = 0; l + 1 < n; l++) {
        for (uint32_t w = 0; w < level; w++) {
            const uint32_t digit = w / weight % k, child = l * level + w;
            for (uint32_t p = 0; p < k; p++) {
                const uint32_t parent = (l + 1) * level + w - digit * weight + p * weight;
                leat_net_join(t, child, k + p, parent, digit);
                leat_net_join(t, parent, digit, child, k + p);
            }
        }
        weight *= k;
    }
    attach_sides(t, 0, k);
}
