#!/bin/sh
# How fast do real programs run over simulated networks? Messages per second of real time, without the start of mpirun: the
# difference of a long and a short run. The best of several counts, since machines are noisy.
# usage: bench_run.sh LEAT [JSON]
set -eu
leat=$1 json=${2:-/dev/null}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
command -v mpicc > /dev/null || { echo "bench_run: no mpicc, so no MPI programs to measure with" >&2; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cat > "$folder/work.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
/* work ring|pingpong OCTETS ROUNDS */
int main(int argc, char **argv)
{
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int len = atoi(argv[2]), rounds = atoi(argv[3]), ring = !strcmp(argv[1], "ring");
    char *out = calloc(1, len), *in = calloc(1, len);
    for (int i = 0; i < rounds; i++) {
        if (ring) {
            MPI_Sendrecv(out, len, MPI_CHAR, (me + 1) % n, 0, in, len, MPI_CHAR, (me + n - 1) % n, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == 0) {
            MPI_Send(out, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, len, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, len, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
C
mpicc -O2 -o "$folder/work" "$folder/work.c"

# seconds FABRIC RANKS WORK OCTETS ROUNDS; FABRIC may have options behind it
seconds() {
    # shellcheck disable=SC2086
    "$leat" run --fabric $1 -n "$2" --json -- "$folder/work" "$3" "$4" "$5" | tail -n 1 | sed 's/.*"wall_seconds":\([0-9.]*\).*/\1/'
}

# measure NAME UNIT TARGET PER_ROUND FABRIC RANKS WORK OCTETS ROUNDS
measure() {
    name=$1 unit=$2 target=$3 each=$4
    shift 4
    rounds=$5 best=0
    for _ in 1 2 3; do
        short=$(seconds "$1" "$2" "$3" "$4" "$rounds")
        long=$(seconds "$1" "$2" "$3" "$4" $((3 * rounds)))
        best=$(awk -v a="$short" -v b="$long" -v n="$rounds" -v each="$each" -v best="$best" \
            'BEGIN { v = b > a ? 2 * n * each / (b - a) : 0; printf "%d", (v > best ? v : best) }')
    done
    verdict=
    [ -z "$target" ] || { [ "$best" -ge "$target" ] && verdict=met || verdict=MISSED; }
    printf '%-52s %10d %-14s %-18s %s\n' "$name" "$best" "$unit" "${target:+at least $target}" "$verdict"
    printf '{"name":"%s","value":%d,"unit":"%s","target":"%s"}\n' "$name" "$best" "$unit" "${target:+at least $target}" >> "$folder/figures"
}

measure "clos444, 16 ranks, 1 KiB round a ring" messages/s 80000 16 clos444 16 ring 1024 1000
measure "clos444, 4 octets there and back" round-trips/s 60000 1 clos444 2 pingpong 4 20000
measure "the same ring, every cycle simulated" messages/s '' 16 "clos444 --every-cycle" 16 ring 1024 1000
measure "the same there and back, every cycle simulated" round-trips/s '' 1 "clos444 --every-cycle" 2 pingpong 4 20000
measure "torus:4,4, 16 ranks, 1 KiB round a ring" messages/s '' 16 torus:4,4 16 ring 1024 1000
measure "torus:4,4, 4 octets there and back" round-trips/s '' 1 torus:4,4 2 pingpong 4 20000
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
