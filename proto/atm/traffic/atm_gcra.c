#include "atm_gcra.h"
#include <assert.h>

leat_err leat_atm_gcra_check(const struct leat_atm_gcra *rule)
{
    return rule->t < 1 || rule->t > UINT64_MAX - rule->tau ? LEAT_ERR_RANGE : LEAT_ERR_OK;
}

/*
 * max(0, TAT - now). It fits: TAT is at most tau + T after the last conforming cell, and now is not
 * before that cell. So the difference is correct although TAT itself may need a 65th bit.
 */
static uint64_t ahead(const struct leat_atm_gcra_schedule *state, uint64_t now)
{
    return state->beyond || state->tat > now ? state->tat - now : 0;
}

bool leat_atm_gcra_schedule_conforms(const struct leat_atm_gcra *rule,
                                     const struct leat_atm_gcra_schedule *state, uint64_t now)
{
    return ahead(state, now) <= rule->tau;
}

void leat_atm_gcra_schedule_take(const struct leat_atm_gcra *rule,
                                 struct leat_atm_gcra_schedule *state, uint64_t now)
{
    assert(leat_atm_gcra_schedule_conforms(rule, state, now));
    state->tat = now + (ahead(state, now) + rule->t);
    state->beyond = state->tat < now;
}

bool leat_atm_gcra_schedule_decide(const struct leat_atm_gcra *rule,
                                   struct leat_atm_gcra_schedule *state, uint64_t now)
{
    if (!leat_atm_gcra_schedule_conforms(rule, state, now)) return false;
    leat_atm_gcra_schedule_take(rule, state, now);
    return true;
}

uint64_t leat_atm_gcra_schedule_due(const struct leat_atm_gcra *rule,
                                    const struct leat_atm_gcra_schedule *state, uint64_t now)
{
    const uint64_t lead = ahead(state, now);
    return lead > rule->tau ? leat_time_add(now, lead - rule->tau) : now;
}

/* max(0, X'). */
static uint64_t leaked(const struct leat_atm_gcra_bucket *state, uint64_t now)
{
    assert(now >= state->lct);
    const uint64_t passed = now - state->lct;
    return state->x > passed ? state->x - passed : 0;
}

bool leat_atm_gcra_bucket_conforms(const struct leat_atm_gcra *rule,
                                   const struct leat_atm_gcra_bucket *state, uint64_t now)
{
    return leaked(state, now) <= rule->tau;
}

void leat_atm_gcra_bucket_take(const struct leat_atm_gcra *rule, struct leat_atm_gcra_bucket *state,
                               uint64_t now)
{
    assert(leat_atm_gcra_bucket_conforms(rule, state, now));
    state->x = leaked(state, now) + rule->t;
    state->lct = now;
}

bool leat_atm_gcra_bucket_decide(const struct leat_atm_gcra *rule,
                                 struct leat_atm_gcra_bucket *state, uint64_t now)
{
    if (!leat_atm_gcra_bucket_conforms(rule, state, now)) return false;
    leat_atm_gcra_bucket_take(rule, state, now);
    return true;
}

uint64_t leat_atm_gcra_burst_max(const struct leat_atm_gcra *rule, uint64_t spacing)
{
    if (spacing >= rule->t) return LEAT_ATM_GCRA_UNLIMITED;
    return rule->tau / (rule->t - spacing) + 1;
}

uint64_t leat_atm_gcra_burst_repeat_max(const struct leat_atm_gcra *rule, uint64_t spacing,
                                        uint64_t gap)
{
    if (spacing >= rule->t) return LEAT_ATM_GCRA_UNLIMITED;
    if (gap < rule->t) return 0;
    const uint64_t room = gap - rule->t < rule->tau ? gap - rule->t : rule->tau;
    return room / (rule->t - spacing) + 1;
}
