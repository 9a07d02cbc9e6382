/*
 * Collectives that move data: every one, blocking, non-blocking and in place, with every basic
 * type, from many roots, with equal and unequal blocks. The data from `from` to `to` is a pattern
 * of both, so every block is distinguishable.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { TO_ALL = 999, DIFFERENT = 3 };

static MPI_Datatype type; /* of the elements */
static size_t size;       /* octets of one */
static int count;         /* elements in a block */
static int *counts, *places, *octet_places;
static MPI_Datatype *kinds;
static unsigned char *out, *in, *more;
static size_t room; /* of each of them */

static size_t block_len(void)
{
    return (size_t)count * size;
}

static void clear(void)
{
    memset(in, 0, room);
    memset(more, 0, room);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Blocks of `from` for all ranks, or of one for all. */
static void fill_for_each(unsigned char *at, int from)
{
    for (int to = 0; to < ranks; to++)
        pattern_fill(at + (size_t)to * block_len(), block_len(), pattern_seed(from, to, count));
}

static void fill_block(unsigned char *at, int from)
{
    pattern_fill(at, block_len(), pattern_seed(from, TO_ALL, count));
}

/* One block of each rank, for `to`. */
static void check_from_each(const char *call, const unsigned char *at, int to)
{
    int wrong = -1;
    for (int from = 0; from < ranks && wrong < 0; from++)
        if (!pattern_is(at + (size_t)from * block_len(), block_len(),
                        pattern_seed(from, to, count)))
            wrong = from;
    CHECK(wrong < 0, "%s of %d elements of %zu octets: the block of rank %d", call, count, size,
          wrong);
}

static void check_block(const char *call, const unsigned char *at, int from, int to)
{
    CHECK(pattern_is(at, block_len(), pattern_seed(from, to, count)),
          "%s of %d elements of %zu octets: the block of rank %d", call, count, size, from);
}

static void broadcast(int root)
{
    MPI_Request request;
    clear();
    if (me == root) fill_block(in, root);
    MPI_Bcast(in, count, type, root, MPI_COMM_WORLD);
    check_block("bcast", in, root, TO_ALL);
    if (me == root) fill_block(more, root);
    MPI_Ibcast(more, count, type, root, MPI_COMM_WORLD, &request);
    finish(&request);
    check_block("ibcast", more, root, TO_ALL);
}

static void gather(int root)
{
    MPI_Request request;
    clear();
    fill_block(out, me);
    MPI_Gather(out, count, type, in, count, type, root, MPI_COMM_WORLD);
    if (me == root) check_from_each("gather", in, TO_ALL);
    MPI_Igather(out, count, type, more, count, type, root, MPI_COMM_WORLD, &request);
    finish(&request);
    if (me == root) check_from_each("igather", more, TO_ALL);
    clear();
    if (me == root) fill_block(in + (size_t)me * block_len(), me);
    MPI_Gather(me == root ? MPI_IN_PLACE : out, count, type, in, count, type, root, MPI_COMM_WORLD);
    if (me == root) check_from_each("gather in place", in, TO_ALL);
}

static void scatter(int root)
{
    MPI_Request request;
    clear();
    if (me == root) fill_for_each(out, root);
    MPI_Scatter(out, count, type, in, count, type, root, MPI_COMM_WORLD);
    check_block("scatter", in, root, me);
    MPI_Iscatter(out, count, type, more, count, type, root, MPI_COMM_WORLD, &request);
    finish(&request);
    check_block("iscatter", more, root, me);
    clear();
    MPI_Scatter(out, count, type, me == root ? MPI_IN_PLACE : in, count, type, root,
                MPI_COMM_WORLD);
    check_block("scatter in place", me == root ? out + (size_t)me * block_len() : in, root, me);
}

static void all_gather(void)
{
    MPI_Request request;
    clear();
    fill_block(out, me);
    MPI_Allgather(out, count, type, in, count, type, MPI_COMM_WORLD);
    check_from_each("allgather", in, TO_ALL);
    MPI_Iallgather(out, count, type, more, count, type, MPI_COMM_WORLD, &request);
    finish(&request);
    check_from_each("iallgather", more, TO_ALL);
    clear();
    fill_block(in + (size_t)me * block_len(), me);
    fill_block(more + (size_t)me * block_len(), me);
    MPI_Allgather(MPI_IN_PLACE, 0, type, in, count, type, MPI_COMM_WORLD);
    check_from_each("allgather in place", in, TO_ALL);
    MPI_Iallgather(MPI_IN_PLACE, 0, type, more, count, type, MPI_COMM_WORLD, &request);
    finish(&request);
    check_from_each("iallgather in place", more, TO_ALL);
}

static void all_to_all(void)
{
    MPI_Request request;
    clear();
    fill_for_each(out, me);
    MPI_Alltoall(out, count, type, in, count, type, MPI_COMM_WORLD);
    check_from_each("alltoall", in, me);
    MPI_Ialltoall(out, count, type, more, count, type, MPI_COMM_WORLD, &request);
    finish(&request);
    check_from_each("ialltoall", more, me);
    memcpy(in, out, (size_t)ranks * block_len());
    MPI_Alltoall(MPI_IN_PLACE, 0, type, in, count, type, MPI_COMM_WORLD);
    check_from_each("alltoall in place", in, me);
}

static void with_all_types(void)
{
    MPI_Datatype types[] = { MPI_CHAR,
                             MPI_SIGNED_CHAR,
                             MPI_UNSIGNED_CHAR,
                             MPI_BYTE,
                             MPI_WCHAR,
                             MPI_SHORT,
                             MPI_UNSIGNED_SHORT,
                             MPI_INT,
                             MPI_UNSIGNED,
                             MPI_LONG,
                             MPI_UNSIGNED_LONG,
                             MPI_LONG_LONG,
                             MPI_UNSIGNED_LONG_LONG,
                             MPI_FLOAT,
                             MPI_DOUBLE,
                             MPI_LONG_DOUBLE,
                             MPI_C_BOOL,
                             MPI_INT8_T,
                             MPI_INT16_T,
                             MPI_INT32_T,
                             MPI_INT64_T,
                             MPI_UINT8_T,
                             MPI_UINT16_T,
                             MPI_UINT32_T,
                             MPI_UINT64_T,
                             MPI_AINT,
                             MPI_OFFSET,
                             MPI_COUNT,
                             MPI_C_FLOAT_COMPLEX,
                             MPI_C_DOUBLE_COMPLEX,
                             MPI_C_LONG_DOUBLE_COMPLEX,
                             MPI_2INT,
                             MPI_FLOAT_INT };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int octets = 0;
        type = types[i];
        MPI_Type_size(type, &octets);
        size = (size_t)octets;
        count = 3;
        broadcast((int)i % ranks);
        gather((int)i % ranks);
        scatter((int)i % ranks);
        all_gather();
        all_to_all();
    }
}

