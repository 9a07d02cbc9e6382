/*
 * PacketWay for programs: this host as a node of a system-area network (SAN). Half-routers connect
 * the SAN to others.
 *
 *   struct leat_packetway_node_config config = {
 *       .san = "eth0,bias=0x100,address=0x101", .name = "crunch",
 *   };
 *   leat_packetway_node_open(&config, &node, why);            registers with the half-routers there
 *   leat_packetway_node_plan(node, 0x301, 3000, &plan, why);  a route through all networks, its MTU
 *   leat_packetway_node_send(node, &message, LEAT_PACKETWAY_SEND_PLANNED, 3000, why);
 *   while (leat_packetway_node_receive(node, 1000, &event))   DATA, INFO, ERR
 *       ...
 *   leat_packetway_node_read(node, 0x301, 0x1000, octets, sizeof octets, 3000, why);  its memory
 *
 * The SAN is an Ethernet ("eth0,...", needs CAP_NET_RAW) or, without privileges, UDP
 * ("udp:10.0.0.7:4254,peer=10.0.0.1,..." with a half-router as peer). bias= is the SAN's, address=
 * is this node's own (auto: a free one), nodes= is the SAN's maximum (255), mtu= limits the words
 * of a packet. A SAN with a key ignores control messages of nodes without it, and the reverse.
 *
 * A node answers echoes (LEAT_PACKETWAY_NODE_PT_ECHO) by itself while the program is in one of
 * these calls. The answer has EI of the request, as it arrived, in front of the request's data.
 * Everything runs in the caller's thread; times are milliseconds. `why` always has room for
 * LEAT_PACKETWAY_NODE_WHY_LEN characters: the error in words, for people.
 */
#ifndef LEAT_PACKETWAY_H
#define LEAT_PACKETWAY_H

#include <leat/packetway_record.h>
#include <leat/time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_PACKETWAY_KEY_LEN = 16,
    LEAT_PACKETWAY_PLAN_ROUTES_MAX = 4, /* alternatives kept */
    LEAT_PACKETWAY_PLAN_LEN_MAX = 4608, /* octets of one route: 64 L2RHs of 72 */
    LEAT_PACKETWAY_GRANTS_MAX = 64,
    LEAT_PACKETWAY_LIMIT_SLOTS = 256, /* of the limit on ERR messages */
};

/* ---- routes ---------------------------------------------------------------------------------- */

enum leat_packetway_plan_state {
    LEAT_PACKETWAY_PLAN_NONE,    /* only the half-router is known, by RDRC: not queried yet */
    LEAT_PACKETWAY_PLAN_NATIVE,  /* on my SAN: send natively */
    LEAT_PACKETWAY_PLAN_ASKING,  /* GVL2 is sent; an event follows */
    LEAT_PACKETWAY_PLAN_ROUTES,  /* at least one route */
    LEAT_PACKETWAY_PLAN_ADDRESS, /* only by address, through `router` */
    LEAT_PACKETWAY_PLAN_FAILED,  /* UNK, or no answer in three tries; queried again after 1 s */
};

/* A route to a destination: its L2RHs, its quality Q and its MTU. */
struct leat_packetway_plan_route {
    uint16_t q;
    uint16_t len;       /* octets of the L2RHs */
    uint32_t mtu_words; /* 0 = unlimited */
    uint8_t *octets;    /* lent with the plan */
};

struct leat_packetway_plan {
    uint32_t dt;
    uint32_t router; /* the half-router that accepts it */
    enum leat_packetway_plan_state state;
    uint32_t route_count;
    struct leat_packetway_plan_route routes[LEAT_PACKETWAY_PLAN_ROUTES_MAX]; /* by ascending Q */
    leat_time used_at, asked_at;
    uint8_t tries, redirects, failures; /* of this query */
};

/* How leat_packetway_node_send reaches the destination. */
enum leat_packetway_how {
    LEAT_PACKETWAY_SEND_PLANNED, /* FIELD if there is no plan with routes (yet) */
    LEAT_PACKETWAY_SEND_BY_ADDRESS,
};

