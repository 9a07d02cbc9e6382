/*
 * Four rings in a square, each joined to the next: packets to the opposite ring pass two routers,
 * and with little room in these they deadlock.
 *
 *      ring 0 -- router 0 -- ring 1
 *        |                     |
 *      router 3             router 1
 *        |                     |
 *      ring 3 -- router 2 -- ring 2
 */
#include "sim_aton_port.h"
#include "sim_packetway.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum {
    RINGS = 4,
    STATIONS = 5,
    HOSTS = RINGS * (STATIONS - 2),
    MESSAGES = 2000,
    ASKING = MESSAGES
};
#define SECOND_PS UINT64_C(1000000000000)
#define PAUSE_PS  (SECOND_PS / 20) /* shorter than the interval at which the network looks */

static struct square {
    struct leat_sim_aton_port ring[RINGS];
    struct leat_sim_packetway_san san[RINGS];
    struct leat_sim_packetway_router router[RINGS];
    struct leat_sim_packetway net;
    void *memory[RINGS + 1];
    uint32_t arrived, lost;
    bool asked; /* ASKING has arrived */
    uint8_t ended[MESSAGES];
    uint8_t octets[MESSAGES * 8];
} square;

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context, (void)m, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct square *s = context;
    (void)at;
    if (m->id == ASKING) {
        s->asked = true;
        return;
    }
    s->arrived++;
    EQ(s->ended[m->id]++, 0);
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    struct square *s = context;
    (void)at;
    OK(why && *why);
    s->lost++;
    EQ(s->ended[m->id]++, 0);
}

static void *zeros(size_t len)
{
    void *memory = calloc(1, len);
    if (!memory) abort();
    return memory;
}

static void open_square(uint32_t buffer, bool cut_through)
{
    static const char *const names[] = { "r0", "r1", "r2", "r3" };
    const struct leat_sim_aton_port_config ring = { .stations = STATIONS,
                                                    .model = LEAT_SIM_ATON_WORD,
                                                    .clock = { 1000, 1 },
                                                    .packet_octets = 1000,
                                                    .messages_max = MESSAGES + 1 };
    memset(&square, 0, sizeof square);
    for (uint32_t i = 0; i < RINGS; i++) {
        square.memory[i] = zeros(leat_sim_aton_port_footprint(&ring));
        leat_sim_aton_port_init(&square.ring[i], &ring, square.memory[i]);
        square.san[i] =
            (struct leat_sim_packetway_san){ names[i],
                                             &square.ring[i].base,
                                             { .kind = LEAT_SIM_PACKETWAY_RING, .ports = STATIONS },
                                             0x100 * (i + 1),
                                             64,
                                             10 };
        square.router[i] =
            (struct leat_sim_packetway_router){ names[i], 2, { { i, 0 }, { (i + 1) % RINGS, 1 } } };
    }
    const struct leat_sim_packetway_config config = { .san = square.san,
                                                      .sans = RINGS,
                                                      .router = square.router,
                                                      .routers = RINGS,
                                                      .by_address = true,
                                                      .cut_through = cut_through,
                                                      .messages_max = MESSAGES + 1,
                                                      .buffer = buffer,
                                                      .host_ps = 1000,
                                                      .planned_ps = 1000,
                                                      .address_ps = 1000,
                                                      .link_ps = 1000 };
    struct leat_text why = LEAT_TEXT(200);
    EQ(leat_sim_packetway_check(&config, &why), LEAT_ERR_OK);
    square.memory[RINGS] = zeros(leat_sim_packetway_footprint(&config));
    leat_sim_packetway_init(&square.net, &config, square.memory[RINGS]);
    square.net.base.observer = (struct leat_port_observer){
        .context = &square, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
    EQ(square.net.base.ports, HOSTS);
}

static void close_square(void)
{
    for (uint32_t i = 0; i <= RINGS; i++)
        free(square.memory[i]);
}

/* From all hosts, the first ones left out, to the opposite ring, all at once. */
static void send_all(uint32_t left_out)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const uint32_t from = left_out + i % (HOSTS - left_out), each = STATIONS - 2;
        const uint32_t to = (from / each + RINGS / 2) % RINGS * each +
                            (uint32_t)leat_random_below(&r, each);
        const struct leat_port_message m = {
            .from = from, .to = to, .id = i, .octets = square.octets + (size_t)8 * i, .len = 8
        };
        OK(leat_port_send(&square.net.base, &m, 0));
    }
}

static void fill(void)
{
    send_all(0);
    while (square.net.base.in_flight)
        leat_port_run(&square.net.base, LEAT_NEVER);
    EQ(square.arrived + square.lost, MESSAGES);
}

static void cycles_of_full_buffers_are_broken_up(void)
{
    for (unsigned cut_through = 0; cut_through < 2; cut_through++) {
        open_square(1, cut_through);
        fill();
        printf("# %u of %u messages lost, %llu packets waited in a cycle\n", square.lost,
               (unsigned)MESSAGES, (unsigned long long)square.net.counts.stuck);
        OK(square.net.counts.waits > 0);
        OK(square.net.counts.stuck > 0 && square.lost > 0 && square.arrived > 0);
        close_square();
    }
}

/* One host asks another of its ring again and again, as tasks do that wait for a lock. */
static void they_are_broken_up_while_others_go_on(void)
{
    struct leat_port_net *net = &square.net.base;
    open_square(1, false);
    send_all(2);
    while (square.arrived + square.lost < MESSAGES && net->now < 10000 * SECOND_PS) {
        const struct leat_port_message m = {
            .from = 0, .to = 1, .id = ASKING, .octets = square.octets, .len = 8
        };
        const leat_time until = net->now + PAUSE_PS;
        OK(leat_port_send(net, &m, net->now));
        square.asked = false;
        while (net->now < until && square.arrived + square.lost < MESSAGES)
            leat_port_run(net, until);
        OK(square.asked);
    }
    EQ(square.arrived + square.lost, MESSAGES);
    OK(square.net.counts.stuck > 0 && square.lost > 0);
    close_square();
}

static void with_room_for_all_there_are_none(void)
{
    open_square(LEAT_SIM_PACKETWAY_BUFFER_MAX, true);
    fill();
    EQ(square.lost, 0);
    EQ(square.net.counts.stuck, 0);
    close_square();
}

TAP_MAIN(T(cycles_of_full_buffers_are_broken_up), T(they_are_broken_up_while_others_go_on),
         T(with_room_for_all_there_are_none))
