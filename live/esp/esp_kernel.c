#include "esp_kernel.h"
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_MAX = 512, ANSWER_MAX = 8192, RULE_PRIORITY = 4253, RULES_MAX = 16 };
static const uint64_t way_lives_ns = 500000000, unknown_lives_ns = 5000000;

/* A netlink message under construction. */
struct message {
    union {
        struct nlmsghdr header;
        uint8_t octets[MESSAGE_MAX];
    } u;
};

static void *begin(struct message *m, uint16_t type, uint16_t flags, size_t body_len)
{
    memset(m, 0, sizeof *m);
    m->u.header.nlmsg_type = type;
    m->u.header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    m->u.header.nlmsg_len = (uint32_t)NLMSG_LENGTH(body_len);
    return NLMSG_DATA(&m->u.header);
}

static void add(struct message *m, uint16_t type, const void *value, size_t len)
{
    uint8_t *at = m->u.octets + NLMSG_ALIGN(m->u.header.nlmsg_len);
    const struct rtattr attribute = { .rta_len = (uint16_t)RTA_LENGTH(len), .rta_type = type };
    memcpy(at, &attribute, sizeof attribute);
    memcpy(at + RTA_LENGTH(0), value, len);
    m->u.header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(m->u.header.nlmsg_len) + RTA_LENGTH(len));
}

/* Sends a request and returns the answer, which is available when the send returns; NULL: see
 * errno. */
static const struct nlmsghdr *request(struct esp_kernel *k, struct message *m, uint8_t *answer)
{
    m->u.header.nlmsg_seq = ++k->sequence;
    if (send(k->netlink, m->u.octets, m->u.header.nlmsg_len, 0) < 0) return NULL;
    for (;;) {
        const ssize_t got = recv(k->netlink, answer, ANSWER_MAX, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < (ssize_t)sizeof(struct nlmsghdr)) return NULL;
        const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)answer;
        if (h->nlmsg_seq != k->sequence) continue; /* of an abandoned request */
        if (h->nlmsg_type != NLMSG_ERROR) return h;
        const struct nlmsgerr *e = NLMSG_DATA(h);
        errno = -e->error;
        return e->error ? NULL : h;
    }
}

bool esp_kernel_open(struct esp_kernel *k)
{
    memset(k, 0, sizeof *k);
    k->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return k->netlink >= 0;
}

void esp_kernel_close(struct esp_kernel *k)
{
    if (k->netlink >= 0) close(k->netlink);
    k->netlink = -1;
}

/* ---- routes ------------------------------------------------------------------------------- */

/* The neighbour that packets on this route go to. */
static void set_hop(struct esp_way *way, const uint8_t *address, size_t len)
{
    if (len != 4 && len != LEAT_ESP_ADDRESS_LEN) return;
    way->hop_len = (uint32_t)len;
    memcpy(way->hop, address, len);
}

static void read_route(const struct nlmsghdr *h, struct esp_way *way)
{
    const uint8_t *octets = (const uint8_t *)h;
    const struct rtmsg *route = NLMSG_DATA(h);
    struct rtattr a;
    if (route->rtm_type == RTN_LOCAL) way->kind = ESP_WAY_HOST;
    if (route->rtm_type != RTN_UNICAST) return;
    for (size_t at = NLMSG_SPACE(sizeof *route); at + sizeof a <= h->nlmsg_len;
         at += RTA_ALIGN(a.rta_len)) {
        memcpy(&a, octets + at, sizeof a);
        if (a.rta_len < sizeof a || at + a.rta_len > h->nlmsg_len) return;
        const uint8_t *value = octets + at + RTA_LENGTH(0);
        const size_t len = a.rta_len - RTA_LENGTH(0);
        if (a.rta_type == RTA_GATEWAY) set_hop(way, value, len);
        /* An address preceded by its family, which may differ from the route's. */
        if (a.rta_type == RTA_VIA && len > 2) set_hop(way, value + 2, len - 2);
        if (a.rta_type != RTA_OIF || len < sizeof way->device) continue;
        way->kind = ESP_WAY_OUT;
        memcpy(&way->device, value, sizeof way->device);
    }
}

static bool is_same_hop(const struct esp_way *a, const struct esp_way *b)
{
    return a->kind == b->kind && a->device == b->device && a->hop_len == b->hop_len &&
           memcmp(a->hop, b->hop, a->hop_len) == 0;
}

static struct esp_way *find_way(struct esp_kernel *k, const uint8_t *address, uint32_t address_len,
                                uint64_t now_ns)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    uint32_t hash = 0;
    for (uint32_t i = 0; i < address_len; i++)
        hash = hash * 31 + address[i];
    struct esp_way *way = &k->way[hash % ESP_WAYS];
    const bool is_same = way->address_len == address_len &&
                         memcmp(way->address, address, address_len) == 0;
    if (is_same && now_ns < way->until_ns) return way;
    const struct esp_way before = *way;
    *way = (struct esp_way){ .kind = ESP_WAY_NONE,
                             .address_len = address_len,
                             .until_ns = now_ns + way_lives_ns };
    memcpy(way->address, address, address_len);
    set_hop(way, address, address_len);
    struct message m;
    struct rtmsg *route = begin(&m, RTM_GETROUTE, 0, sizeof *route);
    route->rtm_family = address_len == 4 ? AF_INET : AF_INET6;
    route->rtm_dst_len = (uint8_t)(8 * address_len);
    add(&m, RTA_DST, address, address_len);
    const struct nlmsghdr *h = request(k, &m, answer);
    if (h && h->nlmsg_type == RTM_NEWROUTE) read_route(h, way);
    if (is_same && is_same_hop(&before, way)) {
        way->is_known = before.is_known;
        way->sought = before.sought;
        way->known_until_ns = before.known_until_ns;
    }
    return way;
}

