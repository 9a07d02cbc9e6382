/* Which message a receive gets: any source, any tag, order, probes, matched probes. */
#include "check.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_LEN = 100000 };

static unsigned char octets[LONG_LEN];

/* Every rank sends to all; one rank after the other receives from any source. */
static void any_source(void)
{
    MPI_Request *sends = memory((size_t)ranks * sizeof *sends);
    unsigned char *received = memory((size_t)ranks);
    for (int to = 0; to < ranks; to++)
        MPI_Isend(&me, 1, MPI_INT, to, 40 + me, MPI_COMM_WORLD, &sends[to]);
    for (int i = 0; i < ranks; i++) {
        MPI_Status status;
        int from = -1;
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (!CHECK(from >= 0 && from < ranks, "a rank, not %d", from)) continue;
        CHECK_EQ(status.MPI_SOURCE, from);
        CHECK_EQ(status.MPI_TAG, 40 + from);
        CHECK(!received[from], "one message of rank %d only", from);
        received[from] = 1;
    }
    MPI_Waitall(ranks, sends, MPI_STATUSES_IGNORE);
    free(received);
    free(sends);
}

/* Receives name their tags in the reverse order of the sends. */
static void tags_select(void)
{
    enum { TAGS = 50 };
    int numbers[TAGS];
    MPI_Request sends[TAGS];
    for (int i = 0; i < TAGS; i++) {
        numbers[i] = me * 1000 + i;
        MPI_Isend(&numbers[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = TAGS - 1; i >= 0; i--) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, left * 1000 + i);
    }
    MPI_Waitall(TAGS, sends, MPI_STATUSES_IGNORE);
}

static void greatest_tag(void)
{
    int *tag_max = NULL, found = 0, out = me, in = -1;
    MPI_Status status;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &found);
    CHECK(found && *tag_max >= 32767, "a greatest tag of at least 32767");
    MPI_Sendrecv(&out, 1, MPI_INT, right, *tag_max, &in, 1, MPI_INT, left, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    CHECK_EQ(in, left);
    CHECK_EQ(status.MPI_TAG, *tag_max);
}

/* The length of message `i`: short and long ones alternate, which use different protocols. */
static int mixed_len(int i)
{
    static const int lens[] = { 4, LONG_LEN, 64, 4, 9000, 4, 40000, 4096 };
    return lens[(size_t)i % (sizeof lens / sizeof *lens)];
}

/* Messages of one pair and tag do not overtake each other, whatever their lengths. */
static void order_of_pairs(bool any)
{
    enum { MESSAGES = 24 };
    MPI_Request sends[MESSAGES];
    unsigned char *all = memory((size_t)MESSAGES * LONG_LEN);
    for (int i = 0; i < MESSAGES; i++) {
        unsigned char *mine = all + (size_t)i * LONG_LEN;
        memcpy(mine, &i, sizeof i);
        MPI_Isend(mine, mixed_len(i), MPI_BYTE, right, 7, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        int number = -1, count = -1;
        MPI_Recv(octets, LONG_LEN, MPI_BYTE, any ? MPI_ANY_SOURCE : left, any ? MPI_ANY_TAG : 7,
                 MPI_COMM_WORLD, &status);
        memcpy(&number, octets, sizeof number);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(number, i);
        CHECK_EQ(count, mixed_len(i));
    }
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
    free(all);
}

/* All send to rank 0, which receives from any source: the messages of each sender arrive in order.
 */
static void order_with_any_source(void)
{
    enum { MESSAGES = 30 };
    if (me != 0) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Send(&i, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
        return;
    }
    int *next = memory((size_t)ranks * sizeof *next);
    for (int i = 0; i < MESSAGES * (ranks - 1); i++) {
        MPI_Status status;
        int number = -1;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
        CHECK_EQ(number, next[status.MPI_SOURCE]);
        next[status.MPI_SOURCE]++;
    }
    free(next);
}

/* Waiting receives are served in the order in which they were posted. */
static void order_of_receives(void)
{
    enum { RECEIVES = 40 };
    int in[RECEIVES];
    MPI_Request requests[RECEIVES];
    for (int i = 0; i < RECEIVES; i++) {
        const int tag = i % 2 == 0 ? 5 : MPI_ANY_TAG, from = i % 3 == 0 ? MPI_ANY_SOURCE : left;
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, from, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Send(&i, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < RECEIVES; i++)
        CHECK_EQ(in[i], i);
}

static void check_probed(const MPI_Status *status, int len)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK_EQ(count, len);
    CHECK_EQ(status->MPI_SOURCE, left);
    CHECK_EQ(status->MPI_TAG, 11);
}

/* Probes for the left neighbour's message in one of four ways, then receives it. */
static void probe_and_take(int way, int len, uint64_t seed)
{
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    int there = 0;
    switch (way) {
    case 0: MPI_Probe(left, 11, MPI_COMM_WORLD, &status); break;
    case 1:
        while (!there)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
        break;
    case 2: MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status); break;
    default:
        while (!there)
            MPI_Improbe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &there, &message, &status);
    }
    check_probed(&status, len);
    memset(octets, 0, sizeof octets);
    if (way < 2) {
        MPI_Recv(octets, len, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    } else if (way == 2) {
        MPI_Mrecv(octets, len, MPI_BYTE, &message, &status);
    } else {
        MPI_Imrecv(octets, len, MPI_BYTE, &message, &request);
        MPI_Wait(&request, &status);
    }
    check_probed(&status, len);
    CHECK(message == MPI_MESSAGE_NULL, "a message that was taken is gone");
    CHECK(pattern_is(octets, (size_t)len, seed), "%d octets as they were sent", len);
}

