/*
 * Non-blocking file operations: they complete outside of the network, and a rank that waits for one
 * must not wait for ever, whatever it does between start and wait. Each rank has a part of one
 * file.
 */
#include "check.h"
#include <stdio.h>
#include <string.h>

enum {
    PARTS = 4,
    PART_LEN = 3000,
    PIECES = 5000, /* of a type with gaps: more than Open MPI starts at once */
};

static MPI_File file;

static MPI_Offset place(int rank, int part)
{
    return ((MPI_Offset)rank * PARTS + part) * PART_LEN;
}

static void fill_parts(char (*out)[PART_LEN], int which)
{
    for (int i = 0; i < PARTS; i++)
        pattern_fill(out[i], PART_LEN, pattern_seed(me, i, which));
}

static bool parts_are(char (*in)[PART_LEN], int rank, int which)
{
    bool are = true;
    for (int i = 0; i < PARTS; i++)
        are &= pattern_is(in[i], PART_LEN, pattern_seed(rank, i, which));
    return are;
}

static void start_writes(char (*out)[PART_LEN], MPI_Request request[])
{
    for (int i = 0; i < PARTS; i++)
        MPI_File_iwrite_at(file, place(me, i), out[i], PART_LEN, MPI_CHAR, &request[i]);
}

static void start_reads(int rank, char (*in)[PART_LEN], MPI_Request request[])
{
    for (int i = 0; i < PARTS; i++)
        MPI_File_iread_at(file, place(rank, i), in[i], PART_LEN, MPI_CHAR, &request[i]);
}

static void check_waits(void)
{
    static char out[PARTS][PART_LEN], in[PARTS][PART_LEN];
    MPI_Request request[PARTS];
    MPI_Status status;
    int count = 0, index;
    topic("waits");
    fill_parts(out, 1);
    start_writes(out, request);
    MPI_Wait(&request[0], &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK_EQ(count, PART_LEN);
    MPI_Waitany(1, &request[1], &index, MPI_STATUS_IGNORE);
    MPI_Waitall(PARTS, request, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    start_reads(right, in, request);
    MPI_Waitall(PARTS, request, MPI_STATUSES_IGNORE);
    CHECK(parts_are(in, right, 1), "what rank %d has written", right);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages between start and wait, long and short. */
static void check_messages_between(void)
{
    static char out[PARTS][PART_LEN], in[PARTS][PART_LEN], sent[100000], received[100000];
    MPI_Request request[PARTS], receive;
    topic("messages between start and wait");
    fill_parts(out, 2);
    start_writes(out, request);
    MPI_Irecv(received, sizeof received, MPI_CHAR, left, 1, MPI_COMM_WORLD, &receive);
    MPI_Ssend(sent, sizeof sent, MPI_CHAR, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Waitall(PARTS, request, MPI_STATUSES_IGNORE);
    start_reads(me, in, request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(PARTS, request, MPI_STATUSES_IGNORE);
    CHECK(parts_are(in, me, 2), "what this rank has written");
}

static void check_tests(void)
{
    static char in[PARTS][PART_LEN];
    MPI_Request request[PARTS];
    topic("tests");
    start_reads(me, in, request);
    for (int i = 0; i < PARTS; i++)
        for (int done = 0; !done;)
            MPI_Test(&request[i], &done, MPI_STATUS_IGNORE);
    CHECK(parts_are(in, me, 2), "what this rank has written");
}

/* Ranks in turns, one integer each. */
static void check_pieces(void)
{
    int *const out = memory(PIECES * sizeof *out), *const in = memory(PIECES * sizeof *in);
    MPI_Datatype mine;
    MPI_Request request;
    topic("pieces");
    pattern_fill(out, PIECES * sizeof *out, pattern_seed(me, 0, 3));
    memset(in, 0, PIECES * sizeof *in);
    MPI_Type_vector(PIECES, 1, ranks, MPI_INT, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset)me * (MPI_Offset)sizeof *out, MPI_INT, mine, "native",
                      MPI_INFO_NULL);
    MPI_File_iwrite(file, out, PIECES, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_iread(file, in, PIECES, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(in, out, PIECES * sizeof *out), "what this rank has written");
    MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    MPI_Type_free(&mine);
}

static void check_collectives(void)
{
    static char out[PART_LEN], in[PART_LEN];
    MPI_Request request;
    topic("collectives");
    pattern_fill(out, PART_LEN, pattern_seed(me, 0, 4));
    MPI_File_write_at_all_begin(file, place(me, 0), out, PART_LEN, MPI_CHAR);
    MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, place(me, 0), in, PART_LEN, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(pattern_is(in, PART_LEN, pattern_seed(me, 0, 4)), "what this rank has written");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const int error = MPI_File_open(MPI_COMM_WORLD, "files.data",
                                    MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                    MPI_INFO_NULL, &file);
    if (error != MPI_SUCCESS) {
        fprintf(stderr, "files.data cannot be opened, expected a folder to write to\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check_waits();
    check_messages_between();
    check_tests();
    check_pieces();
    check_collectives();
    MPI_File_close(&file);
    return check_end();
}
