/* Level D: tables of others are received, kept, forwarded, and deleted by failures. */
#include "packetway_router_parts.h"
#include <string.h>

static bool newer(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b) > 0;
}

static uint64_t all_up(const struct leat_packetway_neighbour *n, uint32_t count)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < count; i++)
        if (n[i].up) set |= UINT64_C(1) << i;
    return set;
}

static uint64_t twins_up(const struct leat_packetway_router *r)
{
    return all_up(r->fib.twins, r->fib.twin_count);
}

static uint64_t buddies_up(const struct leat_packetway_router *r)
{
    return all_up(r->fib.buddies, r->fib.buddy_count);
}

/* Is the sender a twin on the router link, or a buddy on this SAN? Counts it if not. */
static bool is_neighbour(struct leat_packetway_router *r,
                         const struct leat_packetway_arrival *arrival, uint32_t sa,
                         struct leat_packetway_peer *out)
{
    *out = leat_packetway_router_peer(r, sa);
    const bool known = out->known && out->twin == (arrival->side == LEAT_PACKETWAY_FROM_TWIN);
    r->counts.rtbl_strange += !known;
    return known;
}

void leat_packetway_router_originate(struct leat_packetway_router *r, leat_time now)
{
    r->lrt_changed = false;
    if (!(r->config.levels & LEAT_PACKETWAY_LEVEL_D)) return;
    r->sequence++;
    r->twins_due = twins_up(r);
    r->originate_at = leat_time_add(now, LEAT_PACKETWAY_ORIGINATE_S * LEAT_PACKETWAY_SECOND);
    if (r->originate_at < r->wake_at) r->wake_at = r->originate_at;
}

void leat_packetway_router_settle(struct leat_packetway_router *r, leat_time now)
{
    if (!r->lrt_changed) return;
    if (leat_packetway_window_open(&r->originations, 0, LEAT_PACKETWAY_ORIGINATE_PER_S, now)) {
        leat_packetway_router_originate(r, now);
        return;
    }
    const leat_time next = leat_time_add(now, LEAT_PACKETWAY_SECOND);
    if (next < r->wake_at) r->wake_at = next;
}

static struct leat_packetway_rates *rates_of(struct leat_packetway_router *r,
                                             const struct leat_packetway_peer *x)
{
    return x->twin ? &r->twin_rates[x->index] : &r->buddy_rates[x->index];
}

/* ---- RTBL in ---- */

/* The contents of an RTBL, lent from the message. */
struct received {
    uint16_t sequence;
    uint32_t san, mtu_words;
    uint32_t received_from[LEAT_PACKETWAY_RCVF_MAX];
    uint32_t received_from_count;
    struct leat_packetway_route csr;
    const uint8_t *nodes;
    size_t nodes_len;
    struct leat_packetway_peer from;
};

/* The grammar was checked strictly: RTHD{ SNID RCVF SRQR MTUR nodes }. */
static void read_table(const struct leat_packetway_message *m, struct received *h)
{
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record rec;
    struct leat_packetway_address a;
    leat_packetway_records_next(&records, &rec);
    h->sequence = leat_packetway_record_sequence(&rec);
    records = leat_packetway_record_nested(&rec);
    leat_packetway_records_next(&records, &rec);
    h->san = leat_packetway_record_san(&rec);
    leat_packetway_records_next(&records, &rec);
    struct leat_packetway_addresses list = leat_packetway_record_addresses(&rec);
    h->received_from_count = 0;
    while (leat_packetway_addresses_next(&list, &a))
        h->received_from[h->received_from_count++] = a.low;
    leat_packetway_records_next(&records, &rec);
    h->csr = leat_packetway_record_route(&rec);
    leat_packetway_records_next(&records, &rec);
    h->mtu_words = leat_packetway_record_mtu(&rec);
    h->nodes = records.at;
    h->nodes_len = (size_t)(records.end - records.at);
}

static bool passed(const struct received *h, uint32_t address)
{
    for (uint32_t i = 0; i < h->received_from_count; i++)
        if (h->received_from[i] == address) return true;
    return false;
}

