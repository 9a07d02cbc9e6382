/* Intercommunicators: two groups, even and odd ranks, that communicate. Two ranks and more. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

static MPI_Comm own, inter;
static int own_rank, own_size, their_size;
static bool even;

/* The world's rank of the i-th one on the other side. */
static int theirs(int i)
{
    return 2 * i + even;
}

static void sides(void)
{
    int size = -1, remote = -1, flag = 0, result = -1, same = 0;
    MPI_Group group, other;
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_test_inter(inter, &flag);
    CHECK_EQ(size, own_size);
    CHECK_EQ(remote, their_size);
    CHECK(flag, "this is an intercommunicator");
    MPI_Comm_test_inter(own, &flag);
    CHECK(!flag, "this is none");
    MPI_Comm_group(inter, &group);
    MPI_Comm_remote_group(inter, &other);
    MPI_Group_rank(other, &result);
    CHECK_EQ(result, MPI_UNDEFINED);
    MPI_Group_size(group, &same);
    CHECK_EQ(same, own_size);
    MPI_Group_free(&other);
    MPI_Group_free(&group);
}

/* Everybody sends to all on the other side. */
static void messages(void)
{
    MPI_Request *requests = memory((size_t)their_size * sizeof *requests);
    int *seen = memory((size_t)their_size * sizeof *seen);
    for (int i = 0; i < their_size; i++)
        MPI_Isend(&me, 1, MPI_INT, i, 3, inter, &requests[i]);
    for (int i = 0; i < their_size; i++) {
        MPI_Status status;
        int from = -1;
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status);
        CHECK_EQ(from, theirs(status.MPI_SOURCE));
        CHECK(!seen[status.MPI_SOURCE]++, "one message of each");
    }
    MPI_Waitall(their_size, requests, MPI_STATUSES_IGNORE);
    free(seen);
    free(requests);
}

/* From the even side's last rank to all odd ones. */
static void rooted(void)
{
    const int root_rank = (ranks + 1) / 2 - 1;
    const int root = !even ? root_rank : own_rank == root_rank ? MPI_ROOT : MPI_PROC_NULL;
    int *numbers = memory((size_t)ranks * sizeof *numbers);
    int value = even ? 4711 : -1, sum = -1, wrong = 0, wanted = 0;
    MPI_Bcast(&value, 1, MPI_INT, root, inter);
    CHECK_EQ(value, 4711);
    MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, root, inter);
    MPI_Gather(&me, 1, MPI_INT, numbers, 1, MPI_INT, root, inter);
    if (root == MPI_ROOT) {
        for (int i = 0; i < their_size; i++) {
            wanted += theirs(i);
            wrong += numbers[i] != theirs(i);
            numbers[i] = 100 + i;
        }
        CHECK_EQ(sum, wanted);
        CHECK_EQ(wrong, 0);
    }
    MPI_Scatter(numbers, 1, MPI_INT, &value, 1, MPI_INT, root, inter);
    if (!even) CHECK_EQ(value, 100 + own_rank);
    free(numbers);
}

static void both_ways(void)
{
    int *numbers = memory((size_t)their_size * sizeof *numbers);
    int *mine = memory((size_t)their_size * sizeof *mine);
    int sum = -1, wanted = 0, wrong = 0;
    MPI_Request request;
    MPI_Barrier(inter);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < their_size; i++)
        wanted += theirs(i);
    CHECK_EQ(sum, wanted);
    MPI_Allgather(&me, 1, MPI_INT, numbers, 1, MPI_INT, inter);
    for (int i = 0; i < their_size; i++)
        wrong += numbers[i] != theirs(i);
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < their_size; i++)
        mine[i] = me * 100 + i;
    MPI_Alltoall(mine, 1, MPI_INT, numbers, 1, MPI_INT, inter);
    for (int i = wrong = 0; i < their_size; i++)
        wrong += numbers[i] != theirs(i) * 100 + own_rank;
    CHECK_EQ(wrong, 0);
    sum = -1;
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, wanted);
    free(mine);
    free(numbers);
}

/* One communicator of both: the even ones first. */
static void merge(void)
{
    MPI_Comm all, copy;
    int size = -1, rank = -1, flag = 0;
    MPI_Intercomm_merge(inter, !even, &all);
    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &rank);
    CHECK_EQ(size, ranks);
    CHECK_EQ(rank, even ? own_rank : their_size + own_rank);
    int *numbers = memory((size_t)ranks * sizeof *numbers);
    MPI_Allgather(&me, 1, MPI_INT, numbers, 1, MPI_INT, all);
    CHECK_EQ(numbers[rank], me);
    CHECK_EQ(numbers[0], 0);
    CHECK_EQ(numbers[ranks - 1], ranks - 1 - ranks % 2);
    free(numbers);
    MPI_Comm_free(&all);
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_test_inter(copy, &flag);
    CHECK(flag, "the copy of an intercommunicator is one");
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    even = me % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, even, me, &own);
    MPI_Comm_rank(own, &own_rank);
    MPI_Comm_size(own, &own_size);
    their_size = ranks - own_size;
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, even ? 1 : 0, 12, &inter);
    topic("two sides");
    sides();
    topic("messages to the other side");
    messages();
    topic("collectives with a root");
    rooted();
    topic("collectives both ways");
    both_ways();
    topic("merge and dup");
    merge();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&own);
    return check_end();
}
