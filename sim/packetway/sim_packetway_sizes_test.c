/*
 * PacketWay networks of Ethernets, of many sizes and shapes: all nodes are reachable, or the
 * network is refused before anything is sent.
 */
#include "ether_port.h"
#include "sim_packetway.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { SANS_MOST = LEAT_SIM_PACKETWAY_SANS_MAX, BLOCK = 0x2000, MTU = 186 };

static struct network {
    struct leat_sim_ether_port ether[SANS_MOST];
    struct leat_sim_packetway_san san[SANS_MOST];
    struct leat_sim_packetway_router router[SANS_MOST];
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
    char name[SANS_MOST][16];
    void *memory[SANS_MOST + 1];
    char line[200];
    uint32_t arrived, lost;
    uint32_t answers, answer; /* nodes told, and the last one's address */
} n;

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
    n.arrived++;
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)m, (void)at;
    printf("# lost: %s\n", why);
    n.lost++;
}

static void *take_memory(uint32_t index, size_t len)
{
    n.memory[index] = calloc(1, len);
    if (!n.memory[index]) abort();
    return n.memory[index];
}

static void add_san(uint32_t i, uint32_t stations, uint32_t mtu_words)
{
    const struct leat_sim_ether_port_config c = { .stations = stations,
                                                  .clock = { 1000, 1 },
                                                  .frame_octets = 1500,
                                                  .buffer = 16,
                                                  .messages_max = 1024 };
    leat_sim_ether_port_init(&n.ether[i], &c, take_memory(i, leat_sim_ether_port_footprint(&c)));
    snprintf(n.name[i], sizeof n.name[i], "s%u", i);
    n.san[i] = (struct leat_sim_packetway_san){
        n.name[i],
        &n.ether[i].base,
        { .kind = LEAT_SIM_PACKETWAY_ETHERNET, .ports = stations, .words_max = MTU },
        (i + 1) * BLOCK,
        mtu_words,
        2
    };
}

static void begin(uint32_t sans, uint32_t stations, uint32_t mtu_words)
{
    memset(&n, 0, sizeof n);
    for (uint32_t i = 0; i < sans; i++)
        add_san(i, stations, mtu_words);
    n.config = (struct leat_sim_packetway_config){ .san = n.san,
                                                   .sans = sans,
                                                   .router = n.router,
                                                   .messages_max = 64,
                                                   .cut_through = true,
                                                   .buffer = 16,
                                                   .host_ps = 500000,
                                                   .planned_ps = 200000,
                                                   .address_ps = 5000000,
                                                   .link_ps = 100000 };
}

static void join(uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b)
{
    n.router[n.config.routers++] =
        (struct leat_sim_packetway_router){ "r", 2, { { a, port_a }, { b, port_b } } };
}

/* s0 - s1 - s2 ... */
static void make_chain(uint32_t routers, uint32_t stations, uint32_t mtu_words)
{
    begin(routers + 1, stations, mtu_words);
    for (uint32_t i = 0; i < routers; i++)
        join(i, 1, i + 1, 0);
}

static leat_err check(void)
{
    struct leat_text why;
    leat_text_init(&why, n.line, sizeof n.line - 1, NULL, NULL);
    const leat_err err = leat_sim_packetway_check(&n.config, &why);
    n.line[why.len] = '\0';
    return err;
}

/* Does every half-router know every node? */
static leat_err open_network(void)
{
    struct leat_text why;
    EQ(check(), LEAT_ERR_OK);
    leat_sim_packetway_init(&n.net, &n.config,
                            take_memory(SANS_MOST, leat_sim_packetway_footprint(&n.config)));
    n.net.base.observer =
        (struct leat_port_observer){ .sent = on_sent, .arrived = on_arrived, .lost = on_lost };
    leat_text_init(&why, n.line, sizeof n.line - 1, NULL, NULL);
    const leat_err err = leat_sim_packetway_reach(&n.net, &why);
    n.line[why.len] = '\0';
    return err;
}

static void end(void)
{
    for (uint32_t i = 0; i <= SANS_MOST; i++)
        free(n.memory[i]);
}

/* One message from host to host. */
static bool carries(uint32_t from, uint32_t to)
{
    uint8_t octets[100] = { 1, 2, 3 };
    const struct leat_port_message m = {
        .from = from, .to = to, .id = 0, .octets = octets, .len = sizeof octets
    };
    n.arrived = n.lost = 0;
    OK(leat_port_send(&n.net.base, &m, n.net.base.now));
    while (n.net.base.in_flight)
        leat_port_run(&n.net.base, LEAT_NEVER);
    return n.arrived == 1 && n.lost == 0;
}

/* The first and the last host, there and back, and the time it took. */
static leat_time carries_both_ways(void)
{
    const uint32_t last = n.net.base.ports - 1;
    const leat_time start = n.net.base.now;
    OK(carries(0, last));
    OK(carries(last, 0));
    return n.net.base.now - start;
}

