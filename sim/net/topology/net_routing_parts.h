/* Shared by the files of routing and deadlock detection. Internal. */
#ifndef LEAT_NET_ROUTING_PARTS_H
#define LEAT_NET_ROUTING_PARTS_H

#include "leat_arena.h"
#include "net_branch_parts.h"
#include "net_routing.h"
#include "net_topology_parts.h"
#include <leat/random.h>

enum {
    LEAT_NET_STAGES_MAX = 64,
    LEAT_NET_CLASSES_MAX = 5,      /* two per leg, and the adaptive one */
    LEAT_NET_RING_CLASSES_MIN = 4, /* in smaller rings every route is one wire long */
};

/* Phases. In rings, the class of the dimension a packet is in: 2 (dimension + 1) + crosses. */
enum {
    LEAT_NET_DOWN = 1,       /* updown */
    LEAT_NET_ACROSS = 1,     /* dragonfly: it has crossed the global wire */
    LEAT_NET_ESCAPED = 0x20, /* adaptive: added to the phases of the escape's rule */
    LEAT_NET_PHASES = 0x40,
};

/* In tables. */
#define LEAT_NET_NONE16 UINT16_MAX

/* ---- channels -------------------------------------------------------------------------------- */

/* The channels of a packet on its way to one goal. If the rule has no classes they are equal. */
struct leat_net_leg {
    uint32_t all;
    uint32_t first;  /* rings: for packets that cross the end; dragonfly: before the global wire */
    uint32_t second; /* the others; after it */
};

struct leat_net_channels {
    uint32_t all;
    struct leat_net_leg leg[2]; /* valiant: to the intermediate router, and on; others: [1] */
    uint32_t adaptive;
    /* Disjoint masks, of which all others are composed. */
    uint32_t class[LEAT_NET_CLASSES_MAX];
    uint32_t classes;
    uint32_t escape; /* adaptive: those of the escape; else 0 */
};

void leat_net_channels_share(const struct leat_net_shape *shape,
                             const struct leat_net_routing_config *config,
                             struct leat_net_channels *out);

/* How many channels the escape of adaptive takes here. */
uint32_t leat_net_escape_channels(const struct leat_net_shape *shape);

/* Does it need tables from the beginning? */
bool leat_net_rule_needs_tables(enum leat_net_route_rule rule, enum leat_net_kind kind);

/* Does this rule support this kind at all? */
bool leat_net_rule_fits(enum leat_net_route_rule rule, enum leat_net_kind kind);

/* ---- places ---------------------------------------------------------------------------------- */

enum leat_net_form { LEAT_NET_FORM_LINE, LEAT_NET_FORM_RING, LEAT_NET_FORM_FULL };

/* Coordinates are packed into one word, the place, so that no division is needed. */
struct leat_net_dimension {
    uint32_t shift, mask;
    uint32_t size;
    uint32_t channels[2][2]; /* by leg: of packets that cross the end of a ring, [1], or not */
    uint16_t port[2];        /* down, up; full: the first one */
    uint8_t form;
};

/* A stage of switches: any of `free` ports, or, if that is 0, a digit of the place. */
struct leat_net_stage {
    uint32_t free, shift, mask;
};

