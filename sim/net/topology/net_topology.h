/*
 * Topologies: routers, the wires between them, and terminals (where hosts sit) at some of them.
 * Wires are directed and carry a flit per cycle. A router has output ports 0.. and input ports 0..;
 * all output ports of all routers have one number line, all input ports another:
 *
 *    router r:  out_first[r] + p            p = 0, 1, ... : first those to routers, then terminals
 *               in_first[r] + p                             (absent wires keep their port: NONE)
 *
 *    terminal t --> terminal_in[t] ... router ... out_to[o] --> input port
 *                                      router ... terminal_out[t] --> t
 *
 * Orders of the built-in kinds; routing by closed form relies on them. Digits and coordinates are
 * counted from the lowest, which is 0. Where all wires go both ways (*), input port p faces the
 * same neighbour as output port p. Of T terminals at each router, r has those from r T on.
 *
 *   line, ring, mesh, torus *
 *       2d: up in dimension d, 2d+1: down; absent at the borders. A ring of two: 2d alone, one wire
 *       per pair, and 2d+1 is absent; of one: both are. Dimension 0 counts fastest
 *   hypercube *
 *       d: the other side of dimension d
 *   hyperx *
 *       dimension by dimension, to the other coordinates in rising order
 *   crossbar
 *       one router, whose ports are all terminals
 *   grid
 *       N x N crosspoints of 2 x 2, row by row: out 0 to the right, 1 downwards; in 0 from the
 *       left, 1 from above. Terminal t sends into the left end of row t (in 0) and receives at the
 *       lower end of column t (out 1); at the right out 0 is absent, at the top in 1
 *   fly
 *       stage by stage, k^(n-1) switches each; switch w has the rows k w ... k w + k-1. Row x of
 *       stage s goes on in the row that has digits 0 and n-1-s of x changed over (Dally and Towles
 *       2004, 4.1). Terminal t sends into row t of the first stage and receives from row t of the
 *       last: at stage s, the way to t is out (digit n-1-s of t)
 *   benes
 *       stage by stage, N/2 switches each. A network of N is a column of switches, whose out 0 and
 *       1 go to the upper and the lower network of N/2, and a column whose in 0 and 1 come from
 *       them: switch i has place i in both. Terminals as with fly. With N = 2^L, any out will do at
 *       stages 0 .. L-2; at stage s from L-1 on, the way to t is out (bit 2L-2-s of t)
 *   clos
 *       stage by stage: r of e x m, m of r x r, r of m x e. Out p goes to switch p of the next
 *       stage, and there comes in by the number of its switch. Terminals as with fly, by e
 *   fattree *
 *       level by level from the leaves, k^(n-1) each: first the k down (leaves: terminals), then
 *       the k up; the top has no up. Router w of level l is joined to those of level l+1 that
 *       differ from w in digit l only (Petrini and Vanneschi 1997): up k+p to the one whose digit l
 *       is p, down p likewise. At level l, the way down to terminal t is down (digit l of t)
 *   dragonfly *
 *       group by group; within the group to the other routers in rising order, then the h global
 *       ones. Global wires c = 0 .. a h - 1 of a group (wire c is the (c mod h)th of router c / h)
 *       go to the other groups in rising order (Kim, Dally, Scott and Abts 2008)
 *   graph
 *       in the order of the edges; one in both directions: first from a to b, then back
 */
#ifndef LEAT_NET_TOPOLOGY_H
#define LEAT_NET_TOPOLOGY_H

#include "leat_err.h"
#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_net_kind {
    LEAT_NET_LINE,      /* N */
    LEAT_NET_RING,      /* N */
    LEAT_NET_CROSSBAR,  /* N */
    LEAT_NET_GRID,      /* N: a crossbar of N x N crosspoints (seed 001, 8.3, figure 8.16 c) */
    LEAT_NET_MESH,      /* K1, K2, ... */
    LEAT_NET_TORUS,     /* K1, K2, ... */
    LEAT_NET_HYPERCUBE, /* dimensions */
    LEAT_NET_FLY,       /* k, n: k-ary n-fly, k^n terminals */
    LEAT_NET_BENES,     /* N: a power of two */
    LEAT_NET_CLOS,      /* e, m, r */
    LEAT_NET_FATTREE,   /* k, n: k-ary n-tree, k^n terminals, n levels of k^(n-1) routers */
    LEAT_NET_DRAGONFLY, /* p, a, h: a h + 1 groups of a routers of p terminals, h global wires */
    LEAT_NET_HYPERX,    /* S1, S2, ... */
    LEAT_NET_GRAPH,     /* edges */
};

