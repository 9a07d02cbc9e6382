/* Cut-through: when packets start to leave a router, and the fate of those that end badly. */
#include "ether_port.h"
#include "sim_packetway_world_test.h"

/* ---- a SAN of wires under the test's control ------------------------------------------------
 *
 * Every message takes as long as any other of its length, whatever else there is; octets come in
 * one after the other.
 */

enum { WIRE_PORTS = 3, WIRE_MESSAGES = 64, WIRES = 2 };
enum { WIRE_SENT, WIRE_HEAD, WIRE_END, WIRE_DONE };

struct wire_message {
    struct leat_port_message message;
    leat_time handed_at, from, until;
    int next; /* the next callback */
};

struct wire {
    struct leat_port_net base; /* the first member */
    leat_time octet_ps, delay_ps;
    bool loses; /* what goes through it, at its end */
    bool vague; /* it does not report when the rest of a message arrives */
    struct wire_message list[WIRE_MESSAGES];
    uint32_t count;
};

static leat_time wire_head_at(const struct wire *w, const struct wire_message *m)
{
    if (!w->vague) return m->handed_at + 2;
    return m->from + w->octet_ps * (m->message.len < 64 ? m->message.len : 64);
}

static leat_time wire_due(const struct wire *w, const struct wire_message *m)
{
    switch (m->next) {
    case WIRE_SENT: return m->handed_at + 1;
    case WIRE_HEAD: return wire_head_at(w, m);
    case WIRE_END: return m->until;
    default: return LEAT_NEVER;
    }
}

static bool wire_send(struct leat_port_net *base, const struct leat_port_message *message,
                      leat_time at)
{
    struct wire *w = (struct wire *)base;
    if (w->count == WIRE_MESSAGES) abort();
    const leat_time from = at + w->delay_ps;
    w->list[w->count++] = (struct wire_message){ *message, at, from,
                                                 from + message->len * w->octet_ps, WIRE_SENT };
    base->in_flight++;
    return true;
}

static void wire_report(struct wire *w, struct wire_message *m)
{
    const struct leat_port_observer *h = &w->base.observer;
    switch (m->next++) {
    case WIRE_SENT: h->sent(h->context, &m->message, w->base.now); break;
    case WIRE_HEAD:
        if (h->head && w->vague) h->head(h->context, &m->message, w->base.now, LEAT_NEVER);
        if (h->head && !w->vague) h->head(h->context, &m->message, m->from, m->until);
        break;
    default:
        w->base.in_flight--;
        if (w->loses && m->message.len > 100)
            h->lost(h->context, &m->message, "cut in two", w->base.now);
        else
            h->arrived(h->context, &m->message, w->base.now);
    }
}

static leat_time wire_run(struct leat_port_net *base, leat_time until)
{
    struct wire *w = (struct wire *)base;
    struct wire_message *first = NULL;
    for (uint32_t i = 0; i < w->count; i++)
        if (!first || wire_due(w, &w->list[i]) < wire_due(w, first)) first = &w->list[i];
    if (!first || wire_due(w, first) > until) {
        if (until != LEAT_NEVER) base->now = until;
        return base->now;
    }
    base->now = wire_due(w, first);
    wire_report(w, first);
    return base->now;
}

static struct pair {
    struct wire wire[WIRES];
    struct leat_sim_packetway_san san[WIRES];
    struct leat_sim_packetway_router router;
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
    void *memory;
    uint32_t sent, arrived, lost;
    leat_time ended_at;
    uint64_t ei;
    uint8_t octets[4096];
} pair;

static void pair_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
    pair.sent++;
}

static void pair_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context;
    pair.arrived++;
    pair.ended_at = at;
    for (uint32_t i = 0; i < m->len; i++)
        if (m->octets[i] != (uint8_t)(i * 7)) {
            EQ(m->octets[i], (uint8_t)(i * 7));
            break;
        }
}

static void pair_lost(void *context, const struct leat_port_message *m, const char *why,
                      leat_time at)
{
    (void)context, (void)m;
    OK(why && *why);
    pair.lost++;
    pair.ended_at = at;
}

