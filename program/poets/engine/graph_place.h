/*
 * Placement: in which order devices are dealt to threads, each of which gets an equal share.
 *
 *   order  [ 0 1 2 | 3 4 5 | 6 7 8 ]      block: as the file has them
 *            thread  thread  thread
 *
 *   block     the order of the file
 *   locality  devices that have edges together share a thread, and threads that have, a worker: the
 *             graph is halved again and again, each time along a breadth-first search from a far
 *             end, then pairs of devices change sides where that saves edges. What is well placed
 *             by the file's order stays so. Time is linear in edges, times the logarithm of
 * threads. random    any order, from a seed
 *
 * Devices count from 0 in the order of the file, without externals.
 */
#ifndef LEAT_GRAPH_PLACE_H
#define LEAT_GRAPH_PLACE_H

#include "graph.h"

enum leat_poets_placement {
    LEAT_POETS_PLACE_BLOCK,
    LEAT_POETS_PLACE_LOCALITY,
    LEAT_POETS_PLACE_RANDOM,
    LEAT_POETS_PLACE_COUNT
};

const char *leat_poets_placement_name(enum leat_poets_placement placement);

/* How many threads that many devices are dealt to, when `wanted` are asked for: none without a
 * device, none with too many. */
uint32_t leat_poets_place_threads(uint32_t devices, uint32_t wanted);

/* The order of all devices for leat_poets_place_threads(...) threads, to be freed; those of a
 * thread ascend. NULL: no memory, and that is in the graph's report. */
uint32_t *leat_graph_order(struct leat_graph *graph, const struct leat_graph_instance *instance,
                           enum leat_poets_placement placement, uint32_t threads, uint64_t seed);

#endif
