/*
 * What tasks see of the thesis' platform (spec/atm.md, 7.1): each is bound to a port of a cell
 * network, and gives commands to the adaptation layer unit that it shares with the others of its
 * port. Two locks keep them apart: wlcked from a granted INITSEND until the message is ready to be
 * sent (from SEND on the unit has it, so its own task waits for it too), rlcked from a RECEIVE that
 * the unit looks at to READ_END.
 *
 *     INITSEND { PUT } SEND            told when: it has the lock | the words are in | the unit has
 *                                      the five words (the message becomes ready behind it)
 *     RECEIVE { GET } READ_END         told when: a message is granted | the words are out | at
 * once
 *
 * A task asks for one thing at a time, and is told when it is done; then it may ask again, in the
 * same cycle: the unit goes on without a gap.
 *
 * A platform is a network behind port.h too, so that whatever runs networks runs it; it carries no
 * messages of port.h. `under_way` is not 0 as long as anything may still be told.
 */
#ifndef LEAT_PLATFORM_H
#define LEAT_PLATFORM_H

#include <leat/port.h>

enum { LEAT_PLATFORM_NAME_LEN = 3 };

enum leat_platform_verb {
    LEAT_PLATFORM_INITSEND,
    LEAT_PLATFORM_PUT, /* octets, len: a word of the bus has four of them, the last may have less */
    LEAT_PLATFORM_SEND,     /* to, name, instance, type */
    LEAT_PLATFORM_RECEIVE,  /* type: a message for the one who asks; gives back its last one */
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
    const char *refusal;   /* NULL: done; else a sentence without an end, and nothing was done */
    const uint8_t *octets; /* of a GET, lent for the call */
    uint32_t len;          /* of a GET; RECEIVE: octets that the message has at most */
};

struct leat_platform {
    struct leat_port_net net;
    void *context;
    void (*told)(void *context, const struct leat_platform_reply *reply);
    /* A port gave up a message after the last transmission: to this port, or to ALL. */
    void (*lost)(void *context, uint32_t from, uint32_t to, leat_time at);
    /* A task comes, at this port; the present time. False: there are too many, or too many of that
     * name at the port. */
    bool (*join)(struct leat_platform *platform, uint32_t task, uint32_t port,
                 const char name[LEAT_PLATFORM_NAME_LEN], uint32_t instance);
    /* At the present time: in the cycle reached. What needs no waiting is told within the call,
     * the rest while the network runs. `told` must not ask. */
    void (*ask)(struct leat_platform *platform, const struct leat_platform_request *request);
    uint64_t (*cycle)(const struct leat_platform *platform); /* the present one */
};

#endif
