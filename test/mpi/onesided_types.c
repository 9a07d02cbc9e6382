/*
 * One-sided communication of many types and lengths: accumulates that are longer than any buffer,
 * of all kinds of numbers, from memory that is named by its address; counters and locks made of
 * single operations; all ways to flush.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { LONG_COUNT = 65530, MIXED_COUNT = 1018, OCTETS_MAX = LONG_COUNT * 4 };

static void *cells;
static MPI_Win window; /* with a unit of one octet */

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
    memset(cells, 0, OCTETS_MAX);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void long_accumulates(void)
{
    int *mine = memory(OCTETS_MAX);
    const int *theirs = cells;
    int wrong = 0;
    clear();
    for (int i = 0; i < LONG_COUNT; i++)
        mine[i] = me + i;
    MPI_Win_fence(0, window);
    for (int to = 0; to < ranks; to++)
        MPI_Accumulate(mine, LONG_COUNT, MPI_INT, to, 0, LONG_COUNT, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < LONG_COUNT; i++)
        wrong += theirs[i] != ranks * (ranks - 1) / 2 + ranks * i;
    CHECK_EQ(wrong, 0);
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine, LONG_COUNT, MPI_INT, right, 0, LONG_COUNT, MPI_INT, MPI_MIN, window);
    MPI_Win_fence(0, window);
    for (int i = wrong = 0; i < LONG_COUNT; i++) {
        const int sum = ranks * (ranks - 1) / 2 + ranks * i;
        wrong += theirs[i] != (sum < left + i ? sum : left + i);
    }
    CHECK_EQ(wrong, 0);
    free(mine);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Fetches MIXED_COUNT numbers of the right neighbour and adds others to them, for each type. */
#define MIXED(ctype, type)                                                                        \
    do {                                                                                          \
        ctype add[MIXED_COUNT], before[MIXED_COUNT];                                              \
        const ctype *after = cells;                                                               \
        int wrong = 0;                                                                            \
        clear();                                                                                  \
        for (int i = 0; i < MIXED_COUNT; i++) {                                                   \
            add[i] = (ctype)(i % 50 + 1);                                                         \
            before[i] = (ctype)99;                                                                \
        }                                                                                         \
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);                                          \
        MPI_Accumulate(add, MIXED_COUNT, type, right, 0, MIXED_COUNT, type, MPI_REPLACE, window); \
        MPI_Get_accumulate(add, MIXED_COUNT, type, before, MIXED_COUNT, type, right, 0,           \
                           MIXED_COUNT, type, MPI_SUM, window);                                   \
        MPI_Win_unlock(right, window);                                                            \
        MPI_Barrier(MPI_COMM_WORLD);                                                              \
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);                                             \
        for (int i = 0; i < MIXED_COUNT; i++)                                                     \
            wrong += before[i] != add[i] || after[i] != (ctype)(2 * (i % 50 + 1));                \
        MPI_Win_unlock(me, window);                                                               \
        CHECK_EQ(wrong, 0);                                                                       \
        MPI_Barrier(MPI_COMM_WORLD);                                                              \
    } while (0)

static void mixed_types(void)
{
    MIXED(signed char, MPI_SIGNED_CHAR);
    MIXED(unsigned short, MPI_UNSIGNED_SHORT);
    MIXED(int, MPI_INT);
    MIXED(unsigned long, MPI_UNSIGNED_LONG);
    MIXED(float, MPI_FLOAT);
    MIXED(double, MPI_DOUBLE);
    MIXED(long double, MPI_LONG_DOUBLE);
}

