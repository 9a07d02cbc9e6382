/*
 * The host's side of PacketWay: a node of a SAN that registers with its half-routers, discovers
 * other nodes, plans routes and sends.
 *
 *   register   INFO about me to every half-router, and an answer to each WRU?
 *   discover   query() TELL by address, name, capability --> event INFO
 *   plan       plan() GVL2 --> L2SR: routes with quality and MTU, kept in a cache;
 *                     or RDRC: another half-router, or natively
 *   send       planned (L2RHs first), by address, or natively on this SAN
 *   receive    CRC, mandatory fields and records checked, elements converted to host byte order
 *
 * A plan is discarded when UNK names its destination, when ERR/GENERAL quotes a packet to it, and
 * when a RDRC of one of this host's half-routers says otherwise. HRDOWN and LINKDOWN discard all
 * planned routes: the octets of a route do not show which half-routers it passes. The next plan()
 * queries again, and queries another half-router if the last one did not know. The SAN itself knows
 * how to reach its nodes natively: messages come out with the address of the receiving node.
 */
#ifndef LEAT_PACKETWAY_HOST_H
#define LEAT_PACKETWAY_HOST_H

#include "packetway_bias.h"
#include "packetway_wire.h"
#include <leat/packetway.h>
#include <leat/time.h>

enum {
    LEAT_PACKETWAY_HOST_ROUTERS_MAX = 8,
    LEAT_PACKETWAY_HOST_QUERIES_MAX = 16, /* query() outstanding */
    LEAT_PACKETWAY_HOST_PLANS_MAX = 1 << 16,
    LEAT_PACKETWAY_HOST_PENDING_MAX = 1 << 12,
    LEAT_PACKETWAY_HOST_TRIES = 3,          /* 1 s apart */
    LEAT_PACKETWAY_HOST_MESSAGE_LEN = 1024, /* octets of DB of the messages a host makes itself */
};

struct leat_packetway_host_config {
    uint32_t address;
    struct leat_packetway_block block; /* of this SAN */
    uint32_t mtu_words;                /* of this SAN; 0 = unlimited */
    bool point_to_point;               /* this SAN is one link: Hey-You is answered there */
    bool little_endian;                /* byte order of this host's elements */
    bool level_c;                      /* TELL is answered, capabilities are reported */
    const uint8_t *about;              /* records about me: [NAME] *CAPA [LADR]; copied */
    size_t about_len;                  /* at most 256 */
    uint32_t plans_max;                /* cached; a multiple of 4 */
    uint32_t pending_max;              /* own RRP messages pending */
    uint32_t route_len_max;            /* octets of a planned route, whole words; longer ones are
                                        * not kept; 0: LEAT_PACKETWAY_PLAN_LEN_MAX */
};

struct leat_packetway_host; /* packetway_host.c */

/* Octets of memory, aligned as by malloc; 0 if the configuration is out of bounds. */
size_t leat_packetway_host_footprint(const struct leat_packetway_host_config *config);

/* RANGE, MEMORY, FIELD as in packetway_router.h. */
leat_err leat_packetway_host_init(const struct leat_packetway_host_config *config, void *memory,
                                  size_t len, struct leat_packetway_host **out);

/*
 * Adds a half-router of this SAN and registers with it at once. The first one added receives what
 * is sent by address. RANGE, FULL.
 */
leat_err leat_packetway_host_router(struct leat_packetway_host *host, uint32_t address);

/* Removes it, with all plans that begin at it. */
void leat_packetway_host_router_gone(struct leat_packetway_host *host, uint32_t address);

/* ---- discover and plan --------------------------------------------------------------------- */

/*
 * Sends TELL to a half-router or node, its DB being whole records (packetway_record.h); with none,
 * WRU?. One may be outstanding per peer: DUPLICATE. FULL. LENGTH, or the grammar's error.
 */
leat_err leat_packetway_host_query(struct leat_packetway_host *host, uint32_t peer,
                                   const uint8_t *records, size_t len, leat_time now);

/* Abandons the request; the peer can be asked something else. */
void leat_packetway_host_cancel(struct leat_packetway_host *host, uint32_t peer);

/* The plan for dt; queries a half-router if there is none. Lent until the next call. */
const struct leat_packetway_plan *leat_packetway_host_plan(struct leat_packetway_host *host,
                                                           uint32_t dt, leat_time now);

/* Forgets what is cached for dt; 0: everything. */
void leat_packetway_host_forget(struct leat_packetway_host *host, uint32_t dt);

/* ---- send ---------------------------------------------------------------------------------- */

/*
 * Writes the message with this host's SA, and `*to`: the node of this SAN that receives it. A node
 * of the same block receives it natively in either case. Planned: the first route whose MTU is
 * large enough; LENGTH if there is none, or if this SAN's MTU is too small: messages are never
 * fragmented. Errors of leat_packetway_message_encode.
 */
leat_err leat_packetway_host_send(struct leat_packetway_host *host,
                                  const struct leat_packetway_message *message,
                                  enum leat_packetway_how how, uint8_t *buf, size_t cap,
                                  size_t *len, uint32_t *to, leat_time now);

/*
 * The same for data of at most LEAT_PACKETWAY_HOST_MESSAGE_LEN octets, which are copied: sent by
 * address, and returned by take(), for callers that answer an event. LENGTH; FULL.
 */
leat_err leat_packetway_host_post(struct leat_packetway_host *host,
                                  const struct leat_packetway_header *header, const uint8_t *data,
                                  size_t len);

/* The next message that the host itself generates: RRP, and what was posted. Lent until the next
 * call. False: none. */
struct leat_packetway_host_outgoing {
    uint32_t to; /* a node of this SAN; 0x7FFFFE: whoever is at the other end */
    const uint8_t *octets;
    uint32_t len;
};
bool leat_packetway_host_take(struct leat_packetway_host *host,
                              struct leat_packetway_host_outgoing *out);

/* ---- receive ------------------------------------------------------------------------------- */

/*
 * A packet for this host arrived natively. Its data is converted in place to this host's byte
 * order. A packet that still has an L2RH, or is for another node, is discarded.
 */
void leat_packetway_host_receive(struct leat_packetway_host *host, uint8_t *octets, size_t len,
                                 leat_time now, struct leat_packetway_event *out);

/* Retransmits unanswered requests. Returns one event at a time: call until it is NONE. */
void leat_packetway_host_tick(struct leat_packetway_host *host, leat_time now,
                              struct leat_packetway_event *out);
leat_time leat_packetway_host_next_at(const struct leat_packetway_host *host);

const struct leat_packetway_host_counts *
leat_packetway_host_counts(const struct leat_packetway_host *host);

#endif
