/* Rows of integers in a file, one row per line; '#' ends a line. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stdio.h>

struct rows {
    int count, columns;
    int *value; /* row by row */
};

/* A file, and the line that was read last: for complaints. */
struct source {
    const char *name;
    FILE *file;
    int line;
};

void source_open(struct source *source, const char *name);

/* "FILE:LINE: what is wrong", and the program ends with code 2. */
_Noreturn void source_refuse(const struct source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Rows up to a line that has nothing but `end` in it ("": an empty line, behind a row), or up to
 * the end of the file. All have as many numbers as the first. */
struct rows source_rows(struct source *source, const char *end);
/* Was that the end of the file? */
bool source_is_over(const struct source *source);

/* To write at the end of the file, in a line of its own. */
FILE *source_append(struct source *source);
void source_close(struct source *source);

#endif
