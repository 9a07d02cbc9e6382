/*
 * Writes RRP records one after the other into the caller's octets. Every RL above the new record
 * is brought up to date at once, so that the octets are whole records at any time.
 *
 *     leat_packetway_build_init(&b, db, sizeof db);
 *     leat_packetway_build_address(&b, &node2);
 *     leat_packetway_build_nest(&b);              what follows is under that ADDR
 *     leat_packetway_build_route(&b, 6, l2rhs, 2);
 *     leat_packetway_build_mtu(&b, 1024);
 *     leat_packetway_build_leave(&b);             and now no longer
 *     message.data = db, message.data_len = b.len;
 *
 * A record that the limits of spec 2.1 forbid is E_LIMIT, one that finds no room E_NOSPC; nothing
 * is written then, and the first such error stays in `err` and stops all that follows. Whether the
 * records form a message is told by leat_packetway_message_encode.
 */
#ifndef LEAT_PACKETWAY_BUILD_H
#define LEAT_PACKETWAY_BUILD_H

#include "packetway_record.h"

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

void leat_packetway_build_init(struct leat_packetway_build *build, uint8_t *buf, size_t cap);

/* Opens the ADDR or RTHD just written; E_LIMIT for others, and ADDR in ADDR, RTHD not in DB. */
leat_err leat_packetway_build_nest(struct leat_packetway_build *build);

/* Closes the record opened last. There must be one. */
void leat_packetway_build_leave(struct leat_packetway_build *build);

leat_err leat_packetway_build_address(struct leat_packetway_build *build,
                                      const struct leat_packetway_address *address);
leat_err leat_packetway_build_name(struct leat_packetway_build *build, const uint8_t *octets,
                                   size_t len);
leat_err leat_packetway_build_capability(struct leat_packetway_build *build, uint8_t cc,
                                         const uint8_t *parameters, size_t len);

/* LADR. Each address is logical; min/max and value/mask take two entries of the record. */
leat_err leat_packetway_build_logical(struct leat_packetway_build *build,
                                      const struct leat_packetway_address *addresses, size_t count);

/* SRQR. Each record of the route is an L2RH. */
leat_err leat_packetway_build_route(struct leat_packetway_build *build, uint16_t q,
                                    const struct leat_packetway_leading *l2rhs, size_t count);
leat_err leat_packetway_build_mtu(struct leat_packetway_build *build, uint32_t words);

/* RCVF. The mapper is first, the sender last. */
leat_err leat_packetway_build_received_from(struct leat_packetway_build *build,
                                            const uint32_t *half_routers, size_t count);

/* RTHD; the table is nested under it. */
leat_err leat_packetway_build_table(struct leat_packetway_build *build, uint16_t sequence);
leat_err leat_packetway_build_san(struct leat_packetway_build *build, uint32_t san);

/* Records that were checked before, as they are. Nothing can be nested under them. */
leat_err leat_packetway_build_copy(struct leat_packetway_build *build, const uint8_t *records,
                                   size_t len);

#endif
