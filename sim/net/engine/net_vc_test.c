#include "net_vc_test.h"
#include "net_crowd_test.h"
#include "net_vc_plain_test.h"

static void wake_plain(void *network, uint32_t terminal)
{
    plain_wake(network, terminal);
}

/* ---- the engine beside the plain model ------------------------------------------------------- */

struct pair {
    struct world fast, slow;
    struct plain plain;
    struct crowd crowd[2];
    uint32_t *errors[2];
};

/* A random kind of fault, in both. */
static void random_fault(struct pair *p, struct leat_random *r)
{
    const struct leat_net_topology *t = &p->fast.topology;
    const uint32_t out = (uint32_t)leat_random_below(r, t->outs);
    const uint32_t terminal = (uint32_t)leat_random_below(r, t->terminals);
    const bool ill = leat_random_below(r, 3) != 0;
    if (leat_random_below(r, 2)) {
        if (t->out_to[out] == LEAT_NET_NONE) return;
        leat_net_break(&p->fast.net, out, ill);
        leat_net_rerouted(&p->fast.net);
        if (p->plain.net.out_broken[out] != ill) plain_break(&p->plain, out, ill);
        leat_net_routing_update(p->slow.routing);
    } else {
        leat_net_kill(&p->fast.net, terminal, ill);
        plain_kill(&p->plain, terminal, ill);
    }
}

static bool pair_begin(struct pair *p, struct leat_random *r, bool faults)
{
    const struct leat_net_shape shape = random_shape(r);
    const struct leat_net_config config = random_config(r);
    enum leat_net_route_rule rule = leat_net_rule_default(shape.kind);
    if (!leat_random_below(r, 2))
        rule = (enum leat_net_route_rule)leat_random_below(r, LEAT_NET_RULES);
    const uint64_t seed = leat_random_next(r);
    if (!world_build(&p->fast, &shape, rule, config.channels)) return false;
    if (!world_build(&p->slow, &shape, rule, config.channels)) abort();
    const bool whole = config.flow != LEAT_NET_WORMHOLE || config.drop;
    const bool moody = !leat_random_below(r, 3);
    const uint32_t flits_max = one_to(r, whole ? config.buffer_flits : 9);
    const uint32_t pause_max = leat_random_below(r, 2) ? 4 : 200;
    const uint32_t gap_max = one_to(r, pause_max) * flits_max;
    for (int i = 0; i < 2; i++) {
        crowd_begin(&p->crowd[i], p->fast.topology.terminals, seed);
        p->crowd[i].flits_max = flits_max;
        p->crowd[i].gap_max = gap_max;
        p->crowd[i].moody = moody;
        p->crowd[i].left = 12;
        p->errors[i] = plain_memory(p->fast.topology.outs, sizeof *p->errors[i]);
    }
    const struct leat_net_host fast = host_of(&p->crowd[0]), slow = host_of(&p->crowd[1]);
    world_begin(&p->fast, &config, &fast);
    plain_init(&p->plain, &p->slow.topology, p->slow.routing, &config, &slow);
    p->crowd[0].wake = wake_net;
    p->crowd[0].network = &p->fast.net;
    p->crowd[1].wake = wake_plain;
    p->crowd[1].network = &p->plain;
    for (uint32_t out = 0; faults && out < p->fast.topology.outs; out++)
        p->errors[0][out] = p->errors[1][out] = leat_random_below(r, 3) ? 0 : UINT32_C(0x04000000);
    if (faults && leat_random_below(r, 2)) {
        leat_net_errors(&p->fast.net, p->errors[0], seed);
        leat_net_errors(&p->plain.net, p->errors[1], seed);
    }
    return true;
}

static void pair_end(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        crowd_end(&p->crowd[i]);
        free(p->errors[i]);
    }
    plain_free(&p->plain);
    world_end(&p->fast);
    world_end(&p->slow);
}

/* The reported cycle must be correct: buffers that hold something, each packet where it is said to
 * be. */
