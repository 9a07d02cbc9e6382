/*
 * Networks of half-routers against a plain model: a breadth-first search over routers determines
 * which SANs are connected, and everything that the engines report must agree with it.
 */
#include "packetway_net_test.h"
#include "packetway_record.h"

enum { RUN_LIMIT = 1000000 };

/* ---- the model ---- */

/* Routers on the route from a SAN to all others, or UINT32_MAX. */
static void search(const struct net *n, uint32_t from, uint32_t *distance)
{
    uint32_t line[SANS_MAX], head = 0, tail = 0;
    for (uint32_t i = 0; i < n->san_count; i++)
        distance[i] = UINT32_MAX;
    distance[from] = 0;
    line[tail++] = from;
    while (head < tail) {
        const uint32_t here = line[head++];
        for (uint32_t i = 0; i < n->hr_count; i++) {
            const struct hr *in = &n->hrs[i];
            if (in->dead || in->san != here || n->link_down[in->router]) continue;
            for (uint32_t k = 0; k < n->hr_count; k++) {
                const struct hr *out = &n->hrs[k];
                if (k == i || out->dead || out->router != in->router) continue;
                if (distance[out->san] != UINT32_MAX) continue;
                distance[out->san] = distance[here] + 1;
                line[tail++] = out->san;
            }
        }
    }
}

/* Random SANs and routers of 2..4 half-routers; two hosts on each SAN. */
static void build_random(struct net *n, struct leat_random *r, uint32_t sans, uint32_t routers)
{
    net_init(n);
    for (uint32_t i = 0; i < sans; i++)
        net_san(n, 0x100 * (i + 1), 60, 0);
    for (uint32_t i = 0; i < 2 * sans; i++)
        net_host(n, i / 2);
    for (uint32_t i = 0; i < routers; i++) {
        uint64_t size = 2 + leat_random_below(r, 4) / 3;
        size += leat_random_below(r, 8) / 7;
        uint32_t used = 0;
        for (uint64_t k = 0; k < size; k++) {
            const uint32_t san = (uint32_t)leat_random_below(r, sans);
            if (used >> san & 1) continue;
            used |= UINT32_C(1) << san;
            net_hr(n, i, san);
        }
    }
    net_map(n);
}

/* The fate of one message. */
static bool arrives(struct net *n, uint32_t a, uint32_t b, enum leat_packetway_how how)
{
    static uint64_t number = 1;
    const struct host *to = &n->hosts[b];
    const uint32_t before = to->got_count;
    net_send(n, a, to->address, how, ++number);
    OK(net_run(n, RUN_LIMIT));
    if (to->got_count == before) return false;
    EQ(to->got_count, before + 1); /* once */
    EQ(to->got, number);
    EQ(to->got_from, n->hosts[a].address);
    EQ(to->got_ei, 0);
    return true;
}

static uint64_t stale_plans;

/* Whether a plan exists once its answer has arrived. With so few SANs it always has its routes. */
static bool plan(struct net *n, uint32_t a, uint32_t b)
{
    struct leat_packetway_host *h = n->hosts[a].engine;
    const uint32_t dt = n->hosts[b].address;
    if (leat_packetway_host_plan(h, dt, n->now)->state == LEAT_PACKETWAY_PLAN_FAILED)
        n->now += LEAT_PACKETWAY_SECOND; /* it is not asked again at once */
    leat_packetway_host_plan(h, dt, n->now);
    OK(net_run(n, RUN_LIMIT));
    const struct leat_packetway_plan *p = leat_packetway_host_plan(h, dt, n->now);
    const bool is_near = n->hosts[a].san == n->hosts[b].san;
    return p->state == (is_near ? LEAT_PACKETWAY_PLAN_NATIVE : LEAT_PACKETWAY_PLAN_ROUTES);
}

