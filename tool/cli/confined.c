/* Whether a serving process is confined (live_guard.h): reported by status, and when it starts. */
#include "json_out.h"
#include "live_guard.h"
#include "tool.h"
#include <stdio.h>

static void warn(const struct leat_live_guard *guard)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    if (leat_live_guard_is_for_tests()) return; /* status reports it anyway */
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

void print_confined(int process, const char *none)
{
    struct leat_live_guard guard;
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    const bool known = process && leat_live_guard_look(process, &guard);
    if (known) leat_live_guard_text(&guard, text);
    printf("confined: %s\n", known ? text : none);
}

static void put_guard(struct leat_json *json, const struct leat_live_guard *guard)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    leat_json_bool(json, "confined", leat_live_guard_text(guard, text));
    leat_json_string(json, "confined_why", text);
}

void json_confined(struct leat_json *json, int process, const char *none)
{
    struct leat_live_guard guard;
    if (process && leat_live_guard_look(process, &guard)) {
        put_guard(json, &guard);
    } else {
        leat_json_null(json, "confined");
        leat_json_string(json, "confined_why", none);
    }
}

void write_confined_here(FILE *file)
{
    char text[LEAT_LIVE_GUARD_TEXT_LEN];
    leat_live_guard_text(leat_live_guard_own(), text);
    fprintf(file, "confined: %s\n", text);
}

void json_confined_here(struct leat_json *json)
{
    put_guard(json, leat_live_guard_own());
}
