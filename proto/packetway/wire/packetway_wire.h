/* What the codec of messages and others share; messages are those of <leat/packetway_message.h>. */
#ifndef LEAT_PACKETWAY_WIRE_H
#define LEAT_PACKETWAY_WIRE_H

#include "leat_damage.h"
#include "packetway_leading.h"
#include "packetway_record.h"

/* Does an OH field say that self-defined fields follow in OT? */
bool leat_packetway_message_announces_ot(const struct leat_packetway_message *message);

/*
 * Reads a message at its destination as it is and notes what strict decoding would refuse, as long
 * as the place of all other fields is known. The first damage is the error of strict decoding. RRP
 * and ERR: the records may be unreadable even for lenient cursors. An error is damage that leaves
 * places unknown, or is too much; *out is untouched then.
 */
leat_err leat_packetway_message_examine(const uint8_t *buf, size_t len,
                                        struct leat_packetway_message *out,
                                        struct leat_damages *damages);

/* The smaller MTU; 0 is infinite. */
static inline uint32_t leat_packetway_mtu_min(uint32_t a, uint32_t b)
{
    if (!a || !b) return a | b;
    return a < b ? a : b;
}

#endif
