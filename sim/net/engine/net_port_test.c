#include "net_port_test.h"

/* ---- messages and packets -------------------------------------------------------------------- */

static void a_message_is_as_many_packets_as_it_needs(void)
{
    static const struct {
        uint64_t len, packets, flits; /* of 7 flits of 16 octets and a head */
    } row[] = { { 0, 1, 1 },    { 1, 1, 2 },    { 16, 1, 2 },   { 17, 1, 3 },  { 112, 1, 8 },
                { 113, 2, 10 }, { 224, 2, 16 }, { 225, 3, 18 }, { 336, 3, 24 } };
    struct leat_net_port_config bare = usual;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        EQ(leat_net_port_packets(&usual, row[i].len), row[i].packets);
        EQ(leat_net_port_flits(&usual, row[i].len), row[i].flits);
    }
    bare.head_flits = 0;
    EQ(leat_net_port_flits(&bare, 0), 1); /* a packet has a flit */
    EQ(leat_net_port_flits(&bare, 128), 8);
    EQ(leat_net_port_packets(&bare, 129), 2);
    EQ(leat_net_port_flits(&bare, 129), 9);
}

static const char *complaint(const struct leat_net_port_config *config)
{
    static char line[256];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    const leat_err err = leat_net_port_check(config, &why);
    line[why.len] = 0;
    OK(!err == !why.len);
    return line;
}

static void what_cannot_be_is_refused_with_what_was_expected(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
    OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &golden));
    const struct leat_net_port_config sound = one.port.config;
    struct leat_net_port_config c = sound;
    c.flit_octets = 0;
    OK(!strcmp(complaint(&c), "octets of a flit 0, expected 1 to 65536"));
    c = sound;
    c.packet_flits = 65536;
    OK(!strcmp(complaint(&c), "flits of a packet 65536, expected 1 to 65535"));
    c.packet_flits = 0;
    OK(!strcmp(complaint(&c), "flits of a packet 0, expected 1 to 65535"));
    c = sound;
    c.head_flits = 8;
    OK(!strcmp(complaint(&c), "flits of a packet's head 8, expected 0 to 7"));
    c = sound;
    c.messages_max = 0;
    OK(!strcmp(complaint(&c), "messages in flight 0, expected 1 to 16777216"));
    c = sound;
    c.net.flow = LEAT_NET_CUT_THROUGH;
    c.packet_flits = 9;
    OK(!strcmp(complaint(&c),
               "flits of a packet, all of which must fit a buffer, 9, expected 1 to 8"));
    c = sound;
    c.clock = (struct leat_sim_clock){ 1, 2 };
    OK(!strcmp(complaint(&c), "period of the clock, expected 1 ps or more"));
    c = sound;
    c.net.pipeline = 0;
    OK(*complaint(&c));
    bench_close(&one);
}

/* ---- single messages ------------------------------------------------------------------------- */

/* In a mesh, from its first corner to its last: computed by hand. */
static void a_single_message_takes_the_time_of_the_closed_form(void)
{
    for (uint32_t pipeline = 1; pipeline <= LEAT_NET_PIPELINE_MAX; pipeline += 3)
        for (uint32_t wire = 1; wire <= 27; wire += 13)
            for (uint32_t packets = 1; packets <= 4; packets++) {
                struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 3);
                struct leat_net_port_config config = usual;
                const struct leat_net_config net = ample(pipeline, wire);
                const uint64_t start = 7, flits = packets * 16, len = packets * 15 * 16,
                               head = 2 + 5 * (pipeline + wire) + pipeline + 1;
                shape.wire_cycles = wire;
                config.packet_flits = 16;
                OK(bench_open(&one, &shape, LEAT_NET_DOR, &config, &net));
                OK(send(&one, 0, 11, 77, len, edge_of(&one, start - 1) + 1));
                run_out(&one);
                EQ(one.received_count, 2);
                EQ(one.received[0].what, SENT);
                EQ(one.received[0].at, edge_of(&one, start + flits - 1));
                EQ(one.received[1].what, ARRIVED);
                EQ(one.received[1].at, edge_of(&one, start + head + flits - 1));
                EQ(one.received[1].message.id, 77);
                EQ(one.received[1].message.len, len);
                OK(one.received[1].message.octets == octets);
                bench_close(&one);
            }
}

