/*
 * The half-router's internals, for packetway_router*.c only.
 *
 *   packetway_router.c         memory, packets, time
 *   packetway_router_lrt.c     this SAN: nodes, registrations
 *   packetway_router_fib.c     the forwarding table
 *   packetway_router_rrp.c     messages for me
 *   packetway_router_tables.c  RTBL in, failures
 *   packetway_router_rtbl.c    RTBL out
 *   packetway_router_search.c  nodes of ranges: what their mappers know
 *   packetway_router_out.c     own messages
 */
#ifndef LEAT_PACKETWAY_ROUTER_PARTS_H
#define LEAT_PACKETWAY_ROUTER_PARTS_H

#include "leat_arena.h"
#include "packetway_about.h"
#include "packetway_record.h"
#include "packetway_router.h"

enum {
    LEAT_PACKETWAY_ANSWER_LEN_MAX = 4 * (8192) + 1024 /* L2SR of four routes */
};

/* ---- this SAN ---- */

struct leat_packetway_lrt_node {
    struct leat_packetway_address address; /* at 0: the slot is free */
    leat_time poll_at;
    uint16_t q;
    uint16_t about_len;
    uint8_t silences;
    bool mapped, registered, answered, buddy;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
};

/* ---- tables of others ---- */

enum leat_packetway_xrt_state {
    LEAT_PACKETWAY_XRT_FREE,
    LEAT_PACKETWAY_XRT_LIVE,
    LEAT_PACKETWAY_XRT_LOST, /* deleted by a failure; traffic to its nodes gets that error */
};

struct leat_packetway_xrt {
    enum leat_packetway_xrt_state state;
    uint16_t sequence, q;
    uint32_t san, mtu_words;
    uint32_t *received_from; /* [config.passed_max] */
    uint32_t received_from_count;
    bool from_twin;
    uint8_t from;    /* index of the neighbour */
    uint8_t failure; /* LOST: 1 + index */
    uint16_t rank;   /* place by Q */
    uint16_t next;   /* of the same SAN, or of the same list, + 1 */
    bool has_ranges;
    leat_time learned_at;
    uint64_t twins_due, buddies_due; /* who still has to receive it */
    size_t csr_len, nodes_len;
    uint8_t *nodes;
    uint8_t *csr; /* [config.csr_len_max] */
};

/* ---- pending messages ---- */

enum leat_packetway_pending_kind {
    LEAT_PACKETWAY_PENDING_MESSAGE,  /* octets are its DB */
    LEAT_PACKETWAY_PENDING_QUOTE,    /* the same, may be cut to the MTU */
    LEAT_PACKETWAY_PENDING_QUESTION, /* HRTO or GVL2 about `about`: answered when taken */
    LEAT_PACKETWAY_PENDING_TELL,     /* octets are the request: several INFOs may result */
};

enum leat_packetway_pending_way {
    LEAT_PACKETWAY_BY_ADDRESS,
    LEAT_PACKETWAY_BY_TWIN,  /* `index` */
    LEAT_PACKETWAY_BY_BUDDY, /* `index` */
    LEAT_PACKETWAY_BY_LINK,  /* this SAN, point to point */
};

struct leat_packetway_pending {
    enum leat_packetway_pending_kind kind;
    enum leat_packetway_pending_way way;
    uint32_t index;
    uint32_t dt;
    uint32_t about;
    uint16_t pt, te;
    uint8_t priority;
    bool matched;        /* TELL: something matched */
    bool spreads;        /* TELL: of a host here, so mappers of ranges are asked, too */
    bool is_mine;        /* TELL: of another SAN, which is told of this one alone */
    uint32_t node, rank; /* TELL: where to continue */
    size_t at;
    size_t len;
    uint8_t octets[LEAT_PACKETWAY_REQUEST_LEN_MAX];
};

/* ---- nodes of ranges (packetway_router_search.c) ---- */

enum { LEAT_PACKETWAY_SR_LEN_MAX = 80 }; /* one L2RH of 63 octets */

/* The route of a mapper to a node of its SAN: asked for, or known for some seconds. */
struct leat_packetway_found {
    uint32_t about; /* 0: free */
    uint32_t mapper;
    uint32_t asker; /* a host here that waits for it */
    uint8_t priority, tries;
    bool known;
    uint16_t q, sr_len;
    uint32_t mtu_words;
    leat_time at;
    uint8_t sr[LEAT_PACKETWAY_SR_LEN_MAX];
};

/* A TELL of a host here that mappers of ranges are asked. */
struct leat_packetway_tell {
    uint32_t asker;                             /* 0: free */
    uint32_t at;                                /* the next table */
    uint32_t asked[LEAT_PACKETWAY_TELL_WINDOW]; /* mappers that have not answered; 0: none */
    uint8_t priority;
    bool matched, all_asked;
    bool is_vague; /* one of them was silent */
    leat_time asked_at, until;
    size_t len;
    uint8_t octets[LEAT_PACKETWAY_REQUEST_LEN_MAX];
};

