/* Whether a process that serves is confined (live_guard.h): told by status, and when it starts. */
#include "live_guard.h"
#include "tool.h"
#include <stdio.h>

static void warn(const struct leat_live_guard *guard)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    if (leat_live_guard_is_for_tests()) return; /* status tells; here it would be no news */
    if (!leat_live_guard_text(guard, text)) complain("confined: %s", text);
}

void warn_if_unconfined(int process)
{
    struct leat_live_guard guard;
    if (process && leat_live_guard_look(process, &guard)) warn(&guard);
}

void warn_if_not_confined_here(void)
{
    warn(leat_live_guard_own());
}

static void write_guard(FILE *file, const struct leat_live_guard *guard, bool json)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    const bool confined = leat_live_guard_text(guard, text);
    if (json) {
        fprintf(file, "\"confined\":%s,\"confined_why\":", confined ? "true" : "false");
        write_quoted(file, text);
    } else {
        fprintf(file, "confined: %s\n", text);
    }
}

void print_confined(int process, const char *none, bool json)
{
    struct leat_live_guard guard;
    if (process && leat_live_guard_look(process, &guard)) {
        write_guard(stdout, &guard, json);
    } else if (json) {
        printf("\"confined\":null,\"confined_why\":");
        print_quoted(none);
    } else {
        printf("confined: %s\n", none);
    }
}

void write_confined_here(FILE *file, bool json)
{
    write_guard(file, leat_live_guard_own(), json);
}
