/* What the ports of an Ethernet and ESP in its switch, ether_esp, have to do with each other. */
#ifndef LEAT_ETHER_PORT_PARTS_H
#define LEAT_ETHER_PORT_PARTS_H

#include "ether_port.h"

/* ---- ports, for ESP -------------------------------------------------------------------------- */

/* The station sends, if it can. */
void leat_sim_ether_port_begin(struct leat_sim_ether_port *p, uint32_t station);

/* A frame with so much payload is made in the switch: returns the bit time at which all of it is at
 * this station, and when it begins to leave. */
uint64_t leat_sim_ether_port_make(struct leat_sim_ether_port *p, uint32_t to, uint32_t payload,
                                  uint64_t *left);

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
/* It is in the switch; it began to leave the station at this bit time. */
void leat_sim_ether_esp_take(struct leat_sim_ether_port *p, uint32_t sender, uint64_t left);

/* The bit time of the next event; LEAT_NEVER: none. */
static inline uint64_t leat_sim_ether_esp_due(const struct leat_sim_ether_port *p)
{
    return p->esp.future.plans ? p->esp.future.plan[0].at : LEAT_NEVER;
}

/* Carries out all events of the present bit time. */
void leat_sim_ether_esp_act(struct leat_sim_ether_port *p);

/* ---- recordings (ether_esp_show.c) ----------------------------------------------------------- */

enum leat_sim_ether_esp_what {
    LEAT_SIM_ETHER_ESP_VALUE,  /* COLLECT */
    LEAT_SIM_ETHER_ESP_RESULT, /* CAST of a word */
    LEAT_SIM_ETHER_ESP_OCTETS, /* CAST of a root's octets */
};

struct leat_sim_ether_esp_packet {
    enum leat_sim_ether_esp_what what;
    struct leat_esp_gather group;
    enum leat_port_fold fold;
    uint64_t operation;
    uint32_t index; /* of the word, or of the chunk */
    uint64_t value;
    const uint8_t *octets;
    size_t len; /* of a CAST's payload */
};

/* For leat_port_ops: stations, then the switch. */
bool leat_sim_ether_esp_place(const struct leat_port_net *base, uint32_t place,
                              struct leat_port_place *out);
/* It leaves one place and arrives at another, in these bit times. */
void leat_sim_ether_esp_show(const struct leat_sim_ether_port *p,
                             const struct leat_sim_ether_esp_packet *packet, uint32_t from,
                             uint32_t to, uint64_t left, uint64_t arrived);

#endif
