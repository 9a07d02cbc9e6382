#include "atm_oam_block.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { LEN = LEAT_ATM_PAYLOAD_LEN, N = 32 };

/* ---- cells ----------------------------------------------------------------------------------- */

/* By offsets of I.610, written out by hand. */
static void forward_and_backward_cells_are_laid_out_as_the_picture_says(void)
{
    struct leat_atm_oam_monitoring cell = { .number = 0x11,
                                            .sent = 0x2233,
                                            .sent0 = 0x4455,
                                            .parity = 0x6677,
                                            .received = 0x8899,
                                            .received0 = 0xaabb,
                                            .errors = 0xcc };
    struct leat_atm_oam oam;
    const uint8_t *s = oam.specific;
    for (unsigned back = 0; back < 2; back++) {
        cell.function = (uint8_t)back;
        leat_atm_oam_monitoring_put(&cell, &oam);
        EQ(oam.type << 4 | oam.function, 0x20 | back);
        EQ(s[0], 0x11);
        EQ(leat_get_be16(s + 1), 0x2233);
        EQ(leat_get_be16(s + 3), back ? 0x6a6a : 0x6677);
        EQ(leat_get_be16(s + 5), 0x4455);
        EQ(leat_get_be32(s + 7), 0xffffffff);
        for (size_t i = 11; i < 40; i++)
            EQ(s[i], 0x6a);
        EQ(leat_get_be16(s + 40), back ? 0xaabb : 0x6a6a);
        EQ(s[42], back ? 0xcc : 0x6a);
        EQ(leat_get_be16(s + 43), back ? 0x8899 : 0x6a6a);
    }
}

static void what_is_put_is_got_and_nothing_else_is_a_monitoring_cell(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_atm_oam oam, again;
        struct leat_atm_oam_monitoring cell;
        leat_random_fill(&r, oam.specific, sizeof oam.specific);
        oam.type = i >> 4 & 0xf;
        oam.function = i & 0xf;
        const bool known = oam.type == 2 && oam.function < 2;
        EQ(leat_atm_oam_monitoring_get(&oam, &cell), known);
        if (!known) continue;
        leat_atm_oam_monitoring_put(&cell, &again);
        EQ(again.function, oam.function);
        EQ(memcmp(again.specific, oam.specific, oam.function ? 3 : 7), 0);
        EQ(memcmp(again.specific + 5, oam.specific + 5, 2), 0);
        if (oam.function) EQ(memcmp(again.specific + 40, oam.specific + 40, 5), 0);
    }
}

/* Bit for bit: column k of the words has even parity with bit k. */
static void the_parity_of_a_block_makes_every_sixteenth_bit_even(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS / 1000; i++) {
        uint8_t payload[LEN], sum[2];
        leat_random_fill(&r, payload, LEN);
        leat_put_be16(sum, leat_atm_oam_parity(payload));
        for (unsigned column = 0; column < 16; column++) {
            unsigned ones = leat_bit_get(sum, column);
            for (unsigned bit = column; bit < 8 * LEN; bit += 16)
                ones += leat_bit_get(payload, bit);
            EQ(ones % 2, 0);
        }
    }
}

/* ---- a connection ---------------------------------------------------------------------------- */

/* A line between source and sink, and a plain record of what it did since the last FM that came. */
static struct line {
    struct leat_random random;
    struct leat_atm_oam_block_source source;
    struct leat_atm_oam_block_sink sink;
    struct leat_atm_oam_block_far far;
    uint32_t loss, mix, flip;            /* chances in thousands */
    uint32_t sent, lost, extra, missing; /* since the last FM that came */
    uint32_t column[16]; /* of bits that are flipped; of ones that are missing or too many */
    struct leat_atm_oam_block_counts counts;
    bool back_sound; /* all BR arrive */
} l;

static void begin(uint64_t seed, uint32_t block)
{
    memset(&l, 0, sizeof l);
    leat_random_seed(&l.random, seed);
    leat_atm_oam_block_source_init(&l.source, block);
    leat_atm_oam_block_sink_init(&l.sink, block);
    leat_atm_oam_block_far_init(&l.far, block);
    l.back_sound = true;
}

