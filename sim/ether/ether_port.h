/*
 * The ports of a switched Ethernet, for program layers (leat/port.h): stations on cables of their
 * own to one switch, full duplex, which stores a frame and forwards it (IEEE 802.3, 802.1D).
 *
 *     station 0 ====>  | whole frame | --> output queue of 2 ====> station 2
 *     station 1 ====>  |   switch    |     `buffer` frames
 *
 * A message of up to frame_octets - 7 octets is one frame, with the OUI extended Ethernet type
 * (IEEE 802, 9.2.4) in front of it; a longer one goes as several, each with its place in it:
 *
 *   | preamble, SFD 8 | to 6 | from 6 | 88 B7 | OUI 3, protocol 2 | count 2 | [number 4, offset 4]
 *   | octets | pad | FCS 4 |  gap 12
 *
 * From `to` to FCS a frame has 64 octets at least. A frame of F octets on the cable, gap not
 * counted, takes 8 F bit times; so a message of one frame takes, if nothing is in its way,
 *
 *     16 F bit times, and of n frames, the first n - 1 of F and the last of L octets,
 *     8 ((n - 1) (F + 12) + F + L) bit times
 *
 *     handed over            sent()                   arrived()
 *     --|----------------------|------------------------|---------->  bit times
 *       at: the next edge      the last bit of its      the last bit of its last
 *       at or after it         last frame has left      frame is in: FCS is right
 *
 * Nothing is lost: a station begins a frame only when the output queue that it goes to has room for
 * it (as PAUSE frames of 802.3 would have it, at no cost), and frames behind it wait. A message to
 * the port itself goes to no switch: it takes as long as its frames on the cable, gaps and all.
 * Cables have no delay. Octets travel as a reference: they are not copied.
 *
 * run(until) makes the bit times that end at `until` or before. Contention-free: in the switch
 * frames wait only for those of the same station.
 *
 * How the last frame comes in is certain once it is in the switch: that is told (head).
 *
 * The address of station i is 02-00-00, then i + 1 in three octets.
 */
#ifndef LEAT_ETHER_PORT_H
#define LEAT_ETHER_PORT_H

#include "leat_err.h"
#include "leat_text.h"
#include "sim_clock.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_SIM_ETHER_PREAMBLE_LEN = 8,
    LEAT_SIM_ETHER_HEADER_LEN = 14, /* addresses and type */
    LEAT_SIM_ETHER_OUI_LEN = 7,     /* OUI, protocol, count: of the frame's payload */
    LEAT_SIM_ETHER_PIECE_LEN = 8,   /* number and offset, where there are several frames */
    LEAT_SIM_ETHER_FCS_LEN = 4,
    LEAT_SIM_ETHER_GAP_LEN = 12,
    LEAT_SIM_ETHER_FRAME_MIN = 64, /* addresses to FCS */
    LEAT_SIM_ETHER_MAC_LEN = 6,
    LEAT_SIM_ETHER_STATIONS_MAX = 4096,
    LEAT_SIM_ETHER_PAYLOAD_MIN = 46, /* of a frame */
    LEAT_SIM_ETHER_PAYLOAD_MAX = 9000,
    LEAT_SIM_ETHER_BUFFER_MAX = 4096,
    LEAT_SIM_ETHER_MESSAGES_MAX = 1 << 24,
};

struct leat_sim_ether_port_config {
    uint32_t stations;           /* 1 .. */
    struct leat_sim_clock clock; /* a bit time; of 1 ps at least */
    uint32_t frame_octets;       /* payload of a frame at most: 1500 in the standard */
    uint32_t buffer;             /* frames of each output of the switch, on their way to it too */
    uint32_t messages_max;       /* under way, 1 .. */
    bool contention_free;
};

struct leat_sim_ether_port_entry; /* a message under way */
struct leat_sim_ether_port_station;
struct leat_sim_ether_port_frame;

struct leat_sim_ether_port {
    struct leat_port_net base;
    struct leat_sim_ether_port_config config;
    struct leat_sim_ether_port_entry *entry;
    struct leat_sim_ether_port_station *station;
    struct leat_sim_ether_port_frame *frame;
    uint32_t frames, free_frame; /* a list, + 1 */
    uint64_t now;                /* bit time */
    struct leat_sim_post post;
};

/* Are there such ports? `why`: what, and what was expected. */
leat_err leat_sim_ether_port_check(const struct leat_sim_ether_port_config *config,
                                   struct leat_text *why);

/* Octets of memory for a config that was checked. */
size_t leat_sim_ether_port_footprint(const struct leat_sim_ether_port_config *config);

/* Ready for port->base.hear to be set. `memory`: ZEROED, aligned for any object, lent for good. */
void leat_sim_ether_port_init(struct leat_sim_ether_port *port,
                              const struct leat_sim_ether_port_config *config, void *memory);

/* Octets of a message that one frame holds. */
uint32_t leat_sim_ether_port_single(const struct leat_sim_ether_port_config *config);

/* Of a message of so many octets: its frames, and what all of them have on the cable, from the
 * preamble to FCS, without gaps. */
uint64_t leat_sim_ether_port_frames(const struct leat_sim_ether_port_config *config, uint64_t len);
uint64_t leat_sim_ether_port_octets(const struct leat_sim_ether_port_config *config, uint64_t len);

/* The address of a station. */
void leat_sim_ether_port_address(uint32_t station, uint8_t out[LEAT_SIM_ETHER_MAC_LEN]);

#endif