enum {
    LEAT_NET_KINDS = LEAT_NET_GRAPH + 1,
    LEAT_NET_NUMBERS_MAX = 8,
    LEAT_NET_DIMENSIONS_MAX = 20, /* of a hypercube; other lattices: NUMBERS_MAX */
    LEAT_NET_ROUTERS_MAX = 1 << 24,
    LEAT_NET_TERMINALS_MAX = 1 << 24,
    LEAT_NET_PORTS_MAX = 1 << 27, /* output ports of all routers */
    LEAT_NET_RADIX_MAX = 1024,    /* ports of a router */
    LEAT_NET_WIRE_CYCLES_MAX = 1000,
};

#define LEAT_NET_NONE UINT32_MAX

/* In out_to and in_from: a terminal, not a port. (NONE has this bit too.) */
#define LEAT_NET_TERMINAL UINT32_C(0x80000000)

/* The same, of a part of a network: a wire that it shares with another part. (Only
 * where TERMINAL is not set: NONE has all bits.) */
#define LEAT_NET_CROSSING UINT32_C(0x40000000)

/* A wire in both directions, or from a to b only. */
struct leat_net_edge {
    uint32_t a, b;
    uint32_t cycles; /* 0: the shape's */
    bool one_way;
};

/* What a topology is built from. */
struct leat_net_shape {
    enum leat_net_kind kind;
    uint32_t number[LEAT_NET_NUMBERS_MAX], numbers;
    uint32_t terminals; /* at each router of line, ring, mesh, torus, hypercube, hyperx and graph */
    uint32_t wire_cycles; /* 1 .. */
    /* line, ring, mesh, torus: boards of so many routers along each dimension, and the cycles of
     * wires between boards; 0: no boards. */
    uint32_t board, board_cycles;
    /* Graphs only; the edges are lent while the shape is used. */
    uint32_t routers, edges;
    const struct leat_net_edge *edge;
    const uint32_t *terminal_at; /* the router of each terminal; NULL: `terminals` at each */
    uint32_t terminal_count;     /* where terminal_at is not NULL */
};

/* What one process has of a network in parts (net_cut.h): parts begin .. end - 1 of so many. */
struct leat_net_share {
    uint32_t parts, begin, end;
};

/* The other end of a wire that leads into another part: its input or output port there. */
struct leat_net_cut {
    uint32_t part, port;
    uint32_t cycles; /* of the wire */
};

struct leat_net_topology {
    struct leat_net_shape shape;
    uint32_t routers, terminals, outs, ins;
    uint32_t processors;            /* the last terminals: one of each router, or none at all */
    uint32_t radix;                 /* the largest number of inputs or outputs of any router */
    uint32_t wires;                 /* between routers; directed */
    uint32_t *out_first, *in_first; /* [routers + 1] */
    uint32_t *out_to;               /* [outs] an input port, TERMINAL | t, or NONE */
    uint32_t *in_from;              /* [ins] an output port, TERMINAL | t, or NONE */
    uint32_t *out_router;           /* [outs] */
    uint32_t *in_router;            /* [ins] */
    uint16_t *out_cycles;           /* [outs] of its wire; those to terminals: 1 */
    uint32_t *terminal_in;          /* [terminals] the input port that it sends to */
    uint32_t *terminal_out;         /* [terminals] the output port that it receives from */

    /* Routers whose wires are known: all, unless it was built for a share. Then the four arrays
     * above _cycles, and that one, have their ports and those at the other ends of their wires
     * only. */
    uint32_t held_begin, held_end;