static void storing_costs_a_packet_at_every_router(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 5, 0);
    struct leat_net_config net = ample(3, 1);
    struct leat_net_port_config config = usual;
    net.flow = LEAT_NET_STORE_AND_FORWARD;
    for (int alone = 0; alone < 2; alone++) {
        config.contention_free = alone;
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &config, &net));
        OK(send(&one, 0, 4, 0, 3 * 112, 0));
        run_out(&one);
        EQ(one.received[1].at, edge_of(&one, 2 + 5 * 4 + 5 * 7 + 23));
        bench_close(&one);
    }
}

/* ---- contention-free is what a message does alone -------------------------------------------- */

struct place {
    enum leat_net_kind kind;
    enum leat_net_route_rule rule;
    uint32_t numbers, number[3];
};

static const struct place places[] = {
    { LEAT_NET_LINE, LEAT_NET_DOR, 1, { 6 } },
    { LEAT_NET_RING, LEAT_NET_DOR, 1, { 7 } },
    { LEAT_NET_CROSSBAR, LEAT_NET_DOR, 1, { 9 } },
    { LEAT_NET_GRID, LEAT_NET_DOR, 1, { 5 } },
    { LEAT_NET_MESH, LEAT_NET_DOR, 2, { 4, 3 } },
    { LEAT_NET_MESH, LEAT_NET_VALIANT, 2, { 4, 4 } },
    { LEAT_NET_MESH, LEAT_NET_ADAPTIVE, 2, { 4, 4 } },
    { LEAT_NET_TORUS, LEAT_NET_DOR, 2, { 5, 4 } },
    { LEAT_NET_TORUS, LEAT_NET_ADAPTIVE, 2, { 5, 4 } },
    { LEAT_NET_HYPERCUBE, LEAT_NET_DOR, 1, { 4 } },
    { LEAT_NET_HYPERX, LEAT_NET_UPDOWN, 2, { 3, 4 } },
    { LEAT_NET_FLY, LEAT_NET_TAG, 2, { 2, 3 } },
    { LEAT_NET_BENES, LEAT_NET_TAG, 1, { 8 } },
    { LEAT_NET_CLOS, LEAT_NET_TAG, 3, { 3, 4, 3 } },
    { LEAT_NET_FATTREE, LEAT_NET_UPDOWN, 2, { 2, 3 } },
    { LEAT_NET_DRAGONFLY, LEAT_NET_HIERARCHICAL, 3, { 2, 3, 1 } },
};
enum { PLACES = sizeof places / sizeof *places };

static struct leat_net_shape shape_at(const struct place *place, uint32_t wire_cycles)
{
    struct leat_net_shape shape = shape_of(place->kind, 0, 0);
    shape.numbers = place->numbers;
    memcpy(shape.number, place->number, sizeof place->number);
    shape.wire_cycles = wire_cycles;
    return shape;
}

static uint64_t random_len(struct leat_random *random)
{
    const uint32_t packets = between(random, 0, 4);
    switch (between(random, 0, 3)) {
    case 0: return between(random, 0, 20);
    case 1: return 112 * packets + between(random, 0, 2);
    case 2: return between(random, 0, 1000);
    default: return between(random, 0, 20000);
    }
}

/* One message at a time, each some time after the one before has arrived: real and contention-free
 * ports report the same. */
static void chase(struct leat_random *random, const struct leat_net_config *net)
{
    struct leat_net_port_config alone = usual;
    alone.contention_free = true;
    alone.seed = one.port.config.seed;
    other.world = one.world;
    open_ports(&other, &alone, net);
    EQ(one.port.base.latency, other.port.base.latency);
    for (uint32_t i = 0; i < 40; i++) {
        const leat_time at = one.port.base.now + (i % 3 ? between(random, 0, 400000) : 0);
        const uint32_t from = between(random, 0, one.port.base.ports - 1);
        const uint32_t to = between(random, 0, one.port.base.ports - 1);
        const uint64_t len = random_len(random);
        OK(send(&one, from, to, i, len, at) && send(&other, from, to, i, len, at));
        run_out(&one);
        run_out(&other);
        EQ(one.port.base.now, other.port.base.now);
        OK(one.port.base.now - at >= one.port.base.latency);
    }
    EQ(one.received_count, 80);
    EQ(other.received_count, 80);
    for (uint32_t i = 0; i < 80; i++)
        OK(one.received[i].what == other.received[i].what &&
           one.received[i].at == other.received[i].at);
    OK(one.port.base.certificate == other.port.base.certificate);
    close_ports(&other);
}

