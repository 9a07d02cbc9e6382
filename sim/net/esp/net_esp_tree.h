/*
 * The tree of a group of ports: up from the members' routers to one router, the root, and down
 * again to the members.
 *
 *        up: values are folded                 down: copies
 *
 *               root                               root
 *              /    \                             /    \
 *          router    router                   router    router
 *          /   \        \                     /   \        \
 *       host   host     host               host   host     host
 *
 * All routes are shortest ones, over the lowest port where several are. The root is the router with
 * the smallest sum of its longest route up and its longest route down; then the smallest sum of all
 * routes; then the lowest. Where all wires of the tree exist in both directions, up and down are
 * the same tree; networks of stages have two.
 */
#ifndef LEAT_NET_ESP_TREE_H
#define LEAT_NET_ESP_TREE_H

#include "leat_arena.h"
#include "net_topology.h"

/* Links are numbers + 1; 0: none. */
struct leat_net_esp_tree {
    uint32_t root;
    bool is_two_way;
    uint32_t *parent;     /* [routers] up; of the root itself */
    uint32_t *children;   /* [routers] up: routers and hosts; 0: it is not in the tree */
    uint32_t *first;      /* [routers] down: the first router that gets a copy, ... */
    uint32_t *next;       /* [routers] ... and the next one of the same parent */
    uint32_t *first_host; /* [routers] down: the first host */
    uint32_t *next_host;  /* [ports] */
    uint32_t children_max, copies_max; /* of any router; copies: of a cast, by any member */
};

/* Room for finding a tree. */
struct leat_net_esp_search {
    uint32_t *distance, *queue, *up, *down, *above, *height; /* [routers] */
    uint64_t *sum;                                           /* [routers] */
};

void leat_net_esp_tree_lay(struct leat_net_esp_tree *tree, struct leat_arena *arena,
                           uint32_t routers, uint32_t ports);
void leat_net_esp_search_lay(struct leat_net_esp_search *search, struct leat_arena *arena,
                             uint32_t routers);

/* False: there is no router that all members reach and that reaches all of them. */
bool leat_net_esp_tree_find(struct leat_net_esp_tree *tree,
                            const struct leat_net_topology *topology, const uint32_t *port,
                            uint32_t count, const struct leat_net_esp_search *search);

#endif
