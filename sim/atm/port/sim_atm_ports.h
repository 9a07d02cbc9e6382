/*
 * The ports of a cell network, for program layers (leat/port.h): at each port an adaptation layer
 * unit and its host, as in sim_atm_load.h. In an idle network a message of N octets takes T(N) of
 * spec/atm.md, 5.4: it is written into the unit, carried as cells, and read from the other unit.
 *
 * A message longer than the send buffer is sent in pieces, one after the other. A piece begins only
 * when the receiver's buffer has room for all of it, and the sender's for its acknowledgements,
 * besides what is already in flight there. Otherwise full buffers could deadlock. (Hosts know this
 * as if they exchanged credits, at no cost.) A piece also waits while its port has more
 * unacknowledged blocks than those of one piece.
 */
#ifndef LEAT_SIM_ATM_PORTS_H
#define LEAT_SIM_ATM_PORTS_H

#include "sim_atm_collect.h"
#include "sim_atm_load_group.h"
#include "sim_atm_load_stuck.h"
#include "sim_clock.h"
#include <leat/port.h>

enum {
    LEAT_SIM_ATM_PORTS_WINDOW = 4096
}; /* pieces of a port that have not arrived; a power of two */

struct leat_sim_atm_ports_config {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    struct leat_atm_aal_config aal;       /* as in sim_atm_load.h */
    struct leat_sim_atm_line_config line; /* all zeros: no errors */
    bool contention_free;                 /* cells never meet in the network */
    uint32_t messages_max;                /* in flight, 1.. */
    /* Of the platform (sim_atm_platform.h), instead of messages_max: */
    uint32_t tasks_max; /* 1.. */
    bool polls;
};

/* A message in flight. */
struct leat_sim_atm_ports_entry {
    struct leat_port_message message;
    uint64_t cycle;                /* in which it was sent */
    uint64_t begun, sent, arrived; /* octets */
    uint32_t next;                 /* + 1: in its port's queue, or in the free list */
    bool lost;
    bool has_hash;
    uint64_t hash;           /* of its octets, once they are no longer lent */
    const uint8_t *stand_in; /* cells carry these instead of its own octets; NULL: they do not */
    /* Of a message of a collective operation; to many ports: a broadcast or multicast. */
    uint32_t group; /* 0: it is an ordinary message */
    uint32_t place; /* of its sender */
    uint64_t operation;
};

struct leat_sim_atm_ports_piece {
    uint32_t entry; /* + 1; 0: none; LEAT_SIM_ATM_PORTS_ORPHAN: its entry has ended */
    uint32_t len;
    uint32_t to; /* a port, or many (sim_atm_traffic.h) */
    union {
        uint64_t offset;      /* of an ordinary message */
        struct {              /* of a collective operation */
            uint32_t ordinal; /* to many: among those of its port */
            uint32_t lacking; /* ports that do not have it */
        };
    };
};
#define LEAT_SIM_ATM_PORTS_ORPHAN UINT32_MAX

struct leat_sim_atm_ports_queue { /* of a port: messages with pieces that have not begun */
    uint32_t first, last;         /* entries + 1 */
    uint32_t number;              /* of pieces begun */
    uint32_t oldest;              /* no earlier piece is in flight */
    uint32_t pledged; /* blocks of this port's receive buffer reserved for pieces in flight */
    uint32_t written; /* blocks of the piece being written; to many: its acknowledgements */
    uint32_t casts;   /* pieces to many so far */
    bool has_cast;    /* some may be unacknowledged */
    bool held;        /* the first message waits for room */
    bool early;       /* the first message is to be sent later */
};

struct leat_sim_atm_ports {
    struct leat_port_net net;
    struct leat_sim_atm_load load;
    struct leat_sim_clock clock;
    struct leat_sim_atm_ports_entry *entry;
    uint32_t free; /* free list, + 1 */
    struct leat_sim_atm_ports_queue *queue;
    struct leat_sim_atm_ports_piece *piece; /* [ports][WINDOW] by number */
    uint32_t piece_max;
    uint32_t held, early; /* ports */
    uint64_t present;     /* cycle */
    bool has_called;      /* a callback was made in this run */
    struct leat_sim_atm_load_arrivals arrivals;
    struct leat_sim_atm_load_progress progress;
    uint64_t holds;          /* how often a message began to wait for room */
    const uint8_t *stand_in; /* for messages sent from now on */
    struct leat_sim_atm_collect collect;
};

/* The load below the ports, without callbacks. */
struct leat_sim_atm_load_config
leat_sim_atm_ports_load(const struct leat_sim_atm_ports_config *config);

size_t leat_sim_atm_ports_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, lent for the object's lifetime. */
void leat_sim_atm_ports_init(struct leat_sim_atm_ports *port,
                             const struct leat_sim_atm_ports_config *config, void *memory);

static inline struct leat_sim_atm_ports_piece *
leat_sim_atm_ports_piece_of(const struct leat_sim_atm_ports *port, uint32_t from, uint32_t number)
{
    return &port->piece[(size_t)from * LEAT_SIM_ATM_PORTS_WINDOW +
                        number % LEAT_SIM_ATM_PORTS_WINDOW];
}

/* Converts between cycles of the simulation and time, including skipped cycles (sim_atm_load.h). */
leat_time leat_sim_atm_ports_edge(const struct leat_sim_atm_ports *port, uint64_t cycle);
uint64_t leat_sim_atm_ports_cycle_from(const struct leat_sim_atm_ports *port, leat_time at);

/* The last cycle at or before `until`; LEAT_NEVER: unlimited. */
uint64_t leat_sim_atm_ports_last_cycle(const struct leat_sim_atm_ports *port, leat_time until);

/* Call it between runs: replaces a message in flight by one with the same ports and length that has
 * progressed equally. Its cells carry `stand_in`, which is as long as any message, instead of its
 * octets. `hash`: of its octets, if it is being read; else NULL. */
void leat_sim_atm_ports_replace(struct leat_sim_atm_ports *port, uint32_t entry,
                                const struct leat_port_message *message, const uint8_t *stand_in,
                                const uint64_t *hash);

#endif