/* Every host to every other: planned and by address, both as the model predicts. */
static void check_all_pairs(struct net *n, uint64_t seed)
{
    for (uint32_t a = 0; a < n->host_count; a++) {
        uint32_t distance[SANS_MAX];
        search(n, n->hosts[a].san, distance);
        for (uint32_t b = 0; b < n->host_count; b++) {
            if (a == b) continue;
            const bool joined = distance[n->hosts[b].san] != UINT32_MAX;
            const bool by_address = arrives(n, a, b, LEAT_PACKETWAY_SEND_BY_ADDRESS);
            n->hosts[a].err_te = 0;
            bool planned = plan(n, a, b) && arrives(n, a, b, LEAT_PACKETWAY_SEND_PLANNED);
            if (joined && !planned) { /* an outdated plan costs one message and an ERR */
                OK(n->hosts[a].err_te != 0);
                stale_plans++;
                planned = plan(n, a, b) && arrives(n, a, b, LEAT_PACKETWAY_SEND_PLANNED);
            }
            OK(by_address == joined);
            OK(planned == joined);
            if (!joined) n->now += LEAT_PACKETWAY_SECOND; /* ERRs are limited per second */
        }
    }
    if (tap_checks_failed) printf("# seed of this network: %llu\n", (unsigned long long)seed);
}

static void all_pairs_reach_each_other_as_a_search_says(void)
{
    const unsigned rounds = LEAT_ROUNDS >= 250000 ? 60 : 6;
    stale_plans = 0;
    for (unsigned round = 0; round < rounds && !tap_checks_failed; round++) {
        struct leat_random r;
        static struct net n;
        const uint64_t seed = tap_seed() * 1000 + round;
        leat_random_seed(&r, seed);
        const uint32_t sans = 2 + (uint32_t)leat_random_below(&r, 6);
        build_random(&n, &r, sans, 1 + (uint32_t)leat_random_below(&r, 2 * sans));
        OK(net_run(&n, RUN_LIMIT));
        check_all_pairs(&n, seed);
        net_close(&n);
    }
    EQ(stale_plans, 0);
}

/* ---- failures ---- */

/* The link inside a router fails: both of its ends see it. */
static void cut_link(struct net *n, uint32_t router, bool up)
{
    n->link_down[router] = !up;
    for (uint32_t i = 0; i < n->hr_count; i++)
        for (uint32_t k = 0; k < n->hr_count; k++)
            if (i != k && n->hrs[i].router == router && n->hrs[k].router == router)
                EQ(leat_packetway_router_link(n->hrs[i].engine, n->hrs[k].address, up, n->now),
                   LEAT_ERR_OK);
}

/* A whole router fails: the others on its SANs find it gone. */
static void kill_router(struct net *n, uint32_t router)
{
    for (uint32_t i = 0; i < n->hr_count; i++)
        if (n->hrs[i].router == router) n->hrs[i].dead = true;
    for (uint32_t i = 0; i < n->hr_count; i++)
        for (uint32_t k = 0; k < n->hr_count; k++) {
            const struct leat_packetway_address gone = { .at = LEAT_PACKETWAY_AT_SINGLE,
                                                         .low = n->hrs[k].address };
            if (n->hrs[k].router == router && !n->hrs[i].dead && n->hrs[i].san == n->hrs[k].san)
                EQ(leat_packetway_router_node_gone(n->hrs[i].engine, &gone, n->now), LEAT_ERR_OK);
        }
    for (uint32_t i = 0; i < n->host_count; i++)
        for (uint32_t k = 0; k < n->hr_count; k++)
            if (n->hrs[k].router == router)
                leat_packetway_host_router_gone(n->hosts[i].engine, n->hrs[k].address);
}

static void after_a_failure_all_pairs_are_as_the_search_says(void)
{
    const unsigned rounds = LEAT_ROUNDS >= 250000 ? 60 : 6;
    for (unsigned round = 0; round < rounds && !tap_checks_failed; round++) {
        struct leat_random r;
        static struct net n;
        const uint64_t seed = tap_seed() * 2000 + round;
        leat_random_seed(&r, seed);
        const uint32_t sans = 2 + (uint32_t)leat_random_below(&r, 4);
        build_random(&n, &r, sans, 2 + (uint32_t)leat_random_below(&r, sans + 2));
        OK(net_run(&n, RUN_LIMIT));
        const uint32_t victim = (uint32_t)leat_random_below(&r, n.router_count);
        const bool link = round % 2;
        if (link)
            cut_link(&n, victim, false);
        else
            kill_router(&n, victim);
        OK(net_run(&n, RUN_LIMIT));
        OK(net_wait(&n, 31)); /* the next round of tables fills what K left out */
        check_all_pairs(&n, seed);
        if (link) {
            cut_link(&n, victim, true);
            OK(net_run(&n, RUN_LIMIT));
            OK(net_wait(&n, 62)); /* until every node has forgotten */
            check_all_pairs(&n, seed);
        }
        net_close(&n);
    }
}