static void with_all_counts(void)
{
    static const int all_counts[] = { 0, 1, 2, 100, 1024, 5000 };
    type = MPI_INT;
    size = sizeof(int);
    for (size_t i = 0; i < sizeof all_counts / sizeof *all_counts; i++) {
        count = all_counts[i];
        for (int root = 0; root < ranks; root += 1 + ranks / 6) {
            broadcast(root);
            gather(root);
            scatter(root);
        }
        all_gather();
        all_to_all();
    }
}

static void long_broadcasts(void)
{
    type = MPI_BYTE;
    size = 1;
    count = (int)room;
    broadcast(0);
    count = (int)room - 1;
    broadcast(ranks - 1);
}

/* ---- blocks of unequal lengths: rank i gives i modulo 3 plus 1 times count elements -------- */

static void lay_unequal(void)
{
    int place = 0;
    for (int i = 0; i < ranks; i++) {
        counts[i] = (i % DIFFERENT + 1) * count;
        places[i] = place + 2; /* gaps of two elements */
        place = places[i] + counts[i];
    }
}

static void fill_unequal(unsigned char *at, int from, int to, int elements)
{
    pattern_fill(at, (size_t)elements * size, pattern_seed(from, to, count));
}

static void check_unequal(const char *call, const unsigned char *at)
{
    const unsigned char gap[2 * sizeof(double)] = { 0 };
    int wrong = -1;
    for (int from = 0; from < ranks && wrong < 0; from++) {
        const unsigned char *block = at + (size_t)places[from] * size;
        const size_t len = (size_t)counts[from] * size;
        if (!pattern_is(block, len, pattern_seed(from, TO_ALL, count)) ||
            memcmp(block - 2 * size, gap, 2 * size) != 0)
            wrong = from;
    }
    CHECK(wrong < 0, "%s: the block of rank %d and the gap before it", call, wrong);
}

static void gather_unequal(int root)
{
    MPI_Request request;
    clear();
    fill_unequal(out, me, TO_ALL, counts[me]);
    MPI_Gatherv(out, counts[me], type, in, counts, places, type, root, MPI_COMM_WORLD);
    if (me == root) check_unequal("gatherv", in);
    MPI_Igatherv(out, counts[me], type, more, counts, places, type, root, MPI_COMM_WORLD, &request);
    finish(&request);
    if (me == root) check_unequal("igatherv", more);
    clear();
    MPI_Allgatherv(out, counts[me], type, in, counts, places, type, MPI_COMM_WORLD);
    check_unequal("allgatherv", in);
    MPI_Iallgatherv(out, counts[me], type, more, counts, places, type, MPI_COMM_WORLD, &request);
    finish(&request);
    check_unequal("iallgatherv", more);
    clear();
    fill_unequal(in + (size_t)places[me] * size, me, TO_ALL, counts[me]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, type, in, counts, places, type, MPI_COMM_WORLD);
    check_unequal("allgatherv in place", in);
}

