/*
 * From tables to routes: the fib of a half-router, rebuilt when a table of its SAN or of others
 * changes.
 *
 * Tables are processed in tie-break order (shorter RCVF, then the lower last address), so that a
 * later one only wins by a smaller Q. A range applies to all addresses in it: to those already
 * present and to those added later.
 */
#include "packetway_router_parts.h"

/* ---- order of tables ---- */

static int compare_tie(const struct leat_packetway_xrt *a, const struct leat_packetway_xrt *b)
{
    if (a->received_from_count != b->received_from_count)
        return a->received_from_count < b->received_from_count ? -1 : 1;
    for (uint32_t i = a->received_from_count; i-- > 0;)
        if (a->received_from[i] != b->received_from[i])
            return a->received_from[i] < b->received_from[i] ? -1 : 1;
    return 0;
}

static int compare_q(const struct leat_packetway_xrt *a, const struct leat_packetway_xrt *b)
{
    return a->q != b->q ? (a->q < b->q ? -1 : 1) : compare_tie(a, b);
}

/* Shellsort: no recursion, and fast enough for a few thousand tables. */
static void sort_tables(const struct leat_packetway_router *r, uint16_t *order, uint32_t count,
                        int (*compare)(const struct leat_packetway_xrt *,
                                       const struct leat_packetway_xrt *))
{
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            const uint16_t x = order[i];
            uint32_t k = i;
            for (; k >= gap && compare(&r->tables[x], &r->tables[order[k - gap]]) < 0; k -= gap)
                order[k] = order[k - gap];
            order[k] = x;
        }
}

static void order_tables(struct leat_packetway_router *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->table_end; i++)
        if (r->tables[i].state != LEAT_PACKETWAY_XRT_FREE)
            r->by_tie[n] = r->by_q[n] = (uint16_t)i, n++;
    r->table_count = n;
    sort_tables(r, r->by_tie, n, compare_tie);
    sort_tables(r, r->by_q, n, compare_q);
    for (uint32_t i = 0; i < n; i++)
        r->tables[r->by_q[i]].rank = (uint16_t)i;
}

/* ---- routes ---- */

/* One table's route to one of its nodes. */
struct way {
    const struct leat_packetway_xrt *table;
    uint32_t index; /* of the table */
    uint16_t q;
};

static bool is_settled(const struct leat_packetway_entry *e)
{
    return e->native || e->flags & (LEAT_PACKETWAY_ENTRY_ME | LEAT_PACKETWAY_ENTRY_TWIN);
}

/* The first table by Q that knows it defines it. */
static void define(const struct leat_packetway_router *r, struct leat_packetway_entry *e,
                   const struct way *w)
{
    if (!e->definer || w->table->rank < r->tables[e->definer - 1].rank)
        e->definer = (uint16_t)(w->index + 1);
}

static void offer(struct leat_packetway_router *r, struct leat_packetway_entry *e,
                  const struct way *w)
{
    const struct leat_packetway_xrt *t = w->table;
    if (t->state == LEAT_PACKETWAY_XRT_LOST) {
        if (!e->twin && !e->buddy && !e->failure) e->failure = t->failure;
        return;
    }
    define(r, e, w);
    leat_packetway_entry_offer(e, t->from_twin, t->from, w->q);
}

static void offer_ranges(struct leat_packetway_router *r, struct leat_packetway_entry *e)
{
    struct leat_packetway_range_walk walk = { 0 };
    for (uint32_t i; leat_packetway_fib_next_range(&r->fib, e->dt, &walk, &i);) {
        const struct leat_packetway_range *range = &r->fib.ranges[i];
        const struct leat_packetway_entry *w = &range->entry;
        if (w->native || !leat_packetway_address_matches(&range->address, e->dt)) continue;
        if (w->failure && !e->failure) e->failure = w->failure;
        if (w->twin) leat_packetway_entry_offer(e, true, w->twin - 1u, w->twin_q);
        if (w->buddy) leat_packetway_entry_offer(e, false, w->buddy - 1u, w->buddy_q);
    }
}

/* Covered by a range of this SAN: no other table matters. */
static uint32_t native_by_range(const struct leat_packetway_router *r, uint32_t dt, uint32_t limit)
{
    struct leat_packetway_range_walk walk = { 0 };
    for (uint32_t i; leat_packetway_fib_next_range(&r->fib, dt, &walk, &i);) {
        const struct leat_packetway_range *range = &r->fib.ranges[i];
        if (range->entry.native && range->entry.native <= limit &&
            leat_packetway_address_matches(&range->address, dt))
            return range->entry.native;
    }
    return 0;
}

/* The entry of an address in a table; NULL: no room. */
static struct leat_packetway_entry *entry_of(struct leat_packetway_router *r, uint32_t dt)
{
    const uint32_t before = r->fib.count;
    struct leat_packetway_entry *e = leat_packetway_fib_take(&r->fib, dt);
    if (!e) {
        r->counts.known_full++;
    } else if (r->fib.count != before) {
        e->native = native_by_range(r, dt, UINT32_MAX);
        if (!e->native) offer_ranges(r, e);
    }
    return e;
}

static void add_range(struct leat_packetway_router *r, const struct leat_packetway_address *a,
                      const struct leat_packetway_entry *entry)
{
    if (!leat_packetway_fib_add_range(&r->fib, a, entry)) r->counts.known_full++;
}

