/*
 * Live PacketWay without privileges: what users say of SANs, the carriage, who is believed to be
 * there; and a router with hosts on both sides over UDP, all in this process.
 * test/command/pktway_live.sh has Ethernets, XDP, and routers that die.
 */
#include "packetway_about.h"
#include "packetway_build.h"
#include "packetway_text.h"
#include "pktway_control.h"
#include "pktway_node.h"
#include "pktway_router.h"
#include "pktway_tun.h"
#include "tap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char why[PKTWAY_WHY_LEN];

/* ---- plans --------------------------------------------------------------------------------- */

static void a_san_is_read_as_it_is_said(void)
{
    struct pktway_plan p;
    char text[PKTWAY_ENDPOINT_MAX];
    OK(pktway_plan_read("udp:127.0.0.1:5000,bias=0x100,address=0x102,nodes=14,mtu=100,"
                        "peer=10.0.0.1,peer=[::1]:77,buddy=0x103,buddy=260",
                        &p, why));
    OK(p.udp);
    EQ(p.block.bias, 0x100);
    EQ(p.block.count, 14);
    EQ(p.address, 0x102);
    EQ(p.mtu_words, 100);
    EQ(p.peer_count, 2);
    EQ(p.buddy_count, 2);
    EQ(p.buddies[1], 0x104);
    static const uint8_t bind[] = { 127, 0, 0, 1, 0x13, 0x88 };
    EQ(p.bind.len, sizeof bind);
    OK(memcmp(p.bind.octets, bind, sizeof bind) == 0);
    pktway_native_text(&p.peers[0], true, text);
    OK(strcmp(text, "10.0.0.1:4254") == 0);
    pktway_native_text(&p.peers[1], true, text);
    OK(strcmp(text, "[::1]:77") == 0);
    EQ(p.peers[1].len, 18);
    OK(pktway_plan_read("lo,bias=0,address=1", &p, why));
    OK(!p.udp && strcmp(p.device, "lo") == 0);
    EQ(p.block.count, 255);
}

static void what_cannot_be_a_san_is_refused_with_what_was_expected(void)
{
    static const struct {
        const char *text, *told;
    } all[] = {
        { "", "expected a network device" },
        { "bias=1", "expected a network device" },
        { "no-such-device,bias=0,address=1", "no network device" },
        { "lo,address=1", "without bias=" },
        { "lo,bias=0", "without address=" },
        { "lo,bias=0,address=256", "block 0x1 to 0xff" },
        { "lo,bias=0,address=0", "address '0'" },
        { "lo,bias=-1,address=1", "bias '-1'" },
        { "lo,bias=0x7ffffd,address=0x7ffffd", "0x7ffffd or below" },
        { "lo,bias=0,address=1,nodes=0", "nodes '0'" },
        { "lo,bias=0,address=1,mtu=15", "mtu '15'" },
        { "lo,bias=0,address=1,speed=2", "expected bias=" },
        { "lo,bias=0,address=1,", "expected bias=" },
        { "lo,bias=0,address=1,peer=1.2.3.4", "is for UDP" },
        { "udp:1.2.3,bias=0,address=1", "expected udp:ADDRESS" },
        { "udp:1.2.3.4:65536,bias=0,address=1", "expected udp:ADDRESS" },
        { "udp:[::1,bias=0,address=1", "expected udp:ADDRESS" },
        { "udp:1.2.3.4,bias=0,address=1,peer=x", "expected ADDRESS" },
        { "udp:1.2.3.4,bias=0,address=1,buddy=0", "buddy '0'" },
    };
    struct pktway_plan p = { .address = 77 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OK(!pktway_plan_read(all[i].text, &p, why));
        OK(strstr(why, all[i].told) != NULL);
    }
    EQ(p.address, 77);
}

static void sans_of_a_router_are_apart(void)
{
    struct pktway_plan p[3];
    OK(pktway_plan_read("udp:127.0.0.1:1,bias=0x100,address=0x101", &p[0], why));
    OK(pktway_plan_read("udp:127.0.0.1:2,bias=0x200,address=0x201", &p[1], why));
    OK(pktway_plan_read("udp:127.0.0.1:3,bias=0x1ff,address=0x200,nodes=1", &p[2], why));
    OK(pktway_plans_check(p, 2, why));
    OK(!pktway_plans_check(p, 3, why) && strstr(why, "overlaps") != NULL);
    p[1].bind = p[0].bind;
    OK(!pktway_plans_check(p, 2, why) && strstr(why, "two SANs") != NULL);
}

/* ---- the carriage -------------------------------------------------------------------------- */

static void the_head_is_the_one_that_leat_decode_reads(void)
{
    static const uint8_t to[6] = { 2, 0, 0, 0, 0, 1 }, from[6] = { 2, 0, 0, 0, 0, 2 };
    uint8_t frame[PKTWAY_MESSAGE_AT + 24] = { 0 }, built[64];
    size_t len, at, message_len;
    pktway_put_head(frame, to, from, 3);
    OK(memcmp(frame, to, 6) == 0 && memcmp(frame + 6, from, 6) == 0);
    EQ(leat_get_be16(frame + PKTWAY_TYPE_AT), leat_packetway_format.ether_type);
    EQ(leat_packetway_format.ether_framing->frame(NULL, frame + PKTWAY_MESSAGE_AT, 24, built,
                                                  sizeof built, &len),
       LEAT_ERR_OK);
    EQ(len, sizeof frame - PKTWAY_OUI_AT);
    OK(memcmp(frame + PKTWAY_OUI_AT, built, len) == 0);
    EQ(leat_packetway_format.ether_framing->unframe(frame + PKTWAY_OUI_AT, len, NULL, &at,
                                                    &message_len, NULL),
       LEAT_ERR_OK);
    EQ(at, PKTWAY_MESSAGE_AT - PKTWAY_OUI_AT);
    EQ(message_len, 24);
    OK(pktway_is_ours(frame));
    frame[PKTWAY_OUI_AT] = 3;
    OK(!pktway_is_ours(frame));
    OK(pktway_is_mac(to, 6));
    OK(!pktway_is_mac((const uint8_t *)"\xff\xff\xff\xff\xff\xff", 6));
    OK(!pktway_is_mac(to, 5));
}

