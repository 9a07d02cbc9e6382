/* Ranks over MPI: exported by libleat-ranks.so. */
#ifndef LEAT_MPI_RANKS_H
#define LEAT_MPI_RANKS_H

#include "sim_ranks.h"
#include <stdbool.h>

/* Starts MPI. False: `why` says why not. */
bool leat_mpi_ranks_open(struct leat_sim_ranks *ranks, char *why, size_t why_cap);

typedef bool (*leat_mpi_ranks_open_fn)(struct leat_sim_ranks *ranks, char *why, size_t why_cap);
#define LEAT_MPI_RANKS_OPEN "leat_mpi_ranks_open"

#endif
