/*
 * Routing: by which output ports, in which virtual channels, a packet may leave a router.
 *
 *   dor           dimension order: line, ring, mesh, torus, hypercube, hyperx, grid, crossbar. In
 *                 rings the shorter direction, ties broken by the salt; two classes of channels:
 *                 packets whose route in this dimension crosses the end of the ring, and others
 *   tag           fly, benes, clos: by the digits of the destination; where any port will do, by
 *                 the salt
 *   updown        up*, then down* (Schroeder et al. 1991), the shortest such route, ties broken by
 *                 the salt; up is towards the root of a breadth-first tree from router 0, in fat
 *                 trees towards the top. Any kind with wires in both directions
 *   hierarchical  dragonfly: within the group, across, within the group; two classes of channels,
 *                 before and after the global wire
 *   adaptive      minimal adaptive (Duato 1993): any port that leads closer, in all channels except
 *                 those of the escape, which is dor or updown in the lowest one (rings: two); a
 *                 packet that took the escape stays in it
 *   valiant       to a random router first (Valiant and Brebner 1981): two legs, each in its own
 *                 half of the channels, by dor, hierarchical or (graphs) updown
 *   table         the table that came with the fabric, else the shortest route, lowest port first
 *
 * Classes share the channels evenly. With fewer channels than classes, all classes use all of them
 * (and net_deadlock.h finds the consequences).
 *
 * A packet carries its routing state, drawn at its source. Routers have no random numbers, so that
 * nothing depends on the order of requests.
 *
 * Broken wires: updown, adaptive and table are notified of them (leat_net_routing_wire) and reroute
 * where they can. The tree of updown does not change, so that old and new routes cannot form a
 * cycle. The other rules have no alternative: their options name the broken port, and the network
 * discards packets there. So do fat trees and lattices above LEAT_NET_TABLE_ROUTERS_MAX, whose
 * tables would be too large. An adaptive packet in a lattice whose dor route is broken is offered
 * no escape.
 *
 * Memory: 12 octets per terminal and at most 5 per router. Tables have rows of two octets per
 * router for each router: updown four of them, adaptive six (lattices: one), valiant in graphs two,
 * table two. The half of them for broken wires is not touched before a wire breaks.
 */
#ifndef LEAT_NET_ROUTING_H
#define LEAT_NET_ROUTING_H

#include "net_branch_parts.h"
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
    LEAT_NET_OPTIONS_MAX = 64, /* of a packet at a router; adaptive: further ones are omitted */
    LEAT_NET_TABLE_ROUTERS_MAX = 8192, /* of tables, which grow with the square */
};

/* A line of a table: at this router, to this router, by this output port. */
struct leat_net_route_entry {
    uint32_t router, to, port;
};

struct leat_net_routing_config {
    enum leat_net_route_rule rule;
    uint32_t channels; /* virtual channels of each wire, 1 .. */
    bool in_order;     /* a class of packets has one channel of its share: so packets of a route
                          cannot overtake each other between routers; not with adaptive */
    /* table only: lines that replace shortest routes; lent for the lifetime */
    const struct leat_net_route_entry *entry;
    uint32_t entries;
};

/* The routing state of a packet. */
struct leat_net_route {
    uint32_t destination; /* terminal */
    uint32_t via;         /* valiant: the router to visit first; NONE once visited */
    uint32_t place;       /* private to the rule: the location of the destination */
    uint32_t salt;        /* random bits of this packet */
    uint8_t phase;        /* private to the rule: down, escape, group passed, ... */
    bool rerouted; /* took another route than without broken wires; adaptive: was offered other
                      ports */
};

/* An output port of the router, and a bit per virtual channel of its wire that may be used. The
 * network takes any free one, lower ones first. */
struct leat_net_option {
    uint32_t port; /* of the router: 0 .. */
    uint32_t channels;
    uint8_t phase; /* of the packet, if it takes this option */
};

struct leat_net_routing; /* in the caller's memory */

/* "dor" ...; NULL past the last. */
const char *leat_net_rule_name(enum leat_net_route_rule rule);

/* The default rule of a kind. */
enum leat_net_route_rule leat_net_rule_default(enum leat_net_kind kind);

/* Where a routing is wrong. */
struct leat_net_routing_fault {
    enum {
        LEAT_NET_AT_RULE,  /* the rule, or its number of channels */
        LEAT_NET_AT_WIRE,  /* the one from router `from` to `to` */
        LEAT_NET_AT_ENTRY, /* of the table: config->entry[entry] */
    } place;
    uint32_t entry, from, to;
};

/* Can this rule route in this topology with so many channels? `why`: what is wrong, and what was
 * expected; *fault: where. */
leat_err leat_net_routing_check(const struct leat_net_topology *topology,
                                const struct leat_net_routing_config *config, struct leat_text *why,
                                struct leat_net_routing_fault *fault);

/* For a checked topology and config; both are lent for the routing's lifetime (config's entries
 * too). */
size_t leat_net_routing_footprint(const struct leat_net_topology *topology,
                                  const struct leat_net_routing_config *config);
struct leat_net_routing *leat_net_routing_init(const struct leat_net_topology *topology,
                                               const struct leat_net_routing_config *config,
                                               void *memory);

/* The state of a new packet; `random` are its 64 random bits. */
void leat_net_route_begin(const struct leat_net_routing *routing, uint32_t source,
                          uint32_t destination, uint64_t random, struct leat_net_route *route);

/*
 * The options of a packet whose head is in `router`, at most LEAT_NET_OPTIONS_MAX; the phase of the
 * option taken becomes the packet's. With adaptive, the escape comes last. A packet that has
 * arrived has one option: the port of its terminal, all channels. 0 options: there is no route
 * (broken wires). Updates via, phase and rerouted of the route. Otherwise pure: the result is the
 * same until a wire breaks or is repaired.
 */
uint32_t leat_net_route_options(const struct leat_net_routing *routing, uint32_t router,
                                struct leat_net_route *route, struct leat_net_option *options);

/* A wire (by output port) breaks or is repaired; then _update recomputes the tables. */
void leat_net_routing_wire(struct leat_net_routing *routing, uint32_t out, bool broken);
void leat_net_routing_update(struct leat_net_routing *routing);

#endif
