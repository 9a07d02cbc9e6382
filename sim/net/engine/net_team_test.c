/* A network in parts does what the same network does as a whole. */
#define _GNU_SOURCE /* barriers */
#include "net_crowd_test.h"
#include <pthread.h>

enum { PARTS_MAX = 5 };

/* ---- a plain crew: new threads for every run ------------------------------------------------- */

struct plain_crew {
    struct leat_sim_crew base;
    pthread_barrier_t barrier;
    leat_sim_work *work;
    void *context;
};

struct hand {
    struct plain_crew *crew;
    uint32_t member;
    pthread_t thread;
};

static void *hand_works(void *argument)
{
    const struct hand *hand = argument;
    hand->crew->work(hand->crew->context, hand->member);
    return NULL;
}

static void crew_run(struct leat_sim_crew *base, leat_sim_work *work, void *context)
{
    struct plain_crew *crew = (struct plain_crew *)base;
    struct hand hand[PARTS_MAX];
    crew->work = work;
    crew->context = context;
    for (uint32_t i = 1; i < base->members; i++) {
        hand[i] = (struct hand){ .crew = crew, .member = i };
        if (pthread_create(&hand[i].thread, NULL, hand_works, &hand[i])) abort();
    }
    work(context, 0);
    for (uint32_t i = 1; i < base->members; i++)
        pthread_join(hand[i].thread, NULL);
}

static void crew_meet(struct leat_sim_crew *base)
{
    pthread_barrier_wait(&((struct plain_crew *)base)->barrier);
}

static void crew_begin(struct plain_crew *crew, uint32_t members)
{
    *crew =
        (struct plain_crew){ .base = { .members = members, .run = crew_run, .meet = crew_meet } };
    pthread_barrier_init(&crew->barrier, NULL, members);
}

/* ---- the whole beside its parts -------------------------------------------------------------- */

struct pair {
    struct world whole, divided;
    struct crowd
        crowd[1 + PARTS_MAX]; /* of the whole; of the parts, or only [1] of them together */
    void *context[PARTS_MAX];
    uint32_t *errors[2];
    struct plain_crew crew;
    bool side_by_side; /* each part has its own hosts */
    bool has_crew;
    uint32_t parts; /* 0: a random number */
};

static void share_hosts(struct pair *p)
{
    for (uint32_t i = 0; i < PARTS_MAX; i++) {
        struct crowd *own = &p->crowd[1 + i];
        if (i) *own = p->crowd[1];
        p->context[i] = own;
    }
}

/* Both networks, and hosts alike. False: there is no such network. */
static bool pair_build(struct pair *p, struct leat_random *r, const struct leat_net_shape *shape,
                       struct leat_net_config config, enum leat_net_route_rule rule)
{
    const uint64_t seed = leat_random_next(r);
    if (!world_build(&p->whole, shape, rule, config.channels)) return false;
    if (!world_build(&p->divided, shape, rule, config.channels)) abort();
    const struct leat_net_topology *t = &p->whole.topology;
    const bool stored = config.flow != LEAT_NET_WORMHOLE || config.drop;
    const uint32_t flits_max = one_to(r, stored ? config.buffer_flits : 9);
    const uint32_t pause_max = leat_random_below(r, 2) ? 4 : 400;
    const uint32_t gap_max = one_to(r, pause_max) * flits_max;
    const bool moody = !p->side_by_side && !leat_random_below(r, 3);
    for (int i = 0; i < 2; i++) {
        crowd_begin(&p->crowd[i], t->terminals, seed);
        p->crowd[i].flits_max = flits_max;
        p->crowd[i].gap_max = gap_max;
        p->crowd[i].moody = moody;
        p->crowd[i].left = 12;
        p->crowd[i].wake = wake_net;
        p->crowd[i].network = i ? &p->divided.net : &p->whole.net;
        p->errors[i] = world_memory(t->outs * sizeof *p->errors[i]);
    }
    share_hosts(p);
    struct leat_net_host whole = host_of(&p->crowd[0]), divided = host_of(&p->crowd[1]);
    if (p->side_by_side) divided.part_context = p->context;
    world_begin(&p->whole, &config, &whole);
    config.parts = p->parts ? p->parts : 1 + one_to(r, PARTS_MAX - 1);
    world_begin(&p->divided, &config, &divided);
    crew_begin(&p->crew, one_to(r, PARTS_MAX));
    if (p->has_crew) leat_net_lend(&p->divided.net, &p->crew.base);
    return true;
}

