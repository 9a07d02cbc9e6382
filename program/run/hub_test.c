/* Tasks that send, wait, poll and die; what an observer sees of them. */
#include "hub_scene_test.h"
#include "leat_bytes.h"
#include <leat/random.h>
#include <poll.h>
#include <sys/prctl.h>

static void note_alarm(int number)
{
    (void)number;
    alarm_came = 1;
}

/* ---- roles of tasks -------------------------------------------------------------------------- */

static struct leat_task_event await(enum leat_task_event_kind kind)
{
    struct leat_task_event event;
    while (!leat_task_next(&event))
        leat_task_wait(LEAT_NEVER, "an event", "");
    check_that(event.kind == kind);
    return event;
}

static void receive_pattern(uint32_t from, uint64_t len, uint8_t first)
{
    const struct leat_task_event event = await(LEAT_TASK_ARRIVED);
    check_that(event.task == from && event.len == len);
    for (uint64_t i = 0; i < len; i++)
        check_that(event.octets[i] == (uint8_t)(first + i * 7));
    leat_task_release(&event);
}

#define CYCLE_PS UINT64_C(50000)
static const uint64_t lens[] = { 0, 1, 4, 16, 17, 1000, 5000, 65000, 67912 };

/* One at a time, in an idle network: read data leaves the buffers 40,000 cycles later. */
static void one_way(void)
{
    const leat_time start = leat_task_now(), each = 1000000 * CYCLE_PS;
    for (uint32_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        const leat_time at = start + i * each;
        leat_task_wait(at, "the next round", "");
        if (leat_task_number() == 1) {
            send_pattern(5, lens[i], (uint8_t)i);
        } else if (leat_task_number() == 5) {
            receive_pattern(1, lens[i], (uint8_t)i);
            check_that(leat_task_now() ==
                       at + CYCLE_PS * leat_atm_aal_one_way_cycles((uint32_t)lens[i]));
        }
    }
}

static void contention_free_messages_take_the_time_of_the_note(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 6, one_way);
    ended(&scene, LEAT_HUB_DONE);
    EQ(leat_hub_task(scene.hub, 1)->messages_sent, sizeof lens / sizeof *lens);
    EQ(leat_hub_task(scene.hub, 5)->messages_received, sizeof lens / sizeof *lens);
    tear_down(&scene);
}

/* Every task sends to every task, several at a time, also to itself, and long ones. */
static void all_to_all(void)
{
    const uint32_t n = leat_task_expected(), me = leat_task_number();
    for (uint32_t round = 0; round < 3; round++) {
        const uint64_t len = round == 2 ? 3000 : 100 * round;
        for (uint32_t i = 0; i < n; i++)
            send_pattern((me + i) % n, len + me, (uint8_t)(me + round));
    }
    uint32_t from[TASKS_MAX] = { 0 };
    for (uint32_t i = 0; i < 3 * n; i++) {
        const struct leat_task_event event = await(LEAT_TASK_ARRIVED);
        const uint32_t round = from[event.task]++;
        check_that(event.len == (round == 2 ? 3000 : 100 * round) + event.task);
        for (uint64_t k = 0; k < event.len; k++)
            check_that(event.octets[k] == (uint8_t)(event.task + round + k * 7));
        leat_task_release(&event);
    }
}

static void every_run_is_the_same_run(void)
{
    static struct scene scene;
    uint64_t certificate[2];
    leat_time end[2];
    for (int i = 0; i < 2; i++) {
        run_scene(&scene, "clos444", 20, all_to_all);
        ended(&scene, LEAT_HUB_DONE);
        certificate[i] = scene.port.net.certificate;
        end[i] = leat_hub_now(scene.hub);
        EQ(scene.port.net.in_flight, 0);
        tear_down(&scene);
    }
    EQ(certificate[0], certificate[1]);
    EQ(end[0], end[1]);
}

