/*
 * The ports of a flit network, for program layers (leat/port.h): a port is a terminal. A message is
 * sent as packets, which are sent as flits:
 *
 *     message   |<------------------------- len octets ------------------------->|
 *     packets   [head|  flits of octets  ] [head|  flits of octets  ] [head| ... ]
 *                head_flits, at most packet_flits in all               the last: as many as needed
 *
 * An empty message is one packet, of at least one flit. A port sends its messages one after the
 * other, a flit per cycle. All packets of a message are routed by the same random number, so they
 * take one route unless the routing is adaptive. Octets travel by reference: they are not copied.
 *
 *     send()           accepted       sent()              arrived()
 *     --|---------------|---------------|--------------------|------------------->  cycle edges
 *       at              the next edge   the last flit        all packets have arrived, and all
 *                       at or after it  leaves the terminal  messages of the same two ports that
 *                                                            were sent before
 *
 * run(until) runs the cycles whose edges lie before `until`: a message sent at `until` is accepted
 * there. Callbacks are made at the end of their cycle, so a message sent at that very time is
 * accepted at the next edge. A lost message (a full buffer, a broken wire, a bit error, a dead
 * port, a deadlock) is reported at once; the rest of it is not sent.
 *
 * Contention-free: every message takes as long as it does alone, by this closed form. Ports still
 * send, and receive, one message after the other.
 *
 *     2 + (pipeline + wire cycles) of each router passed + flits of all its packets - 1    cycles
 *
 * and, where routers store and forward, flits of its first packet - 1 more at each router. A real
 * network has the same latency if only wires limit it: its buffers cover the round trip of a credit
 * and, in routers with virtual channels and a pipeline of 3 or more, a packet has another channel
 * than the packet before and is no shorter than the pipeline. Otherwise packets of a message wait
 * for each other: that counts as contention. Faults are ignored, and adaptive routing takes the
 * first of its options.
 *
 * Contention-free, the arrival of a message is certain as soon as its first flit arrives: this is
 * reported (head). In a real network other flits may come in between; there it is reported when the
 * first packet has arrived, and has enough octets.
 *
 * With ESP (net_esp.h) the network carries out collective operations; a part is accepted at a cycle
 * edge, as a message is.
 */
#ifndef LEAT_NET_PORT_H
#define LEAT_NET_PORT_H

#include "net.h"
#include "net_esp.h"
#include "net_faults.h"
#include "sim_clock.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_NET_PORT_FLIT_OCTETS_MAX = 65536,
    LEAT_NET_PORT_MESSAGES_MAX = 1 << 24,
};

struct leat_net_port_config {
    const struct leat_net_topology *topology; /* lent for the lifetime, as is all below */
    struct leat_net_routing *routing;
    struct leat_net_config net;
    struct leat_sim_clock clock; /* of 1 ps at least */
    uint32_t flit_octets;        /* 1.. */
    uint32_t packet_flits;       /* at most, including the head; with vc that needs room for whole
                                    packets: no more than its buffer */
    uint32_t head_flits;         /* of each packet, 0.., for its header */
    uint32_t messages_max;       /* in flight, 1.. */
    uint64_t seed;               /* of the routing */
    bool contention_free;        /* then there is no struct leat_net */
    struct leat_net_fault_player *faults; /* NULL: none */
    /* Its cycles 0: the network computes nothing. Otherwise the topology has processors, which are
     * no ports; not contention-free. */
    struct leat_net_esp_config esp;
};

/* A message in flight. */
struct leat_net_port_entry {
    struct leat_sim_letter letter;
    leat_time at;          /* when its host sent it */
    uint64_t cycle;        /* in which it can be accepted; contention-free, from then on: in which
                              its head arrives, then its tail */
    uint64_t left;         /* contention-free: in which it has left */
    uint64_t packets;      /* that it consists of */
    uint64_t begun;        /* of these: passed to the network; contention-free: its head is there */
    uint64_t missing;      /* not yet arrived */
    uint64_t first_packet; /* its number among the packets of the port */
};

/* Messages of a port, in the order in which it sends them. */
struct leat_net_port_queue {
    uint32_t first, last; /* entries + 1: sent by the host, not ended */
    uint32_t sends;       /* + 1: the first of them that has not left */
    uint64_t messages;    /* so far */
    uint64_t packets;     /* so far */
    uint64_t out_free;    /* contention-free: the cycle from which it can send ... */
    uint64_t in_free;     /* ... and receive */
};

/* Future events: a message is sent by its host; contention-free: it has left, its head has arrived,
 * all of it has. */
enum leat_net_port_step {
    LEAT_NET_PORT_HAND_OVER,
    LEAT_NET_PORT_LEFT,
    LEAT_NET_PORT_HEAD,
    LEAT_NET_PORT_TAIL,
};

struct leat_net_port {
    struct leat_port_net base;
    struct leat_net_port_config config;
    struct leat_net net;               /* unused if contention-free */
    struct leat_net_port_entry *entry; /* [messages_max] */
    struct leat_net_port_queue *queue; /* [ports] */
    leat_time reported_at;             /* time of these callbacks */
    uint64_t cycle;                    /* contention-free: the next to run */
    uint64_t skipped;                  /* cycles before the network's cycle 0 (net_replay.h) */
    bool dead;                         /* deadlocked */
    struct leat_sim_post post;
    struct leat_net_esp esp; /* unused if its cycles are 0 */
};

/* Is this config valid? `why`: what is wrong, and what was expected. Topology and routing were
 * checked. */
leat_err leat_net_port_check(const struct leat_net_port_config *config, struct leat_text *why);

/* Octets of memory for a checked config. */
size_t leat_net_port_footprint(const struct leat_net_port_config *config);

/* Set port->base.observer next. `memory`: ZEROED, aligned for any object, lent for the port's
 * lifetime. */
void leat_net_port_init(struct leat_net_port *port, const struct leat_net_port_config *config,
                        void *memory);

/* The packets of a message of so many octets, and the flits of all of them. */
uint64_t leat_net_port_packets(const struct leat_net_port_config *config, uint64_t len);
uint64_t leat_net_port_flits(const struct leat_net_port_config *config, uint64_t len);
/* The flits of one of its packets, 0.. */
uint32_t leat_net_port_piece_flits(const struct leat_net_port_config *config, uint64_t len,
                                   uint64_t packet);

#endif