static bool pair_begin(struct pair *p, struct leat_random *r, bool faults)
{
    const struct leat_net_shape shape = random_shape(r);
    const struct leat_net_config config = random_config(r);
    enum leat_net_route_rule rule = leat_net_rule_default(shape.kind);
    if (!leat_random_below(r, 2))
        rule = (enum leat_net_route_rule)leat_random_below(r, LEAT_NET_RULES);
    p->side_by_side = leat_random_below(r, 2);
    p->has_crew = leat_random_below(r, 2);
    if (!pair_build(p, r, &shape, config, rule)) return false;
    for (uint32_t out = 0; faults && out < p->whole.topology.outs; out++)
        p->errors[0][out] = p->errors[1][out] = leat_random_below(r, 3) ? 0 : UINT32_C(0x04000000);
    if (faults && leat_random_below(r, 2)) {
        const uint64_t seed = leat_random_next(r);
        leat_net_errors(&p->whole.net, p->errors[0], seed);
        leat_net_errors(&p->divided.net, p->errors[1], seed);
    }
    return true;
}

static void pair_end(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        crowd_end(&p->crowd[i]);
        free(p->errors[i]);
    }
    pthread_barrier_destroy(&p->crew.barrier);
    world_end(&p->whole);
    world_end(&p->divided);
}

static void random_fault(struct pair *p, struct leat_random *r)
{
    const struct leat_net_topology *t = &p->whole.topology;
    const uint32_t out = (uint32_t)leat_random_below(r, t->outs);
    const uint32_t terminal = (uint32_t)leat_random_below(r, t->terminals);
    const bool ill = leat_random_below(r, 3) != 0, wire = leat_random_below(r, 2);
    struct leat_net *const net[] = { &p->whole.net, &p->divided.net };
    for (int i = 0; i < 2; i++) {
        if (!wire) {
            leat_net_kill(net[i], terminal, ill);
        } else if (t->out_to[out] != LEAT_NET_NONE) {
            leat_net_break(net[i], out, ill);
            leat_net_rerouted(net[i]);
        }
    }
}

/* By time, destination, source and number: the order in which a whole network calls its host. */
static int by_order(const void *left, const void *right)
{
    const struct leat_net_arrival *a = left, *b = right;
    const uint64_t key[][2] = { { a->tail_at, b->tail_at },
                                { a->packet.destination, b->packet.destination },
                                { a->packet.source, b->packet.source },
                                { a->packet.number, b->packet.number } };
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (key[i][0] != key[i][1]) return key[i][0] < key[i][1] ? -1 : 1;
    return 0;
}

/* Each part calls in order of time; then all logs together are the whole's. */
static bool logs_agree(struct pair *p)
{
    static struct crowd all;
    all.logged = 0;
    for (uint32_t i = 1; i <= (p->side_by_side ? PARTS_MAX : 1); i++) {
        const struct crowd *c = &p->crowd[i];
        for (uint32_t n = 0; n < c->logged; n++) {
            if (n && c->log[n].tail_at < c->log[n - 1].tail_at) return false;
            if (all.logged == LOG_MAX) return false;
            all.log[all.logged++] = c->log[n];
        }
    }
    if (p->side_by_side) qsort(all.log, all.logged, sizeof *all.log, by_order);
    return logs_are_equal(&p->crowd[0], &all);
}

static bool stuck_alike(const struct pair *p)
{
    static struct leat_net_waiting cycle[2][64];
    const uint32_t len = leat_net_stuck(&p->whole.net, cycle[0], 64);
    if (len != leat_net_stuck(&p->divided.net, cycle[1], 64)) return false;
    return !memcmp(cycle[0], cycle[1], (len < 64 ? len : 64) * sizeof cycle[0][0]);
}

