#!/bin/sh
# POETS on this machine: receives per second of a heat plate, and how long a large file takes to load. Compiling is not counted. The
# best of several counts, since machines are noisy.
# usage: bench_poets.sh LEAT [JSON]
set -eu
leat=$1 json=${2:-/dev/null}
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
export XDG_CACHE_HOME="$folder/cache"
figures=
note() { # NAME VALUE UNIT TARGET VERDICT
    printf '%-48s %10s %-12s %-22s %s\n' "$1" "$2" "$3" "$4" "$5"
    figures="$figures${figures:+,
}  {\"name\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"target\":\"$4\"}"
}

# plate SIDE STEPS WORKERS TARGET: millions of receives per second
plate() {
    [ -e "$folder/$1.xml" ] || python3 "$here/../share/poets/make.py" heat "$1" "$1" "$2" > "$folder/$1.xml"
    best=0
    for _ in 1 2 3; do
        rate=$("$leat" graph run "$folder/$1.xml" -j "$3" --json 2> /dev/null | sed 's/.*"receives_per_second":\([0-9]*\).*/\1/')
        best=$(awk -v a="$rate" -v b="$best" 'BEGIN { a /= 1e6; printf "%.1f", (a > b ? a : b) }')
    done
    verdict=
    [ -z "$4" ] || verdict=$(awk -v a="$best" -v t="$4" 'BEGIN { print (a >= t ? "met" : "MISSED") }')
    note "heat plate, $(($1 * $1)) devices, $3 workers" "$best" "M/s" "${4:+at least $4 M/s}" "$verdict"
}
plate 100 5000 1 45
plate 100 5000 2 ""
plate 400 400 1 20
plate 400 400 2 ""

# A million devices and five million edges.
python3 "$here/../share/poets/make.py" heat 1000 1000 1 > "$folder/large.xml"
begin=$(date +%s.%N)
"$leat" graph info "$folder/large.xml" > /dev/null &
child=$!
most=0
while kill -0 $child 2> /dev/null; do
    now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$child/status 2> /dev/null || true)
    most=${now:-$most}
    sleep 0.2
done
wait $child
taken=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
note "loading 1,000,001 devices, 4,996,000 edges" "$taken" s "at most 20 s" "$(awk -v a="$taken" 'BEGIN { print (a <= 20 ? "met" : "MISSED") }')"
note "its memory" "$((most / 1024))" MiB "at most 1024 MiB" "$([ "$most" -le 1048576 ] && echo met || echo MISSED)"
printf '[\n%s\n]\n' "$figures" > "$json"