/* ---- events ---------------------------------------------------------------------------------- */

enum leat_packetway_event_kind {
    LEAT_PACKETWAY_EVENT_NONE,    /* handled, or dropped */
    LEAT_PACKETWAY_EVENT_DATA,    /* a message for the program */
    LEAT_PACKETWAY_EVENT_INFO,    /* the answer to query(): the records of `message` */
    LEAT_PACKETWAY_EVENT_PLANNED, /* plan() of `dt` has an answer */
    LEAT_PACKETWAY_EVENT_ERR,     /* an ERR: the records, or the quote, of `message` */
    LEAT_PACKETWAY_EVENT_SILENT,  /* no answer to query() of `peer`, or to plan() of `dt` */
};

struct leat_packetway_event {
    enum leat_packetway_event_kind kind;
    leat_err err;  /* why a packet was dropped */
    uint32_t peer; /* SA */
    uint32_t dt;   /* its subject */
    bool partial;  /* DATA: the last element is incomplete and was not swapped */
    bool accused;  /* EI is not 0 */
    struct leat_packetway_message message; /* DATA, INFO, ERR; lent from the octets */
};

/* ---- memory that a node lends (PT 3 and 4) --------------------------------------------------- */

/* Counts the ERR messages of one second; leat maintains it. */
struct leat_packetway_window {
    uint32_t key;
    uint32_t count;
    uint64_t second;
};

/* The bits of `permissions` in a grant. */
enum { LEAT_PACKETWAY_MAY_READ = 1, LEAT_PACKETWAY_MAY_WRITE = 2 };

/* Who may do what where; all bounds are inclusive. */
struct leat_packetway_grant {
    uint64_t first, last;           /* addresses of octets */
    uint32_t node_first, node_last; /* SA */
    uint8_t permissions;
};

/* What happened to a memory request: the end of the constant, and its meaning. */
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

/* The memory of a node. Start with zeroes and set the fields that are yours; leat maintains counts
 * and errs. */
struct leat_packetway_store {
    uint64_t address; /* of octets[0] in requests; address + len is at most 2^64 */
    uint8_t *octets;
    uint64_t len;
    uint32_t grant_count; /* none: no access */
    struct leat_packetway_grant grants[LEAT_PACKETWAY_GRANTS_MAX];
    uint64_t counts[LEAT_PACKETWAY_MEMORY_REASON_COUNT];
    uint64_t octets_read, octets_written, err_limited;
    struct leat_packetway_window errs[LEAT_PACKETWAY_LIMIT_SLOTS];
};

/* ---- counts ---------------------------------------------------------------------------------- */

/* The counters of a node: the member of the struct below, and what it counts. */
#define LEAT_PACKETWAY_HOST_COUNT_LIST(X)                                          \
    X(received, "messages taken in")                                               \
    X(dropped, "packets dropped")                                                  \
    X(not_mine, "of these, with an L2RH left or for others")                       \
    X(bad, "of these, malformed, or with a bad CRC or field")                      \
    X(asked, "GVL2 sent")                                                          \
    X(plan_hits, "plans found in the cache")                                       \
    X(forgotten, "plans dropped by failures and redirects")                        \
    X(disbelieved, "RDRC, L2SR and INFO that nobody asked for or is trusted with") \
    X(full, "messages that found no room")

struct leat_packetway_host_counts {
#define X(id, text) uint64_t id;
    LEAT_PACKETWAY_HOST_COUNT_LIST(X)
#undef X
};

/* The counters of a node about keys. */
#define LEAT_PACKETWAY_AUTH_COUNT_LIST(X)                                                      \
    X(bare, "control messages refused: without a MAC, and this SAN has a key")                 \
    X(forged, "control messages refused: their MAC is not by this SAN's key")                  \
    X(late, "control messages refused: their clock is more than 60 s from this one")           \
    X(misdirected, "control messages refused: keyed for another node, or by none of this SAN") \
    X(replayed, "control messages refused: keyed, and taken before, or mine")                  \
    X(crowded, "control messages refused: no room for more keyed senders")                     \
    X(locked, "control messages refused: they have a MAC, and this SAN has no key here")

