/*
 * Which of some names did a user mean? The one that the fewest typing mistakes turn into the
 * user's word, if they are few for its length.
 *
 *     struct leat_near near = leat_near_to("bufer", 5);
 *     leat_near_try_all(&near, "vcs, buffer, flow");
 *     near.text                                       "did you mean buffer? "
 */
#ifndef LEAT_NEAR_H
#define LEAT_NEAR_H

#include <stddef.h>

enum { LEAT_NEAR_LEN_MAX = 32 }; /* longer words are near to none */

struct leat_near {
    const char *word;
    size_t len, changes;               /* only a name with fewer changes is proposed */
    char text[LEAT_NEAR_LEN_MAX + 16]; /* "did you mean NAME? ", or "": none is near so far */
};

/* The word is lent until the last try. */
struct leat_near leat_near_to(const char *word, size_t len);

void leat_near_try(struct leat_near *near, const char *name, size_t len);

/* The same for the words of a list, separated by blanks or commas. */
void leat_near_try_all(struct leat_near *near, const char *list);

#endif