/* To an address that is known by itself, or NULL. */
static void offer_in_range(struct leat_packetway_router *r, struct leat_packetway_entry *e,
                           const struct leat_packetway_address *a, const struct way *w)
{
    if (!e || !e->dt || is_settled(e) || !leat_packetway_address_matches(a, e->dt)) return;
    const uint16_t definer = e->definer; /* an individual ADDR precedes the range */
    offer(r, e, w);
    e->definer = definer;
}

static void offer_range(struct leat_packetway_router *r, const struct leat_packetway_address *a,
                        const struct way *w)
{
    struct leat_packetway_entry entry = { 0 };
    offer(r, &entry, w);
    const uint32_t slots = UINT32_C(1) << r->fib.slot_bits;
    const bool narrow = a->at == LEAT_PACKETWAY_AT_MIN && a->high - a->low < slots;
    for (uint32_t i = 0; narrow && i <= a->high - a->low; i++)
        offer_in_range(r, leat_packetway_fib_exact(&r->fib, a->low + i), a, w);
    for (uint32_t i = 0; !narrow && i < slots; i++)
        offer_in_range(r, &r->fib.entries[i], a, w);
    add_range(r, a, &entry);
}

static void offer_node(struct leat_packetway_router *r, const struct leat_packetway_address *a,
                       const struct way *w)
{
    if (a->at != LEAT_PACKETWAY_AT_SINGLE) {
        offer_range(r, a, w);
        return;
    }
    struct leat_packetway_entry *e = entry_of(r, a->low);
    if (!e || e->native) return;
    if (!is_settled(e))
        offer(r, e, w);
    else if (w->table->state == LEAT_PACKETWAY_XRT_LIVE)
        define(r, e, w); /* a twin: its route is known, its name is not */
}

/* The smallest Q of a node's routes: they start at the mapper. */
static uint16_t node_q(const struct leat_packetway_record *addr)
{
    struct leat_packetway_records nested = leat_packetway_record_nested(addr);
    struct leat_packetway_record rec;
    uint16_t q = UINT16_MAX;
    while (leat_packetway_records_next(&nested, &rec))
        if (rec.type == LEAT_PACKETWAY_RTYP_SRQR) {
            const struct leat_packetway_route route = leat_packetway_record_route(&rec);
            if (route.q < q) q = route.q;
        }
    return q;
}

static void add_table(struct leat_packetway_router *r, uint32_t index)
{
    const struct leat_packetway_xrt *t = &r->tables[index];
    struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
    struct leat_packetway_record rec;
    const struct leat_packetway_address mapper = leat_packetway_single(t->received_from[0]);
    struct way w = { .table = t, .index = index, .q = t->q };
    offer_node(r, &mapper, &w);
    while (leat_packetway_records_next(&nodes, &rec)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        w.q = (uint16_t)leat_packetway_q_sum(t->q, node_q(&rec));
        if (leat_packetway_class_of(a.low) == LEAT_PACKETWAY_CLASS_PHYSICAL) offer_node(r, &a, &w);
    }
}

/* ---- own table ---- */

static void add_lrt_node(struct leat_packetway_router *r, uint32_t index)
{
    const struct leat_packetway_address *a = &r->nodes[index].address;
    const struct leat_packetway_entry entry = { .native = index + 1 };
    if (a->at != LEAT_PACKETWAY_AT_SINGLE) {
        add_range(r, a, &entry);
        return;
    }
    struct leat_packetway_entry *e = leat_packetway_fib_take(&r->fib, a->low);
    if (!e) {
        r->counts.known_full++;
    } else if (!is_settled(e)) {
        const uint32_t range = native_by_range(r, a->low, index + 1);
        e->native = range ? range : index + 1; /* the first matching entry wins */
    }
}

void leat_packetway_router_refresh(struct leat_packetway_router *r)
{
    if (!r->fib_stale) return;
    r->fib_stale = false;
    order_tables(r);
    leat_packetway_fib_clear(&r->fib);
    leat_packetway_fib_take(&r->fib, r->config.address)->flags = LEAT_PACKETWAY_ENTRY_ME;
    for (uint32_t i = 0; i < r->fib.twin_count; i++) {
        struct leat_packetway_entry *e = leat_packetway_fib_take(&r->fib, r->fib.twins[i].address);
        e->flags = LEAT_PACKETWAY_ENTRY_TWIN;
        e->twin = (uint8_t)(i + 1);
        e->twin_q = r->fib.twins[i].q;
    }
    for (uint32_t i = 0; i < r->node_end; i++)
        if (r->nodes[i].mapped) add_lrt_node(r, i);
    for (uint32_t i = 0; i < r->table_count; i++)
        if (r->tables[r->by_tie[i]].state == LEAT_PACKETWAY_XRT_LIVE) add_table(r, r->by_tie[i]);
    for (uint32_t i = 0; i < r->table_count; i++)
        if (r->tables[r->by_tie[i]].state == LEAT_PACKETWAY_XRT_LOST) add_table(r, r->by_tie[i]);
}

const struct leat_packetway_fib *leat_packetway_router_fib(struct leat_packetway_router *r)
{
    leat_packetway_router_refresh(r);
    return &r->fib;
}
