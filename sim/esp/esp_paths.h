/*
 * The paths of packets to and from the root, by the shortest delay.
 *
 *         root's router                 up[r]    the wire by which r sends towards the root
 *           ^       |                   down[r]  the wire by which packets from the root reach r
 *     up[a] |       v down[a]
 *           a       a                   Of equally long paths, the one whose wire has the lower
 *         ^   ^    | |                  number is taken; downwards, first of all the reverse
 *         b   c    v v                  path. The order of visits does not matter.
 *                  b  c
 *
 * Wires are directed, so the two paths may differ. The wires up[] make a tree: every router has one
 * path to the root, whatever the graph. ESP computes over this tree.
 */
#ifndef LEAT_ESP_PATHS_H
#define LEAT_ESP_PATHS_H

#include "leat_err.h"
#include "leat_text.h"
#include <leat/time.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_SIM_ESP_ROUTERS_MAX = 1 << 20,
    LEAT_SIM_ESP_WIRES_MAX = 1 << 23,
};
#define LEAT_SIM_ESP_DELAY_MAX UINT64_C(1000000000000) /* of a wire: a second */
#define LEAT_SIM_ESP_NONE      UINT32_MAX

/* From one router to another. */
struct leat_sim_esp_wire {
    uint32_t from, to;
    leat_time delay_ps; /* 1 .. */
};

struct leat_sim_esp_graph {
    uint32_t routers, wires;
    const struct leat_sim_esp_wire *wire; /* lent */
    uint32_t root;                        /* the router that the root's host is attached to */
};

struct leat_sim_esp_paths {
    uint32_t *up, *down;           /* [routers] wires; NONE at the root's router */
    leat_time *up_ps, *down_ps;    /* [routers] total delay */
    uint32_t *up_hops, *down_hops; /* [routers] its number of wires */
    /* Only for the search. */
    uint32_t *first, *list, *heap, *place;
};

/* Octets of memory for a graph; `memory` is aligned for any object and lent for the object's
 * lifetime. */
size_t leat_sim_esp_paths_footprint(const struct leat_sim_esp_graph *graph);

/* Is the graph valid, do all routers reach the root, and does it reach them? On error `why` has one
 * line. */
leat_err leat_sim_esp_paths_find(struct leat_sim_esp_paths *paths,
                                 const struct leat_sim_esp_graph *graph, void *memory,
                                 struct leat_text *why);

/* The wire by which `at` forwards packets from the root for router `to`, not itself; NONE: `at` is
 * not on that path. */
uint32_t leat_sim_esp_paths_down(const struct leat_sim_esp_paths *paths,
                                 const struct leat_sim_esp_graph *graph, uint32_t at, uint32_t to);

#endif
