/*
 * A member of a group: joins at a root, receives announcements, sends its contribution. Pure: time
 * comes in by argument, packets go out as values, one at a time.
 *
 *        JOIN, again and again                     the root forgets who is silent
 *   member ---------------------------> root
 *          <--------------------------- WELCOME    the challenge for the next JOIN
 *          <--------------------------- ANNOUNCE   an instruction, how often, when
 *          ---------------------------> the instruction, with this member's number and value
 *
 *  received     delay    + interval  + interval
 *     |-----------|---------|---------|-------->
 *                round 1   round 2   round 3
 *
 * A root sends an announcement several times, later copies with less delay left. The first copy
 * that arrives counts; others of the same computation and phase are ignored. The state is bounded:
 * a member keeps PLANS_MAX announcements and evicts the oldest; anything older than an evicted one
 * (by its serial) is ignored.
 *
 * In a keyed group a root accepts a JOIN of a new member only with the challenge that it made for
 * this member (esp_service.h). The member therefore answers a WELCOME without KNOWN with a JOIN at
 * once. It ignores announcements before its first WELCOME, and any older than that.
 *
 *   memory: none beyond the struct
 *
 *   while (leat_esp_member_next(m, now, &post)) send(post) to the root;
 *   wait until leat_esp_member_wake_at(m), or until a packet comes
 */
#ifndef LEAT_ESP_MEMBER_H
#define LEAT_ESP_MEMBER_H

#include "esp_part.h"
#include "esp_post.h"
#include <leat/time.h>

enum {
    LEAT_ESP_PLANS_MAX = 8,
    LEAT_ESP_ROUNDS_MAX = 64,
    LEAT_ESP_JOIN_LIFETIMES = 3, /* JOINs that may be lost before the root forgets the member */
};

struct leat_esp_member_config {
    uint64_t group;
    uint64_t id;    /* unique among all members, not 0: drawn at random */
    uint64_t value; /* may change: for future announcements, earlier ones keep the old value */
    leat_time join_every_ps; /* 0: it does not join by itself */
    bool is_keyed;           /* packets carry a MAC that only the group's key makes */
};

/* An announcement. */
struct leat_esp_plan {
    struct leat_esp_words words; /* as it will be sent */
    uint64_t serial;
    leat_time at, interval_ps; /* time of the next round */
    uint32_t rounds;           /* to go */
    uint8_t phase;
};

struct leat_esp_member {
    struct leat_esp_member_config config;
    leat_time join_at;
    leat_time welcomed_at; /* when the root last confirmed this member; LEAT_NEVER: not yet */
    uint64_t serial;       /* serial of the last JOIN */
    uint64_t welcomed;     /* the highest serial of a JOIN that a WELCOME answered; 0: none yet */
    uint64_t challenge;    /* of that WELCOME */
    uint64_t forgotten; /* the highest serial that is past: of an evicted plan, or announced before
                         * the first WELCOME */
    uint64_t refused;   /* announcements and WELCOMEs that were malformed, for others or past */
    uint32_t plans;     /* in use */
    struct leat_esp_plan plan[LEAT_ESP_PLANS_MAX];
};

/* Its first JOIN is due at `now`. */
void leat_esp_member_init(struct leat_esp_member *member,
                          const struct leat_esp_member_config *config, leat_time now);

/* An ANNOUNCE of this computation arrived. False: nothing new, or not for this member. */
bool leat_esp_member_announced(struct leat_esp_member *member, leat_time now, uint64_t computation,
                               const struct leat_esp_announce *announce);

/* A WELCOME arrived. False: an old copy, or not for this member. */
bool leat_esp_member_welcome(struct leat_esp_member *member, leat_time now,
                             const struct leat_esp_welcome *welcome);

/* A packet for the root that is due by `now`, earliest first; false: there is none. */
bool leat_esp_member_next(struct leat_esp_member *member, leat_time now,
                          struct leat_esp_post *post);

/* When the next one is due; LEAT_NEVER: not before something arrives. */
leat_time leat_esp_member_wake_at(const struct leat_esp_member *member);

/* The JOIN that tells the root to forget this member. */
void leat_esp_member_leave(struct leat_esp_member *member, struct leat_esp_post *post);

#endif
