/* short_collectives CALLS: real time of short collective calls, one after the other. A line for
 * each kind: its name; the median of rank 0 and the mean, in us; the processor time of a call, in
 * us: of all ranks together, and of this machine's kernel for packets (softirq). Checks results. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WARM_UP = 50, CALLS_MAX = 1000000 };

static int me, ranks;

static int barrier(int turn)
{
    (void)turn;
    return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
}

static int sum(int turn)
{
    const int64_t mine = (int64_t)turn * me;
    int64_t all = -1;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all == (int64_t)turn * ranks * (ranks - 1) / 2;
}

/* Each rank is the root in its turn, so that none can run ahead of the others. */
static int broadcast(int turn)
{
    int32_t value = turn % ranks == me ? turn : -1;
    MPI_Bcast(&value, 1, MPI_INT32_T, turn % ranks, MPI_COMM_WORLD);
    return value == turn;
}

/* Of this process. */
static double processor_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Of this machine, all namespaces together, in ticks of the clock. */
static double softirq_s(void)
{
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1) ticks = 0;
    if (file) fclose(file);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void repeat(int (*call)(int turn), int calls, double *took)
{
    for (int i = 0; i < calls; i++) {
        const double began = MPI_Wtime();
        const int is_right = call(i);
        took[i] = MPI_Wtime() - began;
        if (is_right) continue;
        fprintf(stderr, "short_collectives: rank %d: a wrong result, call %d\n", me, i);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void measure(const char *name, int (*call)(int turn), int calls, double *took)
{
    repeat(call, WARM_UP, took);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime(), used = processor_s(), softirq = softirq_s();
    repeat(call, calls, took);
    const double all = MPI_Wtime() - began, packets = softirq_s() - softirq;
    const double own = processor_s() - used;
    double processors = 0;
    MPI_Reduce(&own, &processors, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(took, (size_t)calls, sizeof *took, compare);
    const double each_us = 1e6 / calls;
    if (me == 0)
        printf("%s %.2f %.2f %.2f %.2f\n", name, 1e6 * took[calls / 2], each_us * all,
               each_us * processors, each_us * packets);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int asked = argc > 1 ? atoi(argv[1]) : 0;
    const int calls = asked < WARM_UP ? WARM_UP : asked > CALLS_MAX ? CALLS_MAX : asked;
    double *took = calloc((size_t)calls, sizeof *took);
    if (!took) MPI_Abort(MPI_COMM_WORLD, 1);
    measure("barrier", barrier, calls, took);
    measure("allreduce", sum, calls, took);
    measure("bcast", broadcast, calls, took);
    free(took);
    MPI_Finalize();
    return 0;
}
