#include "sim_packetway_world_test.h"

static struct world one, other;

static uint32_t san_of(const struct world *w, uint32_t port)
{
    return leat_sim_packetway_san_of(&w->net, port);
}

/* Every host to every other, one message after the other: how long the second one took. */
static uint64_t walk_all_pairs(struct world *w, bool by_address, leat_time *took)
{
    uint64_t arrived = 0;
    world_make(w, false);
    w->config.by_address = by_address;
    world_open(w);
    const uint32_t ports = w->net.base.ports;
    EQ(ports, 6 + 16 + 9 - 6);
    for (uint32_t a = 0; a < ports; a++)
        for (uint32_t b = 0; b < ports; b++) {
            world_send(w, a, b, 40, w->net.base.now);
            world_finish(w);
            const uint32_t id = world_send(w, a, b, 40, w->net.base.now);
            world_finish(w);
            arrived += w->reported[id].arrived == 1;
            took[a * ports + b] = world_time(w, id);
        }
    EQ(arrived, ports * ports);
    EQ(w->net.counts.lost, 0);
    return ports;
}

static void every_pair_is_reached_and_planned_ways_are_faster(void)
{
    static leat_time planned[1024], by_address[1024];
    leat_time sum_planned = 0, sum_address = 0;
    const uint64_t ports = walk_all_pairs(&one, false, planned);
    walk_all_pairs(&other, true, by_address);
    uint32_t across = 0;
    for (uint32_t a = 0; a < ports; a++)
        for (uint32_t b = 0; b < ports; b++) {
            const uint64_t i = a * ports + b;
            if (san_of(&one, a) == san_of(&one, b)) continue;
            across++;
            sum_planned += planned[i];
            sum_address += by_address[i];
        }
    OK(sum_planned < sum_address);
    printf("# %u pairs across SANs: planned %.2f us, by address %.2f us on average\n", across,
           1e-6 * (double)sum_planned / across, 1e-6 * (double)sum_address / across);
    world_close(&one);
    world_close(&other);
}

/* Long messages between random hosts, at random times. */
static void load_at_random(struct world *w, uint64_t seed, uint32_t messages)
{
    struct leat_random r;
    leat_random_seed(&r, seed);
    for (uint32_t i = 0; i < messages; i++)
        world_send_random(w, &r, 6000, 50000000);
}

static void check_all_arrived(const struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        EQ(w->reported[i].sent, 1);
        EQ(w->reported[i].arrived, 1);
        EQ(w->reported[i].lost, 0);
        for (uint32_t k = 0; k < w->count; k++) {
            const struct leat_port_message *a = &w->message[i], *b = &w->message[k];
            if (a->from != b->from || a->to != b->to) continue;
            const leat_time at = w->handed_at[i], then = w->handed_at[k];
            const bool before = at < then || (at == then && i < k);
            if (before) OK(w->reported[i].order < w->reported[k].order);
        }
    }
}

static void all_arrives_in_order_and_once(void)
{
    for (unsigned i = 0; i < 4; i++) {
        world_make(&one, false);
        one.config.by_address = i & 1;
        one.config.cut_through = i & 2;
        world_open(&one);
        load_at_random(&one, tap_seed() + i, 400);
        world_finish(&one);
        check_all_arrived(&one);
        OK(one.net.counts.waits > 0); /* room for four packets is little */
        OK(i & 2 ? one.net.counts.cut > 0 : one.net.counts.cut == 0);
        world_close(&one);
    }
}

/* The same, however the run is cut into pieces. */
static void runs_are_the_same_however_they_are_cut(void)
{
    world_make(&one, false);
    world_make(&other, false);
    world_open(&one);
    world_open(&other);
    load_at_random(&one, tap_seed(), 300);
    load_at_random(&other, tap_seed(), 300);
    world_finish(&one);
    for (leat_time until = 0; other.net.base.in_flight;) {
        until += 777777;
        while (other.net.base.now < until)
            leat_port_run(&other.net.base, until);
    }
    for (uint32_t i = 0; i < one.count; i++) {
        EQ(one.reported[i].arrived_at, other.reported[i].arrived_at);
        EQ(one.reported[i].sent_at, other.reported[i].sent_at);
    }
    EQ(one.net.base.certificate, other.net.base.certificate);
    world_close(&one);
    world_close(&other);
}