static void contention_free_ports_report_what_a_message_does_alone(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t i = 0; i < PLACES * LEAT_NET_SWITCHES * 2; i++) {
        const struct place *place = &places[i % PLACES];
        const struct leat_net_shape shape = shape_at(place, between(&random, 1, 9));
        struct leat_net_config net = ample(between(&random, 1, 5), shape.wire_cycles);
        net.architecture = (enum leat_net_switch)(i / PLACES % LEAT_NET_SWITCHES);
        if (net.architecture == LEAT_NET_SWITCH_VC)
            net.flow = (enum leat_net_flow)between(&random, 0, LEAT_NET_CUT_THROUGH);
        net.channels = net.architecture == LEAT_NET_SWITCH_VC ? 8 : 1;
        if (!bench_open(&one, &shape, place->rule, &usual, &net)) continue;
        const int failed = tap_checks_failed;
        chase(&random, &net);
        if (failed != tap_checks_failed)
            printf("# %s %s %s pipeline %u wire %u\n", leat_net_kind_name(shape.kind),
                   leat_net_rule_name(place->rule), leat_net_switch_name(net.architecture),
                   net.pipeline, shape.wire_cycles);
        bench_close(&one);
    }
}

/* Few channels, short buffers, long pipelines: a message takes at least as long as
 * contention-free. */
static void a_poor_network_is_never_faster_than_one_without_contention(void)
{
    struct leat_random random;
    struct leat_net_port_config alone = usual;
    leat_random_seed(&random, tap_seed() + 1);
    alone.contention_free = true;
    for (uint32_t i = 0; i < 100; i++) {
        const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 3);
        struct leat_net_config net = golden;
        net.architecture = (enum leat_net_switch)(i % LEAT_NET_SWITCHES);
        net.channels = net.architecture == LEAT_NET_SWITCH_VC ? between(&random, 1, 3) : 1;
        net.buffer_flits = between(&random, 1, 9);
        net.pipeline = between(&random, 1, LEAT_NET_PIPELINE_MAX);
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &net));
        other.world = one.world;
        open_ports(&other, &alone, &net);
        const uint32_t from = between(&random, 0, 11);
        const uint32_t to = between(&random, 0, 11);
        const uint64_t len = random_len(&random);
        OK(send(&one, from, to, 0, len, 5) && send(&other, from, to, 0, len, 5));
        run_out(&one);
        run_out(&other);
        OK(one.port.base.now >= other.port.base.now);
        OK(other.port.base.now - 5 >= other.port.base.latency);
        close_ports(&other);
        bench_close(&one);
    }
}

static void contention_free_ports_send_and_take_in_one_message_after_the_other(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_CROSSBAR, 4, 0);
    struct leat_net_port_config alone = usual;
    alone.contention_free = true;
    OK(bench_open(&one, &shape, LEAT_NET_DOR, &alone, &golden));
    OK(send(&one, 0, 1, 1, 112, 0)); /* 8 flits: sent in 7, there in 2 + 4 + 7 */
    OK(send(&one, 0, 2, 2, 112, 0)); /* sent in 15, there in 21 */
    OK(send(&one, 3, 1, 3, 16, 1));  /* 2 flits: taken in 1, sent in 2, there behind the first */
    OK(send(&one, 0, 0, 4, 0, 0));   /* to itself: sent in 16, there in 22 */
    run_out(&one);
    static const struct {
        uint64_t cycle, id;
        int what;
    } row[] = { { 2, 3, SENT },     { 7, 1, SENT },  { 13, 1, ARRIVED }, { 15, 2, SENT },
                { 15, 3, ARRIVED }, { 16, 4, SENT }, { 21, 2, ARRIVED }, { 22, 4, ARRIVED } };
    EQ(one.received_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        EQ(one.received[i].at, edge_of(&one, row[i].cycle));
        EQ(one.received[i].message.id, row[i].id);
        EQ(one.received[i].what, row[i].what);
    }
    bench_close(&one);
}

/* ---- a port ---------------------------------------------------------------------------------- */

