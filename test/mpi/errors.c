/*
 * Errors are returned as values under MPI_ERRORS_RETURN, and do not affect later calls. For two
 * ranks and more: Open MPI 4.1 ignores truncation of what a rank sends to itself, and writes behind
 * the receiver's memory if it copies long messages at once (run_all.sh turns that off).
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { LONG_LEN = 200000 };

static unsigned char out[LONG_LEN], in[LONG_LEN];

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

static void after_it_all_is_well(void)
{
    int mine = me, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 9, &got, 1, MPI_INT, left, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, left);
}

/* Sends `len` octets to a receive for fewer; the memory behind it is not touched. */
static void truncated(int len, int room, bool late)
{
    MPI_Request send, receive;
    MPI_Status status;
    pattern_fill(out, (size_t)len, 1);
    memset(in, 0x5a, sizeof in);
    if (!late) MPI_Irecv(in, room, MPI_BYTE, left, 1, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, len, MPI_BYTE, right, 1, MPI_COMM_WORLD, &send);
    MPI_Barrier(MPI_COMM_WORLD);
    const int error = late ? MPI_Recv(in, room, MPI_BYTE, left, 1, MPI_COMM_WORLD, &status)
                           : MPI_Wait(&receive, &status);
    CHECK_EQ(class_of(error), MPI_ERR_TRUNCATE);
    CHECK(in[room] == 0x5a, "nothing written behind %d octets", room);
    CHECK_EQ(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    after_it_all_is_well();
}

/* One bad request of three: MPI_Waitall refers to the statuses. It may return before the others are
 * done (MPI_ERR_PENDING). */
static void truncated_among_others(void)
{
    MPI_Request requests[3], sends[3];
    MPI_Status statuses[3];
    int numbers[3] = { 1, 2, 3 }, got[3] = { 0 };
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&got[i], i == 1 ? 2 : 4, MPI_BYTE, left, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(&numbers[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
    CHECK_EQ(class_of(MPI_Waitall(3, requests, statuses)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    for (int i = 0; i < 3; i += 2) {
        const int error = statuses[i].MPI_ERROR;
        CHECK(error == MPI_SUCCESS || error == MPI_ERR_PENDING, "nothing wrong with request %d", i);
        CHECK_EQ(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    CHECK(got[0] == 1 && got[2] == 3, "the others have their messages");
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    after_it_all_is_well();
}

static void wrong_arguments(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Comm none;
    CHECK_EQ(class_of(MPI_Send(out, 1, MPI_BYTE, ranks, 0, world)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Send(out, 1, MPI_BYTE, -17, 0, world)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Recv(in, 1, MPI_BYTE, ranks, 0, world, MPI_STATUS_IGNORE)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Send(out, 1, MPI_BYTE, 0, -17, world)), MPI_ERR_TAG);
    CHECK_EQ(class_of(MPI_Send(out, -1, MPI_BYTE, 0, 0, world)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Irecv(in, 1, MPI_DATATYPE_NULL, 0, 0, world, &request)), MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Send(out, 1, MPI_BYTE, 0, 0, MPI_COMM_NULL)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Bcast(in, 1, MPI_BYTE, ranks, world)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Allreduce(out, in, 1, MPI_INT, MPI_OP_NULL, world)), MPI_ERR_OP);
    CHECK_EQ(class_of(MPI_Comm_dup(MPI_COMM_NULL, &none)), MPI_ERR_COMM);
    after_it_all_is_well();
}

static void error_texts(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0, class, code;
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &len);
    CHECK(len > 0 && (size_t)len == strlen(text), "a text of truncation with its length");
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "our own mistake");
    MPI_Error_string(code, text, &len);
    CHECK(strcmp(text, "our own mistake") == 0, "the text that was added, not '%s'", text);
    CHECK_EQ(class_of(code), class);
}

static int handler_calls, handler_class;

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    handler_calls++;
    handler_class = class_of(*error);
}

static void own_handler(void)
{
    MPI_Comm comm;
    MPI_Errhandler own, got;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    MPI_Send(out, 1, MPI_BYTE, ranks + 5, 0, comm);
    CHECK_EQ(handler_calls, 1);
    CHECK_EQ(handler_class, MPI_ERR_RANK);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK_EQ(handler_calls, 2);
    CHECK_EQ(handler_class, MPI_ERR_OTHER);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == own, "the handler that was set");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    topic("truncation");
    for (int late = 0; late < 2; late++) {
        truncated(100, 10, late);
        truncated(1, 0, late);
        truncated(5000, 4999, late);
        truncated(100000, 1000, late);
        truncated(LONG_LEN - 1, 70000, late);
    }
    topic("truncation among others");
    truncated_among_others();
    topic("wrong arguments");
    wrong_arguments();
    topic("texts of errors");
    error_texts();
    topic("own handlers");
    own_handler();
    return check_end();
}
