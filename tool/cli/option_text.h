/* What the row of an option says, for help and manual pages. */
#ifndef LEAT_OPTION_TEXT_H
#define LEAT_OPTION_TEXT_H

#include "tool.h"

/* Its text, its range, the words to choose from, and its default. */
void option_text(const struct option *o, char *out, size_t cap);

/* "ATM fabrics, networks of switches"; lent until the next call. */
const char *option_kinds_text(const char *kinds);

#endif
