/*
 * The ports of a switched Ethernet, for program layers (leat/port.h): stations on their own
 * full-duplex cables to one store-and-forward switch (IEEE 802.3, 802.1D).
 *
 *     station 0 ====>  | whole frame | --> output queue of 2 ====> station 2
 *     station 1 ====>  |   switch    |     `buffer` frames
 *
 * A message of up to frame_octets - 7 octets is one frame, with the OUI extended Ethernet type
 * (IEEE 802, 9.2.4) in front of it; a longer one is sent as several, each with its offset in it:
 *
 *   | preamble, SFD 8 | to 6 | from 6 | 88 B7 | OUI 3, protocol 2 | count 2 | [number 4, offset 4]
 *   | octets | pad | FCS 4 |  gap 12
 *
 * From `to` to FCS a frame has at least 64 octets. A frame of F octets on the cable, without the
 * gap, takes 8 F bit times; so in an idle network a message of one frame takes
 *
 *     16 F bit times, and of n frames, the first n - 1 of F and the last of L octets,
 *     8 ((n - 1) (F + 12) + F + L) bit times
 *
 *     send()                 sent()                   arrived()
 *     --|----------------------|------------------------|---------->  bit times
 *       at: the next edge      the last bit of its      the last bit of its last
 *       at or after it         last frame has left      frame has arrived: FCS is right
 *
 * Nothing is lost: a station begins a frame only when its output queue has room for it (as with
 * PAUSE frames of 802.3, at no cost), and frames behind it wait. A message to the port itself does
 * not use the switch: it takes as long as its frames on the cable, including gaps. Cables have no
 * delay. Octets travel by reference: they are not copied.
 *
 * run(until) simulates the bit times that end at `until` or before. Contention-free: in the switch
 * frames wait only for those of the same station.
 *
 * The arrival of the last frame is certain once it is in the switch: this is reported (head).
 *
 * With ESP (ether_esp.h) the switch carries out collective operations.
 *
 * The address of station i is 02-00-00, then i + 1 in three octets.
 */
#ifndef LEAT_ETHER_PORT_H
#define LEAT_ETHER_PORT_H

#include "ether_esp.h"
#include "sim_clock.h"
#include "sim_post.h"
#include <leat/port.h>

enum {
    LEAT_SIM_ETHER_PREAMBLE_LEN = 8,
    LEAT_SIM_ETHER_HEADER_LEN = 14, /* addresses and type */
    LEAT_SIM_ETHER_OUI_LEN = 7,     /* OUI, protocol, count: of the frame's payload */
    LEAT_SIM_ETHER_PIECE_LEN = 8,   /* number and offset, if there are several frames */
    LEAT_SIM_ETHER_FCS_LEN = 4,
    LEAT_SIM_ETHER_GAP_LEN = 12,
    LEAT_SIM_ETHER_FRAME_MIN = 64, /* addresses to FCS */
    LEAT_SIM_ETHER_MAC_LEN = 6,
    LEAT_SIM_ETHER_STATIONS_MAX = 4096,
    LEAT_SIM_ETHER_PAYLOAD_MIN = 46, /* of a frame */
    LEAT_SIM_ETHER_PAYLOAD_MAX = 9000,
    LEAT_SIM_ETHER_BUFFER_MAX = 4096,
};

struct leat_sim_ether_port_config {
    uint32_t stations;           /* 1 .. */
    struct leat_sim_clock clock; /* a bit time; at least 1 ps */
    uint32_t frame_octets;       /* payload of a frame at most: 1500 in the standard */
    uint32_t buffer; /* frames of each output of the switch, including those in flight to it */
    uint32_t messages_max; /* in flight, 1 .. */
    bool contention_free;
    uint32_t esp_cycles; /* bit times per instruction of the switch (ether_esp.h); 0: no ESP */
};

struct leat_sim_ether_port_entry; /* a message in flight */
struct leat_sim_ether_port_station;
struct leat_sim_ether_port_frame;

struct leat_sim_ether_port {
    struct leat_port_net base;
    struct leat_sim_ether_port_config config;
    struct leat_sim_ether_port_entry *entry;
    struct leat_sim_ether_port_station *station;
    struct leat_sim_ether_port_frame *frame;
    uint32_t frames, free_frame; /* a free list, + 1 */
    uint64_t now;                /* current bit time */
    struct leat_sim_post post;
    struct leat_sim_ether_esp esp; /* unused if its cycles are 0 */
};

/* Octets of memory for a config within the limits above. */
size_t leat_sim_ether_port_footprint(const struct leat_sim_ether_port_config *config);

/* Set port->base.observer next. `memory`: ZEROED, aligned for any object, lent for the port's
 * lifetime. */
void leat_sim_ether_port_init(struct leat_sim_ether_port *port,
                              const struct leat_sim_ether_port_config *config, void *memory);

/* Octets of a message that one frame holds. */
uint32_t leat_sim_ether_port_single(const struct leat_sim_ether_port_config *config);

/* The frames of a message of so many octets, and their total length on the cable, from the preamble
 * to FCS, without gaps. */
uint64_t leat_sim_ether_port_frames(const struct leat_sim_ether_port_config *config, uint64_t len);
uint64_t leat_sim_ether_port_octets(const struct leat_sim_ether_port_config *config, uint64_t len);

/* What has passed over a cable in one direction. */
struct leat_sim_ether_port_cable {
    uint64_t frames, bits; /* bits: from the preamble to FCS, without gaps */
};
/* Of a station, to or from the switch. */
struct leat_sim_ether_port_cable leat_sim_ether_port_cable(const struct leat_sim_ether_port *port,
                                                           uint32_t station, bool is_to_switch);

/* The address of a station. */
void leat_sim_ether_port_address(uint32_t station, uint8_t out[LEAT_SIM_ETHER_MAC_LEN]);

#endif
