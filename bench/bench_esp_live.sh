#!/bin/sh
# An ESP router by XDP between two namespaces, on veths, one core: packets that pass, CRC verified,
# random computations. In the same run the same packets go through plain XDP programs that forward
# to a fixed output and by the kernel's routes (the limits), and through the router in user space.
# Ratios compare like with like: a configured next hop with the fixed output, routes with routes.
# usage: bench_esp_live.sh LEAT BENCH_ESP_LIVE [JSON]; needs root
set -eu
leat=$1 bench=$2 json=${3:-/dev/null}
[ "$(id -u)" -eq 0 ] || { echo "bench_esp_live: it makes network namespaces, which needs root" >&2; exit 0; }
[ -x "$bench" ] || { echo "bench_esp_live: built without XDP" >&2; exit 0; }
folder=$(mktemp -d)
name=leate$$
seconds=${LEAT_BENCH_SECONDS:-1.5}
in_router() { nsenter --net="/run/netns/${name}r" "$@"; }
tear_down() {
    in_router "$leat" esp stop 2>/dev/null || true
    for n in g r s; do ip netns del "$name$n" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap tear_down EXIT INT TERM
for n in g r s; do ip netns add "$name$n"; done
ip link add a0 netns "${name}g" type veth peer name r0 netns "${name}r"
ip link add r1 netns "${name}r" type veth peer name b0 netns "${name}s"
ip -n "${name}g" addr add 10.1.0.2/24 dev a0
ip -n "${name}r" addr add 10.1.0.1/24 dev r0
ip -n "${name}r" addr add 10.2.0.1/24 dev r1
ip -n "${name}s" addr add 10.2.0.2/24 dev b0
ip -n "${name}g" link set dev a0 up
ip -n "${name}r" link set dev r0 up
ip -n "${name}r" link set dev r1 up
ip -n "${name}s" link set dev b0 up
# Native XDP sends over veths only to ends that poll.
python3 "$(dirname "$0")/../test/veth.py" gro on "${name}g:a0" "${name}s:b0"
mac_b=$(ip -n "${name}s" -json link show dev b0 | jq -r '.[0].address')
ip -n "${name}r" neigh replace 10.2.0.2 lladdr "$mac_b" dev r1 nud permanent
in_router sysctl -qw net.ipv4.ip_forward=1

# measure WHAT INSTRUCTIONS COMPUTATIONS: packets a second
measure() { taskset -c 0 "$bench" "${name}g" "${name}r" "${name}s" "$@" "$seconds"; }
# route OPTION...
route() {
    in_router "$leat" esp route --dev r0 --dev r1 --tau 3600s --port-capacity 256 "$@" > /dev/null
}
# row NAME RATE LIMIT TARGET
row() {
    awk -v name="$1" -v rate="$2" -v limit="$3" -v target="${4:-}" 'BEGIN {
        printf "%-44s %8.2f Mpps  %.2f of plain XDP%s\n", name, rate / 1e6, rate / limit, target == "" ? "" : " (target: at least " target ")"
        printf "{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"Mpps\",\"target\":\"\"}\n", name, rate / 1e6 > "/dev/stderr"
        printf "{\"name\":\"%s, of plain XDP\",\"value\":%.3f,\"unit\":\"times\",\"target\":\"%s\"}\n", name, rate / limit, target == "" ? "" : "at least " target > "/dev/stderr" }' 2>> "$folder/figures"
}

plain=$(measure plain COUNT 1)
plain_cold=$(measure plain COUNT 262144)
fib=$(measure fib COUNT 1)
row "plain XDP, fixed way" "$plain" "$plain"
row "plain XDP, fixed way, 256k computations" "$plain_cold" "$plain"
row "plain XDP, routes of the kernel" "$fib" "$plain"
for way in hop routes; do
    next="" limit=$fib cold=$fib
    [ $way = routes ] || next="--next-hop r1,$mac_b" limit=$plain cold=$plain_cold
    for set in "COUNT 1 0.4" "COUNT 262144 0.3" "COMPARE 1" "COMPARE 262144" "COUNT,COLLECT 1" "COUNT,COLLECT 131072" \
        "RCHLD 1" "RCHLD 262144" "RCOLLECT 1 0.2" "RCOLLECT 262144"; do
        # shellcheck disable=SC2086
        set -- $set
        [ $way = hop ] || [ "$1" = COUNT ] || [ "$1" = RCOLLECT ] || continue
        # A router without what the instruction before has left behind, and its store half full at
        # the most: one, two, three or five bindings for a computation.
        case $1 in RCOLLECT) capacity=4M ;; RCHLD) capacity=2M ;; *) capacity=1M ;; esac
        in_router "$leat" esp stop 2>/dev/null || true
        # shellcheck disable=SC2086
        route --driver xdp --capacity $capacity --rate 0 --port-share 0 $next
        rate=$(measure router "$1" "$2")
        against=$limit
        [ "$2" = 1 ] || against=$cold
        row "XDP, next hop by $way, $1, $2 computations" "$rate" "$against" "${3:-}"
    done
done
in_router "$leat" esp stop
route --driver xdp --rate 900M --port-share 1M --next-hop "r1,$mac_b"
row "XDP, next hop by hop, COUNT, 1, with limits" "$(measure router COUNT 1)" "$plain"
in_router "$leat" esp stop
route --driver packet --rate 0 --port-share 0
row "user space (packet sockets), COUNT, 1" "$(measure user COUNT 1)" "$plain"
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
