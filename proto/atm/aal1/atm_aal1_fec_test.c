#include "atm_aal1_fec.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { ROW = LEAT_ATM_AAL1_FEC_ROW_LEN, DATA = LEAT_ATM_AAL1_FEC_DATA_LEN, CHECK = 4 };
enum { FIELD = 256, GROUP = FIELD - 1, FIRST_ROOT = 120 };

/* ---- a second model: powers of x modulo x^8+x^7+x^2+x+1, logarithms, the definition ---------- */

static unsigned power_of[2 * GROUP], log_of[FIELD];

static void make_field(void)
{
    unsigned x = 1;
    for (unsigned i = 0; i < GROUP; i++) {
        power_of[i] = power_of[i + GROUP] = x;
        log_of[x] = i;
        x = 2 * x ^ (x & 0x80 ? 0x187 : 0);
    }
}

static unsigned mul(unsigned a, unsigned b)
{
    return a && b ? power_of[log_of[a] + log_of[b]] : 0;
}

/* The sum of row[i] * root^(127 - i), term by term. */
static unsigned value_at(const uint8_t *row, unsigned root_log)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < ROW; i++)
        sum ^= mul(row[i], power_of[(ROW - 1 - i) * root_log % GROUP]);
    return sum;
}

static bool is_codeword(const uint8_t *row)
{
    for (unsigned k = 0; k < CHECK; k++)
        if (value_at(row, FIRST_ROOT + k) != 0) return false;
    return true;
}

/* Erased octets by linear equations, one per root: elimination. */
static void solve_erasures(uint8_t *row, const uint8_t *place, unsigned n)
{
    unsigned m[CHECK][CHECK + 1];
    for (unsigned i = 0; i < n; i++)
        row[place[i]] = 0;
    for (unsigned k = 0; k < n; k++) {
        for (unsigned i = 0; i < n; i++)
            m[k][i] = power_of[(ROW - 1 - place[i]) * (FIRST_ROOT + k) % GROUP];
        m[k][n] = value_at(row, FIRST_ROOT + k);
    }
    for (unsigned c = 0; c < n; c++) {
        unsigned p = c;
        while (m[p][c] == 0)
            p++;
        for (unsigned i = 0; i <= n; i++) {
            const unsigned t = m[c][i];
            m[c][i] = m[p][i];
            m[p][i] = t;
        }
        const unsigned inv = power_of[(GROUP - log_of[m[c][c]]) % GROUP];
        for (unsigned i = 0; i <= n; i++)
            m[c][i] = mul(m[c][i], inv);
        for (unsigned k = 0; k < n; k++) {
            const unsigned f = m[k][c];
            for (unsigned i = 0; k != c && i <= n; i++)
                m[k][i] ^= mul(f, m[c][i]);
        }
    }
    for (unsigned i = 0; i < n; i++)
        row[place[i]] = (uint8_t)m[i][n];
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void random_row(struct leat_random *r, uint8_t *row)
{
    leat_random_fill(r, row, DATA);
    leat_atm_aal1_fec_protect(row);
}

static void random_places(struct leat_random *r, uint8_t *place, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        place[i] = (uint8_t)leat_random_below(r, ROW);
        for (unsigned k = 0; k < i; k++)
            if (place[k] == place[i]) i--, k = i;
    }
}

static void hurt(struct leat_random *r, uint8_t *row, const uint8_t *place, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        row[place[i]] ^= (uint8_t)(1 + leat_random_below(r, GROUP));
}

static void protected_rows_vanish_at_the_four_roots(void)
{
    struct leat_random r;
    uint8_t row[ROW];
    make_field();
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 1000; i++) {
        random_row(&r, row);
        OK(is_codeword(row));
    }
}

/* x^4 mod the generator, whose coefficients follow from the roots by multiplication. */
static void a_single_one_is_protected_by_the_generator(void)
{
    uint8_t row[ROW] = { 0 };
    unsigned g[CHECK + 1] = { 1 };
    make_field();
    for (unsigned k = 0; k < CHECK; k++)
        for (unsigned i = k + 1; i > 0; i--)
            g[i] ^= mul(g[i - 1], power_of[FIRST_ROOT + k]);
    row[DATA - 1] = 1;
    leat_atm_aal1_fec_protect(row);
    for (unsigned i = 0; i < CHECK; i++)
        EQ(row[DATA + i], g[1 + i]);
}

