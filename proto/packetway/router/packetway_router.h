/*
 * A half-router (spec sections 5 and 6): forwarding, ERR messages, and the RRP services of levels
 * B, C and D, as one state machine. A router on N SANs is N of these, each other's twins; those of
 * different routers on one SAN are buddies.
 *
 *        nodes of my SAN (an input: the LRT)      RTBL of twins and buddies (the XRTs)
 *                      \                              /
 *                       `--> packetway_fib.h <-------´        every address, its ways
 *                                  |
 *   packet, side --> input() --> decision: this packet goes there --+--> the driver sends it
 *   time ----------> tick()                                         |
 *   links, nodes --> link() node() --> take() --> messages of my own, one at a time
 *
 * No clock, no memory but the caller's, nothing sent: the driver asks take() after every call until
 * it says no. Whoever forwards by himself (the kernel) uses packetway_forward.h with the fib of
 * this half-router, and hands everything that does not simply go on to input().
 *
 * Every table is bounded and every bound is the configuration's or named here; what finds no room
 * is counted. What is believed: RTBL, GVRT, HRDOWN and LINKDOWN only from twins and buddies, and
 * registrations only of nodes of my own block.
 */
#ifndef LEAT_PACKETWAY_ROUTER_H
#define LEAT_PACKETWAY_ROUTER_H

#include "packetway_about.h"
#include "packetway_bias.h"
#include "packetway_forward.h"
#include "packetway_limit.h"
#include "packetway_wire.h"

enum {
    LEAT_PACKETWAY_LEVEL_B = 1,
    LEAT_PACKETWAY_LEVEL_C = 2, /* with B */
    LEAT_PACKETWAY_LEVEL_D = 4, /* with B */
    LEAT_PACKETWAY_LEVEL_ALL = 7,
};

enum {
    LEAT_PACKETWAY_ORIGINATE_S = 30,          /* my own table goes out at least that often */
    LEAT_PACKETWAY_EXPIRE_S = 105,            /* a table that no newer one replaces */
    LEAT_PACKETWAY_POLL_S = 30,               /* default of poll_ps */
    LEAT_PACKETWAY_SILENCES_MAX = 3,          /* polls without an answer */
    LEAT_PACKETWAY_FAILURE_S = 60,            /* traffic to lost nodes is told why */
    LEAT_PACKETWAY_REDIRECT_S = 10,           /* one RDRC per (SA, DT) */
    LEAT_PACKETWAY_GVRT_PER_S = 10,           /* per neighbour */
    LEAT_PACKETWAY_ORIGINATE_PER_S = 10,      /* however often my SAN changes */
    LEAT_PACKETWAY_RTBL_PER_S = 1000,         /* per neighbour */
    LEAT_PACKETWAY_TABLES_PER_SAN = 4,        /* K */
    LEAT_PACKETWAY_ALTERNATIVES_MAX = 4,      /* in L2SR */
    LEAT_PACKETWAY_CSR_LEN_MAX = 1024,        /* octets of the route to a mapper */
    LEAT_PACKETWAY_REQUEST_LEN_MAX = 1024,    /* octets of a TELL, of a quote */
    LEAT_PACKETWAY_TABLE_HEAD_LEN_MAX = 2048, /* of a table before its nodes: RCVF of 32, CSR */
    LEAT_PACKETWAY_TABLE_LEN_MIN = 24,        /* of its nodes: one range */
    LEAT_PACKETWAY_LRT_MAX = 1 << 20,
    LEAT_PACKETWAY_XRT_MAX = 4096,
};

struct leat_packetway_router_config {
    uint32_t address;                  /* mine: a node of my SAN */
    struct leat_packetway_block block; /* of my SAN; the bias is its ID */
    uint32_t mtu_words;                /* of my SAN; 0 = unlimited */
    bool point_to_point;               /* my SAN is one link: Hey-You is answered there */
    uint8_t levels;                    /* LEAT_PACKETWAY_LEVEL_; 0 is level A */
    const uint8_t *about;              /* records about me: [NAME] *CAPA [LADR]; copied */
    size_t about_len;
    leat_time poll_ps; /* WRU? to registered nodes; 0 = never */
    /* bounds */
    uint32_t nodes_max;  /* LRT and registrations, buddies included */
    uint32_t tables_max; /* XRTs */
    uint32_t
        table_len_max;    /* octets of the nodes of one table, whole words; more are made ranges */
    uint32_t known_max;   /* addresses, those of my SAN included */
    uint32_t ranges_max;  /* address ranges */
    uint32_t pending_max; /* my own messages that wait to be taken */
};

