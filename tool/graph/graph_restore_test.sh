#!/bin/sh
# leat graph run --restore: runs in pieces come to what one run comes to; snapshots that do not fit, and damaged ones.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
. "$here/../../test/lib.sh"
cd "$folder" || exit 1

# ---- random graphs in random pieces -------------------------------------------------------------
timeout "$run_limit" python3 "$here/graph_restore.py" "$leat" "$folder" "${LEAT_SEED:-1}" 8 || fail "pieces differ from the whole"

# ---- idle steps, and packets for nobody -----------------------------------------------------------
# OnHardwareIdle counts, and every third wakes a device: 12 steps in a row without that end the run.
cat > steps.xml << 'XML'
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t steps; uint32_t wakes; uint32_t got;</State>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[ deviceState->got++; ]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[ deviceState->wakes--; ]]></OnSend></OutputPin>
<OnHardwareIdle><![CDATA[ deviceState->steps++; if (deviceState->steps % 3 == 0 && deviceState->steps < 300) deviceState->wakes = 200000; ]]></OnHardwareIdle>
<ReadyToSend><![CDATA[ if (deviceState->wakes) *readyToSend = RTS_FLAG_out; ]]></ReadyToSend></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="a" type="d"/><DevI id="b" type="d"/></DeviceInstances>
<EdgeInstances><EdgeI path="a:in-b:out"/><EdgeI path="b:in-a:out"/></EdgeInstances></GraphInstance></Graphs>
XML
states() { jq -c '[.reason, .states]' "$1"; }
exits 0 "" timeout "$run_limit" "$leat" graph run steps.xml --until idle --idle-steps 12 --snapshot whole.xml --json
cp stdout whole
# Interrupted three times, wherever that is.
restore=
for _ in 1 2 3; do
    # shellcheck disable=SC2086
    "$leat" graph run steps.xml --until idle --idle-steps 12 $restore --snapshot steps.snap --json > piece 2> told &
    child=$!
    sleep 0.3
    kill -INT $child 2> /dev/null
    code=0
    wait $child || code=$?
    [ $code = 130 ] || [ $code = 0 ] || fail "interrupted: $code: $(cat told)"
    [ $code = 0 ] || has "why it ended" "$(cat steps.snap)" 'reason="interrupted" resumable="true"'
    [ $code != 0 ] || break # it was idle before the signal came
    restore="--restore steps.snap"
done
cp piece stdout
[ $code = 0 ] ||
    exits 0 "" timeout "$run_limit" "$leat" graph run steps.xml --until idle --idle-steps 12 --restore steps.snap --snapshot steps.snap --json
same "idle steps in pieces" "$(states stdout)" "$(states whole)"
same "and their snapshots" "$(sed 1,3d steps.snap)" "$(sed 1,3d whole.xml)"
# A run that was idle goes on, too: it is idle.
exits 0 "" timeout "$run_limit" "$leat" graph run "$share/shortest_paths.xml" --snapshot paths.snap --json
same "what ended is not resumed" "$(sed -n 's/.*reason="\([a-z]*\)" resumable="\([a-z]*\)".*/\1 \2/p' paths.snap)" "success false"

# ---- what text does not hold ------------------------------------------------------------------------
# Octets between members, within and at the end, and a NaN of other bits: their states have octets, too.
cat > exact.xml << 'XML'
<Graphs xmlns=""><GraphType id="g">
<DeviceTypes><DeviceType id="d"><Properties>uint32_t at; uint32_t bits;</Properties>
<State>uint8_t a; uint32_t b; struct { uint8_t c; float v[2]; } s[2]; uint8_t last;</State>
<OnInit><![CDATA[ const uint32_t at = DEVICEPROPERTIES(at), bits = DEVICEPROPERTIES(bits); DEVICESTATE(a) = 1; DEVICESTATE(s)[1].v[0] = 0.5f;
if (bits) __builtin_memcpy((char *)&DEVICESTATE(a) + at, &bits, at == 28 ? 4 : 1); return 0; ]]></OnInit></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances>
<DevI id="plain" type="d" P="{0, 0}"/><DevI id="members" type="d" P="{20, 9}"/><DevI id="nan" type="d" P="{28, 2143289344}"/>
<DevI id="between" type="d" P="{2, 9}"/><DevI id="within" type="d" P="{21, 9}"/><DevI id="behind" type="d" P="{33, 9}"/><DevI id="bits" type="d" P="{28, 2143289345}"/>
</DeviceInstances></GraphInstance></Graphs>
XML
exits 0 "" timeout "$run_limit" "$leat" graph run exact.xml --until idle --snapshot exact.snap
same "states with octets" "$(sed -n 's/.*id="\([a-z]*\)"><S octets=.*/\1/p' exact.snap | xargs)" "between within behind bits"
has "their octets" "$(cat exact.snap)" '"within"><S octets="0100000000000000000000000000000000000000000900000000003f0000000000000000"'
cp exact.snap before.snap
exits 0 "" timeout "$run_limit" "$leat" graph run exact.xml --until idle --restore before.snap --snapshot exact.snap
same "restored" "$(grep DevS exact.snap)" "$(grep DevS before.snap)"

