#!/bin/sh
# IP between hosts of this machine through simulated networks, in namespaces that leat makes and removes:
# ping, its latency held to T(N) of the thesis, a TCP transfer, signals, bad options.
# usage: atm_tun_test.sh LEAT
set -u
leat=$1
here=$(dirname "$0")
. "$here/../../test/lib.sh"
t=t$(($$ % 100000))- # namespaces of this test
described() { python3 "$here/../../share/schema/check.py" "$1" > "$folder/said" 2>&1 || fail "$1: $(head -n 3 "$folder/said")"; }

# ---- what is refused before anything is made

exits 2 "expected ports, as 0,5,8-11" "$leat" atm tun --ports 0,x
exits 2 "expected ports" "$leat" atm tun --ports 3-1
exits 2 "port 1 is there twice" "$leat" atm tun --ports 0-2,1
exits 2 "more than 64 ports" "$leat" atm tun --ports 0-63,64
exits 2 "expected ADDRESS/BITS" "$leat" atm tun --network 10.0.0/8
exits 2 "expected ADDRESS/BITS" "$leat" atm tun --network 10.0.0.0/31
exits 2 "port 6 has no address there" "$leat" atm tun --network 10.0.0.0/29 --ports 0,6
exits 2 "expected 1 to 7 letters" "$leat" atm tun --name ../x
exits 2 "--mtu '100'" "$leat" atm tun --mtu 100
exits 2 "--slower '0'" "$leat" atm tun --slower 0
exits 2 "did you mean" "$leat" atm tnu

skip() { echo "SKIPPED, AND LOUDLY: leat atm tun is not tested: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "it needs root"
for tool in ip jq ping python3 setpriv; do command -v $tool > /dev/null || skip "$tool is not installed"; done
[ -c /dev/net/tun ] || { mkdir -p /dev/net && mknod /dev/net/tun c 10 200; } 2> /dev/null || skip "/dev/net/tun is missing"
"$leat" atm tun --name "$t" -- true 2> "$folder/stderr" || skip "$(head -n 1 "$folder/stderr")"
no_namespaces() { for n in /run/netns/"$t"*; do [ ! -e "$n" ] || return 1; done; }
tear_down() { for n in /run/netns/"$t"*; do [ ! -e "$n" ] || ip netns del "${n##*/}"; done; }

exits 2 "missing CAP_NET_ADMIN, CAP_SYS_ADMIN: expected sudo" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$leat" atm tun --name "$t"
exits 2 "port 16, clos444 has ports 0 to 15" "$leat" atm tun --name "$t" --ports 0,16
exits 2 "'nosuch'" "$leat" atm tun --name "$t" --fabric nosuch
exits 2 "nosuch: not found" "$leat" atm tun --name "$t" -- nosuch
ip netns add "${t}3"
exits 2 "namespace ${t}3 exists: expected another --name" "$leat" atm tun --name "$t" --ports 0,3
[ -e "/run/netns/${t}3" ] || fail "a namespace of others is removed"
ip netns del "${t}3"
no_namespaces || fail "namespaces are left: $(ls /run/netns)"

# ---- ping through the prototype: all answers, and the simulated latency is T(N), up to the cycle in which it begins

exits 0 "" "$leat" atm tun --name "$t" --ports 2,7 --network 10.9.0.0/16 --json="$folder/ping.json" -- \
    ip netns exec "${t}2" ping -c 5 -i 0.1 -s 1000 10.9.0.8
has ping "$(cat "$folder/stdout")" "5 packets transmitted, 5 received, 0% packet loss"
described "$folder/ping.json"
same "packets" "$(jq -c '[.ip_received, .ip_octets, .lost, .status]' "$folder/ping.json")" '[10,10280,0,"done"]'
cycles=$("$leat" fabric time clos444 --bytes $((1000 + 28 + 8)) --json | jq .cycles)
same "the latency of 1036 octets, in cycles: T(N)" \
    "$(jq --argjson t "$cycles" '[(.latency_ns.mean, .latency_ns.max) / 50 | . > $t - 1 and . <= $t + 1] | all' "$folder/ping.json")" true
exits 0 "" "$leat" atm tun --name "$t" -- ip netns exec "${t}0" ping -6 -c 2 -i 0.1 fd61:746d::2
has "ping of IPv6" "$(cat "$folder/stdout")" "2 packets transmitted, 2 received, 0% packet loss"
has "who has which address" "$(cat "$folder/stderr")" "port 1: namespace and device ${t}1, 10.77.0.2, fd61:746d::2"
has "what came" "$(cat "$folder/stderr")" "received (416 octets), 0 lost"
exits 1 "" "$leat" atm tun --name "$t" -- ip netns exec "${t}0" ping -c 1 -W 1 10.77.0.9 # nobody
no_namespaces || fail "namespaces are left: $(ls /run/netns)"

# ---- TCP through an ATM network and through one of switches

transfer() {
    cat > "$folder/transfer.sh" << END
ip netns exec ${t}1 python3 $here/atm_tun.py receive 10.77.0.2 > $folder/received &
ip netns exec ${t}0 python3 $here/atm_tun.py send 10.77.0.2 $1 > $folder/sent
wait
END
    shift
    exits 0 "" "$leat" atm tun --name "$t" "$@" --json="$folder/tcp.json" -- sh "$folder/transfer.sh"
    same "SHA-256 through $*" "$(cat "$folder/received")" "$(cat "$folder/sent")"
    same "length of a SHA-256" "$(wc -c < "$folder/sent")" 65
    described "$folder/tcp.json"
}
transfer 3000000 --fabric clos444
same "octets" "$(jq '.ip_octets > 3000000 and .lost == 0 and .ip_unsent == 0' "$folder/tcp.json")" true
transfer 3000000 --fabric mesh:4,4 --mtu 1500 --slower 10
same "slower" "$(jq '.slower == 10 and .simulated_ns <= .real_ns / 10 + 1' "$folder/tcp.json")" true

# ---- signals end it, and the exit code of a command is its own

for signal in INT TERM; do
    "$leat" atm tun --name "$t" --json > "$folder/signal.json" 2> "$folder/stderr" &
    pid=$!
    wait_until ip netns exec "${t}0" ping -c 1 -W 1 10.77.0.2 || fail "no answer before SIG$signal"
    kill -s $signal $pid
    got=0
    wait $pid || got=$?
    same "exit code of SIG$signal" $got $(($(kill -l $signal 2> /dev/null | grep -x '[0-9]*' || case $signal in INT) echo 2 ;; *) echo 15 ;; esac) + 128))
    same "status" "$(jq -r .status "$folder/signal.json")" interrupted
    no_namespaces || fail "namespaces are left after SIG$signal: $(ls /run/netns)"
done
"$leat" atm tun --name "$t" -- sh -c "trap '' TERM; : > $folder/deaf; while :; do sleep 0.1; done" 2> "$folder/stderr" &
pid=$!
wait_until [ -e "$folder/deaf" ] || fail "the command does not begin"
kill $pid
wait $pid
same "exit code with a command that ignores SIGTERM" $? 143
# shellcheck disable=SC2016 # a shell of its own expands it
exits 7 "" env CODE=7 "$leat" atm tun --name "$t" -- sh -c 'exit "$CODE"'
no_namespaces || fail "namespaces are left: $(ls /run/netns)"
finish
