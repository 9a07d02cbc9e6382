#!/bin/sh
# How many packets a second does `leat decode --json` read from a capture, and in how much memory?
# usage: bench_decode.sh LEAT [JSON]. Captures of a million packets: ESP alone, and all formats that have a link type in turn.
set -eu
leat=$1 json=${2:-/dev/null}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

# capture NAME FORMAT...: NAME.thousand.pcapng, and a million as a thousand sections of it
capture() {
    name=$1
    shift
    for format in "$@"; do
        "$leat" encode "$format" | "$leat" decode --format "$format" --json
    done > "$folder/once.json"
    i=0
    while [ $i -lt $((1000 / $#)) ]; do cat "$folder/once.json"; i=$((i + 1)); done > "$folder/many.json"
    "$leat" encode --from-json "$folder/many.json" --pcapng "$folder/$name.thousand.pcapng"
    i=0
    while [ $i -lt 1000 ]; do cat "$folder/$name.thousand.pcapng"; i=$((i + 1)); done > "$folder/$name.million.pcapng"
}

for set in esp "atm aton esp packetway poets"; do
    # shellcheck disable=SC2086
    capture mix $set
    best=
    for _ in 1 2 3; do
        start=$(date +%s%N)
        "$leat" decode --json "$folder/mix.million.pcapng" > /dev/null
        took=$(($(date +%s%N) - start))
        [ -n "$best" ] && [ $took -ge "$best" ] || best=$took
    done
    printf '{"name":"decode --json (%s)","value":%d,"unit":"packets/s","target":"at least 1000000"}\n' \
        "$set" $((1000000000000 / (best / 1000))) >> "$folder/figures"
    echo "leat decode --json, 1,000,000 packets ($set): $((1000000000000 / (best / 1000))) packets/s (target 1000000)"
done
for size in thousand million; do
    peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$leat" decode --json "$folder/mix.$size.pcapng")
    printf '{"name":"decode --json, peak memory, a %s packets","value":%d,"unit":"KiB","target":"constant"}\n' \
        "$size" "$peak" >> "$folder/figures"
    echo "peak memory, a $size packets: $peak KiB"
done
{ echo '['; sed '$!s/$/,/; s/^/  /' "$folder/figures"; echo ']'; } > "$json"
