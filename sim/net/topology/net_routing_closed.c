/* Routing by coordinates and digits: lattices, stages, fat trees and dragonflies. */
#include "net_routing_parts.h"

/* ---- lattices ------------------------------------------------------------------------------- */

uint32_t leat_net_toward_lattice(const struct leat_net_routing *routing, uint32_t router,
                                 const struct leat_net_goal *goal, uint32_t leg,
                                 struct leat_net_route *route, struct leat_net_turn *turn,
                                 struct leat_net_option *option)
{
    leat_net_step_in_lattice(routing, routing->place[router], goal->place, leg, route, turn,
                             option);
    return 1;
}

uint32_t leat_net_lattice_near(const struct leat_net_routing *routing, uint32_t router,
                               const struct leat_net_goal *goal, struct leat_net_option *options)
{
    const uint32_t here = routing->place[router];
    uint32_t count = 0;
    for (uint32_t i = 0; i < routing->dimensions; i++) {
        const struct leat_net_dimension *d = &routing->dimension[i];
        const uint32_t from = leat_net_coordinate(d, here),
                       to = leat_net_coordinate(d, goal->place);
        if (from == to) continue;
        bool up = to > from, down = !up;
        if (d->form == LEAT_NET_FORM_RING) {
            const uint32_t twice = 2 * leat_net_steps_up(d, from, to);
            up = twice <= d->size;
            down = twice >= d->size;
        }
        if (d->form == LEAT_NET_FORM_FULL)
            options[count++].port = d->port[0] + leat_net_place_without(to, from);
        else if (up)
            options[count++].port = d->port[1];
        if (d->form != LEAT_NET_FORM_FULL && down) options[count++].port = d->port[0];
    }
    return count;
}

/* ---- stages, fat trees, dragonflies --------------------------------------------------------- */

uint32_t leat_net_toward_stages(const struct leat_net_routing *routing, uint32_t router,
                                const struct leat_net_goal *goal, uint32_t leg,
                                struct leat_net_route *route, struct leat_net_turn *turn,
                                struct leat_net_option *option)
{
    const struct leat_net_stage *stage = &routing->stage[routing->level[router]];
    option->port = stage->free ? leat_net_pick(route, router, turn, stage->free)
                               : goal->place >> stage->shift & stage->mask;
    option->channels = routing->channels.leg[leg].all;
    option->phase = 0;
    return 1;
}

/* At level l the digits below l are free; those from l on must match the goal's before it goes
 * down. */
uint32_t leat_net_toward_fattree(const struct leat_net_routing *routing, uint32_t router,
                                 const struct leat_net_goal *goal, uint32_t leg,
                                 struct leat_net_route *route, struct leat_net_turn *turn,
                                 struct leat_net_option *option)
{
    const uint32_t level = routing->level[router], shift = level * routing->digit_bits;
    option->channels = routing->channels.leg[leg].all;
    if (level > 0 && routing->place[router] >> shift == goal->place >> shift) {
        option->port = goal->place >> (shift - routing->digit_bits) & routing->digit_mask;
        option->phase = LEAT_NET_DOWN;
    } else {
        option->port = routing->digits + leat_net_pick(route, router, turn, routing->digits);
        option->phase = 0;
    }
    return 1;
}

uint32_t leat_net_toward_dragonfly(const struct leat_net_routing *routing, uint32_t router,
                                   const struct leat_net_goal *goal, uint32_t leg,
                                   struct leat_net_route *route, struct leat_net_turn *turn,
                                   struct leat_net_option *option)
{
    const struct leat_net_leg *channels = &routing->channels.leg[leg];
    const uint32_t here = routing->place[router], bits = routing->digit_bits;
    const uint32_t group = here >> bits, index = here & routing->digit_mask;
    uint32_t to = goal->place & routing->digit_mask;
    (void)turn;
    option->phase = route->phase;
    option->channels = route->phase == LEAT_NET_ACROSS ? channels->second : channels->first;
    if (group != goal->place >> bits) {
        const struct leat_net_goal *gate =
            &routing->gate[leat_net_place_without(goal->place >> bits, group)];
        if (gate->router == index) {
            *option = (struct leat_net_option){ gate->port, channels->all, LEAT_NET_ACROSS };
            return 1;
        }
        to = gate->router;
    }
    option->port = leat_net_place_without(to, index);
    return 1;
}

/* ---- places --------------------------------------------------------------------------------- */

/* Bits that hold the numbers below `count`. */
static uint32_t bits_for(uint32_t count)
{
    uint32_t bits = 0;
    while ((uint64_t)1 << bits < count)
        bits++;
    return bits;
}

