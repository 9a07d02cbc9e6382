#!/bin/sh
# The commands of README and doc/ work as pasted: every indented line that runs build/leat. They write
# only below build/, which git ignores: the checkout stays clean. The commands in comments of files in
# share/ work too, in the file's own folder or in share/.
set -eu
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
leat=$1
source=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir -p "$folder/tree/build/try"
ln -s "$leat" "$folder/tree/build/leat"
ln -s "$source/share" "$folder/tree/share"
status() { git -C "$source" status --porcelain 2> /dev/null || true; }
before=$(status)
bad=0
for page in README.md doc/*.md; do
    sed -n 's/^    //p' "$page" | grep -E '^(! )?(build/leat|tshark|sed|mpicc|mpifort|printf|chmod) |^cc .*-lpvm3' > "$folder/lines" || continue
    command -v mpicc > /dev/null || sed -i '/^mpi/d; /leat run/d' "$folder/lines"
    command -v hello.pvm > /dev/null || sed -i '/hello\.pvm/d; /master1/d; /dbwtest/d; /NPpvm/d; /-- ge /d; /multicast/d' "$folder/lines"
    command -v tshark > /dev/null || sed -i '/^tshark/d' "$folder/lines"
    (cd "$folder/tree" && sh -e ../lines > ../out 2>&1) || { echo "$page: $(tail -n 3 "$folder/out")"; bad=1; }
done
programs=$(dirname "$(realpath "$leat")")/../program/programs
mkdir "$folder/bin"
ln -s "$leat" "$folder/bin/leat"
for file in share/*/* share/programs/*/*; do
    [ -f "$file" ] || continue
    rm -rf "$folder/here"
    mkdir "$folder/here"
    cp "$(dirname "$file")"/* "$folder/here" 2> /dev/null || true
    ln -s "$source/share" "$folder/here/share"
    cp proto/atm/vectors/apps/linear_ex4.in "$folder/here/system.in"
    cp proto/atm/vectors/apps/matrix_ex1.in "$folder/here/product.in"
    # A word in capitals stands for something else.
    sed -nE 's,^( \*|#|!)?   +((leat|mpicc|mpifort) .*|cc .*-lpvm3),\2,p' "$file" | grep -vE ' \[?[A-Z]{3,}' > "$folder/lines" || continue
    command -v mpicc > /dev/null || sed -i '/^mpi/d; /-- /d' "$folder/lines"
    command -v hello.pvm > /dev/null || sed -i '/multicast/d' "$folder/lines"
    shown=$((${shown:-0} + $(wc -l < "$folder/lines")))
    (cd "$folder/here" && PATH=$folder/bin:$programs:$PATH sh -e ../lines > ../out 2>&1) || { echo "$file: $(tail -n 3 "$folder/out")"; bad=1; }
done
[ "${shown:-0}" -ge 10 ] || { echo "share/: ${shown:-0} commands found, expected more"; bad=1; }
left=$(cd "$folder/tree" && find . -mindepth 1 -maxdepth 1 ! -name build ! -name share)
[ -z "$left" ] || { echo "written beside build/: $left"; bad=1; }
[ "$(status)" = "$before" ] || { echo "the checkout has changed:"; status; bad=1; }
# The pictures of the gallery are what leat makes: the quick ones, compared octet by octet.
pictures=wires
command -v mpicc > /dev/null && pictures="$pictures timeline allreduce"
command -v tshark > /dev/null && pictures="$pictures dissector"
# shellcheck disable=SC2086 # words
sh doc/gallery/make.sh "$leat" "$folder/gallery" $pictures > "$folder/out" 2>&1 || { echo "doc/gallery: $(tail -n 3 "$folder/out")"; bad=1; }
for picture in $pictures; do
    cmp -s "$folder/gallery/$picture.svg" "doc/gallery/$picture.svg" || {
        echo "doc/gallery/$picture.svg is not what leat draws now; make it again: sh doc/gallery/make.sh build/leat doc/gallery"
        bad=1
    }
done
# Every test that a page names exists: NAME_test, NAME.sh, and NAME.sh's functions behind a comma.
for page in README.md doc/*.md; do
    for name in $(grep -oE '`[a-z_]+_test`' "$page" | tr -d '`' | sort -u); do
        [ -n "$(find core proto sim fabric live program tool view -name "$name.c")" ] || { echo "$page: no test $name"; bad=1; }
    done
    grep -oE '`(tool/[a-z]+/)?[a-z_]+_test\.sh`(, [a-z_]+( and [a-z_]+)?)?' "$page" | sed 's/`//g; s,^tool/[a-z]*/,,; s/,//; s/ and / /' | sort -u > "$folder/named"
    while read -r script parts; do
        found=$(find tool -name "$script")
        [ -n "$found" ] || { echo "$page: no $script"; bad=1; continue; }
        for part in $parts; do
            grep -q "^$part() {" "$found" || { echo "$page: no $part in $found"; bad=1; }
        done
    done < "$folder/named"
done
# Every page that is linked exists.
find . \( -name build -o -name .git \) -prune -o -name '*.md' -print > "$folder/pages"
while read -r page; do
    for link in $(grep -oE '\]\([^)#]+' "$page" | cut -c3-); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no $link"; bad=1; }
    done
done < "$folder/pages"
exit $bad
