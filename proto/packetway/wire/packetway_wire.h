/* What the codec of messages and others share; messages are those of <leat/packetway_message.h>. */
#ifndef LEAT_PACKETWAY_WIRE_H
#define LEAT_PACKETWAY_WIRE_H

#include "packetway_leading.h"
#include "packetway_record.h"

/* The smaller MTU; 0 is infinite. */
static inline uint32_t leat_packetway_mtu_min(uint32_t a, uint32_t b)
{
    if (!a || !b) return a | b;
    return a < b ? a : b;
}

#endif
