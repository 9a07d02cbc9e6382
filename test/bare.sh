#!/bin/sh
# leat builds with a compiler, cmake and ninja alone; what is missing is told when it is asked for.
set -u
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/.." && pwd)
# Nothing but these programs is found, whatever is installed.
cmake -S "$source" -B "$folder/bare" -G Ninja -DCMAKE_MAKE_PROGRAM="$(command -v ninja)" -DCMAKE_C_COMPILER="$(command -v cc)" \
    -DCMAKE_AR="$(command -v ar)" -DCMAKE_RANLIB="$(command -v ranlib)" -DCMAKE_LINKER="$(command -v ld)" -DCMAKE_C_FLAGS=-O0 \
    -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF > "$folder/configured" 2>&1 ||
    fail "configuring: $(tail -5 "$folder/configured")"
for part in libcyaml-dev libsqlite3-dev libopenmpi-dev pvm-dev libexpat1-dev libotf2-trace-dev libmicrohttpd-dev; do
    grep -q "$part.* is missing" "$folder/configured" || fail "it does not say that $part is missing"
done
cmake --build "$folder/bare" --target leat bench_device > "$folder/built" 2>&1 || fail "building: $(tail -20 "$folder/built")"
bare=$folder/bare/tool/leat
exits 0 "" "$bare" sim mesh:4,4 --load 0.2 --cycles 2000
exits 0 "" "$bare" sim clos444 --cycles 2000 --record "$folder/cells.leatrec"
exits 0 "" "$bare" view "$folder/cells.leatrec" -o "$folder/page.html"
exits 1 "without SQLite" "$bare" sweep mesh:4,4 --load 0.1 --seeds 1 --cycles 100 --store "$folder/runs.sqlite"
exits 2 "without libmicrohttpd" "$bare" view "$folder/cells.leatrec"
"$bare" devices > "$folder/devices" 2>&1 || grep -q "no device" "$folder/devices" || fail "leat devices: $(cat "$folder/devices")"
finish
