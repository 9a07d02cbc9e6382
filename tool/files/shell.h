/* Words of a command line, as a shell takes them. */
#ifndef LEAT_SHELL_H
#define LEAT_SHELL_H

#include <stddef.h>
#include <stdio.h>

/* Unquoted if a shell leaves it alone, otherwise in quotes. */
void shell_put_word(FILE *out, const char *word, size_t len);

#endif
