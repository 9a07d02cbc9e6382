/* Shared by the tests of the exporters: an export of what was recorded, as text. */
#ifndef LEAT_SIM_EXPORT_TEST_H
#define LEAT_SIM_EXPORT_TEST_H

#include "sim_recording_test.h"

static char exported[1 << 20];
static struct leat_text exported_text;

static inline void export_from_the_beginning(void)
{
    leat_text_init(&exported_text, exported, sizeof exported - 1, NULL, NULL);
}

/* Terminates the text with a 0, so that it can be compared. */
static inline const char *exported_string(void)
{
    OK(!exported_text.overflowed);
    exported[exported_text.len] = '\0';
    return exported;
}

static inline void is_text(const char *got, const char *wanted)
{
    OK(strcmp(got, wanted) == 0);
    if (strcmp(got, wanted) != 0) printf("# got:\n%s\n# wanted:\n%s\n", got, wanted);
}

#endif
