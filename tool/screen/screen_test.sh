#!/bin/sh
# What goes to terminals: progress and colours, through a pseudo-terminal; nothing of it in files and pipes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs mpicc python3
leat=$(readlink -f "$1")

cat > "$folder/endless.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int me, n, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0;; i++) {
        if (me == 0 && i % 5000 == 0) {
            printf("line %d\n", i / 5000);
            fflush(stdout);
        }
        MPI_Sendrecv(&i, 1, MPI_INT, (me + 1) % n, 0, &in, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}
C
mpicc -o "$folder/endless" "$folder/endless.c" || fail "endless.c cannot be compiled"
python3 "$here/../../share/poets/make.py" heat 8 6 1000000000 1 > "$folder/endless.xml"
"$leat" graph check "$folder/endless.xml" > /dev/null # compiled from now on
env -u NO_COLOR PYTHONDONTWRITEBYTECODE=1 python3 "$here/screen_test.py" "$leat" "$folder" "$folder/endless" "$folder/endless.xml" ||
    fail "on a terminal"
finish
