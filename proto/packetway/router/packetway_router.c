/* A half-router: its memory, the packets that pass, and time. */
#include "packetway_router_parts.h"
#include <string.h>

/* ---- memory ---- */

struct leat_packetway_router_config leat_packetway_router_defaults(void)
{
    return (struct leat_packetway_router_config){
        .levels = LEAT_PACKETWAY_LEVEL_ALL,
        .poll_ps = LEAT_PACKETWAY_POLL_S * LEAT_PACKETWAY_SECOND,
        .nodes_max = 512,
        .tables_max = 64,
        .table_len_max = 32768,
        .passed_max = LEAT_PACKETWAY_RCVF_MAX,
        .csr_len_max = LEAT_PACKETWAY_CSR_LEN_MAX,
        .known_max = 8192,
        .ranges_max = 256,
        .pending_max = 256,
    };
}

enum {
    KNOWN_MIN = LEAT_PACKETWAY_TWINS_MAX + 1, /* this half-router and its twins are always known */
    TABLE_LEN_MAX = 8 * LEAT_PACKETWAY_RL_MAX - LEAT_PACKETWAY_TABLE_HEAD_LEN_MAX,
    PENDING_MAX = 1 << 16,
};

static bool is_legal(const struct leat_packetway_router_config *c)
{
    const unsigned cd = LEAT_PACKETWAY_LEVEL_C | LEAT_PACKETWAY_LEVEL_D;
    if (leat_packetway_block_check(&c->block)) return false;
    if (!leat_packetway_address_is_node(c->address)) return false;
    if (c->levels > LEAT_PACKETWAY_LEVEL_ALL) return false;
    if (c->levels & cd && !(c->levels & LEAT_PACKETWAY_LEVEL_B)) return false;
    if (c->about_len > LEAT_PACKETWAY_ABOUT_LEN_MAX) return false;
    if (c->nodes_max < 1 || c->nodes_max > LEAT_PACKETWAY_LRT_MAX) return false;
    if (c->tables_max < 1 || c->tables_max > LEAT_PACKETWAY_XRT_MAX) return false;
    if (c->table_len_max % 8 || c->table_len_max < LEAT_PACKETWAY_TABLE_LEN_MIN) return false;
    if (c->table_len_max > TABLE_LEN_MAX) return false;
    if (c->passed_max < 1 || c->passed_max > LEAT_PACKETWAY_RCVF_MAX) return false;
    if (c->csr_len_max % 8 || c->csr_len_max > LEAT_PACKETWAY_CSR_LEN_MAX) return false;
    if (c->known_max < KNOWN_MIN || c->known_max > LEAT_PACKETWAY_KNOWN_MAX) return false;
    if (c->ranges_max > LEAT_PACKETWAY_RANGES_MAX) return false;
    return c->pending_max >= 1 && c->pending_max <= PENDING_MAX;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Lays out the parts of *r after it, to measure (memory NULL) or for real. */
static void lay(struct leat_arena *arena, const struct leat_packetway_router_config *c,
                struct leat_packetway_router *r)
{
    memset(r, 0, sizeof *r);
    r->fib.slot_bits = leat_packetway_fib_slot_bits(c->known_max);
    r->node_slot_bits = leat_packetway_fib_slot_bits(c->nodes_max);
    r->db_cap = larger(c->table_len_max + (size_t)LEAT_PACKETWAY_TABLE_HEAD_LEN_MAX,
                       LEAT_PACKETWAY_ANSWER_LEN_MAX);
    r->message_cap = r->db_cap + LEAT_PACKETWAY_MESSAGE_LEN_MIN;

    r->fib.entries = leat_arena_lay_lines(arena, (size_t)1 << r->fib.slot_bits,
                                          sizeof *r->fib.entries);
    r->natives = leat_arena_lay_lines(arena, c->nodes_max, sizeof *r->natives);
    r->fib.ranges = leat_arena_lay(arena, c->ranges_max, sizeof *r->fib.ranges);
    r->fib.index = leat_arena_lay(arena, 1, sizeof *r->fib.index);
    struct leat_packetway_range_link *links = leat_arena_lay(
        arena, leat_packetway_fib_links(c->ranges_max), sizeof *links);
    r->nodes = leat_arena_lay(arena, c->nodes_max, sizeof *r->nodes);
    r->node_slots = leat_arena_lay(arena, (size_t)1 << r->node_slot_bits, sizeof *r->node_slots);
    r->tables = leat_arena_lay(arena, c->tables_max, sizeof *r->tables);
    r->san_bits = leat_packetway_fib_slot_bits(c->tables_max) - 1;
    r->san_first = leat_arena_lay(arena, (size_t)1 << r->san_bits, sizeof *r->san_first);
    r->by_tie = leat_arena_lay(arena, c->tables_max, sizeof *r->by_tie);
    r->by_q = leat_arena_lay(arena, c->tables_max, sizeof *r->by_q);
    r->pending = leat_arena_lay(arena, c->pending_max, sizeof *r->pending);
    r->found = leat_arena_lay(arena, LEAT_PACKETWAY_FOUND_MAX, sizeof *r->found);
    r->tells = leat_arena_lay(arena, LEAT_PACKETWAY_TELLS_MAX, sizeof *r->tells);
    r->db = leat_arena_lay(arena, 1, r->db_cap);
    r->message = leat_arena_lay(arena, 1, r->message_cap);
    r->passed_room = leat_arena_lay(arena, c->tables_max, c->passed_max * sizeof *r->passed_room);
    r->csr_room = leat_arena_lay(arena, c->tables_max, c->csr_len_max);
    r->nodes_room = leat_arena_lay(arena, c->tables_max, c->table_len_max);
    if (!arena->memory) return;

    r->fib.index->links = links;
    memset(r->san_first, 0, ((size_t)1 << r->san_bits) * sizeof *r->san_first);
    memset(r->found, 0, LEAT_PACKETWAY_FOUND_MAX * sizeof *r->found);
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TELLS_MAX; i++)
        r->tells[i].asker = 0;
    memset(r->node_slots, 0, ((size_t)1 << r->node_slot_bits) * sizeof *r->node_slots);
}

