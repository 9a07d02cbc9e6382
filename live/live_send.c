/*
 * Does a device send what XDP passes to it? A veth drops it silently unless its other end polls,
 * which it does with GRO or with a native XDP program of its own; and XDP_TX does not wake an end
 * that polls by GRO only. The kernel reports this by its netlink family "netdev", since 6.3.
 */
#include "live_netlink.h"
#include "live_xdp.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* linux/netdev.h, which older systems do not have */
enum { DEV_GET = 1, DEV_IFINDEX = 1, DEV_XDP_FEATURES = 3 };
enum { ANSWER_MAX = 8192, QUESTION_MAX = 128 };

/* The system's own macros for these sums mix signs. */
static const size_t head_len = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr);
static const size_t attribute_at = sizeof(struct nlattr);
static size_t aligned(size_t len)
{
    return (len + 3) / 4 * 4;
}

/* A request with one attribute; its answer is in `answer`. Returns its length, 0: none. */
static size_t query(int fd, uint16_t family, uint8_t command, uint16_t attribute, const void *value,
                    size_t value_len, uint8_t *answer)
{
    _Alignas(8) uint8_t question[QUESTION_MAX] = { 0 };
    const struct genlmsghdr command_header = { .cmd = command, .version = 1 };
    const struct nlattr head = { .nla_len = (uint16_t)(attribute_at + value_len),
                                 .nla_type = attribute };
    const struct nlmsghdr header = {
        .nlmsg_len = (uint32_t)(head_len + attribute_at + aligned(value_len)),
        .nlmsg_type = family,
        .nlmsg_flags = NLM_F_REQUEST,
    };
    memcpy(question, &header, sizeof header);
    memcpy(question + sizeof header, &command_header, sizeof command_header);
    memcpy(question + head_len, &head, sizeof head);
    memcpy(question + head_len + attribute_at, value, value_len);
    if (send(fd, question, header.nlmsg_len, 0) < 0) return 0;
    const ssize_t got = recv(fd, answer, ANSWER_MAX, 0);
    struct nlmsghdr answer_header;
    if (got < (ssize_t)head_len) return 0;
    memcpy(&answer_header, answer, sizeof answer_header);
    return answer_header.nlmsg_type == NLMSG_ERROR ? 0 : (size_t)got;
}

/* An attribute of an answer; false: it is missing, or shorter. */
static bool find(const uint8_t *answer, size_t len, uint16_t type, void *value, size_t value_len)
{
    if (len < head_len) return false;
    const struct live_netlink_span all = { answer + head_len, len - head_len };
    const struct live_netlink_span a = live_netlink_attribute(all, type);
    if (a.len < value_len) return false;
    memcpy(value, a.at, value_len);
    return true;
}

/* What the kernel reports about a device; false: nothing. */
static bool features_of(uint32_t device, uint64_t *features)
{
    static _Alignas(8) uint8_t answer[ANSWER_MAX];
    static const char name[] = "netdev";
    uint16_t family;
    bool found = false;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (fd < 0) return false;
    size_t len = query(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name,
                       sizeof name, answer);
    if (find(answer, len, CTRL_ATTR_FAMILY_ID, &family, sizeof family)) {
        len = query(fd, family, DEV_GET, DEV_IFINDEX, &device, sizeof device, answer);
        found = find(answer, len, DEV_XDP_FEATURES, features, sizeof *features);
    }
    close(fd);
    return found;
}

bool live_xdp_sends(const struct live_xdp_device *d, enum live_xdp_path path)
{
    const bool redirected_to = d->reported && d->features & LIVE_XDP_SENDS;
    switch (path) {
    case LIVE_XDP_BACK: return !d->veth;
    case LIVE_XDP_OVER: return d->reported ? redirected_to : !d->veth;
    case LIVE_XDP_OUT: return redirected_to;
    }
    return false;
}

bool live_xdp_is_reported(uint32_t device)
{
    uint64_t features;
    return features_of(device, &features);
}

bool live_xdp_can_send(uint32_t device, enum live_xdp_path path, char why[LIVE_WHY_LEN])
{
    char name[IF_NAMESIZE] = "?", driver[LIVE_DRIVER_LEN];
    struct live_xdp_device d = { 0 };
    if_indextoname(device, name);
    d.veth = live_device_driver(name, driver) && strcmp(driver, "veth") == 0;
    d.reported = features_of(device, &d.features);
    *why = 0;
    if (live_xdp_sends(&d, path)) return true;
    return live_because(why,
                        !d.reported
                            ? "this kernel does not report whether %s sends what XDP hands to it"
                        : d.veth ? "the other end of %s does not poll (no GRO, no native XDP)"
                                 : "%s does not send what XDP redirects to it",
                        name);
}
