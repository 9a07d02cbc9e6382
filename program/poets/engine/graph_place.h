/*
 * Placement: in which order devices are dealt to threads, each of which gets an equal share.
 *
 *   order  [ 0 1 2 | 3 4 5 | 6 7 8 ]      block: as the file has them
 *            thread  thread  thread
 *
 *   block     the order of the file
 *   locality  connected devices share a thread, and connected threads a worker: the graph is
 *             bisected repeatedly, each time along a breadth-first search from a far end; then
 *             pairs of devices change sides where that cuts fewer edges. A good order of the
 *             file is kept. Time is linear in edges, times the logarithm of threads.
 *   random    any order, from a seed
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

/* Number of threads for this many devices when `wanted` are requested: 0 without devices, or with
 * too many. */
uint32_t leat_poets_place_threads(uint32_t devices, uint32_t wanted);

/* The share of thing `at` if `total` things are dealt to equal shares: devices to threads, threads
 * to ranks. */
static inline uint32_t leat_poets_place_share(uint32_t total, uint32_t shares, uint32_t at)
{
    return (uint32_t)((((uint64_t)at + 1) * shares - 1) / total);
}

/* The order of all devices for leat_poets_place_threads(...) threads, to be freed; the devices of a
 * thread ascend. NULL: out of memory, which is in the graph's report. */
uint32_t *leat_graph_order(struct leat_graph *graph, const struct leat_graph_instance *instance,
                           enum leat_poets_placement placement, uint32_t threads, uint64_t seed);

#endif
