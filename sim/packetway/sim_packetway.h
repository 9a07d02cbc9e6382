/*
 * A network of networks: SANs of any kind, each with its own clock, joined by PacketWay routers. It
 * is itself a network of ports (leat/port.h): its ports are the hosts.
 *
 *      hosts          SAN a                 router                    SAN b          hosts
 *     +------+     +---------+     +---------------------------+    +---------+    +------+
 *     | port |=====|  port   |=====| half-router | half-router |====|  port   |====| port |
 *     +------+     |  nets   |     |   in   out  |  in   out   |    |         |    +------+
 *     +------+     |         |     +---------------------------+    |         |    +------+
 *     | port |=====|         |                                      |         |====| port |
 *     +------+     +---------+                                      +---------+    +------+
 *
 * Port p of a SAN has the address bias + 1 + p. Ports without a half-router are hosts. They are
 * numbered SAN by SAN: these are the ports of this network.
 *
 * The host cuts a message into packets of at most the MTU of the route, each a message of the SAN:
 *
 *     | leading L2RHs | PH | message 32 | left 32 | offset 64 | octets | pad | TAIL |
 *                            its number   packets after this one
 *
 * Planned, the host asks a half-router for the route once (GVL2), keeps it, and puts the L2RHs in
 * front. By address, half-routers look the route up, one after the other. Times, each at least a
 * nanosecond:
 *
 *     host_ps      a host makes a packet
 *     planned_ps   a half-router decides by an L2RH       address_ps   by its table
 *     link_ps      from twin to twin
 *
 * Cut-through (spec 5.8), where a SAN reports the arrival of a packet before it is complete (`head`
 * of port.h): a half-router decides as soon as it has the octets that it needs, at least four,
 * while the others arrive and follow over the link. The packet starts to leave when this is
 * decided, and late enough that the next SAN, however soon it needs them, finds all octets there,
 * each a word later than it arrived (the one in hand):
 *
 *     in      |h|----------------------------|           octets arrive evenly
 *               | decided, link, decided |
 *     out       .                        |---------------------------|   a slower SAN: then
 *     out       .                             |--------|                 a faster one: later
 *
 * Where a SAN reports only that the first octets have arrived (switches: others may come in
 * between), the decisions are early, and the packet starts to leave when they are made and all of
 * it has arrived.
 *
 * A packet whose length must be known first (5.8: h = 1 and a smaller MTU), or that is not simply
 * forwarded, is stored. So is every packet where the SAN reports no `head`, or without
 * `cut_through`: then a half-router decides when all of it has arrived. A fault in octets that
 * arrive later cannot be undone: EI accuses this router.
 *
 * A half-router has room for `buffer` arriving packets, and for as many departing ones; a packet
 * that is cut through takes both. A packet leaves for a half-router only when there is room.
 * Otherwise it waits, and everything that its port has to send waits behind it. Free room is known
 * after the shortest of these times. Where packets wait for each other in a cycle, some of them are
 * lost after some seconds. Messages of half-routers themselves (RRP, ERR) need no room.
 *
 * The network is up from the beginning: registrations and routing tables have been exchanged before
 * time 0. Later events (failures, and tables every 30 s) take their time on the SANs. Messages from
 * one host to another arrive in the order in which they were sent.
 *
 * A message with a packet that was lost, refused or accused by EI is lost.
 *
 * leat_sim_packetway_post sends what a program on a real host would: one packet with a priority,
 * never segmented, to a node or to a logical address. Of these a host sends those of the highest
 * priority first. Half-routers copy the packets of logical addresses (spec 5.3).
 */
#ifndef LEAT_SIM_PACKETWAY_SIM_H
#define LEAT_SIM_PACKETWAY_SIM_H

