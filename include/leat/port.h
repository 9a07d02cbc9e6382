/*
 * What a host sees of any network: ports that carry messages of octets, and a clock.
 *
 *     host of port a                                             host of port b
 *      |  send(a -> b, at)                                        |
 *      |--------------------> [ port a   network   port b ] ----->|  arrived(at), with its octets
 *      |  sent(at)                                                |
 *      |<--------------------                                     |
 *
 * Program layers speak to ports only. Times are picoseconds of the network's own clock. A network
 * stands still until it is run, and then tells what happens, in the order of time; what happens at
 * the same time it tells in the order of ports.
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

enum { LEAT_PORT_HEAD_LEN = 64 };

struct leat_port_message {
    uint32_t from, to; /* ports */
    uint64_t id;       /* the sender's own */
    uint8_t *octets;   /* lent from send() until arrived() or lost() is told */
    uint64_t len;
    bool is_private; /* its octets do not count in the certificate, only their number does */
};

enum leat_port_stuck {
    LEAT_PORT_LOCKED,     /* full buffers wait for each other */
    LEAT_PORT_LIVELOCKED, /* the network is busy, and delivers nothing */
};

/* What a network tells. Messages are lent for the call. None of these may send or run. */
struct leat_port_hear {
    void *context;
    /* The port has taken the last octet: its host is free for the next message. */
    void (*sent)(void *context, const struct leat_port_message *message, leat_time at);
    /* All of it has come in, and sent() was told before. Its octets are those that arrived: errors
     * on the way that nobody noticed have been written into them. */
    void (*arrived)(void *context, const struct leat_port_message *message, leat_time at);
    /* It will never arrive. `why`: a sentence without an end. */
    void (*lost)(void *context, const struct leat_port_message *message, const char *why,
                 leat_time at);
    /* Nothing will ever arrive any more of some or all that is under way, which lost() is told of
     * behind this. `why`: a sentence without an end. NULL: nobody wants to know more. */
    void (*stuck)(void *context, enum leat_port_stuck how, const char *why, leat_time at);
    /* Some messages are known to arrive at `at` before that time has come. Their octets are final,
     * and no more lent, and arrived() is told in its time all the same. Until then nothing else is
     * told of the port that it goes to, unless the message is lost after all. The run does not end
     * with this. NULL: nobody wants to know. */
    void (*coming)(void *context, const struct leat_port_message *message, leat_time at);
    /* A message begins to come in. It is certain how it goes on: no octet is later than if they
     * came evenly from `from` up to `at`, which may be a little later than arrived() is told. Or,
     * where `at` is LEAT_NEVER, nobody knows, but the first LEAT_PORT_HEAD_LEN octets are there at
     * `from`. Told once, not after `from`, by networks that can; the octets are final, but lent as
     * before. For whoever sends them on, or decides where to, before all are there. The message may
     * be lost after all. NULL: nobody wants to know. */
    void (*head)(void *context, const struct leat_port_message *message, leat_time from,
                 leat_time at);
};

struct leat_port_net;

struct leat_port_ops {
    /* The message is handed to its port at `at`, not before the present time (asserted); a port
     * sends what it is handed one after the other, by time, then in the order of the calls. False:
     * too many messages are under way (see the network's limit). */
    bool (*send)(struct leat_port_net *net, const struct leat_port_message *message, leat_time at);

    /* Runs until something has been told, all of that time with it, or up to `until`, or for a
     * while (so that its owner can hear of an interrupt); returns the time that it has reached.
     * Nothing under way and LEAT_NEVER: stays where it is. */
    leat_time (*run)(struct leat_port_net *net, leat_time until);
};

struct leat_port_net {
    const struct leat_port_ops *ops;
    struct leat_port_hear hear;
    uint32_t ports;
    leat_time now;        /* the time reached */
    leat_time latency;    /* no message arrives sooner than this after it is sent */
    uint64_t under_way;   /* messages sent, neither arrived nor lost */
    uint64_t certificate; /* of all deliveries so far (sim_certificate.h) */
    /* How fast a port takes the octets of a message at most, from when it is handed over: so many
     * at once, the next after `taken_ps` at the earliest. 0 ps: it may want all of them at once. */
    uint32_t taken_octets;
    leat_time taken_ps;
};

static inline bool leat_port_send(struct leat_port_net *net,
                                  const struct leat_port_message *message, leat_time at)
{
    return net->ops->send(net, message, at);
}

static inline leat_time leat_port_run(struct leat_port_net *net, leat_time until)
{
    return net->ops->run(net, until);
}

#ifdef __cplusplus
}
#endif

#endif
