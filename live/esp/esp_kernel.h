/*
 * What routers ask of the kernel, over netlink: which way an address lies, whether the neighbour on
 * that way is known, and that the kernel does not forward what the packet-socket driver forwards.
 *
 * A packet for a neighbour whose Ethernet address is not known waits in the kernel, up to 3 s, and
 * fills the send buffer of its socket meanwhile. So a sender asks first:
 *
 *   known     it is sent
 *   sought    the kernel takes it, and begins to look for the neighbour: a few packets for each, by
 *             a socket that nothing else is sent by
 *   awaited   enough of them wait already: refused, and counted by the caller
 *
 * Nothing here waits for the network: the kernel answers a question before it takes the next one.
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
    uint64_t until_ns;                 /* routes change: asked again then */
    uint8_t hop[LEAT_ESP_ADDRESS_LEN]; /* the neighbour: a gateway, or the address itself */
    uint32_t hop_len;
    bool is_known;           /* its Ethernet address is */
    uint32_t sought;         /* packets that were sent while it was not */
    uint64_t known_until_ns; /* asked again then; 0: not asked yet */
};

enum esp_hop { ESP_HOP_KNOWN, ESP_HOP_SOUGHT, ESP_HOP_AWAITED };

/* A socket and what it has heard lately. */
struct esp_kernel {
    int netlink;
    uint32_t sequence;
    struct esp_way way[ESP_WAYS];
};

/* False: errno tells why. */
bool esp_kernel_open(struct esp_kernel *kernel);
void esp_kernel_close(struct esp_kernel *kernel);

/* Which way `address` lies. now_ns is the caller's clock. */
struct esp_way esp_kernel_way(struct esp_kernel *kernel, const uint8_t *address,
                              uint32_t address_len, uint64_t now_ns);

/* May a packet for `address` be sent now? SOUGHT: it is, and counts as waiting. Where no neighbour
 * is needed, or there is no way, it is KNOWN: then sending does not wait. */
enum esp_hop esp_kernel_hop(struct esp_kernel *kernel, const uint8_t *address, uint32_t address_len,
                            uint64_t now_ns);

/*
 * Routing rules for one device: what comes in there as UDP to port 4253 or as protocol 253 and is
 * not for this host goes no further in the kernel. Packet sockets see it before. With
 * wanted = false they are taken away; that there are none is no error. False: errno tells why.
 */
bool esp_kernel_withhold(struct esp_kernel *kernel, const char *device, bool wanted);

#endif
