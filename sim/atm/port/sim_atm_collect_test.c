#include "sim_atm_collect_test.h"
#include "sim_collect_campaign_test.h"

/* ---- random operations ----------------------------------------------------------------------- */

struct certificates {
    uint64_t collected, certificate;
};

static struct certificates campaign_over(const struct leat_sim_atm_ports_config *config,
                                         bool replays, uint32_t operations, bool sends_messages)
{
    struct leat_port_net *net = replays ? set_up_replay(config) : set_up(config);
    const struct collect_campaign all = {
        net, tap_seed(), operations, 4, 64, 2000, (leat_time)3000 * CYCLE_PS, sends_messages
    };
    const uint64_t value = collect_campaign_run(&all);
    const struct certificates both = { value, net->certificate };
    OK(value != 0);
    if (replays) return both;
    /* Room is reserved for all that comes, so no receive buffer is ever full. */
    if (!scene.port.load.line) EQ(scene.port.load.sim.counts.port_refusals, 0);
    expect_empty_units();
    return both;
}

static void all_models_agree_over(const char *name, uint32_t operations, bool sends_messages)
{
    struct leat_sim_atm_ports_config config = config_of(name);
    const struct certificates cell = campaign_over(&config, false, operations, sends_messages);
    const struct certificates replay = campaign_over(&config, true, operations, sends_messages);
    config.model = LEAT_SIM_ATM_RTL;
    const struct certificates rtl = campaign_over(&config, false, operations, sends_messages);
    EQ(cell.collected, replay.collected);
    EQ(cell.certificate, replay.certificate);
    EQ(cell.collected, rtl.collected);
    EQ(cell.certificate, rtl.certificate);
}

static void all_models_carry_out_random_operations_alike(void)
{
    all_models_agree_over("clos444", 3, false);
    all_models_agree_over("clos444", 3, true);
    all_models_agree_over("bmx:5", 10, false);
    all_models_agree_over("bmx:5/buffer=1", 10, true);
}

static void random_operations_pass_over_other_networks(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos:3,5,2/buffer=2");
    campaign_over(&config, false, 20, true);
    config = config_of("clos:4,4,4/switching=vc");
    campaign_over(&config, false, 20, true);
    config = config_of("bmx:2");
    campaign_over(&config, false, 60, true);
    config = config_of("clos444");
    config.contention_free = true;
    campaign_over(&config, false, 20, true);
    config.contention_free = false;
    campaign_over(&config, false, 60, true);
}

static void random_operations_pass_in_small_buffers(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:5");
    config.aal.receive_blocks = 60;
    config.aal.send_blocks = 20;
    campaign_over(&config, false, 20, true);
    config = config_of("bmx:16");
    config.aal.receive_blocks = 52; /* the acknowledgements of two cells */
    campaign_over(&config, false, 20, true);
}

static void random_operations_pass_over_lines_with_errors(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:4");
    config.aal.retransmit_cycles = 20000;
    config.line.lose = 10000000; /* 1 cell in 100 */
    config.line.payload_errors = 100000;
    config.line.duplicate = 10000000;
    campaign_over(&config, false, 20, true);
    config = config_of("clos444");
    config.aal.retransmit_cycles = 40000;
    config.line.lose = 1000000;
    campaign_over(&config, false, 10, true);
}

/* ---- exact times ----------------------------------------------------------------------------- */

/* T(N), as for one receiver alone (spec/atm.md, 5.4); the root goes on when its unit is through. */
static void a_cast_of_one_cell_takes_as_long_as_a_message(void)
{
    static const uint32_t len[] = { 0, 1, 4, 16 };
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    EQ(leat_atm_aal_one_way_cycles(4), 193);
    for (size_t k = 0; k < sizeof len / sizeof *len; k++) {
        struct leat_port_net *net = set_up(&config);
        const struct leat_port_part part = {
            .group = group_of(net, 0, 1), .kind = LEAT_PORT_CAST, .root = 6, .len = len[k]
        };
        collect_all(net, part);
        EQ(scene.wrong, 0);
        for (uint32_t i = 0; i < net->ports; i++)
            EQ(cycles(scene.at[i]), i == part.root ? 36 + leat_atm_aal_io_cycles(len[k])
                                                   : leat_atm_aal_one_way_cycles(len[k]));
    }
}

static void a_barrier_of_two_takes_two_messages(void)
{
    static const uint32_t member[] = { 3, 12 };
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = { .group = leat_port_group(net, member, 2) };
    hand_over(net, part, 3, 0);
    hand_over(net, part, 12, 0);
    finish(net);
    EQ(cycles(scene.at[3]), leat_atm_aal_one_way_cycles(0) + 36);
    EQ(cycles(scene.at[12]), 2 * leat_atm_aal_one_way_cycles(0));
    OK(scene.at[12] >= net->latency);
}

