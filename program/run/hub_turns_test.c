/* Tasks of a port that share memory: they run one at a time, unless one of them spins. */
#include "hub_scene_test.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PORTS = 4, ROUNDS = 50, LOG_CAP = 4096 };

/* Of all tasks of a run; each port has a part. */
static struct memory {
    _Atomic uint32_t inside, entries, flag;
    uint32_t log[LOG_CAP];
} * memory;

static void make_memory(void)
{
    if (!memory)
        memory = mmap(NULL, PORTS * sizeof *memory, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    memset(memory, 0, PORTS * sizeof *memory);
}

static struct memory *own_memory(void)
{
    return &memory[leat_task_port_of(leat_task_number())];
}

/* Between two waits it is alone; the order in which tasks come is written down. Messages come at
 * any time. */
static void take_turns(void)
{
    struct memory *m = own_memory();
    struct leat_task_event event;
    leat_task_share_memory();
    send_pattern((leat_task_number() + 1) % leat_task_expected(), 100, 1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a poll", "");
        check_that(atomic_fetch_add(&m->inside, 1) == 0);
        for (uint32_t k = 0; k < 20; k++)
            sched_yield();
        m->log[m->entries++] = leat_task_number() + 1;
        atomic_fetch_sub(&m->inside, 1);
        if (i % 7 == leat_task_number() % 7) leat_task_wait(leat_task_now(), "nothing", "");
    }
    while (!leat_task_next(&event))
        leat_task_wait(LEAT_NEVER, "a message", "");
    leat_task_release(&event);
}

static void tasks_that_share_memory_run_one_at_a_time_and_always_in_the_same_order(void)
{
    static struct scene scene;
    static struct memory before[PORTS];
    for (int run = 0; run < 3; run++) {
        make_memory();
        run_scene(&scene, "bmx:4", 10, take_turns);
        ended(&scene, LEAT_HUB_DONE);
        EQ(leat_hub_task(scene.hub, 0)->notes, 0);
        for (uint32_t port = 0; run && port < PORTS; port++)
            OK(memcmp(before[port].log, memory[port].log, sizeof memory->log) == 0);
        memcpy(before, memory, sizeof before);
        tear_down(&scene);
    }
    EQ(memory[0].entries, 3 * ROUNDS); /* tasks 0, 4 and 8 */
    EQ(memory[2].entries, 2 * ROUNDS);
}

/* Task 0 waits in a loop that never hands over, for one that has its turn later, or waits. */
static void spin(void)
{
    enum { OTHER = 4 };
    struct memory *m = own_memory();
    struct leat_task_event event;
    leat_task_share_memory();
    leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a poll", "");
    for (uint32_t round = 1; round <= 3; round++) {
        if (leat_task_number() == 0)
            while (m->flag < round) /* the others may be further: nobody waits for it */
                sched_yield();
        if (leat_task_number() == 1) send_pattern(OTHER, 100, 1);
        if (leat_task_number() == OTHER) {
            while (!leat_task_next(&event))
                leat_task_wait(LEAT_NEVER, "a message", "");
            leat_task_release(&event);
            m->flag = round;
        }
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a poll", "");
    }
}

static void a_task_that_spins_runs_beside_the_others_which_is_noted(void)
{
    static struct scene scene;
    make_memory();
    scene_turn_ns = INT64_C(50000000);
    run_scene(&scene, "bmx:4", 5, spin);
    scene_turn_ns = 0;
    ended(&scene, LEAT_HUB_DONE);
    EQ(leat_hub_task(scene.hub, 0)->notes, LEAT_TASK_RUNS_BESIDE);
    EQ(leat_hub_task(scene.hub, 1)->notes, 0);
    tear_down(&scene);
}

static void find_ports(void)
{
    uint32_t port;
    check_that(leat_task_find_port(2, &port) && port == 2);
    check_that(leat_task_find_port(4, &port) && port == 0);
    check_that(!leat_task_find_port(5, &port));
}

static void ports_are_known_to_all(void)
{
    static struct scene scene;
    run_scene(&scene, "bmx:4", 5, find_ports);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

TAP_MAIN(T(tasks_that_share_memory_run_one_at_a_time_and_always_in_the_same_order),
         T(a_task_that_spins_runs_beside_the_others_which_is_noted), T(ports_are_known_to_all))