/*
 * The own table comes back. If it dates from before a restart, with a number that others would take
 * for newer, numbering continues from there. A number grows by one with every hop (spec 8, row 17):
 * that is subtracted first, or the current table, coming back around a loop, would seem newer for
 * ever. Shortly after the start, the number exactly opposite to the own one, neither newer nor
 * older, counts too.
 */
static void meet_former_self(struct leat_packetway_router *r, const struct received *h,
                             leat_time now)
{
    const uint16_t sequence = (uint16_t)(h->sequence - (h->received_from_count - 1));
    const bool young = now - r->started_at < LEAT_PACKETWAY_ORIGINATE_S * LEAT_PACKETWAY_SECOND;
    const bool opposite = (uint16_t)(sequence - r->sequence) == 0x8000;
    if (h->received_from[0] != r->config.address) return;
    if (!newer(sequence, r->sequence) && !(young && opposite)) return;
    r->sequence = h->sequence;
    r->lrt_changed = true; /* so that a new table is sent */
}

static bool has_nodes_of_mine(const struct leat_packetway_router *r, const struct received *h)
{
    struct leat_packetway_records nodes = leat_packetway_table_nodes(h->nodes, h->nodes_len);
    const struct leat_packetway_block *b = &r->config.block;
    const struct leat_packetway_address mine = { LEAT_PACKETWAY_AT_MIN, b->bias + 1,
                                                 b->bias + b->count };
    struct leat_packetway_record rec;
    while (leat_packetway_records_next(&nodes, &rec)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&rec);
        if (leat_packetway_address_meets(&a, &mine)) return true;
    }
    return false;
}

/* Is it worth a slot? Counts the reason if not. */
static bool is_welcome(struct leat_packetway_router *r, const struct received *h, leat_time now)
{
    if (passed(h, r->config.address)) {
        r->counts.rtbl_loops++;
        meet_former_self(r, h, now);
        return false;
    }
    if (h->san && h->san == r->config.block.bias) {
        r->counts.rtbl_loops++;
        return false;
    }
    if (has_nodes_of_mine(r, h)) {
        if (h->san)
            r->counts.overlaps++;
        else
            r->counts.rtbl_loops++; /* a SAN without an ID may well be this one */
        return false;
    }
    return true;
}

static bool same_way(const struct leat_packetway_xrt *t, const struct received *h)
{
    return t->state == LEAT_PACKETWAY_XRT_LIVE &&
           t->received_from_count == h->received_from_count &&
           memcmp(t->received_from, h->received_from,
                  h->received_from_count * sizeof *h->received_from) == 0;
}

static bool same_san(const struct leat_packetway_xrt *t, const struct received *h)
{
    if (t->state != LEAT_PACKETWAY_XRT_LIVE || t->san != h->san) return false;
    return h->san || t->received_from[0] == h->received_from[0];
}

/* Is a worse than b, of the same SAN? */
static bool is_worse(const struct leat_packetway_xrt *a, uint32_t q, const struct received *h)
{
    if (a->q != q) return a->q > q;
    if (a->received_from_count != h->received_from_count)
        return a->received_from_count > h->received_from_count;
    return a->received_from[a->received_from_count - 1] >
           h->received_from[h->received_from_count - 1];
}

static bool is_worst(const struct leat_packetway_xrt *a, const struct leat_packetway_xrt *b)
{
    if (a->q != b->q) return a->q > b->q;
    return a->received_from_count > b->received_from_count;
}

/* ---- slots of tables: those of a SAN are in one list ---- */

void leat_packetway_router_forget(struct leat_packetway_router *r, uint32_t index)
{
    r->tables[index].state = LEAT_PACKETWAY_XRT_FREE;
    if (index < r->free_at) r->free_at = index;
}

static uint16_t *list_of(const struct leat_packetway_router *r, uint32_t san, uint32_t mapper)
{
    const uint32_t key = san ? san : mapper;
    return &r->san_first[key * UINT32_C(0x9E3779B1) >> (32 - r->san_bits)];
}

static uint16_t *san_list(const struct leat_packetway_router *r, const struct received *h)
{
    return list_of(r, h->san, h->received_from[0]);
}

