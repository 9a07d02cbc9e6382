/* One network device, by rtnetlink and ioctl: both answer without rights. */
#define _GNU_SOURCE /* struct ifreq */
#include "doctor.h"
#include "live_netlink.h"
#include "live_system.h"
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER_MAX = 32768, ANSWER_TIME_S = 1 };

static uint32_t number_of(struct live_netlink_span all, uint16_t type)
{
    uint32_t number = 0;
    const struct live_netlink_span a = live_netlink_attribute(all, type);
    if (a.len == 1)
        number = *a.at;
    else if (a.len >= sizeof number)
        memcpy(&number, a.at, sizeof number);
    return number;
}

/* All attributes of a device; len 0: no answer. */
static struct live_netlink_span ask(uint32_t number, uint8_t answer[ANSWER_MAX])
{
    const struct timeval patience = { .tv_sec = ANSWER_TIME_S };
    struct {
        struct nlmsghdr head;
        struct ifinfomsg link;
    } question = {
        { .nlmsg_len = sizeof question, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
        { .ifi_family = AF_UNSPEC, .ifi_index = (int)number }
    };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return (struct live_netlink_span){ NULL, 0 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool asked = send(fd, &question, sizeof question, 0) == (ssize_t)sizeof question;
    const ssize_t got = asked ? recv(fd, answer, ANSWER_MAX, 0) : -1;
    close(fd);
    struct nlmsghdr head;
    if (got < (ssize_t)sizeof question) return (struct live_netlink_span){ NULL, 0 };
    memcpy(&head, answer, sizeof head);
    if (head.nlmsg_type != RTM_NEWLINK) return (struct live_netlink_span){ NULL, 0 };
    return (struct live_netlink_span){ answer + sizeof question, (size_t)got - sizeof question };
}

static void read_xdp(struct doctor_device *d, struct live_netlink_span xdp)
{
    const uint32_t native = number_of(xdp, IFLA_XDP_DRV_PROG_ID);
    d->xdp_program = native ? native : number_of(xdp, IFLA_XDP_PROG_ID);
    d->is_xdp_in_driver = native || number_of(xdp, IFLA_XDP_ATTACHED) == XDP_ATTACHED_DRV;
}

static uint32_t switch_of(const struct doctor_device *d, uint32_t command)
{
    struct ethtool_value value = { .cmd = command };
    struct ifreq request = { .ifr_data = (void *)&value };
    return live_device_query(-1, d->name, SIOCETHTOOL, &request) ? value.data : 0;
}

static void read_kind(struct doctor_device *d, struct live_netlink_span all)
{
    const struct live_netlink_span kind = live_netlink_attribute(
        live_netlink_attribute(all, IFLA_LINKINFO), IFLA_INFO_KIND);
    snprintf(d->kind, sizeof d->kind, "%.*s", (int)kind.len, (const char *)kind.at);
    if (strcmp(d->kind, "veth") == 0) d->peer = number_of(all, IFLA_LINK);
    d->is_peer_far = live_netlink_attribute(all, IFLA_LINK_NETNSID).len != 0;
}

bool doctor_link(struct doctor_device *d)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    const struct live_netlink_span all = ask(d->number, answer);
    struct ifinfomsg link;
    if (!all.len) return false;
    memcpy(&link, answer + sizeof(struct nlmsghdr), sizeof link);
    d->is_ethernet = link.ifi_type == ARPHRD_ETHER;
    d->is_loopback = link.ifi_type == ARPHRD_LOOPBACK;
    d->up = link.ifi_flags & IFF_UP;
    d->carries = link.ifi_flags & IFF_RUNNING;
    d->mtu_bytes = number_of(all, IFLA_MTU);
    read_kind(d, all);
    read_xdp(d, live_netlink_attribute(all, IFLA_XDP));
    live_device_driver(d->name, d->driver);
    d->gro = switch_of(d, ETHTOOL_GGRO);
    d->leaves_checksums = switch_of(d, ETHTOOL_GTXCSUM);
    return true;
}
