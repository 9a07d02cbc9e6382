/*
 * Collective operations of groups of hosts (leat/port.h), over several SANs: each SAN by its own
 * means, half-routers join the parts.
 *
 *          SAN a              router                SAN b, the root               SAN c
 *     host, host, ...  half-router|half-router  host, half-router|half-router  host, host, ...
 *       `--- fold -------> part ----> part ----- fold ---- part <--- part <------ fold ---'
 *       .--- cast ------- result <-- result <------------> result -> result ----- cast ---.
 *
 * A group has a tree of SANs: shortest paths to the root, which is the SAN with members from which
 * the farthest one is nearest; of several the first. In each of them the local members and the
 * half-routers on the tree have a seat, and are a group of that SAN.
 *
 *   fold   Each SAN folds the words of its members and of the SANs below it. Its half-router gets
 *          that part, and carries it to the SAN above. (All others get it too, to no use.) The root
 *          has the result; half-routers carry it down, and cast it in each SAN.
 *   cast   Within the root's SAN it is a cast; half-routers carry it on and cast it in the others.
 *
 * A SAN without means, or without members, uses messages of one packet: for a fold to one seat,
 * which is its half-router towards the root, or else its first one; from there, or from the root
 * of a cast, one to each of the others.
 *
 * Times: a host needs host_ps to hand over its part, or for each message. Half-routers carry a part
 * like a packet: a decision (planned_ps or address_ps), link_ps, a decision of the twin. The rest
 * is what the SANs take. Parts have room of their own in half-routers, apart from `buffer`.
 *
 * An operation whose message is lost, or whose half-router is down or detects errors, still takes
 * its course, so that nobody waits for ever: half-routers pass on that it has failed. Members that
 * get no sound result are told so.
 */
#ifndef LEAT_SIM_PACKETWAY_COLLECT_H
#define LEAT_SIM_PACKETWAY_COLLECT_H

#include "sim_collect.h"

enum {
    LEAT_SIM_PACKETWAY_COLLECT_GROUPS = 16, /* or less, as the SANs have it */
    LEAT_SIM_PACKETWAY_COLLECT_WORDS = 256,
    LEAT_SIM_PACKETWAY_COUNT_LEN = 2, /* of words, before a message in captures */
};

/* A port of a SAN in a group: a member's, or a half-router's. In a SAN with means it hands over
 * parts of local operations, one after the other. A fold is two of them, except in the root SAN:
 * the second one casts the result. */
struct leat_sim_packetway_seat {
    uint32_t node;
    uint32_t place;    /* + 1: of the member; 0: a half-router */
    uint32_t missing;  /* parts of other SANs that a half-router waits for */
    uint64_t next;     /* the operation of its present local part, or its next one */
    leat_time free_at; /* not before: SANs may be ahead of each other */
    bool is_second;    /* and it is the cast of a result */
    bool is_busy;      /* that part is handed over */
    bool is_planned;   /* it will be */
    bool is_folding;   /* it is one of a fold ... */
    bool is_casting;   /* ... or the root's of a cast */
    bool has_word;
    /* by operation: bits 1 << is_second of local parts that may be handed over */
    uint8_t due[LEAT_SIM_COLLECT_WINDOW];
};

/* A SAN in a group's tree. */
struct leat_sim_packetway_branch {
    bool is_used;
    uint32_t parent;     /* a SAN; the root's is itself */
    uint32_t up, hub;    /* seats: its half-router towards the parent, and the twin there */
    uint32_t first, end; /* seats */
    uint32_t local;      /* a group of the SAN; 0: messages */
    /* by operation: */
    uint32_t missing[LEAT_SIM_COLLECT_WINDOW]; /* parts that a fold by messages waits for */
    bool has_failed[LEAT_SIM_COLLECT_WINDOW];  /* what there is of it here is of no use */
};

/* An operation in progress. */
struct leat_sim_packetway_course {
    uint64_t number; /* + 1; 0: none yet */
    uint8_t *packet; /* of its result or octets, once has_packet */
    uint32_t packet_len;
    bool has_word, has_packet;
};

struct leat_sim_packetway_tree {
    uint32_t root; /* a SAN */
    uint32_t seats;
    struct leat_sim_packetway_course course[LEAT_SIM_COLLECT_WINDOW];
};

struct leat_sim_packetway_collect {
    struct leat_sim_collect base;
    struct leat_sim_packetway_tree *tree;     /* [groups] */
    struct leat_sim_packetway_branch *branch; /* [groups][sans] */
    struct leat_sim_packetway_seat *seat;     /* [groups][nodes] */
    uint32_t *seat_of;                        /* [groups][ports]: by place of a member */
    uint64_t *word;                           /* [groups][nodes][words_max] */
    uint8_t *part;                            /* [groups][nodes][part_len]: messages of folds */
    uint8_t *sink;                            /* [octets_max]: what casts bring, for comparison */
    uint32_t part_len, packet_len;            /* at most */
    uint8_t *shown;                           /* [COUNT_LEN + packet_len]: for recordings */
};

#endif
