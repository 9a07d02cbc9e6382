/* Pieces of text, for parsers of names and faults. Internal. */
#ifndef LEAT_SIM_PIECE_PARTS_H
#define LEAT_SIM_PIECE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Borrowed, not terminated. */
struct leat_sim_piece {
    const char *at; /* NULL: no piece, not even an empty one */
    size_t len;
};

/* Returns the text up to `end`; *rest becomes the text after it, or none if there is no `end`. */
static inline struct leat_sim_piece leat_sim_piece_cut(struct leat_sim_piece *rest, char end)
{
    struct leat_sim_piece head = { rest->at, 0 };
    while (head.len < rest->len && head.at[head.len] != end)
        head.len++;
    if (head.len < rest->len)
        *rest = (struct leat_sim_piece){ head.at + head.len + 1, rest->len - head.len - 1 };
    else
        *rest = (struct leat_sim_piece){ NULL, 0 };
    return head;
}

static inline bool leat_sim_piece_is(struct leat_sim_piece p, const char *word)
{
    return p.len == strlen(word) && memcmp(p.at, word, p.len) == 0;
}

#endif
