/*
 * Messages of every size, especially around the lengths where libraries change protocol (inject,
 * eager, rendezvous): expected and unexpected.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum {
    RING_LEN_MAX = 256 * 1024, /* sent by all ranks at a time */
    PAIR_LEN_MAX = 64 * 1024 * 1024,
};

/* Sends `len` octets to `to` and receives as many from `from`; `late`: the receive is posted only
 * when the message is in flight or waits. */
static void exchange(unsigned char *out, unsigned char *in, size_t len, int to, int from, bool late)
{
    MPI_Request send, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    int count = -1;
    const uint64_t seed = pattern_seed(from, me, (int)(len % 65521));
    pattern_fill(out, len, pattern_seed(me, to, (int)(len % 65521)));
    if (len > 0) in[0] = (unsigned char)(out[0] + 1);
    in[len] = 0xa5;
    if (!late) MPI_Irecv(in, (int)len, MPI_BYTE, from, 1, MPI_COMM_WORLD, &receive);
    MPI_Isend(out, (int)len, MPI_BYTE, to, 1, MPI_COMM_WORLD, &send);
    if (late) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 2, NULL, 0, MPI_BYTE, from, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Irecv(in, (int)len, MPI_BYTE, from, 1, MPI_COMM_WORLD, &receive);
    }
    MPI_Wait(&receive, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, (long long)len);
    CHECK(pattern_is(in, len, seed), "%zu octets as they were sent by rank %d", len, from);
    CHECK(in[len] == 0xa5, "nothing written behind %zu octets", len);
}

static void ring(unsigned char *out, unsigned char *in, bool late)
{
    for (size_t power = 1; power <= RING_LEN_MAX; power *= 2) {
        exchange(out, in, power - 1, right, left, late);
        exchange(out, in, power, right, left, late);
        exchange(out, in, power + 1, right, left, late);
    }
    static const size_t odd[] = { 3, 44, 47, 48, 49, 88, 1500, 4040, 9180, 12288, 61439, 100003 };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        exchange(out, in, odd[i], right, left, late);
}

/* Long ones between the first rank and the last, in both directions at once; the longest only with
 * two ranks. */
static void pair(unsigned char *out, unsigned char *in)
{
    static const size_t lens[] = { 1048575, 1048577, 4194304, 10000001 };
    const int peer = ranks - 1 - me;
    if (me != 0 && peer != 0) return;
    for (size_t i = 0; i < (ranks == 2 ? sizeof lens / sizeof *lens : 2); i++)
        exchange(out, in, lens[i], peer, peer, i % 2 != 0);
}

/* The longest goes in one direction only. */
static void longest(unsigned char *octets)
{
    if (ranks != 2) return;
    if (me == 0) {
        pattern_fill(octets, PAIR_LEN_MAX, 77);
        MPI_Send(octets, PAIR_LEN_MAX, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(octets, PAIR_LEN_MAX, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(pattern_is(octets, PAIR_LEN_MAX, 77), "64 MiB as they were sent");
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const bool end = me == 0 || me == ranks - 1;
    unsigned char *out = memory(end ? PAIR_LEN_MAX + 1 : RING_LEN_MAX + 2);
    unsigned char *in = memory(end ? PAIR_LEN_MAX + 1 : RING_LEN_MAX + 2);
    topic("receives that wait");
    ring(out, in, false);
    topic("unexpected messages");
    ring(out, in, true);
    topic("long messages");
    pair(out, in);
    topic("64 MiB");
    longest(in);
    free(in);
    free(out);
    return check_end();
}
