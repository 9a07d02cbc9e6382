/* Whose turn it is, and how long it lasts. */
#include "tap.h"
#include "turns.h"
#include <time.h>
#include <unistd.h>

enum { PORTS = 2, TASKS = 6 };
#define LONG_NS INT64_C(200000000)

/* Tasks 0 .. TASKS - 1 are at port task % PORTS. The task that has the turn at this port. */
static uint32_t next_of(const struct leat_turns *turns, uint32_t port)
{
    uint32_t found = TASKS;
    for (uint32_t i = port; i < TASKS; i += PORTS) {
        if (!leat_turns_has(turns, port, i)) continue;
        EQ(found, TASKS); /* one only */
        found = i;
    }
    return found;
}

static void offer(struct leat_turns *turns, uint32_t which)
{
    leat_turns_begin(turns);
    for (uint32_t i = 0; i < TASKS; i++)
        if (which >> i & 1) leat_turns_offer(turns, i % PORTS, i);
}

static void tasks_of_a_port_go_on_one_after_the_other(void)
{
    struct leat_turns turns;
    leat_turns_init(&turns, PORTS, TASKS, LONG_NS);
    for (uint32_t round = 0; round < 9; round++) {
        offer(&turns, 077);
        for (uint32_t port = 0; port < PORTS; port++) {
            const uint32_t task = next_of(&turns, port);
            EQ(task, port + PORTS * (round % 3));
            leat_turns_take(&turns, task);
        }
    }
    leat_turns_free(&turns);
}

static void who_cannot_go_on_has_no_turn(void)
{
    struct leat_turns turns;
    leat_turns_init(&turns, PORTS, TASKS, LONG_NS);
    offer(&turns, 0);
    EQ(next_of(&turns, 0), TASKS);
    offer(&turns, 1 << 4);
    EQ(next_of(&turns, 0), 4);
    EQ(next_of(&turns, 1), TASKS);
    leat_turns_take(&turns, 4);
    offer(&turns, 1 << 4 | 1 << 2);
    EQ(next_of(&turns, 0), 2); /* it has waited longer */
    leat_turns_free(&turns);
}

static void after_the_end_of_turns_all_go_on(void)
{
    struct leat_turns turns;
    leat_turns_init(&turns, PORTS, TASKS, LONG_NS);
    offer(&turns, 077);
    leat_turns_end(&turns, 1);
    EQ(next_of(&turns, 0), 0);
    for (uint32_t i = 1; i < TASKS; i += PORTS)
        OK(leat_turns_has(&turns, 1, i));
    leat_turns_free(&turns);
}

static void compute_for(int64_t ns)
{
    struct timespec t;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec < ns);
}

static void a_turn_is_long_when_its_task_has_computed_for_long(void)
{
    struct leat_turns turns;
    leat_turns_init(&turns, PORTS, TASKS, LONG_NS);
    leat_turns_take(&turns, 3);
    OK(!leat_turns_is_long(&turns, 1, 3, getpid()));
    compute_for(LONG_NS / 10);
    OK(!leat_turns_is_long(&turns, 1, 3, getpid()));
    compute_for(11 * LONG_NS / 10);
    OK(leat_turns_is_long(&turns, 1, 3, getpid()));
    leat_turns_take(&turns, 3); /* another turn begins */
    OK(!leat_turns_is_long(&turns, 1, 3, getpid()));
    leat_turns_end(&turns, 1);
    usleep(2 * LEAT_TURNS_AGAIN_NS / 1000);
    OK(leat_turns_is_long(&turns, 1, 3, getpid()));
    leat_turns_free(&turns);
}

TAP_MAIN(T(tasks_of_a_port_go_on_one_after_the_other), T(who_cannot_go_on_has_no_turn),
         T(after_the_end_of_turns_all_go_on), T(a_turn_is_long_when_its_task_has_computed_for_long))
