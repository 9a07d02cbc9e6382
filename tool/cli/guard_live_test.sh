#!/bin/sh
# Serving processes are confined, as the kernel shows: no unneeded capability, none to be gained, a
# filter of system calls. They still work, answer status, and end in order: on TERM, when their device
# is removed, when their namespace is deleted. They leave nothing behind.
# usage: [LEAT_DRIVERS=packet] guard_live_test.sh LEAT
#
#   a (e0) ---- (da) r (db) ---- (e0) b          x0 of a and b: the two stations of a ring
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"

beside=
tear_down() {
    for pid in $beside; do kill -9 "$pid" 2> /dev/null || true; done
    for p in a b r; do
        [ -e "/run/netns/$name$p" ] || continue
        in_ns $p "$leat" ring stop --dev x0 2> /dev/null || true
        in_ns $p "$leat" esp stop 2> /dev/null || true
        for who in router host; do in_ns $p "$leat" pktway stop --name $who > /dev/null 2>&1 || true; done
    done
    delete_hosts
}
hosts "the confinement of what serves is" a b r
for p in a b; do
    l=$(echo $p | tr ab 12)
    ip link add e0 netns "$name$p" type veth peer name "d$p" netns "${name}r" || skip "this kernel has no veth"
    printf 'addr add 10.8.%s.2/24 dev e0\nlink set dev e0 up\nroute add default via 10.8.%s.1\n' "$l" "$l" | ip -n "$name$p" -batch -
    printf 'addr add 10.8.%s.1/24 dev d%s\nlink set dev d%s up\n' "$l" $p $p | ip -n "${name}r" -batch -
done
in_ns r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'

# ---- what the kernel tells ----------------------------------------------------------------------

has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
ends() { wait_until has_ended "$2" || fail "$1: process $2 does not end"; }
rights() { awk '/^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):/ { printf "%s%s ", $1, $2 }' "/proc/$1/status"; }
# Builds for tests have no filter, and say so.
filter=2
none=0000000000000000
# is_confined WHAT PID CAPABILITIES
is_confined() {
    comes_to "$1: what the kernel tells" "CapInh:$none CapPrm:$3 CapEff:$3 CapAmb:$none NoNewPrivs:1 Seccomp:$filter " rights "$2"
}
# says_so WHAT ROOT TEXT JSON [CAPABILITY]: in both forms of status, and that it keeps this one
says_so() {
    root=$2
    set -- "$1" "$3" "$4" "${5:-no capability}"
    want="yes, keeps $4, root $root"
    [ $filter = 2 ] || want="no, no filter of system calls (this build has none), keeps $4, root $root"
    has "$1: status" "$2" "confined: $want"
    same "$1: status --json" "$(echo "$3" | jq -c '[.confined,.confined_why]')" "[$([ $filter = 2 ] && echo true || echo false),\"$want\"]"
}
net_admin=0000000000001000
rights_of() { case $1 in xdp) echo $net_admin ;; *) echo $none ;; esac }
words_of() { case $1 in xdp) echo CAP_NET_ADMIN ;; *) echo "no capability" ;; esac }
no_program() { ! ip -n "$name$1" link show | grep -q xdp; }

# ---- a ring of two ------------------------------------------------------------------------------

ring() {
    ip link add x0 netns "${name}a" type veth peer name x0 netns "${name}b"
    for p in a b; do ip -n "$name$p" link set x0 up; done
    for p in a b; do
        other=$(echo $p | tr ab ba)
        in_ns $p "$leat" ring join --dev x0 --address "$(echo $p | tr ab 12)" --driver packet \
            --previous "$(mac "$other" x0)" --next "$(mac "$other" x0)" > "$folder/ring.$p" 2> "$folder/stderr" || fail "ring join: $(cat "$folder/stderr")"
        same "ring: no warning" "$(cat "$folder/stderr")" ""
    done
}
station() { sed -n 's/.*by process \([0-9]*\).*/\1/p' "$folder/ring.$1"; }
ring_files() { for p in a b; do find /dev/shm -name "leat-ring.$(stat -Lc %i "/run/netns/$name$p").*"; done; }
ring
case $(in_ns a "$leat" ring status) in *"this build has none"*) filter=0 ;; esac
for p in a b; do
    is_confined "ring" "$(station $p)" $none
    says_so "ring" /dev/shm "$(in_ns $p "$leat" ring status)" "$(in_ns $p "$leat" ring status --json)"
    in_ns $p "$leat" ring set 1 20
