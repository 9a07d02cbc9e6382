/* Every line, cell time by cell time, held to a plain model: all octets of the line at once, with
 * the same errors, through a receiver of its own. */
#include "atm_trunk.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, CELLS = 1500, OCTETS = 220 * CELLS };

/* ---- a line as a whole ----------------------------------------------------------------------- */

static struct whole {
    uint8_t queue[CELLS * CELL], octets[OCTETS];
    size_t len;
    uint64_t own[CELLS]; /* the octet with which a cell arrives on an intact line; 0: too early */
} whole;

/* Cells with a number behind their header; 0: an idle one. */
static void cell_of(uint32_t number, uint8_t *cell)
{
    static const uint8_t header[LEAT_ATM_HEADER_LEN] = { 0x00, 0x10, 0x00, 0x50 };
    leat_atm_cell_idle(cell);
    if (!number) return;
    memcpy(cell, header, sizeof header);
    leat_put_be32(cell + LEAT_ATM_HEADER_LEN, number);
}

static void send_all(const struct leat_atm_line *line, const uint32_t *number, uint32_t count)
{
    struct leat_atm_stream stream;
    struct leat_atm_line_sender tx;
    EQ(leat_atm_stream_init(&stream, whole.queue, sizeof whole.queue), LEAT_ERR_OK);
    for (uint32_t k = 0; k < count; k++) {
        uint8_t cell[CELL];
        cell_of(number ? number[k] : k + 1, cell);
        EQ(leat_atm_stream_put(&stream, cell), LEAT_ERR_OK);
    }
    leat_atm_line_sender_init(&tx, line, &stream);
    for (whole.len = 0; stream.count && whole.len < OCTETS; whole.len++)
        leat_atm_line_pull(&tx, &whole.octets[whole.len], 1);
}

/* Numbered cells tell where each arrives. */
static void find_own(const struct leat_atm_line *line)
{
    static struct leat_atm_line_receiver rx;
    send_all(line, NULL, CELLS);
    memset(whole.own, 0, sizeof whole.own);
    leat_atm_line_receiver_init(&rx, line);
    for (size_t at = 0; at < whole.len; at++) {
        struct leat_atm_tc_out out;
        leat_atm_line_feed(&rx, whole.octets + at, 1, &out);
        if (out.event != LEAT_ATM_TC_CELL) continue;
        const uint32_t number = leat_get_be32(out.cell + LEAT_ATM_HEADER_LEN);
        OK(number >= 1 && number <= CELLS);
        whole.own[number - 1] = at;
    }
}

/* ---- where cells end ------------------------------------------------------------------------- */

static void cells_end_where_a_receiver_gets_them(void)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        uint32_t seen = 0;
        find_own(line);
        for (uint32_t k = 0; k < CELLS; k++) {
            if (!whole.own[k]) continue;
            EQ(whole.own[k], (leat_atm_line_cell_end(line, k) - 1) / 8);
            seen++;
        }
        OK(seen > CELLS - 200);
    }
}

static void after_a_period_a_line_is_as_before_and_has_kept_its_rate(void)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        const uint64_t period = leat_atm_line_period(line);
        const uint64_t bits = leat_atm_line_cell_end(line, period) -
                              leat_atm_line_cell_end(line, 0);
        EQ(bits % 8, 0);
        OK(bits * line->cells_num == period * line->bits_per_s * line->cells_den);
        for (uint64_t k = 0; k < 3 * period; k++)
            if (leat_atm_line_cell_end(line, k + period) != leat_atm_line_cell_end(line, k) + bits)
                OK(false);
    }
}

/* By where cells arrive, which is exact to an octet of the line. */
static void framing_delays_cells_as_much_as_a_receiver_sees(void)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        const double octet_ps = 8e12 / (double)line->bits_per_s;
        const double cell_ps = 1e12 * (double)line->cells_den / (double)line->cells_num;
        const double want = (double)leat_atm_line_framing_ps(line);
        double least = INFINITY, most = 0;
        find_own(line);
        for (uint32_t k = 0; k < CELLS; k++) {
            if (!whole.own[k]) continue;
            const double late = (double)whole.own[k] * octet_ps - k * cell_ps;
            if (late < least) least = late;
            if (late > most) most = late;
        }
        /* Fewer cells than a period may miss the latest one by little. */
        OK(most - least <= want + octet_ps);
        OK(most - least >= 0.9 * want - octet_ps);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void without_errors_every_cell_arrives_in_its_own_step(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        static struct leat_atm_trunk trunk, copy;
        struct leat_atm_trunk_out out;
        leat_atm_trunk_init(&copy, &leat_atm_lines[i]);
        leat_atm_trunk_copy(&trunk, &copy);
        memset(&copy, 0xee, sizeof copy);
        for (uint32_t k = 1; k < LEAT_ROUNDS / 100; k++) {
            const bool has = leat_random_below(&r, 3);
            uint8_t cell[CELL];
            cell_of(k, cell);
            leat_random_fill(&r, cell + 9, CELL - 9);
            cell[4] = 0xee;
            leat_atm_trunk_step(&trunk, has ? cell : NULL, NULL, &out);
            EQ(out.strays + out.losses, 0);
            if (!has) continue;
            EQ(out.fate, LEAT_ATM_TRUNK_PASSED);
            OK(leat_atm_hec_syndrome(out.cell) == 0);
            OK(memcmp(out.cell, cell, 4) == 0 && memcmp(out.cell + 5, cell + 5, CELL - 5) == 0);
        }
    }
}

