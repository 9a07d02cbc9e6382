/* Text files, line by line, in bounded memory. */
#ifndef LEAT_LINES_H
#define LEAT_LINES_H

#include "place.h"

enum { LINE_LEN_MAX = 4096 };

/* A line without its end; lent for the call. False, after a complaint, ends the reading. */
typedef bool (*line_fn)(void *context, const struct place *place, struct word line);

/* Every line of a file ("-": standard input) that has more than blanks and a comment from '#' on.
 * *lines: the number of lines in the file, all included. False after a complaint. */
bool lines_read(const char *file, line_fn each, void *context, uint32_t *lines);

#endif
