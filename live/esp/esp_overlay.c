/*
 * A router over UDP: any process may be one. It forwards what arrives at its address to a
 * configured next hop, with the hop count it had on arrival. The gate works on frames, so a
 * datagram gets the headers that it had on the wire.
 *
 * A packet in an overlay has no address but that of the next hop. Packets for the root go there hop
 * by hop, including the answers to a query, and there is no reverse route: no reflection, no
 * installation of duplicates.
 *
 * Sending never blocks: few packets are sent to a next hop that the kernel has yet to resolve
 * (esp_kernel.h), so that the socket has room for packets to the others.
 */
#include "esp_driver.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUE_BYTES = 4 << 20, PACKETS_AT_ONCE = 64 };

/* Of this process. */
static struct {
    struct esp_ground ground;
    struct esp_kernel *kernel; /* the process's */
    int fd;
} path;

/* What the kernel reported about a datagram. */
struct arrival {
    uint64_t from[2], to[2];
    uint16_t from_port;
    int hops;
};

/* One IPv6 socket serves both: IPv4 addresses arrive as ::ffff:a.b.c.d, which is our form. */
static ssize_t receive(uint8_t *octets, size_t cap, struct arrival *a)
{
    struct sockaddr_in6 peer;
    struct iovec part = { octets, cap };
    union {
        struct cmsghdr header;
        uint8_t octets[256];
    } control;
    struct msghdr m = { .msg_name = &peer,
                        .msg_namelen = sizeof peer,
                        .msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = &control,
                        .msg_controllen = sizeof control };
    const ssize_t got = recvmsg(path.fd, &m, MSG_DONTWAIT);
    if (got < 0) return got;
    *a = (struct arrival){ .hops = 64, .from_port = ntohs(peer.sin6_port) };
    esp_address_read(peer.sin6_addr.s6_addr, a->from);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            esp_address_read(info.ipi6_addr.s6_addr, a->to);
        } else if ((c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT) ||
                   (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL)) {
            memcpy(&a->hops, CMSG_DATA(c), sizeof a->hops);
        }
    }
    return got;
}

/* Rebuilds the datagram's frame: the octets are already at its end. Always in IPv6's form. */
static void dress(uint8_t *frame, uint32_t len, const struct arrival *a)
{
    uint8_t *ip = frame + ESP_ETHERNET_LEN, *udp = ip + ESP_IPV6_LEN;
    memset(frame, 0, ESP_ETHERNET_LEN + ESP_IPV6_LEN + ESP_UDP_LEN);
    leat_put_be16(frame + ESP_TYPE_AT, ESP_TYPE_IPV6);
    ip[0] = ESP_IPV6_BEGIN;
    leat_put_be16(ip + ESP_IPV6_PAYLOAD_AT, (uint16_t)(ESP_UDP_LEN + len));
    ip[ESP_IPV6_NEXT_AT] = ESP_IP_UDP;
    ip[ESP_IPV6_HOPS_AT] = (uint8_t)a->hops;
    esp_address_write(a->from, ip + ESP_IPV6_FROM_AT);
    esp_address_write(a->to, ip + ESP_IPV6_TO_AT);
    leat_put_be16(udp, a->from_port);
    leat_put_be16(udp + ESP_UDP_TO_AT, LEAT_ESP_UDP_PORT);
    leat_put_be16(udp + ESP_UDP_LEN_AT, (uint16_t)(ESP_UDP_LEN + len));
}

static struct esp_out way(void *driver, const struct esp_place *at, const uint64_t to[2])
{
    const struct esp_config *c = driver;
    (void)at;
    const uint32_t next = esp_next_of(c, to);
    return (struct esp_out){ .kind = next < ESP_NEXT_MAX ? ESP_WAY_OUT : ESP_WAY_NONE,
                             .next = next };
}

