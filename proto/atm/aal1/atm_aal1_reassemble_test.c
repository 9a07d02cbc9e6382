#include "atm_aal1_reassemble.h"
#include "atm_aal1_segment.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { DUMMY = 0xd5 };

static struct leat_atm_aal1_reassemble fresh(uint32_t block_len, uint8_t lost_cells_max)
{
    struct leat_atm_aal1_reassemble r;
    const struct leat_atm_aal1_reassemble_config config = { block_len, lost_cells_max, DUMMY };
    EQ(leat_atm_aal1_reassemble_init(&r, &config), LEAT_ERR_OK);
    return r;
}

/* A cell whose payload octets are all `mark`. */
static struct leat_atm_cell cell_of(uint8_t csi, uint8_t sc, uint8_t mark)
{
    struct leat_atm_cell c = { .pt = 0 };
    memset(c.payload, mark, sizeof c.payload);
    c.payload[0] = leat_atm_aal1_sn_encode((uint8_t)(csi << 3 | sc));
    return c;
}

/* Two wrong bits: invalid in either mode. */
static struct leat_atm_cell spoilt(struct leat_atm_cell c)
{
    c.payload[0] ^= 0x41;
    return c;
}

/* ---- the table of states, row by row ------------------------------------------------------ */

/*
 * A script of cells: '0'..'7' is a cell of that SC, 'x' one whose header is invalid. The k-th cell
 * carries the octet 'a' + k. What comes out is written as one letter per payload: the octet that
 * fills it, '.' for a dummy cell, '|' where the stream restarts.
 */
static const char *replay(const char *script, uint8_t lost_cells_max)
{
    static char said[256];
    struct leat_atm_aal1_reassemble r = fresh(0, lost_cells_max);
    size_t n = 0;
    for (uint8_t k = 0; script[k]; k++) {
        const uint8_t mark = (uint8_t)('a' + k);
        const struct leat_atm_cell c = script[k] == 'x'
                                           ? spoilt(cell_of(0, 0, mark))
                                           : cell_of(0, (uint8_t)(script[k] - '0'), mark);
        const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_cell(&r, &c);
        if (out.restarted) said[n++] = '|';
        for (size_t i = 0; i < out.octets_len; i += 47)
            said[n++] = i < out.dummy_len ? '.' : (char)out.octets[i];
        EQ(out.octets_len % 47, 0);
        EQ(out.dummy_len % 47, 0);
    }
    said[n] = '\0';
    return said;
}

#define SAYS(script, lost_cells_max, want)                                                     \
    do {                                                                                       \
        const char *said_ = replay(script, lost_cells_max);                                    \
        if (strcmp(said_, want) != 0) printf("# %s gives %s, want %s\n", script, said_, want); \
        OK(strcmp(said_, want) == 0);                                                          \
    } while (0)

static void two_cells_in_sequence_begin_the_stream(void)
{
    SAYS("3", 6, "");
    SAYS("34", 6, "|a");
    SAYS("345", 6, "|ab");
    SAYS("xx345", 6, "|cd");
    SAYS("7012", 6, "|abc");
    SAYS("1734", 6, "|c");   /* OUT_OF_SYNC until two follow each other */
    SAYS("3x456", 6, "|cd"); /* an invalid one restarts */
}

static void lost_cells_are_replaced_by_as_many(void)
{
    SAYS("01234"
         "67",
         6, "|abcde.f");
    SAYS("01"
         "67",
         6, "|ab....c");
    SAYS("01"
         "01",
         6, "|ab......c"); /* six lost: as many as SC can count */
}

static void more_lost_cells_than_allowed_restart_the_stream(void)
{
    SAYS("01"
         "56"
         "7",
         3, "|ab...cd");
    SAYS("01"
         "67"
         "0",
         3, "|ab|cd");
    SAYS("01"
         "34"
         "5",
         0, "|ab|cd");
}

static void a_misinserted_cell_is_discarded(void)
{
    SAYS("012"
         "6"
         "345",
         6, "|abcef");
    SAYS("012"
         "x"
         "345",
         6, "|abcef");
    SAYS("012"
         "2"
         "345",
         6, "|abcef"); /* a second copy */
    SAYS("0123"
         "0"
         "456",
         6, "|abcdfg");
}

static void a_bad_number_in_the_right_place_is_delivered(void)
{
    SAYS("012"
         "7"
         "456",
         6, "|abcdef"); /* undetected error of SN */
    SAYS("012"
         "x"
         "456",
         6, "|abcdef"); /* detected */
}

