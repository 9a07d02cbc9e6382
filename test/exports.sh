#!/bin/sh
# The libraries export what the headers of include/leat promise, and nothing else.
# usage: exports.sh BUILD   from the root of the project
set -eu
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
bad=0

# Every declaration of a header, one a line: without comments, preprocessor and what braces hold.
for header in include/leat/*.h; do
    sed '/^#ifdef __cplusplus/,/^#endif/d' "$header" | sed ':more; /\\$/ { N; s/\\\n//; b more }' | sed '/^#/d' |
        tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/, ,g' |
        sed ':inner; s/{[^{}]*}/;/; t inner' | tr ';' '\n' | sed 's/^ *//' | grep '(' |
        grep -v '^static inline ' | sed "s,^,$header: ," || true
done > "$folder/declarations"
if grep -v ': LEAT_API ' "$folder/declarations"; then
    echo "declared without LEAT_API (above)"
    bad=1
fi
sed 's/__attribute__.*//; s/^[^(]*[ *]\([a-z0-9_]*\)(.*/\1/' "$folder/declarations" | sort > "$folder/promised"

# libleat-atm takes over calls of libc, too, which no header of ours declares.
for library in libleat.so libleat_fabric.so program/libleat_poets.so program/libleat-atm.so live/libleat_*.so; do
    # shellcheck disable=SC2231 # a pattern
    for file in "$build"/$library; do
        [ -e "$file" ] || { echo "(missing)$file"; continue; }
        nm -D --defined-only "$file" | awk '{ print $3 }' > "$folder/one"
        case $file in *-atm.so) grep '^atm' "$folder/one" ;; *) cat "$folder/one" ;; esac
    done
done | sort > "$folder/exported"
[ -s "$folder/promised" ] || { echo "no header promises anything"; bad=1; }
for name in $(comm -23 "$folder/promised" "$folder/exported"); do
    echo "$name is promised by include/leat, and no library exports it"
    bad=1
done
for name in $(comm -13 "$folder/promised" "$folder/exported"); do
    echo "$name is exported, and include/leat does not promise it (once)"
    bad=1
done
# What packages say that programs may rely on (debian/*.symbols); libleat-atm has no version, and is not there.
sed -n 's/^ \([a-z0-9_]*\)@.*/\1/p' debian/*.symbols | sort > "$folder/packaged"
grep -v '^atm' "$folder/promised" > "$folder/versioned"
for name in $(comm -3 "$folder/versioned" "$folder/packaged"); do
    echo "$name is in include/leat or in debian/*.symbols, expected it in both"
    bad=1
done
exit $bad
