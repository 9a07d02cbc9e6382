/*
 * Divides a topology into parts, to be simulated side by side. A part has consecutive routers and
 * all their ports, and the terminals that send into them. Wires between parts are cut:
 *
 *      part 0                         part 1
 *      out_to[o] = CROSSING | k            in_from[i] = CROSSING | l
 *      out_cut[k] = { 1, i }          in_cut[l] = { 0, o }
 *
 * Terminals in out_to keep the numbers of the whole: packets to them may come from any part. Other
 * numbers are the part's own.
 */
#ifndef LEAT_NET_CUT_H
#define LEAT_NET_CUT_H

#include "leat_arena.h"
#include "net_topology.h"

enum { LEAT_NET_PARTS_MAX = 1024 };

/* Parts with about as many ports each: part i has the routers from first[i] up to but not including
 * first[i + 1]. 1 <= parts <= routers, LEAT_NET_PARTS_MAX. Needs only in_first of the whole. */
void leat_net_cut_bounds(const struct leat_net_topology *whole, uint32_t parts, uint32_t *first);

/* Builds part `index`. The whole may be discarded afterwards. Measuring (an arena without memory):
 * only counts, the number of ports of each router and the cycles of wires, borrowed from the
 * whole. */
void leat_net_cut_build(const struct leat_net_topology *whole, const uint32_t *first,
                        uint32_t parts, uint32_t index, struct leat_arena *arena,
                        struct leat_net_topology *out);

/* The part of a router. */
uint32_t leat_net_cut_part(const uint32_t *first, uint32_t parts, uint32_t router);

#endif