static void pair_event(void *context, uint32_t port, const struct leat_packetway_event *event,
                       leat_time at)
{
    (void)context, (void)port, (void)at;
    if (event->kind == LEAT_PACKETWAY_EVENT_DATA) pair.ei |= event->message.ei;
}

/* a.0, a.1 and a router between a.2 and b.0; b.1 and b.2. */
static void pair_make(void)
{
    static const struct leat_port_ops ops = { .send = wire_send, .run = wire_run };
    memset(&pair, 0, sizeof pair);
    for (uint32_t i = 0; i < WIRES; i++) {
        pair.wire[i].base = (struct leat_port_net){ .ops = &ops, .ports = WIRE_PORTS };
        pair.san[i] = (struct leat_sim_packetway_san){ i ? "b" : "a",
                                                       &pair.wire[i].base,
                                                       { .kind = LEAT_SIM_PACKETWAY_RING,
                                                         .ports = WIRE_PORTS },
                                                       i ? 0x200 : 0x100,
                                                       512,
                                                       10 };
    }
    pair.router = (struct leat_sim_packetway_router){ "west", 2, { { 0, 2 }, { 1, 0 } } };
    pair.config = (struct leat_sim_packetway_config){ .san = pair.san,
                                                      .sans = WIRES,
                                                      .router = &pair.router,
                                                      .routers = 1,
                                                      .messages_max = 16,
                                                      .cut_through = true,
                                                      .buffer = 4,
                                                      .watch = { .event = pair_event } };
}

static void pair_open(void)
{
    struct leat_text why = LEAT_TEXT(200);
    OK(!leat_sim_packetway_check(&pair.config, &why));
    pair.memory = calloc(1, leat_sim_packetway_footprint(&pair.config));
    if (!pair.memory) abort();
    leat_sim_packetway_init(&pair.net, &pair.config, pair.memory);
    pair.net.base.observer = (struct leat_port_observer){
        .context = &pair, .sent = pair_sent, .arrived = pair_arrived, .lost = pair_lost
    };
}

/* A message from a.0 to b.1, after one that has obtained the plan. */
static void pair_carry(uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        pair.octets[i] = (uint8_t)(i * 7);
    for (uint64_t id = 0; id < 2; id++) {
        const struct leat_port_message m = {
            .from = 0, .to = 2, .id = id, .octets = pair.octets, .len = id ? len : 0
        };
        OK(leat_port_send(&pair.net.base, &m, pair.net.base.now));
        while (pair.net.base.in_flight)
            leat_port_run(&pair.net.base, LEAT_NEVER);
    }
}

static const struct wire_message *last_of(uint32_t wire)
{
    return &pair.wire[wire].list[pair.wire[wire].count - 1];
}

/* ---- when it begins ------------------------------------------------------------------------- */

/* When the octet that arrived as number `index` may leave: a word later than it arrived. */
static leat_time may_go(const struct wire_message *in, uint64_t index, leat_time lag)
{
    const uint64_t len = in->message.len, seen = index + 9 < len ? index + 9 : len;
    return in->from + seen * pair.wire[0].octet_ps + lag;
}

/* The earliest start at which the next SAN finds every octet there, by trying all: not before both
 * half-routers have decided, the first after 4 octets, the second after so many. */
static leat_time earliest(const struct wire_message *in, const struct wire_message *out,
                          uint32_t second)
{
    const struct leat_port_net *net = &pair.wire[1].base;
    const uint64_t consumed = in->message.len - out->message.len;
    const leat_time lag = pair.config.link_ps, cost = pair.config.planned_ps;
    const leat_time octet = pair.wire[0].octet_ps;
    const leat_time waits = 4 * octet + cost > second * octet ? 4 * octet + cost : second * octet;
    leat_time start = in->from + waits + lag + cost;
    for (uint64_t i = 0; i < out->message.len; i++) {
        const uint64_t piece = i / net->taken_octets; /* all of it is needed at once */
        const uint64_t end = (piece + 1) * net->taken_octets - 1;
        const uint64_t last = end < out->message.len ? end : out->message.len - 1;
        const leat_time go = may_go(in, consumed + last, lag), takes = piece * net->taken_ps;
        if (go > takes && go - takes > start) start = go - takes;
    }
    return start;
}