/* The figures of sim/atm/port/README.md, for hosts that come at the same time. */
static void operations_of_16_members_take_so_many_cycles(void)
{
    static const struct {
        struct leat_port_part part;
        uint64_t cycles;
    } figure[] = {
        { { .kind = LEAT_PORT_FOLD }, 927 },
        { { .kind = LEAT_PORT_FOLD, .words = 1 }, 1231 },
        { { .kind = LEAT_PORT_FOLD, .words = 64 }, 30559 },
        { { .kind = LEAT_PORT_FOLD, .words = 1024 }, 546298 },
        { { .kind = LEAT_PORT_CAST, .len = 4 }, 193 },
        { { .kind = LEAT_PORT_CAST, .len = 1024 }, 24852 },
        { { .kind = LEAT_PORT_CAST, .len = 65536 }, 1720780 },
    };
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    for (size_t k = 0; k < sizeof figure / sizeof *figure; k++) {
        struct leat_port_net *net = set_up(&config);
        struct leat_port_part part = figure[k].part;
        part.group = group_of(net, 0, 1);
        collect_all(net, part);
        EQ(scene.wrong + scene.failed, 0);
        EQ(cycles(net->now), figure[k].cycles);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void a_long_cast_of_a_few_ports_leaves_nothing_behind(void)
{
    const struct leat_sim_atm_ports_config config = config_of("bmx:8");
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = {
        .group = group_of(net, 1, 3), .kind = LEAT_PORT_CAST, .root = 4, .len = OCTETS_MAX
    };
    for (uint32_t i = 1; i < net->ports; i += 3)
        hand_over(net, part, i, 0);
    finish(net);
    for (uint32_t i = 0; i < net->ports; i++)
        EQ(scene.calls[i], i % 3 == 1);
    EQ(scene.wrong + scene.failed, 0);
    expect_empty_units();
}

static uint32_t acks_missing(uint32_t port)
{
    const struct leat_atm_aal_unit *unit = &scene.port.load.host[port].unit;
    uint32_t acks = 0;
    uint16_t block = unit->send.busy_head;
    for (uint32_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next)
        if (unit->send_block[block].state != LEAT_ATM_AAL_NOT_READY)
            acks += unit->send_block[block].acks_missing;
    return acks;
}

/* Even if the root's unit serves none of them for a while. */
static void all_acknowledgements_of_a_cast_find_room_at_the_root(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:16");
    uint32_t most = 0;
    config.aal.receive_blocks = 230;
    config.aal.obsolete_cycles = 1000; /* so that its own copy does not take this room for long */
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = { .group = group_of(net, 0, 1),
                                         .kind = LEAT_PORT_CAST,
                                         .len = 4000 };
    for (uint32_t i = 0; i < net->ports; i++)
        hand_over(net, part, i, 0);
    for (uint32_t i = 0; i < 10000 && net->in_flight; i++) {
        leat_port_run(net, net->now + (leat_time)100 * CYCLE_PS);
        most = (uint32_t)leat_larger(most, acks_missing(0));
    }
    EQ(net->in_flight, 0);
    OK(most > 100 && most <= config.aal.receive_blocks);
    EQ(scene.wrong + scene.failed, 0);
}

/* More than a unit has descriptors for messages of one source. */
static void a_root_casts_many_times_in_a_row(void)
{
    enum { CASTS = 200 };
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = {
        .group = group_of(net, 0, 2), .kind = LEAT_PORT_CAST, .root = 2, .len = 40
    };
    uint32_t handed[PORTS_MAX] = { 0 };
    while (scene.calls[0] < CASTS || scene.calls[14] < CASTS || scene.calls[2] < CASTS) {
        for (uint32_t i = 0; i < net->ports; i += 2)
            if (handed[i] == scene.calls[i] && handed[i] < CASTS) {
                hand_over(net, part, i, net->now);
                handed[i]++;
            }
        if (!net->in_flight) break;
        leat_port_run(net, LEAT_NEVER);
    }
    finish(net);
    for (uint32_t i = 0; i < net->ports; i++)
        EQ(scene.calls[i], i % 2 ? 0 : CASTS);
    EQ(scene.wrong + scene.failed, 0);
    expect_empty_units();
}

/* The host of port 5 writes a message for far longer than a unit keeps broadcasts, and only then
 * reads; port 6 itself comes late. */
static void members_that_are_late_get_the_octets_of_a_cast(void)
{
    enum { LATE_CYCLES = 1000000 };
    static uint8_t octets[60000];
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = {
        .group = group_of(net, 0, 1), .kind = LEAT_PORT_CAST, .root = 1, .len = 100
    };
    const struct leat_port_message message = {
        .from = 5, .to = 9, .octets = octets, .len = sizeof octets
    };
    OK(leat_atm_aal_io_cycles(sizeof octets) > 5 * LEAT_ATM_AAL_OBSOLETE);
    OK(leat_port_send(net, &message, 0));
    for (uint32_t i = 0; i < net->ports; i++)
        hand_over(net, part, i, i == 6 ? (leat_time)LATE_CYCLES * CYCLE_PS : 0);
    finish(net);
    OK(cycles(scene.at[5]) > leat_atm_aal_io_cycles(sizeof octets));
    EQ(cycles(scene.at[6]), LATE_CYCLES);
    EQ(scene.wrong + scene.failed, 0);
    for (uint32_t i = 0; i < net->ports; i++)
        EQ(scene.calls[i], 1);
    expect_empty_units();
}

static void there_is_room_for_so_many_groups(void)
{
    const struct leat_sim_atm_ports_config config = config_of("bmx:3");
    struct leat_port_net *net = set_up(&config);
    for (uint32_t i = 1; i <= net->means->groups_max; i++)
        EQ(group_of(net, 0, 1), i);
    EQ(group_of(net, 0, 1), 0);
    leat_port_disband(net, 7);
    EQ(group_of(net, 0, 2), 7);
}

/* All acknowledgements of a broadcast cell must find room. */
static void there_are_no_means_where_a_broadcast_has_no_room(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.receive_blocks = 32;
    OK(!set_up(&config)->means);
    EQ(group_of(&scene.port.net, 0, 1), 0);
    config.aal.receive_blocks = 33;
    OK(set_up(&config)->means);
    collect_all(&scene.port.net, (struct leat_port_part){ .group = group_of(&scene.port.net, 0, 1),
                                                          .kind = LEAT_PORT_CAST,
                                                          .len = 100 });
    EQ(scene.wrong + scene.failed, 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

static struct leat_sim_atm_ports_config dead_line_of(uint32_t port)
{
    static struct leat_sim_atm_line_outage outage;
    struct leat_sim_atm_ports_config config = config_of("bmx:4");
    outage = (struct leat_sim_atm_line_outage){ .port = port, .to = LEAT_NEVER };
    config.aal.retransmit_cycles = 5000;
    config.aal.transmissions_max = 2;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    return config;
}

static void a_fold_fails_for_all_members_if_a_part_is_given_up(void)
{
    const struct leat_sim_atm_ports_config config = dead_line_of(3);
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = group_of(net, 0, 1);
    for (uint32_t k = 1; k <= 5; k++) {
        collect_all(net, (struct leat_port_part){ .group = group, .words = 3 });
        for (uint32_t i = 0; i < net->ports; i++)
            EQ(scene.calls[i], k);
        EQ(scene.failed, 4 * k);
    }
    leat_port_disband(net, group);
}

/* The root has gone on, and others have the octets: it has failed for one member. */
static void a_cast_fails_for_the_member_that_it_cannot_reach(void)
{
    const struct leat_sim_atm_ports_config config = dead_line_of(2);
    struct leat_port_net *net = set_up(&config);
    collect_all(net,
                (struct leat_port_part){
                    .group = group_of(net, 0, 1), .kind = LEAT_PORT_CAST, .root = 1, .len = 10 });
    EQ(scene.failed, 1);
    EQ(scene.wrong, 0);
    EQ(scene.calls[2], 1);
    OK(cycles(scene.at[0]) < 300 && cycles(scene.at[3]) < 300);
    OK(cycles(scene.at[2]) > 2 * 5000 && cycles(scene.at[2]) < 3 * 5000);
}

/* The first piece is given up while the root still writes others. */
static void a_long_cast_fails_for_all_members(void)
{
    const struct leat_sim_atm_ports_config config = dead_line_of(2);
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = {
        .group = group_of(net, 0, 1), .kind = LEAT_PORT_CAST, .root = 1, .len = OCTETS_MAX
    };
    collect_all(net, part);
    EQ(scene.failed, 4);
    collect_all(net, part);
    EQ(scene.failed, 8);
    for (uint32_t i = 0; i < net->ports; i++)
        EQ(scene.calls[i], 2);
}

/* Without RESYNC cells, units keep everything behind a message that was given up, for ever: after
 * the line is sound again, operations whose tree uses that way fail, and all of them end. */
static void operations_end_where_units_do_not_resynchronise(void)
{
    struct leat_sim_atm_ports_config config = dead_line_of(2);
    struct leat_sim_atm_line_outage outage = *config.line.outage;
    outage.to = 20000;
    config.line.outage = &outage;
    config.aal.resync = false;
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = group_of(net, 0, 1);
    for (uint32_t k = 1; k <= 8; k++) {
        collect_all(net, (struct leat_port_part){ .group = group, .words = 1 });
        for (uint32_t i = 0; i < net->ports; i++)
            EQ(scene.calls[i], k);
        EQ(scene.wrong, 0);
        leat_port_run(net, net->now + (leat_time)30000 * CYCLE_PS);
    }
    OK(scene.failed > 4);
}

/* Ports 0 and 1 lock: they retransmit cells before they are acknowledged (sim_atm_ports_test.c). */
static void an_operation_of_locked_ports_fails(void)
{
    static const uint32_t member[] = { 0, 1, 5 };
    static uint8_t octets[2][100024];
    struct leat_sim_atm_ports_config config = config_of("clos444");
    config.aal.retransmit_cycles = 4000;
    config.aal.obsolete_cycles = 100000;
    struct leat_port_net *net = set_up(&config);
    const struct leat_port_part part = { .group = leat_port_group(net, member, 3), .words = 2 };
    for (uint32_t i = 0; i < 2; i++) {
        const struct leat_port_message message = {
            .from = i, .to = 1 - i, .octets = octets[i], .len = sizeof octets[i]
        };
        OK(leat_port_send(net, &message, (leat_time)i * 456 * CYCLE_PS));
    }
    for (uint32_t i = 0; i < 3; i++)
        hand_over(net, part, member[i], 0);
    finish(net);
    EQ(scene.wrong, 2); /* lost messages */
    EQ(scene.failed, 3);
    for (uint32_t i = 0; i < 3; i++)
        EQ(scene.calls[member[i]], 1);
}

/* ---- replay ---------------------------------------------------------------------------------- */

enum { EXCHANGES = 500 };

/* A message there and back, so many times. */
static void exchange(struct leat_port_net *net, uint32_t times)
{
    static uint8_t octets[28];
    for (uint32_t i = 0; i < 2 * times; i++) {
        const struct leat_port_message message = {
            .from = i % 2, .to = 1 - i % 2, .octets = octets, .len = sizeof octets
        };
        OK(leat_port_send(net, &message, net->now));
        finish(net);
    }
}

static struct certificates exchange_and_fold(struct leat_port_net *net)
{
    exchange(net, EXCHANGES);
    const uint32_t group = group_of(net, 0, 1);
    collect_all(net, (struct leat_port_part){ .group = group, .words = 5 });
    exchange(net, EXCHANGES);
    collect_all(net, (struct leat_port_part){ .group = group, .kind = LEAT_PORT_CAST, .len = 9 });
    for (uint32_t i = 0; i < 100; i++) {
        exchange(net, 3);
        collect_all(net, (struct leat_port_part){ .group = group });
    }
    leat_port_disband(net, group);
    exchange(net, EXCHANGES);
    return (struct certificates){ net->collected, net->certificate };
}

static void replay_stops_for_operations_and_goes_on_between_them(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:4");
    config.aal.obsolete_cycles = 2000; /* the state of the units repeats soon */
    const struct certificates plain = exchange_and_fold(set_up(&config));
    struct leat_port_net *net = set_up_replay(&config);
    exchange(net, EXCHANGES);
    const uint64_t before = scene.replay.base.replayed;
    OK(before > EXCHANGES);
    net = set_up_replay(&config);
    const struct certificates replayed = exchange_and_fold(net);
    OK(scene.replay.base.replayed > before + 2 * EXCHANGES); /* also in the group */
    EQ(plain.collected, replayed.collected);
    EQ(plain.certificate, replayed.certificate);
}

TAP_MAIN(T(all_models_carry_out_random_operations_alike),
         T(random_operations_pass_over_other_networks), T(random_operations_pass_in_small_buffers),
         T(random_operations_pass_over_lines_with_errors),
         T(a_cast_of_one_cell_takes_as_long_as_a_message), T(a_barrier_of_two_takes_two_messages),
         T(operations_of_16_members_take_so_many_cycles),
         T(a_long_cast_of_a_few_ports_leaves_nothing_behind), T(a_root_casts_many_times_in_a_row),
         T(all_acknowledgements_of_a_cast_find_room_at_the_root),
         T(members_that_are_late_get_the_octets_of_a_cast), T(there_is_room_for_so_many_groups),
         T(there_are_no_means_where_a_broadcast_has_no_room),
         T(a_fold_fails_for_all_members_if_a_part_is_given_up),
         T(a_cast_fails_for_the_member_that_it_cannot_reach), T(a_long_cast_fails_for_all_members),
         T(operations_end_where_units_do_not_resynchronise), T(an_operation_of_locked_ports_fails),
         T(replay_stops_for_operations_and_goes_on_between_them))
