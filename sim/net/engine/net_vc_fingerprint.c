/*
 * The state fingerprint of routers with virtual channels. The order of lists does not matter (see
 * net_vc_parts.h), so they are sorted, or told by the states of their members. What a router knows
 * of a packet's route follows from the route, which is the owner's, and from where its head is.
 */
#include "leat_sort.h"
#include "net_vc_parts.h"

enum { RECORDS_MAX = 512 }; /* of a day: more have no fingerprint */

struct moment {
    const struct leat_net *net;
    const struct leat_net_vc *vc;
    const struct leat_net_names *names;
    struct leat_fingerprint *out;
};

static void put(const struct moment *m, uint64_t word)
{
    leat_fingerprint_put(m->out, word);
}

static void put_packet(const struct moment *m, const struct leat_net_packet *packet, uint32_t flit)
{
    const uint64_t name = m->names->name(m->names->context, packet);
    put(m, name << 2 | (uint64_t)(flit & (LEAT_NET_VC_HEAD | LEAT_NET_VC_TAIL)) >> 30);
}

static void put_flit(const struct moment *m, uint32_t flit)
{
    const struct leat_net_flight *flight = leat_net_vc_flight(m->vc, flit);
    if (flight->fate != LEAT_NET_DELIVERED) leat_fingerprint_fail(m->out);
    put_packet(m, &flight->packet, flit);
}

/* ---- sources --------------------------------------------------------------------------------- */

static void put_source(const struct moment *m, const struct leat_net_vc_source *source)
{
    const bool idle = source->state == LEAT_NET_VC_SOURCE_EMPTY ||
                      source->state == LEAT_NET_VC_SOURCE_WOKEN;
    if (source->state == LEAT_NET_VC_SOURCE_WAITS || source->state == LEAT_NET_VC_SOURCE_HELD)
        leat_fingerprint_fail(m->out);
    put(m, (uint64_t)source->state << 8 | source->channel);
    if (idle) return;
    put(m, (uint64_t)source->sent << 32 | source->packet.flits);
    put_packet(m, &source->packet, 0);
}

/* ---- wires ----------------------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* The records of a row and day, sorted; a wire has at most one flit in each. Returns how many. */
static uint32_t sorted_day(const struct moment *m, const struct leat_net_vc_calendar *c,
                           uint32_t place, uint64_t *record)
{
    uint32_t count = 0;
    while (place) {
        const uint64_t next = c->record[--place];
        if (place % LEAT_NET_VC_CHUNK == 0) {
            place = (uint32_t)next;
        } else if (count == RECORDS_MAX) {
            leat_fingerprint_fail(m->out);
            return 0;
        } else {
            record[count++] = next;
        }
    }
    leat_sort(record, count, sizeof *record, is_before, NULL);
    return count;
}

static void put_flits_of(const struct moment *m, uint32_t place)
{
    uint64_t record[RECORDS_MAX];
    const uint32_t count = sorted_day(m, &m->vc->flits, place, record);
    for (uint32_t i = 0; i < count && !m->out->differs; i++) {
        put(m, record[i] >> 32);
        put_flit(m, (uint32_t)record[i]);
    }
}

static void put_credits_of(const struct moment *m, uint32_t place)
{
    uint64_t record[RECORDS_MAX];
    const uint32_t count = sorted_day(m, &m->vc->credits, place, record);
    for (uint32_t i = 0; i < count && !m->out->differs; i++)
        put(m, record[i]);
}

/* Row by row: a record's meaning depends on its row. */
static void put_calendar(const struct moment *m, const struct leat_net_vc_calendar *c,
                         void (*put_records)(const struct moment *m, uint32_t place))
{
    const uint64_t first = leat_net_vc_slot(m->vc, 0, m->net->now);
    put(m, c->full_days);
    for (uint32_t slot = 0; c->full_days && slot <= c->last_slot && !m->out->differs; slot++) {
        put_records(m, c->day[(first + slot) & c->last_slot]);
        put(m, LEAT_NEVER);
    }
}

