#!/bin/sh
# leat sweep: its table, its store, and how it resumes after any kind of end.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
if "$leat" sweep bmx:2 --load 0 --seeds 1 --cycles 1 --store "$folder/try.sqlite" 2>&1 | grep -q 'without SQLite'; then
    echo "skipped: leat was built without libsqlite3-dev"
    exit 77
fi

# sql STORE QUERY: rows with blanks between
sql() { python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2]): print(*row)' "$1" "$2"; }

# children PID: of a process
# (Processes may end meanwhile: cat goes on where awk would stop.)
children() { cat /proc/[0-9]*/stat 2> /dev/null | awk -v parent="$1" '$4 == parent { print $1 }'; }

# gone PID...: none of them lives (a zombie does not)
gone() {
    for pid in "$@"; do
        wait_until is_gone "$pid" || fail "process $pid lives on"
    done
}
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# cycles_for SECONDS: how many cycles of the slowest fabric here take about so long, in any build
rate=$("$leat" sim bmx:16 --load 0.9 --cycles 20000 --json | jq .cycles_per_second)
cycles_for() { awk -v rate="$rate" -v seconds="$1" 'BEGIN { printf "%d", 2000 + rate * seconds }'; }

# ---- the table against runs of leat sim, one by one ------------------------------------------------
small="sweep bmx:4 clos444 --traffic uniform,W --load 0.1,0.05:0.25:0.1 --cycles 20000"
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 3 --store "$folder/small.sqlite" --json -j 4
same "nothing but the table" "$(cat "$folder/stderr")" ""
cp "$folder/stdout" "$folder/small.json"
python3 - "$leat" "$folder/small.json" > "$folder/compared" 2>&1 << 'END' || fail "points: $(cat "$folder/compared")"
import json, math, statistics, subprocess, sys
T_OF_TWO_DEGREES = 4.302653  # published tables of Student's t, 97.5 %
points = [json.loads(line) for line in open(sys.argv[2])]
asked = [(f, t, l) for f in ("bmx:4", "clos444") for t in ("uniform", "W") for l in (0.05, 0.1, 0.15, 0.25)]
assert [(p["fabric"], p["traffic"], p["load"]) for p in points] == asked, "order"
for p in points:
    runs = [json.loads(subprocess.check_output([sys.argv[1], "sim", p["fabric"], "--traffic", p["traffic"], "--load",
            str(p["load"]), "--seed", str(seed), "--cycles", "20000", "--json"])) for seed in (1, 2, 3)]
    assert p["certificates"] == {str(r["seed"]): r["certificate"] for r in runs}, "certificates"
    told = p["latency_cycles"]
    for name, mean, ci95, values in (
            ("throughput", p["throughput"], p["throughput_ci95"], [r["throughput"] for r in runs]),
            ("latency", told["mean"], told["ci95"], [r["latency_cycles"]["mean"] for r in runs]),
            ("p99", told["p99"], told["p99_ci95"], [r["latency_cycles"]["p99"] for r in runs])):
        half = T_OF_TWO_DEGREES * statistics.stdev(values) / math.sqrt(3)
        assert math.isclose(mean, statistics.mean(values), rel_tol=1e-5, abs_tol=1e-3), (p, name)
        assert math.isclose(ci95, half, rel_tol=1e-4, abs_tol=1e-3), (p, name, half)
    assert p["runs"] == 3 and p["deadlocked_runs"] == 0
END
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 3 --store "$folder/one.sqlite" --json -j 1
cmp -s "$folder/stdout" "$folder/small.json" || fail "-j 1 and -j 4 differ"
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 3 --store "$folder/small.sqlite"
cp "$folder/stdout" "$folder/small.txt"
same "lines for people" "$(grep -c ' +- ' "$folder/small.txt")" 17
has "the table names what was run" "$(cat "$folder/small.txt")" "clos444, traffic W, --cycles 20000"
same "intervals of Student's t, 32 degrees of freedom" "$("$leat" sweep bmx:2 --load 0.2 --seeds 33 --cycles 20000 --store "$folder/t.sqlite" --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["throughput_ci95"])')" \
    "$(sql "$folder/t.sqlite" "SELECT json_extract(result, '\$.throughput') FROM run" |
    python3 -c 'import statistics, sys
