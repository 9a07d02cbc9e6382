/*
 * Processes that ranks start, and jobs that connect to each other: children of all ranks, of some
 * and of children, several programs at once, ports and published names.
 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OCTETS = 3000, TAG = 5, SERVICES = 3 };

static char *program; /* this one */

/* ---- children -------------------------------------------------------------------------------- */

/* What a child finds wrong, as its parents learn of it. */
static int faults;

static void expect(bool truth, const char *what)
{
    if (!truth) fprintf(stderr, "a child: expected %s\n", what);
    faults += !truth;
}

static void talk_to_siblings(void)
{
    int rank, size, got = -1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, TAG, &got, 1, MPI_INT,
                 (rank + size - 1) % size, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got == (rank + size - 1) % size, "the number of the sibling before");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size * (size - 1) / 2, "the sum of all siblings");
}

/* The first parent sends octets to each child, and gets others back. */
static void talk_to_parent(MPI_Comm parent)
{
    static char octets[OCTETS];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(octets, OCTETS, MPI_BYTE, 0, TAG, parent, MPI_STATUS_IGNORE);
    expect(pattern_is(octets, OCTETS, pattern_seed(0, rank, 1)), "the octets of the parent");
    pattern_fill(octets, OCTETS, pattern_seed(rank, 0, 2));
    MPI_Send(octets, OCTETS, MPI_BYTE, 0, TAG, parent);
}

/* One communicator of parents and children: all of them count. */
static int count_family(MPI_Comm between, int is_child)
{
    MPI_Comm family;
    int one = 1, all = 0;
    MPI_Intercomm_merge(between, is_child, &family);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, family);
    MPI_Comm_free(&family);
    return all;
}

static void be_child(MPI_Comm parent, char **words)
{
    int size, parents;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_remote_size(parent, &parents);
    expect(size == atoi(words[0]), "as many siblings as were started");
    talk_to_siblings();
    talk_to_parent(parent);
    expect(count_family(parent, 1) == size + parents, "all parents and children");
}

/* Starts a child of its own, which is a child like others. */
static void be_parent_too(void)
{
    static char octets[OCTETS];
    char *words[] = { "child", "1", NULL };
    MPI_Comm between;
    int found = -1;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between,
                   MPI_ERRCODES_IGNORE);
    pattern_fill(octets, OCTETS, pattern_seed(0, 0, 1));
    MPI_Send(octets, OCTETS, MPI_BYTE, 0, TAG, between);
    MPI_Recv(octets, OCTETS, MPI_BYTE, 0, TAG, between, MPI_STATUS_IGNORE);
    expect(pattern_is(octets, OCTETS, pattern_seed(0, 0, 2)), "the octets of the grandchild");
    expect(count_family(between, 0) == 2, "one parent and one child");
    MPI_Recv(&found, 1, MPI_INT, 0, TAG, between, MPI_STATUS_IGNORE);
    expect(found == 0, "a grandchild without faults");
    MPI_Comm_disconnect(&between);
}

/* The words of two programs that are started together: each has its own. */
static void be_one_of_two(char **words)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect(strcmp(words[0], rank == 0 ? "first" : "second") == 0, "the words of its own program");
    talk_to_siblings();
}

static int run_child(int argc, char **argv)
{
    char **words = argv + 1;
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        fprintf(stderr, "a child: expected a parent\n");
        return 1;
    }
    if (strcmp(words[0], "child") == 0) be_child(parent, words + 1);
    if (strcmp(words[0], "parent") == 0) be_parent_too();
    if (strcmp(words[0], "two") == 0) be_one_of_two(words + 1);
    MPI_Send(&faults, 1, MPI_INT, 0, TAG, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return faults > 0;
}

/* ---- parents --------------------------------------------------------------------------------- */

/* Rank 0 of the parents hears of all faults. */
static void end_with(MPI_Comm *between, int count)
{
    int rank, found = -1;
    MPI_Comm_rank(*between, &rank);
    for (int i = 0; rank == 0 && i < count; i++) {
        MPI_Recv(&found, 1, MPI_INT, i, TAG, *between, MPI_STATUS_IGNORE);
        CHECK_EQ(found, 0);
    }
    MPI_Comm_disconnect(between);
    CHECK(*between == MPI_COMM_NULL, "a communicator that is disconnected is none");
}

