#!/bin/sh
# leat graph run --engine mpi: the same graph over processes. Answers of every rank count, and every way to end.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
[ -e "$(dirname "$leat")/../program/libleat-mpi.so" ] || { echo "SKIPPED: leat was built without libopenmpi-dev"; exit 77; }
. "$here/../../test/lib.sh"
needs mpirun # of openmpi-bin
cd "$folder" || exit 1 # short names, so that handlers are the same in all builds
export OMPI_MCA_btl_vader_backing_directory="$folder" # what a rank that crashes leaves behind goes with it
# ranks N FILE OPTION...
ranks() {
    count=$1
    shift
    timeout "$run_limit" mpirun --oversubscribe --bind-to none -n "$count" "$leat" graph run "$@" --engine mpi
}
plain() { sed 's/ (Thread[^)]*)//; /^leat: .* for the first time, /d' | sort; }

# ---- the same answer ----------------------------------------------------------------------------
for file in ring clock_tree heat_plate; do
    "$leat" graph run "$share/$file.xml" --json > "$folder/one.json" 2> "$folder/one.lines" || fail "$file: $?"
    ranks 3 "$share/$file.xml" --instrument --output "$folder/$file" --json > "$folder/three.json" 2> "$folder/three.lines" || fail "$file over 3 ranks: $?"
    same "$file over 3 ranks" "$(jq -c '[.reason,.states,.receives,.devices,.output_lines,.dropped_by_cause]' "$folder/three.json")" "$(jq -c '[.reason,.states,.receives,.devices,.output_lines,.dropped_by_cause]' "$folder/one.json")"
    same "what $file says over 3 ranks" "$(plain < "$folder/three.lines")" "$(plain < "$folder/one.lines")"
done
jq -e '.engine == "mpi" and .ranks == 3 and .workers == 1 and .cut_ranks > 0 and .cut_ranks <= .cut_workers and .cut_workers <= .cut_threads' "$folder/three.json" > /dev/null || fail "what it tells of ranks: $(cat "$folder/three.json")"
same "tables of threads of all ranks" "$(awk -F', ' 'FNR > 1 { sum += $7 } END { print sum }' "$folder"/clock_tree/*.csv)" 8400
# OnHardwareIdle on all ranks, and the lines of all before the end; workers within ranks.
"$leat" graph run "$share/shortest_paths.xml" 2> /dev/null | plain > "$folder/paths"
for words in "2 -j 2" "4 --placement random"; do
    # shellcheck disable=SC2086
    set -- $words
    count=$1
    shift
    same "shortest paths over ranks: $words" "$(ranks "$count" "$share/shortest_paths.xml" "$@" 2> /dev/null | plain)" "$(cat "$folder/paths")"
done

# ---- each rank reads a part ---------------------------------------------------------------------
# Values that only a compiler knows, too.
sed 's/ xmlns="[^"]*v4"//; s/uint16_t y;/& uint8_t more[sizeof(int)];/; s/P="{0,1,2,0,0}"/P="{0,1,1+1,0,0}"/' "$share/heat_plate.xml" > compiled.xml
for file in "$share/ring.xml" "$share/clock_tree.xml" "$share/ising.xml" compiled.xml; do
    "$leat" graph run "$file" --json > one.json 2> /dev/null || fail "$file: $?"
    for words in "2 block" "4 block" "3 random"; do
        # shellcheck disable=SC2086
        set -- $words
        ranks "$1" "$file" --placement "$2" --json > parts.json 2> told || fail "$file, $words: $(cat told)"
        same "$file in parts, $words" "$(jq -c '[.reason,.states,.receives,.devices,.edges,.read_together]' parts.json)" "$(jq -c '[.reason,.states,.receives,.devices,.edges,true]' one.json)"
    done
