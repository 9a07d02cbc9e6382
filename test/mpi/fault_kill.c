/* Killed by SIGKILL: no handler, no exit function, no message. With an argument: while others
 * poll. */
#include "fault.h"
#include <signal.h>
#include <unistd.h>

static void poll_for_ever(void)
{
    int there = 0;
    while (!there)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static void be_killed_or_poll(void)
{
    int me, ranks, in;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (me < ranks - 1) poll_for_ever();
    if (!fork()) {
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        MPI_Init(&argc, &argv);
        be_killed_or_poll();
    }
    if (fault_begin(&argc, &argv)) kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
