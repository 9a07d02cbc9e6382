#!/bin/sh
# POETS on this machine: receives per second of a heat plate, by workers and by ranks, and how long a large file takes to load. Compiling is not counted. The
# best of several counts, since machines are noisy.
# usage: bench_poets.sh LEAT [JSON]
set -eu
leat=$1 json=${2:-/dev/null}
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
export XDG_CACHE_HOME="$folder/cache"
figures=
note() { # NAME VALUE UNIT TARGET VERDICT
    printf '%-48s %10s %-12s %-22s %s\n' "$1" "$2" "$3" "$4" "$5"
    figures="$figures${figures:+,
}  {\"name\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"target\":\"$4\"}"
}

rate() { sed 's/.*"receives_per_second":\([0-9]*\).*/\1/'; } # of a JSON object, 0 where there is none
most() { awk -v a="${1:-0}" -v b="$2" 'BEGIN { a /= 1e6; printf "%.1f", (a > b ? a : b) }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
verdict() { awk -v a="$1" -v t="$2" 'BEGIN { print (a >= t ? "met" : "MISSED") }'; }
make_plate() { [ -e "$folder/$1.xml" ] || python3 "$here/../share/poets/make.py" heat "$1" "$1" "$2" > "$folder/$1.xml"; }

# plate SIDE STEPS TARGET: millions of receives per second, with one worker and two, in turn
plate() {
    make_plate "$1" "$2"
    one=0 two=0
    for _ in 1 2 3; do
        one=$(most "$("$leat" graph run "$folder/$1.xml" -j 1 --json 2> /dev/null | rate)" "$one")
        two=$(most "$("$leat" graph run "$folder/$1.xml" -j 2 --json 2> /dev/null | rate)" "$two")
    done
    note "heat plate, $(($1 * $1)) devices, 1 worker" "$one" "M/s" "at least $3 M/s" "$(verdict "$one" "$3")"
    note "heat plate, $(($1 * $1)) devices, 2 workers" "$two" "M/s" "" ""
    note "  2 workers against one" "$(ratio "$two" "$one")" "times" "" ""
}
plate 100 5000 45
plate 400 400 20

# The large plate over MPI, one rank and two, in turn.
if command -v mpirun > /dev/null && [ -e "$(dirname "$(realpath "$leat")")/../program/libleat-mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    one=0 two=0
    for _ in 1 2 3; do
        one=$(most "$(mpirun -n 1 "$leat" graph run "$folder/400.xml" --engine mpi --json 2> /dev/null | rate)" "$one")
        two=$(most "$(mpirun --oversubscribe -n 2 "$leat" graph run "$folder/400.xml" --engine mpi --json 2> /dev/null | rate)" "$two")
    done
    note "heat plate, 160000 devices, 1 rank" "$one" "M/s" "" ""
    note "heat plate, 160000 devices, 2 ranks" "$two" "M/s" "" ""
    note "  2 ranks against one" "$(ratio "$two" "$one")" "times" "at least 1.3 times" "$(verdict "$(ratio "$two" "$one")" 1.3)"
fi

# A million devices and five million edges.
python3 "$here/../share/poets/make.py" heat 1000 1000 1 > "$folder/large.xml"
begin=$(date +%s.%N)
"$leat" graph info "$folder/large.xml" > /dev/null &
child=$!
peak=0
while kill -0 $child 2> /dev/null; do
    now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$child/status 2> /dev/null || true)
    peak=${now:-$peak}
    sleep 0.2
done
wait $child
taken=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
note "loading 1,000,001 devices, 4,996,000 edges" "$taken" s "at most 20 s" "$(awk -v a="$taken" 'BEGIN { print (a <= 20 ? "met" : "MISSED") }')"
note "its memory" "$((peak / 1024))" MiB "at most 1024 MiB" "$([ "$peak" -le 1048576 ] && echo met || echo MISSED)"

# A large file over ranks, each of which reads a part of it: the most memory of a rank.
if command -v mpirun > /dev/null && [ -e "$(dirname "$(realpath "$leat")")/../program/libleat-mpi.so" ]; then
    make_plate 500 1
    measured="import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    for ranks in 1 2 4; do
        peak=$(mpirun --oversubscribe -n $ranks python3 -c "$measured" "$leat" graph run "$folder/500.xml" --engine mpi --until idle 2> /dev/null | sort -n | tail -1)
        note "250,001 devices read by $ranks ranks, memory of one" "$((peak / 1024))" MiB "" ""
    done
fi
printf '[\n%s\n]\n' "$figures" > "$json"
