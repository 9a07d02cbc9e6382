/*
 * Memory nodes: MEM-READ and MEM-WRITE (PT 3 and 4). No draft gives the layout of their DB; ours:
 *
 *   TE 1  request   | address 64 | length 32 | tag 32 | WRITE: `length` octets |
 *   TE 2  done      | address 64 | length 32 | tag 32 | READ: `length` octets  |
 *   TE 3  refused   | address 64 | length 32 | tag 32 | reason 64 |
 *
 * big-endian. The tag is the asker's and comes back. A request lies within one region and has its
 * permission, or nothing is done. An answer has the priority of the request.
 */
#ifndef LEAT_PACKETWAY_MEMORY_H
#define LEAT_PACKETWAY_MEMORY_H

#include "packetway_wire.h"

enum { LEAT_PACKETWAY_MEMORY_HEAD_LEN = 16, LEAT_PACKETWAY_REGIONS_MAX = 64 };

enum leat_packetway_memory_te {
    LEAT_PACKETWAY_MEMORY_REQUEST = 1,
    LEAT_PACKETWAY_MEMORY_DONE = 2,
    LEAT_PACKETWAY_MEMORY_REFUSED = 3,
};

#define LEAT_PACKETWAY_MEMORY_REASON_LIST(X)         \
    X(BOUNDS, 1, "not within one region")            \
    X(PERMISSION, 2, "the region does not allow it") \
    X(SIZE, 3, "the answer would be above the limit")

enum leat_packetway_memory_reason {
    LEAT_PACKETWAY_MEMORY_OK = 0,
#define X(id, value, text) LEAT_PACKETWAY_MEMORY_##id = value,
    LEAT_PACKETWAY_MEMORY_REASON_LIST(X)
#undef X
};

struct leat_packetway_memory {
    uint64_t address;
    uint32_t len, tag;
    const uint8_t *data;                      /* WRITE request, READ done: `len` octets; lent */
    enum leat_packetway_memory_reason reason; /* refused */
};

/* The DB of a message of PT MEM-READ or MEM-WRITE. TE, SHORT, LENGTH, RANGE; *out untouched then.
 */
leat_err leat_packetway_memory_decode(uint16_t pt, uint16_t te, const uint8_t *data, size_t len,
                                      struct leat_packetway_memory *out);

/* Writes the DB, or nothing: TE as above, SPACE. */
leat_err leat_packetway_memory_encode(uint16_t pt, uint16_t te,
                                      const struct leat_packetway_memory *memory, uint8_t *buf,
                                      size_t cap, size_t *len);

enum { LEAT_PACKETWAY_MAY_READ = 1, LEAT_PACKETWAY_MAY_WRITE = 2 };

/* A piece of the host's memory that others may use. */
struct leat_packetway_region {
    uint64_t address; /* as requests call its first octet */
    uint8_t *memory;
    uint32_t len;
    uint8_t permissions;
};

/*
 * Does what a request asks for and writes the DB of the answer: *te is DONE or REFUSED. `message`
 * is a decoded request; an error says that it is none, and then nothing was done. cap must hold at
 * least the head and a reason: 24 octets.
 */
leat_err leat_packetway_memory_serve(const struct leat_packetway_region *regions, uint32_t count,
                                     const struct leat_packetway_message *message, uint8_t *buf,
                                     size_t cap, size_t *len, uint16_t *te);

#endif
