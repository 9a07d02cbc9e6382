#include "net_load.h"
#include "net_world_test.h"
#include <math.h>

/* ---- a network without contention ----------------------------------------------------------- */

/* It takes a flit of each terminal per cycle, or one in `slowness` cycles, and delivers it so many
 * cycles later. */

enum { LATENCY = 11, FLYING_MAX = 1 << 14, TERMINALS_MAX = 64 };

static struct {
    uint32_t slowness;
    uint64_t cut_number; /* packets of this number are lost */
    uint64_t dead_at;    /* nothing moves any more */
    bool is_awake[TERMINALS_MAX], has[TERMINALS_MAX];
    struct leat_net_packet packet[TERMINALS_MAX];
    uint64_t free_at[TERMINALS_MAX];
    struct leat_net_arrival flying[FLYING_MAX];
    uint32_t flying_count;
    uint8_t was_broken[1000]; /* the first wire, in each cycle */
} plain;

/* The certificate of what arrived, computed a second time. */
static struct leat_sim_certificate certificate;
static uint64_t delivered, delivered_latency;
static uint64_t period_ps = 1;

static int by_destination(const void *a, const void *b)
{
    const struct leat_net_arrival *x = a, *y = b;
    if (x->tail_at != y->tail_at) return x->tail_at < y->tail_at ? -1 : 1;
    if (x->packet.destination != y->packet.destination)
        return x->packet.destination < y->packet.destination ? -1 : 1;
    return (x->packet.source > y->packet.source) - (x->packet.source < y->packet.source);
}

static void certify(const struct leat_net_arrival *a)
{
    const struct leat_sim_delivery delivery = { .at = a->tail_at * period_ps,
                                                .source = a->packet.source,
                                                .destination = a->packet.destination,
                                                .number = a->packet.number,
                                                .payload_hash = a->packet.flits };
    if (a->fate != LEAT_NET_DELIVERED) return;
    leat_sim_certificate_add(&certificate, &delivery);
    delivered++;
    delivered_latency += a->tail_at - a->packet.created_at;
}

static void land(struct leat_net *net)
{
    struct leat_net_arrival due[TERMINALS_MAX * 2];
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < plain.flying_count; i++)
        if (plain.flying[i].tail_at == net->now)
            due[count++] = plain.flying[i];
        else
            plain.flying[kept++] = plain.flying[i];
    plain.flying_count = kept;
    if (count == 0) return;
    qsort(due, count, sizeof *due, by_destination);
    for (uint32_t i = 0; i < count; i++) {
        certify(&due[i]);
        net->host.arrive(net->host.context, &due[i]);
    }
}

static void take_off(struct leat_net *net, uint32_t t)
{
    const struct leat_net_packet *p = &plain.packet[t];
    if (!plain.has[t] && plain.is_awake[t])
        plain.has[t] = plain.is_awake[t] = net->host.next(net->host.context, t, &plain.packet[t]);
    if (!plain.has[t] || p->created_at > net->now || plain.free_at[t] > net->now) return;
    plain.free_at[t] = net->now + p->flits * plain.slowness;
    plain.flying[plain.flying_count++] = (struct leat_net_arrival){
        .packet = *p,
        .fate = p->number == plain.cut_number ? LEAT_NET_CUT : LEAT_NET_DELIVERED,
        .tail_at = plain.free_at[t] - 1 + LATENCY,
        .hops = 2,
        .rerouted = p->number % 10 == 0,
    };
    plain.has[t] = false;
}

static bool plain_run(struct leat_net *net, uint64_t until)
{
    for (; net->now < until; net->now++) {
        if (net->now >= plain.dead_at) return false;
        if (net->out_broken && net->now < sizeof plain.was_broken)
            plain.was_broken[net->now] = net->out_broken[0];
        land(net);
        for (uint32_t t = 0; t < net->topology->terminals; t++)
            if (!net->terminal_dead[t]) take_off(net, t);
    }
    return true;
}

static void plain_wake(struct leat_net *net, uint32_t terminal)
{
    (void)net;
    plain.is_awake[terminal] = true;
}

