/*
 * The ports of a cell network (sim_atm_ports.h) for programs that do the same over and over: what
 * has been simulated once is not simulated again.
 *
 *     handed over, sent, arrived ...                handed over, as before?
 *     |--- written down ----------------->|--- told again, without the network ------------ ... no:
 *     a moment                            a moment like it (sim_atm_fingerprint.h) catch up
 *
 * From two moments that are alike the same follows, as long as the same is handed over in the same
 * cycles. So between such moments, a lap, the network stands still, and what it told in the last
 * lap is told again; octets, ids and the certificate are those of now. When something else is
 * handed over, or something is not, the network is run from the beginning of this lap on, telling
 * nothing, and goes on from there. Nobody can tell the difference, but for the time it takes.
 *
 * How long a lap is nobody knows: moments are looked at with each arrival of a message like the one
 * at which a moment was remembered, and moments are remembered for longer and longer, so that any
 * lap is found soon after it has begun to repeat itself (Brent's way to find a cycle).
 */
#ifndef LEAT_SIM_ATM_REPLAY_H
#define LEAT_SIM_ATM_REPLAY_H

#include "leat_fingerprint.h"
#include "sim_atm_ports.h"

enum leat_sim_atm_replay_kind {
    LEAT_SIM_ATM_REPLAY_HANDED, /* over by its host */
    LEAT_SIM_ATM_REPLAY_SENT,
    LEAT_SIM_ATM_REPLAY_COMING,
    LEAT_SIM_ATM_REPLAY_ARRIVED,
    LEAT_SIM_ATM_REPLAY_PAUSE, /* a run ended since something was told */
};

/* Cycles are counted from the beginning of a lap. */
struct leat_sim_atm_replay_item {
    enum leat_sim_atm_replay_kind kind;
    uint32_t message;
    uint64_t told; /* when this was known */
    uint64_t at;   /* the cycle that was told */
};

/* The messages of a lap: those that were under way when it began, then those handed over. */
struct leat_sim_atm_replay_message {
    struct leat_port_message message;
    uint64_t cycle; /* of its hand-over */
    uint64_t hash;  /* of its octets, once it was told that it comes */
    bool has_hash;
    uint32_t number; /* among those of its port, from its next one on */
};

/* What is known of an entry of the port. */
struct leat_sim_atm_replay_entry {
    uint32_t message; /* in this lap */
    uint32_t number;  /* of its port's */
    uint64_t hash;
    bool has_hash;
};

struct leat_sim_atm_replay {
    struct leat_port_net net;
    struct leat_sim_atm_ports port;
    bool is_off;                             /* between runs, before any lap: all is simulated */
    struct leat_sim_atm_replay_entry *entry; /* beside the port's */
    uint8_t *blank;                          /* octets of a message: none */

    /* The moment that is remembered, and all since then. */
    bool remembers;
    uint64_t *word; /* its likeness */
    size_t word_count;
    uint64_t words_spent; /* on likenesses, ever */
    uint64_t from;        /* its cycle: the last that was run */
    uint64_t holds;       /* of the port, then */
    struct leat_port_message arrived_last;
    uint32_t arrivals, span; /* since then; up to which it is remembered */
    struct leat_sim_atm_replay_item *item;
    uint32_t item_count, unsettled; /* those from here on are of this run */
    struct leat_sim_atm_replay_message *message;
    uint32_t message_count;
    uint32_t under_way; /* of them: when the lap began */
    uint32_t *number;   /* of each port's messages, then */
    bool has_arrived;   /* something in this run: arrived_now */
    struct leat_port_message arrived_now;

    /* Laps that are not simulated. */
    bool replays;
    uint32_t next;     /* item */
    uint32_t *ends_as; /* messages under way at the end of a lap, in the order of its beginning */
    uint32_t *shell;   /* entries of the port under way, where it stands still */
    struct leat_sim_atm_replay_message *began; /* this lap: those under way */
    uint64_t length;                           /* cycles */
    uint64_t laps;                             /* since it stands still */
    uint32_t rests;                            /* arrivals before it looks for laps again */
    uint32_t rest;                             /* how many the next time that it was not worth it */
    bool catches_up;                           /* and tells nothing */
    uint64_t replayed; /* messages that arrived without being simulated, of all */
};

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, lent for good. */
void leat_sim_atm_replay_init(struct leat_sim_atm_replay *laps,
                              const struct leat_sim_atm_ports_config *config, void *memory);

#endif
