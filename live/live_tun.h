/*
 * TUN devices: what a host sends to an address behind such a device can be read here as IP packets,
 * and what is written here comes in there. A device lives as long as its descriptor.
 */
#ifndef LEAT_LIVE_TUN_H
#define LEAT_LIVE_TUN_H

#include "live_system.h"

/* Creates a device in the present network namespace and brings it up; `name` becomes its full
 * name. Returns a descriptor that does not block; -1: see `why`. */
int live_tun_open(const char *device, uint32_t mtu, char name[IF_NAMESIZE], char *why);

/* Gives it an address of `len` octets, 4 or 16, in a network of so many bits. False: see `why`. */
bool live_tun_address(const char *device, const uint8_t *address, uint32_t len, uint32_t bits,
                      char *why);

#endif
