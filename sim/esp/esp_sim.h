/*
 * ESP routers in any graph: a root, members, and packets that are lost, duplicated or reordered
 * (spec/esp.md).
 *
 *   member --access--> router --wire--> router ... root's router --access--> root
 *   (esp_member.h)     (a store each,                                        (esp_service.h)
 *                       esp_core.h)
 *
 * Instructions travel towards the root by the shortest path (esp_paths.h), and every router on it
 * executes them at its centre store. Announcements and queries travel from the root to a member,
 * and duplicates of announcements from branch points on, once these are installed. Live hosts run
 * the same engines; time is in picoseconds. A link has a delay and carries any number of packets.
 * Its faults are drawn from the random stream of the sending entity, so that the same seed gives
 * the same run.
 *
 *   loss       the packet is lost
 *   duplicate  a second copy, with a fate of its own
 *   reorder    it takes up to reorder_ps longer, and later packets overtake it
 *
 * Entities: 0 the root, 1 + r router r, 1 + routers + m member m. Members have joined before the
 * run begins. The certificate covers all packets that reach an end system.
 */
#ifndef LEAT_ESP_SIM_H
#define LEAT_ESP_SIM_H

#include "esp_flight.h"
#include "esp_paths.h"
#include "esp_service.h"
#include "sim_certificate.h"

/* A probability is a fraction of 2^64; this is always. */
#define LEAT_SIM_ESP_ALWAYS UINT64_MAX

struct leat_sim_esp_config {
    struct leat_sim_esp_graph graph;
    uint32_t members;          /* 1 .. LEAT_ESP_ROSTER_MAX */
    const uint32_t *member_at; /* [members] routers, lent */
    const uint64_t *value;     /* [members], lent */
    leat_time access_ps;       /* delay of the links to hosts, 1 .. LEAT_SIM_ESP_DELAY_MAX */
    leat_time tau_ps;          /* 1 .. LEAT_ESP_TICKS_MAX */
    uint64_t loss, duplicate, reorder; /* probabilities, on every link */
    leat_time reorder_ps;              /* .. LEAT_SIM_ESP_DELAY_MAX */
    uint64_t seed;
    uint32_t groups;           /* of every store, a power of two: one computation is in one group */
    const uint32_t *groups_at; /* [routers] of each one's instead, lent; NULL: they are equal */
    uint32_t flights_max;      /* packets and timers at a time */
    uint32_t replies_max;      /* ... that are replies of nodes; 0: no tree will be requested */
    bool has_duplicates;       /* routers store some: else this network cannot MULTICAST */
};

/* Over links, including copies: a packet that passes three links is counted three times. */
struct leat_sim_esp_traffic {
    uint64_t packets;
    uint64_t per_link_max; /* in one direction */
};

struct leat_sim_esp_counts {
    uint64_t executed, stopped, aborted, full; /* at routers */
    uint64_t lost, duplicated, reordered;
    uint64_t events;
};

/* Sees an instruction that has reached the end system `host`, as it came. True: the run pauses
 * behind this event. Hosts are the root, 0, and member m, 1 + m. */
typedef bool leat_sim_esp_observer(void *context, uint32_t host, uint32_t from,
                                   const struct leat_esp_words *words);

/* Sees packets and stores; changes nothing. A link is a wire of the graph, or one of a host. */
struct leat_sim_esp_watch {
    void *context;
    /* A packet leaves for the next entity. */
    void (*sends)(void *context, uint32_t from, uint32_t to, uint32_t link, uint32_t letter);
    /* It has reached an end system. */
    void (*arrives)(void *context, uint32_t entity, uint32_t letter);
    /* A router is about to execute its instruction, and then has done so. */
    void (*executes)(void *context, uint32_t router, uint32_t letter, bool is_done,
                     enum leat_esp_verdict verdict);
};

struct leat_sim_esp {
    struct leat_sim_esp_config config;
    struct leat_sim_esp_paths paths;
    struct leat_sim_esp_flights flights;
    struct leat_esp_service service;
    struct leat_esp_member *member;         /* [members] */
    struct leat_esp_store *store;           /* [routers] */
    struct leat_esp_duplicates *duplicates; /* [routers], or none */
    struct leat_random *random;             /* [entities] */
    uint64_t *sent;                         /* [entities] packets */
    leat_time *armed;                       /* [entities] when it wakes; LEAT_NEVER: no timer */
    uint32_t *instructions, *messages;      /* [links] */
    leat_time now;
    bool is_full; /* more packets were in flight than there is room for: the run is invalid */
    bool is_paused;
    leat_sim_esp_observer *observer; /* or NULL */
    void *observer_context;
    const struct leat_sim_esp_watch *watch; /* NULL: nobody looks on */
    struct leat_sim_esp_counts counts;
    struct leat_sim_certificate certificate;
};

/* Is this network valid, including its paths? `why`: what is wrong, and what was expected. `memory`
 * has the footprint of the graph's paths and is only needed during the call. */
leat_err leat_sim_esp_check(const struct leat_sim_esp_config *config, void *memory,
                            struct leat_text *why);

/* Octets of memory for a checked config. */
size_t leat_sim_esp_footprint(const struct leat_sim_esp_config *config);

/* All members have joined; no query is active. `memory`: aligned for any object, lent for the
 * object's lifetime. */
void leat_sim_esp_init(struct leat_sim_esp *sim, const struct leat_sim_esp_config *config,
                       void *memory);

/* The maximum time that a packet may be in flight between the root and a member. */
leat_time leat_sim_esp_settle(const struct leat_sim_esp *sim);

/* The root starts a service now, like leat_esp_service_begin. */
leat_err leat_sim_esp_ask(struct leat_sim_esp *sim, const struct leat_esp_request *request,
                          struct leat_text *why);

/* Runs everything before `until`, or until the observer pauses it. False: no events are left. */
bool leat_sim_esp_run(struct leat_sim_esp *sim, leat_time until);

/* ---- packets of one's own, without a service ------------------------------------------------ */

/* All instructions that reach end systems from now on; NULL: none. */
void leat_sim_esp_observe(struct leat_sim_esp *sim, leat_sim_esp_observer *observer, void *context);

/* A host sends an instruction to another one, now. The routers on the route execute it; the host
 * that it reaches sends it back if it has R, with or without an observer. False: no room. */
bool leat_sim_esp_send(struct leat_sim_esp *sim, uint32_t from, uint32_t to,
                       const struct leat_esp_words *words);

/* Runs like leat_sim_esp_run; the time is then `until`, unless the observer has paused it. */
void leat_sim_esp_wait(struct leat_sim_esp *sim, leat_time until);

/* The traffic so far: of instructions, and of announcements, queries and replies. */
struct leat_sim_esp_traffic leat_sim_esp_instructions(const struct leat_sim_esp *sim);
struct leat_sim_esp_traffic leat_sim_esp_messages(const struct leat_sim_esp *sim);

/* Resets the counters. */
void leat_sim_esp_forget_traffic(struct leat_sim_esp *sim);

/* The router with this address; addresses are the numbers of entities. */
uint32_t leat_sim_esp_router_of(const struct leat_esp_next *address);

/* The traffic if every member sends its value to the root itself, once, without loss. */
struct leat_sim_esp_traffic leat_sim_esp_unicast(const struct leat_sim_esp *sim);

#endif