done
# The same edges are between ranks, whoever counts them.
ranks 3 "$share/clock_tree.xml" --placement block --snapshot whole.snapshot --json > whole.json 2> /dev/null || fail "clock_tree: $?"
ranks 3 "$share/clock_tree.xml" --placement block --json > parts.json 2> /dev/null || fail "clock_tree in parts: $?"
same "edges between ranks" "$(jq -c '[.cut_threads,.cut_workers,.cut_ranks,.read_together]' parts.json)" "$(jq -c '[.cut_threads,.cut_workers,.cut_ranks,true]' whole.json)"
same "a snapshot needs all edges" "$(jq .read_together whole.json)" false
# Large files are read in parts without being asked; if their order is bad, that is told.
{ cat "$share/clock_tree.xml"; printf '<!--%16777216s-->' ''; } > large.xml
ranks 2 large.xml --json > json 2> told || fail "a large file: $(cat told)"
same "the default for a large file" "$(jq -c '[.placement,.read_together]' json)" '["block",true]'
grep -q "between ranks" told && fail "a good order: $(cat told)"
python3 - large.xml > mixed.xml << 'PY'
import random, re, sys
lines = open(sys.argv[1]).read().split("\n")
at = [k for k, line in enumerate(lines) if line.lstrip().startswith("<DevI ")]
devices = [lines[k] for k in at]
random.Random(1).shuffle(devices)
for k, line in zip(at, devices):
    lines[k] = line
print("\n".join(lines))
PY
exits 0 "are between ranks: --placement locality would" ranks 2 mixed.xml
# What is wrong is told once, with its line, whoever has read it.
sed '$d' "$share/heat_plate.xml" > cut.xml
exits 2 ": E_XML: no element found" ranks 3 cut.xml --placement block
same "told once" "$(grep -c E_XML "$folder/stderr")" 1

# ---- recordings and snapshots -------------------------------------------------------------------
body() { sed 's/orchestratorTime="[^"]*"//' "$1"; }
for file in clock_tree heat_plate ising; do
    "$leat" graph run "$share/$file.xml" --snapshot one.xml > /dev/null 2>&1 || fail "$file: $?"
    ranks 3 "$share/$file.xml" --snapshot three.xml > /dev/null 2>&1 || fail "$file over 3 ranks: $?"
    body one.xml > one.body
    body three.xml | cmp - one.body || fail "$file: another snapshot over ranks"
done
# Each packet once, whichever rank has sent it, in the order in which they were sent: a token's in the order of its numbers.
for count in 1 3; do
    exits 0 "" ranks $count "$share/ring.xml" --record ring.pcapng
    "$leat" decode --json ring.pcapng > decoded || fail "$count ranks: cannot be decoded"
    same "kinds over $count ranks" "$(jq -r '.carriage.direction + " " + .fields.class + " " + (.fields.opcode // "" | tostring)' decoded | sort | uniq -c | awk '{$1=$1}1' | paste -sd,)" \
        "5 toFabric CTL BARRIER,5 toFabric CTL STOP,15 toFabric DEV NOP,5 toHost SUP BARRIER,16 toHost SUP IMPL,5 toHost SUP STOP"
    same "tokens over $count ranks" "$(jq -r 'select(.fields.class == "DEV") | [.carriage.hwAddr, .fields.payload[0:16]] | join(" ")' decoded | sed -n '1,6p' | paste -sd,)" \
        "1 0000000001000000,2 000000000b000000,3 000000006f000000,4 0000000057040000,0 0000000061040000,1 0100000062040000"
    jq -es '[.[].time_ns] == ([.[].time_ns] | sort)' decoded > /dev/null || fail "$count ranks: time goes back"
done
exits 0 "the first 7 of 51 packets are recorded" ranks 3 "$share/ring.xml" --record few.pcapng --record-packets 7
same "no more than asked for" "$("$leat" decode --json few.pcapng | wc -l)" 7
# Runs in pieces, over ranks and without them.
timeout "$run_limit" python3 "$here/graph_restore.py" "$leat" "$folder" "${LEAT_SEED:-1}" 4 mpirun --oversubscribe --bind-to none || fail "pieces differ from the whole"

