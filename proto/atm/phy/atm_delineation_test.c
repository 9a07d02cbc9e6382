#include "atm_delineation.h"
#include "atm_stream.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, CELLS = 64, LINE = CELLS * CELL + 64 };

/* The output for a line: events in order, with the position of each. */
struct seen {
    enum leat_atm_tc_event event;
    size_t at; /* octets used by then */
    uint32_t number;
    bool corrected;
};
struct log {
    struct seen seen[4 * CELLS];
    size_t count;
};

/* Cell n carries its number; the rest of its payload cannot pass for a header. */
static void make_cell(uint32_t n, uint8_t *cell)
{
    const struct leat_atm_cell c = { .interface = LEAT_ATM_UNI, .vpi = 1, .vci = 32 };
    EQ(leat_atm_cell_encode(&c, cell, CELL), LEAT_ERR_OK);
    leat_put_be32(cell + LEAT_ATM_HEADER_LEN, n);
}

static void make_line(uint8_t *line, unsigned cells)
{
    for (unsigned n = 0; n < cells; n++)
        make_cell(n, line + (size_t)n * CELL);
}

static struct leat_atm_delineation fresh(unsigned alpha, unsigned delta)
{
    struct leat_atm_delineation d;
    const struct leat_atm_delineation_config config = { .alpha = alpha, .delta = delta };
    EQ(leat_atm_delineation_init(&d, &config), LEAT_ERR_OK);
    return d;
}

/* Feeds in chunks of at most `chunk` octets. */
static void feed(struct leat_atm_delineation *d, const uint8_t *line, size_t len, size_t chunk,
                 struct log *log)
{
    size_t at = 0;
    log->count = 0;
    while (at < len) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_delineation_feed(d, line + at, n, &out);
        OK(used >= 1 && used <= n);
        at += used;
        if (out.event == LEAT_ATM_TC_NOTHING) {
            EQ(used, n);
            continue;
        }
        if (log->count == sizeof log->seen / sizeof *log->seen) return;
        log->seen[log->count++] =
            (struct seen){ .event = out.event,
                           .at = at,
                           .number = out.event == LEAT_ATM_TC_CELL ? number_of(out.cell) : 0,
                           .corrected = out.corrected };
    }
}

static size_t count(const struct log *log, enum leat_atm_tc_event event)
{
    size_t n = 0;
    for (size_t i = 0; i < log->count; i++)
        n += log->seen[i].event == event;
    return n;
}

static void damage(uint8_t *line, unsigned cell, unsigned bits)
{
    line[(size_t)cell * CELL] ^= (uint8_t)bits;
}

static void zero_parameters_are_refused(void)
{
    struct leat_atm_delineation d;
    EQ(leat_atm_delineation_init(&d, &(struct leat_atm_delineation_config){ 0, 6 }),
       LEAT_ERR_RANGE);
    EQ(leat_atm_delineation_init(&d, &(struct leat_atm_delineation_config){ 7, 0 }),
       LEAT_ERR_RANGE);
    EQ(LEAT_ATM_DELINEATION_DEFAULT.alpha, 7);
    EQ(LEAT_ATM_DELINEATION_DEFAULT.delta, 6);
}

static void sync_needs_one_header_and_delta_more(void)
{
    static uint8_t line[LINE];
    make_line(line, CELLS);
    for (unsigned delta = 1; delta < 10; delta++) {
        struct leat_atm_delineation d = fresh(7, delta);
        struct log log;
        feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
        EQ(log.seen[0].event, LEAT_ATM_TC_SYNC);
        EQ(log.seen[0].at, delta * CELL + LEAT_ATM_HEADER_LEN);
        EQ(log.count, 1 + CELLS - delta);
        for (unsigned i = 1; i < log.count; i++)
            EQ(log.seen[i].number, delta + i - 1);
    }
}

