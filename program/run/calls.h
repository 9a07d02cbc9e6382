/* Questions of tasks to the service of a run, by their time, then in the order taken. It begins as
 * zeros. */
#ifndef LEAT_PROGRAM_CALLS_H
#define LEAT_PROGRAM_CALLS_H

#include <leat/time.h>
#include <stdint.h>

struct leat_call {
    leat_time at;
    uint32_t task;
    uint64_t cookie, block, len;
};

struct leat_calls {
    struct leat_call *call;
    uint32_t count, cap;
};

/* Ends the process if out of memory. */
void leat_calls_add(struct leat_calls *calls, const struct leat_call *call);
/* LEAT_NEVER: there is none. */
leat_time leat_calls_next_at(const struct leat_calls *calls);
/* There is one. */
struct leat_call leat_calls_take_first(struct leat_calls *calls);
void leat_calls_free(struct leat_calls *calls);

#endif
