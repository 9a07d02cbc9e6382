/* A host: its memory, TELL and WRU?, sending and receiving, time. */
#include "leat_arena.h"
#include "packetway_grammar.h"
#include "packetway_host_parts.h"
#include <string.h>

/* ---- memory ---- */

static bool is_legal(const struct leat_packetway_host_config *c)
{
    if (leat_packetway_block_check(&c->block) || !leat_packetway_address_is_node(c->address))
        return false;
    if (c->about_len > LEAT_PACKETWAY_ABOUT_LEN_MAX) return false;
    if (c->plans_max < LEAT_PACKETWAY_PLAN_WAYS || c->plans_max % LEAT_PACKETWAY_PLAN_WAYS ||
        c->plans_max > LEAT_PACKETWAY_HOST_PLANS_MAX)
        return false;
    if (c->route_len_max % 8 || c->route_len_max > LEAT_PACKETWAY_PLAN_LEN_MAX) return false;
    return c->pending_max >= 1 && c->pending_max <= LEAT_PACKETWAY_HOST_PENDING_MAX;
}

static size_t route_room(const struct leat_packetway_host_config *c)
{
    return c->route_len_max ? c->route_len_max : LEAT_PACKETWAY_PLAN_LEN_MAX;
}

static void lay(struct leat_arena *arena, const struct leat_packetway_host_config *c,
                struct leat_packetway_host *h)
{
    h->plans = leat_arena_lay(arena, c->plans_max, sizeof *h->plans);
    h->pending = leat_arena_lay(arena, c->pending_max, sizeof *h->pending);
    h->out = leat_arena_lay(arena, 1, LEAT_PACKETWAY_HOST_OUT_LEN);
    uint8_t *queries = leat_arena_lay(arena, LEAT_PACKETWAY_HOST_QUERIES_MAX,
                                      LEAT_PACKETWAY_HOST_MESSAGE_LEN);
    const size_t room = route_room(c);
    uint8_t *routes = leat_arena_lay(arena, c->plans_max, LEAT_PACKETWAY_PLAN_ROUTES_MAX * room);
    if (!arena->memory) return;

    memset(h->plans, 0, c->plans_max * sizeof *h->plans);
    for (uint32_t i = 0; i < LEAT_PACKETWAY_HOST_QUERIES_MAX; i++)
        h->queries[i].octets = queries + (size_t)i * LEAT_PACKETWAY_HOST_MESSAGE_LEN;
    for (uint32_t i = 0; i < c->plans_max * LEAT_PACKETWAY_PLAN_ROUTES_MAX; i++)
        h->plans[i / LEAT_PACKETWAY_PLAN_ROUTES_MAX]
            .routes[i % LEAT_PACKETWAY_PLAN_ROUTES_MAX]
            .octets = routes + i * room;
}

size_t leat_packetway_host_footprint(const struct leat_packetway_host_config *config)
{
    struct leat_arena arena = { 0 };
    struct leat_packetway_host measured;
    if (!is_legal(config)) return 0;
    leat_arena_lay(&arena, 1, sizeof measured);
    lay(&arena, config, &measured);
    return arena.used;
}

leat_err leat_packetway_host_init(const struct leat_packetway_host_config *config, void *memory,
                                  size_t len, struct leat_packetway_host **out)
{
    struct leat_arena arena;
    const size_t need = leat_packetway_host_footprint(config);
    if (!need) return LEAT_ERR_RANGE;
    if (!memory || len < need || (uintptr_t)memory % _Alignof(max_align_t)) return LEAT_ERR_MEMORY;
    const leat_err err = leat_packetway_about_check(config->about, config->about_len);
    if (err) return err;
    leat_arena_init(&arena, memory, len);
    struct leat_packetway_host *h = leat_arena_lay(&arena, 1, sizeof *h);
    memset(h, 0, sizeof *h);
    lay(&arena, config, h);
    h->config = *config;
    h->config.route_len_max = (uint32_t)route_room(config);
    h->config.about = NULL; /* no longer the caller's */
    if (config->about_len) memcpy(h->about, config->about, config->about_len);
    h->wake_at = LEAT_NEVER;
    *out = h;
    return LEAT_ERR_OK;
}

