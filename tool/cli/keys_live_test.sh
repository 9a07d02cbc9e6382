#!/bin/sh
# Keys are changed while packets pass: a ring, a group behind an ESP router, a PacketWay router with two hosts. Each
# node takes the next key, then signs by it, then forgets the old one, one node after another: no packet is refused.
# After that a node with the old key is refused, and counted. Network namespaces are made and removed here.
# usage: keys_live_test.sh LEAT
set -u
leat=$(readlink -f "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
traffic=
tear_down() {
    for pid in $traffic; do kill "$pid" 2> /dev/null; done
    delete_hosts
}
hosts "changing keys is" a b c
for n in a b c; do ip -n "$name$n" link set lo up; done

put_key "$folder/old" 000102030405060708090a0b0c0d0e0f
put_key "$folder/old-next" "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f"
put_key "$folder/next-old" "101112131415161718191a1b1c1d1e1f 000102030405060708090a0b0c0d0e0f"
put_key "$folder/next" 101112131415161718191a1b1c1d1e1f
put_key "$folder/cut" 10111213

# ---- traffic, without a pause

# flows COMMAND...: it is repeated in the background; $folder/passed has a line for each success, $folder/lost the rest
flows() {
    : > "$folder/passed"
    : > "$folder/lost"
    : > "$folder/flows"
    while [ -e "$folder/flows" ]; do
        if "$@" > "$folder/answer" 2>&1; then echo >> "$folder/passed"; else cat "$folder/answer" >> "$folder/lost"; fi
    done &
    flow=$!
    traffic="$traffic $flow"
    goes_on || { fail "$*: $(cat "$folder/lost")"; finish; }
}
lines() { wc -l < "$1"; }
has_more() { [ "$(lines "$folder/passed")" -ge "$1" ]; }
# Several more have passed, of which at least one was sent after this was called.
goes_on() { wait_until has_more $(($(lines "$folder/passed") + 4)); }
ends_flow() {
    rm -f "$folder/flows"
    wait $flow
    same "$1: what was lost" "$(cat "$folder/lost")" ""
}

# changes WHAT GIVE NODE...: all nodes, one after another, by the command GIVE NODE FILE
changes() {
    what=$1 give=$2
    shift 2
    for file in old-next next-old next; do
        for node; do
            case $node in
            root | member) ;; # they start anew
            *) exits 2 "no key, expected 32 hex digits" "$give" "$node" "$folder/cut" ;;
            esac
            exits 0 "" "$give" "$node" "$folder/$file"
            goes_on || fail "$what: nothing passes since $node has $file: $(cat "$folder/lost")"
        done
    done
}

# ---- a ring: a to b to c to a

mac_of() { case $1 in a) echo 02:00:00:00:00:0a ;; b) echo 02:00:00:00:00:0b ;; *) echo 02:00:00:00:00:0c ;; esac; }
wire() { ip link add out netns "$name$1" type veth peer name in netns "$name$2" address "$(mac_of "$2")" || skip "this kernel has no veth"; }
wire a b
wire b c
wire c a
for n in a b c; do
    ip -n "$name$n" link set in up
    ip -n "$name$n" link set out up
    polling="$polling $name$n:in"
done
# shellcheck disable=SC2086 # words
python3 "$here/../../test/veth.py" gro on $polling
join() {
    in_ns "$1" "$leat" ring join --dev in --out out --address "$2" --previous "$(mac "$3" out)" --next "$(mac_of "$4")" \
        --driver "$driver" --key-file "$folder/old" > /dev/null 2> "$folder/stderr"
}
give_ring() { in_ns "$1" "$leat" ring key --key-file "$2"; }
by_mac() { for n in a b c; do in_ns $n "$leat" ring status --json; done | jq -s -c 'map(.counts.mac)'; }
mac_counted() { [ "$(by_mac | jq add)" -gt 0 ]; }
for driver in xdp packet; do
    if ! { join a 1 c b && join b 2 a c && join c 3 b a; }; then
        no_driver "leat ring join"
        continue
    fi
    in_ns b "$leat" ring set 1 5
    # This one has the station open for the whole time.
    nsenter "$(net_of c)" "$leat" ring receive --count 2 --timeout 600s > "$folder/mail" 2>&1 &
    reader=$!
    in_ns a "$leat" ring send 3 first > /dev/null 2>&1
    flows in_ns a "$leat" ring query add --timeout 60s --quorum 3
    changes "ring, $driver" give_ring a b c
    ends_flow "ring, $driver"
    same "ring, $driver: dropped" "$(by_mac)" "[0,0,0]"
    same "ring, $driver: a register is as it was" "$(in_ns b "$leat" ring get 1)" 5
    in_ns a "$leat" ring send 3 second > /dev/null 2>&1
    wait $reader
    same "ring, $driver: messages" "$(grep -c 'first\|second' "$folder/mail")" 2
    give_ring b "$folder/old"
    exits 1 "no answer" in_ns a "$leat" ring query add --timeout 200ms
    mac_counted || fail "ring, $driver: the old key is not counted: $(by_mac)"
    exits 2 "key needs --key-file" in_ns a "$leat" ring key
    for n in a b c; do in_ns $n "$leat" ring stop; done
done

# ---- ESP: a root, a router for keyed computations only, a member

