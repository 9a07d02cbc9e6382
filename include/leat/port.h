/*
 * What a host sees of any network: ports that carry messages of octets, and a clock.
 *
 *     host of port a                                             host of port b
 *      |  send(a -> b, at)                                        |
 *      |--------------------> [ port a   network   port b ] ----->|  arrived(at), with its octets
 *      |  sent(at)                                                |
 *      |<--------------------                                     |
 *
 * Times are picoseconds of the network's own clock. The clock advances only in leat_port_run, which
 * calls back for each event in the order of time; events of the same time come in the order of
 * ports.
 *
 * A network behind this interface begins with a struct leat_port_net.
 */
#ifndef LEAT_PORT_H
#define LEAT_PORT_H

#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Octets of a message that are there when head() is called. */
enum { LEAT_PORT_HEAD_LEN = 64 };

/* A message, as its sender hands it over. */
struct leat_port_message {
    uint32_t from, to; /* ports */
    uint64_t id;       /* the sender's own */
    uint8_t *octets;   /* lent from send() until arrived() or lost() */
    uint64_t len;
    bool is_private; /* the certificate covers its length, not its octets */
};

/* Why messages cannot arrive. */
enum leat_port_stuck {
    LEAT_PORT_LOCKED,     /* full buffers wait for each other */
    LEAT_PORT_LIVELOCKED, /* the network is busy but delivers nothing */
};

/* Callbacks of a network. Messages are lent for the call. A callback must neither send nor run. */
struct leat_port_observer {
    void *context;
    /* The port has taken the last octet: the host may hand it the next message. */
    void (*sent)(void *context, const struct leat_port_message *message, leat_time at);
    /* The whole message has arrived; sent() came before. Its octets are those that arrived: they
     * contain errors that no checksum detected. */
    void (*arrived)(void *context, const struct leat_port_message *message, leat_time at);
    /* The message will never arrive. `why`: a sentence without a full stop. */
    void (*lost)(void *context, const struct leat_port_message *message, const char *why,
                 leat_time at);
    /* Some or all messages in flight will never arrive; lost() follows for each. `why`: a sentence
     * without a full stop. May be NULL. */
    void (*stuck)(void *context, enum leat_port_stuck how, const char *why, leat_time at);
    /* The network knows ahead of time that the message arrives at `at`. Its octets are final and no
     * longer lent. arrived() still comes at `at`; until then the destination port has no other
     * event, unless the message is lost after all. Does not end the run. May be NULL. */
    void (*coming)(void *context, const struct leat_port_message *message, leat_time at);
    /* A message begins to arrive: no octet is later than at an even rate from `from` to `at`, which
     * may be slightly later than arrived(). Or `at` is LEAT_NEVER: only the first
     * LEAT_PORT_HEAD_LEN octets are there at `from`. Called at most once, not after `from`, by
     * networks that can; the octets are final, but still lent. For cut-through routers. The message
     * may be lost after all. May be NULL. */
    void (*head)(void *context, const struct leat_port_message *message, leat_time from,
                 leat_time at);
};

/* A network; defined below. */
struct leat_port_net;

/* What a network does. */
struct leat_port_ops {
    /* Hands the message to its port at `at`, not before `now` (asserted). A port sends its messages
     * one after the other, by time, then in the order of the calls. False: too many messages are in
     * flight (see the network's limit). */
    bool (*send)(struct leat_port_net *net, const struct leat_port_message *message, leat_time at);

    /* Runs up to the next event, with all events of that time, or up to `until`, or for a while, so
     * that the caller can look for an interrupt. Returns the time reached. Nothing in flight and
     * LEAT_NEVER: returns `now`. */
    leat_time (*run)(struct leat_port_net *net, leat_time until);
};

/* The state of a network that its users see. */
struct leat_port_net {
    const struct leat_port_ops *ops;
    struct leat_port_observer observer;
    uint32_t ports;
    leat_time now;        /* the time reached */
    leat_time latency;    /* no message arrives sooner than this after it is sent */
    uint64_t in_flight;   /* messages sent, neither arrived nor lost */
    uint64_t certificate; /* a hash of all deliveries so far and their times */
    /* How fast a port reads the octets of a message at most: so many at once, the next ones after
     * `taken_ps` at the earliest. 0 ps: it may read all of them at once. */
    uint32_t taken_octets;
    leat_time taken_ps;
};

/* Hands a message to its port: `send` of the network. */
static inline bool leat_port_send(struct leat_port_net *net,
                                  const struct leat_port_message *message, leat_time at)
{
    return net->ops->send(net, message, at);
}

/* Runs the network up to the next event: `run` of the network. */
static inline leat_time leat_port_run(struct leat_port_net *net, leat_time until)
{
    return net->ops->run(net, until);
}

#ifdef __cplusplus
}
#endif

#endif
