#include "atm_contract.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { UNIT = LEAT_ATM_RATE_UNIT };

static const struct leat_atm_contract cbr = {
    .class = LEAT_ATM_CBR,
    .pcr = 1000 * UNIT,
    .cdvt_ps = 2000000,
    .ctd_ps = LEAT_NEVER,
    .cdv_ps = LEAT_NEVER,
};
static const struct leat_atm_contract vbr = {
    .class = LEAT_ATM_VBR_RT,
    .pcr = 1000 * UNIT,
    .scr = 250 * UNIT,
    .mbs = 11,
    .cdvt_ps = 2000000,
    .ctd_ps = LEAT_NEVER,
    .cdv_ps = LEAT_NEVER,
};

static struct leat_atm_rules rules_of(const struct leat_atm_contract *c)
{
    struct leat_atm_rules rules = { 0 };
    EQ(leat_atm_contract_rules(c, &rules), LEAT_ERR_OK);
    return rules;
}

static void classes_have_names_and_delay_priorities(void)
{
    static const struct {
        enum leat_atm_class class;
        const char *name;
        unsigned level;
    } want[] = { { LEAT_ATM_CBR, "CBR", 0 },
                 { LEAT_ATM_VBR_RT, "VBR-rt", 0 },
                 { LEAT_ATM_VBR_NRT, "VBR-nrt", 1 },
                 { LEAT_ATM_ABR, "ABR", 2 },
                 { LEAT_ATM_UBR, "UBR", 3 } };
    for (size_t i = 0; i < LEAT_ATM_CLASS_COUNT; i++) {
        OK(strcmp(leat_atm_class_name(want[i].class), want[i].name) == 0);
        EQ(leat_atm_class_level(want[i].class), want[i].level);
    }
    OK(strcmp(leat_atm_class_name(LEAT_ATM_CLASS_COUNT), "?") == 0);
}

static void each_class_has_its_rules(void)
{
    struct leat_atm_rules r = rules_of(&cbr);
    EQ(r.count, 1);
    EQ(r.rule[0].t, 1000000000); /* 1 ms */
    EQ(r.rule[0].tau, 2000000);

    r = rules_of(&vbr);
    EQ(r.count, 2);
    EQ(r.rule[0].t, 1000000000);
    EQ(r.rule[0].tau, 2000000);
    EQ(r.rule[1].t, 4000000000);
    EQ(r.rule[1].tau, 10 * UINT64_C(3000000000) + 2000000); /* BT + CDVT */

    struct leat_atm_contract c = vbr;
    c.class = LEAT_ATM_VBR_NRT;
    EQ(rules_of(&c).count, 2);
    c.class = LEAT_ATM_ABR;
    EQ(rules_of(&c).count, 0);
    c.class = LEAT_ATM_UBR;
    EQ(rules_of(&c).count, 0);
}

/* Thesis 8.6.2: 170.2 cells/s, 2 slots of 149.76 Mb/s. In picoseconds T has its fraction. */
static void the_circuit_of_64_kbit_has_its_interval(void)
{
    const uint64_t rate = 1702 * UNIT / 10;
    const uint64_t slot_fs = UINT64_C(424) * 1000000000000000 / 149760000; /* of 149.76 Mb/s */
    const uint64_t t = leat_atm_rate_interval_ps(rate);
    EQ(t * 1000 * 100 / slot_fs, 207525); /* 2075.25 slots */
    EQ(leat_atm_rate_interval_ps(UNIT), 1000000000000);
    EQ(leat_atm_rate_interval_ps(3 * UNIT), 333333333334); /* rounded up */
    OK(leat_atm_rate_interval_ps(0) == LEAT_NEVER);
}

static void a_burst_of_exactly_mbs_cells_comes_at_the_peak_rate(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i += 1000) {
        struct leat_atm_contract c = vbr;
        c.pcr = (2 + leat_random_below(&r, 100000)) * UNIT;
        c.scr = UNIT + leat_random_below(&r, c.pcr / 2 - UNIT + 1);
        c.mbs = 1 + leat_random_below(&r, 200);
        c.cdvt_ps = 0;
        const struct leat_atm_rules rules = rules_of(&c);
        EQ(leat_atm_gcra_burst_max(&rules.rule[1], rules.rule[0].t), c.mbs);

        struct leat_atm_policer p;
        EQ(leat_atm_policer_init(&p, &rules, LEAT_ATM_POLICE_DROP), LEAT_ERR_OK);
        uint64_t passed = 0;
        while (leat_atm_policer_decide(&p, passed * rules.rule[0].t, false) == LEAT_ATM_PASS)
            passed++;
        EQ(passed, c.mbs);
    }
}

