/* A format by the name that a user wrote. */
#ifndef LEAT_FORMAT_FIND_H
#define LEAT_FORMAT_FIND_H

#include "leat_format.h"
#include "tool.h"

/* NULL after a complaint, which proposes the nearest name. */
const struct leat_format *format_find(const struct verb *verb, const char *name);

#endif
