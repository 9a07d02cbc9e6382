#!/bin/sh
# leat graph run --attach: processes as externals of a graph, over UNIX sockets and UDP, against a model; what is refused or lost.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
. "$here/../../test/lib.sh"
cd "$folder" || exit 1
smooth="$share/smooth.xml"
graph() { timeout "$run_limit" "$leat" graph run "$@"; }
"$leat" graph check "$smooth" > /dev/null || fail "smooth.xml is not sound"

# ---- random graphs against a model --------------------------------------------------------------
timeout "$run_limit" python3 "$here/graph_attach.py" "$leat" "$folder" "${LEAT_SEED:-1}" 15 || fail "differs from the model"

# ---- the examples -------------------------------------------------------------------------------
"${CC:-cc}" -D_GNU_SOURCE -o external "$share/external.c" || fail "external.c does not compile"
awk 'BEGIN { srand(3); for (i = 0; i < 200; i++) print int(rand() * 2000001) - 1000000 }' > numbers
awk '{ last[NR] = $1; sum += $1 - (NR > 4 ? last[NR - 4] : 0); print sum }' numbers > sums
port=$((20000 + $$ % 20000))
for address in "unix:$folder/door" "udp:127.0.0.1:$port"; do
    for process in "python3 $share/external.py" ./external; do
        for words in "-j 2" "--schedule random --seed 3"; do
            # shellcheck disable=SC2086
            graph "$smooth" --attach "$address" --until idle --json $words > json 2> told &
            run=$!
            # shellcheck disable=SC2086
            timeout "$run_limit" $process "$address" < numbers > got || fail "$process $address $words"
            wait $run || fail "exit code: $address $words: $(cat told)"
            cmp -s got sums || fail "other sums: $process $address $words"
            jq -e '.reason == "idle" and .receives == 200 and .sends == 200 and .dropped_by_cause == {} and ([.attachments[] | [.external, .number, .attached, .received, .sent, .lost]] == [["meter", 0, 1, 200, 0, 0], ["screen", 1, 1, 0, 200, 0]])' json > /dev/null || fail "what is counted: $address $words: $(cat json)"
        done
    done
done
has "who waits is told" "$(cat told)" "leat: 2 externals wait for processes at udp:127.0.0.1:"
[ ! -e door ] || fail "the socket is left"

# ---- packets for nobody -------------------------------------------------------------------------
# A device that sends three packets to each of two externals at once.
cat > lone.xml << 'XML'
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t n;</State>
<OutputPin name="out" messageTypeId="m"><OnSend>message->n = deviceState->n++;</OnSend></OutputPin>
<ReadyToSend><![CDATA[if (deviceState->n < 3) *readyToSend = RTS_FLAG_out;]]></ReadyToSend></DeviceType>
<ExternalType id="e"><InputPin name="in" messageTypeId="m"/></ExternalType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="d" type="d"/><ExtI id="left" type="e"/><ExtI id="right" type="e"/></DeviceInstances>
<EdgeInstances><EdgeI path="left:in-d:out"/><EdgeI path="right:in-d:out"/></EdgeInstances></GraphInstance></Graphs>
XML
for words in "-j 1" "--schedule fifo" "--fabric tinsel"; do
    # shellcheck disable=SC2086
    exits 1 "leat: external left: a packet for it is lost, expected a process attached to it (--attach ADDRESS)" timeout "$run_limit" "$leat" graph run lone.xml --until idle --json $words
    same "each is told once" "$(grep -c 'is lost' "$folder/stderr")" 2
    same "and all are counted" "$(jq -c '[.dropped_by_cause.ext_none, [.attachments[].lost], .status]' "$folder/stdout")" '[6,[3,3],"failed"]'
done
exits 1 "external right: a packet for it is lost" timeout "$run_limit" "$leat" graph run lone.xml --until idle --attach "unix:$folder/door" --attach-wait 0s
sed 's/"left"/"__halt__"/; s/left:/__halt__:/; s/<EdgeI path="right[^>]*>//' lone.xml > halt.xml
exits 0 "success after" timeout "$run_limit" "$leat" graph run halt.xml --schedule fifo --attach "unix:$folder/door" --attach-wait 0s
# One process of two: nothing runs, and who is missing is told.
exits 1 "external left: no process has attached to it within 0.3 s" timeout "$run_limit" "$leat" graph run lone.xml --attach "unix:$folder/door" --attach-wait 300ms --json
jq -e '.reason == "failed" and .sends == 0' "$folder/stdout" > /dev/null || fail "it ran: $(cat "$folder/stdout")"

