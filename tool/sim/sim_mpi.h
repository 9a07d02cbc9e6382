/* leat sim on the ranks that mpirun started. */
#ifndef LEAT_SIM_MPI_H
#define LEAT_SIM_MPI_H

#include "sim_ranks.h"
#include <stdbool.h>

/* Did mpirun, or the like, start more than one of this process? */
bool sim_is_under_mpi(void);

/* This process is one simulation of its own, whoever started it. */
void sim_leave_mpi(void);

/* Starts MPI; other ranks than 0 print nothing from now on. False after a complaint. */
bool sim_ranks_open(struct leat_sim_ranks *ranks);

/* How often this rank has exchanged parcels with the others so far, and the time it took, waiting
 * included. */
struct sim_exchanges {
    uint64_t count;
    double seconds;
};
struct sim_exchanges sim_ranks_exchanges(void);

#endif
