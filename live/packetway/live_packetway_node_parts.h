/* A host's internals, for live_packetway_node.c (the node) and live_packetway_memory.c (memory of
 * others, and its own) only. */
#ifndef LEAT_LIVE_PACKETWAY_NODE_PARTS_H
#define LEAT_LIVE_PACKETWAY_NODE_PARTS_H

#include "live_packetway_san.h"
#include "packetway_about.h"
#include "packetway_auth.h"
#include "packetway_host.h"
#include "packetway_memory.h"
#include <leat/packetway.h>

/* The MEM-WRITE that answers one of our MEM-READs; peer 0: none is awaited. */
struct packetway_awaited {
    uint32_t peer;
    uint64_t reply;
};

/* A message that waits until the program asks for it. */
struct kept {
    uint32_t len;
    uint8_t *octets;
};

struct leat_packetway_node {
    struct packetway_san san;
    struct leat_packetway_host *engine;
    void *memory;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    size_t about_len;
    bool mute;
    struct leat_packetway_store *store; /* lent by the program; NULL: none */
    struct packetway_awaited awaited;
    uint64_t reply_next;
    leat_time poll_ps, poll_at;
    uint32_t routers[LEAT_PACKETWAY_HOST_ROUTERS_MAX], router_count;
    uint32_t expected; /* node whose INFO was requested, by TELL with these records, or by WRU? */
    uint8_t asked[LEAT_PACKETWAY_HOST_MESSAGE_LEN];
    size_t asked_len;
    struct kept queue[LEAT_PACKETWAY_NODE_QUEUE_MAX];
    uint32_t queue_first, queue_count;
    struct leat_packetway_message reply;
    uint8_t in[PACKETWAY_MESSAGE_MAX], out[PACKETWAY_MESSAGE_MAX];
};

enum { PACKETWAY_TURN = 64 }; /* messages processed in a row, however many arrive */

/* live_packetway_node.c */

/* Processes one message of the SAN, or a timeout. False: nothing to do now. */
bool packetway_node_step(struct leat_packetway_node *p, bool control_only,
                         struct leat_packetway_event *e);
/* Waits for the SAN; false: `until` has passed. */
bool packetway_node_pause(const struct leat_packetway_node *p, leat_time until);
leat_time packetway_node_deadline(uint32_t timeout_ms);
/* Sends a message of the node's own by address. */
void packetway_node_reply(struct leat_packetway_node *p, const struct leat_packetway_message *m,
                          leat_time now);

/* packetway_memory.c */

/* Is a packet without leading records, by its header, for the node's own memory, or an awaited
 * answer? */
bool packetway_memory_takes(const struct leat_packetway_node *p, const uint8_t *octets);
/* Serves it. False: it is for the program, or the awaited answer. */
bool packetway_memory_serve(struct leat_packetway_node *p, const struct leat_packetway_event *e,
                            leat_time now);

#endif
