#!/bin/sh
# Short collective calls of stock mpirun over 2, 4 and 8 hosts (network namespaces), one rank each: by TCP and by a live
# ring, in one run. Time of a call, and what it costs of the processors of all hosts together.
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
mpi_hosts "the speed of mpirun on a live ring is"
mpicc -O2 -o "$folder/short_collectives" "$root/bench/short_collectives.c"

# measure HOSTS MEANS OPTION...: lines of KIND, medians and costs, into $folder/MEANS
measure() {
    size=$1 means=$2
    shift 2
    start "$size" 1 "$@" "$folder/short_collectives" "$calls" > "$folder/$means" 2> "$folder/said" ||
        { echo "bench_mpi_live: $size hosts by $means: $(cat "$folder/said")" >&2; exit 1; }
    ! grep '^leat' "$folder/said" >&2 || { echo "bench_mpi_live: that was not all by the ring" >&2; exit 1; }
}
echo "one rank on each of N hosts, $calls calls of each kind, $(nproc) processors for all hosts"
printf '%5s %-10s %26s %26s %7s\n' hosts call "by TCP" "by the ring" ratio
: > "$folder/figures"
for n in 2 4 8; do
    ring $n 2> "$folder/stderr" || { no_driver join; exit 0; }
    measure $n tcp
    # shellcheck disable=SC2046 # words
    measure $n ring $(in_ns 0 "$leat" mpi options) --mca coll_leat_patience_ms 5000 --mca coll_leat_after 1
    paste -d ' ' "$folder/tcp" "$folder/ring" | while read -r call t tm tp ts _ r rm rp rs; do
        awk -v n=$n -v c="$call" -v t="$t" -v tp="$tp" -v ts="$ts" -v r="$r" -v rp="$rp" -v rs="$rs" 'BEGIN {
            printf "%5d %-10s %8.1f us (cpu %4.0f+%4.0f) %8.1f us (cpu %4.0f+%4.0f) %6.2f\n", n, c, t, tp, ts, r, rp, rs, t / r }'
        target=
        [ $n != 8 ] || [ "$call" = bcast ] || target="at least 5"
        ratio=$(awk -v t="$t" -v r="$r" 'BEGIN { printf "%.3f", t / r }')
        jq -cn --arg name "$call, $n hosts, TCP against the ring" --arg target "$target" \
            "{name: \$name, value: $ratio, unit: \"times\", target: \$target, hosts: $n,
              tcp_us: $t, tcp_mean_us: $tm, tcp_processors_us: $tp, tcp_softirq_us: $ts,
              ring_us: $r, ring_mean_us: $rm, ring_processors_us: $rp, ring_softirq_us: $rs}" >> "$folder/figures"
    done
done
echo "us: the median call of rank 0; cpu: processor time of a call, of all ranks + of the kernel for packets (softirq)"
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
