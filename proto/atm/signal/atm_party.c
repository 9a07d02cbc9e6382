#include "atm_party.h"
#include <stdlib.h>

/* The step that is under way. */
struct step {
    struct leat_atm_party *party;
    leat_time now;
    const struct leat_atm_call_timers *timers;
    struct leat_atm_party_out *out;
};

void leat_atm_party_init(struct leat_atm_party *party)
{
    *party = (struct leat_atm_party){ .due_at = LEAT_NEVER };
}

/* The one place where the state changes; any timer of the old state stops. */
static void enter(struct step *s, enum leat_atm_party_state state, leat_time span_ps)
{
    s->party->state = state;
    s->party->tries = 0;
    s->party->due_at = leat_time_add(s->now, span_ps);
}

static void stay(struct step *s, leat_time span_ps)
{
    s->party->tries++;
    s->party->due_at = leat_time_add(s->now, span_ps);
}

static void send_message(struct step *s, enum leat_atm_signal_type type, uint8_t cause)
{
    s->out->send = (uint8_t)type;
    s->out->cause = cause;
    s->out->state = (uint8_t)s->party->state;
}

static void tell(struct step *s, enum leat_atm_party_tell what, uint8_t cause)
{
    s->out->tell = what;
    s->out->told_cause = cause;
}

static void clear(struct step *s, uint8_t cause)
{
    enter(s, LEAT_ATM_PARTY_NULL, LEAT_NEVER);
    tell(s, LEAT_ATM_PARTY_CLEARED, cause);
}

static void drop(struct step *s, uint8_t cause)
{
    enter(s, LEAT_ATM_PARTY_DROP_INITIATED, s->timers->t398_ps);
    send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY, cause);
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool on_begin(struct step *s, enum leat_atm_party_state state, leat_time span_ps)
{
    if (s->party->state != LEAT_ATM_PARTY_NULL) return false;
    enter(s, state, span_ps);
    return true;
}

static bool on_do_add(struct step *s)
{
    if (!on_begin(s, LEAT_ATM_PARTY_ADD_INITIATED, s->timers->t399_ps)) return false;
    send_message(s, LEAT_ATM_SIGNAL_ADD_PARTY, 0);
    return true;
}

static bool on_do_accept(struct step *s)
{
    if (s->party->state != LEAT_ATM_PARTY_ADD_RECEIVED) return false;
    enter(s, LEAT_ATM_PARTY_ACTIVE, s->timers->audit_ps);
    send_message(s, LEAT_ATM_SIGNAL_ADD_PARTY_ACK, 0);
    return true;
}

static bool on_joined(struct step *s)
{
    if (s->party->state != LEAT_ATM_PARTY_ADD_INITIATED &&
        s->party->state != LEAT_ATM_PARTY_ADD_RECEIVED)
        return false;
    enter(s, LEAT_ATM_PARTY_ACTIVE, s->timers->audit_ps);
    return true;
}

static bool on_do_drop(struct step *s, uint8_t cause)
{
    switch (s->party->state) {
    case LEAT_ATM_PARTY_NULL:
    case LEAT_ATM_PARTY_DROP_INITIATED: return false;
    case LEAT_ATM_PARTY_ADD_INITIATED:
    case LEAT_ATM_PARTY_ACTIVE: drop(s, cause); return true;
    case LEAT_ATM_PARTY_ADD_RECEIVED:
        clear(s, cause);
        send_message(s, LEAT_ATM_SIGNAL_ADD_PARTY_REJECT, cause);
        return true;
    case LEAT_ATM_PARTY_DROP_RECEIVED:
        clear(s, cause);
        send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY_ACK, cause);
        return true;
    }
    abort();
}

/* ---- messages ------------------------------------------------------------------------------- */

static void on_add_party(struct step *s)
{
    if (!on_begin(s, LEAT_ATM_PARTY_ADD_RECEIVED, LEAT_NEVER)) return;
    tell(s, LEAT_ATM_PARTY_OFFERED, 0);
}

/* A peer that thinks the party active is told that there is none. */
static void on_add_party_ack(struct step *s)
{
    if (s->party->state == LEAT_ATM_PARTY_NULL) {
        send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY_ACK, LEAT_ATM_CAUSE_NO_SUCH_PARTY);
    } else if (s->party->state == LEAT_ATM_PARTY_ADD_INITIATED) {
        enter(s, LEAT_ATM_PARTY_ACTIVE, s->timers->audit_ps);
        tell(s, LEAT_ATM_PARTY_ADDED, 0);
    }
}

static void on_add_party_reject(struct step *s, uint8_t cause)
{
    if (s->party->state == LEAT_ATM_PARTY_ADD_INITIATED ||
        s->party->state == LEAT_ATM_PARTY_DROP_INITIATED)
        clear(s, cause);
}

static void on_drop_party(struct step *s, uint8_t cause)
{
    switch (s->party->state) {
    case LEAT_ATM_PARTY_NULL:
        send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY_ACK, LEAT_ATM_CAUSE_NO_SUCH_PARTY);
        return;
    case LEAT_ATM_PARTY_ADD_INITIATED:
    case LEAT_ATM_PARTY_ADD_RECEIVED:
    case LEAT_ATM_PARTY_ACTIVE:
        enter(s, LEAT_ATM_PARTY_DROP_RECEIVED, LEAT_NEVER);
        tell(s, LEAT_ATM_PARTY_ENDING, cause);
        return;
    case LEAT_ATM_PARTY_DROP_INITIATED: clear(s, cause); return; /* both drop */
    case LEAT_ATM_PARTY_DROP_RECEIVED: return;
    }
    abort();
}

