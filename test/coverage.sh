#!/bin/sh
# Lines that the unit tests reach, per file of core/, proto/ and sim/, from a coverage build.
set -eu
cd "$1"
find . -name '*.gcda' | grep -v '_test\.c\|_fuzz\.c' | while read -r data; do
    gcov -n "$data" 2>/dev/null
done | awk '/^File .*\/(core|proto|sim)\// { gsub(/.*\/(core|proto|sim)\//, "", $0); gsub(/\x27/, "", $0); file = $0; next }
    /^Lines executed/ && file { split($0, a, /[:% ]+/); printf "%6.2f %%  %s\n", a[3], file; file = "" }' |
    sort -k3 -k1,1rn | awk '!seen[$3]++' | sort -n
