#include "leat_text.h"
#include "sim_atm_ports.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 4096, PORTS_MAX = 64, CYCLE_PS = 50000 };

/* The callbacks of a message. */
struct reported {
    leat_time sent_at, coming_at, arrived_at;
    uint32_t sent, arrived, lost;
    uint64_t order; /* among all arrivals */
};

static struct scene {
    struct leat_sim_atm_ports port;
    void *memory;
    struct leat_port_message message[MESSAGES_MAX];
    struct reported reported[MESSAGES_MAX];
    leat_time handed_at[MESSAGES_MAX];
    uint32_t count;
    uint64_t arrivals;
    uint32_t stuck[2]; /* by leat_port_stuck */
    leat_time last;
    uint8_t *octets, *original;
    size_t used;
} scene;

enum { OCTETS_CAP = 1 << 24 };

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    struct reported *reported = &((struct scene *)context)->reported[m->id];
    EQ(reported->arrived, 0);
    OK(at >= scene.last);
    scene.last = at;
    reported->sent++;
    reported->sent_at = at;
}

static void turn_over(const struct leat_port_message *m)
{
    for (uint64_t i = 0; i < m->len; i++)
        m->octets[i] ^= 0xff;
}

/* From now on the octets belong to the callback: changing them must have no effect. */
static void on_coming(void *context, const struct leat_port_message *m, leat_time at)
{
    struct reported *reported = &((struct scene *)context)->reported[m->id];
    EQ(reported->sent, 1);
    EQ(reported->arrived, 0);
    OK(at > scene.last);
    EQ(memcmp(m->octets, scene.original + (m->octets - scene.octets), m->len), 0);
    turn_over(m);
    reported->coming_at = at;
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    struct reported *reported = &((struct scene *)context)->reported[m->id];
    const struct leat_port_message *sent = &scene.message[m->id];
    EQ(reported->sent, 1);
    OK(at >= scene.last);
    scene.last = at;
    OK(m->from == sent->from && m->to == sent->to && m->len == sent->len);
    if (reported->coming_at) {
        EQ(reported->coming_at, at);
        turn_over(m);
    }
    reported->arrived++;
    reported->arrived_at = at;
    reported->order = scene.arrivals++;
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    struct reported *reported = &((struct scene *)context)->reported[m->id];
    OK(*why != '\0');
    (void)at;
    reported->lost++;
}

static void on_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    struct scene *s = context;
    (void)at;
    OK(strcmp(why, leat_sim_atm_load_stuck_text(how)) == 0);
    s->stuck[how]++;
}

