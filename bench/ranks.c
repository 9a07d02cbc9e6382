/* ranks start|work: nothing, or every rank exchanges numbers with all others and computes with its
 * neighbours in a ring; then it checks what it got. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1024, ROUNDS = 20 };

static int exchange_with_all(int me, int ranks)
{
    int *out = calloc((size_t)ranks, sizeof *out), *in = calloc((size_t)ranks, sizeof *in);
    int wrong = 0;
    if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ranks; i++)
        out[i] = me * ranks + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        wrong += in[i] != i * ranks + me;
    free(out);
    free(in);
    return wrong;
}

static unsigned sum_of(const unsigned cell[CELLS + 2])
{
    unsigned sum = 0;
    for (int i = 1; i <= CELLS; i++)
        sum += cell[i];
    return sum;
}

/* A cell becomes the sum of its neighbours: in every round the sum of all cells doubles. */
static int compute_with_neighbours(int me, int ranks)
{
    const int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
    unsigned cell[CELLS + 2], next[CELLS + 2], sum[2], all[2];
    for (int i = 1; i <= CELLS; i++)
        cell[i] = (unsigned)(me * CELLS + i);
    sum[0] = sum_of(cell) << ROUNDS;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv(&cell[1], 1, MPI_UNSIGNED, left, 0, &cell[CELLS + 1], 1, MPI_UNSIGNED, right,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&cell[CELLS], 1, MPI_UNSIGNED, right, 1, &cell[0], 1, MPI_UNSIGNED, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= CELLS; i++)
            next[i] = cell[i - 1] + cell[i + 1];
        memcpy(&cell[1], &next[1], CELLS * sizeof *cell);
    }
    sum[1] = sum_of(cell);
    MPI_Allreduce(sum, all, 2, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    return all[0] != all[1];
}

int main(int argc, char **argv)
{
    int me, ranks, wrong = 0, all_wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (!strcmp(argv[1], "work"))
        wrong = exchange_with_all(me, ranks) + compute_with_neighbours(me, ranks);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d wrong\n", ranks, all_wrong);
    MPI_Finalize();
    return all_wrong != 0;
}
