/* messages ring|pingpong OCTETS ROUNDS: messages and nothing else. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const int len = atoi(argv[2]), rounds = atoi(argv[3]), ring = !strcmp(argv[1], "ring");
    char *out = calloc(1, (size_t)len), *in = calloc(1, (size_t)len);
    for (int i = 0; i < rounds; i++) {
        if (ring) {
            MPI_Sendrecv(out, len, MPI_CHAR, (me + 1) % n, 0, in, len, MPI_CHAR, (me + n - 1) % n,
                         0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == 0) {
            MPI_Send(out, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == 1) {
            MPI_Recv(in, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
