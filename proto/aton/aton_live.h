/*
 * ATON on the live ring: behind Ethernet type 0x88B6 (spec/aton.md, "Live ring").
 *
 *    0         4          8      9       10    12                  n
 *   +---------+----------+------+-------+-----+-------------------+- - - - - - -+- - - - -+
 *   | ring id | sequence | hops | flags |  0  |  octet image      |  MAC (64)   | padding |
 *   +---------+----------+------+-------+-----+-------------------+- - - - - - -+- - - - -+
 *
 * The MAC is SipHash-2-4 over everything before it, with hops left taken as 0 because every station
 * decrements it. Nothing in the packet shows whether there is a MAC: that depends on the key, which
 * a ring has or has not by configuration. The image's head gives the length of the image; octets
 * after it (and after the MAC) are the padding of a short Ethernet frame and are ignored.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ATON_LIVE_H
#define LEAT_ATON_LIVE_H

#include "aton_wire.h"

enum {
    LEAT_ATON_ETHER_TYPE = 0x88B6,
    LEAT_ATON_LIVE_HEADER_LEN = 12,
    LEAT_ATON_KEY_LEN = 16,
    LEAT_ATON_MAC_LEN = 8,
};

struct leat_aton_live {
    uint32_t ring_id, sequence;
    uint8_t hops_left;
    uint8_t flags; /* carried unchanged: the group's number plus one; 0: of none */
    struct leat_aton_packet packet;
};

/* The header alone. RESERVED if the zeros are not. On error *out is untouched. */
leat_err leat_aton_live_header_decode(const uint8_t *buf, size_t len, struct leat_aton_live *out,
                                      size_t *fault_at);

/* Writes LEAT_ATON_LIVE_HEADER_LEN octets, or SPACE. Ignores the packet. */
leat_err leat_aton_live_header_encode(const struct leat_aton_live *live, uint8_t *buf, size_t cap);

/*
 * Header, MAC (with a key; NULL: not checked) and packet. On error *out is untouched and *fault_at
 * (may be NULL) is the offset: it tells a CHECKSUM of the MAC from one of the image.
 */
leat_err leat_aton_live_decode(const uint8_t *buf, size_t len, const uint8_t key[LEAT_ATON_KEY_LEN],
                               struct leat_aton_live *out, size_t *fault_at);

/* Writes *len octets (no padding). On error writes nothing and returns the reason. key may be
 * NULL. */
leat_err leat_aton_live_encode(const struct leat_aton_live *live,
                               const uint8_t key[LEAT_ATON_KEY_LEN], uint8_t *buf, size_t cap,
                               size_t *len);

/* The MAC of a header and image, together len >= 16; the octet of hops left may hold anything. */
uint64_t leat_aton_live_mac(const uint8_t key[LEAT_ATON_KEY_LEN], const uint8_t *buf, size_t len);

#endif