struct leat_packetway_auth_counts {
#define X(id, text) uint64_t id;
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
};

/* ---- a node ---------------------------------------------------------------------------------- */

enum {
    LEAT_PACKETWAY_NODE_WHY_LEN = 320,
    LEAT_PACKETWAY_NODE_NAME_MAX = 32,
    LEAT_PACKETWAY_NODE_MESSAGE_MAX = 65496, /* octets */
    LEAT_PACKETWAY_NODE_QUEUE_MAX = 64,      /* messages queued while another call runs */
    LEAT_PACKETWAY_NODE_PT_ECHO = 1024,      /* a user's PT; TE: */
    LEAT_PACKETWAY_NODE_ECHO_REQUEST = 1,
    LEAT_PACKETWAY_NODE_ECHO_REPLY = 2,
    LEAT_PACKETWAY_NODE_PT_DATA = 1025, /* a user's PT: what leat pktway send sends, with TE 0 */
};

struct leat_packetway_node_config {
    const char *san;
    const char *name;     /* NULL: none */
    const uint8_t *about; /* records about this node: [NAME] *CAPA [LADR]; NULL: the name only */
    size_t about_len;
    uint32_t poll_ms;         /* a peer silent for 3.5 of them is gone; 0: 1000 */
    bool mute;                /* the program answers echoes itself */
    bool claims;              /* open waits briefly, and fails if another node has the address */
    const uint8_t *key;       /* of the SAN: LEAT_PACKETWAY_KEY_LEN octets; NULL: it has none */
    const uint8_t *other_key; /* is accepted, too: the last key, or the next one; or NULL */
};

/* How a call ended. */
enum leat_packetway_node_end {
    LEAT_PACKETWAY_NODE_OK,
    LEAT_PACKETWAY_NODE_WRONG,   /* the request is invalid */
    LEAT_PACKETWAY_NODE_FAILED,  /* the system refused */
    LEAT_PACKETWAY_NODE_SILENT,  /* no answer in time */
    LEAT_PACKETWAY_NODE_UNKNOWN, /* no half-router knows a route */
    LEAT_PACKETWAY_NODE_REFUSED, /* a memory node refused */
};

/* An open node; opaque. */
struct leat_packetway_node;

/* Opens a node and introduces it to the SAN. */
LEAT_API enum leat_packetway_node_end
leat_packetway_node_open(const struct leat_packetway_node_config *config,
                         struct leat_packetway_node **out, char *why);
LEAT_API void leat_packetway_node_close(struct leat_packetway_node *node); /* NULL is allowed */

/* Readable when receive has work to do; also call receive every poll_ms. */
LEAT_API int leat_packetway_node_fd(const struct leat_packetway_node *node);

/* Waits until a half-router is known. SILENT: there is none. */
LEAT_API enum leat_packetway_node_end leat_packetway_node_join(struct leat_packetway_node *node,
                                                               uint32_t timeout_ms, char *why);

/* The index-th half-router of my SAN; 0: no more. The first one takes packets sent by address. */
LEAT_API uint32_t leat_packetway_node_router(const struct leat_packetway_node *node,
                                             uint32_t index);

/* The route to dt; queries a half-router if it is not known. Lent until the next call. */
LEAT_API enum leat_packetway_node_end
leat_packetway_node_plan(struct leat_packetway_node *node, uint32_t dt, uint32_t timeout_ms,
                         const struct leat_packetway_plan **out, char *why);

/*
 * TELL, or WRU? without records; the answers are events of receive. Each peer has at most one
 * pending query; cancel withdraws it.
 */
LEAT_API enum leat_packetway_node_end leat_packetway_node_query(struct leat_packetway_node *node,
                                                                uint32_t peer,
                                                                const uint8_t *records, size_t len,
                                                                char *why);
