/* A host's half-routers and its plans: requested, kept, and discarded when they fail. */
#include "packetway_host_parts.h"
#include <string.h>

enum { REDIRECTS_MAX = 4 }; /* redirects followed per request */

/* ---- half-routers ---- */

leat_err leat_packetway_host_router(struct leat_packetway_host *h, uint32_t address)
{
    if (!leat_packetway_address_is_node(address) || address == h->config.address)
        return LEAT_ERR_RANGE;
    if (!leat_packetway_host_knows_router(h, address)) {
        if (h->router_count == LEAT_PACKETWAY_HOST_ROUTERS_MAX) return LEAT_ERR_FULL;
        h->routers[h->router_count++] = address;
    }
    leat_packetway_host_introduce(h, address, 0);
    return LEAT_ERR_OK;
}

static void drop_plan(struct leat_packetway_host *h, struct leat_packetway_plan *plan)
{
    if (plan->state == LEAT_PACKETWAY_PLAN_ASKING) h->querying_count--;
    struct leat_packetway_plan empty = { 0 };
    for (uint32_t i = 0; i < LEAT_PACKETWAY_PLAN_ROUTES_MAX; i++)
        empty.routes[i].octets = plan->routes[i].octets;
    *plan = empty;
}

static void forget_plan(struct leat_packetway_host *h, struct leat_packetway_plan *plan)
{
    drop_plan(h, plan);
    h->counts.forgotten++;
}

void leat_packetway_host_router_gone(struct leat_packetway_host *h, uint32_t address)
{
    for (uint32_t i = 0; i < h->router_count; i++)
        if (h->routers[i] == address) {
            memmove(h->routers + i, h->routers + i + 1,
                    (h->router_count - i - 1) * sizeof *h->routers);
            h->router_count--;
            break;
        }
    for (uint32_t i = 0; i < h->config.plans_max; i++)
        if (h->plans[i].dt && h->plans[i].router == address) forget_plan(h, &h->plans[i]);
}

/* ---- plans ---- */

static struct leat_packetway_plan *set_of(struct leat_packetway_host *h, uint32_t dt)
{
    const uint32_t sets = h->config.plans_max / LEAT_PACKETWAY_PLAN_WAYS;
    return h->plans + (size_t)(dt * UINT32_C(0x9E3779B1) % sets) * LEAT_PACKETWAY_PLAN_WAYS;
}

struct leat_packetway_plan *leat_packetway_host_find_plan(struct leat_packetway_host *h,
                                                          uint32_t dt)
{
    struct leat_packetway_plan *set = set_of(h, dt);
    for (unsigned i = 0; i < LEAT_PACKETWAY_PLAN_WAYS; i++)
        if (set[i].dt == dt) return &set[i];
    return NULL;
}

/* A new plan replaces the least recently used one. */
static struct leat_packetway_plan *new_plan(struct leat_packetway_host *h, uint32_t dt,
                                            uint32_t router, leat_time now)
{
    struct leat_packetway_plan *set = set_of(h, dt), *oldest = set;
    for (unsigned i = 0; i < LEAT_PACKETWAY_PLAN_WAYS; i++) {
        if (!set[i].dt) {
            oldest = &set[i];
            break;
        }
        if (set[i].used_at < oldest->used_at) oldest = &set[i];
    }
    if (oldest->dt) drop_plan(h, oldest);
    oldest->dt = dt;
    oldest->router = router;
    oldest->used_at = now;
    return oldest;
}

static void enter(struct leat_packetway_host *h, struct leat_packetway_plan *p,
                  enum leat_packetway_plan_state state)
{
    h->querying_count += (state == LEAT_PACKETWAY_PLAN_ASKING);
    h->querying_count -= (p->state == LEAT_PACKETWAY_PLAN_ASKING);
    p->state = state;
}

static void send_question(struct leat_packetway_host *h, struct leat_packetway_plan *p,
                          leat_time now)
{
    struct leat_packetway_build b;
    p->asked_at = now;
    leat_packetway_host_wake(h, leat_packetway_host_in_a_second(now));
    struct leat_packetway_host_letter *l = leat_packetway_host_pend(h, LEAT_PACKETWAY_TE_GVL2,
                                                                    p->router);
    if (!l) return;
    leat_packetway_build_init(&b, l->octets, sizeof l->octets);
    leat_packetway_build_node(&b, p->dt);
    l->len = b.len;
    h->counts.asked++;
}

