/*
 * A state fingerprint: words that determine the future of a state, so that two moments can be
 * compared. It contains everything that matters later, relative to its own moment (times since now,
 * numbers since the last one), and nothing else. So from two moments with equal fingerprints the
 * same input leads to the same future.
 *
 * A fingerprint is either written, or compared word by word with one that was written before.
 */
#ifndef LEAT_FINGERPRINT_H
#define LEAT_FINGERPRINT_H

#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>

struct leat_fingerprint {
    uint64_t *word;
    size_t count, cap; /* comparing: cap words are there */
    bool compares;
    bool differs; /* comparing: a word differs; writing: no room, or no fingerprint possible */
};

/* This state has no fingerprint: it equals no other one. */
static inline void leat_fingerprint_fail(struct leat_fingerprint *fingerprint)
{
    fingerprint->differs = true;
}

static inline void leat_fingerprint_put(struct leat_fingerprint *fingerprint, uint64_t word)
{
    if (fingerprint->count == fingerprint->cap)
        fingerprint->differs = true;
    else if (!fingerprint->compares)
        fingerprint->word[fingerprint->count++] = word;
    else if (fingerprint->word[fingerprint->count++] != word)
        fingerprint->differs = true;
}

/* A time that always matters, relative to `now`. */
static inline void leat_fingerprint_put_time(struct leat_fingerprint *fingerprint, uint64_t at,
                                             uint64_t now)
{
    leat_fingerprint_put(fingerprint, at == LEAT_NEVER ? LEAT_NEVER : at - now);
}

/* A time from which on something may happen: all past times are equal. */
static inline void leat_fingerprint_put_from(struct leat_fingerprint *fingerprint, uint64_t at,
                                             uint64_t now)
{
    leat_fingerprint_put_time(fingerprint, at < now ? now - 1 : at, now);
}

/* Written: was it possible? Compared: is it equal? */
static inline bool leat_fingerprint_holds(const struct leat_fingerprint *fingerprint)
{
    return !fingerprint->differs &&
           (!fingerprint->compares || fingerprint->count == fingerprint->cap);
}

#endif
