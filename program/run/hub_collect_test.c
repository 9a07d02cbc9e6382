/* Collective operations of tasks, which are real processes, over the cell network of the thesis. */
#include "collect.h"
#include "hub_scene_test.h"
#include "port_fold.h"
#include <leat/random.h>

enum { GROUP = 6, OPERATIONS = 40, WORDS = 3, OCTETS = 50 };

/* ---- for tasks ---- */

static struct leat_task_event ask(const struct leat_collect_question *q, const void *octets,
                                  size_t len)
{
    static uint64_t cookie;
    struct leat_task_event event;
    leat_task_collect(q, octets, len, ++cookie);
    leat_task_wait(LEAT_NEVER, "a collective operation", "");
    check_that(leat_task_next(&event) && event.kind == LEAT_TASK_COLLECTED &&
               event.cookie == cookie);
    return event;
}

static struct leat_collect_answer join(const uint32_t *task, uint32_t count, uint32_t key)
{
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_JOIN, .key = key };
    struct leat_collect_answer answer;
    const struct leat_task_event event = ask(&q, task, count * sizeof *task);
    check_that(event.len == sizeof answer);
    memcpy(&answer, event.octets, sizeof answer);
    leat_task_release(&event);
    return answer;
}

static void leave(uint32_t group)
{
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_LEAVE, .group = group };
    leat_task_collect(&q, NULL, 0, 0);
}

/* The words of all together are where those of this task were. */
static enum leat_collect_refusal fold(uint32_t group, enum leat_port_fold fold, uint64_t *word,
                                      uint32_t words)
{
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_PART,
                                             .group = group,
                                             .call = "fold",
                                             .kind = LEAT_PORT_FOLD,
                                             .fold = fold,
                                             .len = words * sizeof *word };
    struct leat_collect_answer answer;
    const struct leat_task_event event = ask(&q, word, (size_t)q.len);
    check_that(event.len == sizeof answer + q.len);
    memcpy(&answer, event.octets, sizeof answer);
    if (words) memcpy(word, event.octets + sizeof answer, (size_t)q.len);
    leat_task_release(&event);
    return answer.refusal;
}

static void cast(uint32_t group, uint32_t root, uint8_t *octets, uint64_t len)
{
    const bool is_root = leat_task_number() == root;
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_PART,
                                             .group = group,
                                             .call = "cast",
                                             .kind = LEAT_PORT_CAST,
                                             .root = root,
                                             .len = len };
    const struct leat_task_event event = ask(&q, octets, is_root ? (size_t)len : 0);
    const uint64_t head = sizeof(struct leat_collect_answer);
    check_that(event.len == head + (is_root ? 0 : len));
    if (!is_root) memcpy(octets, event.octets + head, (size_t)len);
    leat_task_release(&event);
}

static const uint32_t everyone[GROUP] = { 0, 1, 2, 3, 4, 5 };

static uint64_t word_of(uint32_t task, uint32_t operation, uint32_t i)
{
    struct leat_random r;
    leat_random_seed(&r, (uint64_t)task << 40 ^ (uint64_t)operation << 20 ^ i);
    return leat_random_next(&r);
}

static void do_operation(uint32_t group, uint32_t operation)
{
    const enum leat_port_fold how = (enum leat_port_fold)(operation % LEAT_PORT_FOLDS);
    uint64_t word[WORDS], want[WORDS];
    uint8_t octets[OCTETS];
    for (uint32_t i = 0; i < WORDS; i++) {
        word[i] = word_of(leat_task_number(), operation, i);
        want[i] = word_of(0, operation, i);
        for (uint32_t k = 1; k < GROUP; k++)
            want[i] = leat_port_fold_one(how, want[i], word_of(k, operation, i));
    }
    check_that(fold(group, how, word, WORDS) == LEAT_COLLECT_GRANTED);
    check_that(memcmp(word, want, sizeof want) == 0);
    memset(octets, leat_task_number() == operation % GROUP ? (int)operation : 255, sizeof octets);
    cast(group, operation % GROUP, octets, sizeof octets);
    for (uint32_t i = 0; i < OCTETS; i++)
        check_that(octets[i] == operation);
}

static void all_take_part(void)
{
    const struct leat_collect_answer answer = join(everyone, GROUP, 7);
    check_that(answer.refusal == LEAT_COLLECT_GRANTED && answer.means.words_max >= WORDS);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        leat_task_charge(word_of(leat_task_number(), i, 99) % 100000000); /* up to 100 us */
        do_operation(answer.group, i);
    }
    check_that(fold(answer.group, LEAT_PORT_SUM, NULL, 0) == LEAT_COLLECT_GRANTED);
    leave(answer.group);
}