static bool cycle_is_true(const struct leat_net *net, const struct leat_net_waiting *cycle,
                          uint32_t len)
{
    const struct leat_net_vc *vc = net->state;
    for (uint32_t i = 0; i < len; i++) {
        const uint32_t lane = (net->topology->in_first[cycle[i].router] + cycle[i].in)
                                  << vc->shift |
                              cycle[i].channel;
        if (!leat_net_vc_lane_at(vc, lane)->count) return false;
        const struct leat_net_packet *packet =
            &leat_net_vc_flight(vc, leat_net_vc_first_flit(vc, lane))->packet;
        if (packet->source != cycle[i].source || packet->destination != cycle[i].destination)
            return false;
    }
    return true;
}

enum { RUN_LONG = 40000, NOTICE = LEAT_NET_PIPELINE_MAX + 3 };

/* Runs both in pieces. The plain model detects deadlock, some cycles later. */
static bool pair_run(struct pair *p, struct leat_random *r, bool faults)
{
    struct leat_net *net = &p->fast.net;
    struct leat_net_waiting cycle[64];
    bool alive = true;
    uint64_t until = 0;
    for (int piece = 0; alive && piece < 6; piece++) {
        until = piece == 5 ? RUN_LONG : until + one_to(r, 300);
        alive = plain_run(&p->plain, until);
        if (!leat_net_run(net, until) && alive) alive = plain_run(&p->plain, until + NOTICE);
        if (alive && net->now < until) return false;
        if (!books_are_right(net)) return false;
        if (!logs_are_equal(&p->crowd[0], &p->crowd[1])) return false;
        if (faults && alive && piece < 5) random_fault(p, r);
        const uint32_t stuck = leat_net_stuck(net, cycle, 64);
        if (stuck > 64 || !cycle_is_true(net, cycle, stuck)) return false;
    }
    if (!alive && (leat_net_run(net, until) || net->now != p->plain.moved_at)) return false;
    if (!alive && !leat_net_stuck(net, cycle, 64)) return false;
    if (alive && leat_net_flits_inside(net) && !leat_net_stuck(net, cycle, 64)) return false;
    if (alive && net->counts.waits != p->plain.net.counts.waits) return false;
    return leat_net_flits_inside(net) == p->plain.inside && counts_are_equal(net, &p->plain.net);
}

static void compare(bool faults, uint64_t salt)
{
    static struct pair p;
    struct leat_random r;
    uint32_t ran = 0, dead = 0;
    const uint32_t rounds = LEAT_ROUNDS / 10000 + 30;
    leat_random_seed(&r, tap_seed() ^ salt);
    while (ran < rounds) {
        const struct leat_random before = r;
        if (!pair_begin(&p, &r, faults)) continue;
        const bool equal = pair_run(&p, &r, faults);
        OK(equal);
        if (!equal)
            printf(
                "# run %u: %s rule %d, vcs %u buffer %u pipeline %u flow %d drop %d, state %llx\n",
                ran, leat_net_kind_name(p.fast.topology.shape.kind), (int)p.fast.rule.rule,
                p.fast.net.config.channels, p.fast.net.config.buffer_flits,
                p.fast.net.config.pipeline, (int)p.fast.net.config.flow, p.fast.net.config.drop,
                (unsigned long long)before.s[0]);
        dead += leat_net_flits_inside(&p.fast.net) != 0;
        ran++;
        pair_end(&p);
        if (!equal) break;
    }
    printf("# %u networks, %u of them dead in the end\n", ran, dead);
}

static void the_engine_does_what_a_plain_model_does(void)
{
    compare(false, 0);
}

static void also_with_broken_wires_dead_terminals_and_bit_errors(void)
{
    compare(true, 0x5EED);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* A packet of 20 flits along a line of 4; it is disturbed in cycle 9, when its head is on the wire
 * to router 2. */
static void disturb(void (*what)(struct leat_net *net), enum leat_net_fate fate)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 4, 0);
    struct single s = { .packet = { .source = 0, .destination = 3, .flits = 20 } };
    const struct leat_net_host host = single_host(&s);
    struct world w;
    OK(world_build(&w, &shape, LEAT_NET_DOR, 4));
    world_begin(&w, &golden, &host);
    OK(leat_net_run(&w.net, 9));
    what(&w.net);
    OK(leat_net_run(&w.net, 1000));
    EQ(s.arrivals, 1);
    EQ(s.arrival.fate, fate);
    EQ(w.net.counts.packets_ended[fate], 1);
    EQ(leat_net_flits_inside(&w.net), 0);
    world_end(&w);
}

