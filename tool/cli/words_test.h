/* For tests: a command line, read as leat reads it. */
#ifndef LEAT_WORDS_TEST_H
#define LEAT_WORDS_TEST_H

#include "tool.h"
#include <string.h>

/* Splits `line` at blanks and reads the words; they are lent until the next call. */
static int words_read(const struct verb *verb, const char *line, struct arguments *args)
{
    enum { WORDS_MAX = 64 };
    static char text[4096], *words[WORDS_MAX];
    int count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok(text, " "); w && count < WORDS_MAX - 1; w = strtok(NULL, " "))
        words[count++] = w;
    words[count] = NULL;
    return arguments_read(verb, words, args);
}

#endif
