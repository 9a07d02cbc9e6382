#!/bin/sh
# What leat atm tun sustains: ping over a network that is idle, TCP by iperf3 between pairs of neighbouring ports. Needs
# root, iperf3, jq and ping.
# usage: bench_tun.sh LEAT [SECONDS]
set -eu
leat=$1
export seconds="${2:-8}"
folder=$(mktemp -d)
export folder
trap 'rm -rf "$folder"' EXIT
cat > "$folder/pairs.sh" << 'END'
pairs=$1
for i in $(seq 1 "$pairs"); do ip netns exec "atm$((2 * i - 1))" iperf3 --server --one-off > /dev/null & done
for i in $(seq 1 "$pairs"); do
    until ip netns exec "atm$((2 * i - 1))" ss -ltn | grep -q :5201; do sleep 0.05; done
done
for i in $(seq 1 "$pairs"); do
    ip netns exec "atm$((2 * i - 2))" iperf3 --client "10.77.0.$((2 * i))" --time "$seconds" --json > "$folder/pair$i" &
done
wait
END
# tcp PAIRS OPTION...: Mb/s of all pairs together, and the share of real time that was given up
tcp() {
    pairs=$1
    shift
    rm -f "$folder"/pair?
    "$leat" atm tun --ports "0-$((2 * pairs - 1))" "$@" --json="$folder/tun" -- sh "$folder/pairs.sh" "$pairs"
    rate=$(cat "$folder"/pair? | jq -s 'map(.end.sum_received.bits_per_second) | add / 1e6')
    behind=$(jq '.behind_ns / .real_ns * 100' "$folder/tun")
    printf '%-56s%7.1f Mb/s %14.1f %% behind\n' "$*, TCP, $pairs at a time" "$rate" "$behind"
}
ping_of() {
    "$leat" atm tun "$@" --json="$folder/tun" -- ip netns exec atm0 ping -q -i 0.01 -c 500 10.77.0.2 > "$folder/ping"
    simulated=$(jq '.latency_ns.mean * 2 / 1000' "$folder/tun")
    times=$(sed -n 's,^rtt [^=]*= \([^/]*\)/\([^/]*\)/.*,\1 ms at least\, \2 ms mean,p' "$folder/ping")
    printf '%-52s%11.3f us simulated; %s\n' "$*, ping of 56 octets" "$simulated" "$times"
}
for fabric in clos444 mesh:4,4 ether16 ring16; do
    ping_of --fabric $fabric
done
for pairs in 1 2 4 8; do
    tcp $pairs --fabric clos444
done
tcp 1 --fabric clos444 --mtu 1500
tcp 8 --fabric clos444 --slower 4
for fabric in mesh:4,4 ether16 ring16; do
    tcp 1 --fabric $fabric
done
