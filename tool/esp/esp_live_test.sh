#!/bin/sh
# ESP between hosts, as network namespaces that are created and removed here: a tree of 7
# routers and 16 members, every driver. Answers are computed by the routers; loss, duplication and
# reordering on the way; routers that are killed and restarted; every invalid packet is dropped and
# counted by its reason.
# usage: [LEAT_DRIVERS="packet udp"] esp_live_test.sh LEAT
#
#   root -0- r0 -1- r1 -3- r3 -16..19- m0..m3        links between routers go through the namespace
#               |      -4- r4 -20..23- m4..m7        "wire", where esp_link.py is their cable
#               -2- r2 -5- r5 -24..27- m8..m11       link n is 10.1.n.0/24: .1 above, .2 below
#                      -6- r6 -28..31- m12..m15
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"

routers="0 1 2 3 4 5 6"
members="0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
cable=
joined=
# (Again and again: a signal that comes before a process has begun may be lost.)
leave_all() {
    for signal in TERM TERM TERM KILL; do
        left=
        for pid in $joined; do kill -s $signal "$pid" 2>/dev/null && left=yes; done
        [ -z "$left" ] || sleep 0.5
    done
    # shellcheck disable=SC2086
    [ -z "$joined" ] || wait $joined 2>/dev/null || true
    joined=
}
tear_down() {
    leave_all
    [ -z "$cable" ] || kill "$cable" 2>/dev/null || true
    for r in $routers; do in_ns "r$r" "$leat" esp stop 2>/dev/null || true; done
    delete_hosts
}
# shellcheck disable=SC2046,SC2086 # words
hosts "live ESP is" wire root $(printf 'r%s ' $routers) $(printf 'm%s ' $members)

# ---- the network --------------------------------------------------------------------------------

cables=
finished=
long_link() {
    ip link add "d$3" netns "$name$1" type veth peer name "a$3" netns "${name}wire" || skip "this kernel has no veth"
    ip link add "b$3" netns "${name}wire" type veth peer name up netns "$name$2"
    printf 'link set dev a%s up\nlink set dev b%s up\n' "$3" "$3" | ip -n "${name}wire" -batch -
    cables="$cables a$3=b$3"
    polling="$polling ${name}wire:a$3 ${name}wire:b$3"
    finished="$finished $name$1:d$3 $name$2:up" # esp_link.py makes no checksums
    join_ends "$@"
}
# downwards ROUTER LINK LINKS: the links that lie behind a link
downwards() {
    r=$1 via=$2
    shift 2
    for l in "$@"; do echo "route add 10.1.$l.0/24 via 10.1.$via.2"; done | ip -n "$name$r" -batch -
    for l in "$@"; do echo "route add fd00:0:0:$l::/64 via fd00:0:0:$via::2"; done | ip -n "$name$r" -6 -batch -
}
# be_cable LOSS DUPLICATION REORDERING SEED
be_cable() {
    if [ -n "$cable" ]; then
        kill "$cable"
        wait "$cable" || true
    fi
    : > "$folder/cable"
    # shellcheck disable=SC2086
    nsenter "$(net_of wire)" python3 "$here/esp_link.py" "$@" $cables > "$folder/cable" &
    cable=$!
    waits_for cable
}
long_link root r0 0
long_link r0 r1 1
long_link r0 r2 2
for l in 3 4; do long_link r1 r$l $l; done
for l in 5 6; do long_link r2 r$l $l; done
for m in $members; do link r$((3 + m / 4)) "m$m" $((16 + m)); done
for r in $routers; do in_ns "r$r" sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'; done
ip -n "${name}root" route add 10.1.0.0/16 via 10.1.0.2
ip -n "${name}root" -6 route add fd00::/48 via fd00:0:0:0::2
downwards r0 1 3 4 16 17 18 19 20 21 22 23
downwards r0 2 5 6 24 25 26 27 28 29 30 31
downwards r1 3 16 17 18 19
downwards r1 4 20 21 22 23
downwards r2 5 24 25 26 27
downwards r2 6 28 29 30 31
# shellcheck disable=SC2086
python3 "$here/../../test/veth.py" gro on $polling
# shellcheck disable=SC2086
python3 "$here/../../test/veth.py" checksums off $finished
be_cable 0 0 0 1

