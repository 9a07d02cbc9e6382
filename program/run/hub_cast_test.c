/* Multicasts of tasks, which are real processes, over the cell network of the thesis. */
#include "hub_scene_test.h"

enum { TASKS = 8, LEN_MAX = 300, ROUNDS = 30 };

/* ---- a service that multicasts ---- */

struct wish {
    uint32_t receivers, len;
    uint32_t to[TASKS];
    uint8_t octets[LEN_MAX];
};

static uint32_t granted, refused;
static enum leat_collect_carrier last_refusal;

static void on_call(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                    const uint8_t *question, size_t len, leat_time at)
{
    struct wish wish;
    (void)context;
    if (len != sizeof wish) abort();
    memcpy(&wish, question, sizeof wish);
    const struct leat_hub_multicast m = { .task = task,
                                          .call = "cast",
                                          .octets = wish.len,
                                          .to = wish.to,
                                          .receivers = wish.receivers,
                                          .message = wish.octets,
                                          .len = wish.len };
    const enum leat_collect_carrier carrier = leat_hub_multicast(hub, &m, at);
    uint32_t number = 0;
    granted += carrier == LEAT_COLLECT_BY_NETWORK;
    if (carrier != LEAT_COLLECT_BY_NETWORK) {
        refused++;
        last_refusal = carrier;
        number = leat_hub_multicast_by_hosts(hub, &m, carrier, wish.receivers, at);
    }
    leat_hub_answer(hub, task, cookie, &number, sizeof number, at);
}

static struct leat_task_collective row; /* of task 0 */

static void run_casts(const char *fabric, task_body *body, struct scene *scene)
{
    scene_service = (struct leat_hub_service){ .call = on_call };
    scene_has_casts = true;
    granted = refused = 0;
    run_scene(scene, fabric, TASKS, body);
    ended(scene, LEAT_HUB_DONE);
    const struct leat_task_collective *first = leat_hub_collective(scene->hub, 0, 0);
    row = first ? *first : (struct leat_task_collective){ 0 };
}

/* ---- for tasks ---- */

static void send_one(uint32_t to, uint8_t number, uint32_t len)
{
    uint8_t *octets = leat_task_room(len);
    check_that(octets != NULL);
    memset(octets, number, len);
    leat_task_send(to, octets, len, 0, false);
}

/* To those whose bit is set, by the network or by messages. */
static void cast(uint32_t mask, uint8_t number, uint32_t len)
{
    struct wish wish = { .len = len };
    struct leat_task_event event;
    uint32_t cast;
    for (uint32_t i = 0; i < TASKS; i++)
        if (mask >> i & 1) wish.to[wish.receivers++] = i;
    memset(wish.octets, number, len);
    leat_task_call(&wish, sizeof wish, 1);
    leat_task_wait(LEAT_NEVER, "an answer", "");
    check_that(leat_task_next(&event) && event.kind == LEAT_TASK_ANSWERED);
    memcpy(&cast, event.octets, sizeof cast);
    leat_task_release(&event);
    leat_task_set_cast(cast);
    for (uint32_t i = 0; cast && i < wish.receivers; i++)
        send_one(wish.to[i], number, len);
    leat_task_set_cast(0);
}

static void receive_in_order(uint32_t from, uint32_t messages)
{
    struct leat_task_event event;
    for (uint32_t i = 0; i < messages;) {
        leat_task_wait(LEAT_NEVER, "a message", "");
        while (leat_task_next(&event)) {
            check_that(event.kind == LEAT_TASK_ARRIVED && event.task == from && event.len);
            check_that(event.at <= leat_task_now());
            for (uint64_t k = 0; k < event.len; k++)
                check_that(event.octets[k] == (uint8_t)i);
            leat_task_release(&event);
            i++;
        }
    }
}

/* Messages are long and short, so that casts overtake some, and are overtaken. */
static void mix(void)
{
    if (leat_task_number() != 0) {
        receive_in_order(0, 3 * ROUNDS);
        return;
    }
    for (uint8_t i = 0; i < ROUNDS; i++) {
        for (uint32_t to = 1; to < TASKS; to++)
            send_one(to, (uint8_t)(3 * i), i % 2 ? 2000 : 1);
        cast(0xfe, (uint8_t)(3 * i + 1), i % 3 ? 8 : LEN_MAX);
        for (uint32_t to = TASKS - 1; to > 0; to--)
            send_one(to, (uint8_t)(3 * i + 2), 3);
    }
}

