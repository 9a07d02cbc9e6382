/* Every line of the table, from cells to cells: what one codec promises, all have to keep. */
#include "atm_line.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CHUNK = 4096, QUEUE_CELLS = 400, CELL_BITS = 8 * LEAT_ATM_CELL_LEN };

static struct link {
    uint8_t memory[QUEUE_CELLS * LEAT_ATM_CELL_LEN];
    struct leat_atm_stream stream;
    struct leat_atm_line_sender tx;
    struct leat_atm_line_receiver rx;
    struct tally tally;
    uint64_t wrong; /* delivered with a header that was not sent */
    uint32_t next;  /* number of the next cell to queue */
} link_;

/* The header of put_cell; no idle cell. */
static const uint8_t header[LEAT_ATM_HEADER_LEN - 1] = { 0x00, 0x10, 0x00, 0x50 };

static struct link *fresh_link(const struct leat_atm_line *line)
{
    struct link *l = &link_;
    memset(l, 0, sizeof *l);
    EQ(leat_atm_stream_init(&l->stream, l->memory, sizeof l->memory), LEAT_ERR_OK);
    leat_atm_line_sender_init(&l->tx, line, &l->stream);
    leat_atm_line_receiver_init(&l->rx, line);
    return l;
}

static void fill_queue(struct link *l)
{
    while (l->stream.count < QUEUE_CELLS)
        EQ(put_cell(&l->stream, l->next++), LEAT_ERR_OK);
}

static void receive(struct link *l, const uint8_t *octets, size_t len, size_t chunk)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_line_feed(&l->rx, octets + at, n, &out);
        OK(used > 0 && used <= n);
        at += used;
        tally_add(&l->tally, &out);
        if (out.event == LEAT_ATM_TC_CELL) l->wrong += memcmp(out.cell, header, sizeof header) != 0;
    }
}

/* Carries octets, one bit in `bits_per_error` (0: none) of which is wrong. */
static void carry(struct link *l, struct leat_random *r, size_t len, uint64_t bits_per_error)
{
    uint8_t octets[CHUNK];
    for (size_t n; len > 0; len -= n) {
        n = len < CHUNK ? len : CHUNK;
        leat_atm_line_pull(&l->tx, octets, n);
        const uint64_t errors = bits_per_error ? 8 * n / bits_per_error : 0;
        for (uint64_t i = 0; i < errors; i++) {
            const uint64_t bit = leat_random_below(r, 8 * n);
            leat_bit_put(octets, bit, !leat_bit_get(octets, bit));
        }
        const size_t chunk = 1 + leat_random_below(r, 2 * CHUNK);
        receive(l, octets, n, chunk);
    }
}

/* Enough of any line to find frames and cells in. */
enum { SETTLE_LEN = 60000 };

static void settle(struct link *l, struct leat_random *r)
{
    carry(l, r, SETTLE_LEN, 0);
    memset(&l->tally, 0, sizeof l->tally);
}

static void the_table_is_found_by_name(void)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        OK(leat_atm_line_find(line->name, strlen(line->name)) == line);
        OK(leat_atm_line_find(line->name, strlen(line->name) - 1) == NULL);
        OK(strlen(leat_atm_line_delineation_name(line->delineation)) > 0);
        OK(strlen(line->summary) > 0);
    }
    OK(leat_atm_line_find("stm4", 4) == NULL);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Payload bits per second over the bits of a cell, from the structure of each line. */
static void cell_rates_follow_from_the_frames(void)
{
    static const struct {
        const char *name;
        uint64_t num, den; /* cells per second */
        unsigned ppm;
    } want[] = {
        { "stm1", 2340 * 8000, 53, 37037 },                      /* 1 - 2340 / 2430 */
        { "e1", 30 * 8000, 53, 62500 },                          /* 1 - 30 / 32 */
        { "e3", 530 * 8000, 53, 13035 },                         /* 1 - 530 / 537 */
        { "ds3-plcp", 12 * 8000, 1, 90129 },                     /* 1 - 40704 / 44736 */
        { "ds3-adm", UINT64_C(44736000) * 84, 85 * 424, 11765 }, /* 1 / 85 */
        { "cell155", 155520000 / 8, 53, 0 },                     /* cells only */
        { "cell622", 622080000 / 8, 53, 0 },                     /* the same */
        { "taxi100", UINT64_C(125000000) * 64, 64 * 540 + 10, 215042 },
        { "8b10b", UINT64_C(194400000) * 26, 27 * 530, 229630 }, /* 1 - 8/10 * 26/27 */
    };
    EQ(sizeof want / sizeof *want, LEAT_ATM_LINE_COUNT);
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = leat_atm_line_find(want[i].name, strlen(want[i].name));
        OK(line == &leat_atm_lines[i]);
        if (!line) continue;
        OK(line->cells_num * want[i].den == want[i].num * line->cells_den);
        EQ(gcd(line->cells_num, line->cells_den), 1);
        EQ(leat_atm_line_overhead_ppm(line), want[i].ppm);
    }
}

