#!/bin/sh
# leat report: the page shows what is in the store, and a browser draws it; so do picture and table.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
. "$here/../../test/lib.sh"
needs chromium rsvg-convert python3
check() { python3 "$here/report_check.py" "$@" || fail "report_check.py $*"; }
# doctored WHAT: a copy of the store that no sweep would write
doctored() { cp "$store" "$folder/$1.sqlite" && python3 "$here/report_check.py" doctor "$folder/$1.sqlite" "$1"; }
says() { grep -qF -- "$2" "$folder/page.html" || fail "$1: the page does not have '$2'"; } # WHAT TEXT
nothing() { # no file of these names is there
    for file in "$folder"/no*; do [ ! -e "$file" ] || fail "$1: leaves $file"; done
    no_part "$1"
}

# ---- a store: networks under two kinds of traffic, ATM, broken wires ---------------------------------
store=$folder/runs.sqlite
exits 0 "" "$leat" sweep mesh:4,4 torus:4,4 crossbar:8 --traffic uniform,neighbour --load 0.1:0.9:0.2 --seeds 2 --cycles 1000 --store "$store"
exits 0 "" "$leat" sweep bmx:4 --traffic uniform --load 0.1,0.9 --seeds 3 --cycles 4000 --store "$store"
exits 0 "" "$leat" sweep mesh:4,4 --traffic uniform --load 0.3 --seeds 7:7 --cycles 1000 --fault link:0-1 --store "$store"
[ ! -s "$wrongs" ] || finish # nothing below could pass
doctored deadlock
store=$folder/deadlock.sqlite

# ---- page, table and picture -------------------------------------------------------------------------
exits 0 "" "$leat" report "$store" -o "$folder/page.html" --csv "$folder/runs.csv" --png "$folder/curves.png" --title 'Three <fabrics> & "more"'
same "nothing is said" "$(cat "$folder/stdout" "$folder/stderr")" ""
check page "$folder/page.html" "$store"
check csv "$folder/runs.csv" "$store"
check pixels "$folder/curves.png" "$folder/page.html" chart
says "the title" '<h1>Three &lt;fabrics&gt; &amp; &quot;more&quot;</h1>'
says "the sweep's command" 'leat sweep crossbar:8 mesh:4,4 torus:4,4 --traffic neighbour,uniform --load 0.1:0.9:0.2,0.95 --seeds 1:2'
says "the last sweep's command" 'leat sweep mesh:4,4 --traffic uniform --load 0.3 --seeds 7:7'
says "lost and deadlocked" '<h2 id="trouble">What went wrong</h2>'
same "drawings: mesh and torus by traffic, mesh with a fault, crossbar and bmx" "$(grep -c 'class="leat-fabric"' "$folder/page.html")" 7
same "with colours" "$(grep -c 'busier direction</title>' "$folder/page.html")" 5
says "why bmx has no colours" "bmx:4, without colour: runs of ATM fabrics do not count the cells of each wire."
says "why a crossbar has none" "crossbar:8, without colour: it has no wires between routers."

# One unit of time for fabrics of different clocks: cells take cycles of 50 ns, flits of 1 ns.
same "cycles" "$("$leat" sim bmx:4 --cycles 100 --json | jq .cycle_ns) $("$leat" sim mesh:4,4 --cycles 100 --json | jq .cycle_ns)" "50 1"
same "bit times" "$("$leat" sim ring16/clock=4MHz --cycles 100 --json | jq .cycle_ns) $("$leat" sim ether16/rate=100 --cycles 100 --json | jq .cycle_ns) $("$leat" sim twosan --cycles 100 --json | jq .cycle_ns)" "250 10 1"
says "the axis" "mean latency, ns"
says "the axis of throughput" "accepted load, share of a terminal's line"
says "the table" "Mean latency,<br/>ns"
! grep -qE '(latency|percentile),(<br/>| )cycles' "$folder/page.html" || fail "cycles beside nanoseconds"
doctored older
exits 0 "" "$leat" report "$folder/older.sqlite" -o "$folder/older.html"
grep -q 'mean latency, cycles' "$folder/older.html" || fail "runs that do not tell their clock are in cycles"
doctored partly
exits 0 "some runs of bmx:4 do not report how long a cycle is" "$leat" report "$folder/partly.sqlite" -o "$folder/partly.html"
same "no latency without a unit" "$(grep -c 'bmx:4 at load.* ns (' "$folder/partly.html")" 0
grep -q 'bmx:4 at load.* of a line (' "$folder/partly.html" || fail "its throughput is still there"

