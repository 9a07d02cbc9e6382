/* End systems over real loopback sockets: a member during a flood, packets sent together. */
#include "esp_octets.h"
#include "esp_service.h"
#include "esp_socket.h"
#include "tap.h"
#include <arpa/inet.h>
#include <leat/esp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLOOD = 400, NAME_LEN = 32 };

/* A socket of the loopback, at a port that was free. */
static int open_end(struct sockaddr_in *at, char name[NAME_LEN])
{
    socklen_t len = sizeof *at;
    const int queue_bytes = 1 << 20; /* both queues have room for the flood */
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    OK(fd >= 0 && bind(fd, (const struct sockaddr *)at, sizeof *at) == 0 &&
       getsockname(fd, (struct sockaddr *)at, &len) == 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
    snprintf(name, NAME_LEN, "127.0.0.1:%u", ntohs(at->sin_port));
    return fd;
}

/* An instruction that the member sends back. */
static size_t make_nop(uint8_t *octets, size_t cap)
{
    const struct leat_esp_packet nop = { .opcode = LEAT_ESP_NOP, .flags = LEAT_ESP_FLAG_R };
    size_t len = 0;
    EQ(leat_esp_packet_encode(&nop, octets, cap, &len), LEAT_ERR_OK);
    return len;
}

/* The most packets that came back between two JOINs. */
static unsigned longest_silence(int fd, unsigned *joins)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    unsigned others = 0, most = 0;
    for (ssize_t len; (len = recv(fd, octets, sizeof octets, 0)) > LEAT_ESP_OPCODE_AT;) {
        const bool is_join = octets[LEAT_ESP_OPCODE_AT] == LEAT_ESP_JOIN;
        *joins += is_join;
        others = is_join ? 0 : others + 1;
        if (others > most) most = others;
    }
    return most;
}

/* More packets are queued than a member processes at once: it joins in between. */
static void a_flood_does_not_silence_a_member(void)
{
    char root_name[NAME_LEN], member_name[NAME_LEN], why[LEAT_ESP_HOST_WHY_LEN];
    struct sockaddr_in root_at, at;
    uint8_t nop[LEAT_ESP_MANAGEMENT_LEN_MAX];
    const size_t nop_len = make_nop(nop, sizeof nop);
    unsigned joins = 0;
    const int root = open_end(&root_at, root_name), free_port = open_end(&at, member_name);
    close(free_port);
    const struct leat_esp_host_config config = {
        .group = 1, .bind = member_name, .root = root_name, .join_every_ns = 1
    };
    struct leat_esp_host_member *member;
    EQ(leat_esp_host_member_open(&config, &member, why), LEAT_ESP_HOST_OK);
    for (unsigned i = 0; member && i < FLOOD; i++)
        sendto(root, nop, nop_len, 0, (const struct sockaddr *)&at, sizeof at);
    unsigned most = 0;
    for (unsigned i = 0; member && i < 4; i++) {
        EQ(leat_esp_host_member_serve(member, 0, why), LEAT_ESP_HOST_OK);
        const unsigned silence = longest_silence(root, &joins);
        if (silence > most) most = silence;
    }
    OK(most > 0);
    OK(most <= ESP_LETTERS_AT_ONCE);
    EQ(joins, 4);
    leat_esp_host_member_close(member);
    close(root);
}

/* More than one call of the system takes. None is sent before a call is full, or the batch is
 * flushed. */
