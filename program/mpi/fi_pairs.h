/*
 * Pairs with a gap in one-sided operations: MPI_SHORT_INT, MPI_LONG_INT, MPI_DOUBLE_INT and
 * MPI_LONG_DOUBLE_INT. osc rdma of Open MPI 4.1 takes several of them for contiguous octets, as
 * many as they would have without gaps, and reads and writes wrong ones.
 *
 *     MPI_REPLACE, MPI_NO_OP    go as octets, with their gaps
 *     MPI_MINLOC, MPI_MAXLOC    go as a derived type, whose pairs it handles one by one; those with
 *                               the gap inside, MPI_SHORT_INT, end the run
 */
#ifndef LEAT_FI_PAIRS_H
#define LEAT_FI_PAIRS_H

#include <mpi.h>

/* The operations of a new window. */
void leat_fi_pairs_mend(MPI_Win win);

#endif