static struct leat_sim_atm_ports_config config_of(const char *name)
{
    struct leat_sim_atm_ports_config config = { .model = LEAT_SIM_ATM_CELL,
                                                .messages_max = MESSAGES_MAX };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse(name, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    return config;
}

static void the_load_below_has_the_longest_message_that_both_buffers_hold(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.send_blocks = 100;
    config.aal.receive_blocks = 90;
    const struct leat_sim_atm_load_config load = leat_sim_atm_ports_load(&config);
    EQ(load.len_max, leat_atm_aal_message_max(90));
    EQ(load.model, LEAT_SIM_ATM_CELL);
    config.contention_free = true;
    EQ(leat_sim_atm_ports_load(&config).model, LEAT_SIM_ATM_ALONE);
}

static void set_up(const struct leat_sim_atm_ports_config *config)
{
    free(scene.memory);
    free(scene.octets);
    free(scene.original);
    memset(&scene, 0, sizeof scene);
    scene.memory = calloc(1, leat_sim_atm_ports_footprint(config));
    scene.octets = calloc(1, OCTETS_CAP);
    scene.original = calloc(1, OCTETS_CAP);
    if (!scene.memory || !scene.octets || !scene.original) abort();
    leat_sim_atm_ports_init(&scene.port, config, scene.memory);
    scene.port.net.observer = (struct leat_port_observer){ .context = &scene,
                                                           .sent = on_sent,
                                                           .arrived = on_arrived,
                                                           .lost = on_lost,
                                                           .stuck = on_stuck,
                                                           .coming = on_coming };
}

static uint32_t hand_over(uint32_t from, uint32_t to, uint64_t len, leat_time at)
{
    const uint32_t id = scene.count++;
    uint8_t *octets = scene.octets + scene.used;
    for (uint64_t i = 0; i < len; i++)
        octets[i] = (uint8_t)(id + i * 11 + i / 251);
    memcpy(scene.original + scene.used, octets, len);
    scene.used += len;
    if (scene.used > OCTETS_CAP) abort();
    scene.message[id] = (struct leat_port_message){
        .from = from, .to = to, .id = id, .octets = octets, .len = len
    };
    scene.handed_at[id] = at;
    OK(leat_port_send(&scene.port.net, &scene.message[id], at));
    return id;
}

static void run_out(void)
{
    while (scene.port.net.in_flight)
        leat_port_run(&scene.port.net, LEAT_NEVER);
}

static void run_to(uint64_t cycle)
{
    while (scene.port.load.sim.now <= cycle)
        leat_port_run(&scene.port.net, cycle * CYCLE_PS);
}

static void a_message_alone_takes_the_time_of_the_note_in_every_model(void)
{
    static const uint32_t lens[] = { 0, 1, 4, 16, 17, 300, 1000, 5000, 67912 };
    for (int contention_free = 0; contention_free < 2; contention_free++)
        for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
            struct leat_sim_atm_ports_config config = config_of("clos444");
            config.contention_free = contention_free;
            set_up(&config);
            const leat_time way = CYCLE_PS * leat_atm_aal_one_way_cycles(lens[i]);
            hand_over(3, 9, lens[i], 7 * CYCLE_PS - 3); /* accepted at the next edge */
            run_out();
            EQ(scene.reported[0].arrived_at, 7 * CYCLE_PS + way);
            OK(scene.reported[0].coming_at);
            OK(scene.port.net.latency < way);
            OK(scene.port.net.certificate != 0);
            EQ(scene.port.net.now, scene.reported[0].arrived_at);
        }
}

static void other_fabrics_differ_by_the_cycles_of_their_stages(void)
{
    static const char *const names[] = { "bmx:4", "clos:3,5,2", "clos:2,17,3" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct leat_sim_atm_ports_config config = config_of(names[i]);
        leat_time way[2];
        for (int alone = 0; alone < 2; alone++) {
            struct leat_sim_atm_ports_config c = config;
            c.contention_free = alone;
            set_up(&c);
            hand_over(1, 0, 100, 0);
            run_out();
            way[alone] = scene.reported[0].arrived_at;
        }
        EQ(way[0], way[1]);
        EQ(way[0] / CYCLE_PS + 18,
           leat_atm_aal_one_way_cycles(100) + leat_atm_clos_idle_cycles(&config.fabric.net));
    }
}

static void a_port_sends_by_time_and_then_in_the_order_of_calls(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    set_up(&config);
    const uint32_t late = hand_over(2, 5, 40, 1000 * CYCLE_PS);
    const uint32_t early = hand_over(2, 5, 40, 500 * CYCLE_PS);
    const uint32_t same = hand_over(2, 5, 40, 500 * CYCLE_PS);
    run_out();
    OK(scene.reported[early].order < scene.reported[same].order);
    OK(scene.reported[same].order < scene.reported[late].order);
    EQ(scene.reported[early].arrived_at, CYCLE_PS * (500 + leat_atm_aal_one_way_cycles(40)));
}

static void a_run_ends_where_it_should(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    set_up(&config);
    EQ(leat_port_run(&scene.port.net, LEAT_NEVER), 0);
    EQ(leat_port_run(&scene.port.net, 123456), 123456);
    hand_over(0, 1, 4, 123456);
    const leat_time first = leat_port_run(&scene.port.net, LEAT_NEVER);
    EQ(scene.reported[0].sent, 1);
    EQ(first, scene.reported[0].sent_at);
    EQ(leat_port_run(&scene.port.net, first + 1), first + 1);
    EQ(leat_port_run(&scene.port.net, LEAT_NEVER), scene.reported[0].arrived_at);
    EQ(scene.port.net.in_flight, 0);
}

