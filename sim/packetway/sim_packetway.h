/*
 * A network made of networks: SANs of any kind, each with its own clock, joined by PacketWay
 * routers. It is itself a network of ports (leat/port.h): its ports are the hosts.
 *
 *      hosts          SAN a                 router                    SAN b          hosts
 *     +------+     +---------+     +---------------------------+    +---------+    +------+
 *     | port |=====|  port   |=====| half-router | half-router |====|  port   |====| port |
 *     +------+     |  nets   |     |   in   out  |  in   out   |    |         |    +------+
 *     +------+     |         |     +---------------------------+    |         |    +------+
 *     | port |=====|         |                                      |         |====| port |
 *     +------+     +---------+                                      +---------+    +------+
 *
 * Port p of a SAN has the address bias + 1 + p. Ports without a half-router are hosts, and are
 * numbered SAN by SAN: those are the ports of this network.
 *
 * A message is cut by its host into packets of at most the MTU of the way, each a message of the
 * SAN:
 *
 *     | leading L2RHs | PH | message 32 | left 32 | offset 64 | octets | pad | TAIL |
 *                            its number   packets behind this one
 *
 * Planned, the host asks a half-router for the way once (GVL2), keeps it, and puts the L2RHs in
 * front; by address, half-routers look the way up, one after the other. Times, all of them at least
 * a nanosecond:
 *
 *     host_ps      a host makes a packet
 *     planned_ps   a half-router decides by an L2RH       address_ps   by its table
 *     link_ps      from twin to twin
 *
 * Cut-through (spec 5.8), where a SAN tells how a packet comes in before all of it has (`head` of
 * port.h): a half-router decides as soon as it has the octets that it needs, four at least, while
 * the others come in and follow over the link. The packet begins to go out when that is decided,
 * and so that the next SAN, however soon it wants them, finds all octets there, each a word later
 * than it came (the one in hand):
 *
 *     in      |h|----------------------------|           octets come in evenly
 *               | decided, link, decided |
 *     out       .                        |---------------------------|   a slower SAN: then
 *     out       .                             |--------|                 a faster one: later
 *
 * Where a SAN tells only that the first octets are there (switches: others may get between), the
 * decisions are early, and the packet begins to go out when they are made and all of it is there.
 *
 * A packet whose length must be known first (5.8: h = 1 and a smaller MTU), or that does not simply
 * go on, is stored, and so is all where nobody tells, or without `cut_through`: then a packet is
 * decided about when all of it is there. A fault in what comes in later cannot be called back: EI
 * accuses this router.
 *
 * A half-router has room for `buffer` packets that came in, or come in, and for as many that go
 * out; while a packet is cut through it takes both. A packet leaves for a half-router only when
 * there is room, else it waits, and all that its port has to send waits behind it; that there is
 * room again is known after the shortest of these times. Where packets wait for each other in a
 * circle, some of them are lost after some seconds. Messages of half-routers themselves (RRP, ERR)
 * need no room.
 *
 * The network is up from the beginning: registrations and routing tables have been exchanged before
 * time 0. What happens later (failures, and tables every 30 s) takes its time on the SANs. Messages
 * from one host to another arrive in the order in which they were sent.
 *
 * A message with a packet that was lost, refused or accused by EI is lost.
 */
#ifndef LEAT_SIM_PACKETWAY_SIM_H
#define LEAT_SIM_PACKETWAY_SIM_H

#include "packetway_host.h"
#include "packetway_queue.h"
#include "packetway_router.h"
#include "sim_packetway_native.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_SIM_PACKETWAY_SANS_MAX = 64,
    LEAT_SIM_PACKETWAY_ROUTERS_MAX = 64,
    LEAT_SIM_PACKETWAY_ENDS_MAX = 8,     /* half-routers of a router */
    LEAT_SIM_PACKETWAY_NODES_MAX = 4096, /* ports of all SANs */
    LEAT_SIM_PACKETWAY_FAULTS_MAX = 64,
    LEAT_SIM_PACKETWAY_WAY_MAX = LEAT_PACKETWAY_RCVF_MAX / 2, /* routers in a row */
    LEAT_SIM_PACKETWAY_NAME_LEN_MAX = 32,
    LEAT_SIM_PACKETWAY_MTU_MIN = 32, /* words */
    LEAT_SIM_PACKETWAY_MTU_MAX = 8192,
    LEAT_SIM_PACKETWAY_BUFFER_MAX = 1024, /* packets */
    LEAT_SIM_PACKETWAY_MESSAGES_MAX = 1 << 24,
    LEAT_SIM_PACKETWAY_WINDOW = 8,  /* packets of a host that are under way */
    LEAT_SIM_PACKETWAY_CONTROL = 4, /* RRP and ERR messages of a node that are */
    LEAT_SIM_PACKETWAY_HEAD_LEN = 16,
    LEAT_SIM_PACKETWAY_PT = 1024, /* of packets of messages: the first of the users' */
    LEAT_SIM_PACKETWAY_PS_MIN = 1000,
};