static void a_port_sends_by_time_then_in_the_order_of_calls(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 3, 3);
    static const uint64_t order[] = { 4, 2, 3, 1 };
    OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &golden));
    OK(send(&one, 4, 0, 1, 500, 90000));
    OK(send(&one, 4, 0, 2, 40, 50001));
    OK(send(&one, 4, 0, 3, 600, 50001));
    OK(send(&one, 4, 0, 4, 600, 50000));
    run_out(&one);
    for (uint32_t i = 0, sent = 0, arrived = 0; i < 8; i++)
        EQ(one.received[i].message.id, order[one.received[i].what == SENT ? sent++ : arrived++]);
    bench_close(&one);
}

static void the_present_moves_to_what_is_reported_or_up_to_until(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_CROSSBAR, 2, 0);
    for (int alone = 0; alone < 2; alone++) {
        struct leat_net_port_config config = usual;
        config.contention_free = alone;
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &config, &golden));
        struct leat_port_net *net = &one.port.base;
        EQ(leat_port_run(net, LEAT_NEVER), 0);
        EQ(leat_port_run(net, 1234567), 1234567);
        EQ(leat_port_run(net, 1234566), 1234567);
        EQ(leat_port_run(net, LEAT_NEVER), 1234567);
        OK(send(&one, 0, 1, 0, 0, 2000000)); /* an edge: accepted there */
        EQ(leat_port_run(net, 2000000), 2000000);
        EQ(one.received_count, 0);
        EQ(leat_port_run(net, 2000001), 2000000); /* sent */
        EQ(one.received_count, 1);
        OK(send(&one, 0, 1, 1, 0, 2000000)); /* that edge is over */
        EQ(leat_port_run(net, LEAT_NEVER), 2003333);
        EQ(leat_port_run(net, LEAT_NEVER), 2020000);
        EQ(one.received[2].what, ARRIVED);
        EQ(one.received[2].message.id, 0);
        EQ(net->in_flight, 1);
        EQ(leat_port_run(net, LEAT_NEVER), 2023333);
        EQ(leat_port_run(net, LEAT_NEVER), 2023333);
        EQ(net->latency, 20000);
        bench_close(&one);
    }
}

static void no_more_messages_are_in_flight_than_may_be(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 3, 0);
    struct leat_net_port_config config = usual;
    config.messages_max = 3;
    for (int alone = 0; alone < 2; alone++) {
        config.contention_free = alone;
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &config, &golden));
        for (uint64_t round = 0; round < 5; round++) {
            const leat_time now = one.port.base.now;
            OK(send(&one, 0, 2, 3 * round, 1000, now + 50000));
            OK(send(&one, 0, 2, 3 * round + 1, 1, now));
            OK(send(&one, 1, 2, 3 * round + 2, 0, now));
            OK(!send(&one, 1, 2, 99, 0, now));
            run_out(&one);
            EQ(one.received_count, 6 * (round + 1));
        }
        bench_close(&one);
    }
}

/* ---- campaigns ------------------------------------------------------------------------------- */

enum { PORTS_MAX = 32 };

struct campaign {
    uint32_t messages;
    uint64_t span_ps; /* in which they are sent */
    uint64_t seed;
};

static leat_time handed_over[RECEIVED_MAX];

static void send_all(struct bench *b, const struct campaign *c)
{
    struct leat_random random;
    leat_random_seed(&random, c->seed);
    for (uint32_t i = 0; i < c->messages; i++) {
        const uint32_t from = between(&random, 0, b->port.base.ports - 1);
        const uint32_t to = between(&random, 0, b->port.base.ports - 1);
        const uint32_t len_max = between(&random, 0, 9) ? 400 : 4000;
        const uint64_t len = between(&random, 0, len_max);
        const struct leat_port_message m = {
            .from = from, .to = to, .id = i, .octets = octets + i % 1000, .len = len
        };
        handed_over[i] = leat_random_below(&random, c->span_ps);
        OK(leat_port_send(&b->port.base, &m, handed_over[i]));
    }
}

/* The order in which a port sends: by time, then by send(). */
static bool goes_first(uint64_t a, uint64_t b)
{
    return handed_over[a] != handed_over[b] ? handed_over[a] < handed_over[b] : a < b;
}

/* The number of a message among those of its port, counted independently. */
static uint64_t number_of(const struct bench *b, const struct received *h)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < b->received_count; i++)
        number += b->received[i].what == SENT && b->received[i].message.from == h->message.from &&
                  goes_first(b->received[i].message.id, h->message.id);
    return number;
}

