#include "live_packetway_tun.h"
#include "live_tun.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Headers of IPv4 (RFC 791) and IPv6 (RFC 8200). */
enum { IPV4 = 4, IPV4_MIN = 20, IPV4_BEGIN = 0x45, IPV4_TOTAL_AT = 2, IPV4_TTL_AT = 8 };
enum {
    IPV4_PROTOCOL_AT = 9,
    IPV4_SUM_AT = 10,
    IPV4_FROM_AT = 12,
    IPV4_TO_AT = 16,
    IPV4_ADDRESS = 4
};
enum { IPV6 = 6, IPV6_MIN = 40, IPV6_BEGIN = 0x60, IPV6_PAYLOAD_AT = 4, IPV6_NEXT_AT = 6 };
enum { IPV6_HOPS_AT = 7, IPV6_FROM_AT = 8, IPV6_TO_AT = 24, IPV6_ADDRESS = 16, HOPS = 64 };

/* ---- routes -------------------------------------------------------------------------------- */

/* The end of a number within [min, max], or NULL. */
static const char *read_number(const char *text, unsigned long min, unsigned long max,
                               unsigned long *out)
{
    char *end;
    if (*text < '0' || *text > '9') return NULL;
    *out = strtoul(text, &end, 0);
    return *out >= min && *out <= max ? end : NULL;
}

static bool read_way(const char *text, struct packetway_way *way)
{
    char address[INET6_ADDRSTRLEN];
    unsigned long prefix_bits, node = 0;
    const size_t len = strcspn(text, "/=");
    if (len >= sizeof address) return false;
    memcpy(address, text, len);
    address[len] = 0;
    const bool six = strchr(address, ':') != NULL;
    way->address_len = six ? 16 : 4;
    if (inet_pton(six ? AF_INET6 : AF_INET, address, way->address) != 1) return false;
    prefix_bits = 8ul * way->address_len;
    text += len;
    if (*text == '/') text = read_number(text + 1, 0, prefix_bits, &prefix_bits);
    if (!text || *text != '=') return false;
    text = read_number(text + 1, 1, LEAT_PACKETWAY_ADDRESS_MAX, &node);
    way->prefix_bits = (uint8_t)prefix_bits;
    way->node = (uint32_t)node;
    return text && !*text;
}

bool packetway_tun_way(struct packetway_tun *tun, const char *text, char *why)
{
    struct packetway_way way = { 0 };
    if (tun->way_count == PACKETWAY_WAYS_MAX)
        return live_because(why, "more than %d of --way", PACKETWAY_WAYS_MAX);
    if (!read_way(text, &way))
        return live_because(why, "'%.60s', expected ADDRESS[/BITS]=NODE, as 10.9.0.3=0x301", text);
    tun->ways[tun->way_count++] = way;
    return true;
}

static bool begins_with(const uint8_t *address, const struct packetway_way *way)
{
    const uint32_t whole = way->prefix_bits / 8, rest = way->prefix_bits % 8;
    if (memcmp(address, way->address, whole) != 0) return false;
    return !rest || (address[whole] ^ way->address[whole]) >> (8 - rest) == 0;
}

uint32_t packetway_tun_node(const struct packetway_tun *tun, const uint8_t *address, uint32_t len)
{
    const struct packetway_way *best = NULL;
    for (uint32_t i = 0; i < tun->way_count; i++) {
        const struct packetway_way *way = &tun->ways[i];
        if (way->address_len == len && begins_with(address, way) &&
            (!best || way->prefix_bits > best->prefix_bits))
            best = way;
    }
    return best ? best->node : 0;
}

/* The node for the destination, or the source, of an IP packet; 0: none. */
static uint32_t node_of(const struct packetway_tun *tun, const uint8_t *ip, size_t len, bool source)
{
    if (len >= IPV4_MIN && ip[0] >> 4 == IPV4)
        return packetway_tun_node(tun, ip + (source ? IPV4_FROM_AT : IPV4_TO_AT), IPV4_ADDRESS);
    if (len >= IPV6_MIN && ip[0] >> 4 == IPV6)
        return packetway_tun_node(tun, ip + (source ? IPV6_FROM_AT : IPV6_TO_AT), IPV6_ADDRESS);
    return 0;
}

/* ---- the device ---------------------------------------------------------------------------- */

