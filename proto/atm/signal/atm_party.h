/*
 * A party of a point-to-multipoint call at one interface (Q.2971): the root's side and the leaf's
 * have the same states. Pure, as atm_call: one event in, at most one message and one thing to tell
 * out. All messages of a party have its endpoint reference.
 *
 *   root's side                         leaf's side
 *   ADD_INITIATED  -- ADD PARTY -->     ADD_RECEIVED       T399
 *                  <-- ADD PARTY REJECT                    (both Null)
 *   ACTIVE         <-- ADD PARTY ACK    ACTIVE
 *   DROP_INITIATED -- DROP PARTY -->    DROP_RECEIVED      T398; either side begins
 *   NULL           <-- DROP PARTY ACK   NULL
 *
 * The first party of a branch is added by SETUP and CONNECT (JOIN and JOINED), and all parties end
 * with their call (LEAVE). Active parties are audited like calls.
 */
#ifndef LEAT_ATM_PARTY_H
#define LEAT_ATM_PARTY_H

#include "atm_call.h"

/* Numbers of Q.2971. */
enum leat_atm_party_state {
    LEAT_ATM_PARTY_NULL = 0,
    LEAT_ATM_PARTY_ADD_INITIATED = 1,
    LEAT_ATM_PARTY_ADD_RECEIVED = 6,
    LEAT_ATM_PARTY_ACTIVE = 10,
    LEAT_ATM_PARTY_DROP_INITIATED = 11,
    LEAT_ATM_PARTY_DROP_RECEIVED = 12,
};

enum leat_atm_party_event {
    LEAT_ATM_PARTY_DO_ADD,
    LEAT_ATM_PARTY_DO_ACCEPT,
    LEAT_ATM_PARTY_DO_DROP,    /* drop, reject, or agree to being dropped */
    LEAT_ATM_PARTY_JOIN,       /* a SETUP with this party was sent */
    LEAT_ATM_PARTY_JOIN_ASKED, /* or received */
    LEAT_ATM_PARTY_JOINED,     /* and its CONNECT */
    LEAT_ATM_PARTY_LEAVE,      /* the call is cleared: Null, and nothing to tell */
    LEAT_ATM_PARTY_MESSAGE,
    LEAT_ATM_PARTY_TIMER,
};

struct leat_atm_party_in {
    enum leat_atm_party_event event;
    uint8_t type;  /* MESSAGE */
    uint8_t cause; /* DO_DROP, and of messages that end a party */
    uint8_t state; /* endpoint state of STATUS */
};

enum leat_atm_party_tell {
    LEAT_ATM_PARTY_NOTHING,
    LEAT_ATM_PARTY_OFFERED,  /* ADD PARTY: DO_ACCEPT or DO_DROP follows */
    LEAT_ATM_PARTY_ADDED,    /* ADD PARTY ACKNOWLEDGE */
    LEAT_ATM_PARTY_ENDING,   /* the peer drops: DO_DROP follows */
    LEAT_ATM_PARTY_GIVEN_UP, /* a timer dropped the party; CLEARED follows */
    LEAT_ATM_PARTY_CLEARED,  /* Null: the endpoint reference is free */
};

struct leat_atm_party_out {
    uint8_t send; /* a message type; 0: none */
    uint8_t cause, state;
    enum leat_atm_party_tell tell;
    uint8_t told_cause;
};

/* The caller's memory, the engine's fields. */
struct leat_atm_party {
    enum leat_atm_party_state state;
    uint8_t tries;
    leat_time due_at;
};

void leat_atm_party_init(struct leat_atm_party *party);

/* As leat_atm_call_step. */
bool leat_atm_party_step(struct leat_atm_party *party, leat_time now,
                         const struct leat_atm_call_timers *timers,
                         const struct leat_atm_party_in *in, struct leat_atm_party_out *out);

#endif
