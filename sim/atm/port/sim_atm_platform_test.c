#include "leat_text.h"
#include "sim_atm_platform.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 64, STEPS_MAX = 512, OCTETS_CAP = 70000 };

/* A task follows a list of steps, one request each, without a pause between them. */
struct step {
    struct leat_platform_request request;
    uint64_t cycle; /* of the reply */
    uint32_t len;   /* of the reply */
    const char *refusal;
    uint8_t got[8]; /* the first octets of a GET */
};

static struct {
    struct leat_sim_atm_platform platform;
    void *memory;
    struct step step[TASKS_MAX][STEPS_MAX];
    uint32_t steps[TASKS_MAX], next[TASKS_MAX];
    bool waits[TASKS_MAX];
    uint32_t port[TASKS_MAX];
    uint32_t lost, lost_from, lost_to;
    uint8_t octets[OCTETS_CAP];
} s;

static void reported(void *context, const struct leat_platform_reply *r)
{
    (void)context;
    struct step *step = &s.step[r->task][s.next[r->task]];
    EQ(r->verb, step->request.verb);
    OK(s.waits[r->task]);
    step->cycle = r->cycle;
    step->len = r->len;
    step->refusal = r->refusal;
    if (r->octets) memcpy(step->got, r->octets, r->len < 8 ? r->len : 8);
    s.next[r->task]++;
    s.waits[r->task] = false;
}

static void lost(void *context, uint32_t from, uint32_t to, leat_time at)
{
    (void)context;
    (void)at;
    s.lost++;
    s.lost_from = from;
    s.lost_to = to;
}

static struct leat_sim_atm_ports_config usual(const char *fabric)
{
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL,
                                                .tasks_max = TASKS_MAX };
    struct leat_text why = LEAT_TEXT(200);
    OK(leat_sim_atm_fabric_parse(fabric, &config.fabric, &why) == LEAT_ERR_OK);
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

static void open_platform(const struct leat_sim_atm_ports_config *config)
{
    free(s.memory);
    memset(&s, 0, sizeof s);
    s.memory = calloc(1, leat_sim_atm_platform_footprint(config));
    leat_sim_atm_platform_init(&s.platform, config, s.memory);
    s.platform.base.reported = reported;
    s.platform.base.lost = lost;
    for (size_t i = 0; i < OCTETS_CAP; i++)
        s.octets[i] = (uint8_t)(i * 7 + i / 256);
}

static void join(uint32_t task, uint32_t port, uint32_t instance)
{
    s.port[task] = port;
    OK(s.platform.base.join(&s.platform.base, task, port, "tsk", instance));
}

static struct step *add(uint32_t task, struct leat_platform_request request)
{
    request.task = task;
    struct step *step = &s.step[task][s.steps[task]++];
    step->request = request;
    return step;
}

/* Task `to`, or all tasks. Returns the step of the lock. */
static struct step *add_send(uint32_t task, uint32_t to, uint32_t type, const uint8_t *octets,
                             uint32_t len)
{
    const bool all = to == LEAT_PLATFORM_ALL;
    struct step *lock = add(task, (struct leat_platform_request){ .verb = LEAT_PLATFORM_INITSEND });
    add(task,
        (struct leat_platform_request){ .verb = LEAT_PLATFORM_PUT, .octets = octets, .len = len });
    add(task, (struct leat_platform_request){
                  LEAT_PLATFORM_SEND, .to = all ? LEAT_PLATFORM_ALL : s.port[to],
                  .name = { 't', 's', 'k' }, .instance = to, .type = type });
    return lock;
}

/* Returns the step of the get. */
static struct step *add_receive(uint32_t task, uint32_t type, uint32_t len)
{
    add(task, (struct leat_platform_request){ .verb = LEAT_PLATFORM_RECEIVE, .type = type });
    struct step *get = add(task,
                           (struct leat_platform_request){ .verb = LEAT_PLATFORM_GET, .len = len });
    add(task, (struct leat_platform_request){ .verb = LEAT_PLATFORM_READ_END });
    return get;
}

static void ask_all(void)
{
    bool asked = true;
    while (asked) {
        asked = false;
        for (uint32_t t = 0; t < TASKS_MAX; t++) {
            if (s.waits[t] || s.next[t] == s.steps[t]) continue;
            s.waits[t] = asked = true;
            s.platform.base.ask(&s.platform.base, &s.step[t][s.next[t]].request);
        }
    }
}