/* Where a packet goes; `place` is what its rule needs to know of it. */
struct leat_net_goal {
    uint32_t router, place;
    uint32_t port; /* of a terminal */
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* An entry for each router and goal. */
struct leat_net_tables {
    uint16_t *any;  /* updown, [router][goal]: wires of the shortest permitted route */
    uint16_t *down; /* the same, downwards only */
    uint16_t *near; /* [goal][router]: wires of the shortest route */
    uint16_t *port; /* [goal][router]: the port to take */
};

/* Selects, by its number, one of the answers that different salts lead to. */
struct leat_net_turn {
    uint32_t turn;
    uint32_t turns; /* how many there are; set at a choice */
};

/* Implements leat_net_route_options; `turn`: NULL, or for any salt. */
typedef uint32_t leat_net_rule_fn(const struct leat_net_routing *routing, uint32_t router,
                                  struct leat_net_route *route, struct leat_net_turn *turn,
                                  struct leat_net_option *options);

/* One step towards a goal that is elsewhere: one option, or 0. */
typedef uint32_t leat_net_toward_fn(const struct leat_net_routing *routing, uint32_t router,
                                    const struct leat_net_goal *goal, uint32_t leg,
                                    struct leat_net_route *route, struct leat_net_turn *turn,
                                    struct leat_net_option *option);

struct leat_net_routing {
    const struct leat_net_topology *topology;
    struct leat_net_routing_config config;
    struct leat_net_channels channels;
    leat_net_rule_fn *rule;
    leat_net_rule_fn *rule_of_hosts; /* the same, if there are no processors */
    uint32_t hosts;                  /* terminals that are not processors */
    bool is_dimension_order;
    leat_net_toward_fn *toward;
    struct leat_net_goal *target; /* [terminals] */
    uint32_t *place;              /* [routers] for kinds with places */
    bool has_places;
    uint8_t *level; /* [routers] stage or level, where there are any */
    struct leat_net_dimension dimension[LEAT_NET_DIMENSIONS_MAX];
    uint8_t dimension_of[32]; /* bit of a place */
    struct leat_net_stage stage[LEAT_NET_STAGES_MAX];
    uint32_t dimensions;
    uint32_t digit_bits, digit_mask; /* fattree: a digit of a place; dragonfly: the index */
    uint32_t digits;                 /* fattree: k */
    struct leat_net_goal *gate;      /* dragonfly: [a h] router (index) and port of a global wire */

