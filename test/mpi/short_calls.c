/*
 * Short collective calls in a loop: each result is checked, and each kind of call is timed.
 *     short_calls COUNT [die | ahead | late | communicators]
 * die: one rank ends itself in the middle, as a crash would. ahead: the root of broadcasts sends a
 * message after eight of them, and the others start them when they have it. late: one rank after
 * the other comes a second after the others. communicators: several of them begin with barriers,
 * first one of every other rank, and all together take no longer than BEGIN_S.
 * Rank 0 prints the median time of a call, and the processor time of all ranks for each.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NUMBERS = 10, COMMUNICATORS = 5, BEGIN_S = 4 };

static int me, ranks;

static void must(int truth, const char *what, int round)
{
    if (truth) return;
    fprintf(stderr, "WRONG: rank %d: %s in round %d\n", me, what, round);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void barrier(int round)
{
    must(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Barrier", round);
}

static void allreduce(int round)
{
    const long long own = (long long)round * 7 + me, n = ranks;
    long long sum = -1;
    MPI_Allreduce(&own, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    must(sum == n * round * 7 + n * (n - 1) / 2, "MPI_Allreduce", round);
}

/* Several numbers: with more than six, several passes. */
static void reduce_many(int round)
{
    int own[NUMBERS], most[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        own[i] = (me + i + round) % ranks - ranks / 2;
    MPI_Allreduce(own, most, NUMBERS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        must(most[i] == ranks - 1 - ranks / 2, "MPI_Allreduce of several", round);
}

static void bcast(int round)
{
    int value = me == round % ranks ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, round % ranks, MPI_COMM_WORLD);
    must(value == round, "MPI_Bcast", round);
}

static void not_waiting(int round)
{
    const unsigned own = 1u << (me + round) % 32;
    unsigned all = 0, wanted = 0;
    MPI_Request request[2];
    MPI_Iallreduce(&own, &all, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD, &request[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; i++)
        wanted |= 1u << (i + round) % 32;
    must(all == wanted, "MPI_Iallreduce", round);
}

static void run_ahead(int round)
{
    enum { AHEAD = 8 };
    int message = round;
    barrier(round);
    if (me) MPI_Recv(&message, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < AHEAD; i++) {
        int value = me ? -1 : round * AHEAD + i;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        must(value == round * AHEAD + i, "MPI_Bcast ahead", round);
    }
    for (int to = 1; !me && to < ranks; to++)
        MPI_Send(&message, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
}

static void come_late(int round)
{
    if (me == round % ranks) sleep(1);
    allreduce(round);
    bcast(round);
}

static void begin_communicators(void)
{
    const double began = MPI_Wtime();
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, i == 0 && me % 2 ? MPI_UNDEFINED : 0, me, &comm);
        for (int k = 0; k < 3 && comm != MPI_COMM_NULL; k++)
            MPI_Barrier(comm);
    }
    must(MPI_Wtime() - began < BEGIN_S, "communicators begin too slowly", 0);
}

static double used_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const char *name, void (*call)(int), int count, int dies_at)
{
    double *took = malloc(sizeof *took * (size_t)count), all = 0;
    const double used = used_s();
    for (int i = 0; i < count; i++) {
        const double began = MPI_Wtime();
        if (i == dies_at && me == ranks - 1) raise(SIGKILL);
        call(i);
        took[i] = MPI_Wtime() - began;
    }
    const double own = used_s() - used;
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(took, (size_t)count, sizeof *took, compare);
    if (me == 0)
        printf("%-12s median %8.1f us, 90 %% below %8.1f us, processors %8.1f us\n", name,
               took[count / 2] * 1e6, took[count * 9 / 10] * 1e6, all / count * 1e6);
    free(took);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int count = argc > 1 ? atoi(argv[1]) : 100;
    const int dies_at = argc > 2 && strcmp(argv[2], "die") == 0 ? count / 2 : -1;
    if (argc > 2 && strcmp(argv[2], "communicators") == 0) begin_communicators();
    for (int i = 0; i < 10; i++)
        barrier(i);
    measure("barrier", barrier, count, -1);
    measure("allreduce", allreduce, count, dies_at);
    measure("10 maxima", reduce_many, count, -1);
    measure("bcast", bcast, count, -1);
    measure("not waiting", not_waiting, count, -1);
    if (argc > 2 && strcmp(argv[2], "ahead") == 0) measure("ahead", run_ahead, count, -1);
    if (argc > 2 && strcmp(argv[2], "late") == 0) measure("late", come_late, ranks, -1);
    if (me == 0) printf("all is well\n");
    MPI_Finalize();
    return 0;
}
