#!/bin/sh
# Short collective calls of stock mpirun over 2, 4 and 8 hosts (network namespaces), one rank each: by TCP, by a live
# ring, and by three ESP routers, in one run. Time of a call, and what it costs of the processors of all hosts together.
# usage: bench_mpi_live.sh LEAT [JSON [CALLS]]; needs root
set -eu
leat=$1 json=${2:-/dev/null} calls=${3:-3000}
root=$(dirname "$0")/..
[ "$(id -u)" -eq 0 ] || { echo "bench_mpi_live: it makes network namespaces, which needs root" >&2; exit 0; }
for tool in mpirun mpicc unshare nsenter ip jq; do
    command -v $tool > /dev/null || { echo "bench_mpi_live: no $tool" >&2; exit 0; }
done
. "$root/test/lib.sh"
. "$root/test/live.sh"
. "$root/test/live_mpi.sh"
driver=xdp
mpi_hosts "the speed of mpirun on live networks is"
esp_net
bridge_wire
put_key "$folder/key" 000102030405060708090a0b0c0d0e0f
mpicc -O2 -o "$folder/short_collectives" "$root/bench/short_collectives.c"

# measure HOSTS MEANS OPTION...: lines of KIND, medians and costs, into $folder/MEANS
measure() {
    size=$1 means=$2
    shift 2
    start "$size" 1 "$@" "$folder/short_collectives" "$calls" > "$folder/$means" 2> "$folder/said" ||
        { echo "bench_mpi_live: $size hosts by $means: $(cat "$folder/said")" >&2; exit 1; }
    ! grep '^leat' "$folder/said" >&2 || { echo "bench_mpi_live: that was not all by the network" >&2; exit 1; }
}
echo "one rank on each of N hosts, $calls calls of each kind, $(nproc) processors for all hosts"
printf '%5s %-10s %26s %26s %7s %26s %7s\n' hosts call "by TCP" "by the ring" ratio "by ESP routers" ratio
: > "$folder/figures"
for n in 2 4 8; do
    ring $n 2> "$folder/stderr" || { no_driver join; exit 0; }
    routers --key-file "$folder/key" 2> "$folder/stderr" || { no_driver route; exit 0; }
    common="--mca coll_leat_patience_ms 5000 --mca coll_leat_after 1"
    measure $n tcp
    # shellcheck disable=SC2046,SC2086 # words
    measure $n ring $(in_ns 0 "$leat" mpi options) $common
    # shellcheck disable=SC2046,SC2086 # words
    measure $n esp $(in_ns 0 "$leat" mpi options --esp 10.8.0.0/16 --key-file "$folder/key") $common
    paste -d ' ' "$folder/tcp" "$folder/ring" "$folder/esp" | while read -r call t tm tp ts _ r rm rp rs _ e em ep es; do
        awk -v n=$n -v c="$call" -v t="$t" -v tp="$tp" -v ts="$ts" -v r="$r" -v rp="$rp" -v rs="$rs" -v e="$e" -v ep="$ep" -v es="$es" 'BEGIN {
            printf "%5d %-10s %8.1f us (cpu %4.0f+%4.0f) %8.1f us (cpu %4.0f+%4.0f) %6.2f %8.1f us (cpu %4.0f+%4.0f) %6.2f\n",
                n, c, t, tp, ts, r, rp, rs, t / r, e, ep, es, t / e }'
        target=
        [ $n != 8 ] || [ "$call" = bcast ] || target="at least 5"
        for means in "ring $r $rm $rp $rs" "esp $e $em $ep $es"; do
            # shellcheck disable=SC2086 # words
            set -- $means
            ratio=$(awk -v t="$t" -v r="$2" 'BEGIN { printf "%.3f", t / r }')
            jq -cn --arg name "$call, $n hosts, TCP against $1" --arg target "$target" \
                "{name: \$name, value: $ratio, unit: \"times\", target: \$target, hosts: $n,
                  tcp_us: $t, tcp_mean_us: $tm, tcp_processors_us: $tp, tcp_softirq_us: $ts,
                  $1_us: $2, $1_mean_us: $3, $1_processors_us: $4, $1_softirq_us: $5}" >> "$folder/figures"
        done
    done
done
echo "us: the median call of rank 0; cpu: processor time of a call, of all ranks + of the kernel for packets (softirq)"
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
