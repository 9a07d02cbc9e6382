/* What the row of an option says, for help and manual pages. */
#ifndef LEAT_OPTION_TEXT_H
#define LEAT_OPTION_TEXT_H

#include "tool.h"

/* Its text, its range, the words to choose from, and its default. */
void option_text(const struct option *o, char *out, size_t cap);

/* It as a shell takes it, with this value: --loss 0.1, once for each of a repeated one. */
void option_put(FILE *out, const struct option *o, const char *value);

/* "ATM fabrics, networks of switches"; lent until the next call. */
const char *option_kinds_text(const char *kinds);

#endif
