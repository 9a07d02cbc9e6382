/*
 * ATMARP and InATMARP packets (RFC 2225, 8.7), which travel behind an LLC header of type ARP:
 *
 *   +--------+--------+------+------+--------+------+------+------+------+
 *   | 00 13  | 08 00  | shtl | sstl |   op   | spln | thtl | tstl | tpln |     12 octets
 *   +--------+--------+------+------+--------+------+------+------+------+
 *   | source: number, subaddress, IP | target: number, subaddress, IP    |
 *   +--------------------------------+-----------------------------------+
 *
 *   shtl, sstl, thtl, tstl: | 0 | 1: E.164, 0: NSAPA | length 6 |     spln, tpln: 4, or 0 for none
 *
 * An ATM number is an address of an end system (NSAPA, 20 octets), or an E.164 number of at most 15
 * digits as characters; behind the latter a subaddress (NSAPA) may follow. What is unknown has
 * length 0. A NAK is its request with another op.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_ATM_ARP_H
#define LEAT_ATM_ARP_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_ARP_HEADER_LEN = 12,
    LEAT_ATM_ARP_NSAPA_LEN = 20,
    LEAT_ATM_ARP_E164_LEN_MAX = 15,
    LEAT_ATM_ARP_IP_LEN = 4,
    /* Both stations with an E.164 number, a subaddress and an IP address. */
    LEAT_ATM_ARP_LEN_MAX = LEAT_ATM_ARP_HEADER_LEN + 2 * (15 + 20 + 4),
};

enum leat_atm_arp_op {
    LEAT_ATM_ARP_REQUEST = 1,
    LEAT_ATM_ARP_REPLY = 2,
    LEAT_ATM_ARP_IN_REQUEST = 8,
    LEAT_ATM_ARP_IN_REPLY = 9,
    LEAT_ATM_ARP_NAK = 10,
};

/* Unused octets are 0. */
struct leat_atm_arp_station {
    bool is_e164;                           /* the number is */
    uint8_t number_len;                     /* NSAPA: 0 or 20; E.164: 1..15 */
    uint8_t subaddress_len;                 /* 0, or 20 behind an E.164 number */
    uint8_t ip_len;                         /* 0 or 4 */
    uint8_t number[LEAT_ATM_ARP_NSAPA_LEN]; /* E.164: characters 0..9 */
    uint8_t subaddress[LEAT_ATM_ARP_NSAPA_LEN];
    uint8_t ip[LEAT_ATM_ARP_IP_LEN];
};

struct leat_atm_arp_packet {
    enum leat_atm_arp_op op;
    struct leat_atm_arp_station source, target;
};

bool leat_atm_arp_op_known(unsigned op);

/*
 * The whole of buf is one packet. On error *out is untouched and *fault_at (may be NULL) is the
 * offset of the error: SHORT, LENGTH, TYPE (of hardware, protocol, op, subaddress), RESERVED, RANGE
 * (no digit), FIELD (a subaddress behind no E.164 number).
 */
leat_err leat_atm_arp_decode(const uint8_t *buf, size_t len, struct leat_atm_arp_packet *out,
                             size_t *fault_at);

/* On error writes nothing and returns the reason. */
leat_err leat_atm_arp_encode(const struct leat_atm_arp_packet *packet, uint8_t *buf, size_t cap,
                             size_t *len);

#endif
