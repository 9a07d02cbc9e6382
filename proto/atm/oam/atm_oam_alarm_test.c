#include "atm_oam_alarm.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { P = 1000, LOC = LEAT_ATM_OAM_IN_LOC, AIS = LEAT_ATM_OAM_IN_AIS, RDI = LEAT_ATM_OAM_IN_RDI };

static struct leat_atm_oam_defect some_defect(uint8_t type)
{
    struct leat_atm_oam_defect d = { .type = type };
    for (uint8_t i = 0; i < LEAT_ATM_OAM_PLACE_LEN; i++)
        d.location[i] = i;
    return d;
}

static bool is(const struct leat_atm_oam_alarm *a, unsigned state)
{
    return a->state[state].holds;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* By offsets of I.610, written out by hand. */
static void defects_have_a_type_and_sixteen_octets_of_location(void)
{
    const struct leat_atm_oam_defect in = some_defect(0x21);
    struct leat_atm_oam_defect out;
    struct leat_atm_oam oam;
    leat_atm_oam_defect_put(LEAT_ATM_OAM_RDI, &in, &oam);
    EQ(oam.type << 4 | oam.function, 0x11);
    EQ(oam.specific[0], 0x21);
    for (size_t i = 1; i < 45; i++)
        EQ(oam.specific[i], i < 17 ? i - 1 : 0x6a);
    OK(leat_atm_oam_defect_get(&oam, &out) && memcmp(&in, &out, sizeof in) == 0);
    for (unsigned other = 0; other < 256; other++) {
        oam.type = other >> 4 & 0xf;
        oam.function = other & 0xf;
        EQ(leat_atm_oam_defect_get(&oam, &out), other == 0x10 || other == 0x11);
    }
}

static void a_continuity_check_is_empty(void)
{
    struct leat_atm_oam oam;
    leat_atm_oam_check_put(&oam);
    EQ(oam.type << 4 | oam.function, 0x14);
    for (size_t i = 0; i < 45; i++)
        EQ(oam.specific[i], 0x6a);
}

/* ---- states ---------------------------------------------------------------------------------- */

static void silence_of_three_and_a_half_periods_is_loss_until_the_next_cell(void)
{
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, true, 100);
    EQ(leat_atm_oam_alarm_advance(&a, 100 + 3499), 0);
    EQ(leat_atm_oam_alarm_advance(&a, 100 + 9999), 1u << LOC);
    OK(is(&a, LOC) && a.state[LOC].at == 100 + 3500);
    EQ(leat_atm_oam_alarm_user(&a, 20000), 1u << LOC);
    OK(!is(&a, LOC) && a.state[LOC].at == 20000);
    EQ(leat_atm_oam_alarm_advance(&a, 23499), 0);
}

static void without_continuity_checks_nothing_is_lost_and_none_are_sent(void)
{
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, false, 0);
    EQ(leat_atm_oam_alarm_due(&a), LEAT_NEVER);
    EQ(leat_atm_oam_alarm_advance(&a, 100 * P), 0);
    EQ(leat_atm_oam_alarm_next(&a, 100 * P), LEAT_ATM_OAM_SEND_NONE);
}

static void ais_holds_for_two_and_a_half_periods_or_up_to_a_user_cell(void)
{
    const struct leat_atm_oam_defect d = some_defect(7);
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, false, 0);
    EQ(leat_atm_oam_alarm_ais(&a, &d, 50), 1u << AIS);
    EQ(leat_atm_oam_alarm_ais(&a, &d, 1050), 0);
    OK(is(&a, AIS) && a.state[AIS].at == 50);
    EQ(leat_atm_oam_alarm_defect(&a)->type, 7);
    EQ(leat_atm_oam_alarm_advance(&a, 1050 + 2499), 0);
    EQ(leat_atm_oam_alarm_advance(&a, 8000), 1u << AIS);
    OK(!is(&a, AIS) && a.state[AIS].at == 1050 + 2500);
    EQ(leat_atm_oam_alarm_defect(&a)->type, 0x6a);
    EQ(leat_atm_oam_alarm_ais(&a, &d, 9000), 1u << AIS);
    EQ(leat_atm_oam_alarm_user(&a, 9001), 1u << AIS);
    OK(!is(&a, AIS) && a.state[AIS].at == 9001);
}

static void rdi_holds_for_two_and_a_half_periods_whatever_users_send(void)
{
    const struct leat_atm_oam_defect d = some_defect(9);
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, true, 0);
    EQ(leat_atm_oam_alarm_rdi(&a, &d, 10), 1u << RDI);
    EQ(leat_atm_oam_alarm_user(&a, 20), 0);
    OK(is(&a, RDI) && a.state[RDI].defect.type == 9);
    EQ(leat_atm_oam_alarm_advance(&a, 2510), 1u << RDI);
    OK(!is(&a, RDI) && a.state[RDI].at == 2510);
}

static void rdi_is_sent_at_once_and_then_once_per_period(void)
{
    const struct leat_atm_oam_defect d = some_defect(1);
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, false, 0);
    leat_atm_oam_alarm_ais(&a, &d, 70);
    EQ(leat_atm_oam_alarm_due(&a), 70);
    EQ(leat_atm_oam_alarm_next(&a, 75), LEAT_ATM_OAM_SEND_RDI);
    EQ(leat_atm_oam_alarm_next(&a, 75), LEAT_ATM_OAM_SEND_NONE);
    EQ(leat_atm_oam_alarm_due(&a), 1075);
    EQ(leat_atm_oam_alarm_next(&a, 1075), LEAT_ATM_OAM_SEND_RDI);
    leat_atm_oam_alarm_user(&a, 1100);
    EQ(leat_atm_oam_alarm_next(&a, 9000), LEAT_ATM_OAM_SEND_NONE);
}