static bool by_chance(uint32_t chance)
{
    return leat_random_below(&l.random, 1000) < chance;
}

static void settle(uint32_t block)
{
    const uint32_t most = block / 32 > 2 ? block / 32 : 2;
    const uint32_t came = l.sent - l.lost + l.extra;
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits += l.column[i] % 2;
    if (l.missing || came != l.sent) bits = 0;
    const uint32_t gone = l.sent > came ? l.sent - came : 0,
                   more = came > l.sent ? came - l.sent : 0;
    l.counts.blocks++;
    l.counts.cells += l.sent;
    l.counts.lost += gone;
    l.counts.misinserted += more;
    l.counts.errored += bits != 0;
    l.counts.parity_bits += bits;
    l.counts.severe += gone + more > most || bits > most;
    l.counts.missing += l.missing;
    l.sent = l.lost = l.extra = l.missing = 0;
    memset(l.column, 0, sizeof l.column);
}

static void forward(void)
{
    struct leat_atm_oam_monitoring cell, back;
    leat_atm_oam_block_source_end(&l.source, &cell);
    if (by_chance(l.loss)) {
        l.missing++;
        return;
    }
    OK(leat_atm_oam_block_sink_forward(&l.sink, &cell, &back));
    settle(l.source.block);
    if (l.back_sound) leat_atm_oam_block_far_backward(&l.far, &back);
}

static void count_ones(const uint8_t *payload)
{
    for (unsigned bit = 0; bit < 8 * LEN; bit++)
        l.column[bit % 16] += leat_bit_get(payload, bit);
}

static void user(void)
{
    uint8_t payload[LEN], other[LEN];
    leat_random_fill(&l.random, payload, LEN);
    const bool clp = by_chance(300), ends = leat_atm_oam_block_source_user(&l.source, payload, clp);
    l.sent++;
    if (by_chance(l.loss)) {
        l.lost++;
        count_ones(payload);
    } else {
        while (by_chance(l.flip)) {
            const unsigned bit = (unsigned)leat_random_below(&l.random, 8 * LEN);
            leat_bit_put(payload, bit, !leat_bit_get(payload, bit));
            l.column[bit % 16]++;
        }
        leat_atm_oam_block_sink_user(&l.sink, payload, clp);
    }
    if (by_chance(l.mix)) {
        leat_random_fill(&l.random, other, LEN);
        leat_atm_oam_block_sink_user(&l.sink, other, false);
        l.extra++;
        count_ones(other);
    }
    if (ends) forward();
}

static void check_counts(const struct leat_atm_oam_block_counts *c)
{
    EQ(c->blocks, l.counts.blocks);
    EQ(c->cells, l.counts.cells);
    EQ(c->lost, l.counts.lost);
    EQ(c->misinserted, l.counts.misinserted);
    EQ(c->errored, l.counts.errored);
    EQ(c->parity_bits, l.counts.parity_bits);
    EQ(c->severe, l.counts.severe);
}

static void a_sound_line_has_no_errors_at_either_end(void)
{
    begin(tap_seed(), N);
    for (unsigned i = 0; i < 300 * N; i++) /* more blocks than numbers */
        user();
    EQ(l.sink.counts.blocks, 300);
    EQ(l.sink.counts.cells, 300 * N);
    EQ(l.sink.counts.lost + l.sink.counts.misinserted + l.sink.counts.errored +
           l.sink.counts.severe + l.sink.counts.missing,
       0);
    check_counts(&l.far.counts);
}

/* As many lost cells as misinserted ones hide each other, but not from the parity: the record
 * settles each block as the sink can see it. */
