/*
 * Nodes that tables of others hold as ranges only: their routes and names are known to the mapper
 * of the table, a half-router on their SAN, which is asked.
 *
 *      host             half-router here                     mapper of the range
 *       | GVL2 D ------------> | GVL2 D -------------------------> |
 *       |                      | <--- L2SR D: its route to D ------|
 *       | <------ L2SR D ------|  CSR to the mapper, then that route
 *       |                      |
 *       | TELL, records -----> | TELL to one mapper of each SAN -> |
 *       | <--- INFO, own ------| <--- INFO of its SAN -------------|
 *       | <--- INFO, passed on |
 *
 * Routes are kept for some seconds. A mapper that has no such node says ERR/UNK, one that does not
 * know this ERR/GENERAL: then D is reached by address.
 */
#include "packetway_router_parts.h"
#include <string.h>

/* ---- mappers ---- */

static bool has_in_range(const struct leat_packetway_xrt *t, uint32_t dt)
{
    struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
    struct leat_packetway_record rec;
    if (t->state != LEAT_PACKETWAY_XRT_LIVE || !t->has_ranges) return false;
    while (leat_packetway_records_next(&nodes, &rec)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        if (a.at != LEAT_PACKETWAY_AT_SINGLE && leat_packetway_address_matches(&a, dt)) return true;
    }
    return false;
}

/* The best table through a twin with a range that holds the node. */
static const struct leat_packetway_xrt *table_of(const struct leat_packetway_router *r, uint32_t dt)
{
    const struct leat_packetway_xrt *best = NULL;
    for (uint32_t i = 0; i < r->table_end; i++) {
        const struct leat_packetway_xrt *t = &r->tables[i];
        if (t->from_twin && has_in_range(t, dt) && (!best || t->rank < best->rank)) best = t;
    }
    return best;
}

static bool is_mapper(const struct leat_packetway_router *r, uint32_t address)
{
    for (uint32_t i = 0; i < r->table_end; i++)
        if (r->tables[i].state == LEAT_PACKETWAY_XRT_LIVE &&
            r->tables[i].received_from[0] == address)
            return true;
    return false;
}

bool leat_packetway_router_is_half_router(const struct leat_packetway_router *r, uint32_t address)
{
    return leat_packetway_router_peer(r, address).known || is_mapper(r, address);
}

bool leat_packetway_router_has_ranges(const struct leat_packetway_router *r)
{
    for (uint32_t i = 0; i < r->table_end; i++)
        if (r->tables[i].state == LEAT_PACKETWAY_XRT_LIVE && r->tables[i].has_ranges) return true;
    return false;
}

/* ---- routes: asking ---- */

/* The entry of this question, or a new one in place of the oldest. */
static struct leat_packetway_found *entry_of(struct leat_packetway_router *r, uint32_t asker,
                                             uint32_t mapper, uint32_t about)
{
    struct leat_packetway_found *oldest = &r->found[0];
    for (uint32_t i = 0; i < LEAT_PACKETWAY_FOUND_MAX; i++) {
        struct leat_packetway_found *f = &r->found[i];
        if (f->about == about && f->mapper == mapper && f->asker == asker && !f->known) return f;
        if (oldest->about && (!f->about || f->at < oldest->at)) oldest = f;
    }
    *oldest = (struct leat_packetway_found){ .about = about, .mapper = mapper, .asker = asker };
    return oldest;
}

bool leat_packetway_router_search(struct leat_packetway_router *r,
                                  const struct leat_packetway_pending *p, leat_time now)
{
    enum { TRIES = 2 }; /* the third time the host is told to go by address */
    const struct leat_packetway_xrt *t = table_of(r, p->about);
    struct leat_packetway_build b;
    if (!t) return false;
    struct leat_packetway_found *f = entry_of(r, p->dt, t->received_from[0], p->about);
    f->at = now;
    f->priority = p->priority;
    if (f->tries == TRIES) {
        f->about = 0;
        return false;
    }
    struct leat_packetway_pending *q = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_GVL2, f->mapper, p->priority);
    if (!q) return false;
    f->tries++;
    r->counts.searches++;
    leat_packetway_build_init(&b, q->octets, sizeof q->octets);
    leat_packetway_build_node(&b, p->about);
    q->len = b.len;
    return true;
}