/* One message through a single SAN: when it arrives. */
static leat_time carry_alone(struct world *w, uint32_t san, uint32_t from, uint32_t to,
                             uint64_t words, leat_time at)
{
    struct leat_port_net *net = w->san[san].net;
    const uint32_t id = w->count++;
    for (uint64_t i = 0; i < 8 * words; i++)
        w->octets[i] = (uint8_t)(id + i * 11 + i / 251);
    w->message[id] = (struct leat_port_message){
        .from = from, .to = to, .id = id, .octets = w->octets, .len = 8 * words
    };
    w->last = 0;
    net->observer = (struct leat_port_observer){
        .context = w, .sent = world_sent, .arrived = world_arrived, .lost = world_lost
    };
    OK(leat_port_send(net, &w->message[id], at));
    while (net->in_flight)
        leat_port_run(net, LEAT_NEVER);
    return w->reported[id].arrived_at;
}

/* Store and forward: the plain sum of the header's times and of those of single SANs. */
static void a_message_takes_what_its_parts_take(void)
{
    for (unsigned by_address = 0; by_address < 2; by_address++) {
        world_make(&one, true);
        world_make(&other, true);
        one.config.by_address = by_address;
        one.config.cut_through = false;
        one.config.routers = 1;
        world_open(&one);
        const uint32_t from = 0, to = 5; /* ring.0, and after five hosts of the ring: clos.1 */
        EQ(leat_sim_packetway_address(&one.net, to), 0x202);
        /* PH, head, data and TAIL; planned, an L2RH of a label goes as far as the router. */
        const uint64_t words = 2 + 2 + 13 + 1, lead = !by_address;
        const leat_time each = by_address ? one.config.address_ps : one.config.planned_ps;
        for (uint32_t i = 0; i < 4; i++) {
            const leat_time start = i * UINT64_C(1000000000);
            const uint32_t id = world_send(&one, from, to, 100, start);
            world_finish(&one);
            const leat_time into = carry_alone(&other, RING, 0, 5, words + lead,
                                               start + one.config.host_ps);
            if (i) EQ(one.pass[2 * i].at, into); /* the first one asks for the route */
            const leat_time out = one.pass[2 * i].at + 2 * each + one.config.link_ps;
            EQ(one.reported[id].arrived_at, carry_alone(&other, CLOS, 0, 1, words, out));
        }
        world_close(&one);
        world_close(&other);
    }
}

/* Which of the routers on the route detected it: the k-th of n is bit n - k. */
static void errors_name_their_router(void)
{
    for (uint32_t router = 0; router < ROUTERS; router++) {
        const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ERRORS, router, 0,
                                                        LEAT_NEVER };
        world_make(&one, false);
        one.config.routers = 2; /* ring - west - clos - east - mesh */
        one.config.fault = &fault;
        one.config.faults = router < 2;
        world_open(&one);
        const uint32_t from = 0, to = one.net.base.ports - 1;
        EQ(san_of(&one, from), RING);
        EQ(san_of(&one, to), MESH);
        const uint32_t id = world_send(&one, from, to, 40, 0);
        world_finish(&one);
        EQ(one.reported[id].lost, router < 2);
        EQ(one.reported[id].arrived, router == 2);
        EQ(one.reported[id].ei, router == WEST ? 2 : router == EAST ? 1 : 0);
        EQ(one.passes, 4);
        world_close(&one);
    }
}

static void trace_is_as_the_map(void)
{
    world_make(&one, false);
    world_open(&one);
    const uint32_t id = world_send(&one, 0, one.net.base.ports - 1, 40, 0);
    world_finish(&one);
    EQ(one.reported[id].arrived, 1);
    EQ(one.passes, 2); /* the south router joins ring and mesh */
    for (uint32_t i = 0; i < one.passes; i++) {
        EQ(one.pass[i].router, SOUTH);
        OK(one.pass[i].decision.layer2);
        EQ(one.pass[i].id, id);
    }
    world_close(&one);
}

/* Tables of a half-router that came from this mapper, and are not lost. */
static uint32_t count_tables(const struct world *w, uint32_t router, uint32_t end, uint32_t mapper)
{
    const struct leat_packetway_router *engine = leat_sim_packetway_engine(&w->net, router, end,
                                                                           NULL);
    uint32_t count = 0;
    struct leat_packetway_table_view t;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TABLES_PER_SAN * SANS; i++)
        count += leat_packetway_router_table(engine, i, &t) && !t.lost &&
                 t.received_from[0] == mapper;
    return count;
}

