/*
 * Programs that misbehave on purpose begin the same way: messages go round the ring; then the last
 * rank misbehaves, while all others wait for a message from it that never comes.
 */
#ifndef LEAT_TEST_MPI_FAULT_H
#define LEAT_TEST_MPI_FAULT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

/* MPI_Init and the ring. True in the last rank; the others return only if a message arrives after
 * all. */
static inline bool fault_begin(int *argc, char ***argv)
{
    int me, ranks, in = -1;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 10; round++)
        MPI_Sendrecv(&round, 1, MPI_INT, (me + 1) % ranks, 1, &in, 1, MPI_INT,
                     (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == ranks - 1) return true;
    MPI_Recv(&in, 1, MPI_INT, ranks - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: expected that no message comes\n", me);
    return false;
}

#endif
