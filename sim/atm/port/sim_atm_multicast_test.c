/* Groups of some of the ports: their labels, and which ports see cells of them. */
#include "sim_atm_collect_test.h"
#include <leat/random.h>

static const uint32_t few[] = { 1, 2, 7, 14 };
enum { FEW = sizeof few / sizeof *few, ROOT = 7, CHURN_GROUPS = 4 };

static bool is_one_of_few(uint32_t port)
{
    for (uint32_t i = 0; i < FEW; i++)
        if (few[i] == port) return true;
    return false;
}

static void collect_few(struct leat_port_net *net, struct leat_port_part part)
{
    const leat_time from = net->now;
    for (uint32_t i = 0; i < FEW; i++)
        hand_over(net, part, few[i], from);
    finish(net);
}

/* Until all acknowledgements are in. */
static void settle(struct leat_port_net *net)
{
    leat_port_run(net, net->now + (leat_time)20000 * CYCLE_PS);
}

static uint64_t cells_to(uint32_t port)
{
    const struct leat_sim_atm *sim = &scene.port.load.sim;
    return leat_sim_atm_link_cells(sim, sim->fabric.net.ppd_count + port);
}

static uint32_t destination_of(uint32_t group)
{
    return scene.port.collect.group[group - 1].to;
}

/* ---- who sees the cells ---------------------------------------------------------------------- */

/* A cast of 4 octets is one cell, and each member acknowledges it to the root with one. */
static void ports_outside_of_a_group_see_no_cell(void)
{
    struct leat_sim_atm_ports_config config = config_of("clos444");
    for (int m = 0; m < 2; m++) {
        config.model = m ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL;
        struct leat_port_net *net = set_up(&config);
        const uint32_t group = leat_port_group(net, few, FEW);
        EQ(destination_of(group), LEAT_SIM_ATM_TRAFFIC_GROUP);
        OK(leat_sim_atm_traffic_is_to_many(destination_of(group)));
        OK(!leat_sim_atm_traffic_is_to_many(net->ports - 1));
        EQ(leat_sim_atm_load_copies(&scene.port.load, destination_of(group)), FEW);
        collect_few(net, (struct leat_port_part){
                             .group = group, .kind = LEAT_PORT_CAST, .root = ROOT, .len = 4 });
        settle(net);
        for (uint32_t p = 0; p < net->ports; p++) {
            EQ(leat_sim_atm_load_reaches(&scene.port.load, destination_of(group), p),
               is_one_of_few(p));
            EQ(cells_to(p), p == ROOT ? 1 + FEW : is_one_of_few(p));
            EQ(scene.port.load.host[p].unit.counts.cells_received, is_one_of_few(p));
            EQ(scene.calls[p], is_one_of_few(p));
        }
        collect_few(net, (struct leat_port_part){ .group = group, .words = 3 });
        settle(net);
        for (uint32_t p = 0; p < net->ports; p++)
            OK(is_one_of_few(p) || cells_to(p) == 0);
        EQ(scene.wrong + scene.failed, 0);
        expect_empty_units();
    }
}

/* As many as a plain model counts for a long cast: each cell of each piece once to each member, and
 * an acknowledgement of each copy to the root. */
static void a_long_cast_sends_each_cell_once_to_each_member(void)
{
    enum { LEN = 10000 };
    const struct leat_sim_atm_ports_config config = config_of("bmx:16");
    struct leat_port_net *net = set_up(&config);
    const uint32_t group = leat_port_group(net, few, FEW), piece = scene.port.collect.cast_max;
    uint64_t cells = 0;
    for (uint32_t at = 0; at < LEN; at += piece)
        cells += ((LEN - at < piece ? LEN - at : piece) + 20 + 35) / 36;
    collect_few(net, (struct leat_port_part){
                         .group = group, .kind = LEAT_PORT_CAST, .root = ROOT, .len = LEN });
    settle(net);
    for (uint32_t p = 0; p < net->ports; p++)
        EQ(cells_to(p), p == ROOT ? cells + FEW * cells : is_one_of_few(p) ? cells : 0);
    EQ(scene.wrong + scene.failed, 0);
}

