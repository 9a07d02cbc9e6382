#!/bin/sh
# mpirun leat sweep: ranks run the points, rank 0 keeps them; the results are those of one process, also after a rank has died.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
. "$(dirname "$0")/../../test/ranks.sh"

points="mesh:4,4 clos444 ring8 --load 0.1,0.2 --seeds 2 --cycles 1000 --json"
# shellcheck disable=SC2086
exits 0 "" "$leat" sweep $points --store "$folder/one.sqlite"
one=$(jq -cS . "$folder/stdout")
for n in 2 4; do
    # shellcheck disable=SC2086
    exits 0 "" ranks $n sweep $points --store "$folder/$n.sqlite"
    same "$n ranks" "$(jq -cS . "$folder/stdout")" "$one"
done
# shellcheck disable=SC2086
exits 0 "" ranks 2 sweep $points -j 3 --store "$folder/jobs.sqlite"
same "2 ranks with 3 runs at a time" "$(jq -cS . "$folder/stdout")" "$one"
(unset NO_COLOR && TERM=xterm ranks 2 sweep mesh:4,4 --load 0.1 --cycles 1000 --store "$folder/plain.sqlite" > "$folder/plain")
same "colours in a file" "$(tr -dc '\033' < "$folder/plain" | wc -c)" 0
has "the table" "$(cat "$folder/plain")" "mean latency"
exits 2 "expected at most 256 runs at a time" ranks 2 sweep mesh:4,4 --load 0.1 -j 200 --store "$folder/none.sqlite"
exits 2 "cannot be written" ranks 2 sweep mesh:4,4 --load 0.1 --store "$folder/none/x.sqlite"
exits 2 "this run was refused" ranks 3 sweep mesh:4,4,x --load 0.1 --cycles 100 --store "$folder/none.sqlite"

# A rank is killed in the middle: mpirun names it; what was done is kept, and the same command goes on.
points="mesh:4,4 --load 0.1,0.2 --seeds 6 --cycles 120000 --json"
# shellcheck disable=SC2086
ranks 3 sweep $points --store "$folder/killed.sqlite" > "$folder/out" 2>&1 &
job=$!
some_are_kept() { [ "$(sqlite3 "$folder/killed.sqlite" 'select count(*) from run' 2> /dev/null || echo 0)" -ge 3 ]; }
if command -v sqlite3 > /dev/null; then wait_until some_are_kept; else sleep 2; fi
kill -9 "$(pgrep -P "$(pgrep -f "^mpirun .*$folder/killed.sqlite")" | tail -n 1)"
wait $job && fail "a rank was killed, and mpirun ends with 0"
has "who died" "$(cat "$folder/out")" "rank"
# shellcheck disable=SC2086
exits 0 "" ranks 3 sweep $points --store "$folder/killed.sqlite"
again=$(jq -cS . "$folder/stdout")
# shellcheck disable=SC2086
exits 0 "" "$leat" sweep $points --store "$folder/whole.sqlite"
same "after a rank has died" "$again" "$(jq -cS . "$folder/stdout")"

finish
