/*
 * Routing: by which output ports, in which virtual channels, a packet may leave a router.
 *
 *   dor           dimension order: line, ring, mesh, torus, hypercube, hyperx, grid, crossbar. In
 *                 rings the shorter way round, at a tie by the salt, and two classes of channels:
 *                 packets whose way in this dimension goes over the end of the ring, and others
 *   tag           fly, benes, clos: by the digits of the destination; where any port will do, by
 *                 the salt
 *   updown        up*, then down* (Schroeder et al. 1991), the shortest such way, ties by the salt;
 *                 up is towards the root of a breadth-first tree from router 0, in fat trees
 *                 towards the top. Any kind with wires in both directions
 *   hierarchical  dragonfly: within the group, across, within the group; two classes of channels,
 *                 before and behind the wire across
 *   adaptive      minimal adaptive (Duato 1993): any port that brings nearer, in all channels but
 *                 those of the escape, which is dor or updown in the lowest one (rings: two); who
 *                 once took the escape stays in it
 *   valiant       to a random router first (Valiant and Brebner 1981): two legs, each in its own
 *                 half of the channels, by dor, hierarchical or (graphs) updown
 *   table         the table that came with the fabric, else the shortest way, lowest port first
 *
 * Classes share out the channels evenly; where there are fewer channels than classes, all classes
 * have all of them (and net_deadlock.h finds what that may lead to).
 *
 * A packet carries its routing state, drawn at its source; routers have no random numbers, so that
 * nothing depends on who is asked first.
 *
 * Broken wires: updown, adaptive and table learn of them (leat_net_routing_wire) and lead round
 * them where they can; the tree of updown stays as it is, so that old and new routes cannot form a
 * cycle. The others have no other way: their options name the broken port, and the network discards
 * there. So do fat trees and lattices above LEAT_NET_TABLE_ROUTERS_MAX, whose tables would be too
 * large. An adaptive packet in a lattice whose dor way is broken is offered no escape.
 *
 * Memory: 12 octets per terminal and at most 5 per router; tables have rows of two octets per
 * router for each router: updown four of them, adaptive six (lattices: one), valiant in graphs two,
 * table two. The half of them that is for broken wires is not touched before one breaks.
 */
#ifndef LEAT_NET_ROUTING_H
#define LEAT_NET_ROUTING_H

#include "net_topology.h"

enum leat_net_route_rule {
    LEAT_NET_DOR,
    LEAT_NET_TAG,
    LEAT_NET_UPDOWN,
    LEAT_NET_HIERARCHICAL,
    LEAT_NET_ADAPTIVE,
    LEAT_NET_VALIANT,
    LEAT_NET_TABLE,
};

enum {
    LEAT_NET_RULES = LEAT_NET_TABLE + 1,
    LEAT_NET_CHANNELS_MAX = 32,        /* virtual channels of a wire */
    LEAT_NET_OPTIONS_MAX = 64,         /* of a packet at a router; adaptive: others are left out */
    LEAT_NET_TABLE_ROUTERS_MAX = 8192, /* of tables: they grow with the square */
};

/* A line of a table: at this router, to this router, by this output port. */
struct leat_net_route_entry {
    uint32_t router, to, port;
};

struct leat_net_routing_config {
    enum leat_net_route_rule rule;
    uint32_t channels; /* virtual channels of each wire, 1 .. */
    /* table only: lines that replace shortest ways; lent for good */
    const struct leat_net_route_entry *entry;
    uint32_t entries;
};

/* The routing state of a packet. */
struct leat_net_route {
    uint32_t destination; /* terminal */
    uint32_t via;         /* valiant: the router to visit first; NONE once visited */
    uint32_t place;       /* the rule's own: where the destination is */
    uint32_t salt;        /* random bits of the packet's own */
    uint8_t phase;        /* the rule's own: down, escape, group passed, ... */
    bool rerouted;        /* took another way than without broken wires; adaptive: was offered
                             other ports */
};

/* An output port of the router, and a bit per virtual channel of its wire that may be taken. Where
 * there are several, all of them may; the network takes one that is free, the first ones first. */
struct leat_net_option {
    uint32_t port; /* of the router: 0 .. */
    uint32_t channels;
    uint8_t phase; /* of the packet, once it took this one */
};

struct leat_net_routing; /* in the caller's memory */

/* "dor" ...; NULL past the last. */
const char *leat_net_rule_name(enum leat_net_route_rule rule);

/* The rule that is natural for a kind: what a user gets who asks for none. */
enum leat_net_route_rule leat_net_rule_default(enum leat_net_kind kind);

/* Where a routing is wrong. */
struct leat_net_routing_fault {
    enum {
        LEAT_NET_AT_RULE,  /* the rule, or the channels it has */
        LEAT_NET_AT_WIRE,  /* the one from router `from` to `to` */
        LEAT_NET_AT_ENTRY, /* of the table: config->entry[entry] */
    } place;
    uint32_t entry, from, to;
};

/* Can this rule lead through this topology with so many channels? `why`: what, what was expected;
 * *fault: where. */
leat_err leat_net_routing_check(const struct leat_net_topology *topology,
                                const struct leat_net_routing_config *config, struct leat_text *why,
                                struct leat_net_routing_fault *fault);

/* For a topology and config that were checked; both are lent for good (config's entries too). */
size_t leat_net_routing_footprint(const struct leat_net_topology *topology,
                                  const struct leat_net_routing_config *config);
struct leat_net_routing *leat_net_routing_init(const struct leat_net_topology *topology,
                                               const struct leat_net_routing_config *config,
                                               void *memory);

/* The state of a new packet; `random` are 64 random bits of its own. */
void leat_net_route_begin(const struct leat_net_routing *routing, uint32_t source,
                          uint32_t destination, uint64_t random, struct leat_net_route *route);

/*
 * The options of a packet whose head stands in `router`, at most LEAT_NET_OPTIONS_MAX; the phase of
 * the one that is taken becomes the packet's. Those of adaptive: the escape comes last. A packet
 * that arrived has one option: the port of its terminal, all channels. 0 options: there is
 * no way (broken wires). Updates via, phase and rerouted of the route. Pure otherwise: the same
 * question gets the same answer until a wire breaks or heals.
 */
uint32_t leat_net_route_options(const struct leat_net_routing *routing, uint32_t router,
                                struct leat_net_route *route, struct leat_net_option *options);

/* The virtual channels in which a terminal may send a new packet into its router: a bit each. */
uint32_t leat_net_route_entry_channels(const struct leat_net_routing *routing,
                                       const struct leat_net_route *route);

/* A wire (by output port) breaks or heals; then _update works out the tables again. */
void leat_net_routing_wire(struct leat_net_routing *routing, uint32_t out, bool broken);
void leat_net_routing_update(struct leat_net_routing *routing);

#endif
