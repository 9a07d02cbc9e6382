#include "atm_stream.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { QUEUE = 4 };
static uint8_t memory[QUEUE * LEAT_ATM_CELL_LEN + 1];

static struct leat_atm_stream fresh(void)
{
    struct leat_atm_stream s;
    EQ(leat_atm_stream_init(&s, memory, sizeof memory), LEAT_ERR_OK);
    return s;
}

/* Cell n has VCI 32 + n at the UNI and a payload of n. The HEC is wrong. */
static void make_cell(unsigned n, uint8_t *cell)
{
    memset(cell, (int)(n & 0xff), LEAT_ATM_CELL_LEN);
    cell[0] = cell[1] = 0;
    cell[2] = (uint8_t)((32 + n) >> 4);
    cell[3] = (uint8_t)((32 + n) << 4);
    cell[4] = 0xee;
}

static void too_little_memory_is_refused(void)
{
    struct leat_atm_stream s;
    EQ(leat_atm_stream_init(&s, memory, LEAT_ATM_CELL_LEN - 1), LEAT_ERR_MEMORY);
    EQ(leat_atm_stream_init(&s, memory, LEAT_ATM_CELL_LEN), LEAT_ERR_OK);
}

static void a_stream_without_cells_is_idle(void)
{
    struct leat_atm_stream s = fresh();
    uint8_t octets[3 * LEAT_ATM_CELL_LEN], idle[LEAT_ATM_CELL_LEN];
    leat_atm_cell_idle(idle);
    leat_atm_stream_pull(&s, octets, sizeof octets);
    for (size_t i = 0; i < 3; i++)
        OK(memcmp(octets + i * sizeof idle, idle, sizeof idle) == 0);
    EQ(s.idle_count, 3);
}

static void cells_leave_in_order_with_their_check_made(void)
{
    struct leat_atm_stream s = fresh();
    struct leat_atm_cell cell;
    uint8_t octets[LEAT_ATM_CELL_LEN];
    for (unsigned n = 0; n < QUEUE; n++) {
        make_cell(n, octets);
        EQ(leat_atm_stream_put(&s, octets), LEAT_ERR_OK);
    }
    EQ(leat_atm_stream_put(&s, octets), LEAT_ERR_FULL);
    for (unsigned n = 0; n < QUEUE; n++) {
        leat_atm_stream_pull(&s, octets, sizeof octets);
        EQ(leat_atm_cell_decode(octets, sizeof octets, LEAT_ATM_UNI, &cell, NULL), LEAT_ERR_OK);
        EQ(cell.vci, 32 + n);
        EQ(cell.payload[47], n);
    }
    EQ(s.idle_count, 0);
    leat_atm_stream_next(&s, octets);
    OK(leat_atm_cell_is_idle(octets));
}

static void a_cell_that_comes_during_an_idle_one_waits_for_its_end(void)
{
    struct leat_atm_stream s = fresh();
    uint8_t octets[2 * LEAT_ATM_CELL_LEN], cell[LEAT_ATM_CELL_LEN];
    leat_atm_stream_pull(&s, octets, 1);
    EQ(leat_atm_stream_to_boundary(&s), 52);
    make_cell(7, cell);
    EQ(leat_atm_stream_put(&s, cell), LEAT_ERR_OK);
    leat_atm_stream_pull(&s, octets + 1, sizeof octets - 1);
    OK(leat_atm_cell_is_idle(octets));
    EQ(octets[LEAT_ATM_CELL_LEN + 5], 7);
    EQ(leat_atm_stream_to_boundary(&s), 0);
}

/* The same cells offered at the same positions of the link: the chunk size makes no difference. */
static void octets_do_not_depend_on_how_they_are_pulled(void)
{
    static uint8_t other_memory[sizeof memory];
    struct leat_random r;
    struct leat_atm_stream a = fresh(), b;
    EQ(leat_atm_stream_init(&b, other_memory, sizeof other_memory), LEAT_ERR_OK);
    leat_random_seed(&r, tap_seed());
    unsigned n = 0;
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        uint8_t cell[LEAT_ATM_CELL_LEN], one[200] = { 0 }, other[200] = { 0 };
        const size_t len = (size_t)leat_random_below(&r, sizeof one + 1);
        if (leat_random_below(&r, 2)) {
            make_cell(n++, cell);
            EQ(leat_atm_stream_put(&a, cell), leat_atm_stream_put(&b, cell));
        }
        leat_atm_stream_pull(&a, one, len);
        for (size_t k = 0; k < len; k++)
            leat_atm_stream_pull(&b, other + k, 1);
        OK(memcmp(one, other, len) == 0);
        EQ(leat_atm_stream_to_boundary(&a), leat_atm_stream_to_boundary(&b));
    }
    OK(a.idle_count == b.idle_count);
}

TAP_MAIN(T(too_little_memory_is_refused), T(a_stream_without_cells_is_idle),
         T(cells_leave_in_order_with_their_check_made),
         T(a_cell_that_comes_during_an_idle_one_waits_for_its_end),
         T(octets_do_not_depend_on_how_they_are_pulled))
