/*
 * The members that a root knows: every host that sent a JOIN recently. Soft state, bounded: the
 * next JOIN from the same address renews an entry; without one it expires.
 *
 *   entry   [0][1][2] ...                 in order of arrival
 *   index   address -> entry              open addressing, at most half full
 *
 * Memory is the caller's: footprint, then init. Pure.
 */
#ifndef LEAT_ESP_ROSTER_H
#define LEAT_ESP_ROSTER_H

#include "esp_query.h"
#include <leat/time.h>
#include <string.h>

/* A count of members fits 20 bits, so that three parts of 24 bits hold any value (esp_part.h). */
enum { LEAT_ESP_ROSTER_MAX = (1 << 20) - 1 };

struct leat_esp_roster_entry {
    struct leat_esp_next address;
    uint64_t id;     /* the member's own id; its RCHLDs carry a mix of it */
    uint64_t serial; /* serial of its last JOIN or farewell */
    leat_time until; /* known until this time */
};

struct leat_esp_roster {
    struct leat_esp_roster_entry *entry; /* [cap] */
    uint32_t *index;                     /* [mask + 1] entry + 1; 0: nothing */
    uint32_t count, cap, mask;
    uint32_t moves;     /* how often entries have moved */
    uint64_t forgotten; /* increases whenever a member's last serial is forgotten */
};

/* Places in an index that is at most half full: a power of two. */
static inline uint32_t leat_esp_places(uint32_t entries)
{
    uint32_t places = 2;
    while (places < 2 * entries)
        places *= 2;
    return places;
}

static inline bool leat_esp_next_equal(const struct leat_esp_next *a, const struct leat_esp_next *b)
{
    return a->port == b->port && memcmp(a->address, b->address, sizeof a->address) == 0;
}

size_t leat_esp_roster_footprint(uint32_t cap);

/* `memory`: aligned for any object, lent for good. 1 <= cap <= LEAT_ESP_ROSTER_MAX (asserted). */
void leat_esp_roster_init(struct leat_esp_roster *roster, uint32_t cap, void *memory);

/* The entry of an address, even if expired; NULL: there is none. */
const struct leat_esp_roster_entry *leat_esp_roster_find(const struct leat_esp_roster *roster,
                                                         const struct leat_esp_next *address);

/* A JOIN arrived: known until `until`. False: there is no room. */
bool leat_esp_roster_join(struct leat_esp_roster *roster, const struct leat_esp_next *address,
                          uint64_t id, uint64_t serial, leat_time until);

/* The member leaves: its entry expires now. Its serial stays until it is forgotten; the serial of
 * an unknown member is forgotten at once. */
void leat_esp_roster_leave(struct leat_esp_roster *roster, const struct leat_esp_next *address,
                           uint64_t id, uint64_t serial);

/* Forgets expired entries; entries move then, and only then. */
void leat_esp_roster_expire(struct leat_esp_roster *roster, leat_time now);

#endif
