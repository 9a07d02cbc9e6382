/* What sim_atm_ports and its collective operations, sim_atm_collect, have to do with each other. */
#ifndef LEAT_SIM_ATM_PORTS_PARTS_H
#define LEAT_SIM_ATM_PORTS_PARTS_H

#include "sim_atm_ports.h"

/* ---- ports, for operations ------------------------------------------------------------------- */

/* Between runs: hands over a message of a collective operation in the present cycle. */
void leat_sim_atm_ports_carry(struct leat_sim_atm_ports *port,
                              const struct leat_sim_atm_ports_entry *message);
/* ... and ends it: what has begun of it arrives unnoticed, the rest is not sent. */
void leat_sim_atm_ports_end(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e);

/* ---- operations, for ports ------------------------------------------------------------------- */

/* How many messages of operations there can be at a time. */
static inline uint32_t leat_sim_atm_collect_entries(uint32_t ports)
{
    return LEAT_SIM_ATM_COLLECT_GROUPS * (ports + LEAT_SIM_COLLECT_WINDOW);
}

/* For how many groups at a time are there labels, and memory in the units? */
uint32_t leat_sim_atm_collect_labels(const struct leat_atm_clos *net);

void leat_sim_atm_collect_lay(struct leat_sim_atm_collect *collect, struct leat_arena *arena,
                              const struct leat_sim_atm_fabric *fabric);
/* After the load. Sets the means of the net, unless a broadcast finds no room in the units. */
void leat_sim_atm_collect_init(struct leat_sim_atm_ports *port);

/* For leat_port_ops. */
uint32_t leat_sim_atm_collect_group(struct leat_port_net *net, const uint32_t *member,
                                    uint32_t count);
void leat_sim_atm_collect_disband(struct leat_port_net *net, uint32_t group);
void leat_sim_atm_collect_part(struct leat_port_net *net, const struct leat_port_part *part,
                               leat_time at);

/* Between runs: everything that is due in the present cycle. */
void leat_sim_atm_collect_go_on(struct leat_sim_atm_ports *port);

/* The cycle of the next part whose time has not come; LEAT_NEVER: none. */
uint64_t leat_sim_atm_collect_due(const struct leat_sim_atm_ports *port);

/* A piece to many ports begins, and is over. */
void leat_sim_atm_collect_begun(struct leat_sim_atm_ports *port, uint32_t to);
void leat_sim_atm_collect_over(struct leat_sim_atm_ports *port, uint32_t to);

/* The ordinal of the last piece of `source` to this destination that is complete at `reader`. Those
 * of one destination arrive in order. */
uint32_t *leat_sim_atm_collect_heard(const struct leat_sim_atm_ports *port, uint32_t source,
                                     uint32_t reader, uint32_t to);

/* Does the host of this port read a message of an operation that many ports get? */
bool leat_sim_atm_collect_is_for(const struct leat_sim_atm_ports *port,
                                 const struct leat_sim_atm_ports_entry *e, uint32_t reader);

/* Of a message of an operation: its port has taken it; so many octets of one to many have arrived
 * at a port; all of a message to one port has; it is given up. An entry ends with these. */
void leat_sim_atm_collect_written(struct leat_sim_atm_ports *port,
                                  struct leat_sim_atm_ports_entry *e);
void leat_sim_atm_collect_got(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e,
                              uint32_t reader, uint32_t len);
void leat_sim_atm_collect_arrived(struct leat_sim_atm_ports *port,
                                  struct leat_sim_atm_ports_entry *e);
void leat_sim_atm_collect_given_up(struct leat_sim_atm_ports *port,
                                   struct leat_sim_atm_ports_entry *e);

/* Operations neither have anything in flight, nor will they without another part. */
static inline bool leat_sim_atm_collect_is_idle(const struct leat_sim_atm_collect *collect)
{
    return !collect->messages && !collect->pieces && !collect->part_count;
}

#endif
