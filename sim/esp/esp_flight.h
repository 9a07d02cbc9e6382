/*
 * Packets in flight, and timers: the next event. The order of all events is (time, to, from,
 * number): neither insertion order nor addresses affect it. A timer is an event from an entity to
 * itself; one that is added for the present time comes after the existing events.
 *
 *   moment   (time, list of events)       found by its time in a table; a heap has the earliest on
 *     |                                   top. Packets that leave together arrive together, so
 *   event -> event -> event               there are far fewer moments than events
 *
 *   present  [event][event] ...           those of the present moment, in order
 *   letter   [0][1][2] ...                from, number, contents of a packet; a free list
 *   reply    [0][1][2] ...                reports of nodes: long and rare
 */
#ifndef LEAT_ESP_FLIGHT_H
#define LEAT_ESP_FLIGHT_H

#include "esp_post.h"
#include <leat/time.h>

enum { LEAT_SIM_ESP_FLIGHTS_MAX = 1 << 26 };

/* No letter: a timer. */
#define LEAT_SIM_ESP_NO_LETTER UINT32_MAX

struct leat_sim_esp_flight {
    leat_time at;
    uint32_t to, from; /* entities */
    uint64_t number;   /* among those sent by `from`; one packet has one number on one hop */
    uint32_t letter;
};

/* The contents of a packet. */
struct leat_sim_esp_letter {
    uint64_t number; /* of its current flight, as is `from` */
    uint32_t from;
    uint32_t origin, target; /* the end systems */
    struct leat_esp_post post;
    uint32_t reply;     /* of a REPLY; copies share it */
    uint32_t next_free; /* + 1 */
};

struct leat_sim_esp_reply {
    struct leat_esp_reply reply;
    uint32_t letters;   /* that refer to it */
    uint32_t next_free; /* + 1 */
};

/* An event of a moment. */
struct leat_sim_esp_event {
    uint32_t to, letter;
};

struct leat_sim_esp_listed {
    struct leat_sim_esp_event event;
    uint32_t next; /* + 1, of the same moment or free */
};

struct leat_sim_esp_moment {
    leat_time at;
    uint32_t last;  /* + 1; 0: unused */
    uint32_t count; /* of its events */
};

struct leat_sim_esp_flights {
    uint32_t count, cap;                /* events */
    struct leat_sim_esp_moment *moment; /* [mask + 1] open addressing by time, half full at most */
    leat_time *heap;                    /* [cap] times of moments */
    uint32_t moments, mask;
    struct leat_sim_esp_listed *listed;           /* [cap] */
    struct leat_sim_esp_event *present, *scratch; /* [cap] */
    leat_time present_at;
    uint32_t present_next, present_count;
    uint32_t listed_free, listed_used;
    struct leat_sim_esp_letter *letter; /* [cap] */
    uint32_t free, used; /* letters: a free list, + 1; those from `used` on were never used */
    struct leat_sim_esp_reply *reply;
    uint32_t replies_cap, reply_free, reply_used;
};

/* At most so many events, and so many replies, at a time. */
size_t leat_sim_esp_flights_footprint(uint32_t cap, uint32_t replies_cap);
void leat_sim_esp_flights_init(struct leat_sim_esp_flights *flights, uint32_t cap,
                               uint32_t replies_cap, void *memory);

/* A new letter, or NO_LETTER: all are in flight. */
uint32_t leat_sim_esp_letter_take(struct leat_sim_esp_flights *flights);

/* A copy; NO_LETTER: none is left. */
uint32_t leat_sim_esp_letter_copy(struct leat_sim_esp_flights *flights, uint32_t letter);
void leat_sim_esp_letter_drop(struct leat_sim_esp_flights *flights, uint32_t letter);

/* Makes the letter a REPLY; returns where to write it. NULL: all are in flight. */
struct leat_esp_reply *leat_sim_esp_letter_reply(struct leat_sim_esp_flights *flights,
                                                 uint32_t letter);

/* Not before the last one taken (asserted). False: there are already `cap`. */
bool leat_sim_esp_flights_add(struct leat_sim_esp_flights *flights,
                              const struct leat_sim_esp_flight *flight);

/* The next event, if it is before `until`. */
bool leat_sim_esp_flights_take(struct leat_sim_esp_flights *flights, leat_time until,
                               struct leat_sim_esp_flight *out);

#endif
