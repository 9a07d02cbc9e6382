/* Whether a process that serves is confined (live_guard.h): told by status, and when it starts. */
#include "live_guard.h"
#include "tool.h"
#include <stdio.h>

void warn_if_unconfined(int process)
{
    struct leat_live_guard guard = *leat_live_guard_own();
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    if (leat_live_guard_is_for_tests()) return; /* status tells; here it would be no news */
    if (process && !leat_live_guard_look(process, &guard)) return;
    if (!leat_live_guard_text(&guard, text)) complain("confined: %s", text);
}

void write_confined(FILE *file, const struct leat_live_guard *guard, const char *none, bool json)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    const bool confined = guard && leat_live_guard_text(guard, text);
    if (!json) {
        fprintf(file, "confined: %s\n", guard ? text : none);
        return;
    }
    fprintf(file, "\"confined\":%s,\"confined_why\":",
            !guard     ? "null"
            : confined ? "true"
                       : "false");
    write_quoted(file, guard ? text : none);
}