# ---- routers and members ------------------------------------------------------------------------

put_key "$folder/key" '00010203 04050607 08090a0b 0c0d0e0f'
devices() {
    case $1 in
    0) echo "--dev up --dev d1 --dev d2" ;;
    1) echo "--dev up --dev d3 --dev d4" ;;
    2) echo "--dev up --dev d5 --dev d6" ;;
    *) echo "--dev up --dev d$((4 * $1 + 4)) --dev d$((4 * $1 + 5)) --dev d$((4 * $1 + 6)) --dev d$((4 * $1 + 7))" ;;
    esac
}
# route ROUTER OPTION...
route() {
    r=$1
    shift
    where=$(devices "$r")
    [ "$driver" != udp ] || where="--next-hop 10.1.$r.1"
    # shellcheck disable=SC2086
    in_ns "r$r" "$leat" esp route $where --driver "$driver" --node-id $((100 + r)) --capacity 16k --port-capacity 1k --key-file "$folder/key" "$@"
}
# Values are 10 + m^2: from 10 to 235, 1400 in all, 87.5 on average.
join_all() {
    for m in $members; do
        via=
        [ "$driver" != udp ] || via="--via 10.1.$((16 + m)).1"
        # shellcheck disable=SC2086
        nsenter "$(net_of "m$m")" "$leat" esp join 7 --root 10.1.0.1 $via --value $((10 + m * m)) --every 150ms --key-file "$folder/key" > "$folder/member.$m" 2>&1 &
        joined="$joined $!"
    done
}
# asks SERVICE OPTION...: its JSON. Sums that are not robust are wrong where a host is late, so all
# have time, here where two dozen hosts may share one busy processor: but five times that is an
# attempt, which must be over within tau, 10 s. On a machine that is busier still a host may be late all
# the same: ask asks again until there is an answer, and answer is for comes_to.
settle() { awk -v processors="$(nproc)" '{ ms = $1 < processors ? 100 : 250 * int($1 / processors); print (ms < 1500 ? ms : 1500) "ms" }' /proc/loadavg; }
asks() { in_ns root "$leat" esp "$@" --members 16 --wait 60s --settle "$(settle)" --key-file "$folder/key" --json; }
ask() {
    wait_until is_answered "$@" || fail "$driver: leat esp $*: $(cat "$folder/stderr")"
    cat "$folder/answer"
}
is_answered() { asks "$@" > "$folder/answer" 2> "$folder/stderr"; }
answer() {
    filter=$1
    shift
    asks "$@" 2> "$folder/stderr" | jq -c "$filter"
}
counts() { in_ns "r$1" "$leat" esp status --json | jq -c '.counts | del(.managed, .host)'; }
count() { in_ns "r$1" "$leat" esp status --json | jq -r ".counts[\"$2\"]"; }