const struct leat_packetway_found *
leat_packetway_router_found(const struct leat_packetway_router *r, uint32_t mapper, uint32_t about,
                            leat_time now)
{
    for (uint32_t i = 0; i < LEAT_PACKETWAY_FOUND_MAX; i++) {
        const struct leat_packetway_found *f = &r->found[i];
        const leat_time end = leat_time_add(f->at, LEAT_PACKETWAY_FOUND_S * LEAT_PACKETWAY_SECOND);
        if (f->known && f->about == about && f->mapper == mapper && now < end) return f;
    }
    return NULL;
}

/* ---- routes: what mappers say ---- */

static bool waits_for(const struct leat_packetway_found *f, uint32_t mapper, uint32_t about)
{
    return f->about == about && about && f->mapper == mapper && !f->known;
}

/* The first route of L2SR, and its MTU. False: too long to keep. */
static bool read_route(struct leat_packetway_found *f, const struct leat_packetway_record *addr)
{
    struct leat_packetway_records nested = leat_packetway_record_nested(addr);
    struct leat_packetway_record rec;
    leat_packetway_records_next(&nested, &rec);
    const struct leat_packetway_route route = leat_packetway_record_route(&rec);
    const size_t len = (size_t)(route.end - route.at);
    if (len > sizeof f->sr) return false;
    memcpy(f->sr, route.at, len);
    f->sr_len = (uint16_t)len;
    f->q = route.q;
    f->mtu_words = 0;
    if (leat_packetway_records_next(&nested, &rec) && rec.type == LEAT_PACKETWAY_RTYP_MTUR)
        f->mtu_words = leat_packetway_record_mtu(&rec);
    return true;
}

/* Now the host gets its answer. */
static void ask_again(struct leat_packetway_router *r, const struct leat_packetway_found *f)
{
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_GVL2, f->asker, f->priority);
    if (!p) return;
    p->kind = LEAT_PACKETWAY_PENDING_QUESTION;
    p->about = f->about;
}

void leat_packetway_router_on_l2sr(struct leat_packetway_router *r,
                                   const struct leat_packetway_message *m, leat_time now)
{
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record addr;
    leat_packetway_records_next(&records, &addr);
    const uint32_t about = leat_packetway_record_address(&addr).low;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_FOUND_MAX; i++) {
        struct leat_packetway_found *f = &r->found[i];
        if (!waits_for(f, m->header.sa, about) || !read_route(f, &addr)) continue;
        f->known = true;
        f->at = now;
        ask_again(r, f);
    }
}

/* The mapper does not know the node: nor does this half-router. */
static void pass_unknown(struct leat_packetway_router *r, const struct leat_packetway_found *f)
{
    struct leat_packetway_build b;
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_UNK, f->asker, f->priority);
    if (!p) return;
    leat_packetway_build_init(&b, p->octets, sizeof p->octets);
    leat_packetway_build_node(&b, f->about);
    p->len = b.len;
}

/* The mapper does not answer half-routers: the node is reached by address. */
static void pass_redirect(struct leat_packetway_router *r, const struct leat_packetway_found *f)
{
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_RDRC, f->asker, f->priority);
    if (p) leat_packetway_pending_nodes(p, f->about, r->config.address);
}

static void on_no_route(struct leat_packetway_router *r, uint32_t mapper, uint32_t about,
                        bool is_unknown)
{
    for (uint32_t i = 0; i < LEAT_PACKETWAY_FOUND_MAX; i++) {
        struct leat_packetway_found *f = &r->found[i];
        if (!waits_for(f, mapper, about)) continue;
        if (is_unknown)
            pass_unknown(r, f);
        else
            pass_redirect(r, f);
        f->about = 0;
    }
}

/* ---- routes: the mapper's side ---- */

/* L2SR with the native route from here. */
static void tell_route(struct leat_packetway_router *r, const struct leat_packetway_header *h,
                       const struct leat_packetway_lrt_node *n)
{
    const struct leat_packetway_native *native = &r->natives[n - r->nodes];
    const struct leat_packetway_leading l2rh = { .kind = LEAT_PACKETWAY_L2RH,
                                                 .len = native->len,
                                                 .octets = native->octets };
    struct leat_packetway_build b;
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_L2SR, h->sa, h->priority);
    if (!p) return;
    leat_packetway_build_init(&b, p->octets, sizeof p->octets);
    leat_packetway_build_node(&b, n->address.low);
    leat_packetway_build_nest(&b);
    leat_packetway_build_route(&b, n->q, &l2rh, 1);
    leat_packetway_build_mtu(&b, r->config.mtu_words);
    leat_packetway_build_leave(&b);
    p->len = b.len;
}

