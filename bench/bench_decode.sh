#!/bin/sh
# How many packets a second does `leat decode --json` read from a capture, and in how much memory?
set -eu
leat=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

"$leat" encode esp opcode=COUNT computationId=7 compValTag=1 thresh=3 flags=X | "$leat" decode --format esp --json > "$folder/one.json"
i=0
while [ $i -lt 1000 ]; do cat "$folder/one.json"; i=$((i + 1)); done > "$folder/thousand.json"
"$leat" encode --json "$folder/thousand.json" --pcapng "$folder/thousand.pcapng"
i=0
while [ $i -lt 1000 ]; do cat "$folder/thousand.pcapng"; i=$((i + 1)); done > "$folder/million.pcapng"

best=
for _ in 1 2 3; do
    start=$(date +%s%N)
    "$leat" decode --json "$folder/million.pcapng" > /dev/null
    took=$(($(date +%s%N) - start))
    [ -n "$best" ] && [ $took -ge "$best" ] || best=$took
done
echo "leat decode --json, 1,000,000 packets (ESP): $((1000000000000 / (best / 1000))) packets/s (target 1000000)"
for size in thousand million; do
    peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$leat" decode --json "$folder/$size.pcapng")
    echo "peak memory, a $size packets: $peak KiB"
done
