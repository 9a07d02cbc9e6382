#!/bin/sh
# Runs every unit test that draws random cases with each seed of a range, on all processors.
# usage: seeds.sh BUILD FROM TO [PATTERN]      PATTERN: a regular expression of the programs' names
# Prints what failed with the line that replays it; exit 1 when anything did.
set -eu

# One run: a line for each sentence that is not true, and how to see it again.
if [ "$1" = --one ]; then
    program=$2 seed=$3 output=$(mktemp)
    if LEAT_SEED=$seed timeout 600 "$program" >"$output" 2>&1; then
        rm -f "$output"
        exit 0
    fi
    # One write, so that lines of runs side by side do not mix.
    echo "LEAT_SEED=$seed $program
$(grep '^not ok\|^# ' "$output" | grep -v '^# replay' | head -n 12)
$(grep -q '^# replay' "$output" || tail -n 3 "$output")" | grep .
    rm -f "$output"
    exit 1
fi

[ $# -ge 3 ] || { echo "usage: seeds.sh BUILD FROM TO [PATTERN]" >&2; exit 2; }
build=$1 from=$2 to=$3 pattern=${4:-.}
[ -d "$build" ] || { echo "seeds.sh: $build: no such build folder" >&2; exit 2; }

# Whether a source, or a header of tests that it includes, asks for the seed.
draws() {
    ! grep -q 'tap_seed()' "$1" || return 0
    for header in $(sed -n 's/^#include "\(.*_test\.h\|.*_harness\.h\)"$/\1/p' "$1"); do
        found=$(git ls-files "*/$header")
        # shellcheck disable=SC2086
        ! grep -q 'tap_seed()' $found || return 0
    done
    return 1
}

list=$(mktemp)
trap 'rm -f "$list" "$list.failed"' EXIT
for program in $(find "$build" -name '*_test' -type f -perm -u+x | sort); do
    echo "${program##*/}" | grep -qE "$pattern" || continue
    source=$(git ls-files "*/${program##*/}.c" "${program##*/}.c")
    [ -n "$source" ] && draws "$source" && echo "$program" >>"$list"
done
programs=$(wc -l <"$list")
[ "$programs" -gt 0 ] || { echo "seeds.sh: no test program of $build matches" >&2; exit 2; }

# xargs goes on after a failed run (exit 1), and says in the end that there was one.
seq "$from" "$to" | while read -r seed; do sed "s/\$/ $seed/" "$list"; done |
    xargs -P "$(nproc)" -n 2 sh "$0" --one | tee "$list.failed" || true
failed=$(grep -c '^LEAT_SEED=' "$list.failed" || true)
echo "$programs programs, seeds $from to $to: $failed runs failed"
[ "$failed" -eq 0 ]
