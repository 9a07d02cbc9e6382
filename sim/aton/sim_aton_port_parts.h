/* Between the ports of a ring and whoever records its packets (sim_aton_show.c). */
#ifndef LEAT_SIM_ATON_PORT_PARTS_H
#define LEAT_SIM_ATON_PORT_PARTS_H

#include "sim_aton_port.h"

/* For leat_port_ops. */
bool leat_sim_aton_port_place(const struct leat_port_net *net, uint32_t place,
                              struct leat_port_place *out);

/* A station has taken the token for the packet of its order. */
void leat_sim_aton_port_show_sent(struct leat_sim_aton_port *port, uint32_t station, uint64_t bit);
/* A passive packet has arrived. */
void leat_sim_aton_port_show_arrived(struct leat_sim_aton_port *port,
                                     const struct leat_sim_aton_arrival *arrival);
/* An active packet is back at its sender, with what all stations have folded into it. */
void leat_sim_aton_port_show_returned(struct leat_sim_aton_port *port,
                                      const struct leat_sim_aton_result *result);

#endif
