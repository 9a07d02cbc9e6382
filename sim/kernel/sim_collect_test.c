#include "sim_collect.h"
#include "sim_collect_campaign_test.h"

enum { PORTS = 7, GROUPS = 5, EVENTS = 1000 };

/* A network that takes as long as it likes, and has no contention. */
static struct {
    struct leat_port_net base;
    struct leat_sim_collect collect;
    struct {
        leat_time at;
        uint32_t group, place;
        uint64_t number;
        bool enters;
    } event[EVENTS];
    uint32_t events;
    struct leat_random random;
} ideal;

static void plan(leat_time at, uint32_t group, uint32_t place, uint64_t number, bool enters)
{
    OK(ideal.events < EVENTS);
    ideal.event[ideal.events].at = at;
    ideal.event[ideal.events].group = group;
    ideal.event[ideal.events].place = place;
    ideal.event[ideal.events].number = number;
    ideal.event[ideal.events++].enters = enters;
}

static uint32_t group_of(struct leat_port_net *net, const uint32_t *port, uint32_t count)
{
    (void)net;
    return leat_sim_collect_group(&ideal.collect, port, count);
}

static void disband(struct leat_port_net *net, uint32_t group)
{
    (void)net;
    leat_sim_collect_disband(&ideal.collect, group);
}

static void collect(struct leat_port_net *net, const struct leat_port_part *part, leat_time at)
{
    (void)net;
    plan(at, part->group, leat_sim_collect_hand_over(&ideal.collect, part), 0, true);
}

static void reach_later(uint32_t id, uint32_t place, uint64_t number)
{
    plan(ideal.base.now + 1 + leat_random_below(&ideal.random, 50), id, place, number, false);
}

static void enter(uint32_t id, uint32_t place)
{
    struct leat_sim_group *group = leat_sim_collect_of(&ideal.collect, id);
    const uint64_t number = leat_sim_collect_enter(&ideal.collect, id, place);
    struct leat_sim_operation *op = leat_sim_collect_op(group, number);
    const struct leat_port_part *part = &group->member[place].part;
    uint32_t entered = 0;
    if (part->kind == LEAT_PORT_CAST) {
        for (uint32_t i = 0; part->port == part->root && i < group->members; i++)
            if (i == place)
                leat_sim_collect_reach(&ideal.collect, id, i, number);
            else
                reach_later(id, i, number);
        return;
    }
    for (uint32_t i = 0; i < group->members; i++)
        entered += group->member[i].parts == number + 1 && group->member[i].has_entered;
    if (entered < group->members) return;
    for (uint32_t i = 0; i < group->members; i++)
        if (i)
            leat_port_fold_words(part->fold, op->word, group->member[i].part.word, part->words);
        else if (part->words)
            memcpy(op->word, group->member[0].part.word, part->words * sizeof *op->word);
    for (uint32_t i = 0; i < group->members; i++)
        reach_later(id, i, number);
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    while (ideal.events && !leat_sim_collect_has_news(&ideal.collect)) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < ideal.events; i++)
            if (ideal.event[i].at < ideal.event[first].at) first = i;
        if (ideal.event[first].at > until) break;
        const uint32_t id = ideal.event[first].group, place = ideal.event[first].place;
        const uint64_t number = ideal.event[first].number;
        const bool enters = ideal.event[first].enters;
        net->now = ideal.event[first].at;
        ideal.event[first] = ideal.event[--ideal.events];
        if (enters)
            enter(id, place);
        else
            leat_sim_collect_reach(&ideal.collect, id, place, number);
    }
    leat_sim_collect_report(&ideal.collect);
    return net->now;
}

static void begin(void)
{
    static const struct leat_port_ops ops = {
        .run = run, .group = group_of, .disband = disband, .collect = collect
    };
    static const struct leat_port_means means = {
        .folds = (1u << LEAT_PORT_FOLDS) - 1,
        .words_max = 9,
        .octets_max = 100,
        .groups_max = GROUPS,
    };
    static uint64_t memory[1 << 14];
    struct leat_arena arena = { .memory = (uint8_t *)memory, .cap = sizeof memory };
    memset(memory, 0, sizeof memory);
    memset(&ideal, 0, sizeof ideal);
    leat_random_seed(&ideal.random, tap_seed());
    ideal.base = (struct leat_port_net){ .ops = &ops, .ports = PORTS };
    leat_sim_collect_lay(&ideal.collect, &arena, &means, PORTS);
    leat_sim_collect_init(&ideal.collect, &ideal.base);
}

