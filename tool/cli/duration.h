/* Times as users write them: 10s, 250ms, 20us, 5ns, 1.5s. */
#ifndef LEAT_DURATION_H
#define LEAT_DURATION_H

#include "tool.h"
#include <stdint.h>

/* In picoseconds, up to 10^18; false: it is not a time. */
bool duration_read(const char *text, uint64_t *ps);

/* A number without a unit, which is this one. */
bool duration_read_bare(const char *number, const char *unit, uint64_t *ps);

/* In a form that duration_read accepts, with as many digits as it needs; lent until the next call.
 */
const char *duration_text(uint64_t ps);

#endif
