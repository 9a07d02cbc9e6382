/*
 * Several threads of a rank that call MPI at once: pairs of threads that exchange, receives by tag
 * and from any rank, communicators of their own, and one that computes, polls or sleeps while
 * others wait.
 */
#include "check.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 8, LONG_LEN = 200000 };

/* What a thread found: counted by the rank's first thread, since checks are. */
static struct found {
    int number;
    long long right, wrong;
    MPI_Comm comm;
} found[THREADS];

static void note(struct found *mine, bool truth)
{
    if (truth)
        mine->right++;
    else
        mine->wrong++;
}

/* All threads at once, then what they found. */
static void run_threads(const char *name, void *(*work)(void *))
{
    pthread_t thread[THREADS];
    topic(name);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++) {
        found[i] = (struct found){ i, 0, 0, found[i].comm };
        CHECK(!pthread_create(&thread[i], NULL, work, &found[i]), "a thread begins");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_EQ(found[i].wrong, 0);
        CHECK(found[i].right > 0, "thread %d has found something", i);
    }
}

/* ---- point to point -------------------------------------------------------------------------- */

/* Each thread with the one of its number in the next rank, in every mode and length. */
static void *exchange(void *argument)
{
    struct found *mine = argument;
    const int tag = mine->number;
    char *out = memory(LONG_LEN), *in = memory(LONG_LEN);
    for (int i = 0; i < ROUNDS; i++) {
        const int len = i % 4 == 3 ? LONG_LEN : 1 << i;
        MPI_Request request;
        pattern_fill(out, (size_t)len, pattern_seed(me, right, tag + i));
        MPI_Irecv(in, len, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request);
        if (i % 2)
            MPI_Ssend(out, len, MPI_BYTE, right, tag, MPI_COMM_WORLD);
        else
            MPI_Send(out, len, MPI_BYTE, right, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note(mine, pattern_is(in, (size_t)len, pattern_seed(left, me, tag + i)));
    }
    free(out);
    free(in);
    return NULL;
}

/* Thread 0 sends to all; the others receive what has their tag, from anybody. */
static void *receive_any(void *argument)
{
    struct found *mine = argument;
    for (int i = 0; i < ROUNDS * ranks; i++) {
        const int to = (me + i) % ranks;
        int value = 1000 * me + i;
        if (mine->number) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, mine->number, MPI_COMM_WORLD, &status);
            note(mine, status.MPI_TAG == mine->number && value / 1000 == status.MPI_SOURCE);
            continue;
        }
        for (int tag = 1; tag < THREADS; tag++)
            MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
        note(mine, true);
    }
    return NULL;
}

/* Every thread probes for messages of its own tag. */
static void *probe(void *argument)
{
    struct found *mine = argument;
    for (int i = 0; i < ROUNDS; i++) {
        int out = 100 * me + i, in = -1;
        MPI_Message message;
        MPI_Request request;
        MPI_Isend(&out, 1, MPI_INT, right, mine->number, MPI_COMM_WORLD, &request);
        if (mine->number % 2) {
            MPI_Mprobe(left, mine->number, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Probe(left, mine->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&in, 1, MPI_INT, left, mine->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        note(mine, in == 100 * left + i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* ---- collective ------------------------------------------------------------------------------ */

static void *reduce(void *argument)
{
    struct found *mine = argument;
    for (int i = 0; i < ROUNDS; i++) {
        int value = me + mine->number, sum = 0, word = me ? -1 : i;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, mine->comm);
        note(mine, sum == ranks * (ranks - 1) / 2 + ranks * mine->number);
        MPI_Bcast(&word, 1, MPI_INT, 0, mine->comm);
        note(mine, word == i);
        MPI_Barrier(mine->comm);
    }
    return NULL;
}

static void *duplicate(void *argument)
{
    struct found *mine = argument;
    MPI_Comm made;
    int sum = 0, one = 1;
    MPI_Comm_dup(mine->comm, &made);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    note(mine, sum == ranks);
    MPI_Comm_free(&made);
    return NULL;
}

/* ---- while others wait ----------------------------------------------------------------------- */

static double compute(int steps)
{
    volatile double x = 1;
    for (int i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

/* Thread 0 computes, or sleeps, and only then sends what the others wait for, each in its way. */
static void wait_for_first(struct found *mine, void (*before)(void))
{
    for (int i = 0; i < ROUNDS / 2; i++) {
        int value = 7 * i, in = -1, done = 0;
        MPI_Request request;
        if (!mine->number) {
            before();
            for (int tag = 1; tag < THREADS; tag++)
                MPI_Send(&value, 1, MPI_INT, right, tag, MPI_COMM_WORLD);
            note(mine, true);
        } else if (mine->number == 1) {
            MPI_Irecv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
            while (!done)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&in, 1, MPI_INT, left, mine->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (mine->number) note(mine, in == value);
    }
}

static void compute_long(void)
{
    compute(2000000);
}

static void sleep_long(void)
{
    usleep(30);
}

static void *beside_computing(void *argument)
{
    wait_for_first(argument, compute_long);
    return NULL;
}

static void *beside_sleep(void *argument)
{
    wait_for_first(argument, sleep_long);
    return NULL;
}

/* Each sleeps for a span of its own, at the same time as the others. */
static void *sleep_together(void *argument)
{
    struct found *mine = argument;
    const double from = MPI_Wtime();
    usleep((unsigned)(20000 + 10000 * mine->number));
    const double took = MPI_Wtime() - from;
    note(mine, took >= 0.0199 + 0.01 * mine->number && took < 0.9);
    return NULL;
}

/* Thread 0 waits for a message that thread 1 sends after it has duplicated a communicator. That
 * takes no message, but the thread that waits has to complete it. */
static void *duplicate_alone(void *argument)
{
    struct found *mine = argument;
    MPI_Comm alone;
    int value = me, in = -1;
    if (!mine->number) {
        MPI_Recv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (mine->number == 1) {
        usleep(30);
        MPI_Comm_dup(MPI_COMM_SELF, &alone);
        MPI_Send(&value, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Comm_free(&alone);
    }
    note(mine, mine->number || in == left);
    return NULL;
}

/* ---- threads that the program orders itself -------------------------------------------------- */

static void *ring(void *argument)
{
    struct found *mine = argument;
    int value = me, in = -1;
    MPI_Sendrecv(&value, 1, MPI_INT, right, 5, &in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    note(mine, in == left);
    return NULL;
}

static void one_after_another(void)
{
    topic("one after another");
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        struct found *mine = &found[i % THREADS];
        *mine = (struct found){ i, 0, 0, mine->comm };
        CHECK(!pthread_create(&thread, NULL, ring, mine), "a thread begins");
        pthread_join(thread, NULL);
        CHECK_EQ(mine->right, 1);
        CHECK_EQ(mine->wrong, 0);
        ring(mine);
    }
}

static void all_at_once(void)
{
    run_threads("exchange", exchange);
    run_threads("receive from any", receive_any);
    run_threads("probe", probe);
    run_threads("collective", reduce);
    run_threads("duplicate", duplicate);
    run_threads("beside one that computes", beside_computing);
    run_threads("beside one that sleeps", beside_sleep);
    run_threads("sleep", sleep_together);
    run_threads("duplicate alone", duplicate_alone);
    run_threads("exchange again", exchange);
}

/* With an argument: only threads that run one after another. */
int main(int argc, char **argv)
{
    if (!check_begin_threads(&argc, &argv)) return check_end();
    one_after_another();
    if (argc > 1) return check_end();
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &found[i].comm);
    all_at_once();
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&found[i].comm);
    return check_end();
}
