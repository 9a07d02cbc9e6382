/*
 * PacketWay for programs: this host as a node of a system-area network that others join to one.
 *
 *   struct leat_live_packetway_config config = {
 *       .san = "eth0,bias=0x100,address=0x101", .name = "crunch",
 *   };
 *   leat_live_packetway_open(&config, &node, why);            registers with the half-routers there
 *   leat_live_packetway_plan(node, 0x301, 3000, &plan, why);  a route through all networks, its MTU
 *   leat_live_packetway_send(node, &message, LEAT_PACKETWAY_SEND_PLANNED, 3000, why);
 *   while (leat_live_packetway_receive(node, 1000, &event))   DATA, INFO, ERR
 *       ...
 *   leat_live_packetway_read(node, 0x301, 0x1000, octets, sizeof octets, 3000, why);  its memory
 *
 * The SAN is an Ethernet ("eth0,...", needs CAP_NET_RAW) or UDP for those without privileges
 * ("udp:10.0.0.7:4254,peer=10.0.0.1,..." with a half-router as peer). bias= is the SAN's, address=
 * this node's own (auto: one that is free), nodes= how many the SAN may have (255), mtu= at most so
 * many words. Where the SAN has a key, nodes without it are not believed, and believe nobody.
 *
 * Nodes answer an echo (LEAT_LIVE_PACKETWAY_PT_ECHO) by themselves while the program is in one of
 * these calls: the answer has EI of the request, as it arrived, in front of the request's data.
 * Everything runs in the caller's thread; times are milliseconds. `why` is always room for
 * LEAT_LIVE_PACKETWAY_WHY_LEN characters: what is wrong, for people.
 */
#ifndef LEAT_LIVE_PACKETWAY_H
#define LEAT_LIVE_PACKETWAY_H

#include "packetway_auth.h"
#include "packetway_host.h"
#include "packetway_memory.h"

enum {
    LEAT_LIVE_PACKETWAY_WHY_LEN = 320,
    LEAT_LIVE_PACKETWAY_NAME_MAX = 32,
    LEAT_LIVE_PACKETWAY_MESSAGE_MAX = 65496, /* octets */
    LEAT_LIVE_PACKETWAY_QUEUE_MAX = 64, /* messages that wait while a call wants something else */
    LEAT_LIVE_PACKETWAY_PT_ECHO = 1024, /* a user's PT; TE: */
    LEAT_LIVE_PACKETWAY_ECHO_REQUEST = 1,
    LEAT_LIVE_PACKETWAY_ECHO_REPLY = 2,
};

struct leat_live_packetway_config {
    const char *san;
    const char *name;     /* NULL: none */
    const uint8_t *about; /* records about this node: [NAME] *CAPA [LADR]; NULL: by name alone */
    size_t about_len;
    uint32_t poll_ms;   /* who is silent for three and a half of them is gone; 0: 1000 */
    bool mute;          /* echoes are the program's business */
    bool claims;        /* open waits a moment, and fails where another node has the address */
    const uint8_t *key; /* of the SAN: LEAT_PACKETWAY_KEY_LEN octets; NULL: it has none */
};

enum leat_live_packetway_end {
    LEAT_LIVE_PACKETWAY_OK,
    LEAT_LIVE_PACKETWAY_WRONG,   /* the request cannot be right */
    LEAT_LIVE_PACKETWAY_FAILED,  /* the system refuses */
    LEAT_LIVE_PACKETWAY_SILENT,  /* no answer in time */
    LEAT_LIVE_PACKETWAY_UNKNOWN, /* no half-router knows the way */
    LEAT_LIVE_PACKETWAY_REFUSED, /* a memory node does not do that */
};

struct leat_live_packetway;

/* Opens a node, and introduces it to the SAN. */
enum leat_live_packetway_end
leat_live_packetway_open(const struct leat_live_packetway_config *config,
                         struct leat_live_packetway **out, char *why);
void leat_live_packetway_close(struct leat_live_packetway *node); /* NULL: nothing */

/* Readable when receive has something to do; call it every poll_ms, too. */
int leat_live_packetway_fd(const struct leat_live_packetway *node);

