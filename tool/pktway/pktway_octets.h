/* leat pktway read and write: which octets of whose memory, and the result; live or simulated. */
#ifndef LEAT_LIVE_PACKETWAY_OCTETS_H
#define LEAT_LIVE_PACKETWAY_OCTETS_H

#include "tool.h"
#include <stdint.h>
#include <stdio.h>

enum { PKTWAY_WRITE_MAX = 4096, PKTWAY_READ_MAX = 1 << 20 };

struct pktway_octets {
    uint32_t node;
    uint64_t at;
    size_t len;
    bool write, blind, json;
    uint8_t octets[PKTWAY_WRITE_MAX]; /* to be written */
};

/* After read or write and a node: ADDRESS COUNT, or ADDRESS OCTETS. False after a complaint. */
bool pktway_octets_read(const struct arguments *args, struct pktway_octets *out);

/* `octets` were read or written in this many microseconds. */
void pktway_octets_show(const struct pktway_octets *o, const uint8_t *octets, uint64_t us,
                        FILE *out);

#endif
