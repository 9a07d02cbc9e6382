/* Events that have not been passed to a task yet: by time, those of the same time in the order in
 * which they came. It begins as zeros. */
#ifndef LEAT_PROGRAM_INBOX_H
#define LEAT_PROGRAM_INBOX_H

#include "share.h"

struct leat_inbox {
    struct leat_share_event *event;
    uint32_t first, count, cap; /* a ring of cap, a power of two */
};

/* Ends the process if out of memory. */
void leat_inbox_add(struct leat_inbox *inbox, const struct leat_share_event *event);
/* The first; NULL: it is empty. */
const struct leat_share_event *leat_inbox_first(const struct leat_inbox *inbox);
/* That which ends a wait: the first that is not quiet, or the last of many that are. */
const struct leat_share_event *leat_inbox_first_loud(const struct leat_inbox *inbox);
void leat_inbox_drop_first(struct leat_inbox *inbox);
void leat_inbox_free(struct leat_inbox *inbox);

#endif
