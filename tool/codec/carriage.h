/*
 * Where in a captured frame does a packet of one of our formats sit? Link type, Ethernet type, IP
 * protocol and UDP port tell (spec/carriage.md). Only offsets are worked out here; what lies
 * behind them is the format's.
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

/* False: nothing of ours. */
bool carriage_find(uint16_t link_type, const uint8_t *octets, size_t len, struct carried *out);

/* The frame that the format has around its packets here; NULL: none. */
const struct leat_framing *carriage_framing(const struct leat_format *format, bool ether);

#endif
