/*
 * A likeness of a state: what will become of it, as words, so that two moments can be held against
 * each other. Whatever makes a difference later is in it, as seen from its own moment (times from
 * now on, numbers from the last one on); whatever makes none is not. Then from two moments that are
 * alike the same follows, if the same is done to them.
 *
 * A likeness is either written, or compared word by word with one that was written before.
 */
#ifndef LEAT_FINGERPRINT_H
#define LEAT_FINGERPRINT_H

#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>

struct leat_fingerprint {
    uint64_t *word;
    size_t count, cap; /* compared: cap words are there */
    bool compares;
    bool unlike; /* a word differs; written: there was no room, or it cannot be told */
};

/* Such a state cannot be told in words: it is like no other one. */
static inline void leat_fingerprint_fail(struct leat_fingerprint *likeness)
{
    likeness->unlike = true;
}

static inline void leat_fingerprint_put(struct leat_fingerprint *likeness, uint64_t word)
{
    if (likeness->count == likeness->cap)
        likeness->unlike = true;
    else if (!likeness->compares)
        likeness->word[likeness->count++] = word;
    else if (likeness->word[likeness->count++] != word)
        likeness->unlike = true;
}

/* A time that counts wherever it lies, seen from `now`. */
static inline void leat_fingerprint_put_time(struct leat_fingerprint *likeness, uint64_t at,
                                             uint64_t now)
{
    leat_fingerprint_put(likeness, at == LEAT_NEVER ? LEAT_NEVER : at - now);
}

/* A time that says only from when on something may be: what is past is past. */
static inline void leat_fingerprint_put_from(struct leat_fingerprint *likeness, uint64_t at,
                                             uint64_t now)
{
    leat_fingerprint_put_time(likeness, at < now ? now - 1 : at, now);
}

/* Written: was it possible? Compared: is it the same? */
static inline bool leat_fingerprint_holds(const struct leat_fingerprint *likeness)
{
    return !likeness->unlike && (!likeness->compares || likeness->count == likeness->cap);
}

#endif