static void after_an_invalid_number_a_gap_is_filled_where_it_is_sure(void)
{
    SAYS("012"
         "x"
         "567",
         6, "|abc..ef"); /* 3 and 4 missing: x could be either */
    SAYS("012"
         "xx"
         "567",
         6, "|abc|fg"); /* two invalid ones: START */
    SAYS("012"
         "6"
         "x"
         "34",
         6, "|abc|f"); /* START again */
}

static void numbers_without_any_order_restart_the_search(void)
{
    SAYS("012"
         "6"
         "1"
         "234",
         6, "|abc|efg");
    SAYS("012"
         "6"
         "1"
         "5"
         "67",
         6, "|abc|fg");
}

static void headers_are_corrected_and_counted(void)
{
    struct leat_atm_aal1_reassemble r = fresh(0, 6);
    for (uint8_t k = 0; k < 5; k++) {
        struct leat_atm_cell c = cell_of(0, k, k);
        if (k == 2) c.payload[0] ^= 0x20; /* SC would be 0 */
        (void)leat_atm_aal1_reassemble_cell(&r, &c);
    }
    EQ(r.counts.cells, 5);
    EQ(r.counts.corrected, 1);
    EQ(r.counts.invalid, 0);
    EQ(r.counts.misinserted + r.counts.lost + r.counts.discarded, 0);
    EQ(r.state, LEAT_ATM_AAL1_SYNC);
}

static void management_cells_pass_by_unseen(void)
{
    struct leat_atm_aal1_reassemble r = fresh(0, 6);
    struct leat_atm_cell c = cell_of(0, 0, 1);
    (void)leat_atm_aal1_reassemble_cell(&r, &c);
    for (uint8_t pt = 4; pt < 8; pt++) {
        struct leat_atm_cell other = cell_of(0, 5, 9);
        other.pt = pt;
        EQ(leat_atm_aal1_reassemble_cell(&r, &other).octets_len, 0);
    }
    c = cell_of(0, 1, 2);
    c.pt = 3; /* user data, congested */
    EQ(leat_atm_aal1_reassemble_cell(&r, &c).octets_len, 47);
    EQ(r.counts.cells, 2);
}

static void the_last_cell_comes_out_at_the_end(void)
{
    struct leat_atm_aal1_reassemble r = fresh(0, 6);
    EQ(leat_atm_aal1_reassemble_flush(&r).octets_len, 0);
    for (uint8_t k = 0; k < 3; k++) {
        const struct leat_atm_cell c = cell_of(0, k, k);
        (void)leat_atm_aal1_reassemble_cell(&r, &c);
    }
    const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_flush(&r);
    EQ(out.octets_len, 47);
    EQ(out.octets[0], 2);
    EQ(r.state, LEAT_ATM_AAL1_START);
    const struct leat_atm_cell suspect = cell_of(0, 5, 9);
    (void)leat_atm_aal1_reassemble_cell(&r, &suspect);
    EQ(leat_atm_aal1_reassemble_flush(&r).octets_len, 0);
    EQ(r.counts.discarded, 1);
}

static void limits_of_the_configuration_hold(void)
{
    struct leat_atm_aal1_reassemble r;
    struct leat_atm_aal1_reassemble_config config = { .lost_cells_max = 7 };
    EQ(leat_atm_aal1_reassemble_init(&r, &config), LEAT_ERR_RANGE);
    config.lost_cells_max = 6;
    config.block_len = LEAT_ATM_AAL1_BLOCK_LEN_MAX + 1;
    EQ(leat_atm_aal1_reassemble_init(&r, &config), LEAT_ERR_RANGE);
}

/* ---- any trace at all, against a model that sees the whole trace --------------------------- */

enum { TRACE = 64 };

struct trace {
    unsigned len, lost_max;
    bool valid[TRACE];
    uint8_t sc[TRACE];
    char said[8 * TRACE]; /* letters as above: cell k is the character k + 48 */
    size_t said_len;
};

static void say(struct trace *t, unsigned cell)
{
    t->said[t->said_len++] = (char)('0' + cell);
}

static bool follows(const struct trace *t, unsigned sc, unsigned cell, unsigned steps)
{
    return t->valid[cell] && t->sc[cell] == (sc + steps) % 8;
}

/* The first of two valid cells in sequence, or len. */
static unsigned search(const struct trace *t, unsigned from)
{
    for (unsigned k = from; k + 1 < t->len; k++)
        if (t->valid[k] && follows(t, t->sc[k], k + 1, 1)) return k;
    return t->len;
}

