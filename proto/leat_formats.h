/* The list of all wire formats: what `leat formats` prints and the tools work through. */
#ifndef LEAT_FORMATS_H
#define LEAT_FORMATS_H

#include "leat_format.h"

/* In a fixed order; NULL past the last. */
const struct leat_format *leat_format_at(size_t index);

/* By the name users type; NULL where there is none. */
const struct leat_format *leat_format_find(const char *name);

#endif