static void put_wires(const struct moment *m)
{
    put_calendar(m, &m->vc->flits, put_flits_of);
    put_calendar(m, &m->vc->credits, put_credits_of);
}

/* ---- routers --------------------------------------------------------------------------------- */

static bool knows_port(const struct leat_net_vc_lane *l)
{
    return l->state == LEAT_NET_VC_ASKS || l->state == LEAT_NET_VC_MOVES;
}

static void put_lane(const struct moment *m, uint32_t lane)
{
    const struct leat_net_vc_lane *l = leat_net_vc_lane_at(m->vc, lane);
    if (l->state == LEAT_NET_VC_DISCARDS) leat_fingerprint_fail(m->out);
    put(m, (uint64_t)l->next << 48 | (uint64_t)l->count << 32 |
               (uint64_t)(knows_port(l) ? l->port : 0) << 16 | l->state);
    if (l->state == LEAT_NET_VC_IDLE && !l->count) return;
    if (l->state == LEAT_NET_VC_ASKS) put(m, (uint64_t)l->channels << 8 | l->phase);
    if (l->state == LEAT_NET_VC_MOVES) put_flit(m, leat_net_vc_mover(m->vc, lane));
    if (l->count) put_flit(m, l->front);
    for (uint32_t i = 1; i < l->count; i++)
        put_flit(m, *leat_net_vc_place(m->vc, lane, i));
}

static void put_in(const struct moment *m, uint32_t port)
{
    const struct leat_net_vc_in *in = leat_net_vc_in_at(m->vc, port);
    put(m, (uint64_t)in->able << 32 | (uint64_t)in->out_turn << 16 | in->channel_turn);
    for (uint32_t c = 0; c < m->net->config.channels && !m->out->differs; c++)
        put_lane(m, port << m->vc->shift | c);
}

/* What is known of the lanes at the other end of a wire. */
static void put_ahead(const struct moment *m, const struct leat_net_vc_ahead *ahead)
{
    for (uint32_t c = 0; c < m->net->config.channels; c++)
        put(m, (uint64_t)ahead[c].used << 16 | ahead[c].next);
}

static void put_sleepers(const struct moment *m, uint32_t number)
{
    const struct leat_net_vc_router *router = leat_net_vc_router_at(m->vc, number);
    put(m, (uint64_t)router->sleepers << 1 | router->hungry);
    for (uint32_t w = 0; router->sleepers && w < m->vc->words; w++)
        put(m, router->sleeping[w]);
}

static void put_routers(const struct moment *m)
{
    const struct leat_net_topology *topology = m->net->topology;
    for (uint32_t i = 0; i < topology->ins && !m->out->differs; i++)
        put_in(m, i);
    for (uint32_t o = 0; o < topology->outs && !m->out->differs; o++) {
        const struct leat_net_vc_out *out = leat_net_vc_out_at(m->vc, o);
        put(m, (uint64_t)out->taken << 32 | out->turn);
        put_ahead(m, out->ahead);
    }
    for (uint32_t t = 0; t < topology->terminals && !m->out->differs; t++)
        put_ahead(m, &m->vc->entry[(size_t)t << m->vc->shift]);
    for (uint32_t r = 0; r < topology->routers && !m->out->differs; r++)
        put_sleepers(m, r);
}

/* Words that differ most often come first. */
void leat_net_vc_fingerprint(const struct leat_net *net, const struct leat_net_names *names,
                             struct leat_fingerprint *out)
{
    const struct leat_net_vc *vc = net->state;
    const struct moment m = { .net = net, .vc = vc, .names = names, .out = out };
    if (vc->ended_count || vc->discards_count || vc->waiting || net->out_errors ||
        net->broken_wires || leat_net_flights_none(&vc->flights))
        leat_fingerprint_fail(out);
    put(&m, vc->inside);
    for (uint32_t t = 0; t < net->topology->terminals && !out->differs; t++)
        put_source(&m, &vc->source[t]);
    if (!out->differs) put_wires(&m);
    if (!out->differs) put_routers(&m);
}
