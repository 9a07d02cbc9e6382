/*
 * RTBL out: the own table, and copies of others'; as ranges where a table would be too large for
 * the MTU, or for a half-router of the same configuration. A receiver for which a table is too
 * large turns it into ranges as well.
 */
#include "packetway_router_parts.h"
#include <string.h>

/* The L2RHs of a route, and the octets that contain them. */
struct route {
    struct leat_packetway_leading l2rhs[LEAT_PACKETWAY_SRQR_MAX];
    size_t count;
};

static void read_route(const uint8_t *octets, size_t len, struct route *out)
{
    struct leat_packetway_route cursor = { octets, octets + len, 0 };
    out->count = 0;
    while (out->count < LEAT_PACKETWAY_SRQR_MAX &&
           leat_packetway_route_next(&cursor, &out->l2rhs[out->count]))
        out->count++;
}

/* ---- nodes, one after the other: of this SAN, or of a table ---- */

struct source {
    const struct leat_packetway_router *router; /* NULL: of a table */
    uint32_t node;
    struct leat_packetway_records records;
};

static struct source source_of(const struct leat_packetway_router *r,
                               const struct leat_packetway_xrt *table)
{
    if (table) return (struct source){ .records = leat_packetway_xrt_nodes(table) };
    return (struct source){ .router = r };
}

static bool next_address(struct source *s, struct leat_packetway_address *out)
{
    const struct leat_packetway_router *r = s->router;
    struct leat_packetway_record rec;
    if (!r) {
        if (!leat_packetway_records_next(&s->records, &rec)) return false;
        *out = leat_packetway_record_address(&rec);
        return true;
    }
    while (s->node < r->node_end && !r->nodes[s->node].mapped)
        s->node++;
    if (s->node == r->node_end) return false;
    *out = r->nodes[s->node++].address;
    return true;
}

static void write_lrt_node(struct leat_packetway_build *b, const struct leat_packetway_router *r,
                           uint32_t i)
{
    const struct leat_packetway_lrt_node *n = &r->nodes[i];
    const bool single = n->address.at == LEAT_PACKETWAY_AT_SINGLE;
    const struct leat_packetway_leading l2rh = { .kind = LEAT_PACKETWAY_L2RH,
                                                 .len = r->natives[i].len,
                                                 .octets = r->natives[i].octets };
    leat_packetway_build_address(b, &n->address);
    leat_packetway_build_nest(b);
    leat_packetway_build_copy(b, n->about, n->about_len);
    /* No route can reach all nodes of a range: they are for L3 (spec 8, row 23). */
    leat_packetway_build_route(b, n->q, &l2rh, single && l2rh.len ? 1 : 0);
    leat_packetway_build_leave(b);
}

static void write_nodes(struct leat_packetway_build *b, const struct leat_packetway_router *r,
                        const struct leat_packetway_xrt *table)
{
    if (table) {
        leat_packetway_build_copy(b, table->nodes, table->nodes_len);
        return;
    }
    for (uint32_t i = 0; i < r->node_end; i++)
        if (r->nodes[i].mapped) write_lrt_node(b, r, i);
}

/* ---- ranges instead of nodes ---- */

struct span {
    uint32_t low, high;
};

static struct span span_of(const struct leat_packetway_address *a)
{
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) return (struct span){ a->low, a->low };
    uint32_t high = a->high;
    if (a->at == LEAT_PACKETWAY_AT_VALUE) high = a->low | (~a->high & LEAT_PACKETWAY_PHYSICAL_BITS);
    if (high > LEAT_PACKETWAY_ADDRESS_MAX) high = LEAT_PACKETWAY_ADDRESS_MAX;
    return (struct span){ a->low ? a->low : 1, high };
}

static void write_span(struct leat_packetway_build *b, struct span s)
{
    const struct leat_packetway_address a = { .at = LEAT_PACKETWAY_AT_MIN,
                                              .low = s.low,
                                              .high = s.high };
    leat_packetway_build_address(b, &a);
    leat_packetway_build_nest(b);
    leat_packetway_build_route(b, 0, NULL, 0);
    leat_packetway_build_leave(b);
}

/* Merges neighbouring addresses into one range; or, `whole`, everything into one. */
static void write_spans(struct leat_packetway_build *b, struct source s, bool whole)
{
    struct leat_packetway_address a;
    struct span run = { 0, 0 };
    while (next_address(&s, &a)) {
        if (leat_packetway_class_of(a.low) != LEAT_PACKETWAY_CLASS_PHYSICAL) continue;
        const struct span x = span_of(&a);
        if (!run.low) {
            run = x;
        } else if (whole || x.low == run.high + 1) {
            if (x.low < run.low) run.low = x.low;
            if (x.high > run.high) run.high = x.high;
        } else {
            write_span(b, run);
            run = x;
        }
    }
    if (run.low) write_span(b, run);
}