struct leat_sim_packetway_san {
    const char *name;          /* hosts are NAME.PORT */
    struct leat_port_net *net; /* lent for good, as all below; whom it tells is set here */
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

enum leat_sim_packetway_fault_kind {
    LEAT_SIM_PACKETWAY_ROUTER_DOWN, /* the SANs tell their ports at once */
    LEAT_SIM_PACKETWAY_LINK_DOWN,   /* between its half-routers */
    LEAT_SIM_PACKETWAY_ERRORS,      /* it sees an error in every packet that comes in from a SAN */
};

/* From `from` on, until `to`; LEAT_NEVER: for good. */
struct leat_sim_packetway_fault {
    enum leat_sim_packetway_fault_kind kind;
    uint32_t router;
    leat_time from, to;
};

/* A packet of a message at a half-router. */
struct leat_sim_packetway_pass {
    uint32_t router, end;
    struct leat_packetway_decision decision;
    uint64_t id; /* of the message */
    uint32_t len;
    bool error_seen;
    bool first; /* of the message */
    bool cut;   /* not all of it has come in */
    leat_time at;
};

/* Who looks on; each may be NULL. None of these may send or run. */
struct leat_sim_packetway_watch {
    void *context;
    void (*passes)(void *context, const struct leat_sim_packetway_pass *pass);
    /* What the engine of a host says: packets of messages (DATA), answers, errors. */
    void (*event)(void *context, uint32_t port, const struct leat_packetway_event *event,
                  leat_time at);
};

struct leat_sim_packetway_config {
    const struct leat_sim_packetway_san *san;
    uint32_t sans;
    const struct leat_sim_packetway_router *router;
    uint32_t routers;
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
    uint32_t *host; /* [base.ports] node */
    struct leat_sim_packetway_packet *packet;
    uint32_t packets, free_packet;  /* a list, + 1 */
    uint32_t tables_at, free_table; /* from there on: half-routers' own, which may be tables */
    uint32_t table_len_max;         /* octets of the nodes of a table */
    uint32_t link_words;            /* MTU of the links between twins */
    uint32_t cuts, cuts_max;        /* packets that are two now: what comes in, and what goes on */
    struct leat_sim_packetway_entry *entry;
    struct leat_sim_post post;
    uint8_t *scratch; /* a packet's data */
    struct leat_packetway_message *message;
    struct leat_packetway_event *heard;
    leat_time now;     /* of what is being carried out */
    leat_time reached; /* by the SANs that carry something */
    leat_time tick_at;
    leat_time step_ps;  /* the shortest of all times */
    leat_time ahead_ps; /* what the clock of engines is ahead */
    uint64_t progress, seen_progress;
    uint32_t mtu_least, mtu_most, still_ticks;
    bool warming; /* before time 0 */
};

/* Are there such networks? `why`: what, and what was expected. */
leat_err leat_sim_packetway_check(const struct leat_sim_packetway_config *config,
                                  struct leat_text *why);

/* Hosts of a config that was checked: the ports of the network. */
uint32_t leat_sim_packetway_ports(const struct leat_sim_packetway_config *config);

/* Octets of memory for a config that was checked. */
size_t leat_sim_packetway_footprint(const struct leat_sim_packetway_config *config);

/* Ready for pktway->base.hear to be set. `memory`: ZEROED, aligned for any object, lent for good.
 * The SANs have not run yet. */
void leat_sim_packetway_init(struct leat_sim_packetway *pktway,
                             const struct leat_sim_packetway_config *config, void *memory);

/*
 * After init: does every half-router know every node that routers lead to? RANGE: `why` names one.
 * A table that grows on its way (RCVF, CSR) may become too large for the MTU of a SAN.
 */
leat_err leat_sim_packetway_reach(const struct leat_sim_packetway *pktway, struct leat_text *why);

/* ---- looking in, and asking ----------------------------------------------------------------- */

uint32_t leat_sim_packetway_address(const struct leat_sim_packetway *pktway, uint32_t port);

/* The port that has an address. False: it is no host's. */
bool leat_sim_packetway_find(const struct leat_sim_packetway *pktway, uint32_t address,
                             uint32_t *port);

/* The SAN of a port. */
uint32_t leat_sim_packetway_san_of(const struct leat_sim_packetway *pktway, uint32_t port);

/* The engine of a half-router, and its address. */
struct leat_packetway_router *leat_sim_packetway_engine(const struct leat_sim_packetway *pktway,
                                                        uint32_t router, uint32_t end,
                                                        uint32_t *address);

bool leat_sim_packetway_is_up(const struct leat_sim_packetway *pktway, uint32_t router);

/* The clock of engines: the present time and what went before time 0. */
leat_time leat_sim_packetway_clock(const struct leat_sim_packetway *pktway);

/* The engine of a host: what it is asked (plan, ask) goes out with the call of _go. */
struct leat_packetway_host *leat_sim_packetway_host(const struct leat_sim_packetway *pktway,
                                                    uint32_t port);
void leat_sim_packetway_go(struct leat_sim_packetway *pktway, uint32_t port);

#endif
