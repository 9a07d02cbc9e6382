/*
 * Windows in memory that the ranks of a host share: who they are, what they see of each other, all
 * ways to synchronise, and loops that wait for what another rank writes. A launcher may place ranks
 * on one host or on several; the number of checks is the same.
 */
#include "check.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5, NAME_CAP = MPI_MAX_PROCESSOR_NAME };

static MPI_Comm host;
static int place, size; /* of this rank in `host` */

/* A window of longs, `count` of them for each rank of the host. */
struct shared {
    MPI_Win win;
    long *own;
};

static struct shared make(int count)
{
    struct shared made;
    MPI_Win_allocate_shared((MPI_Aint)((size_t)count * sizeof(long)), sizeof(long), MPI_INFO_NULL,
                            host, &made.own, &made.win);
    for (int i = 0; i < count; i++)
        made.own[i] = 0;
    MPI_Win_fence(0, made.win);
    return made;
}

static volatile long *part_of(const struct shared *shared, int rank)
{
    MPI_Aint len;
    int unit;
    long *begin;
    MPI_Win_shared_query(shared->win, rank, &len, &unit, &begin);
    return begin;
}

/* ---- who shares memory ----------------------------------------------------------------------- */

static void names(void)
{
    char own[NAME_CAP] = "", also[NAME_CAP] = "";
    char *all = memory((size_t)ranks * NAME_CAP);
    int len, same = 0, smaller = 0;
    MPI_Get_processor_name(own, &len);
    gethostname(also, sizeof also);
    CHECK_EQ(len, (int)strlen(own));
    CHECK(strcmp(own, also) == 0, "gethostname gave %s, expected %s", also, own);
    MPI_Allgather(own, NAME_CAP, MPI_CHAR, all, NAME_CAP, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        const int is_same = strcmp(all + (size_t)i * NAME_CAP, own) == 0;
        same += is_same;
        smaller += is_same && i < me;
    }
    CHECK_EQ(size, same);
    CHECK_EQ(place, smaller);
    free(all);
}

/* All ranks share memory only if they are on one host. */
static void across_hosts(void)
{
    MPI_Win win = MPI_WIN_NULL;
    long *own;
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int result = MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL,
                                               MPI_COMM_WORLD, &own, &win);
    MPI_Error_class(result, &class);
    CHECK_EQ(class, size == ranks ? MPI_SUCCESS : MPI_ERR_RMA_SHARED);
    if (result == MPI_SUCCESS) MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- active and passive synchronisation ------------------------------------------------------ */

static void stores(void)
{
    struct shared a = make(place + 1), b = make(1); /* two at the same time */
    int wrong = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i <= place; i++)
            a.own[i] = 1000L * me + 10 * i + round;
        b.own[0] = 7L * me + round;
        MPI_Win_fence(0, a.win);
        MPI_Win_fence(0, b.win);
        const int next = (place + 1) % size;
        const long theirs = (part_of(&b, next)[0] - round) / 7;
        for (int i = 0; i <= next; i++)
            wrong += part_of(&a, next)[i] != 1000 * theirs + 10 * i + round;
        MPI_Win_fence(0, a.win);
        MPI_Barrier(MPI_COMM_WORLD); /* over the network, between hosts */
    }
    CHECK_EQ(wrong, 0);
    MPI_Win_free(&a.win);
    MPI_Win_free(&b.win);
}