v = [float(x) for x in sys.stdin]
print(round(2.036933 * statistics.stdev(v) / 33 ** 0.5, 6))')"

# ---- a store grows --------------------------------------------------------------------------------
kept() { sql "$folder/small.sqlite" "SELECT fabric, traffic, load, seed, result FROM run" | sort; }
kept > "$folder/before"
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 2:5 --store "$folder/small.sqlite" --json
same "more seeds" "$(jq -c '[.runs, (.certificates | keys)]' "$folder/stdout" | sort -u)" '[4,["2","3","4","5"]]'
kept | comm -23 "$folder/before" - > "$folder/lost"
same "runs that are there are not run again" "$(cat "$folder/lost")" ""
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 3 --store "$folder/small.sqlite" --bytes 40 --traffic uniform
same "other options, another sweep" "$(sql "$folder/small.sqlite" "SELECT options FROM sweep ORDER BY id" | tr '\n' '|')" \
    "--cycles 20000|--cycles 20000 --bytes 40|"
# shellcheck disable=SC2086
exits 0 "" "$leat" $small --seeds 3 --store "$folder/small.sqlite"
cmp -s "$folder/stdout" "$folder/small.txt" || fail "the first table is not what it was"
same "what it is" "$(sql "$folder/small.sqlite" 'PRAGMA application_id') $(sql "$folder/small.sqlite" 'PRAGMA user_version')" "1279607124 2"
exits 0 "" "$leat" sweep bmx:2 --load 0.05:0.95:0.05 --seeds 9:9 --cycles 100 --store "$folder/exact.sqlite" --json
same "loads do not drift" "$(jq -r .load "$folder/stdout" | tr '\n' ' ')" "$(seq -f %g 0.05 0.05 0.95 | tr '\n' ' ')"
same "one seed has no interval" "$(jq -c .throughput_ci95 "$folder/stdout" | sort -u)" null
same "loads are exact" "$(sql "$folder/exact.sqlite" 'SELECT count(*), min(seed) FROM run WHERE load IN (0.05, 0.15, 0.35, 0.95)')" "4 9"

# ---- killed at any moment ----------------------------------------------------------------------------
long="sweep clos444 bmx:8 --load 0.2:0.8:0.2 --seeds 6 --cycles $(cycles_for 0.01) -j 2"
begun=$(date +%s%N)
# shellcheck disable=SC2086
exits 0 "" "$leat" $long --store "$folder/whole.sqlite"
whole=$((($(date +%s%N) - begun) / 1000000))
cp "$folder/stdout" "$folder/whole.txt"
runs=48
seed=${LEAT_SEED:-$$}
echo "moments from LEAT_SEED=$seed"
kills=0
while [ $kills -lt 12 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # shellcheck disable=SC2086
    setsid "$leat" $long --store "$folder/killed.sqlite" > "$folder/killed.txt" 2> "$folder/stderr" &
    sweep=$!
    moment=$((seed / 65536 % (whole / 6 + 1) + 5))
    sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
    under=$(children $sweep)
    case $((seed / 1048576 % 2)) in
    0) kill -9 $sweep 2> /dev/null ;;
    1) kill -9 -$sweep 2> /dev/null ;;
    esac
    wait $sweep 2> /dev/null
    # shellcheck disable=SC2086
    gone $under
    [ ! -e "$folder/killed.sqlite" ] || sql "$folder/killed.sqlite" 'PRAGMA integrity_check' > "$folder/sound" 2>&1
    same "after a kill" "$(cat "$folder/sound" 2> /dev/null || echo ok)" ok
    kills=$((kills + 1))
done
# shellcheck disable=SC2086
exits 0 "" "$leat" $long --store "$folder/killed.sqlite"
cmp -s "$folder/stdout" "$folder/whole.txt" || fail "a sweep that was killed ends with another table"
echo "killed $kills times, begun $(sql "$folder/killed.sqlite" 'SELECT starts FROM sweep') times"
certificates="SELECT fabric, load, seed, json_extract(result, '\$.certificate') FROM run ORDER BY 1, 2, 3"
same "certificates" "$(sql "$folder/killed.sqlite" "$certificates")" "$(sql "$folder/whole.sqlite" "$certificates")"

