/*
 * Hosts that reach each other through a router, without privileges and without keys
 * (live_packetway_key_test.c). tool/pktway/pktway_live_test.sh tests Ethernet, XDP, and routers
 * that are killed.
 */
#include "live_packetway_net_test.h"
#include <signal.h>
#include <sys/wait.h>

static void hosts_reach_each_other_through_a_router(void)
{
    hosts_reach_each_other(NULL, NULL);
}

static void a_route_to_nobody_is_refused(void)
{
    static const uint8_t nobody[6] = { 127, 0, 0, 1, 0, 9 };
    struct leat_packetway_message *m = hello(5);
    m->leading[m->leading_count++] = (struct leat_packetway_leading){ .kind = LEAT_PACKETWAY_L2RH,
                                                                      .len = sizeof nobody,
                                                                      .octets = nobody };
    EQ(leat_packetway_node_send_routed(left, m, 0x102, why), LEAT_PACKETWAY_NODE_OK);
    OK(run_until(an_err_is_back));
    EQ(router.half[1].refused, 1);
}

static void an_address_is_claimed_where_it_is_free(void)
{
    static struct leat_packetway_event event;
    struct leat_packetway_node *other = NULL;
    struct leat_packetway_node_config config = { .san = san_of(1, "nodes=2,address=auto"),
                                                 .poll_ms = 100 };
    const pid_t child = serve_in_background();
    /* 0x201 is right's and 0x202 the router's: none is free, whichever comes first */
    EQ(open_until(&config, LEAT_PACKETWAY_NODE_FAILED, 0), LEAT_PACKETWAY_NODE_FAILED);
    OK(strstr(why, "is in use"));
    config.san = san_of(1, "nodes=3,address=auto");
    EQ(open_until(&config, LEAT_PACKETWAY_NODE_OK, 0x203), LEAT_PACKETWAY_NODE_OK);
    config.san = san_of(1, "address=0x201");
    config.claims = true;
    EQ(open_until(&config, LEAT_PACKETWAY_NODE_FAILED, 0), LEAT_PACKETWAY_NODE_FAILED);
    OK(strstr(why, "address 0x000201 is in use"));
    config.claims = false; /* it does not ask */
    EQ(leat_packetway_node_open(&config, &other, why), LEAT_PACKETWAY_NODE_OK);
    leat_packetway_node_close(other);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    while (leat_packetway_node_receive(left, 0, &event)) {
    }
}

/* Right lends a kilooctet at 0x1000 to left, and half of it to nobody. */
static pid_t serve_memory(void)
{
    static struct leat_packetway_store store;
    static uint8_t octets[1024];
    store = (struct leat_packetway_store){
        .address = 0x1000,
        .octets = octets,
        .len = sizeof octets,
        .grant_count = 2,
        .grants = { { 0x1000, 0x11FF, 0x101, 0x101,
                      LEAT_PACKETWAY_MAY_READ | LEAT_PACKETWAY_MAY_WRITE },
                    { 0x1200, 0x120F, 0x101, 0x101, LEAT_PACKETWAY_MAY_WRITE } }
    };
    leat_packetway_node_lend(right, &store);
    const pid_t child = serve_in_background();
    leat_packetway_node_lend(right, NULL);
    return child;
}

/* An MTU of 64 words is between them, so most of this takes several messages. */
static void memory_of_another_node_is_read_and_written(void)
{
    uint8_t wrote[512], got[512];
    for (size_t i = 0; i < sizeof wrote; i++)
        wrote[i] = (uint8_t)(i * 7);
    const pid_t child = serve_memory();
    OK(child > 0);
    EQ(leat_packetway_node_write(left, 0x201, 0x1000, wrote, 512, false, 3000, why),
       LEAT_PACKETWAY_NODE_OK);
    memset(got, 0xEE, sizeof got);
    EQ(leat_packetway_node_read(left, 0x201, 0x1001, got, 511, 3000, why), LEAT_PACKETWAY_NODE_OK);
    OK(memcmp(got, wrote + 1, 511) == 0 && got[511] == 0xEE);
    EQ(leat_packetway_node_read(left, 0x201, 0x1000, got, 0, 3000, why), LEAT_PACKETWAY_NODE_OK);
    EQ(leat_packetway_node_read(left, 0x201, 0x11FF, got, 2, 3000, why),
       LEAT_PACKETWAY_NODE_REFUSED);
    OK(strstr(why, "read 2 octets at 0x11ff"));
    EQ(leat_packetway_node_write(left, 0x201, 0x1200, wrote, 16, false, 3000, why),
       LEAT_PACKETWAY_NODE_REFUSED);
    OK(strstr(why, "read back 16 octets at 0x1200"));
    EQ(leat_packetway_node_write(left, 0x201, 0x1200, wrote, 16, true, 3000, why),
       LEAT_PACKETWAY_NODE_OK);
    EQ(leat_packetway_node_write(left, 0x201, 0x1400, wrote, 1, true, 3000, why),
       LEAT_PACKETWAY_NODE_REFUSED);
    EQ(leat_packetway_node_read(left, 0x201, UINT64_MAX, got, 2, 3000, why),
       LEAT_PACKETWAY_NODE_WRONG);
    EQ(leat_packetway_node_read(left, 0x2FE, 0, got, 2, 3000, why), LEAT_PACKETWAY_NODE_UNKNOWN);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void what_is_not_there_is_reported(void)
{
    const struct leat_packetway_plan *plan;
    struct leat_packetway_node *none = NULL;
    struct leat_packetway_node_config bad = { .san = "nowhere" };
    EQ(leat_packetway_node_open(&bad, &none, why), LEAT_PACKETWAY_NODE_WRONG);
    OK(!none);
    bad.san = "udp:192.0.2.1:1,bias=0,address=1"; /* nobody's */
    EQ(leat_packetway_node_open(&bad, &none, why), LEAT_PACKETWAY_NODE_FAILED);
    bad.san = "udp:127.0.0.1:0,bias=0,address=1";
    bad.name = "a name that is longer than thirty-two characters";
    EQ(leat_packetway_node_open(&bad, &none, why), LEAT_PACKETWAY_NODE_WRONG);
    bad.name = NULL;
    EQ(leat_packetway_node_open(&bad, &none, why), LEAT_PACKETWAY_NODE_OK);
    EQ(leat_packetway_node_join(none, 20, why), LEAT_PACKETWAY_NODE_SILENT);
    EQ(leat_packetway_node_plan(none, 0x7ffffe, 20, &plan, why), LEAT_PACKETWAY_NODE_WRONG);
    EQ(leat_packetway_node_plan(none, 0x300, 20, &plan, why), LEAT_PACKETWAY_NODE_UNKNOWN);
    leat_packetway_node_forget(none, 0);
    EQ(leat_packetway_node_counts(none)->received, 0);
    leat_packetway_node_close(none);
    leat_packetway_node_close(NULL);
}

TAP_MAIN(T(hosts_reach_each_other_through_a_router), T(a_route_to_nobody_is_refused),
         T(memory_of_another_node_is_read_and_written), T(an_address_is_claimed_where_it_is_free),
         T(what_is_not_there_is_reported), T(all_is_closed))
