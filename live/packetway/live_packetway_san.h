/*
 * A SAN that exists: an Ethernet segment by a packet socket, or hosts that reach each other by UDP.
 * What half-routers and hosts have in common: the socket, the carriage, and the map from addresses
 * to native routes.
 *
 *                               announce, WRU? to all              INFO: learn()
 *   packetway_router, leat_live_packetway <-----------------------> SAN <----------------------
 * other nodes send() by native route             receive()
 *
 * A node is known while it is heard: who is silent for three polls and a half is gone. The first
 * who has an address keeps it; another one that claims it meanwhile is counted and not believed.
 * Where the SAN has a key, send() puts a MAC on control messages, and receive() gives only those
 * that have one, without it (packetway_auth.h). Over UDP, nobody sends to who is not believed: it
 * is told by a WRU? that it cannot take, and says then that it is the key.
 */
#ifndef LEAT_LIVE_PACKETWAY_SAN_H
#define LEAT_LIVE_PACKETWAY_SAN_H

#include "live_packetway_frame.h"
#include "packetway_auth.h"
#include "packetway_fib.h"
#include "packetway_limit.h"
#include "packetway_wire.h"

enum {
    PACKETWAY_WHY_LEN = 320,
    PACKETWAY_NAME_MAX = 32,
    PACKETWAY_ENDPOINT_MAX = 64, /* characters of ADDRESS:PORT */
    PACKETWAY_PEERS_MAX = 32,
    PACKETWAY_BUDDIES_MAX = 16, /* named by option */
    PACKETWAY_DEVICE_LEN = 16,
    PACKETWAY_BLOCK_DEFAULT = 255, /* nodes */
    PACKETWAY_POLL_MS_DEFAULT = 1000,
    PACKETWAY_MEET_PER_S = 50,
    PACKETWAY_REFUSALS_PER_S = 50,
    PACKETWAY_CLAIM_MS = 100, /* who has an address says so within that */
    PACKETWAY_HOP_Q = 2,      /* of one SAN, as in the examples of the drafts */
    PACKETWAY_TWIN_Q = 1,
};

/* What a user says of a SAN: "eth0,bias=0x100,address=0x102" or "udp:127.0.0.1:4254,...". */
struct packetway_plan {
    bool udp;
    char device[PACKETWAY_DEVICE_LEN]; /* Ethernet */
    struct leat_packetway_native bind; /* UDP */
    struct leat_packetway_block block; /* bias=, nodes= */
    uint32_t address;                  /* address= */
    bool automatic;                    /* address=auto: one that is free */
    uint32_t mtu_words;                /* mtu=; 0: what the device carries */
    uint32_t peer_count, buddy_count;  /* peer=, buddy=: both may be repeated */
    struct leat_packetway_native peers[PACKETWAY_PEERS_MAX]; /* who is asked though never heard */
    uint32_t buddies[PACKETWAY_BUDDIES_MAX]; /* if any: half-routers of no other address */
    bool keyed;                              /* control messages carry a MAC by this key */
    uint8_t key[LEAT_PACKETWAY_KEY_LEN];
};

/* Reads it; false after `why`, which says what was expected. */
bool packetway_plan_read(const char *text, struct packetway_plan *plan, char *why);

/* Several SANs of one router: disjoint blocks, different devices. */
bool packetway_plans_check(const struct packetway_plan *plans, uint32_t count, char *why);

/* "02:00:00:00:00:01", "10.0.0.1:4254", "[::1]:4254"; a native route of any kind. */
void packetway_native_text(const struct leat_packetway_native *native, bool udp,
                           char text[PACKETWAY_ENDPOINT_MAX]);

#define PACKETWAY_COUNT_LIST(X)                                                         \
    X(taken, "messages taken in")                                                       \
    X(sent, "messages sent")                                                            \
    X(cut, "frames dropped: shorter than their head or their count of words")           \
    X(foreign, "frames dropped: another OUI or protocol")                               \
    X(broadcast, "frames dropped: to everybody on the Ethernet, but not meant for all") \
    X(duplicate, "INFO not believed: its address is another node's")                    \
    X(spoofed, "RRP and ERR not believed: from elsewhere than the node that they name") \
    X(strange, "INFO not believed: an address outside of this SAN's block")             \
    X(full, "INFO not believed: no room for more nodes")                                \
    X(gone, "nodes that fell silent")                                                   \
    X(unsent, "messages that the system did not send")

struct packetway_counts {
#define X(id, text) uint64_t id;
    PACKETWAY_COUNT_LIST(X)
#undef X
};

struct packetway_node {
    uint32_t address;
    bool router;
    leat_time heard_at;
    struct leat_packetway_native native;
};

/* An address that two claim, and where the one is who was not believed; address 0: none yet. */
struct packetway_dispute {
    uint32_t address;
    struct leat_packetway_native at;
};

struct packetway_san {
    struct packetway_plan plan;
    int fd, lock;    /* -1: none; the lock holds the address on this host */
    uint32_t device; /* Ethernet: its index */
    uint8_t mac[PACKETWAY_MAC_LEN];
    uint32_t mtu_words; /* of the plan, or of the device */
    leat_time silence_ps;
    struct packetway_counts counts;
    struct packetway_dispute dispute; /* the last one */
    struct leat_packetway_auth auth;
    struct leat_packetway_window meetings, refusals;
    uint32_t node_count;
    struct packetway_node nodes[PACKETWAY_NODES_MAX];
};