/* ---- who is there -------------------------------------------------------------------------- */

/* INFO of a node about itself. */
static uint32_t info(uint32_t dt, uint32_t address, bool router, uint8_t *octets, size_t cap)
{
    static struct leat_packetway_message m;
    uint8_t db[64];
    size_t len = 0;
    struct leat_packetway_build b;
    const struct leat_packetway_address me = leat_packetway_single(address);
    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_address(&b, &me);
    leat_packetway_build_nest(&b);
    leat_packetway_build_capability(&b, router ? LEAT_PACKETWAY_CC_ROUTER : LEAT_PACKETWAY_CC_NODE,
                                    NULL, 0);
    leat_packetway_build_leave(&b);
    m.header = (struct leat_packetway_header){ .dt = dt, .sa = address, .pt = 1, .te = 25 };
    m.data = db;
    m.data_len = b.len;
    EQ(leat_packetway_message_encode(&m, octets, cap, &len), LEAT_ERR_OK);
    return (uint32_t)len;
}

static struct leat_packetway_native mac(uint8_t last)
{
    return (struct leat_packetway_native){ .len = 6, .octets = { 2, 0, 0, 0, 0, last } };
}

static void nodes_are_known_while_they_are_heard(void)
{
    static struct pktway_san san;
    const struct pktway_node *node = NULL;
    struct pktway_node gone;
    uint8_t octets[128];
    san = (struct pktway_san){ .plan = { .block = { 0x100, 14 }, .address = 0x101 },
                               .silence_ps = 1000 };
    const struct leat_packetway_native a = mac(2), b = mac(3), c = mac(4);
    uint32_t len = info(0x7FFFFF, 0x102, true, octets, sizeof octets);
    EQ(pktway_san_learn(&san, octets, len, &a, 0, &node), PKTWAY_NEW);
    OK(node->router && node->address == 0x102);
    EQ(pktway_san_learn(&san, octets, len, &a, 10, &node), PKTWAY_HEARD);
    EQ(pktway_san_learn(&san, octets, len, &b, 20, &node), PKTWAY_REFUSED); /* another's */
    EQ(san.counts.duplicate, 1);
    len = info(0x7FFFFF, 0x101, false, octets, sizeof octets); /* mine */
    EQ(pktway_san_learn(&san, octets, len, &b, 20, &node), PKTWAY_REFUSED);
    EQ(san.counts.duplicate, 2);
    len = info(0x7FFFFF, 0x200, false, octets, sizeof octets);
    EQ(pktway_san_learn(&san, octets, len, &b, 20, &node), PKTWAY_REFUSED);
    EQ(san.counts.strange, 1);
    len = info(0x101, 0x200, false, octets, sizeof octets); /* of elsewhere, an answer to me */
    EQ(pktway_san_learn(&san, octets, len, &a, 20, &node), PKTWAY_NOTHING);
    len = info(0x101, 0x103, false, octets, sizeof octets); /* sent on by the half-router */
    EQ(pktway_san_learn(&san, octets, len, &a, 20, &node), PKTWAY_NOTHING);
    EQ(pktway_san_learn(&san, octets, len, &c, 30, &node), PKTWAY_NEW);
    octets[len - 1] = 1; /* EI */
    EQ(pktway_san_learn(&san, octets, len, &c, 900, &node), PKTWAY_NOTHING);

    OK(pktway_san_takes(&san, a.octets, 6) && !pktway_san_takes(&san, b.octets, 6));
    OK(pktway_san_node(&san, 0x103) == pktway_san_node_at(&san, c.octets, 6));
    pktway_san_hear(&san, &a, 500); /* half-routers are heard by any message of theirs */
    pktway_san_hear(&san, &c, 500);
    pktway_san_excuse(&san, 7); /* who looks late */
    OK(!pktway_san_silent(&san, 1036, &gone));
    OK(pktway_san_silent(&san, 1037, &gone) && gone.address == 0x103);
    OK(!pktway_san_silent(&san, 1506, &gone));
    OK(pktway_san_silent(&san, 1507, &gone) && gone.address == 0x102);
    EQ(san.node_count, 0);
    EQ(san.counts.gone, 2);
}

static void only_named_buddies_are_believed(void)
{
    static struct pktway_san san;
    const struct pktway_node *node = NULL;
    uint8_t octets[128];
    san = (struct pktway_san){
        .plan = { .block = { 0x100, 14 }, .address = 0x101, .buddy_count = 1, .buddies = { 0x103 } }
    };
    const struct leat_packetway_native a = mac(2), b = mac(3);
    uint32_t len = info(0x7FFFFF, 0x102, true, octets, sizeof octets);
    EQ(pktway_san_learn(&san, octets, len, &a, 0, &node), PKTWAY_NEW);
    OK(!node->router);
    len = info(0x7FFFFF, 0x103, true, octets, sizeof octets);
    EQ(pktway_san_learn(&san, octets, len, &b, 0, &node), PKTWAY_NEW);
    OK(node->router);
}

static void a_san_has_room_for_so_many_nodes(void)
{
    static struct pktway_san san;
    const struct pktway_node *node = NULL;
    uint8_t octets[128];
    san = (struct pktway_san){ .plan = { .block = { 0x10000, 5000 }, .address = 0x10001 } };
    for (uint32_t i = 0; i <= PKTWAY_NODES_MAX; i++) {
        const uint32_t len = info(0x7FFFFF, 0x10002 + i, false, octets, sizeof octets);
        struct leat_packetway_native from = mac((uint8_t)i);
        from.octets[4] = (uint8_t)(i >> 8);
        EQ(pktway_san_learn(&san, octets, len, &from, 0, &node),
           i < PKTWAY_NODES_MAX ? PKTWAY_NEW : PKTWAY_REFUSED);
    }
    EQ(san.counts.full, 1);
}

