/*
 * The cell of the thesis' own adaptation layer ("light AAL3/4", note 2.5), 53 octets:
 *
 *      0   1     2..4  5     7     9         11      13           15         51
 *     +----+----+-----+-----+-----+---------+-------+------------+----------+--------+
 *     |VPI 12, 0|  0  |type |flag |sequence |source |destination | 36 octets| CRC-16 |
 *     +----+----+-----+-----+-----+---------+-------+------------+----------+--------+
 *
 * The first cell of a message begins its 36 octets with a PVM message header, five big-endian
 * integers of four octets:
 *
 *     +---------+---------+---------+----------+------------+-----------
 *     | name[0] | name[1] | name[2] | instance | message id | 16 octets of data
 *     +---------+---------+---------+----------+------------+-----------
 *
 * Numbers of the prototype have 16 bits. Units that resynchronise (atm_aal_unit.h) have 29: the
 * bits above 16 stand above the type, which has three bits, and are 0 in every cell of the
 * prototype. These units also have two more cell types.
 *
 * Nor does the prototype know multicast groups (note 10.7). A message to group g has the
 * destination 0xfffe - g, just below that of a broadcast; an ACK of its cells has the flag 8 (g+1).
 *
 * Links of the prototype have no HEC: octet 4 of the cell is 0. The CRC-16 covers octets 5..50.
 */
#ifndef LEAT_ATM_TASK_CELL_H
#define LEAT_ATM_TASK_CELL_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_TASK_CELL_LEN = 53,
    LEAT_ATM_TASK_PAYLOAD_LEN = 36,
    LEAT_ATM_TASK_NAME_COUNT = 3, /* characters of a task's name */
    LEAT_ATM_TASK_MESSAGE_LEN = 20,
    LEAT_ATM_TASK_BROADCAST = 0xffff, /* as a destination */
    LEAT_ATM_TASK_GROUP = 0xfffe,     /* ... of group 0; the others lie below it */
    LEAT_ATM_TASK_GROUPS_MAX = 32,
    LEAT_ATM_TASK_SEQUENCE_MAX = 0x1fffffff,
};

enum leat_atm_task_type {
    LEAT_ATM_TASK_MESSAGE,
    LEAT_ATM_TASK_ACK,
    LEAT_ATM_TASK_RESYNC = 4, /* no cell with a number up to this one follows */
    LEAT_ATM_TASK_RESYNCED,   /* its answer */
};

bool leat_atm_task_type_known(unsigned type);

/* Flags of a message cell: none in a middle cell, both in a single one. */
enum { LEAT_ATM_TASK_FIRST = 1, LEAT_ATM_TASK_LAST = 2 };

/* Flag of an ACK of a point-to-point cell; an ACK of a broadcast cell has 0, and one of a cell to
 * group g has g + 1 times ACK_GROUP. So have RESYNC and RESYNCED of a stream of such cells. */
enum { LEAT_ATM_TASK_ACK_POINT = 4, LEAT_ATM_TASK_ACK_GROUP = 8 };

struct leat_atm_task_cell {
    uint16_t vpi; /* 12 bits */
    enum leat_atm_task_type type;
    uint16_t flag;
    uint32_t sequence; /* 29 bits; an ACK repeats the number acknowledged */
    uint16_t source, destination;
    uint8_t payload[LEAT_ATM_TASK_PAYLOAD_LEN]; /* unused octets are 0 */
};

/*
 * Is this more likely a prototype's cell than an ATM cell? It has no header check: after its VPI of
 * 12 bits the header is all zeros. For a few VPIs zero is a correct HEC; then its own CRC-16
 * decides.
 */
bool leat_atm_task_cell_recognise(const uint8_t *buf, size_t len);

/*
 * `len` must be exactly LEAT_ATM_TASK_CELL_LEN. On error *out is untouched and *fault_at (may be
 * NULL) is the offset of the error: RESERVED (header bits that are always 0, flags without a
 * meaning), CHECKSUM, TYPE.
 */
leat_err leat_atm_task_cell_decode(const uint8_t *buf, size_t len, struct leat_atm_task_cell *out,
                                   size_t *fault_at);

/* Writes LEAT_ATM_TASK_CELL_LEN octets. On error writes nothing and returns the reason. */
leat_err leat_atm_task_cell_encode(const struct leat_atm_task_cell *cell, uint8_t *buf, size_t cap);

/* Does the payload begin with a message header? */
static inline bool leat_atm_task_cell_is_first(const struct leat_atm_task_cell *cell)
{
    return cell->type == LEAT_ATM_TASK_MESSAGE && (cell->flag & LEAT_ATM_TASK_FIRST);
}

/* The destination of a message: a task's name, its instance (all ones, -1: every one), and an
 * id. */
struct leat_atm_task_message {
    uint32_t name[LEAT_ATM_TASK_NAME_COUNT]; /* one character each */
    uint32_t instance, id;
};

/* Decodes the first LEAT_ATM_TASK_MESSAGE_LEN octets; data may follow them. */
leat_err leat_atm_task_message_decode(const uint8_t *buf, size_t len,
                                      struct leat_atm_task_message *out, size_t *fault_at);
leat_err leat_atm_task_message_encode(const struct leat_atm_task_message *message, uint8_t *buf,
                                      size_t cap);

#endif
