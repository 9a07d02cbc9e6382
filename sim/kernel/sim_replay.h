/*
 * Steady-state detection for the ports of any network (leat/port.h). When a program repeats itself,
 * leat replays the recorded callbacks instead of simulating them.
 *
 *     send, sent, arrived ...               send: the same as recorded?
 *     |--- record ------------------------>|--- replay, without the network ---------- ... no:
 *     reference state                      equal fingerprint (leat_fingerprint.h)       catch up
 *
 * Two states with equal fingerprints have the same future, as long as the hosts send the same
 * messages in the same cycles. The time between two such states is a period. During a replay the
 * network stands still, and the callbacks of the recorded period are made again, with the octets,
 * ids and certificate of the present. When a host sends another message, or omits one, leat
 * simulates the network from the beginning of the current period, without callbacks, and continues
 * from there. Results are the same with and without replay; only the run time differs.
 *
 * The length of a period is unknown in advance. States are compared at each arrival of a message
 * like the one that arrived at the reference state. Each reference state is kept longer than the
 * one before, so that a period is found soon after it begins to repeat (Brent's cycle detection).
 *
 * What differs between networks is a struct leat_sim_replay_model.
 */
#ifndef LEAT_SIM_REPLAY_H
#define LEAT_SIM_REPLAY_H

#include "leat_arena.h"
#include "leat_fingerprint.h"
#include "sim_certificate.h"
#include <leat/port.h>

enum leat_sim_replay_kind {
    LEAT_SIM_REPLAY_HANDED, /* the host sends a message */
    LEAT_SIM_REPLAY_SENT,
    LEAT_SIM_REPLAY_COMING,
    LEAT_SIM_REPLAY_ARRIVED,
    LEAT_SIM_REPLAY_PAUSE, /* a run ended because of a callback */
};

/* Cycles count from the beginning of the period. */
struct leat_sim_replay_item {
    enum leat_sim_replay_kind kind;
    uint32_t message;
    uint64_t known_at; /* the cycle in which this became known */
    uint64_t at;       /* the cycle that was reported */
};

/* The messages of a period: first those in flight when it began, then those sent in it. */
struct leat_sim_replay_message {
    struct leat_port_message message;
    leat_time at;    /* when the host sent it */
    uint64_t cycle;  /* the same as a cycle of the period */
    uint64_t call;   /* of its port, when it was recorded ... */
    uint64_t way;    /* ... and then: of leat_sim_replay_model.way */
    uint64_t number; /* within its port, relative to the port's next message */
    uint64_t hash;   /* of its octets, set when `coming` is reported */
    bool has_hash;
};

/* Replay's data about a message in flight in the network. */
struct leat_sim_replay_entry {
    uint32_t message; /* its index in this period */
    leat_time at;     /* when the host sent it */
    uint64_t number;  /* within its port */
    uint64_t hash;
    bool has_hash;
};

/*
 * What replay needs of a network. `context` is that of leat_sim_replay_config. Cycles are those of
 * the network, which stand still in a replay: their times change with every period that is skipped.
 * A network that has no clock has a cycle per picosecond.
 */
struct leat_sim_replay_model {
    /* ---- states; called between runs ---- */

    /* `entry` receives the messages in flight, in the same order for all equal states; it has room
     * for all of them. */
    void (*fingerprint)(void *context, struct leat_fingerprint *out, uint32_t *entry,
                        uint32_t *entry_count);
    /* How many words of fingerprints the work so far is worth: a few percent of its cost. */
    uint64_t (*earned)(void *context);
    /* Events that no period may contain, so far. NULL: there are none. */
    uint64_t (*breaks)(void *context);
    /* Is the network in a state that may recur, at first sight? NULL: always. */
    bool (*is_plain)(void *context);
    /* May a period contain this message? NULL: any. */
    bool (*may_repeat)(void *context, const struct leat_port_message *message);

    /* ---- time ---- */

    uint64_t (*present)(void *context); /* the last cycle that was run */
    leat_time (*edge)(void *context, uint64_t cycle);
    uint64_t (*cycle_from)(void *context, leat_time at); /* the first one at or after `at` */
    /* The cycle in which a message is accepted that is sent when cycles up to `present` were run.
     */
    uint64_t (*accepts)(void *context, leat_time at, uint64_t present);
    /* The last cycle that a run up to `until` includes; LEAT_NEVER: unlimited. */
    uint64_t (*last)(void *context, leat_time until);
    /* A run up to this time includes the cycle, and not the next one. */
    leat_time (*through)(void *context, uint64_t cycle);

    /* ---- messages ---- */

