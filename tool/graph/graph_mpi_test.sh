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
exits 1 "leat: device d23: a handler crashed" ranks 3 b.xml
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
    exits 2 "no rank has all packets and states" ranks 2 "$share/ring.xml" $option "$folder/file"
    same "told once" "$(grep -c 'no rank has' "$folder/stderr")" 1
    [ ! -e "$folder/file" ] || fail "$option: a file"
done
finish
