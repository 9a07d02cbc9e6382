/*
 * A live PacketWay in one process, over UDP: a router with a host on both sides.
 *
 *   left 0x101 --- 0x102 router 0x202 --- 0x201 right        MTU 64 words on right's side
 */
#ifndef LEAT_LIVE_PACKETWAY_NET_TEST_H
#define LEAT_LIVE_PACKETWAY_NET_TEST_H

#include "live_packetway_router.h"
#include "packetway_record.h"
#include "tap.h"
#include <leat/packetway.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static char why[PACKETWAY_WHY_LEN];
static struct packetway_router router;
static struct leat_packetway_node *left, *right;

/* A node's description of the SAN of a half-router, whose endpoint is given; lent until the next
 * call. */
static inline const char *san_of(uint32_t half, const char *more)
{
    static char text[200];
    const struct packetway_plan *plan = &router.half[half].san.plan;
    char peer[PACKETWAY_ENDPOINT_MAX];
    packetway_native_text(&plan->bind, true, peer);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=%u,peer=%s,%s", plan->block.bias, peer, more);
    return text;
}

/* A busy machine makes a test slow, not wrong. */
static inline leat_time in_five_minutes(void)
{
    return packetway_now() + 300 * LEAT_PACKETWAY_SECOND;
}

static inline void begin(const uint8_t *near_key, const uint8_t *far_key)
{
    static struct packetway_router_config config;
    struct leat_packetway_node_config host = { .name = "left", .poll_ms = 100 };
    bool wrong;
    config = (struct packetway_router_config){ .name = "r", .san_count = 2, .poll_ms = 100 };
    OK(packetway_plan_read("udp:127.0.0.1:0,bias=0x100,address=0x102", &config.sans[0], why));
    OK(packetway_plan_read("udp:127.0.0.1:0,bias=0x200,address=0x202,mtu=64", &config.sans[1],
                           why));
    config.sans[1].bind.octets[3] = 2; /* 127.0.0.2: both have port 0 */
    config.sans[0].keys = leat_keys_of(near_key, NULL);
    config.sans[1].keys = leat_keys_of(near_key ? far_key : NULL, NULL);
    OK(packetway_router_open(&router, &config, &wrong, why));
    EQ(router.driver, PACKETWAY_UDP);
    host.san = san_of(0, "address=0x101");
    host.key = near_key;
    EQ(leat_packetway_node_open(&host, &left, why), LEAT_PACKETWAY_NODE_OK);
    host.san = san_of(1, "address=0x201");
    host.name = "right";
    host.key = far_key;
    EQ(leat_packetway_node_open(&host, &right, why), LEAT_PACKETWAY_NODE_OK);
}

/* All three run until `done` returns true; false: not within five minutes. */
static inline bool run_until(bool (*done)(struct leat_packetway_event *left_got))
{
    static struct leat_packetway_event event, other;
    const leat_time until = in_five_minutes();
    while (packetway_now() < until) {
        struct pollfd wait[] = { { .fd = packetway_router_fd(&router, 0), .events = POLLIN },
                                 { .fd = packetway_router_fd(&router, 1), .events = POLLIN },
                                 { .fd = leat_packetway_node_fd(left), .events = POLLIN },
                                 { .fd = leat_packetway_node_fd(right), .events = POLLIN } };
        OK(packetway_router_next_at(&router) > 0);
        poll(wait, 4, 5);
        packetway_router_serve(&router);
        while (leat_packetway_node_receive(right, 0, &other)) {
        }
        event.kind = LEAT_PACKETWAY_EVENT_NONE;
        leat_packetway_node_receive(left, 0, &event);
        if (done(&event)) return true;
    }
    return false;
}

static inline bool tables_are_exchanged(struct leat_packetway_event *e)
{
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(router.half[0].engine);
    struct leat_packetway_entry room;
    (void)e;
    return leat_packetway_node_router(left, 0) == 0x102 &&
           leat_packetway_node_router(right, 0) == 0x202 &&
           leat_packetway_fib_find(fib, 0x201, &room) && leat_packetway_fib_find(fib, 0x101, &room);
}

static inline bool an_echo_is_back(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_DATA && e->peer == 0x201 &&
           e->message.header.te == LEAT_PACKETWAY_NODE_ECHO_REPLY && e->message.data_len == 8 + 5 &&
           memcmp(e->message.data + 8, "hello", 5) == 0 && leat_get_be64(e->message.data) == 0;
}

static inline bool an_err_is_back(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_ERR && e->peer == 0x202 &&
           e->message.header.te == LEAT_PACKETWAY_TE_GENERAL;
}

static inline bool it_is_reported(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_INFO && e->peer == 0x102;
}

static inline bool a_plan_is_there(struct leat_packetway_event *e)
{
    const struct leat_packetway_plan *plan;
    (void)e;
    return leat_packetway_node_plan(left, 0x201, 1, &plan, why) == LEAT_PACKETWAY_NODE_OK &&
           plan->state == LEAT_PACKETWAY_PLAN_ROUTES && plan->routes[0].mtu_words == 64 &&
           plan->router == 0x102;
}