static bool pair_run(struct pair *p, struct leat_random *r, bool faults)
{
    struct leat_net *whole = &p->whole.net, *divided = &p->divided.net;
    bool alive = true;
    uint64_t until = 0;
    for (int piece = 0; alive && piece < 6; piece++) {
        until = piece == 5 ? 40000 : until + one_to(r, 300);
        if (piece == 5 && !leat_random_below(r, 3)) until = LEAT_NEVER;
        alive = leat_net_run(whole, until);
        if (leat_net_run(divided, until) != alive || whole->now != divided->now) return false;
        if (whole->counts.waits != divided->counts.waits) return false;
        if (leat_net_flits_inside(whole) != leat_net_flits_inside(divided)) return false;
        if (!counts_are_equal(whole, divided) || !logs_agree(p) || !stuck_alike(p)) return false;
        if (faults && piece < 5) random_fault(p, r);
    }
    return true;
}

static void compare(bool faults, uint64_t salt)
{
    static struct pair p;
    struct leat_random r;
    uint32_t ran = 0, dead = 0;
    const uint32_t rounds = LEAT_ROUNDS / 10000 + 50;
    leat_random_seed(&r, tap_seed() ^ salt);
    while (ran < rounds) {
        if (!pair_begin(&p, &r, faults)) continue;
        const bool equal = pair_run(&p, &r, faults);
        OK(equal);
        if (!equal)
            printf("# run %u: %s rule %d, %u parts, %u members, side by side %d\n", ran,
                   leat_net_kind_name(p.whole.topology.shape.kind), (int)p.whole.rule.rule,
                   leat_net_parts(&p.whole.topology, &p.divided.net.config),
                   leat_sim_crew_members(p.divided.net.crew), p.side_by_side);
        dead += leat_net_flits_inside(&p.whole.net) != 0;
        ran++;
        pair_end(&p);
        if (!equal) break;
    }
    printf("# %u networks, %u of them dead in the end\n", ran, dead);
}

static void parts_do_what_the_whole_does(void)
{
    compare(false, 0);
}

static void also_with_broken_wires_dead_terminals_and_bit_errors(void)
{
    compare(true, 0x5EED);
}

/* Large enough that the crew does the steps between calls of the hosts. */
static void a_busy_network_with_one_host_is_simulated_by_its_crew(void)
{
    static struct pair p;
    const struct leat_net_shape torus = shape_of(LEAT_NET_TORUS, 24, 20);
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 3; round++) {
        p.side_by_side = false;
        p.has_crew = true;
        if (!pair_build(&p, &r, &torus, golden, LEAT_NET_DOR)) abort();
        for (int i = 0; i < 2; i++) {
            p.crowd[i].gap_max = 4;
            p.crowd[i].flits_max = 5;
        }
        OK(pair_run(&p, &r, round == 2));
        pair_end(&p);
    }
}

static void every_router_can_be_a_part(void)
{
    static struct pair p;
    const struct leat_net_shape torus = shape_of(LEAT_NET_TORUS, 20, 20);
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    p.parts = 400;
    if (!pair_build(&p, &r, &torus, golden, LEAT_NET_DOR)) abort();
    OK(pair_run(&p, &r, false));
    pair_end(&p);
}

static void a_network_has_as_many_parts_as_it_can(void)
{
    struct world w;
    const struct leat_net_shape line = shape_of(LEAT_NET_LINE, 3, 0);
    struct leat_net_config config = golden;
    if (!world_build(&w, &line, LEAT_NET_DOR, config.channels)) abort();
    EQ(leat_net_parts(&w.topology, &config), 1);
    config.parts = 2;
    EQ(leat_net_parts(&w.topology, &config), 2);
    config.parts = 9;
    EQ(leat_net_parts(&w.topology, &config), 3);
    config.architecture = LEAT_NET_SWITCH_FIFO;
    EQ(leat_net_parts(&w.topology, &config), 1);
    EQ(leat_net_parts_worth(&w.topology, 4), 1);
    w.topology.routers = 3 * LEAT_NET_PART_ROUTERS;
    EQ(leat_net_parts_worth(&w.topology, 4), 3);
    EQ(leat_net_parts_worth(&w.topology, 2), 2);
    world_end(&w);
}

TAP_MAIN(T(parts_do_what_the_whole_does), T(also_with_broken_wires_dead_terminals_and_bit_errors),
         T(a_busy_network_with_one_host_is_simulated_by_its_crew), T(every_router_can_be_a_part),
         T(a_network_has_as_many_parts_as_it_can))
