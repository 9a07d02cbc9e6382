/*
 * A router: half-routers on several SANs that exist, as one process. Each runs the engine of
 * packetway_router.h; the links between twins are calls.
 *
 *   eth0 --- pktway_san --- engine 0 --+-- engine 1 --- pktway_san --- eth1
 *                                      `-- engine 2 --- pktway_san --- udp
 *
 * With XDP (pktway_xdp.h) the kernel forwards what simply goes on; whatever else arrives comes up
 * here, so that the process does the same with or without it, only less.
 */
#ifndef LEAT_PKTWAY_ROUTER_H
#define LEAT_PKTWAY_ROUTER_H

#include "packetway_router.h"
#include "pktway_san.h"

enum pktway_driver { PKTWAY_ANY, PKTWAY_XDP, PKTWAY_PACKET, PKTWAY_UDP };

struct pktway_router_config {
    const char *name; /* what others are told; at most PKTWAY_NAME_MAX characters */
    uint32_t san_count;
    struct pktway_plan sans[PKTWAY_SANS_MAX];
    enum pktway_driver driver;
    uint32_t poll_ms;
    uint32_t tables_max, known_max; /* 0: the engine's defaults */
    bool claims;                    /* opening makes sure that nobody has its addresses */
};

struct pktway_half {
    struct pktway_san san;
    struct leat_packetway_router *engine;
    void *memory;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    size_t about_len;
    bool up;
    uint64_t refused; /* native routes that the SAN does not take */
};

struct pktway_xdp; /* pktway_xdp.c */

struct pktway_router {
    struct pktway_router_config config;
    struct pktway_half half[PKTWAY_SANS_MAX];
    uint32_t count;
    leat_time poll_at;
    enum pktway_driver driver;
    char why[PKTWAY_WHY_LEN]; /* this driver, for people */
    struct pktway_xdp *xdp;
};

/*
 * Opens everything and introduces itself to all SANs. False after `why`: *wrong says that the
 * request cannot be right. Nothing is left open.
 */
bool pktway_router_open(struct pktway_router *router, const struct pktway_router_config *config,
                        bool *wrong, char *why);
void pktway_router_close(struct pktway_router *router);

/* Descriptors to wait for, one per SAN. */
int pktway_router_fd(const struct pktway_router *router, uint32_t san);

/* When serve has something to do even if nothing comes in. */
leat_time pktway_router_next_at(const struct pktway_router *router);

/* Does what there is to do. */
void pktway_router_serve(struct pktway_router *router);

/* Packets of a SAN that the kernel has sent on by itself. */
uint64_t pktway_router_in_kernel(const struct pktway_router *router, uint32_t san);

const char *pktway_driver_name(enum pktway_driver driver);

#endif