static void two_sans_of_any_size_reach_each_other(void)
{
    static const uint32_t sizes[] = { 2, 3, 23, 24, 62, 63, 64, 257, 763 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned by_address = 0; by_address < 2; by_address++) {
            make_chain(1, sizes[i], MTU);
            n.config.by_address = by_address;
            EQ(open_network(), LEAT_ERR_OK);
            carries_both_ways();
            end();
        }
}

static void sixty_four_routers_in_a_row_are_passed_and_more_refused(void)
{
    make_chain(LEAT_SIM_PACKETWAY_WAY_MAX, 4, MTU);
    EQ(open_network(), LEAT_ERR_OK);
    carries_both_ways();
    end();
    make_chain(LEAT_SIM_PACKETWAY_WAY_MAX + 1, 4, MTU);
    EQ(check(), LEAT_ERR_RANGE);
    OK(strstr(n.line, "from s0 to s65 there are 65 routers in a row, expected at most 64"));
    end();
    /* A shorter route around: 66 routers are in the ring of SANs, and at most 33 on a route. */
    make_chain(LEAT_SIM_PACKETWAY_WAY_MAX + 1, 4, MTU);
    join(0, 2, LEAT_SIM_PACKETWAY_WAY_MAX + 1, 1);
    EQ(open_network(), LEAT_ERR_OK);
    carries_both_ways();
    end();
}

/* RCVF and CSR grow with each router: if an MTU is too small for them, that is reported. */
static void a_table_that_outgrows_an_mtu_is_reported(void)
{
    make_chain(4, 4, LEAT_SIM_PACKETWAY_MTU_MIN);
    EQ(open_network(), LEAT_ERR_OK);
    carries_both_ways();
    end();
    make_chain(LEAT_SIM_PACKETWAY_WAY_MAX, 4, LEAT_SIM_PACKETWAY_MTU_MIN);
    EQ(open_network(), LEAT_ERR_RANGE);
    OK(strstr(n.line, "r at s0.1 knows no route to s1"));
    end();
}

/* A host keeps eight half-routers of its SAN. It is redirected to the others, and asks them. */
static void a_san_may_have_many_routers(void)
{
    enum { ARMS = 40 };
    begin(ARMS + 1, 50, MTU);
    for (uint32_t i = 0; i < ARMS; i++)
        join(0, i, i + 1, 0);
    EQ(open_network(), LEAT_ERR_OK);
    OK(carries_both_ways() < LEAT_PACKETWAY_SECOND); /* every query gets an answer */
    end();
}

/* ---- names and plans ---- */

static void on_event(void *context, uint32_t port, const struct leat_packetway_event *event,
                     leat_time at)
{
    (void)context, (void)port, (void)at;
    struct leat_packetway_record rec;
    if (event->kind != LEAT_PACKETWAY_EVENT_INFO) return;
    struct leat_packetway_records records = leat_packetway_message_records(&event->message);
    while (leat_packetway_records_next(&records, &rec)) {
        n.answers++;
        n.answer = leat_packetway_record_address(&rec).low;
    }
}

static void run_for(leat_time ps)
{
    const leat_time end = n.net.base.now + ps;
    while (n.net.base.now < end)
        leat_port_run(&n.net.base, end);
}

static leat_time clock(void)
{
    return leat_sim_packetway_clock(&n.net);
}

/* Routers between two SANs of a tree in which each SAN has the one above it. */
static uint32_t count_routers(const uint32_t *above, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (; a != b; count++) /* the SAN above has the lower number */
        if (a > b)
            a = above[a];
        else
            b = above[b];
    return count;
}

static void check_plan(const uint32_t *above, uint32_t from, uint32_t to)
{
    struct leat_packetway_leading hop;
    const uint32_t dt = leat_sim_packetway_address(&n.net, to);
    const uint32_t routers = count_routers(above, leat_sim_packetway_san_of(&n.net, from),
                                           leat_sim_packetway_san_of(&n.net, to));
    struct leat_packetway_host *host = leat_sim_packetway_host(&n.net, from);
    leat_packetway_host_plan(host, dt, clock());
    leat_sim_packetway_go(&n.net, from);
    run_for(LEAT_PACKETWAY_SECOND / 10);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(host, dt, clock());
    EQ(p->state, routers ? LEAT_PACKETWAY_PLAN_ROUTES : LEAT_PACKETWAY_PLAN_NATIVE);
    if (!routers || !p->route_count) return;
    struct leat_packetway_route route = { p->routes[0].octets,
                                          p->routes[0].octets + p->routes[0].len, 0 };
    uint32_t hops = 0;
    while (leat_packetway_route_next(&route, &hop))
        hops++;
    EQ(hops, routers);
    OK(carries(from, to));
}