#include "packetway_host.h"
#include "packetway_queue.h"
#include "packetway_router.h"
#include "sim_crew.h"
#include "sim_packetway_collect.h"
#include "sim_packetway_native.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_SIM_PACKETWAY_SANS_MAX = 1024,
    LEAT_SIM_PACKETWAY_ROUTERS_MAX = 1024,
    LEAT_SIM_PACKETWAY_ENDS_MAX = 8,        /* half-routers of a router */
    LEAT_SIM_PACKETWAY_NODES_MAX = 1 << 16, /* ports of all SANs */
    LEAT_SIM_PACKETWAY_FAULTS_MAX = 64,
    LEAT_SIM_PACKETWAY_HOMES_MAX = 256,
    LEAT_SIM_PACKETWAY_TRAITS_MAX = 8, /* capabilities of a host, logical addresses */
    LEAT_SIM_PACKETWAY_WAY_MAX = LEAT_PACKETWAY_RCVF_MAX / 2, /* routers in sequence */
    LEAT_SIM_PACKETWAY_NAME_LEN_MAX = 32,
    LEAT_SIM_PACKETWAY_MTU_MIN = 32, /* words */
    LEAT_SIM_PACKETWAY_MTU_MAX = 8192,
    LEAT_SIM_PACKETWAY_BUFFER_MAX = 1024, /* packets */
    LEAT_SIM_PACKETWAY_MESSAGES_MAX = 1 << 24,
    LEAT_SIM_PACKETWAY_WINDOW = 8,  /* packets of a host in flight */
    LEAT_SIM_PACKETWAY_CONTROL = 4, /* RRP and ERR messages of a node in flight */
    LEAT_SIM_PACKETWAY_HEAD_LEN = 16,
    LEAT_SIM_PACKETWAY_PT = 1024,         /* of packets of messages: the first user type */
    LEAT_SIM_PACKETWAY_COPIES_MAX = 1024, /* of packets to logical addresses, in flight */
    LEAT_SIM_PACKETWAY_PS_MIN = 1000,
};

struct leat_sim_packetway_san {
    const char *name;          /* hosts are NAME.PORT */
    struct leat_port_net *net; /* lent for the lifetime, as all below; its callbacks are set here */
    struct leat_sim_packetway_native native;
    uint32_t bias;
    uint32_t mtu_words;
    uint16_t q; /* quality of a hop through it */
};

struct leat_sim_packetway_end {
    uint32_t san, port;
};

struct leat_sim_packetway_router {
    const char *name;
    uint32_t ends; /* 2 .. */
    struct leat_sim_packetway_end end[LEAT_SIM_PACKETWAY_ENDS_MAX];
};

/* A host whose ports are not simply named after them. Each has an address of its own; the name, the
 * capabilities and the logical addresses are the same at all of them. */
struct leat_sim_packetway_home {
    const char *name;
    uint32_t ends; /* 1 .. */
    struct leat_sim_packetway_end end[LEAT_SIM_PACKETWAY_ENDS_MAX];
    uint32_t capabilities; /* 0: a general-purpose node */
    uint8_t capability[LEAT_SIM_PACKETWAY_TRAITS_MAX];
    uint32_t logicals;
    uint32_t logical[LEAT_SIM_PACKETWAY_TRAITS_MAX];
};

enum leat_sim_packetway_fault_kind {
    LEAT_SIM_PACKETWAY_ROUTER_DOWN, /* the SANs notify their ports at once */
    LEAT_SIM_PACKETWAY_LINK_DOWN,   /* between its half-routers */
    LEAT_SIM_PACKETWAY_ERRORS,      /* it detects an error in every packet from a SAN */
    LEAT_SIM_PACKETWAY_PORT_DOWN,   /* of a host; its SAN notifies the others at once */
};

/* From `from` on, until `to`; LEAT_NEVER: permanently. */
struct leat_sim_packetway_fault {
    enum leat_sim_packetway_fault_kind kind;
    uint32_t router;
    leat_time from, to;
    struct leat_sim_packetway_end port; /* PORT_DOWN */
};

/* A packet of a message at a half-router. */
struct leat_sim_packetway_pass {
    uint32_t router, end;
    struct leat_packetway_decision decision;
    uint64_t id; /* of the message */
    uint32_t len;
    bool error_seen;
    bool first;    /* of the message */
    bool cut;      /* not all of it has arrived */
    uint32_t copy; /* to a logical address: which of its packets; 0: as it was sent */
    leat_time at;
};

/* A message of leat_sim_packetway_post is at a host. */
struct leat_sim_packetway_reception {
    uint32_t port;
    uint64_t id;
    uint32_t copy; /* as in struct leat_sim_packetway_pass */
    const struct leat_packetway_event *event;
    leat_time at;
};

