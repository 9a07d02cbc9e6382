/* What tasks of a run ask the service for MPI: slots, values under keys, and meetings. */
#include "hub_scene_test.h"
#include "mpi_question.h"
#include "mpi_service.h"

enum { SLOTS = 8, CAP = 256 };

struct answer {
    struct leat_mpi_answer head;
    char value[CAP];
    uint64_t len;
};

/* ---- tasks ----------------------------------------------------------------------------------- */

static void ask(const struct leat_mpi_question *question, const char *key, const char *value)
{
    struct {
        struct leat_mpi_question head;
        char text[2 * CAP];
    } all = { .head = *question };
    const size_t key_len = strlen(key), value_len = strlen(value);
    all.head.key_len = (uint32_t)key_len;
    memcpy(all.text, key, key_len);
    memcpy(all.text + key_len, value, value_len);
    leat_task_call(&all, sizeof all.head + key_len + value_len, 1);
}

static struct answer await_answer(void)
{
    struct leat_task_event event;
    struct answer answer = { 0 };
    while (!leat_task_next(&event))
        leat_task_wait(LEAT_NEVER, "an answer", "");
    check_that(event.kind == LEAT_TASK_ANSWERED && event.len >= sizeof answer.head);
    memcpy(&answer.head, event.octets, sizeof answer.head);
    answer.len = event.len - sizeof answer.head;
    check_that(answer.len < CAP);
    memcpy(answer.value, event.octets + sizeof answer.head, answer.len);
    leat_task_release(&event);
    return answer;
}

static struct answer asked(enum leat_mpi_kind kind, uint32_t number, uint32_t count,
                           const char *key, const char *value)
{
    ask(&(struct leat_mpi_question){ .kind = kind, .number = number, .count = count }, key, value);
    return await_answer();
}

static bool published(const char *key, const char *value, bool goes)
{
    return asked(LEAT_MPI_PUBLISH, goes, 0, key, value).head.is_good;
}

static bool finds(const char *key, const char *value)
{
    const struct answer answer = asked(LEAT_MPI_LOOKUP, 0, 0, key, "");
    return answer.head.is_good && !strcmp(answer.value, value);
}

static void uses_names(void)
{
    check_that(!finds("a", ""));
    check_that(published("a", "one", false));
    check_that(!published("a", "two", false) && !published("a", "two", true));
    check_that(published("ab", "other", false));
    check_that(finds("a", "one") && finds("a", "one") && finds("ab", "other"));
    check_that(asked(LEAT_MPI_UNPUBLISH, 0, 0, "a", "").head.is_good);
    check_that(!asked(LEAT_MPI_UNPUBLISH, 0, 0, "a", "").head.is_good);
    check_that(!finds("a", "one"));
    check_that(published("once", "first", true) && published("once", "second", true));
    check_that(finds("once", "first") && finds("once", "second") && !finds("once", ""));
}

/* Task 0 publishes late; the others wait for it, each in its turn, and get messages meanwhile. */
static void waits_for_a_name(void)
{
    const leat_time late = leat_task_now() + 1000000000;
    const uint32_t me = leat_task_number();
    if (me == 0) {
        send_pattern(1, 1000, 1);
        leat_task_wait(late, "the time", "");
        check_that(published("once", "1", true) && published("once", "2", true));
        return;
    }
    if (me == 2) leat_task_wait(leat_task_now() + 1000, "its turn", "");
    ask(&(struct leat_mpi_question){ .kind = LEAT_MPI_LOOKUP, .number = 1 }, "once", "");
    struct leat_task_event event;
    while (!leat_task_next(&event))
        leat_task_wait(LEAT_NEVER, "an event", "");
    if (me == 1) {
        check_that(event.kind == LEAT_TASK_ARRIVED && leat_task_now() < late);
        leat_task_release(&event);
        while (!leat_task_next(&event))
            leat_task_wait(LEAT_NEVER, "an event", "");
    }
    check_that(event.kind == LEAT_TASK_ANSWERED && leat_task_now() == late);
    check_that(event.octets[sizeof(struct leat_mpi_answer)] == (me == 1 ? '1' : '2'));
    leat_task_release(&event);
}

/* Three tasks meet, twice; a fourth has no part in it. */
static void meets(void)
{
    const leat_time start = leat_task_now();
    const uint32_t me = leat_task_number();
    for (uint32_t round = 1; me < 3 && round <= 2; round++) {
        leat_task_wait(start + round * 1000000 + me * 1000, "its time", "");
        check_that(asked(LEAT_MPI_MEET, 0, 3, "we", "").head.is_good);
        check_that(leat_task_now() == start + round * 1000000 + 2000);
    }
}

