/* What the codec of messages and others share; messages are those of <leat/packetway_message.h>. */
#ifndef LEAT_PACKETWAY_WIRE_H
#define LEAT_PACKETWAY_WIRE_H

#include "packetway_leading.h"
#include "packetway_record.h"

/* Does an OH field say that self-defined fields follow in OT? */
bool leat_packetway_message_announces_ot(const struct leat_packetway_message *message);

/* The smaller MTU; 0 is infinite. */
static inline uint32_t leat_packetway_mtu_min(uint32_t a, uint32_t b)
{
    if (!a || !b) return a | b;
    return a < b ? a : b;
}

#endif
