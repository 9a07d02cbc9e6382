#!/bin/sh
# Every row of a CONFORMANCE.md names functions and tests that exist, in its room or in the code
# that uses it.
set -eu
bad=0
for page in proto/*/CONFORMANCE.md; do
    room=$(dirname "$page")
    rows=0
    while IFS= read -r row; do
        case $row in '| '*) ;; *) continue ;; esac
        case $row in '| clause '* | '|---'*) continue ;; esac
        rows=$((rows + 1))
        functions=$(echo "$row" | awk -F' \\| ' '{ print $(NF - 1) }' | grep -oE '`[a-z0-9_]+`' | tr -d '`')
        tests=$(echo "$row" | awk -F' \\| ' '{ print $NF }' | grep -oE '`[a-z0-9_]+`' | tr -d '`')
        [ -n "$tests" ] || { echo "$page: no test in: $row"; bad=1; }
        [ -n "$functions" ] || { echo "$page: no function in: $row"; bad=1; }
        for name in $functions; do
            grep -qrE "\\b$name\\b" --include='*.[ch]' core sim live "$room" || { echo "$page: no function $name"; bad=1; }
        done
        for name in $tests; do
            grep -qrE "T\\($name\\)" --include='*_test.c' core sim live proto/leat_formats_test.c "$room" || { echo "$page: no test $name"; bad=1; }
        done
    done < "$page"
    [ $rows -gt 0 ] || { echo "$page: no rows"; bad=1; }
done
exit $bad
