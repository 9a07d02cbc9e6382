#!/bin/sh
# usage: runs.sh LEAT [RUNS [BUSY [FABRIC...]]]
# One program over one fabric has one certificate and one output, however busy the machine is: RUNS (100) runs of each of six programs over
# each FABRIC (six of different kinds), while BUSY (4) loops keep the processors busy. Prints a line per pair; exit 1 if any pair has two results.
set -u
leat=$(readlink -f "${1:?LEAT is missing}") runs=${2:-100} busy=${3:-4}
here=$(cd "$(dirname "$0")" && pwd)
command -v mpicc > /dev/null || { echo "skipped: mpicc is not installed"; exit 77; }
command -v master1 > /dev/null || { echo "skipped: pvm-examples is not installed"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- clos444 bmx:4 torus:4,4 dragonfly:1,2,1 ring6 twosan
folder=$(mktemp -d)
loops=''
# shellcheck disable=SC2317,SC2086
end() {
    [ -z "$loops" ] || kill $loops 2> /dev/null
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM

check() { mpicc -O1 -I"$here/../mpi" -o "$folder/$1" "$here/../mpi/$1.c" "$here/../mpi/check.c" -lm || exit 1; }
mpicc -O1 -o "$folder/rounds" "$here/../../share/programs/rounds.c" || exit 1
mpicc -O1 -o "$folder/workers" "$here/workers.c" || exit 1
for program in collectives requests onesided; do check $program; done

i=0
while [ $i -lt "$busy" ]; do
    (while :; do :; done) &
    loops="$loops $!"
    i=$((i + 1))
done

# results PROGRAM FABRIC RANKS: one line per result, with how often it came
results() {
    i=0
    while [ $i -lt "$runs" ]; do
        "$leat" run --fabric "$2" -n "$3" --json="$folder/json" -- "$1" > "$folder/out" 2> "$folder/err" || cat "$folder/err" >> "$folder/out"
        sed 's/.*"certificate":"\([0-9a-f]*\)".*/\1/' "$folder/json"
        cksum < "$folder/out"
        i=$((i + 1))
    done | paste -d ' ' - - | sort | uniq -c
}

failed=0
for fabric; do
    for program in rounds collectives requests onesided workers master1; do
        path=$folder/$program ranks=4
        [ $program != master1 ] || { path=master1 ranks=1; }
        results "$path" "$fabric" $ranks > "$folder/results"
        count=$(wc -l < "$folder/results")
        printf '%-12s %-16s %3d runs, %d result%s: %s\n' "$program" "$fabric" "$runs" "$count" "$([ "$count" -eq 1 ] || echo s)" \
            "$(awk '{ print $2 }' "$folder/results" | tr '\n' ' ')"
        [ "$count" -eq 1 ] || failed=1
    done
done
exit $failed
