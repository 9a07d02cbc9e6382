/* Threads that simulate parts of ATM networks together. */
#include "crew.h"
#include "sim_atm_load_parts_test.h"

enum { CASES = 12 + LEAT_ROUNDS / 50000, MEMBERS_MAX = 4, PARTS_MAX = 6 };

static void every_number_of_threads_has_the_same_outcome(void)
{
    struct leat_random r;
    leat_random_seed(&r, 24);
    for (int i = 0; i < CASES; i++) {
        const struct parts_case c = parts_choose(&r);
        const struct parts_outcome one = parts_run(&c, 1, NULL);
        for (uint32_t members = 1; members <= MEMBERS_MAX; members++) {
            struct leat_crew *crew = leat_crew_start(members);
            for (uint32_t parts = 2; crew && parts <= PARTS_MAX; parts++)
                OK(parts_same(&c, &one, parts, leat_crew_lend(crew)));
            leat_crew_end(crew);
        }
    }
}

TAP_MAIN(T(every_number_of_threads_has_the_same_outcome))
