/*
 * PacketWay networks: the contents of a description, and the network built from it.
 *
 *   twosan          by name: share/fabrics/twosan.yaml
 *   mine.yaml       a description with sans: and routers:
 */
#ifndef LEAT_FABRIC_PACKETWAY_H
#define LEAT_FABRIC_PACKETWAY_H

#include "fabric_kind.h"
#include "sim_packetway.h"

enum { LEAT_FABRIC_SAN_CAP = 256 };

struct leat_fabric_san {
    char name[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 1];
    char fabric[LEAT_FABRIC_SAN_CAP];
    uint32_t bias, q;
    uint32_t mtu_words;                              /* 0: not given */
    uint32_t line, bias_line, fabric_line, mtu_line; /* of the file */
};

struct leat_fabric_router {
    char name[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 1];
    uint32_t ends, line;
    uint32_t end_line[LEAT_SIM_PACKETWAY_ENDS_MAX];
    struct leat_sim_packetway_end end[LEAT_SIM_PACKETWAY_ENDS_MAX];
};

struct leat_fabric_host {
    char name[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 1];
    uint32_t line, at_line, capability_line, logical_line;
    struct leat_sim_packetway_home home; /* its name is set once it is open */
};

/* The contents of a description. */
struct leat_fabric_sans {
    char name[LEAT_FABRIC_FILE_CAP]; /* as the user wrote it */
    char file[LEAT_FABRIC_FILE_CAP];
    struct leat_fabric_san san[LEAT_SIM_PACKETWAY_SANS_MAX];
    uint32_t sans;
    struct leat_fabric_router router[LEAT_SIM_PACKETWAY_ROUTERS_MAX];
    uint32_t routers;
    struct leat_fabric_host host[LEAT_SIM_PACKETWAY_HOMES_MAX]; /* those with a name */
    uint32_t hosts;
    struct leat_sim_packetway_fault fault[LEAT_SIM_PACKETWAY_FAULTS_MAX];
    uint32_t faults;
    bool by_address, cut_through;
    uint32_t buffer;
    uint32_t host_ns, planned_ns, address_ns, link_ns;
};

struct leat_fabric_packetway {
    struct leat_fabric base;
    /* As it was read; forwarding, cut-through and faults may be changed before it is opened. */
    struct leat_fabric_sans design;
    struct leat_sim_packetway_watch watch; /* all NULL: nobody observes it */
    /* Once it is open. */
    struct leat_fabric *part[LEAT_SIM_PACKETWAY_SANS_MAX]; /* [design.sans] */
    uint32_t wires[LEAT_SIM_PACKETWAY_SANS_MAX];           /* of each */
    struct leat_sim_packetway_san san[LEAT_SIM_PACKETWAY_SANS_MAX];
    struct leat_sim_packetway_router router[LEAT_SIM_PACKETWAY_ROUTERS_MAX];
    struct leat_sim_packetway_home home[LEAT_SIM_PACKETWAY_HOMES_MAX];
    struct leat_sim_packetway_config config;
    struct leat_sim_packetway net;
};

extern const struct leat_fabric_kind leat_fabric_kind_packetway;

/* NULL: it is of another kind. */
struct leat_fabric_packetway *leat_fabric_as_packetway(struct leat_fabric *fabric);

/* Reads the description in design->file (fabric_sans.c), into defaults. False with *error. */
bool leat_fabric_read_sans(struct leat_fabric_sans *design, bool (*interrupted)(void),
                           struct leat_fabric_error *error);

#endif
