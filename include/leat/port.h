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
 * ports, those of messages before those of collective operations.
 *
 * Some networks also compute: a collective operation of a group of ports is carried out while its
 * packets travel.
 *
 *     hosts of ports a, b, c                                     each of them
 *      |  collect(part of a), collect(part of b), ...             |
 *      |--------------------> [ folds the words, or copies  ] --->|  collected(at), with the result
 *                             [ the octets, on their way    ]
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

/* What a network computes with words of 64 bits: the i-th ones of all members become one. */
enum leat_port_fold {
    LEAT_PORT_SUM, /* modulo 2^64 */
    LEAT_PORT_AND,
    LEAT_PORT_OR,
    LEAT_PORT_XOR,
    LEAT_PORT_MAX, /* of numbers without a sign */
    LEAT_PORT_MIN,
    LEAT_PORT_FOLDS
};

/* What a network offers its groups. */
struct leat_port_means {
    uint32_t folds;      /* 1 << enum leat_port_fold, combined; 0: no folds, no barriers */
    uint32_t words_max;  /* of a fold */
    uint64_t octets_max; /* of a cast; 0: no casts */
    uint32_t groups_max; /* at a time */
};

enum leat_port_collective {
    LEAT_PORT_FOLD, /* each member has words, and gets those of all together; none: a barrier */
    LEAT_PORT_CAST, /* each member gets the octets of one, the root */
};

/* What a member hands over for its next operation in a group, and gets from it. All members of an
 * operation agree on its kind, fold, root and lengths (asserted). */
struct leat_port_part {
    uint32_t group; /* of leat_port_group */
    uint32_t port;  /* the member */
    uint64_t id;    /* the member's own */
    enum leat_port_collective kind;
    /* Of a fold: lent until collected(), when they are the result. */
    enum leat_port_fold fold;
    uint32_t words;
    uint64_t *word;
    /* Of a cast: room for the result, lent until collected(). Those of the root are lent until
     * every member has it. */
    uint32_t root; /* a port */
    uint64_t len;
    uint8_t *octets;
    bool is_private; /* the certificate covers the length of the result, not its octets */
};

/* A packet where hosts or switches put it on a wire or take it off, for recordings. */
struct leat_port_packet {
    uint32_t place;        /* of leat_port_ops.place */
    bool is_out;           /* it leaves the network there; otherwise it enters it */
    const uint8_t *octets; /* lent for the call */
    size_t len;
};

/* Where packets are seen: "port3", or "san.port3" in a part of the network. */
struct leat_port_place {
    const char *part; /* NULL: none */
    const char *what;
    uint32_t number;
    uint16_t link_type; /* of packets there (leat/capture.h) */
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
    /* The operation is over for this member; for the root of a cast: the network has taken its
     * octets. False: the network could not carry it out for this member, whose words and octets
     * are as they were; others may have the result, or nobody. Called only for parts, which are
     * lent for the call. */
    void (*collected)(void *context, const struct leat_port_part *part, bool is_done, leat_time at);
    /* A packet is seen, not before `now`; in networks of networks not in the order of time. Does
     * not end the run, and changes nothing. May be NULL. */
    void (*packet)(void *context, const struct leat_port_packet *packet, leat_time at);
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

    /* ---- only of networks with means; otherwise NULL ---- */

    /* Makes a group of at least two ports, in ascending order. Takes no time: whoever manages the
     * network does it. 0: no room for another one. */
    uint32_t (*group)(struct leat_port_net *net, const uint32_t *port, uint32_t count);
    /* None of its operations is in progress (asserted). */
    void (*disband)(struct leat_port_net *net, uint32_t group);
    /* Hands over a member's part at `at`, not before `now` (asserted). It waits for collected()
     * before it hands over its next part in this group (asserted). The k-th parts of all members
     * are one operation. */
    void (*collect)(struct leat_port_net *net, const struct leat_port_part *part, leat_time at);
    /* The places where packets of collective operations are seen, counted from 0 on. False: there
     * are no more. NULL: they are not shown. */
    bool (*place)(const struct leat_port_net *net, uint32_t place, struct leat_port_place *out);
};

/* The state of a network that its users see. */
struct leat_port_net {
    const struct leat_port_ops *ops;
    struct leat_port_observer observer;
    uint32_t ports;
    leat_time now;        /* the time reached */
    leat_time latency;    /* no message arrives sooner than this after it is sent */
    uint64_t in_flight;   /* messages sent, neither arrived nor lost; parts whose collected()
                             comes, whether or not another part is handed over */
    uint64_t certificate; /* a hash of all deliveries so far and their times ... */
    uint64_t collected;   /* ... and of all results of collective operations; 0: there was none */
    /* How fast a port reads the octets of a message at most: so many at once, the next ones after
     * `taken_ps` at the earliest. 0 ps: it may read all of them at once. */
    uint32_t taken_octets;
    leat_time taken_ps;
    const struct leat_port_means *means; /* NULL: it computes nothing */
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

/* One number for all deliveries and results so far. */
static inline uint64_t leat_port_certificate(const struct leat_port_net *net)
{
    return net->collected ? (net->certificate ^ net->collected) * UINT64_C(0x100000001b3)
                          : net->certificate;
}

/* Makes a group: `group` of the network. */
static inline uint32_t leat_port_group(struct leat_port_net *net, const uint32_t *port,
                                       uint32_t count)
{
    return net->ops->group(net, port, count);
}

/* Ends a group: `disband` of the network. */
static inline void leat_port_disband(struct leat_port_net *net, uint32_t group)
{
    net->ops->disband(net, group);
}

/* A place where packets are seen: `place` of the network. False: there are no more. */
static inline bool leat_port_place(const struct leat_port_net *net, uint32_t place,
                                   struct leat_port_place *out)
{
    return net->ops->place && net->ops->place(net, place, out);
}

/* Hands over a part of a collective operation: `collect` of the network. */
static inline void leat_port_collect(struct leat_port_net *net, const struct leat_port_part *part,
                                     leat_time at)
{
    net->ops->collect(net, part, at);
}

#ifdef __cplusplus
}
#endif

#endif