/* The wire from router r to r + 1. */
static uint32_t wire_up(const struct leat_net *net, uint32_t router)
{
    return net->topology->out_first[router];
}

static void cut_behind(struct leat_net *net)
{
    leat_net_break(net, wire_up(net, 0), true);
    leat_net_rerouted(net);
}

static void cut_ahead(struct leat_net *net)
{
    leat_net_break(net, wire_up(net, 2), true);
    leat_net_rerouted(net);
}

static void cut_and_heal(struct leat_net *net)
{
    leat_net_break(net, wire_up(net, 2), true);
    leat_net_rerouted(net);
    leat_net_break(net, wire_up(net, 2), false);
    leat_net_rerouted(net);
}

static void kill_source(struct leat_net *net)
{
    leat_net_kill(net, 0, true);
}

static void kill_destination(struct leat_net *net)
{
    leat_net_kill(net, 3, true);
}

static void kill_stranger(struct leat_net *net)
{
    leat_net_kill(net, 1, true);
}

static void spoil_last_wire(struct leat_net *net)
{
    static uint32_t errors[64];
    memset(errors, 0, sizeof errors);
    leat_net_errors(net, errors, 1);
    errors[wire_up(net, 2)] = UINT32_MAX;
}

static void a_packet_is_lost_by_what_happens_on_its_way_and_by_nothing_else(void)
{
    disturb(cut_behind, LEAT_NET_CUT);
    disturb(cut_ahead, LEAT_NET_NO_WAY);
    disturb(cut_and_heal, LEAT_NET_DELIVERED);
    disturb(kill_source, LEAT_NET_CUT);
    disturb(kill_destination, LEAT_NET_NO_WAY);
    disturb(kill_stranger, LEAT_NET_DELIVERED);
    disturb(spoil_last_wire, LEAT_NET_CORRUPTED);
}

static void a_dead_terminal_sends_when_it_lives_again(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 4, 0);
    struct single s = { .packet = { .source = 0, .destination = 3, .flits = 1 } };
    const struct leat_net_host host = single_host(&s);
    struct world w;
    OK(world_build(&w, &shape, LEAT_NET_DOR, 4));
    world_begin(&w, &golden, &host);
    leat_net_kill(&w.net, 0, true);
    OK(leat_net_run(&w.net, 500));
    EQ(w.net.counts.packets_begun, 0);
    leat_net_kill(&w.net, 0, false);
    OK(leat_net_run(&w.net, 1000));
    EQ(s.arrival.tail_at, 500 + 2 + 4 * 4);
    world_end(&w);
}

static uint32_t wire_between(const struct leat_net_topology *t, uint32_t from, uint32_t to)
{
    uint32_t out = t->out_first[from];
    while (t->out_to[out] & LEAT_NET_TERMINAL || t->in_router[t->out_to[out]] != to)
        out++;
    return out;
}

enum { NO_WAY_AT = 64 };

/* The fate of a packet along a line whose last wire is broken, and the one before damages all flits
 * from that cycle on. At NO_WAY_AT it finds no route. */
static enum leat_net_fate fate_on_line(bool backwards, uint64_t damages_from)
{
    enum { HEAD = 2 + 2 * 4 }; /* cycles to its third router */
    const struct leat_net_shape shape = shape_of(LEAT_NET_LINE, 4, 0);
    struct single s = { .packet = { .created_at = NO_WAY_AT - HEAD, .flits = 40 } };
    const struct leat_net_host host = single_host(&s);
    const uint32_t router[2][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 } }, *way = router[backwards];
    uint32_t errors[64] = { 0 };
    struct world w;
    s.packet.source = way[0];
    s.packet.destination = way[3];
    OK(world_build(&w, &shape, LEAT_NET_DOR, 4));
    world_begin(&w, &golden, &host);
    leat_net_break(&w.net, wire_between(&w.topology, way[2], way[3]), true);
    leat_net_rerouted(&w.net);
    OK(leat_net_run(&w.net, damages_from));
    leat_net_errors(&w.net, errors, 1);
    errors[wire_between(&w.topology, way[1], way[2])] = UINT32_MAX;
    OK(leat_net_run(&w.net, damages_from + 1000));
    EQ(s.arrivals, 1);
    world_end(&w);
    return s.arrival.fate;
}