/* An observer; each callback may be NULL. None of them may send or run. */
struct leat_sim_packetway_watch {
    void *context;
    void (*passes)(void *context, const struct leat_sim_packetway_pass *pass);
    /* Events of a host's engine: packets of messages (DATA), replies, errors. */
    void (*event)(void *context, uint32_t port, const struct leat_packetway_event *event,
                  leat_time at);
    void (*receives)(void *context, const struct leat_sim_packetway_reception *reception);
    /* What a half-router knows may have changed: it has heard or noticed something. */
    void (*learns)(void *context, uint32_t router, uint32_t end);
};

struct leat_sim_packetway_config {
    const struct leat_sim_packetway_san *san;
    uint32_t sans;
    const struct leat_sim_packetway_router *router;
    uint32_t routers;
    const struct leat_sim_packetway_home *home;
    uint32_t homes;
    const struct leat_sim_packetway_fault *fault;
    uint32_t faults;
    bool by_address;
    bool cut_through;
    bool contention_free; /* half-routers have room for all */
    uint32_t messages_max;
    uint32_t buffer; /* packets of a half-router, in each direction */
    leat_time host_ps, planned_ps, address_ps, link_ps;
    struct leat_sim_packetway_watch watch;
};

#define LEAT_SIM_PACKETWAY_COUNT_LIST(X)                 \
    X(packets, "packets that hosts sent")                \
    X(passed, "packets that half-routers sent on a SAN") \
    X(cut, "of these, before all of it had come in")     \
    X(lost, "packets that were lost or refused")         \
    X(control, "RRP and ERR messages")                   \
    X(tables, "of these, routing tables")                \
    X(failures, "of these, HRDOWN and LINKDOWN")         \
    X(waits, "packets that waited for room in a router") \
    X(stuck, "packets that waited for each other for ever")

struct leat_sim_packetway_counts {
#define X(id, text) uint64_t id;
    LEAT_SIM_PACKETWAY_COUNT_LIST(X)
#undef X
};

/* A link of a router, from one of its half-routers to another: it has no rate, so a packet occupies
 * it for link_ps, maybe together with others. */
struct leat_sim_packetway_link {
    uint64_t packets;  /* that have crossed it, including RRP and ERR messages */
    leat_time busy_ps; /* in which at least one was on it */
    leat_time last_at; /* when the last one had crossed it */
};

struct leat_sim_packetway_san_state; /* sim_packetway_parts.h */
struct leat_sim_packetway_node;
struct leat_sim_packetway_packet;
struct leat_sim_packetway_entry;

struct leat_sim_packetway {
    struct leat_port_net base;
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway_counts counts;
    struct leat_sim_packetway_san_state *san;
    struct leat_sim_packetway_node *node; /* ports of all SANs, SAN by SAN */
    uint32_t nodes;
    uint32_t *host;                       /* [base.ports] node */
    struct leat_sim_packetway_link *link; /* leat_sim_packetway_link finds one */
    struct leat_sim_packetway_packet *packet;
    uint32_t packets, free_packet;  /* a free list, + 1 */
    uint32_t tables_at, free_table; /* from there on: half-routers' own, maybe tables */
    uint32_t table_len_max;         /* octets of the nodes of a table */
    uint32_t link_words;            /* MTU of the links between twins */
    uint32_t known_max;             /* nodes that a half-router knows one by one, at most */
    uint32_t far_most;              /* routers between two SANs */
    uint32_t hop_len_max;           /* octets of the L2RHs for one router and one SAN */
    uint32_t window;                /* packets of a host in flight */
    uint32_t cuts, cuts_max;     /* packets that are two now: the arriving and the departing part */
    uint32_t copies, copies_max; /* packets that half-routers made, to logical addresses */
    struct leat_sim_packetway_entry *entry;
    struct leat_sim_post post;
    struct leat_sim_packetway_collect collect; /* if base.means */
    uint32_t half_routers_at;                  /* of leat_port_ops.place */
    uint8_t *scratch;                          /* a packet's data */
    struct leat_packetway_message *message;
    struct leat_packetway_event *event;
    leat_time now;     /* of the current event */
    leat_time reached; /* by the active SANs */
    leat_time tick_at;
    leat_time step_ps;  /* the shortest of all times */
    leat_time ahead_ps; /* how far the engines' clock is ahead */
    uint64_t progress, seen_progress;
    uint32_t mtu_least, mtu_most, still_ticks;
    bool warming;               /* it is before time 0 ... */
    bool registering;           /* ... and half-routers say nothing yet */
    struct leat_sim_crew *crew; /* NULL: the caller alone */
    bool side_by_side;          /* SANs run at the same time, up to `side_end` */
    leat_time side_end;
    uint32_t groups; /* of hosts */
};

