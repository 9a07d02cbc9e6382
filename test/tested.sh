#!/bin/sh
# Every function declared in a header of core/, proto/, sim/, crew/ or fabric/, or promised by include/, is named in some
# test. (tool/*/*_test.sh exercise those of live hosts and of programs.)
set -eu
bad=0
names=$(find include core proto sim crew fabric -name '*.h' ! -name '*_test.h' ! -name '*_parts.h' -exec cat {} +  | tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/, ,g' |
        grep -oE '\bleat_[a-z0-9_]+\(' | tr -d '(' | sort -u)
tests=$(find core proto sim crew fabric -name '*_test.[ch]')
for name in $names; do
    # shellcheck disable=SC2086
    grep -qE "\\b$name\\b" $tests || grep -qrE --include='*.c' "^([a-z].*[ *])?$name\\(" live program || { echo "no test names $name"; bad=1; }
done
exit $bad
