/*
 * XDP programs of ours on network devices. They are found by their names and hold their maps, so
 * that nothing needs to be pinned:
 *
 *   device --> live_xdp_attached() --> live_xdp_program() --> live_xdp_map()
 *
 * A program runs in the driver (native mode) or behind it, on the kernel's own packets (generic
 * mode, slower). Natively, what a program sends is the driver's business alone, and some drop it at
 * times without a trace: live_xdp_can_send() finds out, and whoever cannot be sure is generic.
 *
 * `why` has room for LIVE_XDP_WHY_LEN characters: what is wrong, for people.
 */
#ifndef LEAT_LIVE_XDP_H
#define LEAT_LIVE_XDP_H

#include <stdbool.h>
#include <stdint.h>

enum { LIVE_XDP_WHY_LEN = 160 };

/* What libbpf would print, our own messages say. */
void live_xdp_quiet(void);

/* The program on a device and its mode, native or generic; 0: none. */
uint32_t live_xdp_attached(uint32_t device, uint32_t *flags);

/* A descriptor of a program, if that is its name; else -1. Another process's program takes
 * CAP_SYS_ADMIN. */
int live_xdp_program(uint32_t id, const char *name);

/* This process keeps the program open until its end: it is found again without that right. */
void live_xdp_keep(int program);

/* A descriptor of a program's map, by its name and the shape that it must have (`entries` 0: any
 * number); else -1. */
int live_xdp_map(int program, const char *name, uint32_t value_len, uint32_t entries);

/* Into why, cut to its length; returns false, for `return`. */
bool live_xdp_because(char why[LIVE_XDP_WHY_LEN], const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Puts a program on a device, in the place of one of that name or of none. *generic: in that mode;
 * it becomes true where the driver knows no other. To change the mode, the old program goes first.
 */
bool live_xdp_attach(uint32_t device, int program, const char *name, bool *generic,
                     char why[LIVE_XDP_WHY_LEN]);

/* ", in the driver (native mode)", or ", behind the driver (generic mode), slower: ..." with
 * `slow`, which is why it is not native; "": since the driver knows no XDP. Returns where in the
 * text the reason begins for which it is slower; -1: it is not. */
int live_xdp_mode(bool generic, const char *slow, char text[2 * LIVE_XDP_WHY_LEN]);

/* Takes a program of that name away, if there is one. False: it stays, and why. */
bool live_xdp_detach(uint32_t device, const char *name, bool *was_there,
                     char why[LIVE_XDP_WHY_LEN]);

/* ---- sending natively (live_send.c) ---------------------------------------------------------- */

enum live_xdp_path {
    LIVE_XDP_BACK, /* XDP_TX, by the device that it came in by; veths are better redirected to */
    LIVE_XDP_OVER, /* redirected to a device that has our program in its driver, too */
    LIVE_XDP_OUT,  /* redirected to a device without one */
};

enum { LIVE_XDP_SENDS = 4 }; /* NETDEV_XDP_ACT_NDO_XMIT of linux/netdev.h */

struct live_xdp_device {
    bool veth;
    bool told; /* the kernel tells features */
    uint64_t features;
};

/* What follows from what is known of a device. A kernel that does not tell is not believed where a
 * veth sends, or a device that has not taken a program itself. */
bool live_xdp_sends(const struct live_xdp_device *device, enum live_xdp_path path);

/* Does the device send what native XDP hands to it, now? False after why. */
bool live_xdp_can_send(uint32_t device, enum live_xdp_path path, char why[LIVE_XDP_WHY_LEN]);

#endif
