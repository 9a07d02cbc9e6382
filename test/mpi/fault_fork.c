/*
 * The last rank forks and waits for its child. The argument selects what the child does that only a
 * rank may do: send, receive, probe, barrier, finalize or abort; or linger: receive beside another
 * child that never ends. It may exit, though, or sleep first; and with "before" the child of each
 * rank is the rank, since they fork before MPI_Init.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, ranks;

static void do_deed(const char *what)
{
    int number = 7, is_there = 0;
    const int right = (me + 1) % ranks;
    if (strcmp(what, "send") == 0) {
        MPI_Request request;
        MPI_Isend(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &request);
    } else if (strcmp(what, "receive") == 0) {
        MPI_Recv(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "probe") == 0) {
        while (!is_there)
            MPI_Iprobe(right, 7, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "finalize") == 0) {
        MPI_Finalize();
    } else if (strcmp(what, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    } else if (strcmp(what, "sleep") == 0) {
        usleep(1000);
    } else if (strcmp(what, "linger") == 0) {
        if (fork()) MPI_Recv(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (;;)
            pause();
    }
}

/* Both wait for each other without MPI. */
static int await(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "receive";
    int in = -1, status = 0;
    if (strcmp(what, "before") == 0) {
        const pid_t rank = fork();
        if (rank) return await(rank);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 1, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == ranks - 1 && strcmp(what, "before") != 0) {
        const pid_t child = fork();
        if (!child) {
            do_deed(what);
            exit(0);
        }
        status = await(child);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("all is well\n");
    MPI_Finalize();
    return status;
}
