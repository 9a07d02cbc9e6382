/* Whether a serving process is confined (live_guard.h): reported by status, and when it starts. */
#include "json_out.h"
#include "live_guard.h"
#include "tool.h"
#include <stdio.h>

static void warn(const struct leat_live_guard *guard)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    if (leat_live_guard_is_for_tests()) return; /* status reports it anyway */
    if (!leat_live_guard_text(guard, text)) caution("confined: %s", text);
}

void warn_if_unconfined(int process)
{
    struct leat_live_guard guard;
    if (process && leat_live_guard_inspect(process, &guard)) warn(&guard);
}

void warn_if_not_confined_here(void)
{
    warn(leat_live_guard_own());
}

/* guard NULL: there is none, for this reason. */
static void show_guard(const struct leat_live_guard *guard, const char *none,
                       struct leat_json *json, FILE *out)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    const bool confined = guard && leat_live_guard_text(guard, text);
    text_print(out, "confined: %s\n", guard ? text : none);
    if (!json) return;
    if (guard)
        leat_json_bool(json, "confined", confined);
    else
        leat_json_null(json, "confined");
    leat_json_string(json, "confined_why", guard ? text : none);
}

void show_confined(int process, const char *none, struct leat_json *json, FILE *out)
{
    struct leat_live_guard guard;
    const bool known = process && leat_live_guard_inspect(process, &guard);
    show_guard(known ? &guard : NULL, none, json, out);
}

void show_confined_here(struct leat_json *json, FILE *out)
{
    show_guard(leat_live_guard_own(), NULL, json, out);
}
