/*
 * Replay (sim_replay.h) for the ports of a cell network (sim_atm_ports.h): what differs from other
 * networks. A network that does not run in strides at the moment matches no other state; messages
 * sent in pieces, to their own port, or held for lack of room are simulated.
 */
#ifndef LEAT_SIM_ATM_REPLAY_H
#define LEAT_SIM_ATM_REPLAY_H

#include "sim_atm_ports.h"
#include "sim_replay.h"

struct leat_sim_atm_replay {
    struct leat_sim_replay base;
    struct leat_sim_atm_ports port;
    uint8_t *blank;                          /* zeros, which cells carry instead of octets */
    struct leat_sim_certificate certificate; /* while it catches up */
};

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config);

/* `memory` is zeroed, aligned for any object, and borrowed for the lifetime of `r`. */
void leat_sim_atm_replay_init(struct leat_sim_atm_replay *r,
                              const struct leat_sim_atm_ports_config *config, void *memory);

#endif
