/*
 * Multicast groups of a network and its units (spec/atm.md, 10.7): the tables of the switches have
 * labels for a group, and the units of its ports number the cells to it.
 *
 *     host --> unit: number in this group, --> access label of --> switches copy it --> units of
 *              acknowledged by its members     the group           to its ports only    its members
 */
#ifndef LEAT_SIM_ATM_LOAD_GROUP_H
#define LEAT_SIM_ATM_LOAD_GROUP_H

#include "sim_atm_load.h"
#include "sim_atm_traffic.h"

/* Call it between runs: sets up group number `group`, in no time. The one of before is quiet. */
void leat_sim_atm_load_set_group(struct leat_sim_atm_load *load, uint32_t group,
                                 const uint64_t *members);

/* Has every cell to this group been acknowledged and read, or given up with the knowledge of its
 * receivers? Hosts that are still writing a message to it do not count. */
bool leat_sim_atm_load_group_is_quiet(const struct leat_sim_atm_load *load, uint32_t group);

/* Does what is sent to a destination, one or many, go to this port? To how many does it? */
bool leat_sim_atm_load_reaches(const struct leat_sim_atm_load *load, uint32_t to, uint32_t port);
uint32_t leat_sim_atm_load_copies(const struct leat_sim_atm_load *load, uint32_t to);

#endif
