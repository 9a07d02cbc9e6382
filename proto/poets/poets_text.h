/*
 * POETS packets as text, and the frame around them in captures and UDP datagrams:
 *
 *   | direction (8) | length (8) | hwAddr (32), little-endian | packet, `length` octets | padding |
 *
 * direction 0, toFabric: hwAddr is the thread the packet goes to; 1, toHost: the thread it comes
 * from. This meaning of the octet is ours (README.md).
 */
#ifndef LEAT_POETS_TEXT_H
#define LEAT_POETS_TEXT_H

#include "leat_format.h"

enum { LEAT_POETS_CARRIAGE_LEN = 6 }; /* octets before the packet */

extern const struct leat_format leat_poets_format;
/* Records of hosts: P_Addr and P_Debug. They have no carriage of their own. */
extern const struct leat_format leat_poetsaddr_format, leat_poetsdebug_format;

/* Writes the frame of a packet of at most 64 octets. Returns LEAT_POETS_CARRIAGE_LEN plus the
 * packet's length. */
size_t leat_poets_carriage_put(bool to_host, uint32_t hw_addr, const uint8_t *packet,
                               size_t packet_len, uint8_t *frame);

/* The packet of a frame of `len` octets, unchecked; it is lent. On error both outputs are untouched
 * and *fault_at (may be NULL) is the offset of the error. */
leat_err leat_poets_carriage_get(const uint8_t *frame, size_t len, const uint8_t **packet,
                                 size_t *packet_len, size_t *fault_at);

#endif
