/*
 * The tree that a computation's packets built: which node is whose child, assembled from the nodes'
 * reports of their stores (REPLY). After RCHLD every node knows its children by their pktId, which
 * is mix64(id, computation), for nodes and members alike:
 *
 *   REPLY of node 7:  bindings  1f3a..  9c02..  (children count, forwarded count: no children)
 *                                |       |
 *             mix64(node 12) = 1f3a..   mix64(member 3) = 9c02..
 *
 *   node   [0] the root's own store  [1] [2] ...      in the order in which they were reported
 *   list   of a node's children in one computation: how much of it is known
 *   link   pktId -> the node that has it as a child, and its list if it is a node; open addressing,
 *          at most half full
 *
 * A group of a store has room for 256 bindings. Where a node has more children, the members are
 * divided among several computations, each of which builds a tree of its own. At the end all
 * children are adopted by the map's computation, as if it had built the whole tree.
 *
 * Branch points are nodes with two or more children. A packet for all members need only be copied
 * there: each branch point has up to LEAT_ESP_COPIES_MAX next points, which are the members and
 * branch points below it with no other branch point between. The root serves those that do not fit.
 *
 *        root --> 7 --+--> 12 --> member 1, member 2, member 4        (9 is no branch point)
 *                     +--> 9 ---> member 3
 *
 * Memory is the caller's. Pure.
 */
#ifndef LEAT_ESP_MAP_H
#define LEAT_ESP_MAP_H

#include "esp_query.h"
#include "esp_roster.h"
#include <leat/time.h>

enum { LEAT_ESP_MAP_NODES_MAX = 1 << 20, LEAT_ESP_MAP_LISTS_MAX = 1 << 22 };
#define LEAT_ESP_MAP_NONE UINT32_MAX

struct leat_esp_map_node {
    uint64_t id;
    struct leat_esp_next address; /* where its answers come from; the root's own: all zeros */
    uint32_t children;            /* once all are adopted */
    bool is_done;                 /* for the service: the node has what it was sent */
};

struct leat_esp_map_list {
    uint64_t computation;
    uint32_t node;
    uint32_t cursor; /* where it continues; 0: complete */
    uint32_t via;    /* the member whose route its node is on */
};

struct leat_esp_map_link {
    uint64_t packet_id;
    uint32_t at;   /* a node, + 1; 0: nobody's child yet */
    uint32_t list; /* + 1; 0: none */
};

struct leat_esp_map {
    struct leat_esp_map_node *node;
    struct leat_esp_map_list *list;
    struct leat_esp_map_link *link;
    uint32_t *index; /* id -> node + 1 */
    uint64_t computation;
    uint32_t nodes, nodes_max;
    uint32_t lists, lists_max;
    uint32_t links, links_max;
    uint32_t members_max;
    uint32_t index_mask, link_mask;
    bool is_full;                  /* something did not fit */
    uint32_t *upper;               /* [nodes_max + members_max] of each point: the one above */
    uint32_t *point_first, *point; /* [nodes_max + 1], [nodes_max + members_max] next points */
};

/* `lists_max`: a list of each node in each computation that has members below it. */
size_t leat_esp_map_footprint(uint32_t nodes_max, uint32_t members_max, uint32_t lists_max);
void leat_esp_map_init(struct leat_esp_map *map, uint32_t nodes_max, uint32_t members_max,
                       uint32_t lists_max, void *memory);

/* Empty except for node 0, the root's own store. */
void leat_esp_map_begin(struct leat_esp_map *map, uint64_t computation, uint64_t root_id);

/* The node with this id, added if new; NONE: there is no room. */
uint32_t leat_esp_map_node(struct leat_esp_map *map, uint64_t id);

/* The node with this id; NONE: there is none. */
uint32_t leat_esp_map_find(const struct leat_esp_map *map, uint64_t id);

/* Records that the node has this child in a computation; repeats are ignored. False: no room. */
bool leat_esp_map_link(struct leat_esp_map *map, uint64_t computation, uint32_t node,
                       uint64_t packet_id);

/* The node's list in a computation, added if new; NONE: there is no room. */
uint32_t leat_esp_map_list(struct leat_esp_map *map, uint64_t computation, uint32_t node);

/* The node that has this id as a child in a computation has it in the map's, too. */
void leat_esp_map_adopt(struct leat_esp_map *map, uint64_t computation, uint64_t id);

/* The node whose child this is, by its id before mixing; NONE: no node reported it. */
uint32_t leat_esp_map_parent(const struct leat_esp_map *map, uint64_t id);

/* Do the parents of this id in a computation lead to the root, and are their lists complete? */
bool leat_esp_map_is_placed(const struct leat_esp_map *map, uint64_t computation, uint64_t id);

/*
 * Finds the next points of all nodes, for the first `members` of the roster. Point i below `nodes`
 * is a node, the others are members from 0 on. The next points of node n are point[point_first[n]]
 * up to point[point_first[n + 1]]. The root serves members whose route is unknown.
 */
void leat_esp_map_points(struct leat_esp_map *map, const struct leat_esp_roster *roster,
                         uint32_t members);

/* Number of nodes with two or more children. */
uint32_t leat_esp_map_branches(const struct leat_esp_map *map);

#endif