/* Whether the next SAN takes its octets as slowly as they arrive, and the packet is forwarded at
 * once; or all at once, so that the packet must wait for its end; or randomly. */
enum pace { SLOW, FAST, ANY };

static void set_pace(enum pace pace)
{
    struct leat_port_net *next = &pair.wire[1].base;
    if (pace == ANY) return;
    pair.config.planned_ps = pair.config.address_ps = 1000;
    pair.wire[0].octet_ps += 1000;
    next->taken_ps = pace == SLOW ? next->taken_octets * pair.wire[0].octet_ps : 1;
}

static void a_packet_goes_on_as_soon_as_it_never_runs_dry(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 300 + LEAT_ROUNDS / 1000; round++) {
        const enum pace pace = round % 8 < ANY ? (enum pace)(round % 8) : ANY;
        const bool by_address = leat_random_below(&r, 2);
        const bool narrow = leat_random_below(&r, 4) == 0 && pace == ANY;
        pair_make();
        pair.config.by_address = by_address;
        pair.config.host_ps = pair.config.link_ps = 1000 + leat_random_below(&r, 100000);
        pair.config.planned_ps = pair.config.address_ps = 1000 + leat_random_below(&r, 100000);
        pair.wire[0].octet_ps = 1 + leat_random_below(&r, 5000);
        pair.wire[1].octet_ps = 1000;
        pair.wire[0].delay_ps = pair.wire[1].delay_ps = 10 + leat_random_below(&r, 100000);
        pair.wire[1].base.taken_octets = 1 + (uint32_t)leat_random_below(&r, 40);
        pair.wire[1].base.taken_ps = 1 + leat_random_below(&r, 100000);
        if (narrow) pair.san[1].mtu_words = 300;
        set_pace(pace);
        pair_open();
        pair_carry((pace == FAST ? 200 : 0) + (uint32_t)leat_random_below(&r, 1800));
        const struct wire_message *in = last_of(0), *out = last_of(1);
        /* 5.8: four octets, or up to h of the PH where the next MTU is smaller. */
        const leat_time start = earliest(in, out, !narrow ? 4 : by_address ? 13 : 8 + 13);
        const leat_time off = out->handed_at > start ? out->handed_at - start
                                                     : start - out->handed_at;
        OK(off <= 1); /* a ps of rounding */
        const uint64_t begin = in->message.len - out->message.len + pair.wire[1].base.taken_octets;
        const leat_time first = may_go(in, begin, pair.config.link_ps);
        if (pace == SLOW) OK(out->handed_at <= first);
        if (pace == FAST) OK(out->handed_at > first + 2 * pair.config.planned_ps);
        EQ(pair.arrived, 2);
        EQ(pair.lost, 0);
        EQ(pair.ended_at, out->until);
        OK(pair.net.counts.cut <= pair.net.counts.passed);
        free(pair.memory);
    }
}

static void where_nobody_tells_or_nobody_wants_it_all_is_stored(void)
{
    for (int i = 0; i < 3; i++) {
        pair_make();
        pair.config.host_ps = pair.config.link_ps = 5000;
        pair.config.planned_ps = pair.config.address_ps = 7000;
        pair.wire[0].octet_ps = pair.wire[1].octet_ps = 100;
        pair.wire[0].delay_ps = pair.wire[1].delay_ps = 100;
        pair.wire[1].base.taken_octets = 1;
        pair.wire[1].base.taken_ps = i == 0 ? 0 : 100; /* it may need all of it at once */
        pair.config.cut_through = i != 1;
        pair_open();
        pair_carry(1000);
        const struct wire_message *in = last_of(0), *out = last_of(1);
        const leat_time expected[] = { in->until + 5000, in->until + 2 * 7000 + 5000,
                                       in->from + 4 * 100 + 2 * 7000 + 5000 };
        EQ(out->handed_at, expected[i]);
        EQ(pair.net.counts.cut, i == 2);
        free(pair.memory);
    }
}

