/* Own messages: they are queued in short form, and built when they are taken. */
#include "packetway_router_parts.h"
#include <string.h>

/* ---- waiting ---- */

struct leat_packetway_pending *leat_packetway_router_pend(struct leat_packetway_router *r,
                                                          uint16_t pt, uint16_t te, uint32_t dt,
                                                          uint8_t priority)
{
    if (r->pending_count == r->config.pending_max) {
        r->counts.pending_full++;
        return NULL;
    }
    struct leat_packetway_pending *p =
        &r->pending[(r->pending_first + r->pending_count++) % r->config.pending_max];
    memset(p, 0, offsetof(struct leat_packetway_pending, octets));
    p->pt = pt;
    p->te = te;
    p->dt = dt;
    p->priority = priority;
    return p;
}

static void pop(struct leat_packetway_router *r)
{
    r->pending_first = (r->pending_first + 1) % r->config.pending_max;
    r->pending_count--;
    if (!r->pending_count) r->pending_first = 0; /* the same memory again */
}

void leat_packetway_pending_nodes(struct leat_packetway_pending *p, uint32_t a, uint32_t b)
{
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, p->octets, sizeof p->octets);
    leat_packetway_build_node(&build, a);
    leat_packetway_build_node(&build, b);
    p->len = build.len;
}

/* ---- ERR (spec 5.7) ---- */

static bool may_complain(struct leat_packetway_router *r, const uint8_t *packet, uint32_t len)
{
    const uint32_t dt = leat_get_be24(packet + LEAT_PACKETWAY_DT_AT),
                   sa = leat_get_be24(packet + LEAT_PACKETWAY_SA_AT);
    const uint32_t te = leat_get_be16(packet + LEAT_PACKETWAY_TE_AT),
                   pt = leat_get_be16(packet + LEAT_PACKETWAY_PT_AT);
    struct leat_packetway_decision back = { 0 };
    if (!leat_packetway_address_is_node(sa) || sa == r->config.address) return false;
    if (pt == LEAT_PACKETWAY_PT_ERR) return false;
    if (leat_packetway_class_of(dt) == LEAT_PACKETWAY_CLASS_LOGICAL) return false;
    if (dt == LEAT_PACKETWAY_ADDRESS_HEY_YOU || dt == LEAT_PACKETWAY_ADDRESS_BROADCAST)
        return false;
    if (leat_get_be64(packet + len - LEAT_PACKETWAY_TAIL_LEN)) return false;
    if (pt == LEAT_PACKETWAY_PT_RRP &&
        (te == LEAT_PACKETWAY_TE_RTBL || te == LEAT_PACKETWAY_TE_GVRT) &&
        !leat_packetway_router_peer(r, sa).known)
        return false;
    leat_packetway_router_refresh(r);
    leat_packetway_by_address(&r->fib, LEAT_PACKETWAY_FROM_SELF, sa, &back);
    return leat_packetway_goes_on(&back);
}

static bool err_is_due(struct leat_packetway_router *r, uint32_t sa, leat_time now)
{
    if (leat_packetway_window_open(&r->errs[leat_packetway_limit_slot(sa, 0)], sa,
                                   LEAT_PACKETWAY_ERR_PER_S, now)) {
        r->counts.err_sent++;
        return true;
    }
    r->counts.err_limited++;
    return false;
}

/* The packet from PH on. Returns a pending ERR to its source, or NULL: none is due. */
static struct leat_packetway_pending *begin_err(struct leat_packetway_router *r, uint16_t te,
                                                const uint8_t *packet, uint32_t len, leat_time now)
{
    const uint32_t sa = leat_get_be24(packet + LEAT_PACKETWAY_SA_AT);
    if (!may_complain(r, packet, len)) {
        r->counts.err_barred++;
        return NULL;
    }
    if (!err_is_due(r, sa, now)) return NULL;
    return leat_packetway_router_pend(r, LEAT_PACKETWAY_PT_ERR, te, sa, packet[0] & 63);
}

void leat_packetway_router_err(struct leat_packetway_router *r, uint16_t te,
                               const struct leat_packetway_address *about, size_t count,
                               const uint8_t *packet, uint32_t len, leat_time now)
{
    struct leat_packetway_pending *p = begin_err(r, te, packet, len, now);
    struct leat_packetway_build b;
    if (!p) return;
    leat_packetway_build_init(&b, p->octets, sizeof p->octets);
    for (size_t i = 0; i < count; i++)
        leat_packetway_build_address(&b, &about[i]);
    p->len = b.len;
}

