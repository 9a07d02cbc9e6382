#!/bin/sh
# leat graph run --fabric NAME: closed forms of times, answers that no fabric changes,
# back-pressure, certificates, ends, bad input.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
. "$here/../../test/lib.sh"
cd "$folder" || exit 1 # short names, so that handlers are the same in all builds
json() { timeout "$run_limit" "$leat" graph run "$@" --json 2> "$folder/stderr"; }
# value FILTER WORDS...: of the JSON object
value() { filter=$1; shift; json "$@" | jq -c "$filter"; }

# ---- an application for what follows ------------------------------------------------------------
# game MESSAGE PROPERTIES_OF_THE_GRAPH: a head; devices and edges come behind it
game() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<Properties>uint32_t rounds; uint32_t what;</Properties>
<MessageTypes><MessageType id="m"><Message>$1</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>uint8_t begins;</Properties><State>uint32_t ready; uint32_t n; uint32_t idles;</State>
<OnInit><![CDATA[ deviceState->ready = deviceProperties->begins ? (graphProperties->what == 1 ? graphProperties->rounds : 1) : 0; ]]></OnInit>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[
deviceState->n++;
if (graphProperties->what == 0) {
    deviceState->ready = 1;
    if (message->n[0] == graphProperties->rounds) handler_exit(0);
}
if (graphProperties->what == 2) assert(deviceState->n < 2);
if (graphProperties->what == 3) *(volatile int *)8 = 1;
if (graphProperties->what == 7) exit(0);
while (graphProperties->what == 8) asm volatile("");
if (graphProperties->what >= 2) deviceState->ready = 1;
if (graphProperties->what == 5 && deviceState->n == 7) { handler_log(2, "seven"); handler_exit(3); }
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[
deviceState->ready--;
message->n[0] = deviceState->n + (graphProperties->what == 0 ? 1 : 0);
]]></OnSend></OutputPin>
<OnHardwareIdle><![CDATA[ if (++deviceState->idles == 3 && graphProperties->what == 6) handler_exit(0); ]]></OnHardwareIdle>
<ReadyToSend><![CDATA[ *readyToSend = deviceState->ready ? RTS_FLAG_out : 0; ]]></ReadyToSend></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g" P="{$2}"><DeviceInstances>
XML
}
# two MESSAGE ROUNDS,WHAT DEVICES PARTNER: device 0 and its partner send to each other, 0 begins
two() {
    game "$1" "$2"
    echo '<DevI id="d0" type="d" P="{1}"/>'
    i=1
    while [ $i -lt "$3" ]; do echo "<DevI id=\"d$i\" type=\"d\"/>"; i=$((i + 1)); done
    echo "</DeviceInstances><EdgeInstances><EdgeI path=\"d$4:in-d0:out\"/>"
    [ "$4" = 0 ] || echo "<EdgeI path=\"d0:in-d$4:out\"/>"
    echo "</EdgeInstances></GraphInstance></Graphs>"
}
# crowd DEVICES ROUNDS: each sends so often to all others
crowd() {
    game 'uint32_t n[1];' "$2,1"
    i=0
    while [ $i -lt "$1" ]; do echo "<DevI id=\"d$i\" type=\"d\" P=\"{1}\"/>"; i=$((i + 1)); done
    echo "</DeviceInstances><EdgeInstances>"
    i=0
    while [ $i -lt "$1" ]; do
        k=0
        while [ $k -lt "$1" ]; do
            [ $i = $k ] || echo "<EdgeI path=\"d$k:in-d$i:out\"/>"
            k=$((k + 1))
        done
        i=$((i + 1))
    done
    echo "</EdgeInstances></GraphInstance></Graphs>"
}