# A run that dies is reported, the others go on.
slow="sweep bmx:16 --load 0.9 --seeds 3 --cycles $(cycles_for 0.5) -j 2"
# shellcheck disable=SC2086
"$leat" $slow --store "$folder/died.sqlite" > "$folder/died.txt" 2> "$folder/stderr" &
sweep=$!
# The first may end by itself before it is killed: one that has stopped cannot.
kill_one() {
    run=$(children "$sweep" | head -n 1)
    [ "$run" ] && kill -STOP "$run" && grep -q '^State:.T' "/proc/$run/status" && kill -9 "$run"
}
wait_until kill_one || fail "no run could be killed"
got=0; wait $sweep || got=$?
same "exit code with a dead run" $got 1
has "its command" "$(cat "$folder/stderr")" "was ended by signal 9 (Killed): leat sim bmx:16 --traffic uniform --load 0.9 --seed"
has "all of them" "$(cat "$folder/stderr")" "1 of 3 runs failed; the same command tries them again"
same "the others" "$(awk '$1 == 0.9 { print $2 }' "$folder/died.txt") $(sql "$folder/died.sqlite" 'SELECT count(*) FROM run')" "2 2"
# shellcheck disable=SC2086
exits 0 "" "$leat" $slow --store "$folder/died.sqlite" --json
same "and again" "$(jq .runs "$folder/stdout")" 3

# Interrupted: what is finished is kept. Meanwhile another sweep is refused, and readers are not.
# Without load the longest run takes no time. (bmx:2 would lock and end.)
endless="sweep bmx:8 bmx:16 --load 0,0.9 --seeds 3 --cycles 1000000000000000 -j 2"
# shellcheck disable=SC2086
"$leat" $endless --store "$folder/stopped.sqlite" > "$folder/stopped.txt" 2> "$folder/stderr" &
sweep=$!
has_four() { [ "$(sql "$folder/stopped.sqlite" 'SELECT count(*) FROM run')" -ge 4 ]; }
wait_until has_four
cp "$folder/stderr" "$folder/stderr.before"
mkdir "$folder/second"
got=0; "$leat" sweep bmx:2 --load 0 --seeds 1 --cycles 9 --store "$folder/stopped.sqlite" > "$folder/second/out" 2> "$folder/second/err" || got=$?
same "exit code of a second sweep" $got 1
has "a second sweep" "$(cat "$folder/second/err")" "stopped.sqlite: another leat writes to it"
under=$(children $sweep)
kill -INT $sweep
got=0; wait $sweep || got=$?
same "exit code of an interrupted sweep" $got 130
has "how far it is" "$(cat "$folder/stderr")" "4 of 12 runs are done and kept in $folder/stopped.sqlite; the same command continues"
same "nothing before" "$(cat "$folder/stderr.before")" ""
has "it says so" "$(cat "$folder/stopped.txt")" "Interrupted: the other runs are missing."
same "what is finished" "$(awk '$1 == "0" { runs += $2 } END { print runs }' "$folder/stopped.txt")" 4
# shellcheck disable=SC2086
gone $under
same "runs of an interrupted sweep" "$(sql "$folder/stopped.sqlite" 'SELECT count(*) FROM run')" 4