/* Links fail and recover under traffic: every packet ends; then all is as the search says. */
static void traffic_goes_on_while_links_come_and_go(void)
{
    const unsigned rounds = LEAT_ROUNDS >= 250000 ? 20 : 3;
    for (unsigned round = 0; round < rounds && !tap_checks_failed; round++) {
        struct leat_random r;
        static struct net n;
        const uint64_t seed = tap_seed() * 3000 + round;
        leat_random_seed(&r, seed);
        const uint32_t sans = 3 + (uint32_t)leat_random_below(&r, 3);
        build_random(&n, &r, sans, 3 + (uint32_t)leat_random_below(&r, sans));
        for (unsigned event = 0; event < 30; event++) {
            const uint32_t router = (uint32_t)leat_random_below(&r, n.router_count);
            for (unsigned i = 0; i < 20; i++) {
                const uint32_t a = (uint32_t)leat_random_below(&r, n.host_count);
                const uint32_t b = (uint32_t)leat_random_below(&r, n.host_count);
                const bool planned = leat_random_below(&r, 2);
                if (a != b)
                    net_send(&n, a, n.hosts[b].address,
                             planned ? LEAT_PACKETWAY_SEND_PLANNED : LEAT_PACKETWAY_SEND_BY_ADDRESS,
                             i);
            }
            cut_link(&n, router, n.link_down[router]);
            OK(net_run(&n, RUN_LIMIT));
            OK(net_wait(&n, leat_random_below(&r, 4)));
        }
        for (uint32_t router = 0; router < n.router_count; router++)
            if (n.link_down[router] && leat_random_below(&r, 2)) cut_link(&n, router, true);
        OK(net_wait(&n, 140)); /* old tables have expired */
        check_all_pairs(&n, seed);
        net_close(&n);
    }
}

/* Two routers side by side between two SANs. */
static void build_two_ways(struct net *n)
{
    net_init(n);
    net_san(n, 0x100, 20, 0);
    net_san(n, 0x200, 20, 0);
    for (uint32_t i = 0; i < 4; i++)
        net_host(n, i / 2);
    for (uint32_t router = 0; router < 2; router++)
        for (uint32_t san = 0; san < 2; san++)
            net_hr(n, router, san);
    net_map(n);
    OK(net_run(n, RUN_LIMIT));
}

/*
 * Both halves of the broken router lose the table of the other SAN and notify their buddy; it loses
 * its copy of it and notifies the twin that it had sent it to; there the message ends. No tables
 * need to be exchanged, for the other route is known.
 */
static void a_lost_link_costs_four_messages_and_no_table(void)
{
    static struct net n;
    build_two_ways(&n);
    memset(n.sent, 0, sizeof n.sent);
    cut_link(&n, 0, false);
    OK(net_run(&n, RUN_LIMIT));
    EQ(n.sent[LEAT_PACKETWAY_TE_LINKDOWN], 4);
    EQ(n.sent[LEAT_PACKETWAY_TE_RTBL], 0);
    EQ(n.sent[LEAT_PACKETWAY_TE_HRDOWN], 0);
    for (uint32_t i = 0; i < n.hr_count; i++)
        EQ(leat_packetway_router_counts(n.hrs[i].engine)->failures, 1);
    check_all_pairs(&n, 0);
    net_close(&n);
}

/* Each survivor loses the copy that came from its buddy and has only its twin to notify. */
static void a_lost_router_is_withdrawn_and_traffic_goes_on(void)
{
    static struct net n;
    build_two_ways(&n);
    memset(n.sent, 0, sizeof n.sent);
    kill_router(&n, 0);
    OK(net_run(&n, RUN_LIMIT));
    OK(n.sent[LEAT_PACKETWAY_TE_HRDOWN] <= 2);
    OK(n.sent[LEAT_PACKETWAY_TE_HRDOWN] >= 1);
    EQ(n.sent[LEAT_PACKETWAY_TE_RTBL], 2); /* the LRT changed: one table per survivor */
    check_all_pairs(&n, 0);
    kill_router(&n, 1);
    OK(net_run(&n, RUN_LIMIT));
    check_all_pairs(&n, 0);
    net_close(&n);
}