/* Frames that are no good come without end; whoever asks for a message gets its turn back. */
static void a_flood_of_bad_frames_keeps_nobody_waiting(void)
{
    enum { FLOOD = 400 }; /* what a socket holds anywhere */
    static struct pktway_san there;
    static uint8_t message[PKTWAY_MESSAGE_MAX];
    static const uint8_t bad[2] = { 0, 9 };
    static const uint8_t good[26] = { 0, 3, 0, 0, 1, 2, 0, 0, 0, 82, [17] = 1 };
    struct leat_packetway_native from;
    struct pktway_plan plan = { .udp = true, .block = { 0x100, 255 }, .address = 0x102 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int turns = 0;
    plan.bind = (struct leat_packetway_native){ .len = 6, .octets = { 127, 0, 0, 1 } };
    OK(pktway_san_open(&there, &plan, 100, why));
    at.sin_port = htons(leat_get_be16(there.plan.bind.octets + 4));
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int i = 0; i < FLOOD; i++)
        EQ(sendto(fd, bad, sizeof bad, 0, (const struct sockaddr *)&at, sizeof at), sizeof bad);
    EQ(sendto(fd, good, sizeof good, 0, (const struct sockaddr *)&at, sizeof at), sizeof good);
    while (!pktway_san_receive(&there, message, &from) && turns < FLOOD)
        turns++;
    OK(turns >= 1 && turns < FLOOD);
    EQ(there.counts.cut, FLOOD);
    EQ(there.counts.taken, 1);
    close(fd);
    pktway_san_close(&there);
}

/* ---- a network over UDP -------------------------------------------------------------------- */

static struct pktway_router router;
static struct leat_pktway *left, *right;

static void begin(const uint8_t *near_key, const uint8_t *far_key)
{
    static struct pktway_router_config config;
    struct leat_pktway_config host = { .name = "left", .poll_ms = 100 };
    char near[64], text[160];
    bool wrong;
    config = (struct pktway_router_config){ .name = "r", .san_count = 2, .poll_ms = 100 };
    OK(pktway_plan_read("udp:127.0.0.1:0,bias=0x100,address=0x102", &config.sans[0], why));
    OK(pktway_plan_read("udp:127.0.0.1:0,bias=0x200,address=0x202,mtu=64", &config.sans[1], why));
    config.sans[1].bind.octets[3] = 2; /* 127.0.0.2: both have port 0 */
    config.sans[0].keyed = config.sans[1].keyed = near_key != NULL;
    if (near_key) {
        memcpy(config.sans[0].key, near_key, LEAT_PACKETWAY_KEY_LEN);
        memcpy(config.sans[1].key, far_key, LEAT_PACKETWAY_KEY_LEN);
    }
    OK(pktway_router_open(&router, &config, &wrong, why));
    EQ(router.driver, PKTWAY_UDP);
    pktway_native_text(&router.half[0].san.plan.bind, true, near);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x100,address=0x101,peer=%s", near);
    host.san = text;
    host.key = near_key;
    EQ(leat_pktway_open(&host, &left, why), LEAT_PKTWAY_OK);
    pktway_native_text(&router.half[1].san.plan.bind, true, near);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x200,address=0x201,peer=%s", near);
    host.name = "right";
    host.key = far_key;
    EQ(leat_pktway_open(&host, &right, why), LEAT_PKTWAY_OK);
}

/* All three run until `done` says so; false: not in five minutes. */
static bool run_until(bool (*done)(struct leat_packetway_event *left_got))
{
    static struct leat_packetway_event event, other;
    const leat_time until = pktway_now() + 300 * LEAT_PACKETWAY_SECOND;
    while (pktway_now() < until) {
        struct pollfd wait[] = { { .fd = pktway_router_fd(&router, 0), .events = POLLIN },
                                 { .fd = pktway_router_fd(&router, 1), .events = POLLIN },
                                 { .fd = leat_pktway_fd(left), .events = POLLIN },
                                 { .fd = leat_pktway_fd(right), .events = POLLIN } };
        OK(pktway_router_next_at(&router) > 0);
        poll(wait, 4, 5);
        pktway_router_serve(&router);
        while (leat_pktway_receive(right, 0, &other)) {
        }
        event.kind = LEAT_PACKETWAY_EVENT_NONE;
        leat_pktway_receive(left, 0, &event);
        if (done(&event)) return true;
    }
    return false;
}

static bool tables_are_exchanged(struct leat_packetway_event *e)
{
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(router.half[0].engine);
    struct leat_packetway_entry room;
    (void)e;
    return leat_pktway_router(left, 0) == 0x102 && leat_pktway_router(right, 0) == 0x202 &&
           leat_packetway_fib_find(fib, 0x201, &room) && leat_packetway_fib_find(fib, 0x101, &room);
}

static bool an_echo_is_back(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_DATA && e->peer == 0x201 &&
           e->message.header.te == LEAT_PKTWAY_ECHO_REPLY && e->message.data_len == 8 + 5 &&
           memcmp(e->message.data + 8, "hello", 5) == 0 && leat_get_be64(e->message.data) == 0;
}

static bool an_err_is_back(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_ERR && e->peer == 0x202 &&
           e->message.header.te == LEAT_PACKETWAY_TE_GENERAL;
}

static bool it_is_told_of(struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_INFO && e->peer == 0x102;
}

static bool a_plan_is_there(struct leat_packetway_event *e)
{
    const struct leat_packetway_plan *plan;
    (void)e;
    return leat_pktway_plan(left, 0x201, 1, &plan, why) == LEAT_PKTWAY_OK &&
           plan->state == LEAT_PACKETWAY_PLAN_ROUTES && plan->routes[0].mtu_words == 64 &&
           plan->router == 0x102;
}

static struct leat_packetway_message *hello(size_t len)
{
    static struct leat_packetway_message m;
    static uint8_t data[1024] = "hello";
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = 0x201,
                                               .pt = LEAT_PKTWAY_PT_ECHO,
                                               .te = LEAT_PKTWAY_ECHO_REQUEST };
    m.data = data;
    m.data_len = len;
    return &m;
}

