/*
 * The third engine: every packet between mailboxes crosses a network in simulated time, which makes
 * the effects of placement and topology visible.
 *
 * Threads are softswitches driven by a clock. The cost of a turn, in its cycles:
 *
 *   turn                               each, whatever it does
 *   + receive for every handler that a packet leads to, and for every OnInit, OnHardwareIdle
 *   + send    for OnSend
 *   + edge    for every packet that is sent, and copy for each flit within a mailbox
 *   + idle    for OnDeviceIdle
 *
 * All threads run in parallel, as in a barrel processor. Packets that a turn sends are posted at
 * its end, when the slots of the received ones become free. The host takes `host` cycles per
 * packet. Idleness is detected `detect` cycles after it begins, for each task.
 */
#ifndef LEAT_GRAPH_FABRIC_H
#define LEAT_GRAPH_FABRIC_H

#include "graph_mailbox.h"

struct leat_poets_fabric_costs {
    uint64_t turn, receive, send, edge, copy, idle, host, detect;
};

struct leat_poets_fabric_options {
    struct leat_port_net *net; /* NULL: another engine is used */
    bool bare;                 /* the network's flits are the packets' (graph_mailbox.h) */
    const struct leat_poets_mailbox_place *place;
    uint32_t boxes, threads_per_box, slots, host_port, host_address;
    uint64_t clock_num, clock_den; /* a cycle of the threads in picoseconds, at least one; both
                                      below 2^32 */
    struct leat_poets_fabric_costs costs;
};

struct leat_poets_fabric_result {
    uint64_t cycles;     /* until the last thread of all tasks had stopped */
    uint64_t ran_cycles; /* of these, the task's own: from its barrier to its end */
    struct leat_poets_mail_counts threads, host;
    uint64_t copied;
    uint32_t busiest_port;
    uint64_t busiest_packets; /* to and from it */
    uint64_t certificate;
    char failed[200]; /* error text; "": none */
};

#endif
