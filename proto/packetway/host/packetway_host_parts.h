/*
 * The host's internals, for packetway_host*.c only.
 *
 *   packetway_host.c       memory, sending, receiving, TELL and WRU?, time
 *   packetway_host_plan.c  half-routers, plans, and what answers and ERRs make of them
 */
#ifndef LEAT_PACKETWAY_HOST_PARTS_H
#define LEAT_PACKETWAY_HOST_PARTS_H

#include "packetway_about.h"
#include "packetway_host.h"
#include "packetway_record.h"

enum {
    LEAT_PACKETWAY_PLAN_WAYS = 4, /* plans per set of the cache */
    LEAT_PACKETWAY_HOST_OUT_LEN = LEAT_PACKETWAY_HOST_MESSAGE_LEN + LEAT_PACKETWAY_MESSAGE_LEN_MIN,
};

/* A pending message of this host. */
struct leat_packetway_host_letter {
    uint32_t to, dt;
    uint16_t pt, te;
    uint8_t priority;
    size_t len;
    uint8_t octets[LEAT_PACKETWAY_HOST_MESSAGE_LEN];
};

/* A TELL or WRU? that waits for its INFO. An answered one stays for further INFOs. */
struct leat_packetway_host_query {
    uint32_t peer; /* 0: free */
    leat_time at;
    uint8_t tries;
    bool answered;
    size_t len;
    uint8_t *octets; /* [LEAT_PACKETWAY_HOST_MESSAGE_LEN] */
};

struct leat_packetway_host {
    struct leat_packetway_host_config config;
    struct leat_packetway_host_counts counts;
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    uint32_t routers[LEAT_PACKETWAY_HOST_ROUTERS_MAX], router_count;
    struct leat_packetway_host_query queries[LEAT_PACKETWAY_HOST_QUERIES_MAX];
    struct leat_packetway_plan *plans; /* sets of four */
    struct leat_packetway_plan native; /* the plan of all nodes of this SAN */
    struct leat_packetway_host_letter *pending;
    uint32_t pending_first, pending_count, querying_count;
    leat_time wake_at;
    uint8_t *out; /* [LEAT_PACKETWAY_HOST_OUT_LEN] */
};

static inline bool leat_packetway_host_is_near(const struct leat_packetway_host *h,
                                               uint32_t address)
{
    return leat_packetway_block_holds(&h->config.block, address);
}

static inline bool leat_packetway_host_knows_router(const struct leat_packetway_host *h,
                                                    uint32_t address)
{
    for (uint32_t i = 0; i < h->router_count; i++)
        if (h->routers[i] == address) return true;
    return false;
}

static inline void leat_packetway_host_wake(struct leat_packetway_host *h, leat_time at)
{
    if (at < h->wake_at) h->wake_at = at;
}

static inline leat_time leat_packetway_host_in_a_second(leat_time now)
{
    return leat_time_add(now, LEAT_PACKETWAY_SECOND);
}

/* packetway_host.c */
struct leat_packetway_host_letter *leat_packetway_host_pend(struct leat_packetway_host *h,
                                                            uint16_t te, uint32_t dt);
void leat_packetway_host_introduce(struct leat_packetway_host *h, uint32_t dt, uint8_t priority);
struct leat_packetway_host_query *leat_packetway_host_find_query(struct leat_packetway_host *h,
                                                                 uint32_t peer);

/* packetway_host_plan.c */
struct leat_packetway_plan *leat_packetway_host_find_plan(struct leat_packetway_host *h,
                                                          uint32_t dt);
void leat_packetway_host_on_routes(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                   leat_time now);
void leat_packetway_host_on_redirect(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                     leat_time now);
void leat_packetway_host_on_err(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                leat_time now);
bool leat_packetway_host_tick_plan(struct leat_packetway_host *h, struct leat_packetway_plan *p,
                                   leat_time now, struct leat_packetway_event *e);

#endif