bool leat_packetway_router_serve_search(struct leat_packetway_router *r,
                                        const struct leat_packetway_message *m,
                                        const uint8_t *packet, uint32_t len, leat_time now)
{
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record rec;
    leat_packetway_records_next(&records, &rec);
    const struct leat_packetway_address about = leat_packetway_record_address(&rec);
    if (m->header.te != LEAT_PACKETWAY_TE_GVL2 || !m->header.sa) return false;
    if (leat_packetway_block_holds(&r->config.block, m->header.sa)) return false;
    if (!leat_packetway_block_holds(&r->config.block, about.low)) return false;
    const struct leat_packetway_lrt_node *n = leat_packetway_router_lrt(r, about.low);
    if (n && n->mapped && r->natives[n - r->nodes].len)
        tell_route(r, &m->header, n);
    else
        leat_packetway_router_err(r, LEAT_PACKETWAY_TE_UNK, &about, 1, packet, len, now);
    return true;
}

/* ---- TELL ---- */

/* Then the half-routers asked last are not waited for any more. */
static leat_time silence_end(const struct leat_packetway_tell *t)
{
    return leat_time_add(t->asked_at, LEAT_PACKETWAY_SECOND / 10);
}

static leat_time tell_end(leat_time now)
{
    return leat_time_add(now, LEAT_PACKETWAY_TELL_S * LEAT_PACKETWAY_SECOND);
}

static bool is_waiting(const struct leat_packetway_tell *t)
{
    for (unsigned i = 0; i < LEAT_PACKETWAY_TELL_WINDOW; i++)
        if (t->asked[i]) return true;
    return false;
}

/* A host that repeats its TELL has to wait: answers are on their way. */
static bool is_under_way(const struct leat_packetway_tell *t,
                         const struct leat_packetway_pending *p)
{
    return (!t->all_asked || is_waiting(t)) && t->len == p->len &&
           memcmp(t->octets, p->octets, p->len) == 0;
}

/* That of this host, which has one at a time, or a free one; NULL: none. */
static struct leat_packetway_tell *tell_for(struct leat_packetway_router *r, uint32_t asker)
{
    struct leat_packetway_tell *free = NULL;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TELLS_MAX; i++) {
        if (r->tells[i].asker == asker) return &r->tells[i];
        if (!r->tells[i].asker && !free) free = &r->tells[i];
    }
    return free;
}

void leat_packetway_router_spread(struct leat_packetway_router *r,
                                  const struct leat_packetway_pending *p, leat_time now)
{
    struct leat_packetway_tell *t = tell_for(r, p->dt);
    if (!t || (t->asker && is_under_way(t, p))) return; /* too many at a time: it asks again */
    const bool again = t->asker;
    memset(t, 0, offsetof(struct leat_packetway_tell, octets));
    r->tell_count += !again;
    t->asker = p->dt;
    t->priority = p->priority;
    t->matched = p->matched;
    t->until = tell_end(now);
    if (t->until < r->wake_at) r->wake_at = t->until;
    t->len = p->len;
    memcpy(t->octets, p->octets, p->len);
}

/* One mapper of each SAN: that of the best table. */
static bool is_first_of_san(const struct leat_packetway_router *r,
                            const struct leat_packetway_xrt *t)
{
    for (uint32_t i = 0; t->san && i < r->table_end; i++) {
        const struct leat_packetway_xrt *other = &r->tables[i];
        if (other->state != LEAT_PACKETWAY_XRT_LIVE || !other->has_ranges) continue;
        if (other->san == t->san && other->rank < t->rank) return false;
    }
    return true;
}

/* The place of this mapper, or with 0 a free one, among those that have not answered, or NULL. */
static uint32_t *place_of(struct leat_packetway_tell *t, uint32_t mapper)
{
    for (unsigned i = 0; i < LEAT_PACKETWAY_TELL_WINDOW; i++)
        if (t->asked[i] == mapper) return &t->asked[i];
    return NULL;
}