static void which_router_is_looked_at_first_has_no_part_in_a_fate(void)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        EQ(fate_on_line(backwards, NO_WAY_AT - 1), LEAT_NET_CORRUPTED);
        EQ(fate_on_line(backwards, NO_WAY_AT), LEAT_NET_CORRUPTED);
        EQ(fate_on_line(backwards, NO_WAY_AT + 1), LEAT_NET_NO_WAY);
    }
}

/* Two terminals of one router, a packet of each. */
struct two {
    struct leat_net_packet packet[2];
    bool sent[2];
    struct leat_net_arrival arrival[2];
};

static bool two_next(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct two *t = context;
    if (terminal > 1 || t->sent[terminal]) return false;
    *packet = t->packet[terminal];
    return t->sent[terminal] = true;
}

static void two_arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct two *t = context;
    t->arrival[arrival->packet.source] = *arrival;
}

/* The wire out of router 0 over which flits went. */
static uint32_t wire_in_use(const struct leat_net *net)
{
    uint32_t out = 0;
    while (net->topology->out_to[out] & LEAT_NET_TERMINAL || !leat_net_out_flits(net, out))
        out++;
    return out;
}

enum then { IT_STAYS_BROKEN, IT_HEALS, THE_OTHER_BREAKS };

/* From a corner of a mesh to the opposite one, behind a long packet; the wire ahead breaks while
 * the second packet waits, so that it is offered the other route. Then, before it can take that: */
static struct leat_net_arrival break_before_second(enum then then)
{
    struct leat_net_shape shape = shape_of(LEAT_NET_MESH, 2, 2);
    shape.terminals = 2;
    struct two t = { .packet = { { .source = 0, .destination = 6, .flits = 100 },
                                 { .source = 1, .destination = 6, .flits = 3 } } };
    t.packet[1].created_at = 5;
    const struct leat_net_host host = { .context = &t, .next = two_next, .arrive = two_arrive };
    struct leat_net_config config = golden;
    config.channels = 1;
    struct world w;
    OK(world_build(&w, &shape, LEAT_NET_TABLE, 1));
    world_begin(&w, &config, &host);
    OK(leat_net_run(&w.net, 40));
    const uint32_t wire = wire_in_use(&w.net);
    const uint32_t to_1 = wire_between(&w.topology, 0, 1), to_2 = wire_between(&w.topology, 0, 2);
    leat_net_break(&w.net, wire, true);
    leat_net_rerouted(&w.net);
    if (then == IT_HEALS) leat_net_break(&w.net, wire, false);
    if (then == THE_OTHER_BREAKS) leat_net_break(&w.net, wire == to_1 ? to_2 : to_1, true);
    leat_net_rerouted(&w.net);
    OK(leat_net_run(&w.net, 1000));
    EQ(t.arrival[0].fate, LEAT_NET_CUT);
    EQ(w.net.counts.packets_rerouted, t.arrival[1].rerouted);
    world_end(&w);
    return t.arrival[1];
}

static void a_packet_is_rerouted_by_the_way_it_takes_not_by_one_it_was_offered(void)
{
    const struct leat_net_arrival detour = break_before_second(IT_STAYS_BROKEN);
    EQ(detour.fate, LEAT_NET_DELIVERED);
    OK(detour.rerouted);
    const struct leat_net_arrival direct = break_before_second(IT_HEALS);
    EQ(direct.fate, LEAT_NET_DELIVERED);
    OK(!direct.rerouted);
    const struct leat_net_arrival dropped = break_before_second(THE_OTHER_BREAKS);
    EQ(dropped.fate, LEAT_NET_NO_WAY);
    EQ(dropped.hops, 0);
    OK(!dropped.rerouted);
}

TAP_MAIN(T(the_engine_does_what_a_plain_model_does),
         T(also_with_broken_wires_dead_terminals_and_bit_errors),
         T(a_packet_is_lost_by_what_happens_on_its_way_and_by_nothing_else),
         T(a_dead_terminal_sends_when_it_lives_again),
         T(which_router_is_looked_at_first_has_no_part_in_a_fate),
         T(a_packet_is_rerouted_by_the_way_it_takes_not_by_one_it_was_offered))