/* Of a group, twice: also the two tasks of one port. */
static void tasks_get_the_result_of_all(void)
{
    uint64_t certificate[2];
    for (int i = 0; i < 2; i++) {
        struct scene scene;
        run_scene(&scene, "bmx:5", GROUP, all_take_part);
        ended(&scene, LEAT_HUB_DONE);
        certificate[i] = leat_port_certificate(&scene.port.net);
        tear_down(&scene);
    }
    EQ(certificate[0], certificate[1]);
}

/* Two groups of the same tasks, and one of two tasks at the same port. */
static void have_several_groups(void)
{
    static const uint32_t pair[] = { 0, 5 };
    const struct leat_collect_answer one = join(everyone, GROUP, 1), two = join(everyone, GROUP, 2);
    check_that(one.group != two.group);
    do_operation(two.group, 0);
    do_operation(one.group, 1);
    if (leat_task_number() % 5 == 0) {
        const struct leat_collect_answer host = join(pair, 2, 1);
        uint64_t word = leat_task_number() + 1;
        const leat_time before = leat_task_now();
        check_that(fold(host.group, LEAT_PORT_SUM, &word, 1) == LEAT_COLLECT_GRANTED && word == 7);
        check_that(leat_task_now() - before < 1000000000); /* memory of their host */
        leave(host.group);
    }
    do_operation(two.group, 2);
    leave(one.group);
    leave(two.group);
}

static void groups_do_not_meet(void)
{
    struct scene scene;
    run_scene(&scene, "bmx:5", GROUP, have_several_groups);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

/* Task 3 calls as the others do not. */
static bool is_odd(void)
{
    return leat_task_number() == 3;
}

static void differ_in_calls(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint64_t word = 0;
    uint8_t octets[OCTETS] = { 0 };
    if (is_odd())
        cast(all.group, 3, octets, sizeof octets);
    else
        fold(all.group, LEAT_PORT_SUM, &word, 1);
}

static void differ_in_operations(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint64_t word = 0;
    fold(all.group, is_odd() ? LEAT_PORT_MAX : LEAT_PORT_SUM, &word, 1);
}

static void differ_in_words(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint64_t word[2] = { 0 };
    fold(all.group, LEAT_PORT_SUM, word, is_odd() ? 2 : 1);
}

static void differ_in_octets(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint8_t octets[OCTETS] = { 0 };
    cast(all.group, 0, octets, is_odd() ? 4 : 8);
}

static void differ_in_roots(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint8_t octets[OCTETS] = { 0 };
    cast(all.group, is_odd() ? 3 : 0, octets, sizeof octets);
}

/* Which task is first is not fixed. */
static void tasks_that_call_differently_are_told(void)
{
    static const struct {
        void (*differ)(void);
        const char *text[2];
    } in[] = { { differ_in_calls, { "calls: fold and cast, ", "calls: cast and fold, " } },
               { differ_in_operations, { "operations or types of fold, " } },
               { differ_in_words,
                 { "lengths of fold: 1 and 2 words, ", "lengths of fold: 2 and 1 words, " } },
               { differ_in_octets,
                 { "lengths of cast: 8 and 4 octets, ", "lengths of cast: 4 and 8 octets, " } },
               { differ_in_roots,
                 { "roots of cast: tasks 0 and 3, ", "roots of cast: tasks 3 and 0, " } } };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        struct scene scene;
        run_scene(&scene, "bmx:5", GROUP, in[i].differ);
        ended(&scene, LEAT_HUB_FAILED);
        OK(strstr(scene.reason, in[i].text[0]) ||
           (in[i].text[1] && strstr(scene.reason, in[i].text[1])));
        tear_down(&scene);
    }
}

static void stay_away(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    if (leat_task_number() != 2) fold(all.group, LEAT_PORT_SUM, NULL, 0);
}

static void a_task_that_does_not_come_is_waited_for_in_vain(void)
{
    struct scene scene;
    run_scene(&scene, "bmx:5", GROUP, stay_away);
    ended(&scene, LEAT_HUB_STUCK);
    tear_down(&scene);
}

/* ---- what the network cannot carry out ---- */