/* Fewer acknowledgements come to the root than from all 16 ports. */
static void a_cast_to_few_ports_is_faster_than_one_to_all(void)
{
    const struct leat_sim_atm_ports_config config = config_of("clos444");
    struct leat_port_part part = { .kind = LEAT_PORT_CAST, .root = ROOT, .len = 1024 };
    struct leat_port_net *net = set_up(&config);
    part.group = group_of(net, 0, 1);
    collect_all(net, part);
    EQ(cycles(net->now), 24852); /* as in the README */
    net = set_up(&config);
    part.group = leat_port_group(net, few, FEW);
    collect_few(net, part);
    EQ(cycles(net->now), 8014);
    EQ(scene.wrong + scene.failed, 0);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void a_group_of_all_ports_needs_no_label(void)
{
    const struct leat_sim_atm_ports_config config = config_of("bmx:4");
    struct leat_port_net *net = set_up(&config);
    EQ(destination_of(group_of(net, 0, 1)), LEAT_SIM_ATM_TRAFFIC_ALL);
    EQ(destination_of(group_of(net, 0, 2)), LEAT_SIM_ATM_TRAFFIC_GROUP);
    EQ(destination_of(group_of(net, 1, 2)), LEAT_SIM_ATM_TRAFFIC_GROUP - 1);
    EQ(destination_of(group_of(net, 0, 1)), LEAT_SIM_ATM_TRAFFIC_ALL);
}

/* The output stage of clos:8,8,8 needs 576 entries; then there is no room for a group. */
static void without_room_in_the_tables_casts_are_broadcasts(void)
{
    static const struct {
        const char *fabric;
        bool has_labels;
    } rows[] = { { "clos:8,8,8/table=576", false }, { "clos:8,8,8", true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct leat_sim_atm_ports_config config = config_of(rows[i].fabric);
        struct leat_port_net *net = set_up(&config);
        const uint32_t group = leat_port_group(net, few, FEW);
        EQ(destination_of(group),
           rows[i].has_labels ? LEAT_SIM_ATM_TRAFFIC_GROUP : LEAT_SIM_ATM_TRAFFIC_ALL);
        collect_few(net, (struct leat_port_part){
                             .group = group, .kind = LEAT_PORT_CAST, .root = ROOT, .len = 50 });
        EQ(scene.wrong + scene.failed, 0);
        settle(net);
        for (uint32_t p = 0; p < net->ports; p++) {
            EQ(cells_to(p) > 0, is_one_of_few(p) || !rows[i].has_labels);
            EQ(scene.calls[p], is_one_of_few(p));
        }
        expect_empty_units();
    }
}

/* So that the state of units stays small in large networks. */
static void large_networks_have_fewer_labels(void)
{
    static const struct {
        const char *fabric;
        uint32_t labels;
    } rows[] = { { "clos444", 32 },
                 { "bmx:16", 32 },
                 { "bmx:64", 32 },
                 { "clos:16,16,16", 16 },
                 { "clos:8,8,8", 32 },
                 { "clos:15,16,16", 15 },
                 { "clos:8,8,8/table=576", 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct leat_sim_atm_ports_config config = config_of(rows[i].fabric);
        EQ(leat_sim_atm_ports_load(&config).fabric.groups, rows[i].labels);
    }
}

/* A label whose cells wait for acknowledgements is not given to another group. */
static void a_label_is_free_when_its_last_cell_is_acknowledged(void)
{
    const struct leat_sim_atm_ports_config config = config_of("bmx:16");
    struct leat_port_net *net = set_up(&config);
    struct leat_sim_atm_load *load = &scene.port.load;
    uint32_t group = leat_port_group(net, few, FEW);
    collect_few(net, (struct leat_port_part){
                         .group = group, .kind = LEAT_PORT_CAST, .root = ROOT, .len = 4 });
    leat_port_disband(net, group);
    OK(!leat_sim_atm_load_group_is_quiet(load, 0));
    group = group_of(net, 0, 2);
    EQ(destination_of(group), LEAT_SIM_ATM_TRAFFIC_GROUP - 1);
    settle(net);
    OK(leat_sim_atm_load_group_is_quiet(load, 0));
    group = leat_port_group(net, few, 2);
    EQ(destination_of(group), LEAT_SIM_ATM_TRAFFIC_GROUP);
    EQ(leat_sim_atm_load_copies(load, LEAT_SIM_ATM_TRAFFIC_GROUP), 2);
    leat_sim_atm_load_set_group(load, 5, &(const uint64_t){ 0x8421 });
    EQ(leat_sim_atm_load_copies(load, LEAT_SIM_ATM_TRAFFIC_GROUP - 5), 4);
}

/* The line of port 2 is dead for a while. Whoever it is, the next owner of the label gets nothing
 * of the cast that was given up. */
static void a_label_with_lost_cells_is_used_again_when_its_members_know(void)
{
    struct leat_sim_atm_line_outage outage = { .port = 2, .to = 100000 };
    struct leat_sim_atm_ports_config config = config_of("bmx:16");
    config.aal.retransmit_cycles = 5000;
    config.aal.transmissions_max = 2;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    for (int resync = 0; resync < 2; resync++) {
        config.aal.resync = resync;
        struct leat_port_net *net = set_up(&config);
        const struct leat_port_part part = { .kind = LEAT_PORT_CAST, .root = ROOT, .len = 10 };
        struct leat_port_part first = part, second = part;
        first.group = leat_port_group(net, few, FEW);
        collect_few(net, first);
        EQ(scene.failed, 1);
        leat_port_disband(net, first.group);
        settle(net);
        OK(!leat_sim_atm_load_group_is_quiet(&scene.port.load, 0));
        leat_port_run(net, (leat_time)300000 * CYCLE_PS);
        EQ(leat_sim_atm_load_group_is_quiet(&scene.port.load, 0), resync);
        second.group = leat_port_group(net, few, FEW);
        EQ(destination_of(second.group), LEAT_SIM_ATM_TRAFFIC_GROUP - !resync);
        collect_few(net, second);
        EQ(scene.failed, 1);
        EQ(scene.wrong, 0);
        EQ(scene.calls[2], 2);
    }
}

/* ---- groups that come and go ----------------------------------------------------------------- */

struct churn {
    struct leat_random random;
    uint32_t id[CHURN_GROUPS], member[CHURN_GROUPS][PORTS_MAX], members[CHURN_GROUPS];
};

static void churn_group(struct churn *c, struct leat_port_net *net, uint32_t g)
{
    if (c->id[g]) leat_port_disband(net, c->id[g]);
    do {
        c->members[g] = 0;
        for (uint32_t p = 0; p < net->ports; p++)
            if (leat_random_below(&c->random, 3) == 0) c->member[g][c->members[g]++] = p;
    } while (c->members[g] < 2);
    c->id[g] = leat_port_group(net, c->member[g], c->members[g]);
    OK(c->id[g]);
}

/* Casts and folds of groups that are disbanded right after, with messages between ports. */
static uint64_t churn(struct leat_port_net *net, uint32_t rounds, uint64_t len_max)
{
    static uint8_t octets[1000];
    struct churn c = { 0 };
    leat_random_seed(&c.random, tap_seed());
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t g = (uint32_t)leat_random_below(&c.random, CHURN_GROUPS);
        struct leat_port_message message = { .octets = octets };
        message.from = (uint32_t)leat_random_below(&c.random, net->ports);
        message.to = (uint32_t)leat_random_below(&c.random, net->ports);
        message.len = leat_random_below(&c.random, len_max);
        churn_group(&c, net, g);
        struct leat_port_part part = { .group = c.id[g] };
        part.kind = leat_random_below(&c.random, 3) ? LEAT_PORT_CAST : LEAT_PORT_FOLD;
        part.root = c.member[g][leat_random_below(&c.random, c.members[g])];
        if (part.kind == LEAT_PORT_CAST) part.len = leat_random_below(&c.random, len_max);
        OK(leat_port_send(net, &message, net->now));
        for (uint32_t k = 0; k < c.members[g]; k++)
            hand_over(net, part, c.member[g][k], net->now);
        finish(net);
    }
    EQ(scene.wrong, 0);
    return net->collected ^ net->certificate;
}

static void groups_come_and_go_alike_in_all_models(void)
{
    static const char *const fabrics[] = { "clos444", "bmx:5", "clos:3,2,3/switching=vc" };
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        struct leat_sim_atm_ports_config config = config_of(fabrics[i]);
        const uint32_t rounds = 20;
        const uint64_t cell = churn(set_up(&config), rounds, 900);
        EQ(scene.failed, 0);
        expect_empty_units();
        const uint64_t replay = churn(set_up_replay(&config), rounds, 900);
        config.model = LEAT_SIM_ATM_RTL;
        const uint64_t rtl = churn(set_up(&config), rounds, 900);
        EQ(cell, replay);
        EQ(cell, rtl);
    }
}

/* Where cells are sent again too early, copies of them are in flight when their group is gone; and
 * where they are lost, gaps are open. */
static void late_copies_and_losses_do_not_harm_the_next_group(void)
{
    struct leat_sim_atm_ports_config config = config_of("bmx:4");
    config.aal.retransmit_cycles = 550;
    config.aal.transmissions_max = 255;
    const uint64_t cell = churn(set_up(&config), 500, 60);
    struct leat_atm_aal_counts units;
    leat_sim_atm_load_units(&scene.port.load, &units);
    OK(units.retransmissions > 0);
    EQ(scene.failed, 0);
    expect_empty_units();
    config.model = LEAT_SIM_ATM_RTL;
    EQ(churn(set_up(&config), 500, 60), cell);
    config = config_of("bmx:6");
    config.aal.retransmit_cycles = 20000;
    config.line.lose = 20000000; /* 1 cell in 50 */
    config.line.duplicate = 10000000;
    churn(set_up(&config), 60, 900);
    EQ(scene.failed, 0);
}

TAP_MAIN(T(ports_outside_of_a_group_see_no_cell),
         T(a_long_cast_sends_each_cell_once_to_each_member),
         T(a_cast_to_few_ports_is_faster_than_one_to_all), T(a_group_of_all_ports_needs_no_label),
         T(without_room_in_the_tables_casts_are_broadcasts), T(large_networks_have_fewer_labels),
         T(a_label_is_free_when_its_last_cell_is_acknowledged),
         T(a_label_with_lost_cells_is_used_again_when_its_members_know),
         T(groups_come_and_go_alike_in_all_models),
         T(late_copies_and_losses_do_not_harm_the_next_group))
