/*
 * The ports of a flit network, for program layers (leat/port.h): a port is a terminal. A message
 * goes as packets, which go as flits:
 *
 *     message   |<------------------------- len octets ------------------------->|
 *     packets   [head|  flits of octets  ] [head|  flits of octets  ] [head| ... ]
 *                head_flits, in all packet_flits at most                the last: as many as it
 * needs
 *
 * An empty message is one packet, of one flit at least. A port sends its messages one after the
 * other, a flit per cycle; all packets of a message are routed by the same random number, so that
 * they take one way unless the routing is adaptive. Octets travel as a reference: they are not
 * copied.
 *
 *     handed over      taken          sent()              arrived()
 *     --|---------------|---------------|--------------------|------------------->  cycle edges
 *       at              the next edge   the last flit        all packets are there, and all
 *                       at or after it  leaves the terminal  messages of the same two ports that
 *                                                            were sent before
 *
 * run(until) runs the cycles whose edges lie before `until`: a message that is handed over at
 * `until` is taken there. What is told is told at the end of its cycle, so that a message handed
 * over at that very time is taken at the next edge. A message that is lost (a full buffer, a broken
 * wire, a bit error, a dead port, a deadlock) is told at once; what is left of it is not sent.
 *
 * Contention-free: every message takes as long as it does alone, by this closed form; ports still
 * send, and take in, one message after the other.
 *
 *     2 + (pipeline + wire cycles) of each router passed + flits of all its packets - 1    cycles
 *
 * and, where routers store and forward, flits of its first packet - 1 at each router more. A real
 * network does this too where only wires set the pace: its buffers last for the round trip of a
 * credit and, in routers with virtual channels and a pipeline of 3 or more, a packet has a channel
 * beside that of the packet before and is no shorter than the pipeline. Elsewhere packets of a
 * message wait for each other: that counts as contention. Faults have no part in it, and adaptive
 * routing goes by the first of its options.
 *
 * Contention-free, how a message comes in is certain as soon as its first flit does: that is told
 * (head). In a real network others may get between its flits; there it is told when its first
 * packet is in, and has enough octets.
 */
#ifndef LEAT_NET_PORT_H
#define LEAT_NET_PORT_H

#include "net.h"
#include "net_faults.h"
#include "sim_clock.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_NET_PORT_FLIT_OCTETS_MAX = 65536,
    LEAT_NET_PORT_MESSAGES_MAX = 1 << 24,
};

struct leat_net_port_config {
    const struct leat_net_topology *topology; /* lent for good, as is all below */
    struct leat_net_routing *routing;
    struct leat_net_config net;
    struct leat_sim_clock clock;          /* of 1 ps at least */
    uint32_t flit_octets;                 /* 1.. */
    uint32_t packet_flits;                /* at most, the head's with it; vc that wants room for all
                                             of a packet: no more than its buffer */
    uint32_t head_flits;                  /* of each packet, 0.., for its header */
    uint32_t messages_max;                /* under way, 1.. */
    uint64_t seed;                        /* of the routing */
    bool contention_free;                 /* then there is no struct leat_net */
    struct leat_net_fault_player *faults; /* NULL: none */
};

/* A message under way. */
struct leat_net_port_entry {
    struct leat_sim_letter letter;
    uint64_t cycle;        /* in which it can be taken */
    uint64_t packets;      /* that it consists of */
    uint64_t begun;        /* of these: given to the network */
    uint64_t missing;      /* not there yet */
    uint64_t first_packet; /* its number among the packets of the port */
};

/* Messages of a port, in the order in which it sends them. */
struct leat_net_port_queue {
    uint32_t first, last; /* entries + 1: handed over, not ended */
    uint32_t sends;       /* + 1: the first of them that has not left */
    uint64_t messages;    /* so far */
    uint64_t packets;     /* so far */
    uint64_t out_free;    /* contention-free: the cycle from which on it can send ... */
    uint64_t in_free;     /* ... and take in */
};

/* What is to come: a message is handed over; contention-free: has left, its head is there, all of
 * it is. */
enum leat_net_port_step {
    LEAT_NET_PORT_HAND_OVER,
    LEAT_NET_PORT_LEFT,
    LEAT_NET_PORT_HEAD,
    LEAT_NET_PORT_TAIL,
};

struct leat_net_port {
    struct leat_port_net base;
    struct leat_net_port_config config;
    struct leat_net net;               /* not where contention-free */
    struct leat_net_port_entry *entry; /* [messages_max] */
    struct leat_net_port_queue *queue; /* [ports] */
    leat_time told_at;                 /* when these happened */
    uint64_t cycle;                    /* contention-free: the next to run */
    bool dead;                         /* deadlocked */
    struct leat_sim_post post;
};

/* Are there such ports? `why`: what, and what was expected. Topology and routing were checked. */
leat_err leat_net_port_check(const struct leat_net_port_config *config, struct leat_text *why);

/* Octets of memory for a config that was checked. */
size_t leat_net_port_footprint(const struct leat_net_port_config *config);

/* Ready for port->base.hear to be set. `memory`: ZEROED, aligned for any object, lent for good. */
void leat_net_port_init(struct leat_net_port *port, const struct leat_net_port_config *config,
                        void *memory);

/* Of a message of so many octets: its packets, and the flits of all of them. */
uint64_t leat_net_port_packets(const struct leat_net_port_config *config, uint64_t len);
uint64_t leat_net_port_flits(const struct leat_net_port_config *config, uint64_t len);

#endif
