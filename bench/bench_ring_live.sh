#!/bin/sh
# A live ring of 8 namespaces on this machine: how long a MIN of all registers takes by XDP, by
# packet-socket processes and by a parallel TCP gather of the same values, in one run, as ratios.
# (The whole revolution of XDP runs in the sender's own send call, on one CPU: no wire, no wake-up.)
# usage: bench_ring_live.sh LEAT BENCH_RING_LIVE [JSON]; needs root
set -eu
leat=$1 bench=$2 json=${3:-/dev/null}
[ "$(id -u)" -eq 0 ] || { echo "bench_ring_live: it makes network namespaces, which needs root" >&2; exit 0; }
folder=$(mktemp -d)
name=leatb$$
stations="0 1 2 3 4 5 6 7"
N=8
in_ns() {
    ns=$1
    shift
    nsenter --net="/run/netns/${name}x$ns" "$@"
}
servers=
tear_down() {
    for i in $stations; do
        in_ns "$i" "$leat" ring stop --dev in 2>/dev/null || true
    done
    for pid in $servers; do kill "$pid" 2>/dev/null || true; done
    for i in $stations; do ip netns del "${name}x$i" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap tear_down EXIT INT TERM
mac_in() { printf '02:00:00:00:00:%02x' "$1"; }
mac_out() { printf '02:00:00:00:01:%02x' "$1"; }

for i in $stations; do ip netns add "${name}x$i"; done
for i in $stations; do
    ip link add out netns "${name}x$i" type veth peer name in netns "${name}x$(((i + 1) % N))"
done
for i in $stations; do
    ip -n "${name}x$i" link set in address "$(mac_in "$i")" up
    ip -n "${name}x$i" link set out address "$(mac_out "$i")" up
done
# Native XDP sends over veths only to ends that poll.
polling=
for i in $stations; do polling="$polling ${name}x$i:in"; done
# shellcheck disable=SC2086 # words
python3 "$(dirname "$0")/../test/veth.py" gro on $polling
# The gather's own cables: station 0 has one to each of the others, as a switch would give it.
for i in 1 2 3 4 5 6 7; do
    ip link add "to$i" netns "${name}x0" type veth peer name tcp netns "${name}x$i"
    ip -n "${name}x0" addr add "10.99.$i.1/24" dev "to$i"
    ip -n "${name}x$i" addr add "10.99.$i.2/24" dev tcp
    ip -n "${name}x0" link set "to$i" up
    ip -n "${name}x$i" link set tcp up
done

# measure WHAT COMMANDS ARGUMENT...: median us, 99th percentile us, commands/s, the best of three
measure() {
    what=$1 commands=$2
    shift 2
    for _ in 1 2 3; do in_ns 0 "$bench" "$@" ; done | sort -n | head -1 > "$folder/$what"
    read -r median p99 rate < "$folder/$what"
    echo "$what: median $median us, 99th percentile $p99 us, $rate commands/s, $commands commands"
    awk -v what="$what" -v m="$median" -v p="$p99" -v r="$rate" -v n=$N 'BEGIN {
        printf "{\"name\":\"%s, MIN of 8 stations, median\",\"value\":%s,\"unit\":\"us\",\"target\":\"\"}\n", what, m
        printf "{\"name\":\"%s, 99th percentile\",\"value\":%s,\"unit\":\"us\",\"target\":\"\"}\n", what, p
        printf "{\"name\":\"%s, per hop\",\"value\":%.3f,\"unit\":\"us\",\"target\":\"\"}\n", what, m / n
        printf "{\"name\":\"%s, one after the other\",\"value\":%s,\"unit\":\"commands/s\",\"target\":\"\"}\n", what, r }' >> "$folder/figures"
}
for driver in xdp packet; do
    for i in $stations; do
        in_ns "$i" "$leat" ring join --dev in --out out --address $((i + 1)) --rate 0 --driver $driver \
            --previous "$(mac_out $(((i + N - 1) % N)))" --next "$(mac_in $(((i + 1) % N)))" > /dev/null
        in_ns "$i" "$leat" ring set 1 $((100 - i))
    done
    commands=100000
    [ $driver = xdp ] || commands=5000
    measure $driver $commands in $commands
done
for _ in 1 2 3; do
    for i in 1 2 3 4 5 6 7; do
        in_ns "$i" "$bench" serve &
        servers="$servers $!"
    done
    peers="10.99.1.2 10.99.2.2 10.99.3.2 10.99.4.2 10.99.5.2 10.99.6.2 10.99.7.2"
    # shellcheck disable=SC2086
    in_ns 0 "$bench" gather 5000 $peers >> "$folder/gathers"
    wait $servers 2>/dev/null || true
    servers=
done
sort -n "$folder/gathers" | head -1 > "$folder/gather"
read -r median p99 rate < "$folder/gather"
echo "TCP gather: median $median us, 99th percentile $p99 us, $rate commands/s"
printf '{"name":"TCP gather of 7 values, median","value":%s,"unit":"us","target":""}\n' "$median" >> "$folder/figures"
for peer in packet gather; do
    ratio=$(awk 'NR == FNR { x = $1; next } { printf "%.1f", $1 / x }' "$folder/xdp" "$folder/$peer")
    echo "XDP is $ratio times as fast as $peer (target: clearly above 1)"
    printf '{"name":"XDP against %s","value":%s,"unit":"times","target":"at least 3"}\n' "$peer" "$ratio" >> "$folder/figures"
done
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
