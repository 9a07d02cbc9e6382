/*
 * RRP records (spec section 3): the DB of an RRP or ERR message is a sequence of them.
 *
 *    byte 0   1     2   3      4 ..................... 7    then RL words
 *   +-------+-----+----------+-----------------------+--
 *   | RTyp  | PL  | RL (16)  | first 4 record octets |  ...    8+8*RL octets, data 8*RL+4-PL
 *   +-------+-----+----------+-----------------------+--
 *
 *   ADDR 41  29 00 RL | 01 address  | nested records
 *            29 04 RL | 02 min      | 03 max  00000000, nested records
 *            29 04 RL | 04 value    | 05 mask 00000000, nested records
 *   NAME 42  2a PL RL | octets, pad               CAPA 43  2b PL RL | CC, parameters, pad
 *   LADR 44  2c PL RL | (AT address)*, pad        SRQR 45  2d 02 RL | 0000 Q(16), L2RHs
 *   MTUR 46  2e 00 00 | MTU(32) words             RCVF 47  2f PL RL | (01 address)*, pad
 *   RTHD 48  30 02 RL | 0000 SN(16), the table    SNID 49  31 00 00 | 01 san-id
 *
 * Records nest DB -> RTHD -> ADDR -> SRQR and no deeper.
 *
 * The decoder of messages checks all records once; after that the cursors and accessors cannot fail
 * and need no further check. Never use them on octets that were not checked. All results are lent
 * from those octets.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_RECORDS_H
#define LEAT_PACKETWAY_RECORDS_H

#include <leat/packetway_message.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_PACKETWAY_RECORD_HEAD_LEN = 8,
    LEAT_PACKETWAY_RL_MAX = 65535,
    LEAT_PACKETWAY_NAME_LEN_MAX = 8 * LEAT_PACKETWAY_RL_MAX + 4,
    LEAT_PACKETWAY_PARAMETERS_LEN_MAX = LEAT_PACKETWAY_NAME_LEN_MAX - 1, /* CC takes one */
    LEAT_PACKETWAY_LADR_MAX = LEAT_PACKETWAY_NAME_LEN_MAX / 4,           /* entries */
    LEAT_PACKETWAY_RCVF_MAX = 128,
    LEAT_PACKETWAY_SRQR_MAX = 64, /* L2RHs */
};

/* One address or many: `low` is the address, the min or the value, `high` the max or the mask. */
struct leat_packetway_address {
    enum leat_packetway_at at; /* SINGLE, MIN or VALUE */
    uint32_t low, high;        /* SINGLE: high is 0 */
};

/* How deep a cursor is: in DB, in RTHD, in ADDR. */
enum leat_packetway_depth { LEAT_PACKETWAY_IN_DB, LEAT_PACKETWAY_IN_RTHD, LEAT_PACKETWAY_IN_ADDR };

/* A cursor over records. */
struct leat_packetway_records {
    const uint8_t *at, *end;
    enum leat_packetway_depth depth;
    enum leat_packetway_mode mode;
    bool names_dropped; /* lenient: a range of nodes has no name */
};

/* One record, checked. */
struct leat_packetway_record {
    const uint8_t *octets; /* the head */
    size_t len;            /* 8+8*RL, or what lenient reading makes of it */
    enum leat_packetway_rtyp type;
    enum leat_packetway_depth depth; /* where it stands */
    enum leat_packetway_mode mode;
};

/* A cursor over all of a DB. */
LEAT_API struct leat_packetway_records leat_packetway_records_of(const uint8_t *db, size_t len,
                                                                 enum leat_packetway_mode mode);

/* The next record, or false at the end. Lenient: skips unknown records. */
LEAT_API bool leat_packetway_records_next(struct leat_packetway_records *records,
                                          struct leat_packetway_record *out);

/* ADDR */
LEAT_API struct leat_packetway_address
leat_packetway_record_address(const struct leat_packetway_record *record);

/* ADDR, RTHD */
LEAT_API struct leat_packetway_records
leat_packetway_record_nested(const struct leat_packetway_record *record);

/* NAME: at least one octet. */
LEAT_API const uint8_t *leat_packetway_record_name(const struct leat_packetway_record *record,
                                                   size_t *len);

/* CAPA: the code (never 0) and its parameters (may be none). */
LEAT_API uint8_t leat_packetway_record_capability(const struct leat_packetway_record *record,
                                                  const uint8_t **parameters, size_t *len);

/* A cursor over the entries of LADR and RCVF; there is at least one. */
struct leat_packetway_addresses {
    const uint8_t *at, *end;
};
LEAT_API struct leat_packetway_addresses
leat_packetway_record_addresses(const struct leat_packetway_record *record);
LEAT_API bool leat_packetway_addresses_next(struct leat_packetway_addresses *addresses,
                                            struct leat_packetway_address *out);

