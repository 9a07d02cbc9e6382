#!/bin/sh
# mpirun leat sim: any number of ranks and threads has the results of one process; what cannot be divided is refused.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
. "$(dirname "$0")/../../test/ranks.sh"

figures='del(.wall_seconds, .cycles_per_second, .flit_hops_per_second, .threads, .ranks)'

for run in "torus:6,6 --load 0.2" "mesh:4,4,3/wire=3 --load 0.3 --flits 4 --warmup 100" \
    "fattree:4,2 --load 0.3 --traffic hotspot --fault link:1-5@100..300 --fault ber:1e-5" \
    "dragonfly:2,4,2 --traffic bursty --load 0.1 --fault router:7@50..400"; do
    # shellcheck disable=SC2086
    exits 0 "" "$leat" sim $run --cycles 600 --links --json
    one=$(jq -c "$figures" "$folder/stdout")
    for n in 1 2 3 4; do
        # shellcheck disable=SC2086
        exits 0 "" ranks $n sim $run --cycles 600 --links --json
        same "$run on $n ranks" "$(jq -c "$figures" "$folder/stdout")" "$one"
    done
    # shellcheck disable=SC2086
    exits 0 "" ranks 2 sim $run --cycles 600 --links --json --threads 3
    same "$run on 2 ranks of 3 threads" "$(jq -c "$figures" "$folder/stdout")" "$one"
    same "who did the work" "$(jq -c '[.ranks, .threads]' "$folder/stdout")" "[2,3]"
done

# All ranks stop in the same cycle.
run="mesh:6,6 --load 0.2 --cycles 50000 --precision 0.05"
# shellcheck disable=SC2086
exits 0 "" "$leat" sim $run --json
one=$(jq -c "$figures" "$folder/stdout")
has "it stops" "$one" '"stopped_by":"precision"'
for n in 2 3; do
    # shellcheck disable=SC2086
    exits 0 "" ranks $n sim $run --json --threads 2
    same "$run on $n ranks" "$(jq -c "$figures" "$folder/stdout")" "$one"
done

# Of large networks each rank builds only its share.
for run in "torus:50,47 --load 0.05" "fly:4,6 --load 0.2" "dragonfly:1,10,25 --load 0.1"; do
    # shellcheck disable=SC2086
    exits 0 "" "$leat" sim $run --cycles 150 --warmup 20 --json
    one=$(jq -c "$figures" "$folder/stdout")
    for n in 2 3; do
        # shellcheck disable=SC2086
        exits 0 "" ranks $n sim $run --cycles 150 --warmup 20 --json
        same "$run on $n ranks" "$(jq -c "$figures" "$folder/stdout")" "$one"
    done
done
exits 0 "" ranks 2 sim torus:6,6 --cycles 100
has "for people" "$(cat "$folder/stdout")" "on 2 ranks of 1 thread"
same "only rank 0 prints" "$(grep -c certificate "$folder/stdout")" 1

# Ranks with next to nothing to do between two meetings are told so: sooner or later, as other work of
# the machine may take more of their time than meetings.
for try in 1 2 3 4 5 6; do
    exits 0 "" ranks 3 sim mesh:4,4 --load 0.001 --cycles 60000
    [ ! -s "$folder/stderr" ] || break
done
has "the expected speed at try $try" "$(cat "$folder/stderr")" "times the speed of one process"

# One message, whatever the number of ranks, and exit code 2.
exits 2 "2 ranks with all-to-all traffic, expected one process" ranks 2 sim torus:6,6 --traffic all-to-all
exits 2 "2 ranks with voq switches, expected one process" ranks 2 sim mesh:6,6/switch=voq
exits 2 "4 ranks of 1 threads with 3 routers, expected at most 3 parts" ranks 4 sim line:3
for other in "clos444, which is an ATM fabric" "ring16, which is a token ring" "twosan, which is a PacketWay network"; do
    exits 2 "leat sim: 3 ranks with $other, expected a network of switches" ranks 3 sim "${other%%,*}"
    same "said once: $other" "$(grep -c 'which is' "$folder/stderr")" 1
done

# What starts its ranks itself, or runs on threads, is no rank.
exits 2 "several ranks of mpirun, expected leat run -n N without mpirun" ranks 2 run --fabric clos444 -n 2 -- true
for engine in "--engine threads" "--fabric mesh:2,2"; do
    # shellcheck disable=SC2086
    exits 2 "several ranks of mpirun, expected --engine mpi" ranks 2 graph run "$(dirname "$0")/../../share/poets/ring.xml" $engine
done

# A rank that dies ends all.
ranks 3 sim torus:16,16 --cycles 1e9 > "$folder/out" 2>&1 &
job=$!
is_there() { [ "$(pgrep -f "^$leat sim torus:16,16 --cycles 1e9" | wc -l)" = 3 ]; }
wait_until is_there
sleep 1
kill -9 "$(pgrep -f "^$leat sim torus:16,16 --cycles 1e9" | tail -n 1)"
wait $job && fail "a rank was killed, and mpirun ends with 0"
has "who died" "$(cat "$folder/out")" "rank"

finish