static void plain_broke(struct leat_net *net, uint32_t out)
{
    (void)net;
    (void)out;
}

static const struct leat_net_engine plain_engine = { .run = plain_run,
                                                     .wake = plain_wake,
                                                     .broke = plain_broke };

/* ---- a load on it
 * -------------------------------------------------------------------------------- */

static struct leat_net_topology none; /* of so many terminals */
static uint8_t terminal_dead[TERMINALS_MAX];
static struct leat_net net;
static struct leat_net_load_config config;
static struct leat_net_load load;
static struct leat_net_load_result result;
static void *memory;

static void describe(enum leat_net_pattern pattern, uint32_t terminals, uint32_t load_ppm,
                     uint32_t flits)
{
    memset(&config, 0, sizeof config);
    leat_net_traffic_default(&config.traffic, terminals);
    config.traffic.pattern = pattern;
    config.traffic.load_ppm = load_ppm;
    config.traffic.flits = flits;
    config.traffic.seed = tap_seed();
    config.warmup = LEAT_NET_STEADY_FIND;
    memset(&plain, 0, sizeof plain);
    plain.slowness = 1;
    plain.cut_number = plain.dead_at = UINT64_MAX;
    memset(terminal_dead, 0, sizeof terminal_dead);
}

static void start(void)
{
    free(memory);
    memory = calloc(1, leat_net_load_footprint(&config));
    leat_net_load_init(&load, &config, memory);
    none.terminals = config.traffic.terminals;
    net = (struct leat_net){ .topology = &none,
                             .engine = &plain_engine,
                             .terminal_dead = terminal_dead };
    leat_net_load_host(&load, &net.host);
    leat_net_load_attach(&load, &net);
    for (uint32_t t = 0; t < none.terminals; t++)
        plain.is_awake[t] = true;
    leat_sim_certificate_init(&certificate);
    delivered = delivered_latency = 0;
}

static void finish(void)
{
    leat_net_load_result(&load, &result);
    free(memory);
    memory = NULL;
}

static void what_arrived_is_counted_and_certified(void)
{
    for (int clocked = 0; clocked < 2; clocked++) {
        describe(LEAT_NET_UNIFORM, 16, 300000, 3);
        if (clocked) config.clock = (struct leat_sim_clock){ 2500, 1 };
        period_ps = clocked ? 2500 : 1;
        start();
        OK(leat_net_load_run(&load, 5000));
        finish();
        EQ(result.certificate, leat_sim_certificate_value(&certificate));
        EQ(result.cycles, 5000);
        EQ(result.packets_ended[LEAT_NET_DELIVERED], delivered);
        EQ(result.flits_ended[LEAT_NET_DELIVERED], 3 * delivered);
        EQ(result.packets_waiting, result.packets_offered - delivered);
        EQ(result.flits_offered, 3 * result.packets_offered);
        OK(result.packets_rerouted > delivered / 20 && result.packets_rerouted < delivered / 5);
        OK(result.steady.hops_mean == 2);
        OK(result.delivered_min <= delivered / 16 && result.delivered_max >= delivered / 16);
        OK(result.delivered_min > delivered / 32 && result.delivered_max < delivered / 8);
        OK(!result.steady.saturated && result.steady.settled);
        OK(fabs(result.steady.offered - 0.3) < 0.02);
        OK(fabs(result.steady.accepted - 0.3) < 0.02);
    }
    period_ps = 1;
}

/* A source that sends a packet of 3 flits at once is a Geo/D/1 queue, whose wait is known. */
static void latency_counts_from_the_creation_of_a_packet(void)
{
    describe(LEAT_NET_UNIFORM, 16, 500000, 3);
    config.warmup = 2000;
    start();
    leat_net_load_run(&load, 60000);
    finish();
    const double p = 0.5 / 3, wait = p * 3 * 2 / 2 / (1 - 0.5);
    OK(fabs(result.steady.latency_mean - (wait + 2 + LATENCY)) < 0.1);
    EQ(result.steady.warmup, 2000);
    EQ(result.steady.cycles, 58000);
}

