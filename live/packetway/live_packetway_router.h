/*
 * A router: half-routers on several real SANs, as one process. Each runs the engine of
 * packetway_router.h; the links between twins are function calls.
 *
 *   eth0 --- packetway_san --- engine 0 --+-- engine 1 --- packetway_san --- eth1
 *                                      `-- engine 2 --- packetway_san --- udp
 *
 * With XDP (live_packetway_xdp.h) the kernel forwards packets that need nothing else; all others
 * arrive here. The process does the same with or without XDP, only less of it.
 */
#ifndef LEAT_LIVE_PACKETWAY_ROUTER_H
#define LEAT_LIVE_PACKETWAY_ROUTER_H

#include "live_packetway_san.h"
#include "packetway_router.h"

enum packetway_driver { PACKETWAY_ANY, PACKETWAY_XDP, PACKETWAY_PACKET, PACKETWAY_UDP };

struct packetway_router_config {
    const char *name; /* reported to others; at most PACKETWAY_NAME_MAX characters */
    uint32_t san_count;
    struct packetway_plan sans[PACKETWAY_SANS_MAX];
    enum packetway_driver driver;
    uint32_t poll_ms;
    uint32_t tables_max, known_max; /* 0: the engine's defaults */
    bool claims;                    /* opening verifies that its addresses are unused */
};

struct packetway_half {
    struct packetway_san san;
    struct leat_packetway_router *engine;
    void *memory;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    size_t about_len;
    bool up;
    uint64_t refused; /* native routes that the SAN does not accept */
};

struct packetway_xdp; /* live_packetway_xdp.c */

struct packetway_router {
    struct packetway_router_config config;
    struct packetway_half half[PACKETWAY_SANS_MAX];
    uint32_t count;
    leat_time poll_at;
    enum packetway_driver driver;
    char why[PACKETWAY_WHY_LEN]; /* why this driver, for people */
    int slower_at;               /* offset in why of the reason why it is slower; -1: it is not */
    struct packetway_xdp *xdp;
};

/*
 * Opens everything and introduces the router to all SANs. False: see `why`; *wrong: the request is
 * invalid. Nothing is left open.
 */
bool packetway_router_open(struct packetway_router *router,
                           const struct packetway_router_config *config, bool *wrong, char *why);
void packetway_router_close(struct packetway_router *router);

/* Descriptors for poll, one per SAN. */
int packetway_router_fd(const struct packetway_router *router, uint32_t san);

/* When serve is next due even if nothing arrives. */
leat_time packetway_router_next_at(const struct packetway_router *router);

/* Does all pending work. */
void packetway_router_serve(struct packetway_router *router);

/* Packets of a SAN that the kernel forwarded. */
uint64_t packetway_router_in_kernel(const struct packetway_router *router, uint32_t san);

const char *packetway_driver_name(enum packetway_driver driver);

#endif