static void hosts_reach_each_other(const uint8_t *near_key, const uint8_t *far_key)
{
    uint8_t db[64];
    struct leat_packetway_build b;
    begin(near_key, far_key);
    OK(run_until(tables_are_exchanged));
    EQ(leat_pktway_join(left, 10, why), LEAT_PKTWAY_OK);
    EQ(leat_pktway_send(left, hello(5), LEAT_PACKETWAY_SEND_BY_ADDRESS, 0, why), LEAT_PKTWAY_OK);
    OK(run_until(an_echo_is_back));
    OK(run_until(a_plan_is_there));
    EQ(leat_pktway_send(left, hello(5), LEAT_PACKETWAY_SEND_PLANNED, 0, why), LEAT_PKTWAY_OK);
    OK(run_until(an_echo_is_back));
    EQ(leat_pktway_send(left, hello(600), LEAT_PACKETWAY_SEND_PLANNED, 0, why), LEAT_PKTWAY_WRONG);
    EQ(leat_pktway_send(left, hello(600), LEAT_PACKETWAY_SEND_BY_ADDRESS, 0, why), LEAT_PKTWAY_OK);
    OK(run_until(an_err_is_back)); /* above the MTU of the second SAN */

    leat_packetway_build_init(&b, db, sizeof db);
    leat_packetway_build_name(&b, (const uint8_t *)"right", 5);
    EQ(leat_pktway_ask(left, 0x102, db, b.len, why), LEAT_PKTWAY_OK);
    OK(run_until(it_is_told_of));
    leat_packetway_build_init(&b, db, sizeof db); /* the half-router itself is one of these */
    leat_packetway_build_capability(&b, LEAT_PACKETWAY_CC_ROUTER, NULL, 0);
    EQ(leat_pktway_ask(left, 0x102, db, b.len, why), LEAT_PKTWAY_OK);
    EQ(leat_pktway_ask(left, 0x102, NULL, 0, why), LEAT_PKTWAY_WRONG);
    OK(strstr(why, "has not answered the last question yet") != NULL);
    OK(run_until(it_is_told_of));
    EQ(leat_pktway_ask(left, 0x102, db, b.len, why), LEAT_PKTWAY_OK);
    leat_pktway_unask(left, 0x102);
    EQ(leat_pktway_ask(left, 0x102, NULL, 0, why), LEAT_PKTWAY_OK);
    OK(run_until(it_is_told_of));
    EQ(pktway_router_in_kernel(&router, 0), 0);
    OK(leat_pktway_is_near(left, 0x1FF) && !leat_pktway_is_near(left, 0x201));
}

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
    EQ(leat_pktway_send_routed(left, m, 0x102, why), LEAT_PKTWAY_OK);
    OK(run_until(an_err_is_back));
    EQ(router.half[1].refused, 1);
}

/* The router and right go on in another process, for half a minute at most. */
static pid_t serve_in_background(void)
{
    static struct leat_packetway_event event;
    const pid_t child = fork();
    if (child != 0) return child;
    const leat_time until = pktway_now() + 30 * LEAT_PACKETWAY_SECOND;
    while (pktway_now() < until) {
        pktway_router_serve(&router);
        leat_pktway_receive(right, 1, &event);
    }
    _exit(0);
}

/* Opens until that ends so, or with that address: on a busy machine an answer may come too late. */
static enum leat_pktway_end open_until(const struct leat_pktway_config *config,
                                       enum leat_pktway_end wanted, uint32_t address)
{
    struct leat_pktway *node = NULL;
    enum leat_pktway_end end = LEAT_PKTWAY_OK;
    uint32_t got = 0;
    for (int i = 0; i < 40 && (end != wanted || got != address || !i); i++) {
        end = leat_pktway_open(config, &node, why);
        got = end == LEAT_PKTWAY_OK ? leat_pktway_address(node) : 0;
        if (end == LEAT_PKTWAY_OK) leat_pktway_close(node);
    }
    EQ(got, address);
    return end;
}

