/* Answers of the kernel by netlink: attributes within octets. */
#ifndef LEAT_LIVE_NETLINK_H
#define LEAT_LIVE_NETLINK_H

#include <stddef.h>
#include <stdint.h>

struct live_netlink_span {
    const uint8_t *at;
    size_t len;
};

/* The value of an attribute among others; len 0: it is missing, empty or cut. */
struct live_netlink_span live_netlink_attribute(struct live_netlink_span all, uint16_t type);

#endif