static void link_slot(struct leat_packetway_router *r, struct leat_packetway_xrt *t)
{
    uint16_t *list = list_of(r, t->san, t->received_from[0]);
    t->next = *list;
    *list = (uint16_t)(t - r->tables + 1);
}

static void unlink_slot(struct leat_packetway_router *r, const struct leat_packetway_xrt *t)
{
    uint16_t *link = list_of(r, t->san, t->received_from[0]);
    while (*link != t - r->tables + 1)
        link = &r->tables[*link - 1].next;
    *link = t->next;
}

/* The first slot that was never used; NULL: all were. */
static struct leat_packetway_xrt *new_slot(struct leat_packetway_router *r)
{
    const uint32_t i = r->table_end;
    if (i == r->config.tables_max) return NULL;
    r->table_end++;
    r->tables[i] = (struct leat_packetway_xrt){
        .received_from = r->passed_room + (size_t)i * r->config.passed_max,
        .csr = r->csr_room + (size_t)i * r->config.csr_len_max,
        .nodes = r->nodes_room + (size_t)i * r->config.table_len_max,
    };
    return &r->tables[i];
}

/* A slot that is free, else one that was lost; NULL: none. */
static struct leat_packetway_xrt *find_free(struct leat_packetway_router *r)
{
    for (; r->free_at < r->table_end; r->free_at++)
        if (r->tables[r->free_at].state == LEAT_PACKETWAY_XRT_FREE) return &r->tables[r->free_at];
    struct leat_packetway_xrt *t = new_slot(r);
    for (uint32_t i = 0; !t && i < r->table_end; i++)
        if (r->tables[i].state == LEAT_PACKETWAY_XRT_LOST) t = &r->tables[i];
    return t;
}

/* A slot for a new table, or NULL: K per SAN, then what is free or lost. */
static struct leat_packetway_xrt *find_room(struct leat_packetway_router *r,
                                            const struct received *h, uint32_t q)
{
    struct leat_packetway_xrt *worst = NULL;
    uint32_t count = 0;
    for (uint32_t i = *san_list(r, h); i; i = r->tables[i - 1].next) {
        struct leat_packetway_xrt *t = &r->tables[i - 1];
        if (!same_san(t, h)) continue;
        count++;
        if (!worst || is_worst(t, worst)) worst = t;
    }
    if (count < LEAT_PACKETWAY_TABLES_PER_SAN) return find_free(r);
    return is_worse(worst, q, h) ? worst : NULL;
}

/* hop(me->X) + CSR (spec 6.5), in `out`. False: too long to keep, or too many L2RHs. */
static bool extend_route(const struct leat_packetway_router *r, const struct received *h,
                         uint8_t *out, size_t *len)
{
    uint8_t name[LEAT_PACKETWAY_TWIN_HOP_LEN];
    struct leat_packetway_leading hop = { .kind = LEAT_PACKETWAY_L2RH }, l2rh;
    struct leat_packetway_route rest = h->csr;
    const size_t rest_len = (size_t)(rest.end - rest.at);
    unsigned count = 0;
    if (!h->from.twin) {
        const struct leat_packetway_native *n =
            &r->natives[r->fib.buddies[h->from.index].native - 1];
        hop.octets = n->octets;
        hop.len = n->len;
    } else if (r->fib.twin_count > 1) {
        leat_put_be24(name, r->fib.twins[h->from.index].address);
        hop.octets = name;
        hop.len = sizeof name;
    }
    *len = 0;
    if (hop.len) {
        if (leat_packetway_leading_encode(&hop, out, LEAT_PACKETWAY_CSR_LEN_MAX, len)) return false;
        count++;
    }
    while (leat_packetway_route_next(&rest, &l2rh))
        count++;
    if (count > LEAT_PACKETWAY_SRQR_MAX || *len > r->config.csr_len_max ||
        rest_len > r->config.csr_len_max - *len)
        return false;
    if (rest_len) memcpy(out + *len, h->csr.at, rest_len);
    *len += rest_len;
    return true;
}