ip link add d1 netns "${name}b" type veth peer name up netns "${name}a"
ip link add d2 netns "${name}b" type veth peer name up netns "${name}c"
printf 'addr add 10.1.1.1/24 dev d1\naddr add 10.1.2.1/24 dev d2\nlink set d1 up\nlink set d2 up\n' | ip -n "${name}b" -batch -
printf 'addr add 10.1.1.2/24 dev up\nlink set dev up up\nroute add default via 10.1.1.1\n' | ip -n "${name}a" -batch -
printf 'addr add 10.1.2.2/24 dev up\nlink set dev up up\nroute add default via 10.1.2.1\n' | ip -n "${name}c" -batch -
in_ns b sysctl -qw net.ipv4.ip_forward=1
polling="${name}b:d1 ${name}b:d2 ${name}a:up ${name}c:up"
# shellcheck disable=SC2086 # words
python3 "$here/../../test/veth.py" gro on $polling
member=
# A member and a root read their file when they start.
give_esp() {
    case $1 in
    router) in_ns b "$leat" esp key --key-file "$2" ;;
    root) cp -p "$2" "$folder/root.new" && mv "$folder/root.new" "$folder/root" ;;
    member)
        [ -z "$member" ] || { kill $member; wait $member 2> /dev/null; }
        nsenter "$(net_of c)" "$leat" esp join keys --root 10.1.1.2 --every 100ms --key-file "$2" > "$folder/member" 2>&1 &
        member=$!
        traffic="$traffic $member" ;;
    esac
}
census() { in_ns a "$leat" esp census keys --members 1 --wait "$1" --key-file "$folder/root" --json; }
refusals() { in_ns b "$leat" esp status --json | jq -c '[.refused, .counts.unkeyed]'; }
counts_refusals() { [ "$(refusals | jq add)" -gt 0 ]; }
for driver in xdp packet; do
    if ! in_ns b "$leat" esp route --dev d1 --dev d2 --driver $driver --keyed-only --key-file "$folder/old" > /dev/null 2> "$folder/stderr"; then
        no_driver "leat esp route"
        continue
    fi
    member=
    give_esp member "$folder/old"
    give_esp root "$folder/old"
    flows census 20s
    process=$(in_ns b "$leat" esp status --json | jq .process)
    changes "ESP, $driver" give_esp router member root
    ends_flow "ESP, $driver"
    same "ESP, $driver: dropped and refused" "$(refusals)" "[0,0]"
    same "ESP, $driver: the process" "$(in_ns b "$leat" esp status --json | jq .process)" "$process"
    [ "$(in_ns b "$leat" esp status --json | jq .counts.executed)" -gt 0 ] || fail "ESP, $driver: nothing was executed"
    give_esp member "$folder/old"
    give_esp root "$folder/old"
    exits 1 "" census 2s
    counts_refusals || fail "ESP, $driver: the old key is not counted: $(refusals)"
    exits 2 "key needs --key-file" in_ns b "$leat" esp key
    kill $member
    in_ns b "$leat" esp stop
done

# ---- PacketWay: two hosts and a router, over UDP and Ethernet

sans() { if [ "$driver" = udp ]; then echo "udp:$1:4254,bias=$2"; else echo "$3,bias=$2"; fi; }
start_pktway() {
    case $driver$1 in
    udpleft) where=a peer=,peer=10.1.1.1:4254 ;;
    udpright) where=c peer=,peer=10.1.2.1:4254 ;;
    *left) where=a peer= ;;
    *right) where=c peer= ;;
    *) where=b peer= ;;
    esac
    case $1 in
    left) set -- host --name left --san "$(sans 10.1.1.2 0x100 up),address=0x101$peer" ;;
    right) set -- host --name right --san "$(sans 10.1.2.2 0x200 up),address=0x201$peer" ;;
    gate) set -- route --name gate --driver $driver --san "$(sans 10.1.1.1 0x100 d1),address=0x102" --san "$(sans 10.1.2.1 0x200 d2),address=0x202" ;;
    esac
    in_ns $where "$leat" pktway "$@" --poll 50ms --key-file "$folder/old" > /dev/null 2> "$folder/stderr"
}
place() { case $1 in left) echo a ;; right) echo c ;; *) echo b ;; esac; }
give_pktway() { in_ns "$(place "$1")" "$leat" pktway key --name "$1" --key-file "$2"; }
# The nodes poll each other by keyed messages, twenty times a second; a plan is asked for by more of them.
plan() { in_ns a "$leat" pktway plan 0x201 --name left --timeout 60s; }
of_keys() { for n in left gate right; do in_ns "$(place $n)" "$leat" pktway status --name $n --json; done | jq -s -c '[.[] | .. | objects | .forged? // empty] | add'; }
forged() { [ "$(of_keys)" -gt 0 ]; }
for driver in udp packet xdp; do
    start_pktway gate || { no_driver "leat pktway route"; continue; }
    start_pktway left && start_pktway right || { fail "$driver: $(cat "$folder/stderr")"; continue; }
    wait_until plan || fail "PacketWay, $driver: no plan"
    flows plan
    changes "PacketWay, $driver" give_pktway left gate right
    ends_flow "PacketWay, $driver"
    same "PacketWay, $driver: refused" "$(of_keys)" 0
    give_pktway left "$folder/old"
    wait_until forged || fail "PacketWay, $driver: the old key is not counted: $(of_keys)"
    exits 2 "has a key, expected --key-file" in_ns b "$leat" pktway key --name gate
    exits 2 "3 of --key-file, expected one, or one for each of 2 SANs" in_ns b "$leat" pktway key --name gate \
        --key-file none --key-file none --key-file none
    exits 2 "SAN 2 has a key" in_ns b "$leat" pktway key --name gate --key-file "$folder/next" --key-file none
    for n in left right gate; do in_ns "$(place $n)" "$leat" pktway stop --name $n; done
done
finish
