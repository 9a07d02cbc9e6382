#!/bin/sh
# Live networks over plain veths: the far ends are left as they are; they neither poll nor have
# programs, and senders leave checksums to their devices. A ring over a bridge and over
# cables, an ESP router between two hosts, a PacketWay router between two: all must answer, and say
# which driver runs, how and why. Then the far ends begin to poll, and stop again.
# usage: plain_live_test.sh LEAT
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"

joined=
tear_down() {
    for pid in $joined; do kill "$pid" 2>/dev/null || true; done
    for p in a b c r; do
        [ -e "/run/netns/$name$p" ] || continue
        for dev in e0 in; do in_ns $p "$leat" ring stop --dev $dev 2>/dev/null || true; done
        in_ns $p "$leat" esp stop 2>/dev/null || true
        for who in router host; do in_ns $p "$leat" pktway stop --name $who > /dev/null 2>&1 || true; done
    done
    delete_hosts
}
hosts "live networks over plain veths are" br a b c r
gro() { python3 "$here/../../test/veth.py" gro "$@"; } # gro on|off NAMESPACE:DEVICE...

# ---- what cannot be -----------------------------------------------------------------------------

# As anybody, and where there is no Ethernet.
anybody() { in_ns a setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
ring_join="ring join --address 1 --next 02:00:00:00:00:02 --previous 02:00:00:00:00:02 --dev"
pktway_route="pktway route --san udp:127.0.0.1:4999,bias=0x200,address=0x202 --san"
ip -n "${name}a" link add eth0 type veth peer name eth1
ip -n "${name}a" link set eth0 up
# shellcheck disable=SC2086 # words
cannot() {
    exits 2 "no network device 'nosuch0'" in_ns a "$leat" $ring_join nosuch0
    exits 2 "no network device 'nosuch0'" in_ns a "$leat" esp route --dev nosuch0
    exits 2 "no network device 'nosuch0', expected one, or udp:" in_ns a "$leat" $pktway_route nosuch0,bias=0x100,address=0x102
    exits 2 "lo is not an Ethernet, expected a device that is" in_ns a "$leat" $ring_join lo
    exits 2 "lo is not an Ethernet, expected a device that is" in_ns a "$leat" esp route --dev lo
    exits 1 "lo is not an Ethernet, expected a device that is" in_ns a "$leat" $pktway_route lo,bias=0x100,address=0x102
    anybody "$leat" help > /dev/null 2>&1 || return 0 # this build is root's own
    program=$(readlink -f "$leat")
    exits 1 "a packet socket: Operation not permitted, missing CAP_NET_RAW: expected sudo, or once: sudo setcap cap_net_raw+ep $program" anybody "$leat" $ring_join eth0
    exits 1 "missing CAP_NET_RAW, CAP_NET_ADMIN: expected sudo, or once: sudo setcap cap_net_raw,cap_net_admin+ep $program, or --driver udp" anybody "$leat" esp route --dev eth0
    exits 1 "missing CAP_NET_RAW: expected sudo, or once: sudo setcap cap_net_raw+ep $program, or SANs of udp:" anybody "$leat" $pktway_route eth0,bias=0x100,address=0x102
    # Programs on devices are found with CAP_SYS_ADMIN only, which no file should have.
    if in_ns a "$leat" $ring_join eth0 --driver xdp > /dev/null 2>&1; then
        exits 2 "its program: Operation not permitted, missing CAP_SYS_ADMIN: expected sudo" anybody "$leat" ring stop
        ! grep -q setcap "$folder/stderr" || fail "a file is to have CAP_SYS_ADMIN: $(cat "$folder/stderr")"
        in_ns a "$leat" ring stop
        exits 1 "no XDP: the kernel does not take the program: Operation not permitted, missing CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN: expected sudo" anybody "$leat" $ring_join eth0 --driver xdp
    fi
}
cannot
ip -n "${name}a" link del eth0

# ---- a ring over a bridge: each station has one device ------------------------------------------

ip -n "${name}br" link add hub type bridge 2>/dev/null || skip "this kernel has no bridge"
ip -n "${name}br" link set hub up
for s in a b c; do
    ip link add e0 netns "$name$s" type veth peer name "p$s" netns "${name}br" || skip "this kernel has no veth"
    ip -n "${name}br" link set "p$s" master hub up
    ip -n "$name$s" link set e0 up
done
# join STATION ADDRESS PREVIOUS NEXT OPTION...
join() {
    in_ns "$1" "$leat" ring join --dev e0 --address "$2" --previous "$(mac "$3" e0)" --next "$(mac "$4" e0)" > "$folder/joined.$1" 2> "$folder/stderr.$1" || fail "ring join: $(cat "$folder/stderr.$1")"
    in_ns "$1" "$leat" ring set 1 "$2"
}
join_bridge() {
    join a 10 c b
    join b 20 a c
    join c 30 b a
}
ring_answers() { same "$1" "$(in_ns a "$leat" ring query add --register 1 --json 2>&1 | jq -c '[.counter,.variable1]' 2>&1)" "[3,60]"; }
join_bridge
ring_answers "a ring over a bridge"
case $(cat "$folder/joined.a") in
*"driver xdp"*)
    xdp=yes
    slower="slower: the other end of e0 does not poll"
    has "join tells the mode" "$(cat "$folder/joined.a")" "driver xdp: the kernel takes it, behind the driver (generic mode), $slower"
    has "join warns" "$(cat "$folder/stderr.a")" "leat: $slower"
    has "ring status" "$(in_ns a "$leat" ring status)" "$slower"
    has "ring status --json" "$(in_ns a "$leat" ring status --json | jq -r '.driver + ": " + .why')" "xdp: the kernel takes it, behind the driver (generic mode), $slower"
    # Far ends that poll: native, by joining again. They stop: told, and mended by joining again.
    gro on "${name}br:pa" "${name}br:pb" "${name}br:pc"
    join_bridge
    has "a bridge that polls" "$(cat "$folder/joined.a")" "in the driver (native mode)"
    has "registers are kept" "$(cat "$folder/joined.a")" "took over the registers"
    same "no warning" "$(cat "$folder/stderr.a")" ""
    ring_answers "a ring over a bridge that polls"
    gro off "${name}br:pb"
    has "it polls no more" "$(in_ns b "$leat" ring status 2>&1 > /dev/null)" "the other end of e0 does not poll (no GRO, no native XDP): what this station sends on is lost, expected leat ring join again"
    join b 20 a c
    ring_answers "a ring over a bridge that polls in part"
    ;;