static void too_many_messages_are_refused(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.messages_max = 2;
    set_up(&config);
    hand_over(0, 1, 4, 0);
    hand_over(0, 2, 4, 0);
    const struct leat_port_message third = { .from = 0, .to = 3, .octets = scene.octets, .len = 4 };
    OK(!leat_port_send(&scene.port.net, &third, 0));
    run_out();
    EQ(scene.reported[1].arrived, 1);
}

static const char *const fabrics[] = { "clos444", "bmx:2", "bmx:7/buffer=2", "clos:2,3,4",
                                       "clos:2,17,3" };

/* Random messages, many at once, some very long; run in random steps or in one go. */
static void campaign(uint64_t seed, const char *fabric, bool in_steps, bool contention_free)
{
    struct leat_sim_atm_ports_config config = config_of(fabric);
    struct leat_random r;
    config.contention_free = contention_free;
    set_up(&config);
    leat_random_seed(&r, seed);
    const uint32_t ports = config.fabric.net.ports;
    const uint32_t count = 50 + (uint32_t)leat_random_below(&r, 150);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t kind = leat_random_below(&r, 20);
        const uint64_t most = kind == 0 ? 150000 : kind < 4 ? 5000 : 100;
        const uint64_t len = leat_random_below(&r, most);
        const uint32_t from = (uint32_t)leat_random_below(&r, ports);
        const uint32_t to = leat_random_below(&r, 3) ? (uint32_t)leat_random_below(&r, ports) : 0;
        hand_over(from, to, len, leat_random_below(&r, UINT64_C(100000) * CYCLE_PS));
    }
    struct leat_random steps;
    leat_random_seed(&steps, seed + 1);
    while (in_steps && scene.port.net.in_flight)
        leat_port_run(&scene.port.net,
                      scene.port.net.now + leat_random_below(&steps, 3000 * CYCLE_PS));
    run_out();
}

static void check_order_per_pair(void)
{
    for (uint32_t a = 0; a < scene.count; a++)
        for (uint32_t b = 0; b < scene.count; b++) {
            const struct leat_port_message *m = &scene.message[a], *n = &scene.message[b];
            if (m->from != n->from || m->to != n->to) continue;
            const uint64_t at = (scene.handed_at[a] + CYCLE_PS - 1) / CYCLE_PS;
            const uint64_t other = (scene.handed_at[b] + CYCLE_PS - 1) / CYCLE_PS;
            /* A port handles messages of one cycle together with what it has begun. */
            if (at + 1 < other) OK(scene.reported[a].order < scene.reported[b].order);
        }
}

static void all_messages_arrive_once_as_they_were_and_in_order(void)
{
    const uint32_t rounds = LEAT_ROUNDS >= 250000 ? 12 : 3;
    for (uint32_t round = 0; round < rounds; round++)
        for (size_t f = 0; f < sizeof fabrics / sizeof *fabrics; f++) {
            uint64_t certificate[2], count = 0;
            leat_time end[2];
            for (int in_steps = 0; in_steps < 2; in_steps++) {
                campaign(tap_seed() * 1000 + round, fabrics[f], in_steps, round % 4 == 3);
                certificate[in_steps] = scene.port.net.certificate;
                end[in_steps] = scene.last;
                for (uint32_t i = 0; i < scene.count; i++)
                    count += scene.reported[i].sent == 1 && scene.reported[i].arrived == 1;
                EQ(memcmp(scene.octets, scene.original, scene.used), 0);
                EQ(scene.port.load.counts.altered, 0);
                check_order_per_pair();
            }
            EQ(count, 2 * scene.count);
            EQ(certificate[0], certificate[1]);
            EQ(end[0], end[1]);
        }
}

enum how { AHEAD, PROMPT, BY_REGISTERS };

