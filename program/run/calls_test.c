/* Questions of tasks, in the order in which they are answered. */
#include "calls.h"
#include "tap.h"
#include <stdlib.h>

enum { CALLS = 300, TIMES = 40 };

static void calls_come_by_their_time_and_then_as_they_were_made(void)
{
    struct leat_calls calls = { 0 };
    EQ(leat_calls_next_at(&calls), LEAT_NEVER);
    srand(5);
    for (uint64_t i = 0; i < CALLS; i++)
        leat_calls_add(&calls,
                       &(struct leat_call){ .at = (leat_time)(rand() % TIMES), .cookie = i });
    struct leat_call last = { 0 };
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        const leat_time at = leat_calls_next_at(&calls);
        const struct leat_call next = leat_calls_take_first(&calls);
        wrong += next.at != at || next.at < last.at;
        wrong += i && next.at == last.at && next.cookie < last.cookie;
        last = next;
    }
    EQ(wrong, 0);
    EQ(leat_calls_next_at(&calls), LEAT_NEVER);
    leat_calls_free(&calls);
    EQ(calls.cap, 0);
}

TAP_MAIN(T(calls_come_by_their_time_and_then_as_they_were_made))
