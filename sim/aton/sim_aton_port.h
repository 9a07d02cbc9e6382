/*
 * The ports of a token ring, for program layers (leat/port.h): a port is a station. A message is
 * sent in passive packets, one at each capture of the token:
 *
 *     message   |<------------------ len octets ------------------>|
 *     packets   [head|  packet_octets  ] [head|  packet_octets  ] [head| rest ]
 *                0(1), message's number (31), offset (32)
 *
 *     send()            sent()                            arrived()
 *     --|-----------------|--------------------|-------------|---------------->  bit times
 *       at: the next      the interface has    capture       the last symbol of the last packet
 *       edge at or after  taken the last                     has arrived
 *       it                packet into its
 *                         buffer
 *
 * A port sends its messages one after the other; the next packet enters the buffer when the
 * previous one has returned. A message to the port itself does not use the ring: it takes as long
 * as its symbols. Octets of a packet are copied into the interface and out of it.
 *
 * Groups of ports fold and cast by the ring itself (sim_aton_collect.h): their packets begin with a
 * 1. A port with packets of both kinds to send sends one of each in turn.
 *
 * run(until) simulates the bit times that end at `until` or before.
 *
 * Recordings see a packet when its sender has taken the token, a passive one where it arrives, and
 * an active one when it is back at its sender.
 *
 * The arrival of the last packet is certain once its sender has the token: this is reported (head).
 *
 * Contention-free: a sender gets the token at once, and again one revolution after its packet has
 * returned. So a message takes, packets of P_k symbols, d bits from port to port, R bits a
 * revolution:
 *
 *     sum of (P_k + 2 R) over all packets but the last, + P_last + d        bit times
 *
 * Then there is no ring that could compute: these ports have no means.
 */
#ifndef LEAT_SIM_ATON_PORT_H
#define LEAT_SIM_ATON_PORT_H

#include "sim_aton.h"
#include "sim_aton_collect.h"
#include "sim_clock.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_SIM_ATON_PORT_HEAD_LEN = 8,
    LEAT_SIM_ATON_PORT_OCTETS_MAX = LEAT_ATON_OCTETS_MAX - LEAT_SIM_ATON_PORT_HEAD_LEN,
    LEAT_SIM_ATON_PORT_MESSAGES_MAX = 1 << 24,
    LEAT_SIM_ATON_PORT_PRIORITIES_MAX = 8,
};

/* Packets of these ports have this priority at the token (aton_priority.h). */
struct leat_sim_aton_port_priority {
    uint32_t first, last; /* ports */
    uint8_t priority;
};

struct leat_sim_aton_port_config {
    uint32_t stations;    /* 1 .. */
    uint32_t propagation; /* bits of each link */
    enum leat_sim_aton_model model;
    struct leat_sim_clock clock; /* a bit time; at least 1 ps */
    uint32_t packet_octets;      /* of a message, at most, 1 .. */
    uint32_t messages_max;       /* in flight, 1 .. */
    bool contention_free;
    struct leat_sim_aton_port_priority priority[LEAT_SIM_ATON_PORT_PRIORITIES_MAX];
    uint32_t priorities; /* ports not listed have 0; the last entry for a port counts */
};

/* A message in flight. */
struct leat_sim_aton_port_entry {
    struct leat_sim_letter letter;
    uint64_t begun;   /* octets passed to the interface */
    uint64_t arrived; /* octets */
};

struct leat_sim_aton_port_queue {
    uint32_t first, last; /* entries + 1: not yet wholly in the interface */
    uint32_t sends;       /* + 1: whose packet is in the interface */
    uint64_t messages;    /* so far */
    uint64_t free_at;     /* when it can send to itself; contention-free: to any port */
    uint8_t *buffer;      /* of a packet */
    bool is_turn_of_groups;
};

enum leat_sim_aton_port_step {
    LEAT_SIM_ATON_PORT_HAND_OVER,
    LEAT_SIM_ATON_PORT_SENT,
    LEAT_SIM_ATON_PORT_HEAD,
    LEAT_SIM_ATON_PORT_ARRIVED,
    LEAT_SIM_ATON_PORT_ENTER, /* a part; the entry is its group - 1 and its place */
};

struct leat_sim_aton_port {
    struct leat_port_net base;
    struct leat_sim_aton_port_config config;
    struct leat_sim_aton ring; /* contention-free: only for its distances */
    struct leat_sim_aton_port_entry *entry;
    struct leat_sim_aton_port_queue *queue;
    uint64_t now; /* current bit time */
    /* That were on the ring, past every station, and their symbols; without tokens, and the empty
     * packets that lower a token's priority. Contention-free: 0. */
    uint64_t frames, frame_symbols;
    struct leat_sim_post post;
    struct leat_sim_aton_collect collect;
    uint8_t *image; /* of a packet, for recordings */
    size_t image_cap;
};

/* Is this config valid? `why`: what is wrong, and what was expected. */
leat_err leat_sim_aton_port_check(const struct leat_sim_aton_port_config *config,
                                  struct leat_text *why);

/* The priority of a port's packets. */
uint8_t leat_sim_aton_port_priority(const struct leat_sim_aton_port_config *config, uint32_t port);

/* Octets of memory for a checked config. */
size_t leat_sim_aton_port_footprint(const struct leat_sim_aton_port_config *config);

/* Set port->base.observer next. `memory`: ZEROED, aligned for any object, lent for the port's
 * lifetime. */
void leat_sim_aton_port_init(struct leat_sim_aton_port *port,
                             const struct leat_sim_aton_port_config *config, void *memory);

/* The packets of a message of so many octets, and the symbols of all of them. */
uint64_t leat_sim_aton_port_packets(const struct leat_sim_aton_port_config *config, uint64_t len);
uint64_t leat_sim_aton_port_symbols(const struct leat_sim_aton_port_config *config, uint64_t len);

#endif