/* A random program: each callback makes the same host or another one send, at once or soon. */
static void play(uint64_t seed, const char *fabric, enum how how)
{
    struct leat_sim_atm_ports_config config = config_of(fabric);
    struct leat_random r;
    leat_random_seed(&r, seed);
    if (how == BY_REGISTERS) config.model = LEAT_SIM_ATM_RTL;
    if (leat_random_below(&r, 2)) { /* much is sent twice, and some is abandoned */
        config.aal.retransmit_cycles = 200 + (uint32_t)leat_random_below(&r, 1000);
        config.aal.transmissions_max = 2 + (uint32_t)leat_random_below(&r, 20);
    }
    if (leat_random_below(&r, 2)) config.aal.obsolete_cycles = 50;
    if (leat_random_below(&r, 2)) config.aal.send_blocks = config.aal.receive_blocks = 60;
    set_up(&config);
    if (how == PROMPT) leat_sim_atm_load_be_prompt(&scene.port.load);
    const uint32_t ports = config.fabric.net.ports;
    const uint64_t most = leat_random_below(&r, 2) ? 8 : 600;
    while (scene.count < 60 || scene.port.net.in_flight) {
        const uint64_t more = scene.count < 60 ? 1 + leat_random_below(&r, 3) : 0;
        for (uint64_t i = 0; i < more; i++) {
            const uint32_t from = (uint32_t)leat_random_below(&r, ports);
            const uint64_t wait = leat_random_below(&r, 4) ? 0 : leat_random_below(&r, 200);
            const uint32_t to = (uint32_t)leat_random_below(&r, ports);
            hand_over(from, to, leat_random_below(&r, most), scene.port.net.now + wait * CYCLE_PS);
        }
        const bool briefly = leat_random_below(&r, 4) == 0;
        leat_port_run(&scene.port.net, briefly ? scene.port.net.now + 100 * CYCLE_PS : LEAT_NEVER);
    }
    for (uint32_t i = 0; i < scene.count; i++)
        scene.reported[i].coming_at = 0; /* the register model predicts nothing */
}

static void ports_that_run_ahead_report_what_prompt_ones_and_registers_report(void)
{
    static struct reported reported[MESSAGES_MAX];
    const uint32_t rounds = LEAT_ROUNDS >= 250000 ? 40 : 8;
    for (uint32_t round = 0; round < rounds; round++) {
        const char *fabric = fabrics[round % (sizeof fabrics / sizeof *fabrics)];
        const uint64_t seed = tap_seed() * 1000 + round;
        play(seed, fabric, AHEAD);
        const uint64_t certificate = scene.port.net.certificate;
        memcpy(reported, scene.reported, sizeof reported);
        for (int how = PROMPT; how <= (round % 4 ? PROMPT : BY_REGISTERS); how++) {
            play(seed, fabric, (enum how)how);
            EQ(scene.port.net.certificate, certificate);
            EQ(memcmp(scene.reported, reported, sizeof reported), 0);
        }
    }
}

static void errors_on_the_wire_are_repaired(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.retransmit_cycles = 3000;
    config.aal.transmissions_max = 100;
    config.line.lose = 20000000;
    config.line.payload_errors = 20000;
    set_up(&config);
    for (uint32_t i = 0; i < 40; i++)
        hand_over(i % 16, (i * 5 + 1) % 16, 100 * i, i * 1000);
    run_out();
    for (uint32_t i = 0; i < scene.count; i++) {
        EQ(scene.reported[i].arrived, 1);
        EQ(scene.reported[i].coming_at, 0); /* the octets are uncertain to the end */
    }
    EQ(memcmp(scene.octets, scene.original, scene.used), 0);
}

static void what_goes_to_a_dead_port_is_lost_and_reported(void)
{
    static const struct leat_sim_atm_line_outage outage = { .port = 1,
                                                            .from = 0,
                                                            .to = LEAT_NEVER };
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.retransmit_cycles = 1000;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    set_up(&config);
    hand_over(0, 1, 4, 0);
    hand_over(0, 2, 4, 0);
    run_out();
    EQ(scene.reported[0].lost, 1);
    EQ(scene.reported[0].arrived, 0);
    EQ(scene.reported[1].arrived, 1);
}

