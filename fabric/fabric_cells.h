/*
 * Cells through any topology and switches: names as torus:4,4/cells/switch=output. They are those
 * of networks of switches (fabric_flits.h) with other defaults: a flit is a cell, a cycle a cell
 * time, and the clock that of octets.
 */
#ifndef LEAT_FABRIC_CELLS_H
#define LEAT_FABRIC_CELLS_H

#include "fabric_flits.h"
#include "sim_atm_fabric.h"

enum { LEAT_FABRIC_CELLS_PORTS_MAX = 4096 };

struct leat_fabric_cells {
    struct leat_fabric_design design;
    struct leat_fabric_built built;
    struct leat_sim_atm_graph graph; /* refers to `built` */
};

/* Reads and builds it; `cells` is zeroed. Writes its full name, of LEAT_FABRIC_NAME_CAP. In any
 * case call leat_fabric_cells_free. False with *error. */
bool leat_fabric_cells_read(const char *word, bool (*interrupted)(void),
                            struct leat_fabric_cells *cells, struct leat_sim_atm_fabric *fabric,
                            char *name, struct leat_fabric_error *error);
void leat_fabric_cells_free(struct leat_fabric_cells *cells);

#endif
