/* Between the ports of a ring and the groups of these ports. */
#ifndef LEAT_SIM_ATON_COLLECT_PARTS_H
#define LEAT_SIM_ATON_COLLECT_PARTS_H

#include "sim_aton_collect.h"

void leat_sim_aton_collect_lay(struct leat_sim_aton_collect *collect, struct leat_arena *arena,
                               uint32_t ports, uint64_t octets_max);
/* After lay, in zeroed memory. */
void leat_sim_aton_collect_init(struct leat_sim_aton_collect *collect, struct leat_port_net *net,
                                struct leat_sim_aton *ring);

/* For leat_port_ops. */
uint32_t leat_sim_aton_collect_group(struct leat_sim_aton_collect *collect, const uint32_t *port,
                                     uint32_t count);
void leat_sim_aton_collect_disband(struct leat_sim_aton_collect *collect, uint32_t group);

/* The time of a member's part has come. Afterwards its station may have something to send. */
void leat_sim_aton_collect_enter(struct leat_sim_aton_collect *collect, uint32_t group,
                                 uint32_t place);

/* The next packet of a station, if there is one; `buffer` is lent until it is done: room for
 * LEAT_ATON_COLLECT_PACKET_LEN and for the octets of a cast behind its head. */
bool leat_sim_aton_collect_next(struct leat_sim_aton_collect *collect, uint32_t station,
                                uint8_t *buffer, struct leat_aton_order *order);

/* The ring's callbacks: of a packet from `next`, and of an arrival. Afterwards their stations may
 * have something to send. False: not a packet of a group. */
void leat_sim_aton_collect_done(struct leat_sim_aton_collect *collect,
                                const struct leat_sim_aton_result *result);
bool leat_sim_aton_collect_arrived(struct leat_sim_aton_collect *collect,
                                   const struct leat_sim_aton_arrival *arrival);

#endif
