/*
 * Memory nodes: MEM-READ and MEM-WRITE (PT 3 and 4, spec section 4).
 *
 *   MEM-WRITE   | address 64 | data |
 *   MEM-READ    | reply address 64 | source address 64 | count 64 |
 *
 * big-endian, any number of octets, TE 0. A MEM-READ is answered by one MEM-WRITE: `count` octets
 * from the source address, for the reply address in the requester's memory. A MEM-WRITE has no
 * answer; to verify it, read it back. A MEM-READ of no octets only confirms its arrival.
 *
 *   SA, address, count --> store: within its octets? --> a grant for SA that holds all of it?
 *                                  | no                   | no             | yes: done
 *                                  `-- ERR/GENERAL <------´                `-- READ: MEM-WRITE
 *
 * A refused request changes nothing. Nodes are distinguished by SA alone, which PacketWay does not
 * authenticate.
 */
#ifndef LEAT_PACKETWAY_MEMORY_H
#define LEAT_PACKETWAY_MEMORY_H

#include "packetway_limit.h"
#include "packetway_wire.h"

enum {
    LEAT_PACKETWAY_MEMORY_WRITE_HEAD = 8, /* octets before the data */
    LEAT_PACKETWAY_MEMORY_READ_LEN = 24,
};

struct leat_packetway_memory {
    uint64_t address;    /* WRITE: of the first octet; READ: the source address */
    uint64_t reply;      /* READ */
    uint64_t count;      /* octets */
    const uint8_t *data; /* WRITE: lent */
};

/* Decodes the DB of a message. E_PT: of another PT. SHORT, LENGTH; *out is untouched then. */
leat_err leat_packetway_memory_decode(uint16_t pt, const uint8_t *data, size_t len,
                                      struct leat_packetway_memory *out);

/* Writes the DB, or nothing: E_PT, SPACE. */
leat_err leat_packetway_memory_encode(uint16_t pt, const struct leat_packetway_memory *memory,
                                      uint8_t *buf, size_t cap, size_t *len);

/* Executes a request of these PTs and returns the result. *answer is the message to send to
 * answer->header.dt, a MEM-WRITE or an ERR, with its DB in `buf`; header.pt 0: none. data_max is
 * the maximum DB length of a message to that node, a multiple of 8, 24 at least; `buf` must hold
 * that many octets, and any request with its header. */
enum leat_packetway_memory_reason leat_packetway_store_serve(
    struct leat_packetway_store *store, const struct leat_packetway_message *request, leat_time now,
    size_t data_max, uint8_t *buf, size_t cap, struct leat_packetway_message *answer);

#endif
