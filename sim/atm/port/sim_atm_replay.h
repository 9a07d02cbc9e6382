/*
 * Steady-state detection for the ports of a cell network (sim_atm_ports.h). When a program repeats
 * itself, leat replays the recorded deliveries instead of simulating them.
 *
 *     send, sent, arrived ...               send: the same as recorded?
 *     |--- record ------------------------>|--- replay, without the network ---------- ... no:
 *     reference state                      equal fingerprint (sim_atm_fingerprint.h)    catch up
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
 */
#ifndef LEAT_SIM_ATM_REPLAY_H
#define LEAT_SIM_ATM_REPLAY_H

#include "leat_fingerprint.h"
#include "sim_atm_ports.h"

enum leat_sim_atm_replay_kind {
    LEAT_SIM_ATM_REPLAY_HANDED, /* the host sends a message */
    LEAT_SIM_ATM_REPLAY_SENT,
    LEAT_SIM_ATM_REPLAY_COMING,
    LEAT_SIM_ATM_REPLAY_ARRIVED,
    LEAT_SIM_ATM_REPLAY_PAUSE, /* a run ended because of a callback */
};

/* Cycles count from the beginning of the period. */
struct leat_sim_atm_replay_item {
    enum leat_sim_atm_replay_kind kind;
    uint32_t message;
    uint64_t known_at; /* the cycle in which this became known */
    uint64_t at;       /* the cycle that was reported */
};

/* The messages of a period: first those in flight when it began, then those sent in it. */
struct leat_sim_atm_replay_message {
    struct leat_port_message message;
    uint64_t cycle; /* in which it was sent */
    uint64_t hash;  /* of its octets, set when `coming` is reported */
    bool has_hash;
    uint32_t number; /* within its port, relative to the port's next message */
};

/* Replay's data about an entry of the port. */
struct leat_sim_atm_replay_entry {
    uint32_t message; /* its index in this period */
    uint32_t number;  /* within its port */
    uint64_t hash;
    bool has_hash;
};

struct leat_sim_atm_replay {
    struct leat_port_net net;
    struct leat_sim_atm_ports port;
    bool is_off; /* set between runs, before any replay: simulate everything */
    struct leat_sim_atm_replay_entry *entry; /* parallel to the port's */
    uint8_t *blank;                          /* zeros, which cells carry instead of octets */

    /* The reference state and the recording since then. */
    bool remembers;
    uint64_t *word; /* its fingerprint */
    size_t word_count;
    uint64_t words_spent; /* on all fingerprints so far */
    uint64_t from;        /* cycle of the reference state: the last that was run */
    uint64_t holds;       /* of the port at that time */
    struct leat_port_message arrived_last;
    uint32_t arrivals, span; /* since then; the limit after which a new reference is taken */
    struct leat_sim_atm_replay_item *item;
    uint32_t item_count, unsettled; /* items from here on belong to this run */
    struct leat_sim_atm_replay_message *message;
    uint32_t message_count;
    uint32_t in_flight; /* how many of them were in flight when the period began */
    uint32_t *number;   /* each port's message number at that time */
    uint64_t *cells;    /* ... and each link's cells. In a replay both are those of a period */
    bool has_arrived;   /* in this run: arrived_now */
    struct leat_port_message arrived_now;

    /* Replay. */
    bool replays;
    uint32_t next;     /* item */
    uint32_t *ends_as; /* messages in flight at a period's end, in the order of its beginning */
    uint32_t *shell;   /* entries in flight in the port, while it stands still */
    struct leat_sim_atm_replay_message *began; /* messages in flight when this period began */
    uint64_t length;                           /* cycles */
    uint64_t periods;                          /* replayed since the network stands still */
    uint32_t rests;                            /* arrivals to ignore before the search resumes */
    uint32_t rest;     /* what `rests` becomes after a replay that was too short */
    bool catches_up;   /* without callbacks */
    uint64_t replayed; /* messages that arrived by replay, in total */
};

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, and borrowed for the lifetime of `r`. */
void leat_sim_atm_replay_init(struct leat_sim_atm_replay *r,
                              const struct leat_sim_atm_ports_config *config, void *memory);

/* Between runs: simulates what was replayed up to now, so that the state of r->port is the present
 * one. */
void leat_sim_atm_replay_settle(struct leat_sim_atm_replay *r);

#endif