/* Until all are done, or nothing more happens. */
static bool run(void)
{
    struct leat_port_net *net = &s.platform.base.net;
    for (;;) {
        bool done = true;
        ask_all();
        for (uint32_t t = 0; t < TASKS_MAX; t++)
            done = done && s.next[t] == s.steps[t];
        if (done) return true;
        leat_port_run(net, LEAT_NEVER);
        if (!net->in_flight || s.lost) return false;
    }
}

static void one_way_is_t_of_n(void)
{
    static const struct {
        uint32_t n, cycles;
    } published[] = { { 1, 169 },       { 2, 177 },      { 3, 185 },      { 4, 193 },
                      { 8, 231 },       { 16, 307 },     { 17, 389 },     { 52, 717 },
                      { 53, 802 },      { 1000, 11640 }, { 5000, 57521 }, { 45000, 516402 },
                      { 67912, 779222 } };
    struct leat_sim_atm_ports_config config = usual("clos444");
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        for (int alone = 0; alone < 2; alone++) {
            config.contention_free = alone;
            open_platform(&config);
            join(0, 1, 0);
            join(1, 6, 1);
            const struct step *begin = add_send(0, 1, 9, s.octets, published[i].n);
            const struct step *end = add_receive(1, 9, published[i].n);
            OK(run());
            EQ(end->cycle - begin->cycle, published[i].cycles);
            EQ(memcmp(end->got, s.octets, published[i].n < 8 ? published[i].n : 8), 0);
        }
}

static void separate_puts_are_separate_words(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    open_platform(&config);
    join(0, 0, 0);
    join(1, 5, 1);
    const struct step *begin = add(
        0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_INITSEND });
    struct step *put[3];
    for (int i = 0; i < 3; i++)
        put[i] = add(0, (struct leat_platform_request){
                            .verb = LEAT_PLATFORM_PUT, .octets = s.octets + i, .len = 1 });
    const struct step *sent = add(0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_SEND,
                                                                     .to = 5,
                                                                     .name = { 't', 's', 'k' },
                                                                     .instance = 1,
                                                                     .type = 3 });
    const struct step *end = add_receive(1, 3, 3);
    OK(run());
    EQ(put[0]->cycle - begin->cycle, 3 + 7);
    EQ(put[1]->cycle - begin->cycle, 3 + 14);
    EQ(put[2]->cycle - begin->cycle, 3 + 21);
    EQ(sent->cycle - begin->cycle, 3 + 21 + 18);
    EQ(end->cycle - begin->cycle, leat_atm_aal_one_way_cycles(3) + 21 - 15);
}

static void a_broadcast_reaches_each_task_once(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    struct step *got[20], *again[20];
    open_platform(&config);
    for (uint32_t t = 0; t < 20; t++)
        join(t, t % 16, t);
    add_send(3, LEAT_PLATFORM_ALL, 7, s.octets, 4);
    add_send(3, LEAT_PLATFORM_ALL, 7, s.octets + 4, 4);
    for (uint32_t t = 0; t < 20; t++) {
        got[t] = add_receive(t, 7, 4);
        again[t] = add_receive(t, 7, 4);
    }
    OK(run());
    for (uint32_t t = 0; t < 20; t++) {
        EQ(memcmp(got[t]->got, s.octets, 4), 0);
        EQ(memcmp(again[t]->got, s.octets + 4, 4), 0);
    }
}

/* Two tasks of a port wait for the same broadcast: the second one asks when the first releases the
 * lock, 15 words' cycles, 7 of the search, 19 of the get. */
static void readers_of_a_port_take_turns(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    open_platform(&config);
    join(0, 2, 0);
    join(1, 9, 1);
    join(2, 9, 2);
    add_send(0, LEAT_PLATFORM_ALL, 1, s.octets, 4);
    const struct step *second = add_receive(2, 1, 4), *first = add_receive(1, 1, 4);
    OK(run());
    EQ(second->cycle - first->cycle, 15 + 7 + 19);
}

/* STATE1 and STATE2 to 4 keep the lock: 15 cycles for one cell, after the 18 of the send. */
static void writers_of_a_port_take_turns(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    open_platform(&config);
    join(0, 4, 0);
    join(1, 4, 1);
    join(2, 5, 2);
    const struct step *second = add_send(1, 2, 2, s.octets, 4),
                      *first = add_send(0, 2, 1, s.octets, 4);
    add_receive(2, 1, 4);
    add_receive(2, 2, 4);
    OK(run());
    EQ(first->cycle, 0);
    EQ(second->cycle, 3 + 19 + 18 + 9 + 6);
}