static void on_drop_party_ack(struct step *s, uint8_t cause)
{
    if (s->party->state != LEAT_ATM_PARTY_NULL) clear(s, cause);
}

static void on_status(struct step *s, uint8_t peer_state, uint8_t cause)
{
    if (s->party->state == LEAT_ATM_PARTY_NULL) {
        if (peer_state != LEAT_ATM_PARTY_NULL)
            send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY_ACK, LEAT_ATM_CAUSE_WRONG_STATE);
    } else if (peer_state == LEAT_ATM_PARTY_NULL) {
        clear(s, cause);
    } else if (s->party->state == LEAT_ATM_PARTY_ACTIVE) {
        enter(s, LEAT_ATM_PARTY_ACTIVE, s->timers->audit_ps);
    }
}

static void on_message(struct step *s, const struct leat_atm_party_in *in)
{
    switch ((enum leat_atm_signal_type)in->type) {
    case LEAT_ATM_SIGNAL_ADD_PARTY: on_add_party(s); return;
    case LEAT_ATM_SIGNAL_ADD_PARTY_ACK: on_add_party_ack(s); return;
    case LEAT_ATM_SIGNAL_ADD_PARTY_REJECT: on_add_party_reject(s, in->cause); return;
    case LEAT_ATM_SIGNAL_DROP_PARTY: on_drop_party(s, in->cause); return;
    case LEAT_ATM_SIGNAL_DROP_PARTY_ACK: on_drop_party_ack(s, in->cause); return;
    case LEAT_ATM_SIGNAL_STATUS: on_status(s, in->state, in->cause); return;
    case LEAT_ATM_SIGNAL_STATUS_ENQUIRY:
        send_message(s, LEAT_ATM_SIGNAL_STATUS, LEAT_ATM_CAUSE_STATUS);
        return;
    case LEAT_ATM_SIGNAL_SETUP: /* of calls: no party's */
    case LEAT_ATM_SIGNAL_CALL_PROCEEDING:
    case LEAT_ATM_SIGNAL_CONNECT:
    case LEAT_ATM_SIGNAL_CONNECT_ACK:
    case LEAT_ATM_SIGNAL_RELEASE:
    case LEAT_ATM_SIGNAL_RELEASE_COMPLETE: return;
    }
}

/* ---- timers --------------------------------------------------------------------------------- */

static void give_up(struct step *s, uint8_t cause)
{
    drop(s, cause);
    tell(s, LEAT_ATM_PARTY_GIVEN_UP, cause);
}

static void on_timer(struct step *s)
{
    if (s->now < s->party->due_at || s->party->due_at == LEAT_NEVER) return;
    switch (s->party->state) {
    case LEAT_ATM_PARTY_ADD_INITIATED: give_up(s, LEAT_ATM_CAUSE_TIMER); return;
    case LEAT_ATM_PARTY_ACTIVE:
        if (s->party->tries == LEAT_ATM_CALL_ENQUIRIES_MAX) {
            give_up(s, LEAT_ATM_CAUSE_TEMPORARY);
            return;
        }
        stay(s, s->timers->t322_ps);
        send_message(s, LEAT_ATM_SIGNAL_STATUS_ENQUIRY, 0);
        return;
    case LEAT_ATM_PARTY_DROP_INITIATED:
        if (s->party->tries) {
            clear(s, LEAT_ATM_CAUSE_TIMER);
            return;
        }
        stay(s, s->timers->t398_ps);
        send_message(s, LEAT_ATM_SIGNAL_DROP_PARTY, LEAT_ATM_CAUSE_TIMER);
        return;
    case LEAT_ATM_PARTY_NULL: /* no timer */
    case LEAT_ATM_PARTY_ADD_RECEIVED:
    case LEAT_ATM_PARTY_DROP_RECEIVED: break;
    }
    abort();
}

bool leat_atm_party_step(struct leat_atm_party *party, leat_time now,
                         const struct leat_atm_call_timers *timers,
                         const struct leat_atm_party_in *in, struct leat_atm_party_out *out)
{
    struct step s = { party, now, timers, out };
    *out = (struct leat_atm_party_out){ .tell = LEAT_ATM_PARTY_NOTHING };
    switch (in->event) {
    case LEAT_ATM_PARTY_DO_ADD: return on_do_add(&s);
    case LEAT_ATM_PARTY_DO_ACCEPT: return on_do_accept(&s);
    case LEAT_ATM_PARTY_DO_DROP: return on_do_drop(&s, in->cause);
    case LEAT_ATM_PARTY_JOIN: return on_begin(&s, LEAT_ATM_PARTY_ADD_INITIATED, LEAT_NEVER);
    case LEAT_ATM_PARTY_JOIN_ASKED: return on_begin(&s, LEAT_ATM_PARTY_ADD_RECEIVED, LEAT_NEVER);
    case LEAT_ATM_PARTY_JOINED: return on_joined(&s);
    case LEAT_ATM_PARTY_LEAVE: enter(&s, LEAT_ATM_PARTY_NULL, LEAT_NEVER); return true;
    case LEAT_ATM_PARTY_MESSAGE: on_message(&s, in); return true;
    case LEAT_ATM_PARTY_TIMER: on_timer(&s); return true;
    }
    abort();
}