/* SRQR: the quality Q, and a cursor over its L2RHs (at most LEAT_PACKETWAY_SRQR_MAX). */
struct leat_packetway_route {
    const uint8_t *at, *end;
    uint16_t q;
};
LEAT_API struct leat_packetway_route
leat_packetway_record_route(const struct leat_packetway_record *record);
LEAT_API bool leat_packetway_route_next(struct leat_packetway_route *route,
                                        struct leat_packetway_leading *out);

/* MTUR: words, 0 = unlimited. RTHD: the sequence number. SNID: 0 = the SAN has no ID. */
LEAT_API uint32_t leat_packetway_record_mtu(const struct leat_packetway_record *record);
LEAT_API uint16_t leat_packetway_record_sequence(const struct leat_packetway_record *record);
LEAT_API uint32_t leat_packetway_record_san(const struct leat_packetway_record *record);

/* The records of a message decoded at its destination; none if it does not consist of records. */
LEAT_API struct leat_packetway_records
leat_packetway_message_records(const struct leat_packetway_message *message);

/* ---- building -------------------------------------------------------------------------------- */

/*
 * Writes RRP records one after the other into the caller's octets. Each new record updates the RL
 * of all records around it, so the octets are whole records at any time.
 *
 *     leat_packetway_build_init(&b, db, sizeof db);
 *     leat_packetway_build_address(&b, &node2);
 *     leat_packetway_build_nest(&b);              what follows is under that ADDR
 *     leat_packetway_build_route(&b, 6, l2rhs, 2);
 *     leat_packetway_build_mtu(&b, 1024);
 *     leat_packetway_build_leave(&b);             and now no longer
 *     message.data = db, message.data_len = b.len;
 *
 * A record that the limits of spec 2.1 forbid is E_LIMIT, one without room is E_NOSPC; nothing is
 * written then. The first such error stays in `err`, and all later calls fail with it.
 * leat_packetway_message_encode checks whether the records form a message.
 */
enum { LEAT_PACKETWAY_BUILD_DEPTH_MAX = 2 }; /* RTHD, ADDR */

struct leat_packetway_build {
    uint8_t *buf;
    size_t cap, len; /* len: octets written, whole words */
    leat_err err;
    unsigned depth;
    size_t parent[LEAT_PACKETWAY_BUILD_DEPTH_MAX]; /* offsets of the open records */
    size_t last;                                   /* offset of the newest record */
    bool nestable;                                 /* may the newest record be opened? */
};

/* Begins to build in `buf`. */
LEAT_API void leat_packetway_build_init(struct leat_packetway_build *build, uint8_t *buf,
                                        size_t cap);

/* Opens the ADDR or RTHD just written; E_LIMIT for others, and ADDR in ADDR, RTHD not in DB. */
LEAT_API leat_err leat_packetway_build_nest(struct leat_packetway_build *build);

/* Closes the record opened last. There must be one. */
LEAT_API void leat_packetway_build_leave(struct leat_packetway_build *build);

/* ADDR, NAME and CAPA. */
LEAT_API leat_err leat_packetway_build_address(struct leat_packetway_build *build,
                                               const struct leat_packetway_address *address);
LEAT_API leat_err leat_packetway_build_name(struct leat_packetway_build *build,
                                            const uint8_t *octets, size_t len);
LEAT_API leat_err leat_packetway_build_capability(struct leat_packetway_build *build, uint8_t cc,
                                                  const uint8_t *parameters, size_t len);

/* LADR. Each address is logical; min/max and value/mask take two entries of the record. */
LEAT_API leat_err leat_packetway_build_logical(struct leat_packetway_build *build,
                                               const struct leat_packetway_address *addresses,
                                               size_t count);

/* SRQR. Each record of the route is an L2RH. */
LEAT_API leat_err leat_packetway_build_route(struct leat_packetway_build *build, uint16_t q,
                                             const struct leat_packetway_leading *l2rhs,
                                             size_t count);
LEAT_API leat_err leat_packetway_build_mtu(struct leat_packetway_build *build, uint32_t words);

/* RCVF. The mapper is first, the sender last. */
LEAT_API leat_err leat_packetway_build_received_from(struct leat_packetway_build *build,
                                                     const uint32_t *half_routers, size_t count);

/* RTHD; the table is nested under it. */
LEAT_API leat_err leat_packetway_build_table(struct leat_packetway_build *build, uint16_t sequence);
LEAT_API leat_err leat_packetway_build_san(struct leat_packetway_build *build, uint32_t san);

/* Copies records that were checked before. Nothing can be nested under them. */
LEAT_API leat_err leat_packetway_build_copy(struct leat_packetway_build *build,
                                            const uint8_t *records, size_t len);

#ifdef __cplusplus
}
#endif

#endif