LEAT_API void leat_packetway_node_cancel(struct leat_packetway_node *node, uint32_t peer);

/*
 * Sends message->header.dt (pt, te, priority, e), data and fields. Planned: queries for a plan
 * first. WRONG: longer than the MTU of the route. Messages are never fragmented.
 */
LEAT_API enum leat_packetway_node_end
leat_packetway_node_send(struct leat_packetway_node *node,
                         const struct leat_packetway_message *message, enum leat_packetway_how how,
                         uint32_t timeout_ms, char *why);

/* Sends the message with its own leading records, a route, to a node of my SAN. */
LEAT_API enum leat_packetway_node_end
leat_packetway_node_send_routed(struct leat_packetway_node *node,
                                const struct leat_packetway_message *message, uint32_t to,
                                char *why);

/* The next event; false: none in time. Lent until the next call. */
LEAT_API bool leat_packetway_node_receive(struct leat_packetway_node *node, uint32_t timeout_ms,
                                          struct leat_packetway_event *out);

/*
 * Memory of other nodes. Octets travel in pieces that fit the MTU of the route, each requested up
 * to three times within timeout_ms. A MEM-WRITE has no answer, so leat reads the octets back and
 * compares them. Blind, for a node that may not read: a MEM-READ of no octets confirms only the
 * arrival of each piece. REFUSED: outside the memory, or not allowed; earlier pieces may have been
 * written.
 */
LEAT_API enum leat_packetway_node_end leat_packetway_node_read(struct leat_packetway_node *node,
                                                               uint32_t peer, uint64_t address,
                                                               uint8_t *octets, size_t len,
                                                               uint32_t timeout_ms, char *why);
LEAT_API enum leat_packetway_node_end leat_packetway_node_write(struct leat_packetway_node *node,
                                                                uint32_t peer, uint64_t address,
                                                                const uint8_t *octets, size_t len,
                                                                bool blind, uint32_t timeout_ms,
                                                                char *why);

/* Other nodes may use `store`, within its grants, while this program is in one of these calls; NULL
 * ends that. The program keeps the store. Without it, MEM-READ and MEM-WRITE are events of
 * receive. */
LEAT_API void leat_packetway_node_lend(struct leat_packetway_node *node,
                                       struct leat_packetway_store *store);

/* This node's own address. */
LEAT_API uint32_t leat_packetway_node_address(const struct leat_packetway_node *node);

/* Is that an address of my SAN's block? Its nodes are reached without a half-router. */
LEAT_API bool leat_packetway_node_is_near(const struct leat_packetway_node *node, uint32_t address);

/* The MTU of my SAN in words; routes through others may have a smaller one. */
LEAT_API uint32_t leat_packetway_node_mtu(const struct leat_packetway_node *node);

/* Discards plans: of one destination, or with 0 all. */
LEAT_API void leat_packetway_node_forget(struct leat_packetway_node *node, uint32_t dt);

/* What this node has counted since open. Lent until close. */
LEAT_API const struct leat_packetway_host_counts *
leat_packetway_node_counts(const struct leat_packetway_node *node);

/* Control messages refused because the key was missing or wrong. */
LEAT_API const struct leat_packetway_auth_counts *
leat_packetway_node_key_counts(const struct leat_packetway_node *node);

/* What they show about my key, for people; "": there were none. */
LEAT_API const char *leat_packetway_node_key_hint(const struct leat_packetway_node *node);

/*
 * A node that has a key may get other ones, as in its configuration, between two calls. Nodes one
 * after another accept the next key, then sign with it, then forget the last one, and refuse
 * nothing meanwhile.
 */
LEAT_API bool leat_packetway_node_is_keyed(const struct leat_packetway_node *node);
LEAT_API void leat_packetway_node_change_keys(struct leat_packetway_node *node, const uint8_t *key,
                                              const uint8_t *other_key);

#ifdef __cplusplus
}
#endif

#endif
