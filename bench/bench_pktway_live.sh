#!/bin/sh
# A PacketWay router by XDP between two namespaces, on veths, one core: packets that pass by address
# (L3) and by an L2RH (L2), compared with the same frames through a plain XDP program that forwards
# to a fixed output, in the same run.
# usage: bench_pktway_live.sh LEAT BENCH_PKTWAY_LIVE [JSON]; needs root
set -eu
leat=$1 bench=$2 json=${3:-/dev/null}
[ "$(id -u)" -eq 0 ] || { echo "bench_pktway_live: it makes network namespaces, which needs root" >&2; exit 0; }
[ -x "$bench" ] || { echo "bench_pktway_live: built without XDP" >&2; exit 0; }
folder=$(mktemp -d)
name=leatw$$
seconds=${LEAT_BENCH_SECONDS:-1}
in_ns() { nsenter --net="/run/netns/$name$1" "$leat" pktway "$2" --name "$3" $4 > /dev/null; }
tear_down() {
    in_ns r stop r "" 2> /dev/null || true
    in_ns s stop h "" 2> /dev/null || true
    for n in g r s; do ip netns del "$name$n" 2> /dev/null || true; done
    rm -rf "$folder"
}
trap tear_down EXIT INT TERM
for n in g r s; do ip netns add "$name$n"; done
ip link add a0 netns "${name}g" type veth peer name r0 netns "${name}r"
ip link add r1 netns "${name}r" type veth peer name b0 netns "${name}s"
ip -n "${name}g" link set a0 up
ip -n "${name}r" link set r0 up
ip -n "${name}r" link set r1 up
ip -n "${name}s" link set b0 up
# A veth takes what XDP sends only if its other end polls.
python3 "$(dirname "$0")/../test/veth.py" gro on "${name}g:a0" "${name}s:b0"

# measure WHAT HOW: packets a second
measure() { taskset -c 0 "$bench" "${name}g" "${name}r" "${name}s" "$@" "$seconds"; }
# row NAME RATE LIMIT TARGET
row() {
    awk -v name="$1" -v rate="$2" -v limit="$3" -v target="${4:-}" 'BEGIN {
        printf "%-44s %8.2f Mpps  %.2f of plain XDP%s\n", name, rate / 1e6, rate / limit, target == "" ? "" : " (target: at least " target ")"
        printf "{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"Mpps\",\"target\":\"\"}\n", name, rate / 1e6 > "/dev/stderr"
        printf "{\"name\":\"%s, of plain XDP\",\"value\":%.3f,\"unit\":\"times\",\"target\":\"%s\"}\n", name, rate / limit, target == "" ? "" : "at least " target > "/dev/stderr" }' 2>> "$folder/figures"
}
# What is compared is measured in turns, the best of three each: a busy machine is busy for all.
for _ in 1 2 3; do
    measure plain address >> "$folder/plain"
    in_ns r route r "--driver xdp --poll 200ms --san r0,bias=0x100,address=0x102 --san r1,bias=0x200,address=0x202"
    in_ns s host h "--poll 200ms --san b0,bias=0x200,address=0x201"
    sleep 1
    measure router address >> "$folder/address"
    measure router planned >> "$folder/planned"
    in_ns s stop h ""
    in_ns r stop r ""
    sleep 0.2
done
best() { sort -n "$folder/$1" | tail -n 1; }
plain=$(best plain)
row "plain XDP, fixed way" "$plain" "$plain"
row "PacketWay by XDP, by address (L3)" "$(best address)" "$plain" 0.6
row "PacketWay by XDP, planned (L2)" "$(best planned)" "$plain"
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