# ---- a storm ------------------------------------------------------------------------------------
# circle SENDS WHAT: 24 devices, each of which sends so often to three others; the last does WHAT when it hears something: 1 asserts,
# 2 crashes, 3 exits, 4 ends the process; 5: its OnInit never comes back
circle() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><Properties>uint32_t sends; uint32_t what;</Properties>
<MessageTypes><MessageType id="m"><Message>uint32_t n[14];</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>uint32_t me;</Properties><State>uint32_t n; uint32_t sum;</State>
<OnInit><![CDATA[ while (deviceProperties->me == 23 && graphProperties->what == 5) asm volatile(""); ]]></OnInit>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[
    const uint32_t what = deviceProperties->me == 23 ? graphProperties->what : 0;
    deviceState->sum += message->n[0];
    assert(what != 1);
    if (what == 2) *(volatile int *)8 = 1;
    if (what == 3) handler_exit(5);
    if (what == 4) exit(0);
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[message->n[0] = deviceState->n++;]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[if (deviceState->n < graphProperties->sends) *readyToSend = RTS_FLAG_out;]]></ReadyToSend></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g" P="{$1,$2}"><DeviceInstances>
XML
    awk 'BEGIN { for (i = 0; i < 24; i++) printf "<DevI id=\"d%d\" type=\"d\" P=\"{%d}\"/>\n", i, i
        print "</DeviceInstances><EdgeInstances>"
        for (i = 0; i < 24; i++) for (k = 1; k < 4; k++) printf "<EdgeI path=\"d%d:in-d%d:out\"/>\n", (i + k * k * 2) % 24, i
        print "</EdgeInstances></GraphInstance></Graphs>" }'
}
circle 3000 0 > flood.xml
ranks 3 flood.xml --until idle --json > "$folder/json" 2> /dev/null || fail "a flood: $?"
same "nothing is lost" "$(jq -c '[.reason,.receives,.sends,.states,.dropped_by_cause]' "$folder/json")" "$("$leat" graph run flood.xml --until idle --json 2> /dev/null | jq -c '[.reason,.receives,.sends,.states,.dropped_by_cause]')"
same "all of it" "$(jq .receives "$folder/json")" 216000
circle 4000000000 0 > "$folder/storm.xml"
exits 0 "limit after" ranks 2 "$folder/storm.xml" --until 300ms

# ---- ends, from any rank ------------------------------------------------------------------------
circle 4000000000 1 > a.xml
exits 1 "assertion after" ranks 3 a.xml
has "an assertion" "$(plain < "$folder/stdout")" "d23: assertion failed: what != 1"
circle 4000000000 2 > b.xml
exits 1 "leat: device d23: a handler crashed" ranks 3 b.xml --snapshot "$folder/left.xml" --record "$folder/left.pcapng"
[ ! -e left.xml ] && [ ! -e left.pcapng ] || fail "files of a run that failed"
no_part "a rank that crashes"
circle 4000000000 3 > c.xml
exits 1 "failed after" ranks 3 c.xml
same "told once" "$(grep -c 'failed after' "$folder/stderr")" 1
circle 4000000000 4 > d.xml
exits 1 "leat: device d23: a handler called exit, expected handler_exit" ranks 3 d.xml
# At the last rank, and at the first, which others wait for: it alone is named.
circle 4000000000 5 > e.xml
exits 1 "leat: device d23: a handler does not come back" ranks 3 e.xml --until 10ms
same "nobody else" "$(grep -c 'come back' "$folder/stderr")" 1
sed 's/me == 23/me == 0/' e.xml > f.xml
exits 1 "leat: device d0: a handler does not come back" ranks 3 f.xml --until 10ms
same "nobody else" "$(grep -c 'come back' "$folder/stderr")" 1
ranks 3 "$folder/storm.xml" > "$folder/stdout" 2> "$folder/stderr" &
child=$!
found=
is_there() {
    for process in $(pgrep -f "^$leat graph run $folder/storm.xml"); do
        tr '\0' '\n' < "/proc/$process/environ" 2> /dev/null | grep -q '^OMPI_COMM_WORLD_RANK=2$' && found=$process
    done
    [ -n "$found" ]
}
wait_until is_there
wait_until has_computed "$found"
sleep 1 # MPI begins with much computing
kill -INT "$found"
code=0
wait $child || code=$?
same "interrupted at a rank" "$code" 130
has "interrupted at a rank" "$(cat "$folder/stderr")" "interrupted after"

# ---- bad input is told once ---------------------------------------------------------------------
exits 2 "E_XML" ranks 2 none.xml
same "told once" "$(grep -c E_XML "$folder/stderr")" 1
exits 2 "no --schedule" ranks 2 "$share/ring.xml" --schedule fifo
same "told once" "$(grep -c 'no --schedule' "$folder/stderr")" 1
for option in --record --snapshot; do
    exits 2 "none/file" ranks 2 "$share/ring.xml" $option none/file # the first rank alone opens it
    same "told once" "$(grep -c 'none/file' "$folder/stderr")" 1
done
echo "<Graph>" > damaged.xml
exits 2 "damaged.xml:2:1: E_XML" ranks 2 "$share/heat_plate.xml" --restore damaged.xml
same "told once" "$(grep -c E_XML "$folder/stderr")" 1
no_part "the end"
finish
