#!/bin/sh
# Attacks on live ESP by a host without the key, in network namespaces that are created and removed
# here: packets to absent neighbours during a census; recorded JOINs and farewells that are sent again,
# from their own address and from others.
# usage: [LEAT_DRIVERS="packet udp"] esp_attack_test.sh LEAT
#
#   root -0- r -1- m0        link n is 10.1.n.0/24 and fd00:0:0:n::/64: .1 above, .2 below
#              -2- m1
#              -3- m2        where the attacker is, too
set -eu
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"

running=
# end PID: and wait for it. (Again and again: a signal that comes before a process has begun may be lost.)
end() {
    while kill "$1" 2>/dev/null; do sleep 0.1; done
    wait "$1" 2>/dev/null || true
}
end_all() {
    for pid in $running; do end "$pid"; done
    running=
}
tear_down() {
    end_all
    in_ns r "$leat" esp stop 2>/dev/null || true
    delete_hosts
}
hosts "attacks on live ESP are" root r m0 m1 m2

# ---- the network --------------------------------------------------------------------------------

link root r 0
for m in 0 1 2; do link r "m$m" $((m + 1)); done
ip -n "${name}root" route add 10.1.0.0/16 via 10.1.0.2
ip -n "${name}root" -6 route add fd00::/48 via fd00:0:0:0::2
# Strangers' packets are to come as far as they can.
in_ns r sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
for host in root r; do
    in_ns $host sh -c 'echo 0 | tee /proc/sys/net/ipv4/conf/*/rp_filter' > /dev/null
done
# An overlay tells its next hops apart by the address that a packet comes to.
for i in 1 2 3; do ip -n "${name}r" addr add 10.1.9.$i/32 dev up; done
# shellcheck disable=SC2086
python3 "$here/../../test/veth.py" gro on $polling

put_key "$folder/key" '00010203 04050607 08090a0b 0c0d0e0f'
route() {
    where="--dev up --dev d1 --dev d2 --dev d3"
    [ "$driver" != udp ] || where="--next-hop 10.1.0.1 --next-hop 10.1.9.1/32=10.1.2.71 --next-hop 10.1.9.2/32=10.1.2.72 --next-hop 10.1.9.3/32=10.1.3.73"
    # shellcheck disable=SC2086
    in_ns r "$leat" esp route $where --driver "$driver" --capacity 4k --port-capacity 1k --key-file "$folder/key"
}
# join MEMBER: $! is its process
join() {
    via=
    [ "$driver" != udp ] || via="--via 10.1.$(($1 + 1)).1"
    # shellcheck disable=SC2086
    nsenter "$(net_of "m$1")" "$leat" esp join 7 --root 10.1.0.1 $via --every 100ms --key-file "$folder/key" > "$folder/member.$1" 2>&1 &
    running="$running $!"
}
# census MEMBERS: is what the command prints and exits with. A busy machine may be late: robust.
census() { in_ns root "$leat" esp census 7 --members "$1" --wait 60s --settle 500ms --robust 4 --key-file "$folder/key" --json 2>"$folder/stderr" || fail "$driver: census of $1: $(cat "$folder/stderr")"; }
count() { in_ns r "$leat" esp status --json | jq -r ".counts[\"$1\"]"; }
# attack WHAT...: from m2, beside; $! is its process
attack() {
    rm -f "$folder/attack"
    nsenter "$(net_of m2)" python3 "$here/esp_attack.py" "$@" > "$folder/attack" &
    running="$running $!"
    waits_for attack
}

# ---- neighbours that are not there ----------------------------------------------------------------

absent() {
    if [ "$driver" = udp ]; then
        echo 10.1.9.1 10.1.9.2 10.1.9.3
        return
    fi
    for i in $(seq 100 249); do echo "10.1.1.$i 10.1.2.$i"; done
    for i in $(seq 100 149); do echo "fd00:0:0:1::$i fd00:0:0:2::$i"; done
}
is_refused() { [ "$(count unresolved)" -gt 1000 ]; }
reached() { in_ns m1 python3 "$here/esp_attack.py" sees up "$1"; }
absent_neighbours() {
    join 0
    join 1
    same "$driver: before" "$(census 2 | jq -c '[.answer,.members]')" "[2,2]"
    # shellcheck disable=SC2046
    attack absent 1500 $(absent)
    flood=$!
    [ "$driver" = xdp ] || wait_until is_refused || fail "$driver: only $(count unresolved) packets to absent neighbours were refused"
    for _ in 1 2 3; do
        same "$driver: beside packets to absent neighbours" "$(census 2 | jq -c '[.answer,.members]')" "[2,2]"
    done
    # Whoever is there and not known yet is found, in the middle of it.
    ip -n "${name}r" neigh flush dev d3
    join 2
    same "$driver: one more, beside packets to absent neighbours" "$(census 3 | jq -c '[.answer,.members]')" "[3,3]"
    if [ "$driver" != udp ]; then
        ip -n "${name}m1" addr add 10.1.2.200/24 dev up
        wait_until reached 10.1.2.200 || fail "$driver: a neighbour that was absent is never reached"
        ip -n "${name}m1" addr add fd00:0:0:2::123/64 dev up nodad
        wait_until reached fd00:0:0:2::123 || fail "$driver: a neighbour of IPv6 that was absent is never reached"
        ip -n "${name}m1" addr del 10.1.2.200/24 dev up
        ip -n "${name}m1" addr del fd00:0:0:2::123/64 dev up
    fi
    end $flood
    same "$driver: after packets to absent neighbours" "$(census 3 | jq -c '[.answer,.members]')" "[3,3]"
    end_all
}

