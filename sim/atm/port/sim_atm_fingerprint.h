/*
 * What will become of a cell network with its units, hosts and messages (leat_fingerprint.h): for
 * sim_atm_replay.h, which looks for moments that come again.
 */
#ifndef LEAT_SIM_ATM_FINGERPRINT_H
#define LEAT_SIM_ATM_FINGERPRINT_H

#include "leat_fingerprint.h"
#include "sim_atm_ports.h"

/* Between runs. `entry`: the messages under way, in an order that says which is which of another
 * moment that is like this one: room for as many as there are. A network that does not go in
 * strides at the moment is like no other. */
void leat_sim_atm_fingerprint(struct leat_sim_atm_ports *port, struct leat_fingerprint *out,
                              uint32_t *entry, uint32_t *entry_count);

#endif