/* A clock that does not jump, in picoseconds. */
leat_time packetway_now(void);

/* Into why, cut to its length; returns false, for `return`. */
bool packetway_because(char *why, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Why nobody is heard, where it is for want of the right key: "there are ..."; else "". */
const char *packetway_san_key_hint(const struct packetway_san *san);

/* Opens the socket. False after `why`, nothing left open. */
bool packetway_san_open(struct packetway_san *san, const struct packetway_plan *plan,
                        uint32_t poll_ms, char *why);
void packetway_san_close(struct packetway_san *san);

/*
 * Makes sure, for PACKETWAY_CLAIM_MS, that nobody else has the addresses of these SANs; automatic
 * ones are chosen here. They are asked for by a WRU? without SA, which no engine answers, and which
 * whoever has the address answers by INFO (packetway_san_answers_claim). False after `why`.
 */
bool packetway_sans_claim(struct packetway_san *const *sans, uint32_t count, char *why);

/* At every poll: who found its address taken on this host knows by now who has it
 * (live_packetway_name.h).
 */
void packetway_san_dismiss(struct packetway_san *san);

/* Is it such a question? Then it is answered here, and done with. */
bool packetway_san_answers_claim(struct packetway_san *san, const uint8_t *message, uint32_t len,
                                 const struct leat_packetway_native *from);

/* Is the device there and able to send? UDP: always. */
bool packetway_san_is_up(const struct packetway_san *san);

/* Its device went away and another one of that name is here: true once, after taking to it. */
bool packetway_san_returned(struct packetway_san *san);

/* Is this the native route of a node that is known? No other is taken: plans that are out of date
 * are refused, and a SAN is no relay to anywhere. */
bool packetway_san_takes(const struct packetway_san *san, const uint8_t *route, uint32_t len);

/* False: the system did not send it, which is counted. */
bool packetway_san_send(struct packetway_san *san, const uint8_t *route, uint32_t route_len,
                        const uint8_t *message, uint32_t len);

/* To all: Ethernet broadcast; UDP: everybody known, and the peers. */
void packetway_san_send_all(struct packetway_san *san, const uint8_t *message, uint32_t len);

/* WRU? to all. */
void packetway_san_solicit(struct packetway_san *san);

/* INFO about me to one node, or with NULL to all: `about` is [NAME] *CAPA [LADR]. */
void packetway_san_announce(struct packetway_san *san, const struct leat_packetway_native *to,
                            const uint8_t *about, size_t about_len);

/*
 * A WRU? of a node of this SAN that is not known (any more: after a device was down, neither knows
 * the other) cannot be answered by address. It gets INFO about me, and is asked itself, where it
 * is.
 */
void packetway_san_meet(struct packetway_san *san, const uint8_t *message, uint32_t len,
                        const struct leat_packetway_native *from, const uint8_t *about,
                        size_t about_len, leat_time now);

/*
 * The next message: 0 octets when there is none, or after many frames that hold none, so that a
 * flood of them keeps nobody waiting. What cannot be a message is counted and passed over.
 * `buf` has PACKETWAY_MESSAGE_MAX octets.
 */
uint32_t packetway_san_receive(struct packetway_san *san, uint8_t *buf,
                               struct leat_packetway_native *from);

enum packetway_learnt {
    PACKETWAY_NOTHING, /* no INFO of a node about itself */
    PACKETWAY_HEARD,   /* a node that is known */
    PACKETWAY_NEW,     /* a node, or what is known of it, is new */
    PACKETWAY_REFUSED, /* counted; the message is to be dropped */
};

/* What a message tells about the SAN's nodes. *node is lent until the next call. */
enum packetway_learnt packetway_san_learn(struct packetway_san *san, const uint8_t *message,
                                          uint32_t len, const struct leat_packetway_native *from,
                                          leat_time now, const struct packetway_node **node);

/*
 * Is this an RRP or ERR message in the name of a node of this SAN who is elsewhere? Half-routers
 * send on what nodes say, but what a half-router says itself comes from it. Counted.
 */
bool packetway_san_spoofed(struct packetway_san *san, const uint8_t *message, uint32_t len,
                           const struct leat_packetway_native *from);

/* By address, or by native route; NULL: not known. */
const struct packetway_node *packetway_san_node(const struct packetway_san *san, uint32_t address);
const struct packetway_node *packetway_san_node_at(const struct packetway_san *san,
                                                   const uint8_t *route, uint32_t len);

/* A message came from there: if that is a half-router, it is not silent. */
void packetway_san_hear(struct packetway_san *san, const struct leat_packetway_native *from,
                        leat_time now);

/* This process was late by so much: nobody was asked in that time, and nobody is blamed for it. */
void packetway_san_excuse(struct packetway_san *san, leat_time late);

/* Takes one node that fell silent out. False: there is none (more). */
bool packetway_san_silent(struct packetway_san *san, leat_time now, struct packetway_node *gone);

/* A packet without leading records of this PT and TE, from its header alone. */
bool packetway_message_is(const uint8_t *message, uint32_t len, uint16_t pt, uint16_t te);

#endif
