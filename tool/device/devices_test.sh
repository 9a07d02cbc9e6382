#!/bin/sh
# leat devices, and --device of leat sim and leat sweep: the same results as on the processor, on each device that is here.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# ---- what is refused, with or without a device
exits 2 "expected cpu, gpu, auto or a number" "$leat" sim mesh:4,4 --device x
exits 2 "leat devices lists" "$leat" sim mesh:4,4 --device 31
exits 2 "expected no operand" "$leat" devices all
exits 2 "" "$leat" sim clos444 --device 0

# ---- no loader, or one without drivers: said at once, and the processor still works
mkdir "$folder/none"
exits 1 "no device" env OCL_ICD_VENDORS="$folder/none" POCL_DEVICES= "$leat" devices
exits 2 "leat devices lists" env OCL_ICD_VENDORS="$folder/none" "$leat" sim mesh:4,4 --device gpu
exits 0 "" env OCL_ICD_VENDORS="$folder/none" "$leat" sim mesh:4,4 --cycles 1000 --device cpu

"$leat" devices --json > "$folder/devices" 2> "$folder/why" || {
    echo "skipped: $(cat "$folder/why")"
    exit 77
}
"$leat" devices > "$folder/text" || fail "leat devices"
python3 "$(dirname "$0")/../../share/schema/check.py" < "$folder/devices" > "$folder/checked" 2>&1 || fail "schema: $(cat "$folder/checked")"
numbers=$(jq -r 'select(.usable) | .device_number' "$folder/devices")

# point DEVICE WORD...: what a run reports, but for how long it took
point() {
    device=$1
    shift
    "$leat" sim "$@" --json --device "$device" > "$folder/point" 2> "$folder/error" || fail "leat sim $* --device $device: $(cat "$folder/error")"
    jq -c 'del(.wall_seconds, .cycles_per_second, .flit_hops_per_second)' "$folder/point"
}

printf '0 0 3\n5 1 2 4\n9 3 0\n' > "$folder/some.trace"
for number in $numbers; do
    for words in "mesh:4,4 --load 0.4 --links" "torus:5,3 --load 0.3 --flits 4 --traffic tornado" "ring:9 --load 0.2 --warmup 100" \
        "fattree:2,3 --load 0.3 --traffic hotspot --seed 9" "dragonfly:1,2,1 --load 0.2 --traffic bursty" "fly:2,3/flow=cut-through --load 0.4" \
        "mesh:4,4 --load 0.3 --fault link:1-2@300..900" "torus:4,4/routing=updown --load 0.2 --fault flap:0-1/90,40 --fault ber:1e-5@400.." \
        "dragonfly:1,2,1 --load 0.2 --fault router:2@500..700" "ring:6 --traffic trace --trace $folder/some.trace --fault port:3" \
        "mesh:4,4 --traffic all-to-all --rounds 3" "torus:4,4 --traffic allreduce" "ring:6 --traffic trace --trace $folder/some.trace"; do
        # shellcheck disable=SC2086
        same "$words on device $number" "$(point "$number" $words --cycles 1500)" "$(point cpu $words --cycles 1500)"
    done
    exits 2 "expected a rule with one way" "$leat" sim torus:4,4/routing=adaptive --device "$number"
    exits 2 "begin and end more than 65536 times" "$leat" sim mesh:4,4 --fault flap:0-1/1,1 --cycles 70000 --device "$number"
    exits 1 "waits for a packet that was lost" "$leat" sim ring:6 --traffic all-to-all --rounds 3 --fault port:1@20.. --cycles 2000 --device "$number"
done

# ---- deadlocks: detours around a broken hub form a cycle; those that wait are the same as on the processor
for i in 0 1 2 3 4 5; do echo "$i 6"; done > "$folder/wheel.edges"
for i in 0 1 2 3 4 5; do echo "$i $(((i + 1) % 6))"; done >> "$folder/wheel.edges"
hub=$(for i in 0 1 2 3 4 5; do printf -- '--fault link:%s-6@500.. ' "$i"; done)
for number in $numbers; do
    for words in "$folder/wheel.edges/vcs=1/routing=table --load 0.9 --flits 8 $hub" "ring:6/vcs=1 --load 0.9 --flits 9 --unsafe"; do
        for device in cpu "$number"; do
            # shellcheck disable=SC2086
            exits 1 "deadlock: " "$leat" sim $words --cycles 3000 --json --device "$device"
            jq -c '.wall_seconds = 0 | .cycles_per_second = 0 | .flit_hops_per_second = 0' "$folder/stdout" > "$folder/wheel.$device"
        done
        same "$words on device $number" "$(cat "$folder/wheel.$number")" "$(cat "$folder/wheel.cpu")"
        same "buffers that wait" "$(jq '.deadlock | length > 1' "$folder/wheel.cpu")" true
    done
    has "all of it" "$(cat "$folder/stderr")" "the processor runs it again"
done

# ---- sweeps: the same rows in the store
if "$leat" sweep mesh:2,2 --load 0 --seeds 1 --cycles 1 --store "$folder/try.sqlite" 2>&1 | grep -q 'without SQLite'; then
    echo "skipped: sweeps need libsqlite3-dev"
    exit 0