/* ---- limits ---- */

struct leat_packetway_rates { /* of one neighbour */
    struct leat_packetway_window rtbl, gvrt;
};

struct leat_packetway_router {
    struct leat_packetway_router_config config;
    struct leat_packetway_fib fib;
    struct leat_packetway_router_counts counts;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    leat_time started_at, originate_at, wake_at;
    bool fib_stale, lrt_changed;

    struct leat_packetway_lrt_node *nodes;
    struct leat_packetway_native *natives; /* [nodes_max], one for each node */
    uint32_t *node_slots;                  /* hash of single addresses: 1 + index */
    uint32_t node_slot_bits, node_end;     /* no node at or after node_end */

    struct leat_packetway_xrt *tables;
    uint16_t *by_tie, *by_q; /* indices of tables, ordered; table_count of them */
    uint32_t table_count;
    uint32_t table_end;  /* no table at or after it */
    uint32_t free_at;    /* no free one before it */
    uint32_t due_at;     /* none that is due to be sent before it */
    uint16_t *san_first; /* tables by SAN: lists, + 1 */
    uint32_t san_bits;
    uint32_t *passed_room;
    uint8_t *csr_room, *nodes_room;
    uint16_t sequence;
    uint64_t twins_due; /* of the own table */

    struct leat_packetway_pending *pending;
    uint32_t pending_first, pending_count;

    struct leat_packetway_found *found; /* [LEAT_PACKETWAY_FOUND_MAX] */
    struct leat_packetway_tell *tells;  /* [LEAT_PACKETWAY_TELLS_MAX], tell_count of them in use */
    uint32_t tell_count;

    struct leat_packetway_window errs[LEAT_PACKETWAY_LIMIT_SLOTS];
    leat_time redirected_until[LEAT_PACKETWAY_LIMIT_SLOTS]; /* by source and destination */
    struct leat_packetway_window originations;
    struct leat_packetway_rates twin_rates[LEAT_PACKETWAY_TWINS_MAX];
    struct leat_packetway_rates buddy_rates[LEAT_PACKETWAY_BUDDIES_MAX];

    uint8_t *db, *message; /* buffer for messages */
    size_t db_cap, message_cap;
};

/* A neighbour, found by its address. */
struct leat_packetway_peer {
    bool known, twin;
    uint32_t index;
};

static inline uint32_t leat_packetway_q_sum(uint32_t a, uint32_t b)
{
    return a + b > UINT16_MAX ? UINT16_MAX : a + b;
}

/* The nodes of a table, ADDR by ADDR. */
static inline struct leat_packetway_records leat_packetway_table_nodes(const uint8_t *nodes,
                                                                       size_t len)
{
    struct leat_packetway_records r = leat_packetway_records_of(nodes, len, LEAT_PACKETWAY_STRICT);
    r.depth = LEAT_PACKETWAY_IN_RTHD;
    return r;
}

static inline struct leat_packetway_records
leat_packetway_xrt_nodes(const struct leat_packetway_xrt *t)
{
    return leat_packetway_table_nodes(t->nodes, t->nodes_len);
}

/* Octets of DB that this half-router can make and that fit the MTU; 0 = unlimited. */
static inline size_t leat_packetway_router_room(const struct leat_packetway_router *r,
                                                uint32_t mtu_words)
{
    const size_t room = mtu_words > 3 ? (size_t)8 * (mtu_words - 3) : 0;
    return mtu_words && room < r->db_cap ? room : r->db_cap;
}

/* packetway_router_lrt.c */
/* Copies the records that describe a node, without its routes. */
void leat_packetway_router_describe(struct leat_packetway_build *b,
                                    struct leat_packetway_records records);
struct leat_packetway_peer leat_packetway_router_peer(const struct leat_packetway_router *r,
                                                      uint32_t address);
struct leat_packetway_lrt_node *leat_packetway_router_lrt(struct leat_packetway_router *r,
                                                          uint32_t address);
void leat_packetway_router_register(struct leat_packetway_router *r,
                                    const struct leat_packetway_message *m, const uint8_t *packet,
                                    size_t len, leat_time now);
void leat_packetway_router_poll(struct leat_packetway_router *r, leat_time now);
void leat_packetway_router_refresh(struct leat_packetway_router *r);

/* packetway_router.c */
void leat_packetway_router_route(struct leat_packetway_router *r,
                                 const struct leat_packetway_arrival *arrival, leat_time now,
                                 unsigned depth, struct leat_packetway_routed *packet);

