/*
 * Encapsulation in AAL5 (RFC 2684): how the payload of a CPCS-PDU says what it carries.
 *
 *   LLC, routed      | AA AA 03 | 00 00 00 | Ethernet type 2 | packet |
 *   LLC, bridged     | AA AA 03 | 00 80 C2 | 00 07 | 00 00 | Ethernet frame |
 *        with FCS    | AA AA 03 | 00 80 C2 | 00 01 | 00 00 | Ethernet frame | FCS 4 |
 *   LLC, others      | AA AA 03 | OUI 3 | type 2 | octets |
 *   VC, routed       | packet |
 *   VC, bridged      | 00 00 | Ethernet frame |, or with FCS 4
 *
 * With LLC a channel carries many protocols. With VC multiplexing it carries one, which only the
 * two ends know, so the caller says it.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_ATM_IP_H
#define LEAT_ATM_IP_H

#include "leat_err.h"
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_IP_LLC_LEN = 8,        /* AA AA 03, OUI, type */
    LEAT_ATM_IP_PAD_LEN = 2,        /* before an Ethernet frame */
    LEAT_ATM_IP_FCS_LEN = 4,        /* behind it */
    LEAT_ATM_IP_FRAME_LEN_MIN = 14, /* two addresses and a type */
    LEAT_ATM_IP_FCS_FRAME_MIN = 60, /* with FCS it is as Ethernet sent it, padding included */
    LEAT_ATM_IP_PDU_LEN_MAX = 65535,
    LEAT_ATM_IP_OUI_ETHER = 0, /* the type is an Ethernet type */
    LEAT_ATM_IP_OUI_BRIDGED = 0x0080c2,
    LEAT_ATM_IP_BRIDGED_FCS = 1, /* types of that OUI */
    LEAT_ATM_IP_BRIDGED = 7,
    LEAT_ATM_IP_TYPE_IPV4 = 0x0800, /* Ethernet types */
    LEAT_ATM_IP_TYPE_ARP = 0x0806,
    LEAT_ATM_IP_TYPE_IPV6 = 0x86dd,
};

/* What the two ends of a channel agreed on. */
enum leat_atm_ip_mux {
    LEAT_ATM_IP_LLC,
    LEAT_ATM_IP_VC_ROUTED,
    LEAT_ATM_IP_VC_BRIDGED,
    LEAT_ATM_IP_VC_BRIDGED_FCS,
};

struct leat_atm_ip_pdu {
    uint32_t oui;  /* 24 bits; 0 without LLC */
    uint16_t type; /* an Ethernet type, or another of the OUI; 0 without LLC */
    /* A packet or an Ethernet frame without FCS; decode: lent from the octets decoded. */
    const uint8_t *payload;
    size_t payload_len;
};

/* Is the payload an Ethernet frame, and does its FCS follow? 0: no; 1: a frame; 2: with FCS. */
unsigned leat_atm_ip_bridged(enum leat_atm_ip_mux mux, uint32_t oui, uint16_t type);

/*
 * The whole of buf is the payload of one AAL5 PDU. On error *out is untouched and *fault_at (may be
 * NULL) is the offset of the error: SHORT, LENGTH (a frame too short, a payload too long), TYPE (no
 * SNAP header), RESERVED (padding is not 0), CHECKSUM (FCS).
 */
leat_err leat_atm_ip_decode(const uint8_t *buf, size_t len, enum leat_atm_ip_mux mux,
                            struct leat_atm_ip_pdu *out, size_t *fault_at);

/* `buf` must not overlap the payload. On error writes nothing and returns the reason. */
leat_err leat_atm_ip_encode(const struct leat_atm_ip_pdu *pdu, enum leat_atm_ip_mux mux,
                            uint8_t *buf, size_t cap, size_t *len);

#endif
