#include "calls.h"
#include "child.h"
#include <stdlib.h>
#include <string.h>

void leat_calls_add(struct leat_calls *calls, const struct leat_call *call)
{
    enum { FIRST_CAP = 16 };
    if (calls->count == calls->cap) {
        calls->cap = calls->cap ? 2 * calls->cap : FIRST_CAP;
        calls->call = leat_child_grown(calls->call, calls->cap, sizeof *calls->call);
    }
    uint32_t at = calls->count++;
    for (; at && calls->call[at - 1].at > call->at; at--)
        calls->call[at] = calls->call[at - 1];
    calls->call[at] = *call;
}

leat_time leat_calls_next_at(const struct leat_calls *calls)
{
    return calls->count ? calls->call[0].at : LEAT_NEVER;
}

struct leat_call leat_calls_take_first(struct leat_calls *calls)
{
    const struct leat_call first = calls->call[0];
    memmove(calls->call, calls->call + 1, --calls->count * sizeof *calls->call);
    return first;
}

void leat_calls_free(struct leat_calls *calls)
{
    free(calls->call);
    *calls = (struct leat_calls){ 0 };
}
