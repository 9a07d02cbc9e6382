#!/bin/sh
# PacketWay between three Ethernet segments, as network namespaces that are created and removed here,
# joined by two routers and, for a while, a third; and the same over UDP. Every pair of hosts by plan
# and by address, traces, data, EI, routers that die, a host on two segments, invalid frames, an attacker.
#
#   h1 --seg 1-- ra --seg 2 (h2)-- rb --seg 3-- h3      and hm on seg 1 and seg 3
#                        `-------- rc ----´
# usage: pktway_live_test.sh LEAT
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
tear_down() {
    for n in ra rb rc h1 h2 h3 udp w x m; do
        for at in $n sw ra h1 hm; do
            [ ! -e "/run/netns/$name$at" ] || in_ns "$at" "$leat" pktway stop --name $n 2> /dev/null || true
        done
    done
    delete_hosts
}
hosts "live PacketWay is" sw h1 h2 h3 hm ra rb rc
for s in 1 2 3; do
    ip -n "${name}sw" link add "seg$s" type bridge mcast_snooping 0 || skip "this kernel has no bridges"
    ip -n "${name}sw" link set "seg$s" up
done
# cable NAMESPACE SEGMENT NUMBER: device eSEGMENT with MAC 02:00:00:00:SEGMENT:NUMBER
cable() {
    ip link add "e$2" netns "$name$1" address "02:00:00:00:0$2:$3" type veth peer name "$1e$2" netns "${name}sw" ||
        skip "this kernel has no veth"
    ip -n "${name}sw" link set "$1e$2" master "seg$2" up
    ip -n "$name$1" link set "e$2" up
    polling="$polling ${name}sw:$1e$2"
}
cable h1 1 01 && cable h2 2 01 && cable h3 3 01
cable hm 1 05 && cable hm 3 05
cable ra 1 02 && cable ra 2 02
cable rb 2 03 && cable rb 3 02
# shellcheck disable=SC2086
python3 "$here/../../test/veth.py" gro on $polling
cable rc 2 04 && cable rc 3 03 # without: XDP has to leave the sending to the kernel

# The nodes, as they are started: by device, or with UDP on the loopback of one namespace.
san() { # SEGMENT ADDRESS [PORT PEER...]
    if [ "$driver" != udp ]; then
        echo "e$1,bias=0x$1""00,address=$2"
        return
    fi
    text="udp:127.0.0.1:$3,bias=0x$1""00,address=$2"
    shift 3
    for p in "$@"; do text="$text,peer=127.0.0.1:$p"; done
    echo "$text"
}
place() { if [ "$driver" = udp ]; then echo sw; else echo "$1"; fi; }
start() { # NAME: what it prints goes to a file
    case $1 in
    ra) set -- ra route --driver "$driver" --san "$(san 1 0x102 4301)" --san "$(san 2 0x202 4302 4303 4305),mtu=120" ;;
    rb) set -- rb route --driver "$driver" --san "$(san 2 0x203 4303 4302 4305)" --san "$(san 3 0x302 4304)" ;;
    rc) set -- rc route --driver "$driver" --san "$(san 2 0x204 4305 4302 4303)" --san "$(san 3 0x303 4306)" ;;
    h1) set -- h1 host --san "$(san 1 0x101 4311 4301)" --capability 7 --logical 0xe00005 ;;
    h2) set -- h2 host --san "$(san 2 0x201 4312 4302 4303)" --logical 0xe00004 --logical 0xe00005 ;;
    h3) set -- h3 host --san "$(san 3 0x301 4313 4304 4306)" --capability 7 --capability 9 ;;
    esac
    node=$1
    shift
    # shellcheck disable=SC2046
    in_ns "$(place "$node")" "$leat" pktway "$@" $(keys_of "$node") --name "$node" --poll 250ms > "$folder/$node.started" 2> "$folder/stderr"
}
# With $keyed, SAN 1 has one key, SAN 2 another, and SAN 3 none.
keyed=
keys_of() {
    case $keyed$1 in
    yesra) echo "--key-file $folder/a.key --key-file $folder/b.key" ;;
    yesrb | yesrc) echo "--key-file $folder/b.key --key-file none" ;;
    yesh1) echo "--key-file $folder/a.key" ;;
    yesh2) echo "--key-file $folder/b.key" ;;
    esac
}
process() { sed -n 's/.*process \([0-9]*\).*/\1/p' "$folder/$1.started"; }
# ask NAME WORD...: of the host or router of that name
ask() {
    node=$1
    shift
    in_ns "$(place "$node")" "$leat" pktway "$@" --name "$node"
}
# shellcheck disable=SC2086
reaches() { [ "$(ask "$1" ping $2 --timeout 300ms --json 2> /dev/null | jq .received)" = 1 ]; }
count() { ask "$1" status --json | jq "[.sans[] | select(.address == \"$2\") | .counts | .$3] | add"; }

# whole NAME WORD...: an answer in JSON of which nothing is missing; answer FILTER NAME WORD...: what jq
# makes of any. A question that a busy machine was late for is asked again.
whole() {
    wait_until is_whole "$@" || true
    cat "$folder/answer"
}
is_whole() { ask "$@" --json > "$folder/answer" 2> /dev/null; }
answer() {
    filter=$1
    shift
    ask "$@" --json 2> /dev/null | jq -c "$filter"
}
pings_for_a_moment() { in_ns "$(place h1)" "$leat" pktway ping 0x301 --json --san "$(san 1 0x110 4399 4301)" | jq .received; }
pairs() {
    for a in "h1 0x101" "h2 0x201" "h3 0x301"; do
        for b in 0x101 0x201 0x301; do
            [ "${a#* }" != $b ] || continue
            for how in "" --by-address; do
                # shellcheck disable=SC2086
                whole "${a% *}" ping $b $how --count 2 --interval 0s > "$folder/pair"
                same "$driver: ${a#* } to $b $how" "$(jq -c '[.received, .err_messages, .ei_there, .ei_back]' "$folder/pair")" \
                    '[2,[],"0000000000000000","0000000000000000"]'
            done
        done
    done
}

