/* Messages of one packet: priority, logical addresses, hosts with several ports. */
#include "sim_packetway_world_test.h"

enum { DATA_MAX = 256, LEN_MAX = 3000, GROUP = 0xe00005 };

/* What was sent, and what came of it. */
struct sent {
    uint8_t octets[LEN_MAX];
    uint32_t len, dt;
    uint8_t priority;
    uint32_t arrived, lost, receptions;
    uint32_t port[8]; /* where it came in */
    uint32_t routers; /* passes that left a router on a SAN */
    leat_time at;     /* of the last reception */
    uint64_t order;   /* of the first */
    const char *why;
};

static struct world world;
static struct sent sent[DATA_MAX];
static uint32_t sent_count;
static uint64_t order;

static void on_receives(void *context, const struct leat_sim_packetway_reception *r)
{
    const struct leat_packetway_message *m = &r->event->message;
    struct sent *s = &sent[r->id];
    OK(context == &world);
    EQ(r->event->kind, LEAT_PACKETWAY_EVENT_DATA);
    EQ(m->header.dt, s->dt);
    EQ(m->header.priority, s->priority);
    EQ(m->header.pt, 1025);
    EQ(m->header.te, 7);
    EQ(m->data_len, s->len);
    OK(!s->len || memcmp(m->data, s->octets, s->len) == 0);
    if (s->receptions < 8) s->port[s->receptions] = r->port;
    if (!s->receptions++) s->order = ++order;
    s->at = r->at;
}

static void on_passes(void *context, const struct leat_sim_packetway_pass *pass)
{
    (void)context;
    sent[pass->id].routers += pass->decision.verdict == LEAT_PACKETWAY_TO_SAN;
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)at;
    sent[m->id].arrived++;
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context, (void)at;
    OK(why && *why);
    sent[m->id].lost++;
    sent[m->id].why = why;
}

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
}

/* The world of sim_packetway_world_test.h; its config may be changed before open(). */
static void make(void)
{
    memset(sent, 0, sizeof sent);
    sent_count = 0;
    order = 0;
    world_make(&world, false);
    world.config.watch = (struct leat_sim_packetway_watch){ .context = &world,
                                                            .passes = on_passes,
                                                            .receives = on_receives };
}