static void random_lines_are_measured_as_the_plain_record_says(void)
{
    static const uint32_t blocks[] = { 16, 64, 128, 1024 };
    uint64_t blocks_sum = 0, missing = 0;
    for (uint32_t run = 0; run < 40; run++) {
        begin(tap_seed() + run, blocks[run % 4]);
        l.loss = run % 5 < 2 ? 0 : 4 * (run % 5);
        l.mix = run % 3 ? 0 : 5;
        l.flip = run % 2 ? 20 : 0;
        for (long i = 0; i < LEAT_ROUNDS / 40; i++)
            user();
        check_counts(&l.sink.counts);
        EQ(l.sink.counts.missing, l.counts.missing);
        blocks_sum += l.sink.counts.blocks;
        missing += l.counts.missing;
    }
    OK(blocks_sum > (uint64_t)(LEAT_ROUNDS / 2000) && missing > 0);
}

/* Each BR answers an FM that came, so the far end misses none; the parity of a block behind a lost
 * FM is unknown at both ends. */
static void the_far_end_knows_what_the_sink_measured(void)
{
    begin(tap_seed() + 99, N);
    l.loss = 30;
    l.flip = 10;
    for (long i = 0; i < LEAT_ROUNDS / 10 + 10000; i++)
        user();
    OK(l.counts.lost > 0 && l.counts.errored > 0 && l.counts.missing > 0);
    check_counts(&l.far.counts);
    EQ(l.far.counts.missing, 0);
}

static void lost_reports_are_made_up_for_by_the_next(void)
{
    begin(tap_seed() + 5, N);
    l.loss = 20;
    for (uint32_t i = 0; i < 200 * N; i++) {
        l.back_sound = i / N % 3 == 0 || i > 190 * N;
        user();
    }
    EQ(l.far.counts.lost, l.counts.lost);
    OK(l.counts.lost > 0 && l.far.counts.missing > 0);
}

/* ---- forward cells out of sequence ----------------------------------------------------------- */

static void a_repeated_or_stray_forward_cell_changes_nothing(void)
{
    struct leat_atm_oam_monitoring back, repeated, stray = { .number = 200, .sent = 7 };
    begin(tap_seed(), N);
    for (unsigned i = 0; i < 3 * N; i++)
        user();
    repeated = (struct leat_atm_oam_monitoring){ .number = 2, .sent = 3 * N };
    OK(!leat_atm_oam_block_sink_forward(&l.sink, &repeated, &back));
    OK(!leat_atm_oam_block_sink_forward(&l.sink, &stray, &back));
    for (unsigned i = 0; i < 3 * N; i++)
        user();
    check_counts(&l.sink.counts);
    EQ(l.sink.counts.blocks, 6);
}

static void after_a_long_gap_two_cells_in_sequence_are_believed(void)
{
    begin(tap_seed(), N);
    for (unsigned i = 0; i < 3 * N; i++)
        user();
    l.loss = 1000;
    for (unsigned i = 0; i < 200 * N; i++)
        user();
    l.loss = 0;
    struct leat_atm_oam_monitoring cell, back;
    for (unsigned i = 0; i < N; i++)
        leat_atm_oam_block_sink_user(&l.sink, (const uint8_t[LEN]){ 0 }, false);
    cell = (struct leat_atm_oam_monitoring){ .number = 203, .sent = 204 * N };
    OK(!leat_atm_oam_block_sink_forward(&l.sink, &cell, &back));
    cell = (struct leat_atm_oam_monitoring){ .number = 204, .sent = 204 * N };
    OK(leat_atm_oam_block_sink_forward(&l.sink, &cell, &back));
    EQ(l.sink.counts.lost, 200 * N);
    EQ(l.sink.counts.missing, 201);
}

TAP_MAIN(T(forward_and_backward_cells_are_laid_out_as_the_picture_says),
         T(what_is_put_is_got_and_nothing_else_is_a_monitoring_cell),
         T(the_parity_of_a_block_makes_every_sixteenth_bit_even),
         T(a_sound_line_has_no_errors_at_either_end),
         T(random_lines_are_measured_as_the_plain_record_says),
         T(the_far_end_knows_what_the_sink_measured), T(lost_reports_are_made_up_for_by_the_next),
         T(a_repeated_or_stray_forward_cell_changes_nothing),
         T(after_a_long_gap_two_cells_in_sequence_are_believed))
