/*
 * SANs with keys: nodes that have the key reach each other, others are counted and ignored.
 * packetway_auth_test.c tests the MAC itself.
 */
#include "live_packetway_net_test.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

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
    EQ(refused_by(leat_packetway_node_key_counts(left)), 0);
    EQ(refused_by(leat_packetway_node_key_counts(right)), 0);
    EQ(*packetway_san_key_hint(&router.half[0].san), 0);
    EQ(leat_packetway_node_mtu(left), 183 - LEAT_PACKETWAY_AUTH_WORDS);
}

static bool both_are_refused(struct leat_packetway_event *e)
{
    const struct leat_packetway_auth_counts *c = &router.half[0].san.auth.counts;
    (void)e;
    return c->bare > 1 && c->forged > 1;
}

static void strangers_without_the_key_are_counted_and_not_believed(void)
{
    struct leat_packetway_node *bare, *forger;
    static struct leat_packetway_event event;
    struct leat_packetway_node_config config = { .san = san_of(0, "address=0x110"), .poll_ms = 10 };
    EQ(leat_packetway_node_open(&config, &bare, why), LEAT_PACKETWAY_NODE_OK);
    config.san = san_of(0, "address=0x111");
    config.key = key_b;
    EQ(leat_packetway_node_open(&config, &forger, why), LEAT_PACKETWAY_NODE_OK);
    const leat_time until = in_five_minutes();
    while (!both_are_refused(NULL) && packetway_now() < until) {
        leat_packetway_node_receive(bare, 11, &event);
        leat_packetway_node_receive(forger, 11, &event);
        packetway_router_serve(&router);
    }
    OK(both_are_refused(NULL));
    OK(!packetway_san_node(&router.half[0].san, 0x110) &&
       !packetway_san_node(&router.half[0].san, 0x111));
    OK(packetway_san_node(&router.half[0].san, 0x101) != NULL);
    OK(strstr(packetway_san_key_hint(&router.half[0].san), "the MAC of another key") != NULL);
    /* Each node learns, and reports, why it hears no other. */
    EQ(leat_packetway_node_join(bare, 100, why), LEAT_PACKETWAY_NODE_SILENT);
    OK(strstr(why, "seen on this UDP SAN, but there are control messages with a MAC, expected "));
    OK(strstr(leat_packetway_node_key_hint(bare), "there are control messages with a MAC") != NULL);
    EQ(leat_packetway_node_join(forger, 100, why), LEAT_PACKETWAY_NODE_SILENT);
    OK(strstr(why, ", but there are control messages with the MAC of another key, expected "));
    leat_packetway_node_close(bare);
    leat_packetway_node_close(forger);
}

/* A message of `from` to the tap, in its UDP form. */
static ssize_t overhear(struct leat_packetway_node *from, uint8_t *octets, size_t cap)
{
    static struct leat_packetway_event event;
    const leat_time until = in_five_minutes();
    ssize_t len = -1;
    while (len < 0 && packetway_now() < until) {
        leat_packetway_node_receive(from, 11, &event);
        packetway_router_serve(&router);
        len = recv(tap, octets, cap, MSG_DONTWAIT);
    }
    return len;
}

static bool it_is_taken_for_a_replay(struct leat_packetway_event *e)
{
    (void)e;
    return router.half[0].san.auth.counts.replayed >= 5;
}

/* Its own broadcast comes back to it, from elsewhere. */
static void send_back(struct leat_packetway_node *to, const uint8_t *octets, size_t len)
{
    static struct leat_packetway_event event;
    struct sockaddr_in at;
    socklen_t at_len = sizeof at;
    const leat_time until = in_five_minutes();
    OK(getsockname(leat_packetway_node_fd(to), (struct sockaddr *)&at, &at_len) == 0);
    for (int i = 0; i < 5; i++)
        EQ(sendto(tap, octets, len, 0, (const struct sockaddr *)&at, sizeof at), (ssize_t)len);
    while (leat_packetway_node_key_counts(to)->replayed < 5 && packetway_now() < until)
        leat_packetway_node_receive(to, 11, &event);
    EQ(leat_packetway_node_key_counts(to)->replayed, 5);
    EQ(refused_by(leat_packetway_node_key_counts(to)), 5);
}

static void what_was_overheard_is_not_believed_again(void)
{
    struct leat_packetway_node *loud, *deaf;
    uint8_t octets[512];
    char text[64];
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t at_len = sizeof at;
    tap = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    OK(bind(tap, (const struct sockaddr *)&at, sizeof at) == 0);
    OK(getsockname(tap, (struct sockaddr *)&at, &at_len) == 0);
    snprintf(text, sizeof text, "address=0x120,peer=127.0.0.1:%u", ntohs(at.sin_port));
    struct leat_packetway_node_config config = { .san = san_of(0, text),
                                                 .poll_ms = 10,
                                                 .key = key_a };
    EQ(leat_packetway_node_open(&config, &loud, why), LEAT_PACKETWAY_NODE_OK);
    const ssize_t len = overhear(loud, octets, sizeof octets);
    OK(len > 0);
    const struct leat_packetway_native *half = &router.half[0].san.plan.bind;
    memcpy(&at.sin_addr, half->octets, 4);
    at.sin_port = htons(leat_get_be16(half->octets + 4));
    for (int i = 0; i < 5; i++)
        EQ(sendto(tap, octets, (size_t)len, 0, (const struct sockaddr *)&at, sizeof at), len);
    OK(run_until(it_is_taken_for_a_replay));
    send_back(loud, octets, (size_t)len);
    leat_packetway_node_close(loud);
    /* A node without the key reports why it hears no other. */
    config.san = "udp:127.0.0.1:0,bias=0x100,address=0x121";
    config.key = NULL;
    EQ(leat_packetway_node_open(&config, &deaf, why), LEAT_PACKETWAY_NODE_OK);
    at_len = sizeof at;
    OK(getsockname(leat_packetway_node_fd(deaf), (struct sockaddr *)&at, &at_len) == 0);
    EQ(sendto(tap, octets, (size_t)len, 0, (const struct sockaddr *)&at, sizeof at), len);
    EQ(leat_packetway_node_join(deaf, 100, why), LEAT_PACKETWAY_NODE_SILENT);
    OK(strstr(why, "expected --key-file with this SAN's key") != NULL);
    EQ(leat_packetway_node_key_counts(deaf)->locked, 1);
    leat_packetway_node_close(deaf);
    close(tap);
}

