#include "atm_gcra.h"
#include "tap.h"
#include <leat/random.h>
#include <stddef.h>

/* Decides both forms; they must agree. */
struct both {
    struct leat_atm_gcra rule;
    struct leat_atm_gcra_schedule s;
    struct leat_atm_gcra_bucket b;
};

static bool decide(struct both *g, uint64_t now)
{
    const bool conforms = leat_atm_gcra_schedule_decide(&g->rule, &g->s, now);
    OK(leat_atm_gcra_bucket_decide(&g->rule, &g->b, now) == conforms);
    return conforms;
}

/* Arrivals of a worked example; `bad` lists those that do not conform. */
struct example {
    struct leat_atm_gcra rule;
    uint64_t at[16];
    size_t count;
    uint64_t bad[4];
};

static void check_example(const struct example *e)
{
    struct both g = { .rule = e->rule };
    for (size_t i = 0, b = 0; i < e->count; i++) {
        const bool bad = e->at[i] == e->bad[b] && e->bad[b] != 0;
        b += bad;
        EQ(decide(&g, e->at[i]), !bad);
    }
}

/* Note, 3.1 (Fig. 8.28): GCRA(10, 2). */
static void the_four_cases_of_t_10_tau_2(void)
{
    static const struct example examples[] = {
        { { 10, 2 }, { 0, 10, 20, 30, 40 }, 5, { 0 } },
        { { 10, 2 }, { 0, 8, 18, 28, 40 }, 5, { 0 } },
        { { 10, 2 }, { 0, 8, 17, 28, 36 }, 5, { 17 } },
        { { 10, 2 }, { 0, 12, 20, 28, 40 }, 5, { 28 } },
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check_example(&examples[i]);
    EQ(leat_atm_gcra_burst_max(&examples[0].rule, 1), 1);
}

/* Note, 3.1 (Figs 8.29 and 8.30): GCRA(100, 500). */
static void bursts_with_spacing_10_and_30(void)
{
    static const struct example ten = {
        { 100, 500 }, { 100, 110, 120, 130, 140, 150, 160, 170, 180 }, 9, { 160, 170, 180 }
    };
    static const struct example thirty = {
        { 100, 500 }, { 100, 130, 160, 190, 220, 250, 280, 310, 340 }, 9, { 340 }
    };
    check_example(&ten);
    check_example(&thirty);
    EQ(leat_atm_gcra_burst_max(&ten.rule, 10), 6);
    EQ(leat_atm_gcra_burst_max(&ten.rule, 30), 8);
}

/* Note, 3.1 (Fig. 8.31): bursts of 3 with spacing 10; only the cell at 1420 does not conform. */
static void bursts_with_spacing_and_interburst(void)
{
    static const uint64_t starts[] = { 0, 300, 600, 800, 1000, 1200, 1400 };
    struct both g = { .rule = { 100, 500 } };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (uint64_t k = 0; k < 3; k++)
            EQ(decide(&g, starts[i] + 10 * k), starts[i] + 10 * k != 1420);
    EQ(leat_atm_gcra_burst_repeat_max(&g.rule, 10, 300), 3);
    EQ(leat_atm_gcra_burst_repeat_max(&g.rule, 10, 200), 2);
}

/*
 * Note, 3.1: 64 kb/s in cells of 47 octets is 170.2 cells/s; a link of 149.76 Mb/s has 353207.5
 * slots per second, T = 2075.25 slots. In quarters of a slot that is the whole number 8301.
 */
static void an_interval_with_a_fraction_is_whole_in_parts_of_a_slot(void)
{
    enum { PARTS = 4, T_PARTS = 8301, CELLS = 100000 };
    /* T = (149760000 / 424) / 170.2, rounded to the nearest part */
    const uint64_t bits = UINT64_C(149760000) * 10 * PARTS, per = UINT64_C(424) * 1702;
    EQ((bits + per / 2) / per, T_PARTS);

    /* Cells leave in the slot that follows each multiple of T: they need a slot's tolerance. */
    struct both exact = { .rule = { T_PARTS, PARTS } };
    struct both coarse = { .rule = { 2076, 1 } }; /* in slots, T rounded up */
    uint64_t coarse_bad = 0;
    for (uint64_t k = 0; k < CELLS; k++) {
        const uint64_t slot = (k * T_PARTS + PARTS - 1) / PARTS;
        OK(decide(&exact, slot * PARTS));
        coarse_bad += !decide(&coarse, slot);
    }
    OK(coarse_bad > 0); /* a T in whole slots would drop cells of a conforming source */

    /* One cell in 2075 slots is too fast, and is detected within CDVT / 0.25 cells. */
    struct both fast = { .rule = { T_PARTS, 2 * PARTS } }; /* CDVT 2 slots, as in thesis 8.6.2 */
    for (uint64_t k = 0; k < 9; k++)
        OK(decide(&fast, k * 2075 * PARTS));
    OK(!decide(&fast, 9 * UINT64_C(2075) * PARTS));
}

static void the_first_cell_conforms_at_any_time(void)
{
    static const uint64_t times[] = { 0, 1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct both g = { .rule = { 10, 0 } };
        OK(decide(&g, times[i]));
        OK(!decide(&g, times[i])); /* the second needs an interval */
    }
}

static void a_cell_that_does_not_conform_changes_nothing(void)
{
    struct both g = { .rule = { 10, 2 } };
    OK(decide(&g, 100));
    for (uint64_t t = 100; t < 108; t++)
        OK(!decide(&g, t));
    EQ(g.s.tat, 110);
    EQ(g.b.x, 10);
    EQ(g.b.lct, 100);
    OK(decide(&g, 108));
}

static void limits_of_a_rule_are_checked(void)
{
    EQ(leat_atm_gcra_check(&(struct leat_atm_gcra){ 0, 5 }), LEAT_ERR_RANGE);
    EQ(leat_atm_gcra_check(&(struct leat_atm_gcra){ 1, 0 }), LEAT_ERR_OK);
    EQ(leat_atm_gcra_check(&(struct leat_atm_gcra){ 1, UINT64_MAX - 1 }), LEAT_ERR_OK);
    EQ(leat_atm_gcra_check(&(struct leat_atm_gcra){ 1, UINT64_MAX }), LEAT_ERR_RANGE);
    EQ(leat_atm_gcra_check(&(struct leat_atm_gcra){ UINT64_MAX, 1 }), LEAT_ERR_RANGE);
}

/* The rule of the note in integers that cannot overflow. */
__extension__ typedef __int128 wide;

struct model {
    wide t, tau, tat;
};

static bool model_decides(struct model *m, uint64_t now)
{
    if ((wide)now < m->tat - m->tau) return false;
    m->tat = ((wide)now > m->tat ? (wide)now : m->tat) + m->t;
    return true;
}

/* Magnitudes of all sizes: a random number of random bits. */
static uint64_t any_size(struct leat_random *r)
{
    const uint64_t bits = leat_random_next(r);
    return bits >> leat_random_below(r, 64);
}

static struct leat_atm_gcra any_rule(struct leat_random *r)
{
    struct leat_atm_gcra rule;
    do {
        const unsigned bits = 1 + (unsigned)leat_random_below(r, 64);
        rule.t = 1 + (leat_random_next(r) >> (64 - bits));
        rule.tau = leat_random_below(r, 4) ? leat_random_next(r) >> (64 - bits) : any_size(r);
    } while (leat_atm_gcra_check(&rule) != LEAT_ERR_OK);
    return rule;
}

static void both_forms_decide_as_unbounded_integers_do(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    uint64_t conforming = 0, other = 0;
    for (long i = 0; i < LEAT_ROUNDS; i += 20) {
        struct both g = { .rule = any_rule(&r) };
        struct model m = { .t = (wide)g.rule.t, .tau = (wide)g.rule.tau };
        /* now and then so late that time ends during the run */
        uint64_t now = leat_random_below(&r, 2) ? any_size(&r) : UINT64_MAX - any_size(&r);
        for (int k = 0; k < 20; k++) {
            const uint64_t due = leat_atm_gcra_schedule_due(&g.rule, &g.s, now);
            const wide want = m.tat - m.tau > (wide)now ? m.tat - m.tau : (wide)now;
            OK(want > (wide)UINT64_MAX ? due == LEAT_NEVER : (wide)due == want);

            const bool conforms = model_decides(&m, now);
            OK(leat_atm_gcra_schedule_conforms(&g.rule, &g.s, now) == conforms);
            OK(leat_atm_gcra_bucket_conforms(&g.rule, &g.b, now) == conforms);
            OK(decide(&g, now) == conforms);
            OK((wide)g.b.lct + (wide)g.b.x == m.tat);
            OK((wide)g.s.tat + ((wide)g.s.beyond << 64) == m.tat);
            conforming += conforms;
            other += !conforms;
            /* gaps near the limit of the rule, and some of any size */
            const uint64_t gap = leat_random_below(&r, 8) ? leat_random_below(&r, g.rule.t)
                                                          : any_size(&r);
            now = leat_time_add(now, gap);
        }
    }
    OK(conforming > (uint64_t)LEAT_ROUNDS / 10 && other > (uint64_t)LEAT_ROUNDS / 10);
}

static void a_check_and_a_take_are_one_decision(void)
{
    const struct leat_atm_gcra rule = { 7, 20 };
    struct leat_atm_gcra_schedule s = { 0 };
    struct leat_atm_gcra_bucket b = { 0 };
    struct both g = { .rule = rule };
    for (uint64_t now = 0; now < 200; now += 3) {
        const bool conforms = leat_atm_gcra_schedule_conforms(&rule, &s, now);
        if (conforms) {
            leat_atm_gcra_schedule_take(&rule, &s, now);
            leat_atm_gcra_bucket_take(&rule, &b, now);
        }
        OK(decide(&g, now) == conforms);
        EQ(s.tat, g.s.tat);
        EQ(b.x, g.b.x);
    }
}

/* Sends a burst and counts cells until one does not conform. */
static uint64_t longest_burst(struct leat_atm_gcra rule, uint64_t spacing)
{
    struct both g = { .rule = rule };
    uint64_t count = 0;
    while (decide(&g, 5 + count * spacing))
        count++;
    return count;
}

/* Bursts of `size`, so many of them that the least growth from burst to burst shows. */
static bool bursts_repeat(struct leat_atm_gcra rule, uint64_t spacing, uint64_t gap, uint64_t size)
{
    struct both g = { .rule = rule };
    uint64_t now = 0;
    for (uint64_t burst = 0; burst < rule.tau + 3; burst++, now += gap)
        for (uint64_t k = 0; k < size; k++) {
            now += k ? spacing : 0;
            if (!decide(&g, now)) return false;
        }
    return true;
}

static void closed_forms_are_what_brute_force_finds(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i += 2000) {
        struct leat_atm_gcra rule = { .t = 2 + leat_random_below(&r, 30) };
        rule.tau = leat_random_below(&r, 100);
        const uint64_t spacing = leat_random_below(&r, rule.t);
        const uint64_t gap = leat_random_below(&r, 3 * rule.t + rule.tau);
        EQ(leat_atm_gcra_burst_max(&rule, spacing), longest_burst(rule, spacing));

        const uint64_t size = leat_atm_gcra_burst_repeat_max(&rule, spacing, gap);
        OK(bursts_repeat(rule, spacing, gap, size));
        OK(!bursts_repeat(rule, spacing, gap, size + 1));
    }
}

static void without_a_limit_the_closed_forms_say_so(void)
{
    const struct leat_atm_gcra rule = { 10, 2 };
    OK(leat_atm_gcra_burst_max(&rule, 10) == LEAT_ATM_GCRA_UNLIMITED);
    OK(leat_atm_gcra_burst_repeat_max(&rule, 11, 0) == LEAT_ATM_GCRA_UNLIMITED);
    EQ(leat_atm_gcra_burst_repeat_max(&rule, 1, 9), 0);
    EQ(leat_atm_gcra_burst_repeat_max(&rule, 1, 10), 1);
}

TAP_MAIN(T(the_four_cases_of_t_10_tau_2), T(bursts_with_spacing_10_and_30),
         T(bursts_with_spacing_and_interburst),
         T(an_interval_with_a_fraction_is_whole_in_parts_of_a_slot),
         T(the_first_cell_conforms_at_any_time), T(a_cell_that_does_not_conform_changes_nothing),
         T(limits_of_a_rule_are_checked), T(both_forms_decide_as_unbounded_integers_do),
         T(a_check_and_a_take_are_one_decision), T(closed_forms_are_what_brute_force_finds),
         T(without_a_limit_the_closed_forms_say_so))
