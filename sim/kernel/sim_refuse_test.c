#include "sim_refuse.h"
#include "tap.h"

static void a_reason_is_written_and_the_error_returned(void)
{
    char line[200] = { 0 };
    const char *volatile nothing = NULL; /* as the pieces of names that are not there */
    struct leat_text why;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    EQ(leat_sim_refuse(&why, LEAT_ERR_FULL, "%s %u%c%u: '%.*s' %.*s, expected %" PRIu64 " to 1",
                       "edge", 4294967295u, '>', 0u, 3, "abcdef", 0, nothing, UINT64_MAX),
       LEAT_ERR_FULL);
    OK(strcmp(line, "edge 4294967295>0: 'abc' , expected 18446744073709551615 to 1") == 0);
}

static void a_reason_that_is_too_long_is_cut(void)
{
    char line[LEAT_TEXT_CAP_MIN + 1] = { 0 };
    struct leat_text why;
    leat_text_init(&why, line, LEAT_TEXT_CAP_MIN, NULL, NULL);
    for (int i = 0; i < LEAT_TEXT_CAP_MIN; i++)
        EQ(leat_sim_refuse(&why, LEAT_ERR_RANGE, "%c%s", 'a', "b"), LEAT_ERR_RANGE);
    OK(why.overflowed);
    EQ(strlen(line), LEAT_TEXT_CAP_MIN);
}

static void what_was_checked_passes(void)
{
    int calls = 0;
    leat_sim_must(++calls == 1);
    EQ(calls, 1);
}

TAP_MAIN(T(a_reason_is_written_and_the_error_returned), T(a_reason_that_is_too_long_is_cut),
         T(what_was_checked_passes))