/* Waits until a half-router is known. SILENT: there is none. */
enum leat_live_packetway_end leat_live_packetway_join(struct leat_live_packetway *node,
                                                      uint32_t timeout_ms, char *why);

/* The index-th half-router of my SAN; 0: no more. The first one takes what goes by address. */
uint32_t leat_live_packetway_router(const struct leat_live_packetway *node, uint32_t index);

/* The way to dt, asked for where it is not known. Lent until the next call. */
enum leat_live_packetway_end leat_live_packetway_plan(struct leat_live_packetway *node, uint32_t dt,
                                                      uint32_t timeout_ms,
                                                      const struct leat_packetway_plan **out,
                                                      char *why);

/*
 * TELL, or WRU? without records; the answers are events of receive (packetway_host.h). A node is
 * asked one question at a time: unask is for one that nobody waits for any more.
 */
enum leat_live_packetway_end leat_live_packetway_ask(struct leat_live_packetway *node,
                                                     uint32_t peer, const uint8_t *records,
                                                     size_t len, char *why);
void leat_live_packetway_unask(struct leat_live_packetway *node, uint32_t peer);

/*
 * Sends message->header.dt (pt, te, priority, e), data and fields. Planned: after asking for a
 * plan. WRONG: longer than the MTU of the way, of which nothing is ever cut.
 */
enum leat_live_packetway_end leat_live_packetway_send(struct leat_live_packetway *node,
                                                      const struct leat_packetway_message *message,
                                                      enum leat_packetway_how how,
                                                      uint32_t timeout_ms, char *why);

/* Sends it with the leading records that it has, to a node of my SAN: a route of one's own. */
enum leat_live_packetway_end
leat_live_packetway_send_routed(struct leat_live_packetway *node,
                                const struct leat_packetway_message *message, uint32_t to,
                                char *why);

/* The next event of packetway_host.h; false: none in time. Lent until the next call. */
bool leat_live_packetway_receive(struct leat_live_packetway *node, uint32_t timeout_ms,
                                 struct leat_packetway_event *out);

/*
 * Memory of other nodes (packetway_memory.h). Octets travel in pieces that the way holds, each
 * asked for up to three times within timeout_ms. A MEM-WRITE has no answer, so what was written is
 * read back and compared; blind: only that the piece came is made sure, by a MEM-READ of no octets,
 * as where this node may not read. REFUSED: not within the memory, or not allowed; pieces before it
 * may have been written.
 */
enum leat_live_packetway_end leat_live_packetway_read(struct leat_live_packetway *node,
                                                      uint32_t peer, uint64_t address,
                                                      uint8_t *octets, size_t len,
                                                      uint32_t timeout_ms, char *why);
enum leat_live_packetway_end leat_live_packetway_write(struct leat_live_packetway *node,
                                                       uint32_t peer, uint64_t address,
                                                       const uint8_t *octets, size_t len,
                                                       bool blind, uint32_t timeout_ms, char *why);

/* Others may use `store`, by its grants, while this program is in one of these calls; NULL: no
 * more. It stays the program's. Without it, MEM-READ and MEM-WRITE are events of receive. */
void leat_live_packetway_lend(struct leat_live_packetway *node, struct leat_packetway_store *store);

uint32_t leat_live_packetway_address(const struct leat_live_packetway *node);

/* Is that an address of my SAN's block? Nodes of it are reached without a half-router. */
bool leat_live_packetway_is_near(const struct leat_live_packetway *node, uint32_t address);

/* What my SAN carries, in words; ways through others may carry less. */
uint32_t leat_live_packetway_mtu(const struct leat_live_packetway *node);

/* Forgets plans: of one destination, or with 0 all. */
void leat_live_packetway_forget(struct leat_live_packetway *node, uint32_t dt);

const struct leat_packetway_host_counts *
leat_live_packetway_counts(const struct leat_live_packetway *node);

/* Control messages that were refused for want of the right key. */
const struct leat_packetway_auth_counts *
leat_live_packetway_key_counts(const struct leat_live_packetway *node);

/* What they say about my key, for people; "": there were none. */
const char *leat_live_packetway_key_hint(const struct leat_live_packetway *node);

#endif
