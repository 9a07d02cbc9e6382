/*
 * A rank whose threads misbehave, or wait for each other in ways that MPI does not see. The
 * argument selects the deed: deadlock (all threads of all ranks wait in MPI), abort (MPI_Abort in
 * a thread), exit (of the process, in a thread), fork (a thread forks), alive (MPI_Finalize beside
 * a thread that sleeps), spin (a thread spins until another has received), yield (the same, with
 * sched_yield), lock (threads that contend for a lock around their calls), barrier (of threads,
 * around calls), lock_spin (the same with a barrier of the program's own, which asks for a lock
 * again and again), spawn (each starts four ranks), outside (a thread reads from a pipe for ever).
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

static int me, ranks;
static char *program;
static atomic_bool is_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *receive_for_ever(void *tag)
{
    int in;
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, (int)(intptr_t)tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return NULL;
}

static void *abort_all(void *none)
{
    if (me == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    receive_for_ever(none);
    return none;
}

static void *exit_all(void *none)
{
    if (me == 0) exit(4);
    receive_for_ever(none);
    return none;
}

static void ring(int tag)
{
    int in = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, tag, &in, 1, MPI_INT, (me + ranks - 1) % ranks,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != (me + ranks - 1) % ranks) printf("rank %d: got %d\n", me, in);
}

static void *fork_one(void *none)
{
    int status = -1;
    ring(1);
    const pid_t child = fork();
    if (!child) _exit(0);
    waitpid(child, &status, 0);
    if (status) printf("rank %d: its fork ended with %d\n", me, status);
    ring(2);
    return none;
}

static void *sleep_for_ever(void *none)
{
    for (;;)
        pause();
    return none;
}

static void *spin(void *none)
{
    while (!is_done) {
    }
    ring(2);
    return none;
}

static void *yield(void *none)
{
    while (!is_done)
        sched_yield();
    ring(2);
    return none;
}

/* Which of the threads is first, the system decides; that all of them communicate, the lock. */
static void *contend(void *none)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        ring(1);
        pthread_mutex_unlock(&lock);
    }
    return none;
}

static void *meet(void *number)
{
    for (int i = 0; i < 20; i++) {
        if (i % THREADS == (int)(intptr_t)number) ring(1);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static int arrived(int more)
{
    static int count;
    pthread_mutex_lock(&lock);
    count += more;
    const int now = count;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *meet_in_loops(void *number)
{
    enum { MEETINGS = 60 };
    for (int i = 1; i <= MEETINGS; i++) {
        if (i % THREADS == (int)(intptr_t)number) ring(1);
        arrived(1);
        while (arrived(0) < i * THREADS) {
        }
    }
    return NULL;
}

static void *spawn_one(void *none)
{
    MPI_Comm started;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 4, MPI_INFO_NULL, 0, MPI_COMM_SELF, &started,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&started);
    return none;
}

static void *read_outside(void *none)
{
    int ends[2];
    char octet;
    if (pipe(ends) || read(ends[0], &octet, 1)) printf("rank %d: something to read\n", me);
    return none;
}

static const struct deed {
    const char *name;
    void *(*work)(void *);
    int threads;
    int rings;         /* of the first thread, beside them */
    bool joins, parts; /* it waits for their end; each has a number */
} deeds[] = {
    { "deadlock", receive_for_ever, THREADS, 0, true, true },
    { "abort", abort_all, THREADS, 0, true, false },
    { "exit", exit_all, THREADS, 0, true, false },
    { "fork", fork_one, 1, 0, true, false },
    { "alive", sleep_for_ever, 1, 1, false, false },
    { "spin", spin, 1, 1, true, false },
    { "yield", yield, 1, 1, true, false },
    { "lock", contend, THREADS, 0, true, false },
    { "barrier", meet, THREADS, 0, true, true },
    { "lock_spin", meet_in_loops, THREADS, 0, true, true },
    { "spawn", spawn_one, THREADS, 0, true, false },
    { "outside", read_outside, 1, 2, false, false },
};

static void do_deed(const struct deed *deed)
{
    pthread_t thread[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < deed->threads; i++)
        if (pthread_create(&thread[i], NULL, deed->work, deed->parts ? (void *)i : NULL)) exit(2);
    for (int i = 0; i < deed->rings; i++)
        ring(1);
    is_done = true;
    for (int i = 0; deed->joins && i < deed->threads; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Comm parent;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
    program = argv[0];
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (argc > 1 && strcmp(argv[1], deeds[i].name) == 0) do_deed(&deeds[i]);
    MPI_Finalize();
    if (me == 0 && argc > 1) printf("all is well\n");
    return 0;
}