    /* tables, and the data to compute them */
    struct leat_net_tables intact, detour; /* detour: around broken wires */
    uint32_t *rank, *order;                /* [routers] of updown; order: routers by rank */
    uint16_t *scratch;                     /* [2 routers] */
    uint8_t *broken;                       /* [outs]; NULL: the rule ignores broken wires */
    uint32_t broken_count;
};

/* Selects one of n at this router. */
static inline uint32_t leat_net_pick(const struct leat_net_route *route, uint32_t router,
                                     struct leat_net_turn *turn, uint32_t n)
{
    if (turn) {
        turn->turns = n;
        return turn->turn;
    }
    return n == 1 ? 0 : leat_net_salted(route->salt, router, n);
}

/* The options at the router of the destination. */
static inline uint32_t leat_net_arrived(const struct leat_net_routing *routing,
                                        const struct leat_net_goal *target,
                                        const struct leat_net_route *route,
                                        struct leat_net_option *options)
{
    options[0] = (struct leat_net_option){ .port = target->port,
                                           .channels = routing->channels.all,
                                           .phase = route->phase };
    return 1;
}

/* ---- dimension order: inline, because most hops use it --------------------------------------- */

static inline uint32_t leat_net_coordinate(const struct leat_net_dimension *d, uint32_t place)
{
    return place >> d->shift & d->mask;
}

/* Steps from one coordinate of a ring up to another. */
static inline uint32_t leat_net_steps_up(const struct leat_net_dimension *d, uint32_t from,
                                         uint32_t to)
{
    return to - from + (to < from ? d->size : 0);
}

/* Equally long routes around a ring are selected by a bit of the salt per dimension and leg. */
static inline bool leat_net_ring_goes_up(const struct leat_net_dimension *d, uint32_t steps,
                                         uint32_t bit, const struct leat_net_route *route,
                                         struct leat_net_turn *turn)
{
    if (2 * steps != d->size) return 2 * steps < d->size;
    if (!turn) return route->salt >> bit & 1;
    turn->turns = 2;
    return turn->turn;
}

/*
 * One step along a ring. A packet keeps its class while it is in the dimension: those that cross
 * the end have their own class, before and after. As no route is longer than half the ring, none of
 * them uses the wire opposite to the end, so neither class can form a cycle (the rule of BookSim2's
 * dim_order_torus, which balances the two better than a change at the end). The direction is
 * random: so it is computed without a branch.
 */
static inline void leat_net_step_in_ring(const struct leat_net_dimension *d, uint32_t index,
                                         uint32_t from, uint32_t to, uint32_t leg,
                                         const struct leat_net_route *route,
                                         struct leat_net_turn *turn, struct leat_net_option *option)
{
    const uint32_t bit = index + leg * LEAT_NET_SALT_BIT;
    const uint32_t up = leat_net_ring_goes_up(d, leat_net_steps_up(d, from, to), bit, route, turn);
    const uint32_t phase = route->phase & (LEAT_NET_ESCAPED - 1u);
    const uint32_t will_cross = up == (to < from);
    const uint32_t crosses = phase >> 1 == index + 1 ? phase & 1 : will_cross;
    option->port = d->port[up];
    option->phase = (uint8_t)(2 * (index + 1) + crosses);
    option->channels = d->channels[leg][crosses];
}

/* The place of `other` among all but `self`, in rising order. */
static inline uint32_t leat_net_place_without(uint32_t other, uint32_t self)
{
    return other - (other >= self);
}

static inline void leat_net_step_in_lattice(const struct leat_net_routing *routing, uint32_t here,
                                            uint32_t there, uint32_t leg,
                                            const struct leat_net_route *route,
                                            struct leat_net_turn *turn,
                                            struct leat_net_option *option)
{
    const uint32_t index = routing->dimension_of[__builtin_ctz(here ^ there)];
    const struct leat_net_dimension *d = &routing->dimension[index];
    const uint32_t from = leat_net_coordinate(d, here), to = leat_net_coordinate(d, there);
    if (d->form == LEAT_NET_FORM_RING) {
        leat_net_step_in_ring(d, index, from, to, leg, route, turn, option);
        return;
    }
    option->port = d->port[to > from];
    if (d->form == LEAT_NET_FORM_FULL) option->port += leat_net_place_without(to, from);
    option->channels = d->channels[leg][0];
    option->phase = 0;
}

/* leat_net_route_options, without a call if the rule is dimension order. */
static inline uint32_t leat_net_route_ask(const struct leat_net_routing *routing, uint32_t router,
                                          struct leat_net_route *route,
                                          struct leat_net_option *options)
{
    if (!routing->is_dimension_order) return routing->rule(routing, router, route, NULL, options);
    const uint32_t here = routing->place[router];
    if (here == route->place)
        return leat_net_arrived(routing, &routing->target[route->destination], route, options);
    leat_net_step_in_lattice(routing, here, route->place, 1, route, NULL, options);
    return 1;
}

/* ---- by coordinates and digits (net_routing_closed.c) ---------------------------------------- */

leat_net_toward_fn leat_net_toward_lattice, leat_net_toward_stages, leat_net_toward_fattree,
    leat_net_toward_dragonfly;

/* All ports of a lattice that lead closer; at most two per dimension. */
uint32_t leat_net_lattice_near(const struct leat_net_routing *routing, uint32_t router,
                               const struct leat_net_goal *goal, struct leat_net_option *options);

/* Lays out, and (unless measuring) fills, what the closed forms need for this kind. */
void leat_net_places_lay(struct leat_net_routing *routing, struct leat_arena *arena);
void leat_net_places_fill(struct leat_net_routing *routing);

/* ---- by search (net_routing_tables.c) -------------------------------------------------------- */

leat_net_toward_fn leat_net_toward_updown, leat_net_toward_table;
leat_net_rule_fn leat_net_rule_adaptive;

/* May a packet to any goal take the one wire and then the other? */
bool leat_net_updown_allows(const struct leat_net_routing *routing, uint32_t out,
                            uint32_t next_out);

void leat_net_tables_lay(struct leat_net_routing *routing, struct leat_arena *arena);
void leat_net_tables_fill(struct leat_net_routing *routing);

/* Wires from each router to `goal`, without broken ones (NULL: none is); NONE16: unreachable.
 * `queue` has room for all routers. */
void leat_net_distances_to(const struct leat_net_topology *topology, const uint8_t *broken,
                           uint32_t goal, uint16_t *distance, uint16_t *queue);

/* The lowest port of a router that leads closer by these distances; NONE16: there is none. */
uint16_t leat_net_nearest_port(const struct leat_net_topology *topology, const uint8_t *broken,
                               uint32_t router, const uint16_t *distance);

#endif