static void with_a_warm_up_of_nothing_all_packets_count(void)
{
    describe(LEAT_NET_HOTSPOT, 16, 500000, 1);
    config.warmup = 0;
    start();
    leat_net_load_run(&load, 3000);
    finish();
    EQ(result.steady.packets, delivered);
    OK(fabs(result.steady.latency_mean - (double)delivered_latency / (double)delivered) < 1e-9);
}

/* Drawn a second time here, from cycle 0 on. */
static uint64_t created_before(uint64_t cycle)
{
    struct leat_net_traffic traffic;
    void *room = calloc(1, leat_net_traffic_footprint(&config.traffic));
    struct leat_net_packet packet;
    uint64_t count = 0;
    leat_net_traffic_init(&traffic, &config.traffic, room);
    for (uint32_t t = 0; t < config.traffic.terminals; t++)
        while (leat_net_traffic_next(&traffic, t, &packet) && packet.created_at < cycle)
            count++;
    free(room);
    return count;
}

static void what_waits_at_its_source_is_offered_too(void)
{
    for (int pattern = 0; pattern < LEAT_NET_TRACE; pattern++) {
        describe((enum leat_net_pattern)pattern, 16, 500000, 2);
        config.warmup = pattern % 3 ? LEAT_NET_STEADY_FIND : (uint64_t)pattern * 100;
        plain.slowness = 4; /* a quarter of a flit per cycle: half of it stays queued */
        start();
        leat_net_load_run(&load, 10007);
        finish();
        EQ(result.packets_offered, created_before(10007));
        const uint64_t measured = created_before(10007) - created_before(result.steady.warmup);
        const double cycles = 10007 - (double)result.steady.warmup;
        OK(fabs(result.steady.offered - 2 * (double)measured / cycles / 16) < 1e-9);
        OK(result.packets_waiting > result.packets_offered / 3);
        OK(result.steady.saturated);
        OK(fabs(result.steady.accepted - 0.25) < 0.01);
        EQ(result.certificate, leat_sim_certificate_value(&certificate));
    }
}

static void before_its_warm_up_has_ended_a_run_has_counts_only(void)
{
    describe(LEAT_NET_UNIFORM, 16, 500000, 1);
    config.warmup = 5000;
    start();
    leat_net_load_run(&load, 1000);
    finish();
    EQ(result.packets_offered, created_before(1000));
    EQ(result.steady.packets, 0);
    EQ(result.steady.cycles, 0);
}

static void a_run_in_pieces_is_the_same_run_and_another_seed_another(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int pattern = 0; pattern < LEAT_NET_PATTERNS; pattern++) {
        struct leat_net_load_result whole;
        if (pattern == LEAT_NET_TRACE) continue;
        describe((enum leat_net_pattern)pattern, 16, 400000, 2);
        start();
        leat_net_load_run(&load, 3000);
        finish();
        whole = result;
        describe((enum leat_net_pattern)pattern, 16, 400000, 2);
        start();
        while (net.now < 3000) {
            leat_net_load_run(&load, net.now + 1 + leat_random_below(&r, 500) % (3000 - net.now));
            leat_net_load_result(&load, &result); /* reading results changes nothing */
        }
        finish();
        EQ(result.certificate, whole.certificate);
        EQ(result.packets_offered, whole.packets_offered);
        EQ(result.steady.warmup, whole.steady.warmup);
        OK(result.steady.latency_mean == whole.steady.latency_mean);
        OK(result.steady.latency_half == whole.steady.latency_half);
        if (pattern > LEAT_NET_TRACE) continue;
        describe((enum leat_net_pattern)pattern, 16, 400000, 2);
        config.traffic.seed++;
        start();
        leat_net_load_run(&load, 3000);
        finish();
        OK(result.certificate != whole.certificate);
    }
}