/* Everything is sent and then arrives, once; in order of time, at the same time in order of ports;
 * messages from one port to another in the order in which they were sent. Certificate and
 * octets. */
static void check_received(const struct bench *b, const struct campaign *c)
{
    static uint8_t state[RECEIVED_MAX];
    static uint64_t last_sent[PORTS_MAX], last_arrived[PORTS_MAX][PORTS_MAX];
    struct leat_sim_certificate certificate;
    leat_sim_certificate_init(&certificate);
    memset(state, 0, sizeof state);
    memset(last_sent, 0xff, sizeof last_sent);
    memset(last_arrived, 0xff, sizeof last_arrived);
    EQ(b->received_count, 2 * c->messages);
    for (uint32_t i = 0; i < b->received_count; i++) {
        const struct received *h = &b->received[i], *before = i ? h - 1 : h;
        const struct leat_port_message *m = &h->message;
        const bool sent = h->what == SENT;
        uint64_t *last = sent ? &last_sent[m->from] : &last_arrived[m->from][m->to];
        OK(h->what != LOST && state[m->id] == (sent ? 0 : 1));
        state[m->id]++;
        OK(*last == UINT64_MAX || goes_first(*last, m->id));
        *last = m->id;
        OK(h->at > before->at ||
           (h->at == before->at &&
            (before->what == SENT ? before->message.from : before->message.to) <=
                (sent ? m->from : m->to)));
        OK(m->octets == octets + m->id % 1000);
        if (sent) continue;
        OK(h->at - handed_over[m->id] >= b->port.base.latency);
        const struct leat_sim_delivery d = { h->at, m->from, m->to, number_of(b, h),
                                             leat_sim_payload_hash(m->octets, (size_t)m->len) };
        leat_sim_certificate_add(&certificate, &d);
    }
    OK(leat_sim_certificate_value(&certificate) == b->port.base.certificate);
}

/* The same again, now in small steps. */
static void run_in_steps(struct bench *b, struct leat_random *random)
{
    while (b->port.base.in_flight)
        leat_port_run(&b->port.base, b->port.base.now + between(random, 0, 9000));
}

static bool play(const struct place *place, const struct leat_net_config *net,
                 const struct campaign *c, bool alone)
{
    struct leat_random random;
    const struct leat_net_shape shape = shape_at(place, 2);
    struct leat_net_port_config config = usual;
    leat_random_seed(&random, c->seed + 1);
    config.contention_free = alone;
    config.seed = c->seed;
    if (!bench_open(&one, &shape, place->rule, &config, net)) return false;
    send_all(&one, c);
    run_out(&one);
    check_received(&one, c);
    if (!alone) EQ(leat_net_flits_inside(&one.port.net), 0);
    other.world = one.world;
    open_ports(&other, &config, net);
    send_all(&other, c);
    run_in_steps(&other, &random);
    check_received(&other, c);
    EQ(one.received_count, other.received_count);
    OK(one.port.base.certificate == other.port.base.certificate);
    if (!alone) EQ(one.port.net.counts.flit_hops, other.port.net.counts.flit_hops);
    for (uint32_t i = 0; i < one.received_count; i++)
        OK(one.received[i].at == other.received[i].at &&
           one.received[i].what == other.received[i].what &&
           one.received[i].message.id == other.received[i].message.id);
    close_ports(&other);
    bench_close(&one);
    return true;
}

static void all_arrives_in_order_and_the_same_however_it_is_run(void)
{
    struct leat_random random;
    uint32_t played = 0;
    leat_random_seed(&random, tap_seed());
    leat_random_fill(&random, octets, sizeof octets);
    for (uint32_t i = 0; i < PLACES * 8; i++) {
        const struct place *place = &places[i % PLACES];
        struct leat_net_config net = golden;
        net.architecture = i / PLACES % 2 ? (enum leat_net_switch)(i / PLACES / 2 + 1)
                                          : LEAT_NET_SWITCH_VC;
        const bool vc = net.architecture == LEAT_NET_SWITCH_VC;
        const bool rings = place->kind == LEAT_NET_RING || place->kind == LEAT_NET_TORUS ||
                           place->kind == LEAT_NET_DRAGONFLY || place->rule == LEAT_NET_VALIANT;
        if (!vc && rings) continue; /* they may deadlock */
        net.channels = vc ? 4 : 1;
        net.pipeline = between(&random, 1, 4);
        if (vc) net.flow = (enum leat_net_flow)between(&random, 0, LEAT_NET_FLOWS - 1);
        const struct campaign c = { .messages = 600,
                                    .span_ps = UINT64_C(1) << between(&random, 20, 25),
                                    .seed = tap_seed() + i };
        const int failed = tap_checks_failed;
        played += play(place, &net, &c, i / PLACES % 4 == 3);
        if (failed != tap_checks_failed)
            printf("# %s %s %s pipeline %u\n", leat_net_kind_name(place->kind),
                   leat_net_rule_name(place->rule), leat_net_switch_name(net.architecture),
                   net.pipeline);
    }
    OK(played > PLACES * 4);
}