/* `a` is the suspect after a cell of SC `last`: decides its fate, returns where to continue. */
static unsigned judge(struct trace *t, unsigned last, unsigned a, bool *synced)
{
    const unsigned b = a + 1;
    *synced = false;
    if (b >= t->len) return t->len;
    if (!t->valid[b]) return b + 1;
    *synced = true;
    if (follows(t, last, b, 1)) return b;
    if (t->valid[a] && follows(t, t->sc[a], b, 1)) {
        const unsigned lost = (t->sc[a] + 16u - last - 1) % 8;
        for (unsigned i = 0; i < lost && lost <= t->lost_max; i++)
            t->said[t->said_len++] = '.';
        if (lost > t->lost_max) t->said[t->said_len++] = '|';
        say(t, a);
        return b;
    }
    if (follows(t, last, b, 2)) {
        say(t, a);
        return b;
    }
    if (!t->valid[a]) return judge(t, last, b, synced);
    *synced = false;
    return b;
}

static void foresee(struct trace *t)
{
    bool synced = false;
    for (unsigned k = 0; k < t->len;) {
        if (!synced) {
            k = search(t, k);
            if (k == t->len) return;
            t->said[t->said_len++] = '|';
            synced = true;
        }
        say(t, k);
        const unsigned last = t->sc[k++];
        if (k < t->len && !follows(t, last, k, 1)) k = judge(t, last, k, &synced);
    }
}

static void random_trace(struct trace *t, struct leat_random *r)
{
    *t = (struct trace){ .len = TRACE, .lost_max = (unsigned)leat_random_below(r, 7) };
    unsigned sc = 0;
    const uint64_t trouble = 1 + leat_random_below(r, 60); /* percent */
    for (unsigned k = 0; k < t->len; k++) {
        t->valid[k] = true;
        if (leat_random_below(r, 100) < trouble) {
            t->valid[k] = leat_random_below(r, 3) != 0;
            if (leat_random_below(r, 2)) sc = (unsigned)leat_random_below(r, 8); /* loss */
            t->sc[k] = (uint8_t)leat_random_below(r, 8);                         /* anything */
        } else {
            t->sc[k] = (uint8_t)(sc++ % 8);
        }
    }
}

static void any_trace_gives_what_the_model_foresees(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / TRACE; i++) {
        struct trace t;
        random_trace(&t, &random);
        foresee(&t);

        struct leat_atm_aal1_reassemble r = fresh(0, (uint8_t)t.lost_max);
        char said[8 * TRACE];
        size_t n = 0;
        for (unsigned k = 0; k <= t.len; k++) {
            struct leat_atm_cell c = cell_of(0, k < t.len ? t.sc[k] : 0, (uint8_t)('0' + k));
            if (k < t.len && !t.valid[k]) c = spoilt(c);
            const struct leat_atm_aal1_reassemble_out out =
                k < t.len ? leat_atm_aal1_reassemble_cell(&r, &c)
                          : leat_atm_aal1_reassemble_flush(&r);
            if (out.restarted) said[n++] = '|';
            for (size_t o = 0; o < out.octets_len; o += 47)
                said[n++] = o < out.dummy_len ? '.' : (char)out.octets[o];
        }
        OK(n == t.said_len && memcmp(said, t.said, n) == 0);
        /* Every cell is delivered or has its reason. */
        size_t delivered = 0;
        for (size_t c = 0; c < n; c++)
            delivered += said[c] != '.' && said[c] != '|';
        OK(r.counts.cells == delivered + r.counts.misinserted + r.counts.discarded);
    }
}

/* ---- true streams with isolated trouble: nothing but the lost cells may differ -------------- */

enum { STREAM_CELLS = 200, QUIET_CELLS = 3 };

struct stream {
    uint32_t block_len;
    size_t len, start[STREAM_CELLS + 1]; /* of each cell in the octets below */
    uint8_t octets[STREAM_CELLS * 47], want[STREAM_CELLS * 47], got[STREAM_CELLS * 47 + 400];
    struct leat_atm_cell cells[STREAM_CELLS];
    uint8_t rts[STREAM_CELLS / 8];
};

