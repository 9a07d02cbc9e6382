/* Rows of integers in a file, one row per line; '#' ends a line. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stdio.h>

struct rows {
    int count, columns;
    int *value; /* row by row */
};

/* A file, and the line that was read last: for error messages. */
struct source {
    const char *name;
    FILE *file;
    int line;
};

void source_open(struct source *source, const char *name);

/* Prints "FILE:LINE: what is wrong"; the program ends with code 2. */
_Noreturn void source_refuse(const struct source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Rows up to a line that contains only `end` ("": an empty line after a row), or up to the end of
 * the file. All have as many numbers as the first. */
struct rows source_rows(struct source *source, const char *end);
/* Was that the end of the file? */
bool source_is_over(const struct source *source);

/* Opens the file to append to it, on a new line. */
FILE *source_append(struct source *source);
void source_close(struct source *source);

#endif
