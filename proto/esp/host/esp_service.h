/*
 * The root of a group: learns its members from their JOINs, announces a computation to them and
 * collects the result. Pure: time comes in by argument, packets go out as values, one at a time.
 *
 *   idle --begin--> computing --answer--> ended          void: an E came (robust), or the count is
 *                    ^   |                               not that of the members (robust)
 *                    |   +--void, no answer in time--+   late: the end of the schedule, no answer
 *                    +-------- next attempt ---------+
 *                                    (new computation)
 *   tree:  computing --end of the rounds--> querying --all members placed, or tau is over--> ended
 *   multicast: as a tree, then installing --all branch points have answered--> ended
 *
 * A root need not be a router, and several routers may be attached to it. It therefore runs the
 * instruction core on a store of its own, as if it were the last node of every route (DECISION). In
 * any topology, down to members on the root's own link with no router between, its store folds what
 * arrives there, and the packet that its own store passes is the answer.
 *
 * One attempt, starting at T; settle is the maximum time in flight between root and member, in
 * either direction:
 *
 *   T                      act_at                        collect_at                     end_at
 *   | announcements, settle | rounds, gaps   | 2 settle  | rounds, gaps  | 2 settle     |
 *   |-----------------------|----------------------------|------------------------------|
 *                           COUNT, COMPARE, RCHLD         COLLECT, RCOLLECT
 *
 * A member acts on the announcement that it received, at most `settle` late, and its packet takes
 * at most `settle`. All nodes therefore know all their children before the first value is
 * collected. From act_at to end_at is at most tau, so that no binding expires before its
 * computation ends; begin refuses a longer schedule.
 *
 * Membership in a keyed group. The MAC of a JOIN proves that a member made it at some time; the
 * root itself checks that it is not a copy:
 *
 *   address     is the sender's address                  else forged: dropped, no answer
 *   known       serial above the last one               else replayed: dropped
 *   not known   challenge is the root's for this        else unproven: a WELCOME brings the
 *               member at this address                  challenge, the member's next JOIN has it;
 *                                                       answered before: replayed, dropped
 *
 * The challenge is a hash with a key that the root drew when it started. No unproven member is
 * stored, and recordings from before the root's restart are worthless. The challenge changes
 * whenever a member is forgotten, and with it the serial up to which its packets are copies.
 *
 * Each JOIN is answered once: a member whose WELCOME is lost sends another. Copies, however many,
 * thus consume no WELCOMEs, and nobody without the key can make anything but copies. The answered
 * JOINs are recorded as bits in rows, at four places given by a secret hash. A JOIN whose four
 * places are already marked by others is taken for a copy (1 of 400 when the rows are full, and
 * then they are cleared); the member's next JOIN has other places.
 */
#ifndef LEAT_ESP_SERVICE_H
#define LEAT_ESP_SERVICE_H

#include "esp_duplicate.h"
#include "esp_map.h"
#include "esp_member.h"
#include "esp_node.h"
#include "esp_roster.h"
#include "leat_text.h"
#include <leat/random.h>

enum {
    LEAT_ESP_ATTEMPTS_MAX = 64,
    LEAT_ESP_ANNOUNCEMENTS_MAX = 1024, /* copies of one announcement */
    LEAT_ESP_ROUNDS_DEFAULT = 8,
    LEAT_ESP_SHARD_MEMBERS = 16, /* per shard, at the largest number of shards */
    LEAT_ESP_WELCOMES_MAX = 64,  /* WELCOMEs pending; a member that gets none asks again */
    LEAT_ESP_WELCOMES_PER_S = 4096,
    /* Where JOINs are believed: */
    LEAT_ESP_WELCOMES_PER_SOURCE = 256, /* and second, for the addresses of one class */
    LEAT_ESP_WELCOME_CLASSES = 256,     /* classes of addresses, by a hash that nobody can aim at */
    /* Where they are not: JOINs that were answered */
    LEAT_ESP_MARK_ROWS = 4,
    LEAT_ESP_MARK_PLACES = 1 << 16, /* bits in a row */
    LEAT_ESP_MARKED_MAX = 1 << 14,
    LEAT_ESP_WAVE_MAX = 64,  /* tree: members queried at a time */
    LEAT_ESP_CAST_HOPS = 64, /* depth of nested branch points */
};

struct leat_esp_service_config {
    uint64_t group;
    struct leat_esp_node node;      /* the root's own store; tau in ps, that of all nodes */
    uint64_t seed;                  /* seed of computation IDs; others must not guess it */
    const uint8_t *computation_key; /* lent; nodes that accept keyed IDs only have it. NULL: none */
    uint32_t members_max;           /* 1 .. LEAT_ESP_ROSTER_MAX */
    uint32_t nodes_max;             /* of a tree map, the root included; 0: no map */
    uint32_t own_groups;            /* of the root's own store, a power of two; 0: one */
    uint64_t serial; /* announcement serials continue from here: above all before a restart */
    bool welcomes;   /* JOINs are answered */
    const uint8_t *challenge_key; /* lent, drawn when the root starts; NULL: JOINs are believed */
};