static inline struct leat_packetway_message *hello(size_t len)
{
    static struct leat_packetway_message m;
    static uint8_t data[1024] = "hello";
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = 0x201,
                                               .pt = LEAT_PACKETWAY_NODE_PT_ECHO,
                                               .te = LEAT_PACKETWAY_NODE_ECHO_REQUEST };
    m.data = data;
    m.data_len = len;
    return &m;
}

static inline void hosts_reach_each_other(const uint8_t *near_key, const uint8_t *far_key)
{
    uint8_t db[64];
    struct leat_packetway_build b;
    begin(near_key, far_key);
    OK(run_until(tables_are_exchanged));
    EQ(leat_packetway_node_join(left, 10, why), LEAT_PACKETWAY_NODE_OK);
    EQ(leat_packetway_node_send(left, hello(5), LEAT_PACKETWAY_SEND_BY_ADDRESS, 0, why),
       LEAT_PACKETWAY_NODE_OK);
    OK(run_until(an_echo_is_back));
    OK(run_until(a_plan_is_there));
    EQ(leat_packetway_node_send(left, hello(5), LEAT_PACKETWAY_SEND_PLANNED, 0, why),
       LEAT_PACKETWAY_NODE_OK);
    OK(run_until(an_echo_is_back));
    EQ(leat_packetway_node_send(left, hello(600), LEAT_PACKETWAY_SEND_PLANNED, 0, why),
       LEAT_PACKETWAY_NODE_WRONG);
    EQ(leat_packetway_node_send(left, hello(600), LEAT_PACKETWAY_SEND_BY_ADDRESS, 0, why),
       LEAT_PACKETWAY_NODE_OK);
    OK(run_until(an_err_is_back)); /* above the MTU of the second SAN */

    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_name(&b, (const uint8_t *)"right", 5);
    EQ(leat_packetway_node_query(left, 0x102, db, b.len, why), LEAT_PACKETWAY_NODE_OK);
    OK(run_until(it_is_reported));
    leat_packetway_build_init(&b, db, sizeof db); /* the half-router itself is one of these */
    leat_packetway_build_capability(&b, LEAT_PACKETWAY_CC_ROUTER, NULL, 0);
    EQ(leat_packetway_node_query(left, 0x102, db, b.len, why), LEAT_PACKETWAY_NODE_OK);
    EQ(leat_packetway_node_query(left, 0x102, NULL, 0, why), LEAT_PACKETWAY_NODE_WRONG);
    OK(strstr(why, "has not answered the last question yet") != NULL);
    OK(run_until(it_is_reported));
    EQ(leat_packetway_node_query(left, 0x102, db, b.len, why), LEAT_PACKETWAY_NODE_OK);
    leat_packetway_node_cancel(left, 0x102);
    EQ(leat_packetway_node_query(left, 0x102, NULL, 0, why), LEAT_PACKETWAY_NODE_OK);
    OK(run_until(it_is_reported));
    EQ(packetway_router_in_kernel(&router, 0), 0);
    OK(leat_packetway_node_is_near(left, 0x1FF) && !leat_packetway_node_is_near(left, 0x201));
}

/* The router and right continue in another process, for half a minute at most. */
static inline pid_t serve_in_background(void)
{
    static struct leat_packetway_event event;
    const pid_t child = fork();
    if (child != 0) return child;
    const leat_time until = packetway_now() + 30 * LEAT_PACKETWAY_SECOND;
    while (packetway_now() < until) {
        packetway_router_serve(&router);
        leat_packetway_node_receive(right, 1, &event);
    }
    _exit(0);
}

/* Opens until it ends as expected, or with that address: on a busy machine an answer may arrive too
 * late. */
static inline enum leat_packetway_node_end
open_until(const struct leat_packetway_node_config *config, enum leat_packetway_node_end wanted,
           uint32_t address)
{
    struct leat_packetway_node *node = NULL;
    enum leat_packetway_node_end end = LEAT_PACKETWAY_NODE_OK;
    uint32_t got = 0;
    for (int i = 0; i < 40 && (end != wanted || got != address || !i); i++) {
        end = leat_packetway_node_open(config, &node, why);
        got = end == LEAT_PACKETWAY_NODE_OK ? leat_packetway_node_address(node) : 0;
        if (end == LEAT_PACKETWAY_NODE_OK) leat_packetway_node_close(node);
    }
    EQ(got, address);
    return end;
}

static inline void all_is_closed(void)
{
    leat_packetway_node_close(left);
    leat_packetway_node_close(right);
    packetway_router_close(&router);
    EQ(router.count, 0);
    OK(strcmp(packetway_driver_name(PACKETWAY_XDP), "xdp") == 0);
}

#endif
