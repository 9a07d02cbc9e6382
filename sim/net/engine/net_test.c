#include "net_world_test.h"

static char line[256];

static void build(struct world *w, const struct leat_net_config *config)
{
    const struct leat_net_shape square = shape_of(LEAT_NET_MESH, 4, 4);
    OK(world_build(w, &square, LEAT_NET_DOR, config->channels));
}

static void every_architecture_and_flow_has_a_name_of_its_own(void)
{
    static const char *const name[] = { "vc", "fifo", "voq", "output", "shared", "xpq", "batcher" };
    static const char *const flow[] = { "wormhole", "cut-through", "store-and-forward" };
    for (unsigned i = 0; i < LEAT_NET_SWITCHES; i++)
        OK(!strcmp(leat_net_switch_name((enum leat_net_switch)i), name[i]));
    for (unsigned i = 0; i < LEAT_NET_FLOWS; i++)
        OK(!strcmp(leat_net_flow_name((enum leat_net_flow)i), flow[i]));
    OK(!leat_net_switch_name((enum leat_net_switch)LEAT_NET_SWITCHES));
    OK(!leat_net_flow_name((enum leat_net_flow)LEAT_NET_FLOWS));
}

/* The error text for the user; "" if the network is valid. */
static const char *complaint(const struct leat_net_topology *topology,
                             const struct leat_net_config *config)
{
    struct leat_text why;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    const leat_err err = leat_net_check(topology, config, &why);
    line[why.len] = 0;
    OK(!err == !why.len);
    return line;
}

static void what_cannot_be_is_refused_with_what_was_expected(void)
{
    struct world w;
    struct leat_net_config c = golden;
    build(&w, &c);
    OK(!strcmp(complaint(&w.topology, &c), ""));
    c.channels = 0;
    OK(!strcmp(complaint(&w.topology, &c), "virtual channels 0, expected 1 to 32"));
    c.channels = 33;
    OK(!strcmp(complaint(&w.topology, &c), "virtual channels 33, expected 1 to 32"));
    c = golden;
    c.buffer_flits = 65536;
    OK(!strcmp(complaint(&w.topology, &c), "buffer of flits 65536, expected 1 to 65535"));
    c = golden;
    c.pipeline = 17;
    OK(!strcmp(complaint(&w.topology, &c), "pipeline of cycles 17, expected 1 to 16"));
    c = golden;
    c.credit_cycles = 65;
    OK(!strcmp(complaint(&w.topology, &c), "credit cycles 65, expected 0 to 64"));
    c = golden;
    c.architecture = LEAT_NET_SWITCH_VOQ;
    OK(!strcmp(complaint(&w.topology, &c),
               "virtual channels 4, expected 1, unless the switches are vc"));
    c.channels = 1;
    OK(!strcmp(complaint(&w.topology, &c), ""));
    c.iterations = 0;
    OK(!strcmp(complaint(&w.topology, &c), "iterations 0, expected 1 to 16"));
    c.iterations = 1;
    c.flow = LEAT_NET_CUT_THROUGH;
    OK(!strcmp(complaint(&w.topology, &c), "cut-through flow, expected switches that are vc"));
    c = golden;
    w.topology.ins = 1u << 23; /* of the largest networks */
    c.channels = 32;
    OK(!strcmp(complaint(&w.topology, &c),
               "flits in all buffers of each part 2147483648, expected 1 to 1073741824"));
    world_end(&w);
}

static void flights_are_used_again_before_new_ones_are_touched(void)
{
    struct leat_net_flights flights;
    struct leat_arena arena = { 0 };
    leat_net_flights_lay(&flights, 3, &arena);
    void *memory = world_memory(arena.used);
    arena = (struct leat_arena){ .memory = memory, .cap = arena.used };
    leat_net_flights_lay(&flights, 3, &arena);
    EQ(leat_net_flights_take(&flights), 0);
    EQ(leat_net_flights_take(&flights), 1);
    leat_net_flights_give(&flights, 0);
    EQ(leat_net_flights_take(&flights), 0);
    OK(!leat_net_flights_none(&flights));
    EQ(leat_net_flights_take(&flights), 2);
    OK(leat_net_flights_none(&flights));
    EQ(leat_net_flights_take(&flights), LEAT_NET_NONE);
    free(memory);
}