static void locks(void)
{
    struct shared a = make(4);
    const long one = 1;
    long old, sum;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, a.win);
        const long seen = part_of(&a, 0)[0];
        if (round % 2)
            MPI_Sendrecv(&one, 1, MPI_LONG, me, 0, &sum, 1, MPI_LONG, me, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        part_of(&a, 0)[0] = seen + 1;
        MPI_Win_unlock(0, a.win);
    }
    MPI_Win_lock_all(0, a.win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, a.win);
    MPI_Accumulate(&one, 1, MPI_LONG, size - 1, 2, 1, MPI_LONG, MPI_SUM, a.win);
    MPI_Put(&one, 1, MPI_LONG, (place + 1) % size, 3, 1, MPI_LONG, a.win);
    MPI_Win_flush_all(a.win);
    MPI_Win_unlock_all(a.win);
    CHECK(old >= 0 && old < size, "MPI_Fetch_and_op returned %ld, expected 0 to %d", old, size - 1);
    MPI_Barrier(host);
    CHECK_EQ(part_of(&a, 0)[0], (long)size * ROUNDS);
    CHECK_EQ(part_of(&a, 0)[1], size);
    CHECK_EQ(part_of(&a, size - 1)[2], size);
    CHECK_EQ(a.own[3], 1);
    MPI_Win_free(&a.win);
}

/* Ranks of even places write to the next one, which posts its window. */
static void post_and_start(void)
{
    struct shared a = make(1);
    MPI_Group all, peer;
    const int is_origin = place % 2 == 0, other = is_origin ? place + 1 : place - 1;
    const long value = 50L + place;
    int done = 0;
    MPI_Comm_group(host, &all);
    for (int round = 0; round < ROUNDS && other < size; round++) {
        MPI_Group_incl(all, 1, &other, &peer);
        if (is_origin) {
            MPI_Win_start(peer, 0, a.win);
            MPI_Put(&value, 1, MPI_LONG, other, 0, 1, MPI_LONG, a.win);
            MPI_Win_complete(a.win);
        } else {
            MPI_Win_post(peer, 0, a.win);
            if (round % 2) MPI_Win_wait(a.win);
            for (done = round % 2; !done;)
                MPI_Win_test(a.win, &done);
        }
        MPI_Group_free(&peer);
    }
    CHECK_EQ(a.own[0], is_origin || other >= size ? 0 : value - 1);
    MPI_Group_free(&all);
    MPI_Win_free(&a.win);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void sync_window(MPI_Win win)
{
    MPI_Win_sync(win);
}

static void flush_window(MPI_Win win)
{
    MPI_Win_flush(0, win);
}

static void yield(MPI_Win win)
{
    (void)win;
    sched_yield();
}

static void nap(MPI_Win win)
{
    (void)win;
    usleep(1);
}

static void probe(MPI_Win win)
{
    int found;
    (void)win;
    MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* A number goes around in the memory of rank 0: each waits until it is its own, and adds one. */
static void relay(void (*wait)(MPI_Win))
{
    struct shared a = make(1);
    volatile long *number = part_of(&a, 0);
    MPI_Win_lock_all(0, a.win);
    for (long round = 0; round < ROUNDS; round++) {
        while (*number != round * size + place)
            wait(a.win);
        ++*number;
        MPI_Win_sync(a.win);
    }
    MPI_Win_unlock_all(a.win);
    MPI_Barrier(host);
    CHECK_EQ(*number, (long)ROUNDS * size);
    MPI_Win_free(&a.win);
}

/* The same with a lock that is taken and released each time. */
static void relay_by_locks(void)
{
    struct shared a = make(1);
    for (long round = 0, seen; round < ROUNDS; round++)
        do {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, a.win);
            seen = part_of(&a, 0)[0];
            if (seen == round * size + place) part_of(&a, 0)[0] = seen + 1;
            MPI_Win_unlock(0, a.win);
        } while (seen != round * size + place);
    MPI_Barrier(host);
    CHECK_EQ(part_of(&a, 0)[0], (long)ROUNDS * size);
    MPI_Win_free(&a.win);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &place);
    MPI_Comm_size(host, &size);
    topic("names");
    names();
    topic("windows across hosts");
    across_hosts();
    topic("loads and stores");
    stores();
    topic("locks");
    locks();
    topic("post and start");
    post_and_start();
    topic("loops");
    relay(sync_window);
    relay(flush_window);
    relay(yield);
    relay(nap);
    relay(probe);
    relay_by_locks();
    MPI_Comm_free(&host);
    return check_end();
}
