/* Shared by the builders of topologies. Internal. */
#ifndef LEAT_NET_TOPOLOGY_PARTS_H
#define LEAT_NET_TOPOLOGY_PARTS_H

#include "leat_arena.h"
#include "net_topology.h"

enum { LEAT_NET_BLOCKS_MAX = 3 };

/* Consecutive routers with the same number of ports. */
struct leat_net_block {
    uint64_t routers, outs, ins;
};

/* The size of a shape. Every number stays below 2^33, whatever the shape: larger ones are
 * clamped. */
struct leat_net_extent {
    uint64_t routers, terminals, outs, ins;
    uint64_t radix; /* graphs: unknown as yet */
    struct leat_net_block block[LEAT_NET_BLOCKS_MAX];
    uint32_t blocks; /* graphs: none */
};

/* For shapes whose own numbers are within limits. */
void leat_net_shape_measure(const struct leat_net_shape *shape, struct leat_net_extent *out);

/* The arrays of a topology whose counts are set. Returns the scratch for building a graph, which
 * comes after them. */
uint32_t *leat_net_topology_lay(struct leat_net_topology *t, struct leat_arena *arena);

/* line, ring, mesh, torus, hypercube, hyperx: routers have coordinates. */
bool leat_net_kind_is_lattice(enum leat_net_kind kind);

static inline bool leat_net_holds(const struct leat_net_topology *t, uint32_t router)
{
    return t->held_begin <= router && router < t->held_end;
}

/* The router of an output port, whether its wires are known or not. */
uint32_t leat_net_router_of_out(const struct leat_net_topology *t, uint32_t out);

/* Is there a wire from one router to the other? */
static inline bool leat_net_leads(const struct leat_net_topology *t, uint32_t from, uint32_t to)
{
    for (uint32_t out = t->out_first[from]; out < t->out_first[from + 1]; out++)
        if (leat_net_behind(t, out) == to) return true;
    return false;
}

/* ---- joining; all ports are absent at first -------------------------------------------------- */

static inline void leat_net_join_ports(struct leat_net_topology *t, uint32_t out, uint32_t in,
                                       uint32_t cycles)
{
    t->out_to[out] = in;
    t->in_from[in] = out;
    t->out_cycles[out] = (uint16_t)cycles;
    t->wires++;
}

/* A wire from output port p of router a to input port q of router b. */
static inline void leat_net_join(struct leat_net_topology *t, uint32_t a, uint32_t p, uint32_t b,
                                 uint32_t q)
{
    const uint32_t out = t->out_first[a] + p, in = t->in_first[b] + q;
    if (!leat_net_holds(t, a) && !leat_net_holds(t, b)) {
        t->wires++;
        return;
    }
    leat_net_join_ports(t, out, in, t->shape.wire_cycles);
    t->out_router[out] = a;
    t->in_router[in] = b;
}

static inline void leat_net_attach_in(struct leat_net_topology *t, uint32_t terminal,
                                      uint32_t router, uint32_t port)
{
    t->terminal_in[terminal] = t->in_first[router] + port;
    if (leat_net_holds(t, router))
        t->in_from[t->terminal_in[terminal]] = LEAT_NET_TERMINAL | terminal;
}

static inline void leat_net_attach_out(struct leat_net_topology *t, uint32_t terminal,
                                       uint32_t router, uint32_t port)
{
    t->terminal_out[terminal] = t->out_first[router] + port;
    if (leat_net_holds(t, router))
        t->out_to[t->terminal_out[terminal]] = LEAT_NET_TERMINAL | terminal;
}

/* Each joins the ports of its kind, terminals included. */
void leat_net_wire_lattice(struct leat_net_topology *t); /* line, ring, mesh, torus */
void leat_net_wire_hypercube(struct leat_net_topology *t);
void leat_net_wire_hyperx(struct leat_net_topology *t);
void leat_net_wire_dragonfly(struct leat_net_topology *t);
void leat_net_wire_crossbar(struct leat_net_topology *t);
void leat_net_wire_grid(struct leat_net_topology *t);
void leat_net_wire_fly(struct leat_net_topology *t);
void leat_net_wire_benes(struct leat_net_topology *t);
void leat_net_wire_clos(struct leat_net_topology *t);
void leat_net_wire_fattree(struct leat_net_topology *t);

/* Graphs: checks that all numbers are valid routers and within limits; counts wires; numbers the
 * ports of all routers; connects them; checks that every router reaches every other. `scratch` has
 * room for two numbers per router. */
leat_err leat_net_graph_check(const struct leat_net_shape *shape, struct leat_text *why);
uint64_t leat_net_graph_wires(const struct leat_net_shape *shape);
uint64_t leat_net_graph_terminals(const struct leat_net_shape *shape);
leat_err leat_net_graph_number(struct leat_net_topology *t, struct leat_text *why);
void leat_net_wire_graph(struct leat_net_topology *t);
leat_err leat_net_graph_connected(const struct leat_net_topology *t, uint32_t *scratch,
                                  struct leat_text *why);

#endif
