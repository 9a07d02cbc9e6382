/* Sockets, the carriage, and the known nodes. */
#include "live_packetway_san.h"
#include "packetway_about.h"
#include "packetway_record.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    QUEUE_BYTES = 4 << 20,
    IGNORE_OUTGOING = 23,  /* PACKET_IGNORE_OUTGOING */
    UDP_MTU_WORDS = 183,   /* default: within one frame of 1500 octets */
    PASSED_OVER_MAX = 256, /* invalid frames in a row: others must be served, too */
    ABOUT_CAP = LEAT_PACKETWAY_ABOUT_LEN_MAX + LEAT_PACKETWAY_RECORD_HEAD_LEN,
};
static const uint8_t to_all[PACKETWAY_MAC_LEN] = { 255, 255, 255, 255, 255, 255 };
static const leat_time ps_per_ns = 1000, ps_per_ms = 1000000000;

leat_time packetway_now(void)
{
    return live_now_ns(CLOCK_MONOTONIC) * ps_per_ns;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* An address and port in the system's form. Returns its length, 0: no such route. */
static socklen_t system_address(const uint8_t *route, uint32_t len, struct sockaddr_storage *out)
{
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    memset(out, 0, sizeof *out);
    if (len == PACKETWAY_UDP4_LEN) {
        memcpy(&four.sin_addr, route, 4);
        four.sin_port = htons(leat_get_be16(route + 4));
        memcpy(out, &four, sizeof four);
        return sizeof four;
    }
    if (len != PACKETWAY_UDP6_LEN) return 0;
    memcpy(&six.sin6_addr, route, 16);
    six.sin6_port = htons(leat_get_be16(route + 16));
    memcpy(out, &six, sizeof six);
    return sizeof six;
}

static bool native_of(const struct sockaddr_storage *address, struct leat_packetway_native *out)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    *out = (struct leat_packetway_native){ 0 };
    if (address->ss_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        out->len = PACKETWAY_UDP4_LEN;
        memcpy(out->octets, &four.sin_addr, 4);
        leat_put_be16(out->octets + 4, ntohs(four.sin_port));
    } else if (address->ss_family == AF_INET6) {
        memcpy(&six, address, sizeof six);
        out->len = PACKETWAY_UDP6_LEN;
        memcpy(out->octets, &six.sin6_addr, 16);
        leat_put_be16(out->octets + 16, ntohs(six.sin6_port));
    }
    return out->len != 0;
}

static bool bind_to_device(const struct packetway_san *san)
{
    return live_packet_bind(san->fd, san->device, LEAT_PACKETWAY_ETHER_TYPE);
}

/* The overhead of control messages. The engines see an MTU without it. */
static uint32_t auth_words(const struct packetway_san *san)
{
    return packetway_san_is_keyed(san) ? LEAT_PACKETWAY_AUTH_WORDS : 0;
}

static bool open_ethernet(struct packetway_san *san, char *why)
{
    const char *device = san->plan.device;
    const int on = 1, queue_bytes = QUEUE_BYTES;
    struct ifreq request = { 0 };
    san->device = if_nametoindex(device);
    if (!san->device) return live_because(why, "no network device '%s'", device);
    san->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (san->fd < 0)
        return live_refused(why, "a packet socket", LIVE_NET_RAW, ", or SANs of udp:ADDRESS");
    if (!live_device_query(san->fd, device, SIOCGIFHWADDR, &request))
        return live_because(why, "%s: %s", device, strerror(errno));
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
        return live_because(why,
                            "%s is not an Ethernet, expected a device that is, or udp:", device);
    memcpy(san->mac, request.ifr_hwaddr.sa_data, PACKETWAY_MAC_LEN);
    if (!live_device_query(san->fd, device, SIOCGIFMTU, &request))
        return live_because(why, "%s: %s", device, strerror(errno));
    const uint32_t head = PACKETWAY_MESSAGE_AT - PACKETWAY_OUI_AT;
    const uint32_t words = ((uint32_t)request.ifr_mtu - head) / 8 - auth_words(san);
    if (!san->plan.mtu_words)
        san->mtu_words = words < PACKETWAY_MESSAGE_MAX / 8 ? words : PACKETWAY_MESSAGE_MAX / 8;
    if (san->mtu_words > words)
        return live_because(why, "mtu=%u, expected at most %u words on %s", san->mtu_words, words,
                            device);
    setsockopt(san->fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue_bytes, sizeof queue_bytes);
    if (setsockopt(san->fd, SOL_PACKET, IGNORE_OUTGOING, &on, sizeof on) || !bind_to_device(san))
        return live_because(why, "a packet socket on %s: %s", device, strerror(errno));
    return true;
}

