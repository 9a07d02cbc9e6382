#include "leat_bytes.h"
#include "sim_atm_oam_cell.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN };

static struct leat_atm_clos net_of(enum leat_atm_clos_switching switching)
{
    const struct leat_atm_clos_config config = {
        .stages = 3, .e = 3, .m = 4, .r = 3, .switching = switching
    };
    struct leat_atm_clos net;
    EQ(leat_atm_clos_init(&net, &config, NULL), LEAT_ERR_OK);
    return net;
}

/* By bits, written out by hand: path 2 to port 7 of Clos(3,4,3) is VPI 4 * 7 + 2. */
static void cells_of_paths_have_their_flow_in_the_vci(void)
{
    const struct leat_atm_clos net = net_of(LEAT_ATM_CLOS_VP);
    const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(&net, 3, 7);
    static const uint8_t octet3[2][2] = { { 0x40, 0x30 }, { 0x3a, 0x38 } };
    struct leat_atm_oam oam = { .type = 1, .function = 4 };
    uint8_t cell[CELL];
    EQ(way.from == 3 && way.to == 7 && way.path == 2, true);
    leat_sim_atm_oam_write_user(&net, &way, 1, cell);
    EQ(leat_get_be32(cell), 30u << 20 | (32 + 3) << 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct leat_sim_atm_oam_flow flow = { .f5 = i / 2, .segment = i % 2 };
        leat_sim_atm_oam_write(&net, flow, &way, &oam, cell);
        EQ(leat_get_be32(cell), 30u << 20 | (i / 2 ? 2u << 8 : 0) | octet3[i / 2][i % 2]);
        EQ(cell[5], 0x14);
        EQ(leat_get_be32(cell + 6 + 17), 3);
        EQ(leat_get_be32(cell + 6 + 21), 7);
    }
    leat_sim_atm_oam_write_header(&net, &way, 0x1234, cell);
    EQ(leat_get_be32(cell), 30u << 20 | 0x1234 << 4);
}

static void what_is_written_is_read_at_its_port_and_a_stray_at_others(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < 1000; i++) {
        const bool paths = leat_random_below(&r, 2);
        const struct leat_atm_clos net = net_of(paths ? LEAT_ATM_CLOS_VP : LEAT_ATM_CLOS_VC);
        const uint32_t from = (uint32_t)leat_random_below(&r, 9);
        const uint32_t to = (uint32_t)leat_random_below(&r, 9);
        const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(&net, from, to);
        const struct leat_sim_atm_oam_flow flow = { .f5 = !paths || i % 2, .segment = i % 3 };
        const struct leat_atm_oam oam = { .type = 2, .function = 1 };
        struct leat_sim_atm_oam_read read;
        uint8_t cell[CELL];
        leat_sim_atm_oam_write_user(&net, &way, i, cell);
        leat_sim_atm_oam_read(&net, to, cell, &read);
        EQ(read.kind, LEAT_SIM_ATM_OAM_USER);
        EQ(read.from, from);
        EQ(leat_sim_atm_oam_clp(cell), i % 4 == 0);
        leat_sim_atm_oam_write(&net, flow, &way, &oam, cell);
        leat_sim_atm_oam_read(&net, to, cell, &read);
        EQ(read.kind, LEAT_SIM_ATM_OAM_CELL);
        EQ(read.from, from);
        EQ(read.oam.type << 4 | read.oam.function, 0x21);
        leat_sim_atm_oam_read(&net, (to + 1) % 9, cell, &read);
        EQ(read.kind, LEAT_SIM_ATM_OAM_STRAY);
        cell[5 + leat_random_below(&r, 48)] ^= 1;
        leat_sim_atm_oam_read(&net, to, cell, &read);
        EQ(read.kind, LEAT_SIM_ATM_OAM_BAD);
    }
}

static void a_location_names_a_wire_or_none(void)
{
    uint8_t location[LEAT_ATM_OAM_PLACE_LEN];
    uint32_t wire = 5;
    leat_sim_atm_oam_put_wire(0x12345, location);
    OK(leat_sim_atm_oam_get_wire(location, &wire) && wire == 0x12345);
    memset(location, LEAT_ATM_FILL, sizeof location);
    OK(!leat_sim_atm_oam_get_wire(location, &wire));
}

TAP_MAIN(T(cells_of_paths_have_their_flow_in_the_vci),
         T(what_is_written_is_read_at_its_port_and_a_stray_at_others),
         T(a_location_names_a_wire_or_none))
