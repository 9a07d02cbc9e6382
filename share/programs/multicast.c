/*
 * A multicast, a barrier and a sum of a group of PVM tasks, each in an idle network.
 *
 *     cc -O2 -o multicast multicast.c -lgpvm3 -lpvm3
 *     leat run --fabric clos444 -n 16 --collectives compare -- ./multicast 16 4
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TASKS_MAX = 256, LEN_MAX = 65536, ROUNDS = 4, PAUSE_NS = 10000000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All tasks go on at the same time, whenever the last step ended for them. */
static void rest(double *until)
{
    *until += 1e-9 * PAUSE_NS;
    const double left = *until - now();
    struct timespec pause = { .tv_nsec = (long)(1e9 * left) };
    if (left > 0) nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    static char octets[LEN_MAX];
    char group[] = "multicast";
    int tid[TASKS_MAX];
    const int tasks = argc > 1 ? atoi(argv[1]) : 16, len = argc > 2 ? atoi(argv[2]) : 4;
    if (tasks < 1 || tasks > TASKS_MAX || len < 0 || len > LEN_MAX) {
        fprintf(stderr, "usage: multicast TASKS OCTETS, of 1 to %d and 0 to %d\n", TASKS_MAX,
                LEN_MAX);
        return 2;
    }
    pvm_mytid();
    double until = now();
    const int me = pvm_joingroup(group);
    pvm_barrier(group, tasks);
    for (int i = 0; i < tasks; i++)
        tid[i] = pvm_gettid(group, i);
    for (int i = 0; i < ROUNDS; i++) {
        int sum = me;
        rest(&until);
        if (me == 0) {
            pvm_initsend(PvmDataRaw);
            pvm_pkbyte(octets, len, 1);
            pvm_mcast(tid, tasks, 1);
        } else {
            pvm_recv(tid[0], 1);
        }
        rest(&until);
        pvm_barrier(group, tasks);
        rest(&until);
        pvm_reduce(PvmSum, &sum, 1, PVM_INT, 2, group, 0);
        if (me == 0 && i == 0) printf("the sum is %d\n", sum);
    }
    pvm_barrier(group, tasks);
    pvm_exit();
    return 0;
}
