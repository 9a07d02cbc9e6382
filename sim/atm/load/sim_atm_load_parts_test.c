#include "sim_atm_load_parts_test.h"
#include "sim_atm_load_memory.h"

enum { CASES = 60 + LEAT_ROUNDS / 5000, PARTS_MAX = 8 };

static void every_number_of_parts_has_the_same_outcome(void)
{
    struct leat_random r;
    uint64_t strides = 0, ended = 0, given_up = 0, delivered = 0, refused = 0, damaged = 0,
             lost = 0, rerouted = 0;
    leat_random_seed(&r, 23);
    for (int i = 0; i < CASES; i++) {
        const struct parts_case c = parts_choose(&r);
        const struct parts_outcome one = parts_run(&c, 1, NULL);
        for (uint32_t parts = 2; parts <= PARTS_MAX; parts++)
            OK(parts_same(&c, &one, parts, NULL));
        strides += one.network.strides;
        ended += one.network.strides_ended;
        refused += one.network.suspensions + one.network.port_refusals;
        given_up += one.counts.undeliverable;
        delivered += one.counts.messages_delivered;
        damaged += one.lines.damaged;
        lost += leat_sim_atm_losses_sum(&one.losses);
        rerouted += one.losses.rerouted;
    }
    OK(strides > 1000 && ended > 10 && refused > 100); /* everything has happened */
    OK(given_up > 10 && delivered > 1000 && damaged > 10);
    OK(lost > 100 && rerouted > 10);
}

/* All cells come from a few ports and leave by others, so pools of cells become poor. */
static void cells_that_only_go_one_way_do_not_run_out(void)
{
    struct parts_case c = { .fabric = "clos:4,8,4/buffer=4",
                            .pattern = LEAT_SIM_ATM_TRAFFIC_HOTSPOT,
                            .load_ppm = 900000,
                            .cycles = 300000,
                            .bytes = 300,
                            .seed = 5 };
    leat_atm_aal_config_default(&c.aal, 0, 1, 1);
    for (int i = 0; i < 2; i++) {
        const struct parts_outcome one = parts_run(&c, 1, NULL);
        OK(one.counts.messages_delivered > 100);
        for (uint32_t parts = 2; parts <= 4; parts++)
            OK(parts_same(&c, &one, parts, NULL));
        c.pattern = LEAT_SIM_ATM_TRAFFIC_BROADCAST;
        c.load_ppm = 20000;
    }
}

static void a_host_is_scarce_while_it_has_little_room(void)
{
    struct parts_bench *b = calloc(1, sizeof *b);
    struct parts_case c = { .fabric = "clos444", .bytes = 16 };
    leat_atm_aal_config_default(&c.aal, 0, 1, 1);
    for (uint32_t blocks = 1; b && blocks < 9; blocks++) {
        b->of = &c;
        c.aal.send_blocks = c.aal.receive_blocks = blocks;
        const struct leat_sim_atm_load_config config = parts_config(b, 2, NULL);
        void *memory = calloc(1, leat_sim_atm_load_footprint(&config));
        if (!memory) abort();
        parts_seed(b, config.fabric.net.ports);
        leat_sim_atm_load_init(&b->load, &config, memory);
        OK(leat_sim_atm_load_is_scarce(&b->load) == (blocks < LEAT_SIM_ATM_STRIDE_ROOM));
        free(memory);
    }
    free(b);
}

/* Pages that are seldom used are at the end, and those of one unit do not overlap. */
static void what_is_seldom_used_comes_last(void)
{
    static struct leat_sim_atm_load load;
    static struct parts_bench b;
    struct leat_sim_atm_load_pieces measured, pieces;
    struct parts_case c = { .fabric = "clos:8,15,8", .bytes = 16 };
    leat_atm_aal_config_default(&c.aal, 0, 1, 1);
    b.of = &c;
    const struct leat_sim_atm_load_config config = parts_config(&b, 3, NULL);
    const struct leat_atm_aal_config aal = leat_sim_atm_fabric_unit(&config.fabric, &c.aal, 0);
    const size_t often = leat_atm_aal_unit_footprint_often(&aal);
    const size_t seldom = leat_atm_aal_unit_footprint_seldom(&aal);
    leat_sim_atm_load_lay(&load, &config, NULL, &measured);
    EQ(leat_sim_atm_load_footprint(&config), measured.len);
    EQ(leat_sim_atm_load_footprint_often(&config), measured.often_len);
    EQ(leat_atm_aal_unit_footprint(&aal), often + seldom);
    OK(measured.often_len < measured.len && measured.often_len > 64 * often);
    uint8_t *memory = calloc(1, measured.len);
    if (!memory) abort();
    leat_sim_atm_load_lay(&load, &config, memory, &pieces);
    OK(pieces.often + 64 * often <= memory + measured.often_len);
    OK(pieces.seldom >= memory + measured.often_len);
    OK(pieces.seldom + 64 * seldom <= memory + measured.len);
    leat_atm_aal_unit_init_in(&load.host[63].unit, &aal, pieces.often + 63 * often,
                              pieces.seldom + 63 * seldom);
    OK((uint8_t *)load.host[63].unit.send_block >= pieces.often + 63 * often);
    OK((uint8_t *)load.host[63].unit.gap >= pieces.seldom + 63 * seldom);
    free(memory);
}

TAP_MAIN(T(what_is_seldom_used_comes_last), T(every_number_of_parts_has_the_same_outcome),
         T(cells_that_only_go_one_way_do_not_run_out), T(a_host_is_scarce_while_it_has_little_room))
