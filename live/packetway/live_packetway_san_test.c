/*
 * A SAN of live PacketWay, without privileges: the user's description, its carriage, and which
 * nodes are accepted.
 */
#include "live_packetway_san.h"
#include "packetway_about.h"
#include "packetway_record.h"
#include "packetway_text.h"
#include "tap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char why[PACKETWAY_WHY_LEN];

/* ---- plans --------------------------------------------------------------------------------- */

static void a_san_is_read_as_it_is_said(void)
{
    struct packetway_plan p;
    char text[PACKETWAY_ENDPOINT_MAX];
    OK(packetway_plan_read("udp:127.0.0.1:5000,bias=0x100,address=0x102,nodes=14,mtu=100,"
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
    packetway_native_text(&p.peers[0], true, text);
    OK(strcmp(text, "10.0.0.1:4254") == 0);
    packetway_native_text(&p.peers[1], true, text);
    OK(strcmp(text, "[::1]:77") == 0);
    EQ(p.peers[1].len, 18);
    OK(packetway_plan_read("lo,bias=0,address=1", &p, why));
    OK(!p.udp && strcmp(p.device, "lo") == 0);
    EQ(p.block.count, 255);
}

static void what_cannot_be_a_san_is_refused_with_what_was_expected(void)
{
    static const struct {
        const char *text, *reported;
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
    struct packetway_plan p = { .address = 77 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OK(!packetway_plan_read(all[i].text, &p, why));
        OK(strstr(why, all[i].reported) != NULL);
    }
    EQ(p.address, 77);
}

static void sans_of_a_router_are_apart(void)
{
    struct packetway_plan p[3];
    OK(packetway_plan_read("udp:127.0.0.1:1,bias=0x100,address=0x101", &p[0], why));
    OK(packetway_plan_read("udp:127.0.0.1:2,bias=0x200,address=0x201", &p[1], why));
    OK(packetway_plan_read("udp:127.0.0.1:3,bias=0x1ff,address=0x200,nodes=1", &p[2], why));
    OK(packetway_plans_check(p, 2, why));
    OK(!packetway_plans_check(p, 3, why) && strstr(why, "overlaps") != NULL);
    p[1].bind = p[0].bind;
    OK(!packetway_plans_check(p, 2, why) && strstr(why, "two SANs") != NULL);
}

/* ---- the carriage -------------------------------------------------------------------------- */

static void the_head_is_the_one_that_leat_decode_reads(void)
{
    static const uint8_t to[6] = { 2, 0, 0, 0, 0, 1 }, from[6] = { 2, 0, 0, 0, 0, 2 };
    uint8_t frame[PACKETWAY_MESSAGE_AT + 24] = { 0 }, built[64];
    size_t len, at, message_len;
    packetway_put_head(frame, to, from, 3);
    OK(memcmp(frame, to, 6) == 0 && memcmp(frame + 6, from, 6) == 0);
    EQ(leat_get_be16(frame + PACKETWAY_TYPE_AT), leat_packetway_format.ether_type);
    EQ(leat_packetway_format.ether_framing->frame(NULL, frame + PACKETWAY_MESSAGE_AT, 24, built,
                                                  sizeof built, &len),
       LEAT_ERR_OK);
    EQ(len, sizeof frame - PACKETWAY_OUI_AT);
    OK(memcmp(frame + PACKETWAY_OUI_AT, built, len) == 0);
    EQ(leat_packetway_format.ether_framing->unframe(frame + PACKETWAY_OUI_AT, len, NULL, &at,
                                                    &message_len, NULL),
       LEAT_ERR_OK);
    EQ(at, PACKETWAY_MESSAGE_AT - PACKETWAY_OUI_AT);
    EQ(message_len, 24);
    OK(packetway_is_ours(frame));
    frame[PACKETWAY_OUI_AT] = 3;
    OK(!packetway_is_ours(frame));
    OK(packetway_is_mac(to, 6));
    OK(!packetway_is_mac((const uint8_t *)"\xff\xff\xff\xff\xff\xff", 6));
    OK(!packetway_is_mac(to, 5));
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

static void nodes_are_known_while_they_announce_themselves(void)
{
    static struct packetway_san san;
    const struct packetway_node *node = NULL;
    struct packetway_node gone;
    uint8_t octets[128];
    san = (struct packetway_san){ .plan = { .block = { 0x100, 14 }, .address = 0x101 },
                                  .silence_ps = 1000 };
    const struct leat_packetway_native a = mac(2), b = mac(3), c = mac(4);
    uint32_t len = info(0x7FFFFF, 0x102, true, octets, sizeof octets);
    EQ(packetway_san_learn(&san, octets, len, &a, 0, &node), PACKETWAY_NEW);
    OK(node->router && node->address == 0x102);
    EQ(packetway_san_learn(&san, octets, len, &a, 10, &node), PACKETWAY_KNOWN);
    EQ(packetway_san_learn(&san, octets, len, &b, 20, &node), PACKETWAY_REFUSED); /* another's */
    EQ(san.counts.duplicate, 1);
    len = info(0x7FFFFF, 0x101, false, octets, sizeof octets); /* mine */
    EQ(packetway_san_learn(&san, octets, len, &b, 20, &node), PACKETWAY_REFUSED);
    EQ(san.counts.duplicate, 2);
    len = info(0x7FFFFF, 0x200, false, octets, sizeof octets);
    EQ(packetway_san_learn(&san, octets, len, &b, 20, &node), PACKETWAY_REFUSED);
    EQ(san.counts.strange, 1);
    len = info(0x101, 0x200, false, octets, sizeof octets); /* of elsewhere, an answer to me */
    EQ(packetway_san_learn(&san, octets, len, &a, 20, &node), PACKETWAY_NOTHING);
    len = info(0x101, 0x103, false, octets, sizeof octets); /* forwarded by the half-router */
    EQ(packetway_san_learn(&san, octets, len, &a, 20, &node), PACKETWAY_NOTHING);
    EQ(packetway_san_learn(&san, octets, len, &c, 30, &node), PACKETWAY_NEW);
    octets[len - 1] = 1; /* EI */
    EQ(packetway_san_learn(&san, octets, len, &c, 900, &node), PACKETWAY_NOTHING);

    OK(packetway_san_takes(&san, a.octets, 6) && !packetway_san_takes(&san, b.octets, 6));
    OK(packetway_san_node(&san, 0x103) == packetway_san_node_at(&san, c.octets, 6));
    packetway_san_alive(&san, &a, 500); /* any message of a half-router proves that it is alive */
    packetway_san_alive(&san, &c, 500);
    packetway_san_excuse(&san, 7); /* who looks late */
    OK(!packetway_san_silent(&san, 1036, &gone));
    OK(packetway_san_silent(&san, 1037, &gone) && gone.address == 0x103);
    OK(!packetway_san_silent(&san, 1506, &gone));
    OK(packetway_san_silent(&san, 1507, &gone) && gone.address == 0x102);
    EQ(san.node_count, 0);
    EQ(san.counts.gone, 2);
}

static void only_named_buddies_are_believed(void)
{
    static struct packetway_san san;
    const struct packetway_node *node = NULL;
    uint8_t octets[128];
    san = (struct packetway_san){
        .plan = { .block = { 0x100, 14 }, .address = 0x101, .buddy_count = 1, .buddies = { 0x103 } }
    };
    const struct leat_packetway_native a = mac(2), b = mac(3);
    uint32_t len = info(0x7FFFFF, 0x102, true, octets, sizeof octets);
    EQ(packetway_san_learn(&san, octets, len, &a, 0, &node), PACKETWAY_NEW);
    OK(!node->router);
    len = info(0x7FFFFF, 0x103, true, octets, sizeof octets);
    EQ(packetway_san_learn(&san, octets, len, &b, 0, &node), PACKETWAY_NEW);
    OK(node->router);
}

static void a_san_has_room_for_so_many_nodes(void)
{
    static struct packetway_san san;
    const struct packetway_node *node = NULL;
    uint8_t octets[128];
    san = (struct packetway_san){ .plan = { .block = { 0x10000, 5000 }, .address = 0x10001 } };
    for (uint32_t i = 0; i <= PACKETWAY_NODES_MAX; i++) {
        const uint32_t len = info(0x7FFFFF, 0x10002 + i, false, octets, sizeof octets);
        struct leat_packetway_native from = mac((uint8_t)i);
        from.octets[4] = (uint8_t)(i >> 8);
        EQ(packetway_san_learn(&san, octets, len, &from, 0, &node),
           i < PACKETWAY_NODES_MAX ? PACKETWAY_NEW : PACKETWAY_REFUSED);
    }
    EQ(san.counts.full, 1);
}

/* Invalid frames arrive without end; receive still returns. */
static void a_flood_of_bad_frames_keeps_nobody_waiting(void)
{
    enum { FLOOD = 400 }; /* what a socket holds anywhere */
    static struct packetway_san there;
    static uint8_t message[PACKETWAY_MESSAGE_MAX];
    static const uint8_t bad[2] = { 0, 9 };
    static const uint8_t good[26] = { 0, 3, 0, 0, 1, 2, 0, 0, 0, 82, [17] = 1 };
    struct leat_packetway_native from;
    struct packetway_plan plan = { .udp = true, .block = { 0x100, 255 }, .address = 0x102 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int turns = 0;
    plan.bind = (struct leat_packetway_native){ .len = 6, .octets = { 127, 0, 0, 1 } };
    OK(packetway_san_open(&there, &plan, 100, why));
    at.sin_port = htons(leat_get_be16(there.plan.bind.octets + 4));
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int i = 0; i < FLOOD; i++)
        EQ(sendto(fd, bad, sizeof bad, 0, (const struct sockaddr *)&at, sizeof at), sizeof bad);
    EQ(sendto(fd, good, sizeof good, 0, (const struct sockaddr *)&at, sizeof at), sizeof good);
    while (!packetway_san_receive(&there, message, &from) && turns < FLOOD)
        turns++;
    OK(turns >= 1 && turns < FLOOD);
    EQ(there.counts.cut, FLOOD);
    EQ(there.counts.taken, 1);
    close(fd);
    packetway_san_close(&there);
}

TAP_MAIN(T(a_san_is_read_as_it_is_said), T(what_cannot_be_a_san_is_refused_with_what_was_expected),
         T(sans_of_a_router_are_apart), T(the_head_is_the_one_that_leat_decode_reads),
         T(nodes_are_known_while_they_announce_themselves), T(only_named_buddies_are_believed),
         T(a_san_has_room_for_so_many_nodes), T(a_flood_of_bad_frames_keeps_nobody_waiting))
