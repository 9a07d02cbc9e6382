/*
 * The interface of a room to the tools: one struct per wire format. proto/leat_formats.c lists
 * them.
 */
#ifndef LEAT_FORMAT_STRUCT_H
#define LEAT_FORMAT_STRUCT_H

#include "leat_damage.h"
#include "leat_err.h"
#include "leat_fields.h"
#include <leat/format.h>
#include <stddef.h>
#include <stdint.h>

/* The frame that a format has around its packets in one carrier. */
struct leat_framing {
    /*
     * Finds the packet and shows the frame's own fields. On error nothing is shown and *fault_at is
     * the offset in the frame.
     */
    leat_err (*unframe)(const uint8_t *frame, size_t len, struct leat_fields *f, size_t *packet_at,
                        size_t *packet_len, size_t *fault_at);

    /* The inverse. A read error stays in f; nothing is written then. */
    leat_err (*frame)(struct leat_fields *f, const uint8_t *packet, size_t packet_len,
                      uint8_t *frame, size_t cap, size_t *len);
};

struct leat_format {
    const char *name;    /* as users type it */
    const char *summary; /* one line */

    /* Its carriage (spec/carriage.md); 0: none. */
    uint16_t link_type, ether_type, udp_port;
    bool in_cells; /* its packets lie in the payload of ATM cells */
    uint8_t ip_protocol;
    size_t unit_len; /* every packet has this length; 0: it varies */

    /*
     * Decodes, and walks the fields only if the packet is valid. Otherwise nothing is shown and
     * *fault_at is the offset of the offending octet or structure.
     */
    leat_err (*show)(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at);

    /*
     * The same error, but also shows a damaged packet if the places of its fields are known: then
     * damages->count is not 0, and the first damage is the error. NULL: the format has no such.
     */
    leat_err (*show_lenient)(const uint8_t *octets, size_t len, struct leat_fields *f,
                             struct leat_damages *damages, size_t *fault_at);

    /* Reads the fields and encodes. A read error stays in f; nothing is written then. */
    leat_err (*build)(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len);

    /*
     * The length of the packet that begins here, from its own header. 0: not known. NULL: the
     * format never knows.
     */
    size_t (*measure)(const uint8_t *octets, size_t len);

    const struct leat_framing *framing; /* on its link type and UDP port; NULL: the bare packet */
    const struct leat_framing *ether_framing; /* behind an Ethernet type; NULL: as framing */
};

#endif