static void talk_to_children(MPI_Comm between, int count)
{
    static char octets[OCTETS];
    int rank;
    MPI_Comm_rank(between, &rank);
    for (int i = 0; rank == 0 && i < count; i++) {
        pattern_fill(octets, OCTETS, pattern_seed(0, i, 1));
        MPI_Send(octets, OCTETS, MPI_BYTE, i, TAG, between);
    }
    for (int i = 0; rank == 0 && i < count; i++) {
        MPI_Recv(octets, OCTETS, MPI_BYTE, i, TAG, between, MPI_STATUS_IGNORE);
        CHECK(pattern_is(octets, OCTETS, pattern_seed(i, 0, 2)), "the octets of child %d", i);
    }
}

/* All ranks of `comm` start so many. */
static void have_children(MPI_Comm comm, int root, int count)
{
    char number[16], *words[] = { "child", number, NULL };
    int codes[8], size, remote = -1;
    MPI_Comm between;
    snprintf(number, sizeof number, "%d", count);
    MPI_Comm_size(comm, &size);
    MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, root, comm, &between, codes);
    for (int i = 0; i < count; i++)
        CHECK_EQ(codes[i], MPI_SUCCESS);
    MPI_Comm_remote_size(between, &remote);
    CHECK_EQ(remote, count);
    talk_to_children(between, count);
    CHECK_EQ(count_family(between, 0), size + count);
    end_with(&between, count);
}

static void children(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL, "the first ranks have no parent");
    for (int count = 1; count <= 4; count *= 2)
        have_children(MPI_COMM_WORLD, ranks - 1, count);
}

static void children_of_some(void)
{
    MPI_Comm half;
    int size;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_size(half, &size);
    if (me % 2 == 0) have_children(half, size - 1, 2);
    MPI_Comm_free(&half);
}

static void grandchildren(void)
{
    char *words[] = { "parent", NULL };
    MPI_Comm between;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
    end_with(&between, 1);
}

static void two_programs(void)
{
    char *first[] = { "two", "first", NULL }, *second[] = { "two", "second", NULL };
    char *programs[] = { program, program }, **words[] = { first, second };
    const int counts[] = { 1, 2 };
    const MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    int codes[3] = { -1, -1, -1 };
    MPI_Comm between;
    MPI_Comm_spawn_multiple(2, programs, words, counts, infos, 0, MPI_COMM_WORLD, &between, codes);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(codes[i], MPI_SUCCESS);
    end_with(&between, 3);
}

/* ---- connections ----------------------------------------------------------------------------- */

/* The lower half accepts, the upper half connects; twice by the same port. */
static void ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    const int is_upper = me >= (ranks + 1) / 2;
    MPI_Comm half, between;
    if (ranks < 2) return;
    if (me == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, is_upper, me, &half);
    for (int i = 0; i < 2; i++) {
        int remote = -1, sum = -1;
        (is_upper ? MPI_Comm_connect : MPI_Comm_accept)(port, MPI_INFO_NULL, 0, half, &between);
        MPI_Comm_remote_size(between, &remote);
        CHECK_EQ(remote, is_upper ? (ranks + 1) / 2 : ranks / 2);
        MPI_Allreduce(&is_upper, &sum, 1, MPI_INT, MPI_SUM, between);
        CHECK_EQ(sum, is_upper ? 0 : ranks / 2);
        MPI_Comm_disconnect(&between);
    }
    if (me == 0) MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* A rank waits for a message that comes only when others have gone on. */
static void late_connection(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm between;
    int word = 0;
    if (ranks < 3) return;
    if (me == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    } else if (me == 1) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    } else if (me == 2) {
        MPI_Recv(&word, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        word = 7;
        MPI_Send(&word, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    }
    if (me > 1) return;
    if (me == 0) MPI_Recv(&word, 1, MPI_INT, 0, TAG, between, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&word, 1, MPI_INT, 0, TAG, between);
    CHECK_EQ(word, 7);
    MPI_Comm_disconnect(&between);
}

static void names(void)
{
    char name[64], port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < SERVICES; i++) {
        snprintf(name, sizeof name, "service-%d", i);
        snprintf(port, sizeof port, "port of %d", i);
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == i % ranks) CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_SUCCESS);
        CHECK(strcmp(found, port) == 0, "the port of %s is %s, expected %s", name, found, port);
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == i % ranks) CHECK_EQ(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, found) != MPI_SUCCESS, "the name is gone");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) return run_child(argc, argv);
    check_begin(&argc, &argv);
    topic("children of all ranks");
    children();
    topic("children of some");
    children_of_some();
    topic("grandchildren");
    grandchildren();
    topic("two programs");
    two_programs();
    topic("ports");
    ports();
    topic("a late connection");
    late_connection();
    topic("names");
    names();
    return check_end();
}
