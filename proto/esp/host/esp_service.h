/*
 * The root of a group: knows the members by their JOINs, announces a computation to them, hears
 * what comes of it. Pure: time comes in by argument, packets go out as values, one at a time.
 *
 *   idle --begin--> computing --answer--> ended          void: an E came (robust), or the count is
 *                    ^   |                               not that of the members (robust)
 *                    |   +--void, no answer in time--+   late: the end of the schedule, no answer
 *                    +-------- next attempt ---------+
 *                                    (new computation)
 *   tree:  computing --end of the rounds--> asking --all members placed, or tau is over--> ended
 *   multicast: as a tree, then installing --all branch points have answered--> ended
 *
 * A root need not be a router, and several routers may be joined to it. So it runs the instruction
 * core on a store of its own, as if it were the last node of every way (DECISION): whatever the
 * topology, down to members on the root's own link with no router between, its store folds what
 * comes together there, and the packet that its own store passes is the answer.
 *
 * One attempt, from its beginning at T; settle is the longest that a packet may be on its way
 * between root and member, in either direction:
 *
 *   T                      act_at                        collect_at                     end_at
 *   | announcements, settle | rounds, gaps   | 2 settle  | rounds, gaps  | 2 settle     |
 *   |-----------------------|----------------------------|------------------------------|
 *                           COUNT, COMPARE, RCHLD         COLLECT, RCOLLECT
 *
 * A member acts by the announcement that it heard, at most `settle` late, and its packet takes at
 * most `settle`: so all nodes have heard of all their children before the first value is collected.
 * From act_at to end_at is at most tau, so that no binding dies before its computation ends; begin
 * refuses what would take longer.
 *
 * Who is a member, in a keyed group. The MAC of a JOIN says that a member made it, once; that it is
 * no copy, the root sees for itself:
 *
 *   address     is the one that it came from            else forged: dropped, nobody is answered
 *   known       serial above the last one               else replayed: dropped
 *   not known   challenge is the root's for this        else unproven: a WELCOME brings the
 *               member at this address                  challenge, the member's next JOIN has it;
 *                                                       answered before: replayed, dropped
 *
 * The challenge is a hash, by a key that the root drew when it began: so no member is kept that has
 * not proved itself, and what was recorded before the root's restart is worth nothing. It changes
 * whenever a member is forgotten, and with it the serial up to which its packets are copies.
 *
 * Each JOIN is answered once: a member whose WELCOME is lost asks by another. So copies, however
 * many, use up no WELCOMEs, and nobody who lacks the key can make what is no copy. Which ones were
 * answered is kept as marks in rows of bits, at four places that a secret hash tells. A JOIN whose
 * four places others have marked is taken for a copy (1 of 400 where the rows are full, and then
 * they are cleared); the member's next one has other places.
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
    LEAT_ESP_ANNOUNCEMENTS_MAX = 64, /* copies of one */
    LEAT_ESP_ROUNDS_DEFAULT = 8,
    LEAT_ESP_WELCOMES_MAX = 64, /* that wait to be sent; who gets none asks again */
    LEAT_ESP_WELCOMES_PER_S = 4096,
    /* Where JOINs are believed: */
    LEAT_ESP_WELCOMES_PER_SOURCE = 256, /* and second, of those in an address's class */
    LEAT_ESP_WELCOME_CLASSES = 256,     /* of addresses, by a hash that nobody can aim at */
    /* Where they are not: JOINs that were answered */
    LEAT_ESP_MARK_ROWS = 4,
    LEAT_ESP_MARK_PLACES = 1 << 16, /* of a row */
    LEAT_ESP_MARKED_MAX = 1 << 14,
    LEAT_ESP_WAVE_MAX = 64,  /* tree: members asked at a time */
    LEAT_ESP_CAST_HOPS = 64, /* branch points one below the other */
};

struct leat_esp_service_config {
    uint64_t group;
    struct leat_esp_node node;      /* the root's own store; tau in ps, that of all nodes */
    uint64_t seed;                  /* of computation IDs; what others must not guess */
    const uint8_t *computation_key; /* lent; nodes that take keyed IDs only have it. NULL: none */
    uint32_t members_max;           /* 1 .. LEAT_ESP_ROSTER_MAX */
    uint32_t nodes_max;             /* of a tree map, the root included; 0: it makes none */
    uint32_t links_max;             /* of a tree map: children of all nodes */
    uint64_t serial;              /* announcements count on from here: above all before a restart */
    bool welcomes;                /* JOINs are answered */
    const uint8_t *challenge_key; /* lent, drawn when the root begins; NULL: JOINs are believed */
};