/* Is this config valid? `why`: what is wrong, and what was expected. */
leat_err leat_sim_packetway_check(const struct leat_sim_packetway_config *config,
                                  struct leat_text *why);

/* The hosts of a checked config: the ports of the network. */
uint32_t leat_sim_packetway_ports(const struct leat_sim_packetway_config *config);

/* Octets of memory for a checked config. */
size_t leat_sim_packetway_footprint(const struct leat_sim_packetway_config *config);

/* Set pktway->base.observer next. `memory`: ZEROED, aligned for any object, lent for the network's
 * lifetime. The SANs have not run yet. */
void leat_sim_packetway_init(struct leat_sim_packetway *pktway,
                             const struct leat_sim_packetway_config *config, void *memory);

/* From now on members of a crew run SANs at the same time, if they have enough to do; it is lent
 * until another one, or NULL, is. Not while there are groups, or packets are observed. Results are
 * the same. */
void leat_sim_packetway_lend(struct leat_sim_packetway *pktway, struct leat_sim_crew *crew);

/*
 * After init: does every half-router know every node that routers lead to? RANGE: `why` names one
 * that is missing. A table that grows on its route (RCVF, CSR) may become too large for the MTU of
 * a SAN.
 */
leat_err leat_sim_packetway_reach(const struct leat_sim_packetway *pktway, struct leat_text *why);

/* ---- messages of one packet ---- */

/* What leat_packetway_node_send sends on a real host. */
struct leat_sim_packetway_data {
    uint32_t from; /* port */
    uint32_t dt;   /* a node other than the sender, or a logical address */
    uint16_t pt, te;
    uint8_t priority;
    uint64_t id;
    uint8_t *octets; /* lent until it has ended */
    uint32_t len;
};

/*
 * Hands it to its port at `at`. It ends with arrived() if a host has received it, even by a packet
 * that EI accuses, else with lost(); the message of these calls is from and to port `from`. Planned
 * or by address, as the config says; natively on the own SAN; to a logical address by the first
 * half-router of the SAN. False: too many messages are in flight.
 */
bool leat_sim_packetway_post(struct leat_sim_packetway *pktway,
                             const struct leat_sim_packetway_data *data, leat_time at);

/* ---- inspection and queries ---- */

uint32_t leat_sim_packetway_address(const struct leat_sim_packetway *pktway, uint32_t port);

/* The port with this address. False: it is no host's. */
bool leat_sim_packetway_find(const struct leat_sim_packetway *pktway, uint32_t address,
                             uint32_t *port);

/* The port of the network that is this port of a SAN. False: it is no host's. */
bool leat_sim_packetway_port_at(const struct leat_sim_packetway *pktway,
                                const struct leat_sim_packetway_end *end, uint32_t *port);

/* The SAN of a port. */
uint32_t leat_sim_packetway_san_of(const struct leat_sim_packetway *pktway, uint32_t port);

/* The engine of a half-router, and its address. */
struct leat_packetway_router *leat_sim_packetway_engine(const struct leat_sim_packetway *pktway,
                                                        uint32_t router, uint32_t end,
                                                        uint32_t *address);

/* The slots of its tables, at most (leat_packetway_router_table). */
uint32_t leat_sim_packetway_tables(const struct leat_sim_packetway *pktway);

bool leat_sim_packetway_is_up(const struct leat_sim_packetway *pktway, uint32_t router);

/* The link of a router from one of its half-routers to another. */
static inline struct leat_sim_packetway_link *
leat_sim_packetway_link(const struct leat_sim_packetway *pktway, uint32_t router, uint32_t from,
                        uint32_t to)
{
    enum { ENDS = LEAT_SIM_PACKETWAY_ENDS_MAX };
    return &pktway->link[((size_t)router * ENDS + from) * ENDS + to];
}

/* The clock of engines: the present time plus the time before 0. */
static inline leat_time leat_sim_packetway_clock(const struct leat_sim_packetway *pktway)
{
    return pktway->now + pktway->ahead_ps;
}

/* The engine of a host: its requests (plan, ask) are sent by the call of _go. */
struct leat_packetway_host *leat_sim_packetway_host(const struct leat_sim_packetway *pktway,
                                                    uint32_t port);
void leat_sim_packetway_go(struct leat_sim_packetway *pktway, uint32_t port);

#endif