static void query_router(struct leat_packetway_host *h, struct leat_packetway_plan *p,
                         uint32_t router, leat_time now)
{
    p->router = router;
    p->tries = 1;
    enter(h, p, LEAT_PACKETWAY_PLAN_ASKING);
    send_question(h, p, now);
}

/* This half-router does not know, or does not answer: try the next one. False: all were asked. */
static bool query_next(struct leat_packetway_host *h, struct leat_packetway_plan *p, leat_time now)
{
    uint32_t i = 0;
    while (i < h->router_count && h->routers[i] != p->router)
        i++;
    if (++p->failures >= h->router_count) {
        enter(h, p, LEAT_PACKETWAY_PLAN_FAILED);
        return false;
    }
    query_router(h, p, h->routers[(i + 1) % h->router_count], now);
    return true;
}

static void begin_query(struct leat_packetway_host *h, struct leat_packetway_plan *p, leat_time now)
{
    p->failures = p->redirects = 0;
    p->asked_at = now;
    if (!leat_packetway_host_knows_router(h, p->router))
        p->router = h->router_count ? h->routers[0] : 0;
    if (p->router)
        query_router(h, p, p->router, now);
    else
        enter(h, p, LEAT_PACKETWAY_PLAN_FAILED);
}

const struct leat_packetway_plan *leat_packetway_host_plan(struct leat_packetway_host *h,
                                                           uint32_t dt, leat_time now)
{
    if (leat_packetway_host_is_near(h, dt)) {
        h->native.dt = dt;
        h->native.state = LEAT_PACKETWAY_PLAN_NATIVE;
        return &h->native;
    }
    struct leat_packetway_plan *p = leat_packetway_host_find_plan(h, dt);
    if (!p) p = new_plan(h, dt, 0, now);
    p->used_at = now;
    switch (p->state) {
    case LEAT_PACKETWAY_PLAN_NONE: begin_query(h, p, now); break;
    case LEAT_PACKETWAY_PLAN_FAILED:
        if (now >= leat_packetway_host_in_a_second(p->asked_at)) begin_query(h, p, now);
        break;
    case LEAT_PACKETWAY_PLAN_ASKING: break;
    case LEAT_PACKETWAY_PLAN_NATIVE:
    case LEAT_PACKETWAY_PLAN_ROUTES:
    case LEAT_PACKETWAY_PLAN_ADDRESS: h->counts.plan_hits++; break;
    }
    return p;
}

void leat_packetway_host_forget(struct leat_packetway_host *h, uint32_t dt)
{
    for (uint32_t i = 0; i < h->config.plans_max; i++) {
        struct leat_packetway_plan *p = &h->plans[i];
        if (p->dt && (!dt || p->dt == dt)) forget_plan(h, p);
    }
}

/* ---- answers ---- */

/*
 * One of this host's half-routers, or the one that another redirected it to. On a SAN with more
 * half-routers than a host keeps, only the second is certain.
 */
static bool is_believed(const struct leat_packetway_host *h, const struct leat_packetway_plan *p,
                        uint32_t sa)
{
    return leat_packetway_host_knows_router(h, sa) ||
           (p && p->state == LEAT_PACKETWAY_PLAN_ASKING && p->router == sa);
}

static void put_route(struct leat_packetway_plan_route *to, uint16_t q, uint32_t mtu_words,
                      const uint8_t *octets, size_t len)
{
    to->q = q;
    to->mtu_words = mtu_words;
    to->len = (uint16_t)len;
    memcpy(to->octets, octets, len);
}

static void insert_route(const struct leat_packetway_host *h, struct leat_packetway_plan *p,
                         const struct leat_packetway_route *route, uint32_t mtu_words)
{
    const size_t len = (size_t)(route->end - route->at);
    uint32_t i = p->route_count;
    if (len > h->config.route_len_max) return;
    if (i == LEAT_PACKETWAY_PLAN_ROUTES_MAX) {
        if (route->q >= p->routes[i - 1].q) return;
        i--;
    } else {
        p->route_count++;
    }
    for (; i > 0 && route->q < p->routes[i - 1].q; i--)
        put_route(&p->routes[i], p->routes[i - 1].q, p->routes[i - 1].mtu_words,
                  p->routes[i - 1].octets, p->routes[i - 1].len);
    put_route(&p->routes[i], route->q, mtu_words, route->at, len);
}