questions() {
    plan=$(whole h1 plan 0x301)
    same "$driver: the plan" "$(echo "$plan" | jq -c '[.plan, .router_address, .routes[0].q, .routes[0].mtu_words]')" '["routes","0x000102",6,120]'
    [ "$driver" = udp ] || same "$driver: its hops" "$(echo "$plan" | jq -c .routes[0].l2rh)" '["020000000203","020000000301"]'
    [ "$driver" != udp ] || same "$driver: its hops" "$(echo "$plan" | jq -c .routes[0].l2rh)" '["7f00000110cf","7f00000110d9"]'
    comes_to_exit 0 "quality 6, MTU 120 words, by" ask h1 plan 0x301
    for words in "h1 plan 0x301" "h1 ping 0x301" "h1 trace 0x301" "h1 tell name=h3" "ra status" "h1 status" "ra tables"; do
        # shellcheck disable=SC2086
        whole $words
    done | described "$driver: objects"
    comes_to "$driver: a plan on the own SAN" '"native"' answer .plan h1 plan 0x102
    comes_to "$driver: trace names the routers" '[true,[["ra","0x000202"],["rb","0x000302"]]]' \
        answer '[.reached, [.hops[] | [.name, .address]]]' h1 trace 0x301
    comes_to "$driver: trace back" '["rb","ra"]' answer '[.hops[].name]' h3 trace 0x101
    comes_to_exit 0 "0x000301" ask h1 trace 0x301
    comes_to "$driver: tell by name" '[["0x000301","h3"]]' answer '[.answers[] | [.address, .name]]' h1 tell name=h3
    comes_to "$driver: tell by capability" '["0x000101","0x000301"]' answer '[.answers[].address] | sort' h1 tell capability=7
    comes_to "$driver: tell, ORed" '["0x000101","0x000201","0x000301"]' \
        answer '[.answers[].address] | sort' h3 tell name=h2 capability=9 address=0x101
    # A half-router asked about itself has only that to say, as when the SAN is mapped; one question after the other.
    for time in first second; do
        comes_to "$driver: tell about the router itself, $time" '[["0x000102","ra"]]' \
            answer '[.answers[] | [.address, .name]]' h1 tell address=0x102
        comes_to "$driver: tell by its capability" '["ra"]' \
            answer '[.answers[] | select(.address == "0x000102") | .name]' h1 tell capability=2
    done
    comes_to_exit 1 "ERR UNK from 0x000102 about name=nobody" ask h1 tell name=nobody
    comes_to_exit 1 "no such node: ERR UNK from 0x000102 about name=nobody capability=3:1,2 0x0003ff" \
        ask h1 tell name=nobody capability=3:1,2 address=0x3ff --json
    same "$driver: nobody, as JSON" "$(jq -c '[.answers, .status]' "$folder/stdout")" '[[],"nobody"]'
    comes_to "$driver: the tables of ra" '[["0x000200",["0x000202"]],["0x000300",["0x000302","0x000203","0x000202"]]]' \
        answer '.half_routers[0].tables | map([.san, .rcvf]) | sort' ra tables
    comes_to_exit 1 "ERR UNK from 0x000102 about 0x0003ff" ask h1 ping 0x3ff --by-address --timeout 2000ms
    comes_to_exit 1 "ERR GENERAL from 0x000202 about 0x000301" ask h1 ping 0x301 --by-address --bytes 1200 --timeout 2000ms
    comes_to_exit 2 "longer than the MTU" ask h1 ping 0x301 --bytes 1200
    comes_to_exit 1 "knows a route" ask h1 plan 0x3ff
    # who asks for much and goes away does not keep the host
    timeout 1 nsenter "$(net_of "$(place h1)")" "$leat" pktway ping 0x301 --count 1000 --name h1 > /dev/null || true
    comes_to "$driver: asked again at once" 1 answer .received h1 ping 0x301
    comes_to "$driver: a node for a moment" 1 pings_for_a_moment
    [ "$driver" != xdp ] || same "xdp: the kernel forwards" "$([ "$(count rb 0x000203 in_kernel)" -gt 5 ] && echo yes)" yes
}

frames() { in_ns h1 python3 "$here/pktway_live.py" "$@"; }
# Every way in which a frame can be bad, three times each: what ra counts, by its reason.
what_is_wrong() {
    ask ra status --json | jq -c '[(.sans[0].counts | .reasons + {cut, foreign, broadcast, strange}),
        {refused_routes: .sans[1].counts.refused_routes}] | add'
}
bad_frames() {
    m=02:00:00:00:01:02 z=0000000000000000 b=00000201000000520000000000000101
    many=$(printf '0081050000000000%.0s' $(seq 65))
    was=$(what_is_wrong)
    # version 1; an L2RH without octets; two words; an L2RH beyond the end; 65 L2RHs; a reserved
    # class; destination 0; an unknown one; an L2RH to everybody, to nobody, of another length
    frames send e1 $m "4000020100000052${z%0}1$z,0080000000000000$b$z,$b,00bf010203040506$b$z,$many$b$z,\
00c00001000000520000000000000101$z,00000000000000520000000000000101$z,000002ff000000520000000000000101$z,\
0086ffffffffffff$b$z,008602aabbccddee$b$z,0084030003000000$b$z" 3
    # a count beyond the frame, of nothing; another OUI, another protocol
    frames raw e1 $m 88b7 "0200000300ffff$b$z,02000003000000$b$z,03000003000003$b$z,02000003010003$b$z" 3
    # data to everybody; somebody with an address of elsewhere
    frames send e1 ff:ff:ff:ff:ff:ff "$b$z,007fffff0019000100000001000005552900000001000555$z" 3
    wanted='{"VERSION":3,"SHORT":6,"L2RH_LEN":3,"TOO_MANY":3,"ADDRESS":6,"UNKNOWN":3,"cut":6,"foreign":6,"broadcast":3,"strange":3,"refused_routes":9}'
    wait_until wrongs_are || true
    same "$driver: bad frames by reason" "$(wrong_since)" "$wanted"
    wait_until reaches h1 0x301 || fail "$driver: bad frames: h3 is not reached after them"
}
wrong_since() { what_is_wrong | jq -c --argjson was "$was" 'with_entries(.value -= $was[.key] | select(.value != 0))'; }
wrongs_are() { [ "$(wrong_since)" = "$wanted" ]; }
test_count() { [ "$(count ra "$1" "$2")" = "$3" ]; }
# hears NAMESPACE DEVICE PATTERN N HEX,...: messages that h1 sends to ra, and what of it comes out there.
# Nobody repeats a message that is lost, and a busy router may be taken for gone: they are sent until all came.
hears() {
    rm -f "$folder/heard"
    in_ns "$1" python3 "$here/pktway_live.py" hear "$2" "$patience" "$3" "$4" > "$folder/heard" &
    listener=$!
    waits_for heard
    wait_until all_is_heard "$4" "$5" || true
    wait $listener
}
all_is_heard() {
    frames send e1 02:00:00:00:01:02 "$2"
    [ "$(sed 1d "$folder/heard" | wc -l)" -eq "$1" ]
}
# EI as it comes out behind two routers: of a packet whose length contradicts its DL, and of one that
# its source calls bad.
error_indication() {
    hears h3 e3 '00000301000[789]0400' 3 "000003010007040000000000000001010000000000000000,\
000003010008040000000000000001010000000000000001,00000301000904000000000000000101abababababababab0000000000000000"
    same "$driver: EI 0 of a sound packet" "$(sed -n 's/^0000030100070400000000000000010[1]//p' "$folder/heard")" 0000000000000000
    same "$driver: EI of a bad source" "$(sed -n 's/^0000030100080400000000000000010[1]//p' "$folder/heard")" 0000000000000004
    same "$driver: EI of two routers that see an error" "$(sed -n 's/^0000030100090400000000000000010[1]//p' "$folder/heard")" abababababababab0000000000000003
}