static void probes(int way)
{
    static const int lens[] = { 0, 1, 300, 5000, LONG_LEN };
    unsigned char *out = memory(LONG_LEN);
    for (int i = 0; i < (int)(sizeof lens / sizeof *lens); i++) {
        MPI_Request send;
        pattern_fill(out, (size_t)lens[i], pattern_seed(me, right, i));
        MPI_Isend(out, lens[i], MPI_BYTE, right, 11, MPI_COMM_WORLD, &send);
        probe_and_take(way, lens[i], pattern_seed(left, me, i));
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* or a fast neighbour's next one may be probed */
    }
    free(out);
}

/* A matched message is no longer visible; the next one is found behind it. */
static void matched_messages_are_hidden(void)
{
    MPI_Message first, second;
    MPI_Status status;
    int numbers[2] = { me * 10, me * 10 + 1 }, in = -1, there = 1;
    for (int i = 0; i < 2; i++)
        MPI_Send(&numbers[i], 1, MPI_INT, right, 12, MPI_COMM_WORLD);
    MPI_Mprobe(left, 12, MPI_COMM_WORLD, &first, &status);
    MPI_Mprobe(left, 12, MPI_COMM_WORLD, &second, &status);
    MPI_Iprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    CHECK(!there, "nothing is left after two matched probes");
    MPI_Mrecv(&in, 1, MPI_INT, &second, MPI_STATUS_IGNORE);
    CHECK_EQ(in, left * 10 + 1);
    MPI_Mrecv(&in, 1, MPI_INT, &first, MPI_STATUS_IGNORE);
    CHECK_EQ(in, left * 10);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &first, &status);
    CHECK(first == MPI_MESSAGE_NO_PROC, "MPI_MESSAGE_NO_PROC from nobody");
    MPI_Mrecv(&in, 1, MPI_INT, &first, MPI_STATUS_IGNORE);
}

/* A probe without a message finds nothing, repeatedly. */
static void probes_in_vain(void)
{
    int found = 0;
    for (int i = 0; i < 500; i++) {
        int there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        found += there;
    }
    CHECK_EQ(found, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same source and tag in two communicators: two messages that cannot be confused. */
static void communicators_are_apart(void)
{
    MPI_Comm other;
    MPI_Request sends[2];
    int world = 1000 + me, apart = 2000 + me, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Isend(&world, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(&apart, 1, MPI_INT, right, 3, other, &sends[1]);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 2000 + left);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 1000 + left);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&other);
}

/* A synchronous send ends when a matched probe and its receive have taken it. */
static void matched_synchronous_sends(void)
{
    for (int way = 0; way < 2; way++) {
        MPI_Request send, receive;
        MPI_Message message;
        int out = 300 + me, in = -1;
        MPI_Issend(&out, 1, MPI_INT, right, 21, MPI_COMM_WORLD, &send);
        MPI_Mprobe(left, 21, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (way) {
            MPI_Imrecv(&in, 1, MPI_INT, &message, &receive);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        } else {
            MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        CHECK_EQ(in, 300 + left);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
}

/* Every second integer of `blocks`, found by a probe: short and long, whole and in part. */
static void matched_with_gaps(int blocks, int sent, bool at_once)
{
    int *out = memory(2 * (size_t)blocks * sizeof *out),
        *in = memory(2 * (size_t)blocks * sizeof *in);
    MPI_Datatype pairs;
    MPI_Request send, receive;
    MPI_Message message;
    MPI_Status status;
    int elements = 0, wrong = 0;
    MPI_Type_vector(blocks, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < 2 * blocks; i++) {
        out[i] = me * blocks + i;
        in[i] = -1;
    }
    MPI_Isend(out, sent, MPI_INT, right, 22, MPI_COMM_WORLD, &send);
    MPI_Mprobe(left, 22, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (at_once) {
        MPI_Mrecv(in, 1, pairs, &message, &status);
    } else {
        MPI_Imrecv(in, 1, pairs, &message, &receive);
        MPI_Wait(&receive, &status);
    }
    MPI_Get_elements(&status, pairs, &elements);
    CHECK_EQ(elements, sent);
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(status.MPI_TAG, 22);
    for (int i = 0; i < 2 * blocks; i++)
        wrong += in[i] != (i % 2 || i / 2 >= sent ? -1 : left * blocks + i / 2);
    CHECK_EQ(wrong, 0);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Type_free(&pairs);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const char *ways[] = { "probe", "iprobe", "mprobe", "improbe" };
    check_begin(&argc, &argv);
    topic("any source");
    any_source();
    MPI_Barrier(MPI_COMM_WORLD);
    topic("tags select");
    tags_select();
    greatest_tag();
    MPI_Barrier(MPI_COMM_WORLD);
    topic("order of pairs");
    order_of_pairs(false);
    MPI_Barrier(MPI_COMM_WORLD);
    order_of_pairs(true);
    MPI_Barrier(MPI_COMM_WORLD);
    topic("order with any source");
    order_with_any_source();
    topic("order of receives");
    order_of_receives();
    for (int way = 0; way < 4; way++) {
        topic(ways[way]);
        probes(way);
    }
    topic("matched messages are hidden");
    matched_messages_are_hidden();
    topic("matched synchronous sends");
    matched_synchronous_sends();
    topic("matched messages into types with gaps");
    for (int at_once = 0; at_once < 2; at_once++) {
        matched_with_gaps(10, 10, at_once);
        matched_with_gaps(10, 7, at_once);
        matched_with_gaps(100000, 100000, at_once);
    }
    topic("probes in vain");
    probes_in_vain();
    topic("communicators are apart");
    communicators_are_apart();
    return check_end();
}
