/*
 * Networks on the command line: what a word names, and the network that is built from it.
 *
 *   mesh:8,8/vcs=2          by name (net_plan.h)
 *   campus.edges/vcs=2      a graph from a file, parameters behind it
 *   campus.yaml             a description
 */
#ifndef LEAT_NET_DESIGN_H
#define LEAT_NET_DESIGN_H

#include "net_deadlock.h"
#include "net_plan.h"
#include "tool.h"

enum {
    NET_NAME_CAP = 512,
    NET_EDGES_MAX = 1 << 22,
    NET_ENTRIES_MAX = 1 << 22,
};

/* A line of a routing table, by routers; ports are known once the topology is. */
struct net_entry {
    uint32_t at, to, by;
    uint32_t line; /* of its file */
};

/* What a word names. */
struct net_design {
    struct leat_net_plan plan;
    char name[NET_NAME_CAP];            /* that gives the same again */
    const char *file;                   /* where it comes from; NULL: a name alone */
    uint32_t line;                      /* of the file, for what is wrong with the shape */
    uint32_t routing_line, switch_line; /* with routing, switches; 0: it is in no file */
    /* What the plan lends; NULL where it is not used. */
    struct leat_net_edge *edge;
    uint32_t *edge_line; /* [edges] of its file */
    uint32_t *terminal_at;
    struct net_entry *entry;
    uint32_t entries;
};

/* What is built from it. */
struct net_built {
    struct leat_net_topology topology;
    struct leat_net_routing_config routing_config;
    struct leat_net_routing *routing;
    struct leat_net_deadlock deadlock;
    void *topology_memory, *routing_memory, *deadlock_memory;
    struct leat_net_route_entry *entry;
};

/* Is this the name of a network, or of a file that describes one? */
bool net_is(const char *word);

/* False after a complaint. Either way net_design_free. */
bool net_read(const struct verb *verb, const char *word, struct net_design *design);

/* A file of edges, whatever its name ends with. */
bool net_read_graph(const char *file, struct net_design *design);
void net_design_free(struct net_design *design);

/* Topology, routing, and whether it can deadlock. False after a complaint. Either way
 * net_built_free. */
bool net_build(const struct net_design *design, struct net_built *built);

/* The topology alone, for who has other packets and another routing. */
bool net_build_topology(const struct net_design *design, struct net_built *built);
void net_built_free(struct net_built *built);

/* Complains about a network that can deadlock, with the circle; false then. */
bool net_is_safe(const struct net_design *design, const struct net_built *built);

/* ---- memory (net_build.c) ---- */

/* Zeroed; NULL after a complaint. */
void *net_take(size_t count, size_t size);

/* Room for one more than `count`: the memory as it is, or twice as much. NULL after a complaint:
 * then it is as it was. */
void *net_grow(void *memory, size_t count, size_t size);

/* ---- files (net_edges.c, net_yaml.c) ---- */

/* Fill a design that has the defaults of a graph. False after a complaint. */
bool net_read_edges(const char *file, struct net_design *design);
bool net_read_yaml(const char *file, struct net_design *design);

/* ---- leat sim (net_run.c) ---- */

int run_net_sim(const struct arguments *args);

#endif