/* Decisions are made while it arrives, and it is forwarded when all has. */
static void where_nobody_knows_when_the_rest_comes_only_decisions_are_early(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    uint32_t saved = 0, hidden = 0;
    for (int round = 0; round < 200 + LEAT_ROUNDS / 5000; round++) {
        pair_make();
        pair.wire[0].vague = true;
        pair.config.by_address = leat_random_below(&r, 2);
        pair.config.host_ps = pair.config.link_ps = 1000 + leat_random_below(&r, 100000);
        pair.config.planned_ps = pair.config.address_ps = 1000 + leat_random_below(&r, 500000);
        pair.wire[0].octet_ps = 1 + leat_random_below(&r, 1000);
        pair.wire[1].octet_ps = pair.wire[1].base.taken_ps = 100;
        pair.wire[1].base.taken_octets = 1;
        pair.wire[0].delay_ps = pair.wire[1].delay_ps = 100;
        pair_open();
        pair_carry((uint32_t)leat_random_below(&r, 2000));
        const struct wire_message *in = last_of(0), *out = last_of(1);
        const leat_time decided = wire_head_at(&pair.wire[0], in) + 2 * pair.config.planned_ps +
                                  pair.config.link_ps;
        const leat_time there = in->until + pair.config.link_ps;
        EQ(out->handed_at, decided > there ? decided : there);
        saved += decided > there;
        hidden += decided <= there;
        EQ(pair.arrived, 2);
        EQ(pair.net.counts.cut, 0);
        free(pair.memory);
    }
    OK(saved > 20 && hidden > 20);
}

/* ---- what ends badly ------------------------------------------------------------------------ */

static void pair_make_slow(void)
{
    pair_make();
    pair.config.host_ps = pair.config.link_ps = 5000;
    pair.config.planned_ps = pair.config.address_ps = 7000;
    pair.wire[0].octet_ps = pair.wire[1].octet_ps = 1000;
    pair.wire[0].delay_ps = pair.wire[1].delay_ps = 100;
    pair.wire[1].base.taken_octets = 1;
    pair.wire[1].base.taken_ps = 1000;
}

/* Octets that have left cannot be recalled: EI of its last word accuses the router. */
static void a_fault_behind_the_head_is_reported_by_ei(void)
{
    uint32_t count[3];
    for (int i = 0; i < 3; i++) {
        pair_make_slow();
        pair.wire[0].loses = true;
        pair.wire[0].vague = i == 2;
        pair.config.cut_through = i;
        pair_open();
        pair_carry(1000);
        EQ(pair.lost, 1);
        EQ(pair.arrived, 1);
        EQ(pair.ei, i > 0);
        count[i] = pair.wire[1].count;
        EQ(pair.net.base.in_flight, 0);
        free(pair.memory);
    }
    EQ(count[1], count[0] + 1); /* half of it was forwarded */
    EQ(count[2], count[0] + 1);
}

static void errors_count_by_the_end_of_a_packet(void)
{
    for (int k = 0; k < 6; k++) {
        const int i = k % 3;
        pair_make_slow();
        pair.wire[0].vague = k >= 3;
        pair_open();
        pair_carry(1000);
        const leat_time from = last_of(0)->from, until = last_of(0)->until;
        free(pair.memory);
        const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ERRORS, 0,
                                                        i == 1 ? until + 1 : until - 1,
                                                        i == 2 ? until : LEAT_NEVER };
        pair_make_slow();
        pair.wire[0].vague = k >= 3;
        pair.config.fault = &fault;
        pair.config.faults = 1;
        pair_open();
        pair_carry(1000);
        EQ(last_of(0)->from, from);
        EQ(pair.ei, i == 0);
        EQ(pair.lost, i == 0);
        free(pair.memory);
    }
}