static bool has_asked(struct leat_packetway_tell *t, uint32_t mapper)
{
    return t->asker && mapper && place_of(t, mapper);
}

/* A mapper answers one question of this half-router at a time. */
static bool is_busy(const struct leat_packetway_router *r, uint32_t mapper)
{
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TELLS_MAX; i++)
        if (has_asked(&r->tells[i], mapper)) return true;
    return false;
}

/* Something is left to be asked, there is room for its answers, and it answers nobody else. */
static bool next_mapper(const struct leat_packetway_router *r, struct leat_packetway_tell *t,
                        uint32_t *mapper)
{
    uint32_t *place = place_of(t, 0);
    if (!place) return false;
    for (; t->at < r->table_end; t->at++) {
        const struct leat_packetway_xrt *x = &r->tables[t->at];
        if (x->state != LEAT_PACKETWAY_XRT_LIVE || !x->has_ranges) continue;
        if (!is_first_of_san(r, x)) continue;
        if (is_busy(r, x->received_from[0])) return false;
        *mapper = *place = x->received_from[0];
        t->at++;
        return true;
    }
    t->all_asked = true;
    return false;
}

static void free_tell(struct leat_packetway_router *r, struct leat_packetway_tell *t)
{
    t->asker = 0;
    r->tell_count--;
}

/* Nothing matched, and everybody has said so. */
static void say_nothing_matched(struct leat_packetway_router *r,
                                const struct leat_packetway_tell *t)
{
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_UNK, t->asker, t->priority);
    if (!p) return;
    p->len = t->len;
    memcpy(p->octets, t->octets, t->len);
}

static void end_if_told(struct leat_packetway_router *r, struct leat_packetway_tell *t)
{
    if (!t->asker || !t->all_asked || is_waiting(t) || t->is_vague) return;
    if (!t->matched) say_nothing_matched(r, t);
    free_tell(r, t);
}

bool leat_packetway_router_tell_due(struct leat_packetway_router *r, leat_time now,
                                    struct leat_packetway_pending *to, const uint8_t **octets,
                                    size_t *len)
{
    if (r->tell_count) leat_packetway_router_refresh(r);
    for (uint32_t i = 0; r->tell_count && i < LEAT_PACKETWAY_TELLS_MAX; i++) {
        struct leat_packetway_tell *t = &r->tells[i];
        if (!t->asker || t->all_asked || r->pending_count > r->config.pending_max / 2) continue;
        if (!next_mapper(r, t, &to->dt)) {
            end_if_told(r, t);
            continue;
        }
        to->pt = LEAT_PACKETWAY_PT_RRP;
        to->te = LEAT_PACKETWAY_TE_TELL;
        to->priority = t->priority;
        t->asked_at = now;
        if (silence_end(t) < r->wake_at) r->wake_at = silence_end(t);
        r->counts.searches++;
        *octets = t->octets;
        *len = t->len;
        return true;
    }
    return false;
}

/* Was this node reported from the own tables? Its address alone matches, and is known here. */
static bool is_told(const struct leat_packetway_router *r,
                    const struct leat_packetway_records *asked,
                    const struct leat_packetway_address *a)
{
    static const uint8_t nothing[1];
    const struct leat_packetway_entry *e = a->at == LEAT_PACKETWAY_AT_SINGLE
                                               ? leat_packetway_fib_exact(&r->fib, a->low)
                                               : NULL;
    return e && leat_packetway_about_matches(*asked, a, leat_packetway_about_of(nothing, 0));
}

/* The nodes that this host asked for, as an INFO of this half-router. False: there are none, so it
 * answers another question. */
static bool pass_on(struct leat_packetway_router *r, struct leat_packetway_tell *t,
                    const struct leat_packetway_message *m)
{
    const struct leat_packetway_records asked = leat_packetway_records_of(t->octets, t->len,
                                                                          LEAT_PACKETWAY_STRICT);
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record rec;
    struct leat_packetway_build b;
    struct leat_packetway_pending *p = NULL;
    bool matched = false;
    while (leat_packetway_records_next(&records, &rec)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        if (!leat_packetway_about_matches(asked, &a, leat_packetway_record_nested(&rec))) continue;
        t->matched = matched = true;
        if (is_told(r, &asked, &a)) continue;
        if (!p)
            p = leat_packetway_router_pend(r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO,
                                           t->asker, t->priority);
        if (!p) break;
        leat_packetway_build_init(&b, p->octets + p->len, sizeof p->octets - p->len);
        leat_packetway_build_copy(&b, rec.octets, rec.len);
        p->len += b.len;
    }
    return matched;
}

