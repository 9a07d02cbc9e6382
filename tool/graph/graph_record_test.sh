#!/bin/sh
# leat graph run --record and --snapshot: what is in them; a schedule and its seed are one run, packet by packet.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
dissector=$(realpath "$here/../../share/wireshark/leat.lua")
. "$here/../../test/lib.sh"
cd "$folder" || exit 1

# ---- every packet ---------------------------------------------------------------------------------
# Of each of five threads: its report to the barrier, the release, STOP and its answer. Then 15 tokens and 16 reports.
for words in "-j 1" "-j 3" "--schedule fifo" "--schedule random --seed 4"; do
    # shellcheck disable=SC2086
    exits 0 "" timeout "$run_limit" "$leat" graph run "$share/ring.xml" $words --record ring.pcapng
    "$leat" decode --json ring.pcapng > decoded || fail "$words: cannot be decoded"
    same "$words: kinds" "$(jq -r '.carriage.direction + " " + .fields.class + " " + (.fields.opcode // "" | tostring)' decoded | sort | uniq -c | awk '{$1=$1}1' | paste -sd,)" \
        "5 toFabric CTL BARRIER,5 toFabric CTL STOP,15 toFabric DEV NOP,5 toHost SUP BARRIER,16 toHost SUP IMPL,5 toHost SUP STOP"
    # Tokens in the order of their numbers: 1, 11, 111, ... as lap and sum, little-endian, from each to the next thread.
    same "$words: tokens" "$(jq -r 'select(.fields.class == "DEV") | [.carriage.hwAddr, .fields.payload[0:16]] | join(" ")' decoded | sed -n '1,6p' | paste -sd,)" \
        "1 0000000001000000,2 000000000b000000,3 000000006f000000,4 0000000057040000,0 0000000061040000,1 0100000062040000"
    jq -es '[.[].time_ns] == ([.[].time_ns] | sort)' decoded > /dev/null || fail "$words: time goes back"
done
if command -v tshark > /dev/null; then
    same "tshark" "$(tshark -X lua_script:"$dissector" -r ring.pcapng 2> /dev/null | grep -c -i poets)" 51
fi
exits 0 "the first 7 of 51 packets are recorded" "$leat" graph run "$share/ring.xml" --record few.pcapng --record-packets 7
same "no more than asked for" "$("$leat" decode --json few.pcapng | wc -l)" 7

# ---- a run can be had again, packet by packet ------------------------------------------------------
seed=${LEAT_SEED:-1}
for name in ring clock_tree heat_plate shortest_paths ising pagerank spikes; do
    answer=$("$leat" graph run "$share/$name.xml" --json 2> /dev/null | jq -r .states)
    for schedule in fifo lifo random delay:0.3 delay:0.9; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        quantum=$((seed / 65536 % 20 + 1))
        words="--schedule $schedule --seed $seed --quantum $quantum"
        # shellcheck disable=SC2086
        one=$(timeout "$run_limit" "$leat" graph run "$share/$name.xml" $words -j 1 --record one.pcapng --snapshot one.xml --json 2> /dev/null | jq -c 'del(.workers, .cut_workers, .load_seconds, .compile_seconds, .seconds, .receives_per_second)')
        # shellcheck disable=SC2086
        two=$(timeout "$run_limit" "$leat" graph run "$share/$name.xml" $words -j 3 --record two.pcapng --snapshot two.xml --json 2> /dev/null | jq -c 'del(.workers, .cut_workers, .load_seconds, .compile_seconds, .seconds, .receives_per_second)')
        same "$name $words: the same run" "$two" "$one"
        cmp -s one.pcapng two.pcapng || fail "$name $words: other packets"
        cmp -s one.xml two.xml || fail "$name $words: other states"
        same "$name $words: its answer" "$(echo "$one" | jq -r .states)" "$answer"
    done
done
"$leat" graph run "$share/shortest_paths.xml" --schedule random --seed 1 --record one.pcapng > /dev/null 2>&1
"$leat" graph run "$share/shortest_paths.xml" --schedule random --seed 2 --record two.pcapng > /dev/null 2>&1
! cmp -s one.pcapng two.pcapng || fail "seeds do not matter"

