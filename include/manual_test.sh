#!/bin/sh
# The manual of the library: each function, type and constant of the headers is on a page, as the compiler and the
# libraries see them, not as manual.awk reads them; and what nobody explained is an error.
# usage: manual_test.sh BUILD   from the root of the project
set -u
build=$1
. test/lib.sh
needs mandoc groff nm
pages=$folder/man3
mkdir "$pages"
make_pages() { awk -v version=1 -v folder="$pages" -f include/manual.awk include/README.md "$@"; }
make_pages include/leat/*.h || fail "no pages"

# Every page is well formed. Pages have no date; those of functions lead to the header's.
for header in include/leat/*.h; do
    page=$pages/leat_$(basename "$header" .h).3
    grep -q '^.so ' "$page" && continue
    same "mandoc of $page" "$(mandoc -T lint -W warning "$page" | grep -v 'missing date')" ""
    same "groff of $page" "$(groff -ww -man -T utf8 "$page" 2>&1 > /dev/null)" ""
    has "NAME of $page" "$(sed -n 3p "$page")" "leat_$(basename "$header" .h) \\- "
done
plain() { sed "s/.$(printf '\b')//g"; } # without overstriking
words() { grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u; }
# shellcheck disable=SC2046 # names without spaces
mandoc -T ascii -O width=200 $(grep -L '^.so ' "$pages"/*.3) | plain | words > "$folder/words"

# The preprocessor's constants and types, and the macros.
for header in include/leat/*.h; do
    echo "#include <leat/$(basename "$header")>"
done > "$folder/all.c"
{
    cc -E -P -I include "$folder/all.c" | grep -oE '\<(LEAT_[A-Z0-9_a-z]+|(struct|enum) (leat_|atm)[a-z0-9_]+)'
    cc -E -dM -I include "$folder/all.c" | grep -oE '^#define LEAT_[A-Z0-9_]+' | grep -v '_H$'
} | sed 's/.* //' | sort -u > "$folder/names"
[ "$(wc -l < "$folder/names")" -ge 400 ] || fail "only $(wc -l < "$folder/names") names in the headers"
# What the libraries export. libleat-atm takes over calls of libc, too.
for library in libleat.so libleat_fabric.so program/libleat_poets.so program/libleat-atm.so live/libleat_aton.so \
    live/libleat_esp.so live/libleat_packetway.so; do
    [ ! -e "$build/$library" ] || nm -D --defined-only "$build/$library" | awk '$3 ~ /^(leat_|atm)/ { print $3 }'
done | sort -u > "$folder/functions"
[ "$(wc -l < "$folder/functions")" -ge 60 ] || fail "only $(wc -l < "$folder/functions") functions in the libraries"
for name in $(sort -u "$folder/names" "$folder/functions" | comm -23 - "$folder/words"); do
    fail "$name is on no page"
done
while read -r function; do
    [ -e "$pages/$function.3" ] || { fail "no page of $function"; continue; }
    mandoc -T ascii -O width=200 "$pages/$(sed -n 's,^.so man3/,,p' "$pages/$function.3")" | plain |
        grep -q "\<$function(" || fail "$function is not on the page to which it leads"
done < "$folder/functions"

# Without its comment a function is an error, and so is a header without a row in README.md.
sed '/^\/\* The simulated time reached/d' include/leat/fabric.h > "$folder/fabric.h"
exits 1 "fabric.h:55: not explained: LEAT_API uint64_t leat_fabric_net_now_ps" make_pages "$folder/fabric.h"
cp include/leat/fabric.h "$folder/other.h"
exits 1 "include/README.md has no row" make_pages "$folder/other.h"
finish
