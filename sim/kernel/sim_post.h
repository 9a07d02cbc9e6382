/*
 * What ports of networks share (leat/port.h): the messages under way, what is to come, by time, and
 * what has happened to messages, by port.
 *
 *     accept     a message is under way: it has an entry
 *     plan, plan, ... take the first        note, note, ... tell: port by port, for each what came
 *     a heap                                in before what left; an entry that has ended is free
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
    uint64_t call; /* the order of those at the same time */
    uint32_t entry;
    uint32_t step; /* what then; the owner's */
};

/* What has happened to the message of an entry: it has left its port, or has ended. */
struct leat_sim_news {
    uint64_t order; /* port << 32 | sent << 31 | in the order in which they came */
    uint32_t entry;
};

/* A message under way. */
struct leat_sim_letter {
    struct leat_port_message message;
    uint64_t call;   /* the order of accept() */
    uint64_t number; /* among the messages of its port; the owner's to set */
    const char *why; /* it is lost; else NULL */
    uint32_t next;   /* + 1: the owner's lists; among the free ones */
    uint32_t held;   /* by the owner, who frees it when it has ended and is not held any more */
    bool has_ended;  /* that was told */
};

struct leat_sim_post {
    struct leat_port_net *net;
    void *entry; /* [entries_max], each of entry_size octets */
    size_t entry_size;
    uint32_t entries_max;
    uint32_t free, top;         /* a list, + 1; those from `top` on were never used */
    struct leat_sim_plan *plan; /* a heap, the earliest on top */
    uint32_t plans;
    struct leat_sim_news *event;
    uint32_t events;
    bool has_head; /* was told since begin() */
    uint64_t calls;
    struct leat_sim_certificate certificate;
};

/* Lays out all arrays, for so many messages under way; returns the entries. */
void *leat_sim_post_lay(struct leat_sim_post *post, struct leat_arena *arena, uint32_t entries_max,
                        size_t entry_size, size_t plans_max);

/* Behind lay, of zeroed memory. `net` is lent for good. */
void leat_sim_post_init(struct leat_sim_post *post, struct leat_port_net *net);

/* Of leat_port_ops.send: an entry for the message, all 0 but its letter. False: there is none. */
bool leat_sim_post_accept(struct leat_sim_post *post, const struct leat_port_message *message,
                          leat_time at, uint32_t *entry);

/* The entry is free for another message. */
void leat_sim_post_free(struct leat_sim_post *post, uint32_t entry);

/* The earliest plan is on top, plan[0]; there is room for one more. */
void leat_sim_post_plan(struct leat_sim_post *post, struct leat_sim_plan more);
struct leat_sim_plan leat_sim_post_take(struct leat_sim_post *post);

/* The message of `entry` has left its port (sent), or has ended. */
void leat_sim_post_note(struct leat_sim_post *post, uint32_t entry, bool sent);

/* Tells all that was noted, which happened at `at`. */
void leat_sim_post_tell(struct leat_sim_post *post, leat_time at);

/* Tells how a message begins to come in (leat_port_hear.head), which is known at `at`; false:
 * nobody wants to know. */
bool leat_sim_post_tell_head(struct leat_sim_post *post, const struct leat_port_message *message,
                             leat_time from, leat_time until, leat_time at);

/* Of leat_port_ops.run: false where there is nothing to run. */
bool leat_sim_post_begin(struct leat_sim_post *post, leat_time until);

/* Is there something to tell, or was there? Then the run ends. */
static inline bool leat_sim_post_has_news(const struct leat_sim_post *post)
{
    return post->events || post->has_head;
}

/* The end of a run: tells what has happened at `at`, or the time is `until`. */
leat_time leat_sim_post_end(struct leat_sim_post *post, leat_time at, leat_time until);

/* What the certificate takes of `len` octets of a message. */
uint64_t leat_sim_post_hash(const struct leat_port_message *message, const uint8_t *octets,
                            uint64_t len);

#endif
