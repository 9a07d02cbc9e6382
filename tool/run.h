/* What the parts of `leat run` share: what is to be run, the network, the processes. */
#ifndef LEAT_TOOL_RUN_H
#define LEAT_TOOL_RUN_H

#include "hub.h"
#include "net_design.h"
#include "net_port.h"
#include "sim_port.h"
#include "tool.h"
#include <sys/types.h>

enum {
    RUN_TASKS_MAX = 1024,
    RUN_SPAWNED_MAX = 64,       /* tasks of PVM that others start */
    RUN_MESSAGES_MAX = 1 << 20, /* under way */
    RUN_PATH_CAP = 4096,
};

enum run_library { RUN_MPI, RUN_PVM };

/* What the options say. */
struct run_job {
    const struct verb *verb;
    const struct arguments *args; /* for what depends on the fabric */
    const char *fabric;
    enum run_library library;
    uint32_t tasks; /* that it begins with; 0: MPI one for each port, PVM one */
    double compute_scale;
    const char *placement;
    const char *record; /* a file; NULL: none */
    bool json, real_clock, contention;
    enum leat_sim_atm_model model;
    uint64_t flit_octets, packet_flits;
    char program[RUN_PATH_CAP]; /* where it lies */
    char **words;               /* the program as it was named, its arguments, NULL */
};

/* A network that programs run over. */
struct run_network {
    struct leat_port_net *net;
    char name[NET_NAME_CAP];
    struct leat_sim_port atm;
    struct leat_net_port flits;
    struct net_design design;
    struct net_built built;
    struct leat_sim_line_outage outage[LEAT_SIM_LINE_OUTAGES_MAX];
    struct leat_net_faults faults;
    struct leat_net_fault_player player;
    void *memory, *player_memory;
    bool records;
};

/* ---- networks (run_network.c): false after a complaint; either way run_network_close ---- */

bool run_network_open(const struct run_job *job, bool contention_free, struct run_network *out);
/* False: the recording could not be written. */
bool run_network_close(struct run_network *network);

/* ---- processes (run_program.c) ---- */

/* Finds the program and what it is linked with. False after a complaint. */
bool run_program_find(struct run_job *job, const char *library);

/* A part of leat that programs load. False after a complaint. */
bool run_find_part(const char *name, char *out, size_t cap);

struct run_processes {
    const struct run_job *job;
    uint32_t slots, ports;
    const uint32_t *port; /* of each slot */
    struct leat_hub_service service;
    pid_t launcher;               /* of MPI; 0: none, or it has ended */
    int status;                   /* of it, once it has ended */
    struct leat_pvm_service *pvm; /* NULL: none */
};

/* Before the hub is made, with slots, and a port for each: may change `port`, sets `service`. False
 * after a complaint; either way run_processes_free. */
bool run_processes_prepare(struct run_processes *processes);
void run_processes_free(struct run_processes *processes);

/* Starts them. False after a complaint. */
bool run_processes_start(struct run_processes *processes, struct leat_hub *hub);

/* Has the launcher ended, so that none of them can be there any more? */
bool run_processes_have_ended(struct run_processes *processes);

/* Waits for their end; `by_force`: sees to it. Tells the exit code of the program. */
int run_processes_end(struct run_processes *processes, const struct leat_hub *hub, bool by_force);

/* ---- PVM (run_pvm.c): the same for its programs ---- */

bool run_pvm_prepare(struct run_processes *processes);
void run_pvm_free(struct run_processes *processes);
bool run_pvm_start(struct run_processes *processes, struct leat_hub *hub);
void run_pvm_end(struct run_processes *processes, bool by_force);

#endif
