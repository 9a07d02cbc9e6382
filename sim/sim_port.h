/*
 * The ports of a cell network, for program layers (port/port.h): at each an adaptation layer unit
 * and its host, as in sim_load.h. A message of N octets takes T(N) of specs/atm.md, 5.4, if nothing
 * is in its way: it is written into the unit, carried as cells, and read out of the other unit.
 *
 * A message that is longer than the send buffer goes in pieces, one after the other. A piece is
 * begun only when the receiver's buffer has room for all of it, and the sender's for its
 * acknowledgements, beside what is on its way there already: else full buffers could wait for each
 * other for ever (hosts know, as if credits had come back; they cost nothing here).
 */
#ifndef LEAT_SIM_PORT_H
#define LEAT_SIM_PORT_H

#include "port.h"
#include "sim_clock.h"
#include "sim_load.h"

enum { LEAT_SIM_PORT_WINDOW = 4096 }; /* pieces of a port that have not arrived; a power of two */

struct leat_sim_port_config {
    struct leat_sim_fabric fabric;
    enum leat_sim_atm_model model;
    struct leat_atm_aal_config aal;   /* as in sim_load.h */
    struct leat_sim_line_config line; /* all zeros: no errors */
    uint32_t messages_max;            /* under way, 1.. */
    bool contention_free;             /* cells never meet in the network */
};

/* A message under way. */
struct leat_sim_port_entry {
    struct leat_port_message message;
    uint64_t cycle;                /* of its hand-over */
    uint64_t begun, sent, arrived; /* octets */
    uint32_t next;                 /* + 1: in its port's queue, or among the free ones */
    bool lost;
};

struct leat_sim_port_piece {
    uint32_t entry; /* + 1; 0: none */
    uint32_t len;
    uint64_t offset;
};

struct leat_sim_port_queue { /* of a port: messages that are not wholly begun */
    uint32_t first, last;    /* entries + 1 */
    uint32_t number;         /* of pieces begun */
    uint32_t pledged;        /* blocks of this port's receive buffer, for what is under way to it */
    uint32_t written;        /* blocks of the piece that is being written */
    bool held;               /* the first one waits for room */
    bool early;              /* its time has not come */
};

struct leat_sim_port {
    struct leat_port_net net;
    struct leat_sim_load load;
    struct leat_sim_clock clock;
    struct leat_sim_port_entry *entry;
    uint32_t free; /* a list, + 1 */
    struct leat_sim_port_queue *queue;
    struct leat_sim_port_piece *piece; /* [ports][WINDOW] by number */
    uint32_t piece_max;
    uint32_t held, early; /* ports */
    uint64_t present;     /* cycle */
    bool has_told;        /* something in this run */
};

size_t leat_sim_port_footprint(const struct leat_sim_port_config *config);

/* `memory` is zeroed, aligned for any object, lent for good. */
void leat_sim_port_init(struct leat_sim_port *port, const struct leat_sim_port_config *config,
                        void *memory);

#endif