# ---- processes that misbehave -------------------------------------------------------------------
cat > bad.py << 'PY'
import socket, struct, sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a, b = x.Externals(sys.argv[2]), x.Externals(sys.argv[2])
def why(process):
    try:
        while True:
            process.receive()
    except RuntimeError as error:
        return str(error)
a.send(x.EXT, 0, 0, 0, b"12345678")
print(why(a))
a.send(x.SUP, x.BARRIER, 0, 0)
a.send(x.EXT, 0, 0, 0, b"12345678")
print(why(a))
b.send(x.SUP, x.BARRIER, 0, 0, b"meter")
print(why(b))
b.send(x.SUP, x.BARRIER, 0, 0, b"metre")
print(why(b))
b.socket.send(b"nonsense")
print(why(b))
b.send(x.DEV, 0, 0, 0)
print(why(b))
b.attach("screen")
for pin_address, payload in ((1, b""), (256, b"12345678"), (0, b"")):
    a.send(x.EXT, 0, 0, pin_address, payload)
    print(why(a) if payload or pin_address else "a flit has room for 8 octets")
b.socket.close()
a.send(x.EXT, 0, 0, 0, struct.pack("<Ii", 1, 5))
time.sleep(0.2)
a.detach("meter")
PY
sed 's/assert(.*/;/' "$smooth" > eager.xml
graph eager.xml --attach "unix:$folder/door" --until idle --json > json 2> told &
run=$!
python3 bad.py "$share" "unix:$folder/door" > said 2> error || fail "bad.py: $(cat error)"
wait $run
same "the exit code of a lost packet" $? 1
same "each refusal has a reason" "$(paste -sd'|' said)" "the process is not attached to it|expected after CTL/BARRIER and before CTL/STOP|another process is attached to it|there is no such external|no frame with one packet|expected EXT, SUP/BARRIER or SUP/STOP|the external has no such output pin|expected edge 0: packets go along all edges|a flit has room for 8 octets"
same "and is counted" "$(jq -c '.dropped_by_cause | del(.ext_none)' json)" '{"ext_bad_frame":1,"ext_bad_class":1,"ext_unknown":1,"ext_taken":1,"ext_foreign":1,"ext_untimely":1,"ext_oor_pin":1,"ext_oor_edge":1}'
has "a process that is gone" "$(cat told)" "leat: external screen: a packet for it is lost"
# A process that sends all before it reads anything, and one that is slow: nothing is lost.
cat > eager.py << 'PY'
import struct, sys
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("meter", "screen")
for t in range(20000):
    a.send(x.EXT, 0, 0, 0, struct.pack("<Ii", t, 1))
got = 0
while got < 20000:
    got += a.receive()[0] == x.EXT
a.detach("meter", "screen")
print(got)
PY
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    graph eager.xml --attach "unix:$folder/door" --until idle $words 2> told &
    run=$!
    same "sent before reading, $words" "$(timeout "$run_limit" python3 eager.py "$share" "unix:$folder/door")" 20000
    wait $run || fail "eager: $(cat told)"
done

# A process that attaches, sends 100 packets and ends without reading: all arrive, what comes back is lost.
slow() { sed "s/assert(.*/{ struct timespec t = { $1 }; nanosleep(\\&t, nullptr); }/; s/<GraphType id=\"smooth\">/&<SharedCode><![CDATA[#include <ctime>\\n]]><\\/SharedCode>/" "$smooth"; }
slow "0, 2000000" > patient.xml # so that its packets wait while it ends
cat > hasty.py << 'PY'
import os, struct, sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("meter", "screen")
for t in range(100):
    a.send(x.EXT, 0, 0, 0, struct.pack("<Ii", t, 1))
    if t == 49:
        time.sleep(0.03)  # it has not read what came back when it sends the rest, and ends
os._exit(0)
PY
for words in "-j 1" "--schedule fifo"; do
    for k in 1 2; do
        # shellcheck disable=SC2086
        graph patient.xml --attach "unix:$folder/door" --until idle --json $words > json 2> told &
        run=$!
        timeout "$run_limit" python3 hasty.py "$share" "unix:$folder/door" || fail "hasty.py"
        wait $run
        same "all that a process sent before it ended, $words, $k" "$(jq -c '[.reason, .receives, .attachments[0].received]' json)" '["idle",100,100]'
    done
done

# The 65th process is told; when one has left, there is room.
python3 - > crowd.xml << 'PY'
print("""<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes/><DeviceTypes><DeviceType id="d"><ReadyToSend/></DeviceType><ExternalType id="e"/></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="d" type="d"/>""")
print("".join(f'<ExtI id="e{k}" type="e"/>' for k in range(65)))
print("</DeviceInstances><EdgeInstances/></GraphInstance></Graphs>")
PY
cat > crowd.py << 'PY'
import sys
sys.path.insert(0, sys.argv[1])
import external as x
crowd = [x.Externals(sys.argv[2]) for _ in range(65)]
for number, p in enumerate(crowd[:64]):
    p.send(x.SUP, x.BARRIER, 0, number)