/* ---- own messages ---- */

struct leat_packetway_host_letter *leat_packetway_host_pend(struct leat_packetway_host *h,
                                                            uint16_t te, uint32_t dt)
{
    if (h->pending_count == h->config.pending_max) {
        h->counts.full++;
        return NULL;
    }
    struct leat_packetway_host_letter *l =
        &h->pending[(h->pending_first + h->pending_count++) % h->config.pending_max];
    memset(l, 0, offsetof(struct leat_packetway_host_letter, octets));
    l->pt = LEAT_PACKETWAY_PT_RRP;
    l->te = te;
    l->dt = dt;
    l->to = dt;
    if (!leat_packetway_host_is_near(h, dt) && dt != LEAT_PACKETWAY_ADDRESS_HEY_YOU)
        l->to = h->router_count ? h->routers[0] : dt;
    return l;
}

/* INFO about this host; capabilities at level C only. */
void leat_packetway_host_introduce(struct leat_packetway_host *h, uint32_t dt, uint8_t priority)
{
    struct leat_packetway_host_letter *l = leat_packetway_host_pend(h, LEAT_PACKETWAY_TE_INFO, dt);
    struct leat_packetway_build b;
    if (!l) return;
    l->priority = priority;
    leat_packetway_build_init(&b, l->octets, sizeof l->octets);
    leat_packetway_about_write(&b, h->config.address, h->about, h->config.about_len,
                               h->config.level_c);
    l->len = b.len;
}

leat_err leat_packetway_host_post(struct leat_packetway_host *h,
                                  const struct leat_packetway_header *header, const uint8_t *data,
                                  size_t len)
{
    if (len > LEAT_PACKETWAY_HOST_MESSAGE_LEN) return LEAT_ERR_LENGTH;
    struct leat_packetway_host_letter *l = leat_packetway_host_pend(h, header->te, header->dt);
    if (!l) return LEAT_ERR_FULL;
    l->pt = header->pt;
    l->priority = header->priority;
    l->len = len;
    if (len) memcpy(l->octets, data, len);
    return LEAT_ERR_OK;
}

bool leat_packetway_host_take(struct leat_packetway_host *h,
                              struct leat_packetway_host_outgoing *out)
{
    while (h->pending_count) {
        const struct leat_packetway_host_letter *l = &h->pending[h->pending_first];
        const struct leat_packetway_message m = { .header = { .dt = l->dt,
                                                              .sa = h->config.address,
                                                              .pt = l->pt,
                                                              .te = l->te,
                                                              .priority = l->priority },
                                                  .data = l->octets,
                                                  .data_len = l->len };
        size_t len = 0;
        const leat_err err = leat_packetway_message_encode(&m, h->out, LEAT_PACKETWAY_HOST_OUT_LEN,
                                                           &len);
        *out = (struct leat_packetway_host_outgoing){ l->to, h->out, (uint32_t)len };
        h->pending_first = (h->pending_first + 1) % h->config.pending_max;
        h->pending_count--;
        if (!err) return true;
        h->counts.full++;
    }
    return false;
}

/* ---- asking ---- */

struct leat_packetway_host_query *leat_packetway_host_find_query(struct leat_packetway_host *h,
                                                                 uint32_t peer)
{
    for (unsigned i = 0; i < LEAT_PACKETWAY_HOST_QUERIES_MAX; i++)
        if (h->queries[i].peer == peer) return &h->queries[i];
    return NULL;
}

static void send_query(struct leat_packetway_host *h, struct leat_packetway_host_query *a,
                       leat_time now)
{
    struct leat_packetway_host_letter *l = leat_packetway_host_pend(
        h, a->len ? LEAT_PACKETWAY_TE_TELL : LEAT_PACKETWAY_TE_WRU, a->peer);
    a->at = leat_packetway_host_in_a_second(now);
    leat_packetway_host_wake(h, a->at);
    if (!l) return;
    l->len = a->len;
    memcpy(l->octets, a->octets, a->len);
}

