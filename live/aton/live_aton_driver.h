/*
 * What the two drivers of a station provide to live_aton_station.c. A station is identified by its
 * device: the XDP program on it, or the shared file of the process that serves it.
 */
#ifndef LEAT_LIVE_ATON_DRIVER_H
#define LEAT_LIVE_ATON_DRIVER_H

#include "aton_sender.h"
#include "live_aton_mailbox.h"
#include "live_system.h"
#include <leat/aton.h>

enum {
    ATON_PAGE_LEN = 4096,
    ATON_LENT_MAX = 3 + ATON_GROUPS, /* descriptors of a station that is lent */
};

/* A station as seen by a process that has opened it. */
struct aton_seat {
    struct aton_config config;
    struct aton_page *page; /* mapped */
    uint64_t *counts;       /* packet: mapped */
    int counts_map;         /* XDP: descriptor of the map */
    void *mapping;
    size_t mapping_len;
    struct aton_mailbox mailbox; /* mapped */
    uint32_t *bell;              /* packet: mapped; changes after every message */
    int mailbox_map;             /* XDP: descriptor of the map */
    int windows_map;             /* XDP, with a key: descriptor of the map; else -1 */
    bool is_lent;                /* XDP: by a process with rights */
    int lent_group[ATON_GROUPS]; /* then: descriptors of the maps; -1: not any more */
    int process;                 /* packet: process ID; 0: it is in the kernel */
};

struct aton_driver {
    const char *name;
    /*
     * Starts a station on config->device; the registers of an earlier station there are kept.
     * config->why says why this driver was chosen, and aton_report_join adds the result; *slower_at
     * changes where it runs slower than it could (leat/aton.h). False: see `why`; nothing
     * is left behind.
     */
    bool (*join)(struct aton_config *config, const struct leat_aton_interface *fresh,
                 const struct leat_keys *keys, int *slower_at, char *why);
    /* OK, FAILED (see `why`), or ABSENT: there is no station of this driver. */
    enum leat_aton_host_end (*find)(uint32_t device, struct aton_seat *seat, char *why);
    /* Makes the mailbox of a group, 0 to ATON_GROUPS - 1, that of the seat. False: see `why`. */
    bool (*turn_to_group)(struct aton_seat *seat, uint8_t group, char *why);
    void (*let_go)(struct aton_seat *seat);
    /* Descriptors for a process without rights: returns how many; 0: it cannot. */
    int (*lend)(const struct aton_seat *seat, int fd[ATON_LENT_MAX]);
    /* The seat of which only `config` is known, by such descriptors. They are the seat's, unless it
     * returns false. */
    bool (*borrow)(const int *fd, int count, struct aton_seat *seat);
    bool (*counts)(struct aton_seat *seat, uint64_t counts[ATON_REASON_COUNT]);
    /* Sleeps until the mailbox has a message, a signal arrives or the time is up. */
    void (*wait_for_mail)(struct aton_seat *seat, int timeout_ms);
    /* OK, FAILED (see `why`), or ABSENT: there was none. */
    enum leat_aton_host_end (*leave)(uint32_t device, char *why);
    /* Do forwarded frames still leave? False: see `why`. NULL: the kernel sends them, always. */
    bool (*works)(const struct aton_config *config, char *why);
};

/* What helps where a process has no right to a station. */
#define ATON_LEND_HINT ", or leat ring join --allow GROUP by an administrator"

extern const struct aton_driver aton_xdp_driver, aton_packet_driver;

/* Adds to config->why how it has joined. */
void aton_report_join(struct aton_config *config, const char *note, bool kept);

/* ---- the gate in user space (live_aton_user.c) ----------------------------------------------- */

/*
 * buckets: one per address, or NULL without limits. mailbox: NULL if nothing is copied, as if it
 * were full.
 */
enum aton_reason aton_user_gate(struct aton_frame *f, const struct aton_config *c,
                                const struct aton_page *page, struct aton_bucket *buckets,
                                const struct aton_mailbox *mailbox);

/* The frame of a packet that starts here: image and image_len are in f. `flags`: 0, or the number
 * of its group plus one. */
void aton_user_begin(struct aton_frame *f, const struct aton_config *c,
                     const struct aton_page *page, uint32_t sequence, uint8_t flags);

/* A socket for our Ethernet type on a device; -1: see `why`. */
int aton_socket(uint32_t device, char *why);

#endif