/* Everything for a SAN of some hundred nodes and a PacketWay of some thousand. */
struct leat_packetway_router_config leat_packetway_router_defaults(void);

struct leat_packetway_router; /* packetway_router_parts.h */

/* Octets of memory, aligned as by malloc; 0 if the configuration is out of bounds. */
size_t leat_packetway_router_footprint(const struct leat_packetway_router_config *config);

/*
 * RANGE: out of bounds. MEMORY: too little or misaligned. FIELD: `about` is not as the grammar of
 * INFO has it.
 */
leat_err leat_packetway_router_init(const struct leat_packetway_router_config *config, void *memory,
                                    size_t len, leat_time now, struct leat_packetway_router **out);

/* ---- what the driver knows ----------------------------------------------------------------- */

/*
 * Another half-router of my router. RANGE: no node's address, or mine. FULL. A twin given again
 * takes the new figures. Its link is up until link() says otherwise.
 */
leat_err leat_packetway_router_twin(struct leat_packetway_router *router, uint32_t address,
                                    uint16_t q, uint32_t mtu_words, leat_time now);

/* A node or a range of nodes of my SAN, and how to get there: an entry of the LRT. */
struct leat_packetway_node {
    struct leat_packetway_address address; /* physical; a range cannot be a buddy */
    const uint8_t *route;                  /* native route from me, at most 63 octets; copied */
    size_t route_len;
    uint16_t q;
    bool buddy; /* a half-router of another router */
};

/* Adds or replaces it. RANGE, FULL. */
leat_err leat_packetway_router_node(struct leat_packetway_router *router,
                                    const struct leat_packetway_node *node, leat_time now);

/* The SAN no longer has it. A buddy that goes is reported: HRDOWN. FIELD: there was none. */
leat_err leat_packetway_router_node_gone(struct leat_packetway_router *router,
                                         const struct leat_packetway_address *address,
                                         leat_time now);

/* The link to a twin went down (LINKDOWN) or came up (tables are asked for). FIELD: no twin. */
leat_err leat_packetway_router_link(struct leat_packetway_router *router, uint32_t twin, bool up,
                                    leat_time now);

/* ---- packets ------------------------------------------------------------------------------- */

struct leat_packetway_arrival {
    enum leat_packetway_side side; /* HOST, BUDDY or TWIN */
    uint32_t from;                 /* TWIN: which; else 0 */
    bool error_seen;               /* on this router's inputs: native CRC, or what the twin saw */
};

/* What becomes of one packet. */
struct leat_packetway_routed {
    struct leat_packetway_decision decision;
    const uint8_t *octets; /* the packet: the one handed in, or the message embedded in it */
    uint32_t len;
    bool error_seen; /* for the seal, or for the twin */
};

/*
 * A whole packet came in. TO_TWIN, TO_SAN: the driver sends octets + consumed; COPIES: see below;
 * everything else is done with. *out is lent until the octets go.
 */
void leat_packetway_router_input(struct leat_packetway_router *router,
                                 const struct leat_packetway_arrival *arrival,
                                 const uint8_t *octets, uint32_t len, leat_time now,
                                 struct leat_packetway_routed *out);

/* A packet to a logical address: one decision, TO_SAN or TO_TWIN, for each copy. */
struct leat_packetway_copies {
    uint32_t node, twin; /* 0 at the beginning */
};
bool leat_packetway_router_copy(struct leat_packetway_router *router,
                                const struct leat_packetway_arrival *arrival,
                                const struct leat_packetway_routed *packet,
                                struct leat_packetway_copies *copies,
                                struct leat_packetway_decision *out);

/* My SAN refuses the native route of this packet, which came in just so: ERR/GENERAL. */
void leat_packetway_router_refused(struct leat_packetway_router *router,
                                   const struct leat_packetway_arrival *arrival,
                                   const uint8_t *octets, uint32_t len, leat_time now);

