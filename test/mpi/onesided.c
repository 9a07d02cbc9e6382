/*
 * One-sided communication: windows made in three ways; fences, post and start, locks; put, get, the
 * accumulates, fetch_and_op, compare_and_swap. The window of each rank has a cell for every rank.
 * Of Open MPI 4.1 itself only the component osc/pt2pt passes; osc/rdma over shared memory does not.
 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MORE = 20000 }; /* behind the cells of the ranks: for long transfers */

static long *cells;
static MPI_Win window;

static int total(void)
{
    return ranks + CELLS_MORE;
}

static MPI_Aint octets(int count)
{
    return (MPI_Aint)((size_t)count * sizeof(long));
}

static void clear(long value)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
    for (int i = 0; i < total(); i++)
        cells[i] = value;
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The value that rank `from` writes for `to`. */
static long between(int from, int to)
{
    return from * 1000L + to + 1;
}

static void fence(void)
{
    long *mine = memory((size_t)octets(ranks)), *got = memory((size_t)octets(ranks));
    int wrong = 0;
    clear(0);
    for (int to = 0; to < ranks; to++)
        mine[to] = between(me, to);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int to = 0; to < ranks; to++)
        MPI_Put(&mine[to], 1, MPI_LONG, to, me, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    for (int from = 0; from < ranks; from++)
        wrong += cells[from] != between(from, me);
    CHECK_EQ(wrong, 0);
    MPI_Win_fence(0, window);
    for (int to = 0; to < ranks; to++)
        MPI_Get(&got[to], 1, MPI_LONG, to, right, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    for (int to = wrong = 0; to < ranks; to++)
        wrong += got[to] != between(right, to);
    CHECK_EQ(wrong, 0);
    for (int to = 0; to < ranks; to++)
        MPI_Accumulate(&mine[to], 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    long wanted = between(0, me);
    for (int from = 0; from < ranks; from++)
        wanted += between(from, me);
    CHECK_EQ(cells[0], wanted);
    free(got);
    free(mine);
}

/* Every operation that an accumulate supports, on a cell of the right neighbour. */
static void operations(void)
{
    const MPI_Op ops[] = { MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                           MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE };
    const long wanted[] = { 12 + 10, 12 * 10, 12, 10, 1, 1, 0, 12 & 10, 12 | 10, 12 ^ 10, 10 };
    const int count = (int)(sizeof ops / sizeof *ops);
    const long ten = 10;
    clear(12);
    MPI_Win_fence(0, window);
    for (int i = 0; i < count; i++)
        MPI_Accumulate(&ten, 1, MPI_LONG, right, i, 1, MPI_LONG, ops[i], window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < count; i++)
        CHECK_EQ(cells[i], wanted[i]);
}

/* Exposed to the left, writing to the right. */
static void post_and_start(void)
{
    MPI_Group world, to, from;
    long numbers[3] = { me * 10L, me * 10L + 1, me * 10L + 2 }, got = -1;
    int done = 0;
    clear(-1);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (int round = 0; round < 3; round++) {
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        MPI_Put(numbers, 3, MPI_LONG, right, 3 * round, 3, MPI_LONG, window);
        MPI_Get(&got, 1, MPI_LONG, right, 100, 1, MPI_LONG, window);
        MPI_Win_complete(window);
        if (round % 2)
            for (done = 0; !done;)
                MPI_Win_test(window, &done);
        else
            MPI_Win_wait(window);
        CHECK_EQ(got, -1);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(cells[3 * round + i], left * 10L + i);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Everybody writes its cell at rank 0, then reads all; the target does nothing. */
static void locks(void)
{
    const long mine = between(me, 0);
    long *got = memory((size_t)octets(ranks));
    int wrong = 0;
    clear(0);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Put(&mine, 1, MPI_LONG, 0, me, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(got, ranks, MPI_LONG, 0, 0, ranks, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    for (int from = 0; from < ranks; from++)
        wrong += got[from] != between(from, 0);
    CHECK_EQ(wrong, 0);
    free(got);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Read, add one, write: only an exclusive lock makes that safe. */
static void exclusive_counter(void)
{
    enum { ROUNDS = 5 };
    clear(0);
    for (int i = 0; i < ROUNDS; i++) {
        long value = -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        CHECK_EQ(cells[0], (long)ROUNDS * ranks);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Tickets: no number is issued twice, and the numbers of one rank increase. */
static void fetch_and_add(void)
{
    enum { TICKETS = 10 };
    long tickets[TICKETS], sum = 0, all = -1;
    const long one = 1;
    int falling = 0;
    clear(0);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < TICKETS; i++) {
        MPI_Fetch_and_op(&one, &tickets[i], MPI_LONG, 0, 2, MPI_SUM, window);
        MPI_Win_flush(0, window);
        falling += i > 0 && tickets[i] <= tickets[i - 1];
        sum += tickets[i];
    }
    MPI_Win_unlock_all(window);
    CHECK_EQ(falling, 0);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long n = (long)TICKETS * ranks;
    CHECK_EQ(all, n * (n - 1) / 2);
}

/* One winner: the cell of rank 0 changes from -1 once. */
static void compare_and_swap(void)
{
    const long mine = me, free_mark = -1;
    long before = -5, winner = -5;
    int wins = 0, won;
    clear(-1);
    MPI_Win_lock_all(0, window);
    MPI_Compare_and_swap(&mine, &free_mark, &before, MPI_LONG, 0, 1, window);
    MPI_Win_flush(0, window);
    MPI_Win_unlock_all(window);
    won = before == -1;
    MPI_Allreduce(&won, &wins, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(wins, 1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&winner, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    CHECK(won ? winner == me : winner == before, "all know the winner, not %ld", winner);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void get_accumulate(void)
{
    long add[4] = { 1, 2, 3, 4 }, before[4] = { 0 }, peek = -1;
    clear(100);
    MPI_Win_lock_all(0, window);
    MPI_Get_accumulate(add, 4, MPI_LONG, before, 4, MPI_LONG, right, 5, 4, MPI_LONG, MPI_SUM,
                       window);
    MPI_Win_flush(right, window);
    MPI_Get_accumulate(NULL, 0, MPI_LONG, &peek, 1, MPI_LONG, right, 8, 1, MPI_LONG, MPI_NO_OP,
                       window);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(before[i], 100);
    CHECK_EQ(peek, 104);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(cells[5 + i], 101 + i);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void requests(void)
{
    const long mine = between(me, right), five = 5;
    long got = -1;
    MPI_Request request;
    clear(7);
    MPI_Win_lock_all(0, window);
    MPI_Rput(&mine, 1, MPI_LONG, right, 1, 1, MPI_LONG, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Raccumulate(&five, 1, MPI_LONG, right, 2, 1, MPI_LONG, MPI_SUM, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, window);
    MPI_Rget(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    CHECK_EQ(got, mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    CHECK_EQ(cells[1], between(left, me));
    CHECK_EQ(cells[2], 12);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Long ones, and ones with gaps at the target. */
static void long_transfers(void)
{
    long *mine = memory((size_t)octets(CELLS_MORE)), *back = memory((size_t)octets(CELLS_MORE));
    MPI_Datatype gaps;
    int wrong = 0;
    clear(0);
    for (int i = 0; i < CELLS_MORE; i++)
        mine[i] = me + i;
    MPI_Type_vector(CELLS_MORE / 2, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_fence(0, window);
    MPI_Put(mine, CELLS_MORE / 2, MPI_LONG, right, ranks, 1, gaps, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < CELLS_MORE; i++)
        wrong += cells[ranks + i] != (i % 2 ? 0 : left + i / 2);
    CHECK_EQ(wrong, 0);
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine, CELLS_MORE, MPI_LONG, right, ranks, CELLS_MORE, MPI_LONG, MPI_REPLACE,
                   window);
    MPI_Win_fence(0, window);
    MPI_Get(back, CELLS_MORE, MPI_LONG, right, ranks, CELLS_MORE, MPI_LONG, window);
    MPI_Win_fence(0, window);
    CHECK(memcmp(back, mine, (size_t)octets(CELLS_MORE)) == 0, "what was written is read again");
    MPI_Type_free(&gaps);
    free(back);
    free(mine);
}

static void window_says(MPI_Aint size_wanted)
{
    MPI_Aint *size = NULL;
    void *base = NULL;
    int *unit = NULL, found = 0;
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &found);
    CHECK(found && base == cells, "the window's memory");
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &found);
    CHECK(found && *size == size_wanted, "the window's size");
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &found);
    CHECK(found && *unit == (int)sizeof(long), "the window's unit");
}

static void try_all(const char *kind)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = { { "fence", fence },
                  { "operations", operations },
                  { "post and start", post_and_start },
                  { "locks", locks },
                  { "exclusive lock", exclusive_counter },
                  { "fetch_and_op", fetch_and_add },
                  { "compare_and_swap", compare_and_swap },
                  { "get_accumulate", get_accumulate },
                  { "requests", requests },
                  { "long transfers", long_transfers } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s window: %s", kind, parts[i].name);
        topic(name);
        if (i == 0) window_says(octets(total()));
        parts[i].run();
    }
}

/* Memory that is attached later; addresses travel by message. */
static void dynamic(void)
{
    MPI_Win open;
    MPI_Aint mine, theirs;
    static long cell; /* on a stack it would lie elsewhere in each environment */
    long number = 10L * me;
    cell = -1;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &open);
    MPI_Win_attach(open, &cell, sizeof cell);
    MPI_Get_address(&cell, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, open);
    MPI_Put(&number, 1, MPI_LONG, right, theirs, 1, MPI_LONG, open);
    MPI_Win_fence(0, open);
    CHECK_EQ(cell, 10L * left);
    MPI_Win_detach(open, &cell);
    MPI_Win_free(&open);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    cells = memory((size_t)octets(total()));
    MPI_Win_create(cells, octets(total()), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    try_all("created");
    MPI_Win_free(&window);
    free(cells);
    MPI_Win_allocate(octets(total()), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    try_all("allocated");
    MPI_Win_free(&window);
    topic("dynamic window");
    dynamic();
    return check_end();
}
