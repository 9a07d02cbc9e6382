/*
 * Priorities of the token by reservation, as token rings have them (IEEE 802.5): who must wait asks
 * in RRR of the packets that pass; the sender raises the token to what was asked for, and remembers
 * on a stack from where. It lowers the token again when it comes back to it at the raised priority,
 * for then nobody has wanted it, or all who did are served.
 *
 *     stack of one interface     from  0   2          raised 0 -> 2, later 2 -> 6: while the token
 *                                to    2   6  <- top  has 6, only this interface takes it down to 2
 *
 * A token below `to` shows that the ring has begun anew: what is above it is forgotten.
 */
#ifndef LEAT_ATON_PRIORITY_H
#define LEAT_ATON_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAT_ATON_PRIORITY_MAX = 7 };

struct leat_aton_raises {
    uint8_t count;
    uint8_t from[LEAT_ATON_PRIORITY_MAX], to[LEAT_ATON_PRIORITY_MAX]; /* both rise */
};

/* A token or packet of this priority comes by. */
static inline void leat_aton_raises_see(struct leat_aton_raises *r, unsigned priority)
{
    while (r->count && r->to[r->count - 1] > priority)
        r->count--;
}

/* Is it this interface that takes a token of this priority down? */
static inline bool leat_aton_raises_has(const struct leat_aton_raises *r, unsigned priority)
{
    return r->count && r->to[r->count - 1] == priority;
}

/* The priority of the token behind a packet that had `held` and collected `asked`. */
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
