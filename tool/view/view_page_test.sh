#!/bin/sh
# usage: view_page_test.sh LEAT: the modules of the page that have tests, in node, without a browser.
set -u
leat=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs node
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || { echo "skipped: node is older than 18"; exit 77; }
"$leat" sim clos444 --load 0.2 --cycles 2000 --record "$folder/clos.leatrec" > /dev/null || fail "leat sim: $?"
"$leat" sim torus:4,4/cells --load 0.2 --cycles 5000 --record "$folder/torus.leatrec" > /dev/null || fail "leat sim: $?"
if command -v mpicc > /dev/null && mpicc -O1 -o "$folder/rounds" "$here/../../share/programs/rounds.c"; then
    for fabric in torus:4,4 clos444 ring8; do
        "$leat" run --fabric $fabric -n 4 --record "$folder/run-$fabric.leatrec" -- "$folder/rounds" > /dev/null 2>&1 || fail "leat run --fabric $fabric: $?"
    done
fi
LEAT=$leat RECORDINGS=$folder timeout "$run_limit" node --test "$here/../../view/page/" > "$folder/told" 2>&1 || fail "node --test: $? $(grep -v '^# Sub' "$folder/told" | tail -n 60)"
finish
