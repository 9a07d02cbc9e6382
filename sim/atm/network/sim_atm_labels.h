/*
 * Labels for a network of other switches: what the routing tables of its switches have if each pair
 * of ports has a connection of its own, whose cells change their label at every switch.
 *
 *    port 3        router 5                 router 7                port 9
 *      |  0/34  in 2 | 0/34 > out 1, 0/32  in 0 | 0/32 > out 4, 0/41  |
 *      |------------>|------------------------->|-------------------->|
 *
 * A link is one into an input port of a router, by its number, or the one to port t: `ins` + t. The
 * labels of a link are allocated one after the other, by source and then destination: VPI 0, VCI
 * 32 .. 65535 (ITU-T I.361 keeps 0 .. 31), VPI 1, VCI 32 .. and so on. An input has a table of its
 * own, which is as long as its link has labels.
 *
 * The simulator does not look labels up: it routes by destination, the same route for all cells of
 * a pair, which is the one of these tables. Where routers choose a wire for each cell there are
 * none.
 */
#ifndef LEAT_SIM_ATM_LABELS_H
#define LEAT_SIM_ATM_LABELS_H

#include "sim_atm_fabric.h"

enum {
    LEAT_SIM_ATM_LABELS_PORTS_MAX = 512,
    LEAT_SIM_ATM_LABELS_MAX = 1 << 22, /* entries of all tables */
    LEAT_SIM_ATM_LABEL_VCI_MIN = 32,
    LEAT_SIM_ATM_LABEL_VCIS = 65536 - LEAT_SIM_ATM_LABEL_VCI_MIN, /* of a VPI */
};
/* Even on one link: the VPI of a line to a port has 8 bits. */
_Static_assert(LEAT_SIM_ATM_LABELS_MAX <= 256 * LEAT_SIM_ATM_LABEL_VCIS, "labels fit");

/* By number, from 0 on each link. */
static inline uint32_t leat_sim_atm_label_vpi(uint32_t number)
{
    return number / LEAT_SIM_ATM_LABEL_VCIS;
}

static inline uint32_t leat_sim_atm_label_vci(uint32_t number)
{
    return LEAT_SIM_ATM_LABEL_VCI_MIN + number % LEAT_SIM_ATM_LABEL_VCIS;
}

/* What a table says of a label. */
struct leat_sim_atm_label_entry {
    uint32_t out;    /* an output port, numbered over the whole network */
    uint32_t number; /* of the label on its link */
};

struct leat_sim_atm_labels {
    const struct leat_sim_atm_graph *graph;
    uint32_t links;
    uint32_t entries; /* of all tables */
    uint32_t longest; /* labels of a link */
    uint32_t *count;  /* [links] labels */
    uint32_t *first;  /* [inputs of routers] its table in `entry` */
    struct leat_sim_atm_label_entry *entry;
    uint32_t *access; /* [ports][ports] the first label of a connection, source by source */
};

/* Random bits of the route from port to port. */
uint64_t leat_sim_atm_route_random(const struct leat_sim_atm_graph *graph, uint32_t from,
                                   uint32_t to);

/* The wires on the way, by their output ports, without the one to a port: at most so many.
 * LEAT_NET_NONE: switches choose a wire for each cell, or there are more. */
uint32_t leat_sim_atm_labels_way(const struct leat_sim_atm_graph *graph, uint32_t from, uint32_t to,
                                 uint32_t *wire, uint32_t cap);

/* Behind this wire on its present way, a cell has this state of its routing, and had one of these
 * channels. False: it does not take the wire. */
bool leat_sim_atm_labels_cross(const struct leat_sim_atm_graph *graph, uint32_t from, uint32_t to,
                               uint32_t wire, struct leat_net_route *route, uint32_t *channels);

/* How many entries its tables have. RANGE: it has none; `why` has one line. */
leat_err leat_sim_atm_labels_measure(const struct leat_sim_atm_graph *graph, uint32_t *entries,
                                     struct leat_text *why);

/* Octets of memory, and the tables in so much of it, zeroed; it and the graph are lent. */
size_t leat_sim_atm_labels_footprint(const struct leat_sim_atm_graph *graph, uint32_t entries);
void leat_sim_atm_labels_init(struct leat_sim_atm_labels *labels,
                              const struct leat_sim_atm_graph *graph, uint32_t entries,
                              void *memory);

/* The link behind an output port. */
uint32_t leat_sim_atm_labels_link(const struct leat_sim_atm_labels *labels, uint32_t out);

/* The entry of a label of an input port. */
static inline const struct leat_sim_atm_label_entry *
leat_sim_atm_labels_find(const struct leat_sim_atm_labels *labels, uint32_t in, uint32_t number)
{
    return number < labels->count[in] ? &labels->entry[labels->first[in] + number] : NULL;
}

#endif