static bool is_with_ranges(const struct leat_packetway_xrt *t)
{
    struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
    struct leat_packetway_record rec;
    while (leat_packetway_records_next(&nodes, &rec))
        if (leat_packetway_record_address(&rec).at != LEAT_PACKETWAY_AT_SINGLE) return true;
    return false;
}

static void store(struct leat_packetway_router *r, struct leat_packetway_xrt *t,
                  const struct received *h, uint32_t q, const uint8_t *csr, size_t csr_len,
                  leat_time now)
{
    const bool twin = h->from.twin;
    uint32_t mtu = leat_packetway_mtu_min(h->mtu_words, r->config.mtu_words);
    if (twin) mtu = leat_packetway_mtu_min(mtu, r->fib.twins[h->from.index].mtu_words);
    const bool same = same_way(t, h) && t->q == q && t->mtu_words == mtu && t->san == h->san &&
                      t->csr_len == csr_len && memcmp(t->csr, csr, csr_len) == 0 &&
                      t->nodes_len == h->nodes_len && memcmp(t->nodes, h->nodes, h->nodes_len) == 0;
    if (!same) r->fib_stale = true;
    const uint32_t index = (uint32_t)(t - r->tables);
    if (index < r->due_at) r->due_at = index;
    if (t->received_from_count) unlink_slot(r, t);
    *t = (struct leat_packetway_xrt){
        .state = LEAT_PACKETWAY_XRT_LIVE,
        .sequence = h->sequence,
        .q = (uint16_t)q,
        .san = h->san,
        .mtu_words = mtu,
        .received_from_count = h->received_from_count,
        .from_twin = twin,
        .from = (uint8_t)h->from.index,
        .rank = t->rank,
        .learned_at = now,
        .twins_due = twin ? 0 : twins_up(r),
        .buddies_due = twin ? buddies_up(r) : 0,
        .csr_len = csr_len,
        .nodes_len = h->nodes_len,
        .received_from = t->received_from,
        .csr = t->csr,
        .nodes = t->nodes,
    };
    memcpy(t->received_from, h->received_from, h->received_from_count * sizeof *h->received_from);
    memcpy(t->csr, csr, csr_len);
    if (h->nodes_len) memcpy(t->nodes, h->nodes, h->nodes_len);
    t->has_ranges = is_with_ranges(t);
    link_slot(r, t);
    const leat_time end = leat_time_add(now, LEAT_PACKETWAY_EXPIRE_S * LEAT_PACKETWAY_SECOND);
    if (end < r->wake_at) r->wake_at = end;
}

/*
 * A table with too many nodes to keep: it is kept as ranges, as its sender would have sent it over
 * a smaller MTU (spec 6.5). Its nodes are then reached by address. False: not even that fits.
 */
static bool narrow(struct leat_packetway_router *r, struct received *h)
{
    const uint32_t cap = r->config.table_len_max;
    if (h->nodes_len <= cap) return true;
    const size_t len = leat_packetway_router_ranges(h->nodes, h->nodes_len, r->db, cap);
    h->nodes = r->db;
    h->nodes_len = len;
    r->counts.rtbl_ranges += len > 0;
    return len > 0;
}

static void keep(struct leat_packetway_router *r, struct received *h, leat_time now)
{
    uint8_t csr[LEAT_PACKETWAY_CSR_LEN_MAX];
    size_t csr_len;
    const struct leat_packetway_neighbour *x = h->from.twin ? &r->fib.twins[h->from.index]
                                                            : &r->fib.buddies[h->from.index];
    const uint32_t q = leat_packetway_q_sum(h->csr.q, x->q);
    struct leat_packetway_xrt *t = NULL;
    for (uint32_t i = *san_list(r, h); !t && i; i = r->tables[i - 1].next)
        if (same_way(&r->tables[i - 1], h)) t = &r->tables[i - 1];
    if (t && !newer(h->sequence, t->sequence)) {
        r->counts.rtbl_old++;
        return;
    }
    if (!t && h->received_from_count <= r->config.passed_max) t = find_room(r, h, q);
    if (!t || !extend_route(r, h, csr, &csr_len) || !narrow(r, h)) {
        r->counts.rtbl_full++;
        return;
    }
    store(r, t, h, q, csr, csr_len, now);
}

