/* A master and its workers: the first to ask gets the next piece of work; prints the order. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { PIECES = 60, LEN = 300, ASK = 1, WORK = 2, END = 3 };

/* Some pieces take longer than others. */
static void work(const int *piece)
{
    usleep((useconds_t)(*piece * 7919 % 40));
}

static void be_worker(void)
{
    int piece[LEN] = { 0 };
    MPI_Status status;
    for (;;) {
        MPI_Send(piece, 1 + piece[0] % LEN, MPI_INT, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(piece, LEN, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == END) return;
        work(piece);
    }
}

static void be_master(int ranks)
{
    int piece[LEN] = { 0 }, done[LEN];
    MPI_Status status;
    for (int next = 0, ends = 0; ends < ranks - 1; next++) {
        MPI_Recv(done, LEN, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        piece[0] = next + 1;
        ends += next >= PIECES;
        MPI_Send(piece, next < PIECES ? LEN : 0, MPI_INT, status.MPI_SOURCE,
                 next < PIECES ? WORK : END, MPI_COMM_WORLD);
        printf("%d", status.MPI_SOURCE);
    }
    printf(" %.9f s\n", MPI_Wtime());
}

int main(int argc, char **argv)
{
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (me == 0)
        be_master(ranks);
    else
        be_worker();
    MPI_Finalize();
    return 0;
}
