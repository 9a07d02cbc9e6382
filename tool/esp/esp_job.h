/*
 * leat esp on simulated routers: esp_options.c reads the options, esp_network.c builds the network
 * from a tree, a file or a fabric's name, esp_simulate.c runs it and shows the result,
 * esp_tree_show.c draws a tree. Packets of one's own: esp_script.h and esp_stage.h.
 */
#ifndef LEAT_ESP_JOB_H
#define LEAT_ESP_JOB_H

#include "esp_sim.h"
#include "tool.h"

#define ESP_SERVICES "census max min sum average tree robust-census robust-sum robust-average"

enum { ESP_CHANCE_DECIMALS = 9, ESP_REORDER_DELAYS = 4 /* longest hold of a packet */ };

/* What the options say. */
struct esp_job {
    const struct arguments *args;
    const char *service; /* its name */
    struct leat_esp_request request;
    struct leat_sim_esp_config config; /* borrows the arrays below */
    struct leat_sim_esp_wire *wire;
    uint32_t *member_at;
    uint64_t *value;
    uint32_t *groups_at;
    uint32_t places;        /* possible places of members */
    uint32_t *place;        /* [places] routers */
    uint32_t most_children; /* of a router: members and routers */
    uint32_t most_routers;  /* ... routers alone */
    leat_time delay_ps;
    const char *dot;
    bool multicast;
    bool json;
};

/* Sets kind and robust of one of ESP_SERVICES; its name. */
const char *esp_find_service(const char *name, struct leat_esp_request *request);

/* Checks a network, allocates and opens it: an exit code, after a complaint unless DONE. The memory
 * is for free(). */
int esp_open_network(const struct leat_sim_esp_config *config, struct leat_sim_esp *sim,
                     void **memory, struct leat_text *why);

/* Network, links and members of a job without a service. Like esp_read_job. */
bool esp_read_places(const struct arguments *args, struct esp_job *job);

/* False after a complaint; call esp_job_free in either case. */
bool esp_read_job(const struct arguments *args, struct esp_job *job);
void esp_job_free(struct esp_job *job);

/* Graph and places, by --tree, --graph or --fabric. False after a complaint. */
bool esp_make_network(struct esp_job *job);

/* Computations that the members are divided among, those for the parts of a value, and the sizes of
 * all stores (esp_room.c). False: no memory. */
uint32_t esp_shards(const struct esp_job *job);
uint32_t esp_parts(const struct esp_job *job);
bool esp_size_stores(struct esp_job *job);

/* COUNT and COLLECT, once; asks for a map of the tree. */
bool esp_is_plain(const struct esp_job *job);
bool esp_is_mapped(const struct esp_job *job);

/* leat esp sim. An exit code. */
int esp_simulate(const struct arguments *args);

/*
 * A mapped tree: as text, with branches indented, and as a graph for Graphviz. The caller writes
 * the names; node 0 is the root itself.
 */
struct esp_tree {
    const struct leat_esp_map *map;
    const struct leat_esp_roster *roster;
    void *context;
    void (*put_node)(void *context, uint32_t node, struct leat_text *out);
    void (*put_member)(void *context, uint32_t member, struct leat_text *out);
};
/* To a file, NULL: standard output. False after a complaint. */
bool esp_tree_write(const struct esp_tree *tree, const char *path, bool is_dot);

/* How a service ended: for people, as the status of a JSON object, and members of that object
 * (esp_tree_show.c). */
const char *esp_end_name(enum leat_esp_end end);
const char *esp_end_status(enum leat_esp_end end);
void esp_result_json(struct leat_json *json, const struct leat_esp_service_result *result);

#endif