answers() {
    comes_to "$driver: census" '[16,16,"done"]' answer '[.answer,.members,.status]' census 7
    { ask census 7; in_ns r1 "$leat" esp status --json; } | described "$driver: objects"
    comes_to "$driver: max" 235 answer .answer max 7
    comes_to "$driver: min" 10 answer .answer min 7
    comes_to "$driver: sum" "[1400,16]" answer '[.answer,.counted]' sum 7
    comes_to "$driver: average" 87.5 answer .answer average 7
    same "$driver: robust sum" "$(ask sum 7 --robust 5 | jq -c '[.answer,.counted]')" "[1400,16]"
    comes_to "$driver: tree" "[7,0]" answer '[.answer,.unplaced]' tree 7 --dot "$folder/tree.dot"
    # Who is whose child, from Graphviz's lines: 7 routers and 16 members, as they are joined.
    same "$driver: edges of the tree" "$(grep -c -e '->' "$folder/tree.dot")" 23
    same "$driver: below router 3" "$(grep -e '-> "router 0x67 ' "$folder/tree.dot" | grep -o '10.1.[0-9]*.2" ->' | sort | tr -d '\n')" '10.1.16.2" ->10.1.17.2" ->10.1.18.2" ->10.1.19.2" ->'
    same "$driver: below router 0" "$(grep -e '-> "router 0x64 ' "$folder/tree.dot" | grep -c 'router 0x6[56] ')" 2
    # One packet from each member, and one from each router, reach the next.
    # (An attempt in which a host is late is made again: that says nothing here.)
    comes_to "$driver: packets of a census at the top" 2 packets_at_the_top
}
packets_at_the_top() {
    was=$(count 0 executed)
    asks census 7 > /dev/null 2>&1
    echo $(($(count 0 executed) - was))
}

# The same routers, IPv6: four members of another group, beside the others.
answers_by_ipv6() {
    [ "$driver" != udp ] || return 0
    for m in 0 1 6 15; do
        nsenter "$(net_of "m$m")" "$leat" esp join six --root fd00:0:0:0::1 --bind "[::]:4254" --value $((100 + m)) --every 150ms --key-file "$folder/key" > "$folder/six.$m" 2>&1 &
        joined="$joined $!"
    done
    comes_to "$driver: census by IPv6" 4 six census
    comes_to "$driver: sum by IPv6" 422 six sum
    comes_to "$driver: robust sum by IPv6" 422 six sum --robust 5
}
six() { in_ns root "$leat" esp "$@" six --members 4 --wait 60s --settle "$(settle)" --key-file "$folder/key" --json 2>"$folder/stderr" | jq -c .answer; }

# What is in a store while a computation lives, and what passes by.
seen() {
    nsenter "$(net_of r0)" "$leat" esp trace --json > "$folder/trace" 2>"$folder/trace.err" &
    watcher=$!
    if [ "$driver" != udp ]; then # (there no JOINs pass by)
        same "$driver: a second watcher" "$(in_ns r0 timeout "$run_limit" "$leat" esp trace --count 1 | wc -l)" 1
    fi
    comes_to "$driver: trace" "COUNT executed,COUNT stopped,COLLECT stopped,COLLECT executed" traced
    comes_to "$driver: bindings of a census at the top" "[[0,16],2]" bindings
    kill $watcher
    wait $watcher 2>/dev/null || true
    has "$driver: status" "$(in_ns r0 "$leat" esp status)" "COUNT"
}

# (The last rounds of a robust sum may still be under way; where hosts were late there is more than one attempt.)
last_count() { jq -rs 'map(select(.opcode == "COUNT"))[-1].computationId' "$folder/trace"; }
# A census, and what the watcher saw of it a moment later; what it left in the store, which lives for tau.
traced() {
    asks census 7 > /dev/null 2>&1
    sleep 0.3
    jq -rs --arg id "$(last_count)" 'map(select(.computationId == $id) | .opcode + " " + .verdict) | join(",")' "$folder/trace"
}
bindings() {
    asks census 7 > /dev/null 2>&1
    in_ns r0 "$leat" esp store "$(last_count)" --json |
        jq -c '.bindings | [(map(.value) | sort), (map(select(.remaining_ns > 0 and .remaining_ns <= 10000000000)) | length)]'
}