static void traffic_goes_on_when_a_router_fails(void)
{
    const leat_time second = LEAT_PACKETWAY_SECOND;
    const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, SOUTH, second,
                                                    3 * second };
    for (unsigned by_address = 0; by_address < 2; by_address++) {
        uint32_t mapper;
        world_make(&one, false);
        one.config.by_address = by_address;
        one.config.fault = &fault;
        one.config.faults = 1;
        world_open(&one);
        leat_sim_packetway_engine(&one.net, SOUTH, 0, &mapper);
        const uint32_t from = 0, to = one.net.base.ports - 1;
        const uint32_t before = world_send(&one, from, to, 40, 0);
        world_finish(&one);
        OK(count_tables(&one, WEST, 0, mapper) > 0);
        while (leat_port_run(&one.net.base, 2 * second) < 2 * second) {
        }
        EQ(count_tables(&one, WEST, 0, mapper), 0); /* withdrawn */
        OK(!leat_sim_packetway_is_up(&one.net, SOUTH) && leat_sim_packetway_is_up(&one.net, WEST));
        const uint32_t passed = one.passes;
        const uint32_t during = world_send(&one, from, to, 40, one.net.base.now);
        world_finish(&one);
        EQ(one.reported[before].arrived, 1);
        EQ(one.reported[during].arrived, 1);
        EQ(one.passes, passed + 4); /* west and east */
        while (leat_port_run(&one.net.base, 70 * second) < 70 * second) {
        }
        OK(count_tables(&one, WEST, 0, mapper) > 0); /* there again */
        const uint32_t after = world_send(&one, from, to, 40, one.net.base.now);
        world_finish(&one);
        EQ(one.reported[after].arrived, 1);
        world_close(&one);
    }
}

/* Two routers between the same two SANs: either is enough. */
static void one_of_two_routers_is_enough(void)
{
    for (uint32_t victim = 0; victim < 4; victim++) {
        const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, victim % 2,
                                                        50000000, LEAT_NEVER };
        uint32_t mapper;
        world_make(&one, false);
        one.config.by_address = victim / 2;
        one.config.sans = 2;
        one.config.routers = 2;
        one.router[1] =
            (struct leat_sim_packetway_router){ "also", 2, { { RING, 2 }, { CLOS, 15 } } };
        one.config.fault = &fault;
        one.config.faults = 1;
        world_open(&one);
        const uint32_t ports = one.net.base.ports;
        leat_sim_packetway_engine(&one.net, victim % 2, 1, &mapper);
        for (uint32_t i = 0; i < 40; i++)
            world_send(&one, i % 4, 4 + i % (ports - 4), 40, i % 2 ? 0 : 100000000);
        world_finish(&one);
        for (uint32_t i = 0; i < one.count; i++) {
            if (one.handed_at[i]) EQ(one.reported[i].arrived, 1);
            EQ(one.reported[i].arrived + one.reported[i].lost, 1);
        }
        EQ(count_tables(&one, !(victim % 2), 0, mapper), 0);
        for (uint32_t i = 0; i < one.passes; i++)
            if (one.pass[i].at > 100000000) EQ(one.pass[i].router, !(victim % 2));
        world_close(&one);
    }
}

static void where_no_way_is_left_messages_are_lost(void)
{
    const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_LINK_DOWN, WEST, 1000,
                                                    LEAT_NEVER };
    for (unsigned by_address = 0; by_address < 2; by_address++) {
        world_make(&one, false);
        one.config.routers = 1;
        one.config.by_address = by_address;
        one.config.fault = &fault;
        one.config.faults = 1;
        world_open(&one);
        const uint32_t away = world_send(&one, 0, 8, 40, 1000000);
        const uint32_t near = world_send(&one, 0, 1, 40, 1000000);
        world_finish(&one);
        EQ(san_of(&one, 8), CLOS);
        EQ(one.reported[away].lost, 1);
        EQ(one.reported[near].arrived, 1);
        world_close(&one);
    }
}

/* Messages of which one at least goes through the southern router. */
static void load_south(struct world *w)
{
    world_open(w);
    load_at_random(w, tap_seed(), 400);
    world_send(w, 0, w->net.base.ports - 1, 40, 40000000);
    world_finish(w);
}

/* A packet that this router received after that time, and was about to pass to its other half. */
static struct leat_sim_packetway_pass pass_inside(const struct world *w, uint32_t router,
                                                  leat_time after)
{
    const uint32_t passes = w->passes < PASSES ? w->passes : PASSES;
    uint32_t i = 0;
    while (i < passes && (w->pass[i].router != router || w->pass[i].at < after ||
                          w->pass[i].decision.verdict != LEAT_PACKETWAY_TO_TWIN))
        i++;
    if (i == passes) abort();
    return w->pass[i];
}

/* A message in flight when its router dies is lost, and none is reported twice. Until then the run
 * equals the one without the failure, so that one shows when the router holds something. */
static void a_failure_under_load_loses_what_it_held(void)
{
    uint32_t lost = 0, arrived = 0;
    world_make(&one, false);
    load_south(&one);
    const struct leat_sim_packetway_pass held = pass_inside(&one, SOUTH, 30000000);
    world_close(&one);
    const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, SOUTH,
                                                    held.at + 1, held.at + 30000000 };
    world_make(&one, false);
    one.config.fault = &fault;
    one.config.faults = 1;
    load_south(&one);
    EQ(one.reported[held.id].lost, 1);
    for (uint32_t i = 0; i < one.count; i++) {
        EQ(one.reported[i].arrived + one.reported[i].lost, 1);
        lost += one.reported[i].lost;
        arrived += one.reported[i].arrived;
    }
    OK(arrived > 300);
    printf("# %u of %u messages were lost\n", lost, one.count);
    world_close(&one);
}

