#include "net_vc_test.h"

static void send_single(const struct leat_net_shape *shape, const struct leat_net_config *config,
                        struct single *s)
{
    struct world w;
    const struct leat_net_host host = single_host(s);
    if (!world_build(&w, shape, leat_net_rule_default(shape->kind), config->channels)) abort();
    world_begin(&w, config, &host);
    OK(leat_net_run(&w.net, s->packet.created_at + 100000));
    EQ(leat_net_flits_inside(&w.net), 0);
    EQ(s->arrivals, 1);
    world_end(&w);
}

static void without_contention_latency_is_the_formula(void)
{
    for (uint32_t pipeline = 1; pipeline <= LEAT_NET_PIPELINE_MAX; pipeline++)
        for (uint32_t wire = 1; wire <= 40; wire += 13)
            for (uint32_t flits = 1; flits <= 8; flits += 3) {
                struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
                struct leat_net_config config = golden;
                struct single s = { .packet = { .created_at = 7, .destination = 15 } };
                shape.wire_cycles = wire;
                config.pipeline = pipeline;
                config.buffer_flits = 100; /* the round trip of a credit */
                s.packet.flits = flits;
                send_single(&shape, &config, &s);
                EQ(s.arrival.fate, LEAT_NET_DELIVERED);
                EQ(s.arrival.hops, 7);
                EQ(s.arrival.head_at, 7 + 2 + 6 * (pipeline + wire) + pipeline + 1);
                EQ(s.arrival.tail_at, s.arrival.head_at + flits - 1);
            }
}

static void storing_costs_a_packet_at_every_router(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 5, 0);
    struct leat_net_config config = golden;
    struct single s = { .packet = { .source = 0, .destination = 4, .flits = 6 } };
    config.flow = LEAT_NET_STORE_AND_FORWARD;
    send_single(&shape, &config, &s);
    EQ(s.arrival.tail_at, 2 + 5 * 4 + 5 + 5 * 5);
    s.sent = false;
    s.arrivals = 0;
    config.flow = LEAT_NET_CUT_THROUGH;
    send_single(&shape, &config, &s);
    EQ(s.arrival.tail_at, 2 + 5 * 4 + 5);
}

static void few_credits_set_the_pace(void)
{
    /* One flit of buffer: a credit returns, and the next flit arrives, after the delays of a flit
     * (3 cycles from switch to switch) and of a credit (1 + 1 + 1). */
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 2, 0);
    struct leat_net_config config = golden;
    struct single s = { .packet = { .source = 0, .destination = 1, .flits = 10 } };
    config.channels = 1;
    config.buffer_flits = 1;
    send_single(&shape, &config, &s);
    EQ(s.arrival.tail_at - s.arrival.head_at, 9 * 6);
}

static void idle_time_is_skipped(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_TORUS, 8, 8);
    struct single s = { .packet = {
                            .created_at = UINT64_C(1) << 50, .destination = 5, .flits = 2 } };
    send_single(&shape, &golden, &s);
    EQ(s.arrival.head_at - s.packet.created_at, 2 + 4 * 4);
}

/* ---- against BookSim2 ------------------------------------------------------------------------ */

struct steady {
    struct leat_random random[64];
    uint64_t clock[64], number[64], from, until, latency, packets, flits;
    uint64_t chance; /* probability of a packet in a cycle, in 2^-64 */
    uint32_t terminals, length;
};

static bool steady_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct steady *s = context;
    struct leat_random *r = &s->random[terminal];
    while (leat_random_next(r) >= s->chance)
        s->clock[terminal]++;
    *packet = (struct leat_net_packet){
        .created_at = s->clock[terminal]++,
        .number = s->number[terminal]++,
        .source = terminal,
        .flits = s->length,
    };
    packet->random = leat_random_next(r);
    packet->destination = (uint32_t)leat_random_below(r, s->terminals);
    return true;
}

static void steady_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct steady *s = context;
    if (arrival->tail_at >= s->from && arrival->tail_at < s->until)
        s->flits += arrival->packet.flits;
    if (arrival->packet.created_at < s->from || arrival->packet.created_at >= s->until) return;
    s->latency += arrival->tail_at - arrival->packet.created_at;
    s->packets++;
}