rogue() {
    in_ns h2 python3 "$here/pktway_live.py" rogue e2 02:00:00:00:02:02 2ee 202 3000
    wait_until flood_is_dropped || fail "$driver: of a flood of 3000 tables only $dropped are counted"
    tables=$(ask ra tables --json | jq '[.half_routers[1].tables[] | select(.withdrawn | not)] | length')
    [ "$tables" -le 64 ] || fail "$driver: $tables tables after a flood, want 64 at most"
    wait_until reaches h1 0x301 || fail "$driver: the rogue keeps h1 from h3"
    strange=$(count ra 0x000102 rtbl_strange)
    frames send e1 02:00:00:00:01:02 00000102001d00010000000500000101300200040000000131000000010005002f000000010005012d020000000000002e000000000000000000000000000000 5
    wait_until test_count 0x000102 rtbl_strange $((strange + 5)) || fail "$driver: tables of a host are not counted"
    was=$(count ra 0x000202 duplicate)
    in_ns h2 python3 "$here/pktway_live.py" send e2 02:00:00:00:02:02 007fffff00190001000000010000020329000000010002030000000000000000 2
    comes_to "$driver: the address of another is not believed" $((was + 2)) count ra 0x000202 duplicate
    same "$driver: who claims it is told" "$(ask ra status --json | jq -c '.sans[1].dispute')" '{"address":"0x000203","claimed_by":"02:00:00:00:02:01"}'
    # h2 says in the name of rb that rb is down
    in_ns h2 python3 "$here/pktway_live.py" send e2 02:00:00:00:02:02 "000002020048ffff0000000200000203290000000100020329000000010003020000000000000000" 3
    wait_until spoofs_are 3 || fail "$driver: a message in the name of another is not counted"
    wait_until reaches h1 "0x301 --by-address" || fail "$driver: a message in the name of another is believed"
    wait_until rogue_is_gone || fail "$driver: the rogue's tables stay"
}
flood_is_dropped() {
    dropped=$(($(count ra 0x000202 rtbl_limited) + $(count ra 0x000202 rtbl_full)))
    [ $dropped -gt 1000 ]
}
spoofs_are() { [ "$(count ra 0x000202 spoofed)" = "$1" ]; }
rogue_is_gone() { [ "$(ask ra tables --json | jq '[.half_routers[1].tables[] | select(.withdrawn | not)] | length')" -le 2 ]; }

captured() {
    command -v tshark > /dev/null || { echo "SKIPPED, AND LOUDLY: no tshark, no capture"; return; }
    : > "$folder/tshark"
    nsenter "$(net_of h1)" tshark -q -i e1 -w "$folder/pktway.pcapng" 2> "$folder/tshark" &
    watcher=$!
    wait_until grep -q 'Capture started' "$folder/tshark"
    read_capture() { tshark -X lua_script:share/wireshark/leat.lua -r "$folder/pktway.pcapng" -Y leat_packetway "$@" 2> /dev/null; }
    comes_to "$driver: captured, messages named" "GENERALGVL2INFOL2SRTELLWRU?" captured_messages
    kill $watcher
    wait $watcher || true
    same "$driver: captured, sound" "$(read_capture -Y '_ws.malformed or _ws.expert')" ""
    same "$driver: captured, all of it" "$(tshark -X lua_script:share/wireshark/leat.lua -r "$folder/pktway.pcapng" -Y 'eth.type == 0x88b7 and not leat_packetway' 2> /dev/null)" ""
}

captured_messages() {
    in_ns h1 "$leat" pktway ping 0x301 --san e1,bias=0x100,address=0x111 > /dev/null
    ask h1 tell capability=7 > /dev/null
    ask h1 trace 0x201 > /dev/null
    sleep 1 # packets reach the file a moment later
    read_capture -V | grep -oE '(WRU\?|INFO|TELL|GVL2|L2SR|GENERAL) \(' | sort -u | tr -d '( \n'
}

# Two ways: one router dies and traffic goes on; no way: who is down is told.
deaths() {
    start rc || fail "$driver: rc: $(cat "$folder/stderr")"
    [ $driver != xdp ] || has "the mode is told" "$(cat "$folder/rc.started")" "does not poll"
    wait_until two_ways || fail "$driver: rc is not known to ra"
    kill -9 "$(process rb)"
    wait_until reaches h1 0x301 || fail "$driver: no way round a dead router"
    same "$driver: round it, back" "$(wait_until reaches h3 0x101 && echo yes)" yes
    comes_to "$driver: trace goes round" '["ra","rc"]' answer '[.hops[].name]' h1 trace 0x301
    kill -9 "$(process rc)"
    wait_until told_down || fail "$driver: who is down is not told: $(ask h1 ping 0x301 --by-address --timeout 300ms)"
    start rb || fail "$driver: rb again: $(cat "$folder/stderr")"
    wait_until reaches h1 0x301 || fail "$driver: not reached after rb is back"
    kill -9 "$(process ra)"
    wait_until is_not_there ra || fail "$driver: ra is still there"
    exits 2 "no 'ra' runs" ask ra status
    start ra || fail "$driver: ra again: $(cat "$folder/stderr")"
    wait_until reaches h1 0x301 || fail "$driver: not reached after ra is back"
    exits 1 "'ra' runs here already" in_ns "$(place ra)" "$leat" pktway route --name ra --san "$(san 1 0x102 4301)" --san "$(san 2 0x202 4302)"
}
is_not_there() { ! ask "$1" status; }
two_ways() { ask ra tables --json | jq -e '[.half_routers[1].tables[] | select(.san == "0x000300" and (.withdrawn | not))] | length == 2'; }
told_down() {
    ask h1 ping 0x301 --by-address --timeout 200ms --json > "$folder/down" 2> /dev/null || true
    jq -e '.err_messages[0].err == "HRDOWN" and (.err_messages[0].about | index("0x000203") or index("0x000204"))' "$folder/down"
}

# A memory node on the third segment; more than one message holds, by an MTU of 120 words.
memory_node() {
    in_ns "$(place h3)" "$leat" pktway memory --name mem --poll 100ms --san "$(san 3 0x331 4331 4304)" --memory 4k --base 0x1000 \
        --allow rw,nodes=0x101 --allow r,range=0x1000-0x10ff > /dev/null || fail "$driver: memory"
    wait_until reaches h1 0x331 || fail "$driver: the memory node is not reached"
    octets=$(seq -w 1 999 | tr -d '\n')
    comes_to_exit 0 "0x000331: 2997 octets written at 0x1001 and read back" ask h1 write 0x331 0x1001 "text=$octets"
    same "$driver: read" "$(whole h1 read 0x331 0x1001 2997 | jq -r .octets | sed 's/3\([0-9]\)/\1/g')" "$octets"
    comes_to_exit 0 "0x00001000  00303031 30303230 30333030 34303035  .001002003004005" ask h1 read 0x331 0x1000 20
    comes_to_exit 1 "read 1 octets at 0x2000: none of its memory, or not allowed" ask h1 read 0x331 0x2000 1
    comes_to_exit 1 "write 2 octets at 0x1fff" ask h1 write 0x331 0x1fff cafe
    same "$driver: another may read a part" "$(whole h2 read 0x331 0x1001 3 | jq -r .octets)" 303031
    comes_to_exit 1 "read 2 octets at 0x10ff" ask h2 read 0x331 0x10ff 2
    comes_to_exit 1 "write 1 octets at 0x1000" ask h2 write 0x331 0x1000 ff
    # (more where an answer was late: then a request is sent again)
    same "$driver: it counts" "$(in_ns "$(place h3)" "$leat" pktway status --name mem --json | jq -c '.memory | [.written >= 2997, .requests.BOUNDS >= 3, .requests.PERMISSION > 1]')" '[true,true,true]'
    [ "$driver" = udp ] || octets_of_memory
    in_ns "$(place h3)" "$leat" pktway stop --name mem
}
# By hand, from h1: MEM-READ of 3 octets at 0x1001, to be answered to 0x0123456789abcdef; MEM-WRITE of what nobody may.
octets_of_memory() {
    # (not the late answers to other questions of h1)
    hears h1 e1 '00000101(00000004.{16}0123456789abcdef|004affff.{48}0000000000002000)' 2 \
        "000003310000000300000003000001010123456789abcdef000000000000100100000000000000030000000000000000,\
00000331000000040e0000020000010100000000000020001100000000000000""0000000000000000"
    same "$driver: the octets of the answers" "$(sed 1d "$folder/heard" | sort | tr '\n' ' ')" "00000101000000040a000002000003310123456789abcdef30303100000000000000000000000000 \
00000101004affff000000050000033100000331000000040e00000200000101000000000000200011000000000000000000000000000000""0000000000000000 "
}

