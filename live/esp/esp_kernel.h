/*
 * What routers ask the kernel, over netlink: the route to an address, whether the neighbour on it
 * is resolved, and that the kernel does not forward what the packet-socket driver forwards.
 *
 * A packet for a neighbour whose Ethernet address is unknown waits in the kernel, up to 3 s, and
 * occupies the send buffer of its socket meanwhile. A sender therefore asks first:
 *
 *   known     send it
 *   sought    the kernel takes it and starts to resolve the neighbour: a few packets for each, by
 *             a socket used for nothing else
 *   awaited   enough packets wait already: refused, and counted by the caller
 *
 * Nothing here waits for the network: the kernel answers a request before it accepts the next one.
 */
#ifndef LEAT_ESP_KERNEL_H
#define LEAT_ESP_KERNEL_H

#include "esp_shared.h"

enum { ESP_WAYS = 256, ESP_SOUGHT_MAX = 4 /* packets that wait for one neighbour */ };

struct esp_way {
    uint8_t address[LEAT_ESP_ADDRESS_LEN]; /* an IPv4 address in its first four octets */
    uint32_t address_len;                  /* 4 or 16; 0: an empty entry */
    enum esp_way_kind kind;
    uint32_t device;
    uint64_t until_ns;                 /* expiry: routes change, ask again then */
    uint8_t hop[LEAT_ESP_ADDRESS_LEN]; /* the neighbour: a gateway, or the address itself */
    uint32_t hop_len;
    bool is_known;           /* its Ethernet address is known */
    uint32_t sought;         /* packets sent while it was not */
    uint64_t known_until_ns; /* when to ask again; 0: not asked yet */
};

enum esp_hop { ESP_HOP_KNOWN, ESP_HOP_SOUGHT, ESP_HOP_AWAITED };

/* A socket and a cache of recent answers. */
struct esp_kernel {
    int netlink;
    uint32_t sequence;
    struct esp_way way[ESP_WAYS];
};

/* False: see errno. */
bool esp_kernel_open(struct esp_kernel *kernel);
void esp_kernel_close(struct esp_kernel *kernel);

/* The route to `address`. now_ns is the caller's clock. */
struct esp_way esp_kernel_way(struct esp_kernel *kernel, const uint8_t *address,
                              uint32_t address_len, uint64_t now_ns);

/* May a packet for `address` be sent now? SOUGHT: yes, and it counts as waiting. KNOWN is also the
 * answer where no neighbour is needed or there is no route: sending does not wait then. */
enum esp_hop esp_kernel_hop(struct esp_kernel *kernel, const uint8_t *address, uint32_t address_len,
                            uint64_t now_ns);

/*
 * Routing rules for one device: incoming UDP to port 4253 or protocol 253 that is not for this host
 * is not forwarded by the kernel. Packet sockets see it before. wanted = false removes the rules;
 * their absence is no error. False: see errno.
 */
bool esp_kernel_withhold(struct esp_kernel *kernel, const char *device, bool wanted);

#endif