# ---- snapshots ------------------------------------------------------------------------------------
"$leat" graph run "$share/heat_plate.xml" --snapshot plate.xml 2> /dev/null | sed 's/.*: cell //' | sort > told
python3 - << 'PY' | sort > kept
import json, xml.etree.ElementTree as tree
for d in tree.parse("plate.xml").getroot().find("GraphSnapshot").iter("DevS"):
    state = json.loads("{" + d.find("S").text + "}")
    if d.get("id") != "counter":
        assert len(state["received"]) == 2 and state["t"] == 20, state
        print(d.get("id").replace("c_", "").replace("_", " "), state["v"])
PY
[ -s told ] || fail "no cells"
cmp told kept || fail "a snapshot of the plate"
"$leat" graph run "$share/clock_tree.xml" --snapshot tree.xml > /dev/null 2>&1
same "edges of a tree: each has answered 50 times" "$(grep -c '<EdgeS id="n[_0-9]*:from_below-n_[_0-9]*:above"><S>"answers":50</S></EdgeS>' tree.xml)" 84
same "and no more" "$(grep -c EdgeS tree.xml)" 84

# Members of every kind, and a struct that only a compiler knows.
cat > kinds.xml << 'XML'
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><DeviceTypes><DeviceType id="d">
<State>int8_t a; uint8_t b; int64_t c; uint64_t d; float e; double f; struct { int16_t g[2][3]; } h[2]; int32_t i;</State>
<OnInit><![CDATA[ deviceState->a = -128; deviceState->b = 255; deviceState->c = INT64_MIN; deviceState->d = UINT64_MAX; deviceState->e = 0.1f;
deviceState->f = -1e300; deviceState->h[1].g[1][2] = -7; deviceState->h[0].g[0][1] = 9; deviceState->i = -2147483647 - 1; ]]></OnInit>
</DeviceType></DeviceTypes></GraphType><GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="x" type="d"/></DeviceInstances></GraphInstance></Graphs>
XML
exits 0 "" timeout "$run_limit" "$leat" graph run kinds.xml --until idle --snapshot kinds.out
same "every kind" "$(sed -n 's/.*<S>\(.*\)<.S>.*/\1/p' kinds.out)" \
    '"a":-128,"b":255,"c":-9223372036854775808,"d":18446744073709551615,"e":0.100000001,"f":-1.0000000000000001e+300,"h":[{"g":[[0,9,0],[0,0,0]]},{"g":[[0,0,0],[0,0,-7]]}],"i":-2147483648'
cat > orch.xml << 'XML'
<Graphs xmlns=""><GraphType id="g"><DeviceTypes><DeviceType id="d"><State>uint16_t a[sizeof(uint16_t)];</State>
<OnInit>DEVICESTATE(a)[0] = 1; DEVICESTATE(a)[1] = 258; return 0;</OnInit></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="x" type="d"/></DeviceInstances></GraphInstance></Graphs>
XML
exits 0 "" timeout "$run_limit" "$leat" graph run orch.xml --snapshot orch.out
has "octets" "$(cat orch.out)" '<DevS id="x"><S octets="01000201"/></DevS>'

# ---- files that cannot be, and runs that end badly --------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "--record '-', expected the name of a file" "$leat" graph run "$share/ring.xml" --record -
wrong "--snapshot '', expected the name of a file" "$leat" graph run "$share/ring.xml" --snapshot ""
wrong "--record-packets '0', expected a whole number, 1 to 1000000000" "$leat" graph run "$share/ring.xml" --record x.pcapng --record-packets 0
wrong "--record-packets, expected --record with it" "$leat" graph run "$share/ring.xml" --record-packets 5
wrong "none/x.pcapng" "$leat" graph run "$share/ring.xml" --record none/x.pcapng
wrong "" "$leat" graph run "$share/ring.xml" --record same --snapshot same
wrong "E_XML" "$leat" graph run none.xml --record none.pcapng --snapshot none.out
cp "$share/ring.xml" own.xml
wrong "" "$leat" graph run own.xml --snapshot own.xml
cmp own.xml "$share/ring.xml" || fail "its own file is overwritten"
sed 's/DEVICESTATE(has) = true;/*(volatile int *)8 = 1;/' "$share/ring.xml" > crash.xml
exits 1 "leat: device s1: a handler crashed" timeout "$run_limit" "$leat" graph run crash.xml --record crash.pcapng --snapshot crash.out
[ ! -e crash.pcapng ] && [ ! -e crash.out ] && [ ! -e none.pcapng ] || fail "files of runs that failed"
no_part "the end"
finish