    /* Of a part (net_cut.h), whose routers, ports and terminals are numbered from 0; all zero: of a
     * whole network. */
    uint32_t router_first, out_base, in_base; /* their numbers in the whole */
    uint32_t *terminal;                       /* [terminals] their numbers in the whole */
    struct leat_net_cut *out_cut, *in_cut;    /* out_to, in_from: CROSSING | index */
    uint32_t out_cuts, in_cuts;
    uint32_t cut_cycles; /* of the longest wire into this part */
};

/* "mesh" ...; NULL past the last. */
const char *leat_net_kind_name(enum leat_net_kind kind);
bool leat_net_kind_find(const char *name, size_t len, enum leat_net_kind *out);

/* What its numbers mean, for users: "K1,K2,..."; "" for a graph, which has none. */
const char *leat_net_kind_numbers(enum leat_net_kind kind);

/* Can it be built? On error `why` has one line for the user: what is wrong, and what was expected.
 * The caller names the shape. */
leat_err leat_net_shape_check(const struct leat_net_shape *shape, struct leat_text *why);

/* Octets of memory for a checked shape. */
size_t leat_net_topology_footprint(const struct leat_net_shape *shape);

/* Builds the topology. Refuses a graph in which some router cannot reach another. `memory` is
 * aligned for any object and lent for the topology's lifetime. On error *topology is unusable and
 * `why` has one line. */
leat_err leat_net_topology_build(struct leat_net_topology *topology,
                                 const struct leat_net_shape *shape, void *memory,
                                 struct leat_text *why);

/*
 * The same for a process that has a share of the network, so that several machines can have a
 * network that is too large for one. Not for graphs. `memory` is ZEROED; what belongs to the wires
 * of other routers is not touched: a system that gives memory page by page does not give it.
 */
leat_err leat_net_topology_build_share(struct leat_net_topology *topology,
                                       const struct leat_net_shape *shape,
                                       const struct leat_net_share *share, void *memory,
                                       struct leat_text *why);

/*
 * The same topology with a terminal more at each router, for a processor: that of router r is
 * terminal `plain->terminals + r`, at the last port of r. Packets to and from processors pass one
 * wire at most. `plain` need not stay; `memory` is as for build.
 */
leat_err leat_net_processors_check(const struct leat_net_topology *plain, struct leat_text *why);
size_t leat_net_processors_footprint(const struct leat_net_topology *plain);
void leat_net_processors_add(const struct leat_net_topology *plain, void *memory,
                             struct leat_net_topology *out);

/* The class of a Clos network by the published rule: non-blocking (m >= 2e-1), rearrangeable (m >=
 * e), blocking. Other kinds with such a class: crossbar, grid: non-blocking; benes: rearrangeable;
 * fly: blocking. NULL for the rest. */
const char *leat_net_shape_class(const struct leat_net_shape *shape);

/* The fewest wires from router to router; LEAT_NET_NONE: unreachable. `scratch` has room for as
 * many numbers as there are routers; distance[routers] is set for all. */
void leat_net_topology_distances(const struct leat_net_topology *topology, uint32_t from,
                                 uint32_t *distance, uint32_t *scratch);

/* The router at the other end of an output port; NONE: a terminal or nothing. */
static inline uint32_t leat_net_behind(const struct leat_net_topology *topology, uint32_t out)
{
    const uint32_t to = topology->out_to[out];
    return to & LEAT_NET_TERMINAL ? LEAT_NET_NONE : topology->in_router[to];
}

_Static_assert((LEAT_NET_NONE & LEAT_NET_TERMINAL) != 0, "an absent wire leads to no router");

/* The coordinate of a router in a dimension of line, ring, mesh, torus, hypercube, hyperx:
 * dimension 0 counts fastest. */
uint32_t leat_net_topology_coordinate(const struct leat_net_topology *topology, uint32_t router,
                                      uint32_t dimension);
uint32_t leat_net_shape_dimensions(const struct leat_net_shape *shape);
/* The size of a dimension; hypercube: 2, line and ring: N. */
uint32_t leat_net_shape_size(const struct leat_net_shape *shape, uint32_t dimension);

#endif