/* A computation of an attempt. */
struct leat_esp_computing {
    uint64_t computation;
    struct leat_esp_part part;
    bool is_answered;
    uint64_t val;
};

enum leat_esp_service_state {
    LEAT_ESP_SERVICE_IDLE,
    LEAT_ESP_SERVICE_COMPUTING,
    LEAT_ESP_SERVICE_ASKING,
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
    uint64_t refused;      /* JOINs for which there was no room, or that were for another group */
    uint64_t forged;       /* JOINs and farewells of another address than they came from */
    uint64_t replayed;     /* ... whose serial is not above the last one, or that were answered */
    uint64_t unproven;     /* ... of somebody not known, without the challenge */
    uint64_t unanswered;   /* of them, JOINs for which no WELCOME was left */
    leat_time doubt_until; /* who sent those may be there and not be known, before this time */
    uint64_t serial;       /* of the last announcement or cast */
    struct leat_esp_post welcome[LEAT_ESP_WELCOMES_MAX];
    uint32_t welcomes;
    leat_time welcome_s; /* the second that these are of */
    uint32_t welcomed, welcomed_class[LEAT_ESP_WELCOME_CLASSES];
    uint8_t mark[LEAT_ESP_MARK_ROWS][LEAT_ESP_MARK_PLACES / 8];
    uint32_t marked; /* JOINs */

    /* The present attempt. */
    struct leat_esp_computing computing[LEAT_ESP_PARTS_MAX];
    uint32_t computings;
    leat_time began_at, act_at, collect_at, end_at;
    bool is_cast; /* announcements go by duplicates */
    uint64_t first_serial;
    uint32_t copy, next; /* the next announcement: of which copy, and which of it */
    /* tree: the present wave of queries */
    uint64_t nonce;     /* of the first member's query, that of the n-th is n more */
    leat_time wave_at;  /* when the next one begins */
    uint32_t wave_node; /* next to be asked for the rest of its list */
    uint32_t wave_member, wave_seen, wave_stride; /* next to be asked; every stride-th unplaced */
    uint32_t waves;
    /* What is installed: the points of the map, for the first members of the roster. */
    leat_time cast_until; /* 0: nothing */
    uint32_t cast_members, cast_moves;
};

size_t leat_esp_service_footprint(const struct leat_esp_service_config *config);

/* `memory`: aligned for any object, lent for good. */
void leat_esp_service_init(struct leat_esp_service *service,
                           const struct leat_esp_service_config *config, void *memory);

/* A JOIN or farewell came from `from`, and its MAC is right. False: it was refused, and counted. */
bool leat_esp_service_join(struct leat_esp_service *service, leat_time now,
                           const struct leat_esp_next *from, const struct leat_esp_join *join);

/*
 * Asks, whatever was asked before. RANGE: a number of the request is outside its limits, or the
 * schedule takes longer than tau, with the reason in `why`; FULL: there are no members, or
 * there is no room for a map. Then nothing has changed.
 */
leat_err leat_esp_service_begin(struct leat_esp_service *service, leat_time now,
                                const struct leat_esp_request *request, struct leat_text *why);

/* From act_at to end_at: what must not be longer than tau. */
leat_time leat_esp_request_span(const struct leat_esp_request *request);

/* An instruction came in for this host. */
void leat_esp_service_hear(struct leat_esp_service *service, leat_time now,
                           const struct leat_esp_words *words);

/* A REPLY to a query came in, about this computation. */
void leat_esp_service_reply(struct leat_esp_service *service, const struct leat_esp_next *from,
                            uint64_t computation, const struct leat_esp_reply *reply);

/* An INSTALLED came in. */
void leat_esp_service_installed(struct leat_esp_service *service,
                                const struct leat_esp_installed *installed);

/* A packet that is due by `now`; false: there is none. */
bool leat_esp_service_next(struct leat_esp_service *service, leat_time now,
                           struct leat_esp_post *post);

/* When to call next again, if nothing comes in before; LEAT_NEVER: it has ended. */
leat_time leat_esp_service_wake_at(const struct leat_esp_service *service);

#endif
