/*
 * The payload of an OAM cell (PT 4 and 5; ITU-T I.610), 48 octets:
 *
 *      0                 1                             46
 *     +--------+--------+-----------------------------+----------+----------+
 *     | type 4 | func 4 | 45 octets, unused ones 6a   | 0 (6)    | CRC-10   |
 *     +--------+--------+-----------------------------+----------+----------+
 *
 * The CRC covers the 374 bits before it. Reserved bits are sent as 0 and ignored when received.
 */
#ifndef LEAT_ATM_OAM_H
#define LEAT_ATM_OAM_H

#include <leat/atm.h>
#include <stdbool.h>

enum { LEAT_ATM_OAM_SPECIFIC_LEN = 45, LEAT_ATM_OAM_PLACE_LEN = 16 };

/* F4 flows: cells of a virtual path with these VCIs. F5 flows: PT 4 and 5 (leat/atm.h). */
enum { LEAT_ATM_OAM_VCI_SEGMENT = 3, LEAT_ATM_OAM_VCI_END = 4 };

/* Functions of LEAT_ATM_OAM_FAULT (I.610, table 4). */
enum {
    LEAT_ATM_OAM_AIS = 0,
    LEAT_ATM_OAM_RDI = 1,
    LEAT_ATM_OAM_CHECK = 4,
    LEAT_ATM_OAM_LOOPBACK = 8
};

/* I.610, table 4. Other types are carried as well. */
enum {
    LEAT_ATM_OAM_FAULT = 1,
    LEAT_ATM_OAM_PERFORMANCE = 2,
    LEAT_ATM_OAM_ACTIVATION = 8,
    LEAT_ATM_OAM_SYSTEM = 15,
};

struct leat_atm_oam {
    uint8_t type;     /* 4 bits */
    uint8_t function; /* 4 bits, its meaning depends on the type */
    uint8_t specific[LEAT_ATM_OAM_SPECIFIC_LEN];
};

/* `len` must be exactly LEAT_ATM_PAYLOAD_LEN. On error *out is untouched. */
leat_err leat_atm_oam_decode(const uint8_t *payload, size_t len, struct leat_atm_oam *out,
                             size_t *fault_at);

/* Writes LEAT_ATM_PAYLOAD_LEN octets. On error writes nothing and returns the reason. */
leat_err leat_atm_oam_encode(const struct leat_atm_oam *oam, uint8_t *payload, size_t cap);

/*
 * The function-specific field of a loopback cell (I.610, 10.2.3):
 *
 *      0            1                     5               21              37              45
 *     +------------+---------------------+---------------+---------------+---------------+
 *     | 0, 1: back | correlation tag     | place to loop | source        | unused: 6a    |
 *     +------------+---------------------+---------------+---------------+---------------+
 *
 * The point named by the place sends the cell back, with bit 0 of the first octet cleared. All ones
 * name the end of the connection. I.610 leaves the rest of a place to the operator.
 */
struct leat_atm_oam_loopback {
    bool goes_back; /* still to be looped */
    uint32_t tag;
    uint8_t place[LEAT_ATM_OAM_PLACE_LEN], source[LEAT_ATM_OAM_PLACE_LEN];
};

void leat_atm_oam_loopback_put(const struct leat_atm_oam_loopback *loopback,
                               struct leat_atm_oam *out);

/* False, *out untouched: it is no loopback cell. */
bool leat_atm_oam_loopback_get(const struct leat_atm_oam *oam, struct leat_atm_oam_loopback *out);

#endif
