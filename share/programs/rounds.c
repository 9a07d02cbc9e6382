/*
 * How an interconnect affects a program: a ping-pong, one round of messages in a ring, an
 * all-to-all and an all-reduce, each timed by the program itself: the mean of four runs, or of as
 * many as its argument says.
 *
 *   mpicc -o rounds rounds.c
 *   leat run --fabric torus:4,4 -n 16 -- ./rounds
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEN = 1024 };

static int me, ranks, repeats = 4;
static char *out, *in;

static void there_and_back(void)
{
    if (me == 0) {
        MPI_Send(out, 4, MPI_CHAR, ranks - 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, 4, MPI_CHAR, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == ranks - 1) {
        MPI_Recv(in, 4, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 4, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static void ring(void)
{
    MPI_Sendrecv(out, LEN, MPI_CHAR, (me + 1) % ranks, 0, in, LEN, MPI_CHAR,
                 (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void everybody(void)
{
    MPI_Alltoall(out, LEN, MPI_CHAR, in, LEN, MPI_CHAR, MPI_COMM_WORLD);
}

static void sum(void)
{
    double mine = me, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (all != ranks * (ranks - 1) / 2.0) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void measure(const char *name, void (*work)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < repeats; i++)
        work();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("%-36s %12.3f us\n", name, 1e6 * (MPI_Wtime() - start) / repeats);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && atoi(argv[1]) > 0) repeats = atoi(argv[1]);
    out = calloc((size_t)ranks, LEN);
    in = calloc((size_t)ranks, LEN);
    if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 2);
    if (ranks > 1) measure("4 octets to the last rank and back", there_and_back);
    measure("1 KiB to the next rank, all at once", ring);
    measure("1 KiB to everybody, all at once", everybody);
    measure("a sum over all", sum);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