/* A number that differs in every run: in octets that are the task's, and in private ones. */
static uint64_t number_of_run;
static bool is_number_private;

static void report_number_of_run(void)
{
    if (leat_task_number() == 0) {
        uint8_t *octets = leat_task_room(8);
        leat_put_le64(octets, number_of_run);
        if (is_number_private) leat_task_make_private(octets);
        leat_task_send(1, octets, 8, 0, false);
        send_pattern(1, 100, 1); /* in a block that may have been private before */
        leat_task_note(LEAT_TASK_HAS_THREADS);
    } else {
        const struct leat_task_event event = await(LEAT_TASK_ARRIVED);
        check_that(leat_get_le64(event.octets) == number_of_run);
        leat_task_release(&event);
        receive_pattern(0, 100, 1);
    }
}

static void private_octets_do_not_count_in_the_certificate(void)
{
    static struct scene scene;
    uint64_t certificate[2][2];
    for (int i = 0; i < 4; i++) {
        number_of_run = (uint64_t)i;
        is_number_private = i / 2;
        run_scene(&scene, "clos444", 2, report_number_of_run);
        ended(&scene, LEAT_HUB_DONE);
        certificate[i / 2][i % 2] = scene.port.net.certificate;
        EQ(leat_hub_task(scene.hub, 0)->notes, LEAT_TASK_HAS_THREADS);
        EQ(leat_hub_task(scene.hub, 1)->notes, 0);
        tear_down(&scene);
    }
    OK(certificate[0][0] != certificate[0][1]);
    EQ(certificate[1][0], certificate[1][1]);
}

/* The actions of a task depend on the times of its messages, and all of that goes into its
 * messages. */
static void wander(void)
{
    const uint32_t n = leat_task_expected(), me = leat_task_number();
    struct leat_random r;
    leat_random_seed(&r, me);
    for (uint32_t i = 0; i < 60; i++) {
        struct leat_task_event event = { .at = 0 };
        uint8_t *octets = leat_task_room(sizeof(uint64_t) * 32);
        const uint64_t kind = leat_random_below(&r, 8);
        const leat_time span = kind < 3 ? 0 : kind < 6 ? 2000000 : 200000000;
        if (leat_task_wait(leat_task_now() + span, "something", "") && leat_task_next(&event))
            leat_task_release(&event);
        leat_put_le64(octets, leat_task_now());
        leat_put_le64(octets + 8, event.at + event.task);
        memset(octets + 16, (int)i, sizeof(uint64_t) * 30);
        const uint32_t to = (uint32_t)leat_random_below(&r, n);
        const size_t len = 16 + leat_random_below(&r, 240);
        leat_task_send(to, octets, len, i, leat_random_below(&r, 2));
        if (event.at % 3 == 1) leat_task_charge(event.at % 1000000);
    }
}

static void tasks_that_run_ahead_of_the_network_change_nothing(void)
{
    static struct scene scene;
    uint64_t certificate[2], waited[2] = { 0 };
    leat_time end[2];
    for (int i = 0; i < 2; i++) {
        nobody_runs_ahead = i == 1;
        run_scene(&scene, "clos444", 20, wander);
        ended(&scene, LEAT_HUB_DONE);
        certificate[i] = scene.port.net.certificate;
        end[i] = leat_hub_now(scene.hub);
        for (uint32_t t = 0; t < 20; t++)
            waited[i] = waited[i] * 31 + leat_hub_task(scene.hub, t)->waited_ps;
        tear_down(&scene);
    }
    nobody_runs_ahead = false;
    EQ(certificate[0], certificate[1]);
    EQ(waited[0], waited[1]);
    EQ(end[0], end[1]);
}

/* Task 2 gets a long message long before the network has reached its end, and waits in real time
 * for task 1, which gets a short one from task 3 meanwhile. */
static int word_of_task_1[2]; /* a pipe */