static void packets_of_a_batch_arrive_once_and_in_order(void)
{
    enum { PACKETS = 2 * ESP_BATCH + 5 };
    static struct esp_batch batch;
    const struct leat_esp_host_config config = { .bind = "127.0.0.1", .any_port = true };
    char name[NAME_LEN], why[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_next to;
    struct esp_socket s;
    struct sockaddr_in at;
    uint8_t octets[100] = { 0 };
    const int fd = open_end(&at, name);
    OK(esp_socket_address("a test", name, &to, why));
    EQ(esp_socket_open(&s, &config, why), LEAT_ESP_HOST_OK);
    batch.socket = &s;
    esp_batch_flush(&batch); /* of nothing */
    for (unsigned i = 0; i < PACKETS; i++) {
        octets[0] = (uint8_t)i;
        esp_batch_add(&batch, &to, octets, 1 + i);
        EQ(s.sent, i / ESP_BATCH * ESP_BATCH);
    }
    esp_batch_flush(&batch);
    EQ(s.sent, PACKETS);
    EQ(batch.count, 0);
    for (unsigned i = 0; i < PACKETS; i++) {
        EQ(recv(fd, octets, sizeof octets, 0), 1 + i);
        EQ(octets[0], i);
    }
    EQ(recv(fd, octets, sizeof octets, 0), -1);
    esp_socket_close(&s);
    close(fd);
}

/* ---- many members ---------------------------------------------------------------------------- */

enum { MANY = 300 };

/* A process of its own: members that serve until they are killed. */
static pid_t start_members(const char *root)
{
    static struct leat_esp_host_member *member[MANY];
    char why[LEAT_ESP_HOST_WHY_LEN];
    const struct leat_esp_host_config config = {
        .group = 1, .bind = "127.0.0.1", .any_port = true, .root = root, .value = 3
    };
    const pid_t parent = getpid(), pid = fork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* it has ended meanwhile */
    for (unsigned m = 0; m < MANY; m++)
        if (leat_esp_host_member_open(&config, &member[m], why)) _exit(1);
    for (;; poll(NULL, 0, 1))
        for (unsigned m = 0; m < MANY; m++)
            leat_esp_host_member_serve(member[m], 0, why);
}

/* All are children of the root's own store, more than one of its groups has room for. A busy host
 * may be late: then the root asks again. */
static void a_root_has_room_for_many_children(void)
{
    char name[NAME_LEN], why[LEAT_ESP_HOST_WHY_LEN];
    struct sockaddr_in at;
    struct leat_esp_host_root *root = NULL;
    struct leat_esp_service_result result = { 0 };
    struct leat_esp_host_root_cost cost;
    close(open_end(&at, name));
    const struct leat_esp_host_config config = { .group = 1, .bind = name };
    EQ(leat_esp_host_root_open(&config, &root, why), LEAT_ESP_HOST_OK);
    if (!root) return;
    const pid_t members = start_members(name);
    EQ(leat_esp_host_root_gather(root, MANY, 60000), MANY);
    struct leat_esp_request request = leat_esp_host_root_request(LEAT_ESP_SERVICE_SUM, true);
    request.settle_ps = UINT64_C(500000000000);
    request.attempts = 8;
    for (unsigned i = 0; i < 10 && result.end != LEAT_ESP_ANSWERED; i++)
        leat_esp_host_root_query(root, &request, &result, &cost, why);
    EQ(result.end, LEAT_ESP_ANSWERED);
    EQ(result.answer, 3 * MANY);
    OK(result.shards > 1);
    kill(members, SIGKILL);
    waitpid(members, NULL, 0);
    leat_esp_host_root_close(root);
}

/* ---- probes ---------------------------------------------------------------------------------- */

static const struct leat_esp_packet a_count = { .opcode = LEAT_ESP_COUNT,
                                                .flags = LEAT_ESP_FLAG_R | LEAT_ESP_FLAG_XR,
                                                .computationId = 9,
                                                .compValTag = 5,
                                                .thresh = 3 };

static struct leat_esp_host_probe *open_probe(char name[NAME_LEN])
{
    char why[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_host_probe *probe = NULL;
    struct sockaddr_in at;
    close(open_end(&at, name)); /* a free port */
    const struct leat_esp_host_config config = { .bind = name };
    EQ(leat_esp_host_probe_open(&config, &probe, why), LEAT_ESP_HOST_OK);
    return probe;
}

/* R: the other probe sends it back once, with X := XR, and says so. */
static void a_probe_sends_receives_and_reflects(void)
{
    char here[NAME_LEN], there[NAME_LEN], why[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_host_probe *one = open_probe(here), *two = open_probe(there);
    struct leat_esp_host_arrival come, first;
    struct leat_esp_host_probe_counts counts;
    if (!one || !two) return;
    EQ(leat_esp_host_probe_send(one, there, &a_count, why), LEAT_ESP_HOST_OK);
    EQ(leat_esp_host_probe_receive(two, 60000, &come, why), LEAT_ESP_HOST_OK);
    first = come;
    OK(strcmp(come.from, here) == 0);
    OK(come.is_returned);
    EQ(come.packet.flags, a_count.flags);
    EQ(come.packet.compValTag == 5 && come.packet.thresh == 3 && come.packet.computationId == 9, 1);
    EQ(leat_esp_host_probe_receive(one, 60000, &come, why), LEAT_ESP_HOST_OK);
    OK(strcmp(come.from, there) == 0);
    OK(!come.is_returned);
    EQ(come.packet.flags, LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_XR);
    EQ(leat_esp_host_probe_receive(one, 0, &come, why), LEAT_ESP_HOST_SILENT);
    leat_esp_host_probe_counts(two, &counts);
    EQ(counts.sent == 1 && counts.received == 1 && counts.skipped == 0, 1);
    OK(first.at_ns > 0 && counts.elapsed_ns >= first.at_ns);
    leat_esp_host_probe_close(one);
    leat_esp_host_probe_close(two);
}

static void a_probe_refuses_and_skips_what_is_malformed(void)
{
    char here[NAME_LEN], ignored[NAME_LEN], why[LEAT_ESP_HOST_WHY_LEN];
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    struct leat_esp_host_probe *probe = open_probe(here);
    struct leat_esp_host_arrival come;
    struct leat_esp_host_probe_counts counts;
    struct leat_esp_packet bad = a_count;
    struct sockaddr_in own, at = { .sin_family = AF_INET };
    const int fd = open_end(&own, ignored);
    size_t len;
    if (!probe) return;
    EQ(leat_esp_host_probe_send(probe, "nowhere", &a_count, why), LEAT_ESP_HOST_WRONG);
    OK(strstr(why, "'nowhere'") != NULL);
    bad.opcode = 99;
    EQ(leat_esp_host_probe_send(probe, "127.0.0.1", &bad, why), LEAT_ESP_HOST_WRONG);
    EQ(leat_esp_packet_encode(&a_count, octets, sizeof octets, &len), LEAT_ERR_OK);
    at.sin_port = htons((uint16_t)strtoul(strchr(here, ':') + 1, NULL, 10));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    octets[20] ^= 1; /* the CRC finds it */
    sendto(fd, octets, len, 0, (const struct sockaddr *)&at, sizeof at);
    octets[20] ^= 1;
    sendto(fd, octets, len, 0, (const struct sockaddr *)&at, sizeof at);
    EQ(leat_esp_host_probe_receive(probe, 60000, &come, why), LEAT_ESP_HOST_OK);
    leat_esp_host_probe_counts(probe, &counts);
    EQ(counts.skipped, 1);
    leat_esp_host_probe_close(probe);
    leat_esp_host_probe_close(NULL);
    close(fd);
}

TAP_MAIN(T(a_root_has_room_for_many_children), T(a_probe_sends_receives_and_reflects),
         T(a_probe_refuses_and_skips_what_is_malformed),
         T(packets_of_a_batch_arrive_once_and_in_order), T(a_flood_does_not_silence_a_member))
