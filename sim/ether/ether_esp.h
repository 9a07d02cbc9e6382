/*
 * ESP in the switch of an Ethernet: a processor with an ephemeral store (proto/esp) carries out the
 * collective operations of leat/port.h, which groups of stations ask for.
 *
 *     station ==COLLECT==> | processor: one frame after the other, | ==CAST==> each member
 *     station ==COLLECT==> | so many bit times each                |
 *
 * ESP packets are frames of the type that live stations use (0x88B5), and go first: a station sends
 * one as soon as its cable is free.
 *
 *   fold   Each member sends a COLLECT for each word; a barrier has one. The switch knows how many
 *          members there are (esp_gather.h). The last one's COLLECT makes a CAST to each.
 *   cast   The root's octets are cut into CASTs that fill a frame; the processor copies each of
 *          them to the other members.
 *
 * A station sends the next packet of a part when the processor is done with the one before: so the
 * processor holds at most one of each member and group. Copies have room of their own in the
 * outputs, and leave in the order in which they were made, among other frames. Contention-free,
 * they wait for nothing.
 *
 * Nothing is lost. But a store may be full, or members may come further apart than bindings live:
 * when the processor is done with all packets of a fold and there is no total, it fails for all
 * members, after the network's latency. New computation IDs follow, and also when the old ones are
 * older than half the life of a binding.
 *
 * In an idle network, from the last hand-over of n members that come at the same time until all
 * have one word, of frames of u octets up and d down:
 *
 *     8 u + n esp + 8 d bit times
 */
#ifndef LEAT_ETHER_ESP_H
#define LEAT_ETHER_ESP_H

#include "esp_gather.h"
#include "sim_clock.h"
#include "sim_collect.h"
#include "sim_post.h"

enum {
    LEAT_SIM_ETHER_ESP_CYCLES_DEFAULT = 20, /* bit times per instruction */
    LEAT_SIM_ETHER_ESP_CYCLES_MAX = 1 << 20,
    LEAT_SIM_ETHER_ESP_GROUPS = 16,
    LEAT_SIM_ETHER_ESP_WORDS_MAX = 64,
    LEAT_SIM_ETHER_ESP_OCTETS_MAX = 1 << 16,
    LEAT_SIM_ETHER_ESP_PAYLOAD_MIN = 128, /* of a frame: a COLLECT fits, or a CAST of some words */
};

/* A member's part: packets that it has still to send. */
struct leat_sim_ether_esp_sender {
    uint32_t next, count;
    bool is_out;   /* its packet is on the cable, or at the processor */
    uint32_t link; /* + 1: the next one at the processor */
};

struct leat_sim_ether_esp_operation {
    uint64_t number;      /* + 1; 0: none */
    uint64_t computed;    /* packets that the processor is done with */
    uint32_t packets;     /* of a part */
    uint32_t words_known; /* totals */
    uint32_t *missing;    /* [stations] by place: packets that are not on their way to it */
};

struct leat_sim_ether_esp_group {
    uint64_t serial, epoch;
    leat_time epoch_began;
    struct leat_sim_ether_esp_operation op[LEAT_SIM_COLLECT_WINDOW];
};

struct leat_sim_ether_esp {
    struct leat_sim_collect collect;
    struct leat_sim_post future; /* only its plans */
    struct leat_esp_store store;
    struct leat_sim_ether_esp_group *group;   /* [groups_max] */
    struct leat_sim_ether_esp_sender *sender; /* [groups_max * stations] */
    uint32_t first, last;                     /* senders + 1 whose packets are at the processor */
    uint64_t serials;                         /* of groups */
    uint32_t chunk;                           /* octets of a cast in one frame, at most */
    void *store_memory;
};

#endif