size_t leat_packetway_router_footprint(const struct leat_packetway_router_config *config)
{
    struct leat_arena arena = { 0 };
    struct leat_packetway_router measured;
    if (!is_legal(config)) return 0;
    leat_arena_lay(&arena, 1, sizeof measured);
    lay(&arena, config, &measured);
    return arena.used;
}

leat_err leat_packetway_router_init(const struct leat_packetway_router_config *config, void *memory,
                                    size_t len, leat_time now, struct leat_packetway_router **out)
{
    struct leat_arena arena;
    const size_t need = leat_packetway_router_footprint(config);
    if (!need) return LEAT_ERR_RANGE;
    if (!memory || len < need || (uintptr_t)memory % _Alignof(max_align_t)) return LEAT_ERR_MEMORY;
    const leat_err err = leat_packetway_about_check(config->about, config->about_len);
    if (err) return err;

    leat_arena_init(&arena, memory, len);
    struct leat_packetway_router *r = leat_arena_lay(&arena, 1, sizeof *r);
    lay(&arena, config, r);
    r->config = *config;
    r->config.about = NULL; /* no longer the caller's */
    if (config->about_len) memcpy(r->about, config->about, config->about_len);
    r->fib.natives = r->natives;
    r->fib.mtu_words = config->mtu_words;
    r->fib.known_max = config->known_max;
    r->fib.ranges_max = config->ranges_max;
    r->started_at = r->wake_at = now;
    r->originate_at = config->levels & LEAT_PACKETWAY_LEVEL_D ? now : LEAT_NEVER;
    r->fib_stale = true;
    *out = r;
    return LEAT_ERR_OK;
}

/* ---- packets ---- */

static void refuse(struct leat_packetway_router *r, const struct leat_packetway_routed *packet,
                   leat_time now)
{
    const uint8_t *octets = packet->octets + packet->decision.header_at;
    const uint32_t len = packet->len - packet->decision.header_at;
    struct leat_packetway_address about[2];
    uint16_t te;
    const size_t count = leat_packetway_router_reason(r, &packet->decision, &te, about);
    if (te == LEAT_PACKETWAY_TE_GENERAL)
        leat_packetway_router_complain(r, octets, len, now);
    else
        leat_packetway_router_err(r, te, about, count, octets, len, now);
}

/* A node of this SAN sent this half-router a packet that a buddy has to carry. */
static void redirect(struct leat_packetway_router *r, const struct leat_packetway_arrival *arrival,
                     const struct leat_packetway_routed *packet, uint32_t sa, leat_time now)
{
    const struct leat_packetway_decision *d = &packet->decision;
    if (!d->buddy || arrival->side != LEAT_PACKETWAY_FROM_HOST) return;
    if (!(r->config.levels & LEAT_PACKETWAY_LEVEL_B)) return;
    const struct leat_packetway_lrt_node *n = leat_packetway_router_lrt(r, sa);
    if (!n || !n->mapped) return;
    leat_packetway_router_redirect(r, sa, d->dt, r->fib.buddies[d->buddy - 1].address, d->priority,
                                   now);
}

/* Then the tables do not matter: many of them may come before a packet passes. */
static bool is_for_me(const struct leat_packetway_router *r,
                      const struct leat_packetway_routed *packet)
{
    return r->fib.count && packet->len >= LEAT_PACKETWAY_HEADER_LEN &&
           leat_get_be24(packet->octets + LEAT_PACKETWAY_DT_AT) == r->config.address;
}