/* The ERR for a refusal, and its ADDRs; TE GENERAL has a quote instead. */
size_t leat_packetway_router_reason(const struct leat_packetway_router *r,
                                    const struct leat_packetway_decision *d, uint16_t *te,
                                    struct leat_packetway_address about[2])
{
    switch (d->reason) {
    case LEAT_PACKETWAY_REASON_FAILED: {
        const struct leat_packetway_failure *f = &r->fib.failures[d->failure - 1];
        *te = f->te;
        about[0] = leat_packetway_single(f->a);
        about[1] = leat_packetway_single(f->b);
        return 2;
    }
    case LEAT_PACKETWAY_REASON_LINK:
        *te = LEAT_PACKETWAY_TE_LINKDOWN;
        about[0] = leat_packetway_single(r->config.address);
        about[1] = leat_packetway_single(r->fib.twins[d->twin].address);
        return 2;
    case LEAT_PACKETWAY_REASON_MTU:
    case LEAT_PACKETWAY_REASON_NO_TWIN:
    case LEAT_PACKETWAY_REASON_ADDRESS: *te = LEAT_PACKETWAY_TE_GENERAL; return 0;
    }
    *te = LEAT_PACKETWAY_TE_UNK;
    about[0] = leat_packetway_single(d->dt);
    return 1;
}

void leat_packetway_router_complain(struct leat_packetway_router *r, const uint8_t *packet,
                                    uint32_t len, leat_time now)
{
    struct leat_packetway_pending *p = begin_err(r, LEAT_PACKETWAY_TE_GENERAL, packet, len, now);
    if (!p) return;
    p->kind = LEAT_PACKETWAY_PENDING_QUOTE;
    p->len = len < sizeof p->octets ? len : sizeof p->octets;
    memcpy(p->octets, packet, p->len);
}

/* Spec 5.3: the buddy is the better route. */
void leat_packetway_router_redirect(struct leat_packetway_router *r, uint32_t sa, uint32_t dt,
                                    uint32_t buddy, uint8_t priority, leat_time now)
{
    leat_time *until = &r->redirected_until[leat_packetway_limit_slot(sa, dt)];
    if (*until > now) return; /* this one, or another that uses the slot */
    *until = leat_time_add(now, LEAT_PACKETWAY_REDIRECT_S * LEAT_PACKETWAY_SECOND);
    r->counts.redirects++;
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_RDRC, sa, priority);
    if (p) leat_packetway_pending_nodes(p, dt, buddy);
}

/* ---- sending ---- */

/* Where a pending message goes. False: there is no route. */
static bool find_way(struct leat_packetway_router *r, const struct leat_packetway_pending *p,
                     struct leat_packetway_decision *d)
{
    *d = (struct leat_packetway_decision){ 0 };
    switch (p->way) {
    case LEAT_PACKETWAY_BY_ADDRESS:
        leat_packetway_router_refresh(r);
        leat_packetway_by_address(&r->fib, LEAT_PACKETWAY_FROM_SELF, p->dt, d);
        break;
    case LEAT_PACKETWAY_BY_TWIN: leat_packetway_hand_over(&r->fib, p->index, d); break;
    case LEAT_PACKETWAY_BY_BUDDY:
        if (r->fib.buddies[p->index].up)
            leat_packetway_emit(&r->fib, r->fib.buddies[p->index].native, d);
        break;
    case LEAT_PACKETWAY_BY_LINK:
        d->verdict = LEAT_PACKETWAY_TO_SAN;
        d->mtu_words = r->config.mtu_words;
        break;
    }
    return leat_packetway_goes_on(d);
}

static bool seal_up(struct leat_packetway_router *r, const struct leat_packetway_pending *p,
                    const struct leat_packetway_decision *d, const uint8_t *db, size_t len,
                    struct leat_packetway_outgoing *out)
{
    const struct leat_packetway_message m = { .header = { .dt = p->dt,
                                                          .sa = r->config.address,
                                                          .pt = p->pt,
                                                          .te = p->te,
                                                          .priority = p->priority },
                                              .data = db,
                                              .data_len = len };
    size_t written;
    if (len > leat_packetway_router_room(r, d->mtu_words) ||
        leat_packetway_message_encode(&m, r->message, r->message_cap, &written)) {
        r->counts.pending_full++;
        return false;
    }
    *out = (struct leat_packetway_outgoing){ .verdict = d->verdict,
                                             .twin = d->twin,
                                             .priority = p->priority,
                                             .route_len = d->route_len,
                                             .route = d->route,
                                             .octets = r->message,
                                             .len = (uint32_t)written };
    return true;
}