# ---- times by hand ------------------------------------------------------------------------------
# Through h routers a packet of f flits takes 2 + h pipeline + (h - 1) wire + 1 + f - 1 cycles.
for flits in 1 4; do
    case $flits in 1) message='uint32_t n[2];' ;; *) message='uint32_t n[14];' ;; esac
    for far in 1 4 7; do
        two "$message" 2,0 8 $far > two.xml
        for words in 1:1 3:1 2:5; do
            pipeline=${words%:*} wire=${words#*:}
            same "$flits flits over $far wires of $wire, routers of $pipeline" \
                "$(value '.network.thread_packets.latency_cycles|[.mean,.max]' two.xml --placement block --mailbox threads=1 \
                    --engine "fabric:mesh:8/pipeline=$pipeline/wire=$wire/clock=240MHz")" \
                "$(echo "$pipeline $wire $far $flits" | awk '{ c = 2 + ($3 + 1) * $1 + $3 * $2 + 1 + $4 - 1; printf "[%.3f,%.3f]", c, c }' | jq -c .)"
        done
    done
done
two 'uint32_t n[2];' 2,0 32 31 > two.xml # two boards, from corner to corner: 10 wires, one of them longer
same "from board to board" "$(value .network.thread_packets.latency_cycles.max two.xml --placement block --fabric tinsel:2,1)" $((2 + 11 * 2 + 9 + 100 + 1))
# A round trip more: two packets, each received and sent on; all else is the same.
for words in "turn=32,receive=320,send=320,edge=64 768" "turn=1,receive=0,send=0,edge=0 2" "turn=10,receive=7,send=5,edge=3 35"; do
    costs=${words% *}
    for rounds in 5 25; do
        two 'uint32_t n[2];' $rounds,0 2 1 > "$rounds.xml"
        value .network.ran_cycles "$rounds.xml" --placement block --fabric line:2/clock=240MHz --mailbox threads=1 --cost "$costs" > "$folder/$rounds"
    done
    same "rounds with $costs" $(($(cat "$folder/25") - $(cat "$folder/5"))) $((40 * (${words#* } + 2 + 2 * 3 + 1 + 1)))
done

# ---- no fabric changes an answer ----------------------------------------------------------------
plate=$(value .states "$share/heat_plate.xml" --schedule fifo)
tree=$(value .states "$share/clock_tree.xml" --schedule fifo)
paths=$("$leat" graph run "$share/shortest_paths.xml" --schedule fifo 2> /dev/null | sed 's/.*: //' | sort)
for fabric in tinsel tinsel:2,2 torus:3,3 clos444 ring16 twosan "$here/../../share/fabrics/mesh8x8.yaml" line:1; do
    same "a plate over $fabric" "$(value .states "$share/heat_plate.xml" --engine "fabric:$fabric")" "$plate"
    same "a tree over $fabric" "$(value .states "$share/clock_tree.xml" --engine "fabric:$fabric" --placement random)" "$tree"
    same "paths over $fabric" "$("$leat" graph run "$share/shortest_paths.xml" --engine "fabric:$fabric" 2> /dev/null | sed 's/.*: //' | sort)" "$paths"
done
same "a supervisor over a fabric" "$("$leat" graph run "$share/ring.xml" --fabric tinsel --mailbox host=9 2> /dev/null)" "the sum is 3364
16 reports"

# ---- full mailboxes, small buffers --------------------------------------------------------------
crowd 20 30 > crowd.xml
for words in "mesh:4,4/vcs=1/buffer=1 slots=1" "mesh:4,4/vcs=1/buffer=1 slots=1,threads=2" "torus:4,4/vcs=2/buffer=1 slots=2" "clos444 slots=1" "tinsel:2,2 slots=3"; do
    same "nothing is lost, nothing stops: $words" "$(value '[.reason, .receives, .sends, .dropped_by_cause]' crowd.xml --until idle --engine "fabric:${words% *}" --mailbox "${words#* }")" \
        '["idle",11400,11400,{}]'
done
json crowd.xml --until idle --fabric mesh:4,4 --mailbox slots=1 | jq -e '.network.thread_packets.waits > 0' > /dev/null || fail "nobody waited for a slot"
json crowd.xml --until idle --fabric tinsel --mailbox slots=4096 | jq -e '.network | .thread_packets.waits == 0 and .thread_packets.packets + .packets_copied == 11400 and .thread_packets.flits == .thread_packets.packets and .busiest_wire.flits > 0 and .hops_mean > 1 and .host_packets.packets == 80' > /dev/null || fail "what a run tells"
exits 1 "mesh:4,4/vcs=1/buffer=4/full=drop: a packet from port " timeout "$run_limit" "$leat" graph run crowd.xml --until idle --fabric mesh:4,4/vcs=1/buffer=4/full=drop

# ---- the same run every time --------------------------------------------------------------------
one=$(value .fabric crowd.xml --until idle --fabric tinsel --placement random --seed 3 -j 1)
same "again" "$(value .fabric crowd.xml --until idle --fabric tinsel --placement random --seed 3 -j 2)" "$one"
same "with three threads" "$(value .network crowd.xml --until idle --fabric torus:16,16/vcs=2 --seed 3 --threads 3)" \
    "$(value .network crowd.xml --until idle --fabric torus:16,16/vcs=2 --seed 3)"
printf 'sans:\n  - {name: a, fabric: "mesh:11,12", bias: 0x1000}\n  - {name: b, fabric: "mesh:11,12", bias: 0x2000}\n' > meshes.yaml
printf 'routers:\n  - {name: west, at: [a.0, b.7]}\n' >> meshes.yaml
same "with two threads over PacketWay" "$(value .network crowd.xml --until idle --fabric meshes.yaml --threads 2)" \
    "$(value .network crowd.xml --until idle --fabric meshes.yaml)"
exits 2 "--threads, expected --fabric with it" "$leat" graph run crowd.xml --threads 2
for other in "ring16, which is a token ring" "clos444, which is an ATM fabric" "ether16, which is an Ethernet"; do
    exits 2 "--threads has no meaning for $other" "$leat" graph run crowd.xml --fabric "${other%%,*}" --threads 2
done
[ "$(value .network.certificate crowd.xml --until idle --fabric tinsel --placement random --seed 4)" != "$(echo "$one" | jq -c .certificate)" ] || fail "seeds do not matter"

# ---- what is recorded ---------------------------------------------------------------------------
# Of each of five threads: its report to the barrier, the release, STOP and its answer. Then 15 tokens and 16 reports.
for name in tinsel:2,2 clos444; do
    for part in one two; do
        value .network.cycles "$share/ring.xml" --fabric $name --record "$folder/$part.pcapng" --snapshot "$folder/$part.xml" > "$folder/cycles" || fail "$name: $?"
    done
    cmp "$folder/one.pcapng" "$folder/two.pcapng" || fail "$name: another recording"
    cmp one.xml two.xml || fail "$name: another snapshot"
    "$leat" decode --json "$folder/one.pcapng" > "$folder/decoded" || fail "$name: cannot be decoded"
    same "$name: kinds" "$(jq -r '.carriage.direction + " " + .fields.class + " " + (.fields.opcode // "" | tostring)' "$folder/decoded" | sort | uniq -c | awk '{$1=$1}1' | paste -sd,)" \
        "5 toFabric CTL BARRIER,5 toFabric CTL STOP,15 toFabric DEV NOP,5 toHost SUP BARRIER,16 toHost SUP IMPL,5 toHost SUP STOP"
    jq -es --argjson cycles "$(cat "$folder/cycles")" '[.[].time_ns] | . == sort and last > 0 and last <= $cycles * 1000 / 240' "$folder/decoded" > /dev/null || fail "$name: times are not those of the fabric"
done

# ---- ends ---------------------------------------------------------------------------------------
run() { timeout "$run_limit" "$leat" graph run end.xml --fabric tinsel "$@"; }
for what in 2 3 4 5 6 7 8; do
    two 'uint32_t n[2];' 0,$what 2 1 > end.xml
    case $what in
    2) exits 1 "assertion after" run; has "an assertion" "$(cat "$folder/stdout")" "d1 (Thread 0x200): assertion failed: deviceState->n < 2" ;;
    3) exits 1 "leat: device d1: a handler crashed" run ;;
    4)  exits 0 "limit after" run --until 200us
        same "simulated time ends it" "$(value '.network.simulated_us | . > 200 and . < 300' end.xml --fabric tinsel --until 200us)" true
        interrupted INT "$leat" graph run end.xml --fabric tinsel
        same "exit code of an interrupted run" $got 130
        has "an interrupted run" "$(cat "$folder/stderr")" "interrupted after" ;;
    5) exits 1 "failed after" run; has "a line" "$(cat "$folder/stdout")" "d1 (Thread 0x200): seven" ;;
    6)  sed -i 's/P="{1}"/P="{0}"/' end.xml # nobody begins
        exits 0 "success after" run ;;
    7) exits 1 "leat: device d1: a handler called exit" run ;;
    8) exits 1 "leat: device d1: a handler does not come back" run --until 200us ;;
    esac
