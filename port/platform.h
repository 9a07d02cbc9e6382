/*
 * The thesis' platform as tasks see it (spec/atm.md, 7.1). Each task is bound to a port of a cell
 * network and gives commands to the adaptation layer unit, which it shares with the other tasks of
 * its port. Two locks separate them: wlcked from a granted INITSEND until the message is ready to
 * be sent (from SEND on the unit holds it, so its own task waits for it too), rlcked from a RECEIVE
 * that the unit looks at to READ_END.
 *
 *     INITSEND { PUT } SEND            reported when: it has the lock | the words are in | the unit
 *                                      has the five words (the message becomes ready later)
 *     RECEIVE { GET } READ_END         reported when: a message is granted | the words are out | at
 *                                      once
 *
 * A task makes one request at a time. The platform reports when it is done; then the task may make
 * the next request in the same cycle, and the unit continues without a gap.
 *
 * A platform is also a network behind port.h, so whatever runs networks can run it; it carries no
 * messages of port.h. `in_flight` is not 0 as long as a report may follow.
 */
#ifndef LEAT_PLATFORM_H
#define LEAT_PLATFORM_H

#include <leat/port.h>

enum { LEAT_PLATFORM_NAME_LEN = 3 };

enum leat_platform_verb {
    LEAT_PLATFORM_INITSEND,
    LEAT_PLATFORM_PUT,      /* octets, len: a word of the bus has four, the last may have fewer */
    LEAT_PLATFORM_SEND,     /* to, name, instance, type */
    LEAT_PLATFORM_RECEIVE,  /* type: a message for the requesting task; releases its previous one */
    LEAT_PLATFORM_GET,      /* len */
    LEAT_PLATFORM_READ_END, /* rlcked = 0 */
};

#define LEAT_PLATFORM_ALL UINT32_MAX /* ports; as an instance: all of that name */

struct leat_platform_request {
    enum leat_platform_verb verb;
    uint32_t task;
    const uint8_t *octets; /* lent for the call */
    uint32_t len;
    uint32_t to; /* a port */
    char name[LEAT_PLATFORM_NAME_LEN];
    uint32_t instance, type;
};

struct leat_platform_reply {
    enum leat_platform_verb verb;
    uint32_t task;
    uint64_t cycle; /* of the network's clock */
    leat_time at;
    const char *refusal;   /* NULL: done; else a sentence without a full stop; nothing was done */
    const uint8_t *octets; /* of a GET, lent for the call */
    uint32_t len;          /* of a GET; RECEIVE: the maximum of octets in the message */
};

struct leat_platform {
    struct leat_port_net net;
    void *context;
    void (*reported)(void *context, const struct leat_platform_reply *reply);
    /* A port discarded a message after the last transmission: to this port, or to ALL. */
    void (*lost)(void *context, uint32_t from, uint32_t to, leat_time at);
    /* A task joins this port, now. False: too many tasks, or too many of that name at the port. */
    bool (*join)(struct leat_platform *platform, uint32_t task, uint32_t port,
                 const char name[LEAT_PLATFORM_NAME_LEN], uint32_t instance);
    /* Makes a request now: in the cycle reached. Requests that need no waiting are reported within
     * the call, the others while the network runs. The callback `reported` must not make requests. */
    void (*ask)(struct leat_platform *platform, const struct leat_platform_request *request);
    uint64_t (*cycle)(const struct leat_platform *platform); /* the current one */
};

#endif
