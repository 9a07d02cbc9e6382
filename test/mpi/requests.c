/* Requests: thousands at a time, all ways to wait and to test, cancelled and empty ones. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { MANY = 2000, SOME = 60 };

static int out[MANY], in[MANY];
static MPI_Request sends[MANY], receives[MANY];

static void post_receives(int count, bool backwards)
{
    for (int i = 0; i < count; i++) {
        const int tag = backwards ? count - 1 - i : i;
        in[tag] = -1;
        MPI_Irecv(&in[tag], 1, MPI_INT, left, tag, MPI_COMM_WORLD, &receives[tag]);
    }
}

static void post_sends(int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = me * MANY + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
    }
}

static void check_all(int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += in[i] != left * MANY + i;
    CHECK_EQ(wrong, 0);
    for (int i = wrong = 0; i < count; i++)
        wrong += receives[i] != MPI_REQUEST_NULL;
    CHECK_EQ(wrong, 0);
}

static void thousands(void)
{
    post_receives(MANY, true);
    post_sends(MANY);
    MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    check_all(MANY);
}

static void thousands_unexpected(void)
{
    post_sends(MANY);
    MPI_Barrier(MPI_COMM_WORLD);
    post_receives(MANY, true);
    MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    check_all(MANY);
}

static void wait_any(void)
{
    int seen[SOME] = { 0 }, index, twice = 0, wrong_tags = 0;
    MPI_Status status;
    post_receives(SOME, false);
    post_sends(SOME);
    for (int i = 0; i < SOME; i++) {
        MPI_Waitany(SOME, receives, &index, &status);
        if (!CHECK(index >= 0 && index < SOME, "an index, not %d", index)) continue;
        twice += seen[index]++;
        wrong_tags += status.MPI_TAG != index;
    }
    CHECK_EQ(twice, 0);
    CHECK_EQ(wrong_tags, 0);
    MPI_Waitany(SOME, receives, &index, &status);
    CHECK_EQ(index, MPI_UNDEFINED);
    MPI_Waitall(SOME, sends, MPI_STATUSES_IGNORE);
    check_all(SOME);
}

static void wait_some(bool test)
{
    int seen[SOME] = { 0 }, indices[SOME], done = 0, count, wrong = 0;
    MPI_Status statuses[SOME];
    post_receives(SOME, false);
    post_sends(SOME);
    while (done < SOME) {
        if (test)
            MPI_Testsome(SOME, receives, &count, indices, statuses);
        else
            MPI_Waitsome(SOME, receives, &count, indices, statuses);
        if (count == MPI_UNDEFINED || (count == 0 && !test)) break;
        for (int i = 0; i < count; i++) {
            wrong += seen[indices[i]]++ != 0 || statuses[i].MPI_TAG != indices[i];
            done++;
        }
    }
    CHECK_EQ(done, SOME);
    CHECK_EQ(wrong, 0);
    MPI_Waitsome(SOME, receives, &count, indices, statuses);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Waitall(SOME, sends, MPI_STATUSES_IGNORE);
    check_all(SOME);
}

static void test_all(void)
{
    int done = 1;
    post_receives(SOME, false);
    MPI_Testall(SOME, receives, &done, MPI_STATUSES_IGNORE);
    CHECK(!done, "nothing has come before anybody sends");
    MPI_Barrier(MPI_COMM_WORLD);
    post_sends(SOME);
    for (done = 0; !done;)
        MPI_Testall(SOME, receives, &done, MPI_STATUSES_IGNORE);
    check_all(SOME);
    for (done = 0; !done;)
        MPI_Testall(SOME, sends, &done, MPI_STATUSES_IGNORE);
}

static void test_any(void)
{
    int seen = 0, index, flag;
    post_receives(SOME, false);
    post_sends(SOME);
    while (seen < SOME) {
        MPI_Testany(SOME, receives, &index, &flag, MPI_STATUS_IGNORE);
        if (flag && index == MPI_UNDEFINED) break;
        seen += flag;
    }
    CHECK_EQ(seen, SOME);
    MPI_Testany(SOME, receives, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == MPI_UNDEFINED, "nothing is left to test");
    MPI_Waitall(SOME, sends, MPI_STATUSES_IGNORE);
    check_all(SOME);
}

/* A test that does not complete the request. */
static void get_status(void)
{
    int done = 1, count = -1;
    MPI_Status status;
    post_receives(1, false);
    MPI_Request_get_status(receives[0], &done, &status);
    CHECK(!done, "nothing has come before anybody sends");
    MPI_Barrier(MPI_COMM_WORLD);
    post_sends(1);
    for (done = 0; !done;)
        MPI_Request_get_status(receives[0], &done, &status);
    CHECK(receives[0] != MPI_REQUEST_NULL, "the request stays");
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, 1);
    CHECK_EQ(status.MPI_SOURCE, left);
    MPI_Waitall(1, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(1, sends, MPI_STATUSES_IGNORE);
    check_all(1);
}

