/*
 * Native routes: how each kind of SAN addresses a destination. An L2RH carries them, so a source
 * that knows them can write the whole route through all SANs.
 *
 *   ATM        | label 32 |                        the access label (VPI) that cells begin with
 *   ring       | station 16 |                      the address of the station, 1 ..
 *   Ethernet   | MAC 48 |                          the address of the station (ether_port.h)
 *   switches   | turn 8 | turn 8 | ... | turn 8 |  the output port at each router passed, the last
 *                                                  one leads to the terminal
 *
 * A route belongs to the port that it begins at; labels, stations and MAC addresses are the same
 * from everywhere. The SAN makes its own headers (of cells, ring packets, flits, frames) from it: a
 * PacketWay packet is their payload.
 */
#ifndef LEAT_SIM_PACKETWAY_NATIVE_H
#define LEAT_SIM_PACKETWAY_NATIVE_H

#include "atm_clos.h"
#include "net_routing.h"

enum { LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX = 63 };

enum leat_sim_packetway_kind {
    LEAT_SIM_PACKETWAY_ATM,
    LEAT_SIM_PACKETWAY_RING,
    LEAT_SIM_PACKETWAY_SWITCHES,
    LEAT_SIM_PACKETWAY_ETHERNET,
};

struct leat_sim_packetway_native {
    enum leat_sim_packetway_kind kind;
    uint32_t ports;
    uint32_t words_max;                       /* of a packet; 0: any, the SAN segments it itself */
    const struct leat_atm_clos *clos;         /* ATM; lent for the lifetime, as are the next two */
    const struct leat_net_topology *topology; /* SWITCHES */
    const struct leat_net_routing *routing;
};

/* "atm", "ring", "switches", "ethernet" */
const char *leat_sim_packetway_kind_name(enum leat_sim_packetway_kind kind);

/* The route from port to port. Returns its length; 0: there is none of at most 63 octets. */
uint32_t leat_sim_packetway_route(const struct leat_sim_packetway_native *native, uint32_t from,
                                  uint32_t to, uint8_t out[LEAT_SIM_PACKETWAY_ROUTE_LEN_MAX]);

/* The port that a route leads to. False: none, the SAN refuses it. */
bool leat_sim_packetway_resolve(const struct leat_sim_packetway_native *native, uint32_t from,
                                const uint8_t *route, uint32_t len, uint32_t *to);

#endif
