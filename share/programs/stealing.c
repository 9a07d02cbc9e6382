/*
 * Work stealing: ranks search a random, unbalanced tree of tasks, and balance the load themselves.
 * A task is a node with the number of nodes below it, which it divides at random among two
 * children; so the number of nodes is known, and nothing else about the tree. Rank 0 begins with
 * the root. A rank without tasks asks others for some; who has several gives away the oldest half,
 * which are the largest.
 *
 *   rank 3  --ASK-->  rank 9        it has none: an empty GIVE
 *   rank 3  --ASK-->  rank 5
 *   rank 3  <--GIVE-- rank 5        tasks, counted by both
 *
 * They end by Mattern's four counters: a rank that is idle joins a wave (MPI_Iallreduce) that sums
 * how often tasks were given and received. If what was given by the second of two waves is what was
 * received by the first, nobody was woken in between, and no task is under way.
 *
 * The sum of all nodes' random numbers is the same for any number of ranks. The arguments are the
 * number of nodes and the microseconds that a node takes.
 *
 *   mpicc -O2 -o stealing stealing.c
 *   leat run --fabric torus:4,4 -n 16 -- ./stealing 2000
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ASK, GIVE };     /* tags */
enum { GIFT_MAX = 16 }; /* tasks in a message */
enum { MESSAGE, WAVE, REQUESTS };

struct task {
    uint64_t nodes; /* in its subtree, itself included */
    uint64_t number;
};

static int me, ranks;
static int task_us = 20;
static struct task *stack, inbox[GIFT_MAX];
static int height;
static uint64_t nodes_done, sum, victims;
static int64_t given, received; /* messages with tasks */
static MPI_Request request[REQUESTS];

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void push(uint64_t nodes, uint64_t number)
{
    if (nodes) stack[height++] = (struct task){ nodes, number };
}

static void do_task(void)
{
    const struct task t = stack[--height];
    const uint64_t left = mix(t.number) % t.nodes;
    nanosleep(&(struct timespec){ task_us / 1000000, task_us % 1000000 * 1000L }, NULL);
    nodes_done++;
    sum += t.number;
    push(t.nodes - 1 - left, mix(2 * t.number + 1));
    push(left, mix(2 * t.number));
}

static void expect_message(void)
{
    MPI_Irecv(inbox, 2 * GIFT_MAX, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &request[MESSAGE]);
}

/* Buffered, so that two ranks that send to each other do not wait for each other. */
static void send_tasks(const struct task *tasks, int count, int to, int tag)
{
    MPI_Bsend(tasks, 2 * count, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
}

static void ask_somebody(void)
{
    victims = mix(victims + (uint64_t)me);
    send_tasks(NULL, 0, (me + 1 + (int)(victims % (uint64_t)(ranks - 1))) % ranks, ASK);
}

/* Half of the tasks, the oldest. */
static void give(int to)
{
    const int count = height / 2 < GIFT_MAX ? height / 2 : GIFT_MAX;
    send_tasks(stack, count, to, GIVE);
    given += count > 0;
    height -= count;
    for (int i = 0; i < height; i++)
        stack[i] = stack[i + count];
}

/* True if it is the answer to our question. */
static int on_message(const MPI_Status *status)
{
    int words;
    MPI_Get_count(status, MPI_UINT64_T, &words);
    if (status->MPI_TAG == ASK)
        give(status->MPI_SOURCE);
    else
        for (int i = 0; i < words / 2; i++)
            stack[height++] = inbox[i];
    received += words > 0;
    expect_message();
    return status->MPI_TAG == GIVE;
}

/* ---- the end ---- */

static int64_t counts[2], total[2]; /* given, received: ours, and all ranks' */

static void join_wave(void)
{
    counts[0] = given;
    counts[1] = received;
    MPI_Iallreduce(counts, total, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request[WAVE]);
}

/* Searches until nobody has tasks. */
static void search(void)
{
    int64_t received_before = -1; /* by the last wave */
    int is_asking = 0, is_over = 0, is_leaving = 0;
    for (;;) {
        if (height) do_task();
        if (!height && !is_over) {
            if (request[WAVE] == MPI_REQUEST_NULL) join_wave();
            if (!is_asking && ranks > 1) ask_somebody();
            is_asking = ranks > 1;
        } else if (is_over && !is_asking && !is_leaving) { /* others may still wait for a GIVE */
            MPI_Ibarrier(MPI_COMM_WORLD, &request[WAVE]);
            is_leaving = 1;
        }
        int which, is_done = 1;
        MPI_Status status;
        if (height)
            MPI_Testany(REQUESTS, request, &which, &is_done, &status);
        else
            MPI_Waitany(REQUESTS, request, &which, &status);
        if (!is_done) continue;
        if (which == MESSAGE && on_message(&status)) {
            is_asking = 0;
        } else if (which == WAVE && is_leaving) {
            return;
        } else if (which == WAVE) {
            is_over = total[0] == received_before;
            received_before = total[1];
        }
    }
}

static void *get_memory(size_t len)
{
    void *memory = malloc(len);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int nodes = argc > 1 ? atoi(argv[1]) : 2000;
    if (argc > 2) task_us = atoi(argv[2]);
    if (nodes < 1 || task_us < 0) {
        if (me == 0) fprintf(stderr, "stealing: expected 1 node and more, 0 us and more\n");
        MPI_Finalize();
        return 2;
    }
    stack = get_memory((size_t)nodes * sizeof *stack);
    /* Nobody has more than one question and one answer under way to each other rank. */
    int len = 2 * ranks * (int)(sizeof inbox + MPI_BSEND_OVERHEAD);
    void *buffer = get_memory((size_t)len);
    MPI_Buffer_attach(buffer, len);
    for (int i = 0; i < REQUESTS; i++)
        request[i] = MPI_REQUEST_NULL;
    if (me == 0) push((uint64_t)nodes, mix(42));
    expect_message();
    search();
    MPI_Cancel(&request[MESSAGE]);
    MPI_Wait(&request[MESSAGE], MPI_STATUS_IGNORE);

    uint64_t mine[2] = { nodes_done, sum }, all[2];
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    const int is_right = all[0] == (uint64_t)nodes;
    if (me == 0)
        printf("stealing: %llu nodes of %d, sum %016llx: %s\n", (unsigned long long)all[0], nodes,
               (unsigned long long)all[1], is_right ? "right" : "WRONG");
    MPI_Buffer_detach(&buffer, &len);
    MPI_Finalize();
    free(buffer);
    free(stack);
    return !is_right;
}
