/*
 * A router on this host, for programs that start it or inspect it. esp_gate.h defines what it does
 * to packets. Needs root, except for the overlay (LEAT_ESP_ROUTER_UDP).
 *
 * `why` always has room for LEAT_ESP_ROUTER_WHY_LEN characters: what is wrong, for people.
 */
#ifndef LEAT_ESP_ROUTER_H
#define LEAT_ESP_ROUTER_H

#include "esp_node.h"
#include "esp_shared.h"

enum { LEAT_ESP_ROUTER_WHY_LEN = ESP_WHY_LEN, LEAT_ESP_ROUTER_NAME_MAX = 32 };

enum leat_esp_router_driver {
    LEAT_ESP_ROUTER_ANY,
    LEAT_ESP_ROUTER_XDP,
    LEAT_ESP_ROUTER_PACKET,
    LEAT_ESP_ROUTER_UDP
};

struct leat_esp_router_config {
    const char *name; /* distinguishes routers of one namespace; NULL: "esp" */
    const char *device[ESP_PORTS_MAX];
    uint32_t device_count;
    enum leat_esp_router_driver driver;
    uint64_t node_id; /* 0: drawn at random */
    uint64_t tau_ns;
    uint64_t capacity;      /* bindings of the centre; a power of two of groups of 256 */
    uint64_t port_capacity; /* bindings of each store of a port */
    struct leat_keys keys;  /* none: no queries, no duplicates */
    const char *next_hop[ESP_NEXT_MAX]; /* [PREFIX=]ADDRESS[:PORT], or [PREFIX=]DEVICE,MAC; PREFIX
                                           may be "bare" */
    uint32_t next_hop_count;
    const char *listen;  /* overlay: ADDRESS[:PORT]; NULL: any address, port 4253 */
    bool keyed_only;     /* accepts only computation IDs that are made with the key */
    uint64_t rate_per_s; /* bindings that one source may create; 0: unlimited */
    uint64_t port_share; /* live bindings that one port may have created; 0: unlimited */
};

enum leat_esp_router_end {
    LEAT_ESP_ROUTER_OK,
    LEAT_ESP_ROUTER_WRONG,  /* the request is invalid */
    LEAT_ESP_ROUTER_FAILED, /* the system refuses */
};

/*
 * Makes this host a router. It replaces one of the same name and keeps its stores where they have
 * the same shape. *used is the driver; `why` explains the choice, or what is wrong. *slower_at is
 * the offset in `why` of the reason why it runs slower than it could; -1: it does not.
 */
enum leat_esp_router_end leat_esp_router_start(const struct leat_esp_router_config *config,
                                               enum leat_esp_router_driver *used, int *slower_at,
                                               char *why);

/* Ends the router; its stores are lost. */
enum leat_esp_router_end leat_esp_router_stop(const char *name, char *why);

struct leat_esp_router;

/* NULL: see `why`. A router whose process was killed can be opened too. */
struct leat_esp_router *leat_esp_router_open(const char *name, char *why);
void leat_esp_router_close(struct leat_esp_router *router);

/* Its configuration. */
void leat_esp_router_describe(const struct leat_esp_router *router, struct esp_config *config);

/* Gives a router that has a key other ones, between two packets. WRONG: it has none, or there are
 * none. */
enum leat_esp_router_end leat_esp_router_change_keys(struct leat_esp_router *router,
                                                     const struct leat_keys *keys, char *why);

/* Why it uses its driver, and in which mode that runs. */
void leat_esp_router_why(const struct leat_esp_router *router, char *why);

/* Its process ID; 0: it has ended. */
int leat_esp_router_process(const struct leat_esp_router *router);

/* Management packets for it that had the wrong key or were malformed. */
uint64_t leat_esp_router_refused(const struct leat_esp_router *router);

/* Answers and copies that its process could not send, mostly because a neighbour was unknown. */
uint64_t leat_esp_router_unsent(const struct leat_esp_router *router);

bool leat_esp_router_counts(struct leat_esp_router *router, struct esp_counts *counts);

/* The stores are numbered below leat_esp_router_stores. A name such as "centre" or "input 1". */
uint32_t leat_esp_router_stores(const struct leat_esp_router *router);
void leat_esp_router_store_name(const struct leat_esp_router *router, uint32_t store,
                                char name[32]);
bool leat_esp_router_survey(struct leat_esp_router *router, uint32_t store,
                            struct leat_esp_survey *survey);

/* Live bindings of a computation in a store, at most cap; *count is their number. */
bool leat_esp_router_bindings(struct leat_esp_router *router, uint32_t store, uint64_t computation,
                              struct leat_esp_binding *out, uint32_t cap, uint32_t *count);

/* Starts or stops watching. */
bool leat_esp_router_watch(struct leat_esp_router *router, bool on, char *why);

/* The next packet that passed; *next begins at leat_esp_router_seen. False: none yet. *missed:
 * packets overwritten before they were read. */
uint64_t leat_esp_router_seen(const struct leat_esp_router *router);
bool leat_esp_router_sight(struct leat_esp_router *router, uint64_t *next, struct esp_sight *sight,
                           uint64_t *missed);

#endif