# A COUNT that is executed on its way back only: the member turns it round, and X is set then.
reflected() {
    [ "$driver" != udp ] || return 0
    comes_to "$driver: reflected, carried on its way there, counted on its way back" \
        '9 True True, 1 [["0x77",1]] [["0x77",1]] [["0x77",1]] 1' reflection
}
# By a computation of its own each time; all must be seen before its bindings expire.
reflection() {
    carried=$(count 3 carried)
    id=$(date +%s%N)
    echo "$(reflect "$id"), $(($(count 3 carried) - carried)) $(counted_in 0 "$id") $(counted_in 1 "$id") $(counted_in 3 "$id")" \
        "$(in_ns r0 "$leat" esp store "$id" | grep -c 'centre .*tag 0x77 .* lives ')"
}
counted_in() { in_ns "r$1" "$leat" esp store "$2" --json | jq -c '.bindings | map([.tag, .value])'; }
reflect() {
    in_ns root python3 - "$1" << 'PY'
import socket, struct, sys, time, zlib
packet = struct.pack(">BBHQQQ", 0x0A, 1, 4, int(sys.argv[1]), 0x77, 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 11, 1)  # SO_NO_CHECK
s.bind(("", 4253))
s.settimeout(60)
s.sendto(packet + struct.pack(">I", zlib.crc32(packet)), ("10.1.16.2", 4253))
until = time.monotonic() + 60
back = bytes(32)
while back[1] != 1 and time.monotonic() < until:
    back = s.recv(100)
print(back[0], back[4:28] == packet[4:28], zlib.crc32(back[:-4]) == struct.unpack(">I", back[-4:])[0])
PY
}

multicast() {
    [ "$driver" != udp ] || return 0
    wait_until is_cast || fail "$driver: multicast: $(cat "$folder/cast" "$folder/stderr")"
    comes_to "$driver: every member has it once" "16 16" heard_by_members
}
# Another text each time.
is_cast() {
    text="tea is ready at $(date +%s%N)"
    asks multicast 7 "$text" > "$folder/cast" 2> "$folder/stderr"
    [ "$(jq -c '[.members,.installed,.packets]' "$folder/cast")" = "[16,7,1]" ]
}
heard_by_members() { echo "$(cat "$folder"/member.* | grep -cxF "$text") $(grep -lxF "$text" "$folder"/member.* | wc -l)"; }

# Three texts that come at once, to a member without a key: each is shown.
casts_in_a_row() {
    nsenter "$(net_of m0)" "$leat" esp join 9 --root 10.1.0.1 --bind 0.0.0.0:4260 --count 3 --for 60s > "$folder/casts" 2>&1 &
    joined="$joined $!"
    wait_until in_ns m0 grep -q ":$(printf %04X 4260) " /proc/net/udp /proc/net/udp6 || fail "$driver: nobody is at port 4260"
    for serial in 1 2 3; do "$leat" encode esp opcode=CAST group=9 serial=$serial payload=3${serial}; done > "$folder/casts.hex"
    in_ns root python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for line in open(sys.argv[1]): s.sendto(bytes.fromhex(line), ("10.1.16.2", 4260))' "$folder/casts.hex"
    comes_to "$driver: texts in a row" "1 2 3 " casts_shown
}
casts_shown() { tr '\n' ' ' < "$folder/casts"; }

# 10 % of the packets on each of seven links are lost, as many doubled, as many late.
bad_cables() {
    be_cable 0.1 0.1 0.1 "$1"
    same "$driver: robust sum over bad cables" "$(ask sum 7 --robust 8 --attempts 16 | jq -c '[.answer,.counted]')" "[1400,16]"
    # COLLECT takes what comes: wrong, or nothing at all, sooner or later.
    wrong=no
    for _ in 1 2 3 4 5 6 7 8; do
        got=$(in_ns root "$leat" esp sum 7 --attempts 1 --members 16 --wait 10s --key-file "$folder/key" --json 2>/dev/null | jq -c .answer)
        [ "$got" = 1400 ] || { wrong=yes; break; }
    done
    same "$driver: plain sum over bad cables fails" $wrong yes
    be_cable 0 0 0 1
}

