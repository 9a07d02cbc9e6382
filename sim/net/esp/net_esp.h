/*
 * ESP in a network of switches: each router has a processor with an ephemeral store (proto/esp), so
 * the network carries out the collective operations of leat/port.h.
 *
 *     host --COLLECT--> processor of its router --COLLECT--> ... --> processor of the tree's root
 *     host <---CAST---- processor of its router <---CAST---- ... <---------------'
 *
 * A processor is one more terminal of its router, so its packets are flits like all others: they
 * wait for wires, buffers and credits. It takes a packet that has arrived whole, one after the
 * other, and needs `cycles` for each. Then it sends on what the room's instruction core says.
 *
 * A group has a tree (net_esp_tree.h). Its routers know how many children they have there, and
 * where copies go: whoever manages the network installs that with the group.
 *
 *   fold   Each member sends a COLLECT for each word; a barrier has one. A router that finds no
 *          child count binds the installed one. When the last child's packet passes, it resets
 *          count and total, which are then ready for the group's next operation. The root answers
 *          with a CAST for each word.
 *   cast   The root's octets are cut into CASTs of at most `chunk` octets. Routers copy them to all
 *          their neighbours in the tree except the one they came from. Where the tree leads one way
 *          only, they go up to its root and from there down.
 *
 * A member sends packets of an operation no faster than the busiest router of the tree can take
 * them. Hosts send them before packets of messages that wait.
 *
 * Bindings live for tau from their creation. Each word and identity (0 or all ones) of a group is a
 * computation of its own, whose two bindings are made at the same time and die together: a total is
 * whole, or its count never reaches 0. The tree's root renews the group's computation IDs when they
 * are older than tau / 2; the next operation uses the new ones.
 *
 * An operation that has no packet left on its way has failed: packets were lost, or a store was
 * full. Its members learn this after the network's latency; if some of them already have the
 * result, the others get it then. After a failed fold the computation IDs are new.
 *
 * The time of a fold of two members that are 2 d - 1 wires apart, d >= 1, in an idle network with
 * virtual channels and ample buffers, in cycles from the last hand-over until the member farther
 * from the tree's root has the result:
 *
 *     first(c) + d (esp + hop(c)) + esp  +  d (hop(k) + esp) + first(k)
 *
 *     first(f) = 2 + pipeline + 1 + f - 1                      between a host and its processor
 *     hop(f) = 2 + pipeline + wire + pipeline + 1 + f - 1      from one processor to the next
 *     c, k: flits of a COLLECT, and of a CAST with 8 octets (none: a barrier)
 *     esp: cycles per instruction
 *
 * since d + 1 routers compute on the way up and d copy on the way down.
 */
#ifndef LEAT_NET_ESP_H
#define LEAT_NET_ESP_H

#include "esp_gather.h"
#include "net.h"
#include "net_esp_tree.h"
#include "sim_collect.h"
#include "sim_post.h"

enum {
    LEAT_NET_ESP_CYCLES_DEFAULT = 20, /* our guess: a local memory, eight lines of two buckets */
    LEAT_NET_ESP_CYCLES_MAX = 1 << 20,
    LEAT_NET_ESP_SLOTS_MAX = 1 << 24,
    LEAT_NET_ESP_ROUTERS_MAX = 4096,
    LEAT_NET_ESP_PORTS_MAX = 1 << 16,
    LEAT_NET_ESP_GROUPS_MAX = 16,
    LEAT_NET_ESP_WORDS_MAX = 64,
    LEAT_NET_ESP_OCTETS_MAX = 1 << 16,
    LEAT_NET_ESP_PACKETS_EACH = 256, /* that processors and hosts hold, on average; more are lost */
};

struct leat_net_esp_config {
    uint32_t cycles; /* per instruction; 0: no ESP */
    uint32_t slots;  /* of a router's store, for a binding each; 0: the default */
    leat_time tau;   /* of bindings; 0: the default */
};

struct leat_net_port_config;
struct leat_net_esp_packet;
struct leat_net_esp_queue;
struct leat_net_esp_processor;
struct leat_net_esp_sender;
struct leat_net_esp_group;

struct leat_net_esp {
    struct leat_net_esp_config config;
    const struct leat_net_port_config *port;
    struct leat_net *net;
    struct leat_port_net *base;
    struct leat_sim_collect collect;
    struct leat_sim_post future;              /* only its plans */
    struct leat_net_esp_group *group;         /* [groups_max] */
    struct leat_net_esp_sender *sender;       /* [groups_max * ports] */
    struct leat_net_esp_processor *processor; /* [routers] */
    struct leat_net_esp_queue *queue;         /* [terminals] */
    struct leat_net_esp_packet *packet;       /* [packets_max] */
    uint32_t packets_max, free, top; /* free list, + 1; from `top` on they were never used */
    struct leat_net_esp_search search;
    uint8_t *store_memory;
    size_t store_size; /* octets of each router's */
    uint32_t chunk;    /* octets of a cast in one packet, at most */
    uint64_t now;      /* the present cycle */
    uint64_t serials;  /* of groups and packets so far */
    leat_time news_at; /* the time of news in `collect` */
    bool is_dead;      /* the network is deadlocked */
};

/* Can routers of this topology, which has no processors yet, have ESP? */
leat_err leat_net_esp_check(const struct leat_net_topology *topology,
                            const struct leat_net_esp_config *config, struct leat_text *why);

#endif