# More nodes match than a message tries: how many is told, and it reaches one.
crowd() {
    u="in_ns sw $leat pktway"
    $u route --name c --poll 250ms --san udp:127.0.0.1:4501,bias=0xa00,address=0xafe --san udp:127.0.0.1:4502,bias=0xb00,address=0xbfe > /dev/null
    for i in $(seq 66); do
        $u host --name "c$i" --capability 5 --san "udp:127.0.0.1:0,bias=0xa00,address=$((0xa00 + i)),peer=127.0.0.1:4501" > /dev/null || fail "host $i of a crowd"
    done
    comes_to "a crowd" 66 answer '.answers | length' c1 tell capability=5
    comes_to_exit 0 "leat: 1 more nodes match 'capability=5' than the 64 that are tried" ask c1 send capability=5 00
    for i in $(seq 66); do $u stop --name "c$i"; done
    $u stop --name c
}

# Data: to an address, a name, a capability, a group; who receives it, and what is told if nobody does.
# receives NODE WORD...: in the background, to a file
receives() {
    at=$1
    shift
    nsenter "$(net_of "$(place "$at")")" "$leat" pktway receive --name "$at" --json "$@" > "$folder/received.$at" &
}
# until NODE has it: a receiver may not be ready yet, and a busy router may lose a message
arrives() { # NODE HEX send-WORD...
    at=$1 octets=$2
    shift 2
    ask h1 send "$@" > "$folder/sent" 2>&1 && grep -q "\"$octets\"" "$folder/received.$at"
}
data_messages() {
    receives h2
    second=$!
    receives h3
    third=$!
    wait_until arrives h2 68656c6c6f 0x201 text=hello || fail "$driver: data to an address: $(cat "$folder/sent")"
    wait_until arrives h3 cafe01 name=h3 cafe01 --priority 63 || fail "$driver: data to a name: $(cat "$folder/sent")"
    wait_until arrives h3 02 capability=9 02 --by-address || fail "$driver: data to a capability: $(cat "$folder/sent")"
    wait_until arrives h2 7470 0xe00004 text=tp || fail "$driver: data to a group: $(cat "$folder/sent")"
    seq 1 300 | tr -d '\n' > "$folder/octets"
    wait_until arrives h3 "$(od -An -v -tx1 "$folder/octets" | tr -d ' \n')" 0x301 --file "$folder/octets" || fail "$driver: data of a file: $(cat "$folder/sent")"
    same "$driver: what h3 received" "$(jq -c 'select(.octets == "cafe01") | [.sender_address, .address, .priority, .pt, .te, .bytes, .ei_there]' "$folder/received.h3" | sort -u)" '["0x000101","0x000301",63,1025,0,3,"0x0"]'
    same "$driver: what the group received" "$(jq -c 'select(.octets == "7470") | .address' "$folder/received.h2" | sort -u)" '"0xe00004"'
    described "$driver: received" < "$folder/received.h3"
    comes_to "$driver: sent" '[1,"0x000101","0x000301","name=h3",true,"done"]' \
        answer '[.number, .sender_address, .address, .sent_to, .reached, .status]' h1 send name=h3 00
    whole h1 send 0x301 00 | described "$driver: sent"
    same "$driver: several" "$(whole h1 send 0x301 00 --count 3 --every 10ms | jq -c .number | xargs)" "1 2 3"
    kill $second $third
    wait $second $third || true
    comes_to_exit 1 "lost: no half-router here knows a route to 0x0003ff" ask h1 send 0x3ff 00
    comes_to_exit 1 "lost: ERR UNK from 0x000102" ask h1 send 0x3ff 00 --by-address
    comes_to_exit 1 "lost: ERR UNK from 0x000102" ask h1 send 0x3ff 00 --by-address --blind
    comes_to_exit 1 "lost: no other node matches" ask h1 send name=nobody 00
    head -c 1200 /dev/zero > "$folder/long"
    comes_to_exit 1 "longer than the MTU of the route" ask h1 send 0x301 --file "$folder/long"
    comes_to "$driver: an ERR as an object" '[false,"UNK","0x000102","0x0003ff","lost"]' \
        answer '[.reached, .err_messages[0].err, .err_messages[0].sender_address, .err_messages[0].about[0], .status]' h1 send 0x3ff 00 --by-address
    comes_to "$driver: nobody receives" true unclaimed_grows
    exits 1 "nothing has arrived" ask h2 receive --timeout 100ms
    # by a node of its own, a number of messages
    in_ns "$(place h3)" "$leat" pktway receive --san "$(san 3 0x341 4341 4304)" --poll 100ms --count 1 --output "$folder/raw" > /dev/null &
    own=$!
    wait_until gone_after_data $own || fail "$driver: a node of its own does not receive: $(cat "$folder/sent")"
    wait $own || fail "$driver: receive --count 1 ends with $?"
    same "$driver: the octets alone" "$(cat "$folder/raw")" alone
}
unclaimed_grows() {
    ask h1 send 0x301 00 > /dev/null 2>&1
    ask h3 status --json | jq '.counts.data_unclaimed > 0'
}
gone_after_data() {
    ask h1 send 0x341 text=alone --timeout 300ms > "$folder/sent" 2>&1 || true
    ! kill -0 "$1" 2> /dev/null
}

