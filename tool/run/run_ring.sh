# shellcheck shell=sh disable=SC2154 # sourced; $folder is of test/lib.sh
# Makes $folder/ring: ranks in a ring pass on OCTETS, ROUNDS times, and check what comes. The first prints how long
# it took, by MPI_Wtime and by gettimeofday. And number(), for what leat says of it.

# number KEY FILE: the number behind a key of the last line, which is the JSON object
number() { tail -n 1 "$2" | jq -r ".$1"; }

cat > "$folder/ring.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
int main(int argc, char **argv)
{
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int len = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 1;
    char *out = malloc(len + 1), *in = malloc(len + 1);
    struct timeval a, b;
    gettimeofday(&a, NULL);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        memset(out, me + i, len);
        MPI_Sendrecv(out, len, MPI_CHAR, (me + 1) % n, i, in, len, MPI_CHAR, (me + n - 1) % n, i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < len; k++)
            if (in[k] != (char)((me + n - 1) % n + i)) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    const double took = MPI_Wtime() - start;
    gettimeofday(&b, NULL);
    if (me == 0) printf("%.9f %.6f\n", took, (b.tv_sec - a.tv_sec) + 1e-6 * (b.tv_usec - a.tv_usec));
    MPI_Finalize();
    return 0;
}
C
mpicc -O1 -o "$folder/ring" "$folder/ring.c" || { echo "mpicc does not work" >&2; exit 77; }
