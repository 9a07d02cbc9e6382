#!/bin/sh
# How long does a group of 100,000 members take to aggregate over simulated ESP routers, and in how much memory?
# usage: bench_esp_sim.sh LEAT [JSON]. Whole commands, the best of three: building the tree and announcing included.
set -eu
leat=$1 json=${2:-/dev/null}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

for service in census max sum robust-sum; do
    best=
    for _ in 1 2 3; do
        start=$(date +%s%N)
        "$leat" esp sim --tree 5,10 --members 100000 --service $service --json > "$folder/run"
        took=$((($(date +%s%N) - start) / 1000000))
        [ -n "$best" ] && [ $took -ge "$best" ] || best=$took
    done
    grep -q '"right":true' "$folder/run" || { echo "bench_esp_sim: $service is not right" >&2; exit 1; }
    printf '{"name":"esp sim, %s of 100000 members","value":%d,"unit":"ms","target":"at most 2000"}\n' \
        $service "$best" >> "$folder/figures"
    echo "leat esp sim, $service of 100,000 members over 11,111 routers: $best ms (target 2000)"
done
peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$leat" esp sim --tree 5,10 --members 100000 --service robust-sum)
printf '{"name":"esp sim, robust-sum of 100000 members, peak memory","value":%d,"unit":"KiB","target":""}\n' "$peak" >> "$folder/figures"
echo "peak memory, robust-sum: $peak KiB"
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