/* For a minute traffic to lost nodes gets the reason; then they are unknown. */
static void traffic_to_lost_nodes_gets_the_reason_for_a_minute(void)
{
    static struct net n;
    build_two_ways(&n);
    cut_link(&n, 0, false);
    cut_link(&n, 1, false);
    OK(net_run(&n, RUN_LIMIT));
    n.hosts[0].err_te = 0;
    OK(!arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    EQ(n.hosts[0].err_te, LEAT_PACKETWAY_TE_LINKDOWN);
    OK(net_wait(&n, 59));
    OK(!arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    EQ(n.hosts[0].err_te, LEAT_PACKETWAY_TE_LINKDOWN);
    OK(net_wait(&n, 2));
    OK(!arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    EQ(n.hosts[0].err_te, LEAT_PACKETWAY_TE_UNK);
    net_close(&n);
}

/* A plan that a failure invalidated is requested again, from any half-router that still has a
 * route. */
static void a_plan_is_made_again_after_a_failure(void)
{
    static struct net n;
    build_two_ways(&n);
    OK(plan(&n, 0, 2));
    OK(arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_PLANNED));
    const struct leat_packetway_plan *p = leat_packetway_host_plan(n.hosts[0].engine,
                                                                   n.hosts[2].address, n.now);
    EQ(p->state, LEAT_PACKETWAY_PLAN_ROUTES);
    const uint32_t used = p->router;
    cut_link(&n, used == n.hrs[0].address ? 0 : 1, false);
    OK(net_run(&n, RUN_LIMIT));
    OK(!arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_PLANNED)); /* and an ERR discards the plan */
    EQ(n.hosts[0].err_te, LEAT_PACKETWAY_TE_LINKDOWN);
    OK(leat_packetway_host_counts(n.hosts[0].engine)->forgotten > 0);
    OK(plan(&n, 0, 2));
    p = leat_packetway_host_plan(n.hosts[0].engine, n.hosts[2].address, n.now);
    EQ(p->state, LEAT_PACKETWAY_PLAN_ROUTES);
    OK(p->router != used);
    OK(arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_PLANNED));
    net_close(&n);
}

/* ---- loops ---- */

static void build_ring(struct net *n, uint32_t sans, bool without_ids)
{
    net_init(n);
    for (uint32_t i = 0; i < sans; i++)
        net_san(n, without_ids && i == 0 ? 0 : 0x100 * (i + 1), 20, 0);
    for (uint32_t i = 0; i < sans; i++)
        net_host(n, i);
    for (uint32_t i = 0; i < sans; i++) {
        net_hr(n, i, i);
        net_hr(n, i, (i + 1) % sans);
    }
    net_map(n);
}

/* A table stops where it has been, or where its SAN is: the rest of the ring is all it can see. */
static void tables_that_go_in_a_cycle_end(void)
{
    for (int without_ids = 0; without_ids < 2; without_ids++)
        for (uint32_t sans = 3; sans <= 8; sans++) {
            static struct net n;
            build_ring(&n, sans, without_ids);
            OK(net_run(&n, RUN_LIMIT));
            memset(n.sent, 0, sizeof n.sent);
            OK(net_wait(&n, 30)); /* every half-router sends its table once more */
            /* 2 half-routers per SAN, each table forwarded at most once by every other half-router
             * on its route, and by the two of its own SAN */
            OK(n.sent[LEAT_PACKETWAY_TE_RTBL] > 0);
            OK(n.sent[LEAT_PACKETWAY_TE_RTBL] <= 2 * sans * (2 * sans + 2));
            EQ(n.sent[LEAT_PACKETWAY_TE_UNK], 0);
            check_all_pairs(&n, sans);
            net_close(&n);
        }
}

/* Packets take the short way around the ring, and end. */
static void a_ring_is_crossed_the_short_way(void)
{
    static struct net n;
    build_ring(&n, 7, false);
    OK(net_run(&n, RUN_LIMIT));
    for (uint32_t b = 1; b < 7; b++) {
        const uint64_t before = n.hops;
        OK(arrives(&n, 0, b, LEAT_PACKETWAY_SEND_BY_ADDRESS));
        const uint32_t routers = b <= 3 ? b : 7 - b;
        /* one hop more where the first half-router is not on the short route: its buddy is */
        OK(n.hops - before == routers || n.hops - before == routers + 1);
    }
    net_close(&n);
}

