/* Messages for this half-router: RRP, ERR, and messages inside messages. */
#include "packetway_router_parts.h"
#include <string.h>

/* A message at its destination, as decoded and as received. */
struct letter {
    const struct leat_packetway_arrival *arrival;
    const struct leat_packetway_message *message;
    const uint8_t *octets; /* from PH on */
    uint32_t len;
    leat_time now;
};

static bool from_san(const struct letter *l)
{
    return l->arrival->side != LEAT_PACKETWAY_FROM_TWIN;
}

static void complain(struct leat_packetway_router *r, const struct letter *l)
{
    leat_packetway_router_complain(r, l->octets, l->len, l->now);
}

/* ---- WRU? ---- */

/* INFO about this half-router; capabilities at level C only. */
static void on_wru(struct leat_packetway_router *r, const struct letter *l)
{
    const struct leat_packetway_header *h = &l->message->header;
    const struct leat_packetway_peer twin = leat_packetway_router_peer(r, l->arrival->from);
    struct leat_packetway_build b;
    /* No address to name: only for whoever is at the other end of a link. */
    if (!h->sa && (from_san(l) ? !r->config.point_to_point : !(twin.known && twin.twin))) return;
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO,
        h->sa ? h->sa : LEAT_PACKETWAY_ADDRESS_HEY_YOU, h->priority);
    if (!p) return;
    if (!h->sa) {
        p->way = from_san(l) ? LEAT_PACKETWAY_BY_LINK : LEAT_PACKETWAY_BY_TWIN;
        p->index = twin.index;
    }
    leat_packetway_build_init(&b, p->octets, sizeof p->octets);
    leat_packetway_about_write(&b, r->config.address, r->about, r->config.about_len,
                               r->config.levels & LEAT_PACKETWAY_LEVEL_C);
    p->len = b.len;
}

/* ---- HRTO, GVL2, TELL ---- */

/* Is the requester a node of this SAN? Only those get routes (spec 6.2). */
static bool is_from_my_san(struct leat_packetway_router *r, const struct letter *l)
{
    struct leat_packetway_decision d = { 0 };
    if (!from_san(l)) return false;
    leat_packetway_router_refresh(r);
    leat_packetway_by_address(&r->fib, LEAT_PACKETWAY_FROM_SELF, l->message->header.sa, &d);
    return d.verdict == LEAT_PACKETWAY_TO_SAN && !d.buddy;
}

static void on_question(struct leat_packetway_router *r, const struct letter *l)
{
    const struct leat_packetway_header *h = &l->message->header;
    struct leat_packetway_records records = leat_packetway_message_records(l->message);
    struct leat_packetway_record rec;
    if (!is_from_my_san(r, l)) {
        if (!leat_packetway_router_serve_search(r, l->message, l->octets, l->len, l->now))
            complain(r, l);
        return;
    }
    struct leat_packetway_pending *p = leat_packetway_router_pend(r, h->pt, h->te, h->sa,
                                                                  h->priority);
    if (!p) return;
    leat_packetway_records_next(&records, &rec);
    p->kind = LEAT_PACKETWAY_PENDING_QUESTION;
    p->about = leat_packetway_record_address(&rec).low;
}

static bool is_being_answered(const struct leat_packetway_router *r, uint32_t sa)
{
    for (uint32_t i = 0; i < r->pending_count; i++) {
        const struct leat_packetway_pending *p =
            &r->pending[(r->pending_first + i) % r->config.pending_max];
        if (p->kind == LEAT_PACKETWAY_PENDING_TELL && p->dt == sa) return true;
    }
    return false;
}

static void on_tell(struct leat_packetway_router *r, const struct letter *l)
{
    const struct leat_packetway_message *m = l->message;
    if (!m->header.sa || is_being_answered(r, m->header.sa)) return; /* one at a time per peer */
    if (m->data_len > LEAT_PACKETWAY_REQUEST_LEN_MAX) {
        complain(r, l);
        return;
    }
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_INFO, m->header.sa, m->header.priority);
    if (!p) return;
    const bool is_near = leat_packetway_block_holds(&r->config.block, m->header.sa);
    const bool is_router = leat_packetway_router_is_half_router(r, m->header.sa);
    p->kind = LEAT_PACKETWAY_PENDING_TELL;
    p->spreads = is_near && !is_router && leat_packetway_router_has_ranges(r);
    p->is_mine = !is_near;
    p->len = m->data_len;
    memcpy(p->octets, m->data, m->data_len);
}

/* ---- by type ---- */

static unsigned level_of(uint16_t te)
{
    if (te == LEAT_PACKETWAY_TE_TELL) return LEAT_PACKETWAY_LEVEL_C;
    const bool d = te == LEAT_PACKETWAY_TE_GVRT || te == LEAT_PACKETWAY_TE_RTBL;
    return d ? LEAT_PACKETWAY_LEVEL_D : LEAT_PACKETWAY_LEVEL_B;
}

