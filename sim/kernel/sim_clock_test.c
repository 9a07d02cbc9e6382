/* Clock domains, compared with the compiler's arithmetic and with their definition. */
#include "sim_clock.h"
#include "tap.h"
#include <leat/random.h>

static struct leat_sim_clock made(uint64_t num, uint64_t den)
{
    struct leat_sim_clock c = { 0, 0 };
    EQ(leat_sim_clock_init(&c, num, den), LEAT_ERR_OK);
    return c;
}

static void a_third_of_ten_thousand_is_rounded_down_at_every_edge(void)
{
    static const uint64_t edges[] = { 0, 3333, 6666, 10000, 13333, 16666, 20000 };
    const struct leat_sim_clock c = made(10000, 3);
    for (uint64_t k = 0; k < 7; k++) {
        uint64_t at = 1, cycle = 99;
        EQ(leat_sim_clock_edge(&c, k, &at), LEAT_ERR_OK);
        EQ(at, edges[k]);
        EQ(leat_sim_clock_cycle(&c, at, &cycle), LEAT_ERR_OK);
        EQ(cycle, k);
        if (k) EQ(leat_sim_clock_cycle(&c, at - 1, &cycle), LEAT_ERR_OK);
        if (k) EQ(cycle, k - 1);
    }
}

static void a_period_of_nothing_is_refused(void)
{
    struct leat_sim_clock c = { 5, 7 };
    EQ(leat_sim_clock_init(&c, 0, 1), LEAT_ERR_RANGE);
    EQ(leat_sim_clock_init(&c, 1, 0), LEAT_ERR_RANGE);
    EQ(c.num, 5);
    EQ(c.den, 7);
}

static void what_does_not_fit_is_reported(void)
{
    uint64_t out = 42;
    struct leat_sim_clock c = made(10000, 1);
    EQ(leat_sim_clock_edge(&c, UINT64_MAX / 10000, &out), LEAT_ERR_OK);
    EQ(out, UINT64_MAX / 10000 * 10000);
    out = 42;
    EQ(leat_sim_clock_edge(&c, UINT64_MAX / 10000 + 1, &out), LEAT_ERR_RANGE);
    EQ(out, 42);
    c = made(1, 1);
    EQ(leat_sim_clock_edge(&c, LEAT_NEVER, &out), LEAT_ERR_RANGE); /* never is no time */
    EQ(leat_sim_clock_edge(&c, LEAT_NEVER - 1, &out), LEAT_ERR_OK);
    EQ(out, LEAT_NEVER - 1);
    c = made(1, 3);
    out = 42;
    EQ(leat_sim_clock_cycle(&c, UINT64_MAX / 2, &out), LEAT_ERR_RANGE);
    EQ(out, 42);
    EQ(leat_sim_clock_cycle(&c, 10, &out), LEAT_ERR_OK);
    EQ(out, 32); /* three edges to a picosecond: 30, 31 and 32 */
    EQ(leat_sim_clock_cycle(&c, 0, &out), LEAT_ERR_OK);
    EQ(out, 2);
    EQ(leat_sim_clock_last(&c, 10), 32);
    EQ(leat_sim_clock_last(&c, UINT64_MAX / 2), LEAT_NEVER);
    EQ(leat_sim_clock_last(&c, LEAT_NEVER), LEAT_NEVER);
}

static uint64_t draw(struct leat_random *r)
{
    const uint64_t bits = leat_random_next(r);
    return bits >> leat_random_below(r, 64);
}

static void edges_and_cycles_equal_128_bit_arithmetic(void)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    struct leat_random r;
    int bad = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_sim_clock c;
        const uint64_t num = draw(&r), den = draw(&r), k = draw(&r);
        if (leat_sim_clock_init(&c, num, den)) continue;
        uint64_t out = 0;
        u128 want = (u128)k * num / den;
        leat_err err = leat_sim_clock_edge(&c, k, &out);
        bad += want >= LEAT_NEVER ? err != LEAT_ERR_RANGE : err || out != (uint64_t)want;
        if (k == LEAT_NEVER) continue;
        want = (((u128)k + 1) * den - 1) / num;
        err = leat_sim_clock_cycle(&c, k, &out);
        bad += want > UINT64_MAX ? err != LEAT_ERR_RANGE : err || out != (uint64_t)want;
    }
    EQ(bad, 0);
#else
    puts("# skipped: this compiler has no 128-bit numbers to compare with");
#endif
}