process_of() { in_ns "$1" "$leat" esp status --json | jq .process; }
# Its process is killed; its state is lost in the middle of a computation.
restarted() {
    pid=$(process_of r1)
    kill -9 "$pid"
    comes_to "$driver: killed" 0 process_of r1
    if [ "$driver" = xdp ]; then
        same "$driver: the kernel goes on" "$(ask sum 7 --robust 5 | jq .answer)" 1400
    fi
    has "$driver: taken over" "$(route 1)" "took over the stores of an earlier router"
    same "$driver: back" "$(ask sum 7 --robust 5 | jq .answer)" 1400
    { ask sum 7 --robust 8 --attempts 16 > "$folder/sum" || true; } &
    asker=$!
    sleep 0.8
    in_ns r1 "$leat" esp stop
    route 1 > /dev/null
    wait $asker
    same "$driver: restarted in the middle" "$(jq .answer "$folder/sum")" 1400
}

# Packets of nobody, from member 0 to router 3. forge CARRIAGE CHANGES COUNT [COMPUTATION]
forge() {
    case $1 in
    *6) in_ns m0 python3 "$here/esp_live.py" up "$(mac r3 d16)" fd00:0:0:16::2 fd00:0:0:99::1 "$@" ;;
    *) in_ns m0 python3 "$here/esp_live.py" up "$(mac r3 d16)" 10.1.16.2 10.1.0.1 "$@" ;;
    esac
}
# counted WHAT CARRIAGE CHANGES COUNT WANT: by which reasons
counted() {
    before=$(counts 3)
    forge "$2" "$3" "$4"
    comes_to "$driver: $1, $2" "$5" counted_since
}
something_since() { [ "$(counted_since)" != "{}" ]; }
counted_since() { counts 3 | jq -c --argjson was "$before" 'with_entries(.value -= $was[.key] | select(.value != 0))'; }
# more WHAT THAN: since $was of it
more() { [ $(($(count 3 "$1") - was)) -gt "$2" ]; }
bad_frames() {
    above=$(counts 1)
    for carriage in ipv4 udp; do
        counted "bad frames" $carriage opcode,length,longest,crc,tags,operator,zero,short,header,hops 3 \
            '{"short":3,"opcode":3,"length":6,"crc":3,"tags":3,"operator":3,"zero":3,"unsound":3,"hops":3}'
    done
    counted "bad frames" udp announced 3 '{"unsound":3}'
    same "$driver: none of them goes further" "$(counts 1)" "$above"
    counted "what must pass" ipv4 error,idle 2 '{"carried":4}'
    counted "what aborts" udp collect 2 '{"aborted":2}'
    # Bare frames have no address: without a configured next hop they end at the host.
    counted "bad frames" bare crc,opcode 3 '{"opcode":3,"crc":3}'
    counted "bad frames" udp6 crc,operator 2 '{"crc":2,"operator":2}'
}

# A binding lives as long as it should, give or take the clock's steps.
expiry() {
    route 3 --tau 2s > /dev/null
    began=$(date +%s%N)
    counted "created, then met" udp good 2 '{"executed":1,"stopped":1}'
    before=$(counts 3)
    forge udp good 1
    wait_until something_since || fail "$driver: nothing was counted"
    took_ms=$((($(date +%s%N) - began) / 1000000))
    # (On a machine that is too busy for it, this says nothing.)
    [ $took_ms -gt 1900 ] || same "$driver: lives" "$(counted_since)" '{"stopped":1}'
    sleep 2.05
    counted "has expired" udp good 1 '{"executed":1}'
    route 3 > /dev/null
}