static void contracts_outside_the_limits_are_refused(void)
{
    struct leat_atm_rules untouched = { .count = 77 };
    struct leat_atm_contract c;
#define REFUSED(base, field, value, err)                \
    (c = (base), c.field = (value));                    \
    EQ(leat_atm_contract_check(&c), (err));             \
    EQ(leat_atm_contract_rules(&c, &untouched), (err)); \
    EQ(untouched.count, 77)
    EQ(leat_atm_contract_check(&cbr), LEAT_ERR_OK);
    EQ(leat_atm_contract_check(&vbr), LEAT_ERR_OK);
    REFUSED(cbr, class, LEAT_ATM_CLASS_COUNT, LEAT_ERR_RANGE);
    REFUSED(cbr, pcr, LEAT_ATM_CONTRACT_RATE_MIN - 1, LEAT_ERR_RANGE);
    REFUSED(cbr, pcr, LEAT_ATM_CONTRACT_RATE_MAX + 1, LEAT_ERR_RANGE);
    REFUSED(cbr, cdvt_ps, LEAT_ATM_CONTRACT_CDVT_PS_MAX + 1, LEAT_ERR_RANGE);
    REFUSED(cbr, clr_e12, LEAT_ATM_CLR_ONE + 1, LEAT_ERR_RANGE);
    REFUSED(vbr, scr, vbr.pcr + 1, LEAT_ERR_RANGE);
    REFUSED(vbr, scr, LEAT_ATM_CONTRACT_RATE_MIN - 1, LEAT_ERR_RANGE);
    REFUSED(vbr, mbs, 0, LEAT_ERR_RANGE);
    REFUSED(vbr, mbs, LEAT_ATM_CONTRACT_MBS_MAX + 1, LEAT_ERR_RANGE);
    struct leat_atm_contract other = vbr;
    other.class = LEAT_ATM_ABR;
    REFUSED(other, mcr, vbr.pcr + 1, LEAT_ERR_RANGE);
    other.class = LEAT_ATM_VBR_NRT;
    REFUSED(other, cdv_ps, 5, LEAT_ERR_FIELD); /* thesis 8.6.3.2 */
#undef REFUSED
}

/* The widest contract: its rules still keep the limits of the GCRA. */
static void the_limits_leave_room_for_the_arithmetic(void)
{
    const struct leat_atm_contract c = { .class = LEAT_ATM_VBR_RT,
                                         .pcr = LEAT_ATM_CONTRACT_RATE_MAX,
                                         .scr = LEAT_ATM_CONTRACT_RATE_MIN,
                                         .mbs = LEAT_ATM_CONTRACT_MBS_MAX,
                                         .cdvt_ps = LEAT_ATM_CONTRACT_CDVT_PS_MAX };
    const struct leat_atm_rules r = rules_of(&c);
    EQ(r.rule[0].t, 233); /* 512 * 10^12 / 2^41, rounded up */
    EQ(r.rule[1].tau, UINT64_C(1048575) * (UINT64_C(1000000000000) - 233) + 1000000000000);
    EQ(leat_atm_gcra_check(&r.rule[1]), LEAT_ERR_OK);
}

static void cells_that_do_not_conform_are_dropped_or_tagged(void)
{
    const struct leat_atm_rules rules = { .count = 1, .rule = { { 10, 2 } } };
    struct leat_atm_policer drop, tag;
    EQ(leat_atm_policer_init(&drop, &rules, LEAT_ATM_POLICE_DROP), LEAT_ERR_OK);
    EQ(leat_atm_policer_init(&tag, &rules, LEAT_ATM_POLICE_TAG), LEAT_ERR_OK);
    EQ(leat_atm_policer_decide(&drop, 0, false), LEAT_ATM_PASS);
    EQ(leat_atm_policer_decide(&drop, 1, false), LEAT_ATM_DROP);
    EQ(leat_atm_policer_decide(&drop, 8, true), LEAT_ATM_PASS);
    EQ(leat_atm_policer_decide(&tag, 0, true), LEAT_ATM_PASS);
    EQ(leat_atm_policer_decide(&tag, 1, false), LEAT_ATM_TAG);
    EQ(leat_atm_policer_decide(&tag, 2, true), LEAT_ATM_DROP);  /* tagged already */
    EQ(leat_atm_policer_decide(&tag, 8, false), LEAT_ATM_PASS); /* a tagged cell takes no credit */
    EQ(tag.counts[LEAT_ATM_PASS], 2);
    EQ(tag.counts[LEAT_ATM_TAG], 1);
    EQ(tag.counts[LEAT_ATM_DROP], 1);
}

