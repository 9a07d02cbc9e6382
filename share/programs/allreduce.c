/*
 * One all-reduce of an integer, to look at in a recording: who carries it out, and its packets.
 *
 *   mpicc -o allreduce allreduce.c
 *   leat run --fabric ring8 --collectives network --record allreduce.leatrec -- ./allreduce
 *   leat export allreduce.leatrec --perfetto allreduce.json --pcapng allreduce.pcapng
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int me, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("the sum of all ranks is %d\n", sum);
    MPI_Finalize();
    return 0;
}
