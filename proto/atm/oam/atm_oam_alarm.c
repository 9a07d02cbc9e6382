#include "atm_oam_alarm.h"
#include <assert.h>
#include <string.h>

enum { LOC = LEAT_ATM_OAM_IN_LOC, AIS = LEAT_ATM_OAM_IN_AIS, RDI = LEAT_ATM_OAM_IN_RDI };

/* In the specific field. */
enum { LOCATION_AT = 1, UNUSED_AT = LOCATION_AT + LEAT_ATM_OAM_PLACE_LEN };

/* ---- cells ----------------------------------------------------------------------------------- */

static const struct leat_atm_oam_defect unknown = {
    LEAT_ATM_FILL,
    { LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL,
      LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL,
      LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL, LEAT_ATM_FILL }
};

void leat_atm_oam_defect_put(unsigned function, const struct leat_atm_oam_defect *defect,
                             struct leat_atm_oam *out)
{
    out->type = LEAT_ATM_OAM_FAULT;
    out->function = (uint8_t)function;
    out->specific[0] = defect->type;
    memcpy(out->specific + LOCATION_AT, defect->location, LEAT_ATM_OAM_PLACE_LEN);
    memset(out->specific + UNUSED_AT, LEAT_ATM_FILL, LEAT_ATM_OAM_SPECIFIC_LEN - UNUSED_AT);
}

bool leat_atm_oam_defect_get(const struct leat_atm_oam *oam, struct leat_atm_oam_defect *out)
{
    if (oam->type != LEAT_ATM_OAM_FAULT) return false;
    if (oam->function != LEAT_ATM_OAM_AIS && oam->function != LEAT_ATM_OAM_RDI) return false;
    out->type = oam->specific[0];
    memcpy(out->location, oam->specific + LOCATION_AT, LEAT_ATM_OAM_PLACE_LEN);
    return true;
}

void leat_atm_oam_check_put(struct leat_atm_oam *out)
{
    *out = (struct leat_atm_oam){ .type = LEAT_ATM_OAM_FAULT, .function = LEAT_ATM_OAM_CHECK };
    memset(out->specific, LEAT_ATM_FILL, sizeof out->specific);
}

/* ---- states ---------------------------------------------------------------------------------- */

void leat_atm_oam_alarm_init(struct leat_atm_oam_alarm *alarm, uint64_t period, bool checks,
                             uint64_t now)
{
    assert(period >= LEAT_ATM_OAM_PERIOD_MIN && period <= LEAT_ATM_OAM_PERIOD_MAX);
    *alarm = (struct leat_atm_oam_alarm){ .period = period, .checks = checks, .sent_at = now };
    for (unsigned i = 0; i < LEAT_ATM_OAM_STATES; i++)
        alarm->state[i] =
            (struct leat_atm_oam_alarm_state){ .at = now, .cell_at = now, .defect = unknown };
}

static bool is_ill(const struct leat_atm_oam_alarm *alarm)
{
    return alarm->state[LOC].holds || alarm->state[AIS].holds;
}

/* RDI begins with the first of its two reasons. Returns the bit of the state. */
static unsigned enter(struct leat_atm_oam_alarm *alarm, unsigned state, bool holds, uint64_t at)
{
    struct leat_atm_oam_alarm_state *s = &alarm->state[state];
    if (s->holds == holds) return 0;
    if (holds && state != RDI && !is_ill(alarm)) alarm->rdi_at = at;
    s->holds = holds;
    s->at = at;
    return 1u << state;
}

static uint64_t silent_at(const struct leat_atm_oam_alarm *alarm, unsigned state)
{
    const unsigned halves = state == LOC ? LEAT_ATM_OAM_LOC_HALVES : LEAT_ATM_OAM_RELEASE_HALVES;
    return leat_time_add(alarm->state[state].cell_at, alarm->period * halves / 2);
}

unsigned leat_atm_oam_alarm_advance(struct leat_atm_oam_alarm *alarm, uint64_t now)
{
    unsigned changed = 0;
    if (alarm->checks && silent_at(alarm, LOC) <= now)
        changed |= enter(alarm, LOC, true, silent_at(alarm, LOC));
    for (unsigned state = AIS; state <= RDI; state++)
        if (silent_at(alarm, state) <= now)
            changed |= enter(alarm, state, false, silent_at(alarm, state));
    return changed;
}

unsigned leat_atm_oam_alarm_user(struct leat_atm_oam_alarm *alarm, uint64_t now)
{
    alarm->state[LOC].cell_at = now;
    const unsigned left = enter(alarm, LOC, false, now);
    return left | enter(alarm, AIS, false, now);
}

static unsigned take(struct leat_atm_oam_alarm *alarm, unsigned state,
                     const struct leat_atm_oam_defect *defect, uint64_t now)
{
    alarm->state[state].cell_at = now;
    alarm->state[state].defect = *defect;
    return enter(alarm, state, true, now);
}

unsigned leat_atm_oam_alarm_ais(struct leat_atm_oam_alarm *alarm,
                                const struct leat_atm_oam_defect *defect, uint64_t now)
{
    return take(alarm, AIS, defect, now);
}

unsigned leat_atm_oam_alarm_rdi(struct leat_atm_oam_alarm *alarm,
                                const struct leat_atm_oam_defect *defect, uint64_t now)
{
    return take(alarm, RDI, defect, now);
}

/* ---- what it sends --------------------------------------------------------------------------- */

void leat_atm_oam_alarm_sent(struct leat_atm_oam_alarm *alarm, uint64_t now)
{
    alarm->sent_at = now;
}

enum leat_atm_oam_send leat_atm_oam_alarm_next(struct leat_atm_oam_alarm *alarm, uint64_t now)
{
    if (is_ill(alarm) && alarm->rdi_at <= now) {
        alarm->rdi_at = leat_time_add(now, alarm->period);
        return LEAT_ATM_OAM_SEND_RDI;
    }
    if (!alarm->checks || leat_time_add(alarm->sent_at, alarm->period) > now)
        return LEAT_ATM_OAM_SEND_NONE;
    alarm->sent_at = now;
    return LEAT_ATM_OAM_SEND_CC;
}

uint64_t leat_atm_oam_alarm_due(const struct leat_atm_oam_alarm *alarm)
{
    if (is_ill(alarm)) {
        const uint64_t check = leat_time_add(alarm->sent_at, alarm->period);
        return alarm->checks && check < alarm->rdi_at ? check : alarm->rdi_at;
    }
    if (!alarm->checks) return LEAT_NEVER;
    const uint64_t check = leat_time_add(alarm->sent_at, alarm->period),
                   loss = silent_at(alarm, LOC);
    return check < loss ? check : loss;
}

const struct leat_atm_oam_defect *leat_atm_oam_alarm_defect(const struct leat_atm_oam_alarm *alarm)
{
    return alarm->state[AIS].holds ? &alarm->state[AIS].defect : &unknown;
}