done
same "ring: it works" "$(in_ns a "$leat" ring query add --register 1 --timeout 60s --json | jq -c '[.counter,.variable1]')" "[2,40]"
kill "$(station a)"
ends "ring, TERM" "$(station a)"
exits 2 "its registers are kept" in_ns a "$leat" ring status --dev x0
in_ns a "$leat" ring stop --dev x0
exits 2 "no station" in_ns a "$leat" ring status --dev x0
# The other end goes with it.
in_ns b "$leat" ring stop --dev x0
ip -n "${name}a" link del x0
ring
ip -n "${name}a" link set x0 down
sleep 2
for p in a b; do ! has_ended "$(station $p)" || fail "ring: a device that is only down ends the station of $p"; done
ip -n "${name}a" link del x0
for p in a b; do ends "ring, its device is gone" "$(station $p)"; done
same "ring: its files" "$(ring_files)" ""

# ---- ESP and PacketWay --------------------------------------------------------------------------

route_esp() { in_ns r "$leat" esp route --dev da --dev db --driver "$1" > /dev/null 2> "$folder/stderr"; }
esp() {
    router=$(in_ns r "$leat" esp status --json | jq .process)
    is_confined "esp $1" "$router" "$(rights_of "$1")"
    says_so "esp $1" /dev/shm "$(in_ns r "$leat" esp status)" "$(in_ns r "$leat" esp status --json)" "$(words_of "$1")"
    nsenter "$(net_of b)" "$leat" esp join 7 --root 10.8.1.2 --value 17 --every 100ms > "$folder/member" 2>&1 &
    member=$!
    beside="$beside $member"
    same "esp $1: it works" "$(in_ns a "$leat" esp census 7 --members 1 --wait 60s --json 2>&1 | jq -c '[.answer,.members]' 2>&1)" "[1,1]"
    is_confined "a member, esp $1" $member $none
    if [ "$1" = xdp ]; then # a device has room for one program, which stays
        exits 1 "da has another XDP program, esp_xdp (id " in_ns r "$leat" ring join --dev da --address 1 --driver xdp --next "$(mac a e0)" --previous "$(mac a e0)"
        same "esp xdp: it still works" "$(in_ns a "$leat" esp census 7 --members 1 --wait 60s --json 2>&1 | jq -c '[.answer,.members]' 2>&1)" "[1,1]"
    fi
    kill $member
    wait $member || same "a member, esp $1, TERM" $? 143
    same "a member, esp $1: no warning" "$(cat "$folder/member")" ""
    kill "$router"
    ends "esp $1, TERM" "$router"
    route_esp "$1" || fail "esp route again: $(cat "$folder/stderr")"
    in_ns r "$leat" esp stop
    no_program r || fail "esp $1: its program stays on the devices"
}
answers() { in_ns a "$leat" pktway ping 0x201 --count 1; }
pktway() {
    router=$(sed -n 's/.*process \([0-9]*\).*/\1/p' "$folder/pktway")
    is_confined "pktway $1" "$router" "$(rights_of "$1")"
    says_so "pktway $1" / "$(in_ns r "$leat" pktway status)" "$(in_ns r "$leat" pktway status --json)" "$(words_of "$1")"
    for p in a b; do
        l=$(echo $p | tr ab 12)
        in_ns $p "$leat" pktway host --poll 100ms --san "e0,bias=0x${l}00,address=0x${l}01" > "$folder/host.$p" || fail "pktway host $p"
    done
    host=$(sed -n 's/.*process \([0-9]*\).*/\1/p' "$folder/host.a")
    is_confined "pktway host" "$host" $none
    says_so "pktway host" / "$(in_ns a "$leat" pktway status --name host)" "$(in_ns a "$leat" pktway status --name host --json)"
    wait_until answers || fail "pktway $1: it does not work"
    kill "$router"
    ends "pktway $1, TERM" "$router"
    no_program r || fail "pktway $1: its program stays on the devices"
    for p in a b; do in_ns $p "$leat" pktway stop --name host; done
    ends "pktway host, leave" "$host"
}
route_pktway() {
    in_ns r "$leat" pktway route --poll 100ms --driver "$1" --san da,bias=0x100,address=0x102 --san db,bias=0x200,address=0x202 > "$folder/pktway" 2> "$folder/stderr"
}
for driver in ${LEAT_DRIVERS:-xdp packet}; do
    for who in esp pktway; do
        if ! route_$who "$driver"; then
            no_driver "$who route"
            continue
        fi
        same "$who $driver: no warning" "$(grep -v slower "$folder/stderr" || true)" ""
        $who "$driver"
    done