static void a_poller_asks_every_81_cycles(void)
{
    struct leat_sim_atm_ports_config config = usual("clos444");
    config.polls = true;
    open_platform(&config);
    join(0, 0, 0);
    join(1, 1, 1);
    add_send(0, 1, 5, s.octets, 4);
    const struct step *receive = &s.step[1][0];
    add_receive(1, 5, 4);
    OK(run());
    EQ((receive->cycle - 22) % 81, 0);
    OK(receive->cycle >= 174 && receive->cycle < 174 + 81);
}

static void what_is_out_of_turn_is_refused(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    open_platform(&config);
    join(0, 0, 0);
    join(1, 1, 1);
    OK(!s.platform.base.join(&s.platform.base, 1, 1, "tsk", 1));
    OK(!s.platform.base.join(&s.platform.base, TASKS_MAX, 1, "tsk", 1));
    const struct step *put = add(0, (struct leat_platform_request){
                                        .verb = LEAT_PLATFORM_PUT, .octets = s.octets, .len = 4 });
    const struct step *get = add(
        0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_GET, .len = 4 });
    const struct step *end = add(0,
                                 (struct leat_platform_request){ .verb = LEAT_PLATFORM_READ_END });
    const struct step *lock = add_send(0, 1, 1, s.octets, 4);
    const struct step *far = add(
        1, (struct leat_platform_request){ .verb = LEAT_PLATFORM_RECEIVE, .type = 1 });
    const struct step *beyond = add(
        1, (struct leat_platform_request){ .verb = LEAT_PLATFORM_GET, .len = 17 });
    OK(run());
    OK(put->refusal && get->refusal && end->refusal && !lock->refusal);
    EQ(far->len, 16); /* the cell is taken as full */
    OK(beyond->refusal);
    add(0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_INITSEND });
    const struct step *twice = add(
        0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_INITSEND });
    const struct step *reads = add(0,
                                   (struct leat_platform_request){ .verb = LEAT_PLATFORM_RECEIVE });
    const struct step *too_long = add(0, (struct leat_platform_request){ .verb = LEAT_PLATFORM_PUT,
                                                                         .octets = s.octets,
                                                                         .len = 67913 });
    OK(run());
    OK(twice->refusal && reads->refusal && too_long->refusal);
}

static void more_than_ten_of_a_name_at_a_port_are_refused(void)
{
    const struct leat_sim_atm_ports_config config = usual("clos444");
    open_platform(&config);
    for (uint32_t t = 0; t < 10; t++)
        join(t, 3, t);
    OK(!s.platform.base.join(&s.platform.base, 10, 3, "tsk", 10));
    OK(s.platform.base.join(&s.platform.base, 10, 3, "oth", 10));
}

static void nothing_in_flight_is_said(void)
{
    for (int polls = 0; polls < 2; polls++) {
        struct leat_sim_atm_ports_config config = usual("clos444");
        config.polls = polls;
        open_platform(&config);
        join(0, 0, 0);
        join(1, 0, 1);
        add_receive(0, 1, 4);
        add_receive(1, 1, 4);
        add_send(1, 0, 2, s.octets, 4); /* never arrives at it */
        OK(!run());
        EQ(s.next[0] + s.next[1], 0);
    }
}

static void a_dead_port_is_reported(void)
{
    struct leat_sim_atm_ports_config config = usual("clos444");
    static const struct leat_sim_atm_line_outage outage = { .port = 5, .to = LEAT_NEVER };
    config.line.outage = &outage;
    config.line.outage_count = 1;
    config.aal.retransmit_cycles = 2000;
    config.aal.transmissions_max = 2;
    open_platform(&config);
    join(0, 2, 0);
    join(1, 5, 1);
    add_send(0, 1, 2, s.octets, 4);
    add_receive(1, 2, 4);
    OK(!run());
    EQ(s.lost, 1);
    EQ(s.lost_from, 2);
    EQ(s.lost_to, 5);
}

/* Random programs: in each round every task sends to a few others, then receives what was sent to
 * it; round and sender make the type. */