static void a_check_is_sent_after_a_period_without_user_cells(void)
{
    struct leat_atm_oam_alarm a;
    leat_atm_oam_alarm_init(&a, P, true, 0);
    leat_atm_oam_alarm_sent(&a, 400);
    EQ(leat_atm_oam_alarm_due(&a), 1400);
    EQ(leat_atm_oam_alarm_next(&a, 1399), LEAT_ATM_OAM_SEND_NONE);
    EQ(leat_atm_oam_alarm_next(&a, 1400), LEAT_ATM_OAM_SEND_CC);
    EQ(leat_atm_oam_alarm_due(&a), 2400);
}

/* ---- at random ------------------------------------------------------------------------------- */

/* What came last, and by the definition what holds. */
static struct plain {
    uint64_t user_at, ais_at, rdi_at;
    bool ais, rdi; /* has come; since the last user cell */
} plain;

static bool holds(unsigned state, uint64_t now)
{
    switch (state) {
    case LOC: return 2 * (now - plain.user_at) >= 7 * P;
    case AIS: return plain.ais && 2 * (now - plain.ais_at) < 5 * P;
    default: return plain.rdi && 2 * (now - plain.rdi_at) < 5 * P;
    }
}

static void cell_comes(struct leat_atm_oam_alarm *a, uint64_t kind, uint64_t now)
{
    const struct leat_atm_oam_defect d = some_defect((uint8_t)kind);
    if (kind == 0) {
        leat_atm_oam_alarm_user(a, now);
        plain.user_at = now;
        plain.ais = false;
    } else if (kind == 1) {
        leat_atm_oam_alarm_ais(a, &d, now);
        plain.ais_at = now;
        plain.ais = true;
    } else {
        leat_atm_oam_alarm_rdi(a, &d, now);
        plain.rdi_at = now;
        plain.rdi = true;
    }
}

static void check_states(const struct leat_atm_oam_alarm *a, uint64_t now)
{
    for (unsigned state = 0; state < LEAT_ATM_OAM_STATES; state++)
        EQ(is(a, state), holds(state, now));
}

static void random_cells_have_the_states_of_the_definition(void)
{
    struct leat_random r;
    struct leat_atm_oam_alarm a;
    uint64_t now = 0, entered = 0;
    leat_random_seed(&r, tap_seed());
    memset(&plain, 0, sizeof plain);
    leat_atm_oam_alarm_init(&a, P, true, 0);
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        const uint64_t most = leat_random_below(&r, 4) ? 900 : 9000;
        now += leat_random_below(&r, most);
        const unsigned changed = leat_atm_oam_alarm_advance(&a, now);
        for (unsigned state = 0; state < LEAT_ATM_OAM_STATES; state++) {
            if (!(changed >> state & 1)) continue;
            const uint64_t at = a.state[state].at;
            OK(at <= now && holds(state, at) == is(&a, state) &&
               holds(state, at - 1) != is(&a, state));
        }
        check_states(&a, now);
        cell_comes(&a, leat_random_below(&r, 3), now);
        check_states(&a, now);
        entered += changed != 0;
    }
    OK(entered > (uint64_t)(LEAT_ROUNDS / 200));
}

/* Every cell is asked for when it is due: gaps are never longer than a period, RDI is never more
 * frequent than one. */
static void cells_that_are_due_leave_in_time(void)
{
    struct leat_random r;
    struct leat_atm_oam_alarm a;
    uint64_t now = 0, cell_at = 0, rdi_at = 0, rdis = 0;
    leat_random_seed(&r, tap_seed() + 1);
    memset(&plain, 0, sizeof plain);
    leat_atm_oam_alarm_init(&a, P, true, 0);
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        const uint64_t event_at = now + leat_random_below(&r, 3000);
        for (uint64_t due; (due = leat_atm_oam_alarm_due(&a)) < event_at;) {
            if (due > now) now = due;
            leat_atm_oam_alarm_advance(&a, now);
            const enum leat_atm_oam_send what = leat_atm_oam_alarm_next(&a, now);
            if (what == LEAT_ATM_OAM_SEND_CC) {
                EQ(now - cell_at, P);
                cell_at = now;
            }
            if (what != LEAT_ATM_OAM_SEND_RDI) continue;
            OK(is(&a, LOC) || is(&a, AIS));
            OK(!rdis || now - rdi_at >= P || rdi_at < a.state[LOC].at || rdi_at < a.state[AIS].at);
            rdi_at = now;
            rdis++;
        }
        now = event_at;
        leat_atm_oam_alarm_advance(&a, now);
        cell_comes(&a, leat_random_below(&r, 3), now);
        if (leat_random_below(&r, 2)) continue;
        leat_atm_oam_alarm_sent(&a, now);
        cell_at = now;
    }
    OK(rdis > (uint64_t)(LEAT_ROUNDS / 200));
}

TAP_MAIN(T(defects_have_a_type_and_sixteen_octets_of_location), T(a_continuity_check_is_empty),
         T(silence_of_three_and_a_half_periods_is_loss_until_the_next_cell),
         T(without_continuity_checks_nothing_is_lost_and_none_are_sent),
         T(ais_holds_for_two_and_a_half_periods_or_up_to_a_user_cell),
         T(rdi_holds_for_two_and_a_half_periods_whatever_users_send),
         T(rdi_is_sent_at_once_and_then_once_per_period),
         T(a_check_is_sent_after_a_period_without_user_cells),
         T(random_cells_have_the_states_of_the_definition), T(cells_that_are_due_leave_in_time))
