/*
 * Networks of switches that forward flits: a parsed name, and the network built from it.
 *
 *   mesh:8,8/vcs=2          by name (net_plan.h)
 *   campus.edges/vcs=2      a graph from a file, followed by parameters
 *   campus.yaml             a description
 */
#ifndef LEAT_FABRIC_FLITS_H
#define LEAT_FABRIC_FLITS_H

#include "fabric_kind.h"
#include "net_deadlock.h"
#include "net_faults.h"
#include "net_plan.h"
#include "net_replay.h"

enum {
    LEAT_FABRIC_EDGES_MAX = 1 << 22,
    LEAT_FABRIC_ENTRIES_MAX = 1 << 22,
};

/* A line of a routing table, by routers; ports are known once the topology is. */
struct leat_fabric_entry {
    uint32_t at, to, by;
    uint32_t line; /* of its file */
};

/* A parsed name or file. */
struct leat_fabric_design {
    struct leat_net_plan plan;
    char name[LEAT_FABRIC_NAME_CAP];    /* in full: it gives the same design */
    const char *file;                   /* its source; NULL: only a name */
    uint32_t line;                      /* of the file, for errors of the shape */
    uint32_t routing_line, switch_line; /* of routing, switches; 0: not in a file */
    /* Owned data that the plan refers to; NULL if unused. */
    struct leat_net_edge *edge;
    uint32_t *edge_line; /* [edges] of its file */
    uint32_t *terminal_at;
    struct leat_fabric_entry *entry;
    uint32_t entries;
};

/* What is built from it. */
struct leat_fabric_built {
    struct leat_net_topology topology;
    struct leat_net_routing_config routing_config;
    struct leat_net_routing *routing;
    struct leat_net_deadlock deadlock;
    void *topology_memory, *routing_memory, *deadlock_memory;
    struct leat_net_route_entry *entry;
    /* With ESP, once it is open: the same with processors. */
    struct leat_net_topology esp_topology;
    struct leat_net_routing *esp_routing;
    void *esp_topology_memory, *esp_routing_memory;
};

struct leat_fabric_flits {
    struct leat_fabric base;
    struct leat_fabric_design design;
    struct leat_fabric_built built; /* once it is built or open */
    struct leat_net_faults faults;  /* none at first; set them before leat_fabric_open */
    struct leat_net_fault_player player;
    void *player_memory;
    struct leat_net_replay replay;
};

extern const struct leat_fabric_kind leat_fabric_kind_flits;

/* NULL: it is of another kind. */
struct leat_fabric_flits *leat_fabric_as_flits(struct leat_fabric *fabric);

/* ---- building (fabric_flits.c): false with *error ---- */

/* Does this name mean a network of cells, valid or not? Folders of a file do not count. */
bool leat_fabric_is_of_cells(const char *name);

/* Of flits, or of cells (net_plan.h). In any case call leat_fabric_design_free. */
bool leat_fabric_design_read(const char *word, bool has_cells, bool (*interrupted)(void),
                             struct leat_fabric_design *design, struct leat_fabric_error *error);
/* A file of edges, with any extension. */
bool leat_fabric_graph_read(const char *file, bool (*interrupted)(void),
                            struct leat_fabric_design *design, struct leat_fabric_error *error);
void leat_fabric_design_free(struct leat_fabric_design *design);

/* Builds topology and routing, and checks for deadlock. In any case call leat_fabric_built_free. */
bool leat_fabric_build(const struct leat_fabric_design *design, struct leat_fabric_built *built,
                       struct leat_fabric_error *error);
/* For a process that has a share of the network. Where that is not enough to route and to check it,
 * the whole is built. */
bool leat_fabric_build_share(const struct leat_fabric_design *design,
                             const struct leat_net_share *share, struct leat_fabric_built *built,
                             struct leat_fabric_error *error);
/* Only the topology, for users with their own packets and routing. */
bool leat_fabric_build_topology(const struct leat_fabric_design *design,
                                struct leat_fabric_built *built, struct leat_fabric_error *error);
void leat_fabric_built_free(struct leat_fabric_built *built);

/* False if it can deadlock, with the cycle in *error. */
bool leat_fabric_is_safe(const struct leat_fabric_design *design,
                         const struct leat_fabric_built *built, struct leat_fabric_error *error);

/* The wire of an output port: "3>7" as faults have it, "3>7 (2)" for the second of several; "3>port
 * 5" to a terminal, "3>processor" to its own. */
void leat_fabric_name_wire(const struct leat_net_topology *t, uint32_t out,
                           char name[LEAT_FABRIC_WIRE_CAP]);

/* ---- files (fabric_edges.c, fabric_yaml.c): fill a design that has the defaults of a graph -- */

bool leat_fabric_read_edges(const char *file, bool (*interrupted)(void),
                            struct leat_fabric_design *design, struct leat_fabric_error *error);
bool leat_fabric_read_yaml(const char *file, bool (*interrupted)(void),
                           struct leat_fabric_design *design, struct leat_fabric_error *error);

#endif
