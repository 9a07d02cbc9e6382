#include "atm_contract.h"
#include <assert.h>

static const struct {
    const char *name;
    unsigned level;
    unsigned rule_count;
} classes[LEAT_ATM_CLASS_COUNT] = {
    [LEAT_ATM_CBR] = { "CBR", 0, 1 },         [LEAT_ATM_VBR_RT] = { "VBR-rt", 0, 2 },
    [LEAT_ATM_VBR_NRT] = { "VBR-nrt", 1, 2 }, [LEAT_ATM_ABR] = { "ABR", 2, 0 },
    [LEAT_ATM_UBR] = { "UBR", 3, 0 },
};

static bool is_class(enum leat_atm_class class)
{
    return (unsigned)class < LEAT_ATM_CLASS_COUNT;
}

const char *leat_atm_class_name(enum leat_atm_class class)
{
    return is_class(class) ? classes[class].name : "?";
}

unsigned leat_atm_class_level(enum leat_atm_class class)
{
    assert(is_class(class));
    return classes[class].level;
}

static bool rates_fit(const struct leat_atm_contract *c)
{
    if (c->class == LEAT_ATM_UBR) return true;
    if (c->pcr < LEAT_ATM_CONTRACT_RATE_MIN || c->pcr > LEAT_ATM_CONTRACT_RATE_MAX) return false;
    if (c->class == LEAT_ATM_ABR) return c->mcr <= c->pcr;
    if (classes[c->class].rule_count < 2) return true;
    return c->scr >= LEAT_ATM_CONTRACT_RATE_MIN && c->scr <= c->pcr && c->mbs >= 1 &&
           c->mbs <= LEAT_ATM_CONTRACT_MBS_MAX;
}

leat_err leat_atm_contract_check(const struct leat_atm_contract *contract)
{
    if (!is_class(contract->class) || !rates_fit(contract)) return LEAT_ERR_RANGE;
    if (classes[contract->class].rule_count > 0 &&
        contract->cdvt_ps > LEAT_ATM_CONTRACT_CDVT_PS_MAX)
        return LEAT_ERR_RANGE;
    if (contract->clr_e12 > LEAT_ATM_CLR_ONE) return LEAT_ERR_RANGE;
    /* thesis 8.6.3.2: VBR-nrt is VBR-rt without the CDV */
    if (contract->class == LEAT_ATM_VBR_NRT && contract->cdv_ps != LEAT_NEVER)
        return LEAT_ERR_FIELD;
    return LEAT_ERR_OK;
}

leat_time leat_atm_rate_interval_ps(uint64_t rate)
{
    const uint64_t second = LEAT_ATM_SECOND_PS * LEAT_ATM_RATE_UNIT;
    return rate ? second / rate + (second % rate != 0) : LEAT_NEVER;
}

leat_err leat_atm_contract_rules(const struct leat_atm_contract *contract,
                                 struct leat_atm_rules *out)
{
    const leat_err err = leat_atm_contract_check(contract);
    if (err != LEAT_ERR_OK) return err;

    *out = (struct leat_atm_rules){ .count = classes[contract->class].rule_count };
    if (out->count > 0) {
        out->rule[0].t = leat_atm_rate_interval_ps(contract->pcr);
        out->rule[0].tau = contract->cdvt_ps;
    }
    if (out->count > 1) { /* by the limits: at most 2^20 times 2^40, and 2^40 more */
        out->rule[1].t = leat_atm_rate_interval_ps(contract->scr);
        const uint64_t bt = (contract->mbs - 1) * (out->rule[1].t - out->rule[0].t);
        out->rule[1].tau = bt + contract->cdvt_ps;
    }
    return LEAT_ERR_OK;
}

static leat_err rules_check(const struct leat_atm_rules *rules)
{
    if (rules->count > LEAT_ATM_RULES_MAX) return LEAT_ERR_RANGE;
    for (unsigned i = 0; i < rules->count; i++)
        if (leat_atm_gcra_check(&rules->rule[i]) != LEAT_ERR_OK) return LEAT_ERR_RANGE;
    return LEAT_ERR_OK;
}

leat_err leat_atm_policer_init(struct leat_atm_policer *policer, const struct leat_atm_rules *rules,
                               enum leat_atm_police police)
{
    const leat_err err = rules_check(rules);
    if (err == LEAT_ERR_OK)
        *policer = (struct leat_atm_policer){ .rules = *rules, .police = police };
    return err;
}

static bool all_conform(const struct leat_atm_rules *rules,
                        const struct leat_atm_gcra_schedule *state, uint64_t now)
{
    for (unsigned i = 0; i < rules->count; i++)
        if (!leat_atm_gcra_schedule_conforms(&rules->rule[i], &state[i], now)) return false;
    return true;
}

static void all_take(const struct leat_atm_rules *rules, struct leat_atm_gcra_schedule *state,
                     uint64_t now)
{
    for (unsigned i = 0; i < rules->count; i++)
        leat_atm_gcra_schedule_take(&rules->rule[i], &state[i], now);
}

enum leat_atm_verdict leat_atm_policer_decide(struct leat_atm_policer *policer, uint64_t now,
                                              bool clp)
{
    enum leat_atm_verdict verdict = LEAT_ATM_PASS;
    if (all_conform(&policer->rules, policer->state, now))
        all_take(&policer->rules, policer->state, now);
    else
        verdict = policer->police == LEAT_ATM_POLICE_TAG && !clp ? LEAT_ATM_TAG : LEAT_ATM_DROP;
    policer->counts[verdict]++;
    return verdict;
}

leat_err leat_atm_shaper_init(struct leat_atm_shaper *shaper, const struct leat_atm_rules *rules)
{
    const leat_err err = rules_check(rules);
    if (err == LEAT_ERR_OK) *shaper = (struct leat_atm_shaper){ .rules = *rules };
    return err;
}

uint64_t leat_atm_shaper_decide(struct leat_atm_shaper *shaper, uint64_t now)
{
    /* With tolerance TAT - tau may lie before the last departure: this keeps the order. */
    uint64_t at = now > shaper->last_at ? now : shaper->last_at;
    for (unsigned i = 0; i < shaper->rules.count; i++)
        at = leat_atm_gcra_schedule_due(&shaper->rules.rule[i], &shaper->state[i], at);
    if (!all_conform(&shaper->rules, shaper->state, at)) return LEAT_NEVER;
    all_take(&shaper->rules, shaper->state, at);
    shaper->last_at = at;
    return at;
}
