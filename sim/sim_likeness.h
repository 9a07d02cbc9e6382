/*
 * What will become of a cell network with its units, hosts and messages (leat_likeness.h): for
 * sim_laps.h, which looks for moments that come again.
 */
#ifndef LEAT_SIM_LIKENESS_H
#define LEAT_SIM_LIKENESS_H

#include "leat_likeness.h"
#include "sim_port.h"

/* Between runs. `entry`: the messages under way, in an order that says which is which of another
 * moment that is like this one: room for as many as there are. A network that does not go in
 * strides at the moment is like no other. */
void leat_sim_likeness(struct leat_sim_port *port, struct leat_likeness *out, uint32_t *entry,
                       uint32_t *entry_count);

#endif
