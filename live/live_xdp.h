/*
 * Our XDP programs on network devices. They are identified by their names and hold their maps, so
 * that nothing needs to be pinned:
 *
 *   device --> live_xdp_attached() --> live_xdp_program() --> live_xdp_map()
 *
 * A program runs in the driver (native mode) or after it, on the kernel's own packets (generic
 * mode, slower). In native mode only the driver knows what becomes of sent frames, and some drivers
 * drop them silently at times. live_xdp_can_send() finds out; if in doubt, use generic mode.
 */
#ifndef LEAT_LIVE_XDP_H
#define LEAT_LIVE_XDP_H

#include "live_system.h"
#include <stddef.h>

/* Silences libbpf: our own messages report its errors. */
void live_xdp_quiet(void);

/* The program on a device and its mode, native or generic; 0: none. */
uint32_t live_xdp_attached(uint32_t device, uint32_t *flags);

/* A descriptor of a program, if it has this name; otherwise -1. Another process's program requires
 * CAP_SYS_ADMIN. */
int live_xdp_program(uint32_t id, const char *name);

/* This process keeps the program open until it ends: it is then found without that privilege. */
void live_xdp_keep(int program);

/* A descriptor of a program's map, by its name and required shape (`entries` 0: any number);
 * otherwise -1. */
int live_xdp_map(int program, const char *name, uint32_t value_len, uint32_t entries);

/* Adds up the `count` numbers that each processor has in an entry of a map. False: unreadable. */
bool live_xdp_sum(int map, uint32_t key, uint64_t *total, size_t count);

/*
 * Attaches a program to a device that has one of that name or none. *generic: in that mode; it
 * becomes true if the driver supports no other. To change the mode, the old program is removed
 * first.
 */
bool live_xdp_attach(uint32_t device, int program, const char *name, bool *generic,
                     char why[LIVE_WHY_LEN]);

/* ", in the driver (native mode)", or ", behind the driver (generic mode), slower: ..." with
 * `slow`, the reason why it is not native; "": the driver has no XDP support. Returns the offset of
 * the reason why it is slower; -1: it is not. */
int live_xdp_mode(bool generic, const char *slow, char text[LIVE_WHY_LEN]);

/* Removes a program of that name, if there is one. False: it stays; see `why`. */
bool live_xdp_detach(uint32_t device, const char *name, bool *was_there, char why[LIVE_WHY_LEN]);

/* ---- sending natively (live_send.c) ---------------------------------------------------------- */

enum live_xdp_path {
    LIVE_XDP_BACK, /* XDP_TX, by the input device; for veths, redirecting is better */
    LIVE_XDP_OVER, /* redirected to a device that also has our program in its driver */
    LIVE_XDP_OUT,  /* redirected to a device without one */
};

enum { LIVE_XDP_SENDS = 4 }; /* NETDEV_XDP_ACT_NDO_XMIT of linux/netdev.h */

struct live_xdp_device {
    bool veth;
    bool reported; /* the kernel reports features */
    uint64_t features;
};

/* Whether a device can send, from what is known of it. If the kernel reports no features, a veth,
 * or a device that has not accepted a program itself, is assumed to be unable. */
bool live_xdp_sends(const struct live_xdp_device *device, enum live_xdp_path path);

/* Does this kernel report what a device can do? */
bool live_xdp_is_reported(uint32_t device);

/* Does the device send what native XDP passes to it, now? False: see `why`. */
bool live_xdp_can_send(uint32_t device, enum live_xdp_path path, char why[LIVE_WHY_LEN]);

#endif
