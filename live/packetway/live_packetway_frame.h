/*
 * How PacketWay messages are carried on Ethernet and over UDP, for user space and the kernel alike.
 *
 *   Ethernet   | to 6 | from 6 | 88 B7 | 02 00 00 | 03 00 | words 16 | message | pad |
 *   UDP 4254                                              | words 16 | message |
 *
 * Frames are padded, so the count of 8-octet words locates TAIL. The native route of an Ethernet
 * SAN is the MAC address of the node, 6 octets; that of a UDP SAN its address and port, 4 + 2
 * octets for IPv4 and 16 + 2 for IPv6, big-endian. These are the octets of an L2RH for such a SAN.
 *
 * A SAN discovers its nodes with PacketWay's own messages: WRU? to 0x7FFFFF at the Ethernet
 * broadcast address (on UDP: to every known or configured peer), and INFO as the answer, whose
 * frame supplies the native route.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_LIVE_PACKETWAY_FRAME_H
#define LEAT_LIVE_PACKETWAY_FRAME_H

#include "leat_bytes.h"
#include "packetway_codes.h"
#include <stdbool.h>

enum {
    PACKETWAY_MAC_LEN = 6,
    PACKETWAY_UDP4_LEN = 6, /* a native route over UDP: an address and a port */
    PACKETWAY_UDP6_LEN = 18,
    PACKETWAY_FROM_AT = 6,
    PACKETWAY_TYPE_AT = 12,
    PACKETWAY_OUI_AT = 14,
    PACKETWAY_PROTOCOL_AT = 17,
    PACKETWAY_COUNT_AT = 19,
    PACKETWAY_MESSAGE_AT = 21,
    PACKETWAY_FRAME_MIN = 60, /* octets on the wire, without the frame's CRC */
    PACKETWAY_UDP_MESSAGE_AT = 2,
    PACKETWAY_MESSAGE_MAX = 65496, /* octets: what UDP can carry, in whole words */
    PACKETWAY_SANS_MAX = 8,        /* of one router */
    PACKETWAY_NODES_MAX = 1024,    /* known neighbours per SAN */
};

/* Writes everything before the message. */
static inline void packetway_put_head(uint8_t *frame, const uint8_t *to, const uint8_t *from,
                                      uint32_t words)
{
    for (int i = 0; i < PACKETWAY_MAC_LEN; i++) {
        frame[i] = to[i];
        frame[PACKETWAY_FROM_AT + i] = from[i];
    }
    leat_put_be16(frame + PACKETWAY_TYPE_AT, LEAT_PACKETWAY_ETHER_TYPE);
    leat_put_be24(frame + PACKETWAY_OUI_AT, LEAT_PACKETWAY_ETHER_OUI);
    leat_put_be16(frame + PACKETWAY_PROTOCOL_AT, LEAT_PACKETWAY_ETHER_PROTOCOL);
    leat_put_be16(frame + PACKETWAY_COUNT_AT, (uint16_t)words);
}

static inline bool packetway_is_ours(const uint8_t *frame)
{
    return leat_get_be16(frame + PACKETWAY_TYPE_AT) == LEAT_PACKETWAY_ETHER_TYPE &&
           leat_get_be24(frame + PACKETWAY_OUI_AT) == LEAT_PACKETWAY_ETHER_OUI &&
           leat_get_be16(frame + PACKETWAY_PROTOCOL_AT) == LEAT_PACKETWAY_ETHER_PROTOCOL;
}

/* Is this a valid native route of one node on Ethernet? */
static inline bool packetway_is_mac(const uint8_t *route, uint32_t len)
{
    return len == PACKETWAY_MAC_LEN && !(route[0] & 1);
}

#endif
