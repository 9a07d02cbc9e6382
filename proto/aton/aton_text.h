/*
 * ATON packets as text, in both directions.
 *
 *   all        priority token monitor reservation active da sa flags crc
 *   active     opcode width register counter
 *   opc 1..8   variable1 variable2
 *   SORT       values: a list of numbers; counter is their number
 *   BITCOUNT   param, counters: a list of W numbers
 *   TREE       param, slots: a list of { valid, value }; param is their number
 *   passive    length octets
 *   Ethernet   ringId sequence hopsLeft ringFlags, before the packet's own
 *
 * What a user leaves out is what a sender with operand 0 starts with. A list that is left out is
 * one of zeros, as long as counter, width or param says; a list that is written decides itself.
 * A token has no octet image, hence none here.
 */
#ifndef LEAT_ATON_TEXT_H
#define LEAT_ATON_TEXT_H

#include "leat_format.h"

extern const struct leat_format leat_aton_format;

#endif