/* Note, 3.1: both buckets are updated only if both conform. */
static void a_cell_counts_in_both_buckets_or_in_none(void)
{
    const struct leat_atm_rules rules = { .count = 2, .rule = { { 10, 0 }, { 30, 40 } } };
    struct leat_atm_policer p;
    EQ(leat_atm_policer_init(&p, &rules, LEAT_ATM_POLICE_DROP), LEAT_ERR_OK);
    EQ(leat_atm_policer_decide(&p, 0, false), LEAT_ATM_PASS);
    EQ(leat_atm_policer_decide(&p, 5, false), LEAT_ATM_DROP); /* peak; the other is not charged */
    EQ(leat_atm_policer_decide(&p, 10, false), LEAT_ATM_PASS);
    EQ(leat_atm_policer_decide(&p, 20, false), LEAT_ATM_PASS); /* TAT of the second: 90 */
    EQ(leat_atm_policer_decide(&p, 49, false), LEAT_ATM_DROP); /* the peak rate is not charged, */
    EQ(leat_atm_policer_decide(&p, 50, false), LEAT_ATM_PASS); /* so this one conforms */
}

static void a_connection_without_rules_is_free(void)
{
    const struct leat_atm_rules none = { 0 };
    struct leat_atm_policer p;
    struct leat_atm_shaper s;
    EQ(leat_atm_policer_init(&p, &none, LEAT_ATM_POLICE_DROP), LEAT_ERR_OK);
    EQ(leat_atm_shaper_init(&s, &none), LEAT_ERR_OK);
    for (int i = 0; i < 5; i++) {
        EQ(leat_atm_policer_decide(&p, 7, false), LEAT_ATM_PASS);
        EQ(leat_atm_shaper_decide(&s, 7), 7);
    }
}

static void wrong_rules_are_refused(void)
{
    struct leat_atm_policer p;
    struct leat_atm_shaper s;
    const struct leat_atm_rules many = { .count = 3 };
    const struct leat_atm_rules zero = { .count = 2, .rule = { { 10, 0 }, { 0, 0 } } };
    EQ(leat_atm_policer_init(&p, &many, LEAT_ATM_POLICE_DROP), LEAT_ERR_RANGE);
    EQ(leat_atm_policer_init(&p, &zero, LEAT_ATM_POLICE_TAG), LEAT_ERR_RANGE);
    EQ(leat_atm_shaper_init(&s, &many), LEAT_ERR_RANGE);
    EQ(leat_atm_shaper_init(&s, &zero), LEAT_ERR_RANGE);
}

/* Note, 3.1: a cell leaves at max(t, TAT - tau); here the nine cells of Fig. 8.30. */
static void the_shaper_delays_what_the_policer_would_drop(void)
{
    static const uint64_t leaves[] = { 100, 110, 120, 130, 140, 150, 200, 300, 400 };
    const struct leat_atm_rules rules = { .count = 1, .rule = { { 100, 500 } } };
    struct leat_atm_shaper s;
    EQ(leat_atm_shaper_init(&s, &rules), LEAT_ERR_OK);
    for (uint64_t i = 0; i < 9; i++)
        EQ(leat_atm_shaper_decide(&s, 100 + 10 * i), leaves[i]);

    const struct leat_atm_rules dual = { .count = 2, .rule = { { 10, 0 }, { 40, 60 } } };
    static const uint64_t dual_leaves[] = { 0, 10, 20, 60, 100, 140 }; /* MBS = 3, then 1/SCR */
    EQ(leat_atm_shaper_init(&s, &dual), LEAT_ERR_OK);
    for (uint64_t i = 0; i < 6; i++)
        EQ(leat_atm_shaper_decide(&s, 0), dual_leaves[i]);
}