struct esp_way esp_kernel_way(struct esp_kernel *k, const uint8_t *address, uint32_t address_len,
                              uint64_t now_ns)
{
    return *find_way(k, address, address_len, now_ns);
}

/* ---- neighbours --------------------------------------------------------------------------- */

/* The state of a neighbour in the kernel (NUD_...); 0: it has none of this address. */
static uint16_t neighbour_state(struct esp_kernel *k, uint32_t device, const uint8_t *address,
                                uint32_t address_len)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    struct message m;
    struct ndmsg *neighbour = begin(&m, RTM_GETNEIGH, 0, sizeof *neighbour);
    neighbour->ndm_family = address_len == 4 ? AF_INET : AF_INET6;
    neighbour->ndm_ifindex = (int)device;
    add(&m, NDA_DST, address, address_len);
    const struct nlmsghdr *h = request(k, &m, answer);
    if (!h || h->nlmsg_type != RTM_NEWNEIGH) return NUD_NONE;
    neighbour = NLMSG_DATA(h);
    return neighbour->ndm_state;
}

static void query_neighbour(struct esp_kernel *k, struct esp_way *way, uint64_t now_ns)
{
    static const uint8_t nobody[4];
    const uint16_t known = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_NOARP |
                           NUD_PERMANENT;
    const bool is_first = way->known_until_ns == 0;
    uint16_t state = neighbour_state(k, way->device, way->hop, way->hop_len);
    /* A point-to-point link has one neighbour for all of IPv4, without an address. */
    if (state == NUD_NONE && way->hop_len == 4)
        state = neighbour_state(k, way->device, nobody, sizeof nobody);
    way->is_known = (state & known) != 0;
    way->known_until_ns = now_ns + (way->is_known ? way_lives_ns : unknown_lives_ns);
    /* Unless the kernel is resolving it, no packet waits. If it was already resolving it before our
     * first query, the number of waiting packets is unknown: assume the maximum. */
    if (state != NUD_INCOMPLETE)
        way->sought = 0;
    else if (is_first)
        way->sought = ESP_SOUGHT_MAX;
}

enum esp_hop esp_kernel_hop(struct esp_kernel *k, const uint8_t *address, uint32_t address_len,
                            uint64_t now_ns)
{
    struct esp_way *way = find_way(k, address, address_len, now_ns);
    if (way->kind != ESP_WAY_OUT) return ESP_HOP_KNOWN;
    if (now_ns >= way->known_until_ns) query_neighbour(k, way, now_ns);
    if (way->is_known) return ESP_HOP_KNOWN;
    if (way->sought >= ESP_SOUGHT_MAX) return ESP_HOP_AWAITED;
    way->sought++;
    return ESP_HOP_SOUGHT;
}

/* ---- rules -------------------------------------------------------------------------------- */

static bool change_rule(struct esp_kernel *k, const char *device, uint8_t family, uint8_t protocol,
                        bool wanted)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    struct message m;
    const uint16_t flags = NLM_F_ACK | (wanted ? NLM_F_CREATE : 0);
    const uint32_t priority = RULE_PRIORITY;
    struct fib_rule_hdr *rule = begin(&m, wanted ? RTM_NEWRULE : RTM_DELRULE, flags, sizeof *rule);
    rule->family = family;
    rule->action = FR_ACT_BLACKHOLE;
    add(&m, FRA_PRIORITY, &priority, sizeof priority);
    add(&m, FRA_IIFNAME, device, strlen(device) + 1);
    add(&m, FRA_IP_PROTO, &protocol, sizeof protocol);
    if (protocol != LEAT_ESP_IP_PROTOCOL) {
        const struct fib_rule_port_range ports = { LEAT_ESP_UDP_PORT, LEAT_ESP_UDP_PORT };
        add(&m, FRA_DPORT_RANGE, &ports, sizeof ports);
    }
    return request(k, &m, answer) != NULL;
}

bool esp_kernel_withhold(struct esp_kernel *k, const char *device, bool wanted)
{
    static const uint8_t families[] = { AF_INET, AF_INET6 };
    static const uint8_t protocols[] = { 17 /* UDP */, LEAT_ESP_IP_PROTOCOL };
    for (int f = 0; f < 2; f++) {
        for (int p = 0; p < 2; p++) {
            /* A killed start may have left some: remove all, then add one. */
            for (int i = 0; i < RULES_MAX; i++)
                if (!change_rule(k, device, families[f], protocols[p], false)) break;
            if (!wanted) continue;
            /* A kernel without IPv6 forwards none. */
            if (!change_rule(k, device, families[f], protocols[p], true) &&
                !(families[f] == AF_INET6 && errno == EAFNOSUPPORT))
                return false;
        }
    }
    return true;
}
