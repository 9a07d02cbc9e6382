#!/bin/sh
# The commands of README and doc/ work as pasted: every indented line that runs build/leat.
set -eu
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
leat=$1
source=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir "$folder/build"
ln -s "$leat" "$folder/build/leat"
ln -s "$source/share" "$folder/share"
bad=0
for page in README.md doc/*.md; do
    sed -n 's/^    //p' "$page" | grep -E '^(! )?(build/leat|tshark|sed|mpicc|printf) ' > "$folder/lines" || continue
    command -v mpicc > /dev/null || sed -i '/^mpicc/d; /leat run/d' "$folder/lines"
    command -v hello.pvm > /dev/null || sed -i '/hello\.pvm/d; /master1/d; /dbwtest/d; /NPpvm/d' "$folder/lines"
    command -v tshark > /dev/null || sed -i '/^tshark/d' "$folder/lines"
    (cd "$folder" && sh -e ./lines > out 2>&1) || { echo "$page: $(tail -n 3 "$folder/out")"; bad=1; }
done
# Every page that is linked exists.
for page in *.md doc/*.md proto/*/README.md; do
    for link in $(grep -oE '\]\([^)#]+' "$page" | cut -c3-); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no $link"; bad=1; }
    done
done
exit $bad