static void on_rrp(struct leat_packetway_router *r, const struct letter *l)
{
    const struct leat_packetway_message *m = l->message;
    if (!(r->config.levels & level_of(m->header.te))) {
        complain(r, l);
        return;
    }
    switch ((enum leat_packetway_te)m->header.te) {
    case LEAT_PACKETWAY_TE_GVL2:
    case LEAT_PACKETWAY_TE_HRTO: on_question(r, l); break;
    case LEAT_PACKETWAY_TE_TELL: on_tell(r, l); break;
    case LEAT_PACKETWAY_TE_WRU: on_wru(r, l); break;
    case LEAT_PACKETWAY_TE_INFO:
        if (!leat_packetway_block_holds(&r->config.block, m->header.sa))
            leat_packetway_router_on_told(r, m, l->now);
        else if (from_san(l))
            leat_packetway_router_register(r, m, l->octets, l->len, l->now);
        break;
    case LEAT_PACKETWAY_TE_GVRT: leat_packetway_router_on_gvrt(r, l->arrival, m, l->now); break;
    case LEAT_PACKETWAY_TE_RTBL: leat_packetway_router_on_rtbl(r, l->arrival, m, l->now); break;
    case LEAT_PACKETWAY_TE_L2SR: leat_packetway_router_on_l2sr(r, m, l->now); break;
    case LEAT_PACKETWAY_TE_RDRC: /* for hosts */
    case LEAT_PACKETWAY_TE_UNK:  /* not of RRP */
    case LEAT_PACKETWAY_TE_HRDOWN:
    case LEAT_PACKETWAY_TE_LINKDOWN:
    case LEAT_PACKETWAY_TE_GENERAL: break;
    }
}

static void on_err(struct leat_packetway_router *r, const struct letter *l)
{
    const uint16_t te = l->message->header.te;
    if (te == LEAT_PACKETWAY_TE_HRDOWN || te == LEAT_PACKETWAY_TE_LINKDOWN)
        leat_packetway_router_on_failure(r, l->arrival, l->message, l->now);
    else
        leat_packetway_router_on_refusal(r, l->message, l->now);
}

/* Nesting depth of the messages in the DB of an embedding message. */
static unsigned count_embedded(const struct leat_packetway_message *m)
{
    struct leat_packetway_message inner = *m;
    unsigned count = 0;
    while (inner.header.pt == LEAT_PACKETWAY_PT_EMBEDDED && count <= LEAT_PACKETWAY_EMBEDDED_MAX) {
        count++;
        if (leat_packetway_message_decode(inner.data, inner.data_len, LEAT_PACKETWAY_LENIENT,
                                          LEAT_PACKETWAY_DESTINATION, &inner, NULL))
            break;
    }
    return count;
}

/* Spec 5.9: the DB is a packet, which is processed as if received like the outer one. */
static void on_embedded(struct leat_packetway_router *r, const struct letter *l, unsigned depth,
                        struct leat_packetway_routed *packet)
{
    const struct leat_packetway_message *m = l->message;
    if (depth || m->header.pl || count_embedded(m) > LEAT_PACKETWAY_EMBEDDED_MAX) {
        complain(r, l);
        return;
    }
    packet->octets = m->data;
    packet->len = (uint32_t)m->data_len;
    packet->error_seen = packet->error_seen || m->ei != 0;
    leat_packetway_router_route(r, l->arrival, l->now, depth + 1, packet);
}

/* Faults that are never answered. */
static bool is_silent(leat_err err)
{
    return err == LEAT_ERR_PACKETWAY_VERSION || err == LEAT_ERR_PACKETWAY_ALIGN ||
           err == LEAT_ERR_PACKETWAY_SHORT || err == LEAT_ERR_PACKETWAY_SA;
}

void leat_packetway_router_deliver(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival, leat_time now,
                                   unsigned depth, struct leat_packetway_routed *packet)
{
    struct leat_packetway_message m;
    const uint8_t *octets = packet->octets + packet->decision.header_at;
    const uint32_t len = packet->len - packet->decision.header_at;
    const struct letter l = { arrival, &m, octets, len, now };
    const leat_err err = leat_packetway_message_decode(octets, len, LEAT_PACKETWAY_STRICT,
                                                       LEAT_PACKETWAY_DESTINATION, &m, NULL);
    if (err) {
        if (!is_silent(err)) complain(r, &l);
        return;
    }
    r->counts.delivered++;
    const bool control = m.header.pt == LEAT_PACKETWAY_PT_RRP ||
                         m.header.pt == LEAT_PACKETWAY_PT_ERR;
    if (control && m.ei) {
        r->counts.accused++;
    } else if (control && m.header.sa == r->config.address) {
        return; /* counted as a duplicate */
    } else if (m.header.pt == LEAT_PACKETWAY_PT_RRP) {
        on_rrp(r, &l);
    } else if (m.header.pt == LEAT_PACKETWAY_PT_ERR) {
        on_err(r, &l);
    } else if (m.header.pt == LEAT_PACKETWAY_PT_EMBEDDED) {
        on_embedded(r, &l, depth, packet);
    } else {
        complain(r, &l);
    }
}