static void wait_for_one_behind(void)
{
    enum { LONG = 2000, SEND_AFTER = 18000, PATIENCE_MS = 600000 };
    char word = 0;
    switch (leat_task_number()) {
    case 0: send_pattern(2, LONG, 0); break;
    case 1:
        receive_pattern(3, 4, 1);
        check_that(write(word_of_task_1[1], &word, 1) == 1);
        break;
    case 2: {
        receive_pattern(0, LONG, 0);
        struct pollfd look = { .fd = word_of_task_1[0], .events = POLLIN };
        check_that(poll(&look, 1, PATIENCE_MS) == 1);
        break;
    }
    default:
        leat_task_wait(leat_task_now() + SEND_AFTER * CYCLE_PS, "its time", "");
        send_pattern(1, 4, 1);
    }
}

static void a_task_ahead_of_the_network_holds_up_no_other(void)
{
    static struct scene scene;
    if (pipe(word_of_task_1)) abort();
    run_scene(&scene, "clos444", 4, wait_for_one_behind);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
    close(word_of_task_1[0]);
    close(word_of_task_1[1]);
}

static void long_messages(void)
{
    if (leat_task_number() == 0) {
        send_pattern(1, 300000, 1);
        send_pattern(1, 1, 2);
    } else {
        receive_pattern(0, 300000, 1);
        receive_pattern(0, 1, 2);
    }
}

static void a_message_longer_than_any_buffer_arrives_whole_and_in_order(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, long_messages);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

static void both_receive(void)
{
    struct leat_task_event event;
    leat_task_wait(LEAT_NEVER, "a message", leat_task_number() ? " from 0" : " from 1");
    leat_task_next(&event);
}

static void tasks_that_wait_for_each_other_are_found_and_named(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, both_receive);
    ended(&scene, LEAT_HUB_STUCK);
    OK(!strcmp(leat_hub_task(scene.hub, 1)->doing, "a message from 0"));
    OK(leat_hub_task(scene.hub, 1)->clock >= leat_hub_now(scene.hub)); /* it has never continued */
    tear_down(&scene);
}

/* ---- tasks that poll ------------------------------------------------------------------------- */

enum { POLL_US = 1000, POLLS = 5000 };
#define MICROSECOND_PS UINT64_C(1000000)
#define A_SECOND_PS    (1000000 * MICROSECOND_PS)

static void poll_so_often(uint64_t polls)
{
    for (uint64_t i = 0; i < polls; i++)
        leat_task_wait(leat_task_now() + POLL_US * MICROSECOND_PS, "a poll in vain", "");
}

/* Task 1 waits for ever, task 0 polls for something that never comes. */
static void one_polls(void)
{
    struct leat_task_event event;
    if (leat_task_number()) leat_task_wait(LEAT_NEVER, "a message from 0", "");
    while (!leat_task_next(&event))
        poll_so_often(1);
}

static void a_task_that_polls_in_vain_is_found_when_patience_ends(void)
{
    static struct scene scene;
    scene_patience = 2 * A_SECOND_PS;
    run_scene(&scene, "clos444", 2, one_polls);
    ended(&scene, LEAT_HUB_STUCK);
    OK(strstr(scene.reason, "for 2.001 s of simulated time no message was sent or received") !=
       NULL);
    /* Time begins at one second, and a task that continues alone hands over every millisecond. */
    OK(leat_hub_now(scene.hub) >= 3 * A_SECOND_PS);
    OK(leat_hub_now(scene.hub) <= 3 * A_SECOND_PS + 2 * POLL_US * MICROSECOND_PS);
    OK(strcmp(leat_hub_task(scene.hub, 0)->doing, "a poll in vain") == 0);
    tear_down(&scene);
    scene_patience = 0;
}

/* Short polls for ever: the run counts them. */
static void all_poll(void)
{
    for (;;)
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a short poll", "");
}