last = crowd[64]
last.socket.settimeout(60)
try:
    last.send(x.SUP, x.BARRIER, 0, 64)
except BrokenPipeError:
    pass  # it was told already
try:
    print("got", last.receive())
except RuntimeError as error:
    print(error)
crowd[0].detach("e0")
crowd[0].socket.close()
crowd[1].send(x.SUP, x.BARRIER, 0, 0)
x.Externals(sys.argv[2]).attach("e64")
print("there is room")
PY
for address in "unix:$folder/door" "udp:127.0.0.1:$port"; do
    : > told
    graph crowd.xml --attach "$address" --until 1s --json > json 2> told &
    run=$!
    wait_until grep -q wait told || fail "nobody waits: $(cat told)"
    same "one process too many, $address" "$(timeout "$run_limit" python3 crowd.py "$share" "$address" | paste -sd' ')" "expected at most 64 processes there is room"
    wait $run || fail "crowd: $(cat told)"
    same "which is counted, $address" "$(jq -c .dropped_by_cause.ext_crowded json)" 1
    has "and reported, $address" "$(cat told)" "leat: a packet of a process is refused: expected at most 64 processes"
done

# The device stops the application at the first sample. What a process sends later is told to it and counted.
sed 's/assert(.*/handler_exit(0);/' "$smooth" > brief.xml
cat > late.py << 'PY'
import struct, sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("meter", "screen")
sent, told = 0, []
try:
    while sent < 10000:
        a.send(x.EXT, 0, 0, 0, struct.pack("<Ii", sent, 1))
        sent += 1
except BrokenPipeError:
    pass
while True:
    try:
        packet = a.receive()
        told += ["stop"] if packet[:2] == (x.CTL, x.STOP) else []
    except RuntimeError as error:
        told.append(str(error))
    except EOFError:
        break
print(sent)
print(*sorted(set(told), key=told.index), sep="|")
PY
for words in "-j 1" "-j 1" "--schedule fifo" "--schedule fifo"; do
    # shellcheck disable=SC2086
    graph brief.xml --attach "unix:$folder/door" --json $words > json 2> told &
    run=$!
    timeout "$run_limit" python3 late.py "$share" "unix:$folder/door" > said || fail "late.py"
    wait $run
    jq -e --argjson sent "$(head -1 said)" '.reason == "success" and .attachments[0].received + (.dropped_by_cause.ext_untimely // 0) == $sent' json > /dev/null || fail "packets after STOP, $words: $(cat json said)"
    same "what a late process is told, $words" "$(tail -1 said)" stop
done
# The examples end with the application.
for process in "python3 $share/external.py" ./external; do
    graph brief.xml --attach "unix:$folder/door" --json > json 2> told &
    run=$!
    # shellcheck disable=SC2086
    seq 1 100000 | timeout "$run_limit" $process "unix:$folder/door" > got 2> said
    wait $run || fail "brief: $(cat told)"
    has "the example tells the end: $process" "$(cat said)" "the application has stopped"
done

# ---- limits -------------------------------------------------------------------------------------
# A process that does not read holds the graph back beyond its limit: no handler hangs.
sed 's/deviceState->n < 3/deviceState->n < 100000/; s/<EdgeI path="right[^>]*>//; s/<ExtI id="right"[^>]*>//' lone.xml > flood.xml
cat > deaf.py << 'PY'
import sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("left")
time.sleep(5)
try:
    while a.receive()[1] != x.STOP:
        pass
except (EOFError, ConnectionError):
    pass
PY
graph flood.xml --attach "unix:$folder/door" --until 1s --schedule fifo --json > json 2> told &
run=$!
timeout "$run_limit" python3 deaf.py "$share" "unix:$folder/door" || fail "deaf.py"
wait $run || fail "a process that does not read: $(cat told)"
same "who is held back by a process does not hang" "$(jq -r .reason json)" limit
# A process that reads slowly has a full socket when the application ends, and is still told that it has ended.
sed 's/<OutputPin/<InputPin name="in" messageTypeId="m"><OnReceive>handler_exit(0);<\/OnReceive><\/InputPin>&/
    s/<InputPin name="in" messageTypeId="m"\/>/&<OutputPin name="out" messageTypeId="m"\/>/
    s/<EdgeI path="left[^>]*>/&<EdgeI path="d:in-left:out"\/>/; s/< 100000/< 1000000000/' flood.xml > burst.xml