static struct leat_net_arrival received;

static bool next_none(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    (void)context;
    (void)terminal;
    (void)packet;
    return false;
}

static void record(void *context, const struct leat_net_arrival *arrival)
{
    (void)context;
    received = *arrival;
}

static const struct leat_net_host silent = { .next = next_none, .arrive = record };

static void an_end_is_counted_by_its_fate(void)
{
    struct leat_net net = { .host = silent };
    struct leat_net_flight flight = { .packet = { .flits = 5, .number = 9 }, .head_at = 30 };
    struct leat_net_course course = { .hops = 3 };
    leat_net_end(&net, &flight, &course, 40);
    EQ(net.counts.packets_ended[LEAT_NET_DELIVERED], 1);
    EQ(net.counts.flits_delivered, 5);
    EQ(received.head_at, 30);
    EQ(received.tail_at, 40);
    EQ(received.hops, 3);
    EQ(received.packet.number, 9);
    flight.fate = LEAT_NET_CUT;
    course.route.rerouted = true;
    leat_net_end(&net, &flight, &course, 50);
    EQ(net.counts.packets_ended[LEAT_NET_CUT], 1);
    EQ(net.counts.flits_delivered, 5);
    EQ(net.counts.packets_rerouted, 1);
    EQ(received.head_at, 50); /* lost: when */
    OK(received.rerouted);
}

static void errors_come_as_often_as_was_asked_and_by_packet_and_flit_alone(void)
{
    uint32_t errors[3] = { 0, UINT32_C(1) << 28, UINT32_MAX };
    const struct leat_net_topology topology = { .outs = 3 };
    struct leat_net net = { .host = silent, .topology = &topology };
    struct leat_net_packet packet = { .source = 4 };
    uint32_t hits = 0, all = 0;
    OK(!leat_net_damages(&net, 2, &packet, 0));
    leat_net_errors(&net, errors, tap_seed());
    leat_net_errors(&net, NULL, 0); /* only the first call has an effect */
    for (uint32_t i = 0; i < 160000; i++) {
        packet.number = i / 16;
        const bool hit = leat_net_damages(&net, 1, &packet, i % 16);
        OK(hit == leat_net_damages(&net, 1, &packet, i % 16));
        OK(!leat_net_damages(&net, 0, &packet, i % 16));
        hits += hit;
        all += leat_net_damages(&net, 2, &packet, i % 16);
    }
    OK(hits > 9600 && hits < 10400); /* a sixteenth; its deviation is 97 */
    EQ(all, 160000);
}

/* An empty network of each architecture does nothing for any length of time. */
static void an_empty_network_runs_and_is_not_stuck(void)
{
    for (unsigned i = 0; i < LEAT_NET_SWITCHES; i++) {
        struct world w;
        struct leat_net_config c = golden;
        struct leat_net_waiting cycle[4];
        c.architecture = (enum leat_net_switch)i;
        if (i != LEAT_NET_SWITCH_VC) c.channels = 1;
        build(&w, &c);
        world_begin(&w, &c, &silent);
        const uint32_t out = w.topology.out_first[5];
        OK(leat_net_run(&w.net, UINT64_C(1) << 40));
        EQ(w.net.now, UINT64_C(1) << 40);
        leat_net_wake(&w.net, 3);
        leat_net_break(&w.net, out, true);
        leat_net_kill(&w.net, 7, true);
        leat_net_rerouted(&w.net);
        OK(leat_net_run(&w.net, UINT64_C(1) << 41));
        EQ(leat_net_flits_inside(&w.net), 0);
        EQ(leat_net_stuck(&w.net, cycle, 4), 0);
        EQ(w.net.out_broken[out], 1);
        EQ(w.net.terminal_dead[7], 1);
        world_end(&w);
    }
}

TAP_MAIN(T(every_architecture_and_flow_has_a_name_of_its_own),
         T(what_cannot_be_is_refused_with_what_was_expected),
         T(flights_are_used_again_before_new_ones_are_touched), T(an_end_is_counted_by_its_fate),
         T(errors_come_as_often_as_was_asked_and_by_packet_and_flit_alone),
         T(an_empty_network_runs_and_is_not_stuck))
