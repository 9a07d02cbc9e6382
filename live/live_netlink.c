#include "live_netlink.h"
#include <linux/netlink.h>
#include <string.h>

struct live_netlink_span live_netlink_attribute(struct live_netlink_span all, uint16_t type)
{
    struct nlattr a;
    for (size_t at = 0; at + sizeof a <= all.len; at += (a.nla_len + 3u) / 4 * 4) {
        memcpy(&a, all.at + at, sizeof a);
        if (a.nla_len < sizeof a || a.nla_len > all.len - at) break;
        if ((a.nla_type & NLA_TYPE_MASK) == type)
            return (struct live_netlink_span){ all.at + at + sizeof a, a.nla_len - sizeof a };
    }
    return (struct live_netlink_span){ NULL, 0 };
}
