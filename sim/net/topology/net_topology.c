#include "net_topology.h"
#include "net_cut.h"
#include "net_topology_parts.h"
#include <assert.h>

uint32_t *leat_net_topology_lay(struct leat_net_topology *t, struct leat_arena *arena)
{
    t->out_first = leat_arena_lay(arena, t->routers + (size_t)1, sizeof *t->out_first);
    t->in_first = leat_arena_lay(arena, t->routers + (size_t)1, sizeof *t->in_first);
    t->out_to = leat_arena_lay(arena, t->outs, sizeof *t->out_to);
    t->in_from = leat_arena_lay(arena, t->ins, sizeof *t->in_from);
    t->out_router = leat_arena_lay(arena, t->outs, sizeof *t->out_router);
    t->in_router = leat_arena_lay(arena, t->ins, sizeof *t->in_router);
    t->out_cycles = leat_arena_lay(arena, t->outs, sizeof *t->out_cycles);
    t->terminal_in = leat_arena_lay(arena, t->terminals, sizeof *t->terminal_in);
    t->terminal_out = leat_arena_lay(arena, t->terminals, sizeof *t->terminal_out);
    const size_t scratch = t->shape.kind == LEAT_NET_GRAPH ? 2 * (size_t)t->routers : 0;
    return leat_arena_lay(arena, scratch, sizeof(uint32_t));
}

static void begin(struct leat_net_topology *t, const struct leat_net_shape *shape,
                  const struct leat_net_extent *e)
{
    *t = (struct leat_net_topology){ .shape = *shape,
                                     .routers = (uint32_t)e->routers,
                                     .terminals = (uint32_t)e->terminals,
                                     .outs = (uint32_t)e->outs,
                                     .ins = (uint32_t)e->ins,
                                     .radix = (uint32_t)e->radix };
}

size_t leat_net_topology_footprint(const struct leat_net_shape *shape)
{
    struct leat_net_extent extent;
    struct leat_net_topology measured;
    struct leat_arena arena = { 0 };
    leat_net_shape_measure(shape, &extent);
    begin(&measured, shape, &extent);
    leat_net_topology_lay(&measured, &arena);
    return arena.used;
}

/* The first ports of routers that have equally many in each block. */
static void number_blocks(struct leat_net_topology *t, const struct leat_net_extent *e)
{
    uint32_t r = 0, out = 0, in = 0;
    for (uint32_t b = 0; b < e->blocks; b++) {
        for (uint64_t i = 0; i < e->block[b].routers; i++) {
            t->out_first[r] = out;
            t->in_first[r] = in;
            out += (uint32_t)e->block[b].outs;
            in += (uint32_t)e->block[b].ins;
            r++;
        }
    }
    t->out_first[r] = out;
    t->in_first[r] = in;
}

/* The routers of a share; NULL: all. */
static void hold(struct leat_net_topology *t, const struct leat_net_share *share)
{
    uint32_t first[LEAT_NET_PARTS_MAX + 1];
    t->held_end = t->routers;
    if (!share) return;
    leat_net_cut_bounds(t, share->parts, first);
    t->held_begin = first[share->begin];
    t->held_end = first[share->end];
}

/* All ports belong to their routers and lead nowhere. */
static void clear_ports(struct leat_net_topology *t)
{
    for (uint32_t r = t->held_begin; r < t->held_end; r++) {
        for (uint32_t o = t->out_first[r]; o < t->out_first[r + 1]; o++) {
            t->out_router[o] = r;
            t->out_cycles[o] = 1;
            t->out_to[o] = LEAT_NET_NONE;
        }
        for (uint32_t i = t->in_first[r]; i < t->in_first[r + 1]; i++) {
            t->in_router[i] = r;
            t->in_from[i] = LEAT_NET_NONE;
        }
    }
}