static void one_octet_less_than_that_leaves_presync(void)
{
    static uint8_t line[LINE];
    struct leat_atm_delineation d = fresh(7, 6);
    struct log log;
    make_line(line, CELLS);
    feed(&d, line, 4, SIZE_MAX, &log);
    EQ(d.state, LEAT_ATM_DELINEATION_HUNT);
    feed(&d, line + 4, 1, SIZE_MAX, &log);
    EQ(d.state, LEAT_ATM_DELINEATION_PRESYNC);
    EQ(leat_atm_delineation_to_boundary(&d), 48);
    feed(&d, line + 5, 6 * CELL - 1, SIZE_MAX, &log);
    EQ(d.state, LEAT_ATM_DELINEATION_PRESYNC);
    EQ(log.count, 0);
    feed(&d, line + 6 * CELL + 4, 1, SIZE_MAX, &log);
    EQ(d.state, LEAT_ATM_DELINEATION_SYNC);
    EQ(log.count, 1);
}

static void any_offset_is_found(void)
{
    static uint8_t line[LINE];
    make_line(line, CELLS);
    for (size_t offset = 1; offset < CELL; offset++) {
        struct leat_atm_delineation d = fresh(7, 6);
        struct log log;
        feed(&d, line + offset, (size_t)CELLS * CELL - offset, SIZE_MAX, &log);
        EQ(log.seen[0].event, LEAT_ATM_TC_SYNC);
        EQ(log.seen[1].number, 7); /* cell 1 is the first whole one */
        EQ(count(&log, LEAT_ATM_TC_CELL), CELLS - 7);
    }
}

static void one_bad_header_in_presync_starts_the_hunt_again(void)
{
    static uint8_t line[LINE];
    for (unsigned bad = 1; bad <= 6; bad++) {
        struct leat_atm_delineation d = fresh(7, 6);
        struct log log;
        make_line(line, CELLS);
        damage(line, bad, 1); /* a single error: not corrected before SYNC */
        feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
        EQ(log.seen[0].event, LEAT_ATM_TC_SYNC);
        EQ(log.seen[0].at, (bad + 1 + 6) * CELL + LEAT_ATM_HEADER_LEN);
    }
}

static void sync_survives_all_but_alpha_bad_headers_in_a_row(void)
{
    static uint8_t line[LINE];
    for (unsigned alpha = 1; alpha < 10; alpha++)
        for (unsigned bad = 1; bad < 12; bad++) {
            struct leat_atm_delineation d = fresh(alpha, 6);
            struct log log;
            make_line(line, CELLS);
            for (unsigned i = 0; i < bad; i++)
                damage(line, 20 + i, 3); /* double errors: never corrected */
            feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
            const bool lost = bad >= alpha;
            EQ(count(&log, LEAT_ATM_TC_LOST), lost);
            EQ(count(&log, LEAT_ATM_TC_SYNC), lost ? 2 : 1);
            EQ(count(&log, LEAT_ATM_TC_DISCARD), lost ? alpha - 1 : bad);
            EQ(count(&log, LEAT_ATM_TC_CELL), CELLS - 6 - bad - (lost ? 6 : 0));
            EQ(d.state, LEAT_ATM_DELINEATION_SYNC);
        }
}

static void corrected_headers_count_as_bad_too(void)
{
    static uint8_t line[LINE];
    struct leat_atm_delineation d = fresh(7, 6);
    struct log log;
    make_line(line, CELLS);
    for (unsigned i = 0; i < 7; i++)
        damage(line, 20 + i, 1);
    feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
    EQ(count(&log, LEAT_ATM_TC_LOST), 1);
    EQ(count(&log, LEAT_ATM_TC_DISCARD), 5); /* the first was corrected, the last lost the sync */
    EQ(log.seen[1 + 14].number, 20);
    OK(log.seen[1 + 14].corrected);
}

static void single_errors_are_mended_in_sync(void)
{
    static uint8_t line[LINE];
    for (unsigned bit = 0; bit < LEAT_ATM_HEADER_BITS; bit++) {
        struct leat_atm_delineation d = fresh(7, 6);
        struct log log;
        make_line(line, CELLS);
        uint8_t *header = line + (size_t)20 * CELL;
        leat_bit_put(header, bit, !leat_bit_get(header, bit));
        feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
        EQ(log.count, 1 + CELLS - 6);
        for (unsigned i = 1; i < log.count; i++) {
            EQ(log.seen[i].number, 6 + i - 1);
            EQ(log.seen[i].corrected, log.seen[i].number == 20);
        }
    }
}