doctored mixed
exits 0 "some runs of mesh:4,4 (sweep 1) do not report how long a cycle is" "$leat" report "$folder/mixed.sqlite" -o "$folder/mixed.html"
check mixed "$folder/mixed.html" "$folder/mixed.sqlite"

# One unit per column: packets that mesh:4,4 lost beside cells that bmx:4 lost.
exits 0 "" "$leat" sweep bmx:4 --traffic uniform --load 0.1 --seeds 1 --cycles 20000 --loss 0.1 --store "$folder/cells.sqlite"
exits 0 "" "$leat" sweep mesh:4,4 --traffic uniform --load 0.1 --seeds 1 --cycles 4000 --fault link:0-1 --store "$folder/cells.sqlite"
exits 0 "" "$leat" report "$folder/cells.sqlite" -o "$folder/cells.html"
check losses "$folder/cells.html" "$folder/cells.sqlite"

# The commands of the page give the runs of the store again.
command=$(grep -o 'leat sim .*' "$folder/page.html" | tail -n 1)
has "a command" "$command" "--seed"
# shellcheck disable=SC2086
exits 0 "" "$leat" ${command#leat } --json
same "the run again" "$(jq -r .certificate "$folder/stdout")" "$(python3 - "$store" <<'PY'
import json, sqlite3, sys
print(json.loads(sqlite3.connect(sys.argv[1]).execute("SELECT result FROM run ORDER BY sweep, fabric, traffic, load, seed").fetchone()[0])["certificate"])
PY
)"

# The same store gives the same octets, alone or together, wherever it lies.
cp "$store" "$folder/copy.sqlite"
exits 0 "" "$leat" report "$folder/copy.sqlite" -o "$folder/again.html" --title 'Three <fabrics> & "more"'
cmp -s "$folder/page.html" "$folder/again.html" || fail "the page differs from run to run"
exits 0 "" "$leat" report "$folder/copy.sqlite" --csv -
cmp -s "$folder/stdout" "$folder/runs.csv" || fail "the table differs from run to run"
exits 0 "" "$leat" report "$folder/copy.sqlite" --png "$folder/again.png"
cmp -s "$folder/again.png" "$folder/curves.png" && fail "the picture has no title of its own"
cmp -s "$store" "$folder/copy.sqlite" || fail "a report changes its store"

# ---- in a browser ------------------------------------------------------------------------------------
browse() {
    timeout "$run_limit" chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/browser" \
        --enable-logging=stderr --log-level=0 "$@" "file://$folder/page.html" 2> "$folder/log" || fail "chromium: $(tail -n 3 "$folder/log")"
    # With the charset and all, a page says nothing; chromium's own talk is of other kinds.
    ! grep 'CONSOLE' "$folder/log" || fail "the browser complains about the page"
}
browse --dump-dom > "$folder/dom.html"
check dom "$folder/dom.html" "$folder/page.html"
browse --window-size=1280,1000 --screenshot="$folder/screen.png" > /dev/null
check pixels "$folder/screen.png" "$folder/page.html" chart-1-

# ---- programs: beside sweeps, and alone --------------------------------------------------------------
for what in programs alone; do
    doctored $what
    exits 0 "" "$leat" report "$folder/$what.sqlite" -o "$folder/$what.html" --csv "$folder/$what.csv" --png "$folder/$what.png"
    check programs "$folder/$what.html" "$folder/$what.sqlite"
    check csv "$folder/$what.csv" "$folder/$what.sqlite"
    check states "$folder/$what.png" "$folder/$what.html"
done
check page "$folder/programs.html" "$folder/programs.sqlite"
! grep -q 'id="words"\|id="replay"' "$folder/alone.html" || fail "a page of programs alone speaks of loads"
grep -q '<h1>Programs over networks</h1>' "$folder/alone.html" || fail "the title of a page of programs"
grep -q '<h1>Programs over networks, and fabrics under load</h1>' "$folder/programs.html" || fail "the title of a page of both"
cp "$folder/programs.html" "$folder/page.html"
browse --window-size=1280,2000 --screenshot="$folder/screen.png" > /dev/null
check states "$folder/screen.png" "$folder/page.html"

