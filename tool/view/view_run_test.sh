#!/bin/sh
# usage: view_run_test.sh LEAT: --view of leat sim, sweep and run: what the page is told, the same results as without it, its end, who may see it.
set -u
leat=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs curl jq python3

pid=
tear_down() { [ -z "$pid" ] || kill -9 "$pid" 2> /dev/null; }
# watch COMMAND...: runs it with --view in the background; $page is its address
watch() {
    : > "$folder/talk"
    "$@" > "$folder/out" 2> "$folder/talk" &
    pid=$!
    wait_until grep -q 'the page of this run: http' "$folder/talk" || fail "$*: no address: $(cat "$folder/talk")"
    page=$(sed -n 's/^leat: the page of this run: //p' "$folder/talk")
}
listen() {
    : > "$folder/events$1"
    curl -s -N "${page%%\?*}live/$1" ${token:+-H "X-Leat-Token: $token"} > "$folder/events$1" &
    eval "listener$1=\$!"
}
told() { sed -n 's/^data: {"/{"/p' "$folder/events$1" | tail -n 1; }
tells() { told "$1" | jq -es "length > 0 and (.[0] | $2)" > /dev/null 2>&1; }
# ends CODE: waits for the run, and for its page
ends() {
    got=0
    wait "$pid" || got=$?
    pid=
    same "exit code of the run" "$got" "$1"
    ! grep -q 'runtime error\|Sanitizer:' "$folder/talk" || fail "sanitizer: $(cat "$folder/talk")"
    wait_until is_gone || fail "the page outlives the run"
}
is_gone() { ! curl -s -o /dev/null --max-time 5 "$page"; }
asks() {
    want=$1 what=$2
    shift 2
    got=$(curl -s --max-time 60 -o "$folder/body" -w '%{http_code}' "$@") || :
    same "$what" "$got" "$want"
}
# alike WHAT A B: two results are the same but for what was measured of this machine
alike() { same "$1" "$(jq -cS 'del(.wall_seconds, .cycles_per_second, .flit_hops_per_second)' "$2")" "$(jq -cS 'del(.wall_seconds, .cycles_per_second, .flit_hops_per_second)' "$3")"; }
long='--cycles 100000000000000' # until it is interrupted
curve='.curves[] | select(.name == $name) | .values | map(select(. != null))'

# ---- leat sim

for fabric in mesh:4,4 clos444 ring8 ether4; do
    "$leat" sim $fabric --load 0.05 --cycles 20000 --json > "$folder/plain" 2> "$folder/stderr" || fail "sim $fabric: $(cat "$folder/stderr")"
    "$leat" sim $fabric --load 0.05 --cycles 20000 --json --view > "$folder/viewed" 2> "$folder/stderr" || fail "sim $fabric --view: $(cat "$folder/stderr")"
    alike "$fabric with --view" "$folder/viewed" "$folder/plain"
    # shellcheck disable=SC2086
    watch "$leat" sim $fabric --load 0.05 $long --view
    listen 0
    wait_until tells 0 '.x.values | length > 4' || fail "$fabric: no curves: $(told 0)"
    told 0 > "$folder/told"
    same "$fabric: curves" "$(jq -c '.curves | map(.name)' "$folder/told")" '["Accepted load","Mean latency","In flight","Speed"]'
    same "$fabric: its state" "$(jq -r .state "$folder/told")" running
    jq -e '.x.values | . == sort' "$folder/told" > /dev/null || fail "$fabric: cycles do not grow: $(jq -c .x "$folder/told")"
    for name in "Accepted load" "Mean latency"; do
        jq -e --arg name "$name" "[$curve][0] | length > 0 and all(. >= 0) and any(. > 0)" "$folder/told" > /dev/null || fail "$fabric: $name: $(jq -c .curves "$folder/told")"
    done
    kill -s INT $pid
    ends 130
    wait "$listener0"
    same "$fabric: how it has ended" "$(told 0 | jq -r .state) $(grep -c '^event: end' "$folder/events0")" "interrupted 1"