# ---- a full disk ---------------------------------------------------------------------------------------
# shellcheck disable=SC2086
(ulimit -f 64; "$leat" $long --store "$folder/limit.sqlite") > "$folder/limit.txt" 2> "$folder/stderr"
same "exit code where a file may not grow" $? 1
has "where a file may not grow" "$(cat "$folder/stderr")" "limit.sqlite: disk I/O error (the disk, or a limit on the size of files)"
has "where a file may not grow" "$(cat "$folder/stderr")" "of $runs runs are done and kept in $folder/limit.sqlite; the same command continues"
[ "$(sql "$folder/limit.sqlite" 'SELECT count(*) FROM run')" -gt 0 ] || fail "a full disk: no run is safe"
sql "$folder/limit.sqlite" "SELECT * FROM run" | sort > "$folder/before"
# shellcheck disable=SC2086
exits 0 "" "$leat" $long --store "$folder/limit.sqlite"
cmp -s "$folder/stdout" "$folder/whole.txt" || fail "another table after a full disk"
sql "$folder/limit.sqlite" "SELECT * FROM run" | sort | comm -23 "$folder/before" - > "$folder/lost"
same "runs from before the disk was full" "$(cat "$folder/lost")" ""
cat > "$folder/disk.sh" << 'END'
mount -t tmpfs -o size=64k none "$2" || exit 77
shift 2
"$@"
code=$?
[ $code -eq 1 ] || exit $code
mount -o remount,size=4m "$(dirname "$store")" && "$@" 2> /dev/null > "$table"
code=$?
mount -o remount,ro "$(dirname "$store")" && "$@" > /dev/null 2> "$refusal"
echo $? >> "$refusal"
exit $code
END
mkdir "$folder/disk"
if unshare -rm true 2> /dev/null; then
    got=0
    # shellcheck disable=SC2086
    store=$folder/disk/s.sqlite table=$folder/disk.txt refusal=$folder/refusal \
        unshare -rm sh "$folder/disk.sh" - "$folder/disk" "$leat" $long --store "$folder/disk/s.sqlite" \
        > "$folder/stdout" 2> "$folder/stderr" || got=$?
    if [ $got -ne 77 ]; then
        same "a disk that was full, and got room" $got 0
        has "a full disk" "$(cat "$folder/stderr")" "s.sqlite: no room to write: the disk is full"
        cmp -s "$folder/disk.txt" "$folder/whole.txt" || fail "another table after a disk was full"
        has "a disk that is read-only" "$(cat "$folder/refusal")" "s.sqlite: cannot be written: Read-only file system
2"
    fi
fi
if [ -c /dev/full ]; then
    # shellcheck disable=SC2086
    got=0; "$leat" $small --seeds 3 --store "$folder/small.sqlite" > /dev/full 2> "$folder/stderr" || got=$?
    same "a table to a full disk" $got 1
fi

# ---- files with other contents -----------------------------------------------------------------------------
printf '0 1\n1 2\n2 0\n' > "$folder/ring.edges"
graph="sweep $folder/ring.edges/vcs=2 --load 0.1 --seeds 2 --cycles 1000 --store $folder/files.sqlite --json"
# shellcheck disable=SC2086
exits 0 "" "$leat" $graph
cp "$folder/stdout" "$folder/ring.json"
printf '0 1\n1 2\n2 3\n3 0\n' > "$folder/ring.edges"
# shellcheck disable=SC2086
exits 0 "" "$leat" $graph
same "another file, another sweep" "$(sql "$folder/files.sqlite" 'SELECT count(*) FROM sweep')" 2
! cmp -s "$folder/stdout" "$folder/ring.json" || fail "a file that changed was not read"

# ---- what networks tell ------------------------------------------------------------------------------------
exits 0 "" "$leat" sweep mesh:4,4 --load 0.1,1 --seeds 2 --cycles 4000 --store "$folder/net.sqlite" --json
same "saturated runs are counted" "$(jq -c .saturated_runs "$folder/stdout" | tr '\n' ' ')" "0 2 "
exits 1 "1 of 2 runs ended in a deadlock" "$leat" sweep clos444 --traffic hotspot --load 0.05,0.9 --seeds 1 --cycles 400000 \
    --store "$folder/atm.sqlite" --json
same "ATM fabrics tell saturation and deadlocks" "$(jq -c '[.load, .saturated_runs, .deadlocked_runs]' "$folder/stdout" | tr '\n' ' ')" \
    "[0.05,0,0] [0.9,1,1] "
dead="sweep ring:6/vcs=1 --unsafe --flits 4 --load 0.9 --seeds 2 --cycles 20000 --store $folder/net.sqlite"
# shellcheck disable=SC2086
exits 1 "2 of 2 runs ended in a deadlock; all results are kept" "$leat" $dead
has "a deadlock is a result" "$(cat "$folder/stdout")" "deadlock in 2"
cp "$folder/stdout" "$folder/dead"
# shellcheck disable=SC2086
exits 1 "2 of 2 runs ended in a deadlock" "$leat" $dead
cmp -s "$folder/stdout" "$folder/dead" || fail "a sweep with deadlocks has another table when it is there"
# shellcheck disable=SC2086
exits 1 "" "$leat" $dead --fault link:0-1@10..20 --fault link:2-3@10..20
same "options that are given again" "$(sql "$folder/net.sqlite" "SELECT options FROM sweep WHERE options LIKE '%fault%'")" \
    "--cycles 20000 --flits 4 --fault link:0-1@10..20 --fault link:2-3@10..20 --unsafe"