/* An INFO of so many octets, or 0: ERR/UNK. After a long INFO another one may come. */
static void told(struct leat_packetway_router *r, struct leat_packetway_tell *t, uint32_t mapper,
                 size_t len, leat_time now)
{
    enum { LONG = LEAT_PACKETWAY_REQUEST_LEN_MAX - LEAT_PACKETWAY_ABOUT_LEN_MAX };
    t->until = tell_end(now);
    t->asked_at = now;
    if (len > LONG) return;
    *place_of(t, mapper) = 0;
    end_if_told(r, t);
}

void leat_packetway_router_on_told(struct leat_packetway_router *r,
                                   const struct leat_packetway_message *m, leat_time now)
{
    if (m->data_len > LEAT_PACKETWAY_REQUEST_LEN_MAX || !is_mapper(r, m->header.sa)) return;
    for (uint32_t i = 0; r->tell_count && i < LEAT_PACKETWAY_TELLS_MAX; i++) {
        struct leat_packetway_tell *t = &r->tells[i];
        if (has_asked(t, m->header.sa) && pass_on(r, t, m))
            told(r, t, m->header.sa, m->data_len, now);
    }
}

static void on_unknown(struct leat_packetway_router *r, const struct leat_packetway_message *m,
                       leat_time now)
{
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record rec;
    for (uint32_t i = 0; r->tell_count && i < LEAT_PACKETWAY_TELLS_MAX; i++) {
        struct leat_packetway_tell *t = &r->tells[i];
        if (has_asked(t, m->header.sa) && t->len == m->data_len &&
            memcmp(t->octets, m->data, t->len) == 0)
            told(r, t, m->header.sa, 0, now);
    }
    if (leat_packetway_records_next(&records, &rec) && rec.type == LEAT_PACKETWAY_RTYP_ADDR)
        on_no_route(r, m->header.sa, leat_packetway_record_address(&rec).low, true);
}

/* A quote of GVL2: PH, then one ADDR. */
static void on_quote(struct leat_packetway_router *r, const struct leat_packetway_message *m)
{
    enum { LEN = LEAT_PACKETWAY_HEADER_LEN + LEAT_PACKETWAY_RECORD_HEAD_LEN };
    struct leat_packetway_header quoted;
    if (m->data_len < LEN ||
        leat_packetway_header_decode(m->data, m->data_len, LEAT_PACKETWAY_LENIENT, &quoted, NULL))
        return;
    if (quoted.sa != r->config.address || quoted.pt != LEAT_PACKETWAY_PT_RRP ||
        quoted.te != LEAT_PACKETWAY_TE_GVL2)
        return;
    on_no_route(r, m->header.sa, leat_get_be24(m->data + LEN - 3), false);
}

void leat_packetway_router_on_refusal(struct leat_packetway_router *r,
                                      const struct leat_packetway_message *m, leat_time now)
{
    if (m->header.te == LEAT_PACKETWAY_TE_UNK)
        on_unknown(r, m, now);
    else if (m->header.te == LEAT_PACKETWAY_TE_GENERAL)
        on_quote(r, m);
}

void leat_packetway_router_end_tells(struct leat_packetway_router *r, leat_time now)
{
    for (uint32_t i = 0; r->tell_count && i < LEAT_PACKETWAY_TELLS_MAX; i++) {
        struct leat_packetway_tell *t = &r->tells[i];
        if (!t->asker) continue;
        if (t->until <= now) {
            free_tell(r, t);
            continue;
        }
        if (is_waiting(t) && silence_end(t) <= now) {
            memset(t->asked, 0, sizeof t->asked);
            t->is_vague = true;
        }
        const leat_time next = is_waiting(t) ? silence_end(t) : t->until;
        if (next < r->wake_at) r->wake_at = next;
    }
}