/* The outcome: `sent`, or why not. */
static enum esp_reason send_on(const uint8_t *octets, uint32_t len, int hops,
                               const struct esp_next *next, enum esp_reason sent)
{
    struct sockaddr_in6 peer = { .sin6_family = AF_INET6, .sin6_port = htons(next->udp_port) };
    esp_address_write(next->address, peer.sin6_addr.s6_addr);
    const bool is_ipv4 = next->address[0] == 0 && next->address[1] >> 32 == 0xffff;
    const int level = is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
    if (esp_kernel_hop(path.kernel, peer.sin6_addr.s6_addr + (is_ipv4 ? 12 : 0), is_ipv4 ? 4 : 16,
                       esp_user_now_ns(&path.ground.share->config)) == ESP_HOP_AWAITED)
        return ESP_UNRESOLVED;
    /* As a socket option and not as ancillary data: kernels do not accept IPv4's there on this
     * socket. */
    setsockopt(path.fd, level, is_ipv4 ? IP_TTL : IPV6_UNICAST_HOPS, &hops, sizeof hops);
    const ssize_t went = sendto(path.fd, octets, len, MSG_DONTWAIT, (const struct sockaddr *)&peer,
                                sizeof peer);
    return went < 0 ? ESP_FAILED : sent;
}

/* The sender of a query is the previous hop: the root is reached by forwarding. */
static void answer_ahead(uint8_t *frame, const struct esp_next *next)
{
    uint8_t *ip = frame + ESP_ETHERNET_LEN;
    esp_address_write(next->address, ip + ESP_IPV6_FROM_AT);
    leat_put_be16(ip + ESP_IPV6_LEN, next->udp_port);
}

static bool take(struct esp_process *p)
{
    enum { AT = ESP_ETHERNET_LEN + ESP_IPV6_LEN + ESP_UDP_LEN };
    static uint8_t frame[ESP_FRAME_MAX + ESP_FRAME_SLACK];
    struct esp_outcome o;
    struct arrival a;
    const ssize_t got = receive(frame + AT, ESP_FRAME_MAX - AT, &a);
    if (got < 0) return false;
    const uint32_t len = (uint32_t)got;
    dress(frame, len, &a);
    if (!esp_user_gate(&path.ground, frame, AT + len, 0, &o)) return true;
    const struct esp_next *next = &p->memory.share->config.next[o.out.next % ESP_NEXT_MAX];
    if (o.reason == ESP_ASKED) answer_ahead(frame, next);
    if (esp_is_for_process(o.reason)) esp_manage_frame(p, frame, AT + len, 0);
    if (o.reason > ESP_ASKED) return true;
    const int hops = frame[ESP_ETHERNET_LEN + 7];
    const enum esp_reason sent = send_on(frame + AT, len, hops, next, o.reason);
    if (sent != o.reason) esp_user_unsent(&path.ground, &o, sent);
    return true;
}

static void serve(struct esp_process *p)
{
    struct pollfd wait = { .fd = path.fd, .events = POLLIN };
    if (poll(&wait, 1, ESP_SERVE_MS) <= 0) return;
    for (int i = 0; i < PACKETS_AT_ONCE && take(p); i++) {
    }
}

static bool start(struct esp_process *p, bool *kept, char *why)
{
    struct esp_config *c = &p->memory.share->config;
    const int on = 1, off = 0, queue_bytes = QUEUE_BYTES;
    const uint16_t port = c->listen_port ? c->listen_port : LEAT_ESP_UDP_PORT;
    struct sockaddr_in6 here = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    (void)kept;
    esp_address_write(c->listen, here.sin6_addr.s6_addr);
    path.ground = (struct esp_ground){ p->memory.share, p->memory.group, way, c };
    path.kernel = &p->kernel;
    path.fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (path.fd < 0) return live_because(why, "a UDP socket: %s", strerror(errno));
    setsockopt(path.fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    setsockopt(path.fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    setsockopt(path.fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
    setsockopt(path.fd, IPPROTO_IP, IP_RECVTTL, &on, sizeof on);
    /* IPv4: the CRC protects the packet, so no router has to complete a checksum. */
    setsockopt(path.fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    setsockopt(path.fd, SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
    if (bind(path.fd, (const struct sockaddr *)&here, sizeof here))
        return live_because(why, "UDP port %u: %s", port, strerror(errno));
    live_because(p->memory.share->mode, ", by process %d", (int)getpid());
    return true;
}

const struct esp_driver esp_udp_driver = { "udp", LEAT_ESP_ROUTER_UDP, start, serve, NULL };
