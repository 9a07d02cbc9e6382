#!/bin/sh
# Every public function (declared in a header of core/, proto/ or sim/) is named in some test.
set -eu
bad=0
names=$(find core proto sim -name '*.h' ! -name '*_test.h' ! -name '*_parts.h' -exec cat {} +  | tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/, ,g' |
        grep -oE '\bleat_[a-z0-9_]+\(' | tr -d '(' | sort -u)
tests=$(find core proto sim -name '*_test.[ch]')
for name in $names; do
    # shellcheck disable=SC2086
    grep -qE "\\b$name\\b" $tests || { echo "no test names $name"; bad=1; }
done
exit $bad
