/* What the ports of an Ethernet and ESP in its switch, ether_esp, have to do with each other. */
#ifndef LEAT_ETHER_PORT_PARTS_H
#define LEAT_ETHER_PORT_PARTS_H

#include "ether_port.h"

/* ---- ports, for ESP -------------------------------------------------------------------------- */

/* The station sends, if it can. */
void leat_sim_ether_port_begin(struct leat_sim_ether_port *p, uint32_t station);

/* A frame with so much payload is made in the switch: returns the bit time at which all of it is at
 * this station. */
uint64_t leat_sim_ether_port_make(struct leat_sim_ether_port *p, uint32_t to, uint32_t payload);

/* ---- ESP, for ports -------------------------------------------------------------------------- */

void leat_sim_ether_esp_lay(struct leat_sim_ether_port *p, struct leat_arena *arena);
/* After lay, in zeroed memory, and after p->base. Sets its means. */
void leat_sim_ether_esp_init(struct leat_sim_ether_port *p);

/* For leat_port_ops. */
uint32_t leat_sim_ether_esp_group(struct leat_port_net *base, const uint32_t *port, uint32_t count);
void leat_sim_ether_esp_disband(struct leat_port_net *base, uint32_t group);
void leat_sim_ether_esp_collect(struct leat_port_net *base, const struct leat_port_part *part,
                                leat_time at);

/* The next packet of a station, as a sender and its octets. False: there is none. */
bool leat_sim_ether_esp_next(struct leat_sim_ether_port *p, uint32_t station, uint32_t *sender,
                             uint32_t *payload);
/* It is in the switch. */
void leat_sim_ether_esp_take(struct leat_sim_ether_port *p, uint32_t sender);

/* The bit time of the next event; LEAT_NEVER: none. */
static inline uint64_t leat_sim_ether_esp_due(const struct leat_sim_ether_port *p)
{
    return p->esp.future.plans ? p->esp.future.plan[0].at : LEAT_NEVER;
}

/* Carries out all events of the present bit time. */
void leat_sim_ether_esp_act(struct leat_sim_ether_port *p);

#endif