static void open_near(struct packetway_san *san, uint32_t address, const uint8_t *key)
{
    struct packetway_plan plan = { .udp = true, .block = { 0x100, 255 }, .address = address };
    plan.bind = (struct leat_packetway_native){ .len = 6, .octets = { 127, 0, 0, 1 } };
    plan.keys = leat_keys_of(key, NULL);
    OK(packetway_san_open(san, &plan, 100, why));
}

/* A keyed node among nodes without a key: one answer, and none to that. */
static void a_node_that_alone_has_a_key_learns_so_once(void)
{
    static struct packetway_san alone, other;
    static uint8_t octets[PACKETWAY_MESSAGE_MAX];
    struct leat_packetway_native from, to = { .len = 6 };
    struct sockaddr_in at;
    socklen_t at_len = sizeof at;
    open_near(&alone, 0x131, key_a);
    open_near(&other, 0x132, NULL);
    OK(getsockname(other.fd, (struct sockaddr *)&at, &at_len) == 0);
    memcpy(to.octets, &at.sin_addr, 4);
    leat_put_be16(to.octets + 4, ntohs(at.sin_port));
    packetway_san_announce(&alone, &to, NULL, 0);
    const leat_time until = in_five_minutes();
    while (!alone.auth.counts.bare && packetway_now() < until) {
        EQ(packetway_san_receive(&other, octets, &from), 0);
        EQ(packetway_san_receive(&alone, octets, &from), 0);
    }
    EQ(packetway_san_receive(&other, octets, &from), 0);
    EQ(other.auth.counts.locked, 1);
    EQ(other.counts.sent, 1);
    EQ(alone.counts.sent, 1);
    OK(strstr(packetway_san_key_hint(&alone), "without a MAC: who sends them has no key") != NULL);
    packetway_san_close(&alone);
    packetway_san_close(&other);
}

/* A node of the far SAN sends in the name of a node of the near one, whose router would vouch for
 * it: the key of its own SAN permits it to send, but not in that name. */
static void nobody_borrows_a_name_of_a_keyed_san(void)
{
    static const uint8_t down[] = { 0, 0,    1,    1, 0, 0x48, 0xFF, 0xFF, 0, 0, 0,    2, 0, 0,
                                    1, 0x30, 0x29, 0, 0, 0,    1,    0,    1, 2, 0x29, 0, 0, 0,
                                    1, 0,    2,    2, 0, 0,    0,    0,    0, 0, 0,    0 };
    struct packetway_san san;
    const struct packetway_half *far = &router.half[1];
    struct packetway_plan plan = { .udp = true, .block = far->san.plan.block, .address = 0x230 };
    plan.bind = (struct leat_packetway_native){ .len = 6, .octets = { 127, 0, 0, 1 } };
    plan.keys = leat_keys_of(key_b, NULL);
    OK(packetway_san_open(&san, &plan, 100, why));
    /* The router is known, so that the MAC is for it. */
    san.nodes[san.node_count++] =
        (struct packetway_node){ .address = 0x202, .router = true, .native = far->san.plan.bind };
    const uint64_t was = router.half[0].san.counts.spoofed;
    OK(packetway_san_send(&san, far->san.plan.bind.octets, far->san.plan.bind.len, down,
                          sizeof down));
    const leat_time until = in_five_minutes();
    while (router.half[0].san.counts.spoofed == was && packetway_now() < until)
        packetway_router_serve(&router);
    EQ(router.half[0].san.counts.spoofed, was + 1);
    packetway_san_close(&san);
}

static void keyed_addresses_are_claimed(void)
{
    const struct leat_packetway_node_config claims = {
        .san = san_of(1, "address=0x201"), .poll_ms = 100, .claims = true, .key = key_b
    };
    const pid_t child = serve_in_background();
    EQ(open_until(&claims, LEAT_PACKETWAY_NODE_FAILED, 0), LEAT_PACKETWAY_NODE_FAILED);
    OK(strstr(why, "address 0x000201 is in use"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TAP_MAIN(T(keyed_hosts_reach_each_other_through_a_keyed_router),
         T(strangers_without_the_key_are_counted_and_not_believed),
         T(what_was_overheard_is_not_believed_again), T(a_node_that_alone_has_a_key_learns_so_once),
         T(nobody_borrows_a_name_of_a_keyed_san), T(keyed_addresses_are_claimed), T(all_is_closed))
