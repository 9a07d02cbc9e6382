/*
 * A router without XDP: packet sockets see every incoming frame; ESP packets to be forwarded are
 * sent by raw sockets, along the kernel's routes. Routing rules keep the kernel from forwarding the
 * original as well (esp_kernel.h).
 *
 * The kernel has already delivered packets for an address of this host. They are not processed
 * here, since an end system that is the root of a computation runs a store of its own.
 *
 * Sending never blocks. Packets for a neighbour that the kernel has yet to resolve wait in the
 * kernel and occupy the send buffer of their socket. They therefore have sockets of their own,
 * separate for each port, and are few (esp_kernel.h). Whatever arrives at one port, the other ports
 * and all resolved neighbours remain reachable.
 */
#include "esp_driver.h"
#include "esp_octets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 64, FRAME_LEN = ESP_FRAME_MAX + 1 + ESP_FRAME_SLACK };
enum {
    QUEUE_BYTES = 8 << 20, /* receive buffer */
    SENT_BYTES = 4 << 20,  /* send buffer: a neighbour may just have become unknown */
    SOUGHT_BYTES = 1 << 20 /* the same for unresolved neighbours, per port: some 2500 packets */
};
enum { ANY_TYPE = 3 /* ETH_P_ALL */, IGNORE_OUTGOING = 23 /* PACKET_IGNORE_OUTGOING */ };

/* Of this process. */
static struct {
    struct esp_ground ground;
    struct esp_kernel *kernel; /* the process's */
    int in[ESP_PORTS_MAX];
    int raw4, raw6;                                     /* to resolved neighbours */
    int sought4[ESP_PORTS_MAX], sought6[ESP_PORTS_MAX]; /* to others, by the input port */
} path;

/* ---- sockets ------------------------------------------------------------------------------ */

/*
 * Passes only what may be ours: type 88B5; IPv4 with protocol 253 or UDP to 4253; IPv6 with UDP to
 * 4253 or a Hop-by-Hop header.
 */
static bool filter(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ESP_TYPE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEAT_ESP_ETHER_TYPE, 12, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ESP_TYPE_IPV6, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ESP_TYPE_IPV4, 0, 11),
        /* 4: IPv4 */
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ESP_ETHERNET_LEN + ESP_IPV4_PROTOCOL_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEAT_ESP_IP_PROTOCOL, 8, 0),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, ESP_ETHERNET_LEN),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, ESP_ETHERNET_LEN + ESP_UDP_TO_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEAT_ESP_UDP_PORT, 5, 6),
        /* 9: IPv6 */
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ESP_ETHERNET_LEN + ESP_IPV6_NEXT_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ESP_IP_HOP_BY_HOP, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ESP_IP_UDP, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ESP_ETHERNET_LEN + ESP_IPV6_LEN + ESP_UDP_TO_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEAT_ESP_UDP_PORT, 0, 1),
        /* 14: ours, 15: not */
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

static int open_port(uint32_t device, char *why)
{
    const int on = 1, queue_bytes = QUEUE_BYTES;
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue_bytes, sizeof queue_bytes);
    if (fd >= 0 && filter(fd) && setsockopt(fd, SOL_PACKET, IGNORE_OUTGOING, &on, sizeof on) == 0 &&
        live_packet_bind(fd, device, ANY_TYPE))
        return fd;
    live_refused(why, "a packet socket", LIVE_NET_RAW | LIVE_NET_ADMIN, ", or --driver udp");
    if (fd >= 0) close(fd);
    return -1;
}

/* A nonblocking raw socket; -1: there is none. */
static int open_raw(int family, int queue_bytes)
{
    const int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_RAW);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &queue_bytes, sizeof queue_bytes);
    return fd;
}

/* Those of IPv6 may be missing. */
static bool open_all_raw(uint32_t ports)
{
    path.raw4 = open_raw(AF_INET, SENT_BYTES);
    path.raw6 = open_raw(AF_INET6, SENT_BYTES);
    bool opened = path.raw4 >= 0;
    for (uint32_t i = 0; opened && i < ports; i++) {
        path.sought4[i] = open_raw(AF_INET, SOUGHT_BYTES);
        path.sought6[i] = open_raw(AF_INET6, SOUGHT_BYTES);
        opened = path.sought4[i] >= 0;
    }
    return opened;
}

/* ---- sending ------------------------------------------------------------------------------ */

/* An address (esp_frame.h) in the kernel's form: for IPv4 only the last four octets. */
static const uint8_t *kernel_address(const uint64_t number[2], bool is_ipv6,
                                     uint8_t address[LEAT_ESP_ADDRESS_LEN], uint32_t *len)
{
    esp_address_write(number, address);
    *len = is_ipv6 ? LEAT_ESP_ADDRESS_LEN : 4;
    return address + LEAT_ESP_ADDRESS_LEN - *len;
}

