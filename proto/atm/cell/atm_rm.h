/*
 * The payload of a resource management cell of the available bit rate service (PT 6; note, 3.3),
 * 48 octets:
 *
 *      0     1                    2    4     6     8     12    16          46
 *     +-----+--------------------+----+-----+-----+-----+-----+-----------+-------+--------+
 *     |  1  |DIR BN CI NI RA 000 | ER | CCR | MCR | QL  | SN  | reserved  | 0 (6) | CRC-10 |
 *     +-----+--------------------+----+-----+-----+-----+-----+-----------+-------+--------+
 *
 * Reserved bits are sent as 0 and ignored when received: senders of ATM Forum cells fill them
 * with 6a.
 *
 * A rate in 16 bits (TM 4.0, 5.10.3.2): 0 (1) | nz (1) | e (5) | m (9), meaning
 * nz * 2^e * (1 + m/512) cells per second.
 */
#ifndef LEAT_ATM_RM_H
#define LEAT_ATM_RM_H

#include <leat/atm.h>

enum { LEAT_ATM_RM_ABR = 1 }; /* the protocol identifier in octet 0 */

/* The flags of octet 1. */
enum {
    LEAT_ATM_RM_DIR = 0x80, /* backward */
    LEAT_ATM_RM_BN = 0x40,  /* made by a switch or the destination */
    LEAT_ATM_RM_CI = 0x20,  /* congestion: decrease the rate */
    LEAT_ATM_RM_NI = 0x10,  /* do not increase the rate */
    LEAT_ATM_RM_RA = 0x08,  /* request or acknowledgement (not used by ABR) */
    LEAT_ATM_RM_FLAGS = 0xf8,
};

struct leat_atm_rm {
    uint8_t flags; /* within LEAT_ATM_RM_FLAGS */
    uint16_t er;   /* explicit rate, current cell rate, minimum cell rate: */
    uint16_t ccr;  /*   coded, 15 bits */
    uint16_t mcr;
    uint32_t ql; /* queue length */
    uint32_t sn; /* sequence number */
};

/* `len` must be exactly LEAT_ATM_PAYLOAD_LEN. TYPE: valid, but of another protocol than ABR. */
leat_err leat_atm_rm_decode(const uint8_t *payload, size_t len, struct leat_atm_rm *out,
                            size_t *fault_at);

/* Writes LEAT_ATM_PAYLOAD_LEN octets. On error writes nothing and returns the reason. */
leat_err leat_atm_rm_encode(const struct leat_atm_rm *rm, uint8_t *payload, size_t cap);

/*
 * Rates are exact in units of 1/512 cell per second. encode gives the greatest coded rate not above
 * the requested one, so no source sends faster than allowed.
 */
enum { LEAT_ATM_RATE_UNIT = 512 };
uint64_t leat_atm_rate_decode(uint16_t code);
uint16_t leat_atm_rate_encode(uint64_t rate);

#endif
