/* The four modes of sending, blocking, non-blocking and persistent, round the ring of all ranks. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { SIZES = 6, LEN_MAX = 100000, PERSISTENT_ROUNDS = 4 };

static const int sizes[SIZES] = { 0, 1, 100, 5000, 70000, LEN_MAX };
static unsigned char out[LEN_MAX], in[LEN_MAX];

struct mode {
    const char *name;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
};

static const struct mode modes[] = {
    { "standard", MPI_Send, MPI_Isend, MPI_Send_init },
    { "buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init },
    { "synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init },
    { "ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init },
};

static void check_received(const MPI_Status *status, int len, int tag, uint64_t seed)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK_EQ(count, len);
    CHECK_EQ(status->MPI_SOURCE, left);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK(pattern_is(in, (size_t)len, seed), "%d octets as they were sent by %d", len, left);
}

/* The receive is posted before the send, as ready mode requires. */
static void try_once(const struct mode *mode, int len, int tag, bool blocking)
{
    MPI_Request receive, send;
    MPI_Status status;
    pattern_fill(out, (size_t)len, pattern_seed(me, right, tag));
    memset(in, 0, sizeof in);
    MPI_Irecv(in, len, MPI_BYTE, left, tag, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    if (blocking) {
        mode->send(out, len, MPI_BYTE, right, tag, MPI_COMM_WORLD);
    } else {
        mode->isend(out, len, MPI_BYTE, right, tag, MPI_COMM_WORLD, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(send == MPI_REQUEST_NULL, "no request is left after MPI_Wait");
    }
    MPI_Wait(&receive, &status);
    check_received(&status, len, tag, pattern_seed(left, me, tag));
}

static void try_persistent(const struct mode *mode, int len, int tag)
{
    /* A buffered send that is started again carries whatever its freed buffer holds by then, in
     * Open MPI 4.1 itself: only the first start is tried. */
    const int rounds = mode->init == MPI_Bsend_init ? 1 : PERSISTENT_ROUNDS;
    MPI_Request receive, send;
    MPI_Status status;
    MPI_Recv_init(in, len, MPI_BYTE, left, tag, MPI_COMM_WORLD, &receive);
    mode->init(out, len, MPI_BYTE, right, tag, MPI_COMM_WORLD, &send);
    for (int round = 0; round < rounds; round++) {
        pattern_fill(out, (size_t)len, pattern_seed(me, right, round));
        memset(in, 0, sizeof in);
        MPI_Start(&receive);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(send != MPI_REQUEST_NULL, "a persistent request outlives MPI_Wait");
        MPI_Wait(&receive, &status);
        check_received(&status, len, tag, pattern_seed(left, me, round));
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

/* A synchronous send completes only when its receive has begun, which waits for our message. */
static void synchronous_waits_for_the_receiver(int len)
{
    MPI_Request send, word;
    MPI_Status status;
    int done = 0;
    pattern_fill(out, (size_t)len, pattern_seed(me, right, len));
    MPI_Irecv(NULL, 0, MPI_BYTE, left, 2, MPI_COMM_WORLD, &word);
    MPI_Issend(out, len, MPI_BYTE, right, 1, MPI_COMM_WORLD, &send);
    for (int i = 0; i < 200 && !done; i++)
        MPI_Test(&send, &done, MPI_STATUS_IGNORE);
    CHECK(!done, "a synchronous send of %d octets is not done before its receive", len);
    MPI_Send(NULL, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD);
    MPI_Wait(&word, MPI_STATUS_IGNORE);
    MPI_Recv(in, len, MPI_BYTE, left, 1, MPI_COMM_WORLD, &status);
    check_received(&status, len, 1, pattern_seed(left, me, len));
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* Buffered sends complete without a receiver; detaching the buffer waits for them. */
static void buffered_needs_no_receiver(void)
{
    enum { MESSAGES = 20, LEN = 3000 };
    for (int i = 0; i < MESSAGES; i++) {
        pattern_fill(out, LEN, pattern_seed(me, right, i));
        MPI_Bsend(out, LEN, MPI_BYTE, right, i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        MPI_Recv(in, LEN, MPI_BYTE, left, i, MPI_COMM_WORLD, &status);
        check_received(&status, LEN, i, pattern_seed(left, me, i));
    }
}

static void send_and_receive_at_once(void)
{
    MPI_Status status;
    for (int i = 0; i < SIZES; i++) {
        const int len = sizes[i];
        pattern_fill(out, (size_t)len, pattern_seed(me, right, i));
        MPI_Sendrecv(out, len, MPI_BYTE, right, i, in, LEN_MAX, MPI_BYTE, left, i, MPI_COMM_WORLD,
                     &status);
        check_received(&status, len, i, pattern_seed(left, me, i));
        pattern_fill(in, (size_t)len, pattern_seed(me, right, i + 100));
        MPI_Sendrecv_replace(in, len, MPI_BYTE, right, 9, left, 9, MPI_COMM_WORLD, &status);
        check_received(&status, len, 9, pattern_seed(left, me, i + 100));
    }
}

static void nobody_answers_at_once(void)
{
    MPI_Status status;
    int count = -1;
    MPI_Send(out, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Ssend(out, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 10, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(count, 0);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
}

/* Every rank to itself: both ends are in one process. */
static void self_sends(void)
{
    for (int i = 0; i < SIZES; i++) {
        const int len = sizes[i];
        MPI_Request send;
        MPI_Status status;
        int count = -1;
        pattern_fill(out, (size_t)len, pattern_seed(me, me, i));
        memset(in, 0, sizeof in);
        MPI_Isend(out, len, MPI_BYTE, me, i, MPI_COMM_WORLD, &send);
        MPI_Recv(in, LEN_MAX, MPI_BYTE, me, i, MPI_COMM_WORLD, &status);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, len);
        CHECK_EQ(status.MPI_SOURCE, me);
        CHECK(pattern_is(in, (size_t)len, pattern_seed(me, me, i)), "%d octets from itself", len);
    }
}

static void try_mode(const struct mode *mode)
{
    topic(mode->name);
    for (int i = 0; i < SIZES; i++) {
        try_once(mode, sizes[i], 10 + i, true);
        try_once(mode, sizes[i], 20 + i, false);
        try_persistent(mode, sizes[i], 30 + i);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const int buffer_len = 4 * (LEN_MAX + MPI_BSEND_OVERHEAD);
    void *buffer = memory((size_t)buffer_len), *back = NULL;
    int back_len = 0;
    MPI_Buffer_attach(buffer, buffer_len);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        try_mode(&modes[i]);
    topic("buffered needs no receiver");
    buffered_needs_no_receiver();
    MPI_Buffer_detach(&back, &back_len);
    CHECK(back == buffer, "the buffer comes back");
    CHECK_EQ(back_len, buffer_len);
    free(buffer);
    topic("synchronous waits for the receiver");
    synchronous_waits_for_the_receiver(8);
    synchronous_waits_for_the_receiver(LEN_MAX);
    topic("send and receive at once");
    send_and_receive_at_once();
    topic("nobody answers at once");
    nobody_answers_at_once();
    topic("self-sends");
    self_sends();
    return check_end();
}
