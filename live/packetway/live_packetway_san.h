/*
 * A real SAN: an Ethernet segment by a packet socket, or hosts that reach each other by UDP. What
 * half-routers and hosts share: the socket, the carriage, and the map from addresses to native
 * routes.
 *
 *                           announce, WRU? to all         INFO: learn()
 *   packetway_router,    <-----------------------> SAN <-----------------> other nodes
 *   leat_packetway_node     send() by native route        receive()
 *
 * A node is known while it sends: after three and a half silent polls it is removed. The first node
 * with an address keeps it; another one that claims it meanwhile is counted and ignored. On a SAN
 * with a key, send() adds a MAC to control messages, and receive() returns only those that have
 * one, with the MAC removed (packetway_auth.h). Over UDP nothing is sent to a node that is not
 * trusted, except a WRU? that it cannot accept; from this it learns that its key is the reason.
 */
#ifndef LEAT_LIVE_PACKETWAY_SAN_H
#define LEAT_LIVE_PACKETWAY_SAN_H

#include "live_packetway_frame.h"
#include "live_system.h"
#include "packetway_auth.h"
#include "packetway_fib.h"
#include "packetway_limit.h"
#include "packetway_wire.h"

enum {
    PACKETWAY_WHY_LEN = LIVE_WHY_LEN,
    PACKETWAY_NAME_MAX = 32,
    PACKETWAY_ENDPOINT_MAX = 64, /* characters of ADDRESS:PORT */
    PACKETWAY_PEERS_MAX = 32,
    PACKETWAY_BUDDIES_MAX = 16, /* given by option */
    PACKETWAY_DEVICE_LEN = 16,
    PACKETWAY_BLOCK_DEFAULT = 255, /* nodes */
    PACKETWAY_POLL_MS_DEFAULT = 1000,
    PACKETWAY_MEET_PER_S = 50,
    PACKETWAY_REFUSALS_PER_S = 50,
    PACKETWAY_CLAIM_MS = 100, /* the owner of an address answers within that time */
    PACKETWAY_HOP_Q = 2,      /* of one SAN, as in the examples of the drafts */
    PACKETWAY_TWIN_Q = 1,
};

/* The user's description of a SAN: "eth0,bias=0x100,address=0x102" or "udp:127.0.0.1:4254,...". */
struct packetway_plan {
    bool udp;
    char device[PACKETWAY_DEVICE_LEN]; /* Ethernet */
    struct leat_packetway_native bind; /* UDP */
    struct leat_packetway_block block; /* bias=, nodes= */
    uint32_t address;                  /* address= */
    bool automatic;                    /* address=auto: choose a free one */
    uint32_t mtu_words;                /* mtu=; 0: MTU of the device */
    uint32_t peer_count, buddy_count;  /* peer=, buddy=: both may be repeated */
    struct leat_packetway_native peers[PACKETWAY_PEERS_MAX]; /* polled even if never heard from */
    uint32_t buddies[PACKETWAY_BUDDIES_MAX]; /* if any: half-routers of no other address */
    struct leat_keys keys; /* if any: control messages carry a MAC by the first one */
};

/* Parses it; false: `why` says what was expected. */
bool packetway_plan_read(const char *text, struct packetway_plan *plan, char *why);

/* Checks several SANs of one router: disjoint blocks, different devices. */
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
    leat_time received_at;
    struct leat_packetway_native native;
};

/* An address claimed twice, and the location of the rejected claimant; address 0: none yet. */
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

/* A monotonic clock, in picoseconds. */
leat_time packetway_now(void);

/* Why no node answers, if the cause is a wrong or missing key: "there are ..."; else "". */
const char *packetway_san_key_hint(const struct packetway_san *san);

/* Has it a key? Then it may get other ones between two messages, as many times as needed. */
bool packetway_san_is_keyed(const struct packetway_san *san);
void packetway_san_change_keys(struct packetway_san *san, const struct leat_keys *keys);

/* Opens the socket. False: see `why`; nothing is left open. */
bool packetway_san_open(struct packetway_san *san, const struct packetway_plan *plan,
                        uint32_t poll_ms, char *why);
void packetway_san_close(struct packetway_san *san);

/*
 * Verifies, for PACKETWAY_CLAIM_MS, that no other node has the addresses of these SANs; automatic
 * addresses are chosen here. The query is a WRU? without SA, which no engine answers; the owner of
 * the address answers by INFO (packetway_san_answers_claim). False: see `why`.
 */
