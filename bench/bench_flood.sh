#!/bin/sh
# Good traffic through a ring station, an ESP router and a PacketWay router, all with a key, while an attacker on the
# same wire sends frames that are not; test/floods.py has the kinds.
#
# XDP: the attacker sends as fast as its core (1) can; good traffic has the other one (0), and the device that receives
# both a queue for each, as network cards have. A part by XDP works within the call that sends to it: so the flood is
# answered on the attacker's core, and what is measured is how far it disturbs the other core. Two cores disturb each
# other whatever they do, so the clean rate is that while the attacker sends the same frames aside, to a program that
# drops them all. Rates are per second of processor time of the sender of good frames. And what a frame of the flood
# costs the part by itself, beside a good one.
#
# Sockets: part and good traffic have core 0, the attacker core 1, and a process has to read what comes. So the attacker
# is limited to FLOOD frames a second, good traffic to GOOD, and what is measured is the share of good frames that
# arrives, without a flood and with it.
# usage: bench_flood.sh LEAT BENCH_FLOOD [JSON]; needs root and two cores
set -eu
leat=$(readlink -f "$1") bench=$(readlink -f "$2" || true) json=${3:-/dev/null}
[ "$(id -u)" -eq 0 ] || { echo "bench_flood: it makes network namespaces, which needs root" >&2; exit 0; }
[ -x "$bench" ] || { echo "bench_flood: built without XDP" >&2; exit 0; }
[ "$(nproc)" -ge 2 ] || { echo "bench_flood: it needs two cores" >&2; exit 0; }
folder=$(mktemp -d)
name=leatf$$
here=$(dirname "$0")
seconds=${LEAT_BENCH_SECONDS:-0.2}
drivers=${LEAT_DRIVERS:-xdp packet}
in_ns() {
    ns=$1
    shift
    nsenter --net="/run/netns/$name$ns" "$@"
}
flood="" dropper=""
good_per_s=20000 flood_per_s=60000
tear_down() {
    for pid in $flood $dropper; do kill "$pid" 2> /dev/null || true; done
    for part in ring esp pktway; do stop $part; done
    for n in g r s; do ip netns del "$name$n" 2> /dev/null || true; done
    rm -rf "$folder"
}
trap tear_down EXIT INT TERM
for n in g r s; do ip netns add "$name$n"; done
queues="numtxqueues 2 numrxqueues 2"
# shellcheck disable=SC2086 # words
{
    ip link add a0 netns "${name}g" address 02:00:00:00:00:0a $queues type veth peer name r0 netns "${name}r" address 02:00:00:00:00:01 $queues
    ip link add r1 netns "${name}r" address 02:00:00:00:00:02 $queues type veth peer name b0 netns "${name}s" address 02:00:00:00:00:0b $queues
}
# shellcheck disable=SC2086 # words
ip link add c0 netns "${name}g" $queues type veth peer name d0 netns "${name}s" $queues
for at in "g a0" "r r0" "r r1" "s b0" "g c0" "s d0"; do ip -n "$name${at% *}" link set "${at#* }" mtu 2000 up; done
printf 'addr add 10.1.0.1/24 dev r0\naddr add 10.2.0.1/24 dev r1\nneigh replace 10.2.0.2 lladdr 02:00:00:00:00:0b dev r1 nud permanent\n' | ip -n "${name}r" -batch -
in_ns r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.r0.rp_filter=0
# Native XDP sends over veths only to ends that poll.
python3 "$here/../test/veth.py" gro on "${name}g:a0" "${name}r:r0" "${name}s:b0" "${name}g:c0"
echo 000102030405060708090a0b0c0d0e0f > "$folder/key"
chmod 600 "$folder/key"