# One source fills the store, or asks without the key.
attacks() {
    route 3 --rate 50 > /dev/null
    was=$(count 3 limited)
    forge udp new 3000
    wait_until more limited 1000 || fail "$driver: a flood of 3000 creations at 50 a second: only $(($(count 3 limited) - was)) limited"
    comes_to "$driver: others are not kept out by it" 16 answer .answer census 7
    route 3 --rate 0 --port-share 200 > /dev/null
    was=$(count 3 limited)
    forge udp new 1000
    wait_until more limited 500 || fail "$driver: a port with a share of 200: only $(($(count 3 limited) - was)) limited"
    route 3 --rate 0 --port-share 0 > /dev/null
    was=$(count 3 full)
    forge udp children 400 # more than a group holds
    wait_until more full 0 || fail "$driver: 400 bindings of one computation: no bucket was full"
    refusals() { in_ns r3 "$leat" esp status --json | jq .refused; }
    refused=$(refusals)
    forge udp query 3
    comes_to "$driver: queries without the key" $((refused + 3)) refusals
    # With keyed computations only, strangers get nothing at all; who has the key sees no difference.
    route 3 --keyed-only > /dev/null
    was=$(count 3 unkeyed)
    forge udp good 3
    comes_to "$driver: computations without the key" $((was + 3)) count 3 unkeyed
    comes_to "$driver: computations with it" 16 answer .answer census 7
    route 3 > /dev/null
}

# A query that member 0 has heard, sent again in the name of member 1: the three routers on its way
# answer to that one, each once, and 2000 times a second at most.
replayed() {
    : > "$folder/replayed"
    python3 "$here/esp_replay.py" "/run/netns/${name}m0" "/run/netns/${name}m1" 10.1.17.2 10.1.20.2 30000 > "$folder/replayed" &
    replayer=$!
    waits_for replayed
    ask tree 7 > /dev/null
    wait $replayer || fail "$driver: no query was heard"
    read -r once _ seconds many << END
$(tail -n 1 "$folder/replayed")
END
    same "$driver: answers to a query that was sent again" "$once" 3
    [ "$many" -gt 0 ] && [ "$many" -le $((3 * 2000 * (seconds + 2))) ] || fail "$driver: 30000 copies of a query in $seconds s: $many answers"
}

# A device has one router; what a router left at a device that has gone goes with it; nobody else's
# file is believed; a port's share is that of the last tau, also when tau is a new one.
ports_and_files() {
    exits 2 "up is a port of the router 'esp', expected leat esp stop --name esp" in_ns r3 "$leat" esp route --dev up --name two --driver "$driver"
    ip -n "${name}r3" link add gone0 type veth peer name gone1
    in_ns r3 "$leat" esp route --dev gone0 --name two --driver "$driver" > /dev/null
    ip -n "${name}r3" link del gone0
    has "$driver: a device that has gone" "$(in_ns r3 "$leat" esp status --name two 2>&1)" "$([ "$driver" = xdp ] && echo "no longer on the devices" || echo "ports gone0 (gone)")"
    in_ns r3 "$leat" esp stop --name two
    same "$driver: its rules" "$(ip -n "${name}r3" rule | grep gone0)" ""
    strange=/dev/shm/leat-esp.$(mark_of r3).strange
    : > "$strange"
    chown 65534 "$strange"
    for word in status stop "route --driver udp --next-hop 10.1.3.1"; do
        # shellcheck disable=SC2086
        has "$driver: $word of another's" "$(in_ns r3 "$leat" esp $word --name strange 2>&1)" "is of another user"
    done
    rm "$strange"
    # A folder, a link and a FIFO: what is in the way is told, and what to do.
    for make in mkdir "ln -s /dev/null" mkfifo; do
        $make "$strange"
        for word in status stop "route --driver udp --next-hop 10.1.3.1"; do
            # shellcheck disable=SC2086
            has "$driver: $word where there is a $make" "$(in_ns r3 "$leat" esp $word --name strange 2>&1)" "$strange is in the way, expected a file of leat or nothing there: remove it, or choose another --name"
        done
        rm -r "$strange"
    done
    route 3 --tau 20ms --rate 0 --port-share 20 > /dev/null
    forge udp new 5
    route 3 --tau 300ms --rate 0 --port-share 20 > /dev/null
    was=$(count 3 executed)
    forge udp new 15
    wait_until more executed 14 || fail "$driver: 15 creations: only $(($(count 3 executed) - was)) executed"
    sleep 0.6
    counted "a port's share under a new tau" udp new 15 '{"executed":15}'
    route 3 > /dev/null
}