/* A number's digits in base k, packed. */
static uint32_t in_digits(uint32_t number, uint32_t k, uint32_t bits)
{
    uint32_t place = 0;
    for (uint32_t shift = 0; number; shift += bits) {
        place |= number % k << shift;
        number /= k;
    }
    return place;
}

static void add_dimension(struct leat_net_routing *routing, uint32_t size, enum leat_net_form form,
                          uint32_t up, uint32_t down)
{
    struct leat_net_dimension *d = &routing->dimension[routing->dimensions];
    const struct leat_net_dimension *before = routing->dimensions ? d - 1 : NULL;
    const uint32_t bits = bits_for(size);
    const bool classes = form == LEAT_NET_FORM_RING && size >= LEAT_NET_RING_CLASSES_MIN;
    *d = (struct leat_net_dimension){ .shift = before ? before->shift + bits_for(before->size) : 0,
                                      .mask = (UINT32_C(1) << bits) - 1,
                                      .size = size,
                                      .port = { (uint16_t)down, (uint16_t)up },
                                      .form = (uint8_t)form };
    for (uint32_t i = 0; i < 2; i++) {
        const struct leat_net_leg *leg = &routing->channels.leg[i];
        d->channels[i][0] = classes ? leg->second : leg->all;
        d->channels[i][1] = classes ? leg->first : leg->all;
    }
    for (uint32_t i = 0; i < bits; i++)
        routing->dimension_of[d->shift + i] = (uint8_t)routing->dimensions;
    routing->dimensions++;
}

/* A ring of two has one wire, up; a ring of one has none. */
static void add_ring(struct leat_net_routing *routing, uint32_t size, uint32_t up)
{
    if (size <= 2)
        add_dimension(routing, size, LEAT_NET_FORM_LINE, up, up);
    else
        add_dimension(routing, size, LEAT_NET_FORM_RING, up, up + 1);
}

static void add_dimensions(struct leat_net_routing *routing)
{
    const struct leat_net_shape *shape = &routing->topology->shape;
    const bool rings = shape->kind == LEAT_NET_RING || shape->kind == LEAT_NET_TORUS;
    uint32_t port = 0;
    if (shape->kind == LEAT_NET_GRID) { /* columns to the right, then rows downwards */
        add_dimension(routing, shape->number[0], LEAT_NET_FORM_LINE, 0, LEAT_NET_NONE16);
        add_dimension(routing, shape->number[0], LEAT_NET_FORM_LINE, 1, LEAT_NET_NONE16);
    }
    for (uint32_t i = 0; i < leat_net_shape_dimensions(shape); i++) {
        const uint32_t size = leat_net_shape_size(shape, i);
        if (shape->kind == LEAT_NET_HYPERX) {
            add_dimension(routing, size, LEAT_NET_FORM_FULL, port, port);
            port += size - 1;
        } else if (shape->kind == LEAT_NET_HYPERCUBE) {
            add_dimension(routing, size, LEAT_NET_FORM_LINE, i, i);
        } else if (rings) {
            add_ring(routing, size, 2 * i);
        } else {
            add_dimension(routing, size, LEAT_NET_FORM_LINE, 2 * i, 2 * i + 1);
        }
    }
}

/* Counts through all places as the routers are numbered. */
static void fill_lattice(struct leat_net_routing *routing)
{
    uint32_t place = 0;
    add_dimensions(routing);
    for (uint32_t r = 0; r < routing->topology->routers; r++) {
        routing->place[r] = place;
        for (uint32_t i = 0; i < routing->dimensions; i++) {
            const struct leat_net_dimension *d = &routing->dimension[i];
            if (leat_net_coordinate(d, place) < d->size - 1) {
                place += UINT32_C(1) << d->shift;
                break;
            }
            place &= ~(d->mask << d->shift);
        }
    }
}

/* All stages or levels have the same number of routers. */
static void fill_levels(struct leat_net_routing *routing, uint32_t each)
{
    for (uint32_t r = 0; r < routing->topology->routers; r++)
        routing->level[r] = (uint8_t)(r / each);
}

static void fill_fly(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t k = t->shape.number[0], n = t->shape.number[1], bits = bits_for(k);
    const uint32_t hosts = routing->hosts;
    fill_levels(routing, hosts / k);
    for (uint32_t s = 0; s < n; s++)
        routing->stage[s] = (struct leat_net_stage){ 0, bits * (n - 1 - s),
                                                     (UINT32_C(1) << bits) - 1 };
    for (uint32_t i = 0; i < hosts; i++)
        routing->target[i].place = in_digits(i, k, bits);
}