/* L2SR: ADDR{ SRQR [MTUR] ... }. */
void leat_packetway_host_on_routes(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                   leat_time now)
{
    const struct leat_packetway_message *m = &e->message;
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record rec;
    leat_packetway_records_next(&records, &rec);
    const uint32_t dt = leat_packetway_record_address(&rec).low;
    struct leat_packetway_plan *p = leat_packetway_host_find_plan(h, dt);
    if (!is_believed(h, p, m->header.sa) || leat_packetway_host_is_near(h, dt)) {
        h->counts.disbelieved++;
        return;
    }
    if (!p) p = new_plan(h, dt, m->header.sa, now);
    p->router = m->header.sa;
    p->route_count = 0;
    records = leat_packetway_record_nested(&rec);
    bool more = leat_packetway_records_next(&records, &rec);
    while (more) {
        const struct leat_packetway_route route = leat_packetway_record_route(&rec);
        uint32_t mtu = 0;
        more = leat_packetway_records_next(&records, &rec);
        if (more && rec.type == LEAT_PACKETWAY_RTYP_MTUR) {
            mtu = leat_packetway_record_mtu(&rec);
            more = leat_packetway_records_next(&records, &rec);
        }
        insert_route(h, p, &route, mtu);
    }
    enter(h, p, p->route_count ? LEAT_PACKETWAY_PLAN_ROUTES : LEAT_PACKETWAY_PLAN_ADDRESS);
    e->kind = LEAT_PACKETWAY_EVENT_PLANNED;
    e->dt = dt;
}

/* Applies a RDRC to one plan. True: the request is answered. */
static bool redirect_plan(struct leat_packetway_host *h, struct leat_packetway_plan *p, uint32_t sa,
                          uint32_t router, leat_time now)
{
    const bool asked = p->state == LEAT_PACKETWAY_PLAN_ASKING && p->router == sa;
    if (router == p->dt) {
        enter(h, p, LEAT_PACKETWAY_PLAN_NATIVE);
    } else if (!asked) { /* unsolicited: whatever was planned, ask there next time */
        if (p->router == router) return false;
        enter(h, p, LEAT_PACKETWAY_PLAN_NONE);
        p->route_count = 0;
        h->counts.forgotten++;
    } else if (router == sa || p->redirects == REDIRECTS_MAX) {
        enter(h, p, LEAT_PACKETWAY_PLAN_ADDRESS);
    } else {
        p->redirects++;
        query_router(h, p, router, now);
        return false;
    }
    p->router = router;
    return asked;
}

void leat_packetway_host_on_redirect(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                     leat_time now)
{
    const struct leat_packetway_message *m = &e->message;
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record where, to;
    leat_packetway_records_next(&records, &where);
    leat_packetway_records_next(&records, &to);
    const struct leat_packetway_address a = leat_packetway_record_address(&where);
    const uint32_t router = leat_packetway_record_address(&to).low;
    if (!is_believed(h, leat_packetway_host_find_plan(h, a.low), m->header.sa)) {
        h->counts.disbelieved++;
        return;
    }
    if (!leat_packetway_host_knows_router(h, router) && leat_packetway_host_is_near(h, router) &&
        router != a.low && h->router_count < LEAT_PACKETWAY_HOST_ROUTERS_MAX)
        h->routers[h->router_count++] = router;
    if (a.at == LEAT_PACKETWAY_AT_SINGLE && !leat_packetway_host_find_plan(h, a.low) &&
        !leat_packetway_host_is_near(h, a.low))
        new_plan(h, a.low, 0, now);
    for (uint32_t i = 0; i < h->config.plans_max; i++) {
        struct leat_packetway_plan *p = &h->plans[i];
        if (p->dt && leat_packetway_address_matches(&a, p->dt) &&
            redirect_plan(h, p, m->header.sa, router, now)) {
            e->kind = LEAT_PACKETWAY_EVENT_PLANNED;
            e->dt = p->dt;
        }
    }
}

/* ---- ERR ---- */