/* On bmx:5, tasks share ports, and some are at the sender's. */
static void a_receiver_gets_what_one_sends_in_order(void)
{
    static const char *const fabrics[] = { "bmx:8", "bmx:5" };
    for (int k = 0; k < 2; k++) {
        uint64_t certificate[2];
        for (int i = 0; i < 2; i++) {
            struct scene scene;
            run_casts(fabrics[k], mix, &scene);
            EQ(granted, ROUNDS);
            EQ(row.calls[LEAT_COLLECT_BY_NETWORK], ROUNDS);
            OK(row.network_ps && !row.hosts_ps);
            EQ(leat_hub_task(scene.hub, 3)->messages_received, 3 * ROUNDS);
            certificate[i] = leat_port_certificate(&scene.port.net);
            tear_down(&scene);
        }
        EQ(certificate[0], certificate[1]);
    }
}

/* More sets of ports than the network has room for groups, one after the other: each receiver
 * answers. */
static void cast_to_many_sets(void)
{
    struct leat_task_event event;
    const uint32_t me = leat_task_number();
    for (uint32_t mask = 3; mask < 128; mask++) {
        const bool gets = me && mask >> (me - 1) & 1;
        uint32_t left = me ? gets : (uint32_t)__builtin_popcount(mask);
        if (!me) cast(mask << 1, (uint8_t)mask, 5);
        while (left) {
            leat_task_wait(LEAT_NEVER, "a message", "");
            for (; leat_task_next(&event); left--) {
                check_that(event.octets[0] == mask);
                leat_task_release(&event);
            }
        }
        if (gets) send_one(0, (uint8_t)mask, 1);
    }
}

static void unused_groups_make_room_for_others(void)
{
    struct scene scene;
    run_casts("bmx:8", cast_to_many_sets, &scene);
    EQ(refused, 5); /* those to a single task: 4, 8, 16, 32 and 64 */
    EQ(granted, 120);
    tear_down(&scene);
}

static void cast_near(void)
{
    if (leat_task_number() == 0) cast(1u << 5, 0, 8); /* on bmx:5, at the same port */
    if (leat_task_number() == 5) receive_in_order(0, 1);
}

static void what_needs_no_network_is_left_to_hosts(void)
{
    struct scene scene;
    run_casts("bmx:5", cast_near, &scene);
    EQ(refused, 1);
    EQ(last_refusal, LEAT_COLLECT_NEAR);
    EQ(row.calls[LEAT_COLLECT_NEAR], 1);
    OK(row.hosts_ps && !row.network_ps);
    tear_down(&scene);
}

static void mix_casts(void)
{
    if (leat_task_number() != 0) {
        receive_in_order(0, ROUNDS);
        return;
    }
    for (uint8_t i = 0; i < ROUNDS; i++)
        cast(0xfe, i, 8);
}

/* The line of port 2 is dead for a while. */
static void hosts_send_what_the_network_cannot(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:8", LEAT_SIM_ATM_CELL);
    static struct leat_sim_atm_line_outage outage = { .port = 2, .from = 0, .to = 12000 };
    struct scene scene;
    config.aal.retransmit_cycles = 5000;
    config.aal.transmissions_max = 2;
    config.aal.resync = true;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    scene_service = (struct leat_hub_service){ .call = on_call };
    scene_has_casts = true;
    run_on(&scene, &config, TASKS, mix_casts);
    ended(&scene, LEAT_HUB_DONE);
    row = *leat_hub_collective(scene.hub, 0, 0);
    OK(row.calls[LEAT_COLLECT_FAILURE] && row.calls[LEAT_COLLECT_BY_NETWORK]);
    EQ(row.calls[LEAT_COLLECT_FAILURE] + row.calls[LEAT_COLLECT_BY_NETWORK], ROUNDS);
    tear_down(&scene);
}

TAP_MAIN(T(a_receiver_gets_what_one_sends_in_order), T(unused_groups_make_room_for_others),
         T(what_needs_no_network_is_left_to_hosts), T(hosts_send_what_the_network_cannot))