static void an_address_is_claimed_where_it_is_free(void)
{
    static struct leat_packetway_event event;
    struct leat_pktway *other = NULL;
    char near[64], text[200];
    pktway_native_text(&router.half[1].san.plan.bind, true, near);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x200,nodes=2,address=auto,peer=%s", near);
    const struct leat_pktway_config config = { .san = text, .poll_ms = 100 };
    const pid_t child = serve_in_background();
    /* 0x201 is right's and 0x202 the router's: none is free, whichever comes first */
    EQ(open_until(&config, LEAT_PKTWAY_FAILED, 0), LEAT_PKTWAY_FAILED);
    OK(strstr(why, "is in use"));
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x200,nodes=3,address=auto,peer=%s", near);
    EQ(open_until(&config, LEAT_PKTWAY_OK, 0x203), LEAT_PKTWAY_OK);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x200,address=0x201,peer=%s", near);
    const struct leat_pktway_config claims = { .san = text, .poll_ms = 100, .claims = true };
    EQ(open_until(&claims, LEAT_PKTWAY_FAILED, 0), LEAT_PKTWAY_FAILED);
    OK(strstr(why, "address 0x000201 is in use"));
    EQ(leat_pktway_open(&config, &other, why), LEAT_PKTWAY_OK); /* it did not ask */
    leat_pktway_close(other);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    while (leat_pktway_receive(left, 0, &event)) {
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
    leat_pktway_lend(right, &store);
    const pid_t child = serve_in_background();
    leat_pktway_lend(right, NULL);
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
    EQ(leat_pktway_write(left, 0x201, 0x1000, wrote, 512, false, 3000, why), LEAT_PKTWAY_OK);
    memset(got, 0xEE, sizeof got);
    EQ(leat_pktway_read(left, 0x201, 0x1001, got, 511, 3000, why), LEAT_PKTWAY_OK);
    OK(memcmp(got, wrote + 1, 511) == 0 && got[511] == 0xEE);
    EQ(leat_pktway_read(left, 0x201, 0x1000, got, 0, 3000, why), LEAT_PKTWAY_OK);
    EQ(leat_pktway_read(left, 0x201, 0x11FF, got, 2, 3000, why), LEAT_PKTWAY_REFUSED);
    OK(strstr(why, "read 2 octets at 0x11ff"));
    EQ(leat_pktway_write(left, 0x201, 0x1200, wrote, 16, false, 3000, why), LEAT_PKTWAY_REFUSED);
    OK(strstr(why, "read back 16 octets at 0x1200"));
    EQ(leat_pktway_write(left, 0x201, 0x1200, wrote, 16, true, 3000, why), LEAT_PKTWAY_OK);
    EQ(leat_pktway_write(left, 0x201, 0x1400, wrote, 1, true, 3000, why), LEAT_PKTWAY_REFUSED);
    EQ(leat_pktway_read(left, 0x201, UINT64_MAX, got, 2, 3000, why), LEAT_PKTWAY_WRONG);
    EQ(leat_pktway_read(left, 0x2FE, 0, got, 2, 3000, why), LEAT_PKTWAY_UNKNOWN);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void what_is_not_there_is_told(void)
{
    const struct leat_packetway_plan *plan;
    struct leat_pktway *none = NULL;
    struct leat_pktway_config bad = { .san = "nowhere" };
    EQ(leat_pktway_open(&bad, &none, why), LEAT_PKTWAY_WRONG);
    OK(!none);
    bad.san = "udp:192.0.2.1:1,bias=0,address=1"; /* nobody's */
    EQ(leat_pktway_open(&bad, &none, why), LEAT_PKTWAY_FAILED);
    bad.san = "udp:127.0.0.1:0,bias=0,address=1";
    bad.name = "a name that is longer than thirty-two characters";
    EQ(leat_pktway_open(&bad, &none, why), LEAT_PKTWAY_WRONG);
    bad.name = NULL;
    EQ(leat_pktway_open(&bad, &none, why), LEAT_PKTWAY_OK);
    EQ(leat_pktway_join(none, 20, why), LEAT_PKTWAY_SILENT);
    EQ(leat_pktway_plan(none, 0x7ffffe, 20, &plan, why), LEAT_PKTWAY_WRONG);
    EQ(leat_pktway_plan(none, 0x300, 20, &plan, why), LEAT_PKTWAY_UNKNOWN);
    leat_pktway_forget(none, 0);
    EQ(leat_pktway_counts(none)->received, 0);
    leat_pktway_close(none);
    leat_pktway_close(NULL);
}

/* ---- IP ------------------------------------------------------------------------------------ */

static void the_longest_prefix_says_which_node(void)
{
    static struct pktway_tun tun;
    static const uint8_t a[] = { 10, 9, 0, 3 }, b[] = { 10, 9, 0, 130 }, c[] = { 10, 9, 1, 3 };
    static const uint8_t six[16] = { 0xfd, [15] = 3 };
    tun.fd = -1;
    OK(pktway_tun_way(&tun, "10.9.0.0/24=0x301", why));
    OK(pktway_tun_way(&tun, "10.9.0.128/25=0x302", why));
    OK(pktway_tun_way(&tun, "10.9.0.3=0x303", why));
    OK(pktway_tun_way(&tun, "fd00::/8=4", why));
    EQ(pktway_tun_node(&tun, a, 4), 0x303);
    EQ(pktway_tun_node(&tun, b, 4), 0x302);
    EQ(pktway_tun_node(&tun, c, 4), 0);
    EQ(pktway_tun_node(&tun, six, 16), 4);
    static const char *const bad[] = { "",           "10.9.0.3",    "10.9.0=1",     "10.9.0.0/33=1",
                                       "10.9.0.3=0", "10.9.0.3=1x", "fd00::/129=1", "10.9.0.3/=1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!pktway_tun_way(&tun, bad[i], why) && strstr(why, "expected ADDRESS") != NULL);
    for (int i = 4; i < PKTWAY_WAYS_MAX; i++)
        OK(pktway_tun_way(&tun, "::1=1", why));
    OK(!pktway_tun_way(&tun, "::1=1", why) && strstr(why, "more than") != NULL);
    OK(!pktway_tun_open(&tun, "a-name-that-is-too-long", 100, why));
    pktway_tun_close(&tun);
}

/* ---- control ------------------------------------------------------------------------------- */

/* Octets by hand; the sums are those that Python's checksum of the same octets gives. */
static void a_packet_that_is_too_long_is_told_of(void)
{
    static const uint8_t four[] = { 0x45, 0,  5, 0xDC, 0, 1, 0x40, 0,    64,   6, 0, 0, 10, 9, 0,
                                    1,    10, 9, 0,    3, 4, 0,    0x13, 0x89, 1, 2, 3, 4,  5, 6 };
    static const uint8_t told[] = { 0x45, 0, 0,  56, 0, 0, 0, 0, 64,   1,    0x66, 0xB0, 10, 9,
                                    0,    3, 10, 9,  0, 1, 3, 4, 0xFF, 0xA2, 0,    0,    2,  0xD0 };
    uint8_t out[PKTWAY_TOO_LONG_MAX], six[48] = { 0x60, 0, 0, 0, 5, 0, 6, 64, 0xFD, 9 };
    EQ(pktway_tun_too_long(four, sizeof four, 720, out), 56);
    OK(memcmp(out, told, sizeof told) == 0 && memcmp(out + sizeof told, four, 28) == 0);
    six[23] = 1;
    six[39] = 3;
    EQ(pktway_tun_too_long(six, sizeof six, 1280, out), 96);
    OK(out[6] == 58 && out[40] == 2 && out[46] == 5 && out[47] == 0); /* type, 1280 */
    OK(memcmp(out + 8, six + 24, 16) == 0 && memcmp(out + 24, six + 8, 16) == 0);
    uint32_t sum = 56 + 58; /* RFC 4443, 2.3: with the pseudo-header it comes to all ones */
    for (size_t i = 8; i < 96; i += 2)
        sum += (uint32_t)out[i] << 8 | out[i + 1];
    EQ((sum & 0xFFFF) + (sum >> 16), 0xFFFF);
    const uint8_t about_error[28] = { 0x45, [9] = 1, [20] = 3 };
    EQ(pktway_tun_too_long(about_error, sizeof about_error, 720, out), 0);
    EQ(pktway_tun_too_long(four, 19, 720, out), 0);
    EQ(pktway_tun_too_long(told + 4, 24, 720, out), 0); /* neither of both */
}

/* ---- control ------------------------------------------------------------------------------- */

static struct pktway_control control;
static char control_name[PKTWAY_NAME_MAX];
static struct pktway_request asked;

/* One turn of a process that serves, on a clock that stands still, or `late_ms` later. */
static struct pktway_client *turn(uint32_t late_ms)
{
    static leat_time begun;
    struct pollfd wait[PKTWAY_CONTROL_FDS];
    if (!begun) begun = pktway_now();
    pktway_control_wait(&control, wait);
    poll(wait, PKTWAY_CONTROL_FDS, 10);
    return pktway_control_serve(&control, wait, begun + late_ms * (LEAT_PACKETWAY_SECOND / 1000),
                                &asked);
}

static int dial(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    const int len = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "leat-pktway/%s",
                             control_name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    OK(connect(fd, (const struct sockaddr *)&at,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0);
    return fd;
}

static void ask_on(int fd)
{
    const struct pktway_request q = { .word = "status" };
    EQ(send(fd, &q, sizeof q, MSG_NOSIGNAL), sizeof q);
}

static bool is_closed(int fd)
{
    char piece[64];
    return recv(fd, piece, sizeof piece, MSG_DONTWAIT) == 0;
}

/* A child that serves one request with `answer`, as user `uid`. */
static pid_t serve_apart(uid_t uid, const char *answer)
{
    int ready[2];
    char c = 0;
    OK(pipe(ready) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct pktway_client *client = NULL;
        if (uid && setuid(uid)) _exit(1);
        if (!pktway_control_open(&control, control_name, why)) _exit(1);
        if (write(ready[1], &c, 1) != 1) _exit(1);
        while (!client)
            client = turn(0);
        if (strcmp(asked.word, "status") != 0) _exit(1);
        pktway_control_say(client, false, answer, strlen(answer));
        pktway_control_end(client, 7);
        pktway_control_close(&control, 0);
        _exit(0);
    }
    close(ready[1]);
    EQ(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return child;
}

static void a_name_is_one_process_and_its_owner_is_heard(void)
{
    struct pktway_request q = { .word = "status" };
    int code = -1;
    snprintf(control_name, sizeof control_name, "test-%d", (int)getpid());
    OK(!pktway_control_name("A b", why) && !pktway_control_name("", why));
    OK(!pktway_control_ask(control_name, &q, stdout, stderr, &code, why));
    OK(strstr(why, "runs in") != NULL);
    const pid_t child = serve_apart(0, "good\n\x1b[2J\n");
    OK(!pktway_control_open(&control, control_name, why) && strstr(why, "already") != NULL);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    OK(pktway_control_ask(control_name, &q, out, stderr, &code, why));
    fclose(out);
    EQ(code, 7);
    OK(strcmp(text, "good\n\\x1b[2J\n") == 0); /* no terminal is cleared by it */
    free(text);
    waitpid(child, NULL, 0);
}

static void nobody_waits_for_a_client_that_is_silent(void)
{
    int silent[PKTWAY_CLIENTS_MAX];
    OK(pktway_control_open(&control, control_name, why));
    for (int i = 0; i < PKTWAY_CLIENTS_MAX; i++) {
        silent[i] = dial();
        OK(!turn(0));
    }
    ask_on(silent[3]);
    struct pktway_client *client = turn(0);
    OK(client && strcmp(asked.word, "status") == 0);
    if (client) pktway_control_end(client, 0);
    close(silent[3]);
    silent[3] = dial();
    OK(!turn(0));
    const int late = dial(); /* there is no room for it, until the silent ones are closed */
    ask_on(late);
    OK(!turn(0) && !is_closed(silent[0]));
    OK(!turn(PKTWAY_REQUEST_MS + 1));
    for (int i = 0; i < PKTWAY_CLIENTS_MAX; i++) {
        OK(is_closed(silent[i]));
        close(silent[i]);
    }
    client = turn(0);
    if (!client) client = turn(0); /* let in, then heard */
    OK(client);
    pktway_control_close(&control, 5);
    char piece[2];
    EQ(recv(late, piece, sizeof piece, 0), 2);
    EQ(piece[1], 5);
    close(late);
}

static void an_answer_that_is_not_taken_is_kept_for_a_while(void)
{
    static char line[4096];
    char piece[sizeof line + 1];
    int lines = 0;
    memset(line, 'x', sizeof line);
    OK(pktway_control_open(&control, control_name, why));
    for (int round = 0; round < 2; round++) {
        const int slow = dial();
        struct pktway_client *client = NULL;
        ask_on(slow);
        while (!client)
            client = turn(0);
        for (int i = 0; i < 1000; i++) /* far more than a socket holds */
            OK(pktway_control_say(client, false, line, sizeof line));
        pktway_control_end(client, 3);
        OK(client->fd >= 0);
        if (round == 0) {
            while (recv(slow, piece, sizeof piece, MSG_DONTWAIT) != 2) {
                lines += piece[0] == 'o';
                turn(0);
            }
            OK(piece[0] == 'x' && piece[1] == 3);
            OK(lines >= 1000);
        } else {
            OK(!turn(1000 * PKTWAY_SLOW_MS) && client->fd < 0);
        }
        close(slow);
    }
    const int greedy = dial();
    struct pktway_client *client = NULL;
    ask_on(greedy);
    while (!client)
        client = turn(0);
    int said = 0;
    while (pktway_control_say(client, false, line, sizeof line))
        said++;
    OK(said > 1000 && said <= 1000 + PKTWAY_ANSWER_MAX / (int)sizeof line);
    pktway_control_end(client, 0);
    OK(client->fd < 0);
    close(greedy);
    pktway_control_close(&control, 0);
}

static void other_users_are_told_and_not_served(void)
{
    enum { STRANGER = 65534 };
    struct pktway_request q = { .word = "status" };
    int code = -1, end = -1;
    if (geteuid() != 0) {
        printf("# SKIPPED, AND LOUDLY: other users need root\n");
        return;
    }
    /* A stranger's question: it is refused before it has said a word. */
    OK(pktway_control_open(&control, control_name, why));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char piece[256];
        if (setuid(STRANGER)) _exit(1);
        const int fd = dial();
        const ssize_t len = recv(fd, piece, sizeof piece, 0);
        if (len < 0 || !memmem(piece, (size_t)len, "another user's", 14)) _exit(2);
        _exit(recv(fd, piece, sizeof piece, 0) == 2 ? 0 : 3);
    }
    while (waitpid(child, &end, WNOHANG) == 0)
        OK(!turn(0));
    EQ(end, 0);
    for (int i = 0; i < PKTWAY_CLIENTS_MAX; i++)
        EQ(control.client[i].fd, -1);
    pktway_control_close(&control, 0);
    /* A stranger's answer, and a name that a stranger took. */
    child = serve_apart(STRANGER, "trust me\n");
    OK(!pktway_control_ask(control_name, &q, stdout, stderr, &code, why));
    OK(strstr(why, "of user 65534, which is not asked") != NULL);
    OK(!pktway_control_open(&control, control_name, why));
    OK(strstr(why, "is taken by process") != NULL && strstr(why, "of user 65534") != NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    /* ... who does not even listen. */
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    const int len = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "leat-pktway/%s",
                             control_name);
    const socklen_t at_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    const int deaf = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    char holder[64];
    OK(bind(deaf, (const struct sockaddr *)&at, at_len) == 0);
    OK(!pktway_control_open(&control, control_name, why));
    OK(strstr(why, "is taken by a process that does not answer") != NULL);
    pktway_control_holder(&at, at_len, holder, sizeof holder);
    OK(strcmp(holder, "a process that does not answer") == 0);
    close(deaf);
}

static void all_is_closed(void)
{
    leat_pktway_close(left);
    leat_pktway_close(right);
    pktway_router_close(&router);
    EQ(router.count, 0);
    OK(strcmp(pktway_driver_name(PKTWAY_XDP), "xdp") == 0);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static const uint8_t key_a[LEAT_PACKETWAY_KEY_LEN] = "the first one's",
                     key_b[LEAT_PACKETWAY_KEY_LEN] = "another's......";
static int tap = -1;

static uint64_t refused_by(const struct leat_packetway_auth_counts *c)
{
    uint64_t sum = 0;
#define X(id, text) sum += c->id;
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
    return sum;
}

/* Two SANs, each with its own key; tables, plans, TELL, ERR and echoes as without. */
static void keyed_hosts_reach_each_other_through_a_keyed_router(void)
{
    hosts_reach_each_other(key_a, key_b);
    EQ(refused_by(&router.half[0].san.auth.counts), 0);
    EQ(refused_by(&router.half[1].san.auth.counts), 0);
    EQ(refused_by(leat_pktway_key_counts(left)), 0);
    EQ(refused_by(leat_pktway_key_counts(right)), 0);
    EQ(*pktway_san_key_hint(&router.half[0].san), 0);
    EQ(leat_pktway_mtu(left), 183 - LEAT_PACKETWAY_AUTH_WORDS);
}

static bool both_are_refused(struct leat_packetway_event *e)
{
    const struct leat_packetway_auth_counts *c = &router.half[0].san.auth.counts;
    (void)e;
    return c->bare > 1 && c->forged > 1;
}

static void strangers_without_the_key_are_counted_and_not_believed(void)
{
    struct leat_pktway *bare, *forger;
    static struct leat_packetway_event event;
    char near[64], text[160];
    pktway_native_text(&router.half[0].san.plan.bind, true, near);
    struct leat_pktway_config config = { .san = text, .poll_ms = 10 };
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x100,address=0x110,peer=%s", near);
    EQ(leat_pktway_open(&config, &bare, why), LEAT_PKTWAY_OK);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x100,address=0x111,peer=%s", near);
    config.key = key_b;
    EQ(leat_pktway_open(&config, &forger, why), LEAT_PKTWAY_OK);
    const leat_time until = pktway_now() + 300 * LEAT_PACKETWAY_SECOND;
    while (!both_are_refused(NULL) && pktway_now() < until) {
        leat_pktway_receive(bare, 11, &event);
        leat_pktway_receive(forger, 11, &event);
        pktway_router_serve(&router);
    }
    OK(both_are_refused(NULL));
    OK(!pktway_san_node(&router.half[0].san, 0x110) &&
       !pktway_san_node(&router.half[0].san, 0x111));
    OK(pktway_san_node(&router.half[0].san, 0x101) != NULL);
    OK(strstr(pktway_san_key_hint(&router.half[0].san), "the MAC of another key") != NULL);
    EQ(leat_pktway_join(bare, 1, why), LEAT_PKTWAY_SILENT);
    leat_pktway_close(bare);
    leat_pktway_close(forger);
}

/* A message of `from` on its way to the tap, as UDP has it. */
static ssize_t overhear(struct leat_pktway *from, uint8_t *octets, size_t cap)
{
    static struct leat_packetway_event event;
    const leat_time until = pktway_now() + 300 * LEAT_PACKETWAY_SECOND;
    ssize_t len = -1;
    while (len < 0 && pktway_now() < until) {
        leat_pktway_receive(from, 11, &event);
        pktway_router_serve(&router);
        len = recv(tap, octets, cap, MSG_DONTWAIT);
    }
    return len;
}

static bool it_is_taken_for_a_replay(struct leat_packetway_event *e)
{
    (void)e;
    return router.half[0].san.auth.counts.replayed >= 5;
}

static void what_was_overheard_is_not_believed_again(void)
{
    struct leat_pktway *loud, *deaf;
    uint8_t octets[512];
    char near[64], text[160];
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t at_len = sizeof at;
    tap = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    OK(bind(tap, (const struct sockaddr *)&at, sizeof at) == 0);
    OK(getsockname(tap, (struct sockaddr *)&at, &at_len) == 0);
    pktway_native_text(&router.half[0].san.plan.bind, true, near);
    snprintf(text, sizeof text,
             "udp:127.0.0.1:0,bias=0x100,address=0x120,peer=%s,peer=127.0.0.1:%u", near,
             ntohs(at.sin_port));
    struct leat_pktway_config config = { .san = text, .poll_ms = 10, .key = key_a };
    EQ(leat_pktway_open(&config, &loud, why), LEAT_PKTWAY_OK);
    const ssize_t len = overhear(loud, octets, sizeof octets);
    OK(len > 0);
    const struct leat_packetway_native *half = &router.half[0].san.plan.bind;
    memcpy(&at.sin_addr, half->octets, 4);
    at.sin_port = htons(leat_get_be16(half->octets + 4));
    for (int i = 0; i < 5; i++)
        EQ(sendto(tap, octets, (size_t)len, 0, (const struct sockaddr *)&at, sizeof at), len);
    OK(run_until(it_is_taken_for_a_replay));
    leat_pktway_close(loud);
    /* A node without the key tells why it hears nobody. */
    OK(getsockname(tap, (struct sockaddr *)&at, &at_len) == 0);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x100,address=0x121");
    config.key = NULL;
    EQ(leat_pktway_open(&config, &deaf, why), LEAT_PKTWAY_OK);
    at_len = sizeof at;
    OK(getsockname(leat_pktway_fd(deaf), (struct sockaddr *)&at, &at_len) == 0);
    EQ(sendto(tap, octets, (size_t)len, 0, (const struct sockaddr *)&at, sizeof at), len);
    EQ(leat_pktway_join(deaf, 100, why), LEAT_PKTWAY_SILENT);
    OK(strstr(why, "expected --key-file with this SAN's key") != NULL);
    EQ(leat_pktway_key_counts(deaf)->locked, 1);
    leat_pktway_close(deaf);
    close(tap);
}

/* From the far SAN somebody speaks in the name of a node of the near one, whose router would vouch
 * for it: with the key of his own SAN he may speak, but not so. */
static void nobody_borrows_a_name_of_a_keyed_san(void)
{
    static const uint8_t down[] = { 0, 0,    1,    1, 0, 0x48, 0xFF, 0xFF, 0, 0, 0,    2, 0, 0,
                                    1, 0x30, 0x29, 0, 0, 0,    1,    0,    1, 2, 0x29, 0, 0, 0,
                                    1, 0,    2,    2, 0, 0,    0,    0,    0, 0, 0,    0 };
    struct pktway_san san;
    const struct pktway_half *far = &router.half[1];
    struct pktway_plan plan = { .udp = true, .block = far->san.plan.block, .address = 0x230 };
    plan.bind = (struct leat_packetway_native){ .len = 6, .octets = { 127, 0, 0, 1 } };
    plan.keyed = true;
    memcpy(plan.key, key_b, sizeof plan.key);
    OK(pktway_san_open(&san, &plan, 100, why));
    /* The router is known, so that the MAC is for it. */
    san.nodes[san.node_count++] =
        (struct pktway_node){ .address = 0x202, .router = true, .native = far->san.plan.bind };
    const uint64_t was = router.half[0].san.counts.spoofed;
    OK(pktway_san_send(&san, far->san.plan.bind.octets, far->san.plan.bind.len, down, sizeof down));
    const leat_time until = pktway_now() + 300 * LEAT_PACKETWAY_SECOND;
    while (router.half[0].san.counts.spoofed == was && pktway_now() < until)
        pktway_router_serve(&router);
    EQ(router.half[0].san.counts.spoofed, was + 1);
    pktway_san_close(&san);
}

static void keyed_addresses_are_claimed(void)
{
    char near[64], text[200];
    pktway_native_text(&router.half[1].san.plan.bind, true, near);
    snprintf(text, sizeof text, "udp:127.0.0.1:0,bias=0x200,address=0x201,peer=%s", near);
    const struct leat_pktway_config claims = {
        .san = text, .poll_ms = 100, .claims = true, .key = key_b
    };
    const pid_t child = serve_in_background();
    EQ(open_until(&claims, LEAT_PKTWAY_FAILED, 0), LEAT_PKTWAY_FAILED);
    OK(strstr(why, "address 0x000201 is in use"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TAP_MAIN(T(a_san_is_read_as_it_is_said), T(what_cannot_be_a_san_is_refused_with_what_was_expected),
         T(sans_of_a_router_are_apart), T(the_head_is_the_one_that_leat_decode_reads),
         T(nodes_are_known_while_they_are_heard), T(only_named_buddies_are_believed),
         T(a_san_has_room_for_so_many_nodes), T(a_flood_of_bad_frames_keeps_nobody_waiting),
         T(hosts_reach_each_other_through_a_router), T(a_route_to_nobody_is_refused),
         T(memory_of_another_node_is_read_and_written), T(an_address_is_claimed_where_it_is_free),
         T(what_is_not_there_is_told), T(the_longest_prefix_says_which_node),
         T(a_packet_that_is_too_long_is_told_of), T(a_name_is_one_process_and_its_owner_is_heard),
         T(nobody_waits_for_a_client_that_is_silent),
         T(an_answer_that_is_not_taken_is_kept_for_a_while), T(other_users_are_told_and_not_served),
         T(all_is_closed), T(keyed_hosts_reach_each_other_through_a_keyed_router),
         T(strangers_without_the_key_are_counted_and_not_believed),
         T(what_was_overheard_is_not_believed_again), T(nobody_borrows_a_name_of_a_keyed_san),
         T(keyed_addresses_are_claimed), T(all_is_closed))