# A host on SAN 1 and SAN 3, whose routers die one after the other: the same name by either address, and both ways.
multi_homed() {
    m="in_ns $(place hm) $leat pktway"
    $m host --name m --poll 100ms --san "$(san 1 0x151 4351 4301)" --san "$(san 3 0x351 4353 4304 4306)" --logical 0xe00006 \
        > "$folder/m.started" || fail "$driver: a host on two SANs"
    has "$driver: its addresses" "$(cat "$folder/m.started")" "host m, addresses 0x000151, 0x000351, process"
    nsenter "$(net_of "$(place hm)")" "$leat" pktway receive --name m --json > "$folder/received.m" &
    hears_m=$!
    comes_to "$driver: both addresses" '["0x000151","0x000351"]' answer '[.answers[].address] | sort' h2 tell name=m
    wait_until has_data_of_m 00 h2 name=m || fail "$driver: a host on two SANs is not reached: $(cat "$folder/sent")"
    wait_until has_data_of_m 01 h2 0xe00006 || fail "$driver: its group is not reached: $(cat "$folder/sent")"
    comes_to "$driver: natively from SAN 3" '"0x000351"' answer .address h3 send name=m 00
    comes_to "$driver: and from SAN 1" '"0x000151"' answer .address h1 send name=m 00
    wait_until m_reaches_by 0x000151 0x101 || fail "$driver: m does not send by SAN 1: $(cat "$folder/sent")"
    wait_until m_reaches_by 0x000351 0x301 || fail "$driver: m does not send by SAN 3: $(cat "$folder/sent")"
    same "$driver: status of both" "$($m status --name m --json | jq -c '[.host_addresses, (.router_addresses | length)]')" '[["0x000151","0x000351"],2]'
    for dead in ra rb; do
        kill -9 "$(process $dead)"
        case $dead in ra) left=0x000351 ;; rb) left=0x000151 ;; esac
        wait_until reached_at $left || fail "$driver: without $dead m is not reached by $left: $(cat "$folder/sent")"
        wait_until m_reaches_by $left 0x201 || fail "$driver: without $dead m does not send by $left: $(cat "$folder/sent")"
        wait_until pings_of_m || fail "$driver: without $dead m does not ping"
        start $dead || fail "$driver: $dead again: $(cat "$folder/stderr")"
        wait_until reaches h1 0x301 || fail "$driver: not reached after $dead is back"
    done
    kill $hears_m
    wait $hears_m || true
    exits 2 "overlaps that of bias 0x100" $m host --name x --san "$(san 1 0x142 4361 4301)" --san "$(san 1 0x143 4362 4301)"
    $m stop --name m
}
has_data_of_m() { ask "$2" send "$3" "$1" > "$folder/sent" 2>&1 && grep -q "\"octets\":\"$1\"" "$folder/received.m"; }
m_reaches_by() { [ "$($m send "$2" 00 --name m --timeout 300ms --json 2> /dev/null | tee "$folder/sent" | jq -r 'select(.reached) | .sender_address')" = "$1" ]; }
reached_at() { [ "$(ask h2 send name=m 00 --timeout 300ms --json 2> /dev/null | tee "$folder/sent" | jq -r 'select(.reached) | .address')" = "$1" ]; }
pings_of_m() { [ "$($m ping 0x201 --name m --timeout 300ms --json 2> /dev/null | jq .received)" = 1 ]; }

# Whom EI accuses, behind two routers: bit 1 the first, bit 0 the second, bit 2 the source.
accused() {
    for row in "2 0x000202" "7 source,0x000202,0x000302"; do
        nsenter "$(net_of h3)" python3 "$here/pktway_live.py" liar e3 340 "${row% *}" &
        liar=$!
        wait_until reaches h1 0x340 || fail "$driver: 0x340 is not reached"
        wait_until accuses "${row#* }" || fail "$driver: EI ${row% *} does not accuse ${row#* }: $(ask h1 ping 0x340 --json)"
        comes_to_exit 0 "EI there: an error was seen by" ask h1 ping 0x340
        kill $liar
        wait $liar 2> /dev/null || true
    done
    same "$driver: EI 0 accuses nobody" "$(whole h1 ping 0x301 | jq -c .accused_there)" "[]"
    same "$driver: half-routers answer" "$(whole h1 ping 0x302 | jq -c '[.received, .err_messages]') $(whole h1 ping 0x102 | jq .received) $(whole h1 trace 0x302 | jq .reached)" "[1,[]] 1 true"
}
accuses() { [ "$(ask h1 ping 0x340 --json | jq -r '.accused_there | join(",")')" = "$1" ]; }

# A device that is down until all there have forgotten each other, then up; one that is taken away, and another of its name.
flaps() {
    ip -n "${name}ra" link set e2 down
    wait_until told_link_down || fail "$driver: a device that is down is not told: $(cat "$folder/down")"
    wait_until all_forgotten || fail "$driver: ra still knows nodes behind a device that is down"
    ip -n "${name}ra" link set e2 up
    wait_until reaches h1 0x301 || fail "$driver: no way after a device is up again"
    ip -n "${name}ra" link del e2
    wait_until all_forgotten || fail "$driver: ra still knows nodes behind a device that is gone"
    cable ra 2 02
    python3 "$here/../../test/veth.py" gro on "${name}sw:rae2"
    wait_until reaches h1 0x301 || fail "$driver: no way after a device is there again"
}
told_link_down() {
    ask h1 ping 0x301 --by-address --timeout 200ms --json > "$folder/down" 2> /dev/null || true
    jq -e '.err_messages[0].err == "LINKDOWN"' "$folder/down"
}
all_forgotten() { ask ra tables --json | jq -e '.half_routers[1].nodes == []' && ask rb tables --json | jq -e '[.half_routers[0].nodes[] | select(.buddy)] == []'; }

# A router of three half-routers: a route has an L2RH to tell them apart, but the router is one.
three_sans() {
    u="in_ns sw $leat pktway"
    $u route --name t --poll 100ms --san udp:127.0.0.1:4401,bias=0x500,address=0x502 --san udp:127.0.0.1:4402,bias=0x600,address=0x602 \
        --san udp:127.0.0.1:4403,bias=0x700,address=0x702 > /dev/null || fail "a router on three SANs"
    $u host --name t5 --poll 100ms --san udp:127.0.0.1:0,bias=0x500,address=0x501,peer=127.0.0.1:4401 > /dev/null
    $u host --name t7 --poll 100ms --san udp:127.0.0.1:0,bias=0x700,address=0x701,peer=127.0.0.1:4403 > /dev/null
    wait_until $u ping 0x701 --name t5 --timeout 300ms || fail "three SANs: 0x701 is not reached"
    comes_to "three SANs: two L2RHs" '[2,"000702"]' answer '[.routes[0].l2rh | length, .[0]]' t5 plan 0x701
    comes_to "three SANs: one router" '[true,["0x000702"]]' answer '[.reached, [.hops[].address]]' t5 trace 0x701
    for n in t5 t7 t; do $u stop --name $n; done
}