static void a_copied_sender_goes_on_as_the_first_one(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        struct leat_atm_stream stream, stream2;
        struct leat_atm_line_sender tx, tx2;
        uint8_t a[1500], b[1500];
        EQ(leat_atm_stream_init(&stream, whole.queue, sizeof whole.queue), LEAT_ERR_OK);
        for (uint32_t k = 1; k < 40; k++) {
            cell_of(k, a);
            EQ(leat_atm_stream_put(&stream, a), LEAT_ERR_OK);
        }
        leat_atm_line_sender_init(&tx, &leat_atm_lines[i], &stream);
        leat_atm_line_pull(&tx, a, 1 + leat_random_below(&r, sizeof a));
        stream2 = stream;
        tx2 = tx;
        leat_atm_line_sender_moved(&tx2, &stream2);
        leat_atm_line_pull(&tx, a, sizeof a);
        leat_atm_line_pull(&tx2, b, sizeof b);
        OK(memcmp(a, b, sizeof a) == 0);
        EQ(stream.count, stream2.count);
    }
}

/* Afterwards cells go on where they would after as many empty steps. */
static void whole_periods_of_silence_can_be_skipped(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        static struct leat_atm_trunk steps, skips;
        const unsigned period = leat_atm_line_period(&leat_atm_lines[i]);
        const uint64_t most = period + leat_random_below(&r, 2 * period);
        struct leat_atm_trunk_out a, b;
        leat_atm_trunk_init(&steps, &leat_atm_lines[i]);
        for (uint64_t k = leat_random_below(&r, 300); k > 0; k--)
            leat_atm_trunk_step(&steps, NULL, NULL, &a);
        leat_atm_trunk_copy(&skips, &steps);
        const uint64_t skipped = leat_atm_trunk_skip(&skips, most);
        OK(skipped <= most && skipped + period > most && skipped % period == 0);
        for (uint64_t k = 0; k < skipped; k++)
            leat_atm_trunk_step(&steps, NULL, NULL, &a);
        EQ(skips.cells, steps.cells);
        EQ(skips.octets, steps.octets);
        for (uint32_t k = 1; k < 200; k++) {
            uint8_t cell[CELL];
            cell_of(k, cell);
            leat_atm_trunk_step(&steps, cell, NULL, &a);
            leat_atm_trunk_step(&skips, cell, NULL, &b);
            EQ(b.fate, LEAT_ATM_TRUNK_PASSED);
            OK(a.fate == b.fate && memcmp(a.cell, b.cell, CELL) == 0);
        }
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Drawn before: both sides get the same. */
static struct noise {
    uint8_t mask[OCTETS];
    size_t at;
} noise;

static void damage(void *context, uint8_t *octets, size_t len)
{
    struct noise *n = context;
    for (size_t i = 0; i < len; i++)
        octets[i] ^= n->mask[n->at++];
}

/* From an octet on: single errors, bursts, and long noise, then nothing for a while. */
static void draw_noise(struct leat_random *r, size_t from, uint64_t bits_per_error)
{
    memset(&noise, 0, sizeof noise);
    noise.at = from;
    for (size_t bit = 8 * from; bit < 8 * (size_t)OCTETS;) {
        const uint64_t gap = 1 + leat_random_below(r, 2 * bits_per_error);
        const uint64_t kind = leat_random_below(r, 20);
        const uint64_t burst = kind == 0   ? leat_random_below(r, 60000)
                               : kind < 10 ? leat_random_below(r, 60)
                                           : 1;
        bit += gap;
        for (uint64_t i = 0; i < burst && bit < 8 * (size_t)OCTETS; i++, bit++)
            leat_bit_put(noise.mask, bit, leat_random_below(r, 2) || burst == 1);
    }
}

struct fates {
    uint64_t of[LEAT_ATM_TRUNK_FATES], strays, losses, damaged, other_cause;
};

/* What one step says of a cell, or the plain model does. */
struct verdict {
    enum leat_atm_trunk_fate fate;
    uint8_t cell[CELL];
};
static struct verdict stepped[CELLS], plain[CELLS];

static void run_steps(const uint32_t *number, uint32_t first, struct leat_atm_trunk *trunk,
                      struct fates *f)
{
    const struct leat_atm_trunk_errors errors = { &noise, damage };
    struct leat_atm_trunk_out out;
    for (uint32_t k = first; k < CELLS - 1; k++) {
        uint8_t cell[CELL];
        cell_of(number[k], cell);
        leat_atm_trunk_step(trunk, number[k] ? cell : NULL, &errors, &out);
        stepped[k].fate = out.fate;
        memcpy(stepped[k].cell, out.cell, CELL);
        f->of[out.fate] += number[k] > 0;
        f->strays += out.strays;
        f->losses += out.losses;
    }
}

/* The cell that is complete with the octet in which it would be on an intact line. */
static void run_plain(const struct leat_atm_line *line, uint32_t first, const uint32_t *number,
                      struct fates *f)
{
    static struct leat_atm_line_receiver rx;
    uint32_t k = 0;
    leat_atm_line_receiver_init(&rx, line);
    for (uint32_t i = 0; i < CELLS; i++)
        plain[i] = (struct verdict){ .fate = LEAT_ATM_TRUNK_MISSED };
    for (size_t at = 0; at <= whole.own[CELLS - 2]; at++) {
        const uint8_t octet = whole.octets[at] ^ noise.mask[at];
        struct leat_atm_tc_out out;
        while (k < CELLS - 1 && whole.own[k] < at)
            k++;
        leat_atm_line_feed(&rx, &octet, 1, &out);
        if (k < first) continue;
        f->losses += out.event == LEAT_ATM_TC_LOST || out.event == LEAT_ATM_TC_FRAME_LOST;
        if (out.event == LEAT_ATM_TC_DISCARD) plain[k].fate = LEAT_ATM_TRUNK_DISCARDED;
        if (out.event != LEAT_ATM_TC_CELL) continue;
        if (at == whole.own[k] && number[k]) {
            plain[k].fate = out.corrected ? LEAT_ATM_TRUNK_CORRECTED : LEAT_ATM_TRUNK_PASSED;
            memcpy(plain[k].cell, out.cell, CELL);
        }
        f->strays += at != whole.own[k] || !number[k];
    }
    for (k = first; k < CELLS - 1; k++)
        f->of[plain[k].fate] += number[k] > 0;
}

static void compare(const struct leat_atm_line *line, const uint32_t *number, uint32_t first,
                    struct fates *sum)
{
    static struct leat_atm_trunk trunk;
    struct fates a = { .strays = 0 }, b = { .strays = 0 };
    leat_atm_trunk_init(&trunk, line);
    run_steps(number, first, &trunk, &a);
    run_plain(line, first, number, &b);
    for (uint32_t k = first; k < CELLS - 1; k++) {
        if (!number[k]) continue;
        if (plain[k].fate > LEAT_ATM_TRUNK_CORRECTED && stepped[k].fate > LEAT_ATM_TRUNK_CORRECTED)
            sum->other_cause += stepped[k].fate != plain[k].fate;
        else
            EQ(stepped[k].fate, plain[k].fate);
        if (stepped[k].fate > LEAT_ATM_TRUNK_CORRECTED) continue;
        OK(memcmp(stepped[k].cell, plain[k].cell, CELL) == 0);
        uint8_t cell[CELL];
        cell_of(number[k], cell);
        sum->damaged += memcmp(cell + 5, plain[k].cell + 5, CELL - 5) != 0;
    }
    for (int fate = 0; fate < LEAT_ATM_TRUNK_FATES; fate++)
        sum->of[fate] += b.of[fate];
    sum->losses += b.losses;
    EQ(a.losses, b.losses);
    EQ(a.strays, b.strays);
}

static void steps_and_the_whole_line_agree_about_every_cell(void)
{
    static const uint64_t bits_per_error[] = { 200, 2000, 20000 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        static struct leat_atm_trunk trunk;
        struct fates sum = { .strays = 0 };
        leat_atm_trunk_init(&trunk, line);
        const uint32_t first = (uint32_t)trunk.cells; /* settled until then */
        const size_t octets = (size_t)trunk.octets;
        for (long round = 0; round < 3 + LEAT_ROUNDS / 200000; round++) {
            static uint32_t number[CELLS];
            memset(number, 0, sizeof number);
            for (uint32_t k = first; k < CELLS; k++)
                number[k] = leat_random_below(&r, 4) ? k : 0;
            find_own(line);
            send_all(line, number, CELLS);
            draw_noise(&r, octets + (trunk.shown ? 1 : 0), bits_per_error[round % 3]);
            compare(line, number, first, &sum);
        }
        OK(sum.of[LEAT_ATM_TRUNK_PASSED] && sum.of[LEAT_ATM_TRUNK_DISCARDED]);
        OK(sum.of[LEAT_ATM_TRUNK_MISSED] && sum.losses);
        OK(line->corrects == (sum.of[LEAT_ATM_TRUNK_CORRECTED] > 0));
        OK(!line->corrects || sum.damaged);
        /* Of a line of ten-bit words, when bits of the next cell end the octet and the matter. */
        OK(sum.other_cause <= sum.of[LEAT_ATM_TRUNK_DISCARDED] / 200);
        OK(sum.other_cause == 0 || !line->corrects);
    }
}

TAP_MAIN(T(cells_end_where_a_receiver_gets_them),
         T(after_a_period_a_line_is_as_before_and_has_kept_its_rate),
         T(framing_delays_cells_as_much_as_a_receiver_sees),
         T(without_errors_every_cell_arrives_in_its_own_step),
         T(a_copied_sender_goes_on_as_the_first_one), T(whole_periods_of_silence_can_be_skipped),
         T(steps_and_the_whole_line_agree_about_every_cell))
