#include "atm_aal1_interleave.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { USER = LEAT_ATM_AAL1_INTERLEAVE_USER_LEN, COLUMNS = LEAT_ATM_AAL1_INTERLEAVE_COLUMNS };
enum { ROWS = LEAT_ATM_AAL1_INTERLEAVE_ROWS, PDU = LEAT_ATM_AAL1_PDU_LEN, BLOCKS = 4 };

static struct leat_atm_aal1_interleave rx;
static uint8_t user[BLOCKS][USER], pdus[BLOCKS * COLUMNS][PDU];

static void make_blocks(struct leat_random *r)
{
    static struct leat_atm_aal1_matrix matrix;
    leat_random_fill(r, user, sizeof user);
    for (unsigned b = 0; b < BLOCKS; b++) {
        leat_atm_aal1_interleave_fill(user[b], &matrix);
        for (unsigned c = 0; c < COLUMNS; c++)
            leat_atm_aal1_interleave_pdu(&matrix, c, pdus[b * COLUMNS + c]);
    }
    leat_atm_aal1_interleave_init(&rx);
}

static void seeded_blocks(struct leat_random *r)
{
    leat_random_seed(r, tap_seed());
    make_blocks(r);
}

struct seen {
    unsigned blocks, exact, cut, lost;
    uint64_t bad_rows;
};

static void add(struct seen *seen, struct leat_atm_aal1_interleave_out out)
{
    seen->cut += out.cut;
    if (!out.user) return;
    seen->blocks++;
    seen->lost += out.lost;
    seen->bad_rows |= out.bad_rows;
    for (unsigned b = 0; b < BLOCKS; b++)
        seen->exact += memcmp(out.user, user[b], USER) == 0;
}

/* All SAR-PDUs but `count` of them from `first` on. */
static struct seen without(unsigned first, unsigned count)
{
    struct seen seen = { 0 };
    for (unsigned i = 0; i < BLOCKS * COLUMNS; i++)
        if (i < first || i >= first + count)
            add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[i]));
    add(&seen, leat_atm_aal1_interleave_flush(&rx));
    return seen;
}

static void rows_go_in_and_columns_come_out(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    for (unsigned c = 0; c < COLUMNS; c++) {
        EQ(pdus[c][0], leat_atm_aal1_sn_encode((uint8_t)((c == 0 ? 8 : 0) | c % 8)));
        for (unsigned row = 0; c < 124 && row < ROWS; row++)
            EQ(pdus[c][1 + row], user[0][row * 124 + c]);
    }
    const struct seen seen = without(0, 0);
    EQ(seen.exact, BLOCKS);
    EQ(rx.counts.octets_corrected, 0);
}

static void up_to_four_lost_cells_cost_nothing(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    for (unsigned first = COLUMNS - 4; first < 2 * COLUMNS + 4; first += 3)
        for (unsigned n = 1; n <= 4; n++) {
            leat_atm_aal1_interleave_init(&rx);
            const struct seen seen = without(first, n);
            EQ(seen.exact, BLOCKS);
            EQ(seen.lost, n);
            EQ(seen.cut, 0);
            EQ(seen.bad_rows, 0);
        }
}

static void five_lost_cells_spoil_their_block_and_no_other(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    for (unsigned n = 5; n <= 6; n++) {
        leat_atm_aal1_interleave_init(&rx);
        const struct seen seen = without(COLUMNS + 60, n);
        EQ(seen.blocks, BLOCKS);
        EQ(seen.exact, BLOCKS - 1);
        EQ(seen.bad_rows, (UINT64_C(1) << ROWS) - 1);
        EQ(seen.lost, n + 1); /* the first after the gap is not believed */
        EQ(rx.counts.rows_bad, ROWS);
    }
}

/* SC cannot count eight: the marks at the blocks' starts show them. */
static void lost_cells_that_the_count_hides_cut_the_block(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    for (unsigned n = 7; n <= 16; n++) {
        leat_atm_aal1_interleave_init(&rx);
        const struct seen seen = without(COLUMNS + 30, n);
        EQ(seen.exact, BLOCKS - 1);
        EQ(seen.blocks + seen.cut, BLOCKS);
    }
}

static void the_last_cells_of_a_stream_may_be_lost(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    EQ(without(BLOCKS * COLUMNS - 4, 4).exact, BLOCKS);
    leat_atm_aal1_interleave_init(&rx);
    const struct seen seen = without(BLOCKS * COLUMNS - 5, 5);
    EQ(seen.exact, BLOCKS - 1);
    EQ(seen.cut, 1);
}

static void a_receiver_that_joins_late_starts_with_the_next_block(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    const struct seen seen = without(0, 77);
    EQ(seen.exact, BLOCKS - 1);
    EQ(seen.blocks, BLOCKS - 1);
    EQ(rx.counts.discarded, COLUMNS - 77);
}