/* ---- answers to HRTO and GVL2 (spec 6.2) ---- */

static size_t say_redirect(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                           uint32_t router)
{
    struct leat_packetway_build b;
    leat_packetway_build_init(&b, r->db, r->db_cap);
    leat_packetway_build_node(&b, p->about);
    leat_packetway_build_node(&b, router);
    p->te = LEAT_PACKETWAY_TE_RDRC;
    return b.len;
}

/* Unknown: ERR/UNK, unless there were too many. 0: nothing. */
static size_t say_unknown(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                          leat_time now)
{
    struct leat_packetway_build b;
    if (!err_is_due(r, p->dt, now)) return 0;
    p->pt = LEAT_PACKETWAY_PT_ERR;
    p->te = LEAT_PACKETWAY_TE_UNK;
    leat_packetway_build_init(&b, r->db, r->db_cap);
    if (p->kind == LEAT_PACKETWAY_PENDING_TELL)
        leat_packetway_build_copy(&b, p->octets, p->len);
    else
        leat_packetway_build_node(&b, p->about);
    return b.len;
}

/* The destination is unknown, or known only through what is down (spec 5.7). */
static size_t say_why_not(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                          const struct leat_packetway_decision *d, leat_time now)
{
    struct leat_packetway_address why[2];
    struct leat_packetway_build b;
    uint16_t te;
    size_t count = leat_packetway_router_reason(r, d, &te, why);
    if (te == LEAT_PACKETWAY_TE_UNK) return say_unknown(r, p, now);
    if (!err_is_due(r, p->dt, now)) return 0;
    p->pt = LEAT_PACKETWAY_PT_ERR;
    p->te = te;
    leat_packetway_build_init(&b, r->db, r->db_cap);
    for (size_t i = 0; i < count; i++)
        leat_packetway_build_address(&b, &why[i]);
    return b.len;
}

/* One route for L2SR: CSR, then the node's SR. */
struct choice {
    const uint8_t *csr, *sr;
    size_t csr_len, sr_len;
    uint32_t q, mtu_words, passed, last;
};

static bool is_better(const struct choice *a, const struct choice *b)
{
    if (a->q != b->q) return a->q < b->q;
    if (a->passed != b->passed) return a->passed < b->passed;
    return a->last < b->last;
}

static void consider(struct choice *best, unsigned *count, const struct choice *c)
{
    unsigned i = *count;
    if (c->csr_len + c->sr_len == 0) return; /* no L2RH: nothing to plan with */
    if (i == LEAT_PACKETWAY_ALTERNATIVES_MAX) {
        if (!is_better(c, &best[i - 1])) return;
        i--;
    } else {
        ++*count;
    }
    for (; i > 0 && is_better(c, &best[i - 1]); i--)
        best[i] = best[i - 1];
    best[i] = *c;
}

/* Every route of the node that ADDR describes, after the route to its mapper. */
static void consider_node(struct choice *best, unsigned *count, const struct choice *to_mapper,
                          const struct leat_packetway_record *addr)
{
    struct leat_packetway_records nested = leat_packetway_record_nested(addr);
    struct leat_packetway_record rec;
    bool more = leat_packetway_records_next(&nested, &rec);
    while (more) {
        struct choice c = *to_mapper;
        const bool is_route = rec.type == LEAT_PACKETWAY_RTYP_SRQR;
        if (is_route) {
            const struct leat_packetway_route sr = leat_packetway_record_route(&rec);
            c.sr = sr.at;
            c.sr_len = (size_t)(sr.end - sr.at);
            c.q = leat_packetway_q_sum(c.q, sr.q);
        }
        more = leat_packetway_records_next(&nested, &rec);
        if (is_route && more && rec.type == LEAT_PACKETWAY_RTYP_MTUR)
            c.mtu_words = leat_packetway_mtu_min(c.mtu_words, leat_packetway_record_mtu(&rec));
        if (is_route && c.sr_len) consider(best, count, &c); /* empty: for L3 only */
    }
}