/* The line of port 2 is dead for a while: the network gives up, and hosts send messages. */
static void fail_and_go_on(void)
{
    const struct leat_collect_answer all = join(everyone, GROUP, 1);
    uint32_t redone = 0;
    for (uint32_t i = 0; i < 12; i++) {
        uint64_t word = leat_task_number() + i, sum = 15 + GROUP * i;
        uint8_t octets[OCTETS];
        redone += fold(all.group, LEAT_PORT_SUM, &word, 1) == LEAT_COLLECT_REDONE;
        check_that(word == sum);
        memset(octets, leat_task_number() == i % GROUP ? 5 : 0, sizeof octets);
        cast(all.group, i % GROUP, octets, sizeof octets);
        for (uint32_t k = 0; k < OCTETS; k++)
            check_that(octets[k] == 5);
    }
    check_that(redone && redone < 12);
}

static void hosts_do_again_what_the_network_cannot(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:6", LEAT_SIM_ATM_CELL);
    static struct leat_sim_atm_line_outage outage = { .port = 2, .from = 0, .to = 12000 };
    struct scene scene;
    config.aal.retransmit_cycles = 5000;
    config.aal.transmissions_max = 2;
    config.aal.resync = true;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    run_on(&scene, &config, GROUP, fail_and_go_on);
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
}

/* ---- observer -------------------------------------------------------------------------------- */

static struct {
    leat_time reached, complete_at;
    uint32_t parts, completed, results, wrong;
    leat_time at[GROUP]; /* of the last part */
} seen;

static void see_number(void *context, uint32_t task, uint32_t number, leat_time at)
{
    (void)context, (void)task, (void)number, (void)at;
}

static void see_wait(void *context, uint32_t task, const char *call, leat_time at)
{
    (void)context, (void)task, (void)call, (void)at;
}

static void see_leave(void *context, uint32_t task, leat_time at)
{
    (void)context, (void)task, (void)at;
}

static void see_no_message(void *context, const struct leat_hub_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
    seen.wrong++;
}

static void see_reached(void *context, leat_time at)
{
    (void)context;
    seen.reached = at;
}

static void see_part(void *context, const struct leat_hub_operation *op, uint32_t member,
                     leat_time at)
{
    (void)context;
    seen.parts++;
    seen.at[member] = at;
    seen.wrong += at < seen.reached || op->members != GROUP || op->group || op->is_redone ||
                  strcmp(op->call, op->number % 2 ? "cast" : "fold") != 0;
}

/* Of a fold the latest part, of a cast the root's. */
static void see_completion(void *context, const struct leat_hub_operation *op, uint32_t member,
                           leat_time at)
{
    (void)context;
    seen.completed++;
    seen.complete_at = at;
    seen.wrong += at < seen.reached || at != seen.at[member] || op->completed_by != member;
    seen.wrong += op->number % 2 && member != op->number / 2 % GROUP;
    for (uint32_t i = 0; op->number % 2 == 0 && i < GROUP; i++)
        seen.wrong += seen.at[i] > at;
}

static void see_result(void *context, const struct leat_hub_operation *op, uint32_t member,
                       leat_time at)
{
    (void)context;
    seen.results++;
    seen.wrong += at < seen.reached || at < seen.at[member] || op->completed_by == op->members;
    seen.wrong += op->number % 2 == 0 && at <= seen.complete_at;
}

static void an_observer_sees_parts_and_results(void)
{
    static const struct leat_hub_watch watch = {
        .begins = see_number,
        .waits = see_wait,
        .goes_on = see_number,
        .leaves = see_leave,
        .handed_over = see_no_message,
        .sent = see_no_message,
        .arrived = see_no_message,
        .lost = see_no_message,
        .reached = see_reached,
        .takes_part = see_part,
        .completes = see_completion,
        .gets_result = see_result,
    };
    struct scene scene;
    scene_watch = &watch;
    run_scene(&scene, "bmx:5", GROUP, all_take_part);
    scene_watch = NULL;
    ended(&scene, LEAT_HUB_DONE);
    tear_down(&scene);
    EQ(seen.wrong, 0);
    EQ(seen.completed, 2 * OPERATIONS + 1); /* a fold and a cast each, and a barrier */
    EQ(seen.parts, seen.completed * GROUP);
    EQ(seen.results, seen.parts);
}

TAP_MAIN(T(tasks_get_the_result_of_all), T(groups_do_not_meet),
         T(tasks_that_call_differently_are_told),
         T(a_task_that_does_not_come_is_waited_for_in_vain),
         T(hosts_do_again_what_the_network_cannot), T(an_observer_sees_parts_and_results))