/* Runs with uniform traffic; loads in parts per thousand. */
static void run_steady(struct steady *s, const struct leat_net_shape *shape,
                       const struct leat_net_config *config, uint32_t load, uint32_t length,
                       uint64_t cycles)
{
    struct world w;
    const struct leat_net_host host = { .context = s,
                                        .next = steady_next,
                                        .arrive = steady_arrive };
    if (!world_build(&w, shape, leat_net_rule_default(shape->kind), config->channels)) abort();
    memset(s, 0, sizeof *s);
    s->terminals = w.topology.terminals;
    s->length = length;
    s->chance = UINT64_MAX / 1000 / length * load;
    s->from = cycles / 4;
    s->until = cycles;
    for (uint32_t t = 0; t < s->terminals; t++)
        leat_random_seed_entity(&s->random[t], tap_seed(), t);
    world_begin(&w, config, &host);
    OK(leat_net_run(&w.net, cycles + 1000));
    world_end(&w);
}

static void is_within(double value, double want, double part)
{
    OK(value > want * (1 - part) && value < want * (1 + part));
    if (value <= want * (1 - part) || value >= want * (1 + part))
        printf("# %.3f, want %.3f\n", value, want);
}

static void latency_is_that_of_booksim2(void)
{
    /* Measured with BookSim2: iq router, separable_input_first allocators, credit_delay 1,
     * routing_delay 0, use_noc_latency 0, uniform traffic, dim_order (fly: dest_tag). The first
     * rows are those of the reference curves. */
    static const struct {
        enum leat_net_kind kind;
        uint32_t a, b, channels, buffer, flits, load;
        double latency;
    } row[] = {
        { LEAT_NET_MESH, 8, 8, 4, 8, 1, 100, 27.33 },
        { LEAT_NET_MESH, 8, 8, 4, 8, 1, 300, 29.37 },
        { LEAT_NET_MESH, 8, 8, 4, 8, 4, 200, 34.20 },
        { LEAT_NET_MESH, 8, 8, 4, 8, 4, 300, 40.29 },
        { LEAT_NET_MESH, 8, 8, 2, 4, 8, 150, 41.46 },
        { LEAT_NET_TORUS, 8, 8, 4, 8, 1, 500, 25.78 },
        { LEAT_NET_FLY, 4, 3, 4, 8, 1, 300, 14.81 },
        { LEAT_NET_FLY, 4, 3, 4, 8, 1, 500, 17.34 },
        { LEAT_NET_RING, 16, 0, 4, 8, 4, 100, 26.72 },
        { LEAT_NET_RING, 16, 0, 4, 8, 4, 200, 29.44 },
    };
    static struct steady s;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct leat_net_shape shape = shape_of(row[i].kind, row[i].a, row[i].b);
        struct leat_net_config config = golden;
        config.channels = row[i].channels;
        config.buffer_flits = row[i].buffer;
        run_steady(&s, &shape, &config, row[i].load, row[i].flits,
                   row[i].kind == LEAT_NET_RING ? 16000 : 8000);
        is_within((double)s.latency / (double)s.packets, row[i].latency, 0.03);
    }
}

static void saturation_is_that_of_booksim2(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 8, 8);
    static struct steady s;
    run_steady(&s, &shape, &golden, 460, 1, 8000);
    is_within((double)s.flits / 64 / (double)(s.until - s.from), 0.42, 0.03);
}

/* ---- deadlock -------------------------------------------------------------------------------- */

static struct leat_net_config one_channel(void)
{
    struct leat_net_config config = golden;
    config.channels = 1;
    config.buffer_flits = 2;
    return config;
}

/* All send upwards, to the router nearly half the row away. */
struct rows {
    uint32_t size, rows; /* only these rows send without end; the others one packet at a time */
    uint64_t number[64], received;
};

static bool rows_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct rows *c = context;
    const uint32_t row = terminal / c->size, place = terminal % c->size;
    if (row >= c->rows && place) return false;
    *packet = (struct leat_net_packet){
        .created_at = row < c->rows ? 0 : 100 * c->number[terminal],
        .number = c->number[terminal]++,
        .source = terminal,
        .destination = row * c->size + (place + c->size / 2 - 1) % c->size,
        .flits = 12,
    };
    return true;
}

static void rows_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct rows *c = context;
    (void)arrival;
    c->received++;
}

/* At each router two buffers wait: the flits from the ring for the channel that the terminal's
 * packet holds, and that packet for room in the next router. This closes the ring. */