/* If all send long messages, the lists of units stay so short that acknowledgements keep up. */
static void ports_do_not_pile_up_blocks_that_wait_for_acknowledgements(void)
{
    enum { PORTS = 4, LONG = 131024, PIECE_BLOCKS = 237 };
    static const uint32_t way[][2] = { { 0, 3 }, { 1, 2 }, { 2, 3 }, { 3, 2 } };
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_atm_aal_counts counts;
    uint32_t most = 0;
    set_up(&config);
    for (uint32_t i = 0; i < 80; i++)
        hand_over(way[i % 4][0], way[i % 4][1], LONG, 0);
    while (scene.port.net.in_flight) {
        leat_port_run(&scene.port.net, scene.port.net.now + 5000 * CYCLE_PS);
        for (uint32_t p = 0; p < PORTS; p++) {
            const uint32_t busy = scene.port.load.host[p].unit.send.busy_count;
            most = busy > most ? busy : most;
        }
    }
    OK(most > PIECE_BLOCKS && most <= 2 * PIECE_BLOCKS);
    leat_sim_atm_load_units(&scene.port.load, &counts);
    EQ(counts.retransmissions, 0);
    EQ(scene.arrivals, scene.count);
}

/* Cells that are retransmitted before their acknowledgements can arrive fill all buffers for
 * ever. */
static void a_network_that_is_stuck_is_reported(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos:2,2,2");
    struct leat_sim_atm_load_arrivals none = { 0 };
    uint32_t lost = 0;
    config.aal.retransmit_cycles = 300;
    config.aal.transmissions_max = UINT8_MAX;
    set_up(&config);
    for (uint32_t i = 0; i < 900; i++)
        hand_over(i % 3, i % 3 ? 0 : 1, i % 3 ? 163 : 28, (leat_time)i / 3 * 300 * CYCLE_PS);
    for (uint32_t i = 0; i < 20000 && !lost && scene.port.net.in_flight; i++) {
        leat_port_run(&scene.port.net, LEAT_NEVER);
        for (uint32_t k = 0; k < scene.count; k++)
            lost += scene.reported[k].lost;
    }
    OK(lost > 1);
    OK(scene.stuck[LEAT_PORT_LOCKED] > 0 && !scene.stuck[LEAT_PORT_LIVELOCKED]);
    for (uint32_t i = 0; i < 20; i++)
        leat_port_run(&scene.port.net, scene.port.net.now + 4000000 * (leat_time)CYCLE_PS);
    OK(leat_sim_atm_load_is_stuck(&scene.port.load, &scene.port.arrivals));
    EQ(scene.stuck[LEAT_PORT_LOCKED], 1);                     /* reported once */
    OK(!leat_sim_atm_load_is_stuck(&scene.port.load, &none)); /* the first check */
}

/* Two ports send long messages to each other, and retransmit cells before their acknowledgements
 * are found in the lists of blocks. In the end both are full of copies of what has been delivered,
 * and the next pieces wait for room: no piece that has begun is in flight. */
static void set_up_lock(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.retransmit_cycles = 4000;
    config.aal.obsolete_cycles = 100000;
    set_up(&config);
    hand_over(0, 1, 100024, 0);
    hand_over(1, 0, 100024, 456 * CYCLE_PS);
}

static void a_lock_is_reported_where_all_that_has_begun_was_delivered(void)
{
    set_up_lock();
    for (uint32_t i = 0; i < 100 && scene.port.net.in_flight; i++)
        leat_port_run(&scene.port.net, LEAT_NEVER);
    EQ(scene.port.net.in_flight, 0);
    EQ(scene.reported[0].lost + scene.reported[1].lost, 2);
    EQ(scene.arrivals, 0);
    EQ(scene.stuck[LEAT_PORT_LOCKED], 1);
}

/* The same, while two other ports continue for ever. */
static void a_lock_of_some_ports_is_reported_and_others_go_on(void)
{
    uint32_t rounds = 0;
    set_up_lock();
    for (; rounds < MESSAGES_MAX / 2 && !scene.stuck[LEAT_PORT_LOCKED]; rounds++) {
        const uint32_t id = hand_over(9 + rounds % 2, 10 - rounds % 2, 4000, scene.port.net.now);
        for (uint32_t i = 0; i < 100 && !scene.reported[id].arrived && !scene.reported[id].lost;
             i++)
            leat_port_run(&scene.port.net, LEAT_NEVER);
    }
    EQ(scene.stuck[LEAT_PORT_LOCKED], 1);
    EQ(scene.reported[0].lost + scene.reported[1].lost, 2);
    run_out();
    EQ(scene.arrivals, rounds);
}

