/*
 * RRP records (spec section 3): what the DB of an RRP or ERR message is made of.
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
 * Two steps: leat_packetway_records_check (done by the decoder of messages) goes over everything
 * once; after that the cursors and accessors cannot fail and need no further check. Never use them
 * on octets that were not checked. All results are lent from those octets.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_RECORD_H
#define LEAT_PACKETWAY_RECORD_H

#include "packetway_leading.h"

enum {
    LEAT_PACKETWAY_RECORD_HEAD_LEN = 8,
    LEAT_PACKETWAY_RL_MAX = 65535,
    LEAT_PACKETWAY_NAME_LEN_MAX = 8 * LEAT_PACKETWAY_RL_MAX + 4,
    LEAT_PACKETWAY_PARAMETERS_LEN_MAX = LEAT_PACKETWAY_NAME_LEN_MAX - 1, /* CC takes one */
    LEAT_PACKETWAY_LADR_MAX = LEAT_PACKETWAY_NAME_LEN_MAX / 4,           /* entries */
    LEAT_PACKETWAY_RCVF_MAX = 32,
    LEAT_PACKETWAY_SRQR_MAX = 64, /* L2RHs */
};

/* One address or many: `low` is the address, the min or the value, `high` the max or the mask. */
struct leat_packetway_address {
    enum leat_packetway_at at; /* SINGLE, MIN or VALUE */
    uint32_t low, high;        /* SINGLE: high is 0 */
};

/*
 * Is it a legal address of an ADDR record (or, if `logical_only`, of LADR)? E_AT, E_ADDR, E_RANGE.
 */
leat_err leat_packetway_address_check(const struct leat_packetway_address *address,
                                      bool logical_only);

/* Spec section 3: does `address` cover x? Only an x of the class of its min or value. */
bool leat_packetway_address_matches(const struct leat_packetway_address *address, uint32_t x);

/* How deep a cursor is: in DB, in RTHD, in ADDR. */
enum leat_packetway_depth { LEAT_PACKETWAY_IN_DB, LEAT_PACKETWAY_IN_RTHD, LEAT_PACKETWAY_IN_ADDR };

/* A cursor over records. */
struct leat_packetway_records {
    const uint8_t *at, *end;
    enum leat_packetway_depth depth;
    enum leat_packetway_mode mode;
    bool names_dropped; /* lenient: a range of nodes has no name */
};

struct leat_packetway_record {
    const uint8_t *octets; /* the head */
    size_t len;            /* 8+8*RL, or what lenient reading makes of it */
    enum leat_packetway_rtyp type;
    enum leat_packetway_depth depth; /* where it stands */
    enum leat_packetway_mode mode;
};

/* A cursor over all of a DB. */
struct leat_packetway_records leat_packetway_records_of(const uint8_t *db, size_t len,
                                                        enum leat_packetway_mode mode);

/*
 * Checks every record, also the nested ones, but not which records form which message: that is
 * packetway_grammar.h. *fault_at is the offset of the offending record.
 */
leat_err leat_packetway_records_check(const uint8_t *db, size_t len, enum leat_packetway_mode mode,
                                      size_t *fault_at);

/* The next record, or false at the end. Lenient: unknown records are passed over. */
bool leat_packetway_records_next(struct leat_packetway_records *records,
                                 struct leat_packetway_record *out);

/* What is left, unknown records not counted. */
size_t leat_packetway_records_count(const struct leat_packetway_records *records);

/* ADDR */
struct leat_packetway_address
leat_packetway_record_address(const struct leat_packetway_record *record);

/* ADDR, RTHD */
struct leat_packetway_records
leat_packetway_record_nested(const struct leat_packetway_record *record);

/* NAME: at least one octet. */
const uint8_t *leat_packetway_record_name(const struct leat_packetway_record *record, size_t *len);

/* CAPA: the code (never 0) and its parameters (may be none). */
uint8_t leat_packetway_record_capability(const struct leat_packetway_record *record,
                                         const uint8_t **parameters, size_t *len);

/* A cursor over the entries of LADR and RCVF; there is at least one. */
struct leat_packetway_addresses {
    const uint8_t *at, *end;
};
struct leat_packetway_addresses
leat_packetway_record_addresses(const struct leat_packetway_record *record);
bool leat_packetway_addresses_next(struct leat_packetway_addresses *addresses,
                                   struct leat_packetway_address *out);

/* SRQR: the quality Q, and a cursor over its L2RHs (at most LEAT_PACKETWAY_SRQR_MAX). */
struct leat_packetway_route {
    const uint8_t *at, *end;
    uint16_t q;
};
struct leat_packetway_route leat_packetway_record_route(const struct leat_packetway_record *record);
bool leat_packetway_route_next(struct leat_packetway_route *route,
                               struct leat_packetway_leading *out);

/* MTUR: words, 0 = unlimited. RTHD: the sequence number. SNID: 0 = the SAN has no ID. */
uint32_t leat_packetway_record_mtu(const struct leat_packetway_record *record);
uint16_t leat_packetway_record_sequence(const struct leat_packetway_record *record);
uint32_t leat_packetway_record_san(const struct leat_packetway_record *record);

#endif
