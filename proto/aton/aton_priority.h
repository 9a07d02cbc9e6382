/*
 * Priorities of the token by reservation, as in token rings (IEEE 802.5). An interface that must
 * wait reserves a priority in RRR of passing packets. The sender raises the token to the reserved
 * priority and pushes the old one on a stack. It lowers the token again when it returns at the
 * raised priority: then no interface wanted it, or all that did are served.
 *
 *     stack of one interface     from  0   2          raised 0 -> 2, later 2 -> 6: while the token
 *                                to    2   6  <- top  has 6, only this interface takes it down to 2
 *
 * A token below `to` shows that the ring was restarted: entries above it are discarded.
 */
#ifndef LEAT_ATON_PRIORITY_H
#define LEAT_ATON_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAT_ATON_PRIORITY_MAX = 7 };

struct leat_aton_raises {
    uint8_t count;
    uint8_t from[LEAT_ATON_PRIORITY_MAX], to[LEAT_ATON_PRIORITY_MAX]; /* both ascend */
};

/* A token or packet of this priority passes. */
static inline void leat_aton_raises_see(struct leat_aton_raises *r, unsigned priority)
{
    while (r->count && r->to[r->count - 1] > priority)
        r->count--;
}

/* Must this interface lower a token of this priority? */
static inline bool leat_aton_raises_has(const struct leat_aton_raises *r, unsigned priority)
{
    return r->count && r->to[r->count - 1] == priority;
}

/* The priority of the token after a packet that had `held` and collected `asked`. */
static inline uint8_t leat_aton_raises_release(struct leat_aton_raises *r, uint8_t held,
                                               uint8_t asked)
{
    leat_aton_raises_see(r, held);
    const uint8_t back_to = leat_aton_raises_has(r, held) ? r->from[--r->count] : held;
    if (asked <= back_to) return back_to;
    r->from[r->count] = back_to;
    r->to[r->count++] = asked;
    return asked;
}

#endif
