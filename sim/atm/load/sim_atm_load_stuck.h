/*
 * Detects that the prototype under load (sim_atm_load.h) makes no more progress.
 *
 *     deadlock   the receive buffer of a port is full, so cells for it stop in the network; its
 *                acknowledgements wait behind such cells, and without them it does not become
 *                empty (proto/atm/README.md, "A network can lock")
 *     livelock   cells move, but bring nothing new: copies, and acknowledgements of copies
 *
 * These checks run now and then and do not affect the network. A state that lasts longer than any
 * event that could change it lasts for ever.
 */
#ifndef LEAT_SIM_ATM_LOAD_STUCK_H
#define LEAT_SIM_ATM_LOAD_STUCK_H

#include "sim_atm_load.h"
#include <leat/port.h>

/* The text for users: a sentence without its full stop. */
const char *leat_sim_atm_load_stuck_text(enum leat_port_stuck how);

/* ---- the whole network ----------------------------------------------------------------------- */

/* Deadlock: has no cell arrived anywhere for so long that every cell would have been transmitted
 * for the last time, while some port always tries to send? This happens if cells are retransmitted
 * before an acknowledgement can arrive. The struct is what the last check saw; zeros at first. */
struct leat_sim_atm_load_arrivals {
    uint64_t cells, since;
};
bool leat_sim_atm_load_is_stuck(const struct leat_sim_atm_load *load,
                                struct leat_sim_atm_load_arrivals *last);

/* Livelock: has nothing been delivered for longer than any operation of the units takes? The caller
 * checks now and then and counts deliveries. The struct is what the last check saw; zeros at first.
 * A quiet network is not judged, unless a message is `held` back until the network has room for
 * it. */
struct leat_sim_atm_load_progress {
    uint64_t delivered, since, inspected_at;
};
bool leat_sim_atm_load_is_livelocked(const struct leat_sim_atm_load *load, uint64_t delivered,
                                     bool held, struct leat_sim_atm_load_progress *progress);

/* The bound in cycles: all transmissions of a cell, each with its time-out and with a full buffer
 * of cells served before it at the lowest rate; all buffers, one after the other, over one wire;
 * the time until a descriptor is free; and writing and reading the longest message. */
uint64_t leat_sim_atm_load_delivery_cycles(const struct leat_sim_atm_load *load);

/* ---- its ports, for hosts that read everything they get -------------------------------------- */

/* Runs up to and including cycle `last` like leat_sim_atm_load_run, with checks now and then,
 * always in the same cycles. False: nothing moves any more, and the run has ended there. */
bool leat_sim_atm_load_run_watched(struct leat_sim_atm_load *load, uint64_t last);

/* The same for callers of leat_sim_atm_load_run: checks if it is time to. True: it has checked. */
bool leat_sim_atm_load_inspect(struct leat_sim_atm_load *load);

/* After such a run: is this port locked, in a group of ports or because nothing moves? It is full,
 * and has neither sent nor received a cell since *since. */
bool leat_sim_atm_load_is_locked(const struct leat_sim_atm_load *load, uint32_t port,
                                 uint64_t *since);

/* The number of cycles after which a network without movement is locked: by then hosts have read
 * all they have, or it has expired. */
uint64_t leat_sim_atm_load_patience(const struct leat_sim_atm_load *load);

#endif