# A whole census as tshark sees it at the root, every field named, nothing malformed.
captured() {
    command -v tshark > /dev/null || { echo "SKIPPED, AND LOUDLY: no tshark, no captured census"; return; }
    : > "$folder/tshark"
    nsenter "$(net_of root)" tshark -q -i d0 -w "$folder/esp.pcapng" 2> "$folder/tshark" &
    watcher=$!
    wait_until grep -q 'Capture started' "$folder/tshark" || fail "$driver: no capture: $(cat "$folder/tshark")"
    read_capture() { tshark -X lua_script:share/wireshark/leat.lua -r "$folder/esp.pcapng" "$@" 2> /dev/null; }
    comes_to "$driver: captured" "16 16, 1 ,3 16," captured_census
    kill $watcher
    wait $watcher || true
    same "$driver: captured, sound" "$(read_capture -Y 'leat_esp and (_ws.malformed or _ws.expert)' | head -n 3)" ""
}

# The last attempt: COUNT and COLLECT were announced to all, one of each came in, and the latter brings 16.
captured_census() {
    asks census 7 > /dev/null 2>&1
    sleep 1 # packets reach the file a moment later
    read_capture -Y 'ip.src == 10.1.0.1 and leat_esp.opcode == 67' -T fields -E separator=' ' -e ip.dst -e leat_esp.opcode | sort -u > "$folder/announced"
    echo "$(grep -c ' 67,1$' "$folder/announced") $(grep -c ' 67,3$' "$folder/announced")," \
        "$(read_capture -Y 'leat_esp and ip.dst == 10.1.0.1 and leat_esp.opcode < 64' -T fields -E separator=' ' -e leat_esp.opcode -e leat_esp.val | tail -n 2 | tr '\n' ',')"
}

