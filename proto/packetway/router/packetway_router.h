/*
 * A half-router (spec sections 5 and 6): forwarding, ERR messages, and the RRP services of levels
 * B, C and D, as one state machine. A router on N SANs is N of these, each other's twins; those of
 * different routers on one SAN are buddies.
 *
 *        nodes of this SAN (an input: the LRT)     RTBL of twins and buddies (the XRTs)
 *                      \                              /
 *                       `--> packetway_fib.h <-------´        every address, its routes
 *                                  |
 *   packet, side --> input() --> decision: this packet goes there --+--> the driver sends it
 *   time ----------> tick()                                         |
 *   links, nodes --> link() node() --> take() --> own messages, one at a time
 *
 * No clock, no memory but the caller's, no I/O: after every call the driver calls take() until it
 * returns false. A driver that forwards by itself (the kernel) uses packetway_forward.h with the
 * fib of this half-router, and passes everything that is not simply forwarded to input().
 *
 * Every table is bounded, and every bound is in the configuration or named here; what does not fit
 * is counted. Trust: RTBL, GVRT, HRDOWN and LINKDOWN are accepted only from twins and buddies,
 * registrations only from nodes of this half-router's own block.
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
    LEAT_PACKETWAY_ORIGINATE_S = 30,          /* maximum interval between own tables */
    LEAT_PACKETWAY_EXPIRE_S = 105,            /* lifetime of a table without a newer one */
    LEAT_PACKETWAY_POLL_S = 30,               /* default of poll_ps */
    LEAT_PACKETWAY_SILENCES_MAX = 3,          /* unanswered polls */
    LEAT_PACKETWAY_FAILURE_S = 60,            /* how long traffic to lost nodes gets the reason */
    LEAT_PACKETWAY_REDIRECT_S = 10,           /* one RDRC per (SA, DT) */
    LEAT_PACKETWAY_GVRT_PER_S = 10,           /* per neighbour */
    LEAT_PACKETWAY_ORIGINATE_PER_S = 10,      /* however often this SAN changes */
    LEAT_PACKETWAY_RTBL_PER_S = 1000,         /* per neighbour, or twice the tables kept */
    LEAT_PACKETWAY_TABLES_PER_SAN = 4,        /* K */
    LEAT_PACKETWAY_ALTERNATIVES_MAX = 4,      /* in L2SR */
    LEAT_PACKETWAY_CSR_LEN_MAX = 4608,        /* octets of the route to a mapper: 64 L2RHs of 72 */
    LEAT_PACKETWAY_REQUEST_LEN_MAX = 1024,    /* octets of a TELL, of a quote */
    LEAT_PACKETWAY_TABLE_HEAD_LEN_MAX = 5376, /* of a table before its nodes: RCVF of 128, CSR */
    LEAT_PACKETWAY_TABLE_LEN_MIN = 24,        /* of its nodes: one range */
    LEAT_PACKETWAY_LRT_MAX = 1 << 20,
    LEAT_PACKETWAY_XRT_MAX = 4096,
    LEAT_PACKETWAY_FOUND_MAX = 64,  /* nodes of ranges whose routes were asked for */
    LEAT_PACKETWAY_FOUND_S = 10,    /* how long such a route is kept */
    LEAT_PACKETWAY_TELLS_MAX = 8,   /* TELLs that other half-routers are asked at a time */
    LEAT_PACKETWAY_TELL_S = 3,      /* silence of all of them that ends one */
    LEAT_PACKETWAY_TELL_WINDOW = 2, /* half-routers asked at a time */
};

struct leat_packetway_router_config {
    uint32_t address;                  /* address of this half-router: a node of this SAN */
    struct leat_packetway_block block; /* of this SAN; the bias is its ID */
    uint32_t mtu_words;                /* of this SAN; 0 = unlimited */
    bool point_to_point;               /* this SAN is one link: Hey-You is answered there */
    uint8_t levels;                    /* LEAT_PACKETWAY_LEVEL_; 0 is level A */
    const uint8_t *about;              /* records about me: [NAME] *CAPA [LADR]; copied */
    size_t about_len;
    leat_time poll_ps; /* WRU? to registered nodes; 0 = never */
    /* bounds */
    uint32_t nodes_max;     /* LRT and registrations, buddies included */
    uint32_t tables_max;    /* XRTs */
    uint32_t table_len_max; /* octets of the nodes of one table, whole words; beyond: ranges */
    uint32_t passed_max;    /* half-routers in RCVF of a table */
    uint32_t csr_len_max;   /* octets of the route to a mapper, whole words */
    uint32_t known_max;     /* addresses, those of this SAN included */
    uint32_t ranges_max;    /* address ranges */
    uint32_t pending_max;   /* own messages pending */
};

