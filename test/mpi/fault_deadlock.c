/*
 * All ranks wait for ever. The argument selects the call: receive (a message that nobody sends),
 * synchronous (sends that nobody receives), barrier (that rank 0 never enters), probe, waitall,
 * polls (all but rank 0, which waits).
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, ranks;

static void wait_for_ever(const char *what)
{
    const int right = (me + 1) % ranks;
    int in = 0;
    MPI_Request requests[2];
    if (strcmp(what, "synchronous") == 0) {
        MPI_Ssend(&me, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    } else if (strcmp(what, "probe") == 0) {
        MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "polls") == 0 && me != 0) {
        while (!in)
            MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &in, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "waitall") == 0) {
        MPI_Irecv(&in, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&me, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(what, "barrier") == 0 && me != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Recv(&in, 1, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    wait_for_ever(argc > 1 ? argv[1] : "receive");
    printf("rank %d: expected to wait for ever\n", me);
    MPI_Finalize();
    return 0;
}