void leat_packetway_router_on_rtbl(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival,
                                   const struct leat_packetway_message *m, leat_time now)
{
    struct received h;
    read_table(m, &h);
    if (!is_neighbour(r, arrival, m->header.sa, &h.from)) return;
    if (h.received_from[h.received_from_count - 1] != m->header.sa) {
        r->counts.rtbl_strange++;
        return;
    }
    const uint32_t all = 2 * r->config.tables_max,
                   most = all > LEAT_PACKETWAY_RTBL_PER_S ? all : LEAT_PACKETWAY_RTBL_PER_S;
    if (!leat_packetway_window_open(&rates_of(r, &h.from)->rtbl, m->header.sa, most, now)) {
        r->counts.rtbl_limited++;
        return;
    }
    r->counts.rtbl_received++;
    if (is_welcome(r, &h, now)) keep(r, &h, now);
}

void leat_packetway_router_on_gvrt(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival,
                                   const struct leat_packetway_message *m, leat_time now)
{
    struct leat_packetway_peer x;
    if (!is_neighbour(r, arrival, m->header.sa, &x)) return;
    if (!leat_packetway_window_open(&rates_of(r, &x)->gvrt, m->header.sa, LEAT_PACKETWAY_GVRT_PER_S,
                                    now)) {
        r->counts.rtbl_limited++;
        return;
    }
    const uint64_t bit = UINT64_C(1) << x.index;
    r->due_at = 0;
    if (x.twin) r->twins_due |= bit;
    for (uint32_t i = 0; i < r->table_end; i++) {
        struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state != LEAT_PACKETWAY_XRT_LIVE) continue;
        if (t->from_twin == x.twin && t->received_from[0] != m->header.sa) continue;
        *(x.twin ? &t->twins_due : &t->buddies_due) |= bit;
    }
}

/* ---- failures (spec 6.6) ---- */

static uint8_t remember(struct leat_packetway_router *r, uint16_t te, uint32_t a, uint32_t b,
                        leat_time now)
{
    struct leat_packetway_failure *all = r->fib.failures;
    uint32_t place = 0;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_FAILURES_MAX; i++) {
        if (all[i].until && all[i].te == te && all[i].a == a && all[i].b == b) {
            place = i;
            break;
        }
        if (all[i].until < all[place].until) place = i;
    }
    const bool same = all[place].te == te && all[place].a == a && all[place].b == b;
    for (uint32_t i = 0; !same && i < r->table_end; i++) {
        struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state == LEAT_PACKETWAY_XRT_LOST && t->failure == place + 1)
            leat_packetway_router_forget(r, i);
    }
    const leat_time until = leat_time_add(now, LEAT_PACKETWAY_FAILURE_S * LEAT_PACKETWAY_SECOND);
    all[place] = (struct leat_packetway_failure){ te, a, b, until };
    if (until < r->wake_at) r->wake_at = until;
    return (uint8_t)(place + 1);
}

static bool is_hit(const struct leat_packetway_router *r, const struct leat_packetway_xrt *t,
                   uint16_t te, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < t->received_from_count; i++) {
        const uint32_t x = t->received_from[i];
        const uint32_t y = i + 1 < t->received_from_count ? t->received_from[i + 1]
                                                          : r->config.address;
        if (te == LEAT_PACKETWAY_TE_HRDOWN) {
            if (x == a || x == b) return true;
        } else if ((x == a && y == b) || (x == b && y == a)) {
            return true;
        }
    }
    return false;
}

static void report_failure(struct leat_packetway_router *r, uint16_t te, uint32_t a, uint32_t b,
                           bool twin, uint32_t index, uint8_t priority)
{
    const uint32_t address = twin ? r->fib.twins[index].address : r->fib.buddies[index].address;
    struct leat_packetway_pending *p = leat_packetway_router_pend(r, LEAT_PACKETWAY_PT_ERR, te,
                                                                  address, priority);
    if (!p) return;
    p->way = twin ? LEAT_PACKETWAY_BY_TWIN : LEAT_PACKETWAY_BY_BUDDY;
    p->index = index;
    leat_packetway_pending_nodes(p, a, b);
}