# SANs by letter and device: biases and addresses follow, and are free ones; an address that somebody has is not given twice.
by_letter() {
    in_ns h1 "$leat" pktway host --name a --san A --dev e1 --poll 100ms > "$folder/a.started" || fail "$driver: host --san A --dev e1"
    in_ns h2 "$leat" pktway host --name b --san B --dev e2 --poll 100ms > "$folder/b.started" || fail "$driver: host --san B --dev e2"
    b=$(sed -n 's/.*address \(0x[0-9a-f]*\),.*/\1/p' "$folder/b.started")
    wait_until reaches_by_letter || fail "$driver: $b is not reached from SAN A"
    taken "address $b is in use (02:00:00:00:02:01 says so), expected another" ra host --san "B,address=$b" --dev e2
    for _ in 1 2 3 4; do taken "address 0x000101 is in use on this host by process" h1 host --san e1,bias=0x100,address=0x101; done
    taken "address 0x000202 is in use" rb route --san e2,bias=0x200,address=0x202 --san e3,bias=0x300,address=0x3fe
    in_ns h1 "$leat" pktway stop --name a
    in_ns h1 "$leat" pktway host --name a --san A --dev e1 --poll 100ms > /dev/null || fail "$driver: its name and address are not free after stop"
    in_ns h1 "$leat" pktway stop --name a
    in_ns h2 "$leat" pktway stop --name b
}
# taken TEXT NAMESPACE WORD...: is not started; on a busy machine who has the address may be late to say so
taken() {
    tries=0
    text=$1 ns=$2
    shift 2
    while in_ns "$ns" "$leat" pktway "$@" --name x > /dev/null 2> "$folder/taken" && [ $tries -lt 20 ]; do
        in_ns "$ns" "$leat" pktway stop --name x
        tries=$((tries + 1))
    done
    has "$driver: $*" "$(cat "$folder/taken")" "$text"
}
reaches_by_letter() { in_ns h1 "$leat" pktway ping "$b" --name a --timeout 300ms; }

# IP between h1 and h3 through TUN devices; a packet with the source of another is not taken.
ip_over_it() {
    [ -c /dev/net/tun ] || { echo "SKIPPED, AND LOUDLY: no /dev/net/tun, no IP over PacketWay"; return; }
    in_ns h1 "$leat" pktway tun --name tun1 --poll 250ms --san e1,bias=0x100,address=0x121,mtu=110 --way 10.9.0.3=0x321 > /dev/null || fail "$driver: tun of h1"
    in_ns h3 "$leat" pktway tun --name tun3 --poll 250ms --san e3,bias=0x300,address=0x321,mtu=110 --way 10.9.0.1/32=0x121 > /dev/null || fail "$driver: tun of h3"
    ip -n "${name}h1" addr add 10.9.0.1/24 dev pw0
    ip -n "${name}h1" addr add 10.9.0.7/24 dev pw0
    ip -n "${name}h3" addr add 10.9.0.3/24 dev pw0
    # Not by in_ns, whose shell would be what $! is.
    nsenter "$(net_of h3)" python3 "$here/pktway_live.py" echo 10.9.0.3 > /dev/null &
    echo=$!
    comes_to "$driver: IP over PacketWay" "900 octets" in_ns h1 python3 "$here/pktway_live.py" call 10.9.0.1 10.9.0.3
    same "$driver: IP of another source" "$(in_ns h1 python3 "$here/pktway_live.py" call 10.9.0.7 10.9.0.3)" "no answer"
    kill $echo
    comes_to "$driver: it is counted" "[true,true,true]" ip_counts
    in_ns h1 "$leat" pktway stop --name tun1
    in_ns h3 "$leat" pktway stop --name tun3
}

ip_counts() { in_ns h3 "$leat" pktway status --name tun3 --json | jq -c '[.ip_received > 0, .ip_sent > 0, .ip_spoofed > 0]'; }

# Another user of ra's host: opens its control socket and says nothing, over and over, while packets pass; takes names.
# By no function, whose shell would be what $! is.
# shellcheck disable=SC2086
strangers() {
    for python in "$(command -v python3)" /usr/bin/python3; do # one in a home folder is its owner's
        nobody="setpriv --reuid 65534 --regid 65534 --clear-groups $python"
        ! $nobody -c "" 2> /dev/null || break
    done
    $nobody -c "" 2> /dev/null || { echo "SKIPPED, AND LOUDLY: no setpriv, or no Python, for another user"; return; }
    nobody="$nobody -"
    at=$(place ra)
    rm -f "$folder"/squat* "$folder/strange"
    nsenter "$(net_of "$at")" $nobody strange ra < "$here/pktway_live.py" > "$folder/strange" &
    stranger=$!
    wait_until grep -q "this process is another user's, expected its owner or root" "$folder/strange" || fail "$driver: another user is not told: $(cat "$folder/strange")"
    wait_until all_pass || fail "$driver: packets do not pass while another user holds ra's control socket"
    same "$driver: ra answers its owner meanwhile" "$(ask ra status --json | jq -r .name)" ra
    kill $stranger
    nsenter "$(net_of "$at")" $nobody squat x < "$here/pktway_live.py" > "$folder/squat" &
    squatter=$!
    waits_for squat
    exits 2 "'x' is process" in_ns "$at" "$leat" pktway status --name x
    has "$driver: of whom it is" "$(cat "$folder/stderr")" "of user 65534, which is not asked"
    exits 1 "the name 'x' is taken by process" in_ns "$at" "$leat" pktway host --name x --san udp:127.0.0.1:0,bias=0x900,address=0x901
    kill $squatter
    nsenter "$(net_of "$at")" python3 "$here/pktway_live.py" squat y > "$folder/squat2" & # one's own
    squatter=$!
    waits_for squat2
    same "$driver: a terminal obeys nothing of it" "$(in_ns "$at" "$leat" pktway status --name y)" '\x1b[2Jbelieve me'
    exits 1 "the host sent a line that is no message" in_ns "$at" "$leat" pktway receive --name y
    kill $squatter
    [ "$driver" != udp ] || return 0
    nsenter "$(net_of ra)" $nobody squat -node/e1/000130 < "$here/pktway_live.py" > "$folder/squat3" &
    squatter=$!
    waits_for squat3
    exits 1 "address 0x000130 is in use on this host by process" in_ns ra "$leat" pktway host --name x --san e1,bias=0x100,address=0x130
    has "$driver: by whom" "$(cat "$folder/stderr")" "of user 65534, expected another"
    kill $squatter
    # A node whose name would clear the screen.
    wait_until told_by_tables '\x1b[2J' || fail "$driver: a name of control characters: $(ask ra tables)"
    ! grep -q "$(printf '\033')" "$folder/tables" || fail "$driver: tables lets a terminal be told what to do"
}
all_pass() { [ "$(ask h1 ping 0x301 --by-address --count 10 --interval 0s --timeout 900ms --json | jq .received)" = 10 ]; }
told_by_tables() {
    frames send e1 02:00:00:00:01:02 007fffff0019000100000002000001552900000101000155""2a0000001b5b324a0000000000000000
    ask ra tables > "$folder/tables"
    grep -qF "$1" "$folder/tables"
}