bool packetway_tun_open(struct packetway_tun *tun, const char *device, uint32_t mtu_words,
                        char *why)
{
    const uint32_t spare = LEAT_PACKETWAY_MESSAGE_LEN_MIN + 8 * PACKETWAY_TUN_HOPS;
    tun->fd = live_tun_open(device, 8 * mtu_words - spare, tun->device, why);
    return tun->fd >= 0;
}

void packetway_tun_close(struct packetway_tun *tun)
{
    if (tun->fd >= 0) close(tun->fd);
    tun->fd = -1;
}

/* ---- what is too long ---------------------------------------------------------------------- */

enum { ICMP_LEN = 8, ICMP_QUOTED = 8 /* octets after an IPv4 header: ports */ };
enum { UNREACHABLE = 3, TOO_BIG_FOR_4 = 4, PACKET_TOO_BIG_6 = 2, ICMP = 1, ICMP6 = 58 };
enum { ECHO_REPLY = 0, ECHO = 8, ICMP6_INFORMATION = 128 }; /* the first that is no error */
enum { ICMP_SUM_AT = 2, ICMP_MTU_AT = 6, ICMP6_MTU_AT = 4 };

/* The sum of RFC 1071, over pieces of even length. */
static uint32_t add_up(uint32_t sum, const uint8_t *octets, size_t len)
{
    for (size_t i = 0; i + 1 < len; i += 2)
        sum += leat_get_be16(octets + i);
    if (len % 2) sum += (uint32_t)octets[len - 1] << 8;
    return sum;
}

