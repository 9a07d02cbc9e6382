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

mpicc -O2 -o "$folder/work" "$(dirname "$0")/messages.c"

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