static void a_router_that_dies_leaves_half_a_packet(void)
{
    pair_make_slow();
    pair_open();
    pair_carry(1000);
    const leat_time from = last_of(0)->from, out = last_of(1)->handed_at;
    free(pair.memory);
    const leat_time deaths[] = { from - 1, from + 5000, out - 1, out + 1, out + 500000 };
    for (size_t k = 0; k < 2 * (sizeof deaths / sizeof *deaths); k++) {
        const size_t i = k / 2;
        const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, 0,
                                                        deaths[i], LEAT_NEVER };
        pair_make_slow();
        pair.config.fault = &fault;
        pair.config.faults = 1;
        pair_open();
        pair.wire[0].vague = k % 2;
        pair_carry(1000);
        EQ(pair.lost, 1);
        EQ(pair.arrived, 1);
        EQ(pair.ei, k % 2 == 0 && deaths[i] > out); /* a packet that waits for its end is dropped */
        free(pair.memory);
    }
}

/* ---- SANs as they are ----------------------------------------------------------------------- */

static struct world one, other, stored;

static struct {
    leat_time from, at;
    uint32_t count;
} claim;

static void on_head(void *context, const struct leat_port_message *m, leat_time from, leat_time at)
{
    (void)context, (void)m;
    claim.from = from;
    claim.at = at;
    claim.count++;
}

/* One message through a single SAN: when it arrives, and what was reported of its head. */
static leat_time carry_alone(struct world *w, uint32_t san, uint32_t from, uint32_t to,
                             uint64_t len, leat_time at)
{
    struct leat_port_net *net = w->san[san].net;
    const uint32_t id = w->count++;
    for (uint64_t i = 0; i < len; i++)
        w->octets[i] = (uint8_t)(id + i * 11 + i / 251);
    w->message[id] = (struct leat_port_message){
        .from = from, .to = to, .id = id, .octets = w->octets, .len = len
    };
    w->last = 0;
    claim.count = 0;
    net->observer = (struct leat_port_observer){ .context = w,
                                                 .sent = world_sent,
                                                 .arrived = world_arrived,
                                                 .lost = world_lost,
                                                 .head = on_head };
    OK(leat_port_send(net, &w->message[id], at));
    while (net->in_flight)
        leat_port_run(net, LEAT_NEVER);
    return w->reported[id].arrived_at;
}

static void open_way(struct world *w, const uint32_t way[2], bool cut_through, bool contention_free,
                     bool by_address)
{
    world_make(w, contention_free);
    w->config.cut_through = cut_through;
    w->config.by_address = by_address;
    w->router[0] =
        (struct leat_sim_packetway_router){ "only", 2, { { way[0], 1 }, { way[1], 1 } } };
    w->config.routers = 1;
    for (uint32_t i = 0; i < SANS; i++)
        w->san[i].mtu_words = 128;
    world_open(w);
}

static uint32_t host_of(const struct world *w, uint32_t san, uint32_t port)
{
    uint32_t host;
    OK(leat_sim_packetway_find(&w->net, w->san[san].bias + 1 + port, &host));
    return host;
}

/* The second of two messages of 800 octets. */
static leat_time second_one(struct world *w, const uint32_t way[2], leat_time start)
{
    const uint32_t from = host_of(w, way[0], 0), to = host_of(w, way[1], 3);
    world_send(w, from, to, 800, 0);
    world_finish(w);
    const uint32_t id = world_send(w, from, to, 800, start);
    world_finish(w);
    EQ(w->reported[id].arrived, 1);
    return w->reported[id].arrived_at;
}