/* ---- what is lost ---------------------------------------------------------------------------- */

static void a_network_that_is_dead_loses_all_that_is_in_flight_and_all_that_comes(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_RING, 8, 0);
    for (unsigned a = 0; a < LEAT_NET_SWITCH_OUTPUT; a++) {
        struct leat_net_config net = golden;
        net.architecture = (enum leat_net_switch)a;
        net.channels = 1;
        net.buffer_flits = 1;
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &net));
        for (uint32_t i = 0; i < 80; i++)
            OK(send(&one, i % 8, (i + 3) % 8, i, 5000, 0));
        OK(send(&one, 0, 1, 80, 5000, UINT64_C(1) << 50));
        run_out(&one);
        const leat_time died_at = one.port.base.now;
        uint32_t lost = 0;
        for (uint32_t i = 0; i < one.received_count; i++) {
            if (one.received[i].what != LOST) continue;
            EQ(one.received[i].at, died_at);
            OK(strstr(one.received[i].why, "deadlock") != NULL);
            lost++;
        }
        OK(lost > 8 && died_at < UINT64_C(1) << 50);
        OK(send(&one, 3, 4, 81, 0, died_at + 77));
        EQ(leat_port_run(&one.port.base, died_at + 77), died_at + 77);
        EQ(leat_port_run(&one.port.base, LEAT_NEVER), died_at + 77);
        EQ(one.received[one.received_count - 1].message.id, 81);
        EQ(one.received[one.received_count - 1].what, LOST);
        EQ(one.port.base.in_flight, 0);
        bench_close(&one);
    }
}

/* Each of a crossbar's first four ports sends to the last: there is not enough room. */
static void what_finds_no_room_is_lost_once_and_the_rest_of_it_is_not_sent(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_CROSSBAR, 5, 0);
    for (unsigned a = LEAT_NET_SWITCH_FIFO; a < LEAT_NET_SWITCHES; a++) {
        struct leat_net_config net = golden;
        uint32_t ended[3] = { 0 };
        net.architecture = (enum leat_net_switch)a;
        net.channels = 1;
        net.drop = true;
        net.buffer_flits = 4;
        OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &net));
        for (uint32_t i = 0; i < 40; i++)
            OK(send(&one, i % 4, 4, i, 2000, 0));
        run_out(&one);
        leat_port_run(&one.port.base, one.port.base.now + 10000000);
        for (uint32_t i = 0; i < one.received_count; i++) {
            ended[one.received[i].what]++;
            OK(one.received[i].what != LOST || strstr(one.received[i].why, "no room"));
        }
        EQ(ended[ARRIVED] + ended[LOST], 40);
        OK(ended[LOST] > 0 && ended[SENT] >= ended[ARRIVED]);
        OK(one.port.net.counts.packets_begun < 40 * leat_net_port_packets(&usual, 2000));
        EQ(leat_net_flits_inside(&one.port.net), 0);
        bench_close(&one);
    }
}

/* With bit errors: every message ends once, nothing else is reported of a lost one, and those that
 * arrive keep their order. */
static void check_lossy(const struct bench *b, const struct campaign *c)
{
    static uint8_t state[RECEIVED_MAX];
    static uint64_t last_arrived[PORTS_MAX][PORTS_MAX];
    uint32_t count[3] = { 0 };
    memset(state, 0, sizeof state);
    memset(last_arrived, 0xff, sizeof last_arrived);
    for (uint32_t i = 0; i < b->received_count; i++) {
        const struct received *h = &b->received[i];
        const struct leat_port_message *m = &h->message;
        uint64_t *last = &last_arrived[m->from][m->to];
        count[h->what]++;
        OK(state[m->id] == (h->what == ARRIVED) || (h->what == LOST && state[m->id] < 2));
        state[m->id] = h->what == SENT ? 1 : 2;
        if (h->what != ARRIVED) continue;
        OK(*last == UINT64_MAX || goes_first(*last, m->id));
        *last = m->id;
    }
    EQ(count[ARRIVED] + count[LOST], c->messages);
    OK(count[LOST] > c->messages / 20 && count[ARRIVED] > c->messages / 20);
}