static void consider_table(struct choice *best, unsigned *count, const struct leat_packetway_xrt *t,
                           uint32_t dt)
{
    struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
    struct leat_packetway_record rec;
    const struct choice to_mapper = { .csr = t->csr,
                                      .sr = t->csr,
                                      .csr_len = t->csr_len,
                                      .q = t->q,
                                      .mtu_words = t->mtu_words,
                                      .passed = t->received_from_count,
                                      .last = t->received_from[t->received_from_count - 1] };
    if (t->received_from[0] == dt) consider(best, count, &to_mapper);
    while (leat_packetway_records_next(&nodes, &rec)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        if (a.at == LEAT_PACKETWAY_AT_SINGLE && a.low == dt)
            consider_node(best, count, &to_mapper, &rec);
    }
}

/* The mapper of a range has told its route to the node. */
static void consider_found(const struct leat_packetway_router *r, struct choice *best,
                           unsigned *count, const struct leat_packetway_xrt *t, uint32_t dt,
                           leat_time now)
{
    const struct leat_packetway_found *f =
        t->has_ranges ? leat_packetway_router_found(r, t->received_from[0], dt, now) : NULL;
    if (!f) return;
    const struct choice c = { .csr = t->csr,
                              .sr = f->sr,
                              .csr_len = t->csr_len,
                              .sr_len = f->sr_len,
                              .q = leat_packetway_q_sum(t->q, f->q),
                              .mtu_words = leat_packetway_mtu_min(t->mtu_words, f->mtu_words),
                              .passed = t->received_from_count,
                              .last = t->received_from[t->received_from_count - 1] };
    consider(best, count, &c);
}

static unsigned collect(const struct leat_packetway_router *r, uint32_t dt, struct choice *best,
                        leat_time now)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < r->table_end; i++) {
        const struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state != LEAT_PACKETWAY_XRT_LIVE || !t->from_twin) continue;
        consider_table(best, &count, t, dt);
        consider_found(r, best, &count, t, dt, now);
    }
    return count;
}

static void write_choice(struct leat_packetway_build *b, const struct choice *c)
{
    struct leat_packetway_leading l2rhs[LEAT_PACKETWAY_SRQR_MAX + 1];
    struct leat_packetway_route parts[] = { { c->csr, c->csr + c->csr_len, 0 },
                                            { c->sr, c->sr + c->sr_len, 0 } };
    size_t count = 0;
    for (unsigned i = 0; i < 2; i++)
        while (count <= LEAT_PACKETWAY_SRQR_MAX && parts[i].at != parts[i].end)
            leat_packetway_route_next(&parts[i], &l2rhs[count++]);
    leat_packetway_build_route(b, (uint16_t)c->q, l2rhs, count);
    leat_packetway_build_mtu(b, c->mtu_words);
}

/* L2SR with as many routes as fit; 0: none. */
static size_t say_routes(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                         const struct choice *best, unsigned count, size_t room)
{
    struct leat_packetway_build b, before;
    unsigned written = 0;
    leat_packetway_build_init(&b, r->db, room);
    leat_packetway_build_node(&b, p->about);
    leat_packetway_build_nest(&b);
    for (unsigned i = 0; i < count; i++) {
        before = b;
        write_choice(&b, &best[i]);
        if (!b.err) {
            written++;
            continue;
        }
        /* Undoes what does not fit, including its share of ADDR's RL. */
        b = before;
        leat_put_be16(r->db + 2, (uint16_t)(b.len / 8 - 1));
    }
    p->te = LEAT_PACKETWAY_TE_L2SR;
    return written ? b.len : 0;
}

static size_t answer_through_twin(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                                  const struct leat_packetway_entry *e, size_t room, leat_time now)
{
    struct choice best[LEAT_PACKETWAY_ALTERNATIVES_MAX];
    const bool gvl2 = p->te == LEAT_PACKETWAY_TE_GVL2;
    unsigned count = 0;
    uint8_t hop[LEAT_PACKETWAY_WORD_LEN];
    if (gvl2 && e->flags & LEAT_PACKETWAY_ENTRY_TWIN && r->fib.twin_count > 1) {
        const struct leat_packetway_neighbour *t = &r->fib.twins[e->twin - 1];
        const uint32_t mtu = leat_packetway_mtu_min(t->mtu_words, r->config.mtu_words);
        uint8_t name[LEAT_PACKETWAY_TWIN_HOP_LEN];
        size_t len = 0;
        leat_put_be24(name, t->address);
        const struct leat_packetway_leading l2rh = { .kind = LEAT_PACKETWAY_L2RH,
                                                     .len = sizeof name,
                                                     .octets = name };
        leat_packetway_leading_encode(&l2rh, hop, sizeof hop, &len);
        best[count++] =
            (struct choice){ .csr = hop, .sr = hop, .csr_len = len, .q = t->q, .mtu_words = mtu };
    } else if (gvl2) {
        count = collect(r, p->about, best, now);
        if (!count && leat_packetway_router_search(r, p, now)) return 0; /* answered later */
    }
    const size_t len = count ? say_routes(r, p, best, count, room) : 0;
    return len ? len : say_redirect(r, p, r->config.address);
}

