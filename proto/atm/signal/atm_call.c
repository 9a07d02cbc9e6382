#include "atm_call.h"
#include <stdlib.h>

#define SECOND UINT64_C(1000000000000)

const struct leat_atm_call_timers leat_atm_call_timers_default = {
    .t303_ps = 4 * SECOND,
    .t308_ps = 30 * SECOND,
    .t310_ps = 10 * SECOND,
    .t313_ps = 4 * SECOND,
    .t322_ps = 4 * SECOND,
    .t398_ps = 4 * SECOND,
    .t399_ps = 14 * SECOND,
    .audit_ps = 60 * SECOND,
};

/* The step that is under way. */
struct step {
    struct leat_atm_call *call;
    leat_time now;
    const struct leat_atm_call_timers *timers;
    struct leat_atm_call_out *out;
};

void leat_atm_call_init(struct leat_atm_call *call, enum leat_atm_call_side side)
{
    *call = (struct leat_atm_call){ .side = side, .due_at = LEAT_NEVER };
}

static bool is_user(const struct step *s)
{
    return s->call->side == LEAT_ATM_CALL_USER;
}

/* The one place where the state changes; any timer of the old state stops. */
static void enter(struct step *s, enum leat_atm_call_state state, leat_time span_ps)
{
    s->call->state = state;
    s->call->tries = 0;
    s->call->due_at = leat_time_add(s->now, span_ps);
}

static void stay(struct step *s, leat_time span_ps)
{
    s->call->tries++;
    s->call->due_at = leat_time_add(s->now, span_ps);
}

static void send_message(struct step *s, enum leat_atm_signal_type type, uint8_t cause)
{
    s->out->send = (uint8_t)type;
    s->out->cause = cause;
    s->out->state = (uint8_t)s->call->state;
}

static void tell(struct step *s, enum leat_atm_call_tell what, uint8_t cause)
{
    s->out->tell = what;
    s->out->told_cause = cause;
}

static void clear(struct step *s, uint8_t cause)
{
    enter(s, LEAT_ATM_CALL_NULL, LEAT_NEVER);
    tell(s, LEAT_ATM_CALL_CLEARED, cause);
}

static void release(struct step *s, uint8_t cause)
{
    enter(s, is_user(s) ? LEAT_ATM_CALL_RELEASE_REQUEST : LEAT_ATM_CALL_RELEASE_INDICATION,
          s->timers->t308_ps);
    send_message(s, LEAT_ATM_SIGNAL_RELEASE, cause);
}

/* Is this state of releasing ours: did this side send RELEASE? */
static bool releases(const struct step *s)
{
    return (s->call->state == LEAT_ATM_CALL_RELEASE_REQUEST) == is_user(s);
}

static void refuse(struct step *s)
{
    send_message(s, LEAT_ATM_SIGNAL_STATUS, LEAT_ATM_CAUSE_WRONG_STATE);
}