static void idle_ways_take_the_closed_form(void)
{
    /* A bit of 4 ns; a word of 4 octets in 19 cycles of 50 ns; a flit of 16 octets at 300 MHz. */
    static const struct {
        uint32_t octets;
        leat_time ps;
        const char *name;
    } takes[SANS] = { { 1, 32000, "ring" }, { 4, 950000, "clos" }, { 16, 3333, "mesh" } };
    static const uint32_t way[][2] = { { RING, CLOS }, { CLOS, RING }, { RING, MESH },
                                       { MESH, RING }, { CLOS, MESH }, { MESH, CLOS } };
    const leat_time start = UINT64_C(10000000000);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        open_way(&one, way[i], true, true, false);
        open_way(&stored, way[i], false, true, false);
        world_make(&other, true);
        const leat_time cut_at = second_one(&one, way[i], start);
        const leat_time stored_at = second_one(&stored, way[i], start);
        /* L2RH of the second SAN (a word), PH, head, data, TAIL */
        const uint64_t out_len = 8 * (2 + 2 + 100 + 1), in_len = 8 + out_len;
        const leat_time decided = 2 * one.config.planned_ps + one.config.link_ps;
        carry_alone(&other, way[i][0], 0, 1, in_len, start + one.config.host_ps);
        EQ(claim.count, 1);
        const uint32_t to = way[i][1];
        const leat_time comes = claim.at - claim.from;
        const leat_time rest = (out_len - 9) / takes[to].octets * takes[to].ps;
        const leat_time soon = claim.from + comes * 4 / in_len + decided;
        const leat_time first = claim.from + comes * (8 + takes[to].octets + 8) / in_len +
                                one.config.link_ps;
        const leat_time safe = claim.at + one.config.link_ps - rest;
        const leat_time from = soon > first ? (soon > safe ? soon : safe)
                                            : (first > safe ? first : safe);
        EQ(carry_alone(&other, to, 1, 3, out_len, from), cut_at);
        OK(cut_at < stored_at);
        OK(one.net.counts.cut > 0 || way[i][0] == MESH); /* which is faster than decisions */
        EQ(stored.net.counts.cut, 0);
        printf("# %s to %s: 800 octets take %.2f us, stored %.2f us\n", takes[way[i][0]].name,
               takes[to].name, 1e-6 * (double)(cut_at - start), 1e-6 * (double)(stored_at - start));
        world_close(&one);
        world_close(&stored);
        world_close(&other);
    }
}

/* A mesh whose flits may be delayed: routers decide when the first of its packets has arrived. */
static void a_real_mesh_hides_decisions(void)
{
    static const uint32_t way[2] = { MESH, CLOS };
    const leat_time start = UINT64_C(10000000000);
    for (unsigned by_address = 0; by_address < 2; by_address++) {
        open_way(&one, way, true, false, by_address);
        open_way(&stored, way, false, false, by_address);
        world_make(&other, false);
        const leat_time cut_at = second_one(&one, way, start);
        const leat_time stored_at = second_one(&stored, way, start);
        const uint64_t out_len = 8 * (2 + 2 + 100 + 1), in_len = out_len + (by_address ? 0 : 8);
        const leat_time each = by_address ? one.config.address_ps : one.config.planned_ps;
        const leat_time end = carry_alone(&other, MESH, 0, 1, in_len, start + one.config.host_ps);
        const leat_time decided = claim.from + 2 * each + one.config.link_ps;
        const leat_time there = end + one.config.link_ps;
        EQ(claim.count, 1);
        EQ(claim.at, LEAT_NEVER);
        EQ(carry_alone(&other, CLOS, 1, 3, out_len, decided > there ? decided : there), cut_at);
        EQ(carry_alone(&other, CLOS, 1, 3, out_len,
                       start + UINT64_C(10000000000) + (end - start) + 2 * each +
                           one.config.link_ps),
           stored_at + UINT64_C(10000000000));
        OK(cut_at < stored_at);
        world_close(&one);
        world_close(&stored);
        world_close(&other);
    }
}

/* ---- reports of SANs are true ---------------------------------------------------------------- */

enum { ETHER = SANS, KINDS, HEADS = 200 };

static struct {
    struct leat_port_net *net;
    struct leat_port_message message[HEADS];
    leat_time handed_at[HEADS], from[HEADS], at[HEADS], arrived_at[HEADS];
    uint32_t heads[HEADS];
} heads;

static void heads_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
}

static void heads_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context;
    heads.arrived_at[m->id] = at;
}

static void heads_lost(void *context, const struct leat_port_message *m, const char *why,
                       leat_time at)
{
    (void)context, (void)m, (void)why, (void)at;
    OK(false);
}

