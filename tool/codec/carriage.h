/*
 * Where in a captured frame is a packet of one of our formats? Link type, Ethernet type, IP
 * protocol and UDP port determine it (spec/carriage.md). Only offsets are computed here; the
 * content is the format's.
 */
#ifndef LEAT_CARRIAGE_H
#define LEAT_CARRIAGE_H

#include "leat_format.h"
#include <stdbool.h>

struct carried {
    const struct leat_format *format;
    const uint8_t *frame; /* the format's own frame, or the packet where it has none */
    size_t len;
    bool ether; /* directly behind an Ethernet type */
};

/* False: none of our formats. */
bool carriage_find(uint16_t link_type, const uint8_t *octets, size_t len, struct carried *out);

/* The frame that the format puts around its packets here; NULL: none. */
const struct leat_framing *carriage_framing(const struct leat_format *format, bool ether);

#endif
