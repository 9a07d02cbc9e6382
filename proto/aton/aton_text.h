/*
 * ATON packets as text, in both directions.
 *
 *   all        priority token monitor reservation active da sa flags crc
 *   active     opcode width register group counter
 *   opc 1..8   variable1 variable2
 *   SORT       values: a list of numbers; counter is their number
 *   BITCOUNT   param, counters: a list of W numbers
 *   TREE       param, slots: a list of { valid, value }; param is their number
 *   passive    length octets
 *   Ethernet   ringId sequence hopsLeft ringFlags, before the packet's own
 *
 * Missing fields get the values of a sender with operand 0. A missing list is all zeros, with the
 * length given by counter, width or param; a list that is present determines its own length. A
 * token has no octet image.
 *
 * The serial image (aton_image.h) has the same fields, and
 *
 *   all        intermediate error, at the end
 *   token      priority token monitor reservation, no others
 */
#ifndef LEAT_ATON_TEXT_H
#define LEAT_ATON_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aton_format, leat_aton_serial_format;

#endif
