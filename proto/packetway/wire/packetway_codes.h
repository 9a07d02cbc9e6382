/*
 * The numbers of PacketWay (spec section 4), each set in one list that generates an enum here and
 * the names in packetway_text.c.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_CODES_H
#define LEAT_PACKETWAY_CODES_H

#include "leat_err.h"
#include <leat/packetway_message.h>

/* How messages are carried (spec/carriage.md). */
enum {
    LEAT_PACKETWAY_LINK_TYPE = 150,
    LEAT_PACKETWAY_ETHER_TYPE = 0x88B7,
    LEAT_PACKETWAY_UDP_PORT = 4254,
    LEAT_PACKETWAY_ETHER_OUI = 0x020000, /* after the Ethernet type, then the protocol */
    LEAT_PACKETWAY_ETHER_PROTOCOL = 0x0300,
};

/* Offsets of fields of PH, for code that reads octets; h is the highest bit of its octet. */
enum {
    LEAT_PACKETWAY_DT_AT = 1,
    LEAT_PACKETWAY_TE_AT = 4,
    LEAT_PACKETWAY_PT_AT = 6,
    LEAT_PACKETWAY_E_AT = 8, /* E, PL and the highest bit of DL */
    LEAT_PACKETWAY_DL_AT = 9,
    LEAT_PACKETWAY_H_AT = 12,
    LEAT_PACKETWAY_SA_AT = 13,
};

/* On a SAN with a key these carry a MAC (packetway_auth.h): messages that change what nodes know,
 * and those that may contain such a message. */
static inline bool leat_packetway_pt_is_keyed(uint16_t pt)
{
    return pt == LEAT_PACKETWAY_PT_RRP || pt == LEAT_PACKETWAY_PT_ERR ||
           pt == LEAT_PACKETWAY_PT_EMBEDDED;
}

/* Left open by spec-03. Ignored where it is not expected; packetway_auth.h has our contents. */
enum { LEAT_PACKETWAY_OH_CRYPTOGRAPHIC = 0x3E };

/* The spec counts time in seconds; leat_time is in picoseconds. */
#define LEAT_PACKETWAY_SECOND UINT64_C(1000000000000)

#endif
