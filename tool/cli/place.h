/* Shared by readers of users' files: the current position, words of a line, and error messages. */
#ifndef LEAT_PLACE_H
#define LEAT_PLACE_H

#include "fabric_word_parts.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
    const char *file;
    uint32_t line;
};

/* "FILE:LINE: ..." on stderr. Always false, so that a reader can end with it. */
bool wrong(const struct place *place, const char *text, ...) __attribute__((format(printf, 2, 3)));

#endif