# ---- surfaces: a fabric with several values of a parameter -------------------------------------------
! grep -q 'class="chart surface"' "$folder/again.html" || fail "a surface where no parameter has several values"
exits 0 "" "$leat" sweep mesh:4,4/buffer=1,2,4 mesh:4,4 torus:4,4 --load 0.1:0.7:0.2 --seeds 2 --cycles 600 --store "$folder/axes.sqlite"
exits 0 "" "$leat" sweep mesh:4,4/buffer=2 --load 0.15 --seeds 2 --cycles 600 --store "$folder/axes.sqlite"
exits 0 "" "$leat" report "$folder/axes.sqlite" -o "$folder/page.html" --png "$folder/axes.png"
check surfaces "$folder/page.html" "$folder/axes.sqlite" 1 buffer=8
check page "$folder/page.html" "$folder/axes.sqlite"
check tiles "$folder/axes.png" "$folder/page.html"
browse --window-size=1280,2400 --screenshot="$folder/screen.png" > /dev/null
check tiles "$folder/screen.png" "$folder/page.html"
exits 0 "" "$leat" sweep mesh:4,4/buffer=1,2,4/vcs=2,4 torus:4,4/buffer=1,2 --load 0.1,0.3 --seeds 1 --cycles 600 --store "$folder/three.sqlite"
exits 0 "" "$leat" report "$folder/three.sqlite" -o "$folder/page.html"
check surfaces "$folder/page.html" "$folder/three.sqlite" 3 buffer=8 vcs=4
says "the third axis" 'mesh:4,4, vcs 2: latency by load and buffer'
exits 0 "" "$leat" sweep mesh:2,2/buffer=1,2/vcs=1,2/wire=1,2/pipeline=1,2/credit=1,2 --load 0.1,0.3 --seeds 1 --cycles 200 --store "$folder/crowded.sqlite"
exits 0 "" "$leat" report "$folder/crowded.sqlite" -o "$folder/page.html"
check surfaces "$folder/page.html" "$folder/crowded.sqlite" 12 buffer=8 vcs=4 wire=1 pipeline=3 credit=1
says "that some are left out" 'The first 12 of 16 surfaces are drawn.'
# Sweeps whose options differ in a number have it as an axis, too.
for flits in 1 4; do exits 0 "" "$leat" sweep ring:8 --load 0.1,0.2 --seeds 1 --cycles 300 --flits $flits --store "$folder/flits.sqlite"; done
exits 0 "" "$leat" report "$folder/flits.sqlite" -o "$folder/page.html"
says "flits" 'ring:8: latency by load and flits'

# ---- --where -----------------------------------------------------------------------------------------
# where CONDITION CLAUSE...: the runs that are left are those of this SQL condition
where() {
    condition=$1
    shift
    for clause; do set -- "$@" --where "$clause"; shift; done
    exits 0 "" "$leat" report "$folder/programs.sqlite" --csv "$folder/where.csv" -o "$folder/where.html" "$@"
    check where "$folder/where.csv" "$folder/where.html" "$folder/programs.sqlite" "$condition"
}
where "fabric LIKE 'mesh%'" 'fabric=mesh*'
where "fabric IN ('torus:4,4', 'mesh:4,4')" 'fabric=mesh:4,4,torus:4,4'
where "fabric LIKE 'mesh:4,%'" 'fabric=mesh:4,*'
where "traffic = 'neighbour'" 'traffic=neighb*'
where "load BETWEEN 0.3 AND 0.5" 'load=0.3:0.5'
where "load <= 0.3 AND seed = 2 AND fabric LIKE '%r%'" 'load<=0.3' seed=2 'fabric=*r*'
where "load IN (0.1, 0.9) AND sweep >= 2" 'load=0.1,0.9' 'sweep>1'
where "command = './rounds 4'" program=rounds
where "command LIKE './%' AND fabric = 'mesh:4,4'" 'program=./*' 'fabric=mesh*'
exits 0 "" "$leat" report "$folder/programs.sqlite" --where 'fabric=<b>,mesh*' -o "$folder/where.html"
grep -q 'only what matches <code>fabric=&lt;b&gt;,mesh\*</code>' "$folder/where.html" || fail "the page does not tell what was selected"
for out in -o --png --csv; do
    exits 2 "nothing matches --where fabric=hexagon*, expected some of fabric: crossbar:8 mesh:4,4 torus:4,4 bmx:4" "$leat" report "$store" --where 'fabric=hexagon*' $out "$folder/no"
    nothing "--where without a match"
done
exits 2 "nothing matches all of --where, expected some of fabric: " "$leat" report "$store" --where 'fabric=bmx*' --where seed=7 --csv -
exits 2 "there is no key 'trafic', did you mean traffic?" "$leat" report "$store" --where trafic=uniform --csv -
exits 2 "expected loads" "$leat" report "$store" --where load=high --csv -

# ---- names that mean something elsewhere -------------------------------------------------------------
doctored names
(cd "$folder" && "$leat" report names.sqlite -o names.html --csv names.csv --png names.png 2> stderr; echo $? > code)
same "names: exit code" "$(cat "$folder/code")" 0
same "names: nothing is said" "$(cat "$folder/stderr")" ""
python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$folder/names.html" || fail "names: the page is not well-formed"
check csv "$folder/names.csv" "$folder/names.sqlite"
[ ! -e "$folder/pwned" ] || fail "a name was run as a command"

