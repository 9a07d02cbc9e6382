/* collectives [REPETITIONS]: the time of collective operations, each in an idle network. All ranks
 * begin at the same time; the time is that of the last rank to return, the mean of all repetitions
 * but the first, which may set something up. Checks results. A line for each operation: seconds,
 * name. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTEGERS_MAX = 64, OCTETS_MAX = 64 * 1024 };
static const double GAP_S = 0.5; /* longer than an operation takes */

struct operation {
    const char *name;
    int (*work)(int count, int turn); /* true if the result is right */
    int count;
};

static int me, ranks;
static char octets[OCTETS_MAX];

static int barrier(int count, int turn)
{
    (void)count, (void)turn;
    return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
}

static int sum_integers(int count, int turn)
{
    int mine[INTEGERS_MAX] = { 0 }, all[INTEGERS_MAX], wrong = 0;
    for (int i = 0; i < count; i++)
        mine[i] = me + i * turn;
    MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        wrong += all[i] != ranks * (ranks - 1) / 2 + ranks * i * turn;
    return !wrong;
}

static int largest_real(int count, int turn)
{
    const double mine = me + 0.5 * turn;
    double all;
    MPI_Allreduce(&mine, &all, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all == ranks - 1 + 0.5 * turn;
}

static int broadcast(int count, int turn)
{
    int wrong = 0;
    memset(octets, me == 0 ? turn + 1 : 0, (size_t)count);
    MPI_Bcast(octets, count, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        wrong += octets[i] != (char)(turn + 1);
    return !wrong;
}

static const struct operation all_operations[] = {
    { "MPI_Barrier", barrier, 0 },
    { "MPI_Allreduce, sum of 1 integer", sum_integers, 1 },
    { "MPI_Allreduce, sum of 8 integers", sum_integers, 8 },
    { "MPI_Allreduce, sum of 64 integers", sum_integers, 64 },
    { "MPI_Allreduce, largest of 1 double", largest_real, 1 },
    { "MPI_Bcast, 4 octets", broadcast, 4 },
    { "MPI_Bcast, 64 octets", broadcast, 64 },
    { "MPI_Bcast, 1 KiB", broadcast, 1024 },
    { "MPI_Bcast, 4 KiB", broadcast, 4096 },
    { "MPI_Bcast, 16 KiB", broadcast, 16384 },
    { "MPI_Bcast, 64 KiB", broadcast, 65536 },
};

static void rest(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){ whole, (long)(1e9 * (seconds - (double)whole)) }, NULL);
}

/* All ranks return from it at the same time, which it returns: GAP_S after the last call. */
static double begin_together(void)
{
    double mine = MPI_Wtime() + GAP_S, at;
    MPI_Allreduce(&mine, &at, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double s = at - MPI_Wtime();
    if (s < 0) {
        fprintf(stderr, "rank %d knows too late when to begin, %g s\n", me, -s);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    rest(s);
    return at;
}

static double measure(const struct operation *o, int repetitions)
{
    double sum = 0;
    for (int turn = 0; turn < repetitions; turn++) {
        const double began = begin_together();
        const int is_right = o->work(o->count, turn);
        const double mine = MPI_Wtime() - began;
        double last;
        if (!is_right) {
            fprintf(stderr, "%s: rank %d has a wrong result\n", o->name, me);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (mine > GAP_S) {
            fprintf(stderr, "%s takes %g s, expected less than %g s\n", o->name, mine, GAP_S);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        rest(GAP_S); /* messages of those who are done would delay the others */
        MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (turn > 0) sum += last;
    }
    return sum / (repetitions - 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int repetitions = argc > 1 ? atoi(argv[1]) : 5;
    if (repetitions < 2) MPI_Abort(MPI_COMM_WORLD, 2); /* the first does not count */
    for (size_t i = 0; i < sizeof all_operations / sizeof *all_operations; i++) {
        const double seconds = measure(&all_operations[i], repetitions);
        if (me == 0) printf("%.12f %s\n", seconds, all_operations[i].name);
    }
    MPI_Finalize();
    return 0;
}
