/* Words of a command line, as a shell takes them. */
#ifndef LEAT_SHELL_H
#define LEAT_SHELL_H

#include <stddef.h>
#include <stdio.h>

/* Unquoted if a shell leaves it alone, otherwise in quotes. */
void shell_put_word(FILE *out, const char *word, size_t len);

/* The words of a text, as a shell takes them apart: by blanks, with quotes and backslashes, but
 * without anything that is replaced ($HOME, *). `words` gets them, with a NULL behind the last, in
 * memory of one piece that begins with words[0]; free that. Returns how many. */
enum { SHELL_OPEN_QUOTE = -1, SHELL_TOO_MANY = -2, SHELL_NO_MEMORY = -3 };
int shell_split(const char *text, char **words, size_t cap);

#endif
