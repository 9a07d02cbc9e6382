/*
 * Call control of Q.2931 at one interface: the state of one call on one side. Pure: messages and
 * requests in, at most one message and one thing to tell out. The owner has the elements of the
 * messages; for a SETUP that is sent again it needs those of the first.
 *
 *   user      network            user      network
 *    |  SETUP -->  |              |  <-- SETUP  |      T303 where SETUP is sent
 *   U1             N1            U6             N6
 *    |  <-- CALL PROCEEDING       |  CALL PROCEEDING -->       T310 where it is received
 *   U3             N3            U9             N9
 *    |  <-- CONNECT               |  CONNECT -->               T313 at the user that sends it
 *    |             N10           U8             N8
 *    |  CONNECT ACKNOWLEDGE -->   |  <-- CONNECT ACKNOWLEDGE
 *   U10                          U10            N10
 *
 * Either side ends a call by RELEASE (T308; U11, N12); the other (U12, N11) is told and answers
 * with RELEASE COMPLETE. The tables are in README.md. A channel may lose messages, so an active
 * call is audited: STATUS ENQUIRY now and then; a peer that has no such call says so.
 */
#ifndef LEAT_ATM_CALL_H
#define LEAT_ATM_CALL_H

#include "atm_signal.h"
#include <leat/time.h>

/* Numbers of Q.2931; U and N is the side. */
enum leat_atm_call_state {
    LEAT_ATM_CALL_NULL = 0,
    LEAT_ATM_CALL_INITIATED = 1,           /* the user sent SETUP, the network received it */
    LEAT_ATM_CALL_OUTGOING_PROCEEDING = 3, /* the network sent CALL PROCEEDING */
    LEAT_ATM_CALL_PRESENT = 6,             /* the network sent SETUP, the user received it */
    LEAT_ATM_CALL_CONNECT_REQUEST = 8,     /* the user sent CONNECT, the network received it */
    LEAT_ATM_CALL_INCOMING_PROCEEDING = 9, /* the user sent CALL PROCEEDING */
    LEAT_ATM_CALL_ACTIVE = 10,
    LEAT_ATM_CALL_RELEASE_REQUEST = 11,    /* the user sent RELEASE, the network received it */
    LEAT_ATM_CALL_RELEASE_INDICATION = 12, /* the network sent RELEASE, the user received it */
};

enum leat_atm_call_side { LEAT_ATM_CALL_USER, LEAT_ATM_CALL_NETWORK };

/* Causes that the engine itself gives (Q.850, Q.2610). */
enum {
    LEAT_ATM_CAUSE_NO_RESPONSE = 18,
    LEAT_ATM_CAUSE_STATUS = 30,
    LEAT_ATM_CAUSE_TEMPORARY = 41,
    LEAT_ATM_CAUSE_NO_SUCH_CALL = 81,
    LEAT_ATM_CAUSE_NO_SUCH_PARTY = 89,
    LEAT_ATM_CAUSE_WRONG_STATE = 101,
    LEAT_ATM_CAUSE_TIMER = 102,
};

/* The owner's, of both calls and parties. LEAT_NEVER: the timer never ends. */
struct leat_atm_call_timers {
    leat_time t303_ps, t308_ps, t310_ps, t313_ps, t322_ps;
    leat_time t398_ps, t399_ps; /* of parties */
    leat_time audit_ps;         /* between answers about an active call and the next enquiry */
};

/* Q.2931, 7 and Q.2971, 13; the audit is ours. */
extern const struct leat_atm_call_timers leat_atm_call_timers_default;

enum { LEAT_ATM_CALL_ENQUIRIES_MAX = 4 }; /* without an answer: the call is released */

enum leat_atm_call_event {
    LEAT_ATM_CALL_DO_SETUP,    /* begin the call */
    LEAT_ATM_CALL_DO_PROCEED,  /* tell the peer that its SETUP is being worked on */
    LEAT_ATM_CALL_DO_CONNECT,  /* accept the call of the peer */
    LEAT_ATM_CALL_DO_COMPLETE, /* network: the called user has the call */
    LEAT_ATM_CALL_DO_RELEASE,  /* end the call, or agree to the end */
    LEAT_ATM_CALL_MESSAGE,
    LEAT_ATM_CALL_TIMER, /* due_at has come */
};

struct leat_atm_call_in {
    enum leat_atm_call_event event;
    uint8_t type;  /* MESSAGE: one of enum leat_atm_signal_type */
    uint8_t cause; /* DO_RELEASE, and of messages that end a call */
    uint8_t state; /* of STATUS */
};

enum leat_atm_call_tell {
    LEAT_ATM_CALL_NOTHING,
    LEAT_ATM_CALL_OFFERED,   /* a SETUP: DO_PROCEED, DO_CONNECT or DO_RELEASE follows */
    LEAT_ATM_CALL_PROCEEDS,  /* the peer works on our SETUP */
    LEAT_ATM_CALL_ANSWERED,  /* the peer accepts; the network follows with DO_COMPLETE */
    LEAT_ATM_CALL_CONFIRMED, /* U8 becomes active */
    LEAT_ATM_CALL_ENDING,    /* the peer releases: DO_RELEASE follows */
    LEAT_ATM_CALL_GIVEN_UP,  /* a timer released the call; CLEARED follows */
    LEAT_ATM_CALL_CLEARED,   /* Null: the call reference is free */
};

struct leat_atm_call_out {
    uint8_t send;  /* a message type; 0: none */
    uint8_t cause; /* of the message */
    uint8_t state; /* of STATUS */
    enum leat_atm_call_tell tell;
    uint8_t told_cause; /* ENDING, GIVEN_UP, CLEARED: why */
};

/* The caller's memory, the engine's fields. All zero: a user's call in state Null. */
struct leat_atm_call {
    enum leat_atm_call_side side;
    enum leat_atm_call_state state;
    uint8_t tries;    /* messages that the timer repeated */
    leat_time due_at; /* of the one timer that runs; LEAT_NEVER: none */
};

void leat_atm_call_init(struct leat_atm_call *call, enum leat_atm_call_side side);

/*
 * One event. False: the request is none of this state, and nothing happens. A TIMER before due_at
 * does nothing. Messages are never refused: whatever arrives has its answer.
 */
bool leat_atm_call_step(struct leat_atm_call *call, leat_time now,
                        const struct leat_atm_call_timers *timers,
                        const struct leat_atm_call_in *in, struct leat_atm_call_out *out);

#endif