# The same network with keys: all works, and who has no key, another one, or a recording changes nothing.
with_keys() {
    keyed=yes
    put_key "$folder/a.key" 000102030405060708090a0b0c0d0e0f
    put_key "$folder/b.key" "f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 fa fb fc fd fe ff"
    for n in ra rb h1 h2 h3; do start $n || fail "$driver, keyed: $n: $(cat "$folder/stderr")"; done
    for to in 0x201 0x301; do wait_until reaches h1 $to || fail "$driver, keyed: $to is not reached"; done
    wait_until reaches h3 0x101 || fail "$driver, keyed: 0x101 is not reached"
    pairs
    same "$driver, keyed: trace" "$(ask h1 trace 0x301 --json | jq -c '[.reached, [.hops[].name]]')" '[true,["ra","rb"]]'
    comes_to "$driver, keyed: tell" '["0x000101","0x000301"]' answer '[.answers[].address] | sort' h1 tell capability=7
    same "$driver, keyed: what is unknown is told" "$(ask h1 ping 0x3fe --by-address --json | jq -c '[.err_messages[0].err, .err_messages[0].about[0]]')" '["UNK","0x0003fe"]'
    same "$driver, keyed: status" "$(ask ra status --json | jq -c '[.sans[] | [.keyed, (.counts | .bare + .forged + .late + .misdirected + .replayed + .locked)]]')" '[[true,0],[true,0]]'
    same "$driver, keyed: and without" "$(ask rb status --json | jq -c '[.sans[].keyed]')" '[true,false]'
    [ "$driver" = udp ] || keyed_attacks
    wrong_key "no MAC" "control messages without a MAC" none
    wrong_key "another key" "the MAC of another key" "$folder/b.key"
    exits 2 "3 of --key-file, expected one, or one for each of 2 SANs" in_ns ra "$leat" pktway route --name x --san e1,bias=0x100,address=0x106 --san e2,bias=0x200,address=0x206 \
        --key-file none --key-file none --key-file none
    exits 2 "cannot be opened" in_ns h1 "$leat" pktway host --name x --san e1,bias=0x100,address=0x130 --key-file "$folder/no.key"
    put_key "$folder/short.key" 0102
    exits 2 "no key, expected 32 hex digits" in_ns h1 "$leat" pktway host --name x --san e1,bias=0x100,address=0x130 --key-file "$folder/short.key"
    chmod 666 "$folder/short.key"
    exits 2 "others may read or write the key (mode 666)" in_ns h1 "$leat" pktway host --name x --san e1,bias=0x100,address=0x130 --key-file "$folder/short.key"
    for n in h1 h2 h3 ra rb; do ask $n stop || fail "$driver, keyed: $n does not leave"; done
    keyed=
}
# wrong_key WHAT COUNTED KEY: a node of SAN 1 that has this key reaches nobody, and ra says why
wrong_key() {
    in_ns "$(place h1)" "$leat" pktway host --name w --poll 250ms --san "$(san 1 0x131 4398 4301)" --key-file "$3" > /dev/null || fail "$driver: a host with $1"
    wait_until told_by_status "$2" || fail "$driver, keyed: ra does not tell of $1: $(ask ra status)"
    wait_until tells_of_the_key || fail "$driver, keyed: a host with $1 does not say that it is the key: $(cat "$folder/wrong")"
    same "$driver, keyed: a host with $1 is not believed" "$(ask ra tables --json | jq '[.half_routers[0].nodes[] | select(.address == "0x000131")] | length')" 0
    in_ns "$(place h1)" "$leat" pktway stop --name w
}
told_by_status() { ask ra status | grep -q "$1"; }
tells_of_the_key() {
    for question in "ping 0x301" "plan 0x301" "tell capability=7"; do
        # shellcheck disable=SC2086
        ! in_ns "$(place h1)" "$leat" pktway $question --name w --timeout 500ms 2> "$folder/wrong" > /dev/null || return 1
        grep -q "expected --key-file with this SAN's key" "$folder/wrong" || return 1
    done
    in_ns "$(place h1)" "$leat" pktway status --name w > "$folder/wrong" && grep -q "KEY: .*, expected --key-file with this SAN's key" "$folder/wrong"
}
keyed_attacks() {
    was=$(count ra 0x000202 bare)
    in_ns h2 python3 "$here/pktway_live.py" rogue e2 02:00:00:00:02:02 2ee 202 200
    # rb is down, says h2 in its name; the same with a MAC that is none
    in_ns h2 python3 "$here/pktway_live.py" send e2 02:00:00:00:02:02 000002020048ffff0000000200000203290000000100020329000000010003020000000000000000 3
    comes_to "$driver, keyed: what has no MAC is counted" $((was + 204)) count ra 0x000202 bare
    was=$(count ra 0x000202 forged)
    in_ns h2 python3 "$here/pktway_live.py" send e2 02:00:00:00:02:02 \
        000002020048ffff00000002800002037e160002030002020000000000000001aaaaaaaaaaaaaaaa290000000100020329000000010003020000000000000000 3
    comes_to "$driver, keyed: what has another MAC is counted" $((was + 3)) count ra 0x000202 forged
    replayed=$(count ra 0x000202 replayed) was=$(count ra 0x000202 forged)
    in_ns h2 python3 "$here/pktway_live.py" replay e2 02:00:00:00:02:03 7
    comes_to "$driver, keyed: what was recorded is counted" $((replayed + 7)) count ra 0x000202 replayed
    comes_to "$driver, keyed: and from another address" $((was + 7)) count ra 0x000202 forged
    same "$driver, keyed: no table of the rogue" "$(ask ra tables --json | jq -c '[.half_routers[1].tables[] | select(.withdrawn | not) | .san] | sort')" '["0x000100","0x000300"]'
    wait_until reaches h1 "0x301 --by-address" || fail "$driver, keyed: 0x301 is not reached after forgeries"
    # leat decode shows the field; what is sent on into SAN 3 has none
    in_ns h2 python3 "$here/pktway_live.py" hear e2 60 007fffff001b0001 1 > "$folder/wru"
    same "$driver, keyed: decoded" "$(sed -n 2p "$folder/wru" | "$leat" decode --format packetway --json | jq -c '.fields.oh[0] | [.type, .mandatory, .to, (.from == 514 or .from == 515), .serial > 1000000000000000000, .mac > 0]')" \
        '["CRYPTOGRAPHIC",false,8388607,true,true,true]'
    in_ns h3 python3 "$here/pktway_live.py" hear e3 60 007fffff001b0001 1 > "$folder/wru"
    same "$driver, keyed: a SAN without a key" "$(sed -n 2p "$folder/wru")" 007fffff001b000100000000000003020000000000000000
}