static uint16_t complement(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/* RFC 1191: from the packet's destination; it contains the packet's header and ports. */
static size_t too_long_4(const uint8_t *ip, size_t len, uint32_t mtu, uint8_t *out)
{
    const size_t head = 4u * (ip[0] & 15u);
    const size_t quoted = len < head + ICMP_QUOTED ? len : head + ICMP_QUOTED;
    const size_t all = IPV4_MIN + ICMP_LEN + quoted;
    uint8_t *icmp = out + IPV4_MIN;
    if (head < IPV4_MIN || len <= head) return 0;
    if (ip[IPV4_PROTOCOL_AT] == ICMP && ip[head] != ECHO && ip[head] != ECHO_REPLY)
        return 0; /* it may be an error itself */
    memset(out, 0, IPV4_MIN + ICMP_LEN);
    out[0] = IPV4_BEGIN;
    leat_put_be16(out + IPV4_TOTAL_AT, (uint16_t)all);
    out[IPV4_TTL_AT] = HOPS;
    out[IPV4_PROTOCOL_AT] = ICMP;
    memcpy(out + IPV4_FROM_AT, ip + IPV4_TO_AT, IPV4_ADDRESS);
    memcpy(out + IPV4_TO_AT, ip + IPV4_FROM_AT, IPV4_ADDRESS);
    leat_put_be16(out + IPV4_SUM_AT, complement(add_up(0, out, IPV4_MIN)));
    icmp[0] = UNREACHABLE;
    icmp[1] = TOO_BIG_FOR_4;
    leat_put_be16(icmp + ICMP_MTU_AT, (uint16_t)mtu);
    memcpy(icmp + ICMP_LEN, ip, quoted);
    leat_put_be16(icmp + ICMP_SUM_AT, complement(add_up(0, icmp, ICMP_LEN + quoted)));
    return all;
}

/* RFC 4443, 3.2. */
static size_t too_long_6(const uint8_t *ip, size_t len, uint32_t mtu, uint8_t *out)
{
    const size_t quoted = len < IPV6_MIN + ICMP_QUOTED ? len : IPV6_MIN + ICMP_QUOTED;
    uint8_t *icmp = out + IPV6_MIN;
    if (ip[IPV6_NEXT_AT] == ICMP6 && (len == IPV6_MIN || ip[IPV6_MIN] < ICMP6_INFORMATION))
        return 0; /* not about errors */
    memset(out, 0, IPV6_MIN + ICMP_LEN);
    out[0] = IPV6_BEGIN;
    leat_put_be16(out + IPV6_PAYLOAD_AT, (uint16_t)(ICMP_LEN + quoted));
    out[IPV6_NEXT_AT] = ICMP6;
    out[IPV6_HOPS_AT] = HOPS;
    memcpy(out + IPV6_FROM_AT, ip + IPV6_TO_AT, IPV6_ADDRESS);
    memcpy(out + IPV6_TO_AT, ip + IPV6_FROM_AT, IPV6_ADDRESS);
    icmp[0] = PACKET_TOO_BIG_6;
    leat_put_be32(icmp + ICMP6_MTU_AT, mtu);
    memcpy(icmp + ICMP_LEN, ip, quoted);
    const uint32_t pseudo = add_up((uint32_t)(ICMP_LEN + quoted) + ICMP6, out + IPV6_FROM_AT,
                                   2 * IPV6_ADDRESS);
    leat_put_be16(icmp + ICMP_SUM_AT, complement(add_up(pseudo, icmp, ICMP_LEN + quoted)));
    return IPV6_MIN + ICMP_LEN + quoted;
}

size_t packetway_tun_too_long(const uint8_t *ip, size_t len, uint32_t mtu,
                              uint8_t out[PACKETWAY_TOO_LONG_MAX])
{
    if (len >= IPV4_MIN && ip[0] >> 4 == IPV4) return too_long_4(ip, len, mtu, out);
    if (len >= IPV6_MIN && ip[0] >> 4 == IPV6) return too_long_6(ip, len, mtu, out);
    return 0;
}

/* Reports to the sender the maximum packet length to that node, from the plan. */
static void report_length(struct packetway_tun *tun, struct leat_packetway_node *node, uint32_t to,
                          const uint8_t *ip, size_t len)
{
    const struct leat_packetway_plan *plan;
    uint8_t out[PACKETWAY_TOO_LONG_MAX];
    char why[PACKETWAY_WHY_LEN];
    uint32_t words = leat_packetway_node_mtu(node), leading = 0;
    if (leat_packetway_node_plan(node, to, 0, &plan, why) != LEAT_PACKETWAY_NODE_OK) return;
    if (plan->state == LEAT_PACKETWAY_PLAN_ROUTES) {
        words = leat_packetway_mtu_min(words, plan->routes[0].mtu_words);
        leading = plan->routes[0].len;
    }
    const uint32_t taken = leading + LEAT_PACKETWAY_MESSAGE_LEN_MIN;
    const size_t out_len = packetway_tun_too_long(ip, len, 8 * words - taken, out);
    if (8 * words > taken && out_len && write(tun->fd, out, out_len) == (ssize_t)out_len)
        tun->too_long++;
}

/* ---- packets ------------------------------------------------------------------------------- */

void packetway_tun_send(struct packetway_tun *tun, struct leat_packetway_node *node)
{
    static uint8_t ip[PACKETWAY_MESSAGE_MAX];
    char why[PACKETWAY_WHY_LEN];
    for (int i = 0; i < PACKETWAY_TUN_BATCH; i++) {
        const ssize_t len = read(tun->fd, ip, sizeof ip);
        if (len <= 0) return;
        const uint32_t to = node_of(tun, ip, (size_t)len, false);
        if (!to) {
            tun->no_way++;
            continue;
        }
        tun->message.header = (struct leat_packetway_header){ .dt = to,
                                                              .pt = LEAT_PACKETWAY_PT_IP };
        tun->message.data = ip;
        tun->message.data_len = (size_t)len;
        enum leat_packetway_node_end end = leat_packetway_node_send(
            node, &tun->message, LEAT_PACKETWAY_SEND_PLANNED, 0, why);
        if (end == LEAT_PACKETWAY_NODE_SILENT) /* the plan is being requested; meanwhile: */
            end = leat_packetway_node_send(node, &tun->message, LEAT_PACKETWAY_SEND_BY_ADDRESS, 0,
                                           why);
        ++*(end == LEAT_PACKETWAY_NODE_OK ? &tun->sent : &tun->unsent);
        if (end == LEAT_PACKETWAY_NODE_WRONG) report_length(tun, node, to, ip, (size_t)len);
    }
}

void packetway_tun_receive(struct packetway_tun *tun, const struct leat_packetway_event *event)
{
    const struct leat_packetway_message *m = &event->message;
    if (event->kind != LEAT_PACKETWAY_EVENT_DATA || m->header.pt != LEAT_PACKETWAY_PT_IP) return;
    if (!event->peer || node_of(tun, m->data, m->data_len, true) != event->peer) {
        tun->spoofed++;
        return;
    }
    if (write(tun->fd, m->data, m->data_len) == (ssize_t)m->data_len) tun->received++;
}
