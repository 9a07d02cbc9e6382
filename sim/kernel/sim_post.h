/*
 * What the ports of all networks share (leat/port.h): the messages in flight, future events by
 * time, and callbacks to make, by port.
 *
 *     accept     a message is in flight: it has an entry
 *     plan, plan, ... take the first        note, note, ... report: port by port, arrivals
 *     a heap                                before departures; then finished entries are freed
 *
 * The owner's entries are of its own type, which begins with a struct leat_sim_letter.
 */
#ifndef LEAT_SIM_POST_H
#define LEAT_SIM_POST_H

#include "leat_arena.h"
#include "sim_certificate.h"
#include <leat/port.h>

struct leat_sim_plan {
    uint64_t at;   /* in the owner's time */
    uint64_t call; /* the order of plans with the same time */
    uint32_t entry;
    uint32_t step; /* the owner's code for what to do */
};

/* A callback to make: the message of an entry has left its port, or has ended. */
struct leat_sim_news {
    uint64_t order; /* port << 32 | sent << 31 | order of note() */
    uint32_t entry;
};

/* A message in flight. */
struct leat_sim_letter {
    struct leat_port_message message;
    uint64_t call;   /* the order of accept() */
    uint64_t number; /* among the messages of its port; set by the owner */
    const char *why; /* why it is lost, or NULL */
    uint32_t next;   /* + 1: link of the owner's lists, or of the free list */
    uint32_t held;   /* by the owner, who frees it when it has ended and this is 0 */
    bool has_ended;  /* and was reported */
};

struct leat_sim_post {
    struct leat_port_net *net;
    void *entry; /* [entries_max], each of entry_size octets */
    size_t entry_size;
    uint32_t entries_max;
    uint32_t free, top;         /* free list, + 1; entries from `top` on were never used */
    struct leat_sim_plan *plan; /* a heap, the earliest on top */
    uint32_t plans;
    struct leat_sim_news *event;
    uint32_t events;
    bool has_head; /* one was reported since begin() */
    uint64_t calls;
    bool is_certified; /* what ends now was added to the certificate before (sim_replay.h) */
    struct leat_sim_certificate certificate;
};

/* Lays out all arrays for so many messages in flight; returns the entries. */
void *leat_sim_post_lay(struct leat_sim_post *post, struct leat_arena *arena, uint32_t entries_max,
                        size_t entry_size, size_t plans_max);

/* After lay, in zeroed memory. `net` is lent for the lifetime of `post`. */
void leat_sim_post_init(struct leat_sim_post *post, struct leat_port_net *net);

/* For leat_port_ops.send: a new entry, zeroed except for its letter. False: none is free. */
bool leat_sim_post_accept(struct leat_sim_post *post, const struct leat_port_message *message,
                          leat_time at, uint32_t *entry);

/* Puts it at the end of a list of the owner, of entries + 1. */
void leat_sim_post_append(struct leat_sim_post *post, uint32_t entry, uint32_t *first,
                          uint32_t *last);

/* Returns the entry to the free list. */
void leat_sim_post_free(struct leat_sim_post *post, uint32_t entry);

/* The earliest plan is on top, plan[0]. There must be room for one more. */
void leat_sim_post_plan(struct leat_sim_post *post, struct leat_sim_plan more);
struct leat_sim_plan leat_sim_post_take(struct leat_sim_post *post);

/* The times of plans have changed: restores their order. */
void leat_sim_post_sort_plans(struct leat_sim_post *post);

/* Queues a callback: the message of `entry` has left its port (sent), or has ended. */
void leat_sim_post_note(struct leat_sim_post *post, uint32_t entry, bool sent);

/* Makes all queued callbacks, with time `at`. */
void leat_sim_post_report(struct leat_sim_post *post, leat_time at);

/* Reports that a message begins to arrive (leat_port_observer.head), which is known at `at`. False:
 * there is no such callback. */
bool leat_sim_post_report_head(struct leat_sim_post *post, const struct leat_port_message *message,
                               leat_time from, leat_time until, leat_time at);

/* For leat_port_ops.run: false if there is nothing to run. */
bool leat_sim_post_begin(struct leat_sim_post *post, leat_time until);

/* Is a callback queued, or was one made? Then the run ends. */
static inline bool leat_sim_post_has_news(const struct leat_sim_post *post)
{
    return post->events || post->has_head;
}

/* Ends a run: makes the callbacks queued for `at`, or sets the time to `until`. */
leat_time leat_sim_post_end(struct leat_sim_post *post, leat_time at, leat_time until);

/* The hash of `len` octets of a message for the certificate. */
uint64_t leat_sim_post_hash(const struct leat_port_message *message, const uint8_t *octets,
                            uint64_t len);

#endif