static void idle_cells_are_removed_and_unassigned_ones_are_not(void)
{
    static uint8_t line[LINE];
    struct leat_atm_delineation d = fresh(7, 6);
    struct log log;
    make_line(line, CELLS);
    leat_atm_cell_idle(line + (size_t)20 * CELL);
    leat_atm_cell_idle(line + (size_t)21 * CELL);
    line[(size_t)21 * CELL] ^= 0x10; /* corrected, it is idle again */
    memset(line + (size_t)23 * CELL, 0, LEAT_ATM_HEADER_LEN);
    line[(size_t)23 * CELL + 4] = 0x55;
    feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
    EQ(d.idle_count, 2);
    EQ(log.count, 1 + CELLS - 6 - 2);
    EQ(log.seen[1 + 14].number, 22);
    EQ(log.seen[1 + 15].number, 23);
}

static void a_slip_of_any_length_is_healed(void)
{
    static uint8_t line[LINE], slipped[LINE];
    make_line(line, CELLS);
    for (size_t slip = 1; slip < CELL; slip++) {
        struct leat_atm_delineation d = fresh(7, 6);
        struct log log;
        const size_t place = 20 * CELL + 30;
        memcpy(slipped, line, place);
        memcpy(slipped + place, line + place + slip, (size_t)CELLS * CELL - place - slip);
        feed(&d, slipped, (size_t)CELLS * CELL - slip, SIZE_MAX, &log);
        EQ(count(&log, LEAT_ATM_TC_LOST), 1);
        EQ(count(&log, LEAT_ATM_TC_SYNC), 2);
        EQ(log.seen[log.count - 1].number, CELLS - 1);
        /* The torn cell, ALPHA to notice, one to find, DELTA to confirm, two partial ones. */
        OK(count(&log, LEAT_ATM_TC_CELL) >= CELLS - 6 - (1 + 7 + 1 + 6 + 2));
    }
}

static void a_forced_hunt_forgets_everything(void)
{
    static uint8_t line[LINE];
    struct leat_atm_delineation d = fresh(7, 6);
    struct log log;
    make_line(line, CELLS);
    feed(&d, line, 10 * CELL + 3, SIZE_MAX, &log);
    EQ(d.state, LEAT_ATM_DELINEATION_SYNC);
    leat_atm_delineation_hunt(&d);
    EQ(d.state, LEAT_ATM_DELINEATION_HUNT);
    feed(&d, line, (size_t)CELLS * CELL, SIZE_MAX, &log);
    EQ(log.seen[0].event, LEAT_ATM_TC_SYNC);
    EQ(log.seen[0].at, 6 * CELL + LEAT_ATM_HEADER_LEN);
}

/* An independent model: the whole line at hand, and an index that jumps. */
static size_t plain_delineate(const uint8_t *line, size_t len, unsigned alpha, unsigned delta,
                              uint32_t *numbers)
{
    size_t found = 0, p = 0;
    while (p + 5 <= len) {
        if (leat_atm_hec_syndrome(line + p)) { /* HUNT */
            p++;
            continue;
        }
        unsigned good = 0, bad = 0;
        bool correct = true;
        for (p += CELL; p + 5 <= len && good < delta; p += CELL) { /* PRESYNC */
            if (leat_atm_hec_syndrome(line + p)) break;
            good++;
        }
        if (good < delta) {
            p++;
            continue;
        }
        for (p -= CELL; p + 5 <= len; p += CELL) { /* SYNC */
            const uint8_t s = leat_atm_hec_syndrome(line + p);
            bad = s ? bad + 1 : 0;
            if (bad == alpha) break;
            uint8_t header[5];
            memcpy(header, line + p, 5);
            const unsigned bit = leat_atm_hec_error_bit(s);
            const bool mend = s && correct && bit < LEAT_ATM_HEADER_BITS;
            if (mend) leat_bit_put(header, bit, !leat_bit_get(header, bit));
            correct = !s;
            if ((!s || mend) && p + CELL <= len && !leat_atm_cell_is_idle(header))
                numbers[found++] = number_of(line + p);
        }
        p++;
    }
    return found;
}