static bool send_bare(const struct esp_config *c, uint32_t device, const uint8_t *mac,
                      uint8_t *frame, uint32_t len)
{
    const struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = (int)device };
    for (uint32_t i = 0; i < c->port_count; i++)
        if (c->port[i].device == device) esp_put_mac(frame + ESP_FROM_AT, c->port[i].mac);
    esp_put_mac(frame + ESP_TO_AT, mac);
    return sendto(path.in[0], frame, len, 0, (const struct sockaddr *)&to, sizeof to) >= 0;
}

/* The header is sent as it is; `to` selects the route. */
static bool send_ip(int fd, const uint8_t *ip, uint32_t len, bool is_ipv6, const uint64_t to[2])
{
    if (is_ipv6) {
        struct sockaddr_in6 peer = { .sin6_family = AF_INET6 };
        esp_address_write(to, peer.sin6_addr.s6_addr);
        return sendto(fd, ip, len, 0, (const struct sockaddr *)&peer, sizeof peer) >= 0;
    }
    struct sockaddr_in peer = { .sin_family = AF_INET };
    peer.sin_addr.s_addr = htonl((uint32_t)to[1]);
    return sendto(fd, ip, len, 0, (const struct sockaddr *)&peer, sizeof peer) >= 0;
}

/* Sends by the route to `to`. Returns the outcome: `sent`, or why not. */
static enum esp_reason send_routed(const uint8_t *ip, uint32_t len, bool is_ipv6,
                                   const uint64_t to[2], uint32_t port, enum esp_reason sent)
{
    uint8_t address[LEAT_ESP_ADDRESS_LEN];
    uint32_t address_len;
    const uint8_t *octets = kernel_address(to, is_ipv6, address, &address_len);
    switch (esp_kernel_hop(path.kernel, octets, address_len,
                           esp_user_now_ns(&path.ground.share->config))) {
    case ESP_HOP_KNOWN:
        return send_ip(is_ipv6 ? path.raw6 : path.raw4, ip, len, is_ipv6, to) ? sent : ESP_FAILED;
    case ESP_HOP_SOUGHT:
        if (send_ip(is_ipv6 ? path.sought6[port] : path.sought4[port], ip, len, is_ipv6, to))
            return sent;
        /* Too many wait already, for neighbours of this port or in the whole kernel. */
        return errno == EAGAIN || errno == ENOBUFS ? ESP_UNRESOLVED : ESP_FAILED;
    case ESP_HOP_AWAITED: break;
    }
    return ESP_UNRESOLVED;
}

static enum esp_reason send_on(uint8_t *frame, uint32_t len, const struct esp_outcome *o)
{
    const struct esp_config *c = &path.ground.share->config;
    const struct esp_place *at = &o->pass.at;
    if (at->carriage == ESP_BARE)
        return send_bare(c, c->bare_device, c->bare_mac, frame, len) ? o->reason : ESP_FAILED;
    uint64_t to[2];
    esp_destination(frame, frame + len, at, to);
    if (o->out.next < ESP_NEXT_MAX) {
        const struct esp_next *next = &c->next[o->out.next];
        if (next->device)
            return send_bare(c, next->device, next->mac, frame, len) ? o->reason : ESP_FAILED;
        to[0] = next->address[0];
        to[1] = next->address[1];
    }
    const uint32_t packet_end = at->packet_at + at->packet_len; /* without Ethernet's padding */
    return send_routed(frame + ESP_ETHERNET_LEN, packet_end - ESP_ETHERNET_LEN, esp_is_ipv6(at), to,
                       o->pass.port, o->reason);
}

/* ---- the route ---------------------------------------------------------------------------- */

static struct esp_out way(void *driver, const struct esp_place *at, const uint64_t to[2])
{
    const struct esp_config *c = driver;
    struct esp_out out = { .kind = ESP_WAY_OUT, .port = ESP_NO_PORT, .next = ESP_NEXT_MAX };
    uint64_t hop[2] = { to[0], to[1] };
    if (at->carriage == ESP_BARE) {
        out.port = c->bare_device ? esp_port_of(c, c->bare_device) : ESP_NO_PORT;
        out.kind = c->bare_device ? ESP_WAY_OUT : ESP_WAY_HOST;
        return out;
    }
    out.next = esp_next_of(c, to);
    if (out.next < ESP_NEXT_MAX) {
        const struct esp_next *next = &c->next[out.next];
        if (next->device) {
            out.port = esp_port_of(c, next->device);
            return out;
        }
        hop[0] = next->address[0];
        hop[1] = next->address[1];
    }
    uint8_t address[LEAT_ESP_ADDRESS_LEN];
    uint32_t address_len;
    const uint8_t *octets = kernel_address(hop, esp_is_ipv6(at), address, &address_len);
    const struct esp_way found = esp_kernel_way(path.kernel, octets, address_len,
                                                esp_user_now_ns(c));
    out.kind = found.kind;
    if (found.kind == ESP_WAY_OUT) out.port = esp_port_of(c, found.device);
    return out;
}

