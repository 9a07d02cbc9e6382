/*
 * What the library in a task and the service in leat run agree upon.
 *
 *     question   struct leat_atm_question | octets of a put
 *     answer     struct leat_atm_answer   | octets of a get
 *
 * Both are on one machine, so these are plain structs. An impossible request ends the run: there
 * are no negative answers.
 */
#ifndef LEAT_THESIS_SHARED_H
#define LEAT_THESIS_SHARED_H

#include <stdint.h>

enum { LEAT_ATM_NAME_CAP = 4, LEAT_ATM_ALL = -1 };

enum leat_atm_op {
    LEAT_ATM_JOIN, /* -> name, instance, port: of the caller */
    LEAT_ATM_START,
    LEAT_ATM_PORT,  /* -> port, or -1 */
    LEAT_ATM_CYCLE, /* -> cycle */
    LEAT_ATM_INITSEND,
    LEAT_ATM_PUT,
    LEAT_ATM_SEND,
    LEAT_ATM_RECEIVE,
    LEAT_ATM_GET,
    LEAT_ATM_READ_END,
};

struct leat_atm_question {
    enum leat_atm_op op;
    char name[LEAT_ATM_NAME_CAP]; /* START, PORT, SEND */
    int32_t instance;
    int32_t type; /* SEND, RECEIVE */
    uint32_t len; /* GET */
};

struct leat_atm_answer {
    uint64_t cycle;
    char name[LEAT_ATM_NAME_CAP];
    int32_t instance;
    int32_t port;
};

#endif