void leat_packetway_router_route(struct leat_packetway_router *r,
                                 const struct leat_packetway_arrival *arrival, leat_time now,
                                 unsigned depth, struct leat_packetway_routed *packet)
{
    struct leat_packetway_decision *d = &packet->decision;
    if (!is_for_me(r, packet)) leat_packetway_router_refresh(r);
    leat_packetway_forward(&r->fib, arrival->side, packet->octets, packet->len, d);
    r->counts.reason[d->reason]++;
    if (d->verdict == LEAT_PACKETWAY_DROP) {
        r->counts.dropped++;
        return;
    }
    const uint32_t sa = leat_get_be24(packet->octets + d->header_at + LEAT_PACKETWAY_SA_AT);
    if (sa == r->config.address) r->counts.duplicates++;
    switch ((enum leat_packetway_verdict)d->verdict) {
    case LEAT_PACKETWAY_DELIVER:
        leat_packetway_router_deliver(r, arrival, now, depth, packet);
        break;
    case LEAT_PACKETWAY_TO_TWIN: r->counts.to_twin++; break;
    case LEAT_PACKETWAY_TO_SAN:
        r->counts.to_san++;
        redirect(r, arrival, packet, sa, now);
        break;
    case LEAT_PACKETWAY_REFUSE:
        r->counts.refused++;
        refuse(r, packet, now);
        break;
    case LEAT_PACKETWAY_COPIES:
    case LEAT_PACKETWAY_DROP: break;
    }
}

void leat_packetway_router_input(struct leat_packetway_router *r,
                                 const struct leat_packetway_arrival *arrival,
                                 const uint8_t *octets, uint32_t len, leat_time now,
                                 struct leat_packetway_routed *out)
{
    *out = (struct leat_packetway_routed){ .octets = octets,
                                           .len = len,
                                           .error_seen = arrival->error_seen };
    leat_packetway_router_route(r, arrival, now, 0, out);
}

void leat_packetway_router_refused(struct leat_packetway_router *r,
                                   const struct leat_packetway_arrival *arrival,
                                   const uint8_t *octets, uint32_t len, leat_time now)
{
    struct leat_packetway_decision d;
    leat_packetway_router_refresh(r);
    leat_packetway_forward(&r->fib, arrival->side, octets, len, &d);
    if (d.verdict == LEAT_PACKETWAY_DROP) return;
    r->counts.refused++;
    leat_packetway_router_complain(r, octets + d.header_at, len - d.header_at, now);
}

/* ---- logical addresses ---- */

static bool fits(const struct leat_packetway_routed *packet,
                 const struct leat_packetway_decision *d)
{
    return !d->mtu_words || (packet->len - d->consumed) / 8 <= d->mtu_words;
}

/* Does the SAN behind a twin have a member of the group? Its own table says so. */
static bool twin_has_member(const struct leat_packetway_router *r, uint32_t twin, uint32_t logical)
{
    for (uint32_t i = 0; i < r->table_end; i++) {
        const struct leat_packetway_xrt *t = &r->tables[i];
        if (t->state != LEAT_PACKETWAY_XRT_LIVE || !t->from_twin || t->from != twin ||
            t->received_from_count != 1)
            continue;
        struct leat_packetway_records nodes = leat_packetway_xrt_nodes(t);
        struct leat_packetway_record rec;
        while (leat_packetway_records_next(&nodes, &rec))
            if (leat_packetway_logical_matches(leat_packetway_record_nested(&rec), logical))
                return true;
    }
    return false;
}

bool leat_packetway_router_copy(struct leat_packetway_router *r,
                                const struct leat_packetway_arrival *arrival,
                                const struct leat_packetway_routed *packet,
                                struct leat_packetway_copies *copies,
                                struct leat_packetway_decision *out)
{
    const struct leat_packetway_decision *d = &packet->decision;
    const uint32_t sa = leat_get_be24(packet->octets + d->header_at + LEAT_PACKETWAY_SA_AT);
    if (d->verdict != LEAT_PACKETWAY_COPIES) return false;
    while (copies->node < r->node_end) {
        const uint32_t i = copies->node++;
        const struct leat_packetway_lrt_node *n = &r->nodes[i];
        if (!n->mapped || n->address.at != LEAT_PACKETWAY_AT_SINGLE || n->address.low == sa)
            continue;
        if (!leat_packetway_logical_matches(leat_packetway_about_of(n->about, n->about_len), d->dt))
            continue;
        *out = *d;
        leat_packetway_emit(&r->fib, i + 1, out);
        if (fits(packet, out)) return true;
    }
    while (arrival->side != LEAT_PACKETWAY_FROM_TWIN && copies->twin < r->fib.twin_count) {
        const uint32_t i = copies->twin++;
        *out = *d;
        leat_packetway_hand_over(&r->fib, i, out);
        if (out->verdict == LEAT_PACKETWAY_TO_TWIN && twin_has_member(r, i, d->dt) &&
            fits(packet, out))
            return true;
    }
    return false;
}

/* ---- time ---- */

void leat_packetway_router_tick(struct leat_packetway_router *r, leat_time now)
{
    r->wake_at = LEAT_NEVER;
    leat_packetway_router_settle(r, now);
    if (r->originate_at <= now) leat_packetway_router_originate(r, now);
    if (r->originate_at < r->wake_at) r->wake_at = r->originate_at;
    leat_packetway_router_poll(r, now);
    leat_packetway_router_age(r, now);
    leat_packetway_router_end_tells(r, now);
}

leat_time leat_packetway_router_next_at(const struct leat_packetway_router *r)
{
    return r->wake_at;
}

const struct leat_packetway_router_counts *
leat_packetway_router_counts(const struct leat_packetway_router *r)
{
    return &r->counts;
}