static void a_trace_is_a_load_like_any_other(void)
{
    const struct leat_net_trace_entry trace[] = { { 3, 1, 2, 5 }, { 3, 0, 2, 1 }, { 90, 1, 1, 0 } };
    describe(LEAT_NET_TRACE, 4, 0, 7);
    config.traffic.trace = trace;
    config.traffic.trace_count = 3;
    config.warmup = 0;
    start();
    leat_net_load_run(&load, 100);
    finish();
    EQ(result.packets_offered, 3);
    EQ(result.flits_offered, 13);
    EQ(result.packets_ended[LEAT_NET_DELIVERED], 2);
    EQ(result.packets_waiting, 1);
    EQ(result.steady.latency_max, 4 + LATENCY);
    EQ(result.delivered_max, 1);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void collective(enum leat_net_pattern pattern, uint32_t terminals, uint32_t flits,
                       uint64_t rounds, uint64_t cycles)
{
    describe(pattern, terminals, 0, flits);
    config.traffic.rounds = rounds;
    start();
    OK(leat_net_load_run(&load, cycles));
    finish();
    EQ(result.certificate, leat_sim_certificate_value(&certificate));
}

static void rounds_are(uint64_t count, uint64_t cycles)
{
    EQ(result.rounds.count, count);
    EQ(result.rounds.cycles_min, cycles);
    EQ(result.rounds.cycles_max, cycles);
    EQ(result.rounds.cycles, count * cycles);
}

/* A step takes the flits of a packet and the latency. */
static void all_to_all_and_allreduce_take_their_steps(void)
{
    for (uint32_t terminals = 2; terminals <= 32; terminals = terminals * 3 / 2 + 1)
        for (uint32_t flits = 1; flits < 9; flits += 3) {
            const uint64_t round = (uint64_t)(terminals - 1) * (flits + LATENCY);
            collective(LEAT_NET_ALLTOALL, terminals, flits, 0, 5 * round + 3);
            rounds_are(5, round);
            EQ(result.packets_ended[LEAT_NET_DELIVERED], 5 * terminals * (terminals - 1));
            collective(LEAT_NET_ALLREDUCE, terminals, flits, 3, 10 * round);
            rounds_are(3, 2 * round);
            EQ(result.packets_ended[LEAT_NET_DELIVERED], 3 * 2 * terminals * (terminals - 1));
            EQ(result.packets_waiting, 0);
            OK(!result.steady.saturated);
        }
}

/* When the last terminal below this one has the packet, if this one has it from `at` on. */
static uint64_t tree_end(uint32_t terminal, uint32_t terminals, uint32_t flits, uint64_t at)
{
    uint64_t end = at, sent = 0;
    for (uint32_t distance = 1; terminal + distance < terminals; distance *= 2) {
        if (distance <= terminal) continue;
        const uint64_t child = tree_end(terminal + distance, terminals, flits,
                                        at + ++sent * flits + LATENCY);
        if (child > end) end = child;
    }
    return end;
}

static void a_broadcast_tree_doubles_those_who_have_it(void)
{
    for (uint32_t terminals = 2; terminals <= TERMINALS_MAX; terminals += terminals / 3 + 1)
        for (uint32_t flits = 1; flits < 9; flits += 3) {
            const uint64_t round = tree_end(0, terminals, flits, 0);
            collective(LEAT_NET_BROADCAST_TREE, terminals, flits, 0, 7 * round);
            rounds_are(7, round);
            EQ(result.packets_ended[LEAT_NET_DELIVERED], 7 * (terminals - 1));
        }
}

static void a_lost_packet_ends_a_collective_and_is_counted(void)
{
    describe(LEAT_NET_ALLREDUCE, 8, 0, 2);
    plain.cut_number = 20; /* in the second round of 14 steps */
    start();
    OK(leat_net_load_run(&load, 5000));
    finish();
    EQ(result.rounds.count, 1);
    EQ(result.packets_ended[LEAT_NET_CUT], 8);
    EQ(result.flits_ended[LEAT_NET_CUT], 16);
    EQ(result.packets_waiting, 0);
}

/* ---- faults and death ----------------------------------------------------------------------- */

static void a_dead_network_ends_the_run(void)
{
    describe(LEAT_NET_UNIFORM, 16, 400000, 1);
    plain.dead_at = 700;
    start();
    OK(leat_net_load_run(&load, 600));
    OK(!leat_net_load_run(&load, 5000));
    finish();
    EQ(result.cycles, 700);
    EQ(result.packets_offered, created_before(700));
}

static void faults_happen_in_their_cycles_and_the_dead_have_no_part_in_saturation(void)
{
    const struct leat_net_shape ring = shape_of(LEAT_NET_RING, 8, 0);
    static const char *const lines[] = { "link:0-1@100..200", "flap:0>1@150..420/40,30",
                                         "port:3@500.." };
    static struct leat_net_faults faults;
    uint8_t broken[64] = { 0 };
    struct world w;
    OK(world_build(&w, &ring, LEAT_NET_TABLE, 4));
    describe(LEAT_NET_UNIFORM, 8, 300000, 1);
    leat_net_faults_init(&faults);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        EQ(leat_net_faults_line(&faults, lines[i], strlen(lines[i]), NULL), LEAT_ERR_OK);
    config.faults = &faults;
    config.topology = &w.topology;
    start();
    net.topology = &w.topology;
    net.routing = w.routing;
    net.out_broken = broken;
    EQ(w.topology.in_router[w.topology.out_to[0]], 1); /* the observed wire */
    OK(leat_net_load_run(&load, 333));
    OK(leat_net_load_run(&load, 10000));
    for (uint64_t cycle = 0; cycle < 1000; cycle++)
        EQ(plain.was_broken[cycle], (cycle >= 100 && cycle < 200) ||
                                        (cycle >= 150 && cycle < 420 && (cycle - 150) % 70 < 30));
    OK(terminal_dead[3] && !terminal_dead[2]);
    finish();
    EQ(result.packets_offered, created_before(10000));
    OK(result.packets_waiting > 2000); /* at the dead one */
    OK(!result.steady.saturated);
    world_end(&w);
}

/* The 8 x 8 mesh of test/validate saturates at 0.42 (measured with BookSim2: README there). */
static void a_mesh_is_steady_at_40_percent_and_saturated_at_45(void)
{
    const struct leat_net_shape mesh = shape_of(LEAT_NET_MESH, 8, 8);
    for (uint32_t load_ppm = 350000; load_ppm <= 450000; load_ppm += 50000) {
        struct leat_net_host host;
        struct world w;
        OK(world_build(&w, &mesh, LEAT_NET_DOR, 4));
        describe(LEAT_NET_UNIFORM, 64, load_ppm, 1);
        start();
        leat_net_load_host(&load, &host);
        void *room = calloc(1, leat_net_footprint(&w.topology, &golden));
        leat_net_init(&net, &w.topology, w.routing, &golden, &host, room);
        OK(leat_net_load_run(&load, 12000));
        finish();
        EQ(result.steady.saturated, load_ppm == 450000);
        if (load_ppm == 350000) OK(fabs(result.steady.latency_mean / 31.5 - 1) < 0.05);
        free(room);
        world_end(&w);
    }
}

TAP_MAIN(T(what_arrived_is_counted_and_certified), T(latency_counts_from_the_creation_of_a_packet),
         T(with_a_warm_up_of_nothing_all_packets_count), T(what_waits_at_its_source_is_offered_too),
         T(before_its_warm_up_has_ended_a_run_has_counts_only),
         T(a_run_in_pieces_is_the_same_run_and_another_seed_another),
         T(a_trace_is_a_load_like_any_other), T(all_to_all_and_allreduce_take_their_steps),
         T(a_broadcast_tree_doubles_those_who_have_it),
         T(a_lost_packet_ends_a_collective_and_is_counted), T(a_dead_network_ends_the_run),
         T(faults_happen_in_their_cycles_and_the_dead_have_no_part_in_saturation),
         T(a_mesh_is_steady_at_40_percent_and_saturated_at_45))
