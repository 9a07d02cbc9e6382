/*
 * The state fingerprint (leat_fingerprint.h) of a cell network with its units, hosts and messages.
 * sim_atm_replay.h uses it to detect states that recur.
 */
#ifndef LEAT_SIM_ATM_FINGERPRINT_H
#define LEAT_SIM_ATM_FINGERPRINT_H

#include "leat_fingerprint.h"
#include "sim_atm_ports.h"

/* Call it between runs. `entry` receives the messages in flight, in the same order for all equal
 * states; it has room for all of them. A network that does not run in strides at the moment matches
 * no other state. */
void leat_sim_atm_fingerprint(struct leat_sim_atm_ports *port, struct leat_fingerprint *out,
                              uint32_t *entry, uint32_t *entry_count);

#endif