static void open(void)
{
    world_open(&world);
    world.net.base.observer = (struct leat_port_observer){
        .context = &world, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
}

static uint32_t port_at(uint32_t san, uint32_t port)
{
    uint32_t found = UINT32_MAX;
    OK(leat_sim_packetway_port_at(&world.net, &(struct leat_sim_packetway_end){ san, port },
                                  &found));
    return found;
}

static uint32_t post(uint32_t from, uint32_t dt, uint8_t priority, uint32_t len, leat_time at)
{
    const uint32_t id = sent_count++;
    struct sent *s = &sent[id];
    for (uint32_t i = 0; i < len; i++)
        s->octets[i] = (uint8_t)(id * 7 + i);
    s->len = len;
    s->dt = dt;
    s->priority = priority;
    const struct leat_sim_packetway_data data = { .from = from,
                                                  .dt = dt,
                                                  .pt = 1025,
                                                  .te = 7,
                                                  .priority = priority,
                                                  .id = id,
                                                  .octets = s->octets,
                                                  .len = len };
    OK(leat_sim_packetway_post(&world.net, &data, at));
    return id;
}

/* Nothing that was reserved for packets is still taken. */
static void finish(void)
{
    world_finish(&world);
    leat_port_run(&world.net.base, world.net.base.now + LEAT_PACKETWAY_SECOND);
    for (uint32_t i = 0; i < sent_count; i++)
        EQ(sent[i].arrived + sent[i].lost, 1);
    EQ(world.net.copies, 0);
    EQ(world.net.cuts, 0);
}

static void says(const char *why, const char *text)
{
    OK(why && strcmp(why, text) == 0);
    if (why && strcmp(why, text) != 0) printf("# %s\n", why);
}

static void messages_come_as_they_were_sent(void)
{
    for (unsigned by_address = 0; by_address < 2; by_address++) {
        make();
        world.config.by_address = by_address;
        open();
        const uint32_t from = port_at(RING, 0);
        post(from, 0x209, 0, 5, 0);
        post(from, 0x309, 63, 0, 0);
        post(from, 0x102, 9, 1000, 0); /* on the same SAN */
        post(port_at(MESH, 8), 0x101, 1, 900, 0);
        finish();
        for (uint32_t i = 0; i < sent_count; i++) {
            EQ(sent[i].arrived, 1);
            EQ(sent[i].receptions, 1);
        }
        EQ(sent[0].port[0], port_at(CLOS, 8));
        EQ(sent[0].routers, 2); /* the ring is slow: by the mesh */
        EQ(sent[2].routers, 0);
        EQ(sent[3].port[0], from);
        world_close(&world);
    }
}

static void what_cannot_arrive_is_lost_for_a_reason(void)
{
    make();
    open();
    const uint32_t from = port_at(RING, 0);
    post(from, 0x999, 0, 8, 0);    /* nobody */
    post(from, 0x309, 0, 1100, 0); /* the mesh carries 128 words */
    post(from, 0x201, 0, 8, 0);    /* a half-router */
    post(from, 0xe00001, 0, 8, 0); /* a group of nobody */
    finish();
    for (uint32_t i = 0; i < sent_count; i++) {
        EQ(sent[i].lost, 1);
        EQ(sent[i].receptions, 0);
    }
    says(sent[0].why, "no half-router knows a route to its destination");
    says(sent[1].why, "it is longer than the MTU of the route");
    says(sent[2].why, "it is for a half-router, which takes no data");
    says(sent[3].why, "no node of its SAN, or of those next to it, has its logical address");
    world_close(&world);
}

/* From four stations to one port of the Clos network, 900 octets each, more than its buffer; then
 * another of `priority`. Returns how many of the others come before it. */
static uint32_t overtaken(uint8_t priority)
{
    enum { OTHERS = 24 };
    uint32_t before = 0;
    make();
    world.config.buffer = 64;
    open();
    for (uint32_t i = 0; i < OTHERS; i++)
        post(port_at(RING, (uint32_t[]){ 0, 1, 3 }[i % 3]), 0x209, 10, 900, 0);
    const uint32_t late = post(port_at(RING, 4), 0x20a, priority, 900, 50000000);
    finish();
    for (uint32_t i = 0; i < OTHERS; i++) {
        EQ(sent[i].arrived, 1);
        before += sent[i].order < sent[late].order;
    }
    world_close(&world);
    return before;
}

static void the_urgent_overtake_in_routers(void)
{
    const uint32_t low = overtaken(0), same = overtaken(10), high = overtaken(11);
    printf("# before a late message of lower, the same, and higher priority: %u, %u, %u\n", low,
           same, high);
    OK(high < same);
    OK(same <= low);
}

/* One host, and all at once: by priority, then in the order of the calls. */
static void a_host_sends_the_urgent_first(void)
{
    static const uint8_t priority[] = { 3, 0, 63, 3, 63, 1, 0, 2 };
    enum { COUNT = sizeof priority };
    make();
    open();
    for (uint32_t i = 0; i < COUNT; i++)
        post(port_at(RING, 0), 0x102, priority[i], 40, 0);
    finish();
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < COUNT; k++) {
            const bool first = priority[i] != priority[k] ? priority[i] > priority[k] : i < k;
            if (i != k) EQ(sent[i].order < sent[k].order, first);
        }
    world_close(&world);
}

static const struct leat_sim_packetway_home homes[] = {
    { "crunch", 2, { { RING, 0 }, { MESH, 8 } }, 1, { 9 }, 1, { GROUP } },
    { "store", 1, { { CLOS, 3 } }, 0, { 0 }, 1, { GROUP } },
    { "spool", 1, { { MESH, 1 } }, 0, { 0 }, 2, { 0xe00009, GROUP } },
};

static void make_with_homes(void)
{
    make();
    world.config.home = homes;
    world.config.homes = sizeof homes / sizeof *homes;
}

/* A plain count of who must have it: the SAN of the sender, and those that a router of its first
 * half-router joins to it. */
static void logical_addresses_reach_the_san_and_the_next(void)
{
    make_with_homes();
    open();
    /* south is the first half-router of the ring (its port is lower), and leads to the mesh */
    const uint32_t from_ring = post(port_at(RING, 1), GROUP, 5, 100, 0);
    EQ(post(port_at(CLOS, 8), GROUP, 0, 100, 0), 1);    /* west: the ring */
    EQ(post(port_at(RING, 0), GROUP, 0, 100, 0), 2);    /* not to the port that sends it */
    EQ(post(port_at(CLOS, 8), 0xe00009, 0, 100, 0), 3); /* spool is not near enough */
    finish();
    EQ(sent[from_ring].receptions, 3);
    EQ(sent[from_ring].routers, 3);
    EQ(sent[1].receptions, 2);
    EQ(sent[1].port[0] == port_at(CLOS, 3) || sent[1].port[1] == port_at(CLOS, 3), 1);
    EQ(sent[1].port[0] == port_at(RING, 0) || sent[1].port[1] == port_at(RING, 0), 1);
    EQ(sent[2].receptions, 2);
    EQ(sent[3].lost, 1);
    world_close(&world);
}

