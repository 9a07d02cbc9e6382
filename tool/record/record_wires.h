/*
 * A lane for each wire of a network of switches, in one direction. A packet passes it (a flow) when
 * its head begins to cross:
 *
 *   wires        group
 *     0>1        lane      from router 0 to router 1
 *     0>1 #2     lane      the second such wire
 *     1>port3    lane      to a terminal; "1>router1" to the ESP processor of a router
 *     width      signal    octets of packets that a wire can take in a cycle of its clock
 *
 * There is no lane for wires from terminals: the packet leaves the terminal's own.
 */
#ifndef LEAT_TOOL_RECORD_WIRES_H
#define LEAT_TOOL_RECORD_WIRES_H

#include "net_topology.h"
#include "sim_recorder.h"

enum { RECORD_HOPS_DEFAULT = 1000000, RECORD_HOPS_MAX = 1000000000 };

/* An option of leat sim and leat run. */
#define OPTION_RECORD_HOPS                                                        \
    {                                                                             \
        "--record-hops", "N",                                                     \
            "record so many hops of packets at most; 0: only where they "         \
            "enter and leave",                                                    \
            COUNT(0, RECORD_HOPS_MAX), .preset = "1e6 hops", .kinds = "atm flits" \
    }

/* Takes an event of the recording. */
typedef void record_put(const struct leat_sim_event *e);

struct record_wires {
    const struct leat_net_topology *topology; /* lent */
    uint32_t *lane;                           /* [outs]; NULL: none are recorded */
    uint32_t width;                           /* a signal */
    uint64_t left;                            /* hops that are still recorded */
};

/* Declares the lanes, unless there are more of them than `room`: then leat says so, and none are
 * recorded. False: there is no memory; after a complaint. */
bool record_wires_declare(struct record_wires *wires, struct leat_sim_recorder *recorder,
                          uint32_t group, uint32_t clock, const struct leat_net_topology *topology,
                          uint32_t room, uint64_t hops);
void record_wires_free(struct record_wires *wires);

/* The first event. */
void record_wires_begin(const struct record_wires *wires, uint32_t octets, record_put *put);

/* A packet begins to cross the wire of an output port. */
void record_wires_cross(struct record_wires *wires, uint32_t out, uint64_t message, uint64_t len,
                        leat_time at, record_put *put);

#endif