fi
first=${numbers%%
*}
rows() { python3 -c 'import json, sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("select fabric, traffic, load, seed, result from run order by 1, 2, 3, 4"):
    result = json.loads(row[4])
    for key in ("wall_seconds", "cycles_per_second", "flit_hops_per_second"):
        result.pop(key, None)
    print(*row[:4], json.dumps(result, sort_keys=True))' "$1"; }
sweep="sweep mesh:3,3 ring:5 --traffic uniform,neighbour --load 0.1:0.5:0.2 --seeds 2 --cycles 1000"
# shellcheck disable=SC2086
exits 0 "" "$leat" $sweep --store "$folder/here.sqlite"
# shellcheck disable=SC2086
exits 0 "" "$leat" $sweep --store "$folder/there.sqlite" --device "$first"
same "nothing is said" "$(cat "$folder/stderr")" ""
rows "$folder/here.sqlite" > "$folder/here"
rows "$folder/there.sqlite" > "$folder/there"
same "rows" "$(wc -l < "$folder/there")" 24
cmp -s "$folder/here" "$folder/there" || fail "rows differ"

# The same with faults.
faults="sweep mesh:4,4 torus:4,4/routing=updown --load 0.1:0.5:0.2 --seeds 2 --cycles 2000 --fault link:1-2@500..900 --fault ber:1-5:1e-4"
# shellcheck disable=SC2086
exits 0 "" "$leat" $faults --store "$folder/here.sqlite"
# shellcheck disable=SC2086
exits 0 "" "$leat" $faults --store "$folder/there.sqlite" --device "$first"
same "nothing is said of faults" "$(cat "$folder/stderr")" ""
rows "$folder/here.sqlite" > "$folder/here_all"
rows "$folder/there.sqlite" > "$folder/there_all"
same "rows with faults" "$(wc -l < "$folder/there_all")" 36
cmp -s "$folder/here_all" "$folder/there_all" || fail "rows with faults differ"

# Deadlocks are results there, too. What stands still as a whole is run again by the processor.
for words in "$folder/wheel.edges/vcs=1/routing=table $hub" "ring:6/vcs=1 --unsafe"; do
    # shellcheck disable=SC2086
    exits 1 "runs ended in a deadlock; all results are kept" "$leat" sweep $words --load 0.1,0.5,0.9 --seeds 2 --flits 9 --cycles 2000 --store "$folder/here_dead.sqlite"
    # shellcheck disable=SC2086
    exits 1 "runs ended in a deadlock; all results are kept" "$leat" sweep $words --load 0.1,0.5,0.9 --seeds 2 --flits 9 --cycles 2000 --store "$folder/there_dead.sqlite" --device "$first"
done
has "what stands still" "$(cat "$folder/stderr")" "of 6 runs came to a standstill: the processor runs them again"
rows "$folder/here_dead.sqlite" > "$folder/here_dead"
rows "$folder/there_dead.sqlite" > "$folder/there_dead"
same "rows with deadlocks" "$(wc -l < "$folder/there_dead") $(grep -c '"deadlock": \[' "$folder/there_dead")" "12 6"
cmp -s "$folder/here_dead" "$folder/there_dead" || fail "rows with deadlocks differ"

# Runs that end by themselves end in the same cycle, and are not those of another precision.
precise="sweep mesh:3,3 ring:5 --load 0.1,0.5,0.9 --seeds 3 --cycles 20000 --precision 0.1"
# shellcheck disable=SC2086
exits 0 "" "$leat" $precise --store "$folder/precise.sqlite"
# shellcheck disable=SC2086
exits 0 "" "$leat" $precise --store "$folder/precise_there.sqlite" --device "$first"
rows "$folder/precise.sqlite" > "$folder/precise"
rows "$folder/precise_there.sqlite" > "$folder/precise_there"
cmp -s "$folder/precise" "$folder/precise_there" || fail "rows with a precision differ"
same "most end early" "$(grep -cE '"stopped_by": "(precision|saturation)"' "$folder/precise")" 18
# shellcheck disable=SC2086
exits 0 "" "$leat" ${precise%0.1}0.2 --store "$folder/precise.sqlite"
same "rows of both precisions" "$(rows "$folder/precise.sqlite" | wc -l)" 36

# Begun here, continued there: what is stored is not run again.
# shellcheck disable=SC2086
exits 0 "" "$leat" sweep mesh:3,3 --traffic uniform --load 0.1:0.5:0.2 --seeds 2 --cycles 1000 --store "$folder/both.sqlite"
# shellcheck disable=SC2086
exits 0 "" "$leat" $sweep --store "$folder/both.sqlite" --device "$first"
rows "$folder/both.sqlite" > "$folder/both"
cmp -s "$folder/here" "$folder/both" || fail "rows differ that were begun on the processor"

# What a device cannot run: refused if it was asked for, told and run by the processor with auto.
exits 2 "clos444 is an ATM fabric" "$leat" sweep mesh:3,3 clos444 --load 0.1 --seeds 1 --cycles 500 --store "$folder/atm.sqlite" --device "$first"
[ ! -e "$folder/atm.sqlite" ] || fail "a run began before all fabrics were checked"
exits 0 "on the processor" "$leat" sweep mesh:3,3 clos444 --load 0.1 --seeds 1 --cycles 500 --store "$folder/auto.sqlite" --device auto
exits 0 "there is no GPU: no d" env OCL_ICD_VENDORS="$folder/none" POCL_DEVICES= "$leat" sweep mesh:2,2 --load 0.1 --seeds 1 --cycles 100 \
    --store "$folder/none.sqlite" --device auto
same "runs of auto" "$(rows "$folder/auto.sqlite" | wc -l)" 2
finish