/* Gives slots back, and then has two tasks in them. */
static void starts_others(void)
{
    leat_task_wait(leat_task_now() + 5000, "a moment", "");
    check_that(asked(LEAT_MPI_SLOTS, 0, SLOTS, "", "").head.number == SLOTS - 1);
    check_that(!asked(LEAT_MPI_SLOTS, 0, 0, "", "").head.is_good);
    const struct answer given = asked(LEAT_MPI_SLOTS, 0, 3, "", "");
    check_that(given.head.is_good && given.head.number == 1);
    leat_task_give_up(given.head.number + 2);
    check_that(asked(LEAT_MPI_NO_SLOTS, given.head.number + 2, 1, "", "").head.is_good);
    check_that(asked(LEAT_MPI_SLOTS, 0, SLOTS, "", "").head.number == SLOTS - 3);
    struct leat_task_event event;
    for (uint32_t i = 0; i < 2; i++) {
        while (!leat_task_next(&event))
            leat_task_wait(LEAT_NEVER, "a message", "");
        check_that(event.kind == LEAT_TASK_ARRIVED && event.len == 10);
        leat_task_release(&event);
    }
}

/* A process that becomes a task as soon as it is expected. */
static _Noreturn void be_started(const char *path, uint32_t slot)
{
    const char *why;
    setenv(LEAT_TASK_RUN_VARIABLE, path, 1);
    while (!leat_task_attach(slot, &why))
        usleep(1000);
    leat_task_begin();
    send_pattern(0, 10, 1);
    leat_task_leave();
    _exit(0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void runs(uint32_t tasks, task_body *body)
{
    static struct scene scene;
    struct leat_mpi_service *service = leat_mpi_service_create(tasks);
    scene_service = leat_mpi_service_hooks(service);
    run_scene(&scene, "clos444", tasks, body);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
    leat_mpi_service_destroy(service);
}

static void names_have_one_value_or_several_that_go_when_they_are_read(void)
{
    runs(1, uses_names);
}

static void a_value_reaches_those_that_wait_for_it_at_its_time_and_in_their_order(void)
{
    for (int i = 0; i < 5; i++)
        runs(3, waits_for_a_name);
}

static void a_meeting_begins_when_the_last_has_come(void)
{
    runs(4, meets);
}

static void slots_are_given_one_after_the_other_and_time_waits_for_their_tasks(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444", LEAT_SIM_ATM_CELL);
    struct leat_mpi_service *service = leat_mpi_service_create(SLOTS);
    static struct leat_sim_atm_ports port;
    void *memory = calloc(1, leat_sim_atm_ports_footprint(&config));
    char why[200];
    pid_t pid[3];
    if (!memory) abort();
    leat_sim_atm_ports_init(&port, &config, memory);
    const struct leat_hub_config hub_config = {
        .net = &port.net, .slots = SLOTS, .expected = 1, .service = leat_mpi_service_hooks(service)
    };
    struct leat_hub *hub = leat_hub_create(&hub_config, why, sizeof why);
    if (!hub) abort();
    for (uint32_t i = 0; i < 3; i++) {
        pid[i] = fork();
        if (pid[i] == 0 && i == 0) be_task(leat_hub_path(hub), 0, starts_others);
        if (pid[i] == 0) be_started(leat_hub_path(hub), i);
    }
    EQ(leat_hub_run(hub, why, sizeof why), LEAT_HUB_DONE);
    for (uint32_t i = 0; i < 3; i++) {
        int status;
        waitpid(pid[i], &status, 0);
        EQ(status, 0);
        OK(leat_hub_task(hub, i)->begun && leat_hub_task(hub, i)->left);
    }
    EQ(leat_hub_task(hub, 1)->start, leat_hub_task(hub, 0)->start + 5000);
    OK(!leat_hub_task(hub, 3)->begun);
    leat_hub_destroy(hub);
    leat_mpi_service_destroy(service);
    free(memory);
}

TAP_MAIN(T(names_have_one_value_or_several_that_go_when_they_are_read),
         T(a_value_reaches_those_that_wait_for_it_at_its_time_and_in_their_order),
         T(a_meeting_begins_when_the_last_has_come),
         T(slots_are_given_one_after_the_other_and_time_waits_for_their_tasks))
