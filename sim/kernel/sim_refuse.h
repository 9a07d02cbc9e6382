/* How simulators refuse: what users ask for by a text, their own mistakes by an assertion. */
#ifndef LEAT_SIM_REFUSE_H
#define LEAT_SIM_REFUSE_H

#include "leat_text.h"
#include <assert.h>
#include <inttypes.h>

/* Writes a reason, with %s, %.*s, %c, %u and PRIu64 as in printf. Returns `err`, for `return`. */
leat_err leat_sim_refuse(struct leat_text *why, leat_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For calls that cannot fail, because everything was checked before. */
#define leat_sim_must(call)          \
    do {                             \
        const bool is_done = (call); \
        assert(is_done);             \
        (void)is_done;               \
    } while (0)

#endif
