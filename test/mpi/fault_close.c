/*
 * The last rank closes all its descriptors from a number on (the argument), as daemons do, and with
 * them those of the MPI library. It then sends and receives, which needs none, and ends.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int me, ranks, in = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (me == ranks - 1) closefrom(argc > 1 ? atoi(argv[1]) : 3);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 1, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
