/*
 * IP over PacketWay (PT 21): a TUN device whose packets travel in messages to the nodes that their
 * destinations map to.
 *
 *   programs -- IP --> TUN device -- maps: 10.9.0.3 -> node 0x301 --> message, planned
 *            <-- IP --            <-- only from the node that its source maps to <-- message
 *
 * Messages follow a plan, and go by address until there is one. The device's MTU is the SAN's (or
 * mtu=) less a header and some hops; if a route has a smaller MTU, mtu= must say so, because longer
 * packets are dropped and counted.
 */
#ifndef LEAT_LIVE_PACKETWAY_TUN_H
#define LEAT_LIVE_PACKETWAY_TUN_H

#include "live_packetway_san.h"
#include <leat/packetway.h>

enum {
    PACKETWAY_WAYS_MAX = 64,
    PACKETWAY_TUN_HOPS = 8,   /* L2RHs of 8 octets that an MTU leaves room for */
    PACKETWAY_TUN_BATCH = 64, /* packets at a time */
    PACKETWAY_TOO_LONG_MAX = 128,
};

/* A prefix, and the node behind it. */
struct packetway_way {
    uint8_t address[16];
    uint8_t address_len; /* 4 or 16 */
    uint8_t prefix_bits;
    uint32_t node;
};

struct packetway_tun {
    int fd;
    char device[PACKETWAY_DEVICE_LEN];
    uint32_t way_count;
    struct packetway_way ways[PACKETWAY_WAYS_MAX];
    struct leat_packetway_message message;
    uint64_t sent, received, no_way, spoofed, unsent, too_long;
};

/* "10.9.0.0/24=0x301", "fd00::3=0x301"; may be repeated. False: see `why`. */
bool packetway_tun_way(struct packetway_tun *tun, const char *text, char *why);

/* The node that an address maps to, by longest prefix; 0: none. */
uint32_t packetway_tun_node(const struct packetway_tun *tun, const uint8_t *address, uint32_t len);

/* Creates the device and brings it up, with room for messages of mtu_words; the user assigns its
 * addresses. False: see `why`. */
bool packetway_tun_open(struct packetway_tun *tun, const char *device, uint32_t mtu_words,
                        char *why);
void packetway_tun_close(struct packetway_tun *tun);

/* Sends the packets that the host has queued. */
void packetway_tun_send(struct packetway_tun *tun, struct leat_packetway_node *node);

/*
 * The packet that tells an IP sender that the route carries at most `mtu` octets: ICMP (RFC 1191),
 * or ICMPv6 (RFC 4443); TCP then sends shorter ones. 0: no such packet.
 */
size_t packetway_tun_too_long(const uint8_t *ip, size_t len, uint32_t mtu,
                              uint8_t out[PACKETWAY_TOO_LONG_MAX]);

/* Handles a received message of PT IP. */
void packetway_tun_receive(struct packetway_tun *tun, const struct leat_packetway_event *event);

#endif
