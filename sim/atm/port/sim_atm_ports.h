/*
 * The ports of a cell network, for program layers (leat/port.h): at each an adaptation layer unit
 * and its host, as in sim_atm_load.h. A message of N octets takes T(N) of spec/atm.md, 5.4, if
 * nothing is in its way: it is written into the unit, carried as cells, and read out of the other
 * unit.
 *
 * A message that is longer than the send buffer goes in pieces, one after the other. A piece is
 * begun only when the receiver's buffer has room for all of it, and the sender's for its
 * acknowledgements, beside what is on its way there already: else full buffers could wait for each
 * other for ever (hosts know, as if credits had come back; they cost nothing here). And it is begun
 * only when its port has no more blocks than those of one piece that wait for acknowledgements.
 */
#ifndef LEAT_SIM_ATM_PORTS_H
#define LEAT_SIM_ATM_PORTS_H

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
    uint32_t messages_max;                /* under way, 1.. */
    bool contention_free;                 /* cells never meet in the network */
};

/* A message under way. */
struct leat_sim_atm_ports_entry {
    struct leat_port_message message;
    uint64_t cycle;                /* of its hand-over */
    uint64_t begun, sent, arrived; /* octets */
    uint32_t next;                 /* + 1: in its port's queue, or among the free ones */
    bool lost;
    bool has_hash;
    uint64_t hash;           /* of its octets, where they are lent no more */
    const uint8_t *stand_in; /* cells carry these in place of its own octets; NULL: they do not */
};

struct leat_sim_atm_ports_piece {
    uint32_t entry; /* + 1; 0: none */
    uint32_t len;
    uint64_t offset;
};

struct leat_sim_atm_ports_queue { /* of a port: messages that are not wholly begun */
    uint32_t first, last;         /* entries + 1 */
    uint32_t number;              /* of pieces begun */
    uint32_t oldest;              /* none before this one is under way */
    uint32_t pledged; /* blocks of this port's receive buffer, for what is under way to it */
    uint32_t written; /* blocks of the piece that is being written */
    bool held;        /* the first one waits for room */
    bool early;       /* its time has not come */
};

struct leat_sim_atm_ports {
    struct leat_port_net net;
    struct leat_sim_atm_load load;
    struct leat_sim_clock clock;
    struct leat_sim_atm_ports_entry *entry;
    uint32_t free; /* a list, + 1 */
    struct leat_sim_atm_ports_queue *queue;
    struct leat_sim_atm_ports_piece *piece; /* [ports][WINDOW] by number */
    uint32_t piece_max;
    uint32_t held, early; /* ports */
    uint64_t present;     /* cycle */
    bool has_told;        /* something in this run */
    struct leat_sim_atm_load_look look;
    struct leat_sim_atm_load_progress progress;
    uint64_t holds;          /* how often one began to wait for room */
    const uint8_t *stand_in; /* of what is handed over from now on */
};

size_t leat_sim_atm_ports_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, lent for good. */
void leat_sim_atm_ports_init(struct leat_sim_atm_ports *port,
                             const struct leat_sim_atm_ports_config *config, void *memory);

static inline struct leat_sim_atm_ports_piece *
leat_sim_atm_ports_piece_of(const struct leat_sim_atm_ports *port, uint32_t from, uint32_t number)
{
    return &port->piece[(size_t)from * LEAT_SIM_ATM_PORTS_WINDOW +
                        number % LEAT_SIM_ATM_PORTS_WINDOW];
}

/* When a cycle of the simulation is, and the other way round: skipped cycles (sim_atm_load.h)
 * count. */
leat_time leat_sim_atm_ports_edge(const struct leat_sim_atm_ports *port, uint64_t cycle);
uint64_t leat_sim_atm_ports_cycle_from(const struct leat_sim_atm_ports *port, leat_time at);

/* The last cycle up to and with `until`; LEAT_NEVER: there is no last one. */
uint64_t leat_sim_atm_ports_last_cycle(const struct leat_sim_atm_ports *port, leat_time until);

/* Between runs: this message takes the place of one under way, from and to the same ports and of
 * the same length, that has come just as far. Its octets are not in the cells, but `stand_in`, as
 * long as any message. `hash`: of its octets, where it is being read; else NULL. */
void leat_sim_atm_ports_replace(struct leat_sim_atm_ports *port, uint32_t entry,
                                const struct leat_port_message *message, const uint8_t *stand_in,
                                const uint64_t *hash);

#endif
