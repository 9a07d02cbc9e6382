/* What live networks ask the system for: the time, their devices, sockets on them. */
#ifndef LEAT_LIVE_SYSTEM_H
#define LEAT_LIVE_SYSTEM_H

#include "leat_keys.h"
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct ifreq; /* net/if.h has it where the system's extensions are on */

enum { LIVE_WHY_LEN = 320, LIVE_MAC_LEN = 6, LIVE_DRIVER_LEN = 32 };

/* Formats into `why`, of LIVE_WHY_LEN characters, truncated: what is wrong, for people. Returns
 * false, for `return`. */
bool live_because(char *why, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Capabilities (capabilities(7)) that live networks need, as a set of bits. */
enum live_right {
    LIVE_NET_RAW = 1,    /* packet and raw sockets */
    LIVE_NET_ADMIN = 2,  /* devices, routing rules, XDP programs on devices */
    LIVE_BPF = 4,        /* to load programs */
    LIVE_PERFMON = 8,    /* the same, of programs such as ours */
    LIVE_SYS_ADMIN = 16, /* to find programs of other processes */
    LIVE_XDP = LIVE_NET_ADMIN | LIVE_BPF | LIVE_PERFMON,
};

/* live_because "WHAT: REASON", of errno. If the system refused it and this process lacks some of
 * these rights: which, and the command that gives them. `instead`: what works without, or "". A
 * file should not have LIVE_SYS_ADMIN, so only sudo is named for it. */
bool live_refused(char *why, const char *what, unsigned rights, const char *instead);

/* Has this process all of these rights? False: see `why`, as of live_refused. */
bool live_may(const char *what, unsigned rights, char *why);

uint64_t live_now_ns(clockid_t clock);

/* Waits until fd can be read, at most this long. False: see errno. */
bool live_wait(int fd, uint64_t timeout_ns);

/* Anybody who can read such a file has the secret, and anybody who can write it can choose it.
 * False: the file is not its owner's alone. `what`: "key"; `form`: what the file should hold. */
bool live_secret_is_safe(const char *path, int fd, const char *what, const char *form, char *why);

/* The keys in a file that only its owner may read: one of 32 hex digits, or two (leat_keys.h).
 * False: see `why`. */
bool live_key_read(const char *path, struct leat_keys *keys, char *why);

/* An ioctl about a device, by any socket; -1: by a new one. False: see errno. */
bool live_device_query(int fd, const char *device, unsigned long what, struct ifreq *request);

/* The name of a device's driver. False: it has none; the name is empty. */
bool live_device_driver(const char *device, char name[LIVE_DRIVER_LEN]);

/* The Ethernet address of a device, LIVE_MAC_LEN octets. False: see `why`. */
bool live_device_mac(const char *device, uint8_t *mac, char *why);

/* Binds a packet socket to one Ethernet type on a device. False: see errno. */
bool live_packet_bind(int fd, uint32_t device, uint16_t type);

#endif