size_t leat_packetway_router_ranges(const uint8_t *nodes, size_t len, uint8_t *out, size_t cap)
{
    struct leat_packetway_build b;
    for (unsigned whole = 0; whole < 2; whole++) {
        leat_packetway_build_init(&b, out, cap);
        write_spans(&b, (struct source){ .records = leat_packetway_table_nodes(nodes, len) },
                    whole);
        if (!b.err) return b.len;
    }
    return 0;
}

/* ---- a table ---- */

static void write_head(struct leat_packetway_build *b, const struct leat_packetway_router *r,
                       const struct leat_packetway_xrt *t)
{
    uint32_t passed[LEAT_PACKETWAY_RCVF_MAX];
    struct route csr = { .count = 0 };
    const uint32_t count = t ? t->received_from_count : 0;
    if (t) memcpy(passed, t->received_from, count * sizeof *passed);
    passed[count] = r->config.address;
    if (t) read_route(t->csr, t->csr_len, &csr);
    leat_packetway_build_table(b, (uint16_t)(t ? t->sequence + 1 : r->sequence));
    leat_packetway_build_nest(b);
    leat_packetway_build_san(b, t ? t->san : r->config.block.bias);
    leat_packetway_build_received_from(b, passed, count + 1);
    leat_packetway_build_route(b, t ? t->q : 0, csr.l2rhs, csr.count);
    leat_packetway_build_mtu(b, t ? t->mtu_words : r->config.mtu_words);
}

/* The DB of a table, complete or as ranges, whichever fits in `cap` octets; 0: neither does. */
static size_t write_table(struct leat_packetway_router *r, const struct leat_packetway_xrt *t,
                          size_t cap)
{
    struct leat_packetway_build b;
    if (t && t->received_from_count == LEAT_PACKETWAY_RCVF_MAX) {
        r->counts.rtbl_far++;
        return 0;
    }
    for (unsigned attempt = 0; attempt < 3; attempt++) {
        leat_packetway_build_init(&b, r->db, cap);
        write_head(&b, r, t);
        const size_t head = b.len;
        if (attempt == 0)
            write_nodes(&b, r, t);
        else
            write_spans(&b, source_of(r, t), attempt == 2);
        if (!b.err && b.len - head <= r->config.table_len_max) return b.len;
    }
    r->counts.pending_full++;
    return 0;
}

static uint32_t lowest(uint64_t set)
{
    uint32_t i = 0;
    while (!(set >> i & 1))
        i++;
    return i;
}

/* Removes one neighbour from those that are due. */
static bool take_due(struct leat_packetway_router *r, uint64_t *twins, uint64_t *buddies,
                     struct leat_packetway_pending *to, uint32_t *mtu_words)
{
    while (*twins || *buddies) {
        const bool twin = *twins != 0;
        uint64_t *set = twin ? twins : buddies;
        const uint32_t i = lowest(*set);
        const struct leat_packetway_neighbour *n = twin ? &r->fib.twins[i] : &r->fib.buddies[i];
        *set &= *set - 1;
        if (!n->up) continue;
        to->way = twin ? LEAT_PACKETWAY_BY_TWIN : LEAT_PACKETWAY_BY_BUDDY;
        to->index = i;
        to->dt = n->address;
        *mtu_words = twin ? n->mtu_words : r->config.mtu_words;
        return true;
    }
    return false;
}

bool leat_packetway_router_table_due(struct leat_packetway_router *r,
                                     struct leat_packetway_pending *to, size_t *len)
{
    uint64_t none = 0;
    uint32_t mtu;
    to->pt = LEAT_PACKETWAY_PT_RRP;
    to->te = LEAT_PACKETWAY_TE_RTBL;
    while (take_due(r, &r->twins_due, &none, to, &mtu))
        if ((*len = write_table(r, NULL, leat_packetway_router_room(r, mtu)))) return true;
    for (; r->due_at < r->table_end; r->due_at++) {
        struct leat_packetway_xrt *t = &r->tables[r->due_at];
        if (t->state != LEAT_PACKETWAY_XRT_LIVE) continue;
        while (take_due(r, &t->twins_due, &t->buddies_due, to, &mtu))
            if ((*len = write_table(r, t, leat_packetway_router_room(r, mtu)))) return true;
    }
    return false;
}
