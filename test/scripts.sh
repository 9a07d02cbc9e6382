#!/bin/sh
# Shell scripts are sound, as far as shellcheck can tell.
set -eu
command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
shellcheck -x -s sh -e SC2086,SC1091 demo check setup/*.sh
find test bench -name '*.sh' -print0 | xargs -0 shellcheck -x -e SC1091
