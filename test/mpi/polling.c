/*
 * Loops that only poll until something arrives: they must end. Rank 0 lets them spin for a while
 * before it sends; no rank waits in a blocking call.
 */
#include "check.h"
#include <string.h>
#include <unistd.h>

enum way { TEST, TESTANY, TESTALL, IPROBE, IMPROBE, GET_STATUS, IBARRIER, WAYS };
static const char *const way_names[WAYS] = { "test loop",    "testany loop", "testall loop",
                                             "iprobe loop",  "improbe loop", "get_status loop",
                                             "ibarrier loop" };

/* Rank 0: lets some time pass by reading a clock. */
static void dawdle(void)
{
    const double until = MPI_Wtime() + 0.0002;
    while (MPI_Wtime() < until) {
    }
}

static void answer_all(int value)
{
    dawdle();
    for (int to = 1; to < ranks; to++)
        MPI_Send(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
}

static void ask_with_request(enum way way, int *value)
{
    MPI_Request request;
    int done = 0, index;
    MPI_Irecv(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    while (!done) {
        if (way == TEST) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (way == TESTANY) MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
        if (way == TESTALL) MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
        if (way == GET_STATUS) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ask_with_probe(enum way way, int *value)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0;
    while (!there) {
        if (way == IPROBE)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
        else
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
    }
    if (way == IPROBE)
        MPI_Recv(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void ask_for_barrier(void)
{
    MPI_Request request;
    int done = 0;
    if (me == 0) dawdle();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL, "no request is left");
}

static void poll(enum way way)
{
    int value = -1;
    if (way == IBARRIER) {
        ask_for_barrier();
        return;
    }
    if (me == 0) {
        answer_all(500 + (int)way);
        return;
    }
    if (way == IPROBE || way == IMPROBE)
        ask_with_probe(way, &value);
    else
        ask_with_request(way, &value);
    CHECK_EQ(value, 500 + (long long)way);
}

/* Two ranks that only poll and answer each other, without a blocking call. */
static void poll_each_other(void)
{
    enum { ROUNDS = 50 };
    const int peer = me ^ 1;
    if (peer >= ranks) return;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int out = me * 100 + round, in = -1, done = 0;
        MPI_Irecv(&in, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
        while (!done)
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, peer * 100 + round);
    }
}

/* With an argument: more often in vain than without sleeps in between. */
static void poll_between_sleeps(void)
{
    enum { POLLS = 120000 };
    MPI_Request request;
    int in, done = 0;
    topic("polling between sleeps");
    MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    for (int i = 0; !done && i < POLLS / ranks; i++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        usleep(1);
    }
    CHECK_EQ(done, 0);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int way = 0; way < WAYS; way++) {
        topic(way_names[way]);
        poll((enum way)way);
    }
    topic("polling each other");
    poll_each_other();
    if (argc > 1) poll_between_sleeps();
    return check_end();
}