static size_t answer_question(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                              size_t room, leat_time now)
{
    struct leat_packetway_entry spare;
    struct leat_packetway_decision d = { 0 };
    const struct leat_packetway_entry *e = leat_packetway_fib_find(&r->fib, p->about, &spare);
    if (e) leat_packetway_by_address(&r->fib, LEAT_PACKETWAY_FROM_HOST, p->about, &d);
    if (!e || d.verdict == LEAT_PACKETWAY_REFUSE) return say_why_not(r, p, &d, now);
    if (d.verdict == LEAT_PACKETWAY_TO_TWIN) return answer_through_twin(r, p, e, room, now);
    if (d.buddy) return say_redirect(r, p, r->fib.buddies[d.buddy - 1].address);
    return say_redirect(r, p, p->about); /* on this SAN, or this half-router: natively */
}

/* ---- answers to TELL (spec 6.4) ---- */

/* A node that may be reported. */
struct candidate {
    struct leat_packetway_address address;
    struct leat_packetway_records about;
};

static bool is_reported_elsewhere(const struct leat_packetway_router *r,
                                  const struct leat_packetway_xrt *t,
                                  const struct leat_packetway_address *a)
{
    const uint32_t index = (uint32_t)(t - r->tables);
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) {
        const struct leat_packetway_entry *e = leat_packetway_fib_exact(&r->fib, a->low);
        return !e || e->definer != index + 1;
    }
    for (uint32_t i = 0; i < r->fib.range_count; i++) {
        const struct leat_packetway_range *x = &r->fib.ranges[i];
        if (x->address.at != a->at || x->address.low != a->low || x->address.high != a->high)
            continue;
        if (!x->entry.native && !x->entry.definer) continue; /* of a lost table */
        if (x->entry.native || r->tables[x->entry.definer - 1].rank < t->rank) return true;
    }
    return false;
}

/* The candidate of this SAN at p->node, 0 being this half-router. False: not there. */
static bool local_candidate(const struct leat_packetway_router *r, uint32_t node,
                            struct candidate *out)
{
    if (node == 0) {
        out->address = leat_packetway_single(r->config.address);
        out->about = leat_packetway_about_of(r->about, r->config.about_len);
        return true;
    }
    const struct leat_packetway_lrt_node *n = &r->nodes[node - 1];
    if (!n->mapped) return false;
    out->address = n->address;
    out->about = leat_packetway_about_of(n->about, n->about_len);
    return true;
}

/* The candidate of a table: first its mapper, then its nodes. *next is the position of the one
 * after. */
static bool table_candidate(const struct leat_packetway_router *r,
                            const struct leat_packetway_pending *p,
                            const struct leat_packetway_xrt *t, size_t *next, struct candidate *out)
{
    struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
    struct leat_packetway_record rec;
    const size_t at = p->at;
    if (at == 0) {
        out->address = leat_packetway_single(t->received_from[0]);
        out->about = leat_packetway_about_of(t->nodes, 0);
        *next = 1;
    } else {
        nodes.at += at - 1;
        leat_packetway_records_next(&nodes, &rec);
        out->address = leat_packetway_record_address(&rec);
        out->about = leat_packetway_record_nested(&rec);
        *next = at + rec.len;
    }
    if (p->spreads && out->address.at != LEAT_PACKETWAY_AT_SINGLE) return false; /* it is asked */
    return !is_reported_elsewhere(r, t, &out->address);
}

static void write_candidate(struct leat_packetway_build *b, const struct candidate *c)
{
    leat_packetway_build_address(b, &c->address);
    leat_packetway_build_nest(b);
    leat_packetway_router_describe(b, c->about);
    leat_packetway_build_leave(b);
}

/* False: the current INFO is full and must be sent first. */
static bool report(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                   struct leat_packetway_build *b, const struct candidate *c)
{
    const struct leat_packetway_records asked = leat_packetway_records_of(p->octets, p->len,
                                                                          LEAT_PACKETWAY_STRICT);
    const struct leat_packetway_build before = *b;
    if (!leat_packetway_about_matches(asked, &c->address, c->about)) return true;
    write_candidate(b, c);
    p->matched = true;
    if (!b->err) return true;
    *b = before;
    if (b->len) return false;
    r->counts.pending_full++; /* exceeds the MTU by itself: it cannot be reported */
    return true;
}