static void many_copies_at_a_time_are_bounded(void)
{
    make_with_homes();
    open();
    for (uint32_t i = 0; i < DATA_MAX; i++)
        post(port_at(RING, 1), GROUP, (uint8_t)(i % 64), 200, 0);
    finish();
    OK(world.net.copies_max <= world.net.nodes);
    for (uint32_t i = 0; i < DATA_MAX; i++)
        EQ(sent[i].receptions, 3);
    world_close(&world);
}

static void a_host_of_two_sans_is_reached_by_the_other_port(void)
{
    const struct leat_sim_packetway_fault fault = { .kind = LEAT_SIM_PACKETWAY_PORT_DOWN,
                                                    .from = 1000000000,
                                                    .to = 2000000000,
                                                    .port = { RING, 0 } };
    make_with_homes();
    world.config.fault = &fault;
    world.config.faults = 1;
    open();
    const uint32_t from = port_at(CLOS, 8), other = port_at(RING, 0);
    const uint32_t early = post(from, 0x101, 0, 50, 0), late = post(from, 0x101, 0, 50, 1500000000),
                   round = post(from, 0x309, 0, 50, 1500000000),
                   by_it = post(other, 0x209, 0, 50, 1500000000);
    leat_port_run(&world.net.base, 1900000000);
    while (world.net.base.now < UINT64_C(3000000000000)) /* it is known again */
        leat_port_run(&world.net.base, UINT64_C(3000000000000));
    const uint32_t again = post(from, 0x101, 0, 50, world.net.base.now);
    finish();
    EQ(sent[early].arrived, 1);
    EQ(sent[late].lost, 1);
    EQ(sent[round].arrived, 1);
    EQ(sent[by_it].lost, 1);
    says(sent[by_it].why, "the port of its sender or receiver is down");
    EQ(sent[again].arrived, 1);
    world_close(&world);
}

static void wrong_hosts_are_refused(void)
{
    static const struct leat_sim_packetway_home wrong[] = {
        { "", 1, { { RING, 0 } }, 0, { 0 }, 0, { 0 } },
        { "none", 0, { { 0, 0 } }, 0, { 0 }, 0, { 0 } },
        { "router", 1, { { RING, 5 } }, 0, { 0 }, 0, { 0 } },
        { "far", 1, { { RING, 6 } }, 0, { 0 }, 0, { 0 } },
        { "nowhere", 1, { { SANS, 0 } }, 0, { 0 }, 0, { 0 } },
        { "twice", 2, { { RING, 0 }, { RING, 0 } }, 0, { 0 }, 0, { 0 } },
        { "cc", 1, { { RING, 0 } }, 1, { 2 }, 0, { 0 } },
        { "logical", 1, { { RING, 0 } }, 0, { 0 }, 1, { 0x101 } },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct leat_text why = LEAT_TEXT(200);
        make();
        world.config.home = &wrong[i];
        world.config.homes = 1;
        EQ(leat_sim_packetway_check(&world.config, &why), LEAT_ERR_RANGE);
        OK(why.len > 0);
        world_close(&world);
    }
    const struct leat_sim_packetway_fault fault = { .kind = LEAT_SIM_PACKETWAY_PORT_DOWN,
                                                    .to = LEAT_NEVER,
                                                    .port = { RING, 5 } };
    struct leat_text why = LEAT_TEXT(200);
    make();
    world.config.fault = &fault;
    world.config.faults = 1;
    EQ(leat_sim_packetway_check(&world.config, &why), LEAT_ERR_RANGE);
    world_close(&world);
}

TAP_MAIN(T(messages_come_as_they_were_sent), T(what_cannot_arrive_is_lost_for_a_reason),
         T(the_urgent_overtake_in_routers), T(a_host_sends_the_urgent_first),
         T(logical_addresses_reach_the_san_and_the_next), T(many_copies_at_a_time_are_bounded),
         T(a_host_of_two_sans_is_reached_by_the_other_port), T(wrong_hosts_are_refused))