static uint64_t random_program(const struct leat_sim_atm_ports_config *config, uint64_t seed)
{
    enum { TASKS = 24, ROUNDS = 3 };
    struct leat_random random;
    static struct step *got[TASKS * TASKS * ROUNDS];
    static uint32_t wanted[TASKS * TASKS * ROUNDS];
    uint32_t count = 0;
    leat_random_seed(&random, seed);
    open_platform(config);
    for (uint32_t t = 0; t < TASKS; t++)
        join(t, (uint32_t)leat_random_below(&random, 16), t);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t len[TASKS][TASKS] = { 0 };
        for (uint32_t from = 0; from < TASKS; from++) {
            const bool all = leat_random_below(&random, 4) == 0;
            const uint32_t octets = 8 + (uint32_t)leat_random_below(&random, 400);
            for (uint32_t to = 0; to < TASKS; to++) {
                if (!all && leat_random_below(&random, 8)) continue;
                len[from][to] = octets;
                if (!all) add_send(from, to, round * TASKS + from, s.octets + from, octets);
            }
            if (all)
                add_send(from, LEAT_PLATFORM_ALL, round * TASKS + from, s.octets + from, octets);
        }
        for (uint32_t to = 0; to < TASKS; to++)
            for (uint32_t from = 0; from < TASKS; from++) {
                if (!len[from][to]) continue;
                wanted[count] = from;
                got[count++] = add_receive(to, round * TASKS + from, len[from][to]);
            }
    }
    OK(run());
    for (uint32_t i = 0; i < count; i++)
        EQ(memcmp(got[i]->got, s.octets + wanted[i], 8), 0);
    return s.platform.base.net.certificate;
}

static void both_models_agree_on_random_programs(void)
{
    const uint64_t last = 4 * tap_seed();
    for (uint64_t seed = last - 3; seed <= last; seed++) {
        struct leat_sim_atm_ports_config config = usual("clos444");
        config.aal.obsolete_cycles = 4000000; /* late readers find their broadcasts */
        config.polls = seed % 2;
        const uint64_t cell = random_program(&config, seed);
        EQ(random_program(&config, seed), cell);
        config.model = LEAT_SIM_ATM_RTL;
        EQ(random_program(&config, seed), cell);
        config.model = LEAT_SIM_ATM_CELL;
        config.line.lose = 5000000;
        config.line.seed = seed;
        config.aal.retransmit_cycles = 100000; /* longer than replies take when all send to all */
        OK(random_program(&config, seed) != cell); /* and yet everything arrives */
        config.contention_free = true;
        config.line.lose = 0;
        random_program(&config, seed);
    }
}

/* Port 7 receives nothing for long, so the buffer of port 0 stays full: its writer waits for room,
 * and a message that arrives meanwhile is read. */
static void a_writer_without_room_lets_readers_pass(void)
{
    static const struct leat_sim_atm_line_outage outage = { .port = 7, .to = 6000 };
    struct leat_sim_atm_ports_config config = usual("clos444");
    config.aal.send_blocks = config.aal.receive_blocks = 8;
    config.aal.retransmit_cycles = 8000;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    open_platform(&config);
    join(0, 0, 0);
    join(1, 0, 1);
    join(2, 7, 2);
    join(3, 9, 3);
    add_send(0, 2, 2, s.octets, 200);
    add_send(0, 2, 2, s.octets, 200);
    add_receive(2, 2, 200);
    const struct step *late = add_receive(2, 2, 200);
    add_send(3, 3, 3, s.octets, 200);
    add_receive(3, 3, 200);
    add_send(3, 1, 1, s.octets, 4);
    const struct step *small = add_receive(1, 1, 4);
    OK(run());
    OK(small->cycle > 1500 && small->cycle < 6000);
    OK(late->cycle > 8000);
}

TAP_MAIN(T(one_way_is_t_of_n), T(separate_puts_are_separate_words),
         T(a_broadcast_reaches_each_task_once), T(readers_of_a_port_take_turns),
         T(writers_of_a_port_take_turns), T(a_poller_asks_every_81_cycles),
         T(what_is_out_of_turn_is_refused), T(more_than_ten_of_a_name_at_a_port_are_refused),
         T(nothing_in_flight_is_said), T(a_dead_port_is_reported),
         T(both_models_agree_on_random_programs), T(a_writer_without_room_lets_readers_pass))