# ---- stores that are none, or too much ---------------------------------------------------------------
wrong() { # CODE TEXT STORE
    exits "$1" "$2" "$leat" report "$3" -o "$folder/no.html" --csv "$folder/no.csv" --png "$folder/no.png"
    nothing "$3"
}
wrong 2 "No such file" "$folder/none.sqlite"
wrong 2 "directory" "$folder"
echo "this is no database, and long enough to be looked at twice" > "$folder/text"
wrong 2 "text: no SQLite file, expected a store of leat sweep" "$folder/text"
: > "$folder/nil"
wrong 2 "nil: empty" "$folder/nil"
for what in newer foreign empty cut deep crowd torn many; do doctored $what; done
wrong 2 "newer.sqlite: a store of version 99" "$folder/newer.sqlite"
wrong 2 "foreign.sqlite: an SQLite file, but no store" "$folder/foreign.sqlite"
wrong 2 "empty.sqlite: there is no run in this store" "$folder/empty.sqlite"
exits 2 "empty.sqlite: there is no run in this store" "$leat" report "$folder/empty.sqlite" --csv "$folder/no.csv"
wrong 2 "cut.sqlite: " "$folder/cut.sqlite"
wrong 2 "deep.sqlite: sweep 1, " "$folder/deep.sqlite"
wrong 2 "torn.sqlite: program 2, ./rounds 4 over torus:4,4: the result is damaged" "$folder/torn.sqlite"
wrong 2 "many.sqlite: there are more than 40 fabrics of one program" "$folder/many.sqlite"
exits 0 "" "$leat" report "$folder/many.sqlite" --where 'fabric=f[1-9]' --where 'program=*' -o "$folder/many.html"
wrong 2 "crowd.sqlite: there are more than 40 fabrics" "$folder/crowd.sqlite"
exits 0 "" "$leat" report "$folder/crowd.sqlite" --csv "$folder/crowd.csv"
check csv "$folder/crowd.csv" "$folder/crowd.sqlite"

# ---- wrong command lines -----------------------------------------------------------------------------
exits 2 "expected one store" "$leat" report
exits 2 "expected one store" "$leat" report "$store" "$store" -o "$folder/no.html"
exits 2 "at least one of -o, --png, --csv" "$leat" report "$store"
exits 2 "-o and --csv name one file" "$leat" report "$store" -o "$folder/no" --csv "$folder/no"
exits 2 "-o and the input name one file" "$leat" report "$folder/copy.sqlite" -o "$folder/copy.sqlite"
cmp -s "$store" "$folder/copy.sqlite" || fail "-o has spoilt the store"
exits 2 "--png: '' is no file name" "$leat" report "$store" --png ''
exits 1 "No such file" "$leat" report "$store" --csv "$folder/no.csv" -o "$folder/none/no.html"
nothing "wrong command lines"

# ---- what fails leaves nothing, and what was there stays ---------------------------------------------
mkdir "$folder/bin"
echo before > "$folder/kept.html"
with_path() { # TEXT: the three together, with programs of this folder only
    exits 1 "$1" env PATH="$folder/bin" "$leat" report "$store" -o "$folder/kept.html" --csv "$folder/no.csv" --png "$folder/no.png"
    same "$1: the page that was there" "$(cat "$folder/kept.html")" before
    nothing "$1"
}
with_path "rsvg-convert is missing, which makes the picture: install the package librsvg2-bin"
printf '#!/bin/sh\necho something >&2\nexit 3\n' > "$folder/bin/rsvg-convert"
chmod +x "$folder/bin/rsvg-convert"
with_path "rsvg-convert has failed"
has "what rsvg-convert says" "$(cat "$folder/stderr")" "something"
if [ -e /dev/full ]; then
    exits 1 "/dev/full: No space left" "$leat" report "$store" -o /dev/full --csv "$folder/no.csv"
    nothing "a full disk"
fi
printf '#!/bin/sh\necho $$ > "%s/waiting"\nexec /bin/sleep 60\n' "$folder" > "$folder/bin/rsvg-convert"
PATH="$folder/bin:$PATH" "$leat" report "$store" -o "$folder/no.html" --png "$folder/no.png" 2> "$folder/stderr" &
pid=$!
waits_for waiting
kill -TERM $pid
got=0; wait $pid || got=$?
same "exit after SIGTERM" $got 143
nothing "an interrupted report"
! kill -0 "$(cat "$folder/waiting")" 2> /dev/null || fail "an interrupted report leaves rsvg-convert running"
finish