static void wire(struct leat_net_topology *t)
{
    static void (*const makers[LEAT_NET_KINDS])(struct leat_net_topology *) = {
        [LEAT_NET_LINE] = leat_net_wire_lattice,
        [LEAT_NET_RING] = leat_net_wire_lattice,
        [LEAT_NET_CROSSBAR] = leat_net_wire_crossbar,
        [LEAT_NET_GRID] = leat_net_wire_grid,
        [LEAT_NET_MESH] = leat_net_wire_lattice,
        [LEAT_NET_TORUS] = leat_net_wire_lattice,
        [LEAT_NET_HYPERCUBE] = leat_net_wire_hypercube,
        [LEAT_NET_FLY] = leat_net_wire_fly,
        [LEAT_NET_BENES] = leat_net_wire_benes,
        [LEAT_NET_CLOS] = leat_net_wire_clos,
        [LEAT_NET_FATTREE] = leat_net_wire_fattree,
        [LEAT_NET_DRAGONFLY] = leat_net_wire_dragonfly,
        [LEAT_NET_HYPERX] = leat_net_wire_hyperx,
        [LEAT_NET_GRAPH] = leat_net_wire_graph,
    };
    makers[t->shape.kind](t);
}

static leat_err build(struct leat_net_topology *topology, const struct leat_net_shape *shape,
                      const struct leat_net_share *share, void *memory, struct leat_text *why)
{
    struct leat_net_extent extent;
    struct leat_arena arena;
    leat_err err = leat_net_shape_check(shape, why);
    if (err) return err;
    const bool graph = shape->kind == LEAT_NET_GRAPH;
    leat_net_shape_measure(shape, &extent);
    begin(topology, shape, &extent);
    leat_arena_init(&arena, memory, leat_net_topology_footprint(shape));
    uint32_t *scratch = leat_net_topology_lay(topology, &arena);
    if (graph)
        err = leat_net_graph_number(topology, why);
    else
        number_blocks(topology, &extent);
    if (err) return err;
    hold(topology, share);
    clear_ports(topology);
    wire(topology);
    return graph ? leat_net_graph_connected(topology, scratch, why) : LEAT_ERR_OK;
}

leat_err leat_net_topology_build(struct leat_net_topology *topology,
                                 const struct leat_net_shape *shape, void *memory,
                                 struct leat_text *why)
{
    return build(topology, shape, NULL, memory, why);
}

leat_err leat_net_topology_build_share(struct leat_net_topology *topology,
                                       const struct leat_net_shape *shape,
                                       const struct leat_net_share *share, void *memory,
                                       struct leat_text *why)
{
    assert(shape->kind != LEAT_NET_GRAPH);
    return build(topology, shape, share, memory, why);
}

uint32_t leat_net_router_of_out(const struct leat_net_topology *t, uint32_t out)
{
    return leat_net_cut_part(t->out_first, t->routers, out);
}

void leat_net_topology_distances(const struct leat_net_topology *topology, uint32_t from,
                                 uint32_t *distance, uint32_t *scratch)
{
    const struct leat_net_topology *t = topology;
    uint32_t head = 0, tail = 0;
    assert(from < t->routers);
    for (uint32_t r = 0; r < t->routers; r++)
        distance[r] = LEAT_NET_NONE;
    distance[from] = 0;
    scratch[tail++] = from;
    while (head < tail) {
        const uint32_t r = scratch[head++];
        for (uint32_t o = t->out_first[r]; o < t->out_first[r + 1]; o++) {
            if (t->out_to[o] & LEAT_NET_TERMINAL) continue; /* or absent */
            const uint32_t next = t->in_router[t->out_to[o]];
            if (distance[next] != LEAT_NET_NONE) continue;
            distance[next] = distance[r] + 1;
            scratch[tail++] = next;
        }
    }
}

uint32_t leat_net_topology_coordinate(const struct leat_net_topology *topology, uint32_t router,
                                      uint32_t dimension)
{
    const struct leat_net_shape *shape = &topology->shape;
    for (uint32_t d = 0; d < dimension; d++)
        router /= leat_net_shape_size(shape, d);
    return router % leat_net_shape_size(shape, dimension);
}
