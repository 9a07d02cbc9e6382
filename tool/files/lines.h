/* Shared by readers of users' files: lines, words of a line, and error messages. */
#ifndef LEAT_LINES_H
#define LEAT_LINES_H

#include "fabric_word_parts.h"

/* "FILE:LINE: ..." on stderr. Always false, so that a reader can end with it. */
bool wrong(const struct leat_fabric_place *place, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* Every line of a file ("-": standard input) that has more than blanks and a comment from '#' on.
 * *lines: the number of lines in the file, all included. False after a complaint. */
bool lines_read(const char *file, leat_fabric_line_fn *each, void *context, uint32_t *lines);

/* A file of numbers, one for each of some owners. */
struct lines_numbers {
    const char *what, *owners; /* for complaints: "value", "members" */
    uint32_t count;
    unsigned bits; /* of the largest number */
    uint64_t *number;
};

/* Numbers separated by blanks or line ends. False after a complaint. */
bool lines_read_numbers(const char *file, const struct lines_numbers *numbers);

#endif