leat_err leat_packetway_host_query(struct leat_packetway_host *h, uint32_t peer,
                                   const uint8_t *records, size_t len, leat_time now)
{
    if (!leat_packetway_address_is_node(peer) || peer == h->config.address) return LEAT_ERR_RANGE;
    if (len % 8 || len > LEAT_PACKETWAY_HOST_MESSAGE_LEN) return LEAT_ERR_LENGTH;
    const uint16_t te = len ? LEAT_PACKETWAY_TE_TELL : LEAT_PACKETWAY_TE_WRU;
    const leat_err err = leat_packetway_grammar_check(LEAT_PACKETWAY_PT_RRP, te, records, len,
                                                      LEAT_PACKETWAY_STRICT, NULL);
    if (err) return err;
    struct leat_packetway_host_query *a = leat_packetway_host_find_query(h, peer);
    if (a && !a->answered) return LEAT_ERR_DUPLICATE;
    if (!a) a = leat_packetway_host_find_query(h, 0);
    if (!a) return LEAT_ERR_FULL;
    a->peer = peer;
    a->tries = 1;
    a->answered = false;
    a->len = len;
    if (len) memcpy(a->octets, records, len);
    send_query(h, a, now);
    return LEAT_ERR_OK;
}

void leat_packetway_host_cancel(struct leat_packetway_host *h, uint32_t peer)
{
    struct leat_packetway_host_query *a = peer ? leat_packetway_host_find_query(h, peer) : NULL;
    if (a) a->peer = 0;
}

static void on_info(struct leat_packetway_host *h, struct leat_packetway_event *e, leat_time now)
{
    struct leat_packetway_host_query *a = e->peer ? leat_packetway_host_find_query(h, e->peer)
                                                  : NULL;
    if (!a) {
        h->counts.disbelieved++;
        return;
    }
    a->answered = true;
    a->at = leat_packetway_host_in_a_second(now);
    leat_packetway_host_wake(h, a->at);
    e->kind = LEAT_PACKETWAY_EVENT_INFO;
}

static void on_tell(struct leat_packetway_host *h, const struct leat_packetway_event *e)
{
    const struct leat_packetway_address me = leat_packetway_single(h->config.address);
    if (!h->config.level_c || !e->peer) return;
    if (leat_packetway_about_matches(leat_packetway_message_records(&e->message), &me,
                                     leat_packetway_about_of(h->about, h->config.about_len)))
        leat_packetway_host_introduce(h, e->peer, e->message.header.priority);
}

static void on_wru(struct leat_packetway_host *h, const struct leat_packetway_event *e)
{
    const uint8_t priority = e->message.header.priority;
    if (e->peer)
        leat_packetway_host_introduce(h, e->peer, priority);
    else if (h->config.point_to_point)
        leat_packetway_host_introduce(h, LEAT_PACKETWAY_ADDRESS_HEY_YOU, priority);
}

/* ---- send ---- */

/* Converts the octets of a route to leading records. */
static void lead(struct leat_packetway_message *m, const struct leat_packetway_plan_route *route)
{
    struct leat_packetway_route cursor = { route->octets, route->octets + route->len, route->q };
    m->leading_count = 0;
    while (m->leading_count < LEAT_PACKETWAY_LEADING_MAX &&
           leat_packetway_route_next(&cursor, &m->leading[m->leading_count])) {
        m->leading[m->leading_count].priority = 0; /* strict: that of PH counts */
        m->leading_count++;
    }
}

/* The part of it in use, without leading records. */
static bool copy_message(const struct leat_packetway_message *from,
                         struct leat_packetway_message *to)
{
    if (from->oh_count > LEAT_PACKETWAY_OH_MAX || from->ot_count > LEAT_PACKETWAY_OT_MAX)
        return false;
    memcpy(to, from, offsetof(struct leat_packetway_message, leading));
    memcpy(to->oh, from->oh, from->oh_count * sizeof *to->oh);
    memcpy(to->ot, from->ot, from->ot_count * sizeof *to->ot);
    to->leading_count = 0;
    return true;
}