static void make_stream(struct stream *s, struct leat_random *random, uint32_t block_len)
{
    struct leat_atm_aal1_segment segment;
    EQ(leat_atm_aal1_segment_init(&segment, block_len), LEAT_ERR_OK);
    s->block_len = block_len;
    s->len = 0;
    leat_random_fill(random, s->octets, sizeof s->octets);
    for (unsigned k = 0; k < STREAM_CELLS; k++) {
        if (k % 8 == 0) {
            s->rts[k / 8] = (uint8_t)leat_random_below(random, 16);
            EQ(leat_atm_aal1_segment_rts(&segment, s->rts[k / 8]), LEAT_ERR_OK);
        }
        bool ready;
        s->start[k] = s->len;
        s->cells[k] = (struct leat_atm_cell){ .pt = 0 };
        s->len += leat_atm_aal1_segment_push(&segment, s->octets + s->len, 47, s->cells[k].payload,
                                             &ready);
        OK(ready);
    }
    s->start[STREAM_CELLS] = s->len;
    memcpy(s->want, s->octets, s->len);
}

/* Collects the output; every block must be reported at its place. */
struct sink {
    struct stream *s;
    struct leat_atm_aal1_reassemble r;
    size_t len;
    unsigned cycles, stamps;
};

static void gather(struct sink *k, struct leat_atm_aal1_reassemble_out out)
{
    const uint32_t block_len = k->s->block_len;
    memcpy(k->s->got + k->len, out.octets, out.octets_len);
    if (block_len) {
        const size_t to_start = (block_len - k->len % block_len) % block_len;
        EQ(out.block_at, to_start < out.octets_len ? to_start : out.octets_len);
    } else {
        EQ(out.block_at, out.octets_len);
    }
    if (out.rts_is == LEAT_ATM_AAL1_RTS_SEEN) EQ(out.rts, k->s->rts[k->cycles]);
    k->stamps += out.rts_is == LEAT_ATM_AAL1_RTS_SEEN;
    k->cycles += out.rts_is != LEAT_ATM_AAL1_RTS_NONE;
    k->len += out.octets_len;
}

static void arrive(struct sink *k, const struct leat_atm_cell *cell)
{
    gather(k, leat_atm_aal1_reassemble_cell(&k->r, cell));
}

/* Another connection's cell: any SN but the expected one, which no receiver could distinguish. */
static struct leat_atm_cell stranger(struct leat_random *random, unsigned expected_sc)
{
    struct leat_atm_cell c = { .pt = 0 };
    leat_random_fill(random, c.payload, sizeof c.payload);
    const unsigned sc = (expected_sc + 1 + (unsigned)leat_random_below(random, 7)) % 8;
    c.payload[0] = leat_atm_aal1_sn_encode((uint8_t)(leat_random_below(random, 2) << 3 | sc));
    if (leat_random_below(random, 4) == 0) c.payload[0] ^= 0x09;
    return c;
}

/* Something happens before cell k; returns how many cells are lost. */
static unsigned trouble(struct sink *sink, struct leat_random *random, unsigned k)
{
    struct stream *s = sink->s;
    struct leat_atm_cell c;
    unsigned lost = 0;
    switch (leat_random_below(random, 5)) {
    case 0:
        lost = 1 + (unsigned)leat_random_below(random, 6);
        if (k + lost > STREAM_CELLS - QUIET_CELLS) lost = 0;
        memset(s->want + s->start[k], DUMMY, s->start[k + lost] - s->start[k]);
        break;
    case 1:
        c = stranger(random, k % 8);
        arrive(sink, &c);
        break;
    case 2: arrive(sink, &s->cells[k - 1]); break;
    case 3: s->cells[k] = spoilt(s->cells[k]); break;
    case 4: s->cells[k].payload[0] ^= (uint8_t)(1u << leat_random_below(random, 8)); break;
    }
    return lost;
}

static void isolated_trouble_leaves_the_stream_in_place(void)
{
    static struct stream s;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / STREAM_CELLS; i++) {
        static const uint32_t sizes[] = { 0, 1, 2, 24, 93, 94, 375, 750, 1000 };
        const uint64_t pick = leat_random_below(&random, 12);
        make_stream(&s, &random,
                    pick < 9 ? sizes[pick] : (uint32_t)leat_random_below(&random, 3000));
        struct sink sink = { .s = &s, .r = fresh(s.block_len, 6) };
        unsigned quiet = 0;
        for (unsigned k = 0; k < STREAM_CELLS; k++) {
            if (++quiet > QUIET_CELLS && k < STREAM_CELLS - QUIET_CELLS &&
                leat_random_below(&random, 4) == 0) {
                quiet = 0;
                k += trouble(&sink, &random, k);
            }
            arrive(&sink, &s.cells[k]);
        }
        gather(&sink, leat_atm_aal1_reassemble_flush(&sink.r));
        OK(sink.len == s.len && memcmp(s.got, s.want, s.len) == 0);
        EQ(sink.cycles, STREAM_CELLS / 8);
        EQ(sink.r.counts.restarts, 1);
        EQ(sink.r.counts.pointer_errors, 0);
    }
}

