/* messages ring|pingpong|alltoall|allreduce|requests OCTETS ROUNDS: messages and nothing else. All
 * requests of the last are open at the same time, between each rank and its neighbours in the ring.
 * Rank 0 prints the seconds of a round by its own clock, which is the simulated one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pass_round(int me, int n, char *out, char *in, int len)
{
    MPI_Sendrecv(out, len, MPI_CHAR, (me + 1) % n, 0, in, len, MPI_CHAR, (me + n - 1) % n, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void go_there_and_back(int me, char *out, char *in, int len)
{
    if (me == 0) {
        MPI_Send(out, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        MPI_Recv(in, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static void open_requests(int me, int n, char *out, int len, int count)
{
    MPI_Request *request = calloc(2 * (size_t)count, sizeof(MPI_Request));
    char *in = calloc((size_t)count, (size_t)len);
    for (int i = 0; i < count; i++)
        MPI_Irecv(in + (size_t)i * (size_t)len, len, MPI_CHAR, (me + n - 1) % n, 0, MPI_COMM_WORLD,
                  &request[i]);
    for (int i = 0; i < count; i++)
        MPI_Isend(out, len, MPI_CHAR, (me + 1) % n, 0, MPI_COMM_WORLD, &request[count + i]);
    MPI_Waitall(2 * count, request, MPI_STATUSES_IGNORE);
    free(request);
    free(in);
}

int main(int argc, char **argv)
{
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const char *work = argv[1];
    const int len = atoi(argv[2]), rounds = atoi(argv[3]);
    const size_t room = !strcmp(work, "alltoall") ? (size_t)len * (size_t)n : (size_t)len;
    char *out = calloc(1, room), *in = calloc(1, room);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if (!strcmp(work, "requests"))
        open_requests(me, n, out, len, rounds);
    else
        for (int i = 0; i < rounds; i++)
            if (!strcmp(work, "ring"))
                pass_round(me, n, out, in, len);
            else if (!strcmp(work, "alltoall"))
                MPI_Alltoall(out, len, MPI_CHAR, in, len, MPI_CHAR, MPI_COMM_WORLD);
            else if (!strcmp(work, "allreduce"))
                MPI_Allreduce(out, in, len, MPI_CHAR, MPI_BAND, MPI_COMM_WORLD);
            else
                go_there_and_back(me, out, in, len);
    if (me == 0) printf("%.12f\n", (MPI_Wtime() - began) / rounds);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