/* A packet that cannot be forwarded any more ends with one ERR, not in a cycle. */
static void a_packet_to_nowhere_ends(void)
{
    static struct net n;
    build_ring(&n, 5, false);
    OK(net_run(&n, RUN_LIMIT));
    const uint64_t before = n.frames;
    net_send(&n, 0, 0x305 + 10, LEAT_PACKETWAY_SEND_BY_ADDRESS, 1);
    OK(net_run(&n, RUN_LIMIT));
    OK(n.frames - before <= 3);
    EQ(n.hosts[0].err_te, LEAT_PACKETWAY_TE_UNK);
    net_close(&n);
}

/* ---- a half-router that comes back ---- */

/* It starts with small numbers; others remember larger ones, and it continues from those. */
static void a_restarted_router_is_believed_again(void)
{
    static struct net n;
    build_two_ways(&n);
    OK(net_wait(&n, 95)); /* sequence numbers have grown */
    struct hr *h = &n.hrs[0];
    const struct leat_packetway_router_config c = net_router_config(&n, h->san, h->address);
    EQ(leat_packetway_router_init(&c, h->memory, leat_packetway_router_footprint(&c), n.now,
                                  &h->engine),
       LEAT_ERR_OK);
    net_map_hr(&n, h);
    net_host(&n, 0); /* only it knows of a new host */
    net_tell_node(&n, h, n.hosts[4].address, false);
    EQ(leat_packetway_host_router(n.hosts[4].engine, h->address), LEAT_ERR_OK);
    OK(net_run(&n, RUN_LIMIT));
    OK(arrives(&n, 2, 4, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    OK(arrives(&n, 4, 2, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    net_close(&n);
}

/* Without newer numbers a table is gone after 105 s. */
static void tables_of_a_silent_neighbour_expire(void)
{
    static struct net n;
    struct leat_packetway_table_view view;
    uint32_t live = 0;
    build_two_ways(&n);
    n.hrs[1].dead = n.hrs[3].dead = true; /* nobody notices */
    OK(net_wait(&n, 104));
    for (uint32_t i = 0; i < 256; i++)
        live += leat_packetway_router_table(n.hrs[0].engine, i, &view);
    OK(live > 0);
    OK(net_wait(&n, 2));
    for (uint32_t i = 0; i < 256; i++)
        OK(!leat_packetway_router_table(n.hrs[0].engine, i, &view));
    net_close(&n);
}

/* ---- EI along a chain ---- */

static void ei_names_the_router_that_saw_the_error(void)
{
    /* Which half-router of a chain of three routers sees an error, and what EI reports then. */
    static struct net n;
    net_init(&n);
    for (uint32_t i = 0; i < 4; i++)
        net_san(&n, 0x100 * (i + 1), 20, 0);
    net_host(&n, 0);
    net_host(&n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        net_hr(&n, i, i);
        net_hr(&n, i, i + 1);
    }
    net_map(&n);
    OK(net_run(&n, RUN_LIMIT));
    for (uint32_t hr = 0; hr < 6; hr++)
        for (int planned = 0; planned < 2; planned++) {
            OK(plan(&n, 0, 1));
            n.hrs[hr].error_next = true;
            net_send(&n, 0, n.hosts[1].address,
                     planned ? LEAT_PACKETWAY_SEND_PLANNED : LEAT_PACKETWAY_SEND_BY_ADDRESS, hr);
            OK(net_run(&n, RUN_LIMIT));
            EQ(n.hosts[1].got, hr);
            EQ(n.hosts[1].got_ei, 1 << (2 - hr / 2)); /* the last router is bit 0 */
        }
    net_close(&n);
}

/* ---- floods ---- */

/* A misbehaving neighbour: all bounds hold, and other traffic continues. */
static void a_rogue_neighbour_cannot_fill_more_than_the_bounds(void)
{
    static struct net n;
    struct leat_random r;
    const unsigned floods = LEAT_ROUNDS >= 250000 ? 100000 : 3000;
    build_two_ways(&n);
    leat_random_seed(&r, tap_seed());
    struct leat_packetway_router *victim = n.hrs[0].engine;
    const uint32_t rogue = n.hrs[2].address; /* the buddy of hrs[0] */
    for (unsigned i = 0; i < floods; i++) {
        uint8_t db[128], buf[256];
        struct leat_packetway_build b;
        static struct leat_packetway_message m;
        struct leat_packetway_routed out;
        size_t len = 0;
        const uint32_t san = 0x10000 + (uint32_t)leat_random_below(&r, 0x10000);
        const struct leat_packetway_address node = { .at = LEAT_PACKETWAY_AT_SINGLE,
                                                     .low = san + 1 };
        const uint32_t passed[] = { san + 2, san + 3, rogue };
        leat_packetway_build_init(&b, db, sizeof db);
        leat_packetway_build_table(&b, (uint16_t)i);
        leat_packetway_build_nest(&b);
        leat_packetway_build_san(&b, san);
        leat_packetway_build_received_from(&b, passed, 3);
        leat_packetway_build_route(&b, 0, NULL, 0);
        leat_packetway_build_mtu(&b, 0);
        leat_packetway_build_address(&b, &node);
        leat_packetway_build_nest(&b);
        leat_packetway_build_route(&b, 1, NULL, 0);
        memset(&m, 0, sizeof m);
        m.header = (struct leat_packetway_header){ .dt = n.hrs[0].address,
                                                   .sa = rogue,
                                                   .pt = LEAT_PACKETWAY_PT_RRP,
                                                   .te = LEAT_PACKETWAY_TE_RTBL };
        m.data = db;
        m.data_len = b.len;
        EQ(leat_packetway_message_encode(&m, buf, sizeof buf, &len), LEAT_ERR_OK);
        const struct leat_packetway_arrival arrival = { .side = LEAT_PACKETWAY_FROM_BUDDY };
        n.now += LEAT_PACKETWAY_SECOND / 5000;
        leat_packetway_router_input(victim, &arrival, buf, (uint32_t)len, n.now, &out);
    }
    const struct leat_packetway_router_counts *c = leat_packetway_router_counts(victim);
    OK(c->rtbl_limited > floods / 2); /* 5000 per second arrived, 1000 are processed */
    OK(c->rtbl_full > 0);
    OK(leat_packetway_router_fib(victim)->count <= 1024);
    OK(net_run(&n, 4 * (uint64_t)floods + RUN_LIMIT));
    OK(arrives(&n, 0, 2, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    OK(arrives(&n, 2, 0, LEAT_PACKETWAY_SEND_BY_ADDRESS));
    net_close(&n);
}

/* Thousands of packets to unknown nodes: ten ERRs per second. */
static void a_flood_of_unknown_destinations_gets_ten_errs_a_second(void)
{
    static struct net n;
    build_two_ways(&n);
    memset(n.sent, 0, sizeof n.sent);
    for (uint32_t i = 0; i < 1000; i++)
        net_send(&n, 0, 0x5000 + i, LEAT_PACKETWAY_SEND_BY_ADDRESS, i);
    OK(net_run(&n, RUN_LIMIT));
    EQ(n.sent[LEAT_PACKETWAY_TE_UNK], LEAT_PACKETWAY_ERR_PER_S);
    n.now += LEAT_PACKETWAY_SECOND;
    for (uint32_t i = 0; i < 5; i++)
        net_send(&n, 0, 0x5000 + i, LEAT_PACKETWAY_SEND_BY_ADDRESS, i);
    OK(net_run(&n, RUN_LIMIT));
    EQ(n.sent[LEAT_PACKETWAY_TE_UNK], LEAT_PACKETWAY_ERR_PER_S + 5);
    net_close(&n);
}

TAP_MAIN(T(all_pairs_reach_each_other_as_a_search_says),
         T(after_a_failure_all_pairs_are_as_the_search_says),
         T(traffic_goes_on_while_links_come_and_go),
         T(a_lost_link_costs_four_messages_and_no_table),
         T(a_lost_router_is_withdrawn_and_traffic_goes_on),
         T(traffic_to_lost_nodes_gets_the_reason_for_a_minute),
         T(a_plan_is_made_again_after_a_failure), T(tables_that_go_in_a_cycle_end),
         T(a_ring_is_crossed_the_short_way), T(a_packet_to_nowhere_ends),
         T(a_restarted_router_is_believed_again), T(tables_of_a_silent_neighbour_expire),
         T(ei_names_the_router_that_saw_the_error),
         T(a_rogue_neighbour_cannot_fill_more_than_the_bounds),
         T(a_flood_of_unknown_destinations_gets_ten_errs_a_second))
