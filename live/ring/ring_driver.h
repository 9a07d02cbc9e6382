/*
 * What the two drivers of a station do for ring_station.c. A station is found by its device: the
 * XDP program that sits on it, or the shared file of the process that serves it.
 */
#ifndef LEAT_RING_DRIVER_H
#define LEAT_RING_DRIVER_H

#include "ring_mailbox.h"
#include "ring_station.h"

enum { RING_PAGE_LEN = 4096 };

/* A station as a process that has opened it sees it. */
struct ring_seat {
    struct ring_config config;
    struct ring_page *page; /* mapped */
    uint64_t *counts;       /* packet: mapped */
    int counts_map;         /* XDP: descriptor of the map */
    void *mapping;
    size_t mapping_len;
    struct ring_mailbox mailbox; /* mapped */
    uint32_t *bell;              /* packet: mapped; another number after every message */
    int mailbox_map;             /* XDP: descriptor of the map */
    int windows_map;             /* XDP, with a key: descriptor of the map; else -1 */
    int process;                 /* packet: its number; 0: it is in the kernel */
};

struct ring_driver {
    const char *name;
    /*
     * Puts a station on config->device; what an earlier one there had in its registers is kept.
     * config->why says why this driver, and ring_tell adds how it went. False: why. Nothing is
     * left behind then.
     */
    bool (*join)(struct ring_config *config, const struct leat_aton_interface *fresh, char *why);
    /* False with an empty why: there is none of this driver. */
    bool (*find)(uint32_t device, struct ring_seat *seat, char *why);
    void (*let_go)(struct ring_seat *seat);
    bool (*counts)(struct ring_seat *seat, uint64_t counts[RING_REASON_COUNT]);
    /* Sleeps until the mailbox has something, a signal comes or the time is up. */
    void (*wait_for_mail)(struct ring_seat *seat, int timeout_ms);
    /* False with an empty why: there was none. */
    bool (*leave)(uint32_t device, char *why);
    /* Does what it sends on still leave? False: why not. */
    bool (*works)(const struct ring_config *config, char *why);
};

extern const struct ring_driver ring_xdp_driver, ring_packet_driver;

/* Into why, cut to its length; returns false, for `return`. */
bool ring_because(char *why, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Adds to config->why how it has joined. */
void ring_tell(struct ring_config *config, const char *note, bool kept);

/* ---- the gate in user space (ring_user.c) --------------------------------------------------- */

/*
 * buckets: one per address, or NULL where nothing is limited. mailbox: NULL where nothing is
 * copied, as if it were full.
 */
enum ring_reason ring_user_gate(struct ring_frame *f, const struct ring_config *c,
                                const struct ring_page *page, struct ring_bucket *buckets,
                                const struct ring_mailbox *mailbox);

/* The frame of a packet that begins here: image and image_len are in f. */
void ring_user_begin(struct ring_frame *f, const struct ring_config *c, uint32_t sequence);

uint64_t ring_now_ns(void);

/* A socket for our Ethernet type on a device, -1 and why. */
int ring_socket(uint32_t device, char *why);

#endif
