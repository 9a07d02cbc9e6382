/*
 * OAM, RM, AAL2 and AAL3/4 payloads end in the same way (spec/atm.md, 2): six bits of their own and
 * a CRC-10 over the 374 bits before it. The CRC of all 384 bits is 0.
 *
 *     0                                        46
 *    +----------------------------------------+------------+----------+
 *    | 46 octets                              | six bits   | CRC-10   |
 *    +----------------------------------------+------------+----------+
 */
#ifndef LEAT_ATM_SEAL_H
#define LEAT_ATM_SEAL_H

#include <leat/atm.h>

enum { LEAT_ATM_SEAL_AT = LEAT_ATM_PAYLOAD_LEN - 2, LEAT_ATM_SEAL_BITS = 10 };

/* Writes the last two octets: `six` (six bits) and the CRC. */
void leat_atm_payload_seal(uint8_t payload[LEAT_ATM_PAYLOAD_LEN], unsigned six);

/* The six bits of a payload; 0 for those that reserve them. */
unsigned leat_atm_payload_six(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN]);

/* The CRC in the payload. */
uint16_t leat_atm_payload_crc(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN]);

/* Refuses any length but 48 (SHORT, LENGTH) and any other CRC (CHECKSUM). */
leat_err leat_atm_payload_check(const uint8_t *payload, size_t len, size_t *fault_at);

#endif