static void members_get_the_results_of_their_operations(void)
{
    uint64_t certificate[2];
    for (int i = 0; i < 2; i++) {
        begin();
        const struct collect_campaign all = { &ideal.base, tap_seed(), 300, GROUPS, 20, 90, 40, 0 };
        certificate[i] = collect_campaign_run(&all);
    }
    OK(certificate[0] && certificate[0] == certificate[1]);
}

static void there_is_room_for_so_many_groups(void)
{
    static const uint32_t port[] = { 1, 3 };
    begin();
    for (uint32_t i = 0; i < GROUPS; i++)
        EQ(leat_port_group(&ideal.base, port, 2), i + 1);
    EQ(leat_port_group(&ideal.base, port, 2), 0);
    leat_port_disband(&ideal.base, 3);
    EQ(leat_port_group(&ideal.base, port, 2), 3);
}

static uint32_t calls, failed;

static void count(void *context, const struct leat_port_part *part, bool is_done, leat_time at)
{
    (void)context, (void)part, (void)at;
    calls++;
    failed += !is_done;
}

static uint32_t root;

static void hand_over(uint32_t group, uint32_t port, enum leat_port_collective kind, leat_time at)
{
    static uint8_t octets[8];
    leat_port_collect(&ideal.base,
                      &(struct leat_port_part){ .group = group,
                                                .port = port,
                                                .kind = kind,
                                                .root = root,
                                                .len = sizeof octets,
                                                .octets = octets },
                      at);
}

/* Nothing is in flight before the last part of a barrier is there: whoever waits is stuck. */
static void parts_are_in_flight_when_no_other_is_missing(void)
{
    static const uint32_t port[] = { 1, 3, 5 };
    begin();
    ideal.base.observer.collected = count;
    calls = 0;
    const uint32_t group = leat_port_group(&ideal.base, port, 3);
    hand_over(group, 3, LEAT_PORT_FOLD, 10);
    hand_over(group, 1, LEAT_PORT_FOLD, 20);
    EQ(ideal.base.in_flight, 0);
    run(&ideal.base, 30);
    hand_over(group, 5, LEAT_PORT_FOLD, 40);
    EQ(ideal.base.in_flight, 3);
    while (ideal.base.in_flight)
        run(&ideal.base, LEAT_NEVER);
    EQ(calls, 3);
}

/* A root hands over casts while others stay away: the window ends that. */
static void a_member_waits_when_it_is_too_far_ahead(void)
{
    static const uint32_t port[] = { 1, 3 };
    begin();
    ideal.base.observer.collected = count;
    calls = 0;
    root = 1;
    const uint32_t group = leat_port_group(&ideal.base, port, 2);
    for (uint32_t i = 0; i < LEAT_SIM_COLLECT_WINDOW; i++) {
        hand_over(group, 1, LEAT_PORT_CAST, ideal.base.now);
        run(&ideal.base, ideal.base.now + 100);
    }
    EQ(calls, LEAT_SIM_COLLECT_WINDOW - 1);
    EQ(ideal.base.in_flight, 0);
    hand_over(group, 3, LEAT_PORT_CAST, ideal.base.now);
    EQ(ideal.base.in_flight, 1);
    run(&ideal.base, ideal.base.now + 100);
    EQ(calls, LEAT_SIM_COLLECT_WINDOW + 1);
}

static void members_learn_of_a_failure(void)
{
    static const uint32_t port[] = { 0, 4, 6 };
    begin();
    ideal.base.observer.collected = count;
    calls = failed = 0;
    root = 0;
    const uint32_t group = leat_port_group(&ideal.base, port, 3);
    for (uint32_t i = 0; i < 3; i++) {
        hand_over(group, port[i], LEAT_PORT_CAST, 1);
        leat_sim_collect_enter(&ideal.collect, group, i);
    }
    ideal.events = 0; /* instead of what the network would do */
    leat_sim_collect_fail(&ideal.collect, group, 1, 0);
    leat_sim_collect_reach(&ideal.collect, group, 0, 0);
    leat_sim_collect_fail(&ideal.collect, group, 2, 0);
    leat_sim_collect_report(&ideal.collect);
    EQ(calls, 3);
    EQ(failed, 2);
    EQ(ideal.base.in_flight, 0);
}

TAP_MAIN(T(members_get_the_results_of_their_operations), T(there_is_room_for_so_many_groups),
         T(parts_are_in_flight_when_no_other_is_missing),
         T(a_member_waits_when_it_is_too_far_ahead), T(members_learn_of_a_failure))