/* Suits a SAN of a few hundred nodes and a PacketWay of a few thousand. */
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
 * Adds another half-router of this router. RANGE: not a node's address, or this half-router's own.
 * FULL. A twin added again gets the new values. Its link is up until link() says otherwise.
 */
leat_err leat_packetway_router_twin(struct leat_packetway_router *router, uint32_t address,
                                    uint16_t q, uint32_t mtu_words, leat_time now);

/* A node or a range of nodes of this SAN, and the route to it: an entry of the LRT. */
struct leat_packetway_san_node {
    struct leat_packetway_address address; /* physical; a range cannot be a buddy */
    const uint8_t *route; /* native route from this half-router, at most 63 octets; copied */
    size_t route_len;
    uint16_t q;
    bool buddy; /* a half-router of another router */
};

/* Adds or replaces it. RANGE, FULL. */
leat_err leat_packetway_router_node(struct leat_packetway_router *router,
                                    const struct leat_packetway_san_node *node, leat_time now);

/* The SAN no longer has it. The loss of a buddy is reported: HRDOWN. FIELD: there was none. */
leat_err leat_packetway_router_node_gone(struct leat_packetway_router *router,
                                         const struct leat_packetway_address *address,
                                         leat_time now);

/* The link to a twin went down (LINKDOWN) or came up (tables are requested). FIELD: no twin. */
leat_err leat_packetway_router_link(struct leat_packetway_router *router, uint32_t twin, bool up,
                                    leat_time now);

/* ---- packets ------------------------------------------------------------------------------- */

struct leat_packetway_arrival {
    enum leat_packetway_side side; /* HOST, BUDDY or TWIN */
    uint32_t from;                 /* TWIN: which; else 0 */
    bool error_seen; /* on this router's inputs: native CRC, or reported by the twin */
};

/* The decision for one packet. */
struct leat_packetway_routed {
    struct leat_packetway_decision decision;
    const uint8_t *octets; /* the packet: the input, or the message embedded in it */
    uint32_t len;
    bool error_seen; /* for the seal, or for the twin */
};

/*
 * Processes a whole packet. TO_TWIN, TO_SAN: the driver sends octets + consumed; COPIES: see below;
 * everything else is already handled. *out is lent as long as the octets.
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

/* This SAN refuses the native route of this input packet: ERR/GENERAL. */
void leat_packetway_router_refused(struct leat_packetway_router *router,
                                   const struct leat_packetway_arrival *arrival,
                                   const uint8_t *octets, uint32_t len, leat_time now);

/* A message that this half-router generates. Octets and route are lent until the next call. */
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

/* Does what is due: sends and expires tables, polls nodes. */
void leat_packetway_router_tick(struct leat_packetway_router *router, leat_time now);

/* When tick is next due. */
leat_time leat_packetway_router_next_at(const struct leat_packetway_router *router);

/* ---- looking in ---------------------------------------------------------------------------- */

/* The forwarding table; up to date, lent until the next call that changes something. */
const struct leat_packetway_fib *leat_packetway_router_fib(struct leat_packetway_router *router);

/* The address of the index-th twin, which was added so; 0: there are fewer. */
uint32_t leat_packetway_router_twin_at(const struct leat_packetway_router *router, uint32_t index);

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
    bool lost; /* deleted by a failure, kept to report the reason */
};

/* The index-th slot, 0 .. tables_max - 1. False: empty. */
bool leat_packetway_router_table(const struct leat_packetway_router *router, uint32_t index,
                                 struct leat_packetway_table_view *out);

/* The index-th entry of the LRT, 0 .. nodes_max - 1, with the records about it. False: empty. */
struct leat_packetway_san_node_view {
    struct leat_packetway_san_node node;
    struct leat_packetway_records about;
    bool mapped;     /* added by the driver; otherwise only registered */
    bool registered; /* it described itself */
};
bool leat_packetway_router_node_at(const struct leat_packetway_router *router, uint32_t index,
                                   struct leat_packetway_san_node_view *out);

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
    X(rtbl_far, "RTBL not sent on: it has passed 128 half-routers")             \
    X(overlaps, "RTBL refused: it has nodes of my own block")                   \
    X(duplicates, "packets of others with my address")                          \
    X(known_full, "addresses and ranges that found no room")                    \
    X(failures, "HRDOWN and LINKDOWN that took tables away")                    \
    X(registered, "registrations")                                              \
    X(registrations_refused, "registrations of another name, or without room")  \
    X(silent, "registrations removed after silence")                            \
    X(searches, "GVL2 and TELL that mappers of ranges were asked")              \
    X(pending_full, "messages of my own that found no room or no route")

struct leat_packetway_router_counts {
#define X(id, text) uint64_t id;
    LEAT_PACKETWAY_COUNT_LIST(X)
#undef X
    uint64_t reason[LEAT_PACKETWAY_REASON_COUNT];
};
const struct leat_packetway_router_counts *
leat_packetway_router_counts(const struct leat_packetway_router *router);

#endif