/* All that the distance promises, with as many errors as the erasures leave. */
static void within_the_bounds_every_row_comes_back(void)
{
    struct leat_random r;
    make_field();
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 200; i++) {
        uint8_t sent[ROW], row[ROW], place[CHECK];
        const unsigned erased = (unsigned)leat_random_below(&r, CHECK + 1);
        const unsigned wrong = (unsigned)leat_random_below(&r, (CHECK - erased) / 2 + 1);
        unsigned corrected = 99, differ = 0;
        random_row(&r, sent);
        memcpy(row, sent, ROW);
        random_places(&r, place, erased + wrong);
        for (unsigned k = 0; k < erased; k++)
            row[place[k]] = (uint8_t)leat_random_below(&r, FIELD);
        hurt(&r, row, place + erased, wrong);
        for (unsigned k = 0; k < ROW; k++)
            differ += row[k] != sent[k];
        OK(leat_atm_aal1_fec_correct(row, place, erased, &corrected));
        EQ(memcmp(row, sent, ROW), 0);
        EQ(corrected, differ);
    }
}

static void erasures_are_solved_as_the_equations_are(void)
{
    struct leat_random r;
    make_field();
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 1000; i++) {
        uint8_t row[ROW], model[ROW], place[CHECK];
        unsigned corrected;
        leat_random_fill(&r, row, ROW); /* any octets: some codeword fits four erasures */
        memcpy(model, row, ROW);
        random_places(&r, place, CHECK);
        solve_erasures(model, place, CHECK);
        OK(is_codeword(model));
        OK(leat_atm_aal1_fec_correct(row, place, CHECK, &corrected));
        EQ(memcmp(row, model, ROW), 0);
    }
}

static void five_erasures_are_refused(void)
{
    uint8_t row[ROW] = { 1 };
    unsigned corrected;
    OK(!leat_atm_aal1_fec_correct(row, (const uint8_t[]){ 0, 1, 2, 3, 4 }, 5, &corrected));
    EQ(row[0], 1);
}

/* Rows hurt beyond the bound: what comes back must be a codeword or the row untouched. How many of
 * them look like another row follows from the number of codewords of the least weight, which in a
 * code of distance d = n - k + 1 is C(n, d) * 255. */
static void expect_rate(unsigned erased, unsigned wrong, int64_t num, int64_t den)
{
    struct leat_random r;
    const int64_t rounds = LEAT_ROUNDS / 100;
    int64_t silent = 0;
    leat_random_seed(&r, tap_seed() + 10 * erased + wrong);
    for (int64_t i = 0; i < rounds; i++) {
        uint8_t sent[ROW], row[ROW], before[ROW], place[8];
        unsigned corrected;
        random_row(&r, sent);
        memcpy(row, sent, ROW);
        random_places(&r, place, erased + wrong);
        hurt(&r, row, place + erased, wrong);
        memcpy(before, row, ROW);
        if (leat_atm_aal1_fec_correct(row, place, erased, &corrected)) {
            if (silent < 500) OK(is_codeword(row));
            OK(memcmp(row, sent, ROW) != 0);
            silent++;
        } else {
            EQ(memcmp(row, before, ROW), 0);
        }
    }
    const int64_t want = rounds * num / den, off = silent - want;
    if (off * off > 25 * (want + 1)) EQ(silent, want); /* five standard deviations */
}

static void beyond_the_bounds_rows_are_mistaken_as_often_as_theory_says(void)
{
    make_field();
    /* C(128,5) 255 codewords of weight 5, ten triples of places in each: of C(128,3) 255^3. */
    expect_rate(0, 3, 7750, 65025);
    /* Much damage makes the four sums random: 1 + 128*255 + C(128,2)*255^2 of 256^4 are taken. */
    expect_rate(0, 8, 528555841, INT64_C(1) << 32);
    /* One erasure: the (127,124) code corrects one. C(127,4) 255 words of weight 4, none of which
     * is one place from two wrong octets. */
    expect_rate(1, 2, 0, 1);
    /* Two erasures, (126,124): C(126,3) 255 words, three pairs in each, of C(126,2) 255^2. */
    expect_rate(2, 2, 124, 255);
    /* Three erasures: a code that only detects; one wrong octet shows, of two 1 in 255 hides. */
    expect_rate(3, 1, 0, 1);
    expect_rate(3, 2, 1, 255);
    /* Four: nothing is left to detect with. */
    expect_rate(4, 1, 1, 1);
}

TAP_MAIN(T(protected_rows_vanish_at_the_four_roots), T(a_single_one_is_protected_by_the_generator),
         T(within_the_bounds_every_row_comes_back), T(erasures_are_solved_as_the_equations_are),
         T(five_erasures_are_refused),
         T(beyond_the_bounds_rows_are_mistaken_as_often_as_theory_says))