static void a_misinserted_cell_is_discarded(void)
{
    struct leat_random r;
    struct seen seen = { 0 };
    seeded_blocks(&r);
    for (unsigned i = 0; i < BLOCKS * COLUMNS; i++) {
        add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[i]));
        if (i % 50 == 20) add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[i]));     /* twice */
        if (i % 50 == 31) add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[i - 2])); /* late */
    }
    EQ(seen.exact, BLOCKS);
    EQ(seen.cut, 0);
    EQ(rx.counts.discarded, 20);
}

static void a_bad_header_costs_its_column_only(void)
{
    struct leat_random r;
    seeded_blocks(&r);
    pdus[COLUMNS + 9][0] ^= 0x11;  /* two bits: detected */
    pdus[COLUMNS + 40][0] ^= 0x40; /* one bit: corrected */
    const struct seen seen = without(0, 0);
    EQ(seen.exact, BLOCKS);
    EQ(seen.lost, 1);
}

/* A bit error wherever it falls is one wrong octet of one row, or one lost column. */
static void scattered_bit_errors_are_corrected(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 20000; i++) {
        make_blocks(&r);
        for (unsigned b = 0; b < BLOCKS; b++)
            for (unsigned row = 0; row < ROWS; row++) /* two in each row */
                for (int k = 0; k < 2; k++) {
                    const uint64_t column = leat_random_below(&r, COLUMNS);
                    const uint64_t bit = leat_random_below(&r, 8);
                    pdus[b * COLUMNS + column][1 + row] ^= (uint8_t)(1u << bit);
                }
        const uint64_t bit = leat_random_below(&r, 8);
        const uint64_t at = leat_random_below(&r, BLOCKS * COLUMNS);
        pdus[at][0] ^= (uint8_t)(1u << bit);
        EQ(without(0, 0).exact, BLOCKS);
        EQ(rx.counts.lost, 0);
    }
}

/* Random losses and wrong octets: a row within 2t + e <= 4 is exact, a block that was not cut has
 * all its columns in place. */
static void random_damage_within_the_bounds_is_always_repaired(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 10000; i++) {
        struct seen seen = { 0 };
        unsigned gone = 0;
        make_blocks(&r);
        for (unsigned b = 0; b < BLOCKS; b++) {
            const unsigned losses = (unsigned)leat_random_below(&r, 5);
            bool lost[COLUMNS] = { false };
            for (unsigned k = 0; k < losses; k++)
                lost[leat_random_below(&r, COLUMNS)] = true;
            for (unsigned row = 0; row < ROWS; row++)
                for (unsigned k = 0; k < (4 - losses) / 2; k++) {
                    const uint64_t column = leat_random_below(&r, COLUMNS);
                    pdus[b * COLUMNS + column][1 + row] ^= (uint8_t)(1 +
                                                                     leat_random_below(&r, 255));
                }
            if (b == 0) lost[0] = false; /* to begin with */
            for (unsigned c = 0; c < COLUMNS; c++) {
                gone += lost[c];
                if (lost[c]) continue;
                add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[b * COLUMNS + c]));
            }
        }
        add(&seen, leat_atm_aal1_interleave_flush(&rx));
        EQ(seen.blocks, BLOCKS);
        EQ(seen.cut, 0);
        EQ(seen.lost, gone);
        EQ(seen.exact, BLOCKS);
    }
}

/* Whatever comes before, two whole blocks are enough to deliver the second one. */
static void after_any_cells_the_next_blocks_are_found(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    make_blocks(&r);
    for (int i = 0; i < LEAT_ROUNDS / 10000; i++) {
        uint8_t noise[PDU];
        for (uint64_t n = leat_random_below(&r, 200); n > 0; n--) {
            leat_random_fill(&r, noise, PDU);
            if (n % 2) noise[0] = leat_atm_aal1_sn_encode(noise[1] & 0xf);
            (void)leat_atm_aal1_interleave_step(&rx, noise);
        }
        struct seen seen = { 0 };
        for (unsigned k = 0; k < BLOCKS * COLUMNS; k++)
            add(&seen, leat_atm_aal1_interleave_step(&rx, pdus[k]));
        OK(seen.exact >= BLOCKS - 1);
    }
}

TAP_MAIN(T(rows_go_in_and_columns_come_out), T(up_to_four_lost_cells_cost_nothing),
         T(five_lost_cells_spoil_their_block_and_no_other),
         T(lost_cells_that_the_count_hides_cut_the_block),
         T(the_last_cells_of_a_stream_may_be_lost),
         T(a_receiver_that_joins_late_starts_with_the_next_block),
         T(a_misinserted_cell_is_discarded), T(a_bad_header_costs_its_column_only),
         T(scattered_bit_errors_are_corrected),
         T(random_damage_within_the_bounds_is_always_repaired),
         T(after_any_cells_the_next_blocks_are_found))