static leat_err encode_within(const struct leat_packetway_message *m, uint32_t mtu_words,
                              uint8_t *buf, size_t cap, size_t *len)
{
    size_t written;
    const leat_err err = leat_packetway_message_encode(m, buf, cap, &written);
    if (err) return err;
    if (mtu_words && written / 8 > mtu_words) return LEAT_ERR_LENGTH;
    *len = written;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_host_send(struct leat_packetway_host *h,
                                  const struct leat_packetway_message *message,
                                  enum leat_packetway_how how, uint8_t *buf, size_t cap,
                                  size_t *len, uint32_t *to, leat_time now)
{
    struct leat_packetway_message m;
    const uint32_t dt = message->header.dt;
    const bool node = leat_packetway_address_is_node(dt);
    const struct leat_packetway_plan *p = NULL;
    if (!copy_message(message, &m)) return LEAT_ERR_PACKETWAY_LIMIT;
    m.header.sa = h->config.address;
    if (node && how == LEAT_PACKETWAY_SEND_PLANNED)
        p = leat_packetway_host_plan(h, dt, now);
    else if (node && !leat_packetway_host_is_near(h, dt))
        p = leat_packetway_host_find_plan(h, dt);
    if ((node && leat_packetway_host_is_near(h, dt)) || dt == LEAT_PACKETWAY_ADDRESS_HEY_YOU ||
        (p && p->state == LEAT_PACKETWAY_PLAN_NATIVE)) {
        *to = dt;
        return encode_within(&m, h->config.mtu_words, buf, cap, len);
    }
    *to = p && p->router ? p->router : (h->router_count ? h->routers[0] : 0);
    if (!*to) return LEAT_ERR_FIELD;
    if (how == LEAT_PACKETWAY_SEND_BY_ADDRESS || (p && p->state == LEAT_PACKETWAY_PLAN_ADDRESS))
        return encode_within(&m, h->config.mtu_words, buf, cap, len);
    if (!p || p->state != LEAT_PACKETWAY_PLAN_ROUTES) return LEAT_ERR_FIELD;
    leat_err err = LEAT_ERR_LENGTH;
    for (uint32_t i = 0; i < p->route_count && err == LEAT_ERR_LENGTH; i++) {
        lead(&m, &p->routes[i]);
        err = encode_within(&m, leat_packetway_mtu_min(p->routes[i].mtu_words, h->config.mtu_words),
                            buf, cap, len);
    }
    return err;
}

/* ---- receive ---- */

/* Its message stays: it is large, and valid only with the kinds that have one. */
static void clear(struct leat_packetway_event *e)
{
    e->kind = LEAT_PACKETWAY_EVENT_NONE;
    e->err = LEAT_ERR_OK;
    e->peer = e->dt = 0;
    e->partial = e->accused = false;
}

static bool is_for_me(const struct leat_packetway_host *h, const struct leat_packetway_message *m)
{
    const uint32_t dt = m->header.dt;
    for (unsigned i = 0; i < m->leading_count; i++)
        if (m->leading[i].kind == LEAT_PACKETWAY_L2RH) return false;
    if (dt == h->config.address || dt == LEAT_PACKETWAY_ADDRESS_HEY_YOU ||
        dt == LEAT_PACKETWAY_ADDRESS_BROADCAST)
        return true;
    return leat_packetway_logical_matches(leat_packetway_about_of(h->about, h->config.about_len),
                                          dt);
}

static void on_rrp(struct leat_packetway_host *h, struct leat_packetway_event *e, leat_time now)
{
    switch (e->message.header.te) {
    case LEAT_PACKETWAY_TE_WRU: on_wru(h, e); break;
    case LEAT_PACKETWAY_TE_TELL: on_tell(h, e); break;
    case LEAT_PACKETWAY_TE_INFO: on_info(h, e, now); break;
    case LEAT_PACKETWAY_TE_L2SR: leat_packetway_host_on_routes(h, e, now); break;
    case LEAT_PACKETWAY_TE_RDRC: leat_packetway_host_on_redirect(h, e, now); break;
    }
}

/* Addresses precede the data of MEM-READ and MEM-WRITE, big-endian whatever E says. */
static bool is_uniform(uint16_t pt)
{
    return pt != LEAT_PACKETWAY_PT_MEM_READ && pt != LEAT_PACKETWAY_PT_MEM_WRITE;
}

static void drop(struct leat_packetway_host *h, struct leat_packetway_event *e, uint64_t *why,
                 leat_err err)
{
    h->counts.dropped++;
    ++*why;
    e->err = err;
}

void leat_packetway_host_receive(struct leat_packetway_host *h, uint8_t *octets, size_t len,
                                 leat_time now, struct leat_packetway_event *e)
{
    struct leat_packetway_message *m = &e->message;
    bool accused = false;
    clear(e);
    for (unsigned depth = 0; depth <= LEAT_PACKETWAY_EMBEDDED_MAX; depth++) {
        const leat_err err = leat_packetway_message_decode(octets, len, LEAT_PACKETWAY_STRICT,
                                                           LEAT_PACKETWAY_DESTINATION, m, NULL);
        if (err) {
            drop(h, e, &h->counts.bad, err);
            return;
        }
        if (!is_for_me(h, m)) {
            drop(h, e, &h->counts.not_mine, LEAT_ERR_OK);
            return;
        }
        accused = accused || m->ei;
        if (m->header.pt != LEAT_PACKETWAY_PT_EMBEDDED || m->header.pl) break;
        octets += m->data - octets; /* the message inside */
        len = m->data_len;
    }
    e->peer = m->header.sa;
    e->accused = accused;
    const uint16_t pt = m->header.pt;
    const bool control = pt == LEAT_PACKETWAY_PT_RRP || pt == LEAT_PACKETWAY_PT_ERR;
    if (control && accused) {
        drop(h, e, &h->counts.bad, LEAT_ERR_OK);
        return;
    }
    h->counts.received++;
    if (pt == LEAT_PACKETWAY_PT_RRP) {
        on_rrp(h, e, now);
    } else if (pt == LEAT_PACKETWAY_PT_ERR) {
        leat_packetway_host_on_err(h, e, now);
    } else {
        e->kind = LEAT_PACKETWAY_EVENT_DATA;
        e->dt = m->header.dt;
        if (!is_uniform(pt)) return;
        e->partial = leat_packetway_data_swap(octets + (m->data_len ? m->data - octets : 0),
                                              m->data_len, m->header.e, h->config.little_endian);
    }
}

/* ---- time ---- */

static bool tick_query(struct leat_packetway_host *h, struct leat_packetway_host_query *a,
                       leat_time now, struct leat_packetway_event *e)
{
    if (!a->peer) return false;
    if (a->at > now) {
        leat_packetway_host_wake(h, a->at);
    } else if (a->answered) {
        a->peer = 0;
    } else if (a->tries < LEAT_PACKETWAY_HOST_TRIES) {
        a->tries++;
        send_query(h, a, now);
    } else {
        e->kind = LEAT_PACKETWAY_EVENT_SILENT;
        e->peer = a->peer;
        a->peer = 0;
        return true;
    }
    return false;
}

void leat_packetway_host_tick(struct leat_packetway_host *h, leat_time now,
                              struct leat_packetway_event *e)
{
    clear(e);
    if (h->wake_at > now) return;
    h->wake_at = LEAT_NEVER;
    bool found = false;
    for (unsigned i = 0; !found && i < LEAT_PACKETWAY_HOST_QUERIES_MAX; i++)
        found = tick_query(h, &h->queries[i], now, e);
    for (uint32_t i = 0; !found && h->querying_count && i < h->config.plans_max; i++)
        found = leat_packetway_host_tick_plan(h, &h->plans[i], now, e);
    if (found) h->wake_at = now; /* the rest has not been checked */
}

leat_time leat_packetway_host_next_at(const struct leat_packetway_host *h)
{
    return h->wake_at;
}

const struct leat_packetway_host_counts *
leat_packetway_host_counts(const struct leat_packetway_host *h)
{
    return &h->counts;
}
