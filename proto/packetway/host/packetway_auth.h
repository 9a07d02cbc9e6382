/*
 * Who may control a SAN: nodes that have its key. On a SAN with a key, every control message (RRP,
 * ERR, and messages inside messages) carries a MAC in its first OH field (README.md, "Keys"):
 *
 *   PH, h = 1 | 0C111110 | L = 22 | from 24 | to 24 |    type 0x3E, cryptographic; T = 0
 *             | serial 64                           |
 *             | MAC 64                              |
 *   other OH fields, if C = 0 | DB | OT | TAIL
 *
 *              SAN with a key                half-router                another SAN
 *   message -> seal() ===================> open() -> engine -> seal() or nothing ---------->
 *
 * The field lives between two nodes of one SAN: who sends puts it on, who receives takes it off, so
 * that engines, and SANs without a key, see the message bit for bit as its source wrote it.
 *
 *   from     the node of this SAN that put it on; 0: a WRU? without SA, which asks for an address
 *   to       the node of this SAN that is to take it; 0x7FFFFF: everybody
 *   serial   nanoseconds since 1970 by the sender's clock, and always rising
 *   MAC      SipHash-2-4 by the key, big-endian, of: "leatpkwy"; the sender's native address as a
 *            number of 64 bits, where both ends see the same one (Ethernet: its MAC address; UDP:
 *            0); the message as it travels, from its first octet to its last, this MAC as zero
 *
 * A message is taken once, by the node it is for, within LEAT_PACKETWAY_AUTH_SECONDS; never by the
 * node that sent it. Of what a node says to everybody, which could come back to it, it remembers
 * the serials. Other messages in its name are of another node that has its address, and are taken:
 * that has to be heard.
 */
#ifndef LEAT_PACKETWAY_AUTH_H
#define LEAT_PACKETWAY_AUTH_H

#include "packetway_bias.h"
#include "packetway_codes.h"
#include <leat/packetway.h>

enum {
    LEAT_PACKETWAY_AUTH_LEN = 24, /* the whole field */
    LEAT_PACKETWAY_AUTH_WORDS = LEAT_PACKETWAY_AUTH_LEN / 8,
    LEAT_PACKETWAY_AUTH_L = 22,
    LEAT_PACKETWAY_AUTH_SECONDS = 60,  /* clocks of one SAN may differ by that */
    LEAT_PACKETWAY_SENDERS_MAX = 1024, /* nodes of one SAN that are remembered */
    LEAT_PACKETWAY_SERIALS_MAX = 8,    /* of each: messages may overtake each other */
    LEAT_PACKETWAY_SENT_MAX = 1024,    /* messages of mine to everybody that are remembered */
};

/* What a sender was last heard to say. */
struct leat_packetway_sender {
    uint32_t address;
    uint64_t serials[LEAT_PACKETWAY_SERIALS_MAX]; /* the highest that were taken, in any order */
};

/* One node on one SAN. */
struct leat_packetway_auth {
    bool keyed;
    uint8_t key[LEAT_PACKETWAY_KEY_LEN];
    uint64_t serial; /* the last that was used */
    uint32_t sent_at;
    uint64_t sent[LEAT_PACKETWAY_SENT_MAX]; /* to everybody; rising, the oldest at sent_at */
    struct leat_packetway_auth_counts counts;
    uint32_t sender_count;
    struct leat_packetway_sender senders[LEAT_PACKETWAY_SENDERS_MAX];
};

/* A key, or NULL: none. */
void leat_packetway_auth_init(struct leat_packetway_auth *auth,
                              const uint8_t key[LEAT_PACKETWAY_KEY_LEN]);

/*
 * Is this a message that changes what nodes know (RRP, ERR), or may hold one (EMBEDDED)? Leading
 * records are passed over; *header_at is where PH stands. Whole words.
 */
bool leat_packetway_is_control(const uint8_t *message, uint32_t len, uint32_t *header_at);

/* Of PH at `header_at`: does the field above follow it? */
bool leat_packetway_auth_is_there(const uint8_t *message, uint32_t len, uint32_t header_at);

/* Where a message travels. */
struct leat_packetway_hop {
    uint32_t me;   /* the address of the node that sends, or takes it in */
    uint32_t to;   /* sending: for whom, or LEAT_PACKETWAY_ADDRESS_BROADCAST */
    uint64_t link; /* the sender's native address; 0: it is not covered */
    uint64_t now;  /* nanoseconds since 1970 */
    const struct leat_packetway_block *block; /* taking in: of this SAN */
};

/*
 * A message to be sent: into `out` with its MAC, and how long it is there. 0: it needs none, and
 * goes as it is; so does all without a key. `out` has room for len + LEAT_PACKETWAY_AUTH_LEN.
 */
uint32_t leat_packetway_auth_seal(struct leat_packetway_auth *auth,
                                  const struct leat_packetway_hop *hop, const uint8_t *message,
                                  uint32_t len, uint8_t *out);

/*
 * The same with zeros for its MAC. Nobody believes it; but who has no key, or another one, sees by
 * it that this SAN has one.
 */
uint32_t leat_packetway_auth_blank(struct leat_packetway_auth *auth,
                                   const struct leat_packetway_hop *hop, const uint8_t *message,
                                   uint32_t len, uint8_t *out);

/* A message that came in: true if it may be read; its field is then taken off. False is counted. */
bool leat_packetway_auth_open(struct leat_packetway_auth *auth,
                              const struct leat_packetway_hop *hop, uint8_t *message,
                              uint32_t *len);

#endif