/* An instruction for an address of this host: the kernel delivers it. */
static bool is_hosts(const uint8_t *frame, uint32_t len, const struct esp_config *c)
{
    struct esp_place at = { 0 };
    uint64_t to[2];
    uint8_t address[LEAT_ESP_ADDRESS_LEN];
    uint32_t address_len;
    if (esp_find(frame, frame + len, &at) != ESP_FOUND || at.carriage == ESP_BARE) return false;
    if (at.packet_len > LEAT_ESP_OPCODE_AT &&
        frame[at.packet_at + LEAT_ESP_OPCODE_AT] >= LEAT_ESP_MANAGEMENT_FIRST)
        return false;
    esp_destination(frame, frame + len, &at, to);
    const uint8_t *octets = kernel_address(to, esp_is_ipv6(&at), address, &address_len);
    return esp_kernel_way(path.kernel, octets, address_len, esp_user_now_ns(c)).kind ==
           ESP_WAY_HOST;
}

/* ---- serving ------------------------------------------------------------------------------ */

static void take(struct esp_process *p, uint8_t *frame, uint32_t len, uint32_t port)
{
    const struct esp_config *c = &p->memory.share->config;
    struct esp_outcome o;
    if (is_hosts(frame, len, c)) {
        p->memory.share->counts.host++;
        return;
    }
    if (len > ESP_FRAME_MAX) { /* cut off */
        p->memory.share->counts.reason[ESP_FAILED]++;
        return;
    }
    if (!esp_user_gate(&path.ground, frame, len, port, &o)) return;
    if (esp_is_for_process(o.reason)) esp_manage_frame(p, frame, len, port);
    if (o.reason > ESP_ASKED || o.out.kind != ESP_WAY_OUT) return;
    const enum esp_reason sent = send_on(frame, len, &o);
    if (sent != o.reason) esp_user_unsent(&path.ground, &o, sent);
}

static void drain(struct esp_process *p, uint32_t port)
{
    static uint8_t frame[BATCH][FRAME_LEN];
    struct mmsghdr message[BATCH];
    struct iovec part[BATCH];
    for (int i = 0; i < BATCH; i++) {
        part[i] = (struct iovec){ frame[i], ESP_FRAME_MAX + 1 };
        message[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &part[i], .msg_iovlen = 1 } };
    }
    const int got = recvmmsg(path.in[port], message, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < got; i++)
        take(p, frame[i], message[i].msg_len, port);
}

static void serve(struct esp_process *p)
{
    struct pollfd wait[ESP_PORTS_MAX];
    const uint32_t ports = p->memory.share->config.port_count;
    for (uint32_t i = 0; i < ports; i++)
        wait[i] = (struct pollfd){ .fd = path.in[i], .events = POLLIN };
    if (poll(wait, ports, ESP_SERVE_MS) <= 0) return;
    for (uint32_t i = 0; i < ports; i++)
        if (wait[i].revents) drain(p, i);
}

static bool withhold(const struct esp_config *c, bool wanted, char *why)
{
    struct esp_kernel kernel;
    bool done = esp_kernel_open(&kernel);
    /* By name: rules outlive their device, and would apply to the next one of that name. */
    for (uint32_t i = 0; done && i < c->port_count; i++)
        done = esp_kernel_withhold(&kernel, c->port[i].name, wanted);
    if (!done) live_refused(why, "routing rules", LIVE_NET_ADMIN, ", or --driver udp");
    esp_kernel_close(&kernel);
    return done;
}

static bool clear(const struct esp_config *c, char *why)
{
    return withhold(c, false, why);
}

static bool start(struct esp_process *p, bool *kept, char *why)
{
    struct esp_config *c = &p->memory.share->config;
    (void)kept;
    path.ground = (struct esp_ground){ p->memory.share, p->memory.group, way, c };
    path.kernel = &p->kernel;
    for (uint32_t i = 0; i < c->port_count; i++)
        if ((path.in[i] = open_port(c->port[i].device, why)) < 0) return false;
    if (!open_all_raw(c->port_count))
        return live_refused(why, "a raw socket", LIVE_NET_RAW, ", or --driver udp");
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    if (!withhold(c, true, why)) return clear(c, ignored), false;
    live_because(p->memory.share->mode, ", by process %d", (int)getpid());
    return true;
}

const struct esp_driver esp_packet_driver = { "packet", LEAT_ESP_ROUTER_PACKET, start, serve,
                                              clear };
