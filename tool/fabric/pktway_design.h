/*
 * PacketWay networks on the command line: what a description says, and the network that is built
 * from it.
 *
 *   twosan          by name: share/fabrics/twosan.yaml
 *   mine.yaml       a description with sans: and routers:
 */
#ifndef LEAT_LIVE_PACKETWAY_DESIGN_H
#define LEAT_LIVE_PACKETWAY_DESIGN_H

#include "run.h"
#include "sim_packetway.h"
#include "tool.h"

enum { PKTWAY_FILE_CAP = 4096, PKTWAY_FABRIC_CAP = 256 };

struct pktway_san {
    char name[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 1];
    char fabric[PKTWAY_FABRIC_CAP];
    uint32_t bias, q;
    uint32_t mtu_words;                              /* 0: not given */
    uint32_t line, bias_line, fabric_line, mtu_line; /* of the file */
};

struct pktway_router {
    char name[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 1];
    uint32_t ends, line;
    uint32_t end_line[LEAT_SIM_PACKETWAY_ENDS_MAX];
    struct leat_sim_packetway_end end[LEAT_SIM_PACKETWAY_ENDS_MAX];
};

/* What a description says. */
struct pktway_design {
    char name[PKTWAY_FILE_CAP]; /* as the user wrote it */
    char file[PKTWAY_FILE_CAP];
    struct pktway_san san[LEAT_SIM_PACKETWAY_SANS_MAX];
    uint32_t sans;
    struct pktway_router router[LEAT_SIM_PACKETWAY_ROUTERS_MAX];
    uint32_t routers;
    struct leat_sim_packetway_fault fault[LEAT_SIM_PACKETWAY_FAULTS_MAX];
    uint32_t faults;
    bool by_address, cut_through;
    uint32_t buffer;
    uint32_t host_ns, planned_ns, address_ns, link_ns;
};

/* The network of it. */
struct pktway_built {
    const struct pktway_design *design;
    struct run_network *network; /* [sans] */
    struct leat_sim_packetway_san san[LEAT_SIM_PACKETWAY_SANS_MAX];
    struct leat_sim_packetway_router router[LEAT_SIM_PACKETWAY_ROUTERS_MAX];
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
    void *memory;
};

/* Does this word name a PacketWay network? */
bool pktway_is(const char *word);

/* Reads the description; false after a complaint. */
bool pktway_read(const struct verb *verb, const char *word, struct pktway_design *out);

/* The description in a file (pktway_yaml.c), into defaults. False after a complaint. */
bool pktway_read_yaml(struct pktway_design *design);

/* --forwarding planned|address, --cut-through yes|no, and --fault. False after a complaint. */
bool pktway_read_options(const struct arguments *args, struct pktway_design *design);

/* "500ns", "1.5us", "2ms", "3s" */
bool pktway_read_time(const char *text, size_t len, leat_time *out);

/*
 * Builds it, for so many messages under way; `watch` may be NULL. False after a complaint; either
 * way pktway_close.
 */
bool pktway_open(const struct pktway_design *design, const struct run_job *job,
                 bool contention_free, uint32_t messages_max,
                 const struct leat_sim_packetway_watch *watch, struct pktway_built *out);
void pktway_close(struct pktway_built *built);

/* A job that has no options but a verb's: for what leat run is not. */
struct run_job pktway_job(const struct arguments *args);

/* Refuses options that have no meaning for PacketWay networks. `known` ends with a NULL. */
bool pktway_refuse_foreign(const struct arguments *args, const char *word,
                           const char *const *known);

/* Refuses options that only PacketWay networks have. */
bool pktway_refuse_elsewhere(const struct arguments *args, const char *word);

/* ---- as a fabric (pktway_fabric.c, pktway_load.c): exit codes ---- */

int pktway_fabric_show(const struct arguments *args);
int pktway_fabric_check(const struct arguments *args);
int pktway_fabric_sim(const struct arguments *args);

#endif
