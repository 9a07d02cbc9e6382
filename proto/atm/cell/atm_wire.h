/*
 * ATM cell (ITU-T I.361), at the user-network (UNI) or network-network interface (NNI):
 *
 *          31   28 27      20 19              4 3   1  0
 *         +-------+----------+-----------------+-----+---+-----+------------+
 *   UNI   |  GFC  |   VPI    |       VCI       |  PT |CLP| HEC | 48 octets  |
 *         +-------+----------+-----------------+-----+---+-----+------------+
 *   NNI   |       VPI        |       VCI       |  PT |CLP| HEC | 48 octets  |
 *         +------------------+-----------------+-----+---+-----+------------+
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 */
#ifndef LEAT_ATM_WIRE_H
#define LEAT_ATM_WIRE_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_ATM_CELL_LEN = 53, LEAT_ATM_HEADER_LEN = 5, LEAT_ATM_PAYLOAD_LEN = 48 };

enum leat_atm_interface { LEAT_ATM_UNI, LEAT_ATM_NNI };

/* Payload types with a meaning of their own; 0..3 are user data. */
enum {
    LEAT_ATM_PT_SDU = 1,  /* user data: SDU type 1, the last cell of an AAL5 PDU */
    LEAT_ATM_PT_EFCI = 2, /* user data: congestion met */
    LEAT_ATM_PT_OAM_SEGMENT = 4,
    LEAT_ATM_PT_OAM_END = 5,
    LEAT_ATM_PT_RM = 6,
};

/* The meaning of a cell, in host order. Its layout is never the wire's. */
struct leat_atm_cell {
    enum leat_atm_interface interface;
    uint8_t gfc;  /* 4 bits, UNI only: 0 at the NNI */
    uint16_t vpi; /* 8 bits at the UNI, 12 at the NNI */
    uint16_t vci; /* 16 bits */
    uint8_t pt;   /* 3 bits */
    uint8_t clp;  /* 1 bit */
    uint8_t payload[LEAT_ATM_PAYLOAD_LEN];
};

/*
 * `len` must be exactly LEAT_ATM_CELL_LEN. On error *out is untouched and *fault_at (may be NULL)
 * is the offset of what is wrong. Octets do not tell the interface: the caller does.
 */
leat_err leat_atm_cell_decode(const uint8_t *buf, size_t len, enum leat_atm_interface interface,
                              struct leat_atm_cell *out, size_t *fault_at);

/* Writes LEAT_ATM_CELL_LEN octets, or nothing and says why. */
leat_err leat_atm_cell_encode(const struct leat_atm_cell *cell, uint8_t *buf, size_t cap);

/* What the unused octets of idle cells and of OAM payloads hold (I.432.1, I.610). */
enum { LEAT_ATM_FILL = 0x6a };

/*
 * Two headers belong to no connection. An idle cell adapts the rate of a link and never reaches the
 * ATM layer (I.432.1); an unassigned cell is a gap that the ATM layer itself left (I.361).
 */
bool leat_atm_cell_is_idle(const uint8_t header[LEAT_ATM_HEADER_LEN]);
bool leat_atm_cell_is_unassigned(const uint8_t header[LEAT_ATM_HEADER_LEN]);
void leat_atm_cell_idle(uint8_t cell[LEAT_ATM_CELL_LEN]);

#endif