static bool open_udp(struct packetway_san *san, char *why)
{
    const int queue_bytes = QUEUE_BYTES;
    struct sockaddr_storage at;
    char text[PACKETWAY_ENDPOINT_MAX];
    const socklen_t len = system_address(san->plan.bind.octets, san->plan.bind.len, &at);
    const uint32_t most = PACKETWAY_MESSAGE_MAX / 8 - auth_words(san);
    if (!san->mtu_words) san->mtu_words = UDP_MTU_WORDS - auth_words(san);
    if (san->mtu_words > most) san->mtu_words = most;
    san->fd = socket(at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (san->fd < 0) return live_because(why, "a UDP socket: %s", strerror(errno));
    setsockopt(san->fd, SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
    socklen_t at_len = sizeof at;
    if (bind(san->fd, (const struct sockaddr *)&at, len) == 0 &&
        getsockname(san->fd, (struct sockaddr *)&at, &at_len) == 0)
        return native_of(&at, &san->plan.bind); /* port 0 has become another */
    packetway_native_text(&san->plan.bind, true, text);
    return live_because(why, "UDP %s: %s", text, strerror(errno));
}

bool packetway_san_open(struct packetway_san *san, const struct packetway_plan *plan,
                        uint32_t poll_ms, char *why)
{
    *san =
        (struct packetway_san){ .plan = *plan, .fd = -1, .lock = -1, .mtu_words = plan->mtu_words };
    san->silence_ps = (leat_time)poll_ms * ps_per_ms * 7 / 2;
    leat_packetway_auth_init(&san->auth, &plan->keys);
    if ((plan->udp ? open_udp : open_ethernet)(san, why)) return true;
    packetway_san_close(san);
    return false;
}

void packetway_san_close(struct packetway_san *san)
{
    if (san->fd >= 0) close(san->fd);
    if (san->lock >= 0) close(san->lock);
    san->fd = san->lock = -1;
}

bool packetway_san_returned(struct packetway_san *san)
{
    struct ifreq request = { 0 };
    const uint32_t device = san->plan.udp ? 0 : if_nametoindex(san->plan.device);
    if (!device || device == san->device) return false;
    san->device = device;
    if (!live_device_query(san->fd, san->plan.device, SIOCGIFHWADDR, &request) ||
        !bind_to_device(san))
        return false;
    memcpy(san->mac, request.ifr_hwaddr.sa_data, PACKETWAY_MAC_LEN);
    return true;
}

bool packetway_san_is_up(const struct packetway_san *san)
{
    struct ifreq request = { 0 };
    if (san->plan.udp) return true;
    return live_device_query(san->fd, san->plan.device, SIOCGIFFLAGS, &request) &&
           (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

/* ---- sending ------------------------------------------------------------------------------- */

bool packetway_san_takes(const struct packetway_san *san, const uint8_t *route, uint32_t len)
{
    return packetway_san_node_at(san, route, len) != NULL;
}

static bool emit(struct packetway_san *san, const uint8_t *head, size_t head_len,
                 const uint8_t *message, uint32_t len, const void *to, socklen_t to_len)
{
    static const uint8_t pad[PACKETWAY_FRAME_MIN];
    const size_t all = head_len + len;
    const size_t pad_len = !san->plan.udp && all < PACKETWAY_FRAME_MIN ? PACKETWAY_FRAME_MIN - all
                                                                       : 0;
    struct iovec parts[] = { { (void *)(uintptr_t)head, head_len },
                             { (void *)(uintptr_t)message, len },
                             { (void *)(uintptr_t)pad, pad_len } };
    const struct msghdr out = {
        .msg_name = (void *)(uintptr_t)to, .msg_namelen = to_len, .msg_iov = parts, .msg_iovlen = 3
    };
    const bool sent = sendmsg(san->fd, &out, 0) >= 0;
    san->counts.sent += sent;
    san->counts.unsent += !sent;
    return sent;
}

/* A native address that both ends see alike, as a number. UDP: 0, since it may be translated
 * between them. */
static uint64_t link_of(const struct packetway_san *san, const uint8_t *mac)
{
    return san->plan.udp ? 0 : (uint64_t)leat_get_be16(mac) << 32 | leat_get_be32(mac + 2);
}

/* With its MAC, if there is a key and it needs one: which node receives it. */
static const uint8_t *seal(struct packetway_san *san, uint32_t taker, const uint8_t *message,
                           uint32_t *len)
{
    static uint8_t sealed[PACKETWAY_MESSAGE_MAX + LEAT_PACKETWAY_AUTH_LEN];
    if (!packetway_san_is_keyed(san) || *len > PACKETWAY_MESSAGE_MAX) return message;
    const struct leat_packetway_hop hop = { .me = san->plan.address,
                                            .to = taker,
                                            .link = link_of(san, san->mac),
                                            .now = live_now_ns(CLOCK_REALTIME) };
    const uint32_t sealed_len = leat_packetway_auth_seal(&san->auth, &hop, message, *len, sealed);
    if (!sealed_len) return message;
    *len = sealed_len;
    return sealed;
}

/* To any octets of the right length, broadcast included. */
static bool send_to(struct packetway_san *san, const uint8_t *route, uint32_t route_len,
                    const uint8_t *message, uint32_t len)
{
    uint8_t head[PACKETWAY_MESSAGE_AT];
    struct sockaddr_storage to;
    if (len > PACKETWAY_MESSAGE_MAX) {
        san->counts.unsent++;
        return false;
    }
    if (san->plan.udp) {
        const socklen_t to_len = system_address(route, route_len, &to);
        leat_put_be16(head, (uint16_t)(len / 8));
        return to_len && emit(san, head, PACKETWAY_UDP_MESSAGE_AT, message, len, &to, to_len);
    }
    const struct sockaddr_ll out = { .sll_family = AF_PACKET, .sll_ifindex = (int)san->device };
    packetway_put_head(head, route, san->mac, len / 8);
    return emit(san, head, PACKETWAY_MESSAGE_AT, message, len, &out, sizeof out);
}

/* The recipient of a message that goes there: its destination, if that is there; otherwise a
 * half-router, which forwards it. A broadcast may be for several nodes of one device. */
static uint32_t taker_of(const struct packetway_san *san, const uint8_t *route, uint32_t route_len,
                         const uint8_t *message, uint32_t len)
{
    uint32_t at, taker = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    if (!packetway_san_is_keyed(san) || !leat_packetway_is_control(message, len, &at)) return taker;
    const uint32_t dt = leat_get_be24(message + at + LEAT_PACKETWAY_DT_AT);
    if (dt == LEAT_PACKETWAY_ADDRESS_BROADCAST) return dt;
    for (uint32_t i = 0; i < san->node_count; i++) {
        const struct packetway_node *n = &san->nodes[i];
        if (n->native.len != route_len || memcmp(n->native.octets, route, route_len) != 0) continue;
        if (n->address == dt) return dt;
        if (n->router || taker == LEAT_PACKETWAY_ADDRESS_BROADCAST) taker = n->address;
    }
    return taker;
}

bool packetway_san_send(struct packetway_san *san, const uint8_t *route, uint32_t route_len,
                        const uint8_t *message, uint32_t len)
{
    if (!san->plan.udp && !packetway_is_mac(route, route_len)) {
        san->counts.unsent++;
        return false;
    }
    const uint32_t taker = taker_of(san, route, route_len, message, len);
    message = seal(san, taker, message, &len);
    return send_to(san, route, route_len, message, len);
}

/* Sealed once: where it has been, none of its copies is accepted again. */
void packetway_san_send_all(struct packetway_san *san, const uint8_t *message, uint32_t len)
{
    message = seal(san, LEAT_PACKETWAY_ADDRESS_BROADCAST, message, &len);
    if (!san->plan.udp) {
        send_to(san, to_all, PACKETWAY_MAC_LEN, message, len);
        return;
    }
    for (uint32_t i = 0; i < san->plan.peer_count; i++)
        send_to(san, san->plan.peers[i].octets, san->plan.peers[i].len, message, len);
    for (uint32_t i = 0; i < san->node_count; i++) {
        const struct leat_packetway_native *n = &san->nodes[i].native;
        uint32_t peer = 0;
        while (peer < san->plan.peer_count && memcmp(&san->plan.peers[peer], n, sizeof *n) != 0)
            peer++;
        if (peer == san->plan.peer_count) send_to(san, n->octets, n->len, message, len);
    }
}

uint32_t packetway_rrp_write(uint32_t dt, uint32_t sa, uint16_t te, const uint8_t *db,
                             size_t db_len, uint8_t *octets, size_t cap)
{
    static struct leat_packetway_message message;
    size_t len;
    message.header =
        (struct leat_packetway_header){ .dt = dt, .sa = sa, .pt = LEAT_PACKETWAY_PT_RRP, .te = te };
    message.data = db;
    message.data_len = db_len;
    return leat_packetway_message_encode(&message, octets, cap, &len) ? 0 : (uint32_t)len;
}

/* To one node, or with NULL to all. */
static void say(struct packetway_san *san, const struct leat_packetway_native *to, uint16_t te,
                const uint8_t *db, size_t db_len)
{
    uint8_t octets[ABOUT_CAP + LEAT_PACKETWAY_MESSAGE_LEN_MIN];
    const uint32_t len = packetway_rrp_write(LEAT_PACKETWAY_ADDRESS_BROADCAST, san->plan.address,
                                             te, db, db_len, octets, sizeof octets);
    if (!len) return;
    if (to)
        packetway_san_send(san, to->octets, to->len, octets, len);
    else
        packetway_san_send_all(san, octets, len);
}

void packetway_san_solicit(struct packetway_san *san)
{
    say(san, NULL, LEAT_PACKETWAY_TE_WRU, NULL, 0);
}

void packetway_san_announce(struct packetway_san *san, const struct leat_packetway_native *to,
                            const uint8_t *about, size_t about_len)
{
    uint8_t db[ABOUT_CAP];
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, db, sizeof db);
    leat_packetway_about_write(&build, san->plan.address, about, about_len, true);
    if (!build.err) say(san, to, LEAT_PACKETWAY_TE_INFO, db, build.len);
}

void packetway_san_meet(struct packetway_san *san, const uint8_t *message, uint32_t len,
                        const struct leat_packetway_native *from, const uint8_t *about,
                        size_t about_len, leat_time now)
{
    if (!packetway_message_is(message, len, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_WRU)) return;
    const uint32_t sa = leat_get_be24(message + LEAT_PACKETWAY_SA_AT);
    if (sa == san->plan.address || !leat_packetway_block_holds(&san->plan.block, sa) ||
        packetway_san_node(san, sa) ||
        !leat_packetway_window_open(&san->meetings, 0, PACKETWAY_MEET_PER_S, now))
        return;
    packetway_san_announce(san, from, about, about_len);
    say(san, from, LEAT_PACKETWAY_TE_WRU, NULL, 0);
}

/* ---- receiving ----------------------------------------------------------------------------- */

/* May a broadcast on the Ethernet be for this node? Otherwise every node would forward it. */
static bool is_for_all(const struct packetway_san *san, const uint8_t *message, uint32_t len)
{
    if (len < LEAT_PACKETWAY_MESSAGE_LEN_MIN) return false;
    const uint32_t dt = leat_get_be24(message + LEAT_PACKETWAY_DT_AT),
                   sa = leat_get_be24(message + LEAT_PACKETWAY_SA_AT);
    const bool claim = !sa && packetway_message_is(message, len, LEAT_PACKETWAY_PT_RRP,
                                                   LEAT_PACKETWAY_TE_WRU);
    return dt == LEAT_PACKETWAY_ADDRESS_BROADCAST || dt == san->plan.address || claim;
}

/* A received frame: the position of its message, and its length; 0: none. */
static uint32_t unframe(struct packetway_san *san, const uint8_t *frame, size_t len, bool all,
                        uint32_t *at)
{
    const uint32_t message_at = san->plan.udp ? PACKETWAY_UDP_MESSAGE_AT : PACKETWAY_MESSAGE_AT;
    if (len < message_at) {
        san->counts.cut++;
        return 0;
    }
    if (!san->plan.udp && !packetway_is_ours(frame)) {
        san->counts.foreign++;
        return 0;
    }
    const uint32_t message_len = 8u * leat_get_be16(frame + message_at - 2);
    if (!message_len || message_len > len - message_at) {
        san->counts.cut++;
        return 0;
    }
    if (all && !is_for_all(san, frame + message_at, message_len)) {
        san->counts.broadcast++;
        return 0;
    }
    *at = message_at;
    return message_len;
}

/* Refused, since sender and receiver have different keys, or one of them has none. */
static uint64_t of_another_key(const struct leat_packetway_auth_counts *c)
{
    return c->bare + c->forged + c->locked;
}

/*
 * Tells a node that introduces itself over UDP, where it receives nothing else, that its key is not
 * ours. Only INFO is answered, and by WRU?: two nodes never answer each other for ever. The MAC is
 * blank, so that strangers get nothing from us that others accept.
 */
static void report_key(struct packetway_san *san, const struct leat_packetway_native *to,
                       const uint8_t *message, uint32_t len)
{
    uint8_t octets[LEAT_PACKETWAY_MESSAGE_LEN_MIN],
        blank[LEAT_PACKETWAY_MESSAGE_LEN_MIN + LEAT_PACKETWAY_AUTH_LEN];
    const struct leat_packetway_hop hop = { .me = san->plan.address,
                                            .to = LEAT_PACKETWAY_ADDRESS_BROADCAST,
                                            .now = live_now_ns(CLOCK_REALTIME) };
    if (!packetway_message_is(message, len, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO) ||
        !leat_packetway_window_open(&san->refusals, 0, PACKETWAY_REFUSALS_PER_S, packetway_now()))
        return;
    const uint32_t bare_len = packetway_rrp_write(hop.to, hop.me, LEAT_PACKETWAY_TE_WRU, NULL, 0,
                                                  octets, sizeof octets);
    const uint32_t blank_len = leat_packetway_auth_blank(&san->auth, &hop, octets, bare_len, blank);
    send_to(san, to->octets, to->len, blank_len ? blank : octets, blank_len ? blank_len : bare_len);
}

/* May it be processed? Its MAC is then removed. */
static bool admit(struct packetway_san *san, const struct leat_packetway_native *from,
                  uint8_t *message, uint32_t *len)
{
    const uint64_t was = of_another_key(&san->auth.counts);
    const struct leat_packetway_hop hop = { .me = san->plan.address,
                                            .link = link_of(san, from->octets),
                                            .now = packetway_san_is_keyed(san)
                                                       ? live_now_ns(CLOCK_REALTIME)
                                                       : 0,
                                            .block = &san->plan.block };
    if (leat_packetway_auth_open(&san->auth, &hop, message, len)) return true;
    if (san->plan.udp && of_another_key(&san->auth.counts) != was)
        report_key(san, from, message, *len);
    return false;
}

bool packetway_san_is_keyed(const struct packetway_san *san)
{
    return san->plan.keys.count != 0;
}

void packetway_san_change_keys(struct packetway_san *san, const struct leat_keys *keys)
{
    san->plan.keys = san->auth.keys = *keys;
}

const char *packetway_san_key_hint(const struct packetway_san *san)
{
    const struct leat_packetway_auth_counts *c = &san->auth.counts;
    if (c->locked)
        return "there are control messages with a MAC, expected --key-file with this SAN's key";
    if (c->forged)
        return "there are control messages with the MAC of another key, expected --key-file with "
               "this SAN's key";
    if (c->late)
        return "there are control messages that are more than 60 s old, or whose clock is that far "
               "off";
    if (c->bare) return "there are control messages without a MAC: who sends them has no key";
    return "";
}

uint32_t packetway_san_receive(struct packetway_san *san, uint8_t *buf,
                               struct leat_packetway_native *from)
{
    static uint8_t frame[PACKETWAY_MESSAGE_AT + PACKETWAY_MESSAGE_MAX + 8];
    for (int i = 0; i < PASSED_OVER_MAX; i++) {
        struct sockaddr_storage peer;
        struct sockaddr_ll link;
        socklen_t peer_len = sizeof peer;
        uint32_t at = 0;
        const ssize_t got = recvfrom(san->fd, frame, sizeof frame, 0, (struct sockaddr *)&peer,
                                     &peer_len);
        if (got < 0 && (errno == EINTR || errno == ECONNREFUSED)) continue;
        if (got < 0) return 0;
        memcpy(&link, &peer, sizeof link);
        if (!san->plan.udp && link.sll_pkttype == PACKET_OTHERHOST) continue;
        const bool all = !san->plan.udp && link.sll_pkttype != PACKET_HOST;
        uint32_t len = unframe(san, frame, (size_t)got, all, &at);
        if (!len) continue;
        if (san->plan.udp) {
            if (!native_of(&peer, from)) continue;
        } else {
            *from = (struct leat_packetway_native){ .len = PACKETWAY_MAC_LEN };
            memcpy(from->octets, frame + PACKETWAY_FROM_AT, PACKETWAY_MAC_LEN);
        }
        memcpy(buf, frame + at, len);
        if (!admit(san, from, buf, &len)) continue;
        san->counts.taken++;
        return len;
    }
    return 0;
}

bool packetway_message_is(const uint8_t *message, uint32_t len, uint16_t pt, uint16_t te)
{
    return len >= LEAT_PACKETWAY_MESSAGE_LEN_MIN && !leat_packetway_leading_begins(message[1]) &&
           leat_get_be16(message + LEAT_PACKETWAY_TE_AT) == te &&
           leat_get_be16(message + LEAT_PACKETWAY_PT_AT) == pt;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static struct packetway_node *find(struct packetway_san *san, uint32_t address)
{
    uint32_t i = 0;
    while (i < san->node_count && san->nodes[i].address != address)
        i++;
    return i < san->node_count ? &san->nodes[i] : NULL;
}

const struct packetway_node *packetway_san_node(const struct packetway_san *san, uint32_t address)
{
    return find((struct packetway_san *)(uintptr_t)san, address);
}

const struct packetway_node *packetway_san_node_at(const struct packetway_san *san,
                                                   const uint8_t *route, uint32_t len)
{
    for (uint32_t i = 0; i < san->node_count; i++)
        if (san->nodes[i].native.len == len && memcmp(san->nodes[i].native.octets, route, len) == 0)
            return &san->nodes[i];
    return NULL;
}

/* Is this INFO of a node about itself? Then sets its address, and whether it is a half-router. */
static bool describes_itself(const uint8_t *message, uint32_t len, uint32_t *address, bool *router)
{
    static struct leat_packetway_message m;
    struct leat_packetway_record record, inner;
    if (!packetway_message_is(message, len, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO) ||
        leat_packetway_message_decode(message, len, LEAT_PACKETWAY_STRICT,
                                      LEAT_PACKETWAY_DESTINATION, &m, NULL) ||
        m.ei)
        return false;
    struct leat_packetway_records records = leat_packetway_message_records(&m);
    if (leat_packetway_records_count(&records) != 1) return false;
    leat_packetway_records_next(&records, &record);
    const struct leat_packetway_address a = leat_packetway_record_address(&record);
    if (a.at != LEAT_PACKETWAY_AT_SINGLE || a.low != m.header.sa) return false;
    *address = a.low;
    *router = false;
    records = leat_packetway_record_nested(&record);
    while (leat_packetway_records_next(&records, &inner)) {
        const uint8_t *parameters;
        size_t parameters_len;
        if (inner.type == LEAT_PACKETWAY_RTYP_CAPA &&
            leat_packetway_record_capability(&inner, &parameters, &parameters_len) ==
                LEAT_PACKETWAY_CC_ROUTER)
            *router = true;
    }
    return true;
}

/* If half-routers are configured, no other node is one. */
static bool may_be_buddy(const struct packetway_plan *plan, uint32_t address)
{
    for (uint32_t i = 0; i < plan->buddy_count; i++)
        if (plan->buddies[i] == address) return true;
    return !plan->buddy_count;
}

static enum packetway_learnt refuse(uint64_t *count)
{
    ++*count;
    return PACKETWAY_REFUSED;
}

static enum packetway_learnt dispute(struct packetway_san *san, uint32_t address,
                                     const struct leat_packetway_native *from)
{
    san->dispute = (struct packetway_dispute){ address, *from };
    return refuse(&san->counts.duplicate);
}

enum packetway_learnt packetway_san_learn(struct packetway_san *san, const uint8_t *message,
                                          uint32_t len, const struct leat_packetway_native *from,
                                          leat_time now, const struct packetway_node **node)
{
    uint32_t address;
    bool router;
    if (!describes_itself(message, len, &address, &router)) return PACKETWAY_NOTHING;
    if (address == san->plan.address) return dispute(san, address, from);
    /* From another SAN, through a half-router: not about this SAN. */
    if (!leat_packetway_block_holds(&san->plan.block, address)) {
        if (leat_get_be24(message + LEAT_PACKETWAY_DT_AT) != LEAT_PACKETWAY_ADDRESS_BROADCAST)
            return PACKETWAY_NOTHING;
        return refuse(&san->counts.strange);
    }
    router = router && may_be_buddy(&san->plan, address);
    struct packetway_node *n = find(san, address);
    const struct packetway_node *there = packetway_san_node_at(san, from->octets, from->len);
    if (n && memcmp(&n->native, from, sizeof *from) != 0) {
        /* A message that a half-router forwards has the half-router's route: the node is known by a
         * better one. */
        if (there && there->router) return PACKETWAY_NOTHING;
        return dispute(san, address, from);
    }
    if (!n && there && there->router) return PACKETWAY_NOTHING;
    if (!n && san->node_count == PACKETWAY_NODES_MAX) return refuse(&san->counts.full);
    const bool fresh = !n || n->router != router;
    if (!n) n = &san->nodes[san->node_count++];
    *n = (struct packetway_node){
        .address = address, .router = router, .received_at = now, .native = *from
    };
    *node = n;
    return fresh ? PACKETWAY_NEW : PACKETWAY_KNOWN;
}

bool packetway_san_spoofed(struct packetway_san *san, const uint8_t *message, uint32_t len,
                           const struct leat_packetway_native *from)
{
    if (len < LEAT_PACKETWAY_MESSAGE_LEN_MIN || leat_packetway_leading_begins(message[1]))
        return false;
    const uint16_t pt = leat_get_be16(message + LEAT_PACKETWAY_PT_AT);
    if (pt != LEAT_PACKETWAY_PT_RRP && pt != LEAT_PACKETWAY_PT_ERR) return false;
    const struct packetway_node *named = packetway_san_node(
        san, leat_get_be24(message + LEAT_PACKETWAY_SA_AT));
    if (!named || memcmp(&named->native, from, sizeof *from) == 0) return false;
    const struct packetway_node *there = packetway_san_node_at(san, from->octets, from->len);
    if (there && there->router && !named->router) return false;
    san->counts.spoofed++;
    return true;
}

void packetway_san_alive(struct packetway_san *san, const struct leat_packetway_native *from,
                         leat_time now)
{
    for (uint32_t i = 0; i < san->node_count; i++)
        if (san->nodes[i].router && memcmp(&san->nodes[i].native, from, sizeof *from) == 0)
            san->nodes[i].received_at = now;
}

void packetway_san_excuse(struct packetway_san *san, leat_time late)
{
    for (uint32_t i = 0; i < san->node_count; i++)
        san->nodes[i].received_at = leat_time_add(san->nodes[i].received_at, late);
}

bool packetway_san_silent(struct packetway_san *san, leat_time now, struct packetway_node *gone)
{
    for (uint32_t i = 0; i < san->node_count; i++) {
        if (leat_time_add(san->nodes[i].received_at, san->silence_ps) > now) continue;
        *gone = san->nodes[i];
        san->nodes[i] = san->nodes[--san->node_count];
        san->counts.gone++;
        return true;
    }
    return false;
}