*)
    xdp=
    has "join tells why" "$(cat "$folder/joined.a")" "slower: no XDP: "
    has "join warns" "$(cat "$folder/stderr.a")" "leat: slower: no XDP: "
    ;;
esac
for s in a b c; do
    in_ns $s "$leat" ring stop --dev e0
    ip -n "$name$s" link del e0
done

# ---- a ring of cables: in here, out there -------------------------------------------------------

before() { echo "$1" | tr abc cab; }
after() { echo "$1" | tr abc bca; }
for s in a b c; do ip link add out netns "$name$s" type veth peer name in netns "$name$(after $s)"; done
for s in a b c; do for d in in out; do ip -n "$name$s" link set $d up; done; done
cable_join() {
    in_ns "$1" "$leat" ring join --dev in --out out --address "$2" --previous "$(mac "$(before "$1")" out)" --next "$(mac "$(after "$1")" in)" ${3:+--driver $3} > "$folder/joined.$1" 2> "$folder/stderr.$1" || fail "ring join: $(cat "$folder/stderr.$1")"
    in_ns "$1" "$leat" ring set 1 "$2"
}
cable_join a 10
cable_join b 20 packet # drivers may be mixed
cable_join c 30
ring_answers "a ring of plain cables, with both drivers"
cable_join b 20
ring_answers "a ring of plain cables"
for s in a b c; do in_ns $s "$leat" ring stop --dev in; done
for s in a b c; do ip -n "$name$s" link del out; done

# ---- ESP: a -- r -- b ---------------------------------------------------------------------------

for s in a b; do
    l=$(echo $s | tr ab 12)
    ip link add e0 netns "$name$s" type veth peer name "d$s" netns "${name}r"
    printf 'addr add 10.7.%s.2/24 dev e0\naddr add fd07:0:0:%s::2/64 dev e0 nodad\nlink set dev e0 up\nroute add default via 10.7.%s.1\n' "$l" "$l" "$l" | ip -n "$name$s" -batch -
    printf 'addr add 10.7.%s.1/24 dev d%s\naddr add fd07:0:0:%s::1/64 dev d%s nodad\nlink set dev d%s up\n' "$l" $s "$l" $s $s | ip -n "${name}r" -batch -
    ip -n "$name$s" -6 route add default via "fd07:0:0:$l::1"