bad_input() {
    exits 2 "expected one of" "$leat" esp nonsense
    exits 2 "no network device 'nosuch'" "$leat" esp route --dev nosuch
    exits 2 "at least one --dev" "$leat" esp route
    exits 2 "expected one of xdp packet udp" "$leat" esp route --dev up --driver token
    exits 2 "--tau '1'" "$leat" esp route --dev up --tau 1
    exits 2 "--capacity '0'" "$leat" esp route --dev up --capacity 0
    exits 2 "is there twice" in_ns r0 "$leat" esp route --dev up --dev up
    exits 2 "expected an address or DEVICE,MAC" in_ns r0 "$leat" esp route --dev up --next-hop 10.1.0
    exits 2 "expected an address or ADDRESS/BITS" in_ns r0 "$leat" esp route --dev up --next-hop 10.1.0.0/33=10.1.0.1
    exits 2 "expected an Ethernet address" in_ns r0 "$leat" esp route --dev up --next-hop up,ff:ff:ff:ff:ff:ff
    exits 2 "no devices" "$leat" esp route --driver udp --dev lo
    exits 2 "expected --next-hop ADDRESS" "$leat" esp route --driver udp
    exits 2 "--listen goes with" "$leat" esp route --dev lo --listen 10.0.0.1
    for key in 12345 000102030405060708090a0b0c0d0e0 0x0102030405060708090a0b0c0d0e0f "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7"; do
        put_key "$folder/no-key" "$key"
        exits 2 "expected 32 hex digits" "$leat" esp route --dev lo --key-file "$folder/no-key"
    done
    exits 2 "no router here" in_ns root "$leat" esp status
    exits 2 "no router here" in_ns root "$leat" esp stop
    exits 2 "expected 1 to 32 of a-z" "$leat" esp status --name Ä
    exits 2 "expected: store COMPUTATION" "$leat" esp store
    exits 2 "expected 0 to 2^64-1" "$leat" esp store 1x
    exits 2 "join needs --root" "$leat" esp join 7
    exits 2 "--root 'nowhere', expected ADDRESS" "$leat" esp join 7 --root nowhere
    exits 2 "-2^63 to 2^64-1" "$leat" esp join 7 --root 10.1.0.1 --value x
    exits 2 "expected: census GROUP" "$leat" esp census
    exits 2 "--robust does not go with max" "$leat" esp max 7 --robust 5
    exits 2 "multicast needs --key-file" "$leat" esp multicast 7 text
    exits 2 "no members" in_ns root "$leat" esp census 8 --wait 1ms
    exits 2 "--for 'x', expected a time" in_ns root "$leat" esp multicast 7 text --key-file "$folder/key" --for x
    # The members of 7 have a key.
    put_key "$folder/other-key" "f$(tr -d ' ' < "$folder/key" | cut -c 2-)"
    comes_to_exit 2 "packets came with another key or none" in_ns root "$leat" esp census 7 --wait 400ms --key-file "$folder/other-key"
    comes_to_exit 1 "nothing came, expected members with this key" in_ns root "$leat" esp census 7 --members 1 --settle 1ms --attempts 1
    # One that has joined and is gone: nothing ever comes, and yet there is an end.
    "$leat" encode esp opcode=JOIN group=79 > "$folder/join.hex"
    nsenter "$(net_of m0)" python3 "$here/esp_attack.py" repeat "$folder/join.hex" 10.1.0.1 &
    gone=$!
    joined="$joined $gone"
    exits 1 "1 members were asked in 2 attempts and nothing came" in_ns root timeout "$run_limit" "$leat" esp census 79 --members 1 --wait 60s --attempts 2 --settle 300ms
    kill $gone
    comes_to_exit 1 "only 16 of 17 members have joined" in_ns root "$leat" esp census 7 --members 17 --wait 4s --settle "$(settle)" --key-file "$folder/key"
    same "$driver: an answer all the same" "$(head -n 1 "$folder/stdout")" "census 16"
    comes_to_exit 1 "not known" in_ns root "$leat" esp tree 7 --members 1 --wait 3s --tau 1500ms
}

tried=
for driver in ${LEAT_DRIVERS:-xdp packet udp}; do
    if ! route 0 > "$folder/routed" 2> "$folder/stderr"; then
        no_driver route
        continue
    fi
    tried="$tried $driver"
    has "the driver is told" "$(cat "$folder/routed")" "driver $driver: it was asked for"
    for r in 1 2 3 4 5 6; do route $r > /dev/null; done
    join_all
    answers
    seen
    answers_by_ipv6
    reflected
    multicast
    bad_cables 42
    restarted
    if [ "$driver" = xdp ]; then
        casts_in_a_row
        captured
        bad_input
    fi
    leave_all
    if [ "$driver" != udp ]; then
        bad_frames
        ports_and_files
    fi
    if [ "$driver" = xdp ]; then
        expiry
        join_all
        replayed
        attacks # last: they leave a full store behind
        leave_all
    fi
    for r in $routers; do in_ns "r$r" "$leat" esp stop || fail "$driver: router $r does not stop"; done
    same "$driver: nothing is left" "$(ip -n "${name}r0" link show up | grep xdp; ip -n "${name}r0" rule | grep 4253; find /dev/shm -name "leat-esp.$(stat -Lc %i "/run/netns/${name}r0").*")" ""
done
[ -n "$tried" ] || [ -s "$wrongs" ] || skip "no driver works here"
# Without a wish: the kernel's where it can be, and why is told.
case $tried in *xdp*) has "by itself" "$(in_ns r0 "$leat" esp route --dev up)" "driver xdp: the kernel takes it" ;; esac
finish
