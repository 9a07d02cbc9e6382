/*
 * A member of a group: joins at a root, hears what is to be computed, sends its part. Pure: time
 * comes in by argument, packets go out as values, one at a time.
 *
 *        JOIN, again and again                     the root forgets who is silent
 *   member ---------------------------> root
 *          <--------------------------- WELCOME    the challenge for the next JOIN
 *          <--------------------------- ANNOUNCE   an instruction, how often, when
 *          ---------------------------> the instruction, with this member's number and value
 *
 *   heard       delay    + interval  + interval
 *     |-----------|---------|---------|-------->
 *                round 1   round 2   round 3
 *
 * A root sends an announcement several times, later copies with less time to go; the first that
 * arrives counts, others of the same computation and phase are not heard again. What is announced
 * is bounded: a member keeps PLANS_MAX of them, the oldest gives way, and what is older than one
 * that gave way is not heard any more (by its serial).
 *
 * In a keyed group a root takes a JOIN of somebody new only if it has the challenge that the root
 * made for this member (esp_service.h): so a WELCOME that does not know the member is answered by a
 * JOIN at once. A member hears no announcement before its first WELCOME, and none from before that.
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
    LEAT_ESP_JOIN_LIFETIMES = 3, /* JOINs that may be lost before the root forgets */
};

struct leat_esp_member_config {
    uint64_t group;
    uint64_t id; /* of its own among all members, not 0: drawn at random */
    uint64_t value;
    leat_time join_every_ps; /* 0: it does not join by itself */
    bool is_keyed;           /* packets come with a MAC that only the group's key makes */
};

/* What was announced. */
struct leat_esp_plan {
    struct leat_esp_words words; /* as they will be sent */
    uint64_t serial;
    leat_time at, interval_ps; /* of the next round */
    uint32_t rounds;           /* to go */
    uint8_t phase;
};

struct leat_esp_member {
    struct leat_esp_member_config config;
    leat_time join_at;
    leat_time
        welcomed_at;    /* when the root last said that it knows this member; LEAT_NEVER: not yet */
    uint64_t serial;    /* of the last JOIN */
    uint64_t welcomed;  /* the highest serial of a JOIN that a WELCOME answered; 0: none yet */
    uint64_t challenge; /* of that WELCOME */
    uint64_t forgotten; /* the highest serial of what is past: of a plan that gave way, or of what
                           was announced before the first WELCOME */
    uint64_t refused;   /* announcements and WELCOMEs that made no sense, were for others or past */
    uint32_t plans;     /* in use */
    struct leat_esp_plan plan[LEAT_ESP_PLANS_MAX];
};

/* Its first JOIN is due at `now`. */
void leat_esp_member_init(struct leat_esp_member *member,
                          const struct leat_esp_member_config *config, leat_time now);

/* The value for what is announced from now on; what has been announced keeps the old one. */
void leat_esp_member_set(struct leat_esp_member *member, uint64_t value);

/* An ANNOUNCE came in, of this computation. False: nothing new, or not for this member. */
bool leat_esp_member_hear(struct leat_esp_member *member, leat_time now, uint64_t computation,
                          const struct leat_esp_announce *announce);

/* A WELCOME came in. False: a copy of an old one, or not for this member. */
bool leat_esp_member_welcome(struct leat_esp_member *member, leat_time now,
                             const struct leat_esp_welcome *welcome);

/* A packet for the root that is due by `now`, the earliest first; false: there is none. */
bool leat_esp_member_next(struct leat_esp_member *member, leat_time now,
                          struct leat_esp_post *post);

/* When there will be one; LEAT_NEVER: not before something is heard. */
leat_time leat_esp_member_wake_at(const struct leat_esp_member *member);

/* The JOIN that tells the root to forget this member. */
void leat_esp_member_leave(struct leat_esp_member *member, struct leat_esp_post *post);

/*
 * An instruction came in that has R: it is turned round and goes back where it came from
 * (spec/esp.md, "Holes", 5). False: it has no R, and this is its end.
 */
bool leat_esp_member_reflect(struct leat_esp_words *words);

#endif