/* The half-router of this host's SAN that is asked: any. */
static uint32_t find_peer(uint32_t san)
{
    for (uint32_t i = 0; i < n.config.routers; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (n.router[i].end[k].san == san) return n.san[san].bias + 1 + n.router[i].end[k].port;
    return 0;
}

static void check_name(uint32_t from, uint32_t to)
{
    char name[32];
    uint8_t records[64];
    struct leat_packetway_build b;
    const uint32_t san = leat_sim_packetway_san_of(&n.net, to),
                   address = leat_sim_packetway_address(&n.net, to);
    const int len = snprintf(name, sizeof name, "s%u.%u", san, address - n.san[san].bias - 1);
    leat_packetway_build_init(&b, records, sizeof records);
    leat_packetway_build_name(&b, (const uint8_t *)name, (size_t)len);
    n.answers = 0;
    EQ(leat_packetway_host_query(leat_sim_packetway_host(&n.net, from),
                                 find_peer(leat_sim_packetway_san_of(&n.net, from)), records, b.len,
                                 clock()),
       LEAT_ERR_OK);
    leat_sim_packetway_go(&n.net, from);
    run_for(5 * LEAT_PACKETWAY_SECOND);
    EQ(n.answers, 1);
    EQ(n.answer, address);
}

/* A tree of SANs of very different sizes. */
static void make_tree(struct leat_random *r, uint32_t sans, uint32_t *above)
{
    static uint32_t used[SANS_MOST];
    begin(sans, 1, MTU);
    for (uint32_t i = 0; i < sans; i++) {
        free(n.memory[i]);
        const bool large = leat_random_below(r, 4) == 0;
        add_san(i, sans + 2 + (uint32_t)leat_random_below(r, large ? 1500 : 30), MTU);
        used[i] = 0;
    }
    for (uint32_t i = 1; i < sans; i++) {
        above[i] = (uint32_t)leat_random_below(r, i);
        join(above[i], used[above[i]]++, i, used[i]++);
    }
    n.config.watch.event = on_event;
}

static void names_and_plans_are_there_at_every_size(void)
{
    enum { TREES = 6, PAIRS = 12, SANS = 9 };
    uint32_t above[SANS_MOST];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned tree = 0; tree < TREES; tree++) {
        make_tree(&r, 2 + (uint32_t)leat_random_below(&r, SANS - 1), above);
        EQ(open_network(), LEAT_ERR_OK);
        OK(leat_sim_packetway_tables(&n.net) + 1 >= n.config.sans); /* one for each other SAN */
        for (unsigned i = 0; i < PAIRS; i++) {
            const uint32_t from = (uint32_t)leat_random_below(&r, n.net.base.ports),
                           to = (uint32_t)leat_random_below(&r, n.net.base.ports);
            if (from == to) continue;
            check_plan(above, from, to);
            if (i % 4 == 0) check_name(from, to);
        }
        end();
    }
}

/* As many L2RHs as a header holds. */
static void a_plan_leads_through_sixty_four_routers(void)
{
    uint32_t above[LEAT_SIM_PACKETWAY_WAY_MAX + 1];
    make_chain(LEAT_SIM_PACKETWAY_WAY_MAX, 4, MTU);
    EQ(open_network(), LEAT_ERR_OK);
    for (uint32_t i = 1; i <= LEAT_SIM_PACKETWAY_WAY_MAX; i++)
        above[i] = i - 1;
    check_plan(above, 0, n.net.base.ports - 1);
    end();
}

/* Many SANs: tables are kept in less room each. */
static void hundreds_of_sans_are_joined(void)
{
    enum { SANS = 300, STATIONS = 6 };
    uint32_t above[SANS];
    begin(SANS, STATIONS, MTU);
    for (uint32_t i = 1; i < SANS; i++) {
        above[i] = (i - 1) / 3;
        join(above[i], 1 + (i - 1) % 3, i, 0);
    }
    n.config.watch.event = on_event;
    EQ(open_network(), LEAT_ERR_OK);
    check_plan(above, 0, n.net.base.ports - 1);
    check_name(n.net.base.ports - 1, n.net.base.ports / 2);
    end();
}

/* A half-router has room for 64 others on its SAN. */
static void a_crowd_of_half_routers_is_refused(void)
{
    enum { ARMS = LEAT_PACKETWAY_BUDDIES_MAX + 2 };
    begin(ARMS + 1, ARMS + 1, MTU);
    for (uint32_t i = 0; i < ARMS; i++)
        join(0, i, i + 1, 0);
    EQ(check(), LEAT_ERR_RANGE);
    OK(strstr(n.line, "s0: more than 65 half-routers"));
    end();
}

TAP_MAIN(T(two_sans_of_any_size_reach_each_other),
         T(sixty_four_routers_in_a_row_are_passed_and_more_refused),
         T(a_table_that_outgrows_an_mtu_is_reported), T(a_san_may_have_many_routers),
         T(names_and_plans_are_there_at_every_size), T(a_plan_leads_through_sixty_four_routers),
         T(hundreds_of_sans_are_joined), T(a_crowd_of_half_routers_is_refused))