/* Origins that are named by their addresses alone, in two parts. */
static void from_bottom(void)
{
    static long first[3], second[4]; /* on a stack they would lie elsewhere in each environment */
    const int lengths[] = { 3, 4 };
    const long *theirs = cells;
    MPI_Aint at[2];
    MPI_Datatype parts;
    int wrong = 0;
    clear();
    for (int i = 0; i < 4; i++)
        first[i % 3] = 10L * me + i % 3, second[i] = 10L * me + 3 + i;
    MPI_Get_address(first, &at[0]);
    MPI_Get_address(second, &at[1]);
    MPI_Type_create_hindexed(2, lengths, at, MPI_LONG, &parts);
    MPI_Type_commit(&parts);
    MPI_Win_fence(0, window);
    MPI_Put(MPI_BOTTOM, 1, parts, right, 0, 7, MPI_LONG, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 7; i++)
        wrong += theirs[i] != 10L * left + i;
    CHECK_EQ(wrong, 0);
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    MPI_Win_fence(0, window);
    MPI_Get(MPI_BOTTOM, 1, parts, right, 0, 7, MPI_LONG, window);
    MPI_Win_fence(0, window);
    CHECK_EQ(first[2], 10L * me + 2);
    CHECK_EQ(second[3], 10L * me + 6);
    MPI_Type_free(&parts);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The largest of all numbers, a sum of doubles, and the last of those that were stored. */
static void single_operations(void)
{
    const int number = 100 + me;
    const double half = 0.5;
    const short here = (short)(me + 1);
    int before = -1, largest = -1;
    double sum = -1;
    short was = -1;
    clear();
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&number, &before, MPI_INT, 0, 0, MPI_MAX, window);
    MPI_Fetch_and_op(&half, &sum, MPI_DOUBLE, 0, 8, MPI_SUM, window);
    MPI_Fetch_and_op(&here, &was, MPI_SHORT, 0, 16, MPI_REPLACE, window);
    MPI_Win_flush_local(0, window);
    CHECK(before == 0 || (before >= 100 && before != number), "a number of before, not %d", before);
    CHECK(sum >= 0 && 2 * sum < ranks, "half of the ranks before, not %g", sum);
    CHECK(was >= 0 && was <= ranks && was != here, "the mark of another, not %d", was);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(NULL, &largest, MPI_INT, 0, 0, MPI_NO_OP, window);
    MPI_Fetch_and_op(NULL, &sum, MPI_DOUBLE, 0, 8, MPI_NO_OP, window);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    CHECK_EQ(largest, 100 + ranks - 1);
    CHECK(2 * sum == ranks, "half of the ranks, not %g", sum);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A lock in a word of rank 0, which protects the word behind it. */
static void lock_of_words(void)
{
    enum { ROUNDS = 4 };
    const int mine = me + 1, nobody = 0;
    int holder, count = -1;
    clear();
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < ROUNDS; round++) {
        do {
            MPI_Compare_and_swap(&mine, &nobody, &holder, MPI_INT, 0, 0, window);
            MPI_Win_flush(0, window);
        } while (holder != nobody);
        MPI_Get(&count, 1, MPI_INT, 0, 4, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        count++;
        MPI_Put(&count, 1, MPI_INT, 0, 4, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Compare_and_swap(&nobody, &mine, &holder, MPI_INT, 0, 0, window);
        MPI_Win_flush(0, window);
        CHECK_EQ(holder, mine);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&count, 1, MPI_INT, 0, 4, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK_EQ(count, ROUNDS * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many at once, of which each has a request; the last fetches. */
static void many_requests(void)
{
    enum { MANY = 600 };
    long mine[MANY], got[MANY], one = 1, before = -1;
    MPI_Request request[MANY];
    int wrong = 0;
    clear();
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < MANY; i++) {
        mine[i] = me * 10000L + i;
        MPI_Rput(&mine[i], 1, MPI_LONG, right, i * 8, 1, MPI_LONG, window, &request[i]);
    }
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    MPI_Win_flush_local_all(window);
    MPI_Win_flush_all(window);
    for (int i = 0; i < MANY; i++)
        MPI_Rget(&got[i], 1, MPI_LONG, right, i * 8, 1, MPI_LONG, window, &request[i]);
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        wrong += got[i] != mine[i];
    CHECK_EQ(wrong, 0);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, right, 8, 1, MPI_LONG, MPI_SUM,
                        window, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK_EQ(before, mine[1]);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    CHECK_EQ(((const long *)cells)[1], left * 10000L + 2);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Pairs of this type, of which the gap may contain anything. */
#define PAIRS(NAME, FIRST, TYPE, COMPARES)                                                        \
    static void NAME(void)                                                                        \
    {                                                                                             \
        enum { PAIRS_MAX = 7 };                                                                   \
        struct pair {                                                                             \
            FIRST a;                                                                              \
            int b;                                                                                \
        } mine[PAIRS_MAX], got[PAIRS_MAX];                                                        \
        int wrong = 0;                                                                            \
        clear();                                                                                  \
        memset(mine, -1, sizeof mine);                                                            \
        for (int i = 0; i < PAIRS_MAX; i++)                                                       \
            mine[i].a = (FIRST)(me * 10 + i), mine[i].b = -me - i;                                \
        MPI_Win_fence(0, window);                                                                 \
        MPI_Accumulate(mine, PAIRS_MAX, TYPE, right, 0, PAIRS_MAX, TYPE, MPI_REPLACE, window);    \
        MPI_Win_fence(0, window);                                                                 \
        MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, PAIRS_MAX, TYPE, right, 0, PAIRS_MAX, \
                           TYPE, MPI_NO_OP, window);                                              \
        MPI_Win_fence(0, window);                                                                 \
        for (int i = 0; i < PAIRS_MAX; i++)                                                       \
            wrong += got[i].a != mine[i].a || got[i].b != mine[i].b;                              \
        CHECK_EQ(wrong, 0);                                                                       \
        MPI_Fetch_and_op(NULL, got, TYPE, right, (MPI_Aint)sizeof *got, MPI_NO_OP, window);       \
        MPI_Win_fence(0, window);                                                                 \
        CHECK(got[0].a == mine[1].a && got[0].b == mine[1].b, "one pair alone");                  \
        if (COMPARES)                                                                             \
            MPI_Accumulate(mine, PAIRS_MAX, TYPE, 0, 0, PAIRS_MAX, TYPE, MPI_MAXLOC, window);     \
        MPI_Win_fence(0, window);                                                                 \
        for (int i = 0; COMPARES && me == 0 && i < PAIRS_MAX; i++) {                              \
            const struct pair *at = (const struct pair *)cells + i;                               \
            wrong += at->a != (FIRST)((ranks - 1) * 10 + i) || at->b != 1 - ranks - i;            \
        }                                                                                         \
        CHECK_EQ(wrong, 0);                                                                       \
        MPI_Win_fence(0, window);                                                                 \
    }
PAIRS(pairs_of_short, short, MPI_SHORT_INT, false)
PAIRS(pairs_of_int, int, MPI_2INT, true)
PAIRS(pairs_of_long, long, MPI_LONG_INT, false)
PAIRS(pairs_of_float, float, MPI_FLOAT_INT, true)
PAIRS(pairs_of_double, double, MPI_DOUBLE_INT, false)
PAIRS(pairs_of_long_double, long double, MPI_LONG_DOUBLE_INT, false)

static void all_pairs(void)
{
    pairs_of_short();
    pairs_of_int();
    pairs_of_long();
    pairs_of_float();
    pairs_of_double();
    pairs_of_long_double();
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    cells = memory(OCTETS_MAX);
    MPI_Win_create(cells, OCTETS_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    topic("long accumulates");
    long_accumulates();
    topic("types");
    mixed_types();
    topic("from MPI_BOTTOM");
    from_bottom();
    topic("single operations");
    single_operations();
    topic("a lock of words");
    lock_of_words();
    topic("pairs");
    all_pairs();
    topic("many requests");
    many_requests();
    MPI_Win_free(&window);
    free(cells);
    return check_end();
}
