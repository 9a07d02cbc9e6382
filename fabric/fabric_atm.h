/* ATM fabrics: sim_atm_fabric.h has their names. */
#ifndef LEAT_FABRIC_ATM_H
#define LEAT_FABRIC_ATM_H

#include "fabric_cells.h"
#include "net_topology.h"
#include "sim_atm_fabric.h"
#include "sim_atm_replay.h"

struct leat_fabric_atm {
    struct leat_fabric base;
    struct leat_sim_atm_fabric fabric;
    struct leat_fabric_cells cells; /* all zeros: bus matrices */
    /* Defaults after leat_fabric_read, to be changed before leat_fabric_open. */
    struct leat_atm_aal_config aal;
    struct leat_sim_atm_line_config line;
    struct leat_sim_atm_line_outage outage[LEAT_SIM_ATM_LINE_OUTAGES_MAX];
    enum leat_sim_atm_model model;
    struct leat_net_shape shape;
    /* None at first; to have some, set fabric.faults before leat_fabric_open. */
    struct leat_net_faults fault_list;
    struct leat_sim_atm_faults faults;
    struct leat_net_topology wires; /* of bus matrices, where there are faults */
    void *wires_memory;
    struct leat_sim_atm_replay replay;
    /* The network whose cells are counted: that of `replay`, unless the user has one of its own. */
    const struct leat_sim_atm *sim;
};

extern const struct leat_fabric_kind leat_fabric_kind_atm;

/* NULL: it is of another kind. */
struct leat_fabric_atm *leat_fabric_as_atm(struct leat_fabric *fabric);

#endif
