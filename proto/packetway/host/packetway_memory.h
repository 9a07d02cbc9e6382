/*
 * Memory nodes: MEM-READ and MEM-WRITE (PT 3 and 4, spec section 4).
 *
 *   MEM-WRITE   | address 64 | data |
 *   MEM-READ    | reply address 64 | source address 64 | count 64 |
 *
 * big-endian, octets in any number, TE 0. A MEM-READ is answered by one MEM-WRITE: `count` octets
 * from the source address, for the reply address in the asker's memory. A MEM-WRITE has no answer;
 * who must know reads it back. A MEM-READ of no octets only tells that it came.
 *
 *   SA, address, count --> store: within its octets? --> a grant for SA that holds all of it?
 *                                  | no                   | no             | yes: done
 *                                  `-- ERR/GENERAL <------´                `-- READ: MEM-WRITE
 *
 * What is refused changes nothing. Nodes are told apart by SA alone, which PacketWay does not
 * prove.
 */
#ifndef LEAT_PACKETWAY_MEMORY_H
#define LEAT_PACKETWAY_MEMORY_H

#include "packetway_limit.h"
#include "packetway_wire.h"

enum {
    LEAT_PACKETWAY_MEMORY_WRITE_HEAD = 8, /* octets in front of the data */
    LEAT_PACKETWAY_MEMORY_READ_LEN = 24,
    LEAT_PACKETWAY_GRANTS_MAX = 64,
};

struct leat_packetway_memory {
    uint64_t address;    /* WRITE: of the first octet; READ: the source address */
    uint64_t reply;      /* READ */
    uint64_t count;      /* octets */
    const uint8_t *data; /* WRITE: lent */
};

/* The DB of a message. E_PT: of another PT. SHORT, LENGTH; *out untouched then. */
leat_err leat_packetway_memory_decode(uint16_t pt, const uint8_t *data, size_t len,
                                      struct leat_packetway_memory *out);

/* Writes the DB, or nothing: E_PT, SPACE. */
leat_err leat_packetway_memory_encode(uint16_t pt, const struct leat_packetway_memory *memory,
                                      uint8_t *buf, size_t cap, size_t *len);

enum { LEAT_PACKETWAY_MAY_READ = 1, LEAT_PACKETWAY_MAY_WRITE = 2 };

/* Who may do what where; all bounds are included. */
struct leat_packetway_grant {
    uint64_t first, last;           /* addresses of octets */
    uint32_t node_first, node_last; /* SA */
    uint8_t permissions;
};

#define LEAT_PACKETWAY_MEMORY_REASON_LIST(X)                           \
    X(READ, "reads answered")                                          \
    X(WRITTEN, "writes done")                                          \
    X(MALFORMED, "refused: no request of this form, or of another TE") \
    X(BOUNDS, "refused: not within the memory")                        \
    X(PERMISSION, "refused: not allowed to this node")                 \
    X(SIZE, "refused: the answer would be above the MTU")              \
    X(ACCUSED, "dropped: a router saw an error in it")                 \
    X(NOBODY, "dropped: without a source address")

enum leat_packetway_memory_reason {
#define X(id, text) LEAT_PACKETWAY_MEMORY_##id,
    LEAT_PACKETWAY_MEMORY_REASON_LIST(X)
#undef X
        LEAT_PACKETWAY_MEMORY_REASON_COUNT
};

/* The memory of a node. Plain: zeroes, then what is given; counts and errs are serve's. */
struct leat_packetway_store {
    uint64_t address; /* of octets[0], as requests call it; address + len is at most 2^64 */
    uint8_t *octets;
    uint64_t len;
    uint32_t grant_count; /* none: nobody may do anything */
    struct leat_packetway_grant grants[LEAT_PACKETWAY_GRANTS_MAX];
    uint64_t counts[LEAT_PACKETWAY_MEMORY_REASON_COUNT];
    uint64_t octets_read, octets_written, err_limited;
    struct leat_packetway_window errs[LEAT_PACKETWAY_LIMIT_SLOTS];
};

/* Does what a message of these PTs asks for, and says what became of it. *answer is what is to be
 * sent to answer->header.dt, a MEM-WRITE or an ERR, with its DB in `buf`; header.pt 0: nothing.
 * data_max is how many octets of DB a message to there may have, a multiple of 8, 24 at least;
 * `buf` must hold them, and any request with its header. */
enum leat_packetway_memory_reason leat_packetway_store_serve(
    struct leat_packetway_store *store, const struct leat_packetway_message *request, leat_time now,
    size_t data_max, uint8_t *buf, size_t cap, struct leat_packetway_message *answer);

#endif
