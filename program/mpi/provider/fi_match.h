/*
 * Tag matching: which receive takes which message, and nothing else. Owners of receives and
 * messages embed the structs below in their own.
 *
 *     offer(message) ---> the oldest posted receive that wants it; none: keep(message)
 *     post(receive)  ---> the oldest kept message that it wants; none: the receive is posted
 *
 * A receive wants a message if the tags are equal except for the bits of `ignore`, and it names the
 * sender or any. Programs use few different `ignore` masks, so receives fall into classes, one for
 * each (mask, any sender or one). A class has a table of its posted receives and one of all kept
 * messages, keyed by (sender, tag without the ignored bits). The match is then the first entry of
 * its key: thousands outstanding cost no more than a few. Receives beyond the last class are
 * searched linearly.
 */
#ifndef LEAT_FI_MATCH_H
#define LEAT_FI_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAT_FI_MATCH_ANY UINT64_MAX /* as the sender that a receive wants */

enum {
    LEAT_FI_MATCH_CLASSES = 6,
};

/* A circular list; alone it points to itself. */
struct leat_fi_match_link {
    struct leat_fi_match_link *next, *before;
};

struct leat_fi_match_receive {
    uint64_t from, tag, ignore;
    /* the rest belongs to the matching */
    struct leat_fi_match_link link;
    uint64_t number; /* receives are served in the order in which they were posted */
    uint32_t class;
};

struct leat_fi_match_message {
    uint64_t from, tag;
    /* the rest belongs to the matching */
    struct leat_fi_match_link order; /* of arrival */
    struct leat_fi_match_link link[LEAT_FI_MATCH_CLASSES];
};

struct leat_fi_match_table {
    struct leat_fi_match_link *bucket; /* each in order */
    size_t buckets;                    /* a power of two */
    size_t count;
};

struct leat_fi_match_class {
    uint64_t ignore;
    bool any;
    struct leat_fi_match_table posted, kept;
};

struct leat_fi_match {
    struct leat_fi_match_class class[LEAT_FI_MATCH_CLASSES];
    uint32_t classes;
    struct leat_fi_match_link posted_others; /* in no class */
    struct leat_fi_match_link kept;          /* all, in order of arrival */
    uint64_t next_number;
};

void leat_fi_match_init(struct leat_fi_match *match);
/* Discards everything and frees the tables. */
void leat_fi_match_free(struct leat_fi_match *match);

/* The oldest receive that wants the message, no longer posted. NULL: none does. */
struct leat_fi_match_receive *leat_fi_match_offer(struct leat_fi_match *match,
                                                  const struct leat_fi_match_message *message);
/* Keeps a message that no receive wanted. */
void leat_fi_match_keep(struct leat_fi_match *match, struct leat_fi_match_message *message);

/* The oldest message that the receive wants, no longer kept. NULL: the receive is posted. */
struct leat_fi_match_message *leat_fi_match_post(struct leat_fi_match *match,
                                                 struct leat_fi_match_receive *receive);

/* The oldest message that such a receive would take; it stays. NULL: none. */
struct leat_fi_match_message *leat_fi_match_peek(struct leat_fi_match *match, uint64_t from,
                                                 uint64_t tag, uint64_t ignore);
/* Removes a kept message. */
void leat_fi_match_take(struct leat_fi_match *match, struct leat_fi_match_message *message);
/* Withdraws a posted receive. */
void leat_fi_match_withdraw(struct leat_fi_match *match, struct leat_fi_match_receive *receive);

/* Any kept message, for cleaning up; NULL: none. */
struct leat_fi_match_message *leat_fi_match_first(struct leat_fi_match *match);

#endif