static void the_cycle_of_a_time_is_that_of_the_last_edge_before_it(void)
{
    struct leat_random r;
    int bad = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_sim_clock c;
        uint64_t cycle = 0, edge = 0, next = 0;
        const uint64_t num = draw(&r), den = draw(&r);
        if (leat_sim_clock_init(&c, num, den)) continue;
        const uint64_t at = draw(&r);
        if (at == LEAT_NEVER || leat_sim_clock_cycle(&c, at, &cycle)) continue;
        bad += leat_sim_clock_edge(&c, cycle, &edge) || edge > at;
        if (cycle < UINT64_MAX && !leat_sim_clock_edge(&c, cycle + 1, &next)) bad += next <= at;
    }
    EQ(bad, 0);
}

static void the_first_cycle_from_a_time_on_begins_then_or_later(void)
{
    struct leat_random r;
    int bad = 0;
    leat_random_seed(&r, tap_seed() + 2);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct leat_sim_clock c;
        uint64_t edge = 0, before = 0;
        const uint64_t num = draw(&r), den = draw(&r);
        if (leat_sim_clock_init(&c, num, den)) continue;
        const uint64_t at = draw(&r), cycle = leat_sim_clock_cycle_from(&c, at);
        if (cycle == LEAT_NEVER) continue;
        if (!leat_sim_clock_edge(&c, cycle, &edge)) bad += edge < at;
        if (cycle) bad += leat_sim_clock_edge(&c, cycle - 1, &before) || before >= at;
    }
    EQ(bad, 0);
    EQ(leat_sim_clock_cycle_from(&(struct leat_sim_clock){ 50000, 1 }, 100000), 2);
    EQ(leat_sim_clock_cycle_from(&(struct leat_sim_clock){ 50000, 1 }, 100001), 3);
    EQ(leat_sim_clock_cycle_from(&(struct leat_sim_clock){ 50000, 1 }, LEAT_NEVER), LEAT_NEVER);
}

static void clocks_are_read_and_written_as_users_write_them(void)
{
    static const struct {
        const char *text;
        uint64_t num, den;
    } sound[] = { { "50ns", 50000, 1 },   { "0.001ns", 1, 1 },   { "6.25ns", 6250, 1 },
                  { "300MHz", 10000, 3 }, { "20MHz", 50000, 1 }, { "312.5MHz", 3200, 1 },
                  { "1000000MHz", 1, 1 }, { "0.125ns", 125, 1 } };
    static const char *const wrong[] = { "",      "50",          "ns",    "50 ns",     ".5ns",
                                         "5.ns",  "0ns",         "50us",  "1000001ns", "-1ns",
                                         "1e3ns", "1.0000001ns", "50nsx", "50n" };
    struct leat_sim_clock c = { 0, 0 }, again;
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        OK(leat_sim_clock_read(sound[i].text, strlen(sound[i].text), &c));
        EQ(c.num, sound[i].num);
        EQ(c.den, sound[i].den);
        struct leat_text text = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
        leat_sim_clock_put(&c, &text);
        OK(leat_sim_clock_read(text.buf, text.len, &again) && again.num == c.num &&
           again.den == c.den);
    }
    c = (struct leat_sim_clock){ 7, 9 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        OK(!leat_sim_clock_read(wrong[i], strlen(wrong[i]), &c));
    EQ(c.num, 7);
}

static void a_period_below_a_picosecond_is_refused_where_edges_must_differ(void)
{
    struct leat_text why = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    EQ(leat_sim_clock_check(&(struct leat_sim_clock){ 3, 3 }, &why), LEAT_ERR_OK);
    EQ(leat_sim_clock_check(&(struct leat_sim_clock){ 1, 0 }, &why), LEAT_ERR_RANGE);
    why.len = 0;
    EQ(leat_sim_clock_check(&(struct leat_sim_clock){ 2, 3 }, &why), LEAT_ERR_RANGE);
    OK(memcmp(why.buf, "period of the clock, expected 1 ps or more", why.len) == 0);
}

static void an_edge_that_fits_is_a_time(void)
{
    EQ(leat_sim_clock_at(&(struct leat_sim_clock){ 10000, 3 }, 2), 6666);
}

TAP_MAIN(T(clocks_are_read_and_written_as_users_write_them),
         T(a_third_of_ten_thousand_is_rounded_down_at_every_edge),
         T(a_period_of_nothing_is_refused),
         T(a_period_below_a_picosecond_is_refused_where_edges_must_differ),
         T(an_edge_that_fits_is_a_time), T(what_does_not_fit_is_reported),
         T(edges_and_cycles_equal_128_bit_arithmetic),
         T(the_cycle_of_a_time_is_that_of_the_last_edge_before_it),
         T(the_first_cycle_from_a_time_on_begins_then_or_later))