# ---- snapshots that do not fit --------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
again() { # again TEXT FILE [GRAPH]
    wrong "$1" "$leat" graph run "${3:-steps.xml}" --until idle --restore "$2"
}
again "paths.snap:3:1: E_VALUE: a snapshot of a run that ended with 'success', expected one that can go on" paths.snap "$share/shortest_paths.xml"
again "steps.snap:3:1: E_REF: GraphSnapshot with graphTypeId 'g', expected 'shortest_paths', as the graph has it" steps.snap "$share/shortest_paths.xml"
sed 's/<GraphInstance id="i"/<GraphInstance id="j"/' steps.xml > other.xml
again "E_REF: GraphSnapshot with graphInstId 'i', expected 'j'" steps.snap other.xml
sed 's/id="b" type/id="c" type/; s/b:/c:/g' steps.xml > other.xml
again "steps.snap:5:1: E_REF: DevS of 'b', expected that of 'c'" steps.snap other.xml
sed 's/<DevI id="a"[^>]*>//; s/<EdgeI path[^>]*>//g' steps.xml > other.xml
again "steps.snap:4:1: E_REF: DevS of 'a', expected that of 'b'" steps.snap other.xml
sed 's/<DevI id="b"/<DevI id="c" type="d"\/>&/' steps.xml > other.xml
again "steps.snap:5:1: E_REF: DevS of 'b', expected that of 'c'" steps.snap other.xml
sed 's/type="d"\/><\/DeviceI/type="d"\/><DevI id="c" type="d"\/><\/DeviceI/' steps.xml > other.xml
again "steps.snap:6:1: E_CARD: no DevS of 'c', expected one" steps.snap other.xml
sed 's/uint32_t got;<\/State>/uint32_t got; uint32_t lost;<\/State>/' steps.xml > other.xml
again "steps.snap:4:" steps.snap other.xml
has "a member that is missing" "$(cat "$folder/stderr")" "E_VALUE: a state without some of its members, expected all"
sed 's/uint32_t wakes;/uint32_t wake;/; s/->wakes/->wake/g' steps.xml > other.xml
again "E_VALUE: " steps.snap other.xml
again "E_UNSUP: the application has a supervisor, expected none" steps.snap "$share/ring.xml"
again "none.snap: E_XML: cannot be opened: No such file or directory" none.snap
again "steps.xml:1:1: E_ELEM: element 'Graphs', expected Graph" steps.xml
# Edges have states in the tree of clocks, whose supervisor is left out here.
cat > edges.xml << 'XML'
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><InputPin name="in" messageTypeId="m"><State>uint8_t n;</State><OnReceive/></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="a" type="d"/><DevI id="b" type="d"/></DeviceInstances>
<EdgeInstances><EdgeI path="a:in-b:out"/><EdgeI path="b:in-a:out"/></EdgeInstances></GraphInstance></Graphs>
XML
exits 0 "" timeout "$run_limit" "$leat" graph run edges.xml --until idle --snapshot edges.snap
same "edges" "$(grep -c EdgeS edges.snap)" 2
change() { sed "$1" edges.snap > bad.snap; again "$2" bad.snap edges.xml; }
change 4d "bad.snap:4:1: E_REF: EdgeS of 'b:in-a:out', expected that of 'a:in-b:out'"
change 5d "bad.snap:5:1: E_CARD: no EdgeS of 'b:in-a:out', expected one"
change 5p "E_REF: EdgeS of 'b:in-a:out', expected no further edge"
change '4s/<S>.*<.S>//' "bad.snap:4:24: E_CARD: no S, expected one"
change '4s/:0/:256/' "bad.snap:4:24: E_VALUE: "
change '4s/:0/:/' "E_VALUE: "
change '4s/:0/:0,"m":1/' "E_VALUE: "
change '4s/<S>/<S octets="000">/' "E_VALUE: octets of a state, expected 2 hexadecimal digits"
change '4s/<S>/<S octets="0g">/' "E_VALUE: octets of a state, expected 2 hexadecimal digits"
change 's/resumable="true"/resumable="yes"/' "E_VALUE: a snapshot of a run that ended with 'idle', expected one that can go on"
change 's/reason=/idleSteps="x" reason=/' "E_ATTR: idleSteps 'x', expected a whole number"
change '4s/EdgeS/EdgeT/g' "bad.snap:4:1: E_ELEM: element 'EdgeT', expected DevS or EdgeS"
change '4s/^/<DevS id="a" rts="0x2"\/>/' "E_ATTR: rts '0x2', expected bits of the 1 outputs of a 'd'"
change '4s/^/<DevS id="a" rts="0x1"><S><\/S><\/DevS>/' "E_CARD: an S, expected none: the type has no state"
change '6s/^/<DevS id="a"\/>/' "E_REF: DevS of 'a', expected no further device"
change 3,6d "bad.snap:3:1: E_CARD: no GraphSnapshot, expected one"
change '6s/$/<GraphSnapshot graphTypeId="g" graphInstId="i" resumable="true"\/>/' "E_CARD: a second GraphSnapshot, expected one"
change '2s/^/<!DOCTYPE Graph [<!ENTITY a "b">]>/' "E_XML: a DOCTYPE, expected none"
# Truncated anywhere: never taken for whole. Any octet wrong: taken or refused, but nothing worse.
python3 - "$leat" << 'PY' || fail "damaged snapshots"
import os, random, subprocess, sys
whole = open("steps.snap", "rb").read()
r = random.Random(int(os.environ.get("LEAT_SEED", "1")))
def run(octets):
    open("bad.snap", "wb").write(octets)
    done = subprocess.run([sys.argv[1], "graph", "run", "steps.xml", "--until", "idle", "--schedule", "fifo", "--restore", "bad.snap"], capture_output=True)
    return done.returncode, done.stderr.decode()
for _ in range(25):
    code, told = run(whole[:r.randrange(len(whole) - 9)])
    assert code == 2 and "leat: bad.snap:" in told or "bad.snap:" in told and code == 2, (code, told)
for _ in range(40):
    at = r.randrange(len(whole))
    octet = bytes([r.choice([r.randrange(256), ord("<"), ord('"'), ord("9"), 0])])
    code, told = run(whole[:at] + octet + whole[at + 1:])
    assert code == 0 or code == 2 and "bad.snap:" in told, (code, told)
PY
finish