static void is_a_cycle_of_the_ring(const struct leat_net_waiting *cycle, uint32_t len,
                                   uint32_t size)
{
    uint32_t ahead = 0;
    EQ(len, 2 * size);
    for (uint32_t i = 0; i < len; i++) {
        const struct leat_net_waiting *next = &cycle[(i + 1) % len];
        const bool same = next->router == cycle[i].router;
        OK(same || next->router == (cycle[i].router + 1) % size);
        OK(same ? cycle[i].in != next->in : cycle[i].source == cycle[i].router);
        ahead += !same;
        EQ(cycle[i].channel, 0);
        OK(cycle[i].source < size && cycle[i].destination < size);
        OK(cycle[i].destination != cycle[i].router);
    }
    EQ(ahead, size);
}

/* All of the first row send; which packets deadlock then depends on the channels. */
static void rows_begin(struct world *w, struct rows *c, const struct leat_net_shape *shape,
                       uint32_t channels)
{
    const struct leat_net_host host = { .context = c, .next = rows_next, .arrive = rows_arrive };
    struct leat_net_config config = one_channel();
    config.channels = channels;
    *c = (struct rows){ .size = 8, .rows = 1 };
    OK(world_build(w, shape, LEAT_NET_DOR, channels));
    world_begin(w, &config, &host);
}

static void a_ring_with_one_channel_dies_and_the_circle_is_true(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_RING, 8, 0);
    struct leat_net_waiting cycle[64];
    struct rows c;
    struct world w;
    rows_begin(&w, &c, &shape, 1);
    EQ(leat_net_stuck(&w.net, cycle, 64), 0);
    OK(!leat_net_run(&w.net, 100000));
    OK(w.net.now < 1000);
    OK(leat_net_flits_inside(&w.net) != 0);
    const uint32_t len = leat_net_stuck(&w.net, cycle, 64);
    is_a_cycle_of_the_ring(cycle, len, 8);
    EQ(leat_net_stuck(&w.net, cycle, 2), 16);
    OK(!leat_net_run(&w.net, 100000)); /* and stays dead */
    world_end(&w);
}

static void a_dead_part_is_found_while_the_rest_lives(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_TORUS, 8, 8);
    struct leat_net_waiting cycle[64];
    struct rows c;
    struct world w;
    rows_begin(&w, &c, &shape, 1);
    OK(leat_net_run(&w.net, 5000));
    const uint32_t len = leat_net_stuck(&w.net, cycle, 64);
    is_a_cycle_of_the_ring(cycle, len, 8);
    OK(c.received > 7 * 40);
    world_end(&w);
}

static void two_classes_of_channels_keep_a_ring_alive(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_RING, 8, 0);
    struct leat_net_waiting cycle[4];
    struct rows c;
    struct world w;
    rows_begin(&w, &c, &shape, 2);
    OK(leat_net_run(&w.net, 20000));
    EQ(leat_net_stuck(&w.net, cycle, 4), 0);
    OK(c.received > 1000);
    world_end(&w);
}

/* ---- loss ------------------------------------------------------------------------------------ */

static void dropping_loses_whole_packets_and_never_stands_still(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 4, 4);
    struct leat_net_config config = golden;
    static struct steady s;
    struct world w;
    const struct leat_net_host host = { .context = &s,
                                        .next = steady_next,
                                        .arrive = steady_arrive };
    config.drop = true;
    config.channels = 1;
    memset(&s, 0, sizeof s);
    s.terminals = 16;
    s.length = 4;
    s.chance = UINT64_MAX / 8;
    for (uint32_t t = 0; t < 16; t++)
        leat_random_seed_entity(&s.random[t], tap_seed(), t);
    OK(world_build(&w, &shape, LEAT_NET_DOR, 1));
    world_begin(&w, &config, &host);
    OK(leat_net_run(&w.net, 5000));
    const struct leat_net_counts *c = &w.net.counts;
    OK(c->packets_ended[LEAT_NET_NO_ROOM] > 10);
    OK(c->packets_ended[LEAT_NET_DELIVERED] > c->packets_ended[LEAT_NET_NO_ROOM]);
    EQ(c->flits_delivered, 4 * c->packets_ended[LEAT_NET_DELIVERED]);
    OK(books_are_right(&w.net));
    world_end(&w);
}

TAP_MAIN(T(without_contention_latency_is_the_formula), T(storing_costs_a_packet_at_every_router),
         T(few_credits_set_the_pace), T(idle_time_is_skipped), T(latency_is_that_of_booksim2),
         T(saturation_is_that_of_booksim2), T(a_ring_with_one_channel_dies_and_the_circle_is_true),
         T(a_dead_part_is_found_while_the_rest_lives), T(two_classes_of_channels_keep_a_ring_alive),
         T(dropping_loses_whole_packets_and_never_stands_still))
