#!/bin/sh
# No shell script has anything that shellcheck warns of (2154: variables of lib.sh).
set -eu
command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
shellcheck -S warning -s sh demo check setup/*.sh
find test bench tool include doc python -name '*.sh' -print0 | xargs -0 shellcheck -S warning -e SC2154