/* A computation of an attempt. */
struct leat_esp_computing {
    uint64_t computation;
    struct leat_esp_part part;
    uint32_t members; /* that compute in it */
    bool is_answered;
    uint64_t val;
};

enum leat_esp_service_state {
    LEAT_ESP_SERVICE_IDLE,
    LEAT_ESP_SERVICE_COMPUTING,
    LEAT_ESP_SERVICE_QUERYING,
    LEAT_ESP_SERVICE_INSTALLING,
    LEAT_ESP_SERVICE_ENDED,
};

struct leat_esp_service {
    struct leat_esp_service_config config;
    struct leat_esp_roster roster;
    struct leat_esp_map map; /* of the last tree */
    struct leat_random random;
    struct leat_esp_store own;
    enum leat_esp_service_state state;
    struct leat_esp_request request;
    struct leat_esp_service_result result;
    uint64_t refused;      /* JOINs without room, or for another group */
    uint64_t forged;       /* JOINs and farewells whose address is not the sender's */
    uint64_t replayed;     /* ... whose serial is not above the last one, or that were answered */
    uint64_t unproven;     /* ... of an unknown member, without the challenge */
    uint64_t unanswered;   /* of these, JOINs for which no WELCOME was left */
    leat_time doubt_until; /* until then, the senders of those may exist without being known */
    uint64_t serial;       /* serial of the last announcement or cast */
    struct leat_esp_post welcome[LEAT_ESP_WELCOMES_MAX];
    uint32_t welcomes;
    leat_time welcome_s; /* the second that these counts belong to */
    uint32_t welcomed, welcomed_class[LEAT_ESP_WELCOME_CLASSES];
    uint8_t mark[LEAT_ESP_MARK_ROWS][LEAT_ESP_MARK_PLACES / 8];
    uint32_t marked; /* JOINs */

    /* The current attempt. Each member computes in one shard, drawn anew for each attempt; a shard
     * has a computation for each part of a value. */
    struct leat_esp_computing *computing; /* [shards][parts] */
    uint32_t shards, parts, computings;
    uint32_t missing; /* computations without an answer */
    bool is_crowded;  /* a store had no room for a child */
    leat_time began_at, act_at, collect_at, end_at;
    bool is_cast; /* announcements go through duplicates */
    uint64_t first_serial;
    uint32_t copy, next; /* the next announcement: which copy, and which member of it */
    /* tree: the current wave of queries */
    uint64_t nonce;     /* nonce of the first member's query, that of the n-th is n more */
    leat_time wave_at;  /* when the next wave begins */
    uint32_t wave_list; /* next list to be asked for its rest */
    uint32_t wave_node; /* next node to be sent an INSTALL */
    uint32_t wave_member, wave_seen, wave_stride; /* next member; every stride-th unplaced */
    uint32_t waves;
    /* What is installed: the points of the map, for the first members of the roster. */
    leat_time cast_until; /* 0: nothing */
    uint32_t cast_members, cast_moves;
};

size_t leat_esp_service_footprint(const struct leat_esp_service_config *config);

/* `memory`: aligned for any object, lent for good. */
void leat_esp_service_init(struct leat_esp_service *service,
                           const struct leat_esp_service_config *config, void *memory);

/* A JOIN or farewell with the right MAC arrived from `from`. False: it was refused, and counted. */
bool leat_esp_service_join(struct leat_esp_service *service, leat_time now,
                           const struct leat_esp_next *from, const struct leat_esp_join *join);

/*
 * Starts a request and abandons the previous one. RANGE: a number of the request is outside its
 * limits, or the schedule takes longer than tau, with the reason in `why`; FULL: there are no
 * members, or there is no room for a map. On error nothing has changed.
 */
leat_err leat_esp_service_begin(struct leat_esp_service *service, leat_time now,
                                const struct leat_esp_request *request, struct leat_text *why);

/* From act_at to end_at: must not exceed tau. */
leat_time leat_esp_request_span(const struct leat_esp_request *request);

/* An instruction for this host arrived. */
void leat_esp_service_receive(struct leat_esp_service *service, leat_time now,
                              const struct leat_esp_words *words);

/* A REPLY to a query about this computation arrived. */
void leat_esp_service_reply(struct leat_esp_service *service, const struct leat_esp_next *from,
                            uint64_t computation, const struct leat_esp_reply *reply);

/* An INSTALLED arrived. */
void leat_esp_service_installed(struct leat_esp_service *service,
                                const struct leat_esp_installed *installed);

/* The last MULTICAST again, for the same tree: its entries live this long from now on; 0: they
 * end. */
void leat_esp_service_renew(struct leat_esp_service *service, leat_time now, uint32_t lifetime_ms);

/* A packet that is due by `now`; false: there is none. */
bool leat_esp_service_next(struct leat_esp_service *service, leat_time now,
                           struct leat_esp_post *post);

/* When to call next again unless something arrives first; LEAT_NEVER: it has ended. */
leat_time leat_esp_service_wake_at(const struct leat_esp_service *service);

#endif