/* The next INFO; 0 and done: there is none. Continues where the last one ended. */
static size_t answer_tell(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                          size_t room, bool *done)
{
    struct leat_packetway_build b;
    struct candidate c;
    if (p->is_mine && room > LEAT_PACKETWAY_REQUEST_LEN_MAX) room = LEAT_PACKETWAY_REQUEST_LEN_MAX;
    leat_packetway_build_init(&b, r->db, room);
    *done = false;
    for (; p->node <= r->node_end; p->node++)
        if (local_candidate(r, p->node, &c) && !report(r, p, &b, &c)) return b.len;
    for (; !p->is_mine && p->rank < r->table_count; p->rank++, p->at = 0) {
        const struct leat_packetway_xrt *t = &r->tables[r->by_q[p->rank]];
        size_t next;
        if (t->state != LEAT_PACKETWAY_XRT_LIVE) continue;
        for (; p->at <= t->nodes_len; p->at = next)
            if (table_candidate(r, p, t, &next, &c) && !report(r, p, &b, &c)) return b.len;
    }
    *done = true;
    return b.len;
}

/* ---- taking ---- */

/* The DB of a pending message, in place; 0 and *skip: there is nothing to send. */
static const uint8_t *make(struct leat_packetway_router *r, struct leat_packetway_pending *p,
                           size_t room, leat_time now, size_t *len, bool *done, bool *skip)
{
    *done = true;
    *skip = false;
    switch (p->kind) {
    case LEAT_PACKETWAY_PENDING_MESSAGE: *len = p->len; return p->octets;
    case LEAT_PACKETWAY_PENDING_QUOTE:
        *len = p->len < room ? p->len : room / 8 * 8;
        *skip = *len < LEAT_PACKETWAY_HEADER_LEN;
        return p->octets;
    case LEAT_PACKETWAY_PENDING_QUESTION:
        leat_packetway_router_refresh(r);
        *len = answer_question(r, p, room, now);
        *skip = *len == 0;
        return r->db;
    case LEAT_PACKETWAY_PENDING_TELL: break;
    }
    leat_packetway_router_refresh(r);
    *len = answer_tell(r, p, room, done);
    const bool spreads = *done && p->spreads;
    if (spreads) leat_packetway_router_spread(r, p, now);
    if (*len == 0 && !p->matched && !spreads) *len = say_unknown(r, p, now);
    *skip = *len == 0;
    return r->db;
}

static bool take_pending(struct leat_packetway_router *r, leat_time now,
                         struct leat_packetway_outgoing *out)
{
    while (r->pending_count) {
        struct leat_packetway_pending *p = &r->pending[r->pending_first];
        struct leat_packetway_decision d;
        size_t len;
        bool done = true, skip = true, sent = false;
        if (!find_way(r, p, &d)) {
            r->counts.pending_full++;
        } else {
            const size_t room = leat_packetway_router_room(r, d.mtu_words);
            const uint8_t *db = make(r, p, room, now, &len, &done, &skip);
            sent = !skip && seal_up(r, p, &d, db, len, out);
        }
        if (done) pop(r);
        if (sent) return true;
    }
    return false;
}

static bool take_tell(struct leat_packetway_router *r, leat_time now,
                      struct leat_packetway_pending *to, struct leat_packetway_outgoing *out)
{
    struct leat_packetway_decision d;
    const uint8_t *octets;
    size_t len;
    while (leat_packetway_router_tell_due(r, now, to, &octets, &len))
        if (find_way(r, to, &d) && seal_up(r, to, &d, octets, len, out)) return true;
    return false;
}

bool leat_packetway_router_take(struct leat_packetway_router *r, leat_time now,
                                struct leat_packetway_outgoing *out)
{
    struct leat_packetway_pending to;
    struct leat_packetway_decision d;
    size_t len;
    leat_packetway_router_settle(r, now);
    if (take_pending(r, now, out)) return true;
    memset(&to, 0, offsetof(struct leat_packetway_pending, octets));
    if (take_tell(r, now, &to, out) || take_pending(r, now, out)) return true;
    memset(&to, 0, offsetof(struct leat_packetway_pending, octets));
    while (leat_packetway_router_table_due(r, &to, &len))
        if (find_way(r, &to, &d) && seal_up(r, &to, &d, r->db, len, out)) {
            r->counts.rtbl_sent++;
            return true;
        }
    return false;
}