# ---- packets that are sent again ------------------------------------------------------------------

forged() { for i in $(seq 100 119); do echo "10.1.3.$i"; done; }
is_heard() { [ "$(wc -l < "$folder/joins")" -ge "$1" ]; }
replays() {
    rm -f "$folder/hears"
    nsenter "$(net_of root)" python3 "$here/esp_attack.py" hear d0 "$folder/joins" > "$folder/hears" &
    ear=$!
    running="$running $ear"
    waits_for hears
    join 0
    join 1
    gone=$!
    same "replays: before" "$(census 2 | jq -c '[.answer,.members]')" "[2,2]"
    end $gone # its farewell is heard, too
    wait_until is_heard 8 || fail "replays: only $(wc -l < "$folder/joins") JOINs were heard"
    sleep 0.5
    end $ear
    # shellcheck disable=SC2046
    attack again "$folder/joins" 10.1.0.1 $(forged)
    # Only m0 lives. Whoever else is taken for a member is asked, and does not answer.
    in_ns root "$leat" esp census 7 --wait 5s --settle 500ms --robust 4 --key-file "$folder/key" --json > "$folder/census" 2> "$folder/stderr" || fail "replays: $(cat "$folder/stderr")"
    same "replays: one lives" "$(jq -c '[.answer,.members,.forged > 0]' "$folder/census")" "[1,1,true]"
    # m1 is there again: its first process's farewell is not its own.
    join 1
    for _ in 1 2 3; do
        same "replays: two live" "$(census 2 | jq -c '[.answer,.members]')" "[2,2]"
    done
    end_all
}

# Copies of one JOIN of an earlier process at m0, from m0's own address: they use up nothing that m0 needs.
copies() {
    rm -f "$folder/hears" "$folder/joins"
    nsenter "$(net_of root)" python3 "$here/esp_attack.py" hear d0 "$folder/joins" > "$folder/hears" &
    ear=$!
    running="$running $ear"
    waits_for hears
    join 0
    gone=$!
    wait_until is_heard 1 || fail "copies: no JOIN was heard"
    end $gone
    end $ear
    join 0
    join 1
    attack copies "$folder/joins" 10.1.0.1 5000
    for _ in 1 2 3; do
        same "copies: two live" "$(census 2 | jq -c '[.answer,.members,.replayed > 0,.unproven > 0,.unanswered]')" "[2,2,true,true,0]"
    done
    end_all
}

# More new JOINs than the root answers in a second: who is behind them may be a member, and is not in the answer.
# The answer is shown all the same, with the count of them.
is_doubted() {
    ends_with 1 "members may be missing" in_ns root "$leat" esp census 7 --settle 500ms --robust 4 --key-file "$folder/key" &&
        grep -q '^census 1$' "$folder/stdout" && grep -q ', not answered: [1-9]' "$folder/stdout"
}
too_many() {
    join 0
    attack joins "$folder/key" 7 10.1.3.2 10.1.0.1
    wait_until is_doubted || fail "too many JOINs: $(cat "$folder/stdout" "$folder/stderr")"
    end_all
}

# Two have joined, one of them is nobody: an answer of one is not an answer of all.
not_all() {
    nsenter "$(net_of m0)" "$leat" esp join 8 --root 10.1.0.1 --every 100ms > "$folder/member.0" 2>&1 &
    running="$running $!"
    "$leat" encode esp opcode=JOIN group=8 member=9 > "$folder/join.hex"
    nsenter "$(net_of m2)" python3 "$here/esp_attack.py" repeat "$folder/join.hex" 10.1.0.1 &
    running="$running $!"
    exits 1 "1 of 2 members are in the answer" in_ns root "$leat" esp census 8 --members 2 --wait 60s --settle 500ms
    same "not all: the answer is shown" "$(head -n 1 "$folder/stdout")" "census 1"
    end_all
}

tried=
for driver in ${LEAT_DRIVERS:-xdp packet udp}; do
    if ! route > "$folder/routed" 2> "$folder/stderr"; then
        no_driver route
        continue
    fi
    absent_neighbours
    if [ -z "$tried" ]; then
        replays
        copies
        too_many
        not_all
    fi
    tried="$tried $driver"
    in_ns r "$leat" esp stop || fail "$driver: the router does not stop"
done
[ -n "$tried" ] || [ -s "$wrongs" ] || skip "no driver works here"
finish
