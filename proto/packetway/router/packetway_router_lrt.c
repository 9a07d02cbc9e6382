/* This SAN: twins, nodes, buddies, registrations. */
#include "packetway_router_parts.h"
#include <string.h>

/* ---- neighbours ---- */

struct leat_packetway_peer leat_packetway_router_peer(const struct leat_packetway_router *r,
                                                      uint32_t address)
{
    for (uint32_t i = 0; i < r->fib.twin_count; i++)
        if (r->fib.twins[i].address == address)
            return (struct leat_packetway_peer){ .known = true, .twin = true, .index = i };
    for (uint32_t i = 0; i < r->fib.buddy_count; i++)
        if (r->fib.buddies[i].address == address && r->fib.buddies[i].up)
            return (struct leat_packetway_peer){ .known = true, .index = i };
    return (struct leat_packetway_peer){ 0 };
}

/* Requests all tables. A new neighbour gets ours by requesting them likewise. */
static void request_tables(struct leat_packetway_router *r, bool twin, uint32_t index,
                           uint32_t address)
{
    if (!(r->config.levels & LEAT_PACKETWAY_LEVEL_D)) return;
    struct leat_packetway_pending *p = leat_packetway_router_pend(
        r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_GVRT, address, 0);
    if (!p) return;
    p->way = twin ? LEAT_PACKETWAY_BY_TWIN : LEAT_PACKETWAY_BY_BUDDY;
    p->index = index;
}

/* With a second twin, an L2RH must name the twin: routes learned before are no longer valid. */
static void forget_routes_through_twins(struct leat_packetway_router *r)
{
    for (uint32_t i = 0; i < r->table_end; i++)
        if (r->tables[i].from_twin) leat_packetway_router_forget(r, i);
    for (uint32_t i = 0; i < r->fib.twin_count; i++)
        request_tables(r, true, i, r->fib.twins[i].address);
}

leat_err leat_packetway_router_twin(struct leat_packetway_router *r, uint32_t address, uint16_t q,
                                    uint32_t mtu_words, leat_time now)
{
    const struct leat_packetway_peer peer = leat_packetway_router_peer(r, address);
    if (!leat_packetway_address_is_node(address) || address == r->config.address)
        return LEAT_ERR_RANGE;
    if (peer.known && !peer.twin) return LEAT_ERR_RANGE;
    if (!peer.known && r->fib.twin_count == LEAT_PACKETWAY_TWINS_MAX) return LEAT_ERR_FULL;
    const uint32_t index = peer.known ? peer.index : r->fib.twin_count;
    struct leat_packetway_neighbour *t = &r->fib.twins[index];
    const bool up = peer.known ? t->up : true;
    if (!peer.known && r->fib.twin_count == 1) forget_routes_through_twins(r);
    *t = (struct leat_packetway_neighbour){
        .address = address, .q = q, .mtu_words = mtu_words, .up = up
    };
    if (!peer.known) {
        r->fib.twin_count++;
        request_tables(r, true, index, address);
        r->lrt_changed = true;
    }
    r->fib_stale = true;
    if (r->wake_at > now) r->wake_at = now;
    return LEAT_ERR_OK;
}

uint32_t leat_packetway_router_twin_at(const struct leat_packetway_router *r, uint32_t index)
{
    return index < r->fib.twin_count ? r->fib.twins[index].address : 0;
}

leat_err leat_packetway_router_link(struct leat_packetway_router *r, uint32_t twin, bool up,
                                    leat_time now)
{
    const struct leat_packetway_peer peer = leat_packetway_router_peer(r, twin);
    if (!peer.known || !peer.twin) return LEAT_ERR_FIELD;
    struct leat_packetway_neighbour *t = &r->fib.twins[peer.index];
    if (t->up == up) return LEAT_ERR_OK;
    t->up = up;
    r->fib_stale = true;
    if (up) {
        request_tables(r, true, peer.index, twin);
        r->twins_due |= UINT64_C(1) << peer.index;
    } else {
        const struct leat_packetway_peer nobody = { 0 };
        leat_packetway_router_fail(r, LEAT_PACKETWAY_TE_LINKDOWN, r->config.address, twin, &nobody,
                                   0, now);
    }
    return LEAT_ERR_OK;
}

/* ---- nodes ---- */