start() {
    case $1 in
    ring) in_ns r "$leat" ring join --dev r0 --out r1 --address 1 --previous 02:00:00:00:00:0a --next 02:00:00:00:00:0b --rate 0 --driver "$driver" --key-file "$folder/key" ;;
    esp) in_ns r "$leat" esp route --dev r0 --dev r1 --tau 3600s --driver "$driver" --rate 0 --port-share 0 --keyed-only --key-file "$folder/key" ;;
    pktway)
        in_ns r "$leat" pktway route --poll 200ms --driver "$driver" --san r0,bias=0x100,address=0x102 --san r1,bias=0x200,address=0x202 --key-file "$folder/key" &&
            in_ns s "$leat" pktway host --poll 200ms --san b0,bias=0x200,address=0x201 --key-file "$folder/key" && sleep 1
        ;;
    esac > /dev/null 2> "$folder/error" || { echo "$1, $driver: $(cat "$folder/error")" >&2; return 1; }
}
stop() {
    case $1 in
    ring) in_ns r "$leat" ring stop ;;
    esp) in_ns r "$leat" esp stop ;;
    pktway)
        in_ns r "$leat" pktway stop || true
        in_ns s "$leat" pktway stop --name host
        ;;
    esac > /dev/null 2>&1 || true
}
# The process of the part has core 0, as good traffic has.
pin() {
    for process in $(in_ns r "$leat" "$1" status --json 2> /dev/null | jq -r '.process // empty'; pgrep -f "^$leat $1 "); do
        taskset -a -cp 0 "$process" > /dev/null 2>&1 || true
    done
}
frames() { python3 "$here/../test/floods.py" frames "$part" "$1" 02:00:00:00:00:01 02:00:00:00:00:0a 256 > "$folder/$1"; }
# shellcheck disable=SC2086 # words
rate() { nice -n -19 taskset -c 0 "$bench" rate "${name}g" "$folder/good" "$seconds" "${name}s" $mark; }
# shellcheck disable=SC2086 # words
share() { nice -n -19 taskset -c 0 "$bench" share "${name}g" "$folder/good" "$seconds" "${name}s" $mark $good_per_s; }
cost() { nice -n -19 taskset -c 0 "$bench" cost "${name}g" "$folder/$1" "$seconds"; }
# during DEVICE PACE MEASURE: adds to $folder/DEVICE what it measures during a flood
during() {
    nice -n -19 taskset -c 1 "$bench" flood "${name}g" "$folder/$kind" "$1" "$2" 2> "$folder/pace" &
    flood=$!
    sleep 0.3
    $3 >> "$folder/$1"
    kill $flood
    wait $flood 2> /dev/null || true
    flood=""
}
got() { cat "$folder/$1"; }
figure() { printf '{"name":"flood: %s","value":%s,"unit":"%s","target":"at least 0.9"}\n' "$1" "$2" "$3" >> "$folder/figures"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

by_xdp() {
    cost good > "$folder/cost.good"
    cost "$kind" > "$folder/cost.bad"
    during c0 0 rate
    during a0 0 rate
    kept=$(ratio "$(got a0)" "$(got c0)")
    awk -v name="$part by XDP, $kind" -v clean="$(got c0)" -v kept="$kept" -v bad="$(got cost.bad)" -v good="$(got cost.good)" 'BEGIN {
        printf "%-28s %s of %.2f Mpps; a frame of the flood costs %4.0f ns, %.2f of a good one\n", name, kept, clean / 1e6, 1e9 / bad, good / bad }'
    figure "$part by XDP, $kind" "$kept" "of the clean rate"
}
by_sockets() {
    share > "$folder/clean"
    during a0 $flood_per_s share
    read -r clean _ < "$folder/clean"
    read -r share per_s < "$folder/a0"
    kept=$(ratio "$share" "$clean")
    printf '%-28s %s of %s; %s good frames and %s of the flood a second\n' "$part by sockets, $kind" "$kept" "$clean" "$per_s" "$(sort -g "$folder/pace" | tail -n 1)"
    figure "$part by sockets, $kind" "$kept" "of the good frames that arrive without it"
}

"$bench" drop "${name}s" &
dropper=$!
for part in ${LEAT_PARTS:-ring esp pktway}; do
    frames good
    mark=$(python3 "$here/../test/floods.py" mark "$part")
    for driver in $drivers; do
        start "$part" || continue
        pin "$part"
        for kind in $(python3 "$here/../test/floods.py" kinds "$part"); do
            frames "$kind"
            rm -f "$folder/a0" "$folder/c0" "$folder/clean" "$folder"/cost.*
            if [ "$driver" = xdp ]; then by_xdp; else by_sockets; fi
        done
        stop "$part"
    done
done
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