static void empty_requests(void)
{
    MPI_Request none = MPI_REQUEST_NULL, idle;
    MPI_Status status;
    int flag = 0, count = -1, cancelled = -1;
    MPI_Wait(&none, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(count, 0);
    CHECK_EQ(cancelled, 0);
    MPI_Recv_init(in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &idle);
    MPI_Test(&idle, &flag, &status);
    CHECK(flag, "an idle persistent request is done");
    MPI_Wait(&idle, &status);
    CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Request_free(&idle);
    CHECK(idle == MPI_REQUEST_NULL, "no request is left");
    MPI_Waitall(1, &none, &status);
}

/* A cancelled receive takes no message: the next one gets it. */
static void cancel_receives(void)
{
    enum { CANCELLED = 20 };
    int never[CANCELLED], cancelled_count = 0;
    MPI_Request requests[CANCELLED];
    for (int i = 0; i < CANCELLED; i++)
        MPI_Irecv(&never[i], 1, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, i % 3 ? 5 : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < CANCELLED; i++) {
        MPI_Status status;
        int cancelled = 0;
        never[i] = -7;
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        cancelled_count += cancelled;
    }
    CHECK_EQ(cancelled_count, CANCELLED);
    MPI_Barrier(MPI_COMM_WORLD);
    int mine = me + 500, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, left + 500);
    for (int i = 0; i < CANCELLED; i++)
        CHECK_EQ(never[i], -7);
}

/* A receive that has its message cannot be cancelled. */
static void cancel_too_late(void)
{
    MPI_Status status;
    int cancelled = -1, done = 0;
    post_receives(1, false);
    post_sends(1);
    MPI_Waitall(1, sends, MPI_STATUSES_IGNORE);
    while (!done)
        MPI_Request_get_status(receives[0], &done, MPI_STATUS_IGNORE);
    MPI_Cancel(&receives[0]);
    MPI_Wait(&receives[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK_EQ(cancelled, 0);
    check_all(1);
}

/* A freed send still arrives. */
static void freed_send(void)
{
    out[0] = me * MANY;
    MPI_Isend(out, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Request_free(&sends[0]);
    MPI_Recv(in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], left * MANY);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(void)
{
    enum { ROUNDS = 30, PAIRS = 8 };
    MPI_Request all[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &all[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &all[PAIRS + i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int wrong = 0;
        for (int i = 0; i < PAIRS; i++)
            out[i] = me * MANY + round * 10 + i;
        MPI_Startall(2 * PAIRS, all);
        MPI_Waitall(2 * PAIRS, all, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PAIRS; i++)
            wrong += in[i] != left * MANY + round * 10 + i;
        CHECK_EQ(wrong, 0);
    }
    for (int i = 0; i < 2 * PAIRS; i++)
        MPI_Request_free(&all[i]);
}

/* Generalised requests are waited for together with those of messages. */
static int own_query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 99;
    return MPI_SUCCESS;
}

static int own_free(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int own_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void own_requests(void)
{
    int state = 3, count = -1, done = 1;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(own_query, own_free, own_cancel, &state, &request);
    MPI_Test(&request, &done, &status);
    CHECK(!done, "not done before it is said");
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, 3);
    CHECK_EQ(status.MPI_TAG, 99);
    CHECK_EQ(state, -1);
}

/* Open MPI cancels no send that has started: it is delivered, and its status says so. */
static void cancel_sends(void)
{
    static int (*const start[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                MPI_Request *) = { MPI_Isend, MPI_Issend, MPI_Irsend };
    for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
        MPI_Request send, receive;
        MPI_Status status;
        int out = 70 + me, in = -1, cancelled = 1;
        MPI_Irecv(&in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &receive);
        MPI_Barrier(MPI_COMM_WORLD);
        start[i](&out, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &send);
        MPI_Cancel(&send);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&send, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK_EQ(cancelled, 0);
        CHECK_EQ(in, 70 + left);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    topic("thousands of receives that wait");
    thousands();
    topic("thousands of unexpected messages");
    thousands_unexpected();
    topic("waitany");
    wait_any();
    topic("waitsome");
    wait_some(false);
    topic("testsome");
    wait_some(true);
    topic("testall");
    test_all();
    topic("testany");
    test_any();
    topic("request_get_status");
    get_status();
    topic("empty requests");
    empty_requests();
    topic("cancelled receives");
    cancel_receives();
    topic("cancelled too late");
    cancel_too_late();
    topic("cancelled sends");
    cancel_sends();
    topic("freed send");
    freed_send();
    topic("persistent requests");
    persistent();
    topic("requests of the program's own");
    own_requests();
    return check_end();
}
