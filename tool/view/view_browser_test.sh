#!/bin/sh
# usage: view_browser_test.sh LEAT BUILD [bench|picture]: leat view in Chromium, with playwright-core from npm, which stays below BUILD.
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
timeout "$run_limit" node "$here/view_browser.mjs" "$leat" "$modules" "$folder/files" "$mode" || fail "view_browser.mjs: $?"
[ -z "${LEAT_SCREENSHOTS:-}" ] || cp "$folder/files"/*.png "$LEAT_SCREENSHOTS"
finish