done
exits 0 "" timeout "$run_limit" "$leat" graph run "$share/clock_tree.xml" --fabric tinsel --instrument --output "$folder/out"
same "all that was received" "$(awk -F', ' 'FNR > 1 { sum += $7 } END { print sum }' "$folder"/out/instrumentation_thread_*.csv)" 8400
exits 0 "certificate " timeout "$run_limit" "$leat" graph run "$share/ring.xml" --fabric tinsel:1,1
has "for people" "$(cat "$folder/stderr")" "busiest  port 0"

# ---- the command line ---------------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "--engine 'fabric:', expected threads or mpi, or --fabric FABRIC" "$leat" graph run x.xml --engine fabric:
wrong "--engine fabric:taurus is called --fabric taurus now" "$leat" graph run x.xml --engine fabric:taurus
wrong "--engine threads with --fabric, expected one of them" "$leat" graph run x.xml --engine threads --fabric tinsel
exits 0 "--engine fabric:tinsel is called --fabric tinsel now" timeout "$run_limit" "$leat" graph run "$share/ring.xml" --engine fabric:tinsel
wrong "unknown fabric 'taurus'" "$leat" graph run x.xml --fabric taurus
wrong "packets can wait for each other in a cycle" "$leat" graph run x.xml --fabric torus:4,4/vcs=1
wrong "--schedule has no meaning with --fabric" "$leat" graph run x.xml --fabric tinsel --schedule fifo
wrong "--mailbox has no meaning without --fabric" "$leat" graph run x.xml --mailbox slots=1
wrong "--mailbox 'slot=1', expected threads=N, slots=N, host=N" "$leat" graph run x.xml --fabric tinsel --mailbox slot=1
wrong "--mailbox slots=0, expected 1 to 65536" "$leat" graph run x.xml --fabric tinsel --mailbox threads=3,slots=0
wrong "--mailbox host=16, expected a port of mesh:4,4" "$leat" graph run x.xml --fabric mesh:4,4 --mailbox host=16
wrong "--cost 'turn', expected turn=N, receive=N" "$leat" graph run x.xml --fabric tinsel --cost turn
wrong "--cost turn=0, expected 1 to" "$leat" graph run x.xml --fabric tinsel --cost turn=0
wrong "90000 ports, expected at most 65536" "$leat" graph run x.xml --fabric mesh:300,300
wrong "--placement 'near', expected one of block locality random" "$leat" graph run x.xml --fabric tinsel --placement near
finish
