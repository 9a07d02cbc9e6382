/*
 * What the packet-socket driver asks of the kernel's routing, over netlink: which way an address
 * lies, and that the kernel does not forward what the driver forwards.
 */
#ifndef LEAT_ESP_KERNEL_H
#define LEAT_ESP_KERNEL_H

#include "esp_shared.h"

enum { ESP_WAYS = 256 };

struct esp_way {
    uint8_t address[LEAT_ESP_ADDRESS_LEN]; /* an IPv4 address in its first four octets */
    uint32_t address_len;                  /* 4 or 16; 0: an empty entry */
    enum esp_way_kind kind;
    uint32_t device;
    uint64_t until_ns; /* routes change: asked again then */
};

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

/*
 * Routing rules for one device: what comes in there as UDP to port 4253 or as protocol 253 and is
 * not for this host goes no further in the kernel. Packet sockets see it before. With
 * wanted = false they are taken away; that there are none is no error. False: errno tells why.
 */
bool esp_kernel_withhold(struct esp_kernel *kernel, const char *device, bool wanted);

#endif