bad_input() {
    exits 2 "--fault has no meaning for ping on a live network" ask h1 ping 0x301 --fault router:ra
    exits 2 "--by-address has no meaning for trace on a live network" ask h1 trace 0x301 --by-address
    exits 2 "--fabric does not go with route" in_ns h1 "$leat" pktway route --fabric twosan
    exits 2 "--allow does not go with host" in_ns h1 "$leat" pktway host --san A --dev e1 --allow rw
    m="in_ns h1 $leat pktway memory --name x --san e1,bias=0x100,address=0x121"
    exits 2 "memory needs --allow" $m
    for allow in x rr "" r,range=5-4 r,nodes=0-5 r,nodes=1-0x7ffffe w,who=1 'rw,'; do exits 2 "--allow '$allow', expected r, w or rw" $m --allow "$allow"; done
    exits 2 "--memory '2G', expected 1 to 1073741824" $m --allow rw --memory 2G
    exits 2 "--base '0xffffffffffffffff', expected" $m --allow rw --base 0xffffffffffffffff
    exits 2 "read wants a node, an address there, and how many octets" ask h1 read 0x301 0
    exits 2 "write wants a node, an address there, and octets" ask h1 write 0x301 0
    exits 2 "write 'abc', expected octets in hex" ask h1 write 0x301 0 abc
    exits 2 "read 'many', expected how many octets" ask h1 read 0x301 0 many
    exits 2 "read at 'here', expected an address" ask h1 read 0x301 here 1
    exits 2 "send 'clos.1', expected an address" ask h1 send clos.1 00
    exits 2 "send '0xf00000', expected an address" ask h1 send 0xf00000 00
    exits 2 "send 'name=', expected an address" ask h1 send name= 00
    exits 2 "send '0', expected octets in hex" ask h1 send 0x301 0
    exits 2 "longer than 65432 octets" ask h1 send 0x301 --file "$leat"
    exits 2 "--messages has no meaning for send on a live network" ask h1 send 0x301 00 --messages x
    exits 2 "expected send TO OCTETS" ask h1 send 0x301
    exits 2 "--count '0', expected a whole number" ask h1 send 0x301 00 --count 0
    exits 2 "expected a host's --name" ask ra receive
    exits 2 "no 'nobody' runs" in_ns h1 "$leat" pktway receive --name nobody
    exits 2 "'more' behind receive, expected nothing" ask h1 receive more
    exits 2 "--logical '0x101', expected 0xe00000 to 0xefffff" in_ns h1 "$leat" pktway host --name x --san e1,bias=0x100,address=0x121 --logical 0x101
    exits 2 "tun needs --way" in_ns h1 "$leat" pktway tun --name x --san e1,bias=0x100,address=0x121
    exits 2 "tun takes one --san" in_ns h1 "$leat" pktway tun --name x --san e1,bias=0x100,address=0x121 --san e3,bias=0x300,address=0x321 --way 10.9.0.3=0x301
    exits 2 "expected ADDRESS[/BITS]=NODE" in_ns h1 "$leat" pktway tun --name x --san e1,bias=0x100,address=0x121 --way 10.9.0.3
    r="in_ns ra $leat pktway route --name x"
    exits 2 "expected as many of the one as of the other" $r --san A --dev e1 --san B
    exits 2 "--san 'ring' with --dev, expected a letter or a number" $r --san ring --dev e1 --san B --dev e2
    exits 2 "overlaps that of bias 0x100" $r --san A --dev e1 --san a --dev e2
    exits 2 "no network device 'nosuch'" $r --san nosuch,bias=0x100,address=0x101 --san e2,bias=0x200,address=0x202 || true
    exits 2 "1 SANs, expected 2 or more" $r --san e1,bias=0x100,address=0x102
    exits 2 "overlaps that of bias 0x100" $r --san e1,bias=0x100,address=0x102 --san e2,bias=0x180,address=0x182
    exits 2 "two SANs on one device" $r --san e1,bias=0x100,address=0x102 --san e1,bias=0x200,address=0x202
    exits 2 "address 0x202, expected one of the block 0x101 to 0x1ff" $r --san e1,bias=0x100,address=0x202
    exits 2 "without bias=" $r --san e1,address=0x202
    exits 2 "without address=" $r --san e1,bias=0x100
    exits 2 "expected bias=, nodes=" $r --san e1,bais=0x100
    exits 2 "expected an end at 0x7ffffd" $r --san e1,bias=0x7fff00,address=0x7fff01
    exits 2 "mtu '1'" $r --san e1,bias=0x100,address=0x101,mtu=1
    exits 2 "which is for UDP" $r --san e1,bias=0x100,address=0x101,peer=1.2.3.4
    exits 2 "expected udp:ADDRESS" $r --san udp:nowhere,bias=0x100,address=0x101
    exits 2 "expected a network device or udp" $r --san bias=0x100,address=0x101
    exits 2 "--driver 'token', expected one of xdp packet udp" $r --driver token --san e1,bias=0x100,address=0x102
    exits 2 "driver udp with a network device" $r --driver udp --san e1,bias=0x100,address=0x102 --san e2,bias=0x200,address=0x202
    exits 2 "expected --san" $r
    exits 2 "expected 1 to 32 of a-z" in_ns ra "$leat" pktway route --name 'A b' --san e1,bias=0x100,address=0x102 --san e2,bias=0x200,address=0x202
    exits 2 "expected 1 to 255 and not 2" in_ns h1 "$leat" pktway host --name x --capability 2 --san e1,bias=0x100,address=0x102
    exits 2 "no 'nobody' runs" in_ns h1 "$leat" pktway ping 0x101 --name nobody
    exits 2 "address '0x7ffffe', expected 1 to 0x7ffffd" in_ns h1 "$leat" pktway ping 0x7ffffe
    exits 2 "wants one address" in_ns h1 "$leat" pktway plan
    exits 2 "wants name=NAME" in_ns h1 "$leat" pktway tell
    exits 2 "expected name=NAME" ask h1 tell colour=red
    exits 2 "expected a router's --name" ask h1 tables
    exits 2 "expected a host's --name" ask ra ping 0x101
    exits 2 "'more' behind status" ask ra status more
}

tried=
for driver in ${LEAT_DRIVERS:-xdp packet udp}; do
    [ $driver != udp ] || ip -n "${name}sw" link set lo up
    if ! start ra; then
        no_driver route
        continue
    fi
    tried="$tried $driver"
    has "the driver is told" "$(cat "$folder/ra.started")" "driver $driver: it was asked for"
    for n in rb h1 h2 h3; do start $n || fail "$driver: $n: $(cat "$folder/stderr")"; done
    for to in 0x201 0x301; do wait_until reaches h1 $to || fail "$driver: $to is not reached"; done
    wait_until reaches h3 0x101 || fail "$driver: 0x101 is not reached"
    pairs
    questions
    if [ $driver != udp ]; then
        bad_frames
        error_indication
        rogue
    fi
    data_messages
    [ $driver = xdp ] || multi_homed
    [ $driver = packet ] || memory_node
    [ $driver != packet ] || accused
    [ $driver != xdp ] || flaps
    [ $driver != udp ] || three_sans
    [ $driver != udp ] || crowd
    [ $driver != packet ] || by_letter
    [ $driver != packet ] || captured
    [ $driver != packet ] || ip_over_it
    deaths
    [ $driver = xdp ] || strangers # by XDP packets pass without the process
    [ $driver != packet ] || bad_input
    for n in h1 h2 h3 ra rb; do ask $n stop || fail "$driver: $n does not leave"; done
    with_keys
    same "$driver: nothing is left" "$(ip -n "${name}ra" link show e1 | grep xdp; in_ns "$(place ra)" ss -xlH 2> /dev/null | grep leat-pktway)" ""
done
[ -n "$tried" ] || [ -s "$wrongs" ] || skip "no driver works here"
# Without a wish: the kernel's where it can be, and why is told.
driver=packet
in_ns ra "$leat" pktway route --name ab --san A --dev e1 --san B --dev e2 > "$folder/ab.started" || fail "route --san A --dev e1 --san B --dev e2"
has "biases by letter" "$(cat "$folder/ab.started")" "router ab on 2 SANs (0x0001"
in_ns ra "$leat" pktway stop --name ab
case $tried in *xdp*) has "by itself" "$(in_ns ra "$leat" pktway route --name ra --san e1,bias=0x100,address=0x102 --san e2,bias=0x200,address=0x202)" "driver xdp: the kernel takes it" ;; esac
finish
