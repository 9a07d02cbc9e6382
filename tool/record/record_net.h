/*
 * Records the packets of a running network of switches (net.h). It stands between the network and
 * its hosts, so neither knows of it:
 *
 *   network      group
 *     port0      lane     packets leave and arrive (flows); "lost" (instants)
 *     wires      group    packets cross them: record_wires.h
 */
#ifndef LEAT_TOOL_RECORD_NET_H
#define LEAT_TOOL_RECORD_NET_H

#include "net.h"
#include "record_wires.h"

struct record_net_config {
    struct leat_sim_recorder *recorder;
    uint32_t group;
    record_put *put; /* takes the events, in order of time */
    struct leat_net *net;
    struct leat_sim_clock clock;
    uint32_t flit_octets;
    uint32_t room;        /* for tracks */
    uint64_t hops;        /* recorded at most; 0: only what terminals see */
    const uint32_t *lane; /* [terminals] that are declared already, 0: not; NULL: none is */
};

/* From now on, in the network's own time. One network at a time, in one part. False after a
 * complaint. */
bool record_net_join(const struct record_net_config *config);
/* Also allowed if it has not joined. */
void record_net_leave(void);

#endif