/* A line of cells, idle cells, noise, slips and bit errors. */
static size_t random_line(struct leat_random *r, uint8_t *line)
{
    size_t len = 0;
    for (uint32_t n = 0; n < CELLS - 1; n++) {
        if (leat_random_below(r, 5) == 0)
            leat_atm_cell_idle(line + len);
        else
            make_cell(n, line + len);
        if (leat_random_below(r, 2)) leat_random_fill(r, line + len + 9, CELL - 9);
        len += leat_random_below(r, 40) ? CELL : 1 + leat_random_below(r, CELL);
    }
    for (uint64_t errors = leat_random_below(r, 60); errors > 0; errors--) {
        /* most of them in bursts at headers, where they hurt */
        const bool in_header = leat_random_below(r, 4);
        uint64_t bit = leat_random_below(r, in_header ? 8 : 8 * len);
        if (in_header) bit += 8 * CELL * leat_random_below(r, len / CELL);
        leat_bit_put(line, bit, !leat_bit_get(line, bit));
    }
    return len;
}

static void random_lines_agree_with_the_plain_model_in_chunks_of_any_size(void)
{
    static uint8_t line[LINE];
    static uint32_t want[4 * CELLS];
    struct leat_random r;
    struct log log;
    size_t delivered = 0, lost = 0;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        const unsigned alpha = 1 + (unsigned)leat_random_below(&r, 7);
        const unsigned delta = 1 + (unsigned)leat_random_below(&r, 6);
        const size_t len = random_line(&r, line);
        const size_t chunk = 1 + leat_random_below(&r, 120);
        struct leat_atm_delineation d = fresh(alpha, delta);
        feed(&d, line, len, chunk, &log);
        const size_t cells = plain_delineate(line, len, alpha, delta, want);
        EQ(count(&log, LEAT_ATM_TC_CELL), cells);
        for (size_t k = 0, c = 0; k < log.count && c < cells; k++)
            if (log.seen[k].event == LEAT_ATM_TC_CELL) EQ(log.seen[k].number, want[c++]);
        delivered += cells;
        lost += count(&log, LEAT_ATM_TC_LOST);
    }
    OK(delivered > 0 && lost > 0);
}

static void a_stream_with_idle_cells_arrives_whole(void)
{
    static uint8_t memory[8 * CELL];
    struct leat_random r;
    struct leat_atm_stream stream;
    struct leat_atm_delineation d = fresh(7, 6);
    uint32_t sent = 0, received = 0;
    leat_random_seed(&r, tap_seed());
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        uint8_t octets[300], cell[CELL];
        const size_t len = 1 + leat_random_below(&r, sizeof octets);
        make_cell(sent, cell);
        /* The first cells are idle, so that none is lost before SYNC. */
        if (i > 20 && leat_random_below(&r, 3) && leat_atm_stream_put(&stream, cell) == LEAT_ERR_OK)
            sent++;
        leat_atm_stream_pull(&stream, octets, len);
        for (size_t at = 0; at < len;) {
            struct leat_atm_tc_out out;
            at += leat_atm_delineation_feed(&d, octets + at, len - at, &out);
            if (out.event == LEAT_ATM_TC_CELL) EQ(number_of(out.cell), received++);
        }
        if (d.state == LEAT_ATM_DELINEATION_SYNC)
            EQ(leat_atm_delineation_to_boundary(&d), leat_atm_stream_to_boundary(&stream));
    }
    OK(received > 0 && sent - received <= 8 + 1);
    OK(stream.idle_count - d.idle_count <= 6 + 1);
}

TAP_MAIN(T(zero_parameters_are_refused), T(sync_needs_one_header_and_delta_more),
         T(one_octet_less_than_that_leaves_presync), T(any_offset_is_found),
         T(one_bad_header_in_presync_starts_the_hunt_again),
         T(sync_survives_all_but_alpha_bad_headers_in_a_row), T(corrected_headers_count_as_bad_too),
         T(single_errors_are_mended_in_sync), T(idle_cells_are_removed_and_unassigned_ones_are_not),
         T(a_slip_of_any_length_is_healed), T(a_forced_hunt_forgets_everything),
         T(random_lines_agree_with_the_plain_model_in_chunks_of_any_size),
         T(a_stream_with_idle_cells_arrives_whole))
