/* messages ring|pingpong|requests OCTETS ROUNDS: messages and nothing else. All requests of the
 * last are open at the same time, between each rank and its neighbours in the ring. */
#include <mpi.h>
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
    const int len = atoi(argv[2]), rounds = atoi(argv[3]), ring = !strcmp(argv[1], "ring");
    char *out = calloc(1, (size_t)len), *in = calloc(1, (size_t)len);
    if (!strcmp(argv[1], "requests"))
        open_requests(me, n, out, len, rounds);
    else
        for (int i = 0; i < rounds; i++)
            if (ring)
                pass_round(me, n, out, in, len);
            else
                go_there_and_back(me, out, in, len);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