done

# ---- a number that is given again ---------------------------------------------------------------

number_of() { stat -Lc %i "/run/netns/$name$1"; }
# given_again PREFIX FROM TO REST: the file that FROM has left, as if TO had FROM's number now; $stale is its name
given_again() {
    left=$(find /dev/shm -name "$1.$(number_of "$2").*")
    [ -e "$left" ] || fail "$1: a killed process leaves no file"
    stale=$(echo "$left" | sed "s/\.$(number_of "$2")\./.$(number_of "$3")./; s/[^.]*\$/$4/")
    mv "$left" "$stale"
}
given_again_ring() {
    ring
    in_ns a "$leat" ring set 5 777
    in_ns b "$leat" ring stop --dev x0
    kill -9 "$(station a)"
    ends "ring, KILL" "$(station a)"
    given_again leat-ring a b "$(ip -n "${name}b" -json link show x0 | jq '.[0].ifindex')"
    in_ns b "$leat" ring join --dev x0 --address 2 --driver packet --previous "$(mac a x0)" --next "$(mac a x0)" > "$folder/ring.b"
    case $(cat "$folder/ring.b") in *"took over"*) fail "ring: a namespace takes over what another one left" ;; esac
    same "ring: another one's register" "$(in_ns b "$leat" ring get 5)" 0
    [ ! -e "$stale" ] || fail "ring: $stale stays"
    in_ns b "$leat" ring stop --dev x0
    ip -n "${name}a" link del x0
}
given_again_esp() {
    route_esp packet || fail "esp route: $(cat "$folder/stderr")"
    router=$(in_ns r "$leat" esp status --json | jq .process)
    kill -9 "$router"
    ends "esp, KILL" "$router"
    given_again leat-esp r a esp
    in_ns a "$leat" esp route --driver udp --next-hop 10.8.1.1 > /dev/null || fail "esp route after another one's"
    [ ! -e "$stale" ] || fail "esp: $stale stays"
    in_ns a "$leat" esp stop
}
case $(mark_of a) in
*.0) echo "SKIPPED, AND LOUDLY: numbers that are given again are not tested: this kernel has no cookies of namespaces" ;;
*)
    given_again_ring
    given_again_esp
    ;;
esac

# ---- namespaces that are deleted ----------------------------------------------------------------

ring
route_esp packet || fail "esp route: $(cat "$folder/stderr")"
route_pktway packet || fail "pktway route: $(cat "$folder/stderr")"
esp_router=$(in_ns r "$leat" esp status --json | jq .process)
pktway_router=$(sed -n 's/.*process \([0-9]*\).*/\1/p' "$folder/pktway")
nsenter "$(net_of a)" "$leat" pktway host --foreground --poll 100ms --san e0,bias=0x100,address=0x101 > "$folder/out" 2> "$folder/stderr" &
host=$!
beside="$beside $host"
waits_for out
numbers=$(for p in a b r; do stat -Lc %i "/run/netns/$name$p"; done)
left() { for i in $numbers; do find /dev/shm -name "leat-*.$i.*"; done; }
[ "$(left | wc -l)" = 3 ] || fail "files of two stations and a router: $(left)"
for p in a b r; do ip netns del "$name$p"; done
for p in a b; do ends "ring, its namespace is deleted" "$(station $p)"; done
ends "esp, its namespace is deleted" "$esp_router"
ends "pktway, its namespace is deleted" "$pktway_router"
wait $host || fail "pktway host in the foreground ends with $?"
has "it is told" "$(cat "$folder/stderr")" "leat: the PacketWay host ends: its network namespace was deleted"
same "nothing is left in /dev/shm" "$(left)" ""
finish