/* packetway_router_rrp.c */
void leat_packetway_router_deliver(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival, leat_time now,
                                   unsigned depth, struct leat_packetway_routed *packet);

/* packetway_router_tables.c */
void leat_packetway_router_on_rtbl(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival,
                                   const struct leat_packetway_message *m, leat_time now);
void leat_packetway_router_on_gvrt(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival,
                                   const struct leat_packetway_message *m, leat_time now);
void leat_packetway_router_on_failure(struct leat_packetway_router *r,
                                      const struct leat_packetway_arrival *arrival,
                                      const struct leat_packetway_message *m, leat_time now);
void leat_packetway_router_fail(struct leat_packetway_router *r, uint16_t te, uint32_t a,
                                uint32_t b, const struct leat_packetway_peer *sender,
                                uint8_t priority, leat_time now);
void leat_packetway_router_age(struct leat_packetway_router *r, leat_time now);
/* The slot of a table is free again. */
void leat_packetway_router_forget(struct leat_packetway_router *r, uint32_t index);
/* This SAN has changed: sends a new table, or delays it if there were too many. */
void leat_packetway_router_settle(struct leat_packetway_router *r, leat_time now);
void leat_packetway_router_originate(struct leat_packetway_router *r, leat_time now);
/* The nodes of a table as ranges, in at most `cap` octets. 0: they do not fit. */
size_t leat_packetway_router_ranges(const uint8_t *nodes, size_t len, uint8_t *out, size_t cap);
/* The DB of the next table that is due, in r->db, and its recipients. */
bool leat_packetway_router_table_due(struct leat_packetway_router *r,
                                     struct leat_packetway_pending *to, size_t *len);

/* packetway_router_search.c */
/* Asks the mapper of a range for its route to p->about. False: there is nobody to ask. */
bool leat_packetway_router_search(struct leat_packetway_router *r,
                                  const struct leat_packetway_pending *p, leat_time now);
/* The route that a mapper told; NULL: none. */
const struct leat_packetway_found *
leat_packetway_router_found(const struct leat_packetway_router *r, uint32_t mapper, uint32_t about,
                            leat_time now);
/* GVL2 of another SAN: about a node of this one, it is answered. */
bool leat_packetway_router_serve_search(struct leat_packetway_router *r,
                                        const struct leat_packetway_message *m,
                                        const uint8_t *packet, uint32_t len, leat_time now);
void leat_packetway_router_on_l2sr(struct leat_packetway_router *r,
                                   const struct leat_packetway_message *m, leat_time now);
/* ERR/UNK or GENERAL: of a mapper that was asked? */
void leat_packetway_router_on_refusal(struct leat_packetway_router *r,
                                      const struct leat_packetway_message *m, leat_time now);
bool leat_packetway_router_is_half_router(const struct leat_packetway_router *r, uint32_t address);
bool leat_packetway_router_has_ranges(const struct leat_packetway_router *r);
/* The own tables have answered a TELL: mappers of ranges are next. */
void leat_packetway_router_spread(struct leat_packetway_router *r,
                                  const struct leat_packetway_pending *p, leat_time now);
/* The next TELL to a mapper. */
bool leat_packetway_router_tell_due(struct leat_packetway_router *r, leat_time now,
                                    struct leat_packetway_pending *to, const uint8_t **octets,
                                    size_t *len);
void leat_packetway_router_on_told(struct leat_packetway_router *r,
                                   const struct leat_packetway_message *m, leat_time now);
void leat_packetway_router_end_tells(struct leat_packetway_router *r, leat_time now);

/* packetway_router_out.c */
/* A message without data to `dt`, to be sent; NULL: there is no room. */
struct leat_packetway_pending *leat_packetway_router_pend(struct leat_packetway_router *r,
                                                          uint16_t pt, uint16_t te, uint32_t dt,
                                                          uint8_t priority);
/* Its data: ADDRs of two nodes. */
void leat_packetway_pending_nodes(struct leat_packetway_pending *p, uint32_t a, uint32_t b);
void leat_packetway_router_err(struct leat_packetway_router *r, uint16_t te,
                               const struct leat_packetway_address *about, size_t count,
                               const uint8_t *packet, uint32_t len, leat_time now);
size_t leat_packetway_router_reason(const struct leat_packetway_router *r,
                                    const struct leat_packetway_decision *d, uint16_t *te,
                                    struct leat_packetway_address about[2]);
void leat_packetway_router_complain(struct leat_packetway_router *r, const uint8_t *packet,
                                    uint32_t len, leat_time now);
void leat_packetway_router_redirect(struct leat_packetway_router *r, uint32_t sa, uint32_t dt,
                                    uint32_t buddy, uint8_t priority, leat_time now);

#endif