/* Between deliveries there are 250 time-outs, a wait for a descriptor, or a long time without
 * messages. */
static void what_is_slow_is_not_stuck(void)
{
    static struct leat_sim_atm_line_outage outage = { .port = 1, .from = 0 };
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.retransmit_cycles = 1000000;
    config.aal.transmissions_max = UINT8_MAX;
    outage.to = UINT64_C(250) * config.aal.retransmit_cycles;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    set_up(&config);
    OK(leat_sim_atm_load_delivery_cycles(&scene.port.load) > outage.to);
    hand_over(0, 1, 5000, 0);
    hand_over(0, 1, 5000, UINT64_C(3000000000) * CYCLE_PS);
    run_out();
    EQ(scene.arrivals, 2);
    config = config_of("clos444");
    config.aal.obsolete_cycles = 1000000000;
    config.aal.descriptors = 1;
    set_up(&config);
    for (uint32_t i = 0; i < 4; i++)
        hand_over(0, 1, 100, 0);
    run_out();
    EQ(scene.arrivals, 4);
    EQ(scene.stuck[LEAT_PORT_LOCKED] + scene.stuck[LEAT_PORT_LIVELOCKED], 0);
}

/* The bound is what the header says, in cycles of clos444 with the values of the thesis. */
static void nothing_delivered_is_judged_by_the_timers(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_sim_atm_load_progress progress = { 0 };
    set_up(&config);
    const uint64_t bound = leat_sim_atm_load_delivery_cycles(&scene.port.load);
    EQ(bound, 8 * (400000 + 1887 * (2 * 1887 + 256)) + 16 * 56 * (1887 + 1887) + 40000 +
                  2 * leat_atm_aal_one_way_cycles(67912));
    const struct leat_sim_atm_load *load = &scene.port.load;
    OK(!leat_sim_atm_load_is_livelocked(load, 0, true, &progress));
    run_to(bound / 2);
    OK(!leat_sim_atm_load_is_livelocked(load, 1, true, &progress)); /* one was delivered */
    run_to(bound);
    OK(!leat_sim_atm_load_is_livelocked(load, 1, true, &progress));
    run_to(2 * bound);
    OK(leat_sim_atm_load_is_livelocked(load, 1, true, &progress));
    progress.inspected_at = 0;
    OK(!leat_sim_atm_load_is_livelocked(load, 1, false, &progress)); /* nothing waits */
}

/* A run without callbacks returns nevertheless. */
static void a_run_does_not_take_for_ever(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    set_up(&config);
    hand_over(0, 1, 4, UINT64_C(100000000) * CYCLE_PS);
    const leat_time reached = leat_port_run(&scene.port.net, LEAT_NEVER);
    OK(reached > 0 && reached < UINT64_C(2000000) * CYCLE_PS);
    run_out();
    EQ(scene.reported[0].arrived_at, (UINT64_C(100000000) + 193) * CYCLE_PS);
}

TAP_MAIN(T(a_message_alone_takes_the_time_of_the_note_in_every_model),
         T(other_fabrics_differ_by_the_cycles_of_their_stages),
         T(a_port_sends_by_time_and_then_in_the_order_of_calls), T(a_run_ends_where_it_should),
         T(too_many_messages_are_refused), T(all_messages_arrive_once_as_they_were_and_in_order),
         T(ports_that_run_ahead_report_what_prompt_ones_and_registers_report),
         T(errors_on_the_wire_are_repaired), T(what_goes_to_a_dead_port_is_lost_and_reported),
         T(ports_do_not_pile_up_blocks_that_wait_for_acknowledgements),
         T(a_network_that_is_stuck_is_reported),
         T(a_lock_is_reported_where_all_that_has_begun_was_delivered),
         T(a_lock_of_some_ports_is_reported_and_others_go_on), T(what_is_slow_is_not_stuck),
         T(nothing_delivered_is_judged_by_the_timers), T(a_run_does_not_take_for_ever),
         T(the_load_below_has_the_longest_message_that_both_buffers_hold))
