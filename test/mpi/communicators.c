/* Communicators and groups: members, order, and separation of traffic. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everybody's rank of the world, as an allgather in `comm` shows it; rank i of it is `wanted(i)`.
 */
static void check_members(MPI_Comm comm, int size_wanted, int first, int step)
{
    int size = -1, rank = -1, wrong = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    if (!CHECK_EQ(size, size_wanted)) return;
    int *members = memory((size_t)size * sizeof *members);
    MPI_Allgather(&me, 1, MPI_INT, members, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        wrong += members[i] != first + step * i;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(members[rank], me);
    free(members);
}

/* How many of 0 .. ranks-1 are `which` modulo `classes`. */
static int class_size(int which, int classes)
{
    return (ranks - which + classes - 1) / classes;
}

static void split(void)
{
    MPI_Comm parts, none;
    int result = -1;
    MPI_Comm_split(MPI_COMM_WORLD, me % 3, me, &parts);
    check_members(parts, class_size(me % 3, 3), me % 3, 3);
    MPI_Comm_free(&parts);
    CHECK(parts == MPI_COMM_NULL, "no communicator is left");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &parts); /* keys reverse the order */
    check_members(parts, ranks, ranks - 1, -1);
    MPI_Comm_compare(MPI_COMM_WORLD, parts, &result);
    CHECK_EQ(result, ranks == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    MPI_Comm_free(&parts);
    MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 7, 0, &none);
    CHECK((none == MPI_COMM_NULL) == (me == 0), "a communicator for all but rank 0");
    if (me != 0) check_members(none, ranks - 1, 1, 1); /* equal keys: the old order */
    if (me != 0) MPI_Comm_free(&none);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &parts);
    MPI_Comm_compare(MPI_COMM_WORLD, parts, &result);
    CHECK(result != MPI_IDENT, "a communicator of its own");
    MPI_Comm_free(&parts);
}

static void dup(void)
{
    enum { COPIES = 20 };
    MPI_Comm copies[COPIES], late;
    MPI_Request requests[2 * COPIES], request;
    int in[COPIES], out[COPIES], result = -1, wrong = 0;
    for (int i = 0; i < COPIES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    MPI_Comm_compare(MPI_COMM_WORLD, copies[0], &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    for (int i = 0; i < COPIES; i++) { /* one tag everywhere; receives in the reverse order */
        const int other = COPIES - 1 - i;
        out[i] = me * 100 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, 1, copies[i], &requests[i]);
        MPI_Irecv(&in[other], 1, MPI_INT, MPI_ANY_SOURCE, 1, copies[other], &requests[COPIES + i]);
    }
    MPI_Waitall(2 * COPIES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COPIES; i++)
        wrong += in[i] != left * 100 + i;
    CHECK_EQ(wrong, 0);
    MPI_Comm_idup(copies[3], &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_members(late, ranks, 0, 1);
    MPI_Comm_free(&late);
    for (int i = 0; i < COPIES; i++)
        MPI_Comm_free(&copies[i]);
}

static void groups(void)
{
    MPI_Group world, even, odd, both, none, again;
    int range[1][3] = { { 0, ranks - 1, 2 } }, size = -1, result = -1, rank = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Group_range_excl(world, 1, range, &odd);
    MPI_Group_size(even, &size);
    CHECK_EQ(size, class_size(0, 2));
    MPI_Group_rank(even, &rank);
    CHECK_EQ(rank, me % 2 ? MPI_UNDEFINED : me / 2);
    MPI_Group_union(even, odd, &both);
    MPI_Group_compare(world, both, &result);
    CHECK_EQ(result, ranks <= 2 ? MPI_IDENT : MPI_SIMILAR);
    MPI_Group_intersection(even, odd, &none);
    CHECK(none == MPI_GROUP_EMPTY, "nobody is even and odd");
    MPI_Group_difference(world, odd, &again);
    MPI_Group_compare(again, even, &result);
    CHECK_EQ(result, MPI_IDENT);
    int first = 0, there = -1;
    MPI_Group_translate_ranks(both, 1, &first, odd, &there);
    CHECK_EQ(there, MPI_UNDEFINED);
    MPI_Group_translate_ranks(even, 1, &first, world, &there);
    CHECK_EQ(there, 0);
    MPI_Group_free(&again);
    MPI_Group_free(&both);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

/* The even ranks, backwards: by all ranks, and by the members alone. */
static void create(void)
{
    MPI_Group world, part;
    MPI_Comm comm;
    const int count = class_size(0, 2);
    int *members = memory((size_t)count * sizeof *members);
    for (int i = 0; i < count; i++)
        members[i] = 2 * (count - 1 - i);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
    CHECK((comm != MPI_COMM_NULL) == (me % 2 == 0), "a communicator for even ranks only");
    if (comm != MPI_COMM_NULL) {
        check_members(comm, count, 2 * (count - 1), -2);
        MPI_Comm_free(&comm);
    }
    if (me % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &comm);
        check_members(comm, count, 2 * (count - 1), -2);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    free(members);
}

static int attribute_copies, attribute_deletes;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    attribute_copies++;
    *(void **)to = from;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    attribute_deletes++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm comm, copy;
    int key = MPI_KEYVAL_INVALID, found = 0, value = 42, *got = NULL, len = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_get_attr(copy, key, &got, &found);
    CHECK(found && got == &value, "the attribute is copied");
    CHECK_EQ(attribute_copies, 1);
    MPI_Comm_delete_attr(copy, key);
    MPI_Comm_get_attr(copy, key, &got, &found);
    CHECK_EQ(found, 0);
    MPI_Comm_free(&copy);
    MPI_Comm_set_name(comm, "ours");
    MPI_Comm_get_name(comm, name, &len);
    CHECK(strcmp(name, "ours") == 0 && len == 4, "the name that was given");
    MPI_Comm_free(&comm);
    CHECK_EQ(attribute_deletes, 2);
    MPI_Comm_free_keyval(&key);
}

/* Halves, halves of them, and so on; each level sums its members. */
static void nested(void)
{
    MPI_Comm here;
    MPI_Comm_dup(MPI_COMM_WORLD, &here);
    int size = ranks, rank = me, first = 0, levels = 0;
    for (; size > 1; levels++) {
        MPI_Comm half;
        const int lower = size / 2;
        int sum = -1, wanted = 0;
        MPI_Comm_split(here, rank < lower, rank, &half);
        first += rank < lower ? 0 : lower;
        MPI_Comm_free(&here);
        here = half;
        MPI_Comm_size(here, &size);
        MPI_Comm_rank(here, &rank);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, here);
        for (int i = 0; i < size; i++)
            wanted += first + i;
        if (sum != wanted) break;
    }
    CHECK_EQ(size, 1);
    MPI_Comm_free(&here);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    topic("split");
    split();
    topic("dup");
    dup();
    topic("groups");
    groups();
    topic("create and create_group");
    create();
    topic("attributes and names");
    attributes();
    topic("nested halves");
    nested();
    topic("MPI_COMM_SELF");
    int result = 0;
    MPI_Allreduce(&me, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK_EQ(result, me);
    return check_end();
}