static void fill_benes(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t hosts = routing->hosts, stages = t->routers / (hosts / 2);
    fill_levels(routing, hosts / 2);
    for (uint32_t s = 0; s < stages; s++)
        routing->stage[s] = s < stages / 2 ? (struct leat_net_stage){ 2, 0, 0 }
                                           : (struct leat_net_stage){ 0, stages - 1 - s, 1 };
    for (uint32_t i = 0; i < hosts; i++)
        routing->target[i].place = i;
}

static void fill_clos(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t e = t->shape.number[0], m = t->shape.number[1], r = t->shape.number[2];
    for (uint32_t i = 0; i < t->routers; i++)
        routing->level[i] = i < r ? 0 : i < r + m ? 1 : 2;
    routing->stage[0] = (struct leat_net_stage){ m, 0, 0 };
    routing->stage[1] = (struct leat_net_stage){ 0, 0, UINT32_MAX };
    for (uint32_t i = 0; i < routing->hosts; i++)
        routing->target[i].place = i / e;
}

static void fill_fattree(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t k = t->shape.number[0], each = routing->hosts / k;
    routing->digits = k;
    routing->digit_bits = bits_for(k);
    routing->digit_mask = (UINT32_C(1) << routing->digit_bits) - 1;
    fill_levels(routing, each);
    for (uint32_t r = 0; r < t->routers; r++)
        routing->place[r] = in_digits(r % each, k, routing->digit_bits);
}

static void fill_dragonfly(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    const uint32_t a = t->shape.number[1], h = t->shape.number[2];
    routing->digit_bits = bits_for(a);
    routing->digit_mask = (UINT32_C(1) << routing->digit_bits) - 1;
    for (uint32_t r = 0; r < t->routers; r++)
        routing->place[r] = r / a << routing->digit_bits | r % a;
    for (uint32_t c = 0; c < a * h; c++)
        routing->gate[c] = (struct leat_net_goal){ .router = c / h, .port = a - 1 + c % h };
}

void leat_net_places_lay(struct leat_net_routing *routing, struct leat_arena *arena)
{
    const struct leat_net_topology *t = routing->topology;
    const enum leat_net_kind kind = t->shape.kind;
    const bool stages = kind == LEAT_NET_FLY || kind == LEAT_NET_BENES || kind == LEAT_NET_CLOS;
    const size_t gates = kind == LEAT_NET_DRAGONFLY
                             ? (size_t)t->shape.number[1] * t->shape.number[2]
                             : 0;
    routing->has_places = leat_net_kind_is_lattice(kind) || kind == LEAT_NET_GRID ||
                          kind == LEAT_NET_FATTREE || kind == LEAT_NET_DRAGONFLY;
    routing->target = leat_arena_lay(arena, t->terminals, sizeof *routing->target);
    routing->place = leat_arena_lay(arena, routing->has_places ? t->routers : 0,
                                    sizeof *routing->place);
    routing->level = leat_arena_lay(arena, stages || kind == LEAT_NET_FATTREE ? t->routers : 0,
                                    sizeof *routing->level);
    routing->gate = leat_arena_lay(arena, gates, sizeof *routing->gate);
}

void leat_net_places_fill(struct leat_net_routing *routing)
{
    const struct leat_net_topology *t = routing->topology;
    for (uint32_t i = 0; i < t->terminals; i++) {
        const uint32_t router = leat_net_router_of_out(t, t->terminal_out[i]);
        routing->target[i] = (struct leat_net_goal){
            .router = router, .port = t->terminal_out[i] - t->out_first[router]
        };
    }
    switch (t->shape.kind) {
    case LEAT_NET_LINE:
    case LEAT_NET_RING:
    case LEAT_NET_GRID:
    case LEAT_NET_MESH:
    case LEAT_NET_TORUS:
    case LEAT_NET_HYPERCUBE:
    case LEAT_NET_HYPERX: fill_lattice(routing); break;
    case LEAT_NET_FLY: fill_fly(routing); return;
    case LEAT_NET_BENES: fill_benes(routing); return;
    case LEAT_NET_CLOS: fill_clos(routing); return;
    case LEAT_NET_FATTREE: fill_fattree(routing); break;
    case LEAT_NET_DRAGONFLY: fill_dragonfly(routing); break;
    case LEAT_NET_CROSSBAR:
    case LEAT_NET_GRAPH: return;
    }
    for (uint32_t i = 0; i < t->terminals; i++)
        routing->target[i].place = routing->place[routing->target[i].router];
}