    uint32_t (*next_entry)(void *context); /* of the next message that is sent */
    /* Of a message of a callback. */
    uint32_t (*entry_of)(void *context, const struct leat_port_message *message);
    const struct leat_port_message *(*message)(void *context, uint32_t entry);
    /* The number of a message that has been sent, within its port; that of the port's next one. */
    uint64_t (*number)(void *context, const struct leat_port_message *message);
    uint64_t (*next_number)(void *context, uint32_t port);
    /* What matters about a message besides ports, length and cycle: `call` others of its port were
     * sent before. NULL: nothing. */
    uint64_t (*way)(void *context, const struct leat_port_message *message, uint64_t call);
    /* Messages of one port that are sent in the same cycle go by their time. */
    bool sorts_by_time;
    /* Within the callback: the hash of its octets, and the cycle in which the arrival became known.
     * NULL: the network has no such callback. */
    void (*coming)(void *context, const struct leat_port_message *message, uint64_t *hash,
                   uint64_t *known_at);
    /* Adds a delivery to the certificate, whose value is returned. Its time is a cycle, its number
     * counts from the port's next message at the beginning of the period. */
    uint64_t (*certify)(void *context, const struct leat_sim_delivery *delivery);

    /* ---- counters 0.., which grow by the same amount in each period ---- */

    uint64_t (*count)(void *context, uint32_t counter);
    void (*add)(void *context, uint32_t counter, uint64_t more);

    /* ---- standing still, and catching up ---- */

    /* A period of so many cycles is over, in which each port sent so many messages. */
    void (*skip)(void *context, uint64_t cycles, const uint64_t *messages);
    /* What follows was reported already: no callbacks, nothing for the certificate. Then end(). */
    void (*begin)(void *context);
    /* The message in flight has become this one: when the period began, and now. In all the skipped
     * periods its port has sent so many messages. */
    void (*replace)(void *context, uint32_t entry, const struct leat_sim_replay_message *began,
                    const struct leat_sim_replay_message *now, uint64_t messages);
    /* All of them have. NULL: nothing to do. */
    void (*replaced)(void *context);
    /* The message of this entry has just been sent again. NULL: nothing to do. */
    void (*sent_again)(void *context, uint32_t entry, const struct leat_sim_replay_message *now);
    void (*end)(void *context);
};

struct leat_sim_replay_config {
    const struct leat_sim_replay_model *model;
    void *context;
    struct leat_port_net *inner; /* the network; its observer and state are replay's from now on */
    uint32_t messages_max;       /* entries of the network */
    uint32_t counters;
    uint64_t words_min; /* of a fingerprint, for the budget */
};

struct leat_sim_replay {
    struct leat_port_net net;
    struct leat_sim_replay_config config;
    bool is_off; /* set between runs, before any replay: simulate everything */
    struct leat_sim_replay_entry *entry; /* parallel to the network's */
    uint64_t *calls;                     /* [ports] messages that were sent */
    leat_time *last_at;                  /* [ports] when the last one was */

    /* The reference state and the recording since then. */
    bool remembers;
    uint64_t *word; /* its fingerprint */
    size_t word_count;
    uint64_t words_spent; /* on all fingerprints so far */
    uint64_t from;        /* cycle of the reference state: the last that was run */
    uint64_t breaks;      /* of the network at that time */
    struct leat_port_message arrived_last;
    uint32_t arrivals, span; /* since then; the limit after which a new reference is taken */
    struct leat_sim_replay_item *item;
    uint32_t item_count, unsettled; /* items from here on belong to this run */
    struct leat_sim_replay_message *message;
    uint32_t message_count;
    uint32_t in_flight; /* how many of them were in flight when the period began */
    uint64_t *number;   /* each port's message number at that time */
    uint64_t *counter;  /* ... and each counter. In a replay both are those of a period */
    bool has_arrived;   /* in this run: arrived_now */
    bool has_called;    /* in this run: a callback that ends it */
    struct leat_port_message arrived_now;

    /* Replay. */
    bool replays;
    uint32_t next;     /* item */
    uint64_t reached;  /* the last cycle that is over */
    uint32_t *ends_as; /* messages in flight at a period's end, in the order of its beginning */
    uint32_t *shell;   /* entries in flight in the network, while it stands still */
    struct leat_sim_replay_message *began; /* messages in flight when this period began */
    uint64_t length;                       /* cycles */
    uint64_t periods;                      /* replayed since the network stands still */
    uint32_t rests;                        /* arrivals to ignore before the search resumes */
    uint32_t rest;     /* what `rests` becomes after a replay that was too short */
    bool catches_up;   /* without callbacks */
    uint64_t replayed; /* messages that arrived by replay, in total */
};

/* Lays out its arrays, for a network of so many ports. Only ports, messages_max and counters of the
 * config matter. */
void leat_sim_replay_lay(struct leat_sim_replay *r, const struct leat_sim_replay_config *config,
                         uint32_t ports, struct leat_arena *arena);

/* After lay, in zeroed memory. The network has no messages yet. */
void leat_sim_replay_init(struct leat_sim_replay *r, const struct leat_sim_replay_config *config);

/* Between runs: simulates what was replayed up to now, so that the state of the network is the
 * present one. */
void leat_sim_replay_settle(struct leat_sim_replay *r);

#endif
