/* Of the ports of a flit network, for net_port.c and net_replay.c alone. */
#ifndef LEAT_NET_PORT_PARTS_H
#define LEAT_NET_PORT_PARTS_H

#include "net_port.h"
#include <leat/random.h>

/* For the routing of a message of this port: the same for all its packets. */
static inline uint64_t leat_net_port_random(const struct leat_net_port *p, uint32_t from,
                                            uint64_t number)
{
    uint64_t state = p->config.seed ^ number * UINT64_C(0xD1342543DE82EF95);
    state = leat_random_splitmix(&state) ^ from;
    return leat_random_splitmix(&state);
}

/* The first cycle of the network at or after `at`. */
static inline uint64_t leat_net_port_cycle_from(const struct leat_net_port *p, leat_time at)
{
    const uint64_t cycle = leat_sim_clock_cycle_from(&p->config.clock, at);
    return cycle == LEAT_NEVER ? cycle : cycle - p->skipped;
}

/* The time of a cycle of the network. */
static inline leat_time leat_net_port_edge(const struct leat_net_port *p, uint64_t cycle)
{
    return leat_sim_clock_at(&p->config.clock, cycle + p->skipped);
}

#endif