/* Cells never lack: as many arrive over a long span as the ratio says, less what is under way. */
static void the_measured_cell_rate_is_that_of_the_table(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        struct link *l = fresh_link(line);
        uint64_t octets = 0;
        settle(l, &r); /* idle */
        while (octets < 2 * LEAT_ROUNDS) {
            fill_queue(l);
            carry(l, &r, CHUNK, 0);
            octets += CHUNK;
        }
        const uint64_t arrived = l->tally.events[LEAT_ATM_TC_CELL];
        const uint64_t want = 8 * octets * line->cells_num / line->cells_den / line->bits_per_s;
        OK(arrived + 30 >= want && arrived <= want + 30); /* at most a frame of cells */
        EQ(l->tally.gaps, 0);
        EQ(l->tally.first, 0);
        EQ(l->wrong, 0);
    }
}

/* Some cells, some gaps: all arrive, in order, and no idle cell does. */
static void random_cells_between_idle_ones_arrive_whole(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        struct link *l = fresh_link(&leat_atm_lines[i]);
        settle(l, &r);
        for (long k = 0; k < LEAT_ROUNDS / 2000; k++) {
            for (uint64_t n = leat_random_below(&r, 20); n > 0; n--)
                EQ(put_cell(&l->stream, l->next++), LEAT_ERR_OK);
            const size_t len = 1 + leat_random_below(&r, 1500);
            carry(l, &r, len, 0);
            while (l->stream.count > QUEUE_CELLS - 20)
                carry(l, &r, CHUNK, 0);
        }
        carry(l, &r, SETTLE_LEN, 0);
        EQ(l->tally.events[LEAT_ATM_TC_CELL], l->next);
        EQ(l->tally.gaps, 0);
        EQ(l->tally.events[LEAT_ATM_TC_DISCARD] + l->tally.events[LEAT_ATM_TC_LOST] +
               l->tally.events[LEAT_ATM_TC_FRAME_LOST] + l->tally.events[LEAT_ATM_TC_PARITY],
           0);
    }
}

/*
 * A header is delivered wrong only if damage looks like another one. Where single errors are
 * corrected that takes three wrong bits of 40, C(40,3) p^3 of all cells, and one of the 41
 * syndromes in 256 that are accepted. Where they are not, it takes a header with any damage whose
 * CRC-8 is right by chance, one in 256, and at most as many headers are damaged as 50 bits of the
 * line are.
 */
static uint64_t wrong_headers_max(const struct leat_atm_line *line, uint64_t cells,
                                  uint64_t bits_per_error)
{
    const uint64_t n = bits_per_error;
    const uint64_t expected = line->corrects ? cells * 9880 * 41 / 256 / n / n / n
                                             : cells * 50 / n / 256;
    return 2 * expected + 4;
}

static void bit_errors_seldom_change_a_header_and_never_stop_the_line(void)
{
    static const uint64_t bits_per_error[] = { 100, 300, 1000, 10000 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++)
        for (size_t k = 0; k < sizeof bits_per_error / sizeof *bits_per_error; k++) {
            const struct leat_atm_line *line = &leat_atm_lines[i];
            struct link *l = fresh_link(line);
            for (uint64_t octets = 0; octets < LEAT_ROUNDS / 2; octets += CHUNK) {
                fill_queue(l);
                carry(l, &r, CHUNK, bits_per_error[k]);
            }
            const uint64_t cells = LEAT_ROUNDS / 2 / LEAT_ATM_CELL_LEN;
            OK(l->wrong <= wrong_headers_max(line, cells, bits_per_error[k]));
            if (bits_per_error[k] >= 1000) /* a line code loses every cell that is hit */
                OK(l->tally.events[LEAT_ATM_TC_CELL] > cells / 4);
            /* The line is good again: every cell arrives, once what is under way has passed. */
            carry(l, &r, SETTLE_LEN, 0);
            memset(&l->tally, 0, sizeof l->tally);
            fill_queue(l);
            const uint32_t queued = (uint32_t)l->stream.count;
            carry(l, &r, SETTLE_LEN, 0);
            EQ(l->tally.events[LEAT_ATM_TC_CELL], queued);
            EQ(l->tally.gaps, 0);
        }
}

/* Noise of any length, then the line again from any octet of it. */
static void after_noise_the_cells_are_found_again(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        struct link *l = fresh_link(&leat_atm_lines[i]);
        for (long k = 0; k < LEAT_ROUNDS / 50000; k++) {
            uint8_t noise[CHUNK];
            const size_t len = leat_random_below(&r, CHUNK);
            leat_random_fill(&r, noise, len);
            receive(l, noise, len, CHUNK);
            const size_t skip = leat_random_below(&r, CHUNK); /* a part that nobody receives */
            leat_atm_line_pull(&l->tx, noise, skip);
            carry(l, &r, SETTLE_LEN, 0);
            memset(&l->tally, 0, sizeof l->tally);
            fill_queue(l);
            const uint32_t queued = (uint32_t)l->stream.count;
            carry(l, &r, SETTLE_LEN, 0);
            EQ(l->tally.events[LEAT_ATM_TC_CELL], queued);
            EQ(l->tally.gaps, 0);
        }
    }
}

TAP_MAIN(T(the_table_is_found_by_name), T(cell_rates_follow_from_the_frames),
         T(the_measured_cell_rate_is_that_of_the_table),
         T(random_cells_between_idle_ones_arrive_whole),
         T(bit_errors_seldom_change_a_header_and_never_stop_the_line),
         T(after_noise_the_cells_are_found_again))