static void hosts_are_found_by_name_and_kind(void)
{
    uint8_t records[64];
    struct leat_packetway_build build;
    world_make(&one, false);
    world_open(&one);
    leat_packetway_build_init(&build, records, sizeof records);
    leat_packetway_build_name(&build, (const uint8_t *)"mesh.8", 6);
    uint32_t hr;
    leat_sim_packetway_engine(&one.net, WEST, 0, &hr);
    EQ(leat_packetway_host_query(leat_sim_packetway_host(&one.net, 0), hr, records, build.len,
                                 leat_sim_packetway_clock(&one.net)),
       0);
    leat_sim_packetway_go(&one.net, 0);
    leat_port_run(&one.net.base, 1000000000);
    EQ(one.infos, 1);
    EQ(one.errs, 0);
    world_close(&one);
}

/* ---- SANs side by side ----------------------------------------------------------------------- */

static uint32_t crew_runs;

/* Members work one after the other, the last one first: none may need what another one did. */
static void run_backwards(struct leat_sim_crew *crew, leat_sim_work *work, void *context)
{
    crew_runs++;
    for (uint32_t member = crew->members; member-- > 0;)
        work(context, member);
}

static void a_crew_has_the_results_of_one_thread(void)
{
    struct leat_sim_crew crew = { .run = run_backwards };
    const struct leat_sim_packetway_fault fault = { LEAT_SIM_PACKETWAY_ROUTER_DOWN, EAST, 100000000,
                                                    300000000 };
    for (uint32_t i = 0; i < 8; i++) {
        struct world *const both[] = { &one, &other };
        for (int k = 0; k < 2; k++) {
            struct world *w = both[k];
            world_make(w, false);
            w->config.by_address = i & 1;
            w->config.cut_through = i & 2;
            w->config.fault = &fault;
            w->config.faults = i / 4;
            world_open(w);
            crew.members = 2 + i % 3;
            if (k) leat_sim_packetway_lend(&w->net, &crew);
            load_at_random(w, tap_seed() + i, 400);
            world_finish(w);
        }
        EQ(one.net.base.certificate, other.net.base.certificate);
        EQ(memcmp(&one.net.counts, &other.net.counts, sizeof one.net.counts), 0);
        EQ(memcmp(one.reported, other.reported, sizeof one.reported), 0);
        world_close(&one);
        world_close(&other);
    }
    OK(crew_runs > 100);
}

static bool is_refused(const struct world *w)
{
    struct leat_text why = LEAT_TEXT(200);
    return leat_sim_packetway_check(&w->config, &why) && why.len;
}

static void impossible_networks_are_refused(void)
{
    static struct world kept; /* large */
    world_make(&one, false);
    EQ(leat_sim_packetway_ports(&one.config), 25);
    OK(!is_refused(&one));
#define REFUSED(change)       \
    do {                      \
        kept = one;           \
        change;               \
        OK(is_refused(&one)); \
        one = kept;           \
    } while (0)
    REFUSED(one.san[1].bias = 0x106);
    REFUSED(one.san[1].bias = 0x7ffff0);
    REFUSED(one.san[1].mtu_words = 1);
    REFUSED(one.san[1].name = "");
    REFUSED(one.router[0].end[0].port = 6);
    REFUSED(one.router[0].end[0].san = SANS);
    REFUSED(one.router[0].end[1] = one.router[1].end[0]);
    REFUSED(one.router[0].end[1].san = RING);
    REFUSED(one.router[0].ends = 1);
    REFUSED(one.config.buffer = 0);
    REFUSED(one.config.host_ps = 0);
    REFUSED(one.config.messages_max = 0);
    REFUSED(one.config.sans = 0);
    world_close(&one);
}

TAP_MAIN(T(every_pair_is_reached_and_planned_ways_are_faster), T(all_arrives_in_order_and_once),
         T(runs_are_the_same_however_they_are_cut), T(a_message_takes_what_its_parts_take),
         T(errors_name_their_router), T(trace_is_as_the_map),
         T(traffic_goes_on_when_a_router_fails), T(one_of_two_routers_is_enough),
         T(where_no_way_is_left_messages_are_lost), T(a_failure_under_load_loses_what_it_held),
         T(hosts_are_found_by_name_and_kind), T(a_crew_has_the_results_of_one_thread),
         T(impossible_networks_are_refused))
