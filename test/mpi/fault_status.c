/* Everything succeeds, but the last rank's exit status is 3. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return me == ranks - 1 ? 3 : 0;
}