static void short_polls_are_counted(void)
{
    static struct scene scene;
    scene_limits_polls = true;
    run_scene(&scene, "clos444", 1, all_poll);
    ended(&scene, LEAT_HUB_STUCK);
    OK(strstr(scene.reason, "while tasks polled 20") != NULL);
    /* 200,000 of 100 ns. */
    OK(leat_hub_now(scene.hub) >= A_SECOND_PS + A_SECOND_PS / 50);
    OK(leat_hub_now(scene.hub) <= A_SECOND_PS + A_SECOND_PS / 50 + 3 * POLL_US * MICROSECOND_PS);
    tear_down(&scene);
}

/* As many polls as would be too many, while another task sleeps, and then sends. */
static void one_sleeps(void)
{
    struct leat_task_event event;
    if (leat_task_number() == 0) {
        leat_task_wait(leat_task_now() + A_SECOND_PS / 20, "a long sleep", "");
        send_pattern(1, 10, 1);
        return;
    }
    while (!leat_task_next(&event))
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a short poll", "");
    leat_task_release(&event);
}

static void polls_beside_a_sleeper_are_no_deadlock(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, one_sleeps);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

/* The same within a task; and a few polls more, until the other thread has woken it. */
static void thread_sleeps(void)
{
    const leat_time wakes_at = leat_task_now() + A_SECOND_PS / 20;
    leat_task_note_sleeper(wakes_at);
    while (leat_task_now() < wakes_at + 10 * LEAT_TASK_POLL_PS)
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a short poll", "");
}

static void polls_beside_a_thread_that_sleeps_are_no_deadlock(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 1, thread_sleeps);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
    scene_limits_polls = false;
}

/* Occasional messages, with polls between them; few polls, with long sleeps; neither is a deadlock.
 */
static void polls_with_hope(void)
{
    const uint32_t me = leat_task_number();
    for (int round = 0; round < 5; round++) {
        if (me == 0) {
            poll_so_often(POLLS / 5);
            send_pattern(1, 10, 1);
        } else {
            struct leat_task_event event = await(LEAT_TASK_ARRIVED);
            leat_task_release(&event);
        }
    }
    if (me == 0)
        for (int i = 0; i < 10; i++)
            leat_task_wait(leat_task_now() + 3600 * A_SECOND_PS, "a long sleep", "");
}

static void polls_between_messages_and_long_sleeps_are_no_deadlock(void)
{
    static struct scene scene;
    scene_patience = 2 * A_SECOND_PS;
    run_scene(&scene, "clos444", 2, polls_with_hope);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
    scene_patience = 0;
}

static void one_is_killed(void)
{
    if (leat_task_number() == 1) raise(SIGKILL);
    both_receive();
}

static void a_task_that_is_killed_ends_the_run(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, one_is_killed);
    ended(&scene, LEAT_HUB_DIED);
    OK(strstr(scene.reason, "task 1") != NULL);
    tear_down(&scene);
}

/* One is killed while it waits, the others have much to do. */
static void one_is_killed_as_it_waits(void)
{
    if (leat_task_number() == 1) {
        const uint32_t pid = (uint32_t)getpid();
        uint8_t *octets = leat_task_room(sizeof pid);
        memcpy(octets, &pid, sizeof pid);
        leat_task_send(0, octets, sizeof pid, 0, false);
        both_receive();
    }
    const struct leat_task_event event = await(LEAT_TASK_ARRIVED);
    uint32_t pid;
    memcpy(&pid, event.octets, sizeof pid);
    leat_task_release(&event);
    kill((pid_t)pid, SIGKILL);
    for (;;)
        leat_task_wait(leat_task_now() + 1000000000, "a deadline", "");
}

static void a_task_that_is_killed_as_it_waits_ends_the_run(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 2, one_is_killed_as_it_waits);
    ended(&scene, LEAT_HUB_DIED);
    OK(strstr(scene.reason, "task 1") != NULL);
    tear_down(&scene);
}

static void never_ends(void)
{
    for (;;)
        leat_task_wait(leat_task_now() + 1000000000, "a deadline", "");
}