static void heads_head(void *context, const struct leat_port_message *m, leat_time from,
                       leat_time at)
{
    (void)context;
    OK(heads.net->now <= from && from <= at && !heads.arrived_at[m->id]);
    heads.from[m->id] = from;
    heads.at[m->id] = at;
    heads.heads[m->id]++;
}

/* When octet i of a message had arrived, by the pictures of the headers; ps. */
static double octet_at(int kind, const struct leat_port_message *m, uint64_t i, leat_time arrived)
{
    const double end = (double)arrived;
    const uint64_t len = m->len, behind = len - 1 - i, payload = 15 * 16;
    switch (kind) {
    case RING: return end - 4000.0 * 8 * (double)behind;
    case ETHER: return end - 10000.0 * 8 * (double)behind; /* not before FCS, that is */
    case CLOS: {
        const uint64_t rest = len % 4, io = 19 * (len / 4) + (rest ? 3 + 4 * rest : 0);
        return end - 50000.0 * (double)(io - (19 * (i / 4) + 4 * (i % 4) + 5));
    }
    default: { /* a flit a cycle, of 16 in a packet one for its head */
        const uint64_t last = (len - 1) / 16 + (len - 1) / payload + 1;
        const uint64_t flit = i / 16 + i / payload + 1;
        return end - 1e4 / 3 * (double)(last - flit);
    }
    }
}

static void check_heads(int kind)
{
    uint32_t reported = 0;
    for (uint32_t id = 0; id < HEADS; id++) {
        const struct leat_port_message *m = &heads.message[id];
        reported += heads.heads[id];
        OK(heads.heads[id] <= 1 && heads.arrived_at[id]);
        if (!heads.heads[id]) continue;
        OK(heads.arrived_at[id] <= heads.at[id]);
        if (heads.at[id] == LEAT_NEVER) {
            OK(heads.from[id] < heads.arrived_at[id] && m->len > LEAT_PORT_HEAD_LEN);
            continue;
        }
        const double from = (double)heads.from[id], comes = (double)heads.at[id] - from;
        for (uint64_t i = 0; i < m->len; i++) {
            const double is = octet_at(kind, m, i, heads.arrived_at[id]);
            const double claimed = from + comes * (double)(i + 1) / (double)m->len;
            const double taken = (double)heads.handed_at[id] +
                                 (double)(i / heads.net->taken_octets * heads.net->taken_ps);
            if (is <= claimed + 2 && taken <= is + 2) continue; /* ps: of rounding */
            OK(is <= claimed + 2);
            OK(taken <= is + 2);
            return;
        }
    }
    OK(reported > HEADS / 2);
}

static void load_heads(struct leat_port_net *net, struct leat_random *r, bool packets)
{
    static uint8_t octets[8192];
    memset(&heads, 0, sizeof heads);
    heads.net = net;
    net->observer = (struct leat_port_observer){
        .sent = heads_sent, .arrived = heads_arrived, .lost = heads_lost, .head = heads_head
    };
    leat_time at = 0;
    for (uint32_t id = 0; id < HEADS; id++) {
        const uint32_t from = (uint32_t)leat_random_below(r, net->ports);
        const uint32_t to = (from + 1 + (uint32_t)leat_random_below(r, net->ports - 1)) %
                            net->ports;
        const uint64_t least = packets ? 24 : 0;
        const uint64_t len = least + leat_random_below(r, packets ? 970 : 4000);
        at += leat_random_below(r, 100000000);
        heads.handed_at[id] = at;
        heads.message[id] = (struct leat_port_message){
            .from = from, .to = to, .id = id, .octets = octets, .len = len
        };
        OK(leat_port_send(net, &heads.message[id], at));
    }
    while (net->in_flight)
        leat_port_run(net, LEAT_NEVER);
}

/* 100 Mbit/s. */
static struct leat_port_net *open_ether(struct world *w, struct leat_sim_ether_port *ether,
                                        bool contention_free)
{
    const struct leat_sim_ether_port_config c = { .stations = 9,
                                                  .clock = { 10000, 1 },
                                                  .frame_octets = 1500,
                                                  .buffer = 4,
                                                  .messages_max = 4 * MESSAGES,
                                                  .contention_free = contention_free };
    leat_sim_ether_port_init(ether, &c, world_memory(w, leat_sim_ether_port_footprint(&c)));
    return &ether->base;
}