void leat_packetway_router_fail(struct leat_packetway_router *r, uint16_t te, uint32_t a,
                                uint32_t b, const struct leat_packetway_peer *sender,
                                uint8_t priority, leat_time now)
{
    uint64_t twins = 0, buddies = 0;
    uint8_t failure = 0;
    for (uint32_t i = 0; i < r->table_end; i++) {
        struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state != LEAT_PACKETWAY_XRT_LIVE || !is_hit(r, t, te, a, b)) continue;
        if (!failure) failure = remember(r, te, a, b, now);
        t->state = LEAT_PACKETWAY_XRT_LOST;
        t->failure = failure;
        t->twins_due = t->buddies_due = 0;
        if (t->from_twin) {
            twins |= UINT64_C(1) << t->from;
            buddies = UINT64_MAX;
        } else {
            buddies |= UINT64_C(1) << t->from;
            twins = UINT64_MAX;
        }
    }
    if (!failure) return;
    r->counts.failures++;
    r->fib_stale = true;
    if (sender->known) *(sender->twin ? &twins : &buddies) &= ~(UINT64_C(1) << sender->index);
    twins &= twins_up(r);
    buddies &= buddies_up(r);
    for (uint32_t i = 0; i < r->fib.twin_count; i++)
        if (twins >> i & 1) report_failure(r, te, a, b, true, i, priority);
    for (uint32_t i = 0; i < r->fib.buddy_count; i++)
        if (buddies >> i & 1) report_failure(r, te, a, b, false, i, priority);
}

void leat_packetway_router_on_failure(struct leat_packetway_router *r,
                                      const struct leat_packetway_arrival *arrival,
                                      const struct leat_packetway_message *m, leat_time now)
{
    struct leat_packetway_records records = leat_packetway_message_records(m);
    struct leat_packetway_record a, b;
    struct leat_packetway_peer x;
    if (!is_neighbour(r, arrival, m->header.sa, &x)) return;
    leat_packetway_records_next(&records, &a);
    leat_packetway_records_next(&records, &b);
    leat_packetway_router_fail(r, m->header.te, leat_packetway_record_address(&a).low,
                               leat_packetway_record_address(&b).low, &x, m->header.priority, now);
}

void leat_packetway_router_age(struct leat_packetway_router *r, leat_time now)
{
    for (uint32_t i = 0; i < r->table_end; i++) {
        struct leat_packetway_xrt *t = &r->tables[i];
        leat_time end;
        if (t->state == LEAT_PACKETWAY_XRT_FREE) continue;
        if (t->state == LEAT_PACKETWAY_XRT_LOST)
            end = r->fib.failures[t->failure - 1].until;
        else
            end = leat_time_add(t->learned_at, LEAT_PACKETWAY_EXPIRE_S * LEAT_PACKETWAY_SECOND);
        if (end <= now) {
            leat_packetway_router_forget(r, i);
            r->fib_stale = true;
        } else if (end < r->wake_at) {
            r->wake_at = end;
        }
    }
}

bool leat_packetway_router_table(const struct leat_packetway_router *r, uint32_t index,
                                 struct leat_packetway_table_view *out)
{
    if (index >= r->table_end || r->tables[index].state == LEAT_PACKETWAY_XRT_FREE) return false;
    const struct leat_packetway_xrt *t = &r->tables[index];
    *out = (struct leat_packetway_table_view){
        .sequence = t->sequence,
        .q = t->q,
        .san = t->san,
        .mtu_words = t->mtu_words,
        .received_from = t->received_from,
        .received_from_count = t->received_from_count,
        .csr = t->csr,
        .csr_len = t->csr_len,
        .nodes = leat_packetway_xrt_nodes(t),
        .learned_at = t->learned_at,
        .lost = t->state == LEAT_PACKETWAY_XRT_LOST,
    };
    return true;
}