bool packetway_sans_claim(struct packetway_san *const *sans, uint32_t count, char *why);

/* At every poll: a process that found its address taken on this host has learned by now who has it
 * (live_packetway_name.h). */
void packetway_san_dismiss(struct packetway_san *san);

/* Is it such a query? Then it is answered here, and finished. */
bool packetway_san_answers_claim(struct packetway_san *san, const uint8_t *message, uint32_t len,
                                 const struct leat_packetway_native *from);

/* Is the device present and able to send? UDP: always. */
bool packetway_san_is_up(const struct packetway_san *san);

/* Its device is gone and another one has its name: true once, after switching to that. */
bool packetway_san_returned(struct packetway_san *san);

/* Is this the native route of a known node? No other is accepted: outdated plans are refused, and a
 * SAN does not relay to arbitrary addresses. */
bool packetway_san_takes(const struct packetway_san *san, const uint8_t *route, uint32_t len);

/* False: the system did not send it, which is counted. */
bool packetway_san_send(struct packetway_san *san, const uint8_t *route, uint32_t route_len,
                        const uint8_t *message, uint32_t len);

/* To all nodes: Ethernet broadcast; UDP: all known nodes and the peers. */
void packetway_san_send_all(struct packetway_san *san, const uint8_t *message, uint32_t len);

/* Writes an RRP message; returns its length, 0: too long. */
uint32_t packetway_rrp_write(uint32_t dt, uint32_t sa, uint16_t te, const uint8_t *db,
                             size_t db_len, uint8_t *octets, size_t cap);

/* WRU? to all. */
void packetway_san_solicit(struct packetway_san *san);

/* INFO about this node to one node, or with NULL to all: `about` is [NAME] *CAPA [LADR]. */
void packetway_san_announce(struct packetway_san *san, const struct leat_packetway_native *to,
                            const uint8_t *about, size_t about_len);

/*
 * A WRU? of a node of this SAN that is not known (any more: after a device was down, neither knows
 * the other) cannot be answered by address. It gets INFO about this node, and is queried itself, at
 * its native route.
 */
void packetway_san_meet(struct packetway_san *san, const uint8_t *message, uint32_t len,
                        const struct leat_packetway_native *from, const uint8_t *about,
                        size_t about_len, leat_time now);

/*
 * The next message: 0 octets when there is none, or after many frames without one, so that a flood
 * of them blocks nobody. What cannot be a message is counted and skipped. `buf` has
 * PACKETWAY_MESSAGE_MAX octets.
 */
uint32_t packetway_san_receive(struct packetway_san *san, uint8_t *buf,
                               struct leat_packetway_native *from);

enum packetway_learnt {
    PACKETWAY_NOTHING, /* not an INFO of a node about itself */
    PACKETWAY_KNOWN,   /* a known node */
    PACKETWAY_NEW,     /* a new node, or new information about one */
    PACKETWAY_REFUSED, /* counted; discard the message */
};

/* Learns about the SAN's nodes from a message. *node is lent until the next call. */
enum packetway_learnt packetway_san_learn(struct packetway_san *san, const uint8_t *message,
                                          uint32_t len, const struct leat_packetway_native *from,
                                          leat_time now, const struct packetway_node **node);

/*
 * Is this an RRP or ERR message in the name of a node of this SAN that is elsewhere? Half-routers
 * forward what nodes send, but a half-router's own messages come from it. Counted.
 */
bool packetway_san_spoofed(struct packetway_san *san, const uint8_t *message, uint32_t len,
                           const struct leat_packetway_native *from);

/* By address, or by native route; NULL: unknown. */
const struct packetway_node *packetway_san_node(const struct packetway_san *san, uint32_t address);
const struct packetway_node *packetway_san_node_at(const struct packetway_san *san,
                                                   const uint8_t *route, uint32_t len);

/* A message arrived from there: if that is a half-router, it is alive. */
void packetway_san_alive(struct packetway_san *san, const struct leat_packetway_native *from,
                         leat_time now);

/* This process was delayed by this much. It polled nobody meanwhile, so silence does not count. */
void packetway_san_excuse(struct packetway_san *san, leat_time late);

/* Removes one node that fell silent. False: there is none (left). */
bool packetway_san_silent(struct packetway_san *san, leat_time now, struct packetway_node *gone);

/* A packet without leading records of this PT and TE, from its header alone. */
bool packetway_message_is(const uint8_t *message, uint32_t len, uint16_t pt, uint16_t te);

#endif