static void scatter_unequal(int root)
{
    MPI_Request request;
    clear();
    for (int to = 0; me == root && to < ranks; to++)
        fill_unequal(out + (size_t)places[to] * size, root, to, counts[to]);
    MPI_Scatterv(out, counts, places, type, in, counts[me], type, root, MPI_COMM_WORLD);
    CHECK(pattern_is(in, (size_t)counts[me] * size, pattern_seed(root, me, count)),
          "scatterv: the block of rank %d", root);
    MPI_Iscatterv(out, counts, places, type, more, counts[me], type, root, MPI_COMM_WORLD,
                  &request);
    finish(&request);
    CHECK(pattern_is(more, (size_t)counts[me] * size, pattern_seed(root, me, count)),
          "iscatterv: the block of rank %d", root);
}

/* Rank i sends (i mod 3 + 1) * (j mod 3 + 1) elements to rank j; none if i + j is a multiple of
 * five. */
static int elements_between(int from, int to)
{
    return (from + to) % 5 == 0 ? 0 : (from % DIFFERENT + 1) * (to % DIFFERENT + 1) * count;
}

static void lay_pairs(void)
{
    int place = 0;
    for (int i = 0; i < ranks; i++) {
        counts[i] = elements_between(me, i); /* the same in both directions */
        places[i] = place;
        place += counts[i];
        octet_places[i] = places[i] * (int)size;
        kinds[i] = type;
    }
}

static void check_pairs(const char *call, const unsigned char *at)
{
    int wrong = -1;
    for (int from = 0; from < ranks && wrong < 0; from++)
        if (!pattern_is(at + octet_places[from], (size_t)counts[from] * size,
                        pattern_seed(from, me, count)))
            wrong = from;
    CHECK(wrong < 0, "%s: the block of rank %d", call, wrong);
}

static void all_to_all_unequal(void)
{
    MPI_Request request;
    lay_pairs();
    for (int to = 0; to < ranks; to++)
        fill_unequal(out + octet_places[to], me, to, counts[to]);
    clear();
    MPI_Alltoallv(out, counts, places, type, in, counts, places, type, MPI_COMM_WORLD);
    check_pairs("alltoallv", in);
    MPI_Ialltoallv(out, counts, places, type, more, counts, places, type, MPI_COMM_WORLD, &request);
    finish(&request);
    check_pairs("ialltoallv", more);
    clear();
    MPI_Alltoallw(out, counts, octet_places, kinds, in, counts, octet_places, kinds,
                  MPI_COMM_WORLD);
    check_pairs("alltoallw", in);
    MPI_Ialltoallw(out, counts, octet_places, kinds, more, counts, octet_places, kinds,
                   MPI_COMM_WORLD, &request);
    finish(&request);
    check_pairs("ialltoallw", more);
    memcpy(in, out, room);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, type, in, counts, places, type, MPI_COMM_WORLD);
    check_pairs("alltoallv in place", in);
}

static void unequal_blocks(MPI_Datatype of, size_t octets, int unit)
{
    type = of;
    size = octets;
    count = unit;
    lay_unequal();
    for (int root = 0; root < ranks; root += 1 + ranks / 3) {
        gather_unequal(root);
        scatter_unequal(root);
    }
    all_to_all_unequal();
}

/* Nobody leaves a barrier before the last has entered: rank 0 enters when all others have reported
 * that theirs is incomplete. */
static void barrier(void)
{
    MPI_Request request;
    int early = 0, done = 0;
    if (me == 0) {
        for (int i = 1; i < ranks; i++)
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        for (int i = 0; i < 100 && !early; i++)
            MPI_Test(&request, &early, MPI_STATUS_IGNORE);
        CHECK(!early, "no way out of a barrier that rank 0 has not entered");
        MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    }
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    for (int i = 0; i < 50; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Many of one kind at a time: results are not mixed up. */
static void many_at_a_time(void)
{
    enum { MANY = 30 };
    MPI_Request requests[MANY];
    int sums[MANY], numbers[MANY], wrong = 0;
    for (int i = 0; i < MANY; i++) {
        numbers[i] = me + i;
        MPI_Iallreduce(&numbers[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        wrong += sums[i] != ranks * (ranks - 1) / 2 + i * ranks;
    CHECK_EQ(wrong, 0);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    room = (size_t)ranks * 20000 + 300000;
    out = memory(room);
    in = memory(room);
    more = memory(room);
    counts = memory((size_t)ranks * sizeof *counts);
    places = memory((size_t)ranks * sizeof *places);
    octet_places = memory((size_t)ranks * sizeof *octet_places);
    kinds = memory((size_t)ranks * sizeof *kinds);
    topic("barrier");
    barrier();
    topic("all basic types");
    with_all_types();
    topic("all counts and roots");
    with_all_counts();
    topic("long broadcasts");
    long_broadcasts();
    topic("blocks of unequal lengths");
    unequal_blocks(MPI_INT, sizeof(int), 1);
    unequal_blocks(MPI_DOUBLE, sizeof(double), 5);
    unequal_blocks(MPI_BYTE, 1, 700);
    topic("many at a time");
    many_at_a_time();
    free(kinds);
    free(octet_places);
    free(places);
    free(counts);
    free(more);
    free(in);
    free(out);
    return check_end();
}