static uint32_t slot_of(const struct leat_packetway_router *r, uint32_t address)
{
    return address * UINT32_C(0x9E3779B1) >> (32 - r->node_slot_bits);
}

static void hash_in(struct leat_packetway_router *r, uint32_t index)
{
    const uint32_t mask = (UINT32_C(1) << r->node_slot_bits) - 1;
    uint32_t slot = slot_of(r, r->nodes[index].address.low);
    while (r->node_slots[slot])
        slot = (slot + 1) & mask;
    r->node_slots[slot] = index + 1;
}

static void hash_again(struct leat_packetway_router *r)
{
    memset(r->node_slots, 0, ((size_t)1 << r->node_slot_bits) * sizeof *r->node_slots);
    for (uint32_t i = 0; i < r->node_end; i++)
        if (r->nodes[i].address.at == LEAT_PACKETWAY_AT_SINGLE) hash_in(r, i);
}

struct leat_packetway_lrt_node *leat_packetway_router_lrt(struct leat_packetway_router *r,
                                                          uint32_t address)
{
    const uint32_t mask = (UINT32_C(1) << r->node_slot_bits) - 1;
    for (uint32_t slot = slot_of(r, address); r->node_slots[slot]; slot = (slot + 1) & mask) {
        struct leat_packetway_lrt_node *n = &r->nodes[r->node_slots[slot] - 1];
        if (n->address.low == address) return n;
    }
    return NULL;
}

static bool same_address(const struct leat_packetway_address *a,
                         const struct leat_packetway_address *b)
{
    return a->at == b->at && a->low == b->low && a->high == b->high;
}

static struct leat_packetway_lrt_node *find_node(struct leat_packetway_router *r,
                                                 const struct leat_packetway_address *a)
{
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) return leat_packetway_router_lrt(r, a->low);
    for (uint32_t i = 0; i < r->node_end; i++)
        if (same_address(&r->nodes[i].address, a)) return &r->nodes[i];
    return NULL;
}

/* A new one, in the first free slot; NULL: full. */
static struct leat_packetway_lrt_node *new_node(struct leat_packetway_router *r,
                                                const struct leat_packetway_address *a)
{
    uint32_t i = r->node_end;
    if (i == r->config.nodes_max)
        for (i = 0; i < r->node_end && r->nodes[i].address.at; i++) {
        }
    if (i == r->config.nodes_max) return NULL;
    if (i == r->node_end) r->node_end++;
    r->nodes[i] = (struct leat_packetway_lrt_node){ .address = *a };
    r->natives[i] = (struct leat_packetway_native){ 0 };
    if (a->at == LEAT_PACKETWAY_AT_SINGLE) hash_in(r, i);
    return &r->nodes[i];
}

static void free_node(struct leat_packetway_router *r, struct leat_packetway_lrt_node *n)
{
    const bool single = n->address.at == LEAT_PACKETWAY_AT_SINGLE;
    *n = (struct leat_packetway_lrt_node){ 0 };
    if (single) hash_again(r);
}

static leat_err check_node(const struct leat_packetway_router *r,
                           const struct leat_packetway_san_node *node)
{
    const struct leat_packetway_address *a = &node->address;
    if (leat_packetway_address_check(a, false)) return LEAT_ERR_RANGE;
    if (leat_packetway_class_of(a->low) != LEAT_PACKETWAY_CLASS_PHYSICAL) return LEAT_ERR_RANGE;
    if (node->route_len > LEAT_PACKETWAY_L2RH_LEN_MAX) return LEAT_ERR_RANGE;
    if (a->at != LEAT_PACKETWAY_AT_SINGLE) return node->buddy ? LEAT_ERR_RANGE : LEAT_ERR_OK;
    const struct leat_packetway_peer peer = leat_packetway_router_peer(r, a->low);
    return a->low == r->config.address || (peer.known && peer.twin) ? LEAT_ERR_RANGE : LEAT_ERR_OK;
}

/* A free slot among the buddies; LEAT_PACKETWAY_BUDDIES_MAX: none is left. */
static uint32_t buddy_place(const struct leat_packetway_router *r, uint32_t address)
{
    uint32_t free = r->fib.buddy_count;
    for (uint32_t i = r->fib.buddy_count; i-- > 0;) {
        if (!r->fib.buddies[i].up) free = i;
        if (r->fib.buddies[i].up && r->fib.buddies[i].address == address) return i;
    }
    return free;
}