exits 2 "this run was refused: leat sim ring:6/vcs=1" "$leat" sweep ring:6/vcs=1 --load 0.9 --store "$folder/net.sqlite"
same "a sweep that was refused" "$(sql "$folder/net.sqlite" "SELECT count(*) FROM sweep")" 3

# What one of several fabrics is refused for is known before any run begins.
exits 2 "this run was refused: leat sim ring:6/vcs=1" "$leat" sweep mesh:4,4 ring:6/vcs=1 --load 0.1,0.2 --cycles 1000 --store "$folder/early.sqlite" -j 1
[ ! -e "$folder/early.sqlite" ] || fail "a run was kept before a fabric was refused"
exits 2 "bit-reverse traffic of 9 terminals" "$leat" sweep mesh:4,4 mesh:3,3 --traffic bit-reverse --load 0.1 --cycles 1000 --store "$folder/early.sqlite"

# What faults cost; wires are counted where they are few, also in a sweep that an older leat began.
broken="sweep mesh:4,4 mesh:4,4/routing=updown --load 0.1 --seeds 2 --cycles 2000 --fault link:5-6 --store $folder/broken.sqlite"
# shellcheck disable=SC2086
exits 0 "" "$leat" $broken
same "losses in the table" "$(grep -c '  lost [0-9]*, rerouted [0-9]*$' "$folder/stdout")" 2
# shellcheck disable=SC2086
exits 0 "" "$leat" $broken --json
same "losses" "$(jq -c '[.packets_lost > 0, .packets_rerouted > 0]' "$folder/stdout" | tr '\n' ' ')" "[true,false] [false,true] "
same "wires are counted" "$(sql "$folder/broken.sqlite" "SELECT DISTINCT json_array_length(result, '\$.links') FROM run")" 48
same "and no option says so" "$(sql "$folder/broken.sqlite" "SELECT options FROM sweep")" "--cycles 2000 --fault link:5-6"
sql "$folder/broken.sqlite" "UPDATE run SET result = json_remove(result, '\$.links') WHERE seed = 1"
sql "$folder/broken.sqlite" "DELETE FROM run WHERE seed = 2"
# shellcheck disable=SC2086
exits 0 "" "$leat" $broken
same "the sweep goes on" "$(sql "$folder/broken.sqlite" "SELECT count(*), count(json_extract(result, '\$.links')) FROM run")" "4 2"
exits 0 "" "$leat" sweep torus:48,48 --load 0.01 --seeds 1 --cycles 20 --store "$folder/broken.sqlite"
same "many wires are not counted" "$(sql "$folder/broken.sqlite" "SELECT json_extract(result, '\$.links') FROM run WHERE fabric LIKE 'torus%'")" None

