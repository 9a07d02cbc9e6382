#include "crew.h"
#include "tap.h"
#include <stdatomic.h>

enum { MEMBERS_MAX = 5, MEETINGS = 500 };

struct table {
    struct leat_sim_crew *crew;
    uint32_t members;
    uint64_t number[2][MEMBERS_MAX]; /* plain memory: written before a meeting, read after it */
    uint64_t sum[MEMBERS_MAX];
    atomic_uint works;
};

static leat_sim_work work;

/* Each member adds up what all have written, and writes what follows from the sum. */
static void work(void *context, uint32_t member)
{
    struct table *t = context;
    atomic_fetch_add(&t->works, 1);
    t->number[0][member] = member + 1;
    for (uint32_t i = 0; i < MEETINGS; i++) {
        uint64_t sum = 0;
        leat_sim_crew_meet(t->crew);
        for (uint32_t m = 0; m < t->members; m++)
            sum += t->number[i % 2][m];
        t->number[(i + 1) % 2][member] = sum * (member + 3);
        t->sum[member] = sum;
    }
}

static uint64_t plain_sum(uint32_t members)
{
    uint64_t number[MEMBERS_MAX], sum = 0;
    for (uint32_t m = 0; m < members; m++)
        number[m] = m + 1;
    for (uint32_t i = 0; i < MEETINGS; i++) {
        sum = 0;
        for (uint32_t m = 0; m < members; m++)
            sum += number[m];
        for (uint32_t m = 0; m < members; m++)
            number[m] = sum * (m + 3);
    }
    return sum;
}

static void members_see_what_others_wrote_before_they_met(void)
{
    for (uint32_t members = 1; members <= MEMBERS_MAX; members++) {
        struct leat_crew *crew = leat_crew_start(members);
        struct table t = { .crew = leat_crew_lend(crew), .members = members };
        EQ(leat_sim_crew_members(t.crew), members);
        for (uint32_t calls = 1; calls <= 20; calls++) {
            leat_sim_crew_do(t.crew, work, &t);
            EQ(atomic_load(&t.works), calls * members);
            for (uint32_t m = 0; m < members; m++)
                EQ(t.sum[m], plain_sum(members));
        }
        leat_crew_end(crew);
    }
}

static void without_a_crew_the_caller_does_the_work(void)
{
    struct table t = { .members = 1 };
    EQ(leat_sim_crew_members(NULL), 1);
    leat_sim_crew_do(NULL, work, &t);
    EQ(t.sum[0], plain_sum(1));
    leat_crew_end(NULL);
}

static void some_processor_runs_this(void)
{
    OK(leat_crew_processors() >= 1);
}

TAP_MAIN(T(members_see_what_others_wrote_before_they_met),
         T(without_a_crew_the_caller_does_the_work), T(some_processor_runs_this))
