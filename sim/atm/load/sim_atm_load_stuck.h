/*
 * Does the prototype at work (sim_atm_load.h) get nowhere any more?
 *
 *     deadlock   the receive buffer of a port is full, so that the cells for it stop in the
 * network; its acknowledgements wait behind such cells, and without them it does not become empty
 * (proto/atm/README.md, "A network can lock") livelock   cells move, but bring nothing new: copies,
 * and acknowledgements of copies
 *
 * Nothing here changes what a network does; it is looked at now and then. What stays as it is for
 * longer than anything takes that could change it stays so for ever.
 */
#ifndef LEAT_SIM_ATM_LOAD_STUCK_H
#define LEAT_SIM_ATM_LOAD_STUCK_H

#include "sim_atm_load.h"
#include <leat/port.h>

/* What is told of it: a sentence without an end. */
const char *leat_sim_atm_load_stuck_text(enum leat_port_stuck how);

/* ---- the whole network ----------------------------------------------------------------------- */

/* Deadlock: has no cell come in anywhere for so long that every cell would have been sent for the
 * last time, while somebody tries to send all the time? As where cells are sent again before an
 * acknowledgement can come. For who looks now and then: what it saw last, zeros at first. */
struct leat_sim_atm_load_look {
    uint64_t cells, since;
};
bool leat_sim_atm_load_is_stuck(const struct leat_sim_atm_load *load,
                                struct leat_sim_atm_load_look *look);

/* Livelock: has nothing been delivered for longer than anything takes that units may still do? For
 * who looks now and then and counts what hosts have got: what it saw last, zeros at first. Where
 * all is quiet there is nothing to judge, unless a message is `held` back until the network has
 * room for it. */
struct leat_sim_atm_load_progress {
    uint64_t delivered, since, looked_at;
};
bool leat_sim_atm_load_is_livelocked(const struct leat_sim_atm_load *load, uint64_t delivered,
                                     bool held, struct leat_sim_atm_load_progress *progress);

/* These cycles: all transmissions of a cell, each with its time-out and with a buffer full of cells
 * that are served before it as slowly as any; all buffers, one after the other, over one wire; the
 * time until a descriptor is free; and the writing and reading of the longest message. */
uint64_t leat_sim_atm_load_delivery_cycles(const struct leat_sim_atm_load *load);

/* ---- its ports, for hosts that read whatever they get ---------------------------------------- */

/* Runs up to and including cycle `last` as leat_sim_atm_load_run, and looks now and then, always in
 * the same cycles. False: nothing moves any more, and the run has ended there. */
bool leat_sim_atm_load_run_watched(struct leat_sim_atm_load *load, uint64_t last);

/* The same for who runs it by leat_sim_atm_load_run: looks, if it is time to. True: it has looked.
 */
bool leat_sim_atm_load_look(struct leat_sim_atm_load *load);

/* After such a run: is this port locked, by itself with some others or since nothing moves? Full,
 * and it has neither sent nor received a cell since *since. */
bool leat_sim_atm_load_is_locked(const struct leat_sim_atm_load *load, uint32_t port,
                                 uint64_t *since);

/* The cycles after which a network in which nothing moves is locked: whatever a host has it has
 * read by then, and thrown away as obsolete. */
uint64_t leat_sim_atm_load_patience(const struct leat_sim_atm_load *load);

#endif