static void with_losses_every_message_ends_once(void)
{
    static uint32_t errors[4096];
    for (uint32_t i = 0; i < PLACES; i++) {
        const struct leat_net_shape shape = shape_at(&places[i], 1);
        const struct campaign c = { 600, UINT64_C(1) << 23, tap_seed() + i };
        OK(bench_open(&one, &shape, places[i].rule, &usual, &golden));
        OK(one.world.topology.outs <= sizeof errors / sizeof *errors);
        for (uint32_t out = 0; out < one.world.topology.outs; out++)
            errors[out] = UINT32_C(1) << 24; /* a flit of 256, on each wire */
        leat_net_errors(&one.port.net, errors, c.seed);
        send_all(&one, &c);
        run_out(&one);
        check_lossy(&one, &c);
        bench_close(&one);
    }
}

static struct leat_net_faults faults;

/* Applies a fault to a line of four routers while port 0 sends port 3 a long message and then,
 * in cycle 10000, a short one. */
static void suffer(const char *fault, const struct leat_net_config *net)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 4, 0);
    struct leat_net_port_config config = usual;
    struct leat_net_fault_player player;
    struct leat_text why = LEAT_TEXT(256);
    leat_net_faults_init(&faults);
    OK(!leat_net_faults_line(&faults, fault, strlen(fault), &why));
    OK(world_build(&one.world, &shape, LEAT_NET_DOR, net->channels));
    void *memory = world_memory(leat_net_fault_player_footprint(&faults, &one.world.topology));
    leat_net_fault_player_init(&player, &faults, &one.world.topology, 1, memory);
    config.faults = &player;
    open_ports(&one, &config, net);
    OK(send(&one, 0, 3, 0, 4000, 0));
    OK(send(&one, 0, 3, 1, 0, edge_of(&one, 10000)));
    run_out(&one);
    bench_close(&one);
    free(memory);
}

static const struct received *end_of(uint64_t id)
{
    static const struct received none = { .what = -1, .why = "" };
    for (uint32_t i = 0; i < one.received_count; i++)
        if (one.received[i].message.id == id && one.received[i].what != SENT)
            return &one.received[i];
    return &none;
}

static void faults_are_reported_with_their_reason(void)
{
    static const struct {
        const char *fault, *why; /* of the first message */
        int first, second;
    } row[] = {
        { "link:1>2@100..5000", "broke", LOST, ARRIVED },
        { "link:1>2@100..", "broke", LOST, LOST },
        { "link:1>2", "are broken", LOST, LOST },
        { "port:3@..5000", "destination port is dead", LOST, ARRIVED },
        { "port:0@..5000", "leave by is dead", LOST, ARRIVED },
        { "port:0@100..5000", "leave by is dead", LOST, ARRIVED },
        { "port:0@5000..", NULL, ARRIVED, LOST },
        { "port:2@100..", NULL, ARRIVED, ARRIVED },
        { "ber:1e-2@..5000", "bit error", LOST, ARRIVED },
    };
    for (unsigned a = 0; a < LEAT_NET_SWITCHES; a++)
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            struct leat_net_config net = golden;
            net.architecture = (enum leat_net_switch)a;
            if (a != LEAT_NET_SWITCH_VC) net.channels = 1;
            suffer(row[i].fault, &net);
            EQ(end_of(0)->what, row[i].first);
            EQ(end_of(1)->what, row[i].second);
            if (row[i].why) OK(end_of(0)->why && strstr(end_of(0)->why, row[i].why));
        }
}