static void set_buddy(struct leat_packetway_router *r, const struct leat_packetway_san_node *node,
                      uint32_t place, uint32_t native)
{
    struct leat_packetway_neighbour *b = &r->fib.buddies[place];
    const bool fresh = !b->up || b->address != node->address.low;
    *b = (struct leat_packetway_neighbour){
        .address = node->address.low, .native = native, .q = node->q, .up = true
    };
    if (place == r->fib.buddy_count) r->fib.buddy_count++;
    if (fresh) request_tables(r, false, place, node->address.low);
}

leat_err leat_packetway_router_node(struct leat_packetway_router *r,
                                    const struct leat_packetway_san_node *node, leat_time now)
{
    const leat_err err = check_node(r, node);
    if (err) return err;
    const uint32_t place = node->buddy ? buddy_place(r, node->address.low) : 0;
    if (place == LEAT_PACKETWAY_BUDDIES_MAX) return LEAT_ERR_FULL;
    struct leat_packetway_lrt_node *n = find_node(r, &node->address);
    if (!n) n = new_node(r, &node->address);
    if (!n) return LEAT_ERR_FULL;

    const uint32_t i = (uint32_t)(n - r->nodes);
    n->mapped = true;
    n->buddy = node->buddy;
    n->q = node->q;
    r->natives[i] = (struct leat_packetway_native){ .len = (uint8_t)node->route_len };
    if (node->route_len) memcpy(r->natives[i].octets, node->route, node->route_len);
    if (node->buddy) set_buddy(r, node, place, i + 1);
    r->fib_stale = r->lrt_changed = true;
    if (r->wake_at > now) r->wake_at = now;
    return LEAT_ERR_OK;
}

/* The other side of a buddy's router, according to its tables: the last but one in RCVF. */
static uint32_t twin_of_buddy(const struct leat_packetway_router *r, uint32_t index)
{
    for (uint32_t i = 0; i < r->table_end; i++) {
        const struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state == LEAT_PACKETWAY_XRT_LIVE && !t->from_twin && t->from == index &&
            t->received_from_count >= 2)
            return t->received_from[t->received_from_count - 2];
    }
    return r->fib.buddies[index].address;
}

leat_err leat_packetway_router_node_gone(struct leat_packetway_router *r,
                                         const struct leat_packetway_address *address,
                                         leat_time now)
{
    struct leat_packetway_lrt_node *n = find_node(r, address);
    if (!n || !n->mapped) return LEAT_ERR_FIELD;
    if (n->buddy) {
        const struct leat_packetway_peer peer = leat_packetway_router_peer(r, address->low);
        const uint32_t twin = twin_of_buddy(r, peer.index);
        r->fib.buddies[peer.index].up = false;
        leat_packetway_router_fail(r, LEAT_PACKETWAY_TE_HRDOWN, address->low, twin, &peer, 0, now);
    }
    free_node(r, n);
    r->fib_stale = r->lrt_changed = true;
    if (r->wake_at > now) r->wake_at = now;
    return LEAT_ERR_OK;
}

/* ---- registration (spec 6.1) ---- */

void leat_packetway_router_describe(struct leat_packetway_build *b,
                                    struct leat_packetway_records records)
{
    struct leat_packetway_record rec;
    while (leat_packetway_records_next(&records, &rec))
        if (rec.type != LEAT_PACKETWAY_RTYP_SRQR && rec.type != LEAT_PACKETWAY_RTYP_MTUR)
            leat_packetway_build_copy(b, rec.octets, rec.len);
}

static bool name_of(const uint8_t *about, size_t len, struct leat_packetway_record *out)
{
    struct leat_packetway_records records = leat_packetway_about_of(about, len);
    return leat_packetway_records_next(&records, out) && out->type == LEAT_PACKETWAY_RTYP_NAME;
}

static bool same_name(const struct leat_packetway_lrt_node *n, const struct leat_packetway_build *b)
{
    struct leat_packetway_record x, y;
    const bool has_x = name_of(n->about, n->about_len, &x), has_y = name_of(b->buf, b->len, &y);
    if (!has_x || !has_y) return has_x == has_y;
    return x.len == y.len && memcmp(x.octets, y.octets, x.len) == 0;
}