/* A message of my own. Octets and route are lent until the next call. */
struct leat_packetway_outgoing {
    enum leat_packetway_verdict verdict; /* TO_TWIN or TO_SAN */
    uint8_t twin;                        /* TO_TWIN: index */
    uint8_t priority;
    uint8_t route_len;
    const uint8_t *route; /* TO_SAN */
    const uint8_t *octets;
    uint32_t len;
};
bool leat_packetway_router_take(struct leat_packetway_router *router, leat_time now,
                                struct leat_packetway_outgoing *out);

/* ---- time ---------------------------------------------------------------------------------- */

/* Does what is due: tables go out and expire, nodes are polled. */
void leat_packetway_router_tick(struct leat_packetway_router *router, leat_time now);

/* When tick has something to do again. */
leat_time leat_packetway_router_next_at(const struct leat_packetway_router *router);

/* ---- looking in ---------------------------------------------------------------------------- */

/* What to forward by; up to date, lent until the next call that changes something. */
const struct leat_packetway_fib *leat_packetway_router_fib(struct leat_packetway_router *router);

/* A table: one of the XRTs. Lent until the next call. */
struct leat_packetway_table_view {
    uint16_t sequence, q;
    uint32_t san, mtu_words;
    const uint32_t *received_from; /* the mapper first, the neighbour it came from last */
    uint32_t received_from_count;
    const uint8_t *csr; /* L2RHs */
    size_t csr_len;
    struct leat_packetway_records nodes; /* ADDRs */
    leat_time learned_at;
    bool lost; /* deleted by a failure, kept to tell why */
};

/* The index-th slot, 0 .. tables_max - 1. False: empty. */
bool leat_packetway_router_table(const struct leat_packetway_router *router, uint32_t index,
                                 struct leat_packetway_table_view *out);

/* The index-th entry of the LRT, 0 .. nodes_max - 1, with the records about it. False: empty. */
struct leat_packetway_node_view {
    struct leat_packetway_node node;
    struct leat_packetway_records about;
    bool mapped;     /* the driver's; otherwise only registered */
    bool registered; /* it told about itself */
};
bool leat_packetway_router_node_at(const struct leat_packetway_router *router, uint32_t index,
                                   struct leat_packetway_node_view *out);

#define LEAT_PACKETWAY_COUNT_LIST(X)                                            \
    X(delivered, "messages for this half-router")                               \
    X(to_twin, "packets handed to a twin")                                      \
    X(to_san, "packets sent on the SAN")                                        \
    X(dropped, "packets dropped without a word")                                \
    X(refused, "packets that could not go on")                                  \
    X(err_sent, "ERR messages")                                                 \
    X(err_barred, "ERR messages that must not be")                              \
    X(err_limited, "ERR messages above the rate")                               \
    X(redirects, "RDRC unasked")                                                \
    X(accused, "RRP and ERR messages with EI, not acted upon")                  \
    X(rtbl_received, "RTBL from neighbours")                                    \
    X(rtbl_sent, "RTBL sent")                                                   \
    X(rtbl_loops, "RTBL dropped: I am in RCVF, or it is a detour to my SAN")    \
    X(rtbl_old, "RTBL dropped: not newer")                                      \
    X(rtbl_strange, "RTBL, GVRT and failures not from a neighbour")             \
    X(rtbl_limited, "RTBL and GVRT above the rate")                             \
    X(rtbl_full, "RTBL not kept: no room, too large, or worse than those kept") \
    X(rtbl_ranges, "RTBL kept by ranges of addresses: too many nodes")          \
    X(rtbl_far, "RTBL not sent on: it has passed 32 half-routers")              \
    X(overlaps, "RTBL refused: it has nodes of my own block")                   \
    X(duplicates, "packets of others with my address")                          \
    X(known_full, "addresses and ranges that found no room")                    \
    X(failures, "HRDOWN and LINKDOWN that took tables away")                    \
    X(registered, "registrations")                                              \
    X(registrations_refused, "registrations of another name, or without room")  \
    X(silent, "registrations removed after silence")                            \
    X(pending_full, "messages of my own that found no room or no way")

struct leat_packetway_router_counts {
#define X(id, text) uint64_t id;
    LEAT_PACKETWAY_COUNT_LIST(X)
#undef X
    uint64_t reason[LEAT_PACKETWAY_REASON_COUNT];
};
const struct leat_packetway_router_counts *
leat_packetway_router_counts(const struct leat_packetway_router *router);

#endif