static void an_interrupt_ends_the_run_however_busy_it_is(void)
{
    static struct scene scene;
    signal(SIGALRM, note_alarm);
    alarm(1);
    run_scene(&scene, "clos444", 3, never_ends);
    ended(&scene, LEAT_HUB_INTERRUPTED);
    alarm_came = 0;
    tear_down(&scene);
}

/* Waits with a deadline end at it, to the picosecond; polls below the horizon do not hand over. */
static void sleepers(void)
{
    const leat_time start = leat_task_now(), span = 1234567 * (leat_task_number() + 1);
    check_that(!leat_task_wait(start + span, "a deadline", ""));
    check_that(leat_task_now() == start + span);
    for (int i = 0; i < 1000; i++)
        leat_task_wait(leat_task_now() + LEAT_TASK_POLL_PS, "a poll", "");
    check_that(leat_task_now() == start + span + 1000 * LEAT_TASK_POLL_PS);
}

static void time_passes_for_those_who_wait(void)
{
    static struct scene scene;
    run_scene(&scene, "clos444", 5, sleepers);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

static void many_small(void)
{
    const uint32_t n = leat_task_expected(), me = leat_task_number();
    for (uint32_t i = 0; i < 3000; i++)
        send_pattern((me + 1) % n, 8, (uint8_t)i);
    for (uint32_t i = 0; i < 3000; i++)
        receive_pattern((me + n - 1) % n, 8, (uint8_t)i);
}

static void more_requests_and_events_than_rings_hold_are_no_loss(void)
{
    static struct scene scene;
    run_scene(&scene, "bmx:4", 3, many_small);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

/* A service that counts, echoes queries, and ends the run at the word "stop". */
static void answer_alike(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                         const uint8_t *question, size_t len, leat_time at)
{
    (void)context;
    if (len == 4 && !memcmp(question, "stop", 4)) {
        leat_hub_stop(hub, LEAT_HUB_FAILED, "it was told to");
        return;
    }
    leat_hub_count_sent(hub, task, 0, len);
    leat_hub_count_received(hub, task, len);
    leat_hub_answer(hub, task, cookie, question, len, at + 1);
}

static void asks_much(void)
{
    enum { LEN = 3000000 };
    uint8_t *question = malloc(LEN);
    check_that(question != NULL);
    for (size_t i = 0; i < LEN; i++)
        question[i] = (uint8_t)(i * 7);
    for (size_t len = 0; len <= LEN; len = 10 * len + 3) {
        leat_task_call(question, len, len);
        const struct leat_task_event event = await(LEAT_TASK_ANSWERED);
        check_that(event.cookie == len && event.len == len);
        check_that(!len || !memcmp(event.octets, question, len));
        leat_task_release(&event);
    }
    free(question);
    leat_task_call("stop", 4, 0);
    await(LEAT_TASK_ANSWERED);
}

static void questions_of_any_length_are_answered_until_the_service_stops_the_run(void)
{
    static struct scene scene;
    scene_service.call = answer_alike;
    run_scene(&scene, "clos444", 1, asks_much);
    scene_service.call = NULL;
    ended(&scene, LEAT_HUB_FAILED);
    OK(!strcmp(scene.reason, "it was told to"));
    EQ(leat_hub_task(scene.hub, 0)->messages_sent, 7);
    EQ(leat_hub_task(scene.hub, 0)->octets_received, 3 + 33 + 333 + 3333 + 33333 + 333333);
    tear_down(&scene);
}

static void a_dead_port_is_a_reason_to_stop(void)
{
    static struct scene scene;
    static const struct leat_sim_atm_line_outage outage = { .port = 1,
                                                            .from = 0,
                                                            .to = LEAT_NEVER };
    struct leat_sim_atm_ports_config config = config_of("clos444", LEAT_SIM_ATM_CELL);
    config.aal.retransmit_cycles = 2000;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    run_on(&scene, &config, 2, long_messages);
    ended(&scene, LEAT_HUB_LOST);
    tear_down(&scene);
}

/* ---- observer -------------------------------------------------------------------------------- */

enum { SEEN_MAX = 2000 };

/* Observed events, checked as they arrive. */
static struct {
    leat_time reached;
    struct {
        bool is_there, waits;
        leat_time since, waited;
        uint64_t handed, sent, octets;
    } task[TASKS_MAX];
    enum { UNSEEN, HANDED_OVER, SENT, ARRIVED, LOST } message[SEEN_MAX];
    uint64_t messages, arrived, lost, wrong;
} seen;

static void expect(bool holds)
{
    seen.wrong += !holds;
}

static void see_begin(void *context, uint32_t task, uint32_t port, leat_time at)
{
    expect(context == &seen && at >= seen.reached && !seen.task[task].is_there &&
           port == task % 16);
    seen.task[task].is_there = true;
    seen.task[task].since = at;
}

static void see_wait(void *context, uint32_t task, const char *call, leat_time at)
{
    expect(context == &seen && at >= seen.reached && at >= seen.task[task].since);
    expect(seen.task[task].is_there && !seen.task[task].waits && !strcmp(call, "an event"));
    seen.task[task].waits = true;
    seen.task[task].since = at;
}

static void see_go_on(void *context, uint32_t task, uint32_t messages, leat_time at)
{
    expect(context == &seen && at >= seen.reached && seen.task[task].waits);
    seen.task[task].waited += at - seen.task[task].since;
    seen.task[task].handed += messages;
    seen.task[task].waits = false;
    seen.task[task].since = at;
}

static void see_leave(void *context, uint32_t task, leat_time at)
{
    expect(context == &seen && at >= seen.task[task].since && seen.task[task].is_there);
    seen.task[task].is_there = false;
}

static void see_handed_over(void *context, const struct leat_hub_message *m, leat_time at)
{
    expect(context == &seen && at >= seen.reached && m->number == seen.messages++);
    expect(seen.task[m->from].is_there && !seen.task[m->from].waits && m->port == m->from % 16);
    if (m->number < SEEN_MAX) seen.message[m->number] = HANDED_OVER;
    seen.task[m->from].sent++;
    seen.task[m->from].octets += m->len;
}

static void see_sent(void *context, const struct leat_hub_message *m, leat_time at)
{
    expect(context == &seen && at >= seen.reached && seen.message[m->number] == HANDED_OVER);
    seen.message[m->number] = SENT;
}

static void see_arrived(void *context, const struct leat_hub_message *m, leat_time at)
{
    expect(context == &seen && at >= seen.reached && seen.message[m->number] == SENT);
    expect(m->len < 2 || (uint8_t)(m->octets[0] + 7) == m->octets[1]); /* send_pattern */
    seen.message[m->number] = ARRIVED;
    seen.arrived++;
}

static void see_lost(void *context, const struct leat_hub_message *m, leat_time at)
{
    expect(context == &seen && at >= seen.reached);
    seen.message[m->number] = LOST;
    seen.lost++;
}

static void see_reached(void *context, leat_time at)
{
    expect(context == &seen && at >= seen.reached);
    seen.reached = at;
}

static const struct leat_hub_watch watch = {
    .context = &seen,
    .begins = see_begin,
    .waits = see_wait,
    .goes_on = see_go_on,
    .leaves = see_leave,
    .handed_over = see_handed_over,
    .sent = see_sent,
    .arrived = see_arrived,
    .lost = see_lost,
    .reached = see_reached,
};

static void an_observer_sees_all_that_tasks_do(void)
{
    static struct scene scene;
    memset(&seen, 0, sizeof seen);
    scene_watch = &watch;
    run_scene(&scene, "clos444", 20, all_to_all);
    scene_watch = NULL;
    ended(&scene, LEAT_HUB_DONE);
    EQ(seen.wrong, 0);
    EQ(seen.messages, 3 * 20 * 20);
    EQ(seen.arrived, seen.messages);
    EQ(seen.lost, 0);
    for (uint32_t i = 0; i < 20; i++) {
        const struct leat_hub_task *reported = leat_hub_task(scene.hub, i);
        OK(!seen.task[i].is_there && seen.task[i].sent == reported->messages_sent);
        EQ(seen.task[i].octets, reported->octets_sent);
        EQ(seen.task[i].handed, reported->messages_received);
        EQ(seen.task[i].waited, reported->waited_ps);
    }
    tear_down(&scene);
}

static void an_observer_sees_what_is_lost(void)
{
    static struct scene scene;
    static const struct leat_sim_atm_line_outage outage = { .port = 1,
                                                            .from = 0,
                                                            .to = LEAT_NEVER };
    struct leat_sim_atm_ports_config config = config_of("clos444", LEAT_SIM_ATM_CELL);
    config.aal.retransmit_cycles = 2000;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    memset(&seen, 0, sizeof seen);
    scene_watch = &watch;
    run_on(&scene, &config, 2, long_messages);
    scene_watch = NULL;
    ended(&scene, LEAT_HUB_LOST);
    EQ(seen.wrong, 0);
    EQ(seen.lost, 1);
    EQ(seen.arrived, 0);
    tear_down(&scene);
}

/* Rank 0 sends some that end no wait, then `loud` ones. */
static uint32_t loud;

static void hears_quiet_messages_with_a_loud_one(void)
{
    enum { QUIET = 5 };
    struct leat_task_event event;
    uint32_t count = 0;
    for (uint32_t i = 0; leat_task_number() == 0 && i < QUIET + loud; i++) {
        uint8_t *octets = leat_task_room(1);
        octets[0] = (uint8_t)i;
        if (i < QUIET) leat_task_make_quiet(octets);
        leat_task_send(1, octets, 1, 0, false);
    }
    if (leat_task_number() == 0) return;
    check_that(leat_task_wait(LEAT_NEVER, "all", ""));
    for (; leat_task_next(&event); count++) {
        check_that(event.octets[0] == count);
        leat_task_release(&event);
    }
    check_that(count == QUIET + loud);
}

/* Also if nothing else comes: they must not be lost. */
static void quiet_messages_wait_for_others(void)
{
    struct scene scene;
    for (loud = 0; loud < 2; loud++) {
        run_scene(&scene, "bmx:2", 2, hears_quiet_messages_with_a_loud_one);
        ended(&scene, LEAT_HUB_DONE);
        tear_down(&scene);
    }
}

TAP_MAIN(T(contention_free_messages_take_the_time_of_the_note), T(every_run_is_the_same_run),
         T(private_octets_do_not_count_in_the_certificate),
         T(tasks_that_run_ahead_of_the_network_change_nothing),
         T(a_task_ahead_of_the_network_holds_up_no_other),
         T(a_message_longer_than_any_buffer_arrives_whole_and_in_order),
         T(tasks_that_wait_for_each_other_are_found_and_named),
         T(a_task_that_polls_in_vain_is_found_when_patience_ends), T(short_polls_are_counted),
         T(polls_beside_a_sleeper_are_no_deadlock),
         T(polls_beside_a_thread_that_sleeps_are_no_deadlock),
         T(polls_between_messages_and_long_sleeps_are_no_deadlock),
         T(a_task_that_is_killed_ends_the_run), T(a_task_that_is_killed_as_it_waits_ends_the_run),
         T(an_interrupt_ends_the_run_however_busy_it_is), T(time_passes_for_those_who_wait),
         T(more_requests_and_events_than_rings_hold_are_no_loss),
         T(questions_of_any_length_are_answered_until_the_service_stops_the_run),
         T(a_dead_port_is_a_reason_to_stop), T(an_observer_sees_all_that_tasks_do),
         T(an_observer_sees_what_is_lost), T(quiet_messages_wait_for_others))
