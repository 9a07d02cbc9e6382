#include "ether_port.h"
#include "sim_collect_campaign_test.h"

enum { STATIONS = 6, PREAMBLE = 8, COLLECT_LEN = 8 + 14 + 48 + 4, BIT_PS = 1000 };

static struct leat_sim_ether_port port;
static void *memory;
static leat_time at[STATIONS];
static uint32_t done, failed;

/* 1 Gbit/s, 20 bit times per instruction. */
static struct leat_sim_ether_port_config usual(void)
{
    return (struct leat_sim_ether_port_config){ .stations = STATIONS,
                                                .clock = { BIT_PS, 1 },
                                                .frame_octets = 1500,
                                                .buffer = 16,
                                                .messages_max = 64,
                                                .esp_cycles = 20 };
}

static void on_collected(void *context, const struct leat_port_part *part, bool is_done,
                         leat_time when)
{
    (void)context;
    at[part->port] = when;
    *(is_done ? &done : &failed) += 1;
}

static struct leat_port_net *set_up(const struct leat_sim_ether_port_config *config)
{
    free(memory);
    memory = calloc(1, leat_sim_ether_port_footprint(config));
    leat_sim_ether_port_init(&port, config, memory);
    port.base.observer.collected = on_collected;
    done = failed = 0;
    return &port.base;
}

static uint32_t group_of_all(struct leat_port_net *net)
{
    uint32_t all[STATIONS];
    for (uint32_t i = 0; i < STATIONS; i++)
        all[i] = i;
    return leat_port_group(net, all, STATIONS);
}

static void finish(struct leat_port_net *net)
{
    while (net->in_flight)
        leat_port_run(net, LEAT_NEVER);
}

static void random_operations_pass(void)
{
    struct leat_sim_ether_port_config config = usual();
    uint64_t certificate[2];
    for (uint32_t k = 0; k < 12; k++) {
        config.contention_free = k % 3 == 2;
        config.esp_cycles = k % 2 ? 20 : 5000;
        config.buffer = k % 4 ? 16 : 1;
        config.frame_octets = k < 6 ? 1500 : LEAT_SIM_ETHER_ESP_PAYLOAD_MIN;
        for (uint32_t twice = 0; twice < 2; twice++) {
            const struct collect_campaign campaign_of = { .net = set_up(&config),
                                                          .seed = tap_seed() + k,
                                                          .operations = 60,
                                                          .groups = 5,
                                                          .words_max = 12,
                                                          .octets_max = 4000,
                                                          .delay_max = 20000 * BIT_PS,
                                                          .sends_messages = true };
            certificate[twice] = collect_campaign_run(&campaign_of);
        }
        EQ(certificate[0], certificate[1]);
    }
}

/* The closed form of ether_esp.h. */
static void a_fold_alone_takes_the_closed_form(void)
{
    const struct leat_sim_ether_port_config config = usual();
    const uint64_t up = COLLECT_LEN, down = PREAMBLE + 14 + leat_esp_cast_len(8) + 4;
    uint64_t word[STATIONS];
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = group_of_all(net);
    EQ(leat_esp_packet_len(LEAT_ESP_COLLECT), 48);
    for (uint32_t i = 0; i < STATIONS; i++) {
        word[i] = i * i;
        leat_port_collect(
            net,
            &(struct leat_port_part){ .group = group, .port = i, .words = 1, .word = &word[i] }, 0);
    }
    finish(net);
    EQ(done, STATIONS);
    for (uint32_t i = 0; i < STATIONS; i++) {
        EQ(word[i], 0 + 1 + 4 + 9 + 16 + 25);
        EQ(at[i], (8 * up + STATIONS * 20 + 8 * down) * BIT_PS);
    }
}

/* One frame up, and its copies down. */
static void a_cast_alone_takes_two_frames(void)
{
    const struct leat_sim_ether_port_config config = usual();
    const uint64_t frame = PREAMBLE + 14 + leat_esp_cast_len(100) + 4;
    uint8_t octets[STATIONS][100] = { "the root's" };
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = group_of_all(net);
    for (uint32_t i = 0; i < STATIONS; i++)
        leat_port_collect(net,
                          &(struct leat_port_part){ .group = group,
                                                    .port = i,
                                                    .kind = LEAT_PORT_CAST,
                                                    .len = 100,
                                                    .octets = octets[i] },
                          0);
    finish(net);
    EQ(done, STATIONS);
    EQ(at[0], (8 * frame + 20) * BIT_PS);
    for (uint32_t i = 1; i < STATIONS; i++) {
        EQ(at[i], (16 * frame + 20) * BIT_PS);
        OK(!memcmp(octets[i], octets[0], 100));
    }
}

static void run_barrier(struct leat_port_net *net, uint32_t group, leat_time late)
{
    const leat_time from = net->now;
    for (uint32_t i = 0; i < STATIONS; i++)
        leat_port_collect(net, &(struct leat_port_part){ .group = group, .port = i },
                          from + (i ? 0 : late));
    finish(net);
}

/* Bindings do not live that long: hosts have to do it, and the next operation passes. */
static void a_fold_whose_members_come_too_late_fails(void)
{
    const struct leat_sim_ether_port_config config = usual();
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = group_of_all(net);
    run_barrier(net, group, 2 * LEAT_ESP_GATHER_TAU);
    EQ(failed, STATIONS);
    for (uint32_t i = 0; i < 5; i++)
        run_barrier(net, group, LEAT_ESP_GATHER_TAU * 2 / 5);
    EQ(done, 5 * STATIONS);
    EQ(failed, STATIONS);
    free(memory);
    memory = NULL;
}

TAP_MAIN(T(random_operations_pass), T(a_fold_alone_takes_the_closed_form),
         T(a_cast_alone_takes_two_frames), T(a_fold_whose_members_come_too_late_fails))