static void refuse_unknown(struct step *s)
{
    send_message(s, LEAT_ATM_SIGNAL_RELEASE_COMPLETE, LEAT_ATM_CAUSE_NO_SUCH_CALL);
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool on_do_setup(struct step *s)
{
    if (s->call->state != LEAT_ATM_CALL_NULL) return false;
    enter(s, is_user(s) ? LEAT_ATM_CALL_INITIATED : LEAT_ATM_CALL_PRESENT, s->timers->t303_ps);
    send_message(s, LEAT_ATM_SIGNAL_SETUP, 0);
    return true;
}

/* Did the peer send SETUP, and this side has not answered? */
static bool is_offered(const struct step *s)
{
    return s->call->state == (is_user(s) ? LEAT_ATM_CALL_PRESENT : LEAT_ATM_CALL_INITIATED);
}

static bool on_do_proceed(struct step *s)
{
    if (!is_offered(s)) return false;
    enter(s, is_user(s) ? LEAT_ATM_CALL_INCOMING_PROCEEDING : LEAT_ATM_CALL_OUTGOING_PROCEEDING,
          LEAT_NEVER);
    send_message(s, LEAT_ATM_SIGNAL_CALL_PROCEEDING, 0);
    return true;
}

static bool on_do_connect(struct step *s)
{
    const bool proceeding = s->call->state == (is_user(s) ? LEAT_ATM_CALL_INCOMING_PROCEEDING
                                                          : LEAT_ATM_CALL_OUTGOING_PROCEEDING);
    if (!proceeding && !is_offered(s)) return false;
    if (is_user(s))
        enter(s, LEAT_ATM_CALL_CONNECT_REQUEST, s->timers->t313_ps);
    else
        enter(s, LEAT_ATM_CALL_ACTIVE, s->timers->audit_ps);
    send_message(s, LEAT_ATM_SIGNAL_CONNECT, 0);
    return true;
}

static bool on_do_complete(struct step *s)
{
    if (is_user(s) || s->call->state != LEAT_ATM_CALL_CONNECT_REQUEST) return false;
    enter(s, LEAT_ATM_CALL_ACTIVE, s->timers->audit_ps);
    send_message(s, LEAT_ATM_SIGNAL_CONNECT_ACK, 0);
    return true;
}

/* RELEASE COMPLETE answers a SETUP at once, and a RELEASE. */
static bool on_do_release(struct step *s, uint8_t cause)
{
    switch (s->call->state) {
    case LEAT_ATM_CALL_NULL: return false;
    case LEAT_ATM_CALL_RELEASE_REQUEST:
    case LEAT_ATM_CALL_RELEASE_INDICATION:
        if (releases(s)) return false;
        break;
    case LEAT_ATM_CALL_INITIATED:
    case LEAT_ATM_CALL_PRESENT:
        if (is_offered(s)) break;
        release(s, cause);
        return true;
    case LEAT_ATM_CALL_OUTGOING_PROCEEDING:
    case LEAT_ATM_CALL_CONNECT_REQUEST:
    case LEAT_ATM_CALL_INCOMING_PROCEEDING:
    case LEAT_ATM_CALL_ACTIVE: release(s, cause); return true;
    }
    clear(s, cause);
    send_message(s, LEAT_ATM_SIGNAL_RELEASE_COMPLETE, cause);
    return true;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Q.2931, 5.6.3.2: in any state but Null, a SETUP is ignored. */
static void on_setup(struct step *s)
{
    if (s->call->state != LEAT_ATM_CALL_NULL) return;
    enter(s, is_user(s) ? LEAT_ATM_CALL_PRESENT : LEAT_ATM_CALL_INITIATED, LEAT_NEVER);
    tell(s, LEAT_ATM_CALL_OFFERED, 0);
}

/* Did this side send SETUP, without an answer so far? */
static bool is_asking(const struct step *s)
{
    return s->call->state == (is_user(s) ? LEAT_ATM_CALL_INITIATED : LEAT_ATM_CALL_PRESENT);
}

static void on_call_proceeding(struct step *s)
{
    if (s->call->state == LEAT_ATM_CALL_NULL) {
        refuse_unknown(s);
    } else if (!is_asking(s)) {
        refuse(s);
    } else {
        enter(s, is_user(s) ? LEAT_ATM_CALL_OUTGOING_PROCEEDING : LEAT_ATM_CALL_INCOMING_PROCEEDING,
              s->timers->t310_ps);
        tell(s, LEAT_ATM_CALL_PROCEEDS, 0);
    }
}

static void on_connect(struct step *s)
{
    const bool proceeding = s->call->state == (is_user(s) ? LEAT_ATM_CALL_OUTGOING_PROCEEDING
                                                          : LEAT_ATM_CALL_INCOMING_PROCEEDING);
    if (s->call->state == LEAT_ATM_CALL_NULL) {
        refuse_unknown(s);
    } else if (!proceeding && !is_asking(s)) {
        refuse(s);
    } else if (is_user(s)) {
        enter(s, LEAT_ATM_CALL_ACTIVE, s->timers->audit_ps);
        send_message(s, LEAT_ATM_SIGNAL_CONNECT_ACK, 0);
        tell(s, LEAT_ATM_CALL_ANSWERED, 0);
    } else {
        enter(s, LEAT_ATM_CALL_CONNECT_REQUEST, LEAT_NEVER);
        tell(s, LEAT_ATM_CALL_ANSWERED, 0);
    }
}

/* The network is active since it sent CONNECT, and needs no acknowledgement. */
static void on_connect_ack(struct step *s)
{
    if (s->call->state == LEAT_ATM_CALL_NULL) {
        refuse_unknown(s);
    } else if (is_user(s) && s->call->state == LEAT_ATM_CALL_CONNECT_REQUEST) {
        enter(s, LEAT_ATM_CALL_ACTIVE, s->timers->audit_ps);
        tell(s, LEAT_ATM_CALL_CONFIRMED, 0);
    } else if (is_user(s) || s->call->state != LEAT_ATM_CALL_ACTIVE) {
        refuse(s);
    }
}

static void on_release(struct step *s, uint8_t cause)
{
    switch (s->call->state) {
    case LEAT_ATM_CALL_NULL: refuse_unknown(s); return;
    case LEAT_ATM_CALL_RELEASE_REQUEST:
    case LEAT_ATM_CALL_RELEASE_INDICATION:
        if (releases(s)) clear(s, cause); /* both released; 5.4.5: no RELEASE COMPLETE */
        return;
    case LEAT_ATM_CALL_INITIATED:
    case LEAT_ATM_CALL_OUTGOING_PROCEEDING:
    case LEAT_ATM_CALL_PRESENT:
    case LEAT_ATM_CALL_CONNECT_REQUEST:
    case LEAT_ATM_CALL_INCOMING_PROCEEDING:
    case LEAT_ATM_CALL_ACTIVE:
        enter(s, is_user(s) ? LEAT_ATM_CALL_RELEASE_INDICATION : LEAT_ATM_CALL_RELEASE_REQUEST,
              LEAT_NEVER);
        tell(s, LEAT_ATM_CALL_ENDING, cause);
        return;
    }
    abort();
}

static void on_release_complete(struct step *s, uint8_t cause)
{
    if (s->call->state != LEAT_ATM_CALL_NULL) clear(s, cause);
}

/* Q.2931, 5.6.12: a peer without the call ends it here; a peer with one that is not here ends it
 * there. Any other state of the peer is on its way to ours. */
static void on_status(struct step *s, uint8_t peer_state, uint8_t cause)
{
    if (s->call->state == LEAT_ATM_CALL_NULL) {
        if (peer_state != LEAT_ATM_CALL_NULL)
            send_message(s, LEAT_ATM_SIGNAL_RELEASE_COMPLETE, LEAT_ATM_CAUSE_WRONG_STATE);
    } else if (peer_state == LEAT_ATM_CALL_NULL) {
        clear(s, cause);
    } else if (s->call->state == LEAT_ATM_CALL_ACTIVE) {
        enter(s, LEAT_ATM_CALL_ACTIVE, s->timers->audit_ps);
    }
}

static void on_message(struct step *s, const struct leat_atm_call_in *in)
{
    switch ((enum leat_atm_signal_type)in->type) {
    case LEAT_ATM_SIGNAL_SETUP: on_setup(s); return;
    case LEAT_ATM_SIGNAL_CALL_PROCEEDING: on_call_proceeding(s); return;
    case LEAT_ATM_SIGNAL_CONNECT: on_connect(s); return;
    case LEAT_ATM_SIGNAL_CONNECT_ACK: on_connect_ack(s); return;
    case LEAT_ATM_SIGNAL_RELEASE: on_release(s, in->cause); return;
    case LEAT_ATM_SIGNAL_RELEASE_COMPLETE: on_release_complete(s, in->cause); return;
    case LEAT_ATM_SIGNAL_STATUS: on_status(s, in->state, in->cause); return;
    case LEAT_ATM_SIGNAL_STATUS_ENQUIRY:
        send_message(s, LEAT_ATM_SIGNAL_STATUS, LEAT_ATM_CAUSE_STATUS);
        return;
    case LEAT_ATM_SIGNAL_ADD_PARTY: /* of parties: here only if there is no such call */
    case LEAT_ATM_SIGNAL_ADD_PARTY_ACK:
    case LEAT_ATM_SIGNAL_ADD_PARTY_REJECT:
    case LEAT_ATM_SIGNAL_DROP_PARTY:
    case LEAT_ATM_SIGNAL_DROP_PARTY_ACK: break;
    }
    if (s->call->state == LEAT_ATM_CALL_NULL)
        refuse_unknown(s);
    else
        refuse(s);
}

/* ---- timers --------------------------------------------------------------------------------- */

/* T303 and T308 send their message once more; after that the call is given up. */
static void repeat_or_clear(struct step *s, enum leat_atm_signal_type type, leat_time span_ps)
{
    if (s->call->tries) {
        clear(s, LEAT_ATM_CAUSE_TIMER);
        return;
    }
    stay(s, span_ps);
    send_message(s, type, LEAT_ATM_CAUSE_TIMER);
}

static void give_up(struct step *s, uint8_t cause)
{
    release(s, cause);
    tell(s, LEAT_ATM_CALL_GIVEN_UP, cause);
}

static void enquire(struct step *s)
{
    if (s->call->tries == LEAT_ATM_CALL_ENQUIRIES_MAX) {
        give_up(s, LEAT_ATM_CAUSE_TEMPORARY);
        return;
    }
    stay(s, s->timers->t322_ps);
    send_message(s, LEAT_ATM_SIGNAL_STATUS_ENQUIRY, 0);
}

static void on_timer(struct step *s)
{
    if (s->now < s->call->due_at || s->call->due_at == LEAT_NEVER) return;
    switch (s->call->state) {
    case LEAT_ATM_CALL_INITIATED:
    case LEAT_ATM_CALL_PRESENT:
        repeat_or_clear(s, LEAT_ATM_SIGNAL_SETUP, s->timers->t303_ps);
        return;
    case LEAT_ATM_CALL_OUTGOING_PROCEEDING:
    case LEAT_ATM_CALL_INCOMING_PROCEEDING: give_up(s, LEAT_ATM_CAUSE_NO_RESPONSE); return;
    case LEAT_ATM_CALL_CONNECT_REQUEST: give_up(s, LEAT_ATM_CAUSE_TIMER); return;
    case LEAT_ATM_CALL_ACTIVE: enquire(s); return;
    case LEAT_ATM_CALL_RELEASE_REQUEST:
    case LEAT_ATM_CALL_RELEASE_INDICATION:
        repeat_or_clear(s, LEAT_ATM_SIGNAL_RELEASE, s->timers->t308_ps);
        return;
    case LEAT_ATM_CALL_NULL: break; /* no timer */
    }
    abort();
}

bool leat_atm_call_step(struct leat_atm_call *call, leat_time now,
                        const struct leat_atm_call_timers *timers,
                        const struct leat_atm_call_in *in, struct leat_atm_call_out *out)
{
    struct step s = { call, now, timers, out };
    *out = (struct leat_atm_call_out){ .tell = LEAT_ATM_CALL_NOTHING };
    switch (in->event) {
    case LEAT_ATM_CALL_DO_SETUP: return on_do_setup(&s);
    case LEAT_ATM_CALL_DO_PROCEED: return on_do_proceed(&s);
    case LEAT_ATM_CALL_DO_CONNECT: return on_do_connect(&s);
    case LEAT_ATM_CALL_DO_COMPLETE: return on_do_complete(&s);
    case LEAT_ATM_CALL_DO_RELEASE: return on_do_release(&s, in->cause);
    case LEAT_ATM_CALL_MESSAGE: on_message(&s, in); return true;
    case LEAT_ATM_CALL_TIMER: on_timer(&s); return true;
    }
    abort();
}
