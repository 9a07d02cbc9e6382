#!/bin/sh
# usage: view_browser_test.sh LEAT BUILD [bench|picture|picture_store]: leat view in Chromium, with playwright-core from npm, which stays below BUILD.
set -u
leat=$(realpath "$1")
build=$(realpath "$2")
mode=${3:-test}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs node npm
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
[ -x "$CHROMIUM" ] || { echo "skipped: $CHROMIUM is not there (package chromium; CHROMIUM names another one)"; exit 77; }
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || { echo "skipped: node is older than 20, which playwright-core needs"; exit 77; }

modules=$build/view_browser
mkdir -p "$modules"
if ! cmp -s "$here/package-lock.json" "$modules/package-lock.json" || [ ! -d "$modules/node_modules/playwright-core" ]; then
    cp "$here/package.json" "$here/package-lock.json" "$modules"
    (cd "$modules" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund) > "$folder/npm" 2>&1 || {
        rm -f "$modules/package-lock.json"
        echo "skipped: npm cannot get playwright-core: $(tail -n 1 "$folder/npm")"
        exit 77
    }
fi
mkdir "$folder/files"
# browser NAME MODE
browser() { timeout "$run_limit" node "$here/$1.mjs" "$leat" "$modules" "$folder/files" "$2" || fail "$1.mjs: $?"; }
[ "$mode" = picture_store ] || browser view_browser "$mode"
if [ "$mode" = test ]; then
    ! command -v mpicc > /dev/null || ! mpicc -O1 -o "$folder/rounds" "$here/../../share/programs/rounds.c" || export PROGRAM="$folder/rounds"
fi
case $mode in test | picture_store) browser view_browser_runs "$mode" ;; esac
# Live parts have a network of their own: two stations at the ends of a wire, and routers on loopback.
if [ "$mode" = test ]; then
    # Addresses of IPv6, which come later, would interrupt what Chromium loads.
    wire="ip link set lo up && sysctl -qw net.ipv6.conf.default.disable_ipv6=1 && ip link add in type veth peer name out && ip link set in up && ip link set out up"
    if [ "$(id -u)" -ne 0 ] || ! unshare --net sh -c "$wire" 2> "$folder/stderr"; then
        echo "skipped: live parts: it needs root, network namespaces and veth: $(cat "$folder/stderr")"
    else
        unshare --net sh -c "$wire && exec timeout $run_limit node $here/view_browser_runs.mjs $leat $modules $folder/files live" || fail "view_browser_runs.mjs live: $?"
    fi
fi
[ -z "${LEAT_SCREENSHOTS:-}" ] || cp "$folder/files"/*.png "$LEAT_SCREENSHOTS"
finish
