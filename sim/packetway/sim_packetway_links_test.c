/* What the links between half-routers have carried, and how long they were busy. */
#include "sim_packetway_world_test.h"
#include <stdlib.h>

static struct world one;

static const struct leat_sim_packetway_link *link_of(uint32_t router, uint32_t from, uint32_t to)
{
    return leat_sim_packetway_link(&one.net, router, from, to);
}

/* One message after the other, so that their packets do not meet. */
static void send_and_wait(uint32_t from, uint32_t to, uint64_t len)
{
    world_send(&one, from, to, len, one.net.base.now);
    world_finish(&one);
}

/* The first host of a SAN. */
static uint32_t host_of(uint32_t san)
{
    for (uint32_t port = 0; port < one.net.base.ports; port++)
        if (leat_sim_packetway_san_of(&one.net, port) == san) return port;
    abort();
}

/* From ring to Clos over one router: messages of 100 octets are one packet each. By address a
 * packet takes 100 octets, two words of its head, and three of PH and TAIL; 128 symbols and a head
 * of 8 octets make it a frame of the ring. */
static void a_message_crosses_once_for_each_packet(void)
{
    enum { MESSAGES_SENT = 7, WORDS = 13 + 2 + 3 };
    for (unsigned cut_through = 0; cut_through < 2; cut_through++) {
        world_make(&one, false);
        one.config.by_address = true;
        one.config.cut_through = cut_through;
        one.config.routers = 1;
        world_open(&one);
        for (uint32_t i = 0; i < MESSAGES_SENT; i++)
            send_and_wait(host_of(RING), host_of(CLOS), 100);
        EQ(link_of(WEST, 0, 1)->packets, MESSAGES_SENT);
        EQ(link_of(WEST, 0, 1)->busy_ps, MESSAGES_SENT * one.config.link_ps);
        EQ(link_of(WEST, 1, 0)->packets, 0);
        EQ(link_of(WEST, 1, 0)->busy_ps, 0);
        EQ(one.ring.frames, MESSAGES_SENT);
        EQ(one.ring.frame_symbols, MESSAGES_SENT * (128 + 8 * (8 + 8 * WORDS)));
        world_close(&one);
    }
}

/* A router with three half-routers has six links. */
static void each_direction_of_each_pair_counts_for_itself(void)
{
    world_make(&one, false);
    one.config.routers = 1;
    one.router[0] =
        (struct leat_sim_packetway_router){ "hub", 3, { { RING, 5 }, { CLOS, 0 }, { MESH, 4 } } };
    world_open(&one);
    for (uint32_t from = 0; from < SANS; from++)
        for (uint32_t to = 0; to < SANS; to++)
            for (uint32_t i = 0; i < 1 + 3 * from + to; i++)
                if (from != to) send_and_wait(host_of(from), host_of(to), 40);
    for (uint32_t from = 0; from < SANS; from++)
        for (uint32_t to = 0; to < SANS; to++)
            EQ(link_of(0, from, to)->packets, from == to ? 0 : 1 + 3 * from + to);
    world_close(&one);
}

/* ---- an observer of decisions ---------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const leat_time x = *(const leat_time *)a, y = *(const leat_time *)b;
    return (x > y) - (x < y);
}

/* When packets left for a twin from this half-router, in order; returns how many. Planned, it
 * decides in planned_ps, otherwise in address_ps. */
static uint32_t departures(uint32_t router, uint32_t end, leat_time *out)
{
    uint32_t count = 0;
    OK(one.passes <= PASSES);
    for (uint32_t i = 0; i < one.passes; i++) {
        const struct leat_sim_packetway_pass *pass = &one.pass[i];
        if (pass->router != router || pass->end != end) continue;
        if (pass->decision.verdict != LEAT_PACKETWAY_TO_TWIN) continue;
        out[count++] = pass->at +
                       (pass->decision.layer2 ? one.config.planned_ps : one.config.address_ps);
    }
    qsort(out, count, sizeof *out, by_time);
    return count;
}

/* The time in which one packet or more are on the link. */
static leat_time occupied(const leat_time *departed, uint32_t count)
{
    leat_time sum = 0, free_at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const leat_time end = departed[i] + one.config.link_ps;
        sum += end - (departed[i] > free_at ? departed[i] : free_at);
        free_at = end;
    }
    return sum;
}

/* The links are long, so that several packets are on them at a time. */
static void links_count_what_an_observer_sees(void)
{
    static leat_time departed[PASSES];
    uint64_t shared = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct leat_random r;
        leat_random_seed(&r, tap_seed() + i);
        world_make(&one, false);
        one.config.by_address = i & 1;
        one.config.cut_through = i & 2;
        one.config.link_ps = 3000000;
        world_open(&one);
        for (uint32_t k = 0; k < 200; k++)
            world_send_random(&one, &r, 3000, 5000000);
        world_finish(&one);
        EQ(one.net.counts.lost, 0);
        for (uint32_t router = 0; router < ROUTERS; router++)
            for (uint32_t end = 0; end < 2; end++) {
                const struct leat_sim_packetway_link *link = link_of(router, end, 1 - end);
                const uint32_t count = departures(router, end, departed);
                EQ(link->packets, count);
                EQ(link->busy_ps, occupied(departed, count));
                shared += count * one.config.link_ps - link->busy_ps;
            }
        world_close(&one);
    }
    OK(shared > 0);
}

/* Tables that were exchanged before time 0 do not count; those of the first minute do. */
static void messages_of_routers_count_from_time_0_on(void)
{
    world_make(&one, false);
    world_open(&one);
    for (uint32_t router = 0; router < ROUTERS; router++)
        EQ(link_of(router, 0, 1)->packets + link_of(router, 1, 0)->packets, 0);
    world_send(&one, host_of(RING), host_of(RING), 10, UINT64_C(60000000000000));
    world_finish(&one);
    EQ(one.passes, 0);
    OK(one.net.counts.tables > 0);
    for (uint32_t router = 0; router < ROUTERS; router++)
        OK(link_of(router, 0, 1)->packets > 0 && link_of(router, 1, 0)->packets > 0);
    world_close(&one);
}

TAP_MAIN(T(a_message_crosses_once_for_each_packet),
         T(each_direction_of_each_pair_counts_for_itself), T(links_count_what_an_observer_sees),
         T(messages_of_routers_count_from_time_0_on))