# ---- bad input ---------------------------------------------------------------------------------------------
ok="--load 0.1 --seeds 1 --cycles 100 --store $folder/bad.sqlite"
# refused TEXT OPTIONS...: exit 2, and no store is left behind
refused() {
    text=$1
    shift
    exits 2 "$text" "$leat" sweep "$@"
    [ ! -e "$folder/bad.sqlite" ] || fail "a store is left by: $*"
    rm -f "$folder/bad.sqlite"
}
# shellcheck disable=SC2086
{
    refused "expected a fabric" $ok
    refused "fabric 'bmx:2' is given twice, expected each once" bmx:2 bmx:3 bmx:2 $ok
    refused "leat sim: unknown fabric 'nosuch'" nosuch $ok
    refused "this run was refused: leat sim 'no such' --traffic uniform --load 0.1 --seed 1 --cycles 100 --json" "no such" $ok
    refused "--traffic 'heavy', expected" bmx:2 $ok --traffic heavy
    refused "--traffic 'uniform,', expected names with commas between" bmx:2 $ok --traffic uniform,
    refused "--traffic 'W,W', expected names with commas between, each once" bmx:2 $ok --traffic W,W
    refused "expected at most 64 names" bmx:2 $ok --traffic "$(seq -s, 65)"
    refused "--load is missing" bmx:2 --store "$folder/bad.sqlite"
    for load in 1.1 -0.5 x "" 0.1: 0.1:0.5 0.1:0.5:0 0.5:0.1:0.1 0.1:1.2:0.1 0.1:0.5:0.1:0.1 :0.5:0.1 0.1,,0.2 0.1:0.5:-0.1 \
                0.1:0.5:0.0000001 0.1234567 0.1:0.5:0.1000001 "$(printf '0%.0s' $(seq 70))"; do
        refused "--load '" bmx:2 $ok --load "$load"
        has "what is expected instead of --load $load" "$(cat "$folder/stderr")" "expected loads of 0 to 1 in steps of 1e-6"
    done
    refused "--load '0.1,0.1' has a load twice, expected each once" bmx:2 $ok --load 0.1,0.1
    refused "expected at most 10000 loads" bmx:2 $ok --load 0:1:0.00001
    for seeds in 0 x "" -1 "1," 5:1 1:2:3 3,x 9223372036854775808; do
        refused "--seeds '$seeds', expected how many, 1 to 10000, or seeds of 0 to 9223372036854775807" bmx:2 $ok --seeds "$seeds"
    done
    refused "expected at most 10000 seeds" bmx:2 $ok --seeds 10001
    refused "expected at most 10000 seeds" bmx:2 $ok --seeds 0:9223372036854775807
    refused "--seeds '3,8,3' has a seed twice, expected each once" bmx:2 $ok --seeds 3,8,3
    refused "10010000 runs (1 fabrics, 1 traffics, 1001 loads, 10000 seeds), expected at most 1000000" \
        bmx:2 $ok --load 0:1:0.001 --seeds 10000
    for jobs in 0 257 x; do
        refused "-j '$jobs', expected a whole number, 1 to 256" bmx:2 $ok -j $jobs
    done
    refused "--store FILE is missing" bmx:2 --load 0.1
    refused "--store FILE is missing" bmx:2 --load 0.1 --store ""
    refused "--cycles 'x', expected" bmx:2 $ok --cycles x
    refused "--hot has no effect, expected --traffic hotspot with it" mesh:2,2 $ok --hot 30
    refused "--burst has no effect, expected --traffic bursty with it" mesh:2,2 $ok --traffic uniform,hotspot --burst 3
    refused "unknown option --record, expected one of --load" bmx:2 $ok --record x
}
tiny="sweep bmx:2 --load 0.1 --seeds 1 --cycles 100 --store"
# shellcheck disable=SC2086
{
    exits 2 "$folder: cannot be written: Is a directory" "$leat" $tiny "$folder"
    exits 2 "nosuch/x: cannot be written: No such file or directory" "$leat" $tiny "$folder/nosuch/x"
    exits 2 "/dev/null: expected a file" "$leat" $tiny /dev/null
    printf 'this is no database, but it is long enough to be looked at as if it were one: %0200d\n' 0 > "$folder/text"
    cp "$folder/text" "$folder/text.before"
    exits 2 "text: no SQLite file, expected a store of leat sweep" "$leat" $tiny "$folder/text"
    cmp -s "$folder/text" "$folder/text.before" || fail "a file that is no store was changed"
    sql "$folder/other.sqlite" "CREATE TABLE t (x)"
    exits 2 "other.sqlite: an SQLite file, but no store of leat sweep" "$leat" $tiny "$folder/other.sqlite"
    cp "$folder/small.sqlite" "$folder/newer.sqlite"
    sql "$folder/newer.sqlite" "PRAGMA user_version = 3"
    exits 2 "newer.sqlite: a store of version 3, expected at most 2: it is of a newer leat" "$leat" $tiny "$folder/newer.sqlite"
    cp "$folder/small.sqlite" "$folder/damaged.sqlite"
    sql "$folder/damaged.sqlite" "DROP TABLE run"
    exits 2 "damaged.sqlite: damaged: no such table: run" "$leat" $tiny "$folder/damaged.sqlite"
    head -c 5000 "$folder/small.sqlite" > "$folder/cut.sqlite"
    exits 2 "cut.sqlite: damaged" "$leat" $tiny "$folder/cut.sqlite"
    : > "$folder/empty.sqlite"
    exits 0 "" "$leat" $tiny "$folder/empty.sqlite"
    if [ "$(id -u)" -ne 0 ]; then
        chmod 444 "$folder/empty.sqlite"
        exits 2 "empty.sqlite: cannot be written: Permission denied" "$leat" $tiny "$folder/empty.sqlite"
    fi
}
finish
