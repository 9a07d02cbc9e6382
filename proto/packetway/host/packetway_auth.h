/*
 * Which nodes may control a SAN: those that have its key. On a SAN with a key, every control
 * message (RRP, ERR, and messages inside messages) carries a MAC in its first OH field (README.md,
 * "Keys"):
 *
 *   PH, h = 1 | 0C111110 | L = 22 | from 24 | to 24 |    type 0x3E, cryptographic; T = 0
 *             | serial 64                           |
 *             | MAC 64                              |
 *   other OH fields, if C = 0 | DB | OT | TAIL
 *
 *              SAN with a key                half-router                another SAN
 *   message -> seal() ===================> open() -> engine -> seal() or nothing ---------->
 *
 * The field is used between two nodes of one SAN: the sender adds it, the receiver removes it.
 * Engines, and SANs without a key, see the message bit for bit as its source wrote it.
 *
 *   from     the node of this SAN that added it; 0: a WRU? without SA, which asks for an address
 *   to       the node of this SAN that removes it; 0x7FFFFF: every node
 *   serial   nanoseconds since 1970 by the sender's clock, always increasing
 *   MAC      SipHash-2-4 by the key, big-endian, of: "leatpkwy"; the sender's native address as a
 *            number of 64 bits, where both ends see the same one (Ethernet: its MAC address; UDP:
 *            0); the message as it travels, from its first octet to its last, this MAC as zero
 *
 * A message is accepted once, by its addressee, within LEAT_PACKETWAY_AUTH_SECONDS; never by the
 * node that sent it. A node remembers the serials of its own broadcasts, which could come back to
 * it. Other messages in its name come from another node with the same address, and are accepted:
 * such a conflict must be noticed.
 */
#ifndef LEAT_PACKETWAY_AUTH_H
#define LEAT_PACKETWAY_AUTH_H

#include "leat_keys.h"
#include "packetway_bias.h"
#include "packetway_codes.h"
#include <leat/packetway.h>

enum {
    LEAT_PACKETWAY_AUTH_LEN = 24, /* the whole field */
    LEAT_PACKETWAY_AUTH_WORDS = LEAT_PACKETWAY_AUTH_LEN / 8,
    LEAT_PACKETWAY_AUTH_L = 22,
    LEAT_PACKETWAY_AUTH_SECONDS = 60,  /* maximum clock difference within one SAN */
    LEAT_PACKETWAY_SENDERS_MAX = 1024, /* nodes remembered per SAN */
    LEAT_PACKETWAY_SERIALS_MAX = 8,    /* serials per node: messages may overtake each other */
    LEAT_PACKETWAY_SENT_MAX = 1024,    /* own broadcasts remembered */
};

/* What was last received from a sender. */
struct leat_packetway_sender {
    uint32_t address;
    uint64_t serials[LEAT_PACKETWAY_SERIALS_MAX]; /* the highest serials accepted, in any order */
};

/* One node on one SAN. */
struct leat_packetway_auth {
    struct leat_keys keys; /* the first one signs, all are accepted */
    uint64_t serial;       /* the last serial used */
    uint32_t sent_at;
    uint64_t sent[LEAT_PACKETWAY_SENT_MAX]; /* of broadcasts; increasing, the oldest at sent_at */
    struct leat_packetway_auth_counts counts;
    uint32_t sender_count;
    struct leat_packetway_sender senders[LEAT_PACKETWAY_SENDERS_MAX];
};

/* keys->count 0: none. They may be changed later, between two messages: auth->keys. */
void leat_packetway_auth_init(struct leat_packetway_auth *auth, const struct leat_keys *keys);

/*
 * Does this message change what nodes know (RRP, ERR), or may it contain one that does (EMBEDDED)?
 * Leading records are skipped; *header_at is the offset of PH. Whole words.
 */
bool leat_packetway_is_control(const uint8_t *message, uint32_t len, uint32_t *header_at);

/* Does the field above follow the PH at `header_at`? */
bool leat_packetway_auth_is_there(const uint8_t *message, uint32_t len, uint32_t header_at);

/* Where a message travels. */
struct leat_packetway_hop {
    uint32_t me;   /* the address of the node that sends or receives it */
    uint32_t to;   /* sending: the addressee, or LEAT_PACKETWAY_ADDRESS_BROADCAST */
    uint64_t link; /* the sender's native address; 0: not covered */
    uint64_t now;  /* nanoseconds since 1970 */
    const struct leat_packetway_block *block; /* receiving: of this SAN */
};

/*
 * Prepares a message for sending: writes it to `out` with its MAC and returns its length. 0: it
 * needs no MAC and is sent as it is; without a key this holds for all messages. `out` has room for
 * len + LEAT_PACKETWAY_AUTH_LEN.
 */
uint32_t leat_packetway_auth_seal(struct leat_packetway_auth *auth,
                                  const struct leat_packetway_hop *hop, const uint8_t *message,
                                  uint32_t len, uint8_t *out);

/*
 * The same with zeros as MAC. Nobody accepts it; but a node with no key, or another one, learns
 * from it that this SAN has one.
 */
uint32_t leat_packetway_auth_blank(struct leat_packetway_auth *auth,
                                   const struct leat_packetway_hop *hop, const uint8_t *message,
                                   uint32_t len, uint8_t *out);

/* Checks a received message: true if it may be processed; its field is then removed. False is
 * counted. */
bool leat_packetway_auth_open(struct leat_packetway_auth *auth,
                              const struct leat_packetway_hop *hop, uint8_t *message,
                              uint32_t *len);

#endif
