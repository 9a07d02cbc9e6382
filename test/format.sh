#!/bin/sh
# The sources are formatted by clang-format 14 with .clang-format.
set -eu
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
sources() { find include core port proto sim crew device fabric live program view tool test bench share -name '*.[ch]' -print0; }
sources | xargs -0 clang-format --dry-run -Werror
# It leaves comments alone, so that pictures stay as they are drawn.
long=$(sources | xargs -0 grep -nE '^ ?(/\*| \*).{99}' || :)
[ -z "$long" ] || { echo "comments of more than 100 columns: $long"; exit 1; }
