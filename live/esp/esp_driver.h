/*
 * What the three drivers of a router have in common. A router is a process; its memory is a shared
 * file (esp_shared.h), identified by the network namespace and the router's name. With XDP the data
 * path is in the kernel and continues while the process is away.
 *
 *   leat esp route   leat_esp_router_start, the process: driver->start, then driver->serve for ever
 *
 *   leat esp status, store, trace   leat_esp_router_open: the shared file, and XDP's maps
 */
#ifndef LEAT_ESP_DRIVER_H
#define LEAT_ESP_DRIVER_H

#include "esp_kernel.h"
#include "esp_router.h"
#include "esp_user.h"
#include "live_system.h"

enum { ESP_SERVE_MS = 200 };

/* XDP's maps, as descriptors; -1: none. */
struct esp_maps {
    int groups, config, counts, duplicates, keys;
};

/* Where a router's data is. */
struct esp_memory {
    struct esp_share *share;
    struct esp_locked_group *group; /* after share; NULL with XDP */
    struct esp_maps maps;
};

struct esp_process {
    struct esp_memory memory;
    struct esp_kernel kernel;
    int answer4, answer6; /* nonblocking sockets for what the router itself sends */
    int seek4, seek6;     /* ... to neighbours that the kernel has yet to resolve */
};

struct esp_driver {
    const char *name;
    enum leat_esp_router_driver number;
    /* Called in the new process. `kept`: groups and secrets of an earlier router are in place, as
     * far as the shared file holds them; XDP says whether it found its maps again. share->mode says
     * how it runs. False: see `why`, nothing is left behind. */
    bool (*start)(struct esp_process *p, bool *kept, char *why);
    /* Waits for work, at most ESP_SERVE_MS, and does it. */
    void (*serve)(struct esp_process *p);
    /* Removes what outlives a process; NULL: nothing does. */
    bool (*clear)(const struct esp_config *config, char *why);
};

extern const struct esp_driver esp_xdp_driver, esp_packet_driver, esp_udp_driver;

/* ---- management (esp_manage.c) -------------------------------------------------------------- */

/* Opens the sockets for answers, and the one for requests to the kernel. */
bool esp_manage_open(struct esp_process *p, char *why);

/* Handles a frame that the gate found to be for the router's process. */
void esp_manage_frame(struct esp_process *p, const uint8_t *frame, uint32_t len, uint32_t port);

/* A group as it is between two instructions. False: it cannot be read. */
bool esp_memory_group(const struct esp_memory *memory, uint32_t index, struct leat_esp_group *out);

/* ---- XDP (esp_xdp.c) ------------------------------------------------------------------------ */

/* The maps of the router on the devices of config. False with an empty `why`: there is none. */
bool esp_xdp_find(const struct esp_config *config, struct esp_maps *maps, char *why);
void esp_xdp_let_go(struct esp_maps *maps);
bool esp_xdp_group(const struct esp_maps *maps, uint32_t index, struct leat_esp_group *out);
bool esp_xdp_publish(const struct esp_maps *maps, const struct leat_esp_duplicates *table,
                     uint64_t group);
bool esp_xdp_watch(const struct esp_maps *maps, uint32_t on);
bool esp_xdp_change_keys(const struct esp_maps *maps, const struct leat_keys *keys, char *why);
bool esp_xdp_counts(const struct esp_maps *maps, struct esp_counts *total);

#endif