done
# The load that is accepted is the one that is offered, if the network is not busy.
# shellcheck disable=SC2086
watch "$leat" sim mesh:4,4 --load 0.1 $long --view
listen 0
wait_until tells 0 '.x.values | length > 8' || fail "no curves"
told 0 | jq -e '.curves[0].values[3:] | (add / length) > 0.09 and (add / length) < 0.11' > /dev/null || fail "accepted load: $(told 0 | jq -c '.curves[0].values')"
# A run that is killed cannot say how it has ended.
kill -9 $pid
ends 137
wait "$listener0"
same "after kill -9" "$(told 0 | jq -r .state) $(grep -c '^event: end' "$folder/events0")" "lost 1"

# ---- browsers that do not read, requests of others, the token

# shellcheck disable=SC2086
watch "$leat" sim mesh:4,4 --load 0.1 $long --view
python3 - "$page" << 'END' > "$folder/idle" &
import socket, sys, time
port = int(sys.argv[1].rstrip("/").rsplit(":", 1)[1])
all = []
for i in range(20):
    s = socket.create_connection(("127.0.0.1", port))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    s.sendall(b"GET /live/0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
    all.append(s)
print("idle", flush=True)
time.sleep(3000)
END
idle=$!
wait_until grep -q idle "$folder/idle" || fail "nobody is idle"
listen 0
wait_until tells 0 '.x.values | length > 4' || fail "idle browsers keep others from reading"
asks 403 "another Host" -H "Host: example.org" "$page"
asks 403 "another Origin" -H "Origin: http://example.org" "${page}sources.json"
asks 404 "a file of this host" --path-as-is "$page../../etc/passwd"
asks 404 "another source" "${page}live/1"
asks 405 "a POST" --data-binary x "$page"
asks 200 "the page" "$page"
kill -s TERM $pid
ends 143
kill $idle
wait "$listener0"

# shellcheck disable=SC2086
watch "$leat" sim mesh:4,4 $long --view=0.0.0.0:0
has "what is said of it" "$(cat "$folder/talk")" "it is not encrypted"
token=${page#*\?token=}
port=$(echo "$page" | sed 's/.*:\([0-9]*\)\/.*/\1/')
page=http://127.0.0.1:$port/
asks 403 "no token" "${page}sources.json"
asks 403 "a wrong token" "${page}sources.json?token=${token}x"
asks 200 "the token" "${page}sources.json?token=$token"
kill -s INT $pid
ends 130
token=
echo 0123456789abcdef > "$folder/token"
chmod 600 "$folder/token"
# shellcheck disable=SC2086
watch "$leat" sim mesh:4,4 $long --view --token-file "$folder/token"
same "the token of a file" "${page#*\?token=}" 0123456789abcdef
page=${page%%\?*}
asks 403 "without it" "${page}sources.json"
kill -s INT $pid
ends 130

# ---- leat sweep

if "$leat" sweep mesh:3,3 --load 0.1,0.2 --seeds 2 --cycles 1000 --store "$folder/plain.sqlite" > "$folder/plain" 2> "$folder/stderr"; then
    "$leat" sweep mesh:3,3 --load 0.1,0.2 --seeds 2 --cycles 1000 --store "$folder/viewed.sqlite" --view > "$folder/viewed" 2> /dev/null || fail "sweep --view: $?"
    cmp -s "$folder/plain" "$folder/viewed" || fail "a sweep with --view prints something else: $(diff "$folder/plain" "$folder/viewed")"
    rows() {
        python3 -c 'import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT options, files FROM sweep").fetchall())
for *key, result in db.execute("SELECT fabric, traffic, load, seed, result FROM run ORDER BY 1, 2, 3, 4"):
    print(key, sorted((name, str(value)) for name, value in json.loads(result).items() if "second" not in name))' "$1"
    }
    same "a store with --view" "$(rows "$folder/viewed.sqlite")" "$(rows "$folder/plain.sqlite")"
    watch "$leat" sweep mesh:8,8 --load 0.05:0.9:0.01 --seeds 50 --cycles 3000 -j 2 --store "$folder/long.sqlite" --view
    same "its sources" "$(curl -s "${page}sources.json" | jq -c '.sources | map([.kind, .name])')" '[["progress","leat sweep --store '"$folder"'/long.sqlite"],["store","long.sqlite"]]'
    listen 0
    listen 1
    wait_until tells 0 '.facts[0][1] > 3 and (.lines | length) > 0' || fail "no progress: $(told 0)"
    wait_until tells 1 '.is_written and .report.runs > 3' || fail "the store is not shown: $(told 1 | cut -c 1-300)"
    seen=$(told 1 | jq .report.runs)
    wait_until tells 1 ".report.runs > $seen" || fail "the store does not grow"
    has "what runs" "$(told 0 | jq -r '.lines[0]')" "mesh:8,8, uniform, load "
    kill -s INT $pid
    ends 130
    wait "$listener0" "$listener1"
    same "how the sweep has ended" "$(told 0 | jq -r .state)" interrupted
    same "all runs are shown" "$(told 1 | jq .report.runs)" "$("$leat" report "$folder/long.sqlite" --csv - | tail -n +2 | wc -l)"
    "$leat" sweep mesh:8,8 --load 0.05:0.07:0.01 --seeds 2 --cycles 3000 --store "$folder/long.sqlite" > /dev/null 2>&1 || fail "the store cannot be continued"
else
    echo "skipped: leat sweep: $(cat "$folder/stderr")"
fi

# ---- leat run

if command -v mpicc > /dev/null && mpicc -O1 -o "$folder/rounds" "$here/../../share/programs/rounds.c" 2> "$folder/stderr"; then
    run() { "$leat" run --fabric torus:4,4 -n 4 --json="$folder/$1.json" --store "$folder/$1-runs.sqlite" ${2:-} -- "$folder/rounds" 20 > "$folder/$1" 2> "$folder/stderr" || fail "leat run ${2:-}: $(cat "$folder/stderr")"; }
    run plain
    run viewed --view
    same "a program with --view" "$(jq -r .certificate "$folder/viewed.json")" "$(jq -r .certificate "$folder/plain.json")"
    cmp -s "$folder/plain" "$folder/viewed" || fail "a program with --view prints something else"
    options() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT command, options FROM program").fetchall())' "$1"; }
    [ ! -e "$folder/plain-runs.sqlite" ] || same "options in the store" "$(options "$folder/viewed-runs.sqlite")" "$(options "$folder/plain-runs.sqlite")"
    watch "$leat" run --fabric torus:4,4 -n 4 --view -- "$folder/rounds" 100000000
    listen 0
    wait_until tells 0 '(.tasks | length) == 4 and (.tasks | all(.does | startswith("MPI_") or . == "computing"))' || fail "no tasks: $(told 0)"
    wait_until tells 0 '[.curves[] | select(.name == "Messages").values[] | select(. != null and . > 0)] | length > 1' || fail "no messages: $(told 0)"
    same "ports of tasks" "$(told 0 | jq -c '.tasks | map(.port)')" '[0,1,2,3]'
    kill -s INT $pid
    ends 130
    wait "$listener0"
    same "how the program has ended" "$(told 0 | jq -r .state)" interrupted
    watch "$leat" run --fabric torus:4,4 -n 4 --view -- "$folder/rounds" 2000
    listen 0
    ends 0
    wait "$listener0"
    tells 0 '.state == "done" or .state == null' || fail "how it has ended: $(told 0)"
    if command -v mpirun > /dev/null; then
        exits 2 "--view: several ranks of mpirun, expected one process" mpirun -n 2 --oversubscribe "$leat" sim mesh:4,4 --cycles 100 --view
    fi
else
    echo "skipped: leat run: no mpicc"
fi

# ---- command lines

exits 2 "--token-file: expected --view with it" "$leat" sim mesh:2,2 --token-file "$folder/token"
exits 2 "--view 127.0.0.1:x: expected ADDRESS or ADDRESS:PORT" "$leat" sim mesh:2,2 --view=127.0.0.1:x
exits 2 "192.0.2.1:0: Cannot assign requested address" "$leat" sim mesh:2,2 --view=192.0.2.1:0
exits 2 "expected an address of this host in numbers" "$leat" sim mesh:2,2 --view=example.org
finish
