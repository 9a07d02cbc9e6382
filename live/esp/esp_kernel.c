#include "esp_kernel.h"
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_MAX = 512, ANSWER_MAX = 8192, RULE_PRIORITY = 4253, RULES_MAX = 16 };
static const uint64_t way_lives_ns = 500000000;

/* A netlink message as it grows. */
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

/* Sends, and gives the first message that answers it; NULL after errno. */
static const struct nlmsghdr *ask(struct esp_kernel *k, struct message *m, uint8_t *answer)
{
    m->u.header.nlmsg_seq = ++k->sequence;
    if (send(k->netlink, m->u.octets, m->u.header.nlmsg_len, 0) < 0) return NULL;
    for (;;) {
        const ssize_t got = recv(k->netlink, answer, ANSWER_MAX, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < (ssize_t)sizeof(struct nlmsghdr)) return NULL;
        const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)answer;
        if (h->nlmsg_seq != k->sequence) continue; /* of a question that was given up */
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

/* ---- ways --------------------------------------------------------------------------------- */

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
        if (a.rta_type != RTA_OIF || a.rta_len < RTA_LENGTH(sizeof way->device)) continue;
        way->kind = ESP_WAY_OUT;
        memcpy(&way->device, octets + at + RTA_LENGTH(0), sizeof way->device);
    }
}

struct esp_way esp_kernel_way(struct esp_kernel *k, const uint8_t *address, uint32_t address_len,
                              uint64_t now_ns)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    uint32_t hash = 0;
    for (uint32_t i = 0; i < address_len; i++)
        hash = hash * 31 + address[i];
    struct esp_way *way = &k->way[hash % ESP_WAYS];
    if (way->address_len == address_len && memcmp(way->address, address, address_len) == 0 &&
        now_ns < way->until_ns)
        return *way;
    *way = (struct esp_way){ .kind = ESP_WAY_NONE,
                             .address_len = address_len,
                             .until_ns = now_ns + way_lives_ns };
    memcpy(way->address, address, address_len);
    struct message m;
    struct rtmsg *route = begin(&m, RTM_GETROUTE, 0, sizeof *route);
    route->rtm_family = address_len == 4 ? AF_INET : AF_INET6;
    route->rtm_dst_len = (uint8_t)(8 * address_len);
    add(&m, RTA_DST, address, address_len);
    const struct nlmsghdr *h = ask(k, &m, answer);
    if (h && h->nlmsg_type == RTM_NEWROUTE) read_route(h, way);
    return *way;
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
    return ask(k, &m, answer) != NULL;
}

bool esp_kernel_withhold(struct esp_kernel *k, const char *device, bool wanted)
{
    static const uint8_t families[] = { AF_INET, AF_INET6 };
    static const uint8_t protocols[] = { 17 /* UDP */, LEAT_ESP_IP_PROTOCOL };
    for (int f = 0; f < 2; f++) {
        for (int p = 0; p < 2; p++) {
            /* A killed start may have left some: first none, then one. */
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
