/*
 * Programs that mostly repeat themselves run over the ports of a flit network with and without
 * replay. All results must be equal.
 */
#include "net_replay.h"
#include "net_world_test.h"
#include "sim_replay_scene_test.h"

enum { CYCLE_PS = 3333 }; /* of 300 MHz: only every third edge is at a whole number */

static struct leat_net_replay replay;
static struct leat_net_port port;
static struct world world;
static void *memory;

static struct leat_port_net *open(const void *config, bool with_replay,
                                  struct leat_sim_replay **out)
{
    memory = calloc(1, with_replay ? leat_net_replay_footprint(config)
                                   : leat_net_port_footprint(config));
    if (!memory) return NULL;
    if (with_replay)
        leat_net_replay_init(&replay, config, memory);
    else
        leat_net_port_init(&port, config, memory);
    *out = with_replay ? &replay.base : NULL;
    return with_replay ? &replay.base.net : &port.base;
}

static void close(bool with_replay)
{
    (void)with_replay;
    free(memory);
}

/* The flits of wires, and what the network counts. */
static bool count(uint32_t i, bool with_replay, uint64_t *out)
{
    const struct leat_net *net = with_replay ? &replay.port.net : &port.net;
    const struct leat_net_counts *c = &net->counts;
    const uint64_t counts[] = { c->flit_hops,       c->packets_begun,
                                c->flits_begun,     c->packets_ended[LEAT_NET_DELIVERED],
                                c->flits_delivered, c->waits };
    const uint32_t most = sizeof counts / sizeof *counts;
    if (!net->out_flits || i >= most + net->topology->outs) return false;
    *out = i < most ? counts[i] : leat_net_out_flits(net, i - most);
    return true;
}

static const struct scene_kind kind = { open, close, count };

static const struct leat_net_config usual_net = { .architecture = LEAT_NET_SWITCH_VC,
                                                  .channels = 4,
                                                  .buffer_flits = 8,
                                                  .pipeline = 3,
                                                  .iterations = 1 };

static struct leat_net_port_config config_over(const struct leat_net_config *net)
{
    return (struct leat_net_port_config){ .topology = &world.topology,
                                          .routing = world.routing,
                                          .net = *net,
                                          .clock = { 10000, 3 },
                                          .flit_octets = 16,
                                          .packet_flits = 8,
                                          .head_flits = 1,
                                          .seed = 1,
                                          .messages_max = SCENE_MESSAGES_MAX };
}

static const struct leat_net_shape torus = {
    .kind = LEAT_NET_TORUS, .number = { 4, 4 }, .numbers = 2, .terminals = 1, .wire_cycles = 1
};

static struct outcome compare_on_torus(const struct program *program, enum leat_net_route_rule rule,
                                       bool contention_free, struct scene_chance chance)
{
    OK(world_build(&world, &torus, rule, usual_net.channels));
    struct leat_net_port_config config = config_over(&usual_net);
    config.contention_free = contention_free;
    const struct outcome out = compare(&kind, &config, program, CYCLE_PS, chance);
    world_end(&world);
    return out;
}

static const struct program ring = {
    .tasks = 16, .phases = 1, .rounds = 400, .phase = { { RING, 1, 1000, 0 } }, .seed = 1
};

static void a_ring_is_replayed_after_a_few_rounds(void)
{
    const struct scene_chance none = { 0, 0 };
    OK(compare_on_torus(&ring, LEAT_NET_DOR, false, none).replayed > 300 * 16);
    OK(compare_on_torus(&ring, LEAT_NET_DOR, true, none).replayed > 300 * 16);
}

static void a_ring_is_replayed_however_its_run_is_cut(void)
{
    const struct scene_chance cuts = { .cuts = tap_seed() | 1 };
    OK(compare_on_torus(&ring, LEAT_NET_DOR, false, cuts).replayed > 200 * 16);
    OK(compare_on_torus(&ring, LEAT_NET_DOR, true, cuts).replayed > 200 * 16);
}

static void wires_count_the_flits_of_a_replay_at_any_time(void)
{
    const struct program p = { .tasks = 2,
                               .phases = 2,
                               .rounds = 5000,
                               .phase = { { TO_FIRST, 0, 28, 0 }, { FROM_FIRST, 0, 400, 0 } },
                               .seed = 2 };
    const struct scene_chance peeks = { .peeks = tap_seed() | 1 };
    OK(compare_on_torus(&p, LEAT_NET_DOR, false, peeks).peeked > 1);
}

/* A router to visit first is drawn for every message, and adaptive routes depend on the load. */
static void routes_by_chance_are_not_replayed(void)
{
    const struct scene_chance none = { 0, 0 };
    EQ(compare_on_torus(&ring, LEAT_NET_VALIANT, false, none).replayed, 0);
    EQ(compare_on_torus(&ring, LEAT_NET_ADAPTIVE, false, none).replayed, 0);
}