static void keep_about(struct leat_packetway_router *r, struct leat_packetway_lrt_node *n,
                       const struct leat_packetway_build *b, leat_time now)
{
    const bool same = n->registered && n->about_len == b->len &&
                      memcmp(n->about, b->buf, b->len) == 0;
    n->answered = n->registered = true;
    n->silences = 0;
    if (!n->poll_at) n->poll_at = leat_time_add(now, r->config.poll_ps);
    if (r->config.poll_ps && n->poll_at < r->wake_at) r->wake_at = n->poll_at;
    if (same) return;
    memcpy(n->about, b->buf, b->len);
    n->about_len = (uint16_t)b->len;
    r->counts.registered++;
    if (n->mapped) r->lrt_changed = true;
}

void leat_packetway_router_register(struct leat_packetway_router *r,
                                    const struct leat_packetway_message *m, const uint8_t *packet,
                                    size_t len, leat_time now)
{
    uint8_t about[LEAT_PACKETWAY_ABOUT_LEN_MAX];
    struct leat_packetway_build b;
    struct leat_packetway_record addr;
    struct leat_packetway_records records = leat_packetway_message_records(m);
    const uint32_t sa = m->header.sa;
    if (leat_packetway_records_count(&records) != 1) return;
    leat_packetway_records_next(&records, &addr);
    const struct leat_packetway_address a = leat_packetway_record_address(&addr);
    if (a.at != LEAT_PACKETWAY_AT_SINGLE || a.low != sa || sa == r->config.address) return;
    if (!leat_packetway_block_holds(&r->config.block, sa)) return;

    leat_packetway_build_init(&b, about, sizeof about);
    struct leat_packetway_lrt_node *n = leat_packetway_router_lrt(r, sa);
    leat_packetway_router_describe(&b, leat_packetway_record_nested(&addr));
    const bool fits = !b.err && !(n && n->registered && !same_name(n, &b));
    if (fits && !n) n = new_node(r, &a);
    if (fits && n) {
        keep_about(r, n, &b, now);
        return;
    }
    r->counts.registrations_refused++;
    if (!fits) leat_packetway_router_complain(r, packet, (uint32_t)len, now);
}

static void remove_registration(struct leat_packetway_router *r, struct leat_packetway_lrt_node *n)
{
    r->counts.silent++;
    n->registered = false;
    n->about_len = 0;
    n->poll_at = 0;
    if (n->mapped)
        r->lrt_changed = true;
    else
        free_node(r, n);
}

void leat_packetway_router_poll(struct leat_packetway_router *r, leat_time now)
{
    if (!r->config.poll_ps) return;
    for (uint32_t i = 0; i < r->node_end; i++) {
        struct leat_packetway_lrt_node *n = &r->nodes[i];
        if (!n->registered) continue;
        if (n->poll_at <= now) {
            if (r->pending_count == r->config.pending_max) { /* soon */
                const leat_time soon = leat_time_add(now, LEAT_PACKETWAY_SECOND / 10);
                if (soon < r->wake_at) r->wake_at = soon;
                return;
            }
            if (!n->answered && ++n->silences == LEAT_PACKETWAY_SILENCES_MAX) {
                remove_registration(r, n);
                continue;
            }
            n->answered = false;
            n->poll_at = leat_time_add(now, r->config.poll_ps);
            leat_packetway_router_pend(r, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_WRU,
                                       n->address.low, 0);
        }
        if (n->poll_at < r->wake_at) r->wake_at = n->poll_at;
    }
}

bool leat_packetway_router_node_at(const struct leat_packetway_router *r, uint32_t index,
                                   struct leat_packetway_san_node_view *out)
{
    if (index >= r->node_end || !r->nodes[index].address.at) return false;
    const struct leat_packetway_lrt_node *n = &r->nodes[index];
    *out = (struct leat_packetway_san_node_view){
        .node = { .address = n->address,
                  .route = r->natives[index].octets,
                  .route_len = r->natives[index].len,
                  .q = n->q,
                  .buddy = n->buddy },
        .about = leat_packetway_about_of(n->about, n->about_len),
        .mapped = n->mapped,
        .registered = n->registered,
    };
    return true;
}