cat > slow.py << 'PY'
import struct, sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("left")
time.sleep(0.5)
a.send(x.EXT, 0, 0, 0, struct.pack("<I", 0))
count, last = 0, None
try:
    while True:
        last = a.receive()
        count += 1
        if count < 100:
            time.sleep(0.025)
except EOFError:
    print("STOP" if last[:2] == (x.CTL, x.STOP) else last)
PY
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    graph burst.xml --attach "unix:$folder/door" --json $words > json 2> told &
    run=$!
    same "what a slow process is told, $words" "$(timeout "$run_limit" python3 slow.py "$share" "unix:$folder/door")" STOP
    wait $run || fail "a process that reads slowly, $words: $(cat told)"
done
# The time of --until begins when the processes are there: a handler that takes 3 s of 2 s and some patience.
slow "3, 0" > slow.xml
cat > tardy.py << 'PY'
import struct, sys, time
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
time.sleep(2.5)
a.attach("meter", "screen")
a.send(x.EXT, 0, 0, 0, struct.pack("<Ii", 0, 1))
time.sleep(6)
PY
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    graph slow.xml --attach "unix:$folder/door" --until 2s --json $words > json 2> told &
    run=$!
    timeout "$run_limit" python3 tardy.py "$share" "unix:$folder/door" || fail "tardy.py"
    wait $run || fail "a handler after a wait, $words: $(cat told)"
    same "and its limit, $words" "$(jq -r .reason json)" limit
done

# ---- a message of which only a compiler knows the length ----------------------------------------
cat > opaque.xml << 'XML'
<Graphs><GraphType id="g">
<MessageTypes><MessageType id="m"><Message><![CDATA[int a[sizeof(int)];]]></Message></MessageType>
<MessageType id="n"><Message><![CDATA[int a;]]></Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><InputPin name="in" messageTypeId="n"><OnReceive/></InputPin><ReadyToSend/></DeviceType>
<ExternalType id="e"><InputPin name="in" messageTypeId="m"/><OutputPin name="out" messageTypeId="m"/></ExternalType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="d" type="d"/><ExtI id="left" type="e"/><ExtI id="right" type="e"/></DeviceInstances>
<EdgeInstances><EdgeI path="right:in-left:out"/></EdgeInstances></GraphInstance></Graphs>
XML
cat > pair.py << 'PY'
import sys
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2])
a.attach("left", "right")
for size in (8, 24, 56):
    a.send(x.EXT, 0, 0, 0, bytes(range(1, size + 1)))
    packet = a.receive()
    while packet[0] != x.EXT:
        packet = a.receive()
    print(packet[2], packet[4] == bytes(range(1, size + 1)))
a.detach("left", "right")
PY
graph opaque.xml --attach "unix:$folder/door" --until idle > told 2>&1 &
run=$!
same "payloads of unknown length" "$(timeout 60 python3 pair.py "$share" "unix:$folder/door" 2>&1 | paste -sd' ')" "1 True 1 True 1 True"
wait $run || fail "opaque: $(cat told)"

# ---- ends ---------------------------------------------------------------------------------------
interrupted INT "$leat" graph run "$smooth" --attach "unix:$folder/door"
same "exit code of an interrupted wait" $got 130
[ ! -e door ] || fail "the socket is left after an interrupt"
# What was left by a process that was killed is used again; other files are not.
python3 -c "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind('door')"
exits 1 "no process has attached" timeout "$run_limit" "$leat" graph run "$smooth" --attach unix:door --attach-wait 10ms
: > file
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "--attach unix:file: Address already in use" "$leat" graph run "$smooth" --attach unix:file
[ -e file ] || fail "a file is removed"
wrong "--attach unix:: expected unix:PATH with 1 to 107 characters" "$leat" graph run "$smooth" --attach unix:
wrong "--attach udp:localhost: expected udp:ADDRESS[:PORT], as in udp:127.0.0.1:4255" "$leat" graph run "$smooth" --attach udp:localhost
wrong "--attach tcp:1: expected unix:PATH or udp:ADDRESS[:PORT]" "$leat" graph run "$smooth" --attach tcp:1
wrong "--attach udp:127.0.0.1:0: expected udp:ADDRESS" "$leat" graph run "$smooth" --attach udp:127.0.0.1:0
wrong "--attach-wait, expected --attach with it" "$leat" graph run "$smooth" --attach-wait 1s
wrong "--attach, expected no --fabric and no --engine mpi" "$leat" graph run "$smooth" --attach unix:door --fabric tinsel
exits 0 "the application has no externals" timeout "$run_limit" "$leat" graph run "$share/ring.xml" --attach unix:door
finish