static void on_unknown(struct leat_packetway_host *h, struct leat_packetway_event *e, leat_time now)
{
    struct leat_packetway_records records = leat_packetway_message_records(&e->message);
    struct leat_packetway_record rec;
    struct leat_packetway_host_query *ask = e->peer ? leat_packetway_host_find_query(h, e->peer)
                                                    : NULL;
    if (ask && !ask->answered && ask->len == e->message.data_len &&
        memcmp(ask->octets, e->message.data, ask->len) == 0)
        ask->peer = 0;
    while (leat_packetway_records_next(&records, &rec)) {
        if (rec.type != LEAT_PACKETWAY_RTYP_ADDR) continue;
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        struct leat_packetway_plan *p = a.at == LEAT_PACKETWAY_AT_SINGLE
                                            ? leat_packetway_host_find_plan(h, a.low)
                                            : NULL;
        e->dt = a.low;
        if (!p) continue;
        if (p->state == LEAT_PACKETWAY_PLAN_ASKING && p->router == e->peer) {
            query_next(h, p, now);
        } else if (p->state != LEAT_PACKETWAY_PLAN_ASKING) {
            forget_plan(h, p);
        }
    }
}

/* A route does not show which half-routers it passes: all of them are requested again. */
static void on_failure(struct leat_packetway_host *h, uint32_t peer, leat_time now)
{
    for (uint32_t i = 0; i < h->config.plans_max; i++) {
        struct leat_packetway_plan *p = &h->plans[i];
        if (!p->dt) continue;
        if (p->state == LEAT_PACKETWAY_PLAN_ASKING) {
            if (p->router == peer) query_next(h, p, now); /* its answer to our request */
        } else {
            forget_plan(h, p);
        }
    }
}

/* Our own packet, quoted: too long, or its route was refused. Or a request above a level. */
static void on_general(struct leat_packetway_host *h, struct leat_packetway_event *e, leat_time now)
{
    struct leat_packetway_header quoted;
    if (leat_packetway_header_decode(e->message.data, e->message.data_len, LEAT_PACKETWAY_LENIENT,
                                     &quoted, NULL) ||
        quoted.sa != h->config.address)
        return;
    e->dt = quoted.dt;
    struct leat_packetway_plan *p = leat_packetway_host_find_plan(h, quoted.dt);
    if (p && p->state != LEAT_PACKETWAY_PLAN_ASKING) forget_plan(h, p);
    struct leat_packetway_host_query *a = e->peer ? leat_packetway_host_find_query(h, e->peer)
                                                  : NULL;
    if (quoted.pt != LEAT_PACKETWAY_PT_RRP) return;
    if (a && quoted.te == LEAT_PACKETWAY_TE_TELL) a->peer = 0;
    for (uint32_t i = 0; i < h->config.plans_max && quoted.te == LEAT_PACKETWAY_TE_GVL2; i++)
        if (h->plans[i].state == LEAT_PACKETWAY_PLAN_ASKING && h->plans[i].router == e->peer)
            query_next(h, &h->plans[i], now);
}

void leat_packetway_host_on_err(struct leat_packetway_host *h, struct leat_packetway_event *e,
                                leat_time now)
{
    e->kind = LEAT_PACKETWAY_EVENT_ERR;
    switch (e->message.header.te) {
    case LEAT_PACKETWAY_TE_UNK: on_unknown(h, e, now); break;
    case LEAT_PACKETWAY_TE_HRDOWN:
    case LEAT_PACKETWAY_TE_LINKDOWN: on_failure(h, e->peer, now); break;
    case LEAT_PACKETWAY_TE_GENERAL: on_general(h, e, now); break;
    }
}

/* ---- time ---- */

bool leat_packetway_host_tick_plan(struct leat_packetway_host *h, struct leat_packetway_plan *p,
                                   leat_time now, struct leat_packetway_event *e)
{
    if (p->state != LEAT_PACKETWAY_PLAN_ASKING || !p->dt) return false;
    if (leat_packetway_host_in_a_second(p->asked_at) > now) {
        leat_packetway_host_wake(h, leat_packetway_host_in_a_second(p->asked_at));
    } else if (p->tries < LEAT_PACKETWAY_HOST_TRIES) {
        p->tries++;
        send_question(h, p, now);
    } else if (!query_next(h, p, now)) {
        e->kind = LEAT_PACKETWAY_EVENT_SILENT;
        e->dt = p->dt;
        return true;
    }
    return false;
}
