/* What readers of users' files share: where they stand, words of a line, and how they complain. */
#ifndef LEAT_PLACE_H
#define LEAT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOWN_LEN_MAX = 40 };

struct place {
    const char *file;
    uint32_t line;
};

/* A piece of a line; not terminated. */
struct word {
    const char *text;
    size_t len;
};

/* A word as it may be shown: not too long, nothing that a terminal would obey. */
struct shown {
    char text[SHOWN_LEN_MAX + 4];
};

/* "FILE:LINE: ..." on stderr. Always false, so that a reader can end with it. */
bool wrong(const struct place *place, const char *text, ...) __attribute__((format(printf, 2, 3)));

struct shown show(struct word w);
bool is_word(struct word w, const char *text);
bool is_blank(char c);

#endif