/* A port that is killed between runs, directly: nothing moves, and that is reported. */
static void what_waits_in_a_port_that_died_is_lost_when_nothing_else_happens(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 3, 0);
    OK(bench_open(&one, &shape, LEAT_NET_DOR, &usual, &golden));
    for (uint32_t i = 0; i < 3; i++)
        OK(send(&one, 0, 2, i, 1000, 0));
    leat_port_run(&one.port.base, LEAT_NEVER);
    EQ(one.received[0].what, SENT);
    leat_net_kill(&one.port.net, 0, true);
    run_out(&one);
    EQ(end_of(0)->what, ARRIVED);
    EQ(end_of(1)->what, LOST);
    EQ(end_of(2)->what, LOST);
    const leat_time now = one.port.base.now;
    OK(send(&one, 1, 2, 4, 5000, now) && send(&one, 0, 2, 5, 0, now + 100000));
    leat_port_run(&one.port.base, LEAT_NEVER);
    EQ(end_of(5)->what, LOST); /* at the edge where it would have been accepted */
    OK(one.port.base.now >= now + 100000 && one.port.base.now < now + 100000 + 3334);
    EQ(one.port.base.now, edge_of(&one, one.port.net.now - 1));
    run_out(&one);
    EQ(end_of(4)->what, ARRIVED);
    leat_net_kill(&one.port.net, 0, false);
    OK(send(&one, 0, 2, 3, 1000, one.port.base.now));
    run_out(&one);
    EQ(end_of(3)->what, ARRIVED);
    bench_close(&one);
}

/* ---- stopping a network ---------------------------------------------------------------------- */

struct stopper {
    struct leat_net *net;
    bool stops;
    uint64_t number[PORTS_MAX], count, hash, cycle;
};

static bool stopper_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct stopper *s = context;
    if (s->number[terminal] == 200) return false;
    *packet = (struct leat_net_packet){
        .created_at = s->number[terminal] * 20,
        .number = s->number[terminal],
        .source = terminal,
        .destination = (uint32_t)(terminal * 7 + s->number[terminal] * 5) % 16,
        .flits = 1 + terminal % 5,
    };
    s->number[terminal]++;
    return true;
}

static void stopper_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct stopper *s = context;
    s->hash = leat_sim_fnv_word(s->hash, arrival->tail_at << 10 | arrival->packet.source);
    s->count++;
    s->cycle = arrival->tail_at;
    s->net->stop = s->stops;
}

static void a_network_that_was_stopped_goes_on_as_if_it_had_not_been(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
    for (unsigned a = 0; a < LEAT_NET_SWITCHES; a++) {
        struct stopper s[2] = { { .stops = false }, { .stops = true } };
        struct leat_net_config net = golden;
        uint64_t waits[2];
        net.architecture = (enum leat_net_switch)a;
        if (a != LEAT_NET_SWITCH_VC) net.channels = 1;
        for (int i = 0; i < 2; i++) {
            struct world *w = &one.world;
            const struct leat_net_host host = { &s[i], stopper_next, stopper_arrive };
            OK(world_build(w, &shape, LEAT_NET_DOR, net.channels));
            world_begin(w, &net, &host);
            s[i].net = &w->net;
            while (w->net.now < 20000) {
                OK(leat_net_run(&w->net, 20000));
                OK(w->net.now == (s[i].stops && w->net.stop ? s[i].cycle + 1 : 20000));
            }
            waits[i] = w->net.counts.waits;
            EQ(s[i].count, 3200);
            world_end(w);
        }
        OK(s[0].hash == s[1].hash);
        EQ(waits[0], waits[1]);
    }
}

TAP_MAIN(T(a_message_is_as_many_packets_as_it_needs),
         T(what_cannot_be_is_refused_with_what_was_expected),
         T(a_single_message_takes_the_time_of_the_closed_form),
         T(storing_costs_a_packet_at_every_router),
         T(contention_free_ports_report_what_a_message_does_alone),
         T(a_poor_network_is_never_faster_than_one_without_contention),
         T(contention_free_ports_send_and_take_in_one_message_after_the_other),
         T(a_port_sends_by_time_then_in_the_order_of_calls),
         T(the_present_moves_to_what_is_reported_or_up_to_until),
         T(no_more_messages_are_in_flight_than_may_be),
         T(all_arrives_in_order_and_the_same_however_it_is_run),
         T(a_network_that_is_dead_loses_all_that_is_in_flight_and_all_that_comes),
         T(what_finds_no_room_is_lost_once_and_the_rest_of_it_is_not_sent),
         T(with_losses_every_message_ends_once), T(faults_are_reported_with_their_reason),
         T(what_waits_in_a_port_that_died_is_lost_when_nothing_else_happens),
         T(a_network_that_was_stopped_goes_on_as_if_it_had_not_been))