/* All send to the first port, which is slow, and then to their partners, which have received it
 * before. */
static void a_message_that_others_overtook_keeps_its_number(void)
{
    const struct leat_net_shape three = {
        .kind = LEAT_NET_TORUS, .number = { 3 }, .numbers = 1, .terminals = 2, .wire_cycles = 1
    };
    const struct program p = {
        .tasks = 6,
        .phases = 3,
        .rounds = 242,
        .phase = { { TO_FIRST, 0, 3, 2573 }, { TO_FIRST, 0, 3, 825 }, { PAIRS, 0, 0, 0 } },
        .seed = 2
    };
    const struct leat_net_config net = { .architecture = LEAT_NET_SWITCH_VC,
                                         .flow = LEAT_NET_STORE_AND_FORWARD,
                                         .channels = 4,
                                         .buffer_flits = 10,
                                         .pipeline = 1,
                                         .credit_cycles = 1,
                                         .iterations = 1 };
    OK(world_build(&world, &three, LEAT_NET_DOR, net.channels));
    struct leat_net_port_config config = config_over(&net);
    config.contention_free = true;
    config.head_flits = 0;
    compare(&kind, &config, &p, CYCLE_PS, (struct scene_chance){ 0, 0 });
    world_end(&world);
}

/* ---- random networks and programs ------------------------------------------------------------ */

static struct leat_net_shape random_shape(uint64_t *state)
{
    static const enum leat_net_kind kinds[] = { LEAT_NET_RING,      LEAT_NET_CROSSBAR,
                                                LEAT_NET_MESH,      LEAT_NET_TORUS,
                                                LEAT_NET_FATTREE,   LEAT_NET_CLOS,
                                                LEAT_NET_HYPERCUBE, LEAT_NET_DRAGONFLY };
    struct leat_net_shape shape = { .kind = kinds[below(state, sizeof kinds / sizeof *kinds)] };
    for (int i = 0; i < 3; i++)
        shape.number[i] = 1 + below(state, 4);
    shape.terminals = 1 + below(state, 2);
    shape.wire_cycles = 1 + below(state, 4);
    shape.numbers = 1 + below(state, 3);
    return shape;
}

static struct leat_net_config random_net(uint64_t *state)
{
    struct leat_net_config net = usual_net;
    net.flow = below(state, LEAT_NET_FLOWS);
    net.buffer_flits = net.flow == LEAT_NET_WORMHOLE ? 1 + below(state, 10) : 8 + below(state, 4);
    net.pipeline = 1 + below(state, 6);
    net.credit_cycles = below(state, 4);
    return net;
}

static uint64_t compare_random(uint64_t *state)
{
    const struct leat_net_shape shape = random_shape(state);
    const struct leat_net_config net = random_net(state);
    if (!world_build(&world, &shape, leat_net_rule_default(shape.kind), net.channels)) return 0;
    struct leat_net_port_config config = config_over(&net);
    config.contention_free = below(state, 4) == 0;
    config.head_flits = below(state, 2);
    if (below(state, 2)) config.clock = (struct leat_sim_clock){ 1000, 1 };
    uint64_t replayed = 0;
    if (world.topology.terminals > 1) {
        const uint32_t ports = world.topology.terminals;
        struct program p = random_program(state, ports < SCENE_TASKS_MAX ? ports : SCENE_TASKS_MAX);
        const uint64_t seed = leat_random_splitmix(state) | 1;
        const bool cuts = below(state, 2);
        p.longest = 5000;
        if (below(state, 3) == 0) p.ports = 1 + below(state, p.tasks);
        replayed = compare(&kind, &config, &p, CYCLE_PS,
                           (struct scene_chance){ cuts ? seed : 0, cuts ? 0 : seed })
                       .replayed;
    }
    world_end(&world);
    return replayed;
}

static void no_observer_sees_a_difference(void)
{
    const uint32_t scenes = LEAT_ROUNDS / 20000 > 10 ? LEAT_ROUNDS / 20000 : 10;
    uint64_t state = tap_seed(), replayed = 0, programs = 0;
    for (uint32_t i = 0; i < scenes; i++) {
        const uint64_t of_this = compare_random(&state);
        replayed += of_this;
        programs += of_this > 0;
    }
    printf("# %llu messages replayed, in %llu of %u programs\n", (unsigned long long)replayed,
           (unsigned long long)programs, scenes);
}

TAP_MAIN(T(a_ring_is_replayed_after_a_few_rounds), T(a_ring_is_replayed_however_its_run_is_cut),
         T(wires_count_the_flits_of_a_replay_at_any_time), T(routes_by_chance_are_not_replayed),
         T(a_message_that_others_overtook_keeps_its_number), T(no_observer_sees_a_difference))