/* No octet arrives later than reported, none is sent sooner than possible: single packets octet by
 * octet. */
static void sans_keep_their_word(void)
{
    static struct leat_sim_ether_port ether;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned contention_free = 0; contention_free < 2; contention_free++) {
            world_make(&one, contention_free);
            struct leat_port_net *net = kind == ETHER ? open_ether(&one, &ether, contention_free)
                                                      : one.san[kind].net;
            load_heads(net, &r, kind != MESH);
            check_heads(kind);
            world_close(&one);
        }
}

/* Reporting heads changes nothing. */
static void certificates_are_the_same_with_and_without_heads(void)
{
    static struct leat_sim_ether_port ether;
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t certificate[2];
        for (int without = 0; without < 2; without++) {
            struct leat_random r;
            leat_random_seed(&r, tap_seed());
            world_make(&one, false);
            struct leat_port_net *net = kind == ETHER ? open_ether(&one, &ether, false)
                                                      : one.san[kind].net;
            load_heads(net, &r, false);
            const leat_time start = net->now + 1000000;
            if (without) net->observer.head = NULL;
            for (uint32_t id = 0; id < HEADS; id++)
                OK(leat_port_send(net, &heads.message[id], start + id * UINT64_C(1000000)));
            memset(heads.arrived_at, 0, sizeof heads.arrived_at);
            while (net->in_flight)
                leat_port_run(net, LEAT_NEVER);
            certificate[without] = net->certificate;
            world_close(&one);
        }
        EQ(certificate[0], certificate[1]);
    }
}

/* An Ethernet replaces the mesh. */
static void open_with_ether(struct world *w, struct leat_sim_ether_port *ether, uint64_t seed)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    world_make(w, false);
    w->san[MESH].name = "ether";
    w->san[MESH].net = open_ether(w, ether, false);
    w->san[MESH].native = (struct leat_sim_packetway_native){ .kind = LEAT_SIM_PACKETWAY_ETHERNET,
                                                              .ports = 9,
                                                              .words_max = 186 };
    w->config.by_address = leat_random_below(&r, 2);
    w->config.buffer = 1 + (uint32_t)leat_random_below(&r, 4);
    world_open(w);
    for (uint32_t i = 0; i < 200; i++)
        world_send_random(w, &r, 3000, 80000000);
}

static void runs_are_the_same_however_they_are_cut(void)
{
    static struct leat_sim_ether_port ether[2];
    for (uint64_t seed = tap_seed(); seed < tap_seed() + 4; seed++) {
        open_with_ether(&one, &ether[0], seed);
        open_with_ether(&other, &ether[1], seed);
        world_finish(&one);
        for (leat_time until = 0; other.net.base.in_flight;) {
            until += 313131;
            while (other.net.base.now < until)
                leat_port_run(&other.net.base, until);
        }
        OK(one.net.counts.cut > 0);
        EQ(one.net.counts.cut, other.net.counts.cut);
        for (uint32_t i = 0; i < one.count; i++) {
            EQ(one.reported[i].arrived + one.reported[i].lost, 1);
            EQ(one.reported[i].arrived_at, other.reported[i].arrived_at);
        }
        EQ(one.net.base.certificate, other.net.base.certificate);
        world_close(&one);
        world_close(&other);
    }
}

TAP_MAIN(T(a_packet_goes_on_as_soon_as_it_never_runs_dry),
         T(where_nobody_tells_or_nobody_wants_it_all_is_stored),
         T(where_nobody_knows_when_the_rest_comes_only_decisions_are_early),
         T(a_fault_behind_the_head_is_reported_by_ei), T(errors_count_by_the_end_of_a_packet),
         T(a_router_that_dies_leaves_half_a_packet), T(idle_ways_take_the_closed_form),
         T(a_real_mesh_hides_decisions), T(sans_keep_their_word),
         T(certificates_are_the_same_with_and_without_heads),
         T(runs_are_the_same_however_they_are_cut))
