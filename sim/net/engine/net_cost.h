/*
 * What the switches of a network are made of, by counting: a price that does not depend on
 * technology.
 *
 *   vc, fifo, voq, xpq   crosspoints: inputs x outputs of each switch (Clos 1953)
 *   output               the same: every output listens to every input
 *   shared               inputs + outputs: they are joined to one memory
 *   batcher              of 2^k lines: k (k + 1) / 2 columns of 2^(k - 1) sorting elements (Batcher
 *                        1968) and k of switching elements, each 2 x 2 and so four crosspoints:
 *                        2^k k (k + 3) in all
 *
 * So a Banyan of 2 x 2 switches, a fly:2,n, has 2 N log2 N crosspoints, and a benes:N has
 * 2 N (2 log2 N - 1). Ports without a wire do not count.
 *
 * Memory is that of /buffer= in all queues. Where flits wait for room, switches with queues behind
 * their inputs also have a stage at each input, for what is on its way (net_queue.c).
 *
 * A memory that serves many lines must be faster than they are: one that belongs to an input or a
 * crosspoint takes a flit and gives one in a cycle; an output queue takes one of each input; a
 * shared one serves all inputs and outputs.
 */
#ifndef LEAT_NET_COST_H
#define LEAT_NET_COST_H

#include "net.h"

struct leat_net_cost {
    uint64_t crosspoints;
    uint64_t buffer_flits;
    uint64_t wires;        /* one way: between switches or elements, and those of terminals */
    uint32_t memory_flits; /* that the busiest memory takes and gives in a cycle */
};

/* For a checked config. */
void leat_net_cost(const struct leat_net_topology *topology, const struct leat_net_config *config,
                   struct leat_net_cost *out);

#endif