done
in_ns r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
# datagrams FAMILY: what ordinary sockets at b receive of what ordinary sockets at a send, each kind
# once; the first of them also makes the router's kernel look for its neighbours
datagrams() { python3 "$here/../../test/veth.py" datagrams "${name}a" "${name}b" "$1"; }
arrive() {
    for family in 4 6; do
        to=10.7.2.2
        [ $family = 4 ] || to=fd07:0:0:2::2
        same "$1: datagrams of ordinary sockets, IPv$family" "$(datagrams $to)" "idle:whole nop:whole count:whole collect:whole query:whole"
    done
}
# route OPTION...
route() { in_ns r "$leat" esp route --dev da --dev db "$@" > "$folder/route" 2> "$folder/stderr" || fail "esp route $*: $(cat "$folder/stderr")"; }
census() {
    nsenter "$(net_of b)" "$leat" esp join 7 --root 10.7.1.2 --value 17 --every 100ms > "$folder/member" 2>&1 &
    joined="$joined $!"
    same "$1: census" "$(in_ns a "$leat" esp census 7 --members 1 --wait 10s --json 2>&1 | jq -c '[.answer,.members]' 2>&1)" "[1,1]"
    kill $! 2>/dev/null || true
    wait $! 2>/dev/null || true
}
route
census "ESP by itself"
arrive "ESP by itself"
if [ -n "$xdp" ]; then
    slower="slower: the other end of da does not poll"
    has "route tells the mode" "$(cat "$folder/route")" "driver xdp: the kernel takes it, behind the driver (generic mode), $slower"
    has "route warns" "$(cat "$folder/stderr")" "leat: $slower"
    has "esp status" "$(in_ns r "$leat" esp status)" "$slower"
    has "esp status --json" "$(in_ns r "$leat" esp status --json | jq -r '.driver + ": " + .why')" "xdp: the kernel takes it, behind the driver (generic mode), $slower"
    gro on "${name}a:e0" "${name}b:e0"
    route
    has "far ends that poll" "$(cat "$folder/route")" "in the driver (native mode); took over the stores"
    census "ESP, native"
    arrive "ESP, native"
    # They stop: the router's process finds out, and changes the mode.
    gro off "${name}a:e0" "${name}b:e0"
    tries=0
    until in_ns r "$leat" esp status | grep -q "$slower" || [ $tries -eq 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    has "far ends that poll no more" "$(in_ns r "$leat" esp status)" "$slower"
    census "ESP, no longer native"
    arrive "ESP, no longer native"
fi
route --driver packet
census "ESP by packet sockets"
arrive "ESP by packet sockets"
in_ns r "$leat" esp stop

# ---- PacketWay: a -- r -- b ---------------------------------------------------------------------

in_ns r "$leat" pktway route --poll 100ms --san da,bias=0x100,address=0x102 --san db,bias=0x200,address=0x202 > "$folder/route" 2> "$folder/stderr" || fail "pktway route: $(cat "$folder/stderr")"
in_ns a "$leat" pktway host --poll 100ms --san e0,bias=0x100,address=0x101 > /dev/null || fail "pktway host a"
in_ns b "$leat" pktway host --poll 100ms --san e0,bias=0x200,address=0x201 > /dev/null || fail "pktway host b"
reached() {
    tries=0
    until in_ns a "$leat" pktway ping 0x201 --count 3 > "$folder/ping" 2>&1 || [ $tries -eq 30 ]; do
        sleep 0.2
        tries=$((tries + 1))
    done
    [ $tries -lt 30 ] || fail "$1: 0x201 is not reached: $(cat "$folder/ping")"
}
reached "PacketWay by itself"
if [ -n "$xdp" ]; then
    has "route tells the mode" "$(cat "$folder/route")" "driver xdp: the kernel takes it, behind the driver (generic mode), $slower"
    has "route warns" "$(cat "$folder/stderr")" "leat: $slower"
    has "pktway status" "$(in_ns r "$leat" pktway status)" "$slower"
    has "pktway status --json" "$(in_ns r "$leat" pktway status --json | jq -r '.driver + ": " + .why')" "xdp: the kernel takes it, behind the driver (generic mode), $slower"
    in_ns r "$leat" pktway stop --name router
    gro on "${name}a:e0" "${name}b:e0"
    has "far ends that poll" "$(in_ns r "$leat" pktway route --poll 100ms --san da,bias=0x100,address=0x102 --san db,bias=0x200,address=0x202)" "in the driver (native mode)"
    reached "PacketWay, native"
    gro off "${name}a:e0" "${name}b:e0"
    tries=0
    until in_ns r "$leat" pktway status | grep -q "$slower" || [ $tries -eq 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    has "far ends that poll no more" "$(in_ns r "$leat" pktway status)" "$slower"
    reached "PacketWay, no longer native"
fi
finish