static void the_shaper_keeps_the_order(void)
{
    const struct leat_atm_rules rules = { .count = 1, .rule = { { 10, 5 } } };
    struct leat_atm_shaper s;
    EQ(leat_atm_shaper_init(&s, &rules), LEAT_ERR_OK);
    EQ(leat_atm_shaper_decide(&s, 0), 0);
    EQ(leat_atm_shaper_decide(&s, 0), 5);
    EQ(leat_atm_shaper_decide(&s, 1), 15);
    EQ(leat_atm_shaper_decide(&s, 100), 100);
    EQ(leat_atm_shaper_decide(&s, 100), 105);
}

static void a_shaper_at_the_end_of_time_says_never(void)
{
    const struct leat_atm_rules rules = { .count = 2, .rule = { { 10, 0 }, { 20, 30 } } };
    struct leat_atm_shaper s;
    EQ(leat_atm_shaper_init(&s, &rules), LEAT_ERR_OK);
    OK(leat_atm_shaper_decide(&s, UINT64_MAX - 15) == UINT64_MAX - 15);
    OK(leat_atm_shaper_decide(&s, UINT64_MAX - 15) == UINT64_MAX - 5);
    const struct leat_atm_shaper before = s;
    OK(leat_atm_shaper_decide(&s, UINT64_MAX - 4) == LEAT_NEVER);
    OK(s.last_at == before.last_at && s.state[1].tat == before.state[1].tat);
}

/* Plain search: unit by unit, the first time at which both rules of the note hold. */
struct plain {
    int64_t tat[2], last;
};

static int64_t plain_leaves(struct plain *p, const struct leat_atm_rules *rules, int64_t now)
{
    int64_t at = now > p->last ? now : p->last;
    for (bool ok = false; !ok; at += !ok) {
        ok = true;
        for (unsigned i = 0; i < rules->count; i++)
            ok = ok && at >= p->tat[i] - (int64_t)rules->rule[i].tau;
    }
    for (unsigned i = 0; i < rules->count; i++)
        p->tat[i] = (p->tat[i] > at ? p->tat[i] : at) + (int64_t)rules->rule[i].t;
    return p->last = at;
}

static void shaped_cells_leave_as_early_as_they_conform(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i += 50) {
        struct leat_atm_rules rules = { .count = 1 + (unsigned)leat_random_below(&r, 2) };
        rules.rule[0].t = 1 + leat_random_below(&r, 10);
        rules.rule[0].tau = leat_random_below(&r, 20);
        rules.rule[1].t = 1 + leat_random_below(&r, 30);
        rules.rule[1].tau = leat_random_below(&r, 90);
        struct leat_atm_shaper s;
        struct leat_atm_policer p;
        struct plain plain = { 0 };
        EQ(leat_atm_shaper_init(&s, &rules), LEAT_ERR_OK);
        EQ(leat_atm_policer_init(&p, &rules, LEAT_ATM_POLICE_DROP), LEAT_ERR_OK);
        uint64_t now = leat_random_below(&r, 50);
        for (int k = 0; k < 50; k++) {
            const uint64_t at = leat_atm_shaper_decide(&s, now);
            EQ(at, plain_leaves(&plain, &rules, (int64_t)now));
            EQ(leat_atm_policer_decide(&p, at, false), LEAT_ATM_PASS);
            now += leat_random_below(&r, leat_random_below(&r, 10) ? 8 : 200);
        }
    }
}

TAP_MAIN(T(classes_have_names_and_delay_priorities), T(each_class_has_its_rules),
         T(the_circuit_of_64_kbit_has_its_interval),
         T(a_burst_of_exactly_mbs_cells_comes_at_the_peak_rate),
         T(contracts_outside_the_limits_are_refused), T(the_limits_leave_room_for_the_arithmetic),
         T(cells_that_do_not_conform_are_dropped_or_tagged),
         T(a_cell_counts_in_both_buckets_or_in_none), T(a_connection_without_rules_is_free),
         T(wrong_rules_are_refused), T(the_shaper_delays_what_the_policer_would_drop),
         T(the_shaper_keeps_the_order), T(a_shaper_at_the_end_of_time_says_never),
         T(shaped_cells_leave_as_early_as_they_conform))