static void a_whole_cycle_gives_its_stamp_and_a_hurt_one_does_not(void)
{
    static struct stream s;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (unsigned without = 8; without < 16; without++) {
        make_stream(&s, &random, 0);
        struct sink sink = { .s = &s, .r = fresh(0, 6) };
        for (unsigned k = 0; k < STREAM_CELLS; k++)
            if (k != without) arrive(&sink, &s.cells[k]);
        gather(&sink, leat_atm_aal1_reassemble_flush(&sink.r));
        EQ(sink.cycles, STREAM_CELLS / 8);
        EQ(sink.stamps, STREAM_CELLS / 8 - (without % 2)); /* only odd SC carry its bits */
    }
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void a_receiver_that_joins_late_finds_the_blocks(void)
{
    static struct stream s;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    make_stream(&s, &random, 100);
    for (unsigned from = 1; from < 20; from++) {
        struct leat_atm_aal1_reassemble r = fresh(100, 6);
        size_t at = s.start[from];
        unsigned found = 0;
        for (unsigned k = from; k < STREAM_CELLS; k++) {
            const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_cell(
                &r, &s.cells[k]);
            if (out.block_at < out.octets_len) EQ((at + out.block_at) % 100, 0);
            found += out.block_at < out.octets_len;
            at += out.octets_len;
        }
        OK(found > 60);
        EQ(r.counts.pointer_errors, 0);
    }
}

/* The pointer has no check of its own: a legal one that disagrees wins, an illegal one does not. */
static void wrong_pointers_are_counted(void)
{
    static struct stream s;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (int illegal = 0; illegal < 2; illegal++) {
        make_stream(&s, &random, 50);
        struct leat_atm_aal1_reassemble r = fresh(50, 6);
        s.cells[16].payload[1] = (uint8_t)(illegal ? 100 : (s.cells[16].payload[1] + 7) % 50);
        size_t at = 0;
        unsigned wrong = 0;
        for (unsigned k = 0; k < STREAM_CELLS; k++) {
            const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_cell(
                &r, &s.cells[k]);
            wrong += out.octets_len > 0 && (at + out.block_at) % 50 != 0;
            at += out.octets_len;
        }
        /* illegal: one error, no harm. Else: until the next pointer, which disagrees again. */
        EQ(r.counts.pointer_errors, illegal ? 1 : 2);
        EQ(wrong, illegal ? 0 : 8);
    }
}

/* Random cells and random management cells: no step exceeds its bounds. */
static void any_octets_stay_within_the_bounds(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed() + 2);
    struct leat_atm_aal1_reassemble r = fresh(60, 6);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_cell c = { .pt = (uint8_t)leat_random_below(&random, 5) };
        leat_random_fill(&random, c.payload, sizeof c.payload);
        if (leat_random_below(&random, 8))
            c.payload[0] = leat_atm_aal1_sn_encode((uint8_t)(i % 8 | (c.payload[1] & 8)));
        const struct leat_atm_aal1_reassemble_out out = leat_atm_aal1_reassemble_cell(&r, &c);
        OK(out.octets_len <= LEAT_ATM_AAL1_STEP_LEN_MAX && out.dummy_len <= out.octets_len);
        OK(out.block_at <= out.octets_len && out.rts < 16);
    }
    OK(r.counts.pointer_errors > 0 && r.counts.restarts > 1);
}

TAP_MAIN(T(two_cells_in_sequence_begin_the_stream), T(lost_cells_are_replaced_by_as_many),
         T(more_lost_cells_than_allowed_restart_the_stream), T(a_misinserted_cell_is_discarded),
         T(a_bad_number_in_the_right_place_is_delivered),
         T(after_an_invalid_number_a_gap_is_filled_where_it_is_sure),
         T(numbers_without_any_order_restart_the_search), T(headers_are_corrected_and_counted),
         T(management_cells_pass_by_unseen), T(the_last_cell_comes_out_at_the_end),
         T(limits_of_the_configuration_hold), T(any_trace_gives_what_the_model_foresees),
         T(isolated_trouble_leaves_the_stream_in_place),
         T(a_whole_cycle_gives_its_stamp_and_a_hurt_one_does_not),
         T(a_receiver_that_joins_late_finds_the_blocks), T(wrong_pointers_are_counted),
         T(any_octets_stay_within_the_bounds))
